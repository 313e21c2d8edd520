//! `vramscope simulate`, as it is typed.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use assert_cmd::Command;
use serde_json::{Value, json};
use shared::{ids::DeviceIndex, model::Action, read::read_all, recorded::trace_events};
use tempfile::TempDir;

fn vramscope() -> Command {
    let mut command = Command::cargo_bin("vramscope").expect("built with its tests");
    command.arg("simulate");
    command
}

/// A folder with the operations in it.
fn operations(list: &Value) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ops.json");
    fs::write(&path, list.to_string()).expect("writable");
    (folder, path)
}

/// The events that come out of a list with more arguments.
fn events(list: &Value, arguments: &[&str]) -> Vec<Value> {
    let (_folder, path) = operations(list);
    let output = vramscope()
        .arg(path)
        .args(["--events", "-"])
        .args(arguments)
        .assert()
        .success()
        .stderr("");
    lines(&output.get_output().stdout)
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON lines")
}

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/conformance");
    let files = fs::read_dir(folder).expect("the recordings of the tests");
    let paths = files.map(|file| file.expect("readable").path());
    let mut lists: Vec<_> = paths
        .filter(|path| path.to_string_lossy().ends_with(".json.zst"))
        .collect();
    lists.sort();
    assert_eq!(lists.len(), 94);
    lists
}

/// What the recording says, in the words that the command writes.
fn recorded_events(pickle: &Path) -> Vec<Value> {
    let recording = read_all(&fs::read(pickle).expect("readable")).expect("a recording");
    let record = recording.device(DeviceIndex(0)).expect("device 0");
    let line = |event: &shared::allocator::TraceEvent| {
        let place = match event.action {
            Action::Oom => "device_free",
            _ => "addr",
        };
        json!({
            "action": event.action.name(),
            place: event.address,
            "size": event.size_bytes,
            "stream": event.stream.0,
        })
    };
    trace_events(&recording, record).iter().map(line).collect()
}

#[test]
fn every_recording_is_met_in_events_statistics_and_summary() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for list in recordings() {
        let mut text = String::new();
        let file = File::open(&list).expect("readable");
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(file).expect("zstd");
        decoder.read_to_string(&mut text).expect("UTF-8");
        fs::write(path("ops.json"), &text).expect("writable");
        let pickle = list.to_string_lossy().replace(".json.zst", ".pickle.zst");
        let case: Value = serde_json::from_str(&text).expect("JSON");
        let summary = case["meta"]["summary"].as_str().expect("a text").to_owned();
        vramscope()
            .arg(path("ops.json"))
            .arg("--recording")
            .arg(&pickle)
            .arg("--events")
            .arg(path("events"))
            .arg("--stats")
            .arg(path("stats"))
            .args(["--summary", "-"])
            .assert()
            .success()
            .stderr("")
            .stdout(summary);
        let got = lines(&fs::read(path("events")).expect("written"));
        assert_eq!(got, recorded_events(Path::new(&pickle)), "{pickle}");
        let stats = fs::read_to_string(path("stats")).expect("written");
        let stats: Value = serde_json::from_str(&stats).expect("JSON");
        assert_eq!(stats, case["meta"]["stats"], "{pickle}");
    }
}

#[test]
fn without_a_recording_addresses_ascend_in_steps_of_2_mib() {
    let list = json!([
        ["a", 1, 100, 0],
        ["a", 2, 11 << 20, 0],
        ["a", 3, 3 << 20, 2]
    ]);
    let base = 0x7f00_0000_0000_u64;
    let event = |action, addr: u64, size: u64, stream: u64| json!({"action": action, "addr": addr, "size": size, "stream": stream});
    assert_eq!(
        events(&list, &[]),
        [
            event("segment_alloc", base, 2 << 20, 0),
            event("alloc", base, 100, 0),
            event("segment_alloc", base + (2 << 20), 12 << 20, 0),
            event("alloc", base + (2 << 20), 11 << 20, 0),
            // A stream that "meta" does not name has its index as handle.
            event("segment_alloc", base + (14 << 20), 20 << 20, 2),
            event("alloc", base + (14 << 20), 3 << 20, 2),
        ]
    );
}

