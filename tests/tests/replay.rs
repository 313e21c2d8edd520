//! The state at any moment of real recordings.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use shared::ids::EventIndex;
use shared::model::BlockState;
use shared::query::{Axis, Effect, Engine, Query, Reply, Series};
use shared::replay::{Cursor, FlushKind, Replay, Sums};
use shared::store::{DeviceRecord, Recording};
use shared::warning::WarningKind;
use tests::fixture::{all_built_in, built_in, files, recording};

/// Calls `check` with every device of every built-in recording.
fn for_each_device(check: impl Fn(&str, &Recording, &DeviceRecord, &Replay)) {
    for path in all_built_in() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let recording = recording(&path);
        for record in &recording.devices {
            check(&name, &recording, record, &Replay::new(&recording, record));
        }
    }
}

#[test]
fn the_walk_meets_the_recorded_end() {
    for_each_device(|name, _, _, replay| {
        for kind in [
            WarningKind::FinalMismatch,
            WarningKind::UnmatchedFree,
            WarningKind::UnmatchedSegment,
            WarningKind::Overlap,
            WarningKind::OutsideSegments,
            WarningKind::SegmentSum,
            WarningKind::StatedSum,
            WarningKind::InferredSize,
        ] {
            assert_eq!(replay.warnings().count(kind), 0, "{name}: {kind:?}");
        }
    });
}

#[test]
fn at_every_mark_the_sums_are_those_that_pytorch_said() {
    let mut marks = 0;
    for_each_device(|name, recording, record, replay| {
        for mark in &recording.marks {
            let applied = record.events.count_until(mark.time_us) as u32;
            let sums = replay.sums().at(replay, &record.events, applied);
            assert_eq!(
                Some(sums.allocated),
                mark.allocated_bytes,
                "{name}: {}",
                mark.label
            );
            assert_eq!(
                Some(sums.reserved),
                mark.reserved_bytes,
                "{name}: {}",
                mark.label
            );
        }
    });
    for path in all_built_in() {
        marks += recording(&path).marks.len();
    }
    assert!(marks > 100, "{marks} marks were checked");
}

#[test]
fn peaks_and_final_figures_are_those_of_memory_stats() {
    let mut checked = 0;
    for path in files("tests/data/conformance", ".json.zst") {
        let name = path.to_string_lossy().into_owned();
        // Where settings change on the way, the record does not say what a block was rounded to.
        if name.contains("switched") {
            continue;
        }
        let stats = statistics(&path);
        let recording = recording(name.replace(".json.zst", ".pickle.zst"));
        let record = &recording.devices[0];
        let replay = Replay::new(&recording, record);
        let [allocated, requested, active, reserved, ..] = replay.sums().whole().max;
        let end = replay.sums().end();
        for (key, peak, current) in [
            ("allocated_bytes", allocated, end.allocated),
            ("requested_bytes", requested, end.requested),
            ("active_bytes", active, end.active),
            ("reserved_bytes", reserved, end.reserved),
        ] {
            let figure = |which: &str| stats[&format!("{key}.all.{which}")].as_u64();
            assert_eq!(figure("peak"), Some(peak), "{name}: peak {key}");
            assert_eq!(figure("current"), Some(current), "{name}: final {key}");
        }
        checked += 1;
    }
    assert_eq!(checked, 88);
}

/// `meta.stats` of an operation list.
fn statistics(path: &Path) -> Value {
    let text = tests::fixture::unpacked(path);
    let case: Value = serde_json::from_slice(&text).expect("the case is JSON");
    case["meta"]["stats"].clone()
}

#[test]
fn empty_cache_is_told_from_retries() {
    let counts = |name: &str| {
        let recording = built_in(name);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for record in &recording.devices {
            for flush in Replay::new(&recording, record).flushes() {
                let kind = match flush.kind {
                    FlushKind::EmptyCache => "empty_cache",
                    FlushKind::Retry => "retry",
                    FlushKind::Oversize => "oversize",
                    FlushKind::GarbageCollection => "gc",
                    FlushKind::PoolDropped => "pool",
                };
                *counts.entry(kind).or_default() += 1;
            }
        }
        counts.into_iter().collect::<Vec<_>>()
    };
    for (name, expected) in [
        ("empty_each_step.default", vec![("empty_cache", 5)]),
        ("graph_streams.default", vec![("empty_cache", 3)]),
        ("kv_cat.default", vec![("empty_cache", 1)]),
        ("kv_cat.expandable", vec![("empty_cache", 1)]),
        ("leak.default", vec![("empty_cache", 2)]),
        ("oom.default", vec![("retry", 8)]),
        ("oom.expandable", vec![("retry", 3)]),
        ("oom.split128", vec![("oversize", 15), ("retry", 5)]),
        ("pinned.default", vec![]),
        ("switch_models.default", vec![("empty_cache", 3)]),
        ("switch_models.expandable", vec![("empty_cache", 3)]),
        ("two_gpus.default", vec![("empty_cache", 2)]),
        ("varlen.default", vec![]),
        ("varlen.expandable", vec![]),
        ("varlen.roundup4", vec![]),
        ("varlen.split128", vec![]),
        ("zero_grad.default", vec![("empty_cache", 1)]),
        ("fsdp.rank0", vec![]),
        ("fsdp.rank1", vec![]),
    ] {
        assert_eq!(counts(name), expected, "{name}");
    }
}

