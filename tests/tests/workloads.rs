//! The built-in recordings against what PyTorch's own statistics said when they were made.

use serde_json::Value;
use shared::ids::DeviceIndex;
use shared::replay::Replay;
use tests::fixture::{all_built_in, recording};

#[test]
fn peaks_and_final_figures_are_those_of_memory_stats() {
    let mut checked = Vec::new();
    for path in all_built_in() {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let recording = recording(&path);
        // Kept from the file that lay beside the pickle; ranks have none.
        let Ok(extra) = serde_json::from_str::<Value>(&recording.extra_json) else {
            assert!(name.starts_with("fsdp"), "{name} has no statistics");
            continue;
        };
        let stats = &extra["stats"];
        let record = recording.device(DeviceIndex(0)).expect("device 0");
        let replay = Replay::new(&recording, record);
        let [allocated, requested, active, reserved, ..] = replay.sums().whole().max;
        let end = replay.sums().end();
        for (key, peak, current) in [
            ("allocated_bytes", allocated, end.allocated),
            ("requested_bytes", requested, end.requested),
            ("active_bytes", active, end.active),
            ("reserved_bytes", reserved, end.reserved),
        ] {
            let figure = |which: &str| stats[format!("{key}.all.{which}")].as_u64();
            assert_eq!(figure("peak"), Some(peak), "{name}: peak {key}");
            assert_eq!(figure("current"), Some(current), "{name}: final {key}");
        }
        checked.push(name);
    }
    assert_eq!(checked.len(), 17, "{checked:?}");
}

#[test]
fn the_free_part_keeps_what_the_run_said() {
    let extra = |wanted: &str| -> Value {
        let path = all_built_in()
            .into_iter()
            .find(|path| path.ends_with(format!("{wanted}.vtrace")));
        let recording = recording(path.expect("it is built in"));
        serde_json::from_str(&recording.extra_json).expect("a JSON object")
    };
    let oom = extra("oom.default");
    let message = oom["extra"]["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with("CUDA out of memory. Tried to allocate 298.00 MiB."),
        "{message}"
    );
    let steps = extra("empty_each_step.default");
    assert_eq!(
        steps["extra"]["empty_cache each step"]
            .as_array()
            .map(Vec::len),
        Some(5)
    );
    let both = &extra("two_gpus.default")["extra"];
    assert_eq!(both[2][1], serde_json::json!([0, 0]));
}

#[test]
fn what_is_known_about_the_card_is_kept() {
    for path in all_built_in() {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let environment = recording(&path).environment;
        let has_marks = !name.starts_with("fsdp") && !name.starts_with("two_gpus");
        let total = has_marks.then_some(150_109_880_320);
        assert_eq!(environment.card.total_bytes, total, "{name}");
        let limit = name.starts_with("oom").then_some(4_503_296_409);
        assert_eq!(environment.card.limit_bytes, limit, "{name}");
        let expected = if name.ends_with("expandable") {
            Some("expandable_segments:True")
        } else {
            None
        };
        if let Some(expected) = expected {
            assert_eq!(
                environment.settings_text.as_deref(),
                Some(expected),
                "{name}"
            );
        }
    }
}
