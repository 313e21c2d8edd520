//! Starting with memory already there: the state in which a recording begins.

use thiserror::Error;

use super::{
    Allocator, BlockId, BlockReport, SegmentReport, Stream,
    arena::{Block, Index, NONE},
    driver::Driver,
    expandable::{Reservation, reservation_bytes},
    private_pool::PoolOptions,
};
use crate::{
    ids::{PoolId, PoolKind},
    model::BlockState,
};

/// The addresses that an expandable segment has reserved, where they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedRange {
    /// Address of its first byte.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// A state that no allocator can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SeedError {
    /// There is no such device.
    #[error("segment {address:#x} is on a device that does not exist")]
    NoDevice {
        /// Address of the segment.
        address: u64,
    },
    /// Blocks must follow one another without gaps, and none is empty.
    #[error("the blocks of segment {address:#x} do not follow one another")]
    Gap {
        /// Address of the segment.
        address: u64,
    },
    /// Two segments share addresses, or one does not fit the range it should lie in.
    #[error("segment {address:#x} overlaps another one")]
    Overlap {
        /// Address of the segment.
        address: u64,
    },
}

impl<D: Driver> Allocator<D> {
    /// Adds segments with their blocks, as a snapshot reports them, to an allocator that has done
    /// nothing yet. Returns the blocks that are not cached with their addresses, in the order
    /// given; current and peak statistics count them.
    ///
    /// Runs of one expandable segment find each other by pool and stream, within nine eighths of
    /// the card from the first; `reserved` says so better where it is known. Pending blocks wait
    /// for one event on their own stream. Private pools are made, in use once.
    ///
    /// # Errors
    /// When the segments are no state that an allocator can be in.
    pub fn seed(
        &mut self,
        segments: &[SegmentReport],
        reserved: &[ReservedRange],
    ) -> Result<Vec<(u64, BlockId)>, SeedError> {
        let mut sorted: Vec<&SegmentReport> = segments.iter().collect();
        sorted.sort_by_key(|segment| (segment.device, segment.address));
        self.check_seed(&sorted)?;
        let mut held = Vec::new();
        let mut open: Vec<OpenReservation> = Vec::new();
        for segment in sorted {
            let pool = self.seed_pool(segment);
            if segment.expandable {
                self.seed_run(segment, pool, reserved, &mut open, &mut held)?;
            } else {
                let first = self.seed_blocks(segment, pool, NONE, &mut held);
                self.count_seeded_segment(segment, first);
            }
            self.hold_private(pool, segment.total_bytes().cast_signed());
        }
        for (_, id) in &held {
            if self.blocks[id.index].is_active() && !self.blocks[id.index].allocated {
                self.wait_for_own_stream(id.index);
            }
        }
        for device in &mut self.devices {
            device.stats.reset_accumulated();
            device.stats.reset_peak();
        }
        Ok(held)
    }

    fn check_seed(&self, sorted: &[&SegmentReport]) -> Result<(), SeedError> {
        let mut end = (sorted.first().map(|segment| segment.device), 0);
        for segment in sorted {
            let address = segment.address;
            if segment.device.index() >= self.devices.len() {
                return Err(SeedError::NoDevice { address });
            }
            if end.0 == Some(segment.device) && address < end.1 {
                return Err(SeedError::Overlap { address });
            }
            let mut at = address;
            for block in &segment.blocks {
                let next = at.checked_add(block.size_bytes);
                if block.address != at || block.size_bytes == 0 || next.is_none() {
                    return Err(SeedError::Gap { address });
                }
                at = next.unwrap_or(at);
            }
            if segment.blocks.is_empty() {
                return Err(SeedError::Gap { address });
            }
            end = (Some(segment.device), at);
        }
        Ok(())
    }

    fn seed_pool(&mut self, segment: &SegmentReport) -> u32 {
        let device = segment.device.index();
        if segment.pool == PoolId::DEFAULT {
            return self.devices[device].default_pool(segment.kind);
        }
        if !self.devices[device].private.contains_key(&segment.pool) {
            let added = self.add_pool_use(segment.device, segment.pool, PoolOptions::default());
            debug_assert!(added.is_ok(), "the device was checked");
            self.mem_pools_made = self.mem_pools_made.max(segment.pool.1);
            self.graphs_made = self.graphs_made.max(segment.pool.0);
        }
        self.devices[device].private[&segment.pool].pool(segment.kind)
    }

    /// The blocks of a segment, linked; returns the first.
    fn seed_blocks(
        &mut self,
        segment: &SegmentReport,
        pool: u32,
        reservation: u32,
        held: &mut Vec<(u64, BlockId)>,
    ) -> Index {
        let (mut first, mut prev) = (NONE, NONE);
        for report in &segment.blocks {
            let mut block = seeded(report, segment.stream, pool, reservation);
            block.prev = prev;
            let index = self.blocks.insert(block);
            if prev == NONE {
                first = index;
            } else {
                self.blocks[prev].next = index;
            }
            prev = index;
            if report.state == BlockState::Cached {
                self.insert_free(index);
            } else {
                held.push((report.address, self.blocks.id(index)));
            }
            self.count_seeded_block(segment, report);
        }
        first
    }

