//! The allocator against recordings: real ones agree, and no change to one goes unnoticed.

use std::path::Path;

use shared::ids::EventIndex;
use shared::model::{Action, Event};
use shared::query::{Engine, Query, Reply};
use shared::store::{EventColumns, Recording};
use shared::units::MIB;
use shared::verify::{Verdict, verify};
use tests::fixture::{all_built_in, built_in, files, recording};

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(".pickle").next().unwrap_or_default().to_owned()
}

#[test]
fn every_built_in_recording_agrees() {
    for path in all_built_in() {
        let agreement = verify(&recording(&path));
        assert_eq!(agreement.verdict, Verdict::Agrees, "{}", path.display());
        for device in agreement.devices {
            assert_eq!(device.matched, device.events, "{}", path.display());
            assert_eq!(device.unexplained, 0);
            assert_eq!(device.first_mismatch, None);
            assert!(device.assumed_settings.is_empty());
        }
    }
}

#[test]
fn the_conformance_recordings_agree_from_the_pickle_alone() {
    let mut agreed = 0;
    for path in files("tests/data/conformance", ".pickle.zst") {
        let name = stem(&path);
        let agreement = verify(&recording(&path));
        for device in &agreement.devices {
            assert_eq!(device.matched + device.unexplained, device.events, "{name}");
        }
        // Which pool was entered and which settings changed stands in no event.
        if name.starts_with("pools") || name.starts_with("switched") {
            assert!(
                matches!(agreement.verdict, Verdict::Agrees | Verdict::Incomplete),
                "{name}: {:?}",
                agreement.verdict
            );
        } else {
            let first = agreement
                .devices
                .first()
                .and_then(|d| d.first_mismatch.clone());
            assert_eq!(agreement.verdict, Verdict::Agrees, "{name}: {first:?}");
            agreed += 1;
        }
    }
    assert_eq!(agreed, 82);
}

/// How the changes to one recording fared.
#[derive(Debug, Default)]
struct Tally {
    caught: u32,
    undetectable: Vec<String>,
}

impl Tally {
    /// Verifies a changed recording; the change is at `place`.
    fn judge(&mut self, changed: &Recording, place: u32, what: &str) {
        let agreement = verify(changed);
        match agreement.verdict {
            Verdict::Disagrees => {
                self.caught += 1;
                let first = agreement.devices[0].first_mismatch.as_ref();
                let event = first.expect("a disagreement has a place").event;
                let start = operation_start(changed, place);
                assert!(event.0 >= start, "{what} at {place}: blamed on {event:?}");
            }
            Verdict::Impossible => self.caught += 1,
            verdict => self
                .undetectable
                .push(format!("{what} at event {place}: {verdict:?}")),
        }
    }
}

/// A request that gets new memory is noticed at the first event of what it did for it.
fn operation_start(recording: &Recording, place: u32) -> u32 {
    let events = &recording.devices[0].events;
    let is_part = |index: &u32| {
        let action = events.action(EventIndex(*index));
        action.is_some_and(|action| action.is_driver_call() || action == Action::FreeCompleted)
    };
    let before = (0..place).rev().take_while(is_part).count();
    place - before as u32
}

/// The recording with the events of its first device replaced.
fn with_events(recording: &Recording, events: &[Event]) -> Recording {
    let mut columns = EventColumns::default();
    for event in events {
        assert!(columns.push(event), "there are few streams");
    }
    let mut changed = recording.clone();
    changed.devices[0].events = columns;
    changed
}

fn has_address(action: Action) -> bool {
    !matches!(
        action,
        Action::Oom | Action::Snapshot | Action::Annotate | Action::Unknown
    )
}

/// A cached block, before an event, in which the request at `at` would fit but did not land.
fn another_free_block(engine: &mut Engine, at: u32, event: &Event) -> Option<u64> {
    let device = engine.recording().devices[0].device;
    let query = Query::FreeList {
        device,
        at: EventIndex(at),
        rows: u32::MAX,
    };
    let Reply::FreeList(list) = engine.answer(&query) else {
        return None;
    };
    let wanted = list.wanted_bytes?;
    list.blocks
        .iter()
        .find(|block| block.size_bytes >= wanted && block.address != event.address)
        .map(|block| block.address)
}

