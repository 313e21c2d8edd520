//! The one walk forward: every allocation gets its life, every segment its span.
//!
//! The size given is not in the events. It follows, in this order, from the final snapshot, from
//! the split rule (§5.1), and from what is handed out next to it later: a block always takes the
//! front of a free one, and free neighbours are always merged.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{DeviceIndex, EventIndex, LifeId, PoolKind, StreamId};
use crate::model::{Action, Event};
use crate::replay::checkpoints::{Checkpoint, Spacing};
use crate::replay::lives::{Life, Span, SpanId};
use crate::replay::origin::{Origin, OriginSpan, kind_of_segment};
use crate::replay::state::MemoryState;
use crate::replay::{NO_SUBJECT, Side};
use crate::settings::{MIN_BLOCK, Settings};
use crate::store::{Column, DeviceRecord, WalkedEvent};
use crate::warning::{Place, WarningKind, Warnings};

/// What the walk found.
pub(super) struct Walked {
    pub(super) lives: Column<Life>,
    pub(super) spans: Vec<Span>,
    pub(super) subjects: Column<u32>,
    pub(super) sides: BTreeMap<u32, Side>,
    pub(super) inferred: BTreeSet<LifeId>,
    pub(super) uncertain: BTreeSet<LifeId>,
    pub(super) pending_at_start: BTreeSet<LifeId>,
    pub(super) checkpoints: Vec<Checkpoint>,
    pub(super) most_spans: u32,
    /// By the last event of a burst of releases: bytes of wholly free segments that it left.
    pub(super) leftovers: BTreeMap<u32, u64>,
    pub(super) warnings: Warnings,
}

pub(super) fn walk(settings: &Settings, record: &DeviceRecord, origin: Origin) -> Walked {
    let mut walk = Walk {
        settings,
        device: record.device,
        survivors: &origin.survivors,
        state: MemoryState::default(),
        known: BTreeSet::new(),
        out: Walked {
            lives: Column::new(),
            spans: Vec::new(),
            subjects: Column::new(),
            sides: BTreeMap::new(),
            inferred: BTreeSet::new(),
            uncertain: BTreeSet::new(),
            pending_at_start: BTreeSet::new(),
            checkpoints: Vec::new(),
            most_spans: 0,
            leftovers: BTreeMap::new(),
            warnings: Warnings::default(),
        },
    };
    walk.start(&origin);
    let mut spacing = Spacing::default();
    walk.out.checkpoints.push(Checkpoint::of(0, &walk.state));
    let mut releasing = None;
    for (index, event) in record.events.walks() {
        if let Some(last) = releasing.filter(|_| !ends_a_release(event.action)) {
            walk.note_leftovers(last);
            releasing = None;
        }
        let subject = walk.apply(record, index, &event);
        walk.out.subjects.push(subject.unwrap_or(NO_SUBJECT));
        if matches!(event.action, Action::SegmentFree | Action::SegmentUnmap) {
            releasing = Some(index);
        }
        if spacing.is_due(&walk.state) {
            walk.out
                .checkpoints
                .push(Checkpoint::of(index.0 + 1, &walk.state));
        }
    }
    if let Some(last) = releasing {
        walk.note_leftovers(last);
    }
    walk.name_pools(record);
    walk.out
}

/// Whether a burst of releases goes on over an event of this kind.
fn ends_a_release(action: Action) -> bool {
    matches!(
        action,
        Action::SegmentFree | Action::SegmentUnmap | Action::FreeCompleted
    )
}

pub(super) struct Walk<'a> {
    pub(super) settings: &'a Settings,
    device: DeviceIndex,
    survivors: &'a rustc_hash::FxHashMap<u32, u64>,
    pub(super) state: MemoryState,
    /// Lives whose size the final snapshot states.
    known: BTreeSet<LifeId>,
    pub(super) out: Walked,
}

