//! What one event did.

use crate::ids::{EventIndex, LifeId};
use crate::model::{Action, Event};
use crate::query::engine::Scope;
use crate::query::{Effect, Step, details, map};
use crate::replay::{Life, MemoryState, PlacedBlock, Run};

pub(super) fn step(scope: &mut Scope<'_>, at: EventIndex) -> Option<Step> {
    let event = scope.record.events.get(at)?;
    let replay = &scope.device.replay;
    let events = &scope.record.events;
    let before = replay.sums().at(replay, events, at.0);
    let after = replay.sums().at(replay, events, at.0.saturating_add(1));
    let life = replay.life_of(event.action, at);
    let effect = if replay.fits(event.action, at) {
        effect(scope, at, &event, life)
    } else {
        Effect::Unmatched
    };
    let shelf = map::shelf(scope, at);
    let is_memory = !matches!(effect, Effect::Nothing);
    let shelf = shelf.filter(|_| is_memory);
    let notes = &event.notes;
    let texts = [
        notes.compile_context,
        notes.user_metadata,
        notes.category,
        notes.unknown_action,
    ];
    Some(Step {
        at,
        action: event.action,
        address: event.address,
        size_bytes: event.size_bytes,
        time_us: event.time_us,
        stream: scope.stream(event.stream),
        pool: shelf.as_ref().and_then(|shelf| shelf.pool),
        kind: shelf.map(|shelf| shelf.kind),
        before,
        after,
        effect,
        life,
        notes: texts
            .into_iter()
            .map(|text| scope.recording.texts.get(text).to_owned())
            .filter(|text| !text.is_empty())
            .collect(),
        frames: details::frames(scope.recording, event.stack),
    })
}

fn effect(scope: &mut Scope<'_>, at: EventIndex, event: &Event, life: Option<LifeId>) -> Effect {
    let life = life.and_then(|life| scope.device.replay.life(life));
    match (event.action, life) {
        (Action::Alloc, Some(life)) => allocated(scope, at, &life),
        (Action::FreeRequested, Some(life)) => Effect::FreeRequested {
            given_bytes: life.given_bytes,
            requested_bytes: life.requested_bytes,
            waits_events: life.ended().map(|end| end.0 - at.0 - 1),
        },
        (Action::FreeCompleted, Some(life)) => completed(scope, at, &life),
        (Action::SegmentAlloc, _) => Effect::SegmentAllocated,
        (Action::SegmentMap, _) => Effect::Mapped,
        (Action::SegmentFree | Action::SegmentUnmap, _) => given_back(scope, at, event.action),
        (Action::Oom, _) => out_of_memory(scope, at, event),
        _ => Effect::Nothing,
    }
}

fn allocated(scope: &mut Scope<'_>, at: EventIndex, life: &Life) -> Effect {
    scope.seek(at.0);
    let hole = placed_at(scope, life.address);
    let hole_bytes = hole.map_or(life.given_bytes, |(_, block)| block.size_bytes);
    let run_bytes = scope
        .device
        .cursor
        .state()
        .span_at(scope.device.replay.spans(), life.address)
        .and_then(|id| scope.device.replay.span(id))
        .map_or(0, |span| span.size_bytes);
    let from_driver = at.0.checked_sub(1).is_some_and(|before| {
        let action = scope.record.events.action(EventIndex(before));
        matches!(action, Some(Action::SegmentAlloc | Action::SegmentMap))
    });
    let settings = scope.device.replay.settings();
    Effect::Allocated {
        requested_bytes: life.requested_bytes,
        rounded_bytes: map::rounded_bytes(settings, life.requested_bytes, life.given_bytes),
        given_bytes: life.given_bytes,
        hole_bytes,
        split: hole_bytes > life.given_bytes,
        whole_segment: life.given_bytes == run_bytes,
        from_driver,
    }
}

fn completed(scope: &mut Scope<'_>, at: EventIndex, life: &Life) -> Effect {
    scope.seek(at.0.saturating_add(1));
    let (mut before, mut after, mut whole_segment) = (0, 0, false);
    if let Some((run, block)) = placed_at(scope, life.address) {
        before = life.address.saturating_sub(block.address);
        after = block.end_address().saturating_sub(life.end_address());
        let page = scope.device.replay.settings().page_bytes(run.kind);
        whole_segment = run.releasable_bytes(&block, page) == block.size_bytes;
    }
    Effect::FreeCompleted {
        given_bytes: life.given_bytes,
        merged_before_bytes: before,
        merged_after_bytes: after,
        whole_segment,
    }
}

fn given_back(scope: &Scope<'_>, at: EventIndex, action: Action) -> Effect {
    let flush = scope.device.replay.flush_at(at);
    let nth = flush.map_or(0, |flush| {
        let earlier = (flush.first.0..at.0).map(EventIndex);
        let releases = earlier.filter(|&event| {
            let action = scope.record.events.action(event);
            matches!(action, Some(Action::SegmentFree | Action::SegmentUnmap))
        });
        u32::try_from(releases.count()).unwrap_or(u32::MAX)
    });
    let kind = flush.map(|flush| flush.kind);
    let of = flush.map_or(1, |flush| flush.releases);
    let burst_bytes = flush.map_or(0, |flush| flush.bytes);
    if action == Action::SegmentFree {
        Effect::SegmentFreed {
            flush: kind,
            nth,
            of,
            burst_bytes,
        }
    } else {
        Effect::Unmapped {
            flush: kind,
            nth,
            of,
            burst_bytes,
        }
    }
}

fn out_of_memory(scope: &mut Scope<'_>, at: EventIndex, event: &Event) -> Effect {
    scope.seek(at.0);
    let largest = map::shelf(scope, at)
        .map(|shelf| map::cached_blocks(scope, &shelf))
        .and_then(|blocks| blocks.last().map(|block| block.size_bytes));
    let segment_bytes = scope
        .device
        .replay
        .settings()
        .segment_bytes(event.size_bytes);
    let replay = &scope.device.replay;
    let held = replay
        .sums()
        .at(replay, &scope.record.events, at.0)
        .reserved;
    let limit = scope.recording.environment.card.limit_bytes;
    Effect::OutOfMemory {
        rounded_bytes: event.size_bytes,
        segment_bytes,
        device_free_bytes: event.address,
        // The limit counts what the driver would be asked for (§4.6(b)).
        over_limit_bytes: limit.filter(|&limit| held.saturating_add(segment_bytes) > limit),
        largest_cached_bytes: largest.unwrap_or(0),
    }
}

/// The block at an address in the state where the cursor stands, with its segment.
fn placed_at(scope: &Scope<'_>, address: u64) -> Option<(Run, PlacedBlock)> {
    let state: &MemoryState = scope.device.cursor.state();
    state.placed_at(&scope.device.replay, address)
}
