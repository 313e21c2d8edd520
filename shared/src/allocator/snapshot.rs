//! The state as a snapshot reports it (§13.2, §13.3).

use serde::{Deserialize, Serialize};

use super::{
    Allocator, Stream,
    arena::{Block, Index, NONE},
    driver::Driver,
};
use crate::{
    ids::{DeviceIndex, PoolId, PoolKind},
    model::BlockState,
};

/// A segment: one driver allocation, or one run of mapped blocks of an expandable segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentReport {
    /// Device it is on.
    pub device: DeviceIndex,
    /// Address of its first byte.
    pub address: u64,
    /// Stream that its blocks belong to.
    pub stream: Stream,
    /// Its pool.
    pub pool: PoolId,
    /// The small or the large half of it.
    pub kind: PoolKind,
    /// Whether it is a run of an expandable segment.
    pub expandable: bool,
    /// Its blocks in the order of their addresses.
    pub blocks: Vec<BlockReport>,
}

/// A block of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockReport {
    /// Address of its first byte.
    pub address: u64,
    /// Bytes it occupies.
    pub size_bytes: u64,
    /// Bytes asked for; stale in a cached block (§13.3).
    pub requested_bytes: u64,
    /// Its state.
    pub state: BlockState,
}

impl SegmentReport {
    /// Bytes of all blocks.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.size_bytes).sum()
    }

    /// Bytes of the blocks in a state.
    #[must_use]
    pub fn bytes_in(&self, state: BlockState) -> u64 {
        let blocks = self.blocks.iter().filter(|block| block.state == state);
        blocks.map(|block| block.size_bytes).sum()
    }
}

impl BlockReport {
    fn of(block: &Block) -> Self {
        let state = if block.allocated {
            BlockState::Allocated
        } else if block.is_active() {
            BlockState::PendingFree
        } else {
            BlockState::Cached
        };
        Self {
            address: block.address,
            size_bytes: block.size,
            requested_bytes: block.requested,
            state,
        }
    }
}

impl<D: Driver> Allocator<D> {
    /// All segments, by device and address. Taking it changes nothing and emits nothing.
    #[must_use]
    pub fn snapshot(&self) -> Vec<SegmentReport> {
        let mut segments: Vec<_> = self
            .blocks
            .iter()
            .filter(|(_, block)| self.is_head(block))
            .map(|(index, _)| self.report(index))
            .collect();
        segments.sort_by_key(|segment| (segment.device, segment.address));
        segments
    }

    /// The first block of a mapped run.
    fn is_head(&self, block: &Block) -> bool {
        block.mapped && (block.prev == NONE || !self.blocks[block.prev].mapped)
    }

    fn report(&self, head: Index) -> SegmentReport {
        let block = &self.blocks[head];
        let pool = &self.pools[block.pool as usize];
        let run = std::iter::successors(Some(head), |index| {
            let next = self.blocks[*index].next;
            (next != NONE && self.blocks[next].mapped).then_some(next)
        });
        SegmentReport {
            device: pool.device,
            address: block.address,
            stream: block.stream,
            pool: pool.id,
            kind: pool.kind,
            expandable: block.is_expandable(),
            blocks: run
                .map(|index| BlockReport::of(&self.blocks[index]))
                .collect(),
        }
    }
}
