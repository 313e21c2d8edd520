//! What only hardware or the world can decide: where new memory lies, whether there is any, which
//! streams are done. Everything else the allocator decides itself.

mod costs;
mod failing;
mod recorded;
mod simulated;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Stream;
use crate::ids::{DeviceIndex, PoolId};

pub use costs::cost_on_h200_ns;
pub use failing::{Failing, Trouble};
pub use recorded::{Recorded, RecordedEvents};
pub use simulated::{CardSize, SimulatedCard, Spent};

/// Where in the trace a question comes up. A real driver needs none of it but the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Device asked.
    pub device: DeviceIndex,
    /// Events that this device has emitted so far; the answer will show in the next ones.
    pub event: u64,
    /// Pool that the memory is for.
    pub pool: PoolId,
    /// Stream that the memory is for.
    pub stream: Stream,
}

/// A range of whole pages of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Address of the first.
    pub address: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// Bytes of one.
    pub page_bytes: u64,
}

/// An event recorded on a stream, as the driver names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamEvent(pub u64);

/// A node of a graph being captured, as the driver names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphNode(pub u64);

/// A dropped pool that the flush is about to sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepCandidate {
    /// The pool.
    pub pool: PoolId,
    /// Address of the first event that sweeping it will emit; `None` if it will emit none.
    pub first_address: Option<u64>,
}

/// A process on the card, for the text of an out-of-memory error (§4.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMemory {
    /// Its id; `None` for the own process.
    pub pid: Option<u64>,
    /// Bytes it uses.
    pub bytes: u64,
}

/// Why the driver refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DriverError {
    /// There is not enough memory; the allocator tries other ways.
    #[error("out of memory")]
    OutOfMemory,
    /// Anything else; the allocator passes it on at once.
    #[error("CUDA driver error {code}")]
    Failed {
        /// The driver's number.
        code: u32,
    },
}

/// A call that costs time, for explanations and sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DriverCall {
    /// A segment is asked for (`cudaMalloc`).
    Allocate {
        /// Its bytes.
        bytes: u64,
    },
    /// A segment goes back (`cudaFree`).
    Free {
        /// Its bytes.
        bytes: u64,
    },
    /// Addresses are reserved.
    Reserve {
        /// Bytes of the range.
        bytes: u64,
    },
    /// Reserved addresses go back.
    Unreserve {
        /// Bytes of the range.
        bytes: u64,
    },
    /// Pages are created, mapped and made accessible.
    Map {
        /// How many.
        pages: u64,
        /// Bytes of each.
        page_bytes: u64,
    },
    /// Pages are unmapped and released.
    Unmap {
        /// How many.
        pages: u64,
        /// Bytes of each.
        page_bytes: u64,
    },
}

/// The driver of all cards. Calls come in the order in which the allocator needs them.
pub trait Driver {
    /// Bytes of the whole card, whoever uses them. Constant.
    fn total_bytes(&self, device: DeviceIndex) -> u64;

    /// Bytes of the card that nobody uses.
    fn free_bytes(&mut self, at: At) -> u64;

    /// A segment of exactly `bytes`; returns its address.
    ///
    /// # Errors
    /// When there is no memory or the driver fails.
    fn allocate(&mut self, at: At, bytes: u64) -> Result<u64, DriverError>;

    /// Takes back a segment that [`allocate`](Self::allocate) gave.
    fn free(&mut self, at: At, address: u64, bytes: u64);

    /// Reserves a range of addresses without memory; returns its first.
    ///
    /// # Errors
    /// When no range is left or the driver fails.
    fn reserve(&mut self, at: At, bytes: u64) -> Result<u64, DriverError>;

    /// Takes back a range that [`reserve`](Self::reserve) gave, all of it unmapped.
    fn unreserve(&mut self, at: At, address: u64, bytes: u64);

    /// Puts memory behind pages: all of them, or none on an error.
    ///
    /// # Errors
    /// When there is no memory or the driver fails.
    fn map(&mut self, at: At, pages: Pages) -> Result<(), DriverError>;

    /// Takes the memory behind pages back, after waiting for the stream.
    fn unmap(&mut self, at: At, pages: Pages);

    /// Records an event on `stream`, for the sake of the block at `block_address`.
    fn record_event(&mut self, at: At, stream: Stream, block_address: u64) -> StreamEvent;

    /// Whether the event, the oldest outstanding one of its stream, has completed.
    fn is_complete(&mut self, at: At, stream: Stream, event: StreamEvent) -> bool;

    /// Waits for the event; those before it on its stream are complete then as well.
    fn wait(&mut self, at: At, stream: Stream, event: StreamEvent);

    /// Which of several dropped pools is swept next: an index into `candidates`, which come in
    /// ascending order. PyTorch's order is that of a hash table (§9.7).
    fn next_swept(&mut self, _at: At, _candidates: &[SweepCandidate]) -> usize {
        0
    }

    /// The last nodes, on all of these streams, of the graph being captured; none where one of
    /// the streams is not captured (§9.6).
    fn graph_terminals(&mut self, _at: At, _streams: &[Stream]) -> Vec<GraphNode> {
        Vec::new()
    }

    /// Whether what is captured next on `stream` can only run after all of `nodes` (§9.6).
    fn graph_follows(&mut self, _at: At, _stream: Stream, _nodes: &[GraphNode]) -> bool {
        false
    }

    /// The processes on the card as the management library lists them; none where it is missing.
    fn processes(&mut self, _device: DeviceIndex) -> Vec<ProcessMemory> {
        Vec::new()
    }

    /// Nanoseconds that a call takes, where known.
    fn cost_ns(&self, call: DriverCall) -> Option<f64> {
        cost_on_h200_ns(call)
    }
}

impl Pages {
    /// How many.
    #[must_use]
    pub fn count(self) -> u64 {
        self.bytes / self.page_bytes.max(1)
    }

    /// The call that maps them.
    #[must_use]
    pub fn map_call(self) -> DriverCall {
        DriverCall::Map {
            pages: self.count(),
            page_bytes: self.page_bytes,
        }
    }

    /// The call that unmaps them.
    #[must_use]
    pub fn unmap_call(self) -> DriverCall {
        DriverCall::Unmap {
            pages: self.count(),
            page_bytes: self.page_bytes,
        }
    }
}
