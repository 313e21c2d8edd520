use super::*;
use crate::ids::{DeviceIndex, PoolId, PoolKind, StackId, StreamId};
use crate::model::{Block, BlockState, Event, EventNotes, Segment};
use crate::store::RecordingBuilder;
use crate::units::{KIB, MIB};
use crate::warning::WarningKind;

const DEVICE: DeviceIndex = DeviceIndex(0);
/// Where the segments of these tests lie.
const BASE: u64 = 0x7f00_0000_0000;

/// One event: what, where (from [`BASE`]), how many bytes.
type Line = (Action, u64, u64);

/// A live block at the end: offset, size, requested.
type Live = (u64, u64, u64);

/// A record of `lines` that ends in `segments`: offset, size, and the live blocks.
fn record(lines: &[Line], segments: &[(u64, u64, &[Live])]) -> Recording {
    let mut builder = RecordingBuilder::new();
    let stream = builder.stream(0);
    for &(action, offset, size_bytes) in lines {
        builder.event(
            DEVICE,
            &Event {
                action,
                address: BASE + offset,
                size_bytes,
                stream,
                time_us: None,
                stack: StackId(0),
                pool: None,
                notes: EventNotes::default(),
            },
        );
    }
    for &(offset, size_bytes, live) in segments {
        builder.segment(DEVICE, segment(stream, BASE + offset, size_bytes, live));
    }
    builder.finish()
}

fn segment(stream: StreamId, address: u64, size_bytes: u64, live: &[Live]) -> Segment {
    let mut blocks = Vec::new();
    let mut free_from = address;
    for &(offset, size, requested) in live {
        let start = BASE + offset;
        if free_from < start {
            blocks.push(block(free_from, start - free_from, None));
        }
        blocks.push(block(start, size, Some(requested)));
        free_from = start + size;
    }
    if free_from < address + size_bytes {
        blocks.push(block(free_from, address + size_bytes - free_from, None));
    }
    Segment {
        address,
        size_bytes,
        stream,
        kind: origin::kind_of_segment(&Settings::default(), size_bytes),
        pool: Some(PoolId::DEFAULT),
        expandable: false,
        stack: StackId(0),
        stated_allocated_bytes: None,
        stated_active_bytes: None,
        blocks,
    }
}

fn block(address: u64, size_bytes: u64, requested_bytes: Option<u64>) -> Block {
    Block {
        address,
        size_bytes,
        requested_bytes,
        state: if requested_bytes.is_some() {
            BlockState::Allocated
        } else {
            BlockState::Cached
        },
        stack: StackId(0),
    }
}

fn replay_of(recording: &Recording) -> (Replay, &DeviceRecord) {
    let record = recording.device(DEVICE).expect("the record has a device");
    (Replay::new(recording, record), record)
}

/// Offsets and sizes given, of all lives.
fn given(replay: &Replay) -> Vec<(u64, u64)> {
    replay
        .lives()
        .map(|(_, life)| (life.address - BASE, life.given_bytes))
        .collect()
}

#[test]
fn sizes_follow_the_split_rule_of_each_pool() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentAlloc};
    // E3 of the specification: a remainder of exactly 1 MiB is not split off, a larger one is.
    let lines = [
        (SegmentAlloc, 0, 20 * MIB),
        (Alloc, 0, 2 * MIB),
        (Alloc, 2 * MIB, 17 * MIB),
        (FreeRequested, 2 * MIB, 17 * MIB),
        (FreeCompleted, 2 * MIB, 17 * MIB),
        (Alloc, 2 * MIB, 16 * MIB),
        (SegmentAlloc, 64 * MIB, 2 * MIB),
        (Alloc, 64 * MIB, 1),
        (Alloc, 64 * MIB + 512, 2 * MIB - 1024),
    ];
    let recording = record(
        &lines,
        &[
            (
                0,
                20 * MIB,
                &[(0, 2 * MIB, 2 * MIB), (2 * MIB, 16 * MIB, 16 * MIB)],
            ),
            (
                64 * MIB,
                2 * MIB,
                &[
                    (64 * MIB, 512, 1),
                    (64 * MIB + 512, 2 * MIB - 1024, 2 * MIB - 1024),
                ],
            ),
        ],
    );
    let (replay, _) = replay_of(&recording);
    assert_eq!(
        given(&replay),
        [
            (0, 2 * MIB),
            (2 * MIB, 18 * MIB),
            (2 * MIB, 16 * MIB),
            (64 * MIB, 512),
            (64 * MIB + 512, 2 * MIB - 1024),
        ]
    );
    assert!(replay.warnings().is_empty(), "{:?}", replay.warnings());
    assert_eq!(replay.sums().whole().max[0], 20 * MIB);
}

#[test]
fn a_late_record_is_walked_back_to_its_start() {
    use Action::{Alloc, FreeCompleted, FreeRequested};
    // Three blocks are freed that the record never saw handed out. The first is 512 KiB larger
    // than asked for: too little to split off, so it belongs to it. The second ends where the
    // first address behind it is handed out.
    let lines = [
        (FreeRequested, 0, 3 * MIB),
        (FreeCompleted, 0, 3 * MIB),
        (FreeCompleted, 3 * MIB + 512 * KIB, 4 * MIB),
        (Alloc, 15 * MIB, MIB + 512 * KIB),
        (FreeRequested, 10 * MIB, 4 * MIB),
        (FreeCompleted, 10 * MIB, 4 * MIB),
    ];
    let recording = record(
        &lines,
        &[(0, 20 * MIB, &[(15 * MIB, MIB + 512 * KIB, MIB + 512 * KIB)])],
    );
    let (replay, record) = replay_of(&recording);
    assert_eq!(
        given(&replay),
        [
            (0, 3 * MIB + 512 * KIB),
            (3 * MIB + 512 * KIB, 4 * MIB),
            (10 * MIB, 5 * MIB),
            (15 * MIB, MIB + 512 * KIB),
        ]
    );
    let start = replay.sums().start();
    assert_eq!(start.reserved, 20 * MIB);
    assert_eq!(start.pending(), 4 * MIB, "its free was asked for before");
    assert_eq!(start.allocated, 8 * MIB + 512 * KIB);
    let cursor = Cursor::at_start(&replay);
    assert_eq!(cursor.state().block_count(), 3);
    assert_eq!(replay.warnings().count(WarningKind::AliveBefore), 3);
    assert_eq!(replay.warnings().count(WarningKind::FinalMismatch), 0);
    assert_eq!(
        replay.sums().at(&replay, &record.events, 6).allocated,
        MIB + 512 * KIB
    );
}