impl Walk<'_> {
    fn start(&mut self, origin: &Origin) {
        for span in &origin.spans {
            let id = self.add_span(span, None);
            self.state.spans.insert(span.address, id);
        }
        let nexts = origin
            .blocks
            .iter()
            .skip(1)
            .map(|block| Some(block.address));
        for (block, next) in origin.blocks.iter().zip(nexts.chain([None])) {
            let span = self.state.span_at(&self.out.spans, block.address);
            let hole = self.hole_at(span, block.address, next.unwrap_or(u64::MAX));
            let given = self.given(span, block.requested_bytes, hole);
            let given = block.size_bytes.unwrap_or(given);
            self.learn_kind(span, block.requested_bytes);
            let life = Life::new(block.address, block.requested_bytes, given, span, None);
            let id = self.add_life(life);
            if block.size_bytes.is_some() {
                self.known.insert(id);
            } else if given < hole && self.may_have_slack(block.requested_bytes) {
                self.out.uncertain.insert(id);
            }
            if block.pending {
                self.out.pending_at_start.insert(id);
            }
            if span.is_none() {
                self.out.warnings.add(
                    WarningKind::OutsideSegments,
                    Place::Address(self.device, block.address),
                );
            }
            self.state.blocks.insert(block.address, id);
        }
        self.out.most_spans = self.state.span_count();
    }

    fn apply(
        &mut self,
        record: &DeviceRecord,
        index: EventIndex,
        event: &WalkedEvent,
    ) -> Option<u32> {
        match event.action {
            Action::Alloc => Some(self.alloc(index, event).0),
            Action::FreeRequested => {
                let id = self.state.block_starting_at(event.address);
                let id = id.filter(|&id| self.is_allocated(id));
                self.expect(id.is_some(), WarningKind::UnmatchedFree, index);
                self.change_life(id?, |life| life.set_free_requested(index));
                Some(id?.0)
            }
            Action::FreeCompleted => {
                let id = self.state.blocks.remove(&event.address);
                self.expect(id.is_some(), WarningKind::UnmatchedFree, index);
                self.change_life(id?, |life| life.set_ended(index));
                Some(id?.0)
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                let event = record.events.get(index)?;
                Some(self.grow(index, &event).0)
            }
            Action::SegmentFree => self.release(index, event).map(|id| id.0),
            Action::SegmentUnmap => {
                self.unmap(index, event);
                None
            }
            Action::Snapshot | Action::Oom | Action::Annotate | Action::Unknown => None,
        }
    }

    fn is_allocated(&self, id: LifeId) -> bool {
        let life = self.out.lives.get(id.index());
        life.is_some_and(|life| life.free_requested().is_none())
            && !self.out.pending_at_start.contains(&id)
    }

    fn alloc(&mut self, index: EventIndex, event: &WalkedEvent) -> LifeId {
        let address = event.address;
        self.settle_neighbour(index, address);
        let span = self.state.span_at(&self.out.spans, address);
        let next = self.state.next_block_address(address).unwrap_or(u64::MAX);
        let hole = self.hole_at(span, address, next);
        self.expect(span.is_some(), WarningKind::OutsideSegments, index);
        self.learn_kind(span, event.size_bytes);
        self.expect(
            address.is_multiple_of(MIN_BLOCK),
            WarningKind::UnalignedAddress,
            index,
        );
        let survivor = self.survivors.get(&index.0).copied();
        let given = survivor.unwrap_or_else(|| self.given(span, event.size_bytes, hole));
        if span.is_some() {
            self.expect(
                given <= hole && event.size_bytes <= given,
                WarningKind::Overlap,
                index,
            );
        }
        let life = Life::new(address, event.size_bytes, given, span, Some(index));
        let id = self.add_life(life);
        if survivor.is_some() {
            self.known.insert(id);
        }
        self.state.blocks.insert(address, id);
        id
    }

    /// A request says which pool its segment is of: small ones never come from the large pool, and
    /// the other way round (§3.4).
    fn learn_kind(&mut self, span: Option<SpanId>, requested: u64) {
        let kind = Settings::pool_kind(self.settings.round(requested));
        if let Some(span) = span.and_then(|id| self.out.spans.get_mut(id.index())) {
            span.kind = kind;
        }
    }

    /// Brings the block before `address` in line with a block being handed out there.
    fn settle_neighbour(&mut self, index: EventIndex, address: u64) {
        let Some((&start, &id)) = self.state.blocks.range(..=address).next_back() else {
            return;
        };
        let Some(mut life) = self.out.lives.get(id.index()) else {
            return;
        };
        if start == address {
            // Its free is missing from the record.
            self.expect(false, WarningKind::Overlap, index);
            life.set_ended(index);
            self.out.lives.set(id.index(), life);
            self.state.blocks.remove(&address);
            self.side(index).lives_ended.push(id);
            return;
        }
        let free_from = life.end_address();
        let fits = free_from == address
            || free_from < address && self.is_span_start(address)
            || !self.is_same_run(start, address);
        if fits {
            return;
        }
        if self.known.contains(&id) {
            self.expect(free_from <= address, WarningKind::Overlap, index);
        } else {
            // Blocks are handed out from the front of a free one, so the free block begins here.
            life.given_bytes = address - start;
            self.out.lives.set(id.index(), life);
            if life.born().is_some() {
                self.expect(false, WarningKind::InferredSize, index);
            }
            self.out.inferred.insert(id);
            self.out.uncertain.remove(&id);
        }
    }

    fn grow(&mut self, index: EventIndex, event: &Event) -> SpanId {
        let end = event.address.saturating_add(event.size_bytes);
        let taken = self.spans_within(event.address, end);
        self.expect(taken.is_empty(), WarningKind::UnmatchedSegment, index);
        for id in taken {
            self.end_span(index, id);
            self.side(index).spans_ended.push(id);
        }
        let span = OriginSpan {
            address: event.address,
            end,
            stream: event.stream,
            kind: kind_of_segment(self.settings, event.size_bytes),
            pool: event.pool,
            expandable: event.action == Action::SegmentMap,
        };
        let id = self.add_span(&span, Some(index));
        self.state.spans.insert(event.address, id);
        self.out.most_spans = self.out.most_spans.max(self.state.span_count());
        id
    }

    fn release(&mut self, index: EventIndex, event: &WalkedEvent) -> Option<SpanId> {
        let id = self.state.spans.get(&event.address).copied();
        let size = id.and_then(|id| Some(self.out.spans.get(id.index())?.size_bytes));
        let end = event.address.saturating_add(event.size_bytes);
        let is_free = self.state.blocks.range(event.address..end).next().is_none();
        self.expect(
            is_free && size == Some(event.size_bytes),
            WarningKind::UnmatchedSegment,
            index,
        );
        self.end_span(index, id?);
        id
    }

    fn unmap(&mut self, index: EventIndex, event: &WalkedEvent) {
        let (from, to) = (
            event.address,
            event.address.saturating_add(event.size_bytes),
        );
        let cut = self.spans_within(from, to);
        let mut covered = 0;
        let is_free = self.state.blocks.range(from..to).next().is_none();
        for id in cut {
            let Some(span) = self.out.spans.get(id.index()).copied() else {
                continue;
            };
            covered += span.end_address().min(to) - span.address.max(from);
            self.end_span(index, id);
            let rests = [(span.address, from), (to, span.end_address())];
            let rests = rests.into_iter().filter(|(start, end)| start < end);
            let born: Vec<SpanId> = rests
                .map(|(address, end)| {
                    let rest = OriginSpan {
                        address,
                        end,
                        stream: span.stream,
                        kind: span.kind,
                        pool: span.pool,
                        expandable: span.expandable,
                    };
                    let rest_id = self.add_span(&rest, Some(index));
                    self.state.spans.insert(address, rest_id);
                    rest_id
                })
                .collect();
            let side = self.side(index);
            side.spans_ended.push(id);
            side.spans_born.extend(born);
        }
        self.expect(
            is_free && covered == to - from,
            WarningKind::UnmatchedSegment,
            index,
        );
    }

    /// Spans that share bytes with [from, to).
    fn spans_within(&self, from: u64, to: u64) -> Vec<SpanId> {
        self.state
            .spans
            .range(..to)
            .rev()
            .map(|(_, &id)| id)
            .take_while(|id| {
                let span = self.out.spans.get(id.index());
                span.is_some_and(|span| span.end_address() > from)
            })
            .collect()
    }

    fn end_span(&mut self, index: EventIndex, id: SpanId) {
        if let Some(span) = self.out.spans.get_mut(id.index()) {
            span.ended = Some(index);
            self.state.spans.remove(&span.address);
        }
    }

    fn add_span(&mut self, span: &OriginSpan, born: Option<EventIndex>) -> SpanId {
        let id = SpanId(u32::try_from(self.out.spans.len()).unwrap_or(u32::MAX));
        self.out.spans.push(Span {
            address: span.address,
            size_bytes: span.end.saturating_sub(span.address),
            stream: span.stream,
            kind: span.kind,
            pool: span.pool,
            expandable: span.expandable,
            born,
            ended: None,
        });
        id
    }

    fn add_life(&mut self, life: Life) -> LifeId {
        let id = LifeId(u32::try_from(self.out.lives.len()).unwrap_or(u32::MAX));
        self.out.lives.push(life);
        id
    }

    fn change_life(&mut self, id: LifeId, change: impl FnOnce(&mut Life)) {
        if let Some(mut life) = self.out.lives.get(id.index()) {
            change(&mut life);
            self.out.lives.set(id.index(), life);
        }
    }

    fn side(&mut self, index: EventIndex) -> &mut Side {
        self.out.sides.entry(index.0).or_default()
    }

    fn expect(&mut self, holds: bool, otherwise: WarningKind, index: EventIndex) {
        if !holds {
            self.out
                .warnings
                .add(otherwise, Place::Event(self.device, index));
        }
    }

    fn note_leftovers(&mut self, last: EventIndex) {
        let bytes = self.state.wholly_free_bytes(&self.out.spans);
        self.out.leftovers.insert(last.0, bytes);
    }

    /// Spans that the events do not name a pool for take it from the final segment that they
    /// became; the others have it from the pool that all known ones share, if there is one.
    fn name_pools(&mut self, record: &DeviceRecord) {
        let mut finals: BTreeMap<u64, (u64, PoolKind, StreamId, _)> = BTreeMap::new();
        for segment in &record.segments {
            let end = segment.address.saturating_add(segment.size_bytes);
            finals.insert(
                segment.address,
                (end, segment.kind, segment.stream, segment.pool),
            );
        }
        let mut pools: Vec<_> = record.segments.iter().filter_map(|s| s.pool).collect();
        pools.sort_unstable();
        pools.dedup();
        let only = match pools.as_slice() {
            [] => Some(crate::ids::PoolId::DEFAULT),
            [one] => Some(*one),
            _ => None,
        };
        for span in self.out.spans.iter_mut() {
            if span.ended.is_none()
                && let Some((_, &(end, kind, _, pool))) = finals.range(..=span.address).next_back()
                && span.address < end
            {
                span.kind = kind;
                span.pool = span.pool.or(pool);
            }
            span.pool = span.pool.or(only);
        }
    }
}
