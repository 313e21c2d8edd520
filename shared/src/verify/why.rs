//! Why a step of a record happened: the operation it belongs to, done once more by the allocator
//! in the state before it, with its reasons kept.

use serde::{Deserialize, Serialize};

use crate::allocator::{Decision, Step};
use crate::ids::EventIndex;
use crate::model::Action;
use crate::replay::{Cursor, Replay};
use crate::store::{DeviceRecord, Recording};
use crate::verify::walk::{Operation, Walk, Way};

/// The operation that an event belongs to, explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// Its first event.
    pub first: EventIndex,
    /// Its last event.
    pub last: EventIndex,
    /// What the allocator looked at and did, in order.
    pub steps: Vec<Step>,
    /// Whether its events are as recorded. If not, the steps say what it would have done.
    pub agrees: bool,
}

/// Explains the operation to which the event `at` belongs; `None` for an event that is no part of
/// one, and where the state before it is none that the allocator can be in.
#[must_use]
pub fn why(
    recording: &Recording,
    record: &DeviceRecord,
    replay: &Replay,
    cursor: &mut Cursor,
    at: EventIndex,
) -> Option<Why> {
    cursor.seek(replay, &record.events, operation_start(record, at));
    let mut walk = Walk::from(recording, record, replay, cursor).ok()?;
    // An operation may have been preceded by an `empty_cache()` without a request between.
    while walk.at <= at.0 {
        let first = walk.at;
        let operation = walk.operation();
        if matches!(operation, Operation::Note | Operation::CutOff) {
            return None;
        }
        let (done, decision, agrees) = explain(&walk, operation);
        walk = done;
        if walk.at > at.0 || !agrees {
            return Some(Why {
                first: EventIndex(first),
                last: EventIndex(walk.at.saturating_sub(1).max(first)),
                steps: decision.steps,
                agrees,
            });
        }
    }
    None
}

fn explain<'a>(before: &Walk<'a>, operation: Operation) -> (Walk<'a>, Decision, bool) {
    let attempt = |operation| {
        let mut walk = before.clone();
        let mut decision = Decision::default();
        let agrees = walk
            .advance_into(operation, Way::default(), &mut decision)
            .is_ok();
        (walk, decision, agrees)
    };
    let first = attempt(operation);
    if first.2 || !matches!(operation, Operation::Malloc { .. }) {
        return first;
    }
    let flush = attempt(Operation::Flush);
    if flush.2 { flush } else { first }
}

/// The first event of the operation to which `at` belongs, or of one before it.
fn operation_start(record: &DeviceRecord, at: EventIndex) -> u32 {
    let mut start = at.0;
    if is_own_completion(record, start) {
        return start - 1;
    }
    if record.events.action(at) == Some(Action::FreeRequested) {
        return start;
    }
    while let Some(before) = start.checked_sub(1) {
        let action = record.events.action(EventIndex(before));
        let is_part = match action {
            Some(Action::FreeCompleted) => !is_own_completion(record, before),
            Some(action) => action.is_driver_call(),
            None => false,
        };
        if !is_part {
            break;
        }
        start = before;
    }
    start
}

/// Whether a completion belongs to the free just before it.
fn is_own_completion(record: &DeviceRecord, index: u32) -> bool {
    let Some(before) = index.checked_sub(1) else {
        return false;
    };
    let (Some(request), Some(completion)) = (
        record.events.get(EventIndex(before)),
        record.events.get(EventIndex(index)),
    ) else {
        return false;
    };
    request.action == Action::FreeRequested
        && completion.action == Action::FreeCompleted
        && request.address == completion.address
}
