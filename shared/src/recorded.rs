//! A recording in the terms of the allocator: raw stream handles, plain segments. What replays a
//! recording through [`Allocator`](crate::allocator::Allocator) begins here.

use crate::{
    allocator::{BlockReport, SegmentReport, Stream, TraceEvent},
    ids::{DeviceIndex, PoolId},
    model::Event,
    store::{DeviceRecord, Recording},
};

/// The events of a device as the allocator emits them. None is left out, so that positions are
/// those of the recording.
#[must_use]
pub fn trace_events(recording: &Recording, record: &DeviceRecord) -> Vec<TraceEvent> {
    let events = record.events.iter();
    events
        .map(|(_, event)| trace_event(recording, record.device, &event))
        .collect()
}

/// One event as the allocator of `device` emits it.
#[must_use]
pub fn trace_event(recording: &Recording, device: DeviceIndex, event: &Event) -> TraceEvent {
    TraceEvent {
        device,
        action: event.action,
        address: event.address,
        size_bytes: event.size_bytes,
        stream: Stream(recording.stream_handle(event.stream)),
    }
}

/// The final segments of a device as the allocator reports them. Where the recording does not say,
/// the pool is the default one and the bytes asked for are those of the block.
#[must_use]
pub fn segment_reports(recording: &Recording, record: &DeviceRecord) -> Vec<SegmentReport> {
    let segments = record.segments.iter();
    segments
        .map(|segment| SegmentReport {
            device: record.device,
            address: segment.address,
            stream: Stream(recording.stream_handle(segment.stream)),
            pool: segment.pool.unwrap_or(PoolId::DEFAULT),
            kind: segment.kind,
            expandable: segment.expandable,
            blocks: segment
                .blocks
                .iter()
                .map(|block| BlockReport {
                    address: block.address,
                    size_bytes: block.size_bytes,
                    requested_bytes: block.requested_bytes.unwrap_or(block.size_bytes),
                    state: block.state,
                })
                .collect(),
        })
        .collect()
}
