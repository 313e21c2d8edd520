//! Truncated, damaged, hostile and strange files: each a typed result with the place, never a
//! panic, and never more memory than the file is worth.

use std::io::Write;
use std::rc::Rc;

use flate2::Compression;
use flate2::write::GzEncoder;
use shared::limits::Limits;
use shared::read::{Foreign, ReadError, ReadErrorKind, Reader, read_all};
use shared::store::Recording;
use shared::warning::WarningKind;
use tests::fixture;
use tests::pickle::{Py, Writer, write};
use tests::snapshot::snapshot;

fn events(recording: &Recording) -> usize {
    recording
        .devices
        .iter()
        .map(|record| record.events.len())
        .sum()
}

fn segments(recording: &Recording) -> usize {
    recording
        .devices
        .iter()
        .map(|record| record.segments.len())
        .sum()
}

fn refused(bytes: &[u8]) -> ReadError {
    match read_all(bytes) {
        Err(error) => error,
        Ok(recording) => panic!("opened: {recording:?}"),
    }
}

fn small() -> Py {
    snapshot(&read_all(&fixture::bytes("formats/f_cpp_pickler.pickle")).expect("a specimen"))
}

/// The file of a snapshot whose event 17 has `inside` where its metadata should be.
fn with_event_17(inside: &[u8]) -> Vec<u8> {
    let mut top = small();
    let trace = top.at("device_traces").items_mut()[0].items_mut();
    *trace[17].at("user_metadata") = "EVIL".into();
    let file = write(&top, Writer::Python(3));
    let evil = b"X\x04\0\0\0EVIL";
    let at = file
        .windows(evil.len())
        .position(|window| window == evil)
        .expect("the text");
    let mut changed = file[..at].to_vec();
    changed.extend_from_slice(inside);
    changed.extend_from_slice(&file[at + evil.len()..]);
    changed
}

#[test]
fn every_prefix_of_a_recording_shows_what_was_complete() {
    let gzip = {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&fixture::bytes("formats/f_wrapped_ring.pickle"))
            .expect("in memory");
        gzip.finish().expect("in memory")
    };
    let zstd = std::fs::read(fixture::path("formats/f_annotations.pickle.zst"));
    let files = [
        fixture::bytes("formats/f_cpp_pickler.pickle"),
        fixture::bytes("formats/f_no_history.pickle"),
        fixture::bytes("formats/f_state_only.pickle"),
        fixture::bytes("formats/f_wrapped_ring.pickle"),
        fixture::bytes("formats/f_trace_plot.html"),
        fixture::bytes("workloads/w_pinned.default.pickle"),
        fixture::bytes("workloads/w_two_gpus.default.pickle"),
        gzip,
        zstd.expect("a specimen"),
    ];
    for (number, file) in files.iter().enumerate() {
        let whole = read_all(file).expect("a specimen");
        let (mut seen_events, mut seen_segments) = (0, 0);
        for end in 0..file.len() {
            match read_all(&file[..end]) {
                Ok(part) => {
                    let ends_early = part.warnings.count(WarningKind::Truncated) == 1;
                    let is_whole =
                        events(&part) == events(&whole) && segments(&part) == segments(&whole);
                    assert!(ends_early || is_whole, "file {number}, {end} bytes");
                    assert!(events(&part) >= seen_events, "file {number}, {end} bytes");
                    assert!(
                        segments(&part) >= seen_segments,
                        "file {number}, {end} bytes"
                    );
                    (seen_events, seen_segments) = (events(&part), segments(&part));
                }
                Err(error) => {
                    let is_typed = matches!(
                        error.kind,
                        ReadErrorKind::Empty | ReadErrorKind::Truncated | ReadErrorKind::Foreign(_)
                    );
                    assert!(is_typed, "file {number}, {end} bytes: {error}");
                    assert_eq!(seen_events + seen_segments, 0, "file {number}, {end} bytes");
                }
            }
        }
        // A small zstd file is a single block, which is there or not.
        if !file.starts_with(&[0x28, 0xb5]) {
            assert_eq!(seen_segments, segments(&whole), "file {number}");
            assert_eq!(seen_events, events(&whole), "file {number}");
        }
    }
}

