//! What the recordings do not show: several devices, drivers that fail, sizes beyond reason, and
//! the reasons that operations give. Section numbers are those of the allocator's specification.

use shared::{
    allocator::{
        Allocator, CardSize, DriverError, Failing, FlushCause, FreeError, KeptApart, MallocError,
        PassedOver, Request, SimulatedCard, SplitRule, Step, Stream, TraceEvent, Trouble,
    },
    ids::{DeviceIndex, PoolId, PoolKind},
    model::Action::{self, Alloc, SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap},
    settings::Settings,
};
use tests::engine::{BASE, DEVICE, MIB, allocator, card, events, has, malloc, request, steps};

#[test]
fn an_oom_says_what_pytorch_says() {
    // E10
    let mut a = allocator("");
    a.set_memory_limit(DEVICE, Some(100 * MIB));
    let first = malloc(&mut a, 60 * MIB);
    a.free(first, &mut ()).expect("live");
    let second = malloc(&mut a, 30 * MIB);
    a.free(second, &mut ()).expect("live");
    malloc(&mut a, 70 * MIB);
    malloc(&mut a, 2 * MIB);
    malloc(&mut a, 15 * MIB);
    let error = a
        .malloc(request(95 * MIB, 0), &mut ())
        .expect_err("over the limit");
    assert_eq!(
        error.to_string(),
        "CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 80.00 GiB \
         of which 79.91 GiB is free. 100.00 MiB allowed; Of the allocated memory 87.00 MiB is \
         allocated by PyTorch, and 3.00 MiB is reserved by PyTorch but unallocated. If reserved \
         but unallocated memory is large try setting \
         PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See \
         documentation for Memory Management  \
         (https://docs.pytorch.org/docs/stable/notes/cuda.html\
         #optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
    );
    let stats = a.statistics(DEVICE).expect("device 0");
    let figures = (
        stats.num_alloc_retries,
        stats.num_ooms,
        stats.num_sync_all_streams,
        stats.num_device_free,
    );
    assert_eq!(figures, (2, 1, 2, 1));
}

#[test]
fn sizes_beyond_reason_are_refused_before_or_after_looking() {
    // §2.4
    let mut a = allocator("");
    assert_eq!(a.malloc_tensor(request(0, 0), &mut ()), Ok(None));
    assert_eq!(
        a.malloc_tensor(request(1 << 60, 0), &mut ()),
        Err(MallocError::MoreThanExabyte)
    );
    for (bytes, shown) in [
        ((1 << 60) - 1, "Tried to allocate 1073741824.00 GiB."),
        ((1 << 63) - 1, "Tried to allocate 8589934592.00 GiB."),
    ] {
        let error = a.malloc(request(bytes, 0), &mut ()).expect_err("too much");
        assert!(error.to_string().contains(shown), "{error}");
    }
    assert_eq!(a.statistics(DEVICE).expect("device 0").num_ooms, 2);
    for conf in ["", "expandable_segments:True"] {
        let mut a = allocator(conf);
        assert!(a.malloc(request(u64::MAX, 0), &mut ()).is_err());
    }
}

#[test]
fn a_block_is_freed_once() {
    let mut a = allocator("");
    let (first, second) = (malloc(&mut a, 512), malloc(&mut a, 512));
    a.free(first, &mut ()).expect("live");
    assert_eq!(a.free(first, &mut ()), Err(FreeError));
    a.free(second, &mut ()).expect("live");
    // Merged away.
    assert_eq!(a.free(first, &mut ()), Err(FreeError));
    assert_eq!(a.block(first), None);
}

fn failing(
    conf: &str,
    from_call: u64,
    calls: u64,
    error: DriverError,
) -> Allocator<Failing<SimulatedCard>> {
    let trouble = Trouble {
        from_call,
        calls,
        error,
    };
    let driver = Failing::new(card(80 << 10), trouble);
    Allocator::new(Settings::parse(conf).expect("valid"), driver, 1)
}

#[test]
fn a_refused_segment_is_asked_for_again_after_a_flush() {
    let mut a = failing("", 1, 1, DriverError::OutOfMemory);
    let first = malloc(&mut a, 30 * MIB);
    a.free(first, &mut ()).expect("live");
    let got = events(|sink| {
        a.malloc(request(40 * MIB, 0), sink)
            .expect("at the second try");
    });
    let expected = [
        (SegmentFree, 0, 30 * MIB),
        (SegmentAlloc, 30 * MIB, 40 * MIB),
        (Alloc, 30 * MIB, 40 * MIB),
    ];
    assert_eq!(got, expected);
    assert_eq!(a.statistics(DEVICE).expect("device 0").num_alloc_retries, 1);
}

#[test]
fn a_driver_error_that_is_not_about_memory_is_passed_on_at_once() {
    let error = DriverError::Failed { code: 700 };
    let mut a = failing("", 0, 1, error);
    assert_eq!(
        a.malloc(request(512, 0), &mut ()),
        Err(MallocError::Driver(error))
    );
    let stats = a.statistics(DEVICE).expect("device 0");
    assert_eq!((stats.num_ooms, stats.num_alloc_retries), (0, 0));
    malloc(&mut a, 512);
}

