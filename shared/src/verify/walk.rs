//! The allocator in step with a record: one operation of the program after the other, each event
//! it emits held against the next one recorded.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::allocator::{
    Allocator, BlockId, Recorded, Request, SeedError, SegmentReport, Sink, Stream, TraceEvent,
};
use crate::ids::{EventIndex, LifeId, PoolId};
use crate::model::{Action, BlockState};
use crate::recorded::run_report;
use crate::replay::{Cursor, Replay, SpanId};
use crate::store::{DeviceRecord, Recording};
use crate::verify::Mismatch;
use crate::verify::check::Check;
use crate::verify::expected::{DEVICE, Expected, trace_event};
use crate::verify::reserved::reserved_ranges;
use crate::warning::WarningKind;

/// Handles from here on stand for streams that a block was used on, which the record does not
/// name: one for each block, in the order in which they complete.
const UNNAMED_STREAMS: u64 = 1 << 63;

/// An allocator that has met the first events of a record.
#[derive(Clone)]
pub(super) struct Walk<'a> {
    pub(super) recording: &'a Recording,
    pub(super) record: &'a DeviceRecord,
    pub(super) replay: &'a Replay,
    pub(super) allocator: Allocator<Recorded<Expected<'a>>>,
    /// Live blocks by address.
    blocks: FxHashMap<u64, BlockId>,
    /// Event that the walk began at.
    start: u32,
    /// Events met so far.
    pub(super) at: u32,
    /// Pools of spans as they were assumed, where the record does not name them.
    pub(super) assumed_pools: BTreeMap<SpanId, PoolId>,
    pub(super) private_pools: Vec<PoolId>,
    /// The record ends within an operation, so that the allocator stands elsewhere than it.
    pub(super) ends_open: bool,
}

/// What the program asks at a place of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// A request; its own event (`alloc` or `oom`) is at `end - 1`.
    Malloc {
        /// First event behind it.
        end: u32,
    },
    /// A free.
    Free,
    /// The second half of a free whose first half came just before the record.
    Completion,
    /// Releases that no request explains.
    Flush,
    /// An event that is no operation.
    Note,
    /// The record ends within an operation.
    CutOff,
}

/// How an operation is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// Releases at its beginning that garbage collection decided on, taken as recorded: its
    /// decision needs the memory limit, which records do not name (§4.5).
    pub(super) collected: u32,
    /// The private pool that a request goes to, or whose object is dropped.
    pub(super) pool: Option<PoolId>,
}

impl<'a> Walk<'a> {
    /// Where the cursor stands in the record.
    pub(super) fn from(
        recording: &'a Recording,
        record: &'a DeviceRecord,
        replay: &'a Replay,
        cursor: &Cursor,
    ) -> Result<Self, SeedError> {
        let driver = Recorded::new(Expected::new(recording, record));
        let mut walk = Self {
            recording,
            record,
            replay,
            allocator: Allocator::new(replay.settings().clone(), driver, 1),
            blocks: FxHashMap::default(),
            start: cursor.applied(),
            at: cursor.applied(),
            assumed_pools: BTreeMap::new(),
            private_pools: Vec::new(),
            ends_open: false,
        };
        let limit = recording.environment.card.limit_bytes;
        walk.allocator.set_memory_limit(DEVICE, limit);
        walk.seed(cursor)?;
        Ok(walk)
    }

