//! Memory back to the driver: flushes, garbage collection, oversize blocks.

use shared::{
    ids::{PoolId, PoolKind},
    model::Action,
    settings::UNLIMITED,
};

use super::{Block, Naive};

impl Naive {
    pub(super) fn release_all(&mut self, pool: PoolId, kind: PoolKind) {
        let mut free: Vec<Block> = self.blocks.clone();
        free.retain(|b| b.free() && (b.pool, b.kind) == (pool, kind));
        free.sort_by_key(Block::key);
        for block in &free {
            if block.page.is_none() && !self.is_split(block) {
                self.release(block.id);
            }
        }
        for block in free.iter().filter(|block| block.page.is_some()) {
            self.unmap(block.id);
        }
    }

    pub(super) fn release(&mut self, id: u64) {
        let block = self.blocks.remove(self.at(id));
        self.figures.device_frees += 1;
        let event = (Action::SegmentFree, block.address, block.size, block.stream);
        self.events.push(event);
    }

    pub(super) fn unmap(&mut self, id: u64) {
        let at = self.at(id);
        let block = self.blocks[at].clone();
        let page = block.page.unwrap_or(1);
        let first = (block.address - block.segment).next_multiple_of(page) + block.segment;
        let last = (block.address + block.size - block.segment) / page * page + block.segment;
        if first >= last {
            return;
        }
        let end = block.address + block.size;
        if last < end {
            let mut after = block.clone();
            after.id = self.fresh_id();
            after.address = last;
            after.size = end - last;
            after.requested = 0;
            self.blocks.insert(at + 1, after);
            self.stamp(at + 1);
        }
        self.blocks[at].address = first;
        self.blocks[at].size = last - first;
        self.blocks[at].mapped = false;
        if first > block.address {
            let mut before = block.clone();
            before.id = self.fresh_id();
            before.size = first - block.address;
            before.requested = 0;
            self.blocks.insert(at, before);
            self.stamp(at);
        }
        let at = self.join(self.at(id));
        self.figures.device_frees += 1;
        let event = (Action::SegmentUnmap, first, last - first, block.stream);
        self.events.push(event);
        if !self.is_split(&self.blocks[at].clone()) {
            self.blocks.remove(at);
        }
    }

    pub(super) fn collects(&self) -> bool {
        self.settings.garbage_collection_threshold > 0.0 && self.limit.is_some()
    }

    pub(super) fn collect(&mut self) {
        let limit = self.limit.unwrap_or(0) as f64;
        let threshold = (self.settings.garbage_collection_threshold * limit) as u64;
        if self.held() <= threshold {
            return;
        }
        let target = self.held() - threshold;
        let key = (PoolId::DEFAULT, PoolKind::Large);
        let searches = self.searches_of(key.0, key.1);
        let mut whole: Vec<Block> = self.blocks.clone();
        whole.retain(|b| b.free() && (b.pool, b.kind) == key && !self.is_split(b));
        whole.sort_by_key(Block::key);
        let (mut reclaimed, mut freed) = (0, true);
        while reclaimed < target && freed && !whole.is_empty() {
            let ages: u64 = whole.iter().map(|b| searches - b.stamp).sum();
            let mean = ages as f64 / whole.len() as f64;
            let old = |b: &Block| b.page.is_none() && (searches - b.stamp) as f64 >= mean;
            let (gone, kept): (Vec<_>, Vec<_>) = whole.into_iter().partition(old);
            freed = !gone.is_empty();
            for block in gone {
                reclaimed += block.size;
                self.release(block.id);
            }
            whole = kept;
        }
    }

    pub(super) fn release_oversize(
        &mut self,
        pool: PoolId,
        kind: PoolKind,
        stream: u64,
        n: u64,
    ) -> bool {
        let limit = self.settings.max_split_bytes;
        if limit == UNLIMITED {
            return false;
        }
        let needed = n.max(limit);
        let mut free: Vec<Block> = self.blocks.clone();
        free.retain(|b| b.free() && (b.pool, b.kind, b.stream) == (pool, kind, stream));
        free.sort_by_key(Block::key);
        if let Some(first) = free.iter().find(|b| b.size >= needed)
            && first.page.is_none()
            && !self.is_split(first)
        {
            self.release(first.id);
            return true;
        }
        let mut released = 0;
        for block in free.iter().rev().filter(|b| b.size < needed) {
            if released >= needed || block.size < limit {
                break;
            }
            if block.page.is_none() && !self.is_split(block) {
                released += block.size;
                self.release(block.id);
            }
        }
        released >= needed
    }
}
