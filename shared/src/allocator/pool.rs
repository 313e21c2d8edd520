//! One set of free blocks (§3.3) and the choice among them (§3.4).

use std::collections::BTreeMap;

use super::{
    Allocator, Stream, arena::Index, driver::Driver, free_list::FreeList, private_pool::Diversion,
};
use crate::ids::{DeviceIndex, PoolId, PoolKind};

#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) device: DeviceIndex,
    pub(super) id: PoolId,
    pub(super) kind: PoolKind,
    /// Mapped, unallocated, event-free blocks.
    pub(super) free: FreeList,
    /// Ranges of reservations without memory behind them.
    pub(super) unmapped: BTreeMap<(Stream, u64), Index>,
    /// Searches while garbage collection is enabled.
    pub(super) searches: u64,
}

impl Pool {
    /// The small and the large half of a pool, in the order of the table.
    pub(super) fn pair(device: DeviceIndex, id: PoolId) -> [Pool; 2] {
        [PoolKind::Small, PoolKind::Large].map(|kind| Pool {
            device,
            id,
            kind,
            free: FreeList::default(),
            unmapped: BTreeMap::new(),
            searches: 0,
        })
    }

    pub(super) fn is_private(&self) -> bool {
        self.id != PoolId::DEFAULT
    }
}

impl<D: Driver> Allocator<D> {
    /// Position of the pool that serves a request (§3.4).
    #[inline]
    pub(super) fn choose_pool(&self, device: usize, kind: PoolKind, stream: Stream) -> u32 {
        let device = &self.devices[device];
        for (id, diversion) in device.diversions.iter().rev() {
            let accepts = match diversion {
                Diversion::EveryStream => true,
                Diversion::OneStream(only) => *only == stream,
            };
            if let Some(private) = device.private.get(id).filter(|_| accepts) {
                return private.pool(kind);
            }
        }
        device.default_pool(kind)
    }

    /// Puts a free block into the list of its pool and stamps it (§3.3).
    #[inline]
    pub(super) fn insert_free(&mut self, index: Index) {
        let block = &mut self.blocks[index];
        let pool = &mut self.pools[block.pool as usize];
        block.gc_base = pool.searches;
        pool.free.insert(index, block);
    }

    /// Takes a free block out of the list of its pool.
    #[inline]
    pub(super) fn remove_free(&mut self, index: Index) {
        let block = &self.blocks[index];
        self.pools[block.pool as usize].free.remove(index, block);
    }

    /// Position of the device that a block is on.
    #[inline]
    pub(super) fn device_of(&self, index: Index) -> usize {
        self.pools[self.blocks[index].pool as usize].device.index()
    }

    #[inline]
    pub(super) fn kind_of(&self, index: Index) -> PoolKind {
        self.pools[self.blocks[index].pool as usize].kind
    }
}