fn mutate(recording: &Recording) -> Tally {
    let events: Vec<Event> = recording.devices[0].events.iter().map(|(_, e)| e).collect();
    let settings = recording.settings();
    let mut engine = Engine::new(recording.clone());
    let mut tally = Tally::default();
    let mut judge = |at: usize, what: &str, change: &dyn Fn(&mut Vec<Event>)| {
        let mut changed = events.clone();
        change(&mut changed);
        tally.judge(&with_events(recording, &changed), at as u32, what);
    };
    for (at, event) in events.iter().enumerate() {
        if !has_address(event.action) {
            continue;
        }
        judge(at, "address moved by 512 bytes", &|changed| {
            changed[at].address += 512;
        });
        let step = settings.round(event.size_bytes + 1) - event.size_bytes;
        judge(at, "size changed by one rounding step", &|changed| {
            changed[at].size_bytes += step.max(512);
        });
        if event.action != Action::Alloc {
            continue;
        }
        if let Some(address) = another_free_block(&mut engine, at as u32, event) {
            judge(at, "address moved to another free block", &|changed| {
                changed[at].address = address;
            });
        }
        let is_request = |next: &&Event| next.action == Action::Alloc;
        if events.get(at + 1).filter(is_request).is_some() {
            judge(at, "swapped with the next request", &|changed| {
                // Times stay in order; only what was asked for changes places.
                changed.swap(at, at + 1);
                let time = changed[at].time_us;
                changed[at].time_us = changed[at + 1].time_us;
                changed[at + 1].time_us = time;
            });
        }
    }
    tally
}

#[test]
fn no_change_to_a_recording_goes_unnoticed() {
    let cases = [
        ("graph_streams.default", built_in("graph_streams.default")),
        ("zero_grad.default", built_in("zero_grad.default")),
        (
            "kv_growth.expandable",
            recording("tests/data/conformance/kv_growth.expandable.pickle.zst"),
        ),
    ];
    for (name, recording) in cases {
        let tally = mutate(&recording);
        println!(
            "{name}: {} changes caught, {} undetectable",
            tally.caught,
            tally.undetectable.len()
        );
        // Two requests that take nothing from each other come out alike in either order.
        for change in &tally.undetectable {
            println!("  {change}");
            let is_alike = change.contains("swapped") && change.ends_with("Agrees");
            assert!(is_alike, "{name}: {change}");
        }
        assert!(tally.caught > 500, "{name}: {}", tally.caught);
    }
}

#[test]
fn what_no_allocator_can_have_done_is_impossible() {
    let recording = built_in("zero_grad.default");
    let mut events: Vec<Event> = recording.devices[0].events.iter().map(|(_, e)| e).collect();
    let request = events
        .iter_mut()
        .find(|event| event.action == Action::Alloc)
        .expect("there are requests");
    request.address += 7;
    let agreement = verify(&with_events(&recording, &events));
    assert_eq!(agreement.verdict, Verdict::Impossible);
    let device = &agreement.devices[0];
    assert_eq!(device.matched + device.unexplained, device.events);
}

#[test]
fn an_empty_recording_is_empty() {
    let agreement = verify(&Recording::default());
    assert_eq!(agreement.verdict, Verdict::Empty);
    assert!(agreement.devices.is_empty());
}

#[test]
fn a_split_is_explained_by_the_rule_that_decided_it() {
    use shared::allocator::{SplitRule, Step};
    let mut engine = Engine::new(built_in("varlen.default"));
    let device = engine.recording().devices[0].device;
    // The event of the picture in the design: 12,533,760 bytes from a block of 12 MiB and 96 KiB.
    let at = EventIndex(5172);
    let Reply::Why(Some(why)) = engine.answer(&Query::Why { device, at }) else {
        panic!("the event is a request");
    };
    assert!(why.agrees);
    assert_eq!((why.first, why.last), (at, at));
    let split = why.steps.iter().find_map(|step| match step {
        Step::Split {
            rule,
            split,
            front_bytes,
            rest_bytes,
        } => Some((*rule, *split, *front_bytes, *rest_bytes)),
        _ => None,
    });
    let (rule, split, front, rest) = split.expect("a request decides about splitting");
    assert_eq!((rule, split), (SplitRule::LargePool, false));
    assert_eq!(rest, 96 * 1024);
    assert!(rest <= MIB && front >= 12_533_760);
}
