//! The simulated card, with addresses as a real driver gives them: memory is taken from the top
//! down in chunks of 32 MiB, and what fits goes into the rest of a chunk. The allocator chooses
//! among equal blocks by address, so that the order matters.

use std::collections::VecDeque;

use crate::allocator::{
    At, CardSize, Driver, DriverError, Pages, SimulatedCard, Stream, StreamEvent,
};
use crate::ids::DeviceIndex;
use crate::units::MIB;

const CHUNK: u64 = 32 * MIB;
/// Segments begin at multiples of this.
const STEP: u64 = 2 * MIB;
/// End of the memory of tensors.
const TOP: u64 = 0x7f00_0000_0000;

#[derive(Clone, Debug)]
pub(crate) struct Card {
    inner: SimulatedCard,
    /// Addresses of the next segments, where a recording knows them.
    given: VecDeque<u64>,
    /// Begin of the lowest chunk.
    lowest: u64,
    /// Free ranges of chunks: begin and end, highest first.
    free: Vec<(u64, u64)>,
}

impl Card {
    pub(crate) fn new(size: CardSize, addresses: &[u64]) -> Self {
        Self {
            inner: SimulatedCard::new(&[size]),
            given: addresses.iter().copied().collect(),
            lowest: TOP,
            free: Vec::new(),
        }
    }

    /// The work queued so far is done.
    pub(crate) fn complete(&mut self, device: DeviceIndex, stream: Option<Stream>) {
        self.inner.complete(device, stream);
    }

    fn place(&mut self, bytes: u64) -> u64 {
        let bytes = bytes.next_multiple_of(STEP);
        let fits = |range: &&mut (u64, u64)| range.1 - range.0 >= bytes;
        if let Some(range) = self.free.iter_mut().find(fits) {
            let address = range.0;
            range.0 += bytes;
            return address;
        }
        let chunk = bytes.next_multiple_of(CHUNK);
        self.lowest -= chunk;
        self.free.push((self.lowest + bytes, self.lowest + chunk));
        self.lowest
    }

    /// A range is free again, joined with what lies beside it.
    fn give_back(&mut self, address: u64, bytes: u64) {
        let end = address + bytes.next_multiple_of(STEP);
        self.free.push((address, end));
        self.free.retain(|range| range.0 < range.1);
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        self.free.dedup_by(|lower, higher| {
            let joined = lower.1 == higher.0;
            if joined {
                higher.0 = lower.0;
            }
            joined
        });
    }
}

impl Driver for Card {
    fn total_bytes(&self, device: DeviceIndex) -> u64 {
        self.inner.total_bytes(device)
    }

    fn free_bytes(&mut self, at: At) -> u64 {
        self.inner.free_bytes(at)
    }

    fn allocate(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.inner.allocate(at, bytes)?;
        Ok(match self.given.pop_front() {
            Some(address) => address,
            None => self.place(bytes),
        })
    }

    fn free(&mut self, at: At, address: u64, bytes: u64) {
        self.inner.free(at, address, bytes);
        if address >= self.lowest {
            self.give_back(address, bytes);
        }
    }

    fn reserve(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.inner.reserve(at, bytes)
    }

    fn unreserve(&mut self, at: At, address: u64, bytes: u64) {
        self.inner.unreserve(at, address, bytes);
    }

    fn map(&mut self, at: At, pages: Pages) -> Result<(), DriverError> {
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
}
