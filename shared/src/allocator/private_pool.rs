//! Private pools: `MemPool` and the pools of CUDA graphs (§3.5).

use thiserror::Error;

use super::{Allocator, Stream, driver::Driver, pool::Pool, trace::Sink};
use crate::ids::{DeviceIndex, PoolId, PoolKind};

/// What a `MemPool` was made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOptions {
    /// Its blocks are never split (§5.1(a)).
    pub no_split: bool,
    /// It serves requests of the default pool that would fail otherwise (§4.7).
    pub use_on_oom: bool,
    /// Its memory comes from an allocator of the program's own; never expandable.
    pub custom_allocator: bool,
}

/// Which allocations go to a private pool while it is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diversion {
    /// All of the thread: `use_mem_pool`.
    EveryStream,
    /// Those of one stream: a graph being captured on it.
    OneStream(Stream),
}

/// Why a pool can't be entered, left or dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PoolError {
    /// There is no such device.
    #[error("invalid device index {}", .0.0)]
    NoDevice(DeviceIndex),
    /// There is no such pool, or it was dropped.
    #[error("there is no pool ({}, {}) in use", .0.0, .0.1)]
    NoPool(PoolId),
    /// Allocations are not diverted to it.
    #[error("allocations do not go to the pool ({}, {})", .0.0, .0.1)]
    NotEntered(PoolId),
    /// Pools are not dropped while allocations are diverted (T35).
    #[error("the pool ({}, {}) can't be dropped while a pool is entered or a graph captured", .0.0, .0.1)]
    Entered(PoolId),
}

#[derive(Clone, Debug)]
pub(super) struct PrivatePool {
    /// Position of its small half in the allocator's table; the large half follows it.
    pools: u32,
    pub(super) options: PoolOptions,
    /// Objects, contexts and graphs that use it; at 0 it is dropped at the next flush.
    pub(super) uses: u64,
    /// Bytes that its segments and mapped pages hold. PyTorch counts driver calls instead, which
    /// can miss 0 or meet it too early where pages are mapped (T31).
    pub(super) held_bytes: i64,
}

impl PrivatePool {
    pub(super) fn pool(&self, kind: PoolKind) -> u32 {
        self.pools + kind as u32
    }
}

impl<D: Driver> Allocator<D> {
    /// A new `MemPool` on a device, used by its object.
    ///
    /// # Errors
    /// When there is no such device.
    pub fn create_mem_pool(
        &mut self,
        device: DeviceIndex,
        options: PoolOptions,
    ) -> Result<PoolId, PoolError> {
        self.mem_pools_made += 1;
        let id = PoolId(0, self.mem_pools_made);
        self.add_pool_use(device, id, options)?;
        Ok(id)
    }

    /// Diverts allocations to a pool: `use_mem_pool`.
    ///
    /// # Errors
    /// When there is no such device or pool.
    pub fn enter_pool(&mut self, device: DeviceIndex, id: PoolId) -> Result<(), PoolError> {
        let known = self.device_state(device)?.private.get(&id);
        if known.is_none_or(|pool| pool.uses == 0) {
            return Err(PoolError::NoPool(id));
        }
        self.divert(device, id, Diversion::EveryStream)
    }

    /// Ends [`enter_pool`](Self::enter_pool).
    ///
    /// # Errors
    /// When the pool was not entered.
    pub fn leave_pool(&mut self, device: DeviceIndex, id: PoolId) -> Result<(), PoolError> {
        self.end_diversion(device, id)?;
        self.drop_pool_use(device, id)
    }

    /// Drops a `MemPool` object: its cached segments go back at once if nobody else uses it, what
    /// is live goes at the first flush after its free.
    ///
    /// # Errors
    /// When there is no such pool, or a pool is entered or a graph captured.
    pub fn drop_mem_pool<S: Sink>(
        &mut self,
        device: DeviceIndex,
        id: PoolId,
        sink: &mut S,
    ) -> Result<(), PoolError> {
        if self.device_state(device)?.is_diverting() {
            return Err(PoolError::Entered(id));
        }
        self.drop_pool_use(device, id)?;
        let private = &mut self.devices[device.index()].private;
        if let Some(pool) = private.get_mut(&id) {
            pool.options.use_on_oom = false;
        }
        self.flush_private(device.index(), id, sink);
        Ok(())
    }

