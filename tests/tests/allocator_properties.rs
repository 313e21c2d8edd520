//! Random programs run by the engine and by the naive model: the same events, blocks and sums
//! after every step, and states that are legal in themselves.

use proptest::prelude::*;

use shared::{
    allocator::{
        Allocator, BlockId, Decision, PoolOptions, Request, SegmentReport, SimulatedCard,
        Statistics, Stream, TraceEvent,
    },
    ids::{DeviceIndex, PoolId},
    model::BlockState,
    settings::Settings,
};
use tests::naive::{Naive, Sums};

const DEVICE: DeviceIndex = DeviceIndex(0);
const CAPACITY: u64 = 600 << 20;

/// Indices are taken modulo what there is, so that every program makes sense.
#[derive(Clone, Debug)]
enum Op {
    Malloc { bytes: u64, stream: u64 },
    Free(usize),
    Record(usize, u64),
    StreamDone(u64),
    EmptyCache,
    Limit(Option<u64>),
    Settings(usize),
    CreatePool,
    Enter(usize),
    Leave,
    DropPool(usize),
}

/// Texts for starting and for changing on the way.
const TEXTS: [&str; 9] = [
    "",
    "max_split_size_mb:25",
    "max_split_size_mb:40,max_non_split_rounding_mb:32",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:[1:2,4:8,>:1]",
    "garbage_collection_threshold:0.5",
    "garbage_collection_threshold:0.3,max_split_size_mb:30",
    "large_segment_size_mb:32",
    "roundup_power2_divisions:8,max_split_size_mb:64",
];

fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1_u64..4096,
        3 => 1_u64..(1 << 20),
        4 => (1_u64 << 20)..(12 << 20),
        3 => (10_u64 << 20)..(80 << 20),
        1 => (80_u64 << 20)..(400 << 20),
        2 => prop::sample::select(vec![512, 1 << 20, 2 << 20, 10 << 20, 19 << 20, 20 << 20, 40 << 20]),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        30 => (bytes(), 0_u64..3).prop_map(|(bytes, stream)| Op::Malloc {
            bytes,
            // Mostly the default stream.
            stream: stream.saturating_sub(1) * 7,
        }),
        24 => any::<usize>().prop_map(Op::Free),
        4 => (any::<usize>(), 0_u64..3).prop_map(|(at, stream)| Op::Record(at, stream * 7)),
        2 => (0_u64..3).prop_map(|stream| Op::StreamDone(stream * 7)),
        2 => Just(Op::EmptyCache),
        1 => prop::option::of((20_u64 << 20)..(500 << 20)).prop_map(Op::Limit),
        1 => (0..TEXTS.len() + 2).prop_map(Op::Settings),
        1 => Just(Op::CreatePool),
        1 => any::<usize>().prop_map(Op::Enter),
        1 => Just(Op::Leave),
        1 => any::<usize>().prop_map(Op::DropPool),
    ]
}

fn text(number: usize) -> &'static str {
    match number.checked_sub(TEXTS.len()) {
        None => TEXTS[number],
        Some(0) => "expandable_segments:True",
        Some(_) => "expandable_segments:False",
    }
}

struct Pair {
    engine: Allocator<SimulatedCard>,
    naive: Naive,
    live: Vec<(BlockId, u64)>,
    pools: u64,
}

impl Pair {
    fn new(text: &str) -> Self {
        let settings = Settings::parse(text).expect("a valid text");
        let card = SimulatedCard::with_capacity(CAPACITY);
        Self {
            engine: Allocator::new(settings.clone(), card, 1),
            naive: Naive::new(settings, CAPACITY),
            live: Vec::new(),
            pools: 0,
        }
    }

    fn step(&mut self, op: &Op) {
        let mut events: Vec<TraceEvent> = Vec::new();
        self.naive.events.clear();
        match op {
            Op::Malloc { bytes, stream } => self.malloc(*bytes, *stream, &mut events),
            Op::Free(at) if !self.live.is_empty() => {
                let (engine, naive) = self.live.swap_remove(at % self.live.len());
                self.engine.free(engine, &mut events).expect("live");
                self.naive.free(naive);
            }
            Op::Record(at, stream) if !self.live.is_empty() => {
                let (engine, naive) = self.live[at % self.live.len()];
                self.engine.record_stream(engine, Stream(*stream));
                self.naive.record(naive, *stream);
            }
            Op::Free(_) | Op::Record(..) => {}
            Op::StreamDone(stream) => {
                let card = self.engine.driver_mut();
                card.complete(DEVICE, Some(Stream(*stream)));
                self.naive.stream_done(*stream);
            }
            Op::EmptyCache => {
                self.engine.empty_cache(&mut events);
                self.naive.flush();
            }
            Op::Limit(limit) => {
                self.engine.set_memory_limit(DEVICE, *limit);
                self.naive.limit = *limit;
            }
            Op::Settings(number) => {
                let text = text(*number);
                // Some are refused after a larger segment size, and half in force.
                let applied = self.engine.settings_mut().apply(text);
                assert_eq!(applied, self.naive.settings.apply(text));
            }
            Op::CreatePool | Op::Enter(_) | Op::Leave | Op::DropPool(_) => {
                self.pool_step(op, &mut events);
            }
        }
        let events: Vec<_> = events
            .iter()
            .map(|e| (e.action, e.address, e.size_bytes, e.stream.0))
            .collect();
        assert_eq!(events, self.naive.events, "{op:?}");
        self.compare_states();
    }

