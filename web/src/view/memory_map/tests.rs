use shared::ids::LifeId;
use shared::query::MapSummary;
use shared::units::MIB;

use super::*;
use crate::draw::scene::Shape;

fn block(offset_mib: u64, size_mib: u64, state: BlockState) -> BlockView {
    BlockView {
        offset_bytes: offset_mib * MIB,
        size_bytes: size_mib * MIB,
        state,
        requested_bytes: size_mib * MIB,
        rounded_bytes: size_mib * MIB,
        life: None,
        before: false,
        pinned: false,
        count: 1,
        active_bytes: 0,
    }
}

fn segment(address_mib: u64, size_mib: u64, kind: PoolKind) -> SegmentView {
    SegmentView {
        address: address_mib * MIB,
        size_bytes: size_mib * MIB,
        kind,
        pool: PoolId::DEFAULT,
        pool_known: true,
        stream: StreamId(0),
        expandable: false,
        born: None,
        blocks: vec![block(0, size_mib, BlockState::Cached)],
    }
}

fn map(segments: Vec<SegmentView>) -> MemoryMap {
    MemoryMap {
        segments,
        summary: MapSummary::default(),
    }
}

/// 10 pixels to a MiB, rows of 20.
const SCALE: MapScale = MapScale {
    px_per_byte: 10.0 / MIB as f64,
    zoom: 1.0,
    row_height: 20.0,
};

fn rows(layout: &MapLayout) -> Vec<(usize, f32, f32, f32)> {
    let row = |piece: &Piece| (piece.segment, piece.rect.x, piece.rect.y, piece.rect.width);
    layout.pieces.iter().map(row).collect()
}

#[test]
fn segments_are_to_one_scale_and_largest_first() {
    let map = map(vec![
        segment(0, 20, PoolKind::Large),
        segment(100, 60, PoolKind::Large),
        segment(200, 30, PoolKind::Large),
    ]);
    let layout = layout(&map, &[], 1000.0, SCALE);
    let second_row = HEADING + 20.0 + ROW_GAP;
    assert_eq!(
        rows(&layout),
        [
            (1, 0.0, HEADING, 600.0),
            (2, 605.0, HEADING, 300.0),
            (0, 0.0, second_row, 200.0),
        ]
    );
}

#[test]
fn groups_stand_apart_with_the_large_pool_first() {
    let mut other_stream = segment(300, 20, PoolKind::Large);
    other_stream.stream = StreamId(7);
    let map = map(vec![
        segment(0, 2, PoolKind::Small),
        segment(100, 20, PoolKind::Large),
        segment(200, 20, PoolKind::Large),
        other_stream,
    ]);
    let layout = layout(&map, &[], 1000.0, SCALE);
    let groups: Vec<_> = layout
        .headings
        .iter()
        .map(|heading| {
            (
                heading.group.kind,
                heading.group.stream.0,
                heading.group.segments,
            )
        })
        .collect();
    let expected = [
        (PoolKind::Large, 0, 2),
        (PoolKind::Large, 7, 1),
        (PoolKind::Small, 0, 1),
    ];
    assert_eq!(groups, expected);
}

#[test]
fn a_segment_longer_than_a_row_goes_on_in_the_next() {
    let map = map(vec![segment(0, 250, PoolKind::Large)]);
    let layout = layout(&map, &[], 1000.0, SCALE);
    let pieces: Vec<_> = layout
        .pieces
        .iter()
        .map(|piece| {
            (
                piece.from_bytes / MIB,
                piece.size_bytes / MIB,
                piece.rect.width,
            )
        })
        .collect();
    assert_eq!(
        pieces,
        [(0, 100, 1000.0), (100, 100, 1000.0), (200, 50, 500.0)]
    );
    assert_eq!(layout.rects_of(&map, (90 * MIB, 20 * MIB)).len(), 2);
}

#[test]
fn the_pointer_finds_the_block_under_it() {
    let mut one = segment(64, 30, PoolKind::Large);
    one.blocks = vec![
        block(0, 10, BlockState::Allocated),
        block(10, 5, BlockState::Cached),
        block(15, 15, BlockState::Allocated),
    ];
    one.blocks[0].life = Some(LifeId(3));
    let map = map(vec![one]);
    let layout = layout(&map, &[], 1000.0, SCALE);
    let at = |x| layout.hit(&map, x, HEADING + 5.0).map(|hit| hit.block);
    assert_eq!(
        [at(1.0), at(120.0), at(299.0), at(305.0)],
        [Some(0), Some(1), Some(2), None]
    );
    assert_eq!(layout.hit(&map, 1.0, 2.0), None, "the heading is no block");
}

#[test]
fn states_and_waste_have_their_meanings() {
    let mut one = segment(0, 40, PoolKind::Large);
    let mut wasteful = block(0, 10, BlockState::Allocated);
    wasteful.requested_bytes = 9 * MIB;
    let mut before = block(10, 10, BlockState::Allocated);
    before.before = true;
    let mut pinned = block(30, 10, BlockState::Cached);
    pinned.pinned = true;
    one.blocks = vec![
        wasteful,
        before,
        block(20, 10, BlockState::PendingFree),
        pinned,
    ];
    let map = map(vec![one]);
    let layout = layout(&map, &[], 1000.0, SCALE);
    let window = MapWindow {
        scroll: 0.0,
        height: 500.0,
    };
    let scene = layout.scene(&map, &[], window, &Highlights::default());
    let fills: Vec<_> = scene
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Fill { rect, meaning } if rect.width > 1.0 => {
                Some((*meaning, rect.x, rect.width))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        fills,
        [
            (Meaning::Allocated, 0.0, 100.0),
            (Meaning::Waste, 90.0, 10.0),
            (Meaning::BeforeRecording, 100.0, 100.0),
            (Meaning::Pending, 200.0, 100.0),
            (Meaning::CachedPinned, 300.0, 100.0),
        ]
    );
}

#[test]
fn what_is_too_small_is_counted() {
    let mut one = segment(0, 40, PoolKind::Large);
    let mut run = block(0, 1, BlockState::Allocated);
    run.count = 12;
    one.blocks = vec![run, block(1, 39, BlockState::Cached)];
    let layout = layout(&map(vec![one]), &[], 1000.0, SCALE);
    assert_eq!(layout.headings[0].group.too_small, 12);
}

#[test]
fn a_stretch_without_pages_shows_between_two_runs() {
    let mut first = segment(1000, 20, PoolKind::Large);
    let mut second = segment(1500, 40, PoolKind::Large);
    first.expandable = true;
    second.expandable = true;
    let layout = layout(&map(vec![first, second]), &[], 1000.0, SCALE);
    assert_eq!(layout.unmapped.len(), 1);
    let order: Vec<_> = layout.pieces.iter().map(|piece| piece.segment).collect();
    assert_eq!(order, [0, 1], "pages stay in the order of their addresses");
}
