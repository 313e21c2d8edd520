//! `vramscope info`: what a recording holds, for people or as JSON. `docs/info.md` documents the
//! names; they are stable.

mod table;

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use serde_json::{Map, Value};
use shared::model::{Action, CardMemory, Environment, Source};
use shared::query::{DeviceOverview, Engine, Overview, Query, Reply};
use shared::store::Recording;
use shared::warning::{Place, Warning};

use super::args::InfoArguments;
use crate::input;

/// Prints what the recording holds.
pub(crate) fn run(arguments: &InfoArguments) -> Result<()> {
    let report = Report::of(input::read(&arguments.file)?);
    let mut text = if arguments.json {
        serde_json::to_string_pretty(&report)?
    } else {
        table::text(&report)
    };
    text.push('\n');
    match io::stdout().lock().write_all(text.as_bytes()) {
        // `| head` has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// The JSON object; a field that is not known is null.
#[derive(Debug, Serialize)]
struct Report {
    source: &'static str,
    torch_version: Option<String>,
    card: Card,
    devices: Vec<DeviceReport>,
    settings: Option<Map<String, Value>>,
    marks: usize,
    annotations: u64,
    warnings: Vec<WarningReport>,
}

#[derive(Debug, Serialize)]
struct Card {
    total_bytes: Option<u64>,
    limit_bytes: Option<u64>,
    base_free_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct DeviceReport {
    device: u32,
    events: u32,
    actions: BTreeMap<String, u64>,
    segments: u32,
    blocks: u32,
    reserved_bytes: u64,
    allocated_bytes: u64,
    peak_allocated_bytes: u64,
    peak_requested_bytes: u64,
    peak_reserved_bytes: u64,
    alive_before_recording_blocks: u64,
    alive_before_recording_bytes: u64,
    first_time_us: Option<i64>,
    last_time_us: Option<i64>,
}

#[derive(Debug, Serialize)]
struct WarningReport {
    kind: &'static str,
    count: u64,
    first_at: Option<String>,
    text: &'static str,
}

impl Report {
    fn of(recording: Recording) -> Self {
        let mut engine = Engine::new(recording);
        let Reply::Overview(overview) = engine.answer(&Query::Overview) else {
            unreachable!("an overview is of the whole recording, so nothing can be out of range");
        };
        let recording = engine.recording();
        let Overview {
            environment,
            devices,
            warnings,
            annotations,
            ..
        } = *overview;
        Self {
            source: source_name(environment.source),
            settings: settings(&environment),
            torch_version: environment.torch_version,
            card: Card::of(environment.card),
            devices: devices
                .iter()
                .map(|device| DeviceReport::of(recording, device))
                .collect(),
            marks: recording.marks.len(),
            annotations,
            warnings: warnings.iter().map(WarningReport::of).collect(),
        }
    }
}

impl Card {
    fn of(card: CardMemory) -> Self {
        let CardMemory {
            total_bytes,
            limit_bytes,
            base_free_bytes,
        } = card;
        Self {
            total_bytes,
            limit_bytes,
            base_free_bytes,
        }
    }
}

impl DeviceReport {
    fn of(recording: &Recording, device: &DeviceOverview) -> Self {
        Self {
            device: device.device.0,
            events: device.events,
            actions: actions(recording, device),
            segments: device.segments,
            blocks: device.blocks,
            reserved_bytes: device.end.reserved,
            allocated_bytes: device.end.allocated,
            peak_allocated_bytes: device.peak.allocated,
            peak_requested_bytes: device.peak.requested,
            peak_reserved_bytes: device.peak.reserved,
            alive_before_recording_blocks: device.alive_before_blocks,
            alive_before_recording_bytes: device.alive_before_bytes,
            first_time_us: device.first_time_us,
            last_time_us: device.last_time_us,
        }
    }
}

impl WarningReport {
    fn of(warning: &Warning) -> Self {
        let first_at = match warning.first_at {
            Place::Recording => None,
            place => Some(place.to_string()),
        };
        Self {
            kind: warning.kind.name(),
            count: warning.count,
            first_at,
            text: warning.kind.text(),
        }
    }
}

fn source_name(source: Source) -> &'static str {
    match source {
        Source::Unknown => "unknown",
        Source::PytorchSnapshot => "pytorch_snapshot",
        Source::PytorchSegments => "pytorch_segments",
        Source::Vramscope => "vramscope",
    }
}

/// How many entries there are of each action that occurs; those that no known version writes
/// under their own name.
fn actions(recording: &Recording, device: &DeviceOverview) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = Action::ALL
        .into_iter()
        .zip(&device.actions)
        .filter(|&(action, &count)| count > 0 && action != Action::Unknown)
        .map(|(action, &count)| (action.name().to_owned(), count.into()))
        .collect();
    let unknown = recording
        .device(device.device)
        .filter(|_| device.actions[Action::Unknown as usize] > 0)
        .into_iter()
        .flat_map(|record| record.events.iter())
        .filter(|(_, event)| event.action == Action::Unknown);
    for (_, event) in unknown {
        let name = recording.texts.get(event.notes.unknown_action);
        let name = if name.is_empty() {
            Action::Unknown.name()
        } else {
            name
        };
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    counts
}

/// The settings that the file lists, under its names.
fn settings(environment: &Environment) -> Option<Map<String, Value>> {
    const TEXT: &str = "PYTORCH_CUDA_ALLOC_CONF";
    let mut settings: Map<String, Value> = environment
        .settings
        .iter()
        .map(|(name, value)| match name.as_str() {
            TEXT => (name.clone(), Value::from(value.as_str())),
            _ => (name.clone(), typed(value)),
        })
        .collect();
    if let Some(text) = &environment.settings_text {
        settings.entry(TEXT).or_insert_with(|| text.as_str().into());
    }
    (!settings.is_empty()).then_some(settings)
}

/// A value of the settings from the text that the reader keeps of it: `False`, `0.6`, `[1:0,2:4]`.
fn typed(text: &str) -> Value {
    let inside = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let pairs = inside.and_then(|inside| {
        let pairs = inside.split(',').map(|pair| pair.split_once(':'));
        pairs.collect::<Option<Vec<_>>>()
    });
    match (text, pairs) {
        ("None", _) => Value::Null,
        ("True", _) => Value::Bool(true),
        ("False", _) => Value::Bool(false),
        (_, Some(pairs)) => pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), typed(value)))
            .collect(),
        _ => match serde_json::from_str(text) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => Value::from(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_get_back_their_types() {
        let check = |text: &str, expected: Value| assert_eq!(typed(text), expected, "{text}");
        check("True", true.into());
        check("-1", (-1).into());
        check("0.6", 0.6.into());
        check("native", "native".into());
        check("[1:0,2:4]", serde_json::json!({"1": 0, "2": 4}));
        check("[]", "[]".into());
        check("", "".into());
    }
}
