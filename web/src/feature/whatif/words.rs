//! What came of it, in one sentence, and what that rests on.

use shared::query::WhatIfAnswer;
use shared::whatif::{Advice, Figures, Gain, Knowledge, Table};

use crate::text::{self, format};

/// What came of it.
pub(super) fn sentence(answer: &WhatIfAnswer) -> String {
    match &answer.advice {
        Some(advice) => advised(advice),
        None => compared(&answer.table),
    }
}

fn advised(advice: &Advice) -> String {
    match advice {
        Advice::Saves(Gain { conf, after, .. }) => {
            text::whatif_saves(conf.as_str(), format::size(after.peak_reserved_bytes))
        }
        Advice::Delays(Gain {
            conf,
            before,
            after,
        }) => {
            let event = |figures: &Figures| figures.first_oom_event.map_or(0, |event| event.0);
            text::whatif_delays(event(after), conf.as_str(), event(before))
        }
        Advice::Lowers(Gain {
            conf,
            before,
            after,
        }) => text::whatif_lowers(
            format::size(after.peak_reserved_bytes),
            format::size(before.peak_reserved_bytes),
            conf.as_str(),
        ),
        Advice::KeepsBest => text::whatif_keeps(),
    }
}

/// The first variant against the recorded circumstances.
fn compared(table: &Table) -> String {
    let own = table.closeness.map(|closeness| closeness.replayed);
    let other = table.rows.first().and_then(|row| row.outcome.as_ref().ok());
    let (Some(own), Some(other)) = (own, other) else {
        return text::whatif_no_start();
    };
    if let Some(event) = other.first_oom_event.filter(|_| own.ooms < other.ooms) {
        return text::whatif_fails(other.ooms, event.0);
    }
    let (before, after) = (own.peak_reserved_bytes, other.peak_reserved_bytes);
    let difference = format::size(before.abs_diff(after));
    let after_text = format::size(after);
    match after.cmp(&before) {
        _ if own.ooms > 0 && other.ooms == 0 => text::whatif_saved(after_text),
        std::cmp::Ordering::Less => text::whatif_less(after_text, difference),
        std::cmp::Ordering::Greater => text::whatif_more(after_text, difference),
        std::cmp::Ordering::Equal => text::whatif_same(after_text),
    }
}

/// What it rests on.
pub(super) fn notes(answer: &WhatIfAnswer) -> Vec<String> {
    let table = &answer.table;
    let mut notes = Vec::new();
    if let Some(closeness) = table.closeness {
        notes.push(match closeness.first_apart {
            None => text::whatif_close(),
            Some(event) => text::whatif_apart(
                event.0,
                format::size(closeness.recorded.peak_reserved_bytes),
                format::size(closeness.replayed.peak_reserved_bytes),
            ),
        });
    }
    let card = table.card;
    let bounded = [card.capacity_from, card.limit_from].contains(&Knowledge::Bounded);
    if let Some(refused) = table.bounds.refused_bytes.filter(|_| bounded) {
        let served = format::size(table.bounds.fits_bytes);
        notes.push(text::whatif_bounded(format::size(refused), served));
    }
    let unknown = card.capacity_from == Knowledge::Nothing && card.limit_bytes.is_none();
    if unknown {
        notes.push(text::whatif_unlimited());
    }
    if table.start.live_blocks > 0 {
        let size = format::size(table.start.allocated_bytes);
        notes.push(text::whatif_start(size));
    }
    notes.push(text::whatif_exact());
    notes
}
