//! Why a step happened, in words: what the allocator looked at, took, split, merged, released.
//! `**` around a part means strong.

use std::mem::discriminant;

use shared::allocator::{
    BlockSpot, DriverCall, FlushCause, KeptApart, PassedOver, Side, SplitRule, Step, Stream,
};
use shared::query::StreamView;
use shared::verify::Why;

use super::sentence::pool_name;
use super::streams::stream_number;
use crate::text::{self, format};

/// Lines of one kind in a row that are worded; the others are counted.
const MOST_ALIKE: usize = 6;

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WhyLine {
    pub(crate) text: String,
    /// It is an event of the record, not a consideration.
    pub(crate) is_event: bool,
}

/// All reasons in their order.
pub(crate) fn why_lines(why: &Why, streams: &[StreamView]) -> Vec<WhyLine> {
    let mut lines = Vec::new();
    let mut alike = 0;
    for (place, step) in why.steps.iter().enumerate() {
        let is_alike = place > 0 && discriminant(step) == discriminant(&why.steps[place - 1]);
        alike = if is_alike { alike + 1 } else { 0 };
        if alike < MOST_ALIKE {
            lines.push(WhyLine {
                text: line(step, streams),
                is_event: step.action().is_some(),
            });
        }
        let ends = why
            .steps
            .get(place + 1)
            .is_none_or(|next| discriminant(next) != discriminant(step));
        if ends && alike >= MOST_ALIKE {
            let text = text::why_more(alike + 1 - MOST_ALIKE);
            lines.push(WhyLine {
                text,
                is_event: false,
            });
        }
    }
    lines
}

fn line(step: &Step, streams: &[StreamView]) -> String {
    match step {
        Step::Asked { .. }
        | Step::PassedOver { .. }
        | Step::Taken { .. }
        | Step::NothingFits
        | Step::Split { .. } => search(step, streams),
        Step::Event(event) => text::why_event(
            event.action.name(),
            format::address(event.address),
            size(event.size_bytes),
        ),
        Step::StillWaiting { block, stream } => {
            text::why_still_waiting(at(block), size(block.size_bytes), number(*stream, streams))
        }
        Step::Deferred {
            block,
            capture: true,
            ..
        } => text::why_deferred_capture(size(block.size_bytes)),
        Step::Deferred {
            block,
            streams: users,
            ..
        } => {
            let users: Vec<String> = users
                .iter()
                .map(|user| number(*user, streams).to_string())
                .collect();
            text::why_deferred_streams(size(block.size_bytes), users.join(", "))
        }
        Step::Merged {
            neighbour,
            side,
            size_bytes,
        } => {
            let (neighbour, joined) = (size(neighbour.size_bytes), size(*size_bytes));
            match side {
                Side::Prev => text::why_merged_before(joined, neighbour),
                Side::Next => text::why_merged_after(joined, neighbour),
            }
        }
        Step::KeptApart {
            neighbour,
            side,
            why,
        } => kept_apart(neighbour, *side, *why),
        Step::Collect {
            threshold_bytes,
            held_bytes,
            target_bytes,
        } => text::why_collect(
            size(*held_bytes),
            size(*target_bytes),
            size(*threshold_bytes),
        ),
        Step::CollectPass { released_bytes, .. } => text::why_collect_pass(size(*released_bytes)),
        Step::OverLimit {
            held_bytes,
            segment_bytes,
            limit_bytes,
        } => text::why_over_limit(size(*held_bytes), size(*limit_bytes), size(*segment_bytes)),
        Step::Driver {
            call, succeeded, ..
        } => driver(call, *succeeded),
        Step::OtherPool { pool } => text::why_other_pool(pool_name(Some(*pool), None)),
        Step::ReleaseOversize {
            needed_bytes,
            released_bytes,
        } => text::why_release_oversize(size(*needed_bytes), size(*released_bytes)),
        Step::Flush { cause, .. } => match cause {
            FlushCause::EmptyCache => text::why_flush_empty_cache(),
            FlushCause::Retry => text::why_flush_retry(),
            FlushCause::PoolDropped => text::why_flush_pool_dropped(),
        },
        Step::Released {
            block,
            released_bytes,
        } => text::why_released(at(block), size(*released_bytes)),
        Step::Pinned { block, by } => match by {
            Some(by) => text::why_pinned(
                at(block),
                at(by),
                size(by.size_bytes),
                size(block.size_bytes),
            ),
            None => text::why_pinned_page(at(block), size(block.size_bytes)),
        },
        Step::KeptByPool {
            pool, free_bytes, ..
        } => text::why_kept_by_pool(size(*free_bytes), pool_name(Some(*pool), None)),
        Step::OutOfMemory {
            segment_bytes,
            held_bytes,
            allocated_bytes,
        } => text::why_oom(
            size(*allocated_bytes),
            size(*held_bytes),
            size(*segment_bytes),
        ),
    }
}

