//! `vramscope verify`: does the allocator agree with a recording, event by event.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anyhow::Result;
use serde::Serialize;
use shared::allocator::TraceEvent;
use shared::units::size_text;
use shared::verify::{Agreement, DeviceAgreement, Mismatch, Verdict, verify};

use super::args::VerifyArguments;
use crate::input;

#[derive(Serialize)]
struct Report<'a> {
    file: String,
    #[serde(flatten)]
    agreement: &'a Agreement,
}

/// Prints the verdict; an error where the recording contradicts the allocator.
pub(crate) fn run(arguments: &VerifyArguments) -> Result<()> {
    let agreement = verify(&input::read(&arguments.file)?);
    let file = arguments.file.display().to_string();
    let text = if arguments.json {
        let report = Report {
            file: file.clone(),
            agreement: &agreement,
        };
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        text(&agreement)
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    match agreement.verdict {
        Verdict::Disagrees | Verdict::Impossible => {
            anyhow::bail!("{file}: {}", verdict_text(agreement.verdict))
        }
        Verdict::Agrees | Verdict::Incomplete | Verdict::Empty => Ok(()),
    }
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees: the allocator predicts every event",
        Verdict::Disagrees => "disagrees: an event is not what the allocator would have done",
        Verdict::Incomplete => "incomplete: nothing contradicts, but something cannot be known",
        Verdict::Impossible => "impossible: no allocator can have left this record",
        Verdict::Empty => "empty: neither events nor segments",
    }
}

fn text(agreement: &Agreement) -> String {
    let mut text = format!("{}\n", verdict_text(agreement.verdict));
    for device in &agreement.devices {
        // Writing to a string does not fail.
        let _ = add_device(&mut text, device);
    }
    text
}

fn add_device(text: &mut String, device: &DeviceAgreement) -> std::fmt::Result {
    writeln!(
        text,
        "device {}: {} of {} events as predicted",
        device.device.0, device.matched, device.events
    )?;
    if device.assumed_pools > 0 {
        writeln!(
            text,
            "  {} requests agree only in a pool that no event names",
            device.assumed_pools
        )?;
    }
    if let Some(first) = device.assumed_settings.first() {
        writeln!(
            text,
            "  the settings must have changed {} times, first at event {}",
            device.assumed_settings.len(),
            first.0
        )?;
    }
    match &device.first_mismatch {
        Some(mismatch) => add_mismatch(text, mismatch),
        None => Ok(()),
    }
}

fn add_mismatch(text: &mut String, mismatch: &Mismatch) -> std::fmt::Result {
    writeln!(text, "  first difference at event {}", mismatch.event.0)?;
    writeln!(text, "    recorded:  {}", event_text(mismatch.recorded))?;
    writeln!(text, "    predicted: {}", event_text(mismatch.predicted))?;
    if !mismatch.candidates.is_empty() {
        writeln!(text, "    cached blocks near that size, in search order:")?;
    }
    for &(address, bytes) in &mismatch.candidates {
        writeln!(text, "      {address:#x}  {}", size_text(bytes))?;
    }
    Ok(())
}

fn event_text(event: Option<TraceEvent>) -> String {
    match event {
        None => "nothing".to_owned(),
        Some(event) => format!(
            "{} {:#x} {} bytes, stream {}",
            event.action.name(),
            event.address,
            event.size_bytes,
            event.stream.0
        ),
    }
}
