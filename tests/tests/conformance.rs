//! The allocator against 94 recordings of the real one: from the operations alone, and from what
//! only the driver decides, every event, block and figure must come out.

use std::collections::BTreeMap;

use serde::Deserialize;
use shared::{
    allocator::{
        Allocator, Decision, Detail, MallocError, Recorded, TraceEvent,
        operations::{Meta, Operation, Outcome, Program},
    },
    ids::DeviceIndex,
    read::read_all,
    recorded::{segment_reports, trace_events},
    settings::Settings,
};
use tests::lists;

const DEVICE: DeviceIndex = DeviceIndex(0);

/// An operation list with what the real allocator said at its end.
#[derive(Deserialize)]
struct Case {
    meta: CaseMeta,
    ops: Vec<Operation>,
}

#[derive(Deserialize)]
struct CaseMeta {
    #[serde(flatten)]
    meta: Meta,
    /// Operation, kind, text.
    notes: Vec<(usize, String, String)>,
    stats: BTreeMap<String, i64>,
    summary: String,
}

/// A run of a case, as the allocator reported it.
struct Run {
    program: Program<Recorded>,
    events: Vec<TraceEvent>,
    /// Operation and text of each failed allocation.
    failures: Vec<(usize, String)>,
}

#[test]
fn meets_every_recording() {
    let (mut cases, mut events) = (0, 0);
    let mut differences = Vec::new();
    for name in lists::names() {
        cases += 1;
        match check(&name) {
            Ok(count) => events += count,
            Err(difference) => differences.push(format!("{name}: {difference}")),
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!((cases, events), (94, 209_227));
}

/// How many events agreed, or the first difference.
fn check(name: &str) -> Result<usize, String> {
    let case: Case =
        serde_json::from_slice(&lists::operations(name)).map_err(|error| error.to_string())?;
    let recording = read_all(&lists::pickle(name)).map_err(|error| error.to_string())?;
    let record = recording.device(DEVICE).ok_or("no device 0")?;
    let wanted = trace_events(&recording, record);

    let run = run(&case, &wanted, name);
    for (index, (got, wanted)) in run.events.iter().zip(&wanted).enumerate() {
        same(&format!("event {index}"), got, wanted)?;
    }
    same("events", &run.events.len(), &wanted.len())?;
    let allocator = &run.program.allocator;
    let segments = segment_reports(&recording, record);
    for (got, wanted) in allocator.snapshot().iter().zip(&segments) {
        same("segment", got, wanted)?;
    }
    same("segments", &allocator.snapshot().len(), &segments.len())?;
    let statistics = allocator.statistics(DEVICE).ok_or("no statistics")?;
    let figures: BTreeMap<_, _> = statistics.entries().into_iter().collect();
    for (key, wanted) in &case.meta.stats {
        same(key, &figures.get(key), &Some(wanted))?;
    }
    same("statistics", &figures.len(), &case.meta.stats.len())?;
    let summary = statistics.summary(DEVICE, Detail::Pools);
    same("summary", &summary, &case.meta.summary)?;
    check_failures(&run.failures, &case.meta.notes)?;
    Ok(wanted.len())
}

fn run(case: &Case, recorded: &[TraceEvent], name: &str) -> Run {
    let meta = &case.meta.meta;
    let settings = Settings::parse(&meta.conf).expect("recorded settings");
    let total_bytes = meta.total.expect("recorded");
    let driver = Recorded::new(vec![(total_bytes, recorded.to_vec())]);
    let allocator = Allocator::new(settings, driver, 1);
    let mut run = Run {
        program: Program::new(allocator, meta.clone()),
        events: Vec::new(),
        failures: Vec::new(),
    };
    for (index, operation) in case.ops.iter().enumerate() {
        let mut decision = Decision::default();
        let outcome = run.program.run(operation, &mut decision);
        run.events.extend(decision.events());
        match outcome {
            Ok(Outcome::Failed(error @ MallocError::OutOfMemory(_))) => {
                run.failures.push((index, error.to_string()));
            }
            Ok(Outcome::Done(_)) => {}
            other => panic!("{name}, operation {index}: {other:?}"),
        }
    }
    run
}

/// The texts agree but for the driver's free bytes and the processes on the card, which no
/// simulation can know.
fn check_failures(
    got: &[(usize, String)],
    notes: &[(usize, String, String)],
) -> Result<(), String> {
    let wanted: Vec<_> = notes
        .iter()
        .filter(|(_, kind, _)| kind == "oom")
        .map(|(operation, _, text)| (*operation, predictable(text)))
        .collect();
    let got: Vec<_> = got
        .iter()
        .map(|(operation, text)| (*operation, predictable(text)))
        .collect();
    same("failures", &got, &wanted)
}

fn predictable(text: &str) -> (&str, &str) {
    let start = text.find(" of which ").expect("the free bytes");
    let end = text.find("Of the allocated memory").expect("the sums");
    // The limit, if any, stands just before the sums.
    let end = text[..end]
        .find(" allowed; ")
        .and_then(|allowed| text[..allowed].rfind(". "))
        .map_or(end, |limit| limit + 2);
    (&text[..start], &text[end..])
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, wanted: &T) -> Result<(), String> {
    if got == wanted {
        return Ok(());
    }
    Err(format!("{what}: {got:?}, recorded {wanted:?}"))
}