    /// Begins to capture a graph on `stream`, into a pool of its own or a given one. The graph
    /// keeps its use of the pool until [`release_graph`](Self::release_graph).
    ///
    /// # Errors
    /// When there is no such device.
    pub fn begin_capture(
        &mut self,
        device: DeviceIndex,
        stream: Stream,
        pool: Option<PoolId>,
    ) -> Result<PoolId, PoolError> {
        let id = pool.unwrap_or_else(|| {
            self.graphs_made += 1;
            PoolId(self.graphs_made, 0)
        });
        self.divert(device, id, Diversion::OneStream(stream))?;
        Ok(id)
    }

    /// Ends the capture; the pool stays in use by the graph.
    ///
    /// # Errors
    /// When nothing is captured into the pool.
    pub fn end_capture(&mut self, device: DeviceIndex, id: PoolId) -> Result<(), PoolError> {
        self.end_diversion(device, id)
    }

    /// A graph was reset or destroyed: its pool goes at a flush once nobody uses it.
    ///
    /// # Errors
    /// When there is no such pool.
    pub fn release_graph(&mut self, device: DeviceIndex, id: PoolId) -> Result<(), PoolError> {
        self.drop_pool_use(device, id)
    }

    fn device_state(&mut self, device: DeviceIndex) -> Result<&mut super::Device, PoolError> {
        let state = self.devices.get_mut(device.index());
        state.ok_or(PoolError::NoDevice(device))
    }

    fn divert(
        &mut self,
        device: DeviceIndex,
        id: PoolId,
        diversion: Diversion,
    ) -> Result<(), PoolError> {
        self.add_pool_use(device, id, PoolOptions::default())?;
        let device = self.device_state(device)?;
        device.diversions.push((id, diversion));
        Ok(())
    }

    fn end_diversion(&mut self, device: DeviceIndex, id: PoolId) -> Result<(), PoolError> {
        let diversions = &mut self.device_state(device)?.diversions;
        let entered = diversions.iter().rposition(|(of, _)| *of == id);
        diversions.remove(entered.ok_or(PoolError::NotEntered(id))?);
        Ok(())
    }

    /// One use more; the pool is made at its first.
    pub(super) fn add_pool_use(
        &mut self,
        device: DeviceIndex,
        id: PoolId,
        options: PoolOptions,
    ) -> Result<(), PoolError> {
        let pools = self.pools.len() as u32;
        let state = self.device_state(device)?;
        if let Some(pool) = state.private.get_mut(&id) {
            pool.uses += 1;
            return Ok(());
        }
        let pool = PrivatePool {
            pools,
            options,
            uses: 1,
            held_bytes: 0,
        };
        state.private.insert(id, pool);
        self.pools.extend(Pool::pair(device, id));
        Ok(())
    }

    fn drop_pool_use(&mut self, device: DeviceIndex, id: PoolId) -> Result<(), PoolError> {
        let pool = self.device_state(device)?.private.get_mut(&id);
        match pool {
            Some(pool) if pool.uses > 0 => {
                pool.uses -= 1;
                Ok(())
            }
            _ => Err(PoolError::NoPool(id)),
        }
    }

    /// Counts what a private pool holds; the default pools do not count (§3.5).
    #[inline]
    pub(super) fn hold_private(&mut self, pool: u32, change_bytes: i64) {
        let pool = &self.pools[pool as usize];
        if pool.is_private() {
            let private = &mut self.devices[pool.device.index()].private;
            if let Some(private) = private.get_mut(&pool.id) {
                private.held_bytes += change_bytes;
            }
        }
    }

    #[inline]
    pub(super) fn has_custom_allocator(&self, pool: u32) -> bool {
        self.options_of(pool).custom_allocator
    }

    #[inline]
    pub(super) fn is_no_split(&self, pool: u32) -> bool {
        self.options_of(pool).no_split
    }

    #[inline]
    fn options_of(&self, pool: u32) -> PoolOptions {
        let pool = &self.pools[pool as usize];
        if !pool.is_private() {
            return PoolOptions::default();
        }
        let private = &self.devices[pool.device.index()].private;
        private
            .get(&pool.id)
            .map_or_else(PoolOptions::default, |private| private.options)
    }

    /// Bytes of the free blocks of a private pool.
    pub(super) fn free_bytes_of(&self, private: &PrivatePool) -> u64 {
        [PoolKind::Small, PoolKind::Large]
            .into_iter()
            .flat_map(|kind| self.pools[private.pool(kind) as usize].free.iter())
            .map(|index| self.blocks[index].size)
            .sum()
    }
}
