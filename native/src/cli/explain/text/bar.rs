//! The card as a bar of characters.

use std::fmt::Write as _;

use shared::analysis::oom::{Card, PartKind};
use shared::units::size_text;

const WIDTH: usize = 64;

/// The bar, what its characters mean, and what was asked for at the same scale.
pub(super) fn bar(card: &Card) -> String {
    let sum = card
        .parts
        .iter()
        .fold(0_u64, |sum, part| sum.saturating_add(part.bytes));
    let scale = sum.max(card.total_bytes).max(1);
    let mut bar = String::new();
    let (mut before, mut filled) = (0_u64, 0);
    for (index, part) in card.parts.iter().enumerate() {
        before = before.saturating_add(part.bytes);
        // A part that is there is seen, if only as one character; so are those behind it.
        let behind = card.parts.len() - index - 1;
        let end = column(before, scale).max(filled + 1).min(WIDTH - behind);
        bar.extend(std::iter::repeat_n(look(part.kind).0, end - filled));
        filled = end;
    }
    let mut text = format!("  |{bar:<WIDTH$}|\n");
    // Writing to a string does not fail.
    if let Some(limit) = card.limit_bytes {
        let at = column(limit, scale);
        let _ = writeln!(text, "  {:>1$} allowed {2}", "^", at + 1, size_text(limit));
    }
    if let Some(tried) = card.tried_bytes {
        let width = column(tried, scale).clamp(1, WIDTH);
        let more = if tried > scale { ">" } else { "" };
        let asked = "=".repeat(width);
        let _ = writeln!(text, "   {asked}{more} asked {}", size_text(tried));
    }
    for part in &card.parts {
        let (character, name) = look(part.kind);
        let _ = writeln!(text, "   {character} {name:<31} {}", size_text(part.bytes));
    }
    text
}

/// Where on the bar so many bytes end.
fn column(bytes: u64, scale: u64) -> usize {
    let column = u128::from(bytes) * WIDTH as u128 / u128::from(scale);
    usize::try_from(column).unwrap_or(WIDTH).min(WIDTH)
}

fn look(kind: PartKind) -> (char, &'static str) {
    match kind {
        PartKind::Allocated => ('#', "allocated by PyTorch"),
        PartKind::PrivatePools => ('p', "cached in private pools"),
        PartKind::Cached => ('c', "reserved but unallocated"),
        PartKind::Outside => ('o', "this process, outside PyTorch"),
        PartKind::OtherProcesses => ('x', "other processes"),
        PartKind::Unaccounted => ('?', "in no figure"),
        PartKind::Free => ('.', "free"),
    }
}
