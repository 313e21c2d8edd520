//! Giving memory back (§7) and the release of oversize blocks (§4.9).

use super::{
    Allocator,
    arena::{Block, Index, NONE},
    decision::{FlushCause, Step},
    driver::{Driver, DriverCall, SweepCandidate},
    malloc::Ask,
    spot_of,
    trace::Sink,
};
use crate::{
    ids::{PoolId, PoolKind},
    model::Action,
    settings::UNLIMITED,
};

impl<D: Driver> Allocator<D> {
    /// `empty_cache()`: gives back all cached memory that can go, of every device (§7.1).
    pub fn empty_cache<S: Sink>(&mut self, sink: &mut S) {
        for device in 0..self.devices.len() {
            self.flush_default(device, FlushCause::EmptyCache, sink);
        }
    }

    /// The flush of everything: default pools unless a diversion is active, then dropped private
    /// pools (§7.3).
    pub(super) fn flush_default<S: Sink>(
        &mut self,
        device: usize,
        cause: FlushCause,
        sink: &mut S,
    ) {
        if S::EXPLAINS {
            let pool = PoolId::DEFAULT;
            sink.step(Step::Flush { pool, cause });
        }
        if !self.devices[device].is_diverting() {
            self.devices[device].stats.num_sync_all_streams += 1;
            self.wait_for_events(device, None, sink);
            self.release_all(self.devices[device].default_pool(PoolKind::Large), sink);
            self.release_all(self.devices[device].default_pool(PoolKind::Small), sink);
        }
        self.sweep_dropped_pools(device, sink);
        if S::EXPLAINS {
            self.explain_kept_pools(device, sink);
        }
    }

    /// The flush of one dropped private pool (§7.3(b)).
    pub(super) fn flush_private<S: Sink>(&mut self, device: usize, id: PoolId, sink: &mut S) {
        if !self.is_dropped(device, id) {
            return;
        }
        if S::EXPLAINS {
            let cause = FlushCause::PoolDropped;
            sink.step(Step::Flush { pool: id, cause });
        }
        self.devices[device].stats.num_sync_all_streams += 1;
        self.wait_for_events(device, Some(id), sink);
        self.sweep_pool(device, id, sink);
    }

    fn is_dropped(&self, device: usize, id: PoolId) -> bool {
        let pool = self.devices[device].private.get(&id);
        pool.is_some_and(|pool| pool.uses == 0)
    }

    /// All dropped pools, in the order that the driver knows.
    fn sweep_dropped_pools<S: Sink>(&mut self, device: usize, sink: &mut S) {
        let private = &self.devices[device].private;
        let dropped = private.iter().filter(|(_, pool)| pool.uses == 0);
        let mut waiting: Vec<PoolId> = dropped.map(|(id, _)| *id).collect();
        while !waiting.is_empty() {
            let chosen = if waiting.len() == 1 {
                0
            } else {
                let candidates: Vec<_> = waiting
                    .iter()
                    .map(|id| self.sweep_candidate(device, *id))
                    .collect();
                let at = self.at(self.devices[device].default_pools, super::Stream(0));
                self.driver.next_swept(at, &candidates)
            };
            let id = waiting.remove(chosen.min(waiting.len() - 1));
            self.sweep_pool(device, id, sink);
        }
    }

    /// Private pools are swept small before large, and deleted when nothing is left (T17).
    fn sweep_pool<S: Sink>(&mut self, device: usize, id: PoolId, sink: &mut S) {
        for kind in [PoolKind::Small, PoolKind::Large] {
            if let Some(pool) = self.devices[device].private.get(&id) {
                self.release_all(pool.pool(kind), sink);
            }
        }
        let private = &mut self.devices[device].private;
        if private.get(&id).is_some_and(|pool| pool.held_bytes == 0) {
            private.remove(&id);
        }
    }

    fn sweep_candidate(&self, device: usize, id: PoolId) -> SweepCandidate {
        let private = self.devices[device].private.get(&id);
        let first_address = private.and_then(|pool| {
            self.first_release(pool.pool(PoolKind::Small))
                .or_else(|| self.first_release(pool.pool(PoolKind::Large)))
        });
        SweepCandidate {
            pool: id,
            first_address,
        }
    }

    /// Address of the first event that releasing all of a pool emits.
    fn first_release(&self, pool: u32) -> Option<u64> {
        let free = || self.pools[pool as usize].free.iter();
        let whole = free()
            .map(|index| &self.blocks[index])
            .find(|block| !block.is_expandable() && !block.is_split());
        whole
            .map(|block| block.address)
            .or_else(|| free().find_map(|index| self.whole_pages(index).map(|pages| pages.address)))
    }