    fn seed(&mut self, cursor: &Cursor) -> Result<(), SeedError> {
        let runs = cursor.state().runs(self.replay);
        let segments: Vec<SegmentReport> = runs
            .iter()
            .map(|run| run_report(self.recording, self.replay, run, DEVICE))
            .collect();
        for pool in segments.iter().map(|segment| segment.pool) {
            if pool != PoolId::DEFAULT && !self.private_pools.contains(&pool) {
                self.private_pools.push(pool);
            }
        }
        let reserved = reserved_ranges(self.replay, cursor.applied());
        let held = self.allocator.seed(&segments, &reserved)?;
        self.blocks = held.into_iter().collect();
        // Blocks that wait for their streams were freed before.
        let pending: Vec<LifeId> = cursor
            .state()
            .blocks()
            .map(|(_, id)| id)
            .filter(|&id| {
                let life = self.replay.life(id);
                life.is_some_and(|life| self.replay.is_pending(id, &life, cursor.applied()))
            })
            .collect();
        for life in pending.into_iter().filter_map(|id| self.replay.life(id)) {
            if life.ended() == Some(EventIndex(self.start)) {
                continue;
            }
            if let Some(&block) = self.blocks.get(&life.address) {
                self.free_later(block, life.ended(), &mut ());
            }
        }
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.replay.events()
    }

    /// What the program asked for where the walk stands.
    pub(super) fn operation(&self) -> Operation {
        let mut releases = false;
        let mut grew = false;
        if self.at == self.start && self.action(self.at) == Some(Action::FreeCompleted) {
            return Operation::Completion;
        }
        for index in self.at..self.replay.events() {
            match self.action(index) {
                Some(Action::Alloc | Action::Oom) => return self.malloc_or_flush(index + 1),
                Some(Action::SegmentFree | Action::SegmentUnmap) => releases = true,
                Some(Action::SegmentAlloc | Action::SegmentMap) => grew = true,
                Some(Action::FreeCompleted) => {}
                Some(Action::FreeRequested) if index == self.at => return Operation::Free,
                _ if index == self.at => return Operation::Note,
                // Even a flush that has nothing to release completes frees.
                _ => return Operation::Flush,
            }
        }
        if releases && !grew {
            Operation::Flush
        } else {
            Operation::CutOff
        }
    }

    /// Releases before a request belong to it unless `empty_cache()` was called.
    fn malloc_or_flush(&self, end: u32) -> Operation {
        use crate::replay::FlushKind::{EmptyCache, PoolDropped};
        let flushes = self.replay.flushes();
        let next = flushes.partition_point(|flush| flush.last.0 < self.at);
        let own = flushes.get(next).filter(|flush| flush.first.0 < end);
        match own {
            Some(flush) if matches!(flush.kind, EmptyCache | PoolDropped) => Operation::Flush,
            _ => Operation::Malloc { end },
        }
    }

    fn action(&self, index: u32) -> Option<Action> {
        self.record.events.action(EventIndex(index))
    }

    pub(super) fn recorded(&self, index: u32) -> Option<TraceEvent> {
        trace_event(self.recording, self.record, index)
    }

    /// Does the operation where the walk stands.
    ///
    /// # Errors
    /// At the first event that is not as recorded; the walk is of no use then.
    pub(super) fn advance(&mut self, operation: Operation, way: Way) -> Result<(), Box<Mismatch>> {
        self.advance_into(operation, way, &mut ())
    }

    /// The same, with what happens reported to `sink`.
    ///
    /// # Errors
    /// At the first event that is not as recorded.
    pub(super) fn advance_into<S: Sink>(
        &mut self,
        operation: Operation,
        way: Way,
        sink: &mut S,
    ) -> Result<(), Box<Mismatch>> {
        let emitted = self.allocator.events_emitted(DEVICE);
        let at = self.at;
        self.allocator.driver_mut().events_mut().align(at, emitted);
        let mut check = Check::new(self.recording, self.record, at, sink);
        match operation {
            Operation::Malloc { end } => self.malloc(end, way, &mut check),
            Operation::Free => self.free(&mut check),
            Operation::Completion => self.complete(&mut check),
            Operation::Flush => self.flush(way, &mut check),
            Operation::Note | Operation::CutOff => check.at += 1,
        }
        let end = match operation {
            Operation::Malloc { end } => Some(end),
            _ => None,
        };
        if check.first_mismatch.is_none() && (check.at == at || end.is_some_and(|e| check.at < e)) {
            check.first_mismatch = Some((check.at, None));
        }
        match check.first_mismatch {
            None => {
                self.at = check.at;
                Ok(())
            }
            Some((event, predicted)) => Err(Box::new(Mismatch {
                event: EventIndex(event),
                recorded: self.recorded(event),
                predicted,
                candidates: Vec::new(),
            })),
        }
    }

