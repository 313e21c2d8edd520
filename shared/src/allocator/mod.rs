//! PyTorch's CUDA caching allocator (2.11, native backend), exact to the last block.
//!
//! [`Allocator`] does what PyTorch's does: rounding, best fit, splitting, merging, expandable
//! segments, streams, private pools, flushes. It is not bound to any card: a [`Driver`] answers what
//! only hardware can. It writes no text: operations report events and, where asked, reasons to a
//! [`Sink`]. Sections of the specification (§) stand beside the code that follows them, one file
//! per chapter.

mod arena;
mod capture;
mod collect;
mod decision;
mod device;
mod driver;
mod expandable;
mod free;
mod free_list;
mod malloc;
mod oom;
pub mod operations;
mod pool;
mod private_pool;
mod release;
mod seed;
mod snapshot;
mod split;
mod stats;
mod streams;
mod summary;
mod trace;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{ids::DeviceIndex, settings::Settings};

use arena::{Arena, Block, Index};
use device::Device;
use expandable::Reservation;
use pool::Pool;

pub use arena::BlockId;
pub use collect::CollectError;
pub use decision::{BlockSpot, Decision, FlushCause, KeptApart, PassedOver, Side, SplitRule, Step};
pub use driver::{
    At, CardSize, Driver, DriverCall, DriverError, Failing, GraphNode, Pages, ProcessMemory,
    Recorded, RecordedEvents, SimulatedCard, Spent, StreamEvent, SweepCandidate, Trouble,
    cost_on_h200_ns,
};
pub use free::FreeError;
pub use malloc::{MallocError, Request};
pub use oom::OutOfMemory;
pub use private_pool::{Diversion, PoolError, PoolOptions};
pub use seed::{ReservedRange, SeedError};
pub use snapshot::{BlockReport, SegmentReport};
pub use stats::{Counter, Family, Statistics};
pub use summary::Detail;
pub use trace::{Sink, TraceEvent};

/// Raw handle of a stream, as the driver knows it; the default stream is 0. Free lists are ordered
/// by it (§0.4).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Stream(pub u64);

/// The allocator of all devices of a process.
#[derive(Clone, Debug)]
pub struct Allocator<D> {
    settings: Settings,
    driver: D,
    blocks: Arena,
    pools: Vec<Pool>,
    devices: Vec<Device>,
    reservations: Vec<Reservation>,
    /// Streams that used a block beside its own, for blocks marked `recorded`.
    recorded_streams: FxHashMap<Index, Vec<Stream>>,
    mem_pools_made: u64,
    graphs_made: u64,
}

impl<D: Driver> Allocator<D> {
    /// An allocator that holds nothing yet, for `device_count` devices.
    /// `settings.per_process_memory_fraction` becomes the limit of each.
    #[must_use]
    pub fn new(settings: Settings, driver: D, device_count: u32) -> Self {
        let mut allocator = Self {
            settings,
            driver,
            blocks: Arena::default(),
            pools: Vec::new(),
            devices: Vec::new(),
            reservations: Vec::new(),
            recorded_streams: FxHashMap::default(),
            mem_pools_made: 0,
            graphs_made: 0,
        };
        for index in 0..device_count {
            allocator.add_device(DeviceIndex(index));
        }
        allocator
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings, to be changed while running: [`Settings::apply`] does it as PyTorch does.
    /// They take effect at the next operation.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// The driver.
    #[must_use]
    pub fn driver(&self) -> &D {
        &self.driver
    }

    /// The driver, to tell it what the world does meanwhile.
    pub fn driver_mut(&mut self) -> &mut D {
        &mut self.driver
    }

    /// How many devices there are.
    #[must_use]
    pub fn device_count(&self) -> u32 {
        self.devices.len() as u32
    }

    /// Statistics of a device (§14); `None` for a device that does not exist.
    #[must_use]
    pub fn statistics(&self, device: DeviceIndex) -> Option<&Statistics> {
        self.devices.get(device.index()).map(|device| &device.stats)
    }

    /// Statistics of a device, to be reset.
    pub fn statistics_mut(&mut self, device: DeviceIndex) -> Option<&mut Statistics> {
        let device = self.devices.get_mut(device.index());
        device.map(|device| &mut device.stats)
    }

    /// Bytes held from the driver, of all pools, expandable pages included (§3.1).
    #[must_use]
    pub fn held_bytes(&self, device: DeviceIndex) -> u64 {
        let device = self.devices.get(device.index());
        device.map_or(0, |device| device.held_bytes)
    }

    /// Events that a device has emitted so far.
    #[must_use]
    pub fn events_emitted(&self, device: DeviceIndex) -> u64 {
        let device = self.devices.get(device.index());
        device.map_or(0, |device| device.emitted)
    }

    /// `set_per_process_memory_fraction` (§4.6): 1 lifts the limit.
    ///
    /// # Errors
    /// When the fraction is not between 0 and 1, or there is no such device.
    pub fn set_memory_fraction(
        &mut self,
        device: DeviceIndex,
        fraction: f64,
    ) -> Result<(), FractionError> {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(FractionError::OutOfRange);
        }
        let total = self.driver.total_bytes(device);
        let Some(device) = self.devices.get_mut(device.index()) else {
            return Err(FractionError::NoDevice);
        };
        device.limit_bytes = device::limit_bytes(fraction, total);
        Ok(())
    }

    /// Sets the memory limit of a device in bytes; `None` lifts it.
    pub fn set_memory_limit(&mut self, device: DeviceIndex, limit_bytes: Option<u64>) {
        if let Some(device) = self.devices.get_mut(device.index()) {
            device.limit_bytes = limit_bytes;
        }
    }

    /// Where a block is, how large, and what was asked for; `None` once it is gone.
    #[must_use]
    pub fn block(&self, id: BlockId) -> Option<BlockSpot> {
        self.blocks.resolve(id).map(spot_of)
    }

    fn add_device(&mut self, index: DeviceIndex) {
        let total = self.driver.total_bytes(index);
        let small = self.pools.len() as u32;
        let pools = Pool::pair(index, crate::ids::PoolId::DEFAULT);
        self.pools.extend(pools);
        let fraction = self.settings.per_process_memory_fraction;
        let mut device = Device::new(index, small, device::limit_bytes(fraction, total));
        device.stats.max_split_size = self.settings.max_split_signed();
        self.devices.push(device);
    }
}

/// A refused memory fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FractionError {
    /// Not between 0 and 1.
    #[error("invalid fraction: it must be between 0 and 1")]
    OutOfRange,
    /// There is no such device.
    #[error("no such device")]
    NoDevice,
}

fn spot_of(block: &Block) -> BlockSpot {
    BlockSpot {
        address: block.address,
        size_bytes: block.size,
        requested_bytes: block.requested,
        stream: block.stream,
    }
}