    fn malloc(&mut self, bytes: u64, stream: u64, events: &mut Vec<TraceEvent>) {
        let request = Request {
            device: DEVICE,
            bytes,
            stream: Stream(stream),
        };
        // With and without reasons by turns: asking why must change nothing.
        let block = if bytes.is_multiple_of(2) {
            self.engine.malloc(request, events)
        } else {
            let mut decision = Decision::default();
            let block = self.engine.malloc(request, &mut decision);
            events.extend(decision.events());
            block
        };
        let expected = self.naive.malloc(bytes, stream);
        assert_eq!(block.is_ok(), expected.is_some());
        self.live.extend(block.ok().zip(expected));
    }

    fn pool_step(&mut self, op: &Op, events: &mut Vec<TraceEvent>) {
        let chosen = |at: usize, pools: u64| at % pools.max(1) as usize;
        match op {
            Op::CreatePool => {
                let options = PoolOptions::default();
                self.engine.create_mem_pool(DEVICE, options).expect("made");
                self.naive.create_pool();
                self.pools += 1;
            }
            // Pools are not nested in any program that we know.
            Op::Enter(at) if self.pools > 0 && !self.naive.is_entered() => {
                let at = chosen(*at, self.pools);
                let entered = self.engine.enter_pool(DEVICE, PoolId(0, at as u64 + 1));
                assert_eq!(entered.is_ok(), self.naive.enter(at));
            }
            Op::Leave => {
                if let Some(pool) = self.naive.leave() {
                    self.engine.leave_pool(DEVICE, pool).expect("entered");
                }
            }
            Op::DropPool(at) if self.pools > 0 => {
                let at = chosen(*at, self.pools);
                let id = PoolId(0, at as u64 + 1);
                let dropped = self.engine.drop_mem_pool(DEVICE, id, events);
                assert_eq!(dropped.is_ok(), self.naive.drop_pool(at));
            }
            _ => {}
        }
    }

    fn compare_states(&self) {
        let segments = self.engine.snapshot();
        let blocks: Vec<_> = segments
            .iter()
            .flat_map(|segment| segment.blocks.iter().map(|block| (segment.stream, *block)))
            .collect();
        assert_eq!(blocks, self.naive.reports());
        let stats = self.engine.statistics(DEVICE).expect("the device");
        assert_eq!(sums(stats), self.naive.sums());
        let figures = &self.naive.figures;
        assert_eq!(
            (
                stats.num_alloc_retries,
                stats.num_ooms,
                stats.num_sync_all_streams,
                stats.num_device_alloc,
                stats.num_device_free,
            ),
            (
                figures.retries,
                figures.ooms,
                figures.syncs,
                figures.device_allocs,
                figures.device_frees,
            )
        );
        assert_eq!(self.engine.held_bytes(DEVICE), self.naive.held());
        segments.iter().for_each(check_legal);
    }
}

fn sums(stats: &Statistics) -> Sums {
    for (name, family) in stats.families() {
        let (all, small, large) = (family.all, family.small_pool, family.large_pool);
        assert_eq!(all.current, small.current + large.current, "{name}");
        assert_eq!(all.allocated - all.freed, all.current, "{name}");
        assert!(all.peak >= all.current && small.current >= 0 && large.current >= 0);
    }
    Sums {
        allocated: stats.allocated_bytes.all.current,
        active: stats.active_bytes.all.current,
        requested: stats.requested_bytes.all.current,
        reserved: stats.reserved_bytes.all.current,
        inactive_split: stats.inactive_split_bytes.all.current,
        segments: stats.segment.all.current,
    }
}

/// Blocks follow one another, in units of 512 bytes, and no two cached ones touch.
fn check_legal(segment: &SegmentReport) {
    let mut at = segment.address;
    let mut after_cached = false;
    for block in &segment.blocks {
        let cached = block.state == BlockState::Cached;
        assert_eq!(block.address, at);
        assert!(block.size_bytes > 0 && block.size_bytes.is_multiple_of(512));
        assert!(cached || block.requested_bytes <= block.size_bytes);
        assert!(!(after_cached && cached), "unmerged at {at:#x}");
        after_cached = cached;
        at += block.size_bytes;
    }
}

fn check(text: &str, ops: &[Op]) {
    let mut pair = Pair::new(text);
    for op in ops {
        pair.step(op);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_naive_model(
        number in 0..TEXTS.len(),
        limit in prop::option::of((100_u64 << 20)..(500 << 20)),
        ops in prop::collection::vec(op(), 1..250),
    ) {
        let mut program = vec![Op::Limit(limit)];
        program.extend(ops);
        check(TEXTS[number], &program);
    }

    #[test]
    fn agrees_with_the_naive_model_on_expandable_segments(
        number in 0..TEXTS.len(),
        limit in prop::option::of((100_u64 << 20)..(500 << 20)),
        ops in prop::collection::vec(op(), 1..250),
    ) {
        let text = format!("{},expandable_segments:True", TEXTS[number]);
        let text = text.trim_start_matches(',');
        let mut program = vec![Op::Limit(limit)];
        program.extend(ops);
        check(text, &program);
    }
}
