//! Our own format: what goes in comes out, and what was cut or damaged opens up to what is whole.

use shared::ids::{DeviceIndex, EventIndex, FrameId, StackId, TextId};
use shared::model::{Action, Event, EventNotes};
use shared::read::{ReadErrorKind, read_all};
use shared::store::{Recording, RecordingBuilder};
use shared::warning::{Place, WarningKind};
use shared::write::{VtraceWriter, fastest, stored, to_vtrace};
use tests::fixture;
use tests::made_up::{Dice, some_event, some_recording};

/// Names the first thing in which two recordings differ.
fn difference(one: &Recording, other: &Recording) -> Option<&'static str> {
    let texts = |recording: &Recording| -> Vec<String> {
        let all = (0..recording.texts.len() as u32).map(TextId);
        all.map(|id| recording.texts.get(id).to_owned()).collect()
    };
    let frames = |recording: &Recording| -> Vec<_> {
        let all = (0..recording.frames.len() as u32).map(FrameId);
        all.map(|id| recording.frames.get(id)).collect()
    };
    let stacks = |recording: &Recording| -> Vec<_> {
        let all = (0..recording.stacks.len() as u32).map(StackId);
        all.map(|id| recording.stacks.split(id)).collect()
    };
    let checks = [
        ("environment", one.environment == other.environment),
        ("texts", texts(one) == texts(other)),
        ("frames", frames(one) == frames(other)),
        ("stacks", stacks(one) == stacks(other)),
        ("streams", one.streams == other.streams),
        ("devices", one.devices == other.devices),
        ("annotations", one.annotations == other.annotations),
        ("marks", one.marks == other.marks),
        ("gaps", one.gaps == other.gaps),
        ("extra", one.extra_json == other.extra_json),
        ("warnings", one.warnings == other.warnings),
    ];
    checks
        .into_iter()
        .find(|&(_, same)| !same)
        .map(|(name, _)| name)
}

#[test]
fn what_goes_in_comes_out() {
    for seed in 0..200 {
        let recording = some_recording(seed).finish();
        for file in [
            to_vtrace(&recording, stored),
            to_vtrace(&recording, fastest),
        ] {
            let back = read_all(&file).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            // The same warnings, but devices are read in order, so another place may be the first.
            let counts = |recording: &Recording| {
                let all = recording
                    .warnings
                    .iter()
                    .map(|warning| (warning.kind, warning.count));
                let mut all: Vec<_> = all.collect();
                all.sort();
                all
            };
            let different = difference(&recording, &back).filter(|&what| what != "warnings");
            assert_eq!(different, None, "seed {seed}");
            assert_eq!(counts(&recording), counts(&back), "seed {seed}");
        }
    }
}

#[test]
fn real_recordings_come_back_from_vtrace() {
    for name in [
        "formats/f_annotations.pickle",
        "formats/f_cpp_stacks.pickle",
        "formats/f_no_history.pickle",
        "formats/f_wrapped_ring.pickle",
        "workloads/w_graph_streams.default.pickle",
        "workloads/w_oom.expandable.pickle",
        "workloads/w_two_gpus.default.pickle",
    ] {
        let pickle = fixture::bytes(name);
        let recording = read_all(&pickle).expect("a specimen");
        let file = to_vtrace(&recording, fastest);
        assert!(file.len() < pickle.len(), "{name}: {} bytes", file.len());
        let back = read_all(&file).expect("a recording");
        assert_eq!(difference(&recording, &back), None, "{name}");
    }
}

#[test]
fn a_recording_is_written_while_it_grows() {
    let whole = some_recording(3).finish();
    let mut builder = RecordingBuilder::new();
    let mut writer = VtraceWriter::new(fastest);
    let (mut file, mut calls) = (Vec::new(), 0);
    *builder.environment() = whole.environment.clone();
    for record in &whole.devices {
        for (index, event) in record.events.iter() {
            // Tables grow with the events that need them.
            let frames: Vec<FrameId> = whole
                .stack_frames(event.stack)
                .map(|(_, frame)| {
                    let name = builder.text(whole.texts.get(frame.name));
                    let file = builder.text(whole.texts.get(frame.file));
                    builder.frame(name, file, frame.line)
                })
                .collect();
            let event = Event {
                stack: builder.stack(&frames),
                stream: builder.stream(whole.stream_handle(event.stream)),
                notes: EventNotes::default(),
                ..event
            };
            builder.event(record.device, &event);
            if index.0 % 9 == 7 {
                writer.append(builder.so_far(), &mut |frame| file.extend_from_slice(frame));
                calls += 1;
                // What is there can be opened at any time.
                let part = read_all(&file).expect("whole frames");
                assert_eq!(part.warnings.count(WarningKind::Truncated), 1);
            }
        }
    }
    let grown = builder.finish();
    writer.finish(&grown, &mut |frame| file.extend_from_slice(frame));
    assert!(calls > 5);
    assert_eq!(difference(&grown, &read_all(&file).expect("whole")), None);
}

