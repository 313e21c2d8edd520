//! The requests of a recording, asked again of the allocator under other circumstances.

use serde::{Deserialize, Serialize};

use crate::allocator::{
    Allocator, BlockId, CardSize, MallocError, Request, SeedError, SegmentReport, SimulatedCard,
    Stream,
};
use crate::ids::{EventIndex, PoolId};
use crate::settings::Settings;
use crate::whatif::bounds::Card;
use crate::whatif::curve::Curve;
use crate::whatif::requests::{Asked, DEVICE, Requests, Slot, What};
use crate::whatif::variants::Variant;

/// Handles from here on stand for streams that a block was used on, which recordings do not name.
const UNNAMED_STREAMS: u64 = 1 << 63;

/// What a run came to. Bytes where not said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Most that was held from the driver.
    pub peak_reserved_bytes: u64,
    /// Most that was handed out.
    pub peak_allocated_bytes: u64,
    /// When most was held: what of it nobody had asked for (cached, rounding, unsplit slack).
    pub waste_at_peak_bytes: u64,
    /// The event at which most was held first; `None` when that was at the start.
    pub peak_at: Option<EventIndex>,
    /// Held at the end.
    pub reserved_at_end_bytes: u64,
    /// Segments at the end; of expandable ones the runs of pages, as a snapshot lists them.
    pub segments_at_end: u64,
    /// Segments asked for and returned, ranges of pages mapped and unmapped.
    pub driver_calls: u64,
    /// Their time by the cost model, in nanoseconds.
    pub driver_ns: u64,
    /// Requests that were refused at first, so that the cache was emptied.
    pub retries: u64,
    /// Requests that failed.
    pub ooms: u64,
    /// The first that failed.
    pub first_oom_event: Option<EventIndex>,
}

/// One run, as far as it has come.
#[derive(Clone, Debug)]
pub struct Run {
    allocator: Allocator<SimulatedCard>,
    variant: Variant,
    blocks: Vec<Option<BlockId>>,
    /// Private pools made so far.
    pools: Vec<PoolId>,
    /// Requests done.
    done: usize,
    /// Calls of `empty_cache()` inserted so far.
    inserted: usize,
    peak: i64,
    figures: Figures,
    reserved: Curve,
    allocated: Curve,
}

impl Run {
    /// A run that has done nothing yet: in the state in which the requests begin, as the recording
    /// had arranged it, whatever the settings.
    ///
    /// # Errors
    /// When that state is none that the allocator can be in.
    pub fn new(
        requests: &Requests,
        variant: &Variant,
        settings: Settings,
        card: Card,
    ) -> Result<Self, SeedError> {
        let mut driver = SimulatedCard::new(&[CardSize {
            capacity_bytes: card.capacity_bytes,
            others_bytes: card.others_bytes,
        }]);
        let segments = &requests.start.segments;
        let end = segments.iter().map(|s| s.address + s.total_bytes()).max();
        driver.start_above(end.unwrap_or(0));
        driver.hold(
            DEVICE,
            segments.iter().map(SegmentReport::total_bytes).sum(),
        );
        let has_fraction = settings.per_process_memory_fraction < 1.0;
        let mut variant = variant.clone();
        variant.inserted.sort_unstable();
        let from = requests.from;
        variant.inserted.retain(|event| event.0 >= from);
        let mut run = Self {
            allocator: Allocator::new(settings, driver, 1),
            variant,
            blocks: vec![None; requests.slots as usize],
            pools: Vec::new(),
            done: 0,
            inserted: 0,
            peak: 0,
            figures: Figures::default(),
            reserved: Curve::new(from, requests.events, requests.start.sums.reserved),
            allocated: Curve::new(from, requests.events, requests.start.sums.allocated),
        };
        if !has_fraction {
            run.allocator.set_memory_limit(DEVICE, card.limit_bytes);
        }
        run.seed(requests)?;
        Ok(run)
    }

