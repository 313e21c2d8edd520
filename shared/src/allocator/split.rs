//! Splitting and hand-out (§5).

use super::{
    Allocator, BlockId,
    arena::{Block, Index, NONE},
    decision::{SplitRule, Step},
    driver::Driver,
    malloc::Ask,
    trace::Sink,
};
use crate::{ids::PoolKind, model::Action};

impl<D: Driver> Allocator<D> {
    /// Splits the found block if the rules say so, and hands it out (§5.4).
    pub(super) fn hand_out<S: Sink>(&mut self, found: Index, ask: &Ask, sink: &mut S) -> BlockId {
        let block = &self.blocks[found];
        let (size, was_split, expandable) = (block.size, block.is_split(), block.is_expandable());
        let remainder = size - ask.rounded;
        let no_split = self.is_no_split(block.pool);
        let splits = !no_split
            && self
                .settings
                .splits(ask.kind, ask.rounded, remainder, ask.expandable);
        if S::EXPLAINS {
            sink.step(Step::Split {
                rule: self.split_rule(ask, no_split),
                split: splits,
                front_bytes: if splits { ask.rounded } else { size },
                rest_bytes: remainder,
            });
        }
        let front = if splits {
            self.split(found, ask.rounded)
        } else {
            found
        };
        if !expandable {
            let stats = &mut self.devices[ask.device].stats;
            let (count, bytes) = (&mut stats.inactive_split, &mut stats.inactive_split_bytes);
            match (splits, was_split) {
                (true, true) => bytes.decrease(ask.kind, ask.rounded),
                (true, false) => {
                    count.increase(ask.kind, 1);
                    bytes.increase(ask.kind, remainder);
                }
                (false, true) => {
                    count.decrease(ask.kind, 1);
                    bytes.decrease(ask.kind, size);
                }
                (false, false) => {}
            }
        }
        self.mark_allocated(front, ask, sink)
    }

    /// The front becomes a new block; the old one keeps its identity as the remainder (§5.2).
    fn split(&mut self, old: Index, front_size: u64) -> Index {
        let block = &mut self.blocks[old];
        let prev = block.prev;
        let mut front = Block::new(
            block.address,
            front_size,
            block.stream,
            block.pool,
            block.reservation,
        );
        front.prev = prev;
        front.next = old;
        block.address += front_size;
        block.size -= front_size;
        let front = self.blocks.insert(front);
        self.blocks[old].prev = front;
        if prev != NONE {
            self.blocks[prev].next = front;
        }
        self.insert_free(old);
        front
    }

    fn mark_allocated<S: Sink>(&mut self, index: Index, ask: &Ask, sink: &mut S) -> BlockId {
        let block = &mut self.blocks[index];
        block.allocated = true;
        block.requested = ask.requested;
        let (address, size, stream) = (block.address, block.size, block.stream);
        let event = (Action::Alloc, address, ask.requested);
        self.emit(sink, ask.device, event, stream);
        let oversize = self.settings.is_oversize(size);
        let stats = &mut self.devices[ask.device].stats;
        stats.allocation.increase(ask.kind, 1);
        stats.allocated_bytes.increase(ask.kind, size);
        stats.active.increase(ask.kind, 1);
        stats.active_bytes.increase(ask.kind, size);
        stats.requested_bytes.increase(ask.kind, ask.requested);
        if oversize {
            stats.oversize_allocations.increase(1);
        }
        self.blocks.id(index)
    }

    fn split_rule(&self, ask: &Ask, no_split: bool) -> SplitRule {
        if no_split {
            SplitRule::NoSplitPool
        } else if ask.kind == PoolKind::Small {
            SplitRule::SmallPool
        } else if ask.expandable {
            SplitRule::Expandable
        } else if self.settings.is_oversize(ask.rounded) {
            SplitRule::AboveSplitLimit
        } else {
            SplitRule::LargePool
        }
    }
}
