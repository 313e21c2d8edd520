//! Allocation scenarios drawn from public reports, each with the state that must result. The file
//! itself says what its words mean.

use std::collections::HashMap;

use serde_json::Value;
use shared::{
    allocator::{
        Allocator, BlockId, CardSize, MallocError, PoolOptions, Request, SegmentReport,
        SimulatedCard, Stream,
    },
    ids::{DeviceIndex, PoolId},
    model::BlockState,
    settings::Settings,
};

const DEVICE: DeviceIndex = DeviceIndex(0);

#[test]
fn scenarios_end_as_reported() {
    let file: Value = serde_json::from_str(include_str!("../data/scenarios.json")).expect("JSON");
    let scenarios = file["scenarios"].as_array().expect("a list");
    assert_eq!(scenarios.len(), 34);
    for scenario in scenarios {
        let mut run = Run::new(scenario);
        run.all(&scenario["ops"], 0);
        assert!(run.expectations > 0, "{} expects nothing", run.name);
    }
}

struct Run {
    name: String,
    allocator: Allocator<SimulatedCard>,
    blocks: HashMap<String, BlockId>,
    pools: HashMap<String, PoolId>,
    dropped: Vec<PoolId>,
    expectations: usize,
}

impl Run {
    fn new(scenario: &Value) -> Self {
        let config = &scenario["config"];
        let size = |key: &str| config.get(key).map(|value| bytes(value, 0));
        let card = SimulatedCard::new(&[CardSize {
            capacity_bytes: size("device").unwrap_or(80 << 30),
            others_bytes: size("other").unwrap_or(0),
        }]);
        let mut settings = Vec::new();
        if config["expandable"] == true {
            settings.push("expandable_segments:True".to_owned());
        }
        if let Some(limit) = size("max_split") {
            settings.push(format!("max_split_size_mb:{}", limit >> 20));
        }
        if let Some(divisions) = config["roundup"].as_u64() {
            settings.push(format!("roundup_power2_divisions:{divisions}"));
        }
        let settings = Settings::parse(&settings.join(",")).expect("valid settings");
        Self {
            name: scenario["id"].as_str().expect("an id").to_owned(),
            allocator: Allocator::new(settings, card, 1),
            blocks: HashMap::new(),
            pools: HashMap::new(),
            dropped: Vec::new(),
            expectations: 0,
        }
    }

    fn all(&mut self, operations: &Value, i: u64) {
        for operation in operations.as_array().expect("a list") {
            self.one(operation, i);
        }
    }

    fn one(&mut self, operation: &Value, i: u64) {
        let word = operation[0].as_str().expect("a word");
        let id = || name(&operation[1], i);
        match word {
            "repeat" => {
                for i in 0..operation[1].as_u64().expect("a count") {
                    self.all(&operation[2], i);
                }
            }
            "alloc" => {
                let block = self.malloc(operation, i);
                let block = block.unwrap_or_else(|error| panic!("{}: {error}", self.name));
                self.blocks.insert(id(), block);
            }
            "alloc!" => {
                let failed = matches!(self.malloc(operation, i), Err(MallocError::OutOfMemory(_)));
                assert!(failed, "{}: {} must fail", self.name, id());
            }
            "free" => {
                let block = self.blocks.remove(&id()).expect("allocated");
                self.allocator.free(block, &mut ()).expect("allocated");
            }
            "record_stream" => {
                let stream = Stream(operation[2].as_u64().expect("a stream"));
                self.allocator.record_stream(self.blocks[&id()], stream);
            }
            "complete" => {
                let stream = operation.get(1).and_then(Value::as_u64).map(Stream);
                self.allocator.driver_mut().complete(DEVICE, stream);
            }
            "empty_cache" => self.allocator.empty_cache(&mut ()),
            "release_mempool" => {
                let pool = self.pools[&id()];
                let dropped = self.allocator.drop_mem_pool(DEVICE, pool, &mut ());
                dropped.expect("in use");
                self.dropped.push(pool);
            }
            "external" | "external!" => {
                let taken = bytes(&operation[1], i);
                let fits = self.allocator.driver_mut().take_by_others(DEVICE, taken);
                assert_eq!(fits, word == "external", "{}: {word} {taken}", self.name);
            }
            "expect" => self.expect(&operation[1], i),
            "show" => {}
            other => panic!("{}: unknown operation {other}", self.name),
        }
    }

