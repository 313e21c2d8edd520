//! States kept on the way, and going to any event from the nearest of them.

use crate::ids::{EventIndex, LifeId};
use crate::replay::Replay;
use crate::replay::lives::SpanId;
use crate::replay::state::MemoryState;
use crate::store::EventColumns;

/// Events between checkpoints at least: replaying that many takes under a millisecond.
const FEWEST_EVENTS: u32 = 2048;

/// A state in compact form: what is where follows from the tables of the replay.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    /// Events that have happened.
    applied: u32,
    lives: Box<[LifeId]>,
    spans: Box<[SpanId]>,
}

impl Checkpoint {
    pub(super) fn of(applied: u32, state: &MemoryState) -> Self {
        Self {
            applied,
            lives: state.blocks().map(|(_, life)| life).collect(),
            spans: state.spans().map(|(_, span)| span).collect(),
        }
    }

    fn restore(&self, replay: &Replay) -> MemoryState {
        MemoryState {
            blocks: self
                .lives
                .iter()
                .filter_map(|&id| Some((replay.life(id)?.address, id)))
                .collect(),
            spans: self
                .spans
                .iter()
                .filter_map(|&id| Some((replay.span(id)?.address, id)))
                .collect(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.lives) + size_of_val(&*self.spans)
    }
}

/// Decides when the next checkpoint is due: often enough to seek fast, and seldom enough that all
/// of them together take no more than a few bytes an event, however many blocks are alive.
#[derive(Debug, Default)]
pub(super) struct Spacing {
    since: u32,
}

impl Spacing {
    pub(super) fn is_due(&mut self, state: &MemoryState) -> bool {
        self.since += 1;
        let due = self.since >= FEWEST_EVENTS.max(state.block_count() + state.span_count());
        if due {
            self.since = 0;
        }
        due
    }
}

/// A state that moves along the record.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// Events that have happened.
    applied: u32,
    state: MemoryState,
}

impl Cursor {
    /// Before the first event.
    #[must_use]
    pub fn at_start(replay: &Replay) -> Self {
        let state = replay
            .checkpoints
            .first()
            .map(|first| first.restore(replay));
        Self {
            applied: 0,
            state: state.unwrap_or_default(),
        }
    }

    /// How many events have happened.
    #[must_use]
    pub fn applied(&self) -> u32 {
        self.applied
    }

    /// The state here.
    #[must_use]
    pub fn state(&self) -> &MemoryState {
        &self.state
    }

    /// Goes to where `applied` events have happened (at most all of them).
    pub fn seek(&mut self, replay: &Replay, events: &EventColumns, applied: u32) {
        let target = applied.min(replay.events());
        let after = replay
            .checkpoints
            .partition_point(|checkpoint| checkpoint.applied <= target);
        let near = [after.checked_sub(1), Some(after)]
            .into_iter()
            .flatten()
            .filter_map(|index| replay.checkpoints.get(index))
            .min_by_key(|checkpoint| checkpoint.applied.abs_diff(target));
        if let Some(near) = near {
            // Restoring costs about as much as one event per live block.
            let restore = u32::try_from(near.lives.len() / 2).unwrap_or(u32::MAX);
            let from_near = near.applied.abs_diff(target).saturating_add(restore);
            if from_near < self.applied.abs_diff(target) {
                self.state = near.restore(replay);
                self.applied = near.applied;
            }
        }
        while self.applied < target {
            self.state.apply(replay, events, EventIndex(self.applied));
            self.applied += 1;
        }
        while self.applied > target {
            self.applied -= 1;
            self.state.undo(replay, events, EventIndex(self.applied));
        }
    }
}