/// The search for a block and what became of it.
fn search(step: &Step, streams: &[StreamView]) -> String {
    match step {
        Step::Asked {
            requested_bytes,
            rounded_bytes,
            pool,
            kind,
            stream,
            ..
        } => text::why_asked(
            text::place_pool_stream(
                pool_name(Some(*pool), Some(*kind)),
                number(*stream, streams),
            ),
            format::exact_bytes(*requested_bytes),
            size(*rounded_bytes),
        ),
        Step::PassedOver { block, why } => passed_over(block, why, streams),
        Step::Taken { block } => text::why_taken(at(block), size(block.size_bytes)),
        Step::Split {
            rule,
            split,
            front_bytes,
            rest_bytes,
        } => {
            let rule = match rule {
                SplitRule::NoSplitPool => text::rule_no_split_pool(),
                SplitRule::SmallPool => text::rule_small_pool(),
                SplitRule::Expandable => text::rule_expandable(),
                SplitRule::LargePool => text::rule_large_pool(),
                SplitRule::AboveSplitLimit => text::rule_above_split_limit(),
            };
            match (split, *rest_bytes) {
                (true, rest) => text::why_split(size(*front_bytes), size(rest), rule),
                (false, 0) => text::why_exact(),
                (false, rest) => text::why_not_split(size(rest), rule),
            }
        }
        _ => text::why_nothing_fits(),
    }
}

fn passed_over(block: &BlockSpot, why: &PassedOver, streams: &[StreamView]) -> String {
    let bytes = size(block.size_bytes);
    match why {
        PassedOver::TooSmall { count } => text::why_too_small(*count, bytes),
        PassedOver::OtherStream => {
            text::why_other_stream(at(block), bytes, number(block.stream, streams))
        }
        PassedOver::FartherReach { reach_bytes } => {
            text::why_farther_reach(at(block), size(*reach_bytes), bytes)
        }
        PassedOver::Expandable => text::why_expandable_block(at(block), bytes),
        PassedOver::Oversize { max_split_bytes } => {
            text::why_oversize_block(at(block), size(*max_split_bytes), bytes)
        }
        PassedOver::TooLarge {
            max_non_split_rounding_bytes,
        } => text::why_too_large(at(block), size(*max_non_split_rounding_bytes), bytes),
    }
}

fn kept_apart(neighbour: &BlockSpot, side: Side, why: KeptApart) -> String {
    let bytes = size(neighbour.size_bytes);
    let reason = match why {
        KeptApart::Allocated => text::apart_allocated(),
        KeptApart::PendingFree => text::apart_pending(),
        KeptApart::Unmapped => text::apart_unmapped(),
    };
    match side {
        Side::Prev => text::why_apart_before(reason, bytes),
        Side::Next => text::why_apart_after(reason, bytes),
    }
}

fn driver(call: &DriverCall, succeeded: bool) -> String {
    let (name, bytes) = match call {
        DriverCall::Allocate { bytes } => ("cudaMalloc", *bytes),
        DriverCall::Free { bytes } => ("cudaFree", *bytes),
        DriverCall::Reserve { bytes } => ("cuMemAddressReserve", *bytes),
        DriverCall::Unreserve { bytes } => ("cuMemAddressFree", *bytes),
        DriverCall::Map { pages, page_bytes } => ("cuMemMap", pages * page_bytes),
        DriverCall::Unmap { pages, page_bytes } => ("cuMemUnmap", pages * page_bytes),
    };
    if succeeded {
        text::why_driver(name, size(bytes))
    } else {
        text::why_driver_refused(name, size(bytes))
    }
}

fn size(bytes: u64) -> String {
    format::size(bytes)
}

fn at(block: &BlockSpot) -> String {
    format::address(block.address)
}

fn number(stream: Stream, streams: &[StreamView]) -> u32 {
    let known = streams.iter().find(|other| other.handle == stream.0);
    known.map_or(0, |known| stream_number(streams, known.stream))
}
