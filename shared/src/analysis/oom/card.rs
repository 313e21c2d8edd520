//! The card as a bar, drawn from the figures.

use serde::{Deserialize, Serialize};

use super::flag::unaccounted_bytes;
use super::label::Field;
use super::message::{Device, Figures};

/// The parts of a card's memory, in the order in which a bar shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its memory; on MPS what is allowed.
    pub total_bytes: u64,
    /// What a memory fraction allows the allocator to reserve.
    pub limit_bytes: Option<u64>,
    /// What was asked for.
    pub tried_bytes: Option<u64>,
    /// Only parts that the figures give. They add up to the card, unless figures are impossible or
    /// missing.
    pub parts: Vec<Part>,
}

/// One part of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// How much; never 0.
    pub bytes: u64,
}

/// What a part of the card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// In live blocks.
    Allocated,
    /// Cached in private pools.
    PrivatePools,
    /// Reserved and not allocated, and not releasable either.
    Cached,
    /// This process, outside the allocator.
    Outside,
    /// Other processes that the message lists.
    OtherProcesses,
    /// In no figure.
    Unaccounted,
    /// Free, as the driver says.
    Free,
}

/// The bar, where the size of the card is known.
pub(super) fn card(figures: &Figures, device: Device) -> Option<Card> {
    let bytes = |field| figures.get(field).map_or(0, super::Figure::clamped_bytes);
    let mps = device == Device::Mps;
    let size = if mps { Field::Allowed } else { Field::Total };
    let total_bytes = figures.get(size)?.clamped_bytes();
    let mut parts = Vec::new();
    let mut push = |kind, bytes| {
        if bytes > 0 {
            parts.push(Part { kind, bytes });
        }
    };
    let private = bytes(Field::PrivatePools);
    let allocated = bytes(Field::Allocated);
    push(PartKind::Allocated, allocated.saturating_sub(private));
    push(PartKind::PrivatePools, private);
    if mps {
        let other = bytes(Field::Other);
        push(PartKind::Outside, other);
        let held = allocated.saturating_add(other);
        push(PartKind::Free, total_bytes.saturating_sub(held));
    } else {
        let gap = figures.gap().map_or(0, super::Figure::clamped_bytes);
        push(PartKind::Cached, gap);
        let outside = figures.this_process().zip(figures.reserved());
        push(
            PartKind::Outside,
            outside.map_or(0, |(this, reserved)| this.minus(reserved).clamped_bytes()),
        );
        let listed = figures.other_processes().fold(0_u64, |sum, process| {
            sum.saturating_add(process.in_use.clamped_bytes())
        });
        push(PartKind::OtherProcesses, listed);
        push(
            PartKind::Unaccounted,
            unaccounted_bytes(figures).unwrap_or(0),
        );
        push(PartKind::Free, bytes(Field::Free));
    }
    Some(Card {
        total_bytes,
        limit_bytes: figures
            .get(Field::Allowed)
            .filter(|_| !mps)
            .map(super::Figure::clamped_bytes),
        tried_bytes: figures.get(Field::Tried).map(super::Figure::clamped_bytes),
        parts,
    })
}
