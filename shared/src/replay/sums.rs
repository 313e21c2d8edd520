//! The sums after each event, and their extremes over any range.

use serde::{Deserialize, Serialize};

use crate::ids::{EventIndex, LifeId};
use crate::model::Action;
use crate::replay::{Life, Replay, Span, SpanId};
use crate::store::{DeviceRecord, EventColumns};

/// The sums of a state, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Allocated blocks.
    pub allocated: u64,
    /// What was asked for, of allocated and pending blocks.
    pub requested: u64,
    /// Allocated and pending blocks.
    pub active: u64,
    /// Segments and mapped pages.
    pub reserved: u64,
}

/// How many values [`Sums::values`] has.
const SERIES: usize = 6;

impl Sums {
    /// Free and kept: reserved − active.
    #[must_use]
    pub fn cached(&self) -> u64 {
        self.reserved.saturating_sub(self.active)
    }

    /// Freed, but a stream may still use it: active − allocated.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.active.saturating_sub(self.allocated)
    }

    /// Allocated, requested, active, reserved, cached, pending.
    #[must_use]
    pub fn values(&self) -> [u64; SERIES] {
        [
            self.allocated,
            self.requested,
            self.active,
            self.reserved,
            self.cached(),
            self.pending(),
        ]
    }

    fn add_life(&mut self, life: &Life, allocated: bool) {
        if allocated {
            self.allocated = self.allocated.saturating_add(life.given_bytes);
        }
        self.active = self.active.saturating_add(life.given_bytes);
        self.requested = self.requested.saturating_add(life.requested_bytes);
    }

    fn take_life(&mut self, life: &Life, allocated: bool) {
        if allocated {
            self.allocated = self.allocated.saturating_sub(life.given_bytes);
        }
        self.active = self.active.saturating_sub(life.given_bytes);
        self.requested = self.requested.saturating_sub(life.requested_bytes);
    }

    fn apply(&mut self, replay: &Replay, action: Action, event: EventIndex) {
        let subject = replay.subjects.get(event.index()).unwrap_or(u32::MAX);
        match action {
            Action::Alloc => {
                if let Some(life) = replay.life(LifeId(subject)) {
                    self.add_life(&life, true);
                }
            }
            Action::FreeRequested => {
                if let Some(life) = replay.life(LifeId(subject)) {
                    self.allocated = self.allocated.saturating_sub(life.given_bytes);
                }
            }
            Action::FreeCompleted => {
                if let Some(life) = replay.life(LifeId(subject)) {
                    // Without a request before it in the record, it was pending at the start.
                    self.take_life(&life, false);
                }
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                self.change_reserved(replay.span(SpanId(subject)), true);
            }
            Action::SegmentFree => self.change_reserved(replay.span(SpanId(subject)), false),
            _ => {}
        }
        if let Some(side) = replay.sides.get(&event.0) {
            for life in side.lives_ended.iter().filter_map(|&id| replay.life(id)) {
                self.take_life(&life, life.free_requested().is_none());
            }
            for &id in &side.spans_ended {
                self.change_reserved(replay.span(id), false);
            }
            for &id in &side.spans_born {
                self.change_reserved(replay.span(id), true);
            }
        }
    }

    fn change_reserved(&mut self, span: Option<&Span>, grown: bool) {
        let bytes = span.map_or(0, |span| span.size_bytes);
        self.reserved = if grown {
            self.reserved.saturating_add(bytes)
        } else {
            self.reserved.saturating_sub(bytes)
        };
    }
}

/// Lowest and highest value of each sum over a range of events, and the value at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extremes {
    /// Lowest values, in the order of [`Sums::values`].
    pub min: [u64; SERIES],
    /// Highest values.
    pub max: [u64; SERIES],
    /// At the end.
    pub last: Sums,
}

impl Extremes {
    fn of(sums: Sums) -> Self {
        Self {
            min: sums.values(),
            max: sums.values(),
            last: sums,
        }
    }

    fn add(&mut self, sums: Sums) {
        let values = sums.values();
        for ((min, max), value) in self.min.iter_mut().zip(&mut self.max).zip(values) {
            *min = value.min(*min);
            *max = value.max(*max);
        }
        self.last = sums;
    }

    fn join(&mut self, later: &Extremes) {
        for (mine, theirs) in self.min.iter_mut().zip(later.min) {
            *mine = theirs.min(*mine);
        }
        for (mine, theirs) in self.max.iter_mut().zip(later.max) {
            *mine = theirs.max(*mine);
        }
        self.last = later.last;
    }
}

/// Events a leaf of the pyramid stands for: walking that many is cheaper than storing them.
const LEAF: usize = 64;
/// Nodes that one node of the level above stands for.
const FAN: usize = 8;

/// A pyramid over the sums: leaves of [`LEAF`] events, each level a factor [`FAN`] coarser.
#[derive(Clone, Debug, Default)]
pub struct SumIndex {
    start: Sums,
    levels: Vec<Vec<Extremes>>,
    peak_allocated_at: Option<EventIndex>,
    whole: Extremes,
}