#[test]
fn flipped_bits_never_panic() {
    let names = [
        "formats/f_cpp_pickler.pickle",
        "formats/f_no_history.pickle",
        "formats/f_state_only.pickle",
        "workloads/w_pinned.default.pickle",
        "workloads/w_two_gpus.default.pickle",
    ];
    let mut opened = 0;
    for file in names.map(fixture::bytes) {
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                match read_all(&damaged) {
                    Ok(recording) => opened += usize::from(segments(&recording) > 0),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
    assert!(opened > 1000, "numbers that changed are still numbers");
}

#[test]
fn opcodes_that_would_run_code_are_refused_by_name_and_place() {
    let named: [(&[u8], &str, Option<&str>); 3] = [
        (b"cos\nsystem\n", "GLOBAL", Some("os.system")),
        (b"(ios\nsystem\n", "INST", Some("os.system")),
        (
            b"X\x02\0\0\0osX\x06\0\0\0system\x93",
            "STACK_GLOBAL",
            Some("os.system"),
        ),
    ];
    let nameless: [(&[u8], &str, Option<&str>); 10] = [
        (b"NNR", "REDUCE", None),
        (b"NNb", "BUILD", None),
        (b"(No", "OBJ", None),
        (b"NN\x81", "NEWOBJ", None),
        (b"NNN\x92", "NEWOBJ_EX", None),
        (b"\x82\x01", "EXT1", None),
        (b"\x83\x01\x02", "EXT2", None),
        (b"\x84\x01\x02\x03\x04", "EXT4", None),
        (b"Pid\n", "PERSID", None),
        (b"NQ", "BINPERSID", None),
    ];
    for (inside, name, object) in named.into_iter().chain(nameless) {
        let file = with_event_17(inside);
        let error = refused(&file);
        let expected = ReadErrorKind::RefusedOpcode {
            opcode: name,
            object: object.map(str::to_owned),
        };
        assert_eq!(error.kind, expected);
        let opcode = match name {
            "GLOBAL" | "EXT1" | "EXT2" | "EXT4" | "PERSID" => 0,
            "INST" => 1,
            _ => inside.len() - 1,
        };
        let start = file
            .windows(inside.len())
            .position(|window| window == inside);
        assert_eq!(
            error.offset,
            (start.expect("it is there") + opcode) as u64,
            "{name}"
        );
        let place = "device_traces[0][17].user_metadata";
        assert!(error.path.starts_with(place), "{name}: {}", error.path);
        assert!(
            error.to_string().contains("recordings hold data only"),
            "{error}"
        );
        // The same wherever the chunks end.
        for chunk in [1, 5] {
            let mut reader = Reader::new(Limits::default());
            let result = file.chunks(chunk).try_for_each(|bytes| reader.feed(bytes));
            assert_eq!(result.expect_err("refused"), error);
        }
    }
}

#[test]
fn other_opcodes_are_named_too() {
    for (inside, name) in [
        (&b"C\x02ab"[..], "SHORT_BINBYTES"),
        (b"I5\n", "INT"),
        (b"\x8f", "EMPTY_SET"),
    ] {
        match refused(&with_event_17(inside)).kind {
            ReadErrorKind::UnusedOpcode { opcode, .. } => assert_eq!(opcode, name),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        refused(&with_event_17(b"\xff")).kind,
        ReadErrorKind::UnknownOpcode(0xff)
    );
    assert_eq!(refused(b"\x80\x06aaaaaaa").kind, ReadErrorKind::Protocol(6));
}

#[test]
fn wrong_values_are_named_with_their_place() {
    let mut wrong_size = small();
    *wrong_size.at("device_traces").items_mut()[0].items_mut()[17].at("size") = "big".into();
    let mut negative = small();
    *negative.at("device_traces").items_mut()[0].items_mut()[3].at("size") = Py::Int(-5);
    let mut no_address = small();
    no_address.at("device_traces").items_mut()[0].items_mut()[4].remove(&["addr"]);
    let mut state = small();
    let block = &mut state.at("segments").items_mut()[0].at("blocks").items_mut()[1];
    *block.at("state") = "asleep".into();
    let mut no_list = small();
    *no_list.at("device_traces") = Py::Int(3);
    let mut mixed = small();
    *mixed.at("device_traces").items_mut()[0].items_mut()[9].at("frames") = Py::list([Py::None]);
    for (top, expected) in [
        (
            wrong_size,
            "(device_traces[0][17].size): a text stands where a number of 0 or more is expected",
        ),
        (
            negative,
            "(device_traces[0][3].size): the number -5 stands where a number of 0 or more is expected",
        ),
        (
            no_address,
            "(device_traces[0][4]): the key \"addr\" is missing",
        ),
        (
            state,
            "(segments[0].blocks[1].state): the text \"asleep\" stands where active_allocated, \
             active_pending_free or inactive is expected",
        ),
        (
            no_list,
            "(device_traces): the number 3 stands where a list is expected",
        ),
        (
            mixed,
            "(device_traces[0][9].frames): a list stands where a list of frames is expected",
        ),
    ] {
        for writer in [Writer::Python(4), Writer::Cpp] {
            let message = refused(&write(&top, writer)).to_string();
            assert!(message.starts_with("byte "), "{message}");
            assert!(message.ends_with(expected), "{message}\n{expected}");
        }
    }
}

#[test]
fn other_pickles_are_told_what_they_hold() {
    let weights = Py::dict([
        ("model", Py::dict([("weight", Py::Float(1.0))])),
        ("epoch", Py::from(3)),
    ]);
    let nested = Py::list([Py::list([])]);
    for (value, expected) in [
        (weights, "a dictionary with the keys \"model\", \"epoch\""),
        (Py::from(7), "the number 7"),
        ("text".into(), "a text"),
        (nested, "a list"),
    ] {
        let kind = refused(&write(&value, Writer::Python(4))).kind;
        assert_eq!(kind, ReadErrorKind::NotASnapshot(expected.to_owned()));
    }
}

#[test]
fn bombs_are_refused_at_once() {
    let limit = |bytes: &[u8]| match refused(bytes).kind {
        ReadErrorKind::Limit { what, .. } => what,
        other => panic!("{other}"),
    };
    // Each a few bytes that ask for gigabytes.
    assert_eq!(
        limit(b"\x80\x02]r\xff\xff\xff\xff."),
        "the memo has entries"
    );
    assert_eq!(
        limit(b"\x80\x04\x8d\0\0\0\0\0\0\0\x10a"),
        "a text has bytes"
    );
    assert_eq!(limit(b"\x80\x04X\xff\xff\xff\xffaaaa"), "a text has bytes");
    assert_eq!(
        limit(b"\x80\x04\x8b\xff\xff\xff\x7faaaa"),
        "a number has bytes"
    );
    assert_eq!(
        limit(&[b"\x80\x04".as_slice(), &[b'('; 198]].concat()),
        "containers are nested"
    );

    // Ten references to ten references to …: 10^30 lists when written out.
    let laughs = (0..30).fold(Py::list([]), |list, _| Py::list(vec![list; 10]));
    let mut top = small();
    *top.at("segments") = laughs.clone();
    let error = refused(&write(&top, Writer::Python(4)));
    assert_eq!(error.path, "segments[0]");
    let mut settings = small();
    *settings.at("allocator_settings") = Py::dict([("a", laughs)]);
    let recording = read_all(&write(&settings, Writer::Python(4))).expect("cut");
    assert!(recording.environment.settings[0].1.len() < 10_000);

    // Lists that many refer to.
    let mut shared_blocks = small();
    let blocks = shared_blocks.at("segments").items_mut()[0]
        .at("blocks")
        .clone();
    *shared_blocks.at("segments").items_mut()[1].at("blocks") = blocks;
    let message = refused(&write(&shared_blocks, Writer::Python(4))).to_string();
    assert!(
        message.contains("(segments[1].blocks): one that was listed before"),
        "{message}"
    );
    let mut shared_trace = small();
    let trace = shared_trace.at("device_traces").items_mut()[0].clone();
    *shared_trace.at("device_traces") = Py::list(vec![trace; 9]);
    assert_eq!(
        refused(&write(&shared_trace, Writer::Python(4))).path,
        "device_traces[1]"
    );
    let mut repeated = small();
    let trace = repeated.at("device_traces").items_mut()[0].items_mut();
    *trace = vec![trace[0].clone(); 200_000];
    assert_eq!(
        limit(&write(&repeated, Writer::Cpp)),
        "trace entries are listed again"
    );
    let mut deep = small();
    let event = &mut deep.at("device_traces").items_mut()[0].items_mut()[9];
    let frame = event.at("frames").items_mut()[0].clone();
    *event.at("frames") = Py::List(Rc::new(vec![frame; 70_000]));
    assert_eq!(limit(&write(&deep, Writer::Cpp)), "a stack has frames");

    // A list in itself.
    let own = b"\x80\x04}(\x8c\x08segments]\x94h\x00a\x8c\x0ddevice_traces]u.";
    assert_eq!(refused(own).path, "segments[0]");
}

#[test]
fn compressed_bombs_meet_a_limit_before_they_fill_the_memory() {
    let gzip = |start: &[u8], fill: u8, count: usize| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(start).expect("in memory");
        for _ in 0..count {
            gzip.write_all(&[fill; 1 << 20]).expect("in memory");
        }
        gzip.finish().expect("in memory")
    };
    assert_eq!(
        refused(&gzip(b"", 0, 64)).kind,
        ReadErrorKind::Foreign(Foreign::Binary)
    );
    let values = refused(&gzip(b"\x80\x04(", b'N', 40));
    assert!(
        values
            .to_string()
            .contains("there are values beyond the limit"),
        "{values}"
    );
    let nested = gzip(b"", 0, 1);
    let twice = {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&nested).expect("in memory");
        gzip.finish().expect("in memory")
    };
    assert_eq!(
        refused(&twice).kind,
        ReadErrorKind::Foreign(Foreign::Binary)
    );
    // zstd: blocks of 128 KiB of one repeated byte, four bytes each.
    let mut zstd = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x58];
    for _ in 0..10_000 {
        let header: u32 = (128 << 10) << 3 | 1 << 1;
        zstd.extend_from_slice(&header.to_le_bytes()[..3]);
        zstd.push(0);
    }
    assert_eq!(refused(&zstd).kind, ReadErrorKind::Foreign(Foreign::Binary));
    let wide = [0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0];
    assert!(matches!(
        refused(&wide).kind,
        ReadErrorKind::Compressed { codec: "zstd", .. }
    ));
}

#[test]
fn damaged_compression_is_named() {
    let file = fixture::bytes("formats/f_wrapped_ring.pickle");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&file).expect("in memory");
    let mut gzip = gzip.finish().expect("in memory");
    let middle = gzip.len() / 2;
    gzip[middle..middle + 8].fill(0xff);
    let zstd = shared::write::fastest(&file).map(|mut packed| {
        let middle = packed.len() / 2;
        packed[middle..middle + 8].fill(0xff);
        packed
    });
    for bytes in [gzip, zstd.expect("a frame")] {
        match read_all(&bytes) {
            // Damage that still decompresses is met by the reader behind.
            Err(error) => assert!(error.to_string().contains("copy"), "{error}"),
            Ok(recording) => assert_eq!(recording.warnings.count(WarningKind::Truncated), 1),
        }
    }
}

#[test]
fn damaged_pages_are_named() {
    let page = fixture::bytes("formats/f_trace_plot.html");
    let mut damaged = page.clone();
    damaged[5000] = b'*';
    let error = refused(&damaged);
    assert_eq!(
        (error.kind, error.offset),
        (ReadErrorKind::Base64('*'), 5000)
    );
}
