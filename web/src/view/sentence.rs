//! What a step did, as one sentence. `**` around a part of it means strong.

use shared::ids::{PoolId, PoolKind};
use shared::model::Action;
use shared::query::{Effect, FlushKind, Step, StreamView};
use shared::units::MIB;

use super::streams::stream_number;
use crate::text::{self, format};

/// The sentence about a step.
pub(crate) fn sentence(step: &Step, streams: &[StreamView]) -> String {
    let place = place(step, streams);
    match step.effect {
        Effect::Allocated { .. } => allocated(step, &place),
        Effect::FreeRequested {
            given_bytes,
            requested_bytes,
            waits_events,
        } => {
            let given = format::size(given_bytes);
            let asked = format::exact_bytes(requested_bytes);
            match waits_events {
                Some(0) => text::step_freed_at_once(asked, given),
                Some(events) => text::step_freed_waits(asked, events, given),
                None => text::step_freed_never(asked, given),
            }
        }
        Effect::FreeCompleted {
            given_bytes,
            merged_before_bytes,
            merged_after_bytes,
            whole_segment,
        } => {
            let given = format::size(given_bytes);
            let merged = merged(merged_before_bytes, merged_after_bytes);
            let whole = if whole_segment {
                text::step_whole_segment()
            } else {
                String::new()
            };
            format!("{}{merged}{whole}", text::step_completed(given, place))
        }
        Effect::SegmentAllocated => {
            text::step_segment_allocated(place, format::size(step.size_bytes))
        }
        Effect::Mapped => text::step_mapped(place, format::size(step.size_bytes)),
        Effect::SegmentFreed {
            flush,
            nth,
            of,
            burst_bytes,
        } => {
            let sentence = text::step_segment_freed(place, format::size(step.size_bytes));
            format!("{sentence}{}", why(flush, nth, of, burst_bytes))
        }
        Effect::Unmapped {
            flush,
            nth,
            of,
            burst_bytes,
        } => {
            let sentence = text::step_unmapped(place, format::size(step.size_bytes));
            format!("{sentence}{}", why(flush, nth, of, burst_bytes))
        }
        Effect::OutOfMemory { .. } => out_of_memory(step),
        Effect::Nothing => match step.action {
            Action::Snapshot => text::step_snapshot(),
            Action::Annotate => text::step_annotation(step.notes.join(", ")),
            _ => text::step_unknown(),
        },
        Effect::Unmatched => text::step_unmatched(),
    }
}

/// Pool and stream of a step, in words.
pub(crate) fn place(step: &Step, streams: &[StreamView]) -> String {
    let stream = stream_number(streams, step.stream.stream);
    text::place_pool_stream(pool_name(step.pool, step.kind), stream)
}

/// A pool in words.
pub(crate) fn pool_name(pool: Option<PoolId>, kind: Option<PoolKind>) -> String {
    let private = pool.filter(|pool| *pool != PoolId::DEFAULT);
    let id = private.map(|PoolId(a, b)| format!("({a}, {b})"));
    match (id, kind) {
        (None, Some(PoolKind::Large)) => text::pool_large(),
        (None, Some(PoolKind::Small)) => text::pool_small(),
        (None, None) => text::pool_unknown(),
        (Some(id), Some(PoolKind::Large)) => text::pool_private_large(id),
        (Some(id), Some(PoolKind::Small)) => text::pool_private_small(id),
        (Some(id), None) => text::pool_private(id),
    }
}

fn allocated(step: &Step, place: &str) -> String {
    let Effect::Allocated {
        requested_bytes,
        rounded_bytes,
        given_bytes,
        hole_bytes,
        split,
        from_driver,
        ..
    } = step.effect
    else {
        return String::new();
    };
    let rounding = if rounded_bytes > requested_bytes {
        text::step_rounded(format::size(rounded_bytes))
    } else {
        text::step_nothing_to_round()
    };
    let asked = text::step_asked(
        format::exact_bytes(requested_bytes),
        rounding,
        format::size(requested_bytes),
    );
    let hole = format::size(hole_bytes);
    let rest = format::size(hole_bytes.saturating_sub(given_bytes));
    let given = format::size(given_bytes);
    let took = match (from_driver, split) {
        (true, true) => text::step_new_split(given, hole, place, rest),
        (true, false) => text::step_new_whole(hole, place),
        (false, true) => text::step_took_split(given, hole, place, rest),
        (false, false) if given_bytes == rounded_bytes => text::step_took_exact(hole, place),
        (false, false) => {
            let slack_bytes = given_bytes.saturating_sub(rounded_bytes);
            let slack = format::size(slack_bytes);
            if step.kind == Some(PoolKind::Large) && slack_bytes <= MIB {
                text::step_took_whole_rule(hole, place, slack)
            } else {
                text::step_took_whole(hole, place, slack)
            }
        }
    };
    format!("{asked} → {took}")
}

fn out_of_memory(step: &Step) -> String {
    let Effect::OutOfMemory {
        rounded_bytes,
        segment_bytes,
        device_free_bytes,
        over_limit_bytes,
        largest_cached_bytes,
    } = step.effect
    else {
        return String::new();
    };
    let largest = format::size(largest_cached_bytes);
    let (rounded, segment) = (format::size(rounded_bytes), format::size(segment_bytes));
    match over_limit_bytes {
        None => text::step_oom(format::size(device_free_bytes), largest, rounded, segment),
        Some(limit) => {
            let held = format::size(step.before.reserved);
            text::step_oom_limit(held, largest, format::size(limit), rounded, segment)
        }
    }
}

fn merged(before_bytes: u64, after_bytes: u64) -> String {
    let (before, after) = (format::size(before_bytes), format::size(after_bytes));
    match (before_bytes > 0, after_bytes > 0) {
        (true, true) => text::step_merged_both(after, before),
        (true, false) => text::step_merged_before(before),
        (false, true) => text::step_merged_after(after),
        (false, false) => text::step_not_merged(),
    }
}

fn why(flush: Option<FlushKind>, nth: u32, of: u32, burst_bytes: u64) -> String {
    let Some(flush) = flush else {
        return String::new();
    };
    let reason = match flush {
        FlushKind::EmptyCache => text::flush_empty_cache(),
        FlushKind::Retry => text::flush_retry(),
        FlushKind::GarbageCollection => text::flush_garbage_collection(),
        FlushKind::Oversize => text::flush_oversize(),
        FlushKind::PoolDropped => text::flush_pool_dropped(),
    };
    if of > 1 {
        text::flush_burst(format::size(burst_bytes), nth + 1, of, reason)
    } else {
        text::flush_single(reason)
    }
}

#[cfg(test)]
mod tests;