impl SumIndex {
    /// Sums before the first event.
    #[must_use]
    pub fn start(&self) -> Sums {
        self.start
    }

    /// Sums after the last event.
    #[must_use]
    pub fn end(&self) -> Sums {
        self.whole.last
    }

    /// Extremes over the whole record, the start state included.
    #[must_use]
    pub fn whole(&self) -> &Extremes {
        &self.whole
    }

    /// First event at which allocated bytes are highest; `None` when that is the start state.
    #[must_use]
    pub fn peak_allocated_at(&self) -> Option<EventIndex> {
        self.peak_allocated_at
    }

    /// Sums when `applied` events have happened.
    #[must_use]
    pub fn at(&self, replay: &Replay, events: &EventColumns, applied: u32) -> Sums {
        let leaf = applied as usize / LEAF;
        let mut sums = self.leaf_start(leaf);
        for index in (leaf * LEAF) as u32..applied {
            let event = EventIndex(index);
            if let Some(action) = events.action(event) {
                sums.apply(replay, action, event);
            }
        }
        sums
    }

    fn leaf_start(&self, leaf: usize) -> Sums {
        let before = leaf.checked_sub(1);
        let found = before.and_then(|before| self.levels.first()?.get(before));
        match (before, found) {
            (None, _) => self.start,
            (Some(_), Some(node)) => node.last,
            (Some(_), None) => self.whole.last,
        }
    }

    /// Extremes over the events [from, to); for an empty range those of the moment before it.
    #[must_use]
    pub fn range(&self, replay: &Replay, events: &EventColumns, from: u32, to: u32) -> Extremes {
        let mut sums = self.at(replay, events, from);
        let mut found: Option<Extremes> = None;
        let (mut at, end) = (from as usize, to.min(replay.events()) as usize);
        while at < end {
            let whole = self
                .largest_node_at(at, end)
                .and_then(|(level, node)| Some((level, self.levels.get(level)?.get(node)?)));
            let next = if let Some((level, extremes)) = whole {
                sums = extremes.last;
                at += LEAF * FAN.pow(u32::try_from(level).unwrap_or(0));
                *extremes
            } else {
                let event = EventIndex(at as u32);
                if let Some(action) = events.action(event) {
                    sums.apply(replay, action, event);
                }
                at += 1;
                Extremes::of(sums)
            };
            match &mut found {
                Some(found) => found.join(&next),
                None => found = Some(next),
            }
        }
        found.unwrap_or(Extremes::of(sums))
    }

    /// Level and index of the largest node that begins at event `at` and ends by `end`.
    fn largest_node_at(&self, at: usize, end: usize) -> Option<(usize, usize)> {
        let mut found = None;
        let mut width = LEAF;
        for level in 0..self.levels.len() {
            if !at.is_multiple_of(width) || at + width > end {
                break;
            }
            found = Some((level, at / width));
            width *= FAN;
        }
        found
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let nodes: usize = self.levels.iter().map(Vec::capacity).sum();
        nodes * size_of::<Extremes>()
    }
}

pub(super) fn index(replay: &Replay, record: &DeviceRecord) -> SumIndex {
    let start = start_sums(replay);
    let mut index = SumIndex {
        start,
        levels: Vec::new(),
        peak_allocated_at: None,
        whole: Extremes::of(start),
    };
    let mut leaves: Vec<Extremes> = Vec::with_capacity(record.events.len().div_ceil(LEAF));
    let mut sums = start;
    for (at, action) in record.events.actions().enumerate() {
        let event = EventIndex(u32::try_from(at).unwrap_or(u32::MAX));
        sums.apply(replay, action, event);
        if sums.allocated > index.whole.max[0] {
            index.peak_allocated_at = Some(event);
            index.whole.max[0] = sums.allocated;
        }
        match leaves.last_mut() {
            Some(leaf) if !at.is_multiple_of(LEAF) => leaf.add(sums),
            _ => leaves.push(Extremes::of(sums)),
        }
    }
    for leaf in &leaves {
        index.whole.join(leaf);
    }
    index.levels = levels_above(leaves);
    index
}

fn start_sums(replay: &Replay) -> Sums {
    let mut sums = Sums::default();
    for (id, life) in replay.lives().take_while(|(_, life)| life.born().is_none()) {
        sums.add_life(&life, !replay.pending_at_start.contains(&id));
    }
    for span in replay.spans.iter().filter(|span| span.born.is_none()) {
        sums.change_reserved(Some(span), true);
    }
    sums
}

fn levels_above(leaves: Vec<Extremes>) -> Vec<Vec<Extremes>> {
    let mut levels = vec![leaves];
    while let Some(below) = levels.last().filter(|below| below.len() > FAN) {
        let above = below
            .chunks_exact(FAN)
            .filter_map(|nodes| {
                let (first, rest) = nodes.split_first()?;
                let mut joined = *first;
                for node in rest {
                    joined.join(node);
                }
                Some(joined)
            })
            .collect();
        levels.push(above);
    }
    levels
}