    fn seed(&mut self, requests: &Requests) -> Result<(), SeedError> {
        let start = &requests.start;
        let held = self.allocator.seed(&start.segments, &[])?;
        let held: std::collections::BTreeMap<u64, BlockId> = held.into_iter().collect();
        for (address, slot) in &start.live {
            self.put(*slot, held.get(address).copied());
        }
        for segment in &start.segments {
            if segment.pool != PoolId::DEFAULT && !self.pools.contains(&segment.pool) {
                self.pools.push(segment.pool);
            }
        }
        for slot in &start.pending {
            self.free_later(*slot);
        }
        if let Some(statistics) = self.allocator.statistics_mut(DEVICE) {
            statistics.reset_peak();
        }
        self.note_peak(None);
        Ok(())
    }

    /// Goes on for at most so many requests; `true` when all are done.
    pub fn advance(&mut self, requests: &Requests, most: usize) -> bool {
        self.advance_until(requests, EventIndex(u32::MAX), most)
    }

    /// Goes on for at most so many requests, to the first that comes after `last`; `true` when
    /// there.
    pub fn advance_until(&mut self, requests: &Requests, last: EventIndex, most: usize) -> bool {
        let rest = requests.asked.get(self.done..).unwrap_or_default();
        for asked in rest.iter().take(most) {
            if asked.at > last {
                return true;
            }
            self.insert_before(asked.at);
            self.step(requests, asked);
            self.done += 1;
        }
        if self.done < requests.len() {
            return false;
        }
        self.insert_before(last);
        true
    }

