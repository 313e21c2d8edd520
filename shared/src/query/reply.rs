use serde::{Deserialize, Serialize};

use crate::ids::{DeviceIndex, EventIndex, LifeId, PoolId, PoolKind, StreamId};
use crate::model::{Action, BlockState, Environment};
use crate::query::WhatIfView;
use crate::replay::{FlushKind, Sums};
use crate::verify::{DeviceAgreement, Why};
use crate::warning::Warning;

/// The answer to a [`Query`](crate::query::Query).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// What the recording holds.
    Overview(Box<Overview>),
    /// Curves and lanes.
    Curves(Curves),
    /// Segments and blocks.
    Map(MemoryMap),
    /// What an event did.
    Step(Box<Step>),
    /// Cached blocks in search order.
    FreeList(FreeList),
    /// The event found, if any.
    Jump(Option<EventIndex>),
    /// What lies at an address; `None` where no segment does.
    Block(Option<Box<BlockDetails>>),
    /// One life of a block.
    Life(Option<Box<LifeView>>),
    /// Events as rows.
    Rows(Rows),
    /// Annotated regions.
    Annotations(Annotations),
    /// Whether the allocator agrees with the record.
    Agreement(Box<DeviceAgreement>),
    /// Why an operation did what it did; `None` where there is nothing to explain.
    Why(Option<Box<Why>>),
    /// What the requests come to under other circumstances, or how far that is.
    WhatIf(Box<WhatIfView>),
    /// The question names a device or an event that is not there.
    OutOfRange,
}

/// What a recording holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// What it was made with.
    pub environment: Environment,
    /// Its devices, in the order of their index.
    pub devices: Vec<DeviceOverview>,
    /// What was met while reading and replaying.
    pub warnings: Vec<Warning>,
    /// How many annotations it holds (starts and ends).
    pub annotations: u64,
    /// JSON object that came with it, or empty.
    pub extra_json: String,
    /// Bytes of memory that the engine holds for it.
    pub memory_bytes: u64,
}

/// What the record of one device holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceOverview {
    /// Which device.
    pub device: DeviceIndex,
    /// How many events.
    pub events: u32,
    /// How many of each action, in the order of [`Action::ALL`].
    pub actions: Vec<u32>,
    /// Segments of the final snapshot.
    pub segments: u32,
    /// Blocks of the final snapshot.
    pub blocks: u32,
    /// Sums of the start state.
    pub start: Sums,
    /// Sums of the final state.
    pub end: Sums,
    /// The highest value of each sum, each at its own moment.
    pub peak: Sums,
    /// First event at which allocated bytes are highest.
    pub peak_allocated_at: Option<EventIndex>,
    /// Blocks that were alive before the record began.
    pub alive_before_blocks: u64,
    /// Their bytes.
    pub alive_before_bytes: u64,
    /// Time of the first event that has one, in microseconds.
    pub first_time_us: Option<i64>,
    /// Time of the last event that has one, in microseconds.
    pub last_time_us: Option<i64>,
    /// Size of the largest segment at any moment.
    pub largest_segment_bytes: u64,
    /// The largest number of segments at any moment.
    pub most_segments: u32,
    /// Inferred and recorded calls of `empty_cache()` that returned something.
    pub empty_caches: Vec<EventIndex>,
    /// Requests that failed.
    pub ooms: Vec<EventIndex>,
    /// Our own marks with the last event that is not later.
    pub marks: Vec<MarkView>,
    /// Its streams that own memory or events.
    pub streams: Vec<StreamView>,
}

/// A stream as people know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamView {
    /// Its number in this recording.
    pub stream: StreamId,
    /// Its raw handle; 0 is the default stream.
    pub handle: u64,
}

/// A mark, placed among the events of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkView {
    /// What it says.
    pub label: String,
    /// Last event that is not later; `None` before the first event.
    pub at: Option<EventIndex>,
    /// Microseconds since the Unix epoch.
    pub time_us: i64,
    /// Bytes in use on the whole card as the driver saw it.
    pub driver_used_bytes: Option<u64>,
}

/// Curves over a range: for each pixel column the true extremes of what happened in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// In the order of [`Series::ALL`](crate::query::Series::ALL).
    pub series: Vec<CurveSeries>,
    /// Segments or pages that came from the driver, by column.
    pub segment_allocs: Vec<u32>,
    /// Segments or pages that went back, by column.
    pub segment_frees: Vec<u32>,
    /// Calls of `empty_cache()` that returned something, by column.
    pub empty_caches: Vec<u32>,
    /// Requests that failed, by column.
    pub ooms: Vec<u32>,
    /// First event of each column; one more than there are columns.
    pub first_events: Vec<u32>,
}

/// One curve, one value a pixel column, in bytes. A column in which nothing happened repeats the
/// value before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CurveSeries {
    /// Lowest value in the column.
    pub min: Vec<u64>,
    /// Highest value in the column.
    pub max: Vec<u64>,
    /// Value at the end of the column.
    pub last: Vec<u64>,
}

