//! Recordings of every writer open, in chunks and compressed, and say what CPython reads in them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use shared::ids::DeviceIndex;
use shared::limits::Limits;
use shared::read::Reader;
use shared::warning::WarningKind;
use tests::fixture;
use tests::forms::{each_event, modern, open, opens_alike};
use tests::pickle::Py;
use tests::python::{assert_same, render};

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
