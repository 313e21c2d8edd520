//! The answer as JSON.

use anyhow::Result;
use serde::Serialize;
use shared::ids::DeviceIndex;
use shared::whatif::{Advice, Card, Figures, Knowledge, Row, StartedWith, Table, Trouble};

/// What is exact and what is assumed; the same for every file.
pub(super) const EXACT: [&str; 1] =
    ["what the allocator decides about each request: rounding, blocks, splits, merges, flushes"];
pub(super) const ASSUMED: [&str; 5] = [
    "the program would have asked for the same, in the same order",
    "new segments get ascending addresses",
    "driver calls take as long as they did on an H200",
    "calls of empty_cache() that returned nothing left no trace, so they are not run again",
    "a recorded request that failed is given back at once where it is served; after a failure \
     the program goes on as it was recorded",
];

#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    device: u32,
    variants: Vec<Variant<'a>>,
    recorded: Option<Outcome>,
    replayed: Option<Outcome>,
    first_apart_event: Option<u32>,
    limits: Limits,
    start: Start,
    requests: u64,
    skipped_events: u64,
    advice: Option<Suggestion<'a>>,
    exact: &'a [&'a str],
    assumed: &'a [&'a str],
}

#[derive(Serialize)]
struct Variant<'a> {
    conf: &'a str,
    capacity_bytes: Option<u64>,
    others_bytes: u64,
    limit_bytes: Option<u64>,
    #[serde(flatten)]
    outcome: Option<Outcome>,
    error: Option<String>,
}

#[derive(Serialize)]
struct Outcome {
    peak_reserved_bytes: u64,
    peak_allocated_bytes: u64,
    waste_at_peak_bytes: u64,
    peak_event: Option<u32>,
    reserved_at_end_bytes: u64,
    segments_at_end: u64,
    driver_calls: u64,
    driver_ns: u64,
    retries: u64,
    ooms: u64,
    first_oom_event: Option<u32>,
}

#[derive(Serialize)]
struct Limits {
    capacity_bytes: Option<u64>,
    capacity_from: Knowledge,
    limit_bytes: Option<u64>,
    limit_from: Knowledge,
    others_bytes: u64,
    served_bytes: u64,
    refused_bytes: Option<u64>,
    available_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Start {
    event: u32,
    live_blocks: u64,
    allocated_bytes: u64,
    reserved_bytes: u64,
}

#[derive(Serialize)]
struct Suggestion<'a> {
    kind: &'static str,
    conf: Option<&'a str>,
    sentence: String,
}

/// The answer as one JSON object.
pub(super) fn json(
    file: &str,
    device: DeviceIndex,
    table: &Table,
    advice: Option<&Advice>,
) -> Result<String> {
    let closeness = table.closeness;
    let report = Report {
        file,
        device: device.0,
        variants: table.rows.iter().map(variant).collect(),
        recorded: closeness.map(|closeness| outcome(closeness.recorded)),
        replayed: closeness.map(|closeness| outcome(closeness.replayed)),
        first_apart_event: closeness.and_then(|c| Some(c.first_apart?.0)),
        limits: limits(table),
        start: start(table.start),
        requests: table.requests,
        skipped_events: table.skipped,
        advice: advice.map(suggestion),
        exact: &EXACT,
        assumed: &ASSUMED,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn variant(row: &Row) -> Variant<'_> {
    Variant {
        conf: &row.conf,
        capacity_bytes: capacity(row.card),
        others_bytes: row.card.others_bytes,
        limit_bytes: row.card.limit_bytes,
        outcome: row.outcome.as_ref().ok().copied().map(outcome),
        error: row.outcome.as_ref().err().map(trouble_text),
    }
}

pub(super) fn trouble_text(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Settings { message } => message.clone(),
        Trouble::Start => "the record begins in a state that no allocator can be in".to_owned(),
    }
}

fn capacity(card: Card) -> Option<u64> {
    (card.capacity_from != Knowledge::Nothing).then_some(card.capacity_bytes)
}

fn outcome(figures: Figures) -> Outcome {
    Outcome {
        peak_reserved_bytes: figures.peak_reserved_bytes,
        peak_allocated_bytes: figures.peak_allocated_bytes,
        waste_at_peak_bytes: figures.waste_at_peak_bytes,
        peak_event: figures.peak_at.map(|event| event.0),
        reserved_at_end_bytes: figures.reserved_at_end_bytes,
        segments_at_end: figures.segments_at_end,
        driver_calls: figures.driver_calls,
        driver_ns: figures.driver_ns,
        retries: figures.retries,
        ooms: figures.ooms,
        first_oom_event: figures.first_oom_event.map(|event| event.0),
    }
}

fn limits(table: &Table) -> Limits {
    let (card, bounds) = (table.card, &table.bounds);
    Limits {
        capacity_bytes: capacity(card),
        capacity_from: card.capacity_from,
        limit_bytes: card.limit_bytes,
        limit_from: card.limit_from,
        others_bytes: card.others_bytes,
        served_bytes: bounds.fits_bytes,
        refused_bytes: bounds.refused_bytes,
        available_bytes: bounds.available_bytes,
    }
}

fn start(start: StartedWith) -> Start {
    Start {
        event: start.at.0,
        live_blocks: start.live_blocks,
        allocated_bytes: start.allocated_bytes,
        reserved_bytes: start.reserved_bytes,
    }
}

fn suggestion(advice: &Advice) -> Suggestion<'_> {
    let (kind, gain) = match advice {
        Advice::Saves(gain) => ("saves", Some(gain)),
        Advice::Delays(gain) => ("delays", Some(gain)),
        Advice::Lowers(gain) => ("lowers", Some(gain)),
        Advice::KeepsBest => ("keeps_best", None),
    };
    Suggestion {
        kind,
        conf: gain.map(|gain| gain.conf.as_str()),
        sentence: super::table::sentence(advice),
    }
}
