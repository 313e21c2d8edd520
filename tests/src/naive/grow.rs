//! Memory from the driver: segments and pages.

use shared::{
    ids::{PoolId, PoolKind},
    model::Action,
};

use super::{Block, Naive};

impl Naive {
    pub(super) fn grow(
        &mut self,
        ask: (PoolId, PoolKind, u64, u64),
        expandable: bool,
    ) -> Option<u64> {
        let (pool, kind, stream, n) = ask;
        let bytes = self.settings.segment_bytes(n);
        if self.limit.is_some_and(|limit| self.held() + bytes > limit) {
            return None;
        }
        if expandable {
            return self.grow_pages(ask);
        }
        if self.held() + bytes > self.capacity {
            return None;
        }
        let block = self.new_block(bytes, (pool, kind, stream), None);
        let (id, address) = (block.id, block.address);
        self.blocks.push(block);
        self.figures.device_allocs += 1;
        self.events
            .push((Action::SegmentAlloc, address, bytes, stream));
        Some(id)
    }

    pub(super) fn new_block(
        &mut self,
        size: u64,
        (pool, kind, stream): (PoolId, PoolKind, u64),
        page: Option<u64>,
    ) -> Block {
        let address = self.next_address;
        self.next_address += size.next_multiple_of(2 << 20);
        Block {
            id: self.fresh_id(),
            address,
            size,
            requested: 0,
            stream,
            pool,
            kind,
            segment: address,
            page,
            mapped: page.is_none(),
            allocated: false,
            used_by: Vec::new(),
            waits: 0,
            stamp: self.searches_of(pool, kind),
        }
    }

    pub(super) fn grow_pages(&mut self, ask: (PoolId, PoolKind, u64, u64)) -> Option<u64> {
        let (pool, kind, stream, n) = ask;
        let mut start = (0..self.blocks.len()).find_map(|at| {
            let block = &self.blocks[at];
            let here = (block.pool, block.kind, block.stream) == (pool, kind, stream);
            if !here || block.mapped {
                return None;
            }
            let before = at > 0
                && self.blocks[at - 1].segment == block.segment
                && self.blocks[at - 1].idle();
            let start = at - usize::from(before);
            let run = self.blocks[start..].iter();
            let run = run.take_while(|b| b.segment == block.segment && b.idle());
            (run.map(|b| b.size).sum::<u64>() >= n).then_some(start)
        });
        if start.is_none() {
            let page = self.settings.page_bytes(kind);
            let bytes = (self.capacity + self.capacity / 8).next_multiple_of(page);
            if bytes < n {
                return None;
            }
            let block = self.new_block(bytes, (pool, kind, stream), Some(page));
            self.blocks.push(block);
            start = Some(self.blocks.len() - 1);
        }
        let mut at = start?;
        if !self.blocks[at].mapped {
            at = self.map(at, n.min(self.blocks[at].size))?;
        }
        while self.blocks[at].size < n {
            let missing = n - self.blocks[at].size;
            at = self.map(at + 1, missing.min(self.blocks[at + 1].size))?;
        }
        Some(self.blocks[at].id)
    }

    /// Maps the beginning of an unmapped block; returns where the joined block stands.
    pub(super) fn map(&mut self, at: usize, bytes: u64) -> Option<usize> {
        let page = self.blocks[at].page?;
        let bytes = bytes.next_multiple_of(page);
        if self.held() + bytes > self.capacity {
            return None;
        }
        if bytes < self.blocks[at].size {
            let mut rest = self.blocks[at].clone();
            rest.id = self.fresh_id();
            rest.address += bytes;
            rest.size -= bytes;
            rest.requested = 0;
            self.blocks[at].size = bytes;
            self.blocks.insert(at + 1, rest);
        }
        self.blocks[at].mapped = true;
        let (address, stream) = (self.blocks[at].address, self.blocks[at].stream);
        self.figures.device_allocs += 1;
        self.events
            .push((Action::SegmentMap, address, bytes, stream));
        let at = self.join(at);
        self.stamp(at);
        Some(at)
    }

    /// Joins the idle neighbours of a block to it; returns where it stands then.
    pub(super) fn join(&mut self, mut at: usize) -> usize {
        let joins = |a: &Block, b: &Block| a.segment == b.segment && a.mapped == b.mapped;
        if at > 0 && self.blocks[at - 1].idle() && joins(&self.blocks[at - 1], &self.blocks[at]) {
            let before = self.blocks.remove(at - 1);
            at -= 1;
            self.blocks[at].address = before.address;
            self.blocks[at].size += before.size;
        }
        let next = self.blocks.get(at + 1);
        if next.is_some_and(|next| next.idle() && joins(next, &self.blocks[at])) {
            self.blocks[at].size += self.blocks.remove(at + 1).size;
        }
        at
    }
}