#[test]
fn pages_mapped_before_a_failure_stay_mapped_and_free() {
    // §8.2: an unmapped page, a free one, and unmapped ones behind it. The request needs two
    // mappings, of which the second fails (call 4), and so does the one after the flush.
    let mut a = failing("expandable_segments:True", 4, 2, DriverError::OutOfMemory);
    let (first, second) = (malloc(&mut a, 20 * MIB), malloc(&mut a, 20 * MIB));
    a.free(first, &mut ()).expect("live");
    a.empty_cache(&mut ());
    a.free(second, &mut ()).expect("live");
    let failed = events(|sink| {
        assert!(a.malloc(request(60 * MIB, 0), sink).is_err());
    });
    assert_eq!(
        failed[..2],
        [(SegmentMap, 0, 20 * MIB), (SegmentUnmap, 0, 40 * MIB),]
    );
    assert_eq!((failed.len(), failed[2].0), (3, Action::Oom));
    assert_eq!(a.held_bytes(DEVICE), 0);
    let fits = events(|sink| {
        a.malloc(request(60 * MIB, 0), sink)
            .expect("it is well again");
    });
    assert_eq!(fits[0].0, SegmentMap);
}

#[test]
fn a_split_says_by_which_rule_and_which_block() {
    // E3
    let mut a = allocator("");
    let why = steps(|sink| {
        a.malloc(request(2 * MIB, 0), sink).expect("memory");
    });
    assert_eq!(
        why[0],
        Step::Asked {
            requested_bytes: 2 * MIB,
            rounded_bytes: 2 * MIB,
            segment_bytes: 20 * MIB,
            pool: PoolId::DEFAULT,
            kind: PoolKind::Large,
            stream: Stream(0),
            expandable: false,
        }
    );
    assert_eq!(why[1], Step::NothingFits);
    assert!(matches!(
        why[2],
        Step::Driver {
            succeeded: true,
            cost_ns: Some(52_667.0),
            ..
        }
    ));
    assert!(has(&why, |step| *step
        == Step::Split {
            rule: SplitRule::LargePool,
            split: true,
            front_bytes: 2 * MIB,
            rest_bytes: 18 * MIB,
        }));
    let text = serde_json::to_string(&why).expect("plain data");
    let back: Vec<Step> = serde_json::from_str(&text).expect("the same");
    assert_eq!(back, why);
}

#[test]
fn passed_over_blocks_are_named_with_the_reason() {
    let mut a = allocator("max_split_size_mb:64");
    let whole = malloc(&mut a, 100 * MIB);
    let other = a.malloc(request(12 * MIB, 9), &mut ()).expect("memory");
    let small = malloc(&mut a, 2 * MIB);
    a.free(whole, &mut ()).expect("live");
    a.free(other, &mut ()).expect("live");
    let why = steps(|sink| {
        a.malloc(request(19 * MIB, 0), sink).expect("memory");
    });
    let reasons: Vec<_> = why
        .iter()
        .filter_map(|step| match step {
            Step::PassedOver { block, why } => Some((block.size_bytes >> 20, *why)),
            _ => None,
        })
        .collect();
    assert_eq!(
        reasons,
        [
            (18, PassedOver::TooSmall { count: 1 }),
            (
                100,
                PassedOver::Oversize {
                    max_split_bytes: 64 * MIB
                }
            ),
        ]
    );
    let why = steps(|sink| {
        a.malloc(request(11 * MIB, 0), sink).expect("memory");
    });
    assert!(has(&why, |step| matches!(
        step,
        Step::PassedOver {
            why: PassedOver::OtherStream,
            block
        } if block.stream == Stream(9)
    )));
    assert!(a.block(small).is_some());
}

#[test]
fn a_flush_names_the_block_that_pins_a_segment() {
    // E17
    let mut a = allocator("");
    let (first, second) = (malloc(&mut a, 4 * MIB), malloc(&mut a, 4 * MIB));
    let freed = steps(|sink| a.free(first, sink).expect("live"));
    assert!(has(&freed, |step| matches!(
        step,
        Step::KeptApart {
            why: KeptApart::Allocated,
            ..
        }
    )));
    let flushed = steps(|sink| a.empty_cache(sink));
    let cause = FlushCause::EmptyCache;
    let pool = PoolId::DEFAULT;
    assert_eq!(flushed[0], Step::Flush { pool, cause });
    let pinned = |step: &Step| match step {
        Step::Pinned { block, by } => by.map(|by| (block.address - BASE, by.address - BASE)),
        _ => None,
    };
    let pinned: Vec<_> = flushed.iter().filter_map(pinned).collect();
    assert_eq!(pinned, [(0, 4 * MIB), (8 * MIB, 4 * MIB)]);
    a.free(second, &mut ()).expect("live");
    let flushed = events(|sink| a.empty_cache(sink));
    assert_eq!(flushed, [(SegmentFree, 0, 20 * MIB)]);
}

#[test]
fn empty_cache_clears_every_device() {
    // §7.1
    let cards = [80 << 30; 2].map(|capacity_bytes| CardSize {
        capacity_bytes,
        others_bytes: 0,
    });
    let mut a = Allocator::new(Settings::default(), SimulatedCard::new(&cards), 2);
    for device in [1, 0] {
        let request = Request {
            device: DeviceIndex(device),
            ..request(512, 0)
        };
        let block = a.malloc(request, &mut ()).expect("memory");
        a.free(block, &mut ()).expect("live");
    }
    let mut emptied: Vec<TraceEvent> = Vec::new();
    a.empty_cache(&mut emptied);
    let devices: Vec<_> = emptied.iter().map(|event| event.device.0).collect();
    assert_eq!(devices, [0, 1]);
    let nowhere = Request {
        device: DeviceIndex(2),
        ..request(512, 0)
    };
    assert_eq!(
        a.malloc(nowhere, &mut ()),
        Err(MallocError::NoDevice(DeviceIndex(2)))
    );
}
