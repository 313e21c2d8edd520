use shared::ids::{EventIndex, StreamId};
use shared::query::Sums;
use shared::units::KIB;

use super::*;
use crate::text::{Language, set_language};

fn step(action: Action, effect: Effect) -> Step {
    Step {
        at: EventIndex(5),
        action,
        address: 0x7f00_0000_0000,
        size_bytes: 12_533_760,
        time_us: None,
        stream: StreamView {
            stream: StreamId(0),
            handle: 0,
        },
        pool: Some(PoolId::DEFAULT),
        kind: Some(PoolKind::Large),
        before: Sums::default(),
        after: Sums::default(),
        effect,
        life: None,
        notes: Vec::new(),
        frames: Vec::new(),
    }
}

fn check(step: &Step, english: &str, chinese: &str) {
    set_language(Language::English);
    assert_eq!(sentence(step, &[]), english);
    set_language(Language::Chinese);
    assert_eq!(sentence(step, &[]), chinese);
}

#[test]
fn an_allocation_says_what_was_taken_and_why_it_was_not_split() {
    let effect = Effect::Allocated {
        requested_bytes: 12_533_760,
        rounded_bytes: 12_533_760,
        given_bytes: 12_533_760 + 96 * KIB,
        hole_bytes: 12_533_760 + 96 * KIB,
        split: false,
        whole_segment: false,
        from_driver: false,
    };
    check(
        &step(Action::Alloc, effect),
        "asked **12,533,760 B** (12.0 MiB, nothing to round) → took the **12.0 MiB** block in the \
         large pool, stream 0 (best fit), whole: the 96.0 KiB left over are too few to split off \
         (1 MiB rule).",
        "申请 **12,533,760 B**（12.0 MiB，无需取整） → 整块取用大块池（流 0）中的 **12.0 MiB** 块\
         （最佳适配）：多出的 96.0 KiB 太小，不予切分（1 MiB 规则）。",
    );
}

#[test]
fn a_release_says_its_reason_and_its_burst() {
    let effect = Effect::SegmentFreed {
        flush: Some(FlushKind::EmptyCache),
        nth: 2,
        of: 17,
        burst_bytes: 4 << 30,
    };
    check(
        &step(Action::SegmentFree, effect),
        "a segment of **12.0 MiB** in the large pool, stream 0 went back to the driver: \
         empty_cache(), 3 of 17, 4.00 GiB together.",
        "大块池（流 0）中 **12.0 MiB** 的段归还给驱动：empty_cache()，第 3 个（共 17 个），\
         合计 4.00 GiB。",
    );
}

#[test]
fn a_completed_free_says_what_it_merged_with() {
    let effect = Effect::FreeCompleted {
        given_bytes: 2 << 20,
        merged_before_bytes: 0,
        merged_after_bytes: 512,
        whole_segment: true,
    };
    check(
        &step(Action::FreeCompleted, effect),
        "**2.0 MiB** went back to the large pool, stream 0, merging with the free block behind \
         (512 B); the whole segment is free now, so empty_cache() could return it",
        "**2.0 MiB** 回到大块池（流 0），与后面的空闲块（512 B）合并；整个段现已空闲，\
         empty_cache() 可以归还它",
    );
}
