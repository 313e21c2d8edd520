//! A recording in the terms of the allocator: raw stream handles, plain segments. What replays a
//! recording through [`Allocator`](crate::allocator::Allocator) begins here.

use crate::{
    allocator::{BlockReport, SegmentReport, Stream, TraceEvent},
    ids::{DeviceIndex, PoolId},
    model::{BlockState, Event},
    replay::{Replay, Run},
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

/// A segment of a replayed state as the allocator of `device` reports it. Blocks that still wait
/// for their streams come as allocated: who starts there frees them once more.
#[must_use]
pub fn run_report(
    recording: &Recording,
    replay: &Replay,
    run: &Run,
    device: DeviceIndex,
) -> SegmentReport {
    SegmentReport {
        device,
        address: run.address,
        stream: Stream(recording.stream_handle(run.stream)),
        pool: run.pool.unwrap_or(PoolId::DEFAULT),
        kind: run.kind,
        expandable: run.expandable,
        blocks: run
            .blocks
            .iter()
            .map(|block| BlockReport {
                address: block.address,
                size_bytes: block.size_bytes,
                requested_bytes: block
                    .life
                    .and_then(|id| replay.life(id))
                    .map_or(0, |life| life.requested_bytes),
                state: match block.life {
                    Some(_) => BlockState::Allocated,
                    None => BlockState::Cached,
                },
            })
            .collect(),
    }
}