/// Where the frames of a file begin, by the description of the format.
fn frame_starts(file: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 16;
    while at < file.len() {
        assert_eq!(&file[at..at + 4], b"\xf1vtf");
        starts.push(at);
        let stored = u32::from_le_bytes(file[at + 12..at + 16].try_into().expect("four"));
        at += 24 + stored as usize;
    }
    assert_eq!(at, file.len());
    starts
}

/// A file of several batches of events.
fn batches() -> (Vec<u8>, usize) {
    let mut builder = some_recording(5);
    let mut writer = VtraceWriter::new(fastest);
    let mut file = Vec::new();
    let mut dice = Dice(77);
    for _ in 0..6 {
        writer.append(builder.so_far(), &mut |frame| file.extend_from_slice(frame));
        for _ in 0..30 {
            let event = some_event(&mut dice, &mut builder);
            builder.event(DeviceIndex(0), &event);
        }
    }
    let recording = builder.finish();
    writer.finish(&recording, &mut |frame| file.extend_from_slice(frame));
    let events = recording.devices.iter().map(|record| record.events.len());
    (file, events.sum())
}

fn events(recording: &Recording) -> usize {
    recording
        .devices
        .iter()
        .map(|record| record.events.len())
        .sum()
}

#[test]
fn a_file_cut_anywhere_opens_up_to_its_last_whole_frame() {
    let (file, all) = batches();
    let starts = frame_starts(&file);
    let mut seen = 0;
    for end in 0..file.len() {
        match read_all(&file[..end]) {
            Ok(part) => {
                assert_eq!(
                    part.warnings.count(WarningKind::Truncated),
                    1,
                    "{end} bytes"
                );
                assert_eq!(
                    part.warnings.count(WarningKind::DamagedFrame),
                    0,
                    "{end} bytes"
                );
                let cut = part
                    .warnings
                    .iter()
                    .find(|warning| warning.kind == WarningKind::Truncated);
                let whole = starts.iter().rev().find(|&&start| start <= end);
                let expected = whole.map_or(0, |&start| start as u64);
                let place = cut.map(|warning| warning.first_at);
                assert_eq!(place, Some(Place::Byte(expected)), "{end} bytes");
                assert!(events(&part) >= seen);
                seen = events(&part);
            }
            Err(error) => {
                let is_typed =
                    matches!(error.kind, ReadErrorKind::Empty | ReadErrorKind::Truncated);
                assert!(is_typed && seen == 0, "{end} bytes: {error}");
            }
        }
    }
    assert_eq!(seen, all);
    // What stands behind the end is not read.
    let longer = [file.as_slice(), b"anything"].concat();
    assert!(
        read_all(&longer)
            .expect("whole")
            .warnings
            .count(WarningKind::DamagedFrame)
            == 0
    );
}

#[test]
fn a_damaged_frame_is_counted_and_the_rest_is_read() {
    let (file, all) = batches();
    let starts = frame_starts(&file);
    for (number, &start) in starts[..starts.len() - 1].iter().enumerate() {
        let kind = file[start + 4];
        for offset in [0, 5, 8, 12, 14, 15, 16, 20, 26] {
            let mut damaged = file.clone();
            damaged[start + offset] ^= 0x40;
            let recording =
                read_all(&damaged).unwrap_or_else(|error| panic!("frame {number}: {error}"));
            let count = |kind| recording.warnings.count(kind);
            assert_eq!(
                count(WarningKind::DamagedFrame),
                1,
                "frame {number}, byte {offset}"
            );
            assert_eq!(
                count(WarningKind::Truncated),
                0,
                "frame {number}, byte {offset}"
            );
            let missing: u64 = recording
                .gaps
                .iter()
                .filter_map(|gap| gap.missing_events)
                .sum();
            let lost = all - events(&recording);
            if kind == 6 {
                assert!(lost > 0, "frame {number}");
            } else {
                assert_eq!(lost, 0, "frame {number} of kind {kind}");
            }
            // The last batch has nothing behind it that would tell.
            assert!(missing as usize == lost || missing == 0, "frame {number}");
        }
    }
    // A frame that is gone altogether, and garbage where there was none.
    let (second, third) = (starts[6], starts[7]);
    let shorter = [&file[..second], &file[third..]].concat();
    let count = |bytes: &[u8]| {
        let recording = read_all(bytes).expect("the rest");
        recording.warnings.count(WarningKind::DamagedFrame)
    };
    assert_eq!(count(&shorter), 1);
    assert_eq!(
        count(&[&file[..third], b"\xf1vtf noise", &file[third..]].concat()),
        1
    );
    // A frame that came twice.
    let twice = [&file[..third], &file[second..]].concat();
    assert_eq!(count(&twice), 0);
    assert_eq!(events(&read_all(&twice).expect("whole")), all);
}

