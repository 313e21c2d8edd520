//! Expandable segments, page by page (§8).

use super::{
    Allocator, Stream,
    arena::{Block, Index, NONE},
    decision::{Side, Step},
    driver::{Driver, DriverCall, DriverError, Pages},
    malloc::Ask,
    spot_of,
    trace::Sink,
};
use crate::model::Action;

/// One range of addresses that pages are mapped into (§8.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Reservation {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) page_bytes: u64,
}

/// Bytes of a reservation: nine eighths of the card, in whole pages (§8.1).
pub(super) fn reservation_bytes(total_bytes: u64, page_bytes: u64) -> u64 {
    let wanted = total_bytes.saturating_add(total_bytes / 8);
    wanted.div_ceil(page_bytes).saturating_mul(page_bytes)
}

impl<D: Driver> Allocator<D> {
    /// Finds room for the request and maps what is missing of it (§8.2). The block is in no list.
    pub(super) fn grow_expandable<S: Sink>(
        &mut self,
        ask: &Ask,
        sink: &mut S,
    ) -> Result<Index, DriverError> {
        let mut candidate = match self.find_room(ask) {
            Some(found) => found,
            None => self.reserve(ask, sink)?,
        };
        if !self.blocks[candidate].mapped {
            let bytes = ask.rounded.min(self.blocks[candidate].size);
            self.map(candidate, bytes, sink)?;
        }
        while self.blocks[candidate].size < ask.rounded {
            let next = self.blocks[candidate].next;
            let missing = ask.rounded - self.blocks[candidate].size;
            let bytes = missing.min(self.blocks[next].size);
            self.map(next, bytes, sink)?;
            candidate = next;
        }
        self.remove_free(candidate);
        Ok(candidate)
    }

    /// The first run of idle blocks, mapped or not, that is long enough; runs are tried in the
    /// order of their unmapped parts.
    fn find_room(&self, ask: &Ask) -> Option<Index> {
        let unmapped = &self.pools[ask.pool as usize].unmapped;
        let of_stream = unmapped.range((ask.stream, 0)..=(ask.stream, u64::MAX));
        of_stream.map(|(_, index)| *index).find_map(|unmapped| {
            let prev = self.blocks[unmapped].prev;
            let start = if prev != NONE && self.blocks[prev].is_idle() {
                prev
            } else {
                unmapped
            };
            self.has_room(start, ask.rounded).then_some(start)
        })
    }

    fn has_room(&self, start: Index, bytes: u64) -> bool {
        let (mut at, mut sum) = (start, 0);
        while at != NONE && self.blocks[at].is_idle() {
            sum += self.blocks[at].size;
            if sum >= bytes {
                return true;
            }
            at = self.blocks[at].next;
        }
        false
    }

    fn reserve<S: Sink>(&mut self, ask: &Ask, sink: &mut S) -> Result<Index, DriverError> {
        let page_bytes = self.settings.page_bytes(ask.kind);
        let total = self.driver.total_bytes(self.devices[ask.device].index);
        let bytes = reservation_bytes(total, page_bytes);
        if bytes < ask.rounded {
            return Err(DriverError::OutOfMemory);
        }
        let answer = self.driver.reserve(self.at(ask.pool, ask.stream), bytes);
        self.note_call(sink, DriverCall::Reserve { bytes }, answer.is_ok());
        let address = answer?;
        let reservation = Reservation {
            address,
            bytes,
            page_bytes,
        };
        Ok(self.add_reservation(reservation, ask.pool, ask.stream))
    }

    /// A reservation begins as one unmapped block.
    pub(super) fn add_reservation(
        &mut self,
        reservation: Reservation,
        pool: u32,
        stream: Stream,
    ) -> Index {
        let number = self.reservations.len() as u32;
        self.reservations.push(reservation);
        let mut block = Block::new(reservation.address, reservation.bytes, stream, pool, number);
        block.mapped = false;
        let index = self.blocks.insert(block);
        let unmapped = &mut self.pools[pool as usize].unmapped;
        unmapped.insert((stream, reservation.address), index);
        index
    }

    /// Maps pages at the beginning of an unmapped block, which then joins its neighbours and the
    /// free list (§8.3).
    fn map<S: Sink>(&mut self, index: Index, bytes: u64, sink: &mut S) -> Result<(), DriverError> {
        let block = &self.blocks[index];
        let (address, stream, pool) = (block.address, block.stream, block.pool);
        let page_bytes = self.reservations[block.reservation as usize].page_bytes;
        let bytes = bytes.next_multiple_of(page_bytes).min(block.size);
        let pages = Pages {
            address,
            bytes,
            page_bytes,
        };
        let answer = self.driver.map(self.at(pool, stream), pages);
        self.note_call(sink, pages.map_call(), answer.is_ok());
        answer?;
        self.map_block(index, bytes);
        self.hold_private(pool, bytes.cast_signed());
        let (device, kind) = (self.device_of(index), self.kind_of(index));
        let device_state = &mut self.devices[device];
        device_state.held_bytes += bytes;
        device_state.stats.reserved_bytes.increase(kind, bytes);
        device_state.stats.num_device_alloc += 1;
        self.emit(sink, device, (Action::SegmentMap, address, bytes), stream);
        let (prev, next) = (self.blocks[index].prev, self.blocks[index].next);
        self.merge(index, prev, Side::Prev, &mut ());
        self.merge(index, next, Side::Next, &mut ());
        self.insert_free(index);
        Ok(())
    }

