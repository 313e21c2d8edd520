//! A driver that answers as a recording says the real one did.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{At, Driver, DriverError, Pages, StreamEvent, SweepCandidate};
use crate::{
    allocator::{Stream, TraceEvent},
    ids::DeviceIndex,
    model::Action,
    units::MIB,
};

/// The events that a recording goes on with.
pub trait RecordedEvents {
    /// Bytes of the whole card.
    fn total_bytes(&self, device: DeviceIndex) -> u64;

    /// The event that a device records when it has emitted `index` others; `None` after the end.
    fn event(&self, device: DeviceIndex, index: u64) -> Option<TraceEvent>;
}

/// For each device the size of its card and its events.
impl RecordedEvents for Vec<(u64, Vec<TraceEvent>)> {
    fn total_bytes(&self, device: DeviceIndex) -> u64 {
        self.get(device.index()).map_or(0, |(total, _)| *total)
    }

    fn event(&self, device: DeviceIndex, index: u64) -> Option<TraceEvent> {
        let (_, events) = self.get(device.index())?;
        events.get(usize::try_from(index).ok()?).copied()
    }
}

/// Answers from the events of a recording. A question is answered by the event that will follow
/// it: the allocator says how many it has emitted, and the next one in the recording shows where
/// the segment lies, which free completed or which pool was swept.
#[derive(Clone, Debug)]
pub struct Recorded<E = Vec<(u64, Vec<TraceEvent>)>> {
    events: E,
    /// Outstanding events by device and stream, each with the address of its block.
    outstanding: FxHashMap<(DeviceIndex, Stream), VecDeque<(StreamEvent, u64)>>,
    next_event: u64,
    /// Addresses for what the recording does not show.
    next_address: u64,
}

/// Where addresses begin that the recording does not show: above all that a device reserves.
const BEYOND: u64 = 1 << 60;

impl<E: RecordedEvents> Recorded<E> {
    /// A driver that answers from `events`.
    #[must_use]
    pub fn new(events: E) -> Self {
        Self {
            events,
            outstanding: FxHashMap::default(),
            next_event: 0,
            next_address: BEYOND,
        }
    }

    /// The events, to be moved on where the allocator's count differs from the recording's.
    pub fn events_mut(&mut self) -> &mut E {
        &mut self.events
    }

    fn next(&self, at: At) -> Option<TraceEvent> {
        self.events.event(at.device, at.event)
    }

    /// The address of the next event if it is `action`; memory is there where the recording shows
    /// it, and after its end.
    fn answer(&mut self, at: At, action: Action, bytes: u64) -> Result<u64, DriverError> {
        match self.next(at) {
            Some(event) if event.action == action => Ok(event.address),
            Some(_) => Err(DriverError::OutOfMemory),
            None => {
                let address = self.next_address;
                let bytes = bytes.saturating_add(2 * MIB - 1) & !(2 * MIB - 1);
                self.next_address = self.next_address.saturating_add(bytes);
                Ok(address)
            }
        }
    }

    fn forget(&mut self, at: At, stream: Stream, event: StreamEvent) {
        if let Some(queue) = self.outstanding.get_mut(&(at.device, stream)) {
            queue.retain(|(outstanding, _)| *outstanding != event);
        }
    }
}

impl<E: RecordedEvents> Driver for Recorded<E> {
    fn total_bytes(&self, device: DeviceIndex) -> u64 {
        self.events.total_bytes(device)
    }

    /// What the recorded failure reports.
    fn free_bytes(&mut self, at: At) -> u64 {
        match self.next(at) {
            Some(event) if event.action == Action::Oom => event.address,
            _ => 0,
        }
    }

    fn allocate(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.answer(at, Action::SegmentAlloc, bytes)
    }

    fn free(&mut self, _at: At, _address: u64, _bytes: u64) {}

    fn reserve(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.answer(at, Action::SegmentMap, bytes)
    }

    fn unreserve(&mut self, _at: At, _address: u64, _bytes: u64) {}

    fn map(&mut self, at: At, pages: Pages) -> Result<(), DriverError> {
        self.answer(at, Action::SegmentMap, pages.bytes).map(|_| ())
    }

    fn unmap(&mut self, _at: At, _pages: Pages) {}

    fn record_event(&mut self, at: At, stream: Stream, block_address: u64) -> StreamEvent {
        let event = StreamEvent(self.next_event);
        self.next_event += 1;
        let queue = self.outstanding.entry((at.device, stream)).or_default();
        queue.push_back((event, block_address));
        event
    }

    /// An event is complete if the recording's next event is the completed free of its block, or
    /// of one behind it on the same stream.
    fn is_complete(&mut self, at: At, stream: Stream, event: StreamEvent) -> bool {
        let next_freed = match self.next(at) {
            Some(event) if event.action == Action::FreeCompleted => event.address,
            _ => return false,
        };
        let complete = self
            .outstanding
            .get(&(at.device, stream))
            .is_some_and(|queue| queue.iter().any(|(_, address)| *address == next_freed));
        if complete {
            self.forget(at, stream, event);
        }
        complete
    }

    fn wait(&mut self, at: At, stream: Stream, event: StreamEvent) {
        self.forget(at, stream, event);
    }

    fn next_swept(&mut self, at: At, candidates: &[SweepCandidate]) -> usize {
        let next = self.next(at).map(|event| event.address);
        candidates
            .iter()
            .position(|candidate| {
                candidate.first_address.is_none() || candidate.first_address == next
            })
            .unwrap_or(0)
    }
}
