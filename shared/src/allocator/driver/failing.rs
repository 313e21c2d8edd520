//! A driver that fails on purpose, for tests of what happens then.

use super::{
    At, Driver, DriverCall, DriverError, GraphNode, Pages, ProcessMemory, StreamEvent,
    SweepCandidate,
};
use crate::{allocator::Stream, ids::DeviceIndex};

/// When to fail, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The call for memory that fails first, from 0; segments, reservations and mappings count.
    pub from_call: u64,
    /// How many fail from there.
    pub calls: u64,
    /// What they return.
    pub error: DriverError,
}

/// Another driver whose calls for memory fail at chosen times.
#[derive(Clone, Debug)]
pub struct Failing<D> {
    /// The driver that answers all other calls.
    pub inner: D,
    trouble: Trouble,
    calls: u64,
}

impl<D> Failing<D> {
    /// Puts trouble in front of a driver.
    #[must_use]
    pub fn new(inner: D, trouble: Trouble) -> Self {
        Self {
            inner,
            trouble,
            calls: 0,
        }
    }

    fn attempt(&mut self) -> Result<(), DriverError> {
        let call = self.calls;
        self.calls += 1;
        let fails =
            call >= self.trouble.from_call && call - self.trouble.from_call < self.trouble.calls;
        if fails {
            Err(self.trouble.error)
        } else {
            Ok(())
        }
    }
}

impl<D: Driver> Driver for Failing<D> {
    fn total_bytes(&self, device: DeviceIndex) -> u64 {
        self.inner.total_bytes(device)
    }

    fn free_bytes(&mut self, at: At) -> u64 {
        self.inner.free_bytes(at)
    }

    fn allocate(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.attempt()?;
        self.inner.allocate(at, bytes)
    }

    fn free(&mut self, at: At, address: u64, bytes: u64) {
        self.inner.free(at, address, bytes);
    }

    fn reserve(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.attempt()?;
        self.inner.reserve(at, bytes)
    }

    fn unreserve(&mut self, at: At, address: u64, bytes: u64) {
        self.inner.unreserve(at, address, bytes);
    }

    fn map(&mut self, at: At, pages: Pages) -> Result<(), DriverError> {
        self.attempt()?;
        self.inner.map(at, pages)
    }

    fn unmap(&mut self, at: At, pages: Pages) {
        self.inner.unmap(at, pages);
    }

    fn record_event(&mut self, at: At, stream: Stream, block_address: u64) -> StreamEvent {
        self.inner.record_event(at, stream, block_address)
    }

    fn is_complete(&mut self, at: At, stream: Stream, event: StreamEvent) -> bool {
        self.inner.is_complete(at, stream, event)
    }

    fn wait(&mut self, at: At, stream: Stream, event: StreamEvent) {
        self.inner.wait(at, stream, event);
    }

    fn graph_terminals(&mut self, at: At, streams: &[Stream]) -> Vec<GraphNode> {
        self.inner.graph_terminals(at, streams)
    }

    fn graph_follows(&mut self, at: At, stream: Stream, nodes: &[GraphNode]) -> bool {
        self.inner.graph_follows(at, stream, nodes)
    }

    fn next_swept(&mut self, at: At, candidates: &[SweepCandidate]) -> usize {
        self.inner.next_swept(at, candidates)
    }

    fn processes(&mut self, device: DeviceIndex) -> Vec<ProcessMemory> {
        self.inner.processes(device)
    }

    fn cost_ns(&self, call: DriverCall) -> Option<f64> {
        self.inner.cost_ns(call)
    }
}