#[test]
fn streams_get_the_handles_that_the_list_names() {
    let list = json!({"meta": {"streams": [0, 4711]}, "ops": [["a", 1, 100, 1]]});
    assert_eq!(events(&list, &[])[1]["stream"], 4711);
}

#[test]
fn a_failed_allocation_is_no_error() {
    let list = json!([
        ["a", 1, 30 << 20, 0],
        ["a", 2, 90 << 20, 0],
        ["f", 2],
        ["f", 1]
    ]);
    let got = events(&list, &["--capacity", "100MiB"]);
    let oom = json!({
        "action": "oom", "device_free": 70 << 20, "size": 90 << 20, "stream": 0
    });
    assert_eq!(got[2], oom);
    let actions: Vec<_> = got.iter().map(|event| event["action"].clone()).collect();
    let expected = [
        "segment_alloc",
        "alloc",
        "oom",
        "free_requested",
        "free_completed",
    ];
    assert_eq!(actions, expected);
}

#[test]
fn settings_on_the_command_line_win_over_those_in_the_list() {
    let list = json!({
        "meta": {"conf": "roundup_power2_divisions:4"},
        "ops": [["a", 1, 300 << 20, 0]],
    });
    let reserved = |arguments: &[&str]| events(&list, arguments)[0]["size"].clone();
    assert_eq!(reserved(&[]), 320 << 20);
    assert_eq!(reserved(&["--conf", ""]), 300 << 20);
    let mapped = &events(&list, &["--conf", "expandable_segments:True"])[0];
    assert_eq!(
        (&mapped["action"], &mapped["size"]),
        (&json!("segment_map"), &json!(300 << 20))
    );
}

#[test]
fn the_summary_is_what_comes_unasked() {
    let (_folder, path) = operations(&json!([["a", 1, 54_525_952, 0]]));
    let output = vramscope().arg(path).assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let row = "| Allocated memory      |  53248 KiB |  53248 KiB |  53248 KiB |      0 B   |\n";
    assert!(text.contains(row), "{text}");
}

#[test]
fn wrong_usage_ends_with_2() {
    let (_folder, path) = operations(&json!([]));
    for (arguments, message) in [
        (
            &["--events", "-", "--stats", "-"][..],
            "only one of --events, --stats and --summary can be -",
        ),
        (
            &["--conf", "max_split_size_mb:3"],
            "max_split_size_mb too small, must be >= 20",
        ),
        (
            &["--capacity", "24GB"],
            "write bytes, or a number with KiB, MiB, GiB or TiB",
        ),
    ] {
        let output = vramscope()
            .arg(&path)
            .args(arguments)
            .assert()
            .code(2)
            .stdout("");
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn bad_lists_end_with_1_and_say_where() {
    for (list, message) in [
        (
            json!([["a", 1, 512, 0], ["f", 2]]),
            "operation 1: there is no block 2",
        ),
        (
            json!([["a", 1, 512, 0], ["a", 1, 512, 0]]),
            "operation 1: block 1 is allocated already",
        ),
        (
            json!([["q"]]),
            "unknown variant `q`, expected one of `a`, `f`",
        ),
        (
            json!([["a", 1, 512]]),
            "an operation ends where the index of a stream is needed",
        ),
        (json!([["f", 1, 2]]), "operation \"f\" has too many items"),
        (json!([["p"]]), "operation 0: no pool is entered"),
        (json!([["D", 3]]), "operation 0: there is no MemPool 3"),
        (json!([["F", 1.5]]), "operation 0: invalid fraction"),
        (
            json!([["S", "nonsense:1"]]),
            "operation 0: Unrecognized key 'nonsense'",
        ),
        (
            json!({"meta": {"conf": "max_split_size_mb:1"}, "ops": []}),
            "too small",
        ),
        (json!({"meta": {}}), "missing field `ops`"),
        (
            json!("text"),
            "a list of operations, bare or as \"ops\" beside \"meta\"",
        ),
    ] {
        let (_folder, path) = operations(&list);
        let output = vramscope().arg(&path).assert().code(1).stdout("");
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains(message), "{list}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
