//! Private pools: `MemPool` with its options, CUDA graphs, and what waits for them (§3.5, §9.5).

use shared::{
    allocator::{
        Allocator, At, Driver, DriverError, GraphNode, MallocError, Pages, PoolError, PoolOptions,
        SimulatedCard, SplitRule, Step, Stream, StreamEvent,
    },
    ids::{DeviceIndex, PoolId, PoolKind},
    model::Action::{Alloc, FreeCompleted, FreeRequested, SegmentFree},
    settings::Settings,
};
use tests::engine::{BASE, DEVICE, MIB, allocator, card, events, has, malloc, request, steps};

#[test]
fn a_mem_pool_keeps_its_memory_until_it_is_dropped() {
    // E19
    let mut a = allocator("");
    let pool = a
        .create_mem_pool(DEVICE, PoolOptions::default())
        .expect("made");
    assert_eq!(pool, PoolId(0, 1));
    a.enter_pool(DEVICE, pool).expect("in use");
    let (large, small) = (malloc(&mut a, 3 * MIB), malloc(&mut a, 100));
    a.leave_pool(DEVICE, pool).expect("entered");
    malloc(&mut a, 100);
    let pools: Vec<_> = a.snapshot().iter().map(|s| (s.pool, s.kind)).collect();
    let expected = [
        (pool, PoolKind::Large),
        (pool, PoolKind::Small),
        (PoolId::DEFAULT, PoolKind::Small),
    ];
    assert_eq!(pools, expected);
    a.free(large, &mut ()).expect("live");
    a.free(small, &mut ()).expect("live");
    let kept = steps(|sink| a.empty_cache(sink));
    assert!(has(&kept, |step| *step
        == Step::KeptByPool {
            pool,
            free_bytes: 22 * MIB,
            uses: 1
        }));
    assert!(!has(&kept, |step| step.action().is_some()));
    let gone = events(|sink| a.drop_mem_pool(DEVICE, pool, sink).expect("in use"));
    assert_eq!(
        gone,
        [(SegmentFree, 20 * MIB, 2 * MIB), (SegmentFree, 0, 20 * MIB)]
    );
    assert_eq!(a.enter_pool(DEVICE, pool), Err(PoolError::NoPool(pool)));
}

#[test]
fn a_pool_that_never_splits_hands_out_whole_segments() {
    // E19, §5.1(a)
    let mut a = allocator("");
    let options = PoolOptions {
        no_split: true,
        ..PoolOptions::default()
    };
    let pool = a.create_mem_pool(DEVICE, options).expect("made");
    a.enter_pool(DEVICE, pool).expect("in use");
    for bytes in [3 * MIB, 100, 100] {
        let why = steps(|sink| {
            a.malloc(request(bytes, 0), sink).expect("memory");
        });
        assert!(has(&why, |step| matches!(
            step,
            Step::Split {
                rule: SplitRule::NoSplitPool,
                split: false,
                ..
            }
        )));
    }
    let sizes: Vec<_> = a
        .snapshot()
        .iter()
        .map(|s| (s.blocks.len(), s.total_bytes()))
        .collect();
    assert_eq!(sizes, [(1, 20 * MIB), (1, 2 * MIB), (1, 2 * MIB)]);
}

#[test]
fn a_pool_with_its_own_allocator_is_never_expandable() {
    let mut a = allocator("expandable_segments:True");
    let options = PoolOptions {
        custom_allocator: true,
        ..PoolOptions::default()
    };
    let pool = a.create_mem_pool(DEVICE, options).expect("made");
    a.enter_pool(DEVICE, pool).expect("in use");
    malloc(&mut a, 3 * MIB);
    assert!(!a.snapshot()[0].expandable);
    a.leave_pool(DEVICE, pool).expect("entered");
    malloc(&mut a, 3 * MIB);
    assert!(a.snapshot()[1].expandable);
}

#[test]
fn a_marked_pool_helps_out_before_a_flush() {
    // §4.7
    let settings = Settings::default();
    let mut a = Allocator::new(settings, card(100), 1);
    let options = PoolOptions {
        use_on_oom: true,
        ..PoolOptions::default()
    };
    let pool = a.create_mem_pool(DEVICE, options).expect("made");
    a.enter_pool(DEVICE, pool).expect("in use");
    let cached = malloc(&mut a, 90 * MIB);
    a.free(cached, &mut ()).expect("live");
    a.leave_pool(DEVICE, pool).expect("entered");
    let why = steps(|sink| {
        a.malloc(request(50 * MIB, 0), sink).expect("the pool's");
    });
    assert!(has(&why, |step| *step == Step::OtherPool { pool }));
    let segments = a.snapshot();
    assert_eq!((segments.len(), segments[0].pool), (1, pool));
    let stats = a.statistics(DEVICE).expect("device 0");
    assert_eq!(
        (stats.num_alloc_retries, stats.num_sync_all_streams),
        (0, 0)
    );
}

#[test]
fn a_graph_takes_what_its_stream_allocates_and_keeps_it_until_released() {
    // E20
    let mut a = allocator("");
    let graph = a.begin_capture(DEVICE, Stream(7), None).expect("device 0");
    assert_eq!(graph, PoolId(1, 0));
    let captured = a.malloc(request(4000, 7), &mut ()).expect("memory");
    let other = a.malloc(request(4000, 8), &mut ()).expect("memory");
    let pools: Vec<_> = a.snapshot().iter().map(|s| (s.pool, s.stream)).collect();
    assert_eq!(pools, [(graph, Stream(7)), (PoolId::DEFAULT, Stream(8))]);
    a.end_capture(DEVICE, graph).expect("captured");
    a.free(captured, &mut ()).expect("live");
    a.free(other, &mut ()).expect("live");
    let flushed = events(|sink| a.empty_cache(sink));
    assert_eq!(flushed, [(SegmentFree, 2 * MIB, 2 * MIB)]);
    a.release_graph(DEVICE, graph).expect("in use");
    let flushed = events(|sink| a.empty_cache(sink));
    assert_eq!(flushed, [(SegmentFree, 0, 2 * MIB)]);
}

