//! Garbage collection of cached blocks by age (§4.5).

use thiserror::Error;

use super::{Allocator, decision::Step, driver::Driver, trace::Sink};
use crate::ids::{DeviceIndex, PoolKind};

/// A block that garbage collection can't have released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("garbage collection does not release what lies at {address:#x}")]
pub struct CollectError {
    /// Where it lies.
    pub address: u64,
}

impl<D: Driver> Allocator<D> {
    /// A threshold alone does nothing: it is a share of a limit (T7).
    #[inline]
    pub(super) fn collects_garbage(&self, device: usize) -> bool {
        self.settings.garbage_collection_threshold > 0.0
            && self.devices[device].limit_bytes.is_some()
    }

    /// Releases whole segments of the default large pool, those at least as old as the mean.
    pub(super) fn collect_garbage<S: Sink>(&mut self, device: usize, sink: &mut S) {
        let limit = self.devices[device].limit_bytes.unwrap_or(u64::MAX);
        let held_bytes = self.devices[device].held_bytes;
        let threshold_bytes = (self.settings.garbage_collection_threshold * limit as f64) as u64;
        let target_bytes = held_bytes.saturating_sub(threshold_bytes);
        if S::EXPLAINS {
            sink.step(Step::Collect {
                threshold_bytes,
                held_bytes,
                target_bytes,
            });
        }
        if target_bytes == 0 {
            return;
        }
        let (mut ages, mut count) = self.ages(device);
        let mut reclaimed = 0;
        while reclaimed < target_bytes && count > 0 {
            let age = ages / count as f64;
            let released = self.collect_pass(device, age, (&mut ages, &mut count), sink);
            if S::EXPLAINS {
                sink.step(Step::CollectPass {
                    age,
                    released_bytes: released,
                });
            }
            if released == 0 {
                break;
            }
            reclaimed += released;
        }
    }

    /// Sum and number of the ages of unsplit free blocks, expandable ones included.
    fn ages(&self, device: usize) -> (f64, u64) {
        let pool = &self.pools[self.devices[device].default_pool(PoolKind::Large) as usize];
        let unsplit = pool.free.iter().map(|index| &self.blocks[index]);
        unsplit
            .filter(|block| !block.is_split())
            .fold((0.0, 0), |(ages, count), block| {
                (ages + (pool.searches - block.gc_base) as f64, count + 1)
            })
    }

    /// One walk in key order; returns the bytes released.
    fn collect_pass<S: Sink>(
        &mut self,
        device: usize,
        threshold_age: f64,
        (ages, count): (&mut f64, &mut u64),
        sink: &mut S,
    ) -> u64 {
        let pool = &self.pools[self.devices[device].default_pool(PoolKind::Large) as usize];
        let searches = pool.searches;
        let old: Vec<_> = pool
            .free
            .iter()
            .filter(|index| {
                let block = &self.blocks[*index];
                let age = (searches - block.gc_base) as f64;
                !block.is_split() && !block.is_expandable() && age >= threshold_age
            })
            .collect();
        let mut released = 0;
        for index in old {
            let block = &self.blocks[index];
            released += block.size;
            *ages -= (searches - block.gc_base) as f64;
            *count -= 1;
            self.release_segment(index, sink);
        }
        released
    }

    /// Releases just the segments at `addresses`, in their order, as garbage collection did in a
    /// recording that does not say what it was decided by (§4.5 needs the memory limit). Like
    /// the request that it is part of, it first completes the frees whose streams are done.
    ///
    /// # Errors
    /// At the first that is no whole cached segment of the default large pool; those before it
    /// are released.
    pub fn collect_exactly<S: Sink>(
        &mut self,
        device: DeviceIndex,
        addresses: &[u64],
        sink: &mut S,
    ) -> Result<(), CollectError> {
        if self.devices.get(device.index()).is_some() {
            self.process_events(device.index(), sink);
        }
        for &address in addresses {
            let state = self.devices.get(device.index());
            let pool = state.map(|state| state.default_pool(PoolKind::Large) as usize);
            let found = pool.and_then(|pool| {
                self.pools[pool].free.iter().find(|&index| {
                    let block = &self.blocks[index];
                    block.address == address && !block.is_split() && !block.is_expandable()
                })
            });
            self.release_segment(found.ok_or(CollectError { address })?, sink);
        }
        Ok(())
    }
}
