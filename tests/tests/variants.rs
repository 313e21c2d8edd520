//! The forms that snapshots have had over the years: each opens, and says what CPython reads.

use shared::ids::EventIndex;
use shared::model::{Action, BlockState, Source};
use shared::read::{Foreign, ReadErrorKind, read_all};
use shared::warning::WarningKind;
use tests::fixture;
use tests::forms::{each_block, each_event, each_segment, modern, open, opens_alike};
use tests::pickle::{Py, WRITERS, Writer, write};
use tests::python::{assert_same, render};
use tests::snapshot::snapshot;

/// Takes away what the versions between 2.0 and 2.15 added, the newest first.
fn before_allocator_settings(top: &mut Py) {
    top.remove(&["external_annotations", "allocator_settings"]);
    each_event(top, |_, event| {
        event.remove(&["compile_context", "user_metadata"])
    });
}

#[test]
fn row_1_blocks_without_addresses_but_with_a_history() {
    let mut top = modern();
    before_allocator_settings(&mut top);
    each_event(&mut top, |_, event| {
        event.remove(&["time_us"]);
        for frame in event.at("frames").items_mut() {
            // filename, name, line
            let line = frame.at("line").clone();
            frame.remove(&["line"]);
            frame.reverse();
            *frame.at("line") = line;
        }
    });
    each_segment(&mut top, |_, segment| {
        segment.remove(&["segment_pool_id", "is_expandable", "frames"]);
    });
    each_block(&mut top, |row, block| {
        let entry = |size: u64, frames: Py| {
            Py::dict([
                ("addr", Py::from(7)),
                ("real_size", size.into()),
                ("frames", frames),
            ])
        };
        let frames = block.at("frames").clone();
        block.remove(&["address", "frames"]);
        if row % 3 != 2 {
            // The newest first; older ones belong to what the block was split from.
            let older = entry(1, Py::list([]));
            *block.at("history") = Py::list([entry(512 + row as u64, frames), older]);
        }
        if row % 2 == 1 {
            block.remove(&["requested_size"]);
        }
    });
    let recording = opens_alike(&top);
    let blocks: usize = recording.devices[0]
        .segments
        .iter()
        .map(|segment| segment.blocks.len())
        .sum();
    assert_eq!(
        recording.warnings.count(WarningKind::DerivedAddress),
        blocks as u64
    );
    assert_eq!(recording.warnings.count(WarningKind::NoTimes), 1);
    let modern = open(&write(&modern(), Writer::Python(4)));
    for (old, new) in recording.devices[0]
        .segments
        .iter()
        .zip(&modern.devices[0].segments)
    {
        let addresses = |segment: &shared::model::Segment| {
            segment
                .blocks
                .iter()
                .map(|block| block.address)
                .collect::<Vec<_>>()
        };
        assert_eq!(addresses(old), addresses(new));
        assert_eq!(old.pool, None);
    }
}

#[test]
fn row_2_events_without_a_time_and_some_without_frames() {
    let mut top = modern();
    before_allocator_settings(&mut top);
    each_event(&mut top, |row, event| {
        event.remove(if row % 5 == 0 {
            &["time_us", "frames"]
        } else {
            &["time_us"]
        });
    });
    let recording = opens_alike(&top);
    assert_eq!(recording.warnings.count(WarningKind::NoTimes), 1);
    let first = recording.devices[0]
        .events
        .get(EventIndex(0))
        .expect("an event");
    assert_eq!((first.time_us, first.stack.0), (None, 0));
    assert_eq!(recording.environment.settings_text, None);
}

#[test]
fn rows_3_to_7_keys_that_came_one_after_the_other() {
    let mut top = modern();
    before_allocator_settings(&mut top);
    let with_time = opens_alike(&top);
    assert!(with_time.devices[0].events.time_us(EventIndex(0)).is_some());

    let divisions = Py::dict([("1", Py::from(0)), ("2", Py::from(4))]);
    *top.at("allocator_settings") = Py::dict([
        (
            "PYTORCH_CUDA_ALLOC_CONF",
            Py::from("expandable_segments:True"),
        ),
        ("max_split_size", Py::Int(-1)),
        ("garbage_collection_threshold", Py::Float(0.5)),
        ("expandable_segments", Py::Bool(true)),
        ("roundup_power2_divisions", divisions),
    ]);
    let environment = opens_alike(&top).environment;
    assert_eq!(environment.source, Source::PytorchSnapshot);
    assert_eq!(
        environment.settings_text.as_deref(),
        Some("expandable_segments:True")
    );
    let settings: Vec<_> = environment
        .settings
        .iter()
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(
        settings,
        ["expandable_segments:True", "-1", "0.5", "True", "[1:0,2:4]"]
    );

    *top.at("external_annotations") = Py::list([]);
    assert!(opens_alike(&top).annotations.is_empty());
    let end = |time: i128| {
        Py::dict([
            ("name", "# step 7 #".into()),
            ("time_us", Py::Int(time)),
            ("device", Py::from(0)),
            ("stage", "END".into()),
        ])
    };
    // The first START was never recorded.
    *top.at("external_annotations") = Py::list([end(5), end(6)]);
    assert_eq!(opens_alike(&top).annotations.len(), 2);

    each_event(&mut top, |row, event| {
        *event.at("compile_context") = if row == 3 { "0/1" } else { "N/A" }.into();
    });
    each_event(&mut top, |row, event| {
        *event.at("user_metadata") = if row == 4 { "warm-up" } else { "" }.into();
    });
    let recording = opens_alike(&top);
    let notes = |row| {
        recording.devices[0]
            .events
            .get(EventIndex(row))
            .expect("an event")
            .notes
    };
    assert_eq!(recording.texts.get(notes(3).compile_context), "0/1");
    assert!(notes(2).is_empty());
    assert_eq!(recording.texts.get(notes(4).user_metadata), "warm-up");
}

