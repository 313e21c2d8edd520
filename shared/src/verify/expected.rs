//! The events of a record as the driver of the verification sees them.

use crate::allocator::{RecordedEvents, TraceEvent};
use crate::ids::{DeviceIndex, EventIndex};
use crate::recorded;
use crate::store::{DeviceRecord, Recording};
use crate::units::GIB;

/// The allocator has one device, whichever the record is of.
pub(super) const DEVICE: DeviceIndex = DeviceIndex(0);

/// One event of the record in the allocator's form.
pub(super) fn trace_event(
    recording: &Recording,
    record: &DeviceRecord,
    index: u32,
) -> Option<TraceEvent> {
    let event = record.events.get(EventIndex(index))?;
    Some(recorded::trace_event(recording, DEVICE, &event))
}

/// A card larger than any: a reservation is nine eighths of it, and its true size is not in the
/// recording.
const LARGE_CARD: u64 = 1024 * GIB;

/// The events of a record, from where the allocator's own count begins.
#[derive(Clone, Debug)]
pub(super) struct Expected<'a> {
    recording: &'a Recording,
    record: &'a DeviceRecord,
    /// Index in the record less the count of the allocator.
    skew: i64,
}

impl<'a> Expected<'a> {
    pub(super) fn new(recording: &'a Recording, record: &'a DeviceRecord) -> Self {
        Self {
            recording,
            record,
            skew: 0,
        }
    }

    /// The record stands at `index` when the allocator has emitted `emitted` events.
    pub(super) fn align(&mut self, index: u32, emitted: u64) {
        self.skew = i64::from(index) - i64::try_from(emitted).unwrap_or(i64::MAX);
    }
}

impl RecordedEvents for Expected<'_> {
    fn total_bytes(&self, _device: DeviceIndex) -> u64 {
        let card = self.recording.environment.card;
        card.total_bytes.unwrap_or(LARGE_CARD)
    }

    fn event(&self, _device: DeviceIndex, index: u64) -> Option<TraceEvent> {
        let index = i64::try_from(index).ok()?.checked_add(self.skew)?;
        trace_event(self.recording, self.record, u32::try_from(index).ok()?)
    }
}
