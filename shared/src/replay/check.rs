//! What must hold of every record, checked once when it is indexed; violations become warnings.

use crate::ids::DeviceIndex;
use crate::model::{BlockState, Segment};
use crate::replay::{Cursor, Replay, Run};
use crate::settings::MIN_BLOCK;
use crate::store::DeviceRecord;
use crate::warning::{Place, WarningKind};

pub(super) fn check(replay: &mut Replay, record: &DeviceRecord) {
    for segment in &record.segments {
        check_segment(replay, record.device, segment);
    }
    let before = replay.lives().take_while(|(_, life)| life.born().is_none());
    let before = before.count() as u64;
    replay
        .warnings
        .add_many(WarningKind::AliveBefore, Place::Recording, before);
    if record.segments.is_empty() && record.events.is_empty() {
        return;
    }
    let mut cursor = Cursor::at_start(replay);
    cursor.seek(replay, &record.events, replay.events());
    let runs = cursor.state().runs(replay);
    compare_with_snapshot(replay, record, &runs);
}

fn check_segment(replay: &mut Replay, device: DeviceIndex, segment: &Segment) {
    let at = |address| Place::Address(device, address);
    let warnings = &mut replay.warnings;
    let mut expected = segment.address;
    let (mut allocated, mut active) = (0_u64, 0_u64);
    for block in &segment.blocks {
        if !block.address.is_multiple_of(MIN_BLOCK) {
            warnings.add(WarningKind::UnalignedAddress, at(block.address));
        }
        if block.address < expected {
            warnings.add(WarningKind::Overlap, at(block.address));
        }
        expected = block.address.saturating_add(block.size_bytes);
        match block.state {
            BlockState::Allocated => {
                allocated = allocated.saturating_add(block.size_bytes);
                active = active.saturating_add(block.size_bytes);
            }
            BlockState::PendingFree => active = active.saturating_add(block.size_bytes),
            BlockState::Cached => {}
        }
    }
    let total = segment
        .blocks
        .iter()
        .fold(0_u64, |sum, block| sum.saturating_add(block.size_bytes));
    if total != segment.size_bytes {
        warnings.add(WarningKind::SegmentSum, at(segment.address));
    }
    let differs = |stated: Option<u64>, sum| stated.is_some_and(|stated| stated != sum);
    if differs(segment.stated_allocated_bytes, allocated)
        || differs(segment.stated_active_bytes, active)
    {
        warnings.add(WarningKind::StatedSum, at(segment.address));
    }
}

/// The walk must end in the recorded segments, block by block.
fn compare_with_snapshot(replay: &mut Replay, record: &DeviceRecord, runs: &[Run]) {
    let mut walked = runs.iter().peekable();
    let mut recorded = record.segments.iter().peekable();
    let mut mismatches: Vec<u64> = Vec::new();
    loop {
        match (walked.peek(), recorded.peek()) {
            (Some(run), Some(segment)) if run.address == segment.address => {
                mismatches.extend(first_difference(replay, run, segment));
                walked.next();
                recorded.next();
            }
            (Some(run), Some(segment)) if run.address < segment.address => {
                mismatches.push(run.address);
                walked.next();
            }
            (_, Some(segment)) => {
                mismatches.push(segment.address);
                recorded.next();
            }
            (Some(run), None) => {
                mismatches.push(run.address);
                walked.next();
            }
            (None, None) => break,
        }
    }
    for address in mismatches {
        replay.warnings.add(
            WarningKind::FinalMismatch,
            Place::Address(record.device, address),
        );
    }
}

fn first_difference(replay: &Replay, run: &Run, segment: &Segment) -> Option<u64> {
    if run.size_bytes != segment.size_bytes
        || run.stream != segment.stream
        || run.kind != segment.kind
        || run.expandable != segment.expandable
        || run.blocks.len() != segment.blocks.len()
    {
        return Some(run.address);
    }
    let pairs = run.blocks.iter().zip(&segment.blocks);
    pairs
        .filter(|(walked, recorded)| {
            let state = match walked.life {
                None => BlockState::Cached,
                Some(id) => match replay.life(id) {
                    Some(life) if replay.is_pending(id, &life, replay.events()) => {
                        BlockState::PendingFree
                    }
                    _ => BlockState::Allocated,
                },
            };
            walked.address != recorded.address
                || walked.size_bytes != recorded.size_bytes
                || state != recorded.state
        })
        .map(|(walked, _)| walked.address)
        .next()
}
