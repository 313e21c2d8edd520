//! A card made of numbers: it counts bytes, sums costs, and streams are done when it is told so.

use std::collections::BTreeMap;

use super::{At, Driver, DriverCall, DriverError, Pages, StreamEvent, cost_on_h200_ns};
use crate::{allocator::Stream, ids::DeviceIndex, units::MIB};

/// Address of the first segment.
const FIRST_ADDRESS: u64 = 0x7f00_0000_0000;
/// Segments and reservations begin at multiples of this.
const STEP: u64 = 2 * MIB;

/// The size of a card and who else uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardSize {
    /// Bytes of the whole card.
    pub capacity_bytes: u64,
    /// Bytes that others use.
    pub others_bytes: u64,
}

/// Driver calls so far and their time by the cost model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Calls that have a cost: segments got and given back, ranges mapped and unmapped.
    pub calls: u64,
    /// Their nanoseconds.
    pub ns: f64,
    /// Calls without a measured cost; they count 0 ns.
    pub unpriced_calls: u64,
}

/// Simulated cards, all in one address space in which new ranges ascend.
#[derive(Clone, Debug)]
pub struct SimulatedCard {
    cards: Vec<Card>,
    next_address: u64,
    next_event: u64,
    spent: Spent,
}

#[derive(Clone, Debug)]
struct Card {
    size: CardSize,
    held_bytes: u64,
    /// Events below this number are complete, per stream.
    complete_below: BTreeMap<Stream, u64>,
}

impl SimulatedCard {
    /// As many cards as sizes, the first is device 0.
    #[must_use]
    pub fn new(sizes: &[CardSize]) -> Self {
        let card = |size: &CardSize| Card {
            size: *size,
            held_bytes: 0,
            complete_below: BTreeMap::new(),
        };
        Self {
            cards: sizes.iter().map(card).collect(),
            next_address: FIRST_ADDRESS,
            next_event: 0,
            spent: Spent::default(),
        }
    }

    /// One card that nobody else uses.
    #[must_use]
    pub fn with_capacity(capacity_bytes: u64) -> Self {
        Self::new(&[CardSize {
            capacity_bytes,
            others_bytes: 0,
        }])
    }

    /// The calls so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Lets others take `bytes` more of a card; false, and nothing taken, if they are not free.
    pub fn take_by_others(&mut self, device: DeviceIndex, bytes: u64) -> bool {
        let Some(card) = self.cards.get_mut(device.index()) else {
            return false;
        };
        let fits = bytes <= card.free_bytes();
        if fits {
            card.size.others_bytes += bytes;
        }
        fits
    }

    /// The work queued on `stream` so far is done; of all streams of the device without one.
    pub fn complete(&mut self, device: DeviceIndex, stream: Option<Stream>) {
        let Some(card) = self.cards.get_mut(device.index()) else {
            return;
        };
        match stream {
            Some(stream) => {
                if let Some(below) = card.complete_below.get_mut(&stream) {
                    *below = self.next_event;
                }
            }
            None => {
                for below in card.complete_below.values_mut() {
                    *below = self.next_event;
                }
            }
        }
    }

    /// New addresses begin above `address`, for an allocator that starts with segments.
    pub fn start_above(&mut self, address: u64) {
        self.next_address = self.next_address.max(address.next_multiple_of(STEP));
    }

    /// Bytes of a card are held from the beginning, for an allocator that starts with segments.
    pub fn hold(&mut self, device: DeviceIndex, bytes: u64) {
        if let Some(card) = self.cards.get_mut(device.index()) {
            card.held_bytes += bytes;
        }
    }

    fn addresses(&mut self, bytes: u64) -> u64 {
        let address = self.next_address;
        self.next_address += bytes.next_multiple_of(STEP);
        address
    }

    fn pay(&mut self, call: DriverCall) {
        match cost_on_h200_ns(call) {
            Some(ns) => {
                self.spent.calls += 1;
                self.spent.ns += ns;
            }
            None => self.spent.unpriced_calls += 1,
        }
    }

    fn hold_if_free(&mut self, at: At, bytes: u64) -> Result<(), DriverError> {
        let card = &mut self.cards[at.device.index()];
        if bytes > card.free_bytes() {
            return Err(DriverError::OutOfMemory);
        }
        card.held_bytes += bytes;
        Ok(())
    }
}

impl Card {
    fn free_bytes(&self) -> u64 {
        let used = self.held_bytes.saturating_add(self.size.others_bytes);
        self.size.capacity_bytes.saturating_sub(used)
    }
}

impl Driver for SimulatedCard {
    fn total_bytes(&self, device: DeviceIndex) -> u64 {
        self.cards
            .get(device.index())
            .map_or(0, |card| card.size.capacity_bytes)
    }

    fn free_bytes(&mut self, at: At) -> u64 {
        self.cards[at.device.index()].free_bytes()
    }

    fn allocate(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.pay(DriverCall::Allocate { bytes });
        self.hold_if_free(at, bytes)?;
        Ok(self.addresses(bytes))
    }

    fn free(&mut self, at: At, _address: u64, bytes: u64) {
        self.pay(DriverCall::Free { bytes });
        self.cards[at.device.index()].held_bytes -= bytes;
    }

    fn reserve(&mut self, _at: At, bytes: u64) -> Result<u64, DriverError> {
        self.pay(DriverCall::Reserve { bytes });
        Ok(self.addresses(bytes))
    }

    fn unreserve(&mut self, _at: At, _address: u64, bytes: u64) {
        self.pay(DriverCall::Unreserve { bytes });
    }

    fn map(&mut self, at: At, pages: Pages) -> Result<(), DriverError> {
        self.pay(pages.map_call());
        self.hold_if_free(at, pages.bytes)
    }

    fn unmap(&mut self, at: At, pages: Pages) {
        self.pay(pages.unmap_call());
        self.cards[at.device.index()].held_bytes -= pages.bytes;
    }

    fn record_event(&mut self, at: At, stream: Stream, _block_address: u64) -> StreamEvent {
        let event = self.next_event;
        self.next_event += 1;
        let card = &mut self.cards[at.device.index()];
        card.complete_below.entry(stream).or_insert(event);
        StreamEvent(event)
    }

    fn is_complete(&mut self, at: At, stream: Stream, event: StreamEvent) -> bool {
        let below = self.cards[at.device.index()].complete_below.get(&stream);
        below.is_some_and(|below| event.0 < *below)
    }

    fn wait(&mut self, at: At, stream: Stream, event: StreamEvent) {
        let card = &mut self.cards[at.device.index()];
        let below = card.complete_below.entry(stream).or_default();
        *below = (*below).max(event.0 + 1);
    }
}
