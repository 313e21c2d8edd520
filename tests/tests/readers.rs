//! Recordings of every age and writer open, and say what CPython reads in them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use shared::ids::{DeviceIndex, EventIndex};
use shared::limits::Limits;
use shared::model::{Action, BlockState, Source};
use shared::read::{Foreign, ReadErrorKind, Reader, read_all};
use shared::store::Recording;
use shared::warning::WarningKind;
use tests::fixture;
use tests::pickle::{Py, WRITERS, Writer, write};
use tests::python::{assert_same, render};
use tests::snapshot::snapshot;

const SPECIMENS: [&str; 13] = [
    "formats/f_annotations.pickle",
    "formats/f_cpp_pickler.pickle",
    "formats/f_cpp_stacks.pickle",
    "formats/f_no_history.pickle",
    "formats/f_segment_plot.html",
    "formats/f_state_only.pickle",
    "formats/f_trace_plot.html",
    "formats/f_wrapped_ring.pickle",
    "workloads/w_graph_streams.default.pickle",
    "workloads/w_oom.expandable.pickle",
    "workloads/w_pinned.default.pickle",
    "workloads/w_switch_models.default.pickle",
    "workloads/w_two_gpus.default.pickle",
];

fn open(bytes: &[u8]) -> Recording {
    read_all(bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// A real recording as a value that the tests make other forms of.
fn modern() -> Py {
    snapshot(&open(&fixture::bytes("formats/f_annotations.pickle")))
}

fn each_event(top: &mut Py, change: impl Fn(usize, &mut Py)) {
    for trace in top.at("device_traces").items_mut() {
        for (row, event) in trace.items_mut().iter_mut().enumerate() {
            change(row, event);
        }
    }
}

fn each_segment(top: &mut Py, change: impl Fn(usize, &mut Py)) {
    for (row, segment) in top.at("segments").items_mut().iter_mut().enumerate() {
        change(row, segment);
    }
}

fn each_block(top: &mut Py, change: impl Fn(usize, &mut Py)) {
    each_segment(top, |_, segment| {
        for (row, block) in segment.at("blocks").items_mut().iter_mut().enumerate() {
            change(row, block);
        }
    });
}

/// Writes a value in all ways, compares each with CPython, and gives back what it says.
fn opens_alike(form: &Py) -> Recording {
    let files: Vec<_> = WRITERS
        .iter()
        .map(|&writer| (format!("{writer:?}.pickle"), write(form, writer)))
        .collect();
    assert_same(&files);
    open(&files[0].1)
}

/// Takes away what the versions between 2.0 and 2.15 added, the newest first.
fn before_allocator_settings(top: &mut Py) {
    top.remove(&["external_annotations", "allocator_settings"]);
    each_event(top, |_, event| {
        event.remove(&["compile_context", "user_metadata"])
    });
}

#[test]
fn specimens_say_what_cpython_reads() {
    let files: Vec<_> = SPECIMENS
        .iter()
        .map(|&name| (name.replace('/', "_"), fixture::bytes(name)))
        .collect();
    assert_same(&files);
    let compressed = std::fs::read(fixture::path("formats/f_annotations.pickle.zst"));
    let from_zstd = open(&compressed.expect("a specimen"));
    assert_eq!(render(&from_zstd), render(&open(&files[0].1)));
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

#[test]
fn unknown_keys_and_actions_are_counted_and_host_memory_is_passed_over() {
    let mut top = modern();
    each_event(&mut top, |row, event| {
        if row < 5 {
            *event.at("colour") = "red".into();
        }
        if row == 9 {
            *event.at("action") = "workspace_snapshot".into();
        }
    });
    let event = top.at("device_traces").items_mut()[0].items_mut()[0].clone();
    let host = Py::dict([
        ("address", Py::from(4096)),
        ("size", Py::from(512)),
        ("active", Py::from(1)),
    ]);
    *top.at("host_segments") = Py::list([host.clone(), host]);
    *top.at("host_traces") = Py::list([event.clone(), event.clone(), event]);
    *top.at("weather") = Py::list([Py::None]);
    let recording = opens_alike(&top);
    let count = |kind| recording.warnings.count(kind);
    assert_eq!(count(WarningKind::UnknownKey), 6);
    assert_eq!(count(WarningKind::UnknownAction), 1);
    assert_eq!(count(WarningKind::HostMemory), 5);
    assert_eq!(recording.devices[0].events.len(), 279);
    assert_eq!(recording.devices[0].segments.len(), 6);
}

#[test]
fn several_devices_keep_their_own_events() {
    let mut top = modern();
    let trace = top.at("device_traces").items_mut()[0].clone();
    let parts: Vec<Py> = [0..100, 100..100, 100..101, 101..279]
        .map(|rows: std::ops::Range<usize>| match &trace {
            Py::List(events) => Py::list(events[rows].iter().cloned()),
            other => panic!("{other:?}"),
        })
        .into();
    *top.at("device_traces") = Py::list(parts);
    let recording = opens_alike(&top);
    let sizes: Vec<_> = recording
        .devices
        .iter()
        .map(|record| (record.device, record.events.len()))
        .collect();
    let expected =
        [(0, 100), (2, 1), (3, 178)].map(|(device, events)| (DeviceIndex(device), events));
    assert_eq!(sizes, expected);
}

#[test]
fn long_traces_arrive_in_many_batches() {
    let mut top = modern();
    let trace = top.at("device_traces").items_mut()[0].items_mut();
    let (first, once) = (trace[0].clone(), trace.clone());
    // The same entry again is another event, and 10 × 279 + 1000 are four batches of Python's.
    trace.extend(std::iter::repeat_n(first, 1000));
    for _ in 0..9 {
        trace.extend(once.iter().cloned());
    }
    assert_eq!(opens_alike(&top).devices[0].events.len(), 3790);
}

#[test]
fn chunks_and_compression_change_nothing() {
    let file = fixture::bytes("formats/f_cpp_stacks.pickle");
    let expected = render(&open(&file));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&file).expect("in memory");
    let gzip = gzip.finish().expect("in memory");
    let zstd = shared::write::fastest(&file).expect("a frame");
    let two_members = {
        let mut both = Vec::new();
        for half in [&file[..9000], &file[9000..]] {
            let mut member = GzEncoder::new(Vec::new(), Compression::fast());
            member.write_all(half).expect("in memory");
            both.extend(member.finish().expect("in memory"));
        }
        both
    };
    let page = fixture::bytes("formats/f_trace_plot.html");
    let page_says = render(&open(&fixture::bytes("formats/f_annotations.pickle")));
    for (bytes, expected) in [
        (&file, &expected),
        (&gzip, &expected),
        (&zstd, &expected),
        (&two_members, &expected),
        (&page, &page_says),
    ] {
        for size in [1, 3, 64, 511, 4096, bytes.len()] {
            let mut reader = Reader::new(Limits::default());
            for chunk in bytes.chunks(size) {
                reader
                    .feed(chunk)
                    .unwrap_or_else(|error| panic!("chunks of {size}: {error}"));
            }
            assert!(reader.progress().events > 0);
            let recording = reader
                .finish()
                .unwrap_or_else(|error| panic!("chunks of {size}: {error}"));
            assert_eq!(&render(&recording), expected, "chunks of {size}");
        }
    }
}

#[test]
fn a_million_events_take_little_memory() {
    let file = std::fs::read(fixture::path("long/w_varlen.default.pickle.zst"));
    let file = file.expect("the long recording");
    let mut reader = Reader::new(Limits::default());
    for chunk in file.chunks(1 << 20) {
        reader.feed(chunk).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(reader.progress().events, 972_725);
    let recording = reader.finish().unwrap_or_else(|error| panic!("{error}"));
    assert!(recording.warnings.is_empty());
    let events = recording.devices[0].events.len();
    assert_eq!((recording.devices.len(), events), (1, 972_725));
    assert_eq!((recording.frames.len(), recording.stacks.len()), (38, 65));
    let bytes_per_event = recording.memory_bytes() / events;
    assert!(bytes_per_event < 64, "{bytes_per_event} bytes an event");
}