#[test]
fn row_8_pools_in_events_and_protocol_5() {
    let mut top = modern();
    each_event(&mut top, |row, event| {
        *event.at("pool_id") = Py::pair(0, row as u64 % 3)
    });
    let file = write(&top, Writer::Python(5));
    assert_eq!(file[1], 5);
    let recording = opens_alike(&top);
    let pool = recording.devices[0]
        .events
        .get(EventIndex(5))
        .and_then(|event| event.pool);
    assert_eq!(pool.map(|pool| (pool.0, pool.1)), Some((0, 2)));
}

#[test]
fn row_9_a_bare_list_of_segments() {
    let mut top = modern();
    let recording = opens_alike(&top.at("segments").clone());
    assert_eq!(recording.environment.source, Source::PytorchSegments);
    assert_eq!(recording.warnings.count(WarningKind::NoEvents), 1);
    assert_eq!(recording.devices[0].segments.len(), 6);
}

#[test]
fn row_10_empty_recordings_open_and_say_so() {
    for traces in [1, 4] {
        for shared in [false, true] {
            let empty = Py::list([]);
            let lists = (0..traces).map(|_| if shared { empty.clone() } else { Py::list([]) });
            let top = Py::dict([
                ("segments", Py::list([])),
                ("device_traces", Py::list(lists)),
            ]);
            let recording = opens_alike(&top);
            assert!(recording.devices.is_empty());
            assert_eq!(recording.warnings.count(WarningKind::Empty), 1);
        }
    }
}

#[test]
fn row_11_segments_only() {
    let mut top = modern();
    *top.at("device_traces") = Py::list([Py::list([]), Py::list([])]);
    let recording = opens_alike(&top);
    assert_eq!(recording.devices.len(), 1);
    assert_eq!(recording.warnings.count(WarningKind::NoEvents), 1);
}

#[test]
fn row_12_a_single_trace_entry() {
    for row in [0, 7] {
        let mut top = modern();
        let trace = &mut top.at("device_traces").items_mut()[0];
        let event = trace.items_mut()[row].clone();
        *trace.items_mut() = vec![event];
        assert_eq!(opens_alike(&top).devices[0].events.len(), 1);
    }
}

#[test]
fn row_13_an_oom_has_free_bytes_instead_of_an_address() {
    let mut top = modern();
    let trace = top.at("device_traces").items_mut()[0].items_mut();
    let mut oom = trace[2].clone();
    *oom.at("action") = "oom".into();
    *oom.at("device_free") = Py::from(145_119_903_744);
    oom.remove(&["addr"]);
    trace.push(oom);
    let recording = opens_alike(&top);
    let (_, last) = recording.devices[0]
        .events
        .iter()
        .next_back()
        .expect("an event");
    assert_eq!((last.action, last.address), (Action::Oom, 145_119_903_744));
}

#[test]
fn row_14_a_snapshot_entry_has_no_frames() {
    let mut top = modern();
    let trace = top.at("device_traces").items_mut()[0].items_mut();
    let entry = Py::dict([
        ("action", Py::from("snapshot")),
        ("addr", Py::from(0)),
        ("size", Py::from(4096)),
        ("stream", Py::from(0)),
        ("time_us", Py::from(3)),
    ]);
    trace.insert(0, entry);
    let recording = opens_alike(&top);
    assert_eq!(
        recording.devices[0].events.action(EventIndex(0)),
        Some(Action::Snapshot)
    );
}

#[test]
fn row_15_several_pools_and_both_names_of_the_pending_state() {
    let mut top = modern();
    each_segment(&mut top, |row, segment| {
        *segment.at("segment_pool_id") = Py::pair(0, row as u64 % 3);
    });
    each_block(&mut top, |row, block| {
        let pending = ["active_pending_free", "active_awaiting_free"];
        *block.at("state") = pending[row % 2].into();
    });
    let recording = opens_alike(&top);
    let blocks = recording.devices[0]
        .segments
        .iter()
        .flat_map(|segment| &segment.blocks);
    assert!(blocks.clone().count() > 6);
    assert!(
        blocks
            .clone()
            .all(|block| block.state == BlockState::PendingFree)
    );
}