/// Segments and blocks at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryMap {
    /// Segments in the order of their addresses; an expandable one comes as its mapped runs.
    pub segments: Vec<SegmentView>,
    /// What it comes to.
    pub summary: MapSummary,
}

/// What a memory map comes to, in bytes where not said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapSummary {
    /// The sums.
    pub sums: Sums,
    /// How many blocks there are, cached ones included.
    pub blocks: u32,
    /// What `empty_cache()` would return to the driver now.
    pub releasable: u64,
    /// Cached, but in a segment (or page) that a live block holds.
    pub pinned: u64,
    /// Cached in private pools, which `empty_cache()` leaves alone while they are in use (§7.3).
    pub private: u64,
    /// Rounding: size of live blocks beyond what was asked, up to the rounded size.
    pub rounding: u64,
    /// Unsplit slack: size of live blocks beyond the rounded size.
    pub slack: u64,
}

/// One segment, or one run of mapped pages of an expandable segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentView {
    /// Address of its first byte.
    pub address: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Small or large pool.
    pub kind: PoolKind,
    /// Its pool.
    pub pool: PoolId,
    /// Whether the recording (or an unambiguous rule) names the pool.
    pub pool_known: bool,
    /// Its stream.
    pub stream: StreamId,
    /// Whether it is a run of pages of an expandable segment.
    pub expandable: bool,
    /// The event that brought it; `None` when it was there before the record began.
    pub born: Option<EventIndex>,
    /// Its blocks in the order of their addresses.
    pub blocks: Vec<BlockView>,
}

/// One block, or a run of blocks too small to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockView {
    /// Where it begins, in bytes from the start of its segment.
    pub offset_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Its state; of a run, the state that most of its bytes have.
    pub state: BlockState,
    /// What was asked for; equals the size of a cached block.
    pub requested_bytes: u64,
    /// What the request was rounded to; equals the size of a cached block.
    pub rounded_bytes: u64,
    /// Its life, when it is a single live block.
    pub life: Option<LifeId>,
    /// Whether it was alive before the record began.
    pub before: bool,
    /// Of a cached block: whether a live block in the same segment (or page) keeps all of it from
    /// being returned.
    pub pinned: bool,
    /// How many blocks this stands for: 1, or more for a run.
    pub count: u32,
    /// Of a run: bytes of it that are allocated or pending.
    pub active_bytes: u64,
}

/// What an event did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The event.
    pub at: EventIndex,
    /// What happened.
    pub action: Action,
    /// Address, or the driver's free bytes for an OOM.
    pub address: u64,
    /// Size as recorded.
    pub size_bytes: u64,
    /// Microseconds since the Unix epoch.
    pub time_us: Option<i64>,
    /// Stream.
    pub stream: StreamView,
    /// Pool of the segment it lies in, where known.
    pub pool: Option<PoolId>,
    /// Small or large pool, where known.
    pub kind: Option<PoolKind>,
    /// Sums before.
    pub before: Sums,
    /// Sums after.
    pub after: Sums,
    /// What it did.
    pub effect: Effect,
    /// The block whose life it belongs to.
    pub life: Option<LifeId>,
    /// Compiled region, user metadata and category, where recorded.
    pub notes: Vec<String>,
    /// Who asked, innermost frame first.
    pub frames: Vec<FrameView>,
}

/// What an event did to the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// A block was handed out.
    Allocated {
        /// Bytes asked for.
        requested_bytes: u64,
        /// Bytes after rounding.
        rounded_bytes: u64,
        /// Bytes of the block handed out.
        given_bytes: u64,
        /// Bytes of the cached block it was taken from.
        hole_bytes: u64,
        /// Whether that block was split; the rest stays cached.
        split: bool,
        /// Whether a whole segment was handed out again or for the first time.
        whole_segment: bool,
        /// Whether its segment (or pages) came from the driver for this request.
        from_driver: bool,
    },
    /// The program gave a block back.
    FreeRequested {
        /// Bytes of the block.
        given_bytes: u64,
        /// Bytes that had been asked for.
        requested_bytes: u64,
        /// How many events the block has to wait for its streams; 0 when the free completes at
        /// once; `None` when it never completes in this record.
        waits_events: Option<u32>,
    },
    /// The block went back to its pool.
    FreeCompleted {
        /// Bytes of the block.
        given_bytes: u64,
        /// Bytes of the free block before it that it merged with; 0 for none.
        merged_before_bytes: u64,
        /// Bytes of the free block behind it that it merged with; 0 for none.
        merged_after_bytes: u64,
        /// Whether its whole segment is cached now, so that `empty_cache()` could return it.
        whole_segment: bool,
    },
    /// The driver gave a segment.
    SegmentAllocated,
    /// A segment went back.
    SegmentFreed {
        /// Why, where it can be told.
        flush: Option<FlushKind>,
        /// Events of the same burst before this one.
        nth: u32,
        /// Events of the burst.
        of: u32,
        /// Bytes that the burst returned.
        burst_bytes: u64,
    },
    /// Pages were mapped into an expandable segment.
    Mapped,
    /// Pages were unmapped.
    Unmapped {
        /// Why, where it can be told.
        flush: Option<FlushKind>,
        /// Events of the same burst before this one.
        nth: u32,
        /// Events of the burst.
        of: u32,
        /// Bytes that the burst returned.
        burst_bytes: u64,
    },
    /// A request failed.
    OutOfMemory {
        /// Bytes after rounding.
        rounded_bytes: u64,
        /// Bytes that the driver was asked for.
        segment_bytes: u64,
        /// Free bytes that the driver reported.
        device_free_bytes: u64,
        /// The limit that forbade it, where one is known and did; the driver was not asked then.
        over_limit_bytes: Option<u64>,
        /// The largest cached block in the pool and stream of the request.
        largest_cached_bytes: u64,
    },
    /// Nothing: a snapshot, an annotation, or something unknown.
    Nothing,
    /// It does not fit the state: a free of nothing, a segment that was not there.
    Unmatched,
}

