//! The state of a device at any moment of its record.
//!
//! [`Replay`] is built once from a recording: the state in which the record began is found by
//! walking back from the final segments ([`origin`]), then one walk forward gives every allocation
//! its life, every segment its span, and keeps checkpoints. After that a [`Cursor`] goes to any
//! event, forward or back, without deciding anything again.

mod check;
mod checkpoints;
mod flushes;
mod forward;
mod layout;
mod lives;
mod origin;
mod sizing;
mod state;
mod sums;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{DeviceIndex, EventIndex, LifeId};
use crate::model::Action;
use crate::settings::Settings;
use crate::store::{Column, DeviceRecord, Recording};
use crate::warning::Warnings;

pub use checkpoints::Cursor;
pub use flushes::{Flush, FlushKind};
pub use layout::{PlacedBlock, Run};
pub use lives::{Life, Span, SpanId};
pub use state::MemoryState;
pub use sums::{Extremes, SumIndex, Sums};

/// What an event does besides its subject: the rare cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Side {
    /// Lives that end although no free says so: another block was handed out in their place.
    lives_ended: Vec<LifeId>,
    /// Spans that end.
    spans_ended: Vec<SpanId>,
    /// Spans that begin: what an unmapping leaves of the ones it cut.
    spans_born: Vec<SpanId>,
}

/// No subject: the event changes nothing, or does not fit the state.
const NO_SUBJECT: u32 = u32::MAX;

/// One device's record, indexed for replay.
#[derive(Debug)]
pub struct Replay {
    device: DeviceIndex,
    settings: Settings,
    events: u32,
    lives: Column<Life>,
    spans: Vec<Span>,
    /// By event: its life (`alloc`, `free_*`) or its span (`segment_*`), else [`NO_SUBJECT`].
    subjects: Column<u32>,
    sides: BTreeMap<u32, Side>,
    /// Lives whose size follows from their neighbours alone.
    inferred: BTreeSet<LifeId>,
    /// Lives from before the record whose size nothing shows.
    uncertain: BTreeSet<LifeId>,
    /// Lives whose free was asked for before the record began.
    pending_at_start: BTreeSet<LifeId>,
    sums: SumIndex,
    checkpoints: Vec<checkpoints::Checkpoint>,
    flushes: Vec<Flush>,
    most_spans: u32,
    warnings: Warnings,
}

impl Replay {
    /// Indexes the record of one device. Never fails: what does not fit is kept out of the state
    /// and counted in [`Replay::warnings`].
    #[must_use]
    pub fn new(recording: &Recording, record: &DeviceRecord) -> Self {
        let settings = recording.settings();
        let origin = origin::walk_back(&settings, record);
        let walked = forward::walk(&settings, record, origin);
        let mut replay = Self {
            device: record.device,
            settings,
            events: u32::try_from(record.events.len()).unwrap_or(u32::MAX),
            lives: walked.lives,
            spans: walked.spans,
            subjects: walked.subjects,
            sides: walked.sides,
            inferred: walked.inferred,
            uncertain: walked.uncertain,
            pending_at_start: walked.pending_at_start,
            sums: SumIndex::default(),
            checkpoints: walked.checkpoints,
            flushes: Vec::new(),
            most_spans: walked.most_spans,
            warnings: walked.warnings,
        };
        replay.sums = sums::index(&replay, record);
        replay.flushes = flushes::find(&replay, recording, record, &walked.leftovers);
        check::check(&mut replay, record);
        replay
    }

    /// Which device.
    #[must_use]
    pub fn device(&self) -> DeviceIndex {
        self.device
    }

    /// The settings that the recording names, or the defaults.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many events there are.
    #[must_use]
    pub fn events(&self) -> u32 {
        self.events
    }

    /// What did not fit.
    #[must_use]
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// One life of a block.
    #[must_use]
    pub fn life(&self, id: LifeId) -> Option<Life> {
        self.lives.get(id.index())
    }