#[test]
fn flipped_bits_never_panic() {
    let file = to_vtrace(&some_recording(9).finish(), stored);
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        if let Ok(recording) = read_all(&damaged) {
            let trouble = [WarningKind::DamagedFrame, WarningKind::Truncated];
            let met: u64 = trouble
                .map(|kind| recording.warnings.count(kind))
                .iter()
                .sum();
            // Only a lower version and the zeros behind it carry no meaning.
            assert!(met > 0 || (8..16).contains(&at), "byte {at}");
        }
    }
}

/// A frame as the description of the format has it.
fn frame(kind: u8, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut between = vec![kind, 0, 0, 0];
    between.extend_from_slice(&sequence.to_le_bytes());
    between.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    between.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    let checksum = crc32fast::hash(&[&between, payload].concat());
    [
        b"\xf1vtf",
        between.as_slice(),
        &checksum.to_le_bytes(),
        payload,
    ]
    .concat()
}

#[test]
fn a_file_made_by_hand_is_read_as_described() {
    // The name "forward" in "m.py", line 5, asked for 1,000 bytes at 0x7f00_0000_0200, stream 0.
    let texts = b"\x02\x01\x05\x02\x07\x04\x07\x0bforwardm.py";
    let frames = b"\x02\x00\x05\x01\x01\x07\x01\x02\x09\x01\x05";
    let stacks = b"\x02\x01\x05\x01\x00\x07\x01\x01";
    let streams = b"\x02\x00\x05\x01\x00";
    // Address: 0x7f00_0000_0200 / 512 = 272,730,423,297, zigzag 545,460,846,594; time 7, zigzag 14.
    // Field 60 and an action of the future are unknown.
    let events =
        b"\x02\x01\x04\x00\x07\x02\x00\x63\x08\x80\x04\x0b\x07\x82\x80\x80\x80\xf0\x0f\x00\
                   \x0d\x03\xe8\x07\x00\x0f\x02\x00\x00\x11\x02\x0e\x02\x15\x02\x02\x00\x79\x03abc";
    let header =
        |major: u8, minor: u8| [b"\x8avtrace\n", &[major, 0, minor, 0, 0, 0, 0, 0][..]].concat();
    let body = [
        frame(2, 0, texts),
        frame(3, 1, frames),
        frame(4, 2, stacks),
        frame(5, 3, streams),
        frame(200, 4, b"of the future"),
        frame(6, 5, events),
        frame(13, 6, b"\x02\x07"),
    ]
    .concat();
    let recording =
        read_all(&[header(1, 9), body.clone()].concat()).expect("a newer minor version");
    let kinds: Vec<_> = recording
        .warnings
        .iter()
        .map(|warning| warning.kind)
        .collect();
    assert_eq!(kinds, [WarningKind::UnknownAction]);
    let device = recording.device(DeviceIndex(1)).expect("device 1");
    let event = device.events.get(EventIndex(0)).expect("an event");
    assert_eq!(
        (event.action, event.address),
        (Action::Alloc, 0x7f00_0000_0200)
    );
    assert_eq!((event.size_bytes, event.time_us), (1000, Some(7)));
    let stack: Vec<_> = recording
        .stack_frames(event.stack)
        .map(|(_, frame)| frame)
        .collect();
    assert_eq!(stack.len(), 1);
    assert_eq!(recording.texts.get(stack[0].name), "forward");
    assert_eq!(recording.texts.get(stack[0].file), "m.py");
    assert_eq!(stack[0].line, 5);
    assert_eq!(device.events.action(EventIndex(1)), Some(Action::Unknown));

    let error = read_all(&[header(2, 0), body].concat()).expect_err("a newer major version");
    let expected = ReadErrorKind::NewerVersion {
        major: 2,
        minor: 0,
        known: 1,
    };
    assert_eq!((error.kind, error.offset), (expected, 8));
}

#[test]
fn golden_files_are_read_and_written_as_ever() {
    for name in [
        "formats/f_state_only.pickle",
        "workloads/w_two_gpus.default.pickle",
    ] {
        let recording = read_all(&fixture::bytes(name)).expect("a specimen");
        let stem = name.split('/').next_back().unwrap_or(name);
        let golden = format!("vtrace/{stem}.vtrace");
        let written = to_vtrace(&recording, stored);
        if std::env::var_os("VRAMSCOPE_WRITE_GOLDEN").is_some() {
            std::fs::write(fixture::path(&golden), &written).expect("a golden file");
        }
        let golden = fixture::bytes(&golden);
        assert_eq!(
            written, golden,
            "{name}: a change of the format needs a new version"
        );
        assert_eq!(
            difference(&recording, &read_all(&golden).expect("golden")),
            None
        );
    }
}
