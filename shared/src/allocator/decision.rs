//! Why an operation did what it did, as data. No prose: page, command line and lessons word it.

use serde::{Deserialize, Serialize};

use super::{
    Stream,
    driver::DriverCall,
    trace::{Sink, TraceEvent},
};
use crate::{
    ids::{PoolId, PoolKind},
    model::Action,
};

/// An operation explained: its steps in the order they were taken, events among them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What was looked at and done.
    pub steps: Vec<Step>,
}

impl Decision {
    /// The events among the steps, as the trace records them.
    pub fn events(&self) -> impl Iterator<Item = &TraceEvent> {
        self.steps.iter().filter_map(|step| match step {
            Step::Event(event) => Some(event),
            _ => None,
        })
    }
}

impl Sink for Decision {
    const EXPLAINS: bool = true;

    fn event(&mut self, event: TraceEvent) {
        self.steps.push(Step::Event(event));
    }

    fn step(&mut self, step: Step) {
        self.steps.push(step);
    }
}

/// A block as it was when a step looked at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSpot {
    /// Address of its first byte.
    pub address: u64,
    /// Bytes it occupies.
    pub size_bytes: u64,
    /// Bytes asked for by its user, of a free block by its last one.
    pub requested_bytes: u64,
    /// Stream it belongs to.
    pub stream: Stream,
}

/// One step of an operation. The section of the specification that each follows stands beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// The size was rounded and the pool chosen (§2, §3.4).
    Asked {
        /// Bytes asked for.
        requested_bytes: u64,
        /// Bytes of the block needed.
        rounded_bytes: u64,
        /// Bytes that the driver would be asked for.
        segment_bytes: u64,
        /// Pool that serves the request.
        pool: PoolId,
        /// Its small or its large half.
        kind: PoolKind,
        /// Stream of the request.
        stream: Stream,
        /// Whether expandable segments serve it (§4.1(d)).
        expandable: bool,
    },
    /// An event of the trace was written.
    Event(TraceEvent),
    /// A free block was looked at and not taken.
    PassedOver {
        /// The block.
        block: BlockSpot,
        /// Why not.
        why: PassedOver,
    },
    /// This free block was taken: the smallest that fits, of equal ones the lowest (§4.3, §4.4).
    Taken {
        /// The block before it was split.
        block: BlockSpot,
    },
    /// The search ended without a block.
    NothingFits,
    /// The block was split or kept whole (§5.1).
    Split {
        /// The rule that decided.
        rule: SplitRule,
        /// Whether it was split.
        split: bool,
        /// Bytes handed out.
        front_bytes: u64,
        /// Bytes beyond the rounded request: the new free block, or slack of the whole one.
        rest_bytes: u64,
    },
    /// A block freed earlier waits for a stream still (§9.3).
    StillWaiting {
        /// The block.
        block: BlockSpot,
        /// Stream that uses it.
        stream: Stream,
    },
    /// A free is put off until no capture is under way (§9.5), or until streams are done (§9.2).
    Deferred {
        /// The block.
        block: BlockSpot,
        /// Streams that used it beside its own.
        streams: Vec<Stream>,
        /// Whether a capture, not a stream, is what it waits for.
        capture: bool,
    },
    /// A freed block was joined with a free neighbour (§6.3).
    Merged {
        /// The neighbour before it was joined.
        neighbour: BlockSpot,
        /// Which one.
        side: Side,
        /// Bytes of the joined block.
        size_bytes: u64,
    },
    /// A freed block could not be joined with its neighbour (§6.3).
    KeptApart {
        /// The neighbour.
        neighbour: BlockSpot,
        /// Which one.
        side: Side,
        /// Why not.
        why: KeptApart,
    },
    /// Garbage collection looked for old blocks (§4.5).
    Collect {
        /// Bytes above which it starts.
        threshold_bytes: u64,
        /// Bytes held.
        held_bytes: u64,
        /// Bytes it wants back; 0 when there is nothing to do.
        target_bytes: u64,
    },
    /// One pass of garbage collection released the blocks of at least this age (§4.5(c)).
    CollectPass {
        /// Mean age of the blocks it may release, in searches.
        age: f64,
        /// Bytes released by this pass.
        released_bytes: u64,
    },
    /// The memory limit forbids the driver call (§4.6(b)).
    OverLimit {
        /// Bytes held.
        held_bytes: u64,
        /// Bytes that would have been asked for.
        segment_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The driver was called.
    Driver {
        /// What for.
        call: DriverCall,
        /// Whether it succeeded.
        succeeded: bool,
        /// Nanoseconds by the cost model, where it has a figure.
        cost_ns: Option<f64>,
    },
    /// A marked pool serves requests that would fail otherwise (§4.7).
    OtherPool {
        /// That pool.
        pool: PoolId,
    },
    /// Cached oversize blocks are released for the sake of this request (§4.9).
    ReleaseOversize {
        /// Bytes needed.
        needed_bytes: u64,
        /// Bytes released.
        released_bytes: u64,
    },
    /// A flush begins: everything cached goes back that can (§7.3).
    Flush {
        /// The default pool for everything, else one private pool.
        pool: PoolId,
        /// Whether the program asked for it or an allocation failed.
        cause: FlushCause,
    },
    /// A segment or some of its pages went back to the driver (§7.2, §8.4).
    Released {
        /// The free block before.
        block: BlockSpot,
        /// Bytes given back; of an expandable block only whole free pages.
        released_bytes: u64,
    },
    /// Free memory that a flush could not give back, since live blocks share its segment or
    /// page (§7.4).
    Pinned {
        /// The free block.
        block: BlockSpot,
        /// The nearest block that is in use, before or after it; `None` where it only fails to
        /// fill a page.
        by: Option<BlockSpot>,
    },
    /// A private pool in use keeps all its free memory (§7.3, T29).
    KeptByPool {
        /// The pool.
        pool: PoolId,
        /// Its free bytes.
        free_bytes: u64,
        /// How many use it.
        uses: u64,
    },
    /// The request failed (§4.10).
    OutOfMemory {
        /// Bytes the driver was asked for last.
        segment_bytes: u64,
        /// Bytes held.
        held_bytes: u64,
        /// Bytes handed out.
        allocated_bytes: u64,
    },
}

