//! What the figures show beside the case.

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::label::Field;
use super::message::Figures;
use crate::units::GIB;

/// Outside the allocator a process has its context and libraries; more than this is worth a word.
const OUTSIDE_BYTES: u64 = GIB;

/// Computed from the figures alone; a figure within rounding of the border raises no flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "flag", rename_all = "snake_case")]
pub enum Flag {
    /// More was asked than the card has: it can never fit.
    RequestAboveCard,
    /// Refused although free looked enough: another limit, or a figure that has gone stale.
    FreeEnough,
    /// The allocator held more unused memory than was asked.
    CachedEnough,
    /// Only free and cached together would be enough.
    FreeAndCachedEnough,
    /// A memory fraction bites before the card does.
    Limit,
    /// Memory of the card that is in no figure: other programs, other users of the card.
    Unaccounted {
        /// How much.
        bytes: u64,
    },
    /// The process holds this much outside the allocator: context, libraries, communication.
    OutsideAllocator {
        /// How much.
        bytes: u64,
    },
    /// Another process holds more than half of the card.
    OtherProcessHoldsCard,
    /// Impossible: more free than the card has.
    FreeAboveTotal,
    /// More allocated or reserved than the card has: memory of the system is used in its place.
    AllocatedAboveTotal,
    /// Impossible: the process has more than the card; an underflow of the driver's figure.
    ThisProcessAboveTotal,
    /// More allocated than is allowed: the limit was set afterwards.
    AllocatedAboveAllowed,
}

impl Flag {
    /// The stable word, as `docs/explain.md` lists it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::RequestAboveCard => "request>card",
            Self::FreeEnough => "free>=request",
            Self::CachedEnough => "cached>=request",
            Self::FreeAndCachedEnough => "free+cached>=request",
            Self::Limit => "limit",
            Self::Unaccounted { .. } => "unaccounted",
            Self::OutsideAllocator { .. } => "outside_allocator",
            Self::OtherProcessHoldsCard => "other_process",
            Self::FreeAboveTotal => "free>total",
            Self::AllocatedAboveTotal => "allocated>total",
            Self::ThisProcessAboveTotal => "this>total",
            Self::AllocatedAboveAllowed => "allocated>allowed",
        }
    }

    /// Whether it says that a figure cannot be true as it stands.
    #[must_use]
    pub fn is_impossible(self) -> bool {
        matches!(
            self,
            Self::FreeAboveTotal | Self::AllocatedAboveTotal | Self::ThisProcessAboveTotal
        )
    }
}

pub(super) fn flags(figures: &Figures) -> Vec<Flag> {
    let mut flags = impossible(figures);
    let get = |field| figures.get(field);
    let tried = get(Field::Tried);
    if above(tried, get(Field::Total)) {
        flags.push(Flag::RequestAboveCard);
    }
    let limited = is_limited(figures);
    if limited {
        flags.push(Flag::Limit);
    }
    // Free memory of the card says nothing where a fraction stands before it.
    let room = get(Field::Free).filter(|_| get(Field::Allowed).is_none());
    let (gap, both) = (
        figures.gap(),
        room.zip(figures.gap()).map(|(room, gap)| room.plus(gap)),
    );
    let free_enough = reaches(room, tried);
    let cached_enough = reaches(gap, tried);
    if free_enough {
        flags.push(Flag::FreeEnough);
    }
    if cached_enough {
        flags.push(Flag::CachedEnough);
    }
    if !free_enough && !cached_enough && reaches(both, tried) {
        flags.push(Flag::FreeAndCachedEnough);
    }
    flags.extend(elsewhere(figures));
    flags
}

fn impossible(figures: &Figures) -> Vec<Flag> {
    let get = |field| figures.get(field);
    let total = get(Field::Total);
    let mut flags = Vec::new();
    if above(get(Field::Free), total) {
        flags.push(Flag::FreeAboveTotal);
    }
    if above(get(Field::Allocated), total) || above(figures.reserved(), total) {
        flags.push(Flag::AllocatedAboveTotal);
    }
    if above(get(Field::ThisProcess), total) {
        flags.push(Flag::ThisProcessAboveTotal);
    }
    if above(get(Field::Allocated), get(Field::Allowed)) {
        flags.push(Flag::AllocatedAboveAllowed);
    }
    flags
}

/// Whether a fraction leaves less than the card has free.
pub(super) fn is_limited(figures: &Figures) -> bool {
    let left = figures
        .get(Field::Allowed)
        .zip(figures.reserved())
        .map(|(allowed, reserved)| allowed.minus(reserved));
    above(figures.get(Field::Free), left)
}

/// Memory that is not the allocator's.
fn elsewhere(figures: &Figures) -> Vec<Flag> {
    let mut flags = Vec::new();
    let Some(total) = figures.get(Field::Total) else {
        return flags;
    };
    if let Some(bytes) = unaccounted_bytes(figures)
        && bytes > total.clamped_bytes() / 4
    {
        flags.push(Flag::Unaccounted { bytes });
    }
    // Not of a process that only seems to be this one.
    if figures.get(Field::ThisProcess).is_some()
        && let (Some(this), Some(reserved)) = (figures.this_process(), figures.reserved())
    {
        let bytes = this.minus(reserved).clamped_bytes();
        if bytes > OUTSIDE_BYTES {
            flags.push(Flag::OutsideAllocator { bytes });
        }
    }
    let half = total.clamped_bytes() / 2;
    // Which of the listed ones is this process must be known.
    if figures.this_process().is_some()
        && figures
            .other_processes()
            .any(|process| process.in_use.clamped_bytes() > half)
    {
        flags.push(Flag::OtherProcessHoldsCard);
    }
    flags
}

/// What of the card is in no figure: neither free, nor this process's, nor a listed one's.
pub(super) fn unaccounted_bytes(figures: &Figures) -> Option<u64> {
    let mut left = figures
        .get(Field::Total)?
        .minus(figures.get(Field::Free)?)
        .minus(figures.this_process().or_else(|| figures.reserved())?);
    for process in figures.other_processes() {
        left = left.minus(process.in_use);
    }
    Some(left.clamped_bytes())
}

fn above(left: Option<Figure>, right: Option<Figure>) -> bool {
    left.zip(right)
        .is_some_and(|(left, right)| left.exceeds(right) == Some(true))
}

fn reaches(room: Option<Figure>, tried: Option<Figure>) -> bool {
    room.zip(tried)
        .is_some_and(|(room, tried)| tried.exceeds(room) == Some(false))
}
