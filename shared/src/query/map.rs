//! Segments with their blocks at one moment, and the free lists that the allocator searches.

use crate::ids::{EventIndex, PoolId, PoolKind, StreamId};
use crate::model::{Action, BlockState};
use crate::query::engine::Scope;
use crate::query::{BlockView, FreeBlock, FreeList, MapSummary, MemoryMap, SegmentView};
use crate::replay::{PlacedBlock, Run};
use crate::settings::Settings;

pub(super) fn memory_map(scope: &Scope<'_>, finest_bytes: u64) -> MemoryMap {
    let runs = scope.device.cursor.state().runs(&scope.device.replay);
    let mut summary = MapSummary {
        sums: sums(scope),
        ..MapSummary::default()
    };
    let segments = runs
        .iter()
        .map(|run| {
            let blocks: Vec<BlockView> = run
                .blocks
                .iter()
                .map(|block| block_view(scope, run, block))
                .collect();
            add_to_summary(&mut summary, scope, run, &blocks);
            SegmentView {
                blocks: join_small(blocks, finest_bytes),
                ..segment_view(run)
            }
        })
        .collect();
    MemoryMap { segments, summary }
}

fn sums(scope: &Scope<'_>) -> crate::replay::Sums {
    let replay = &scope.device.replay;
    let applied = scope.device.cursor.applied();
    replay.sums().at(replay, &scope.record.events, applied)
}

pub(super) fn segment_view(run: &Run) -> SegmentView {
    SegmentView {
        address: run.address,
        size_bytes: run.size_bytes,
        kind: run.kind,
        pool: run.pool.unwrap_or(PoolId::DEFAULT),
        pool_known: run.pool.is_some(),
        stream: run.stream,
        expandable: run.expandable,
        born: run.born,
        blocks: Vec::new(),
    }
}

pub(super) fn block_view(scope: &Scope<'_>, run: &Run, block: &PlacedBlock) -> BlockView {
    let replay = &scope.device.replay;
    let offset_bytes = block.address - run.address;
    let found = block.life.and_then(|id| Some((id, replay.life(id)?)));
    let Some((id, life)) = found else {
        let page = replay.settings().page_bytes(run.kind);
        return BlockView {
            offset_bytes,
            size_bytes: block.size_bytes,
            state: BlockState::Cached,
            requested_bytes: block.size_bytes,
            rounded_bytes: block.size_bytes,
            life: None,
            before: false,
            pinned: run.releasable_bytes(block, page) == 0,
            count: 1,
            active_bytes: 0,
        };
    };
    let pending = replay.is_pending(id, &life, scope.device.cursor.applied());
    BlockView {
        offset_bytes,
        size_bytes: block.size_bytes,
        state: if pending {
            BlockState::PendingFree
        } else {
            BlockState::Allocated
        },
        requested_bytes: life.requested_bytes,
        rounded_bytes: rounded_bytes(replay.settings(), life.requested_bytes, block.size_bytes),
        life: Some(id),
        before: life.born().is_none(),
        pinned: false,
        count: 1,
        active_bytes: block.size_bytes,
    }
}

/// What a request was rounded to; the block's size bounds it where settings changed on the way.
pub(super) fn rounded_bytes(settings: &Settings, requested: u64, given: u64) -> u64 {
    settings.round(requested).min(given)
}

fn add_to_summary(summary: &mut MapSummary, scope: &Scope<'_>, run: &Run, blocks: &[BlockView]) {
    let page = scope.device.replay.settings().page_bytes(run.kind);
    let private = run.pool.is_some_and(|pool| pool != PoolId::DEFAULT);
    for (view, block) in blocks.iter().zip(&run.blocks) {
        summary.blocks += 1;
        if view.state == BlockState::Cached {
            let releasable = run.releasable_bytes(block, page);
            if private {
                summary.private += block.size_bytes;
            } else {
                summary.releasable += releasable;
                summary.pinned += block.size_bytes - releasable;
            }
        } else {
            summary.rounding += view.rounded_bytes.saturating_sub(view.requested_bytes);
            summary.slack += view.size_bytes.saturating_sub(view.rounded_bytes);
        }
    }
}

