//! Events as rows, and the next event of a kind.

use crate::ids::EventIndex;
use crate::model::Action;
use crate::query::engine::{Scope, last_event_until};
use crate::query::{EventRow, FrameView, JumpKind, Rows, details};
use crate::replay::FlushKind;
use crate::store::{DeviceRecord, Recording};

/// More rows than any screen has.
const MOST_ROWS: u32 = 10_000;

pub(super) fn rows(scope: &Scope<'_>, first: EventIndex, count: u32) -> Rows {
    let end = first.0.saturating_add(count.min(MOST_ROWS));
    let total = scope.device.replay.events();
    let rows = (first.0..end.min(total)).map(EventIndex).filter_map(|at| {
        let event = scope.record.events.get(at)?;
        Some(EventRow {
            at,
            action: event.action,
            address: event.address,
            size_bytes: event.size_bytes,
            time_us: event.time_us,
            stream: scope.stream(event.stream),
            frame: main_frame(scope.recording, event.stack),
        })
    });
    Rows {
        total,
        rows: rows.collect(),
    }
}

/// The innermost frame of the user's own, else the innermost.
fn main_frame(recording: &Recording, stack: crate::ids::StackId) -> Option<FrameView> {
    let mut innermost = None;
    for (_, frame) in recording.stack_frames(stack) {
        let view = details::frame_view(recording, frame);
        if view.own {
            return Some(view);
        }
        innermost.get_or_insert(view);
    }
    innermost
}

pub(super) fn events_of(record: &DeviceRecord, wanted: Action) -> Vec<EventIndex> {
    (0..)
        .map(EventIndex)
        .zip(record.events.actions())
        .filter(|&(_, action)| action == wanted)
        .map(|(index, _)| index)
        .collect()
}

pub(super) fn jump(
    scope: &Scope<'_>,
    from: EventIndex,
    kind: JumpKind,
    forward: bool,
) -> Option<EventIndex> {
    let replay = &scope.device.replay;
    match kind {
        JumpKind::Segment => nearest_action(scope, from, forward, Action::is_driver_call),
        JumpKind::Oom => nearest_action(scope, from, forward, |action| action == Action::Oom),
        JumpKind::EmptyCache => {
            let flushes = replay.flushes().iter();
            let calls = flushes.filter(|flush| flush.kind == FlushKind::EmptyCache);
            nearest(calls.map(|flush| flush.first), from, forward)
        }
        JumpKind::Mark => {
            let marks = scope.recording.marks.iter();
            let marks = marks.filter_map(|mark| last_event_until(scope.record, mark.time_us));
            let regions = scope
                .device
                .regions
                .iter()
                .filter_map(|region| region.first);
            let last = replay.events().saturating_sub(1);
            let regions = regions.map(|event| EventIndex(event.0.min(last)));
            nearest(marks.chain(regions), from, forward)
        }
        JumpKind::Peak => nearest(replay.sums().peak_allocated_at().into_iter(), from, forward),
    }
}

fn nearest(
    candidates: impl Iterator<Item = EventIndex>,
    from: EventIndex,
    forward: bool,
) -> Option<EventIndex> {
    if forward {
        candidates.filter(|&event| event > from).min()
    } else {
        candidates.filter(|&event| event < from).max()
    }
}

fn nearest_action(
    scope: &Scope<'_>,
    from: EventIndex,
    forward: bool,
    wanted: impl Fn(Action) -> bool,
) -> Option<EventIndex> {
    let is_wanted = |event: &EventIndex| {
        let action = scope.record.events.action(*event);
        action.is_some_and(&wanted)
    };
    let events = scope.device.replay.events();
    if forward {
        let after = from.0.saturating_add(1);
        (after..events).map(EventIndex).find(is_wanted)
    } else {
        (0..from.0.min(events))
            .rev()
            .map(EventIndex)
            .find(is_wanted)
    }
}
