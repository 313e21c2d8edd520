//! The allocator once more, deliberately naive: one list of blocks in the order of their
//! addresses, searched from end to end for everything, statistics summed up when asked for.
//! Written from the specification, sharing nothing with the engine but the settings' rules.

mod grow;
mod release;

use shared::{
    allocator::{BlockReport, Stream},
    ids::{PoolId, PoolKind},
    model::{Action, BlockState},
    settings::Settings,
};

/// Action, address, bytes and stream of an event.
pub type Event = (Action, u64, u64, u64);

#[derive(Clone, Debug)]
pub struct Block {
    id: u64,
    pub address: u64,
    pub size: u64,
    requested: u64,
    stream: u64,
    pool: PoolId,
    kind: PoolKind,
    /// Number of the driver segment or reservation.
    segment: u64,
    /// Page of an expandable segment.
    page: Option<u64>,
    mapped: bool,
    allocated: bool,
    used_by: Vec<u64>,
    waits: u32,
    stamp: u64,
}

impl Block {
    fn idle(&self) -> bool {
        !self.allocated && self.waits == 0 && self.used_by.is_empty()
    }

    fn free(&self) -> bool {
        self.mapped && self.idle()
    }

    fn key(&self) -> (u64, u64, u64) {
        (self.stream, self.size, self.address)
    }
}

#[derive(Debug, Default)]
pub struct Figures {
    pub retries: i64,
    pub ooms: i64,
    pub syncs: i64,
    pub device_allocs: i64,
    pub device_frees: i64,
}

/// Sums over the blocks, for comparison with statistics.
#[derive(Debug, Default, PartialEq)]
pub struct Sums {
    pub allocated: i64,
    pub active: i64,
    pub requested: i64,
    pub reserved: i64,
    pub inactive_split: i64,
    pub segments: i64,
}

#[derive(Debug)]
pub struct Naive {
    pub settings: Settings,
    pub capacity: u64,
    pub limit: Option<u64>,
    pub blocks: Vec<Block>,
    pub events: Vec<Event>,
    pub figures: Figures,
    /// Uses, by MemPool.
    pools: Vec<(PoolId, u32)>,
    entered: Vec<PoolId>,
    /// Stream, number of the event, block; oldest first.
    waiting: Vec<(u64, u64, u64)>,
    /// Stream and the event up to which it is done.
    done: Vec<(u64, u64)>,
    searches: Vec<((PoolId, PoolKind), u64)>,
    deferred: Vec<(u64, Vec<u64>)>,
    in_capture: Vec<(u64, u64)>,
    next_address: u64,
    next_id: u64,
    next_event: u64,
}

impl Naive {
    pub fn new(settings: Settings, capacity: u64) -> Self {
        Self {
            settings,
            capacity,
            limit: None,
            blocks: Vec::new(),
            events: Vec::new(),
            figures: Figures::default(),
            pools: Vec::new(),
            entered: Vec::new(),
            waiting: Vec::new(),
            done: Vec::new(),
            searches: Vec::new(),
            deferred: Vec::new(),
            in_capture: Vec::new(),
            next_address: 0x7f00_0000_0000,
            next_id: 0,
            next_event: 0,
        }
    }

    pub fn malloc(&mut self, requested: u64, stream: u64) -> Option<u64> {
        if self.entered.is_empty() {
            self.process();
        }
        let n = self.settings.round(requested);
        let kind = if n <= 1 << 20 {
            PoolKind::Small
        } else {
            PoolKind::Large
        };
        let pool = self.entered.last().copied().unwrap_or(PoolId::DEFAULT);
        let expandable = self.settings.expandable_segments;
        let ask = (pool, kind, stream, n);
        let Some(found) = self.obtain(ask, expandable) else {
            let free = self.capacity - self.held();
            self.events.push((Action::Oom, free, n, stream));
            self.figures.ooms += 1;
            return None;
        };
        let at = self.at(found);
        let rest = self.blocks[at].size - n;
        let small = kind == PoolKind::Small;
        let splits = if small || expandable {
            rest >= 512
        } else {
            n < self.settings.max_split_bytes && rest > 1 << 20
        };
        let mut id = found;
        if splits {
            let mut front = self.blocks[at].clone();
            front.id = self.fresh_id();
            front.size = n;
            id = front.id;
            self.blocks[at].address += n;
            self.blocks[at].size -= n;
            self.stamp(at);
            self.blocks.insert(at, front);
        }
        let at = self.at(id);
        self.blocks[at].allocated = true;
        self.blocks[at].requested = requested;
        let address = self.blocks[at].address;
        self.events
            .push((Action::Alloc, address, requested, stream));
        Some(id)
    }

