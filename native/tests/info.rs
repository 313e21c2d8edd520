//! `vramscope info`, run on recordings.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

fn specimen(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/data/formats")
        .join(name)
}

fn info(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::cargo_bin("vramscope").unwrap();
    command
        .arg("info")
        .args(arguments)
        .write_stdin(input)
        .output()
        .unwrap()
}

fn json_of(path: &Path) -> Value {
    let output = info(&["--json", path.to_str().unwrap()], b"");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stderr.is_empty());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_ring_that_wrapped_says_what_was_alive_before() {
    let report = json_of(&specimen("f_wrapped_ring.pickle"));
    assert_eq!(
        report["devices"],
        json!([{
            "device": 0,
            "events": 200,
            "actions": {"alloc": 62, "free_completed": 69, "free_requested": 69},
            "segments": 6,
            "blocks": 33,
            "reserved_bytes": 75_497_472,
            "allocated_bytes": 71_315_456,
            "peak_allocated_bytes": 73_486_848,
            "peak_requested_bytes": 73_486_340,
            "peak_reserved_bytes": 75_497_472,
            "alive_before_recording_blocks": 34,
            "alive_before_recording_bytes": 71_908_864,
            "first_time_us": 1_796_004_799_331_268_i64,
            "last_time_us": 1_796_004_799_334_763_i64,
        }])
    );
    assert_eq!(report["settings"]["PYTORCH_CUDA_ALLOC_CONF"], "");
    assert_eq!(report["settings"]["max_split_size"], -1);
    assert_eq!(report["settings"]["expandable_segments"], false);
    assert_eq!(report["settings"]["roundup_power2_divisions"]["32768"], 0);
    assert_eq!(
        report["warnings"],
        json!([{
            "kind": "alive_before_recording",
            "count": 34,
            "first_at": null,
            "text": "blocks were allocated before the recording began; the state was walked back to it",
        }])
    );
    assert_eq!(report["card"]["total_bytes"], Value::Null);
    assert_eq!(report["source"], "pytorch_snapshot");
}

#[test]
fn the_text_for_people_has_the_same_figures() {
    let path = specimen("f_wrapped_ring.pickle");
    let output = info(&[path.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "device 0\n",
        "  events             200\n",
        "    free_completed   69\n",
        "  reserved           72.00 MiB\n",
        "  alive before       68.58 MiB in 34 blocks\n",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
}

#[test]
fn standard_input_is_read_as_a_file_is() {
    let bytes = std::fs::read(specimen("f_wrapped_ring.pickle")).unwrap();
    let output = info(&["--json", "-"], &bytes);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["devices"][0]["events"], 200);
}

#[test]
fn a_recording_without_anything_opens_and_says_so() {
    let output = info(&["-"], b"\x80\x04].");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("no device has events or segments\n"),
        "{text}"
    );
}

#[test]
fn bad_input_is_status_1_and_one_line_with_the_place() {
    let check = |arguments: &[&str], input: &[u8], starts: &str, contains: &str| {
        let output = info(arguments, input);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with(starts), "{said}");
        assert!(said.contains(contains), "{said}");
        assert_eq!(said.matches('\n').count(), 1, "{said}");
    };
    let code = b"\x80\x02cos\nsystem\nq\x00.";
    check(
        &["-"],
        code,
        "vramscope: -: byte 2",
        "GLOBAL names a Python object \"os.system\"",
    );
    check(
        &["-", "--json"],
        b"",
        "vramscope: -: the file is empty",
        "record again",
    );
    let foreign = specimen("f_chrome_trace.json.gz");
    check(
        &[foreign.to_str().unwrap()],
        b"",
        "vramscope: ",
        "trace of PyTorch's profiler",
    );
    check(
        &["no/such.pickle"],
        b"",
        "vramscope: no/such.pickle: ",
        "No such file",
    );
    let folder = specimen("");
    check(
        &[folder.to_str().unwrap()],
        b"",
        "vramscope: ",
        "this is a folder",
    );
}