    /// All lives: first those that began before the record, then in the order of their requests.
    pub fn lives(&self) -> impl Iterator<Item = (LifeId, Life)> + '_ {
        (0..).map(LifeId).zip(self.lives.iter())
    }

    /// Whether the size of a life follows from its neighbours alone, not from the final snapshot
    /// or a rule.
    #[must_use]
    pub fn is_inferred(&self, life: LifeId) -> bool {
        self.inferred.contains(&life) || self.uncertain.contains(&life)
    }

    /// How many blocks were alive before the record, are freed in it, and may be up to 1 MiB larger
    /// than assumed: what lies behind them was free already, and nothing was handed out there.
    #[must_use]
    pub fn uncertain_sizes(&self) -> usize {
        self.uncertain.len()
    }

    /// Whether a life is only waiting for its streams when `applied` events have happened.
    #[must_use]
    pub fn is_pending(&self, id: LifeId, life: &Life, applied: u32) -> bool {
        life.free_requested().is_some_and(|event| event.0 < applied)
            || self.pending_at_start.contains(&id)
    }

    /// One span of a segment.
    #[must_use]
    pub fn span(&self, id: SpanId) -> Option<&Span> {
        self.spans.get(id.index())
    }

    /// All spans.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The largest number of spans at any moment.
    #[must_use]
    pub fn most_spans(&self) -> u32 {
        self.most_spans
    }

    /// The life that an event begins, or takes a step further.
    #[must_use]
    pub fn life_of(&self, action: Action, event: EventIndex) -> Option<LifeId> {
        matches!(
            action,
            Action::Alloc | Action::FreeRequested | Action::FreeCompleted
        )
        .then(|| self.subject(event))
        .flatten()
        .map(LifeId)
    }

    /// The span that a segment event begins or ends. An unmapping that cuts spans has none.
    #[must_use]
    pub fn span_of(&self, action: Action, event: EventIndex) -> Option<SpanId> {
        action
            .is_driver_call()
            .then(|| self.subject(event))
            .flatten()
            .map(SpanId)
    }

    /// Whether an event could be applied; `false` for those that do not fit the state.
    #[must_use]
    pub fn fits(&self, action: Action, event: EventIndex) -> bool {
        match action {
            Action::Alloc
            | Action::FreeRequested
            | Action::FreeCompleted
            | Action::SegmentAlloc
            | Action::SegmentFree
            | Action::SegmentMap
            | Action::SegmentUnmap => {
                self.subject(event).is_some() || self.sides.contains_key(&event.0)
            }
            Action::Snapshot | Action::Oom | Action::Annotate | Action::Unknown => true,
        }
    }

    fn subject(&self, event: EventIndex) -> Option<u32> {
        self.subjects
            .get(event.index())
            .filter(|&subject| subject != NO_SUBJECT)
    }

    /// The sums after each event.
    #[must_use]
    pub fn sums(&self) -> &SumIndex {
        &self.sums
    }

    /// Bursts in which segments or pages went back to the driver, in order.
    #[must_use]
    pub fn flushes(&self) -> &[Flush] {
        &self.flushes
    }

    /// The burst that an event belongs to.
    #[must_use]
    pub fn flush_at(&self, event: EventIndex) -> Option<&Flush> {
        let after = self.flushes.partition_point(|flush| flush.first <= event);
        self.flushes
            .get(after.checked_sub(1)?)
            .filter(|flush| event <= flush.last)
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let checkpoints: usize = self
            .checkpoints
            .iter()
            .map(checkpoints::Checkpoint::memory_bytes)
            .sum();
        self.lives.memory_bytes()
            + self.spans.capacity() * size_of::<Span>()
            + self.subjects.memory_bytes()
            + self.sides.len() * 2 * size_of::<(u32, Side)>()
            + self.sums.memory_bytes()
            + checkpoints
    }
}
