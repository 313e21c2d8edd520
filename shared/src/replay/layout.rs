//! A state as a snapshot would report it: segments (runs of mapped pages, §13.2) with their
//! blocks, cached ones included.

use crate::ids::{EventIndex, LifeId, PoolId, PoolKind, StreamId};
use crate::replay::lives::Span;
use crate::replay::{MemoryState, Replay};

/// A segment, or one run of mapped pages of an expandable segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Address of its first byte.
    pub address: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Stream of its blocks.
    pub stream: StreamId,
    /// Small or large pool.
    pub kind: PoolKind,
    /// Its pool, where known.
    pub pool: Option<PoolId>,
    /// Whether it is a run of pages.
    pub expandable: bool,
    /// The event that brought its first part; `None` when it was there before the record.
    pub born: Option<EventIndex>,
    /// Its blocks in the order of their addresses, without gaps.
    pub blocks: Vec<PlacedBlock>,
}

/// A block of a [`Run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedBlock {
    /// Address of its first byte.
    pub address: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Its life; `None` when it is cached.
    pub life: Option<LifeId>,
}

impl PlacedBlock {
    /// First address behind it.
    #[must_use]
    pub fn end_address(&self) -> u64 {
        self.address.saturating_add(self.size_bytes)
    }
}

impl Run {
    /// First address behind it.
    #[must_use]
    pub fn end_address(&self) -> u64 {
        self.address.saturating_add(self.size_bytes)
    }

    /// Bytes of a cached block of this run that a flush would return: all of it when nothing else
    /// is in the segment (§7.4), of an expandable one the pages that lie wholly inside (§8.4).
    #[must_use]
    pub fn releasable_bytes(&self, block: &PlacedBlock, page_bytes: u64) -> u64 {
        if block.life.is_some() {
            0
        } else if self.expandable {
            // Runs begin where pages begin.
            let from = (block.address - self.address).next_multiple_of(page_bytes);
            let to = (block.end_address() - self.address) / page_bytes * page_bytes;
            to.saturating_sub(from)
        } else if block.size_bytes == self.size_bytes {
            block.size_bytes
        } else {
            0
        }
    }
}

impl MemoryState {
    /// All segments with their blocks, in the order of their addresses. Live blocks outside every
    /// segment are not in it; reading such a record warned of them.
    #[must_use]
    pub fn runs(&self, replay: &Replay) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut last: Option<&Span> = None;
        for span in self.spans().filter_map(|(_, id)| replay.span(id)) {
            let continues = last.is_some_and(|last| last.runs_on_into(span));
            match runs.last_mut() {
                Some(run) if continues => run.size_bytes += span.size_bytes,
                _ => runs.push(empty_run(span)),
            }
            last = Some(span);
        }
        for run in &mut runs {
            self.fill(replay, run);
        }
        runs
    }

    /// The block in which an address lies, with its segment; `None` outside every segment.
    #[must_use]
    pub fn placed_at(&self, replay: &Replay, address: u64) -> Option<(Run, PlacedBlock)> {
        let here = self.span_at(replay.spans(), address)?;
        // Pages before and behind may belong to the same run.
        let mut run = empty_run(replay.span(here)?);
        let mut first = *replay.span(here)?;
        for span in self.spans.range(..first.address).rev().map(|(_, &id)| id) {
            let before = replay.span(span)?;
            if !before.runs_on_into(&first) {
                break;
            }
            first = *before;
        }
        run.address = first.address;
        run.born = first.born;
        run.size_bytes = 0;
        let mut spans = self.spans_from(replay.spans(), first.address).peekable();
        while let Some(span) = spans.next() {
            run.size_bytes += span.size_bytes;
            if !spans.peek().is_some_and(|next| span.runs_on_into(next)) {
                break;
            }
        }
        drop(spans);
        self.fill(replay, &mut run);
        let after = run.blocks.partition_point(|block| block.address <= address);
        let block = run.blocks.get(after.checked_sub(1)?).copied()?;
        Some((run, block))
    }

    fn fill(&self, replay: &Replay, run: &mut Run) {
        let end = run.end_address();
        let mut free_from = run.address;
        let inside = self.blocks.range(run.address..end);
        for (&address, &id) in inside {
            let Some(life) = replay.life(id) else {
                continue;
            };
            // Overlaps are warned of when the record is read; here each byte is drawn once.
            let start = address.max(free_from);
            let stop = life.end_address().min(end).max(start);
            if free_from < start {
                run.blocks.push(cached(free_from, start));
            }
            run.blocks.push(PlacedBlock {
                address: start,
                size_bytes: stop - start,
                life: Some(id),
            });
            free_from = stop;
        }
        if free_from < end {
            run.blocks.push(cached(free_from, end));
        }
    }
}

fn empty_run(span: &Span) -> Run {
    Run {
        address: span.address,
        size_bytes: span.size_bytes,
        stream: span.stream,
        kind: span.kind,
        pool: span.pool,
        expandable: span.expandable,
        born: span.born,
        blocks: Vec::new(),
    }
}

fn cached(from: u64, to: u64) -> PlacedBlock {
    PlacedBlock {
        address: from,
        size_bytes: to - from,
        life: None,
    }
}
