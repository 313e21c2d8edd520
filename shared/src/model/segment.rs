use serde::{Deserialize, Serialize};

use crate::ids::{PoolId, PoolKind, StackId, StreamId};

/// State of a block as a snapshot reports it (§13.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BlockState {
    /// A tensor holds it (`active_allocated`).
    Allocated,
    /// Freed, but a stream may still use it (`active_pending_free`).
    PendingFree,
    /// Free and kept by the allocator, that is cached (`inactive`).
    Cached,
}

/// A block of a final snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Address of its first byte.
    pub address: u64,
    /// Bytes it occupies.
    pub size_bytes: u64,
    /// Bytes that were asked for; of a cached block what its last user asked for (§13.3), where
    /// the recording says.
    pub requested_bytes: Option<u64>,
    /// Its state.
    pub state: BlockState,
    /// Who holds it.
    pub stack: StackId,
}

/// A segment of a final snapshot: one driver allocation, or one run of mapped pages of an
/// expandable segment (§13.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address of its first byte.
    pub address: u64,
    /// Bytes it occupies.
    pub size_bytes: u64,
    /// Stream that its blocks belong to.
    pub stream: StreamId,
    /// Small or large pool.
    pub kind: PoolKind,
    /// Its pool; `None` where the recording is too old to say.
    pub pool: Option<PoolId>,
    /// Whether it is a run of pages of an expandable segment.
    pub expandable: bool,
    /// Who made it grow, where recorded.
    pub stack: StackId,
    /// Sum of its allocated blocks as the file states it, where it does.
    pub stated_allocated_bytes: Option<u64>,
    /// Sum of its allocated and pending blocks as the file states it, where it does.
    pub stated_active_bytes: Option<u64>,
    /// Its blocks in the order of their addresses.
    pub blocks: Vec<Block>,
}
