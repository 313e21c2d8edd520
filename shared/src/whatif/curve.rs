//! What a run held over the recording's events: extremes by stretches of events.

use serde::{Deserialize, Serialize};

/// More stretches than any screen has columns, and few enough to be joined at will.
const MOST_STRETCHES: u32 = 1 << 16;

/// Lowest, highest and last value of a stretch of events, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Lowest.
    pub min: u64,
    /// Highest.
    pub max: u64,
    /// At its end.
    pub last: u64,
}

impl Stretch {
    fn of(value: u64) -> Self {
        Self {
            min: value,
            max: value,
            last: value,
        }
    }

    fn join(&mut self, later: Stretch) {
        self.min = self.min.min(later.min);
        self.max = self.max.max(later.max);
        self.last = later.last;
    }
}

/// Bytes over events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    first_event: u32,
    /// Events of a stretch: a power of two.
    width: u32,
    start: u64,
    stretches: Vec<Stretch>,
}

impl Curve {
    /// A curve over the events [from, to) that begins at `start`.
    pub(super) fn new(from: u32, to: u32, start: u64) -> Self {
        let events = to.saturating_sub(from);
        let width = events.div_ceil(MOST_STRETCHES).next_power_of_two();
        Self {
            first_event: from,
            width,
            start,
            stretches: Vec::with_capacity(events.div_ceil(width) as usize),
        }
    }

    /// Events that one stretch stands for: 1 where nothing is left out.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The value after an event, or one of several during it. Events come in order.
    #[inline]
    pub(super) fn push(&mut self, event: u32, value: u64) {
        let stretch = (event.saturating_sub(self.first_event) / self.width) as usize;
        if stretch < self.stretches.len() {
            if let Some(last) = self.stretches.last_mut() {
                last.join(Stretch::of(value));
            }
            return;
        }
        // Events that asked for nothing repeat the value before them.
        let before = Stretch::of(self.last());
        self.stretches.resize(stretch, before);
        self.stretches.push(Stretch::of(value));
    }

    /// The value so far at the end.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.stretches.last().map_or(self.start, |last| last.last)
    }

    /// Extremes over the events [from, to), as fine as the stretches are; where there is none, the
    /// value before it.
    #[must_use]
    pub fn range(&self, from: u32, to: u32) -> Stretch {
        let first = (from.saturating_sub(self.first_event) / self.width) as usize;
        let end = to.saturating_sub(self.first_event).div_ceil(self.width) as usize;
        let before = || match first.min(self.stretches.len()).checked_sub(1) {
            Some(before) => self.stretches.get(before).map_or(self.start, |s| s.last),
            None => self.start,
        };
        let inside = self.stretches.get(first..end.min(self.stretches.len()));
        match inside.and_then(<[Stretch]>::split_first) {
            Some((head, rest)) => {
                let mut joined = *head;
                for stretch in rest {
                    joined.join(*stretch);
                }
                joined
            }
            None => Stretch::of(before()),
        }
    }
}
