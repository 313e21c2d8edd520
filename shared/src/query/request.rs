use serde::{Deserialize, Serialize};

use crate::ids::{DeviceIndex, EventIndex, LifeId};
use crate::query::WhatIfQuestion;

/// What the horizontal axis counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Axis {
    /// Events, from 0.
    #[default]
    Events,
    /// Microseconds since the Unix epoch.
    Time,
}

/// The curves that can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Series {
    /// Bytes of allocated blocks.
    Allocated,
    /// Bytes asked for by blocks that are allocated or pending.
    Requested,
    /// Bytes of blocks that are allocated or pending.
    Active,
    /// Bytes held from the driver.
    Reserved,
    /// Reserved − active.
    Cached,
    /// Active − allocated: freed, but a stream may still use it.
    Pending,
}

impl Series {
    /// All, in the order in which [`crate::query::Curves`] lists them.
    pub const ALL: [Series; 6] = [
        Series::Allocated,
        Series::Requested,
        Series::Active,
        Series::Reserved,
        Series::Cached,
        Series::Pending,
    ];
}

/// What to jump to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum JumpKind {
    /// A segment or pages came from the driver or went back.
    #[default]
    Segment,
    /// The first event of an `empty_cache()`, recorded or inferred.
    EmptyCache,
    /// A request failed.
    Oom,
    /// A mark of ours or the start of an annotated region.
    Mark,
    /// A new highest value of allocated bytes over the whole record: there is one, the first.
    Peak,
}

/// A question of a view about one recording.
///
/// `at` is an event index and means the state *after* that event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Query {
    /// What the recording holds. Answer: [`Reply::Overview`](crate::query::Reply::Overview).
    Overview,
    /// Curves and lanes over a range of the axis, one value a pixel column.
    /// Answer: [`Reply::Curves`](crate::query::Reply::Curves).
    Curves {
        /// Which device.
        device: DeviceIndex,
        /// Unit of `from` and `to`.
        axis: Axis,
        /// First position, included.
        from: i64,
        /// Last position, excluded.
        to: i64,
        /// Pixel columns to fill, 1 to 16,384.
        columns: u32,
    },
    /// Segments and blocks. Answer: [`Reply::Map`](crate::query::Reply::Map).
    Map {
        /// Which device.
        device: DeviceIndex,
        /// State after this event.
        at: EventIndex,
        /// Neighbouring blocks smaller than this come as one [`BlockView`](super::BlockView)
        /// that counts them; 0 for every block.
        finest_bytes: u64,
    },
    /// What an event did. Answer: [`Reply::Step`](crate::query::Reply::Step).
    Step {
        /// Which device.
        device: DeviceIndex,
        /// The event.
        at: EventIndex,
    },
    /// The cached blocks among which the event at `at` chose, in the allocator's search order,
    /// as they were *before* it; for other events those of the pool and stream it touched.
    /// Answer: [`Reply::FreeList`](crate::query::Reply::FreeList).
    FreeList {
        /// Which device.
        device: DeviceIndex,
        /// The event.
        at: EventIndex,
        /// Rows to return at most, around the chosen block.
        rows: u32,
    },
    /// The nearest event of a kind. Answer: [`Reply::Jump`](crate::query::Reply::Jump).
    Jump {
        /// Which device.
        device: DeviceIndex,
        /// Where to start; not itself a candidate.
        from: EventIndex,
        /// What to look for.
        kind: JumpKind,
        /// Towards the end, or back.
        forward: bool,
    },
    /// What lies at an address. Answer: [`Reply::Block`](crate::query::Reply::Block).
    BlockAt {
        /// Which device.
        device: DeviceIndex,
        /// State after this event.
        at: EventIndex,
        /// Any address inside the block.
        address: u64,
    },
    /// One life of a block, with its stacks. Answer: [`Reply::Life`](crate::query::Reply::Life).
    Life {
        /// Which device.
        device: DeviceIndex,
        /// Which life.
        life: LifeId,
    },
    /// Events as rows. Answer: [`Reply::Rows`](crate::query::Reply::Rows).
    Rows {
        /// Which device.
        device: DeviceIndex,
        /// First row.
        first: EventIndex,
        /// Rows to return at most.
        count: u32,
    },
    /// Annotated regions that touch a range. Answer:
    /// [`Reply::Annotations`](crate::query::Reply::Annotations).
    Annotations {
        /// Which device.
        device: DeviceIndex,
        /// Unit of `from` and `to`.
        axis: Axis,
        /// First position, included.
        from: i64,
        /// Last position, excluded.
        to: i64,
        /// Spans to return at most, the longest first.
        most: u32,
    },
    /// Whether the allocator agrees with the record, event by event. Takes up to half a second
    /// for a million events the first time.
    /// Answer: [`Reply::Agreement`](crate::query::Reply::Agreement).
    Agreement {
        /// Which device.
        device: DeviceIndex,
    },
    /// Why the operation that an event belongs to did what it did.
    /// Answer: [`Reply::Why`](crate::query::Reply::Why).
    Why {
        /// Which device.
        device: DeviceIndex,
        /// The event.
        at: EventIndex,
    },
    /// The requests run again under other circumstances. Answered in slices: the same question
    /// goes on where it stopped, another one gives it up.
    /// Answer: [`Reply::WhatIf`](crate::query::Reply::WhatIf).
    WhatIf {
        /// Which device.
        device: DeviceIndex,
        /// What to run.
        question: WhatIfQuestion,
        /// Pixel columns of the curves.
        columns: u32,
        /// Requests to run in this slice, about.
        most: u32,
    },
}