    fn malloc<S: Sink>(&mut self, end: u32, way: Way, check: &mut Check<'_, S>) {
        let Some(wanted) = self.recorded(end - 1) else {
            return;
        };
        self.mark_dropped_pools(self.at, end);
        self.collect(way.collected, check);
        let request = Request {
            device: DEVICE,
            bytes: wanted.size_bytes,
            stream: wanted.stream,
        };
        let pool = way.pool.or_else(|| self.known_pool(end - 1));
        let pool = pool.filter(|pool| *pool != PoolId::DEFAULT);
        let entered = pool.is_some_and(|pool| self.enter(pool));
        let block = self.allocator.malloc(request, check);
        if let Some(pool) = pool.filter(|_| entered) {
            // It was entered just before, so leaving cannot fail.
            let _ = self.allocator.leave_pool(DEVICE, pool);
        }
        if let Ok(block) = block {
            self.blocks.insert(wanted.address, block);
        }
    }

    /// The pool of a request: that of the span in which its block lies.
    pub(super) fn known_pool(&self, request: u32) -> Option<PoolId> {
        let span = self.span_of_request(request)?;
        let assumed = self.assumed_pools.get(&span).copied();
        assumed.or_else(|| self.replay.span(span)?.pool)
    }

    pub(super) fn span_of_request(&self, request: u32) -> Option<SpanId> {
        let event = EventIndex(request);
        let life = self.replay.life_of(self.action(request)?, event)?;
        self.replay.life(life)?.span()
    }

    /// Diverts what follows to a private pool, which is made at its first use.
    fn enter(&mut self, pool: PoolId) -> bool {
        if !self.private_pools.contains(&pool) {
            let made = self
                .allocator
                .begin_capture(DEVICE, Stream(0), Some(pool))
                .and_then(|_| self.allocator.end_capture(DEVICE, pool));
            if made.is_err() {
                return false;
            }
            self.private_pools.push(pool);
        }
        self.allocator.enter_pool(DEVICE, pool).is_ok()
    }

    fn free<S: Sink>(&mut self, check: &mut Check<'_, S>) {
        let Some(wanted) = self.recorded(self.at) else {
            return;
        };
        let Some(block) = self.blocks.remove(&wanted.address) else {
            check.first_mismatch = Some((self.at, None));
            return;
        };
        let next = self.recorded(self.at + 1);
        let at_once = next.is_some_and(|next| {
            next.action == Action::FreeCompleted && next.address == wanted.address
        });
        if at_once {
            if self.allocator.free(block, check).is_err() {
                check.first_mismatch = Some((self.at, None));
            }
        } else {
            let life = self
                .replay
                .life_of(Action::FreeRequested, EventIndex(self.at));
            let ended = life.and_then(|life| self.replay.life(life)?.ended());
            self.free_later(block, ended, check);
        }
    }

    fn complete<S: Sink>(&mut self, check: &mut Check<'_, S>) {
        let wanted = self.recorded(self.at);
        let block = wanted.and_then(|wanted| self.blocks.remove(&wanted.address));
        let mut events = Vec::new();
        if let Some(block) = block {
            // The block is live: it was just taken from those that are.
            let _ = self.allocator.free(block, &mut events);
        }
        let completions = events
            .into_iter()
            .filter(|event: &TraceEvent| event.action == Action::FreeCompleted);
        for event in completions {
            check.event(event);
        }
    }

    /// Frees a block that waits for a stream which the record does not name.
    fn free_later(&mut self, block: BlockId, ended: Option<EventIndex>, sink: &mut impl Sink) {
        let order = ended.map_or(u64::from(u32::MAX), |event| u64::from(event.0));
        self.allocator
            .record_stream(block, Stream(UNNAMED_STREAMS + order));
        // The block is live: it was just taken from those that are.
        let _ = self.allocator.free(block, sink);
    }

