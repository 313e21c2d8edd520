//! `vramscope whatif`: the requests of a recording under other settings, on another card.
//! `docs/whatif.md` documents the names of `--json`; they are stable.

mod report;
mod table;

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use shared::ids::{DeviceIndex, EventIndex};
use shared::replay::Replay;
use shared::settings::Settings;
use shared::store::{DeviceRecord, Recording};
use shared::units::{parse_size, size_text};
use shared::whatif::{Advice, EmptyCaches, Question, Row, Table, Variant};

use crate::input;

/// Run the requests of a recording again under other settings or on another card
///
/// What the allocator decides is exact. Assumed are that the program would have asked for the
/// same, and what driver calls cost. Without --conf the recording's own settings are run.
#[derive(Debug, Args)]
pub(crate) struct WhatIfArguments {
    /// The recording; - reads standard input
    pub(crate) file: PathBuf,

    /// Settings to try (text of PYTORCH_CUDA_ALLOC_CONF); may be given several times
    #[arg(long = "conf", value_name = "TEXT", value_parser = settings_text)]
    pub(crate) confs: Vec<String>,

    /// Try a grid of sensible settings, and say which helps
    #[arg(long)]
    pub(crate) search: bool,

    /// Size of the card, such as 24GiB; otherwise what the recording says or shows
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) capacity: Option<u64>,

    /// How much of the card others use, the CUDA context included
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) others: Option<u64>,

    /// Leave out every empty_cache() of the recording
    #[arg(long)]
    pub(crate) drop_empty_cache: bool,

    /// Call empty_cache() before this event; may be given several times
    #[arg(long = "empty-cache-at", value_name = "EVENT")]
    pub(crate) empty_cache_at: Vec<u32>,

    /// Begin before this event, in the state that the recording has there
    #[arg(long, value_name = "EVENT", default_value_t = 0)]
    pub(crate) start: u32,

    /// Which device; otherwise the first of the recording
    #[arg(long, value_name = "N")]
    pub(crate) device: Option<u32>,

    /// Exit with status 1 when a peak of reserved memory is above this size
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) budget: Option<u64>,

    /// Print one JSON object, with the names that docs/whatif.md documents
    #[arg(long)]
    pub(crate) json: bool,
}

fn settings_text(text: &str) -> Result<String, String> {
    match Settings::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Prints the table; an error when the budget is exceeded.
pub(crate) fn run(arguments: &WhatIfArguments) -> Result<()> {
    let file = arguments.file.display().to_string();
    let recording = input::read(&arguments.file)?;
    let record = device(&recording, arguments.device).with_context(|| file.clone())?;
    let (table, advice) = answer(arguments, &recording, record);
    let text = if arguments.json {
        report::json(&file, record.device, &table, advice.as_ref())?
    } else {
        table::text(record.device, &table, advice.as_ref())
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    match arguments.budget {
        Some(budget) => hold_to(budget, &table),
        None => Ok(()),
    }
}

fn device(recording: &Recording, wanted: Option<u32>) -> Result<&DeviceRecord> {
    match wanted {
        Some(wanted) => recording
            .device(DeviceIndex(wanted))
            .with_context(|| format!("there is nothing of device {wanted} in it")),
        None => recording
            .devices
            .iter()
            .find(|record| !record.events.is_empty())
            .or(recording.devices.first())
            .context("no device has events or segments"),
    }
}

fn answer(
    arguments: &WhatIfArguments,
    recording: &Recording,
    record: &DeviceRecord,
) -> (Table, Option<Advice>) {
    let replay = Replay::new(recording, record);
    let circumstances = Variant {
        conf: None,
        capacity_bytes: arguments.capacity,
        others_bytes: arguments.others,
        empty_caches: if arguments.drop_empty_cache {
            EmptyCaches::Dropped
        } else {
            EmptyCaches::Kept
        },
        inserted: arguments
            .empty_cache_at
            .iter()
            .copied()
            .map(EventIndex)
            .collect(),
    };
    let with_conf = |conf: &str| Variant {
        conf: Some(conf.to_owned()),
        ..circumstances.clone()
    };
    let mut variants: Vec<Variant> = arguments.confs.iter().map(|c| with_conf(c)).collect();
    if variants.is_empty() && !arguments.search {
        variants.push(circumstances.clone());
    }
    let mut question = Question::new(recording, record, &replay, arguments.start, &variants);
    if arguments.search {
        question.add_search(recording, &circumstances);
    }
    while !question.advance(usize::MAX) {}
    let table = question.table(recording, record, &replay);
    let advice = question.advice(&table);
    (table, advice)
}

fn hold_to(budget: u64, table: &Table) -> Result<()> {
    let peak = |row: &Row| Some(row.outcome.as_ref().ok()?.peak_reserved_bytes);
    let above = |row: &&Row| peak(row).is_some_and(|peak| peak > budget);
    if let Some(row) = table.rows.iter().find(above) {
        bail!(
            "with \"{}\" the peak is {}, above the budget of {}",
            row.conf,
            size_text(peak(row).unwrap_or(0)),
            size_text(budget),
        );
    }
    Ok(())
}
