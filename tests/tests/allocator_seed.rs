//! Allocators that start with memory already there.

use shared::{
    allocator::{
        Allocator, ReservedRange,
        SeedError::{Gap, NoDevice, Overlap},
        SegmentReport, SimulatedCard,
    },
    settings::Settings,
};
use tests::engine::{BASE, DEVICE, MIB, allocator, card, events, malloc, request};

/// An allocator that starts with the segments of another one goes on as that one does.
fn check_seeded(conf: &str) {
    let mut original = allocator(conf);
    let mut live = Vec::new();
    for step in 0_u64..400 {
        let bytes = 1 + (step * 7_919_333) % (25 << (step % 21));
        live.push(malloc(&mut original, bytes));
        if step % 3 > 0 {
            let block = live.swap_remove((step as usize * 31) % live.len());
            original.free(block, &mut ()).expect("live");
        }
        if step % 150 == 149 {
            original.empty_cache(&mut ());
        }
    }
    let settings = Settings::parse(conf).expect("valid");
    let state = original.snapshot();
    let mut driver = card(80 << 10);
    driver.hold(DEVICE, original.held_bytes(DEVICE));
    let mut seeded = Allocator::new(settings, driver, 1);
    let held = seeded.seed(&state, &[]).expect("a legal state");
    assert_eq!(seeded.snapshot(), state);
    assert_eq!(seeded.held_bytes(DEVICE), original.held_bytes(DEVICE));
    let current = |a: &Allocator<SimulatedCard>| {
        let stats = a.statistics(DEVICE).expect("device 0");
        stats
            .families()
            .map(|(name, family)| (name, family.all.current))
    };
    assert_eq!(current(&seeded), current(&original));

    // Whatever is freed, merged and given back from here on is the same in both.
    for (step, block) in live.into_iter().enumerate() {
        let address = original.block(block).expect("live").address;
        let (_, twin) = held.iter().find(|(at, _)| *at == address).expect("held");
        let first = events(|sink| original.free(block, sink).expect("live"));
        let second = events(|sink| seeded.free(*twin, sink).expect("live"));
        assert_eq!(first, second);
        if step % 20 == 0 {
            let first = events(|sink| original.empty_cache(sink));
            assert_eq!(first, events(|sink| seeded.empty_cache(sink)));
        }
    }
    let first = events(|sink| original.empty_cache(sink));
    assert_eq!(first, events(|sink| seeded.empty_cache(sink)));
    assert_eq!(seeded.held_bytes(DEVICE), 0);
    assert_eq!(current(&seeded), current(&original));
}

#[test]
fn goes_on_from_a_given_state() {
    check_seeded("");
    check_seeded("expandable_segments:True");
    check_seeded("max_split_size_mb:20");
}

#[test]
fn pages_go_on_within_the_range_that_was_reserved() {
    // E14: the first page was unmapped before the state was taken.
    let mut original = allocator("expandable_segments:True");
    let first = malloc(&mut original, 20 * MIB);
    malloc(&mut original, 20 * MIB);
    original.free(first, &mut ()).expect("live");
    original.empty_cache(&mut ());
    let state = original.snapshot();
    assert_eq!(state[0].address, BASE + 20 * MIB);
    let reserved = ReservedRange {
        address: BASE,
        bytes: 90 << 30,
    };
    let settings = Settings::parse("expandable_segments:True").expect("valid");
    let mut seeded = Allocator::new(settings, card(80 << 10), 1);
    seeded.seed(&state, &[reserved]).expect("a legal state");
    for bytes in [5 * MIB, 30 * MIB] {
        let expected = events(|sink| {
            original.malloc(request(bytes, 0), sink).expect("memory");
        });
        let got = events(|sink| {
            seeded.malloc(request(bytes, 0), sink).expect("memory");
        });
        assert_eq!(got, expected);
    }
}

#[test]
fn states_that_cannot_be_are_refused() {
    let mut a = allocator("");
    malloc(&mut a, 512);
    malloc(&mut a, 3 * MIB);
    let state = a.snapshot();
    let refused = |change: &dyn Fn(&mut Vec<SegmentReport>)| {
        let mut state = state.clone();
        change(&mut state);
        allocator("").seed(&state, &[]).expect_err("refused")
    };
    let address = state[0].address;
    assert_eq!(refused(&|s| s[0].device.0 = 1), NoDevice { address });
    assert_eq!(refused(&|s| s[0].blocks[1].address += 512), Gap { address });
    assert_eq!(refused(&|s| s[0].blocks.clear()), Gap { address });
    assert_eq!(refused(&|s| s[0].blocks[1].size_bytes = 0), Gap { address });
    assert_eq!(
        refused(&|s| s[0].blocks[1].size_bytes = u64::MAX),
        Gap { address }
    );
    let address = state[1].address;
    assert_eq!(
        refused(&|s| s[0].blocks[1].size_bytes += 512),
        Overlap { address }
    );
}
