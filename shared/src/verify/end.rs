//! The end of the walk held against the final snapshot.

use crate::allocator::SegmentReport;
use crate::ids::{EventIndex, PoolKind};
use crate::model::BlockState;
use crate::verify::Mismatch;
use crate::verify::walk::Walk;

impl Walk<'_> {
    /// The first event from here on that does not fit the state at all.
    pub(super) fn first_unfit(&self) -> Option<Mismatch> {
        let fits = |index: &u32| {
            let event = EventIndex(*index);
            let action = self.record.events.action(event);
            action.is_some_and(|action| self.replay.fits(action, event))
        };
        let unfit = (self.at..self.replay.events()).find(|index| !fits(index))?;
        Some(Mismatch {
            event: EventIndex(unfit),
            recorded: self.recorded(unfit),
            predicted: None,
            candidates: Vec::new(),
        })
    }

    /// The first address at which the final state differs from the recorded one.
    pub(super) fn final_difference(&self) -> Option<u64> {
        if self.ends_open {
            return None;
        }
        let walked = self.allocator.snapshot();
        let mut walked = walked.iter();
        let mut recorded = self.record.segments.iter();
        loop {
            match (walked.next(), recorded.next()) {
                (None, None) => return None,
                (Some(walked), Some(recorded)) => {
                    if !is_same_segment(walked, recorded) {
                        return Some(walked.address.min(recorded.address));
                    }
                }
                (Some(walked), None) => return Some(walked.address),
                (None, Some(recorded)) => return Some(recorded.address),
            }
        }
    }
}

fn is_same_segment(walked: &SegmentReport, recorded: &crate::model::Segment) -> bool {
    let kind: PoolKind = recorded.kind;
    walked.address == recorded.address
        && walked.kind == kind
        && walked.blocks.len() == recorded.blocks.len()
        && walked
            .blocks
            .iter()
            .zip(&recorded.blocks)
            .all(|(walked, recorded)| {
                // What was asked for is stale in cached blocks, and partly from before the record.
                let is_cached = recorded.state == BlockState::Cached;
                let requested = recorded.requested_bytes.filter(|_| !is_cached);
                walked.address == recorded.address
                    && walked.size_bytes == recorded.size_bytes
                    && walked.state == recorded.state
                    && requested.is_none_or(|bytes| bytes == walked.requested_bytes)
            })
}
