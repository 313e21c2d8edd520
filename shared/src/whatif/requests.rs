//! What a program asked of the allocator, taken out of its recording: no addresses, no segments,
//! nothing that the allocator decided.

use crate::allocator::{SegmentReport, Stream};
use crate::ids::{DeviceIndex, EventIndex, LifeId, PoolId};
use crate::model::{Action, Event};
use crate::recorded::run_report;
use crate::replay::{Cursor, Flush, FlushKind, Replay, Sums};
use crate::store::{DeviceRecord, Recording};
use crate::whatif::bounds::Bounds;

/// The allocator of a run has one device, whichever the recording is of.
pub(super) const DEVICE: DeviceIndex = DeviceIndex(0);

/// Position of a block in the table of a run; used again once the block is gone.
pub(super) type Slot = u32;

/// One thing the program did, and where in the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) at: EventIndex,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A request that was served.
    Malloc { bytes: u64, from: u32, slot: Slot },
    /// A request that failed. It is asked again, and given back at once where it is served: the
    /// recording does not say what the program would have done with it.
    Failed { bytes: u64, from: u32 },
    /// A free that completed at once.
    Free { slot: Slot },
    /// A free that waited for other streams.
    FreeLater { slot: Slot },
    /// Those streams are done with the block.
    StreamsDone { slot: Slot },
    /// `empty_cache()`.
    EmptyCache,
    /// A graph was destroyed, so that a flush takes its pool.
    ReleasePool { pool: PoolId },
    /// The object of a `MemPool` was dropped.
    DropPool { pool: PoolId },
}

/// Where memory was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) stream: Stream,
    pub(super) pool: PoolId,
}

/// The state that the requests begin in: how the recording had arranged it by then.
#[derive(Clone, Debug, Default)]
pub(super) struct StartState {
    pub(super) segments: Vec<SegmentReport>,
    /// Live blocks by address.
    pub(super) live: Vec<(u64, Slot)>,
    /// Of these the ones that only wait for their streams.
    pub(super) pending: Vec<Slot>,
    pub(super) sums: Sums,
}

/// The requests of one device, from an event on.
#[derive(Clone, Debug)]
pub struct Requests {
    pub(super) asked: Vec<Asked>,
    pub(super) origins: Vec<Origin>,
    pub(super) slots: u32,
    pub(super) start: StartState,
    pub(super) from: u32,
    pub(super) events: u32,
    mallocs: u32,
    skipped: u32,
}

impl Requests {
    /// What the program asked after the first `from` events of its record.
    #[must_use]
    pub fn new(recording: &Recording, record: &DeviceRecord, replay: &Replay, from: u32) -> Self {
        let mut cursor = Cursor::at_start(replay);
        let from = from.min(replay.events());
        cursor.seek(replay, &record.events, from);
        let mut collector = Collector {
            recording,
            record,
            replay,
            bounds: Bounds::find(recording, record, replay),
            slot_of: vec![NO_SLOT; replay.lives().count()],
            free_slots: Vec::new(),
            requests: Self {
                asked: Vec::with_capacity(record.events.len().saturating_sub(from as usize)),
                origins: Vec::new(),
                slots: 0,
                start: StartState::default(),
                from,
                events: replay.events(),
                mallocs: 0,
                skipped: 0,
            },
        };
        collector.start(&cursor);
        collector.collect();
        collector.requests
    }

    /// How many things the program did.
    #[must_use]
    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// Whether it did nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Requests for memory among them, those that failed included.
    #[must_use]
    pub fn mallocs(&self) -> u32 {
        self.mallocs
    }

    /// Events that do not fit the state of the record, so that nothing is asked for them.
    #[must_use]
    pub fn skipped(&self) -> u32 {
        self.skipped
    }

    /// Sizes asked for, in order. Two runs of one program ask for the same.
    pub fn sizes(&self) -> impl Iterator<Item = (EventIndex, u64)> + '_ {
        self.asked.iter().filter_map(|asked| match asked.what {
            What::Malloc { bytes, .. } | What::Failed { bytes, .. } => Some((asked.at, bytes)),
            _ => None,
        })
    }

    /// Events at which `empty_cache()` was called and returned something.
    pub fn empty_caches(&self) -> impl Iterator<Item = EventIndex> + '_ {
        let calls = self
            .asked
            .iter()
            .filter(|asked| asked.what == What::EmptyCache);
        calls.map(|asked| asked.at)
    }
}

const NO_SLOT: Slot = Slot::MAX;

struct Collector<'a> {
    recording: &'a Recording,
    record: &'a DeviceRecord,
    replay: &'a Replay,
    bounds: Bounds,
    slot_of: Vec<Slot>,
    free_slots: Vec<Slot>,
    requests: Requests,
}