    fn flush<S: Sink>(&mut self, way: Way, check: &mut Check<'_, S>) {
        match way.pool {
            Some(pool) => {
                let _ = self.allocator.drop_mem_pool(DEVICE, pool, check);
            }
            None => {
                let end = self.burst_end();
                self.mark_dropped_pools(self.at, end);
                self.allocator.empty_cache(check);
            }
        }
    }

    /// First event behind the releases that begin where the walk stands.
    fn burst_end(&self) -> u32 {
        let is_part = |index: &u32| {
            let action = self.action(*index);
            !matches!(
                action,
                Some(Action::SegmentFree | Action::SegmentUnmap | Action::FreeCompleted)
            )
        };
        let events = self.replay.events();
        (self.at..events).find(is_part).unwrap_or(events)
    }

    /// Segments of a private pool go back only when nobody uses it any more.
    fn mark_dropped_pools(&mut self, from: u32, to: u32) {
        for pool in self.pools_released(from, to) {
            if pool != PoolId::DEFAULT {
                // A pool in use more than once, or dropped already, is no trouble.
                let _ = self.allocator.release_graph(DEVICE, pool);
            }
        }
    }

    /// Pools of the segments released in [from, to), each once, in order.
    pub(super) fn pools_released(&self, from: u32, to: u32) -> Vec<PoolId> {
        let mut pools: Vec<PoolId> = Vec::new();
        for index in from..to {
            if self.action(index) != Some(Action::SegmentFree) {
                continue;
            }
            let span = self
                .replay
                .span_of(Action::SegmentFree, EventIndex(index))
                .and_then(|id| Some((id, self.replay.span(id)?)));
            if let Some((id, span)) = span {
                let assumed = self.assumed_pools.get(&id).copied();
                let pool = assumed.or(span.pool).unwrap_or(PoolId::DEFAULT);
                if !pools.contains(&pool) {
                    pools.push(pool);
                }
            }
        }
        pools
    }

    /// Frees that complete at the end of the record, in an operation that lies behind it, need
    /// only be possible and lead to the final state.
    pub(super) fn take_trailing_completions(&mut self) {
        let rest = self.at..self.replay.events();
        let fits = rest.clone().all(|index| {
            self.action(index) == Some(Action::FreeCompleted)
                && self.replay.fits(Action::FreeCompleted, EventIndex(index))
        });
        if fits && self.replay.warnings().count(WarningKind::FinalMismatch) == 0 {
            self.at = rest.end;
            self.ends_open = true;
        }
    }

    fn collect<S: Sink>(&mut self, count: u32, check: &mut Check<'_, S>) {
        if count == 0 {
            return;
        }
        let events = (self.at..self.replay.events()).filter_map(|index| self.recorded(index));
        let addresses: Vec<u64> = events
            .skip_while(|event| event.action == Action::FreeCompleted)
            .take(count as usize)
            .map(|event| event.address)
            .collect();
        if self
            .allocator
            .collect_exactly(DEVICE, &addresses, check)
            .is_err()
        {
            check.first_mismatch = Some((self.at, None));
        }
    }

    /// Cached blocks of the default pools that a request could have chosen from.
    pub(super) fn candidates(&self, stream: Stream, rounded: u64) -> Vec<(u64, u64)> {
        let kind = crate::settings::Settings::pool_kind(rounded);
        let mut blocks: Vec<(u64, u64)> = self
            .allocator
            .snapshot()
            .into_iter()
            .filter(|segment| segment.kind == kind && segment.stream == stream)
            .flat_map(|segment| segment.blocks)
            .filter(|block| block.state == BlockState::Cached)
            .map(|block| (block.size_bytes, block.address))
            .collect();
        blocks.sort_unstable();
        let fit = blocks.partition_point(|&(size, _)| size < rounded);
        let first = fit.saturating_sub(8);
        let near = blocks.into_iter().skip(first).take(16);
        near.map(|(size, address)| (address, size)).collect()
    }
}
