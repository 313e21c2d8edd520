//! The state of one device (§3.1).

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::{
    Allocator, Stream,
    arena::Index,
    capture::Deferred,
    decision::Step,
    driver::{At, Driver, DriverCall, StreamEvent},
    private_pool::{Diversion, PrivatePool},
    stats::Statistics,
    trace::{Sink, TraceEvent},
};
use crate::{
    ids::{DeviceIndex, PoolId, PoolKind},
    model::Action,
};

#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) index: DeviceIndex,
    /// Position of the default small pool in the allocator's table; the large one follows it.
    pub(super) default_pools: u32,
    pub(super) private: BTreeMap<PoolId, PrivatePool>,
    /// Pools that allocations are diverted to, the newest last.
    pub(super) diversions: Vec<(PoolId, Diversion)>,
    /// Outstanding events by stream, oldest first.
    pub(super) outstanding: BTreeMap<Stream, VecDeque<(StreamEvent, Index)>>,
    /// Blocks freed during a capture that other streams used, oldest first (§9.5).
    pub(super) deferred: Vec<Deferred>,
    /// Streams recorded while a diversion was active (§9.1).
    pub(super) recorded_in_capture: FxHashMap<Index, Vec<Stream>>,
    /// Bytes obtained from the driver.
    pub(super) held_bytes: u64,
    pub(super) limit_bytes: Option<u64>,
    pub(super) stats: Statistics,
    /// Events emitted so far.
    pub(super) emitted: u64,
}

impl Device {
    pub(super) fn new(index: DeviceIndex, default_pools: u32, limit_bytes: Option<u64>) -> Self {
        Self {
            index,
            default_pools,
            private: BTreeMap::new(),
            diversions: Vec::new(),
            outstanding: BTreeMap::new(),
            deferred: Vec::new(),
            recorded_in_capture: FxHashMap::default(),
            held_bytes: 0,
            limit_bytes,
            stats: Statistics::default(),
            emitted: 0,
        }
    }

    pub(super) fn default_pool(&self, kind: PoolKind) -> u32 {
        self.default_pools + kind as u32
    }

    pub(super) fn is_diverting(&self) -> bool {
        !self.diversions.is_empty()
    }
}

/// The limit that a fraction of the card means (§4.6).
pub(super) fn limit_bytes(fraction: f64, total_bytes: u64) -> Option<u64> {
    (fraction < 1.0).then_some((fraction * total_bytes as f64) as u64)
}

impl<D: Driver> Allocator<D> {
    /// Writes an event of a device.
    #[inline]
    pub(super) fn emit<S: Sink>(
        &mut self,
        sink: &mut S,
        device: usize,
        (action, address, size_bytes): (Action, u64, u64),
        stream: Stream,
    ) {
        let device = &mut self.devices[device];
        device.emitted += 1;
        sink.event(TraceEvent {
            device: device.index,
            action,
            address,
            size_bytes,
            stream,
        });
    }

    /// The place in the trace at which the driver is asked on behalf of a pool.
    pub(super) fn at(&self, pool: u32, stream: Stream) -> At {
        let pool = &self.pools[pool as usize];
        At {
            device: pool.device,
            event: self.devices[pool.device.index()].emitted,
            pool: pool.id,
            stream,
        }
    }

    /// Reports a driver call with its cost.
    pub(super) fn note_call<S: Sink>(&self, sink: &mut S, call: DriverCall, succeeded: bool) {
        if S::EXPLAINS {
            sink.step(Step::Driver {
                call,
                succeeded,
                cost_ns: self.driver.cost_ns(call),
            });
        }
    }
}
