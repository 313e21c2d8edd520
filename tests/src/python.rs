//! What CPython reads in a file, line by line, to compare with what we read.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use shared::ids::{PoolId, StackId};
use shared::model::{Action, Segment};
use shared::store::{DeviceRecord, Recording};

/// Asserts that CPython reads in each file what we do.
///
/// # Panics
/// Where they differ, where we don't read a file, and where there is no `python3`.
pub fn assert_same(files: &[(String, Vec<u8>)]) {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let mut paths = Vec::new();
    for (number, (name, bytes)) in files.iter().enumerate() {
        let path = folder.path().join(format!("{number}.{name}"));
        fs::write(&path, bytes).expect("a file in it");
        paths.push(path);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/render.py");
    let output = Command::new("python3")
        .arg(&script)
        .args(&paths)
        .output()
        .expect("python3 must be installed: the tests compare our readers with its pickle.load");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "python3 failed:\n{errors}");
    let theirs = String::from_utf8(output.stdout).expect("UTF-8");
    let mut theirs = theirs.split_terminator("=====\n");
    for (name, bytes) in files {
        let recording = match shared::read::read_all(bytes) {
            Ok(recording) => recording,
            Err(error) => panic!("{name}: {error}"),
        };
        let expected = theirs.next().unwrap_or_default();
        let ours = render(&recording);
        for (line, (our, their)) in ours.lines().zip(expected.lines()).enumerate() {
            assert_eq!(our, their, "{name}, line {line}: ours, then CPython's");
        }
        assert_eq!(
            ours.lines().count(),
            expected.lines().count(),
            "{name}: lines"
        );
    }
}

/// All that a recording says, a line for each thing.
#[must_use]
pub fn render(recording: &Recording) -> String {
    let mut lines = Vec::new();
    for (name, value) in &recording.environment.settings {
        lines.push(format!("setting {name}={value}"));
    }
    for record in &recording.devices {
        for segment in &record.segments {
            render_segment(recording, record, segment, &mut lines);
        }
        for (_, event) in record.events.iter() {
            let texts = &recording.texts;
            let action = match event.action {
                Action::Unknown => texts.get(event.notes.unknown_action),
                action => action.name(),
            };
            lines.push(format!(
                "event {} {action} {} {} {} {} {} [{}] [{}] {}",
                record.device.0,
                event.address,
                event.size_bytes,
                recording.stream_handle(event.stream),
                or_dash(event.time_us),
                pool(event.pool),
                texts.get(event.notes.compile_context),
                texts.get(event.notes.user_metadata),
                stack(recording, event.stack),
            ));
        }
    }
    for annotation in &recording.annotations {
        lines.push(format!(
            "annotation {} {:?} {} {}",
            recording.texts.get(annotation.name),
            annotation.stage,
            annotation.device.0,
            or_dash(annotation.time_us),
        ));
    }
    lines.join("\n")
}

fn render_segment(
    recording: &Recording,
    record: &DeviceRecord,
    segment: &Segment,
    lines: &mut Vec<String>,
) {
    lines.push(format!(
        "segment {} {} {} {} {:?} {} {} {} {} {}",
        record.device.0,
        segment.address,
        segment.size_bytes,
        recording.stream_handle(segment.stream),
        segment.kind,
        pool(segment.pool),
        segment.expandable,
        or_dash(segment.stated_allocated_bytes),
        or_dash(segment.stated_active_bytes),
        stack(recording, segment.stack),
    ));
    for block in &segment.blocks {
        lines.push(format!(
            "block {} {} {} {:?} {}",
            block.address,
            block.size_bytes,
            or_dash(block.requested_bytes),
            block.state,
            stack(recording, block.stack),
        ));
    }
}

fn stack(recording: &Recording, id: StackId) -> String {
    let mut text = String::new();
    for (_, frame) in recording.stack_frames(id) {
        let (name, file) = (
            recording.texts.get(frame.name),
            recording.texts.get(frame.file),
        );
        let _ = write!(text, "{name}:{file}:{}|", frame.line);
    }
    text
}

fn pool(pool: Option<PoolId>) -> String {
    pool.map_or("-".to_owned(), |pool| format!("({}, {})", pool.0, pool.1))
}

fn or_dash(number: Option<impl ToString>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}