    fn obtain(&mut self, ask: (PoolId, PoolKind, u64, u64), expandable: bool) -> Option<u64> {
        let (pool, kind, stream, n) = ask;
        if self.collects() {
            let count = self.searches_of(pool, kind) + 1;
            self.searches.retain(|(key, _)| *key != (pool, kind));
            self.searches.push(((pool, kind), count));
        }
        if let Some(id) = self.search(ask, expandable) {
            return Some(id);
        }
        if self.collects() {
            self.collect();
        }
        if let Some(id) = self.grow(ask, expandable) {
            return Some(id);
        }
        if self.release_oversize(pool, kind, stream, n)
            && let Some(id) = self.grow(ask, expandable)
        {
            return Some(id);
        }
        if !self.entered.is_empty() {
            return None;
        }
        self.flush();
        self.figures.retries += 1;
        self.grow(ask, expandable)
    }

    fn search(&self, ask: (PoolId, PoolKind, u64, u64), expandable: bool) -> Option<u64> {
        let (pool, kind, stream, n) = ask;
        let mut fits: Vec<&Block> = self.blocks.iter().collect();
        fits.retain(|b| (b.pool, b.kind, b.stream) == (pool, kind, stream));
        fits.retain(|b| b.free() && b.size >= n);
        fits.sort_by_key(|b| b.key());
        let mut fits = fits.into_iter().peekable();
        let mut chosen = fits.next()?;
        if expandable {
            while chosen.page.is_some()
                && let Some(next) = fits.next_if(|next| self.reach(next) < self.reach(chosen))
            {
                chosen = next;
            }
        } else {
            while chosen.page.is_some() {
                chosen = fits.next()?;
            }
        }
        let limit = self.settings.max_split_bytes;
        let slack = self.settings.max_non_split_rounding_bytes;
        let refused = if n < limit {
            chosen.size >= limit
        } else {
            chosen.size >= n.saturating_add(slack)
        };
        (!refused).then_some(chosen.id)
    }

    fn reach(&self, block: &Block) -> u64 {
        let next = self.blocks.get(self.at(block.id) + 1);
        let unmapped = next.filter(|next| next.segment == block.segment && !next.mapped);
        block.size + unmapped.map_or(0, |next| next.size)
    }

    pub fn free(&mut self, id: u64) {
        let at = self.at(id);
        let block = &mut self.blocks[at];
        block.allocated = false;
        let event = (
            Action::FreeRequested,
            block.address,
            block.requested,
            block.stream,
        );
        self.events.push(event);
        if block.used_by.is_empty() {
            self.complete(id);
        } else if self.entered.is_empty() {
            self.wait_for_streams(id);
        } else {
            let streams = self.in_capture.iter().filter(|(of, _)| *of == id);
            let streams = streams.map(|(_, stream)| *stream).collect();
            self.deferred.push((id, streams));
        }
    }

    fn wait_for_streams(&mut self, id: u64) {
        let at = self.at(id);
        let mut streams = std::mem::take(&mut self.blocks[at].used_by);
        streams.sort_unstable();
        for stream in streams {
            self.blocks[at].waits += 1;
            self.waiting.push((stream, self.next_event, id));
            self.next_event += 1;
        }
    }

    fn complete(&mut self, id: u64) {
        self.in_capture.retain(|(of, _)| *of != id);
        let at = self.at(id);
        let block = &self.blocks[at];
        let event = (
            Action::FreeCompleted,
            block.address,
            block.requested,
            block.stream,
        );
        self.events.push(event);
        let at = self.join(at);
        self.stamp(at);
    }

    pub fn record(&mut self, id: u64, stream: u64) {
        let at = self.at(id);
        let block = &mut self.blocks[at];
        if block.stream != stream && !block.used_by.contains(&stream) {
            block.used_by.push(stream);
        }
        if block.stream != stream && !self.entered.is_empty() {
            self.in_capture.push((id, stream));
        }
    }

    /// The work queued so far on a stream is done.
    pub fn stream_done(&mut self, stream: u64) {
        self.done.retain(|(of, _)| *of != stream);
        self.done.push((stream, self.next_event));
    }

    fn process(&mut self) {
        for (id, in_capture) in std::mem::take(&mut self.deferred) {
            let at = self.at(id);
            self.blocks[at].used_by.retain(|s| !in_capture.contains(s));
            if self.blocks[at].used_by.is_empty() {
                self.complete(id);
            } else {
                self.in_capture.retain(|(of, _)| *of != id);
                self.wait_for_streams(id);
            }
        }
        self.waiting.sort_unstable();
        for (stream, event, id) in self.waiting.clone() {
            let done = self.done.iter().find(|(of, _)| *of == stream);
            if done.is_some_and(|(_, below)| event < *below) {
                self.finish(event, id);
            }
        }
    }

    fn finish(&mut self, event: u64, id: u64) {
        self.waiting.retain(|(_, of, _)| *of != event);
        let at = self.at(id);
        self.blocks[at].waits -= 1;
        if self.blocks[at].idle() {
            self.complete(id);
        }
    }