impl Collector<'_> {
    fn start(&mut self, cursor: &Cursor) {
        let runs = cursor.state().runs(self.replay);
        let report = |run| run_report(self.recording, self.replay, run, DEVICE);
        let segments = runs.iter().map(report).collect();
        let mut start = StartState {
            segments,
            sums: self
                .replay
                .sums()
                .at(self.replay, &self.record.events, cursor.applied()),
            ..StartState::default()
        };
        let placed = runs.iter().flat_map(|run| &run.blocks);
        for (address, id) in placed.filter_map(|block| Some((block.address, block.life?))) {
            let slot = self.take_slot(id);
            start.live.push((address, slot));
            let life = self.replay.life(id);
            if life.is_some_and(|life| self.replay.is_pending(id, &life, cursor.applied())) {
                start.pending.push(slot);
            }
        }
        self.requests.start = start;
    }

    fn collect(&mut self) {
        let mut flushes = self.replay.flushes().iter().peekable();
        for index in (self.requests.from..self.requests.events).map(EventIndex) {
            while flushes.next_if(|flush| flush.first < index).is_some() {}
            if let Some(flush) = flushes.next_if(|flush| flush.first == index) {
                self.flush(flush);
            }
            if let Some(event) = self.record.events.get(index) {
                self.event(index, &event);
            }
        }
    }

    fn event(&mut self, at: EventIndex, event: &Event) {
        match event.action {
            Action::Alloc => self.malloc(at, event),
            Action::Oom => {
                let from = self.origin(event, PoolId::DEFAULT);
                let bytes = event.size_bytes;
                self.requests.mallocs += 1;
                self.push(at, What::Failed { bytes, from });
            }
            Action::FreeRequested => self.free(at),
            Action::FreeCompleted => self.complete(at),
            _ => {}
        }
    }

    fn malloc(&mut self, at: EventIndex, event: &Event) {
        let Some(id) = self.replay.life_of(Action::Alloc, at) else {
            self.requests.skipped += 1;
            return;
        };
        let span = self.replay.life(id).and_then(|life| life.span());
        let pool = span.and_then(|span| self.replay.span(span)?.pool);
        let from = self.origin(event, pool.unwrap_or(PoolId::DEFAULT));
        let slot = self.take_slot(id);
        let bytes = event.size_bytes;
        self.requests.mallocs += 1;
        self.push(at, What::Malloc { bytes, from, slot });
    }

    fn free(&mut self, at: EventIndex) {
        let id = self.replay.life_of(Action::FreeRequested, at);
        let Some((id, slot)) = id.and_then(|id| Some((id, self.slot(id)?))) else {
            self.requests.skipped += 1;
            return;
        };
        let ended = self.replay.life(id).and_then(|life| life.ended());
        if ended == Some(EventIndex(at.0 + 1)) {
            self.give_slot_back(id, slot);
            self.push(at, What::Free { slot });
        } else {
            self.push(at, What::FreeLater { slot });
        }
    }

    fn complete(&mut self, at: EventIndex) {
        let Some(id) = self.replay.life_of(Action::FreeCompleted, at) else {
            self.requests.skipped += 1;
            return;
        };
        // A free that completed at once gave its slot back.
        let Some(slot) = self.slot(id) else {
            return;
        };
        let life = self.replay.life(id);
        let pending = life.is_some_and(|life| self.replay.is_pending(id, &life, at.0));
        self.give_slot_back(id, slot);
        let what = if pending {
            What::StreamsDone { slot }
        } else {
            // The request of this free is not in the record.
            What::Free { slot }
        };
        self.push(at, what);
    }

    /// What the program did to make memory go back; what the allocator does by itself, the run
    /// decides anew.
    fn flush(&mut self, flush: &Flush) {
        let dropped = flush.kind == FlushKind::PoolDropped;
        for pool in self.private_pools(flush) {
            let what = if dropped {
                What::DropPool { pool }
            } else {
                What::ReleasePool { pool }
            };
            self.push(flush.first, what);
        }
        if flush.kind == FlushKind::EmptyCache || self.bounds.is_not_a_retry(flush.first) {
            self.push(flush.first, What::EmptyCache);
        }
    }

    /// Private pools that a flush took memory from, each once.
    fn private_pools(&self, flush: &Flush) -> Vec<PoolId> {
        let mut pools = Vec::new();
        for event in (flush.first.0..=flush.last.0).map(EventIndex) {
            let action = self.record.events.action(event);
            let span = action.and_then(|action| self.replay.span_of(action, event));
            let pool = span.and_then(|span| self.replay.span(span)?.pool);
            if let Some(pool) = pool.filter(|pool| *pool != PoolId::DEFAULT)
                && !pools.contains(&pool)
            {
                pools.push(pool);
            }
        }
        pools
    }

    fn push(&mut self, at: EventIndex, what: What) {
        self.requests.asked.push(Asked { at, what });
    }

    fn origin(&mut self, event: &Event, pool: PoolId) -> u32 {
        let origin = Origin {
            stream: Stream(self.recording.stream_handle(event.stream)),
            pool,
        };
        let origins = &mut self.requests.origins;
        let known = origins.iter().position(|known| *known == origin);
        known.unwrap_or_else(|| {
            origins.push(origin);
            origins.len() - 1
        }) as u32
    }

    fn slot(&self, id: LifeId) -> Option<Slot> {
        let slot = self.slot_of.get(id.index()).copied();
        slot.filter(|slot| *slot != NO_SLOT)
    }

    fn take_slot(&mut self, id: LifeId) -> Slot {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.requests.slots += 1;
            self.requests.slots - 1
        });
        if let Some(of) = self.slot_of.get_mut(id.index()) {
            *of = slot;
        }
        slot
    }

    fn give_slot_back(&mut self, id: LifeId, slot: Slot) {
        if let Some(of) = self.slot_of.get_mut(id.index()) {
            *of = NO_SLOT;
        }
        self.free_slots.push(slot);
    }
}