    fn malloc(&mut self, operation: &Value, i: u64) -> Result<BlockId, MallocError> {
        let options = &operation[3];
        let stream = options.get("stream").map_or(0, |stream| bytes(stream, i));
        let request = Request {
            device: DEVICE,
            bytes: bytes(&operation[2], i),
            stream: Stream(stream),
        };
        let Some(pool) = options.get("pool").map(|pool| self.pool(name(pool, i))) else {
            return self.allocator.malloc(request, &mut ());
        };
        self.allocator.enter_pool(DEVICE, pool).expect("it exists");
        let block = self.allocator.malloc(request, &mut ());
        self.allocator.leave_pool(DEVICE, pool).expect("entered");
        block
    }

    fn pool(&mut self, name: String) -> PoolId {
        let allocator = &mut self.allocator;
        *self.pools.entry(name).or_insert_with(|| {
            let pool = allocator.create_mem_pool(DEVICE, PoolOptions::default());
            pool.expect("the device exists")
        })
    }

    fn expect(&mut self, expected: &Value, i: u64) {
        for (figure, value) in expected.as_object().expect("figures") {
            self.expectations += 1;
            let (got, wanted) = (self.figure(figure), bytes(value, i));
            assert_eq!(got, wanted, "{}: {figure}", self.name);
        }
    }

    fn figure(&self, figure: &str) -> u64 {
        let stats = self.allocator.statistics(DEVICE).expect("the device");
        let segments = self.allocator.snapshot();
        let free = || segments.iter().flat_map(cached);
        let pending = |segment: &SegmentReport| segment.bytes_in(BlockState::PendingFree);
        let value = match figure {
            "reserved" => stats.reserved_bytes.all.current,
            "allocated" => stats.allocated_bytes.all.current,
            "requested" => stats.requested_bytes.all.current,
            "frees" => stats.num_device_free,
            "retries" => stats.num_alloc_retries,
            "ooms" => stats.num_ooms,
            "segments" => return segments.len() as u64,
            "free" => return free().sum(),
            "largest_free" => return free().max().unwrap_or(0),
            "pending" => return segments.iter().map(pending).sum(),
            "releasable" => {
                let whole = segments.iter().filter(|segment| {
                    let given_up =
                        segment.pool == PoolId::DEFAULT || self.dropped.contains(&segment.pool);
                    given_up && !segment.expandable && segment.blocks.len() == 1
                });
                return whole.flat_map(cached).sum();
            }
            other => panic!("{}: unknown figure {other}", self.name),
        };
        u64::try_from(value).expect("not negative")
    }
}

fn cached(segment: &SegmentReport) -> impl Iterator<Item = u64> {
    let cached = segment.blocks.iter();
    cached
        .filter(|block| block.state == BlockState::Cached)
        .map(|block| block.size_bytes)
}

fn name(value: &Value, i: u64) -> String {
    let text = value.as_str().expect("a name");
    text.replace("{i}", &i.to_string())
}

/// A number, a size such as `"1.5MiB"`, or an expression of `i` such as `"=(200+10*i)*MiB"`.
fn bytes(value: &Value, i: u64) -> u64 {
    if let Some(number) = value.as_u64() {
        return number;
    }
    let text = value.as_str().expect("a number or a text");
    match text.strip_prefix('=') {
        Some(expression) => Expression {
            rest: expression,
            i,
        }
        .sum(),
        None => {
            let unit_at = text
                .find(|c: char| c.is_ascii_alphabetic())
                .expect("a unit");
            let number: f64 = text[..unit_at].parse().expect("a number");
            (number * unit(&text[unit_at..]) as f64) as u64
        }
    }
}

fn unit(name: &str) -> u64 {
    match name {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        other => panic!("unknown unit {other}"),
    }
}

/// Sums and products of whole numbers, `i`, units and brackets.
struct Expression<'a> {
    rest: &'a str,
    i: u64,
}

impl Expression<'_> {
    fn sum(&mut self) -> u64 {
        let mut sum = self.product();
        loop {
            if self.takes('+') {
                sum += self.product();
            } else if self.takes('-') {
                sum -= self.product();
            } else {
                return sum;
            }
        }
    }

    fn product(&mut self) -> u64 {
        let mut product = self.factor();
        while self.takes('*') {
            product *= self.factor();
        }
        product
    }

    fn factor(&mut self) -> u64 {
        if self.takes('(') {
            let sum = self.sum();
            assert!(self.takes(')'), "no ) before {:?}", self.rest);
            return sum;
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric());
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        match word {
            "i" => self.i,
            _ => word.parse().unwrap_or_else(|_| unit(word)),
        }
    }

    fn takes(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}