/// One line of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameView {
    /// Function.
    pub name: String,
    /// File as recorded.
    pub file: String,
    /// Line, 0 where unknown.
    pub line: u32,
    /// Whether it is the user's own code, not a framework's, Python's or the allocator's.
    pub own: bool,
}

/// Cached blocks of one pool and stream in the allocator's search order (size, then address).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FreeList {
    /// Which pool.
    pub pool: PoolId,
    /// Small or large.
    pub kind: Option<PoolKind>,
    /// Which stream.
    pub stream: Option<StreamView>,
    /// Rounded size that was looked for, when the event is a request.
    pub wanted_bytes: Option<u64>,
    /// How many blocks the list holds.
    pub total: u32,
    /// Position of the first row returned.
    pub first: u32,
    /// Rows.
    pub blocks: Vec<FreeBlock>,
    /// Position (not row) of the block that was taken, or that the best fit would take.
    pub chosen: Option<u32>,
}

/// One row of a free list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeBlock {
    /// Address of its first byte.
    pub address: u64,
    /// Its size.
    pub size_bytes: u64,
}

/// What lies at an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockDetails {
    /// The block.
    pub block: BlockView,
    /// Its segment, without blocks.
    pub segment: SegmentView,
    /// Its place among the blocks of the segment, from 0.
    pub position: u32,
    /// Blocks of the segment.
    pub of: u32,
    /// Its life, when it is live.
    pub life: Option<LifeView>,
    /// Live neighbours in the segment that keep it from being returned, when it is cached.
    pub pinned_by: Vec<LifeId>,
}

/// One life of a block: from the request to the completed free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LifeView {
    /// Which life.
    pub life: LifeId,
    /// Address.
    pub address: u64,
    /// Bytes asked for.
    pub requested_bytes: u64,
    /// Bytes after rounding.
    pub rounded_bytes: u64,
    /// Bytes given.
    pub given_bytes: u64,
    /// Whether the size given is inferred: neither the final snapshot nor a rule says it.
    pub inferred: bool,
    /// The request; `None` when it came before the record.
    pub born: Option<EventIndex>,
    /// The free; `None` when it never came.
    pub free_requested: Option<EventIndex>,
    /// Its completion.
    pub free_completed: Option<EventIndex>,
    /// Times of these three, in microseconds, where known.
    pub times_us: [Option<i64>; 3],
    /// Stream.
    pub stream: StreamView,
    /// Pool.
    pub pool: PoolId,
    /// Small or large.
    pub kind: PoolKind,
    /// Who asked, innermost frame first.
    pub frames: Vec<FrameView>,
    /// Who freed, where that differs.
    pub free_frames: Vec<FrameView>,
}

/// Events as rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Events of the device.
    pub total: u32,
    /// The rows.
    pub rows: Vec<EventRow>,
}

/// One event as a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRow {
    /// Which event.
    pub at: EventIndex,
    /// What happened.
    pub action: Action,
    /// Address.
    pub address: u64,
    /// Size as recorded.
    pub size_bytes: u64,
    /// Microseconds since the Unix epoch.
    pub time_us: Option<i64>,
    /// Stream.
    pub stream: StreamView,
    /// The innermost frame of the user's own code, else the innermost frame.
    pub frame: Option<FrameView>,
}

/// Annotated regions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Annotations {
    /// The spans, in the order of their start.
    pub spans: Vec<AnnotationSpan>,
    /// Spans that touch the range but were left out as too many.
    pub left_out: u32,
}

/// One annotated region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotationSpan {
    /// Its name.
    pub name: String,
    /// Event at which it begins; `None` when its start was not recorded.
    pub first: Option<EventIndex>,
    /// Last event in it; `None` when its end was not recorded.
    pub last: Option<EventIndex>,
    /// Its start in microseconds.
    pub from_us: Option<i64>,
    /// Its end in microseconds.
    pub to_us: Option<i64>,
    /// How many regions it lies in.
    pub depth: u32,
}