    /// Marks the first `bytes` of an unmapped block as mapped; the rest becomes a block of its own.
    pub(super) fn map_block(&mut self, index: Index, bytes: u64) {
        let block = &mut self.blocks[index];
        let (pool, key) = (block.pool, (block.stream, block.address));
        block.mapped = true;
        let rest_size = block.size - bytes;
        block.size = bytes;
        self.pools[pool as usize].unmapped.remove(&key);
        if rest_size > 0 {
            let rest = self.insert_after(index, rest_size);
            self.blocks[rest].mapped = false;
            let key = (self.blocks[rest].stream, self.blocks[rest].address);
            self.pools[pool as usize].unmapped.insert(key, rest);
        }
    }

    /// A new block of `size` bytes behind another one, with its pool, stream and reservation.
    fn insert_after(&mut self, index: Index, size: u64) -> Index {
        let block = &self.blocks[index];
        let mut after = Block::new(
            block.end(),
            size,
            block.stream,
            block.pool,
            block.reservation,
        );
        let next = block.next;
        after.prev = index;
        after.next = next;
        let after = self.blocks.insert(after);
        self.blocks[index].next = after;
        if next != NONE {
            self.blocks[next].prev = after;
        }
        after
    }

    /// The pages that lie wholly in a free block of an expandable segment (§8.4).
    pub(super) fn whole_pages(&self, index: Index) -> Option<Pages> {
        let block = &self.blocks[index];
        let reservation = self.reservations.get(block.reservation as usize)?;
        let page_bytes = reservation.page_bytes;
        let first = (block.address - reservation.address).next_multiple_of(page_bytes);
        let end = (block.end() - reservation.address) / page_bytes * page_bytes;
        (first < end).then(|| Pages {
            address: reservation.address + first,
            bytes: end - first,
            page_bytes,
        })
    }

    /// Gives back the whole pages of a free block; a reservation left empty goes too (§8.4, §8.5).
    pub(super) fn unmap_free_pages<S: Sink>(&mut self, index: Index, sink: &mut S) {
        let Some(pages) = self.whole_pages(index) else {
            if S::EXPLAINS {
                self.explain_pinned(index, sink);
            }
            return;
        };
        let block = &self.blocks[index];
        if S::EXPLAINS {
            sink.step(Step::Released {
                block: spot_of(block),
                released_bytes: pages.bytes,
            });
        }
        let (stream, pool) = (block.stream, block.pool);
        self.driver.unmap(self.at(pool, stream), pages);
        self.note_call(sink, pages.unmap_call(), true);
        self.unmap_block(index, pages);
        self.hold_private(pool, -pages.bytes.cast_signed());
        let (device, kind) = (self.device_of(index), self.kind_of(index));
        let device_state = &mut self.devices[device];
        device_state.held_bytes -= pages.bytes;
        device_state
            .stats
            .reserved_bytes
            .decrease(kind, pages.bytes);
        device_state.stats.num_device_free += 1;
        let event = (Action::SegmentUnmap, pages.address, pages.bytes);
        self.emit(sink, device, event, stream);
        if !self.blocks[index].is_split() {
            self.drop_reservation(index, sink);
        }
    }

    /// The block becomes the unmapped range; what lies before and behind it in part of a page
    /// become new free blocks.
    fn unmap_block(&mut self, index: Index, pages: Pages) {
        self.remove_free(index);
        let lead = pages.address - self.blocks[index].address;
        let trail = self.blocks[index].end() - (pages.address + pages.bytes);
        let pool = self.blocks[index].pool;
        if lead > 0 {
            let before = self.insert_before(index, lead);
            self.insert_free(before);
        }
        self.blocks[index].address = pages.address;
        self.blocks[index].size = pages.bytes;
        if trail > 0 {
            let after = self.insert_after(index, trail);
            self.insert_free(after);
        }
        self.blocks[index].mapped = false;
        let (prev, next) = (self.blocks[index].prev, self.blocks[index].next);
        self.merge(index, prev, Side::Prev, &mut ());
        self.merge(index, next, Side::Next, &mut ());
        let key = (self.blocks[index].stream, self.blocks[index].address);
        self.pools[pool as usize].unmapped.insert(key, index);
    }

    /// A new block over the first `size` bytes of another one, which the caller shortens.
    fn insert_before(&mut self, index: Index, size: u64) -> Index {
        let block = &self.blocks[index];
        let mut before = Block::new(
            block.address,
            size,
            block.stream,
            block.pool,
            block.reservation,
        );
        let prev = block.prev;
        before.prev = prev;
        before.next = index;
        let before = self.blocks.insert(before);
        self.blocks[index].prev = before;
        if prev != NONE {
            self.blocks[prev].next = before;
        }
        before
    }

    /// §8.5. The slot in the table stays, its number is not given out again.
    fn drop_reservation<S: Sink>(&mut self, index: Index, sink: &mut S) {
        let block = self.blocks[index].clone();
        let key = (block.stream, block.address);
        self.pools[block.pool as usize].unmapped.remove(&key);
        let at = self.at(block.pool, block.stream);
        let bytes = block.size;
        self.driver.unreserve(at, block.address, bytes);
        self.note_call(sink, DriverCall::Unreserve { bytes }, true);
        self.blocks.remove(index);
    }
}