#[test]
fn the_labelled_calls_of_empty_cache_are_found_where_their_marks_are() {
    for name in ["switch_models.default", "switch_models.expandable"] {
        let mut engine = Engine::new(built_in(name));
        let Reply::Overview(overview) = engine.answer(&Query::Overview) else {
            panic!("every recording has an overview");
        };
        let device = &overview.devices[0];
        let labelled: Vec<_> = device
            .marks
            .iter()
            .filter(|mark| mark.label.starts_with("empty_cache"))
            .filter_map(|mark| mark.at)
            .collect();
        assert_eq!(labelled.len(), device.empty_caches.len(), "{name}");
        for (call, mark) in device.empty_caches.iter().zip(labelled) {
            assert!(
                *call <= mark && mark.0 - call.0 < 400,
                "{name}: {call:?} {mark:?}"
            );
        }
    }
}

/// The sums that follow from the blocks themselves.
fn sums_of_runs(replay: &Replay, cursor: &Cursor) -> Sums {
    let mut sums = Sums::default();
    for run in cursor.state().runs(replay) {
        sums.reserved += run.size_bytes;
        let blocks: u64 = run.blocks.iter().map(|block| block.size_bytes).sum();
        assert_eq!(blocks, run.size_bytes, "blocks add up to their segment");
        for block in &run.blocks {
            let Some((id, life)) = block.life.and_then(|id| Some((id, replay.life(id)?))) else {
                continue;
            };
            sums.active += block.size_bytes;
            sums.requested += life.requested_bytes;
            if !replay.is_pending(id, &life, cursor.applied()) {
                sums.allocated += block.size_bytes;
            }
        }
    }
    sums
}

#[test]
fn block_sizes_add_up_at_every_event() {
    for_each_device(|name, _, record, replay| {
        let mut cursor = Cursor::at_start(replay);
        let step = (replay.events() / 300).max(1);
        for applied in (0..=replay.events()).step_by(step as usize) {
            cursor.seek(replay, &record.events, applied);
            let sums = replay.sums().at(replay, &record.events, applied);
            assert_eq!(sums_of_runs(replay, &cursor), sums, "{name} at {applied}");
            assert_eq!(
                sums.allocated + sums.pending() + sums.cached(),
                sums.reserved
            );
        }
    });
}

#[test]
fn going_back_is_going_forward_the_other_way() {
    for_each_device(|name, _, record, replay| {
        let mut forward = Cursor::at_start(replay);
        let mut states = Vec::new();
        let window = replay.events().min(3000);
        for applied in 0..=window {
            forward.seek(replay, &record.events, applied);
            states.push(forward.state().clone());
        }
        for applied in (0..=window).rev() {
            forward.seek(replay, &record.events, applied);
            assert_eq!(
                forward.state(),
                &states[applied as usize],
                "{name} at {applied}"
            );
        }
    });
}

#[test]
fn seeking_leads_where_walking_does() {
    for name in ["oom.expandable", "varlen.default", "graph_streams.default"] {
        let recording = built_in(name);
        let record = &recording.devices[0];
        let replay = Replay::new(&recording, record);
        let mut seeking = Cursor::at_start(&replay);
        // A fixed sequence that jumps all over the record.
        let mut place: u64 = 1;
        for _ in 0..60 {
            place = place
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let applied = (place >> 33) as u32 % (replay.events() + 1);
            seeking.seek(&replay, &record.events, applied);
            let mut walking = Cursor::at_start(&replay);
            for step in 0..=applied {
                walking.seek(&replay, &record.events, step);
            }
            assert_eq!(seeking.state(), walking.state(), "{name} at {applied}");
        }
    }
}

