//! Events of the allocator against those of the record.

use crate::allocator::{Sink, Step, TraceEvent};
use crate::store::{DeviceRecord, Recording};
use crate::verify::expected::trace_event;

/// Holds events against the record as they are emitted.
pub(super) struct Check<'a, S> {
    recording: &'a Recording,
    record: &'a DeviceRecord,
    /// Events met, as an index into the record.
    pub(super) at: u32,
    /// The first that differs, with what came in its place.
    pub(super) first_mismatch: Option<(u32, Option<TraceEvent>)>,
    sink: &'a mut S,
}

impl<'a, S> Check<'a, S> {
    pub(super) fn new(
        recording: &'a Recording,
        record: &'a DeviceRecord,
        at: u32,
        sink: &'a mut S,
    ) -> Self {
        Self {
            recording,
            record,
            at,
            first_mismatch: None,
            sink,
        }
    }
}

impl<S: Sink> Sink for Check<'_, S> {
    const EXPLAINS: bool = S::EXPLAINS;

    fn event(&mut self, event: TraceEvent) {
        self.sink.event(event);
        if self.first_mismatch.is_some() {
            return;
        }
        if trace_event(self.recording, self.record, self.at) == Some(event) {
            self.at += 1;
        } else {
            self.first_mismatch = Some((self.at, Some(event)));
        }
    }

    fn step(&mut self, step: Step) {
        self.sink.step(step);
    }
}
