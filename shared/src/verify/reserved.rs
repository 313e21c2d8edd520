//! The address ranges that expandable segments have reserved. No event names them; what is mapped
//! shows where they begin.

use std::collections::BTreeMap;

use crate::allocator::ReservedRange;
use crate::ids::{PoolId, PoolKind, StreamId};
use crate::replay::{Replay, Span};

/// Bytes of a range whose true size is not known: nine eighths of a card larger than any (§8.1).
const LARGE_RANGE: u64 = 9 << 37;

/// Whose pages share a range.
type Key = (StreamId, PoolKind, Option<PoolId>);

/// One range for each stream and pool that has pages mapped when `applied` events have happened.
/// It begins at the lowest page mapped in it until its last page goes, for then the range goes too
/// (§8.5). Pages below were never used, or they would have been mapped first (§8.2).
pub(super) fn reserved_ranges(replay: &Replay, applied: u32) -> Vec<ReservedRange> {
    // What comes and goes later: event, whether it goes (comings first), address.
    let mut changes: BTreeMap<Key, Vec<(u32, bool, u64)>> = BTreeMap::new();
    let pages = replay.spans().iter().filter(|span| span.expandable);
    for span in pages.filter(|span| span.ended.is_none_or(|end| end.0 >= applied)) {
        let born = span.born.map_or(0, |event| event.0.saturating_add(1));
        let list = changes.entry(key(span)).or_default();
        list.push((born.saturating_sub(applied), false, span.address));
        if let Some(end) = span.ended {
            list.push((end.0.saturating_add(1) - applied, true, span.address));
        }
    }
    let mut starts: Vec<u64> = changes.into_values().filter_map(first_range).collect();
    starts.sort_unstable();
    // Ranges never overlap, so each ends where the next begins at the latest.
    let nexts = starts.iter().skip(1).copied().chain([u64::MAX]);
    starts
        .iter()
        .zip(nexts)
        .map(|(&address, next)| ReservedRange {
            address,
            bytes: LARGE_RANGE.min(next - address),
        })
        .collect()
}

fn key(span: &Span) -> Key {
    (span.stream, span.kind, span.pool)
}

/// Where the range begins that is there at once.
fn first_range(mut changes: Vec<(u32, bool, u64)>) -> Option<u64> {
    changes.sort_unstable();
    let mut mapped: u32 = 0;
    let mut lowest = None;
    for (event, goes, address) in changes {
        if mapped == 0 && event > 0 {
            break;
        }
        if goes {
            mapped = mapped.saturating_sub(1);
        } else {
            mapped += 1;
            lowest = Some(lowest.map_or(address, |lowest: u64| lowest.min(address)));
        }
    }
    lowest
}