    pub fn flush(&mut self) {
        if self.entered.is_empty() {
            self.figures.syncs += 1;
            self.process();
            for (_, event, id) in self.waiting.clone() {
                self.finish(event, id);
            }
            self.release_all(PoolId::DEFAULT, PoolKind::Large);
            self.release_all(PoolId::DEFAULT, PoolKind::Small);
        }
        let dropped: Vec<_> = self.pools.iter().filter(|(_, uses)| *uses == 0).collect();
        for id in dropped.into_iter().map(|(id, _)| *id).collect::<Vec<_>>() {
            self.release_all(id, PoolKind::Small);
            self.release_all(id, PoolKind::Large);
        }
    }

    pub fn create_pool(&mut self) {
        let id = PoolId(0, self.pools.len() as u64 + 1);
        self.pools.push((id, 1));
    }

    /// Enters pool k of those made; false if it was dropped.
    pub fn enter(&mut self, k: usize) -> bool {
        match self.pools.get_mut(k) {
            Some((id, uses)) if *uses > 0 => {
                *uses += 1;
                self.entered.push(*id);
                true
            }
            _ => false,
        }
    }

    pub fn leave(&mut self) -> Option<PoolId> {
        let id = self.entered.pop()?;
        for (of, uses) in &mut self.pools {
            *uses -= u32::from(*of == id);
        }
        Some(id)
    }

    /// Drops the object of pool k; false where that is not possible.
    pub fn drop_pool(&mut self, k: usize) -> bool {
        match self.pools.get_mut(k) {
            Some((id, uses)) if *uses == 1 && self.entered.is_empty() => {
                *uses = 0;
                let id = *id;
                self.figures.syncs += 1;
                self.process_deferred_only();
                self.waiting.sort_unstable();
                for (stream, event, block) in self.waiting.clone() {
                    if self.blocks[self.at(block)].pool == id {
                        // Streams work in order: what came before it is done as well.
                        let done = self.done.iter().find(|(of, _)| *of == stream);
                        let below = done.map_or(0, |(_, below)| *below).max(event + 1);
                        self.done.retain(|(of, _)| *of != stream);
                        self.done.push((stream, below));
                        self.finish(event, block);
                    }
                }
                self.release_all(id, PoolKind::Small);
                self.release_all(id, PoolKind::Large);
                true
            }
            _ => false,
        }
    }

    fn process_deferred_only(&mut self) {
        let done = std::mem::take(&mut self.done);
        self.process();
        self.done = done;
    }

    pub fn is_entered(&self) -> bool {
        !self.entered.is_empty()
    }

    pub fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for block in self.blocks.iter().filter(|b| b.mapped) {
            let size = block.size.cast_signed();
            sums.reserved += size;
            if block.allocated {
                sums.allocated += size;
            }
            if !block.idle() {
                sums.active += size;
                sums.requested += block.requested.cast_signed();
            } else if block.page.is_none() && self.is_split(block) {
                sums.inactive_split += size;
            }
            sums.segments += i64::from(block.page.is_none() && block.address == block.segment);
        }
        sums
    }

    /// Mapped blocks by address, with their streams.
    pub fn reports(&self) -> Vec<(Stream, BlockReport)> {
        let mut blocks: Vec<_> = self.blocks.iter().filter(|b| b.mapped).collect();
        blocks.sort_by_key(|b| b.address);
        let report = |b: &Block| BlockReport {
            address: b.address,
            size_bytes: b.size,
            requested_bytes: b.requested,
            state: match (b.allocated, b.idle()) {
                (true, _) => BlockState::Allocated,
                (false, false) => BlockState::PendingFree,
                (false, true) => BlockState::Cached,
            },
        };
        let pair = |b: &Block| (Stream(b.stream), report(b));
        blocks.into_iter().map(pair).collect()
    }

    pub fn held(&self) -> u64 {
        let mapped = self.blocks.iter().filter(|b| b.mapped);
        mapped.map(|b| b.size).sum()
    }

    fn is_split(&self, block: &Block) -> bool {
        let of_segment = self.blocks.iter().filter(|b| b.segment == block.segment);
        of_segment.count() > 1
    }

    fn stamp(&mut self, at: usize) {
        let (pool, kind) = (self.blocks[at].pool, self.blocks[at].kind);
        self.blocks[at].stamp = self.searches_of(pool, kind);
    }

    fn searches_of(&self, pool: PoolId, kind: PoolKind) -> u64 {
        let found = self.searches.iter().find(|(key, _)| *key == (pool, kind));
        found.map_or(0, |(_, count)| *count)
    }

    fn at(&self, id: u64) -> usize {
        let found = self.blocks.iter().position(|b| b.id == id);
        found.expect("blocks are named while they exist")
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}
