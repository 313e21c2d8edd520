//! Walking back from the final snapshot to the state in which the record began.
//!
//! A record that started late, or whose ring wrapped, names frees of blocks that it never saw
//! handed out. Undoing every event from the last to the first leaves what was there before.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::ids::{EventIndex, PoolId, PoolKind, StreamId};
use crate::model::{Action, BlockState, Event};
use crate::settings::{SMALL_SEGMENT, Settings};
use crate::store::{DeviceRecord, WalkedEvent};

/// What is known at the start of the record.
#[derive(Debug, Default)]
pub(super) struct Origin {
    /// Segments and mapped ranges, in the order of their addresses.
    pub(super) spans: Vec<OriginSpan>,
    /// Live blocks, in the order of their addresses.
    pub(super) blocks: Vec<OriginBlock>,
    /// Size of each block that is handed out in the record and still live at its end, by the
    /// event that hands it out.
    pub(super) survivors: FxHashMap<u32, u64>,
}

/// A segment or mapped range.
#[derive(Clone, Copy, Debug)]
pub(super) struct OriginSpan {
    pub(super) address: u64,
    pub(super) end: u64,
    pub(super) stream: StreamId,
    pub(super) kind: PoolKind,
    pub(super) pool: Option<PoolId>,
    pub(super) expandable: bool,
}

/// A live block.
#[derive(Clone, Copy, Debug)]
pub(super) struct OriginBlock {
    pub(super) address: u64,
    pub(super) requested_bytes: u64,
    /// Its size, when the final snapshot still has it.
    pub(super) size_bytes: Option<u64>,
    /// Whether its free had been asked for before the record began.
    pub(super) pending: bool,
}

pub(super) fn walk_back(settings: &Settings, record: &DeviceRecord) -> Origin {
    let mut walk = Walk::from_end(settings, record);
    for (index, event) in record.events.walks().rev() {
        walk.undo(record, index, &event);
    }
    walk.keep_freed();
    let mut blocks: Vec<OriginBlock> = walk.blocks.into_values().collect();
    blocks.sort_unstable_by_key(|block| block.address);
    Origin {
        spans: walk.spans.into_values().collect(),
        blocks,
        survivors: walk.survivors,
    }
}

struct Walk<'a> {
    settings: &'a Settings,
    blocks: FxHashMap<u64, OriginBlock>,
    /// The block whose free was undone last. Most were handed out shortly before, so most never
    /// get among the others.
    freed: Option<OriginBlock>,
    spans: BTreeMap<u64, OriginSpan>,
    survivors: FxHashMap<u32, u64>,
}

impl<'a> Walk<'a> {
    fn from_end(settings: &'a Settings, record: &DeviceRecord) -> Self {
        let mut blocks = FxHashMap::default();
        let mut spans = BTreeMap::new();
        for segment in &record.segments {
            spans.insert(
                segment.address,
                OriginSpan {
                    address: segment.address,
                    end: segment.address.saturating_add(segment.size_bytes),
                    stream: segment.stream,
                    kind: segment.kind,
                    pool: segment.pool,
                    expandable: segment.expandable,
                },
            );
            for block in &segment.blocks {
                if block.state != BlockState::Cached {
                    blocks.insert(
                        block.address,
                        OriginBlock {
                            address: block.address,
                            requested_bytes: block.requested_bytes.unwrap_or(block.size_bytes),
                            size_bytes: Some(block.size_bytes),
                            pending: block.state == BlockState::PendingFree,
                        },
                    );
                }
            }
        }
        Self {
            settings,
            blocks,
            freed: None,
            spans,
            survivors: FxHashMap::default(),
        }
    }

    fn undo(&mut self, record: &DeviceRecord, index: EventIndex, event: &WalkedEvent) {
        let address = event.address;
        let whole = || record.events.get(index);
        match event.action {
            Action::Alloc => {
                if self.freed.is_some_and(|block| block.address == address) {
                    self.freed = None;
                } else if let Some(size) = self.blocks.remove(&address).and_then(|b| b.size_bytes) {
                    self.survivors.insert(index.0, size);
                }
            }
            Action::FreeCompleted | Action::FreeRequested => {
                if self.freed.is_none_or(|block| block.address != address) {
                    self.keep_freed();
                    let known = self.blocks.remove(&address);
                    self.freed = Some(known.unwrap_or(OriginBlock {
                        address,
                        requested_bytes: event.size_bytes,
                        size_bytes: None,
                        pending: true,
                    }));
                }
                if let Some(block) = &mut self.freed {
                    block.pending = event.action == Action::FreeCompleted;
                }
            }
            // New memory lies where nothing was: what a later event claims to be there before, in
            // whole or in part, is that event's mistake.
            Action::SegmentAlloc => {
                let end = address.saturating_add(event.size_bytes);
                while let Some(at) = self.last_span_touching(address, end) {
                    self.spans.remove(&at);
                }
            }
            Action::SegmentFree => {
                let span = whole().map(|event| span_of(self.settings, &event, false));
                self.spans.extend(span.map(|span| (address, span)));
            }
            Action::SegmentMap => self.cut(address, address.saturating_add(event.size_bytes)),
            Action::SegmentUnmap => {
                let span = whole().map(|event| span_of(self.settings, &event, true));
                self.spans.extend(span.map(|span| (address, span)));
            }
            Action::Snapshot | Action::Oom | Action::Annotate | Action::Unknown => {}
        }
    }

    /// Puts the block whose free was undone last among the others.
    fn keep_freed(&mut self) {
        let freed = self.freed.take();
        self.blocks
            .extend(freed.map(|block| (block.address, block)));
    }

    fn last_span_touching(&self, from: u64, to: u64) -> Option<u64> {
        let (&at, span) = self.spans.range(..to).next_back()?;
        (span.end > from).then_some(at)
    }

    /// Takes [from, to) out of the mapped ranges.
    fn cut(&mut self, from: u64, to: u64) {
        let touched: Vec<OriginSpan> = self
            .spans
            .range(..to)
            .rev()
            .map(|(_, span)| *span)
            .take_while(|span| span.end > from)
            .collect();
        for span in touched {
            self.spans.remove(&span.address);
            for (address, end) in [(span.address, from), (to, span.end)] {
                // Memory comes in whole pages; less than one is some event's mistake.
                if address < end && (end - address).is_multiple_of(SMALL_SEGMENT) {
                    let rest = OriginSpan {
                        address,
                        end,
                        ..span
                    };
                    self.spans.insert(address, rest);
                }
            }
        }
    }
}

fn span_of(settings: &Settings, event: &Event, expandable: bool) -> OriginSpan {
    OriginSpan {
        address: event.address,
        end: event.address.saturating_add(event.size_bytes),
        stream: event.stream,
        kind: kind_of_segment(settings, event.size_bytes),
        pool: event.pool,
        expandable,
    }
}

/// The pool of a segment or mapped range that only its size tells: the large pool's pages are
/// larger than any segment or page of the small pool, and its segments are no fewer bytes (§1).
pub(super) fn kind_of_segment(settings: &Settings, size_bytes: u64) -> PoolKind {
    let is_small = size_bytes == SMALL_SEGMENT
        || settings.expandable_segments && !size_bytes.is_multiple_of(settings.large_segment_bytes);
    if is_small {
        PoolKind::Small
    } else {
        PoolKind::Large
    }
}
