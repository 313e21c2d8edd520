use serde::{Deserialize, Serialize};

/// What an event says happened (§12.1), by the names that recordings use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Action {
    /// A block was handed out. `size_bytes` is what was asked for, before rounding.
    Alloc = 0,
    /// The program gave a block back; it may still wait for streams. Size as asked for.
    FreeRequested = 1,
    /// The block went back to its pool. Size as asked for.
    FreeCompleted = 2,
    /// The driver gave a segment. Real size.
    SegmentAlloc = 3,
    /// A segment went back to the driver. Real size.
    SegmentFree = 4,
    /// Pages were mapped into an expandable segment. Real size, a multiple of the page.
    SegmentMap = 5,
    /// Pages were unmapped from an expandable segment. Real size, a multiple of the page.
    SegmentUnmap = 6,
    /// Somebody took a snapshot. Size: active bytes then; changes nothing.
    Snapshot = 7,
    /// A request failed. Size: the rounded request; `address` holds the free bytes that the
    /// driver reported.
    Oom = 8,
    /// A note of the program's among the events (newer than 2.11); changes nothing.
    Annotate = 9,
    /// Any other name. Kept and counted, changes nothing.
    Unknown = 10,
}

impl Action {
    /// All actions, in the order of their numbers.
    pub const ALL: [Action; 11] = [
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
        Action::SegmentAlloc,
        Action::SegmentFree,
        Action::SegmentMap,
        Action::SegmentUnmap,
        Action::Snapshot,
        Action::Oom,
        Action::Annotate,
        Action::Unknown,
    ];

    /// The name in recordings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Action::Alloc => "alloc",
            Action::FreeRequested => "free_requested",
            Action::FreeCompleted => "free_completed",
            Action::SegmentAlloc => "segment_alloc",
            Action::SegmentFree => "segment_free",
            Action::SegmentMap => "segment_map",
            Action::SegmentUnmap => "segment_unmap",
            Action::Snapshot => "snapshot",
            Action::Oom => "oom",
            Action::Annotate => "annotate",
            Action::Unknown => "unknown",
        }
    }

    /// The action of that name; [`Action::Unknown`] for names that no version of PyTorch that we
    /// know writes.
    #[must_use]
    pub fn from_name(name: &str) -> Action {
        match name {
            "user_defined" => Action::Annotate,
            _ => Self::ALL
                .into_iter()
                .find(|action| action.name() == name)
                .unwrap_or(Action::Unknown),
        }
    }

    /// The action of that number, as [`Action::ALL`] counts.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Action> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Whether a segment or a range of pages came from the driver or went back to it.
    #[must_use]
    pub fn is_driver_call(self) -> bool {
        matches!(
            self,
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap
        )
    }
}
