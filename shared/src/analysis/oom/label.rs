//! The words beside a figure that say which one it is.

use serde::{Deserialize, Serialize};

use super::words::{Recent, Words};

/// The figures of a message, by what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The driver request that failed: the size of a segment, not of the tensor (§4.10).
    Tried,
    /// Memory of the card.
    Total,
    /// Free on the card, as the driver says.
    Free,
    /// Allocated by PyTorch (from 2.4 on with the free blocks of private pools, T14); on MPS what
    /// its allocator holds.
    Allocated,
    /// Allocated or waiting for another stream (NPU only).
    Active,
    /// Held from the driver, in total (1.4 to 2.0).
    ReservedTotal,
    /// Held and not allocated (from 2.1 on).
    ReservedUnallocated,
    /// Held and not allocated (to 1.3).
    Cached,
    /// All that this process has on the card, libraries and context included.
    ThisProcess,
    /// What a memory fraction, or MPS, allows.
    Allowed,
    /// Free blocks of private pools (T14).
    PrivatePools,
    /// Other allocations of the process (MPS only).
    Other,
}

impl Field {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 12] = [
        Self::Tried,
        Self::Total,
        Self::Free,
        Self::Allocated,
        Self::Active,
        Self::ReservedTotal,
        Self::ReservedUnallocated,
        Self::Cached,
        Self::ThisProcess,
        Self::Allowed,
        Self::PrivatePools,
        Self::Other,
    ];
}

/// What a figure was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Field(Field),
    /// What another process has in use, by its id.
    Process(u64),
}

/// Words before and after the figure. Labels decide, never the order of the figures: it changed
/// three times. The more particular ones come first.
const LABELS: [(&[&str], &[&str], Field); 18] = [
    (&["tried", "to", "allocate"], &[], Field::Tried),
    (&["total", "capacity", "of"], &[], Field::Total),
    // As PyTorch 2.1 to 2.3 spelled it.
    (&["total", "capacty", "of"], &[], Field::Total),
    (&["MPS", "allocated"], &[], Field::Allocated),
    (&["other", "allocations"], &[], Field::Other),
    (&["max", "allowed"], &[], Field::Allowed),
    (&["this", "process", "has"], &[], Field::ThisProcess),
    (&[], &["total", "capacity"], Field::Total),
    (&[], &["already", "allocated"], Field::Allocated),
    (&[], &["allocated", "in", "private"], Field::PrivatePools),
    (&[], &["is", "allocated"], Field::Allocated),
    (&[], &["is", "reserved"], Field::ReservedUnallocated),
    (&[], &["current", "active"], Field::Active),
    (&[], &["reserved", "in", "total"], Field::ReservedTotal),
    (&[], &["is", "free"], Field::Free),
    (&[], &["free"], Field::Free),
    (&[], &["cached"], Field::Cached),
    (&[], &["allowed"], Field::Allowed),
];

/// What the figure between these words is.
pub(super) fn label(before: &Recent<'_>, after: &Words<'_>) -> Option<Label> {
    let known = LABELS
        .iter()
        .find(|(words_before, words_after, _)| {
            before.ends_with(words_before) && after.starts_with(words_after)
        })
        .map(|&(_, _, field)| Label::Field(field));
    known.or_else(|| {
        let named = before.ends_with(&["has"]) && before.back(2).eq_ignore_ascii_case("process");
        let process = before.back(1).parse().ok()?;
        named.then_some(Label::Process(process))
    })
}
