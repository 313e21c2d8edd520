//! `vramscope explain`, run on messages.

use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

const MESSAGE: &str = "\
[rank1]: Traceback (most recent call last):
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a \
total capacity of 139.81 GiB of which 24.12 MiB is free. Process 1117159 has 127.15 GiB memory in \
use. Including non-PyTorch memory, this process has 12.62 GiB memory in use. Of the allocated \
memory 12.10 GiB is allocated by PyTorch, and 7.55 MiB is reserved by PyTorch but unallocated.
";

fn explain(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::cargo_bin("vramscope").unwrap();
    let command = command.arg("explain").args(arguments).write_stdin(input);
    command.output().unwrap()
}

fn json_of(input: &str) -> Value {
    let output = explain(&["--message", "-", "--json"], input);
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_json_object_has_bytes_and_the_documented_words() {
    let report = json_of(MESSAGE);
    assert_eq!(report["figures"]["tried"], 117_440_512);
    assert_eq!(report["figures"]["free"], 25_291_653);
    assert_eq!(report["figures"]["reserved_unallocated"], 7_916_749);
    assert_eq!(report["figures"]["allowed"], Value::Null);
    assert_eq!(
        report["figures"]["other_processes"],
        json!([{ "pid": 1_117_159, "bytes": 136_526_272_922_u64 }])
    );
    assert_eq!(report["rounding"]["tried"], 5243);
    assert_eq!(report["case"], 2);
    assert_eq!(report["missing"], json!([]));
    assert_eq!(
        report["helps"],
        json!(["smaller_request", "fewer_live_tensors", "other_process"])
    );
    assert_eq!(
        report["does_not_help"],
        json!([
            "empty_cache",
            "expandable_segments",
            "max_split_size_mb",
            "roundup_power2_divisions",
            "garbage_collection_threshold"
        ])
    );
    assert_eq!(report["flags"], json!(["other_process"]));
    assert_eq!(report["rank"], 1);
    assert_eq!(report["line"], 2);
}

#[test]
fn several_messages_are_all_in_one_object() {
    let other = "CUDA out of memory. Tried to allocate 12.50 MiB (GPU 1; 10.92 GiB total capacity; \
                 8.57 MiB already allocated; 9.28 GiB free; 4.68 MiB cached)";
    let report = json_of(&format!("{MESSAGE}{other}"));
    assert_eq!(report["case"], 2);
    let cases: Vec<&Value> = report["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["case"])
        .collect();
    assert_eq!(cases, [2, 1]);
}

#[test]
fn impossible_figures_are_reported() {
    let report = json_of(
        "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 8.00 GiB of \
         which 9.00 GiB is free. Including non-PyTorch memory, this process has 17179869184.00 GiB \
         memory in use. Of the allocated memory 1.00 GiB is allocated by PyTorch, and 0 bytes is \
         reserved by PyTorch but unallocated.",
    );
    assert_eq!(report["impossible"], json!(["free>total", "this>total"]));
    assert_eq!(report["case"], Value::Null);
    assert_eq!(report["undecided"], "impossible_figure");
}

#[test]
fn statistics_alone_are_explained() {
    let report = json_of(include_str!("../../tests/data/memory_summary.txt"));
    assert_eq!(report["figures"]["allocated"], 3506_u64 << 20);
    assert_eq!(report["case"], Value::Null);
    assert_eq!(report["missing"], json!(["tried", "total", "free"]));
    assert_eq!(report["statistics"][0]["num_ooms"], 1);
    assert_eq!(report["does_not_help"], json!(["empty_cache"]));
}

#[test]
fn people_get_the_bar_the_case_and_the_advice() {
    let output = explain(&["--message", "-"], MESSAGE);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let bar = text.lines().find(|line| line.starts_with("  |")).unwrap();
    assert_eq!(bar.chars().count(), 68);
    // 12.10 of 139.81 GiB is 5 of 64 columns, and what is little is still seen.
    assert!(bar.starts_with("  |#####co"), "{bar}");
    assert!(bar.ends_with("x?.|"), "{bar}");
    for part in [
        "CUDA, GPU 0, rank 1, line 2",
        "asked from the driver              112.00 MiB",
        "Case 2: real need.",
        "Another process holds most of the card.",
        "Helps:\n  smaller_request ",
        "Does not help:\n  empty_cache ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_text_without_a_message_is_refused_in_one_line() {
    let output = explain(&["--message", "-"], "ValueError: shapes do not match");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.lines().count(), 1);
    assert!(error.contains("no out-of-memory message"), "{error}");
    assert_eq!(explain(&[], "").status.code(), Some(2));
}