    /// Releases whatever of a pool can go, in key order, segments before pages (§7.4).
    fn release_all<S: Sink>(&mut self, pool: u32, sink: &mut S) {
        let free: Vec<Index> = self.pools[pool as usize].free.iter().collect();
        let mut expandable = Vec::new();
        for index in free {
            let block = &self.blocks[index];
            if block.is_expandable() {
                expandable.push(index);
            } else if !block.is_split() {
                self.release_segment(index, sink);
            } else if S::EXPLAINS {
                self.explain_pinned(index, sink);
            }
        }
        for index in expandable {
            self.unmap_free_pages(index, sink);
        }
    }

    /// Gives one whole segment back (§7.2).
    pub(super) fn release_segment<S: Sink>(&mut self, index: Index, sink: &mut S) {
        self.remove_free(index);
        let (device, kind) = (self.device_of(index), self.kind_of(index));
        let block = self.blocks[index].clone();
        let bytes = block.size;
        if S::EXPLAINS {
            sink.step(Step::Released {
                block: spot_of(&block),
                released_bytes: bytes,
            });
        }
        let oversize = self.settings.is_oversize(bytes);
        let event = (Action::SegmentFree, block.address, bytes);
        self.emit(sink, device, event, block.stream);
        let at = self.at(block.pool, block.stream);
        self.driver.free(at, block.address, bytes);
        self.note_call(sink, DriverCall::Free { bytes }, true);
        self.hold_private(block.pool, -bytes.cast_signed());
        let device = &mut self.devices[device];
        device.held_bytes -= bytes;
        device.stats.num_device_free += 1;
        device.stats.segment.decrease(kind, 1);
        device.stats.reserved_bytes.decrease(kind, bytes);
        if oversize {
            device.stats.oversize_segments.decrease(1);
        }
        self.blocks.remove(index);
    }

    /// Gives cached oversize blocks back so that this request can be met (§4.9). True if enough
    /// was released.
    ///
    /// Split blocks stay: PyTorch does not look, and would hand the driver a segment with live
    /// blocks in it, but only when the split limit was lowered at run time.
    pub(super) fn release_oversize<S: Sink>(&mut self, ask: &Ask, sink: &mut S) -> bool {
        let limit = self.settings.max_split_bytes;
        if limit == UNLIMITED {
            return false;
        }
        let needed_bytes = ask.rounded.max(limit);
        let free = &self.pools[ask.pool as usize].free;
        let fits = free.at_least(ask.stream, needed_bytes).next();
        let mut chosen = Vec::new();
        let mut released_bytes = 0;
        let releasable = |block: &Block| !block.is_expandable() && !block.is_split();
        match fits.filter(|index| releasable(&self.blocks[*index])) {
            Some(index) => {
                released_bytes = self.blocks[index].size;
                chosen.push(index);
            }
            None => {
                for index in free.below(ask.stream, needed_bytes) {
                    let block = &self.blocks[index];
                    if released_bytes >= needed_bytes || block.size < limit {
                        break;
                    }
                    if releasable(block) {
                        released_bytes += block.size;
                        chosen.push(index);
                    }
                }
            }
        }
        if S::EXPLAINS {
            sink.step(Step::ReleaseOversize {
                needed_bytes,
                released_bytes,
            });
        }
        for index in chosen {
            self.release_segment(index, sink);
        }
        released_bytes >= needed_bytes
    }

    /// Names the nearest block in use that keeps a free one from going back.
    pub(super) fn explain_pinned<S: Sink>(&self, index: Index, sink: &mut S) {
        let neighbours = [self.blocks[index].prev, self.blocks[index].next];
        let by = neighbours
            .into_iter()
            .filter(|neighbour| *neighbour != NONE)
            .map(|neighbour| &self.blocks[neighbour])
            .find(|block| block.is_active());
        sink.step(Step::Pinned {
            block: spot_of(&self.blocks[index]),
            by: by.map(spot_of),
        });
    }

    fn explain_kept_pools<S: Sink>(&self, device: usize, sink: &mut S) {
        for (id, pool) in &self.devices[device].private {
            let free_bytes = self.free_bytes_of(pool);
            if pool.uses > 0 && free_bytes > 0 {
                sink.step(Step::KeptByPool {
                    pool: *id,
                    free_bytes,
                    uses: pool.uses,
                });
            }
        }
    }
}
