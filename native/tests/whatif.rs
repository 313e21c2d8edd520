//! `vramscope whatif`, run on recordings.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../web/assets/recordings")
        .join(name)
}

fn whatif(name: &str, arguments: &[&str]) -> Output {
    Command::cargo_bin("vramscope")
        .unwrap()
        .arg("whatif")
        .arg(recording(name))
        .args(arguments)
        .output()
        .unwrap()
}

fn json_of(name: &str, arguments: &[&str]) -> Value {
    let output = whatif(name, &[arguments, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn variants_come_sorted_with_what_they_rest_on() {
    let confs = [
        "--conf",
        "max_split_size_mb:128",
        "--conf",
        "",
        "--conf",
        "expandable_segments:True",
    ];
    let report = json_of("varlen.default.vtrace", &confs);
    let variants = report["variants"].as_array().unwrap();
    let order: Vec<&str> = variants
        .iter()
        .map(|variant| variant["conf"].as_str().unwrap())
        .collect();
    assert_eq!(
        order,
        ["expandable_segments:True", "", "max_split_size_mb:128"]
    );
    // Under the recorded settings the run is the recording.
    let own = &variants[1];
    for name in [
        "peak_reserved_bytes",
        "peak_allocated_bytes",
        "driver_calls",
        "retries",
    ] {
        assert_eq!(own[name], report["recorded"][name], "{name}");
    }
    assert_eq!(own["ooms"], 0);
    assert_eq!(own["first_oom_event"], Value::Null);
    assert_eq!(report["first_apart_event"], Value::Null);
    assert_eq!(report["limits"]["capacity_from"], "recorded");
    assert_eq!(
        report["start"],
        json!({"event": 0, "live_blocks": 0, "allocated_bytes": 0, "reserved_bytes": 0})
    );
}

#[test]
fn the_table_for_people_says_the_same() {
    let output = whatif("oom.default.vtrace", &["--search"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "(the recording itself)",
        "expandable_segments:True",
        "saves this run: all requests are served",
        "holds exactly what was recorded, at every request",
        "A memory fraction limited the program to 4.19 GiB.",
        "Exact: ",
        "Assumed: ",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn a_budget_is_held() {
    let check = |budget: &str, status: i32, says: &str| {
        let output = whatif("kv_cat.default.vtrace", &["--budget", budget]);
        assert_eq!(output.status.code(), Some(status), "{budget}");
        assert!(output.stdout.starts_with(b"device 0: "), "{budget}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(says), "{said}");
    };
    check("90GiB", 0, "");
    check(
        "80GiB",
        1,
        "the peak is 81.43 GiB, above the budget of 80.00 GiB",
    );
}

#[test]
fn a_card_too_small_fails_requests() {
    let report = json_of(
        "varlen.default.vtrace",
        &["--capacity", "4GiB", "--others", "512MiB"],
    );
    let only = &report["variants"][0];
    assert_eq!(only["capacity_bytes"], 4_u64 << 30);
    assert_eq!(only["others_bytes"], 512 << 20);
    assert!(only["ooms"].as_u64().unwrap() > 0);
    assert!(only["peak_reserved_bytes"].as_u64().unwrap() <= 3584 << 20);
}

#[test]
fn wrong_settings_are_refused_in_the_words_of_pytorch() {
    let output = whatif("kv_cat.default.vtrace", &["--conf", "max_split:1"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Unrecognized key 'max_split'"), "{said}");
}

#[test]
fn a_device_that_is_not_there_is_bad_input() {
    let output = whatif("kv_cat.default.vtrace", &["--device", "3"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("there is nothing of device 3 in it"),
        "{said}"
    );
}
