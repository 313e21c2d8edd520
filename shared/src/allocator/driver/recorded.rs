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

/// Answers from the events of a recording. A question is answered by the event that will follow
/// it: the allocator says how many it has emitted, and the next one in the recording shows where
/// the segment lies, which free completed or which pool was swept.
#[derive(Clone, Debug)]
pub struct Recorded {
    devices: Vec<Device>,
    next_event: u64,
    /// Addresses for what the recording does not show.
    next_address: u64,
}

#[derive(Clone, Debug)]
struct Device {
    total_bytes: u64,
    events: Vec<TraceEvent>,
    /// Outstanding events by stream, each with the address of its block.
    outstanding: FxHashMap<Stream, VecDeque<(StreamEvent, u64)>>,
}

impl Recorded {
    /// The events of each device in their order, and the size of its card.
    #[must_use]
    pub fn new(devices: Vec<(u64, Vec<TraceEvent>)>) -> Self {
        let last_address = devices
            .iter()
            .flat_map(|(_, events)| events)
            .filter(|event| event.action != Action::Oom)
            .map(|event| event.address.saturating_add(event.size_bytes))
            .max()
            .unwrap_or(0);
        let device = |(total_bytes, events)| Device {
            total_bytes,
            events,
            outstanding: FxHashMap::default(),
        };
        Self {
            devices: devices.into_iter().map(device).collect(),
            next_event: 0,
            next_address: last_address.saturating_add(1 << 40) & !(2 * MIB - 1),
        }
    }

    fn next(&self, at: At) -> Option<&TraceEvent> {
        let device = self.devices.get(at.device.index())?;
        device.events.get(usize::try_from(at.event).ok()?)
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
        let device = &mut self.devices[at.device.index()];
        if let Some(queue) = device.outstanding.get_mut(&stream) {
            queue.retain(|(outstanding, _)| *outstanding != event);
        }
    }
}

impl Driver for Recorded {
    fn total_bytes(&self, device: DeviceIndex) -> u64 {
        let device = self.devices.get(device.index());
        device.map_or(0, |device| device.total_bytes)
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
        let outstanding = &mut self.devices[at.device.index()].outstanding;
        let queue = outstanding.entry(stream).or_default();
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
        let outstanding = &self.devices[at.device.index()].outstanding;
        let complete = outstanding
            .get(&stream)
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