#[test]
fn frees_during_a_capture_wait_for_its_end() {
    // §9.5: a stream recorded in the capture no longer counts after it
    let mut a = allocator("");
    let (inside, before) = (malloc(&mut a, 512), malloc(&mut a, 512));
    a.record_stream(before, Stream(3));
    let graph = a.begin_capture(DEVICE, Stream(7), None).expect("device 0");
    a.record_stream(inside, Stream(7));
    let freed = events(|sink| {
        a.free(inside, sink).expect("live");
        a.free(before, sink).expect("live");
        a.malloc(request(512, 0), sink).expect("memory");
    });
    let expected = [
        (FreeRequested, 0, 512),
        (FreeRequested, 512, 512),
        (Alloc, 1024, 512),
    ];
    assert_eq!(freed, expected);
    a.end_capture(DEVICE, graph).expect("captured");
    let next = events(|sink| {
        a.malloc(request(512, 0), sink).expect("memory");
    });
    assert_eq!(next, [(FreeCompleted, 0, 512), (Alloc, 0, 512)]);
    a.driver_mut().complete(DEVICE, Some(Stream(3)));
    let next = events(|sink| {
        a.malloc(request(512, 0), sink).expect("memory");
    });
    assert_eq!(next, [(FreeCompleted, 512, 512), (Alloc, 512, 512)]);
}

#[test]
fn no_flush_while_a_pool_is_entered() {
    // T10
    let mut a = Allocator::new(Settings::default(), card(100), 1);
    let cached = malloc(&mut a, 60 * MIB);
    a.free(cached, &mut ()).expect("live");
    let pool = a
        .create_mem_pool(DEVICE, PoolOptions::default())
        .expect("made");
    a.enter_pool(DEVICE, pool).expect("in use");
    let failed = a.malloc(request(70 * MIB, 0), &mut ());
    assert!(matches!(failed, Err(MallocError::OutOfMemory(_))));
    assert_eq!(a.statistics(DEVICE).expect("device 0").num_alloc_retries, 0);
    assert_eq!(
        a.drop_mem_pool(DEVICE, pool, &mut ()),
        Err(PoolError::Entered(pool))
    );
}

/// A card on which all streams are captured into one graph, and streams have joined as told.
struct CapturedGraph {
    card: SimulatedCard,
    /// Nodes that work on stream 7 follows.
    joined: Vec<GraphNode>,
}

impl Driver for CapturedGraph {
    fn total_bytes(&self, device: DeviceIndex) -> u64 {
        self.card.total_bytes(device)
    }

    fn free_bytes(&mut self, at: At) -> u64 {
        self.card.free_bytes(at)
    }

    fn allocate(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.card.allocate(at, bytes)
    }

    fn free(&mut self, at: At, address: u64, bytes: u64) {
        self.card.free(at, address, bytes);
    }

    fn reserve(&mut self, at: At, bytes: u64) -> Result<u64, DriverError> {
        self.card.reserve(at, bytes)
    }

    fn unreserve(&mut self, at: At, address: u64, bytes: u64) {
        self.card.unreserve(at, address, bytes);
    }

    fn map(&mut self, at: At, pages: Pages) -> Result<(), DriverError> {
        self.card.map(at, pages)
    }

    fn unmap(&mut self, at: At, pages: Pages) {
        self.card.unmap(at, pages);
    }

    fn record_event(&mut self, at: At, stream: Stream, block_address: u64) -> StreamEvent {
        self.card.record_event(at, stream, block_address)
    }

    fn is_complete(&mut self, at: At, stream: Stream, event: StreamEvent) -> bool {
        self.card.is_complete(at, stream, event)
    }

    fn wait(&mut self, at: At, stream: Stream, event: StreamEvent) {
        self.card.wait(at, stream, event);
    }

    /// The number of a node is that of its stream.
    fn graph_terminals(&mut self, _at: At, streams: &[Stream]) -> Vec<GraphNode> {
        streams.iter().map(|stream| GraphNode(stream.0)).collect()
    }

    fn graph_follows(&mut self, _at: At, stream: Stream, nodes: &[GraphNode]) -> bool {
        stream == Stream(7) && nodes.iter().all(|node| self.joined.contains(node))
    }
}

#[test]
fn a_capture_may_reuse_a_block_once_its_streams_have_joined() {
    // §9.6
    for (reuse, expected) in [("True", 512), ("False", 1024)] {
        let conf = format!("graph_capture_record_stream_reuse:{reuse}");
        let driver = CapturedGraph {
            card: card(100),
            joined: vec![GraphNode(7)],
        };
        let mut a = Allocator::new(Settings::parse(&conf).expect("valid"), driver, 1);
        a.begin_capture(DEVICE, Stream(7), None).expect("device 0");
        let _first = a.malloc(request(512, 7), &mut ()).expect("memory");
        let shared = a.malloc(request(512, 7), &mut ()).expect("memory");
        a.record_stream(shared, Stream(8));
        a.free(shared, &mut ()).expect("live");
        let mut offset = || {
            let block = a.malloc(request(512, 7), &mut ()).expect("memory");
            let address = a.block(block).expect("live").address;
            a.free(block, &mut ()).expect("live");
            a.driver_mut().joined.push(GraphNode(8));
            address - BASE
        };
        assert_eq!(offset(), 1024, "stream 8 has not joined");
        assert_eq!(offset(), expected);
    }
}
