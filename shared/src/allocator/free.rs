//! The free path and merging (§6).

use thiserror::Error;

use super::{
    Allocator, BlockId,
    arena::{Index, NONE},
    decision::{KeptApart, Side, Step},
    driver::Driver,
    spot_of,
    trace::Sink,
};
use crate::model::Action;

/// A free of something that is not allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("invalid device pointer")]
pub struct FreeError;

impl<D: Driver> Allocator<D> {
    /// Frees a block (§6.1). Where other streams used it, it stays active until they are done.
    ///
    /// # Errors
    /// When the block is not allocated.
    pub fn free<S: Sink>(&mut self, id: BlockId, sink: &mut S) -> Result<(), FreeError> {
        match self.blocks.resolve(id) {
            Some(block) if block.allocated => {}
            _ => return Err(FreeError),
        }
        let index = id.index;
        let (device, kind) = (self.device_of(index), self.kind_of(index));
        let block = &mut self.blocks[index];
        block.allocated = false;
        let (size, stream, recorded) = (block.size, block.stream, block.recorded);
        let event = (Action::FreeRequested, block.address, block.requested);
        let oversize = self.settings.is_oversize(size);
        let stats = &mut self.devices[device].stats;
        stats.allocation.decrease(kind, 1);
        stats.allocated_bytes.decrease(kind, size);
        self.emit(sink, device, event, stream);
        if oversize {
            self.devices[device].stats.oversize_allocations.decrease(1);
        }
        if !recorded {
            self.complete_free(index, sink);
        } else if self.devices[device].is_diverting() {
            self.defer_free(index, sink);
        } else {
            self.record_events(index, sink);
        }
        Ok(())
    }

    /// Gives a block that nothing uses any more back to its pool (§6.2).
    pub(super) fn complete_free<S: Sink>(&mut self, index: Index, sink: &mut S) {
        let (device, kind) = (self.device_of(index), self.kind_of(index));
        let block = &self.blocks[index];
        let (size, requested) = (block.size, block.requested);
        let event = (Action::FreeCompleted, block.address, requested);
        let (prev, next, stream) = (block.prev, block.next, block.stream);
        self.emit(sink, device, event, stream);
        let mut merged = Merged::default();
        merged.add(self.merge(index, prev, Side::Prev, sink));
        merged.add(self.merge(index, next, Side::Next, sink));
        self.insert_free(index);

        let block = &self.blocks[index];
        let stats = &mut self.devices[device].stats;
        if !block.is_expandable() {
            let (count, bytes) = if block.is_split() {
                (1, block.size.cast_signed())
            } else {
                (0, 0)
            };
            stats.inactive_split.change(kind, count - merged.count);
            stats
                .inactive_split_bytes
                .change(kind, bytes - merged.bytes.cast_signed());
        }
        stats.active.decrease(kind, 1);
        stats.active_bytes.decrease(kind, size);
        stats.requested_bytes.decrease(kind, requested);
    }

    /// Joins a neighbour to `dst`, which survives (§6.3). Returns the bytes joined, 0 if refused.
    pub(super) fn merge<S: Sink>(
        &mut self,
        dst: Index,
        src: Index,
        side: Side,
        sink: &mut S,
    ) -> u64 {
        if src == NONE {
            return 0;
        }
        let neighbour = &self.blocks[src];
        let mapped = self.blocks[dst].mapped;
        if !neighbour.is_idle() || neighbour.mapped != mapped {
            if S::EXPLAINS {
                self.explain_kept_apart(src, side, sink);
            }
            return 0;
        }
        let seen = S::EXPLAINS.then(|| spot_of(neighbour));
        let (size, address) = (neighbour.size, neighbour.address);
        let (prev, next, pool) = (neighbour.prev, neighbour.next, neighbour.pool);
        if mapped {
            self.remove_free(src);
        } else {
            let key = (neighbour.stream, address);
            self.pools[pool as usize].unmapped.remove(&key);
        }
        let block = &mut self.blocks[dst];
        block.size += size;
        match side {
            Side::Prev => {
                block.address = address;
                block.prev = prev;
                if prev != NONE {
                    self.blocks[prev].next = dst;
                }
            }
            Side::Next => {
                block.next = next;
                if next != NONE {
                    self.blocks[next].prev = dst;
                }
            }
        }
        self.blocks.remove(src);
        if let Some(neighbour) = seen {
            sink.step(Step::Merged {
                neighbour,
                side,
                size_bytes: self.blocks[dst].size,
            });
        }
        size
    }

    fn explain_kept_apart<S: Sink>(&self, neighbour: Index, side: Side, sink: &mut S) {
        let block = &self.blocks[neighbour];
        let why = if block.allocated {
            KeptApart::Allocated
        } else if !block.is_idle() {
            KeptApart::PendingFree
        } else {
            KeptApart::Unmapped
        };
        sink.step(Step::KeptApart {
            neighbour: spot_of(block),
            side,
            why,
        });
    }
}

/// What a completed free has joined (§6.4).
#[derive(Default)]
struct Merged {
    count: i64,
    bytes: u64,
}

impl Merged {
    fn add(&mut self, bytes: u64) {
        self.count += i64::from(bytes > 0);
        self.bytes += bytes;
    }
}