#[test]
fn row_16_a_ring_that_wrapped() {
    let recording = open(&fixture::bytes("formats/f_wrapped_ring.pickle"));
    let events = &recording.devices[0].events;
    assert_ne!(events.action(EventIndex(0)), Some(Action::SegmentAlloc));
    assert!(opens_alike(&snapshot(&recording)).warnings.is_empty());
}

#[test]
fn row_17_numbers_of_nine_bytes() {
    let mut top = modern();
    each_event(&mut top, |_, event| {
        *event.at("addr") = Py::Int(0xffff_8000_0020_0000);
        for frame in event.at("frames").items_mut() {
            *frame.at("line") = Py::Int(u64::MAX.into());
        }
    });
    // torch's pickler writes such numbers as negative ones.
    let files: Vec<_> = WRITERS[..4]
        .iter()
        .map(|&writer| (format!("{writer:?}.pickle"), write(&top, writer)))
        .collect();
    assert_same(&files);
    let recording = open(&files[0].1);
    let first = recording.devices[0]
        .events
        .get(EventIndex(0))
        .expect("an event");
    assert_eq!(first.address, 0xffff_8000_0020_0000);
    assert!(
        recording
            .stack_frames(first.stack)
            .all(|(_, frame)| frame.line == 0)
    );
}

#[test]
fn row_18_long_cpp_names_and_deep_stacks() {
    let mut top = modern();
    let name = "at::native::".repeat(300);
    let frame = |depth: u64| {
        Py::dict([
            (
                "name",
                if depth.is_multiple_of(2) {
                    name.as_str()
                } else {
                    "??"
                }
                .into(),
            ),
            ("filename", "".into()),
            ("line", depth.into()),
        ])
    };
    // More than Python adds at a time.
    let deep = Py::list((0..2303).map(frame));
    each_event(&mut top, |row, event| {
        if row < 2 {
            *event.at("frames") = deep.clone();
        }
    });
    let recording = opens_alike(&top);
    let first = recording.devices[0]
        .events
        .get(EventIndex(0))
        .expect("an event");
    assert_eq!(recording.stack_frames(first.stack).count(), 2303);
    let specimen = open(&fixture::bytes("formats/f_cpp_stacks.pickle"));
    assert_eq!((specimen.frames.len(), specimen.stacks.len()), (201, 531));
}

#[test]
fn row_19_pages_hold_the_pickle_and_nuls_behind_it() {
    let pickle = open(&fixture::bytes("formats/f_annotations.pickle"));
    for page in ["formats/f_trace_plot.html", "formats/f_segment_plot.html"] {
        let page = open(&fixture::bytes(page));
        assert_eq!(render(&page), render(&pickle));
        assert!(page.warnings.is_empty());
    }
}

#[test]
fn row_20_and_other_files_are_told_what_they_are() {
    let old_page =
        b"<html><script>var alloc_data = {\"actions\": [1], \"elements\": []}</script></html>";
    let picture = b"<html><meta charset='utf-8'><img src='data:image/png;base64,iVBOR'></html>";
    let checks = [
        (old_page.to_vec(), Foreign::ProcessedPage),
        (picture.to_vec(), Foreign::MemoryTimelinePage),
        (b"<!DOCTYPE html><p>hello".to_vec(), Foreign::Page),
        (
            fixture::bytes("formats/f_chrome_trace.json.gz"),
            Foreign::ChromeTrace,
        ),
        (
            fixture::bytes("formats/f_memory_timeline.json"),
            Foreign::MemoryTimeline,
        ),
        (
            fixture::bytes("formats/f_memory_timeline.json.gz"),
            Foreign::MemoryTimeline,
        ),
        (
            fixture::bytes("formats/f_memory_timeline.raw.json.gz"),
            Foreign::RawMemoryTimeline,
        ),
        (
            fixture::bytes("formats/f_segsum.txt"),
            Foreign::MemoryVizText,
        ),
        (
            fixture::bytes("formats/f_trace.txt"),
            Foreign::MemoryVizText,
        ),
        (b"PK\x03\x04 a checkpoint".to_vec(), Foreign::Zip),
        (
            b"(dp0\nVsegments\np1\n(lp2\ns.".to_vec(),
            Foreign::TextPickle,
        ),
        (b"{\"a\": 1}".to_vec(), Foreign::Json),
        (b"step 1: loss 2.5\n".to_vec(), Foreign::Text),
        (vec![0; 100], Foreign::Binary),
    ];
    for (bytes, expected) in checks {
        let error = read_all(&bytes).expect_err("no recording");
        assert_eq!(error.kind, ReadErrorKind::Foreign(expected));
    }
    assert_eq!(read_all(b"").expect_err("empty").kind, ReadErrorKind::Empty);
}