#[test]
fn releases_that_a_request_explains_are_no_empty_cache() {
    use Action::{Alloc, FreeCompleted, FreeRequested, Oom, SegmentAlloc, SegmentFree};
    let cycle = |end: &[Line]| {
        let mut lines = vec![
            (SegmentAlloc, 0, 30 * MIB),
            (Alloc, 0, 30 * MIB),
            (FreeRequested, 0, 30 * MIB),
            (FreeCompleted, 0, 30 * MIB),
            (SegmentFree, 0, 30 * MIB),
        ];
        lines.extend_from_slice(end);
        lines
    };
    let grown = [(SegmentAlloc, 0, 60 * MIB), (Alloc, 0, 60 * MIB)];
    let served = [(SegmentAlloc, 0, 26 * MIB), (Alloc, 0, 26 * MIB)];
    for (end, kind) in [
        (&[][..], FlushKind::EmptyCache),
        (&[(Oom, 0, 60 * MIB)], FlushKind::Retry),
        (&grown, FlushKind::Retry),
        // What went back would have served this one, so it cannot have sent it back.
        (&served, FlushKind::EmptyCache),
    ] {
        let lines = cycle(end);
        let left = end.last().filter(|last| last.0 == Alloc);
        let live: Vec<Live> = left.map(|last| (0, last.2, last.2)).into_iter().collect();
        let segments: Vec<_> = live.iter().map(|block| (0, block.1, &live[..])).collect();
        let recording = record(&lines, &segments);
        let (replay, _) = replay_of(&recording);
        let [flush] = replay.flushes() else {
            panic!("one burst is expected: {:?}", replay.flushes());
        };
        assert_eq!((flush.kind, flush.bytes), (kind, 30 * MIB));
        assert_eq!(replay.flush_at(EventIndex(4)), Some(flush));
        assert_eq!(replay.flush_at(EventIndex(3)), None);
    }
}

#[test]
fn pages_that_are_unmapped_leave_the_rest_of_their_run() {
    use Action::{Alloc, SegmentMap, SegmentUnmap};
    let page = 20 * MIB;
    let lines = [
        (SegmentMap, 0, 3 * page),
        (Alloc, 0, 5 * MIB),
        (Alloc, 5 * MIB, 5 * MIB),
        (SegmentUnmap, page, page),
    ];
    let mut recording = record(
        &lines,
        &[
            (
                0,
                page,
                &[(0, 5 * MIB, 5 * MIB), (5 * MIB, 5 * MIB, 5 * MIB)],
            ),
            (2 * page, page, &[]),
        ],
    );
    for segment in &mut recording.devices[0].segments {
        segment.expandable = true;
    }
    recording.environment.settings_text = Some("expandable_segments:True".to_owned());
    let (replay, record) = replay_of(&recording);
    assert!(replay.warnings().is_empty(), "{:?}", replay.warnings());
    let mut cursor = Cursor::at_start(&replay);
    let runs = |cursor: &Cursor| -> Vec<(u64, u64)> {
        let runs = cursor.state().runs(&replay).into_iter();
        runs.map(|run| (run.address - BASE, run.size_bytes))
            .collect()
    };
    cursor.seek(&replay, &record.events, 4);
    assert_eq!(runs(&cursor), [(0, page), (2 * page, page)]);
    cursor.seek(&replay, &record.events, 3);
    assert_eq!(runs(&cursor), [(0, 3 * page)]);
    let (run, block) = cursor
        .state()
        .placed_at(&replay, BASE + page)
        .expect("the page is mapped");
    assert_eq!(block.size_bytes, 3 * page - 10 * MIB);
    assert_eq!(run.kind, PoolKind::Large);
    assert_eq!(run.releasable_bytes(&block, page), 2 * page);
}

#[test]
fn events_that_do_not_fit_are_counted_and_change_nothing() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentAlloc, SegmentFree};
    let lines = [
        (SegmentAlloc, 0, 20 * MIB),
        (Alloc, 0, 2 * MIB),
        (FreeRequested, 0, 2 * MIB),
        (FreeRequested, 0, 2 * MIB),
        (FreeCompleted, 0, 2 * MIB),
        (Alloc, 2 * MIB + 7, 2 * MIB),
        (SegmentFree, 0, 10 * MIB),
    ];
    let recording = record(&lines, &[]);
    let (replay, record) = replay_of(&recording);
    let count = |kind| replay.warnings().count(kind);
    assert_eq!(count(WarningKind::UnmatchedFree), 1, "the second request");
    assert_eq!(count(WarningKind::UnalignedAddress), 1);
    assert_eq!(count(WarningKind::UnmatchedSegment), 1);
    let end = replay.sums().at(&replay, &record.events, 7);
    assert_eq!(end.reserved, 0);
}
