//! The statistics of one device (§14.1, §14.2).

use serde::{Deserialize, Serialize};

use crate::ids::PoolKind;

/// A counter as PyTorch keeps it. Signed, since oversize counters can drift below zero when the
/// split limit changes while blocks are out (T21).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Value now.
    pub current: i64,
    /// Largest value so far.
    pub peak: i64,
    /// Sum of all increases.
    pub allocated: i64,
    /// Sum of all decreases.
    pub freed: i64,
}

impl Counter {
    #[inline]
    pub(super) fn increase(&mut self, amount: i64) {
        self.current += amount;
        self.allocated += amount;
        self.peak = self.peak.max(self.current);
    }

    #[inline]
    pub(super) fn decrease(&mut self, amount: i64) {
        self.current -= amount;
        self.freed += amount;
    }
}

/// One counter for everything and one for each pool by size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Family {
    /// Both together.
    pub all: Counter,
    /// Blocks of small pools.
    pub small_pool: Counter,
    /// Blocks of large pools.
    pub large_pool: Counter,
}

impl Family {
    #[inline]
    fn of(&mut self, kind: PoolKind) -> &mut Counter {
        match kind {
            PoolKind::Small => &mut self.small_pool,
            PoolKind::Large => &mut self.large_pool,
        }
    }

    #[inline]
    pub(super) fn increase(&mut self, kind: PoolKind, amount: u64) {
        self.all.increase(amount.cast_signed());
        self.of(kind).increase(amount.cast_signed());
    }

    #[inline]
    pub(super) fn decrease(&mut self, kind: PoolKind, amount: u64) {
        self.all.decrease(amount.cast_signed());
        self.of(kind).decrease(amount.cast_signed());
    }

    /// A net change: zero touches neither side (§6.4).
    pub(super) fn change(&mut self, kind: PoolKind, delta: i64) {
        if delta > 0 {
            self.increase(kind, delta.unsigned_abs());
        } else if delta < 0 {
            self.decrease(kind, delta.unsigned_abs());
        }
    }
}

/// What `memory_stats()` reports (§14.1). Counts and bytes as the names say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Blocks handed out.
    pub allocation: Family,
    /// Segments held, expandable ones not counted (T16).
    pub segment: Family,
    /// Blocks handed out or freed and still waiting.
    pub active: Family,
    /// Free blocks of segments in use, expandable ones not counted (T16).
    pub inactive_split: Family,
    /// Bytes of blocks handed out.
    pub allocated_bytes: Family,
    /// Bytes held from the driver.
    pub reserved_bytes: Family,
    /// Bytes of active blocks.
    pub active_bytes: Family,
    /// Bytes of the blocks counted by `inactive_split`.
    pub inactive_split_bytes: Family,
    /// Bytes asked for by active blocks.
    pub requested_bytes: Family,
    /// Blocks handed out of at least the split limit.
    pub oversize_allocations: Counter,
    /// Segments of at least the split limit.
    pub oversize_segments: Counter,
    /// Flushes followed by another driver call (T11).
    pub num_alloc_retries: i64,
    /// Requests that failed.
    pub num_ooms: i64,
    /// Flushes that waited for all streams.
    pub num_sync_all_streams: i64,
    /// Segments obtained and ranges mapped.
    pub num_device_alloc: i64,
    /// Segments given back and ranges unmapped.
    pub num_device_free: i64,
    /// The split limit when the allocator was made, −1 for none.
    pub max_split_size: i64,
}

impl Statistics {
    /// The families with PyTorch's names, in the order of its table.
    #[must_use]
    pub fn families(&self) -> [(&'static str, &Family); 9] {
        [
            ("allocated_bytes", &self.allocated_bytes),
            ("active_bytes", &self.active_bytes),
            ("requested_bytes", &self.requested_bytes),
            ("reserved_bytes", &self.reserved_bytes),
            ("inactive_split_bytes", &self.inactive_split_bytes),
            ("allocation", &self.allocation),
            ("active", &self.active),
            ("segment", &self.segment),
            ("inactive_split", &self.inactive_split),
        ]
    }

    /// All figures by PyTorch's keys, ascending: what `memory_stats()` returns.
    #[must_use]
    pub fn entries(&self) -> Vec<(String, i64)> {
        let mut entries = vec![
            ("num_alloc_retries".to_owned(), self.num_alloc_retries),
            ("num_ooms".to_owned(), self.num_ooms),
            ("num_sync_all_streams".to_owned(), self.num_sync_all_streams),
            ("num_device_alloc".to_owned(), self.num_device_alloc),
            ("num_device_free".to_owned(), self.num_device_free),
            ("max_split_size".to_owned(), self.max_split_size),
        ];
        let mut push = |name: &str, counter: &Counter| {
            for (side, value) in [
                ("current", counter.current),
                ("peak", counter.peak),
                ("allocated", counter.allocated),
                ("freed", counter.freed),
            ] {
                entries.push((format!("{name}.{side}"), value));
            }
        };
        for (name, family) in self.families() {
            push(&format!("{name}.all"), &family.all);
            push(&format!("{name}.small_pool"), &family.small_pool);
            push(&format!("{name}.large_pool"), &family.large_pool);
        }
        push("oversize_allocations", &self.oversize_allocations);
        push("oversize_segments", &self.oversize_segments);
        entries.sort();
        entries
    }

    /// `torch.cuda.reset_peak_memory_stats()`: peaks fall to the present values.
    pub fn reset_peak(&mut self) {
        self.for_each_counter(|counter| counter.peak = counter.current);
    }

    /// `torch.cuda.reset_accumulated_memory_stats()`: sums and counts start again.
    pub fn reset_accumulated(&mut self) {
        self.for_each_counter(|counter| {
            counter.allocated = 0;
            counter.freed = 0;
        });
        self.num_alloc_retries = 0;
        self.num_ooms = 0;
        self.num_sync_all_streams = 0;
        self.num_device_alloc = 0;
        self.num_device_free = 0;
    }

    fn for_each_counter(&mut self, change: impl Fn(&mut Counter)) {
        for family in [
            &mut self.allocation,
            &mut self.segment,
            &mut self.active,
            &mut self.inactive_split,
            &mut self.allocated_bytes,
            &mut self.reserved_bytes,
            &mut self.active_bytes,
            &mut self.inactive_split_bytes,
            &mut self.requested_bytes,
        ] {
            change(&mut family.all);
            change(&mut family.small_pool);
            change(&mut family.large_pool);
        }
        change(&mut self.oversize_allocations);
        change(&mut self.oversize_segments);
    }
}