    /// A run of mapped pages goes into its reservation, which is made at its first run.
    fn seed_run(
        &mut self,
        segment: &SegmentReport,
        pool: u32,
        reserved: &[ReservedRange],
        open: &mut Vec<OpenReservation>,
        held: &mut Vec<(u64, BlockId)>,
    ) -> Result<(), SeedError> {
        let (address, bytes) = (segment.address, segment.total_bytes());
        let fits = |range: &ReservedRange| {
            range.address <= address
                && address - range.address <= range.bytes
                && bytes <= range.bytes - (address - range.address)
        };
        let key = (pool, segment.stream);
        let known = open
            .iter()
            .position(|open| open.key == key && fits(&open.range));
        let at = match known {
            Some(at) => at,
            None => {
                let page_bytes = self.settings.page_bytes(segment.kind);
                let total = self.driver.total_bytes(segment.device);
                let range = reserved
                    .iter()
                    .copied()
                    .find(fits)
                    .unwrap_or(ReservedRange {
                        address,
                        bytes: reservation_bytes(total, page_bytes)
                            .max(bytes.next_multiple_of(page_bytes)),
                    });
                let reservation = Reservation {
                    address: range.address,
                    bytes: range.bytes,
                    page_bytes,
                };
                let rest = self.add_reservation(reservation, pool, segment.stream);
                open.push(OpenReservation { key, range, rest });
                open.len() - 1
            }
        };
        let rest = open[at].rest;
        if rest == NONE || self.blocks[rest].address > address {
            return Err(SeedError::Overlap { address });
        }
        open[at].rest = self.seed_run_into(rest, segment, held);
        let device = &mut self.devices[segment.device.index()];
        device.held_bytes += bytes;
        device.stats.reserved_bytes.increase(segment.kind, bytes);
        Ok(())
    }

    /// Cuts a run out of the unmapped `rest` of a reservation; returns what is left behind it.
    fn seed_run_into(
        &mut self,
        rest: Index,
        segment: &SegmentReport,
        held: &mut Vec<(u64, BlockId)>,
    ) -> Index {
        let whole = self.blocks[rest].clone();
        let first = self.seed_blocks(segment, whole.pool, whole.reservation, held);
        let mut last = first;
        while self.blocks[last].next != NONE {
            last = self.blocks[last].next;
        }
        let key = (whole.stream, whole.address);
        self.pools[whole.pool as usize].unmapped.remove(&key);
        let before = segment.address - whole.address;
        let mut prev = whole.prev;
        if before > 0 {
            prev = self.insert_unmapped(whole.address, before, &whole, whole.prev);
        }
        self.blocks[first].prev = prev;
        if prev != NONE {
            self.blocks[prev].next = first;
        }
        self.blocks.remove(rest);
        let end = self.blocks[last].end();
        if end >= whole.end() {
            return NONE;
        }
        self.insert_unmapped(end, whole.end() - end, &whole, last)
    }

    fn insert_unmapped(&mut self, address: u64, size: u64, like: &Block, prev: Index) -> Index {
        let mut block = Block::new(address, size, like.stream, like.pool, like.reservation);
        block.mapped = false;
        block.prev = prev;
        let index = self.blocks.insert(block);
        if prev != NONE {
            self.blocks[prev].next = index;
        }
        let unmapped = &mut self.pools[like.pool as usize].unmapped;
        unmapped.insert((like.stream, address), index);
        index
    }

    fn wait_for_own_stream(&mut self, index: Index) {
        let block = &self.blocks[index];
        let (stream, address, pool) = (block.stream, block.address, block.pool);
        let device = self.device_of(index);
        let at = self.at(pool, stream);
        let event = self.driver.record_event(at, stream, address);
        let queues = &mut self.devices[device].outstanding;
        queues.entry(stream).or_default().push_back((event, index));
    }

    fn count_seeded_segment(&mut self, segment: &SegmentReport, first: Index) {
        let bytes = segment.total_bytes();
        let oversize = self.settings.is_oversize(bytes);
        let split = self.blocks[first].is_split();
        let device = &mut self.devices[segment.device.index()];
        device.held_bytes += bytes;
        device.stats.segment.increase(segment.kind, 1);
        device.stats.reserved_bytes.increase(segment.kind, bytes);
        if oversize {
            device.stats.oversize_segments.increase(1);
        }
        let cached = segment.blocks.iter().filter(|_| split);
        for block in cached.filter(|block| block.state == BlockState::Cached) {
            device.stats.inactive_split.increase(segment.kind, 1);
            device
                .stats
                .inactive_split_bytes
                .increase(segment.kind, block.size_bytes);
        }
    }

    fn count_seeded_block(&mut self, segment: &SegmentReport, block: &BlockReport) {
        if block.state == BlockState::Cached {
            return;
        }
        let oversize = self.settings.is_oversize(block.size_bytes);
        let kind: PoolKind = segment.kind;
        let stats = &mut self.devices[segment.device.index()].stats;
        stats.active.increase(kind, 1);
        stats.active_bytes.increase(kind, block.size_bytes);
        stats.requested_bytes.increase(kind, block.requested_bytes);
        if block.state == BlockState::Allocated {
            stats.allocation.increase(kind, 1);
            stats.allocated_bytes.increase(kind, block.size_bytes);
            if oversize {
                stats.oversize_allocations.increase(1);
            }
        }
    }
}

/// A reservation that runs are still added to, in ascending order.
struct OpenReservation {
    key: (u32, Stream),
    range: ReservedRange,
    /// The unmapped block behind the last run; none when the range is full.
    rest: Index,
}

fn seeded(report: &BlockReport, stream: Stream, pool: u32, reservation: u32) -> Block {
    let mut block = Block::new(report.address, report.size_bytes, stream, pool, reservation);
    block.requested = report.requested_bytes;
    block.allocated = report.state == BlockState::Allocated;
    block.events = u32::from(report.state == BlockState::PendingFree);
    block
}