/// Joins neighbours that are all smaller than `finest_bytes`, as long as the joined one is too.
fn join_small(blocks: Vec<BlockView>, finest_bytes: u64) -> Vec<BlockView> {
    let mut joined: Vec<BlockView> = Vec::with_capacity(blocks.len());
    for block in blocks {
        match joined.last_mut() {
            Some(last)
                if block.size_bytes < finest_bytes
                    && last.size_bytes.saturating_add(block.size_bytes) < finest_bytes =>
            {
                join(last, &block);
            }
            _ => joined.push(block),
        }
    }
    joined
}

fn join(run: &mut BlockView, block: &BlockView) {
    run.size_bytes += block.size_bytes;
    run.requested_bytes += block.requested_bytes;
    run.rounded_bytes += block.rounded_bytes;
    run.active_bytes += block.active_bytes;
    run.count += block.count;
    run.life = None;
    run.before &= block.before;
    run.pinned |= block.pinned;
    run.state = if run.active_bytes * 2 >= run.size_bytes {
        BlockState::Allocated
    } else {
        BlockState::Cached
    };
}

/// The pool and stream that an event is about.
pub(super) struct Shelf {
    pub(super) pool: Option<PoolId>,
    pub(super) kind: PoolKind,
    pub(super) stream: StreamId,
}

/// Which shelf an event took from, gave to, or looked at.
pub(super) fn shelf(scope: &Scope<'_>, at: EventIndex) -> Option<Shelf> {
    let event = scope.record.events.get(at)?;
    let replay = &scope.device.replay;
    let life = replay
        .life_of(event.action, at)
        .and_then(|life| replay.life(life));
    let span = match life {
        Some(life) => life.span(),
        None => replay.span_of(event.action, at),
    };
    let span = span.and_then(|span| replay.span(span));
    let by_size = match event.action {
        Action::Oom => Settings::pool_kind(event.size_bytes),
        _ => Settings::pool_kind(replay.settings().round(event.size_bytes)),
    };
    Some(Shelf {
        pool: span.map_or(event.pool, |span| span.pool),
        kind: span.map_or(by_size, |span| span.kind),
        stream: span.map_or(event.stream, |span| span.stream),
    })
}

/// Cached blocks of a shelf in search order: by size, then by address (§3.3).
pub(super) fn cached_blocks(scope: &Scope<'_>, shelf: &Shelf) -> Vec<FreeBlock> {
    let runs = scope.device.cursor.state().runs(&scope.device.replay);
    let mut blocks: Vec<FreeBlock> = runs
        .iter()
        .filter(|run| {
            // Where nothing names a pool, it is the default one.
            let pools = [run.pool, shelf.pool].map(Option::unwrap_or_default);
            run.kind == shelf.kind && run.stream == shelf.stream && pools[0] == pools[1]
        })
        .flat_map(|run| &run.blocks)
        .filter(|block| block.life.is_none())
        .map(|block| FreeBlock {
            address: block.address,
            size_bytes: block.size_bytes,
        })
        .collect();
    blocks.sort_unstable_by_key(|block| (block.size_bytes, block.address));
    blocks
}

pub(super) fn free_list(scope: &mut Scope<'_>, at: EventIndex, rows: u32) -> Option<FreeList> {
    let event = scope.record.events.get(at)?;
    let shelf = shelf(scope, at)?;
    scope.seek(at.0);
    let blocks = cached_blocks(scope, &shelf);
    let wanted = match event.action {
        Action::Alloc => Some(scope.device.replay.settings().round(event.size_bytes)),
        Action::Oom => Some(event.size_bytes),
        _ => None,
    };
    // What was taken begins where the block was handed out.
    let taken = (event.action == Action::Alloc)
        .then(|| blocks.iter().position(|b| b.address == event.address))
        .flatten();
    let fit = wanted.map(|wanted| blocks.partition_point(|b| b.size_bytes < wanted));
    let focus = taken.or(fit).unwrap_or(0);
    let rows = (rows as usize).min(blocks.len());
    let first = focus
        .saturating_sub(rows / 2)
        .min(blocks.len().saturating_sub(rows));
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Some(FreeList {
        pool: shelf.pool.unwrap_or(PoolId::DEFAULT),
        kind: Some(shelf.kind),
        stream: Some(scope.stream(shelf.stream)),
        wanted_bytes: wanted,
        total: number(blocks.len()),
        first: number(first),
        chosen: taken.map(number),
        blocks: blocks.into_iter().skip(first).take(rows).collect(),
    })
}