    /// Requests done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done
    }

    /// What it has come to so far.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let mut figures = self.figures;
        if let Some(statistics) = self.allocator.statistics(DEVICE) {
            let bytes = |value: i64| u64::try_from(value).unwrap_or(0);
            figures.peak_reserved_bytes = bytes(statistics.reserved_bytes.all.peak);
            figures.peak_allocated_bytes = bytes(statistics.allocated_bytes.all.peak);
            figures.retries = bytes(statistics.num_alloc_retries);
            figures.ooms = bytes(statistics.num_ooms);
        }
        let spent = self.allocator.driver().spent();
        figures.driver_calls = spent.calls;
        figures.driver_ns = spent.ns as u64;
        figures.reserved_at_end_bytes = self.allocator.held_bytes(DEVICE);
        figures.segments_at_end = self.segments().len() as u64;
        figures
    }

    /// Its segments as they are now.
    #[must_use]
    pub fn segments(&self) -> Vec<SegmentReport> {
        self.allocator.snapshot()
    }

    /// The settings it runs under.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.allocator.settings()
    }

    /// Bytes held from the driver, over the events of the recording.
    #[must_use]
    pub fn reserved(&self) -> &Curve {
        &self.reserved
    }

    /// Bytes handed out, over the events of the recording.
    #[must_use]
    pub fn allocated(&self) -> &Curve {
        &self.allocated
    }

    fn insert_before(&mut self, event: EventIndex) {
        while let Some(at) = self.variant.inserted.get(self.inserted).copied()
            && at <= event
        {
            self.inserted += 1;
            self.allocator.empty_cache(&mut ());
            self.note(at);
        }
    }

    #[inline]
    fn step(&mut self, requests: &Requests, asked: &Asked) {
        match asked.what {
            What::Malloc { bytes, from, slot } => {
                let block = self.malloc(requests, asked.at, bytes, from);
                self.put(slot, block);
                self.note_peak(Some(asked.at));
            }
            What::Failed { bytes, from } => {
                let block = self.malloc(requests, asked.at, bytes, from);
                self.note_peak(Some(asked.at));
                self.note(asked.at);
                self.free(block);
            }
            What::Free { slot } => {
                let block = self.take(slot);
                self.free(block);
            }
            What::FreeLater { slot } => self.free_later(slot),
            What::StreamsDone { slot } => {
                let stream = Some(unnamed(slot));
                self.allocator.driver_mut().complete(DEVICE, stream);
            }
            What::EmptyCache if self.variant.keeps(asked.at) => self.allocator.empty_cache(&mut ()),
            What::EmptyCache => {}
            // A pool that is in use more than once, or gone already, is no trouble.
            What::ReleasePool { pool } => {
                let _ = self.allocator.release_graph(DEVICE, pool);
                self.pools.retain(|known| *known != pool);
            }
            What::DropPool { pool } => {
                let _ = self.allocator.drop_mem_pool(DEVICE, pool, &mut ());
                self.pools.retain(|known| *known != pool);
            }
        }
        self.note(asked.at);
    }

    fn malloc(
        &mut self,
        requests: &Requests,
        at: EventIndex,
        bytes: u64,
        from: u32,
    ) -> Option<BlockId> {
        let origin = requests.origins.get(from as usize)?;
        let request = Request {
            device: DEVICE,
            bytes,
            stream: origin.stream,
        };
        let entered = origin.pool != PoolId::DEFAULT && self.enter(origin.pool);
        let answer = self.allocator.malloc(request, &mut ());
        if entered {
            // It was entered just before, so leaving cannot fail.
            let _ = self.allocator.leave_pool(DEVICE, origin.pool);
        }
        if let Err(MallocError::OutOfMemory(_)) = &answer {
            self.figures.first_oom_event.get_or_insert(at);
        }
        answer.ok()
    }

    /// Diverts what follows to a private pool, which is made at its first use.
    fn enter(&mut self, pool: PoolId) -> bool {
        if !self.pools.contains(&pool) {
            let made = self
                .allocator
                .begin_capture(DEVICE, Stream(0), Some(pool))
                .and_then(|_| self.allocator.end_capture(DEVICE, pool));
            if made.is_err() {
                return false;
            }
            self.pools.push(pool);
        }
        self.allocator.enter_pool(DEVICE, pool).is_ok()
    }

    fn free(&mut self, block: Option<BlockId>) {
        if let Some(block) = block {
            // It is live: it was taken from those that are.
            let _ = self.allocator.free(block, &mut ());
        }
    }

    fn free_later(&mut self, slot: Slot) {
        let block = self.take(slot);
        if let Some(block) = block {
            self.allocator.record_stream(block, unnamed(slot));
        }
        self.free(block);
    }

    fn put(&mut self, slot: Slot, block: Option<BlockId>) {
        if let Some(of) = self.blocks.get_mut(slot as usize) {
            *of = block;
        }
    }

    fn take(&mut self, slot: Slot) -> Option<BlockId> {
        self.blocks.get_mut(slot as usize)?.take()
    }

    /// When more is held than ever before, what of it is waste.
    #[inline]
    fn note_peak(&mut self, at: Option<EventIndex>) {
        let Some(statistics) = self.allocator.statistics(DEVICE) else {
            return;
        };
        let reserved = &statistics.reserved_bytes.all;
        if reserved.peak > self.peak {
            self.peak = reserved.peak;
            let waste = reserved.peak - statistics.requested_bytes.all.current;
            self.figures.waste_at_peak_bytes = u64::try_from(waste).unwrap_or(0);
            self.figures.peak_at = at;
        }
    }

    #[inline]
    fn note(&mut self, at: EventIndex) {
        let Some(statistics) = self.allocator.statistics(DEVICE) else {
            return;
        };
        let bytes = |value: i64| u64::try_from(value).unwrap_or(0);
        self.reserved
            .push(at.0, bytes(statistics.reserved_bytes.all.current));
        self.allocated
            .push(at.0, bytes(statistics.allocated_bytes.all.current));
    }
}

fn unnamed(slot: Slot) -> Stream {
    Stream(UNNAMED_STREAMS + u64::from(slot))
}
