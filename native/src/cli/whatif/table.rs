//! The answer for people.

use std::fmt::Write;

use shared::ids::DeviceIndex;
use shared::units::size_text;
use shared::whatif::{Advice, Card, Closeness, Figures, Gain, Knowledge, Row, Table};

use super::report::{ASSUMED, EXACT, trouble_text};

const HEADINGS: [&str; 8] = [
    "settings",
    "peak reserved",
    "peak allocated",
    "waste at peak",
    "driver calls",
    "their time",
    "retries",
    "failed",
];

/// The table and what there is to say about it.
pub(super) fn text(device: DeviceIndex, table: &Table, advice: Option<&Advice>) -> String {
    let mut text = format!(
        "device {}: {} requests, run again\n\n",
        device.0, table.requests
    );
    let mut lines = vec![HEADINGS.map(str::to_owned)];
    if let Some(closeness) = table.closeness {
        lines.push(line("(the recording itself)", &closeness.recorded));
    }
    lines.extend(table.rows.iter().map(row_line));
    add_aligned(&mut text, &lines);
    text.push('\n');
    if let Some(advice) = advice {
        text.push_str(&sentence(advice));
        text.push_str("\n\n");
    }
    for note in notes(table) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{note}");
    }
    let _ = writeln!(text, "Exact: {}.", EXACT.join("; "));
    let _ = writeln!(text, "Assumed: {}.", ASSUMED.join("; "));
    text
}

fn row_line(row: &Row) -> [String; 8] {
    let conf = if row.conf.is_empty() {
        "defaults"
    } else {
        &row.conf
    };
    match &row.outcome {
        Ok(figures) => line(conf, figures),
        Err(trouble) => {
            let mut cells = std::array::from_fn(|_| String::new());
            cells[0] = format!("{conf}: {}", trouble_text(trouble));
            cells
        }
    }
}

fn line(name: &str, figures: &Figures) -> [String; 8] {
    let failed = match figures.first_oom_event {
        Some(event) => format!("{}, first at event {}", figures.ooms, event.0),
        None => "no".to_owned(),
    };
    [
        name.to_owned(),
        size_text(figures.peak_reserved_bytes),
        size_text(figures.peak_allocated_bytes),
        size_text(figures.waste_at_peak_bytes),
        figures.driver_calls.to_string(),
        format!("{:.1} ms", figures.driver_ns as f64 / 1e6),
        figures.retries.to_string(),
        failed,
    ]
}

/// Columns as wide as their widest cell; the first to the left, the others to the right.
fn add_aligned(text: &mut String, lines: &[[String; 8]]) {
    let mut widths = [0; 8];
    // What went wrong may run into the other columns.
    let whole = lines.iter().filter(|cells| !cells[1].is_empty());
    for cells in whole {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.len().max(*width);
        }
    }
    for cells in lines {
        let mut line = String::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let _ = match column {
                0 => write!(line, "{cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// What a search came to, in one sentence.
pub(super) fn sentence(advice: &Advice) -> String {
    match advice {
        Advice::Saves(Gain {
            conf,
            before,
            after,
        }) => format!(
            "{conf} saves this run: all requests are served with at most {} reserved, where the \
             recorded settings fail {} of them.",
            size_text(after.peak_reserved_bytes),
            before.ooms,
        ),
        Advice::Delays(Gain {
            conf,
            before,
            after,
        }) => format!(
            "{conf} fails as well, but only at event {} instead of {}.",
            after.first_oom_event.map_or(0, |event| event.0),
            before.first_oom_event.map_or(0, |event| event.0),
        ),
        Advice::Lowers(Gain {
            conf,
            before,
            after,
        }) => format!(
            "{conf} needs at most {} reserved instead of {}, with {} driver calls instead of {}.",
            size_text(after.peak_reserved_bytes),
            size_text(before.peak_reserved_bytes),
            after.driver_calls,
            before.driver_calls,
        ),
        Advice::KeepsBest => {
            "None of the settings tried is clearly better than the recorded ones.".to_owned()
        }
    }
}

fn notes(table: &Table) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(closeness) = table.closeness {
        notes.push(closeness_note(&closeness));
    }
    notes.extend(card_notes(table));
    let start = table.start;
    if start.live_blocks > 0 {
        notes.push(format!(
            "{} in {} blocks was there before the first request; it stays as the recording had \
             arranged it, and other settings count from there on.",
            size_text(start.allocated_bytes),
            start.live_blocks,
        ));
    }
    if table.skipped > 0 {
        notes.push(format!(
            "{} events do not fit the state, so nothing was asked for them.",
            table.skipped
        ));
    }
    notes
}

fn closeness_note(closeness: &Closeness) -> String {
    let Closeness {
        recorded, replayed, ..
    } = closeness;
    match closeness.first_apart {
        None if recorded.peak_reserved_bytes == replayed.peak_reserved_bytes => {
            "Under its own settings the replay holds exactly what was recorded, at every request."
                .to_owned()
        }
        apart => format!(
            "Under its own settings the replay departs from the recording at event {}: peak \
             reserved {} instead of {}, {} driver calls instead of {}.",
            apart.map_or(0, |event| event.0),
            size_text(replayed.peak_reserved_bytes),
            size_text(recorded.peak_reserved_bytes),
            replayed.driver_calls,
            recorded.driver_calls,
        ),
    }
}

fn card_notes(table: &Table) -> Vec<String> {
    let mut notes = Vec::new();
    let row_card = table.rows.first().map_or(table.card, |row| row.card);
    let Card {
        capacity_bytes,
        others_bytes,
        ..
    } = row_card;
    match row_card.capacity_from {
        Knowledge::Chosen | Knowledge::Recorded => notes.push(format!(
            "The card has {}, of which others use {}.",
            size_text(capacity_bytes),
            size_text(others_bytes),
        )),
        Knowledge::Bounded => notes.push(bounded_note(table, "The card", capacity_bytes)),
        Knowledge::Nothing if row_card.limit_bytes.is_none() => notes.push(
            "The recording names no card and nothing in it was refused, so nothing is refused \
             here; --capacity sets a card."
                .to_owned(),
        ),
        Knowledge::Nothing => {}
    }
    match (row_card.limit_from, row_card.limit_bytes) {
        (Knowledge::Bounded, Some(bytes)) => {
            notes.push(bounded_note(table, "A memory limit", bytes));
        }
        (_, Some(bytes)) => notes.push(format!(
            "A memory fraction limited the program to {}.",
            size_text(bytes)
        )),
        _ => {}
    }
    notes
}

fn bounded_note(table: &Table, what: &str, assumed: u64) -> String {
    let refused = table.bounds.refused_bytes.map_or(String::new(), |bytes| {
        format!(" and refused {}", size_text(bytes))
    });
    format!(
        "{what} is not in the recording, but it served {}{refused}; {} is assumed.",
        size_text(table.bounds.fits_bytes),
        size_text(assumed),
    )
}
