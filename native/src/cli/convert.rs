//! `vramscope convert`: any recording becomes a `.vtrace`.

use anyhow::Result;

use crate::cli::args::ConvertArguments;
use crate::{input, output, sidecar};

/// Reads, adds what stands beside, and writes.
///
/// # Errors
/// What is wrong with a file, behind its path.
pub(crate) fn run(arguments: &ConvertArguments) -> Result<()> {
    let mut recording = input::read(&arguments.input)?;
    sidecar::add(&arguments.input, &mut recording)?;
    let card = &mut recording.environment.card;
    card.total_bytes = arguments.total.or(card.total_bytes);
    card.limit_bytes = arguments.limit.or(card.limit_bytes);
    let file = shared::write::to_vtrace(&recording, output::compress_well);
    output::write(&arguments.output, &file)?;
    for warning in recording.warnings.iter() {
        eprintln!(
            "vramscope: {}: {} ({}, first at {})",
            arguments.input.display(),
            warning.kind.text(),
            warning.count,
            warning.first_at,
        );
    }
    Ok(())
}
