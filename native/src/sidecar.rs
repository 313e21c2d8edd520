//! The `.json` beside a pickle: what a snapshot can't say of the run that it was taken from.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use shared::model::Mark;
use shared::store::Recording;

/// What is read of it. The whole of it but for the marks is kept in the recording's free part.
#[derive(Debug, Default, Deserialize)]
struct Sidecar {
    /// Version of PyTorch.
    torch: Option<String>,
    /// `PYTORCH_CUDA_ALLOC_CONF`.
    conf: Option<String>,
    #[serde(default)]
    marks: Vec<SidecarMark>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A named moment; sizes in bytes.
#[derive(Debug, Deserialize)]
struct SidecarMark {
    label: String,
    /// Microseconds since the Unix epoch.
    t_us: i64,
    allocated: Option<u64>,
    reserved: Option<u64>,
    /// In use on the whole card.
    driver_used: Option<u64>,
    /// Size of the card.
    total: Option<u64>,
}

/// Where the `.json` of a recording would lie: `run.pickle.gz` has `run.json`.
fn beside(recording: &Path) -> PathBuf {
    let mut stem = recording.to_path_buf();
    if stem
        .extension()
        .is_some_and(|ending| ending == "gz" || ending == "zst")
    {
        stem.set_extension("");
    }
    stem.with_extension("json")
}

/// Adds what the `.json` beside a recording says, where there is one.
///
/// # Errors
/// A file that can't be read, or holds something else.
pub(crate) fn add(path_of_recording: &Path, recording: &mut Recording) -> Result<()> {
    let path = beside(path_of_recording);
    if !path.is_file() {
        return Ok(());
    }
    let parse = || -> Result<Sidecar> { Ok(serde_json::from_str(&fs::read_to_string(&path)?)?) };
    let sidecar = parse().with_context(|| path.display().to_string())?;
    sidecar.put_into(recording);
    Ok(())
}

impl Sidecar {
    fn put_into(mut self, recording: &mut Recording) {
        let environment = &mut recording.environment;
        environment.torch_version = self.torch.or(environment.torch_version.take());
        environment.settings_text = environment.settings_text.take().or(self.conf);
        let card = &mut environment.card;
        let total = self.marks.iter().find_map(|mark| mark.total);
        card.total_bytes = card.total_bytes.or(total);
        card.limit_bytes = card.limit_bytes.or(limit(&self.rest));
        card.base_free_bytes = card
            .base_free_bytes
            .or(self.marks.first().and_then(base_free));
        for mark in self.marks.drain(..) {
            recording.marks.push(Mark {
                label: mark.label,
                time_us: mark.t_us,
                allocated_bytes: mark.allocated,
                reserved_bytes: mark.reserved,
                driver_used_bytes: mark.driver_used,
            });
        }
        recording.marks.sort_by_key(|mark| mark.time_us);
        recording.extra_json = Value::Object(self.rest).to_string();
    }
}

/// What an out-of-memory observer was told: device, bytes asked for, bytes allowed, bytes free.
fn limit(rest: &Map<String, Value>) -> Option<u64> {
    rest.get("extra")?.get("observer")?.get(0)?.get(2)?.as_u64()
}

/// What was free but for what this program had reserved.
fn base_free(mark: &SidecarMark) -> Option<u64> {
    mark.total?
        .checked_sub(mark.driver_used?)?
        .checked_add(mark.reserved?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_beside_a_recording_gives_marks_card_and_free_part() {
        let sidecar: Sidecar = serde_json::from_str(
            r#"{"torch": "2.11.0", "conf": "backend:native", "workload": "oom",
                "marks": [{"label": "start", "t_us": 5, "allocated": 1, "reserved": 2048,
                           "driver_used": 10000, "total": 80000}],
                "extra": {"observer": [[0, 7, 4503, 9]]}}"#,
        )
        .expect("JSON");
        let mut recording = Recording::default();
        sidecar.put_into(&mut recording);
        let environment = &recording.environment;
        assert_eq!(environment.torch_version.as_deref(), Some("2.11.0"));
        assert_eq!(environment.settings_text.as_deref(), Some("backend:native"));
        assert_eq!(environment.card.total_bytes, Some(80_000));
        assert_eq!(environment.card.limit_bytes, Some(4503));
        assert_eq!(environment.card.base_free_bytes, Some(72_048));
        assert_eq!(recording.marks.len(), 1);
        // The order of keys says nothing.
        let extra: Value = serde_json::from_str(&recording.extra_json).expect("JSON");
        let expected = serde_json::json!({
            "extra": {"observer": [[0, 7, 4503, 9]]},
            "workload": "oom",
        });
        assert_eq!(extra, expected);
    }

    #[test]
    fn compressed_recordings_share_the_json_of_their_stem() {
        for name in ["w_oom.default.pickle", "w_oom.default.pickle.gz"] {
            assert_eq!(beside(Path::new(name)), Path::new("w_oom.default.json"));
        }
    }
}
