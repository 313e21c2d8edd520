use std::collections::BTreeMap;

use crate::ids::{EventIndex, LifeId};
use crate::model::Action;
use crate::replay::lives::{Life, Span, SpanId};
use crate::replay::{Replay, Side};
use crate::store::{Column, EventColumns};

/// What is where at one moment: segments and live blocks by address. Cached blocks are the holes
/// between them, since free neighbours are always merged (§6.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryState {
    pub(super) blocks: BTreeMap<u64, LifeId>,
    pub(super) spans: BTreeMap<u64, SpanId>,
}

impl MemoryState {
    /// Live blocks in the order of their addresses.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = (u64, LifeId)> + '_ {
        self.blocks.iter().map(|(&address, &life)| (address, life))
    }

    /// Spans in the order of their addresses.
    pub fn spans(&self) -> impl DoubleEndedIterator<Item = (u64, SpanId)> + '_ {
        self.spans.iter().map(|(&address, &span)| (address, span))
    }

    /// How many live blocks there are.
    #[must_use]
    pub fn block_count(&self) -> u32 {
        u32::try_from(self.blocks.len()).unwrap_or(u32::MAX)
    }

    /// How many spans there are.
    #[must_use]
    pub fn span_count(&self) -> u32 {
        u32::try_from(self.spans.len()).unwrap_or(u32::MAX)
    }

    /// The live block that begins at an address.
    #[must_use]
    pub fn block_starting_at(&self, address: u64) -> Option<LifeId> {
        self.blocks.get(&address).copied()
    }

    /// Address of the first live block at or behind `address`.
    #[must_use]
    pub fn next_block_address(&self, address: u64) -> Option<u64> {
        self.blocks.range(address..).next().map(|(&next, _)| next)
    }

    /// The live block in which an address lies.
    #[must_use]
    pub fn block_containing(&self, lives: &Column<Life>, address: u64) -> Option<LifeId> {
        let (_, &id) = self.blocks.range(..=address).next_back()?;
        let life = lives.get(id.index())?;
        (address < life.end_address()).then_some(id)
    }

    /// The span in which an address lies.
    #[must_use]
    pub fn span_at(&self, spans: &[Span], address: u64) -> Option<SpanId> {
        let (_, &id) = self.spans.range(..=address).next_back()?;
        spans.get(id.index())?.contains(address).then_some(id)
    }

    /// The span in which an address lies and all behind it, in the order of their addresses;
    /// nothing when it lies in none.
    pub(super) fn spans_from<'a>(
        &'a self,
        spans: &'a [Span],
        address: u64,
    ) -> impl Iterator<Item = &'a Span> + 'a {
        let first = self
            .span_at(spans, address)
            .and_then(|id| spans.get(id.index()))
            .map(|span| span.address);
        first
            .into_iter()
            .flat_map(|first| self.spans.range(first..))
            .filter_map(|(_, id)| spans.get(id.index()))
    }

    /// Bytes of segments without any live block; of expandable ones none, since only pages count.
    pub(super) fn wholly_free_bytes(&self, spans: &[Span]) -> u64 {
        self.spans
            .values()
            .filter_map(|id| spans.get(id.index()))
            .filter(|span| !span.expandable)
            .filter(|span| {
                let inside = self.blocks.range(span.address..span.end_address());
                inside.count() == 0
            })
            .map(|span| span.size_bytes)
            .sum()
    }

    /// Makes the event happen.
    pub(super) fn apply(&mut self, replay: &Replay, events: &EventColumns, event: EventIndex) {
        self.change(replay, events, event, Direction::Forward);
    }

    /// Makes the event not have happened.
    pub(super) fn undo(&mut self, replay: &Replay, events: &EventColumns, event: EventIndex) {
        self.change(replay, events, event, Direction::Back);
    }

    fn change(
        &mut self,
        replay: &Replay,
        events: &EventColumns,
        event: EventIndex,
        direction: Direction,
    ) {
        let Some(action) = events.action(event) else {
            return;
        };
        let forward = direction == Direction::Forward;
        let side = replay.sides.get(&event.0);
        // What a side ends makes room for the subject, so it goes first, and comes back last.
        if let Some(side) = side.filter(|_| forward) {
            self.change_side(replay, side, direction);
        }
        let life = replay.life_of(action, event);
        let span = replay.span_of(action, event);
        match action {
            Action::Alloc => self.set_life(replay, life, forward),
            Action::FreeCompleted => self.set_life(replay, life, !forward),
            Action::SegmentAlloc | Action::SegmentMap => self.set_span(replay, span, forward),
            Action::SegmentFree => self.set_span(replay, span, !forward),
            _ => {}
        }
        if let Some(side) = side.filter(|_| !forward) {
            self.change_side(replay, side, direction);
        }
    }

    fn change_side(&mut self, replay: &Replay, side: &Side, direction: Direction) {
        let (ended, born) = (&side.spans_ended, &side.spans_born);
        let forward = direction == Direction::Forward;
        for &life in &side.lives_ended {
            self.set_life(replay, Some(life), !forward);
        }
        let (removed, added) = if forward {
            (ended, born)
        } else {
            (born, ended)
        };
        for &span in removed {
            self.set_span(replay, Some(span), false);
        }
        for &span in added {
            self.set_span(replay, Some(span), true);
        }
    }

    fn set_life(&mut self, replay: &Replay, id: Option<LifeId>, present: bool) {
        let Some((id, life)) = id.and_then(|id| Some((id, replay.life(id)?))) else {
            return;
        };
        if present {
            self.blocks.insert(life.address, id);
        } else {
            self.blocks.remove(&life.address);
        }
    }

    fn set_span(&mut self, replay: &Replay, id: Option<SpanId>, present: bool) {
        let Some((id, span)) = id.and_then(|id| Some((id, replay.span(id)?))) else {
            return;
        };
        if present {
            self.spans.insert(span.address, id);
        } else {
            self.spans.remove(&span.address);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Back,
}
