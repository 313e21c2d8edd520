//! Bursts in which segments or pages went back to the driver, and why they did.
//!
//! Events do not say so. Where stacks were recorded, the stack of the first release does;
//! otherwise what follows it: a request that then gets its segment, or fails, emptied the cache
//! itself (§4.2), anything else was `empty_cache()`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{EventIndex, PoolId, StackId};
use crate::model::Action;
use crate::replay::Replay;
use crate::replay::origin::kind_of_segment;
use crate::settings::Settings;
use crate::store::{DeviceRecord, Recording};

/// Why segments went back to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FlushKind {
    /// A call of `empty_cache()`.
    EmptyCache,
    /// A request that the driver refused at first, so the cache was emptied and it was tried
    /// again.
    Retry,
    /// Garbage collection before a new segment (`garbage_collection_threshold`).
    GarbageCollection,
    /// Oversize blocks were released (`max_split_size_mb`).
    Oversize,
    /// A private pool was dropped.
    PoolDropped,
}

/// A burst of releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flush {
    /// Its first release.
    pub first: EventIndex,
    /// Its last release.
    pub last: EventIndex,
    /// How many releases it has.
    pub releases: u32,
    /// Bytes that went back.
    pub bytes: u64,
    /// Why.
    pub kind: FlushKind,
}

pub(super) fn find(
    replay: &Replay,
    recording: &Recording,
    record: &DeviceRecord,
    leftovers: &BTreeMap<u32, u64>,
) -> Vec<Flush> {
    let mut flushes = Vec::new();
    let mut open: Option<Flush> = None;
    for (index, action) in (0..).map(EventIndex).zip(record.events.actions()) {
        match action {
            Action::SegmentFree | Action::SegmentUnmap => {
                let flush = open.get_or_insert(Flush {
                    first: index,
                    last: index,
                    releases: 0,
                    bytes: 0,
                    kind: FlushKind::EmptyCache,
                });
                flush.last = index;
                flush.releases += 1;
                flush.bytes += record.events.get(index).map_or(0, |e| e.size_bytes);
            }
            // A flush waits for streams, and completes the frees that waited for them.
            Action::FreeCompleted => {}
            _ => close(&mut open, Some(action), &mut flushes),
        }
    }
    close(&mut open, None, &mut flushes);
    for (flush, next) in &mut flushes {
        let left = leftovers.get(&flush.last.0).copied().unwrap_or(0);
        flush.kind = kind(replay, recording, record, flush, *next, left);
    }
    flushes.into_iter().map(|(flush, _)| flush).collect()
}

fn close(
    open: &mut Option<Flush>,
    next: Option<Action>,
    flushes: &mut Vec<(Flush, Option<Action>)>,
) {
    flushes.extend(open.take().map(|flush| (flush, next)));
}

fn kind(
    replay: &Replay,
    recording: &Recording,
    record: &DeviceRecord,
    flush: &Flush,
    next: Option<Action>,
    left_bytes: u64,
) -> FlushKind {
    let first = record.events.get(flush.first);
    if first.is_some_and(|event| names_empty_cache(recording, event.stack)) {
        return FlushKind::EmptyCache;
    }
    let wanted = matches!(
        next,
        Some(Action::SegmentAlloc | Action::SegmentMap | Action::Oom)
    );
    let settings = replay.settings();
    if wanted && would_have_served(replay, record, flush) {
        return FlushKind::EmptyCache;
    }
    if wanted && left_bytes > 0 && settings.garbage_collection_threshold > 0.0 {
        FlushKind::GarbageCollection
    } else if wanted && left_bytes > 0 && settings.max_split_bytes != crate::settings::UNLIMITED {
        FlushKind::Oversize
    } else if wanted {
        FlushKind::Retry
    } else if is_private(replay, record, flush) {
        FlushKind::PoolDropped
    } else {
        FlushKind::EmptyCache
    }
}

/// Whether something released would have served the request that follows. Then the request did
/// not release it: it would have found it in the cache (§4.3).
fn would_have_served(replay: &Replay, record: &DeviceRecord, flush: &Flush) -> bool {
    let after = (flush.last.0.saturating_add(1)..replay.events()).map(EventIndex);
    let request = after
        .map_while(|event| Some((event, record.events.get(event)?)))
        .find(|(_, event)| matches!(event.action, Action::Alloc | Action::Oom));
    let Some((at, event)) = request else {
        return false;
    };
    let settings = replay.settings();
    let rounded = settings.round(event.size_bytes);
    let span = replay
        .life_of(event.action, at)
        .and_then(|life| replay.span(replay.life(life)?.span()?));
    let pool = span.and_then(|span| span.pool);
    let serves = |size: u64| {
        let is_refused = if settings.is_oversize(rounded) {
            size >= rounded.saturating_add(settings.max_non_split_rounding_bytes)
        } else {
            settings.is_oversize(size)
        };
        size >= rounded && !is_refused
    };
    (flush.first.0..=flush.last.0).map(EventIndex).any(|index| {
        let released = record.events.get(index).filter(|released| {
            let is_release = matches!(released.action, Action::SegmentFree | Action::SegmentUnmap);
            is_release && released.stream == event.stream && serves(released.size_bytes)
        });
        let of_span = replay
            .span_of(Action::SegmentFree, index)
            .and_then(|id| replay.span(id));
        released.is_some_and(|released| {
            kind_of_segment(settings, released.size_bytes) == Settings::pool_kind(rounded)
                && of_span.is_none_or(|span| span.pool == pool)
        })
    })
}

/// Whether `empty_cache` is among the functions of a stack.
fn names_empty_cache(recording: &Recording, stack: StackId) -> bool {
    recording.stack_frames(stack).any(|(_, frame)| {
        let name = recording.texts.get(frame.name);
        name == "empty_cache" || name.ends_with("emptyCache")
    })
}

/// Whether all that went back belonged to private pools.
fn is_private(replay: &Replay, record: &DeviceRecord, flush: &Flush) -> bool {
    (flush.first.0..=flush.last.0).map(EventIndex).all(|event| {
        let action = record.events.action(event);
        let span = action.and_then(|action| replay.span(replay.span_of(action, event)?));
        action.is_some_and(|action| !action.is_driver_call())
            || span.is_some_and(|span| span.pool.is_some_and(|pool| pool != PoolId::DEFAULT))
    })
}