impl Step {
    /// The event's action, if the step is one.
    #[must_use]
    pub fn action(&self) -> Option<Action> {
        match self {
            Step::Event(event) => Some(event.action),
            _ => None,
        }
    }
}

/// Why a free block was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PassedOver {
    /// Smaller than the rounded request; the largest of them is shown (§4.3(b)).
    TooSmall {
        /// How many of this stream are too small.
        count: u64,
    },
    /// It would fit but belongs to another stream; its best fit is shown (§4.4).
    OtherStream,
    /// It ends at unmapped pages and the next block has less room to grow (§4.3(c)).
    FartherReach {
        /// Bytes it could grow to.
        reach_bytes: u64,
    },
    /// An expandable block, and expandable segments are off (§4.3(c)).
    Expandable,
    /// An oversize block, and the request is not (§4.3(d)).
    Oversize {
        /// The split limit.
        max_split_bytes: u64,
    },
    /// An oversize request, and the block is too much larger (§4.3(d)).
    TooLarge {
        /// How much larger it may be.
        max_non_split_rounding_bytes: u64,
    },
}

/// Which rule decided about a split (§5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SplitRule {
    /// (a): a pool that never splits.
    NoSplitPool,
    /// (b): small pool: 512 bytes must remain.
    SmallPool,
    /// (b): expandable segments are on: 512 bytes must remain.
    Expandable,
    /// (c): large pool: more than 1 MiB must remain.
    LargePool,
    /// (c): requests of the split limit and more take the whole block.
    AboveSplitLimit,
}

impl SplitRule {
    /// The section of the specification.
    #[must_use]
    pub fn section(self) -> &'static str {
        match self {
            SplitRule::NoSplitPool => "§5.1(a)",
            SplitRule::SmallPool | SplitRule::Expandable => "§5.1(b)",
            SplitRule::LargePool | SplitRule::AboveSplitLimit => "§5.1(c)",
        }
    }
}

/// A neighbour's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// At lower addresses.
    Prev,
    /// At higher addresses.
    Next,
}

/// Why two neighbours stay two blocks (§6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeptApart {
    /// The neighbour is in use.
    Allocated,
    /// The neighbour is freed and waits for streams (T12).
    PendingFree,
    /// One of them has no memory behind it.
    Unmapped,
}

/// What brought a flush about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlushCause {
    /// `empty_cache()`.
    EmptyCache,
    /// An allocation failed and is tried again afterwards (§4.8).
    Retry,
    /// A pool object was dropped (§3.5).
    PoolDropped,
}