#[test]
fn a_curve_keeps_every_peak_at_any_zoom() {
    for_each_device(|name, _, record, replay| {
        let events = &record.events;
        let all: Vec<[u64; 6]> = (1..=replay.events())
            .map(|applied| replay.sums().at(replay, events, applied).values())
            .collect();
        let mut place: u64 = 7;
        for _ in 0..40 {
            place = place
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let from = (place >> 33) as u32 % replay.events();
            let to = from + 1 + (place >> 40) as u32 % (replay.events() - from);
            let range = replay.sums().range(replay, events, from, to);
            let slice = &all[from as usize..to as usize];
            for series in 0..Series::ALL.len() {
                let max = slice.iter().map(|values| values[series]).max();
                let min = slice.iter().map(|values| values[series]).min();
                assert_eq!(Some(range.max[series]), max, "{name} {from}..{to}");
                assert_eq!(Some(range.min[series]), min, "{name} {from}..{to}");
            }
        }
    });
}

#[test]
fn curves_fill_their_columns_over_events_and_over_time() {
    let mut engine = Engine::new(built_in("kv_cat.default"));
    let Reply::Overview(overview) = engine.answer(&Query::Overview) else {
        panic!("every recording has an overview");
    };
    let device = &overview.devices[0];
    let (Some(first), Some(last)) = (device.first_time_us, device.last_time_us) else {
        panic!("the events carry times");
    };
    for (axis, from, to) in [
        (Axis::Events, 0, i64::from(device.events)),
        (Axis::Time, first, last + 1),
    ] {
        let query = Query::Curves {
            device: device.device,
            axis,
            from,
            to,
            columns: 300,
        };
        let Reply::Curves(curves) = engine.answer(&query) else {
            panic!("the device is there");
        };
        assert_eq!(curves.first_events.len(), 301);
        assert_eq!(curves.first_events.last(), Some(&device.events));
        let highest = |series: usize| curves.series[series].max.iter().copied().max();
        assert_eq!(highest(0), Some(device.peak.allocated), "{axis:?}");
        assert_eq!(highest(3), Some(device.peak.reserved), "{axis:?}");
        let allocs: u32 = curves.segment_allocs.iter().sum();
        let frees: u32 = curves.segment_frees.iter().sum();
        assert_eq!((allocs, frees), (950, 950), "{axis:?}");
    }
}

#[test]
fn a_map_says_what_empty_cache_would_return() {
    let mut engine = Engine::new(built_in("switch_models.default"));
    let Reply::Overview(overview) = engine.answer(&Query::Overview) else {
        panic!("every recording has an overview");
    };
    let device = overview.devices[0].device;
    for &call in &overview.devices[0].empty_caches {
        let before = EventIndex(call.0 - 1);
        let query = Query::Map {
            device,
            at: before,
            finest_bytes: 0,
        };
        let Reply::Map(map) = engine.answer(&query) else {
            panic!("the event is there");
        };
        let returned = engine
            .replay(device)
            .and_then(|replay| replay.flush_at(call))
            .map(|flush| flush.bytes);
        assert_eq!(Some(map.summary.releasable), returned, "at {call:?}");
        let cached: u64 = map
            .segments
            .iter()
            .flat_map(|segment| &segment.blocks)
            .filter(|block| block.state == BlockState::Cached)
            .map(|block| block.size_bytes)
            .sum();
        assert_eq!(map.summary.releasable + map.summary.pinned, cached);
    }
}

#[test]
fn an_oom_names_the_limit_that_forbade_it() {
    let mut recording = built_in("oom.default");
    let limit = recording.environment.card.limit_bytes;
    assert!(limit.is_some(), "the run was limited to 3 % of the card");
    let over_limit = |recording: &Recording| {
        let mut engine = Engine::new(recording.clone());
        let Reply::Overview(overview) = engine.answer(&Query::Overview) else {
            panic!("every recording has an overview");
        };
        let (device, at) = (overview.devices[0].device, overview.devices[0].ooms[0]);
        let Reply::Step(step) = engine.answer(&Query::Step { device, at }) else {
            panic!("the event is there");
        };
        let Effect::OutOfMemory {
            segment_bytes,
            over_limit_bytes,
            ..
        } = step.effect
        else {
            panic!("the event is an OOM: {:?}", step.effect);
        };
        assert!(step.before.reserved + segment_bytes > limit.unwrap_or(u64::MAX));
        over_limit_bytes
    };
    assert_eq!(over_limit(&recording), limit);
    recording.environment.card.limit_bytes = None;
    assert_eq!(
        over_limit(&recording),
        None,
        "an unknown limit is not guessed"
    );
}
