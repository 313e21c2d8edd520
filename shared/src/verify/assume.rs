//! What records do not say and has to be assumed: pools, the decisions of garbage collection, and
//! settings that changed on the way. Each is tried only where the prediction fails without it.

use crate::ids::{EventIndex, PoolId};
use crate::model::Action;
use crate::settings::{Settings, UNLIMITED};
use crate::units::MIB;
use crate::verify::walk::{Operation, Walk, Way};
use crate::verify::{DeviceAgreement, Mismatch, Verdict};

/// Operations between copies of the walk, from which it is taken up again after a mismatch.
const COPY_EVERY: u32 = 4096;
/// More changes of settings than any program makes: beyond, the record just disagrees.
const MOST_SETTINGS: usize = 64;
/// Pools that a request is tried in, beside a new one.
const MOST_POOLS: usize = 16;

struct Assumed {
    pools: u64,
    settings: Vec<EventIndex>,
}

pub(super) fn run(mut walk: Walk<'_>) -> DeviceAgreement {
    let mut assumed = Assumed {
        pools: 0,
        settings: Vec::new(),
    };
    let mut copy = walk.clone();
    let mut since = 0;
    let mut mismatch = None;
    let mut cut_off = 0;
    while !walk.is_done() {
        let operation = walk.operation();
        if operation == Operation::CutOff {
            walk.take_trailing_completions();
            cut_off = u64::from(walk.replay.events() - walk.at);
            mismatch = walk.first_unfit();
            break;
        }
        let at = walk.at;
        let Err(failed) = walk.advance(operation, Way::default()) else {
            since += 1;
            if since >= COPY_EVERY {
                copy = walk.clone();
                since = 0;
            }
            continue;
        };
        let before = again(copy, at);
        match explain(&before, operation, &mut assumed) {
            Some(explained) => {
                copy = explained.clone();
                walk = explained;
                since = 0;
            }
            None => {
                mismatch = Some(with_candidates(&before, *failed));
                walk = before;
                break;
            }
        }
    }
    report(&walk, mismatch, cut_off, assumed)
}

/// The walk at `at`, once more from an earlier copy; the same steps lead there.
fn again(mut walk: Walk<'_>, at: u32) -> Walk<'_> {
    while walk.at < at {
        let operation = walk.operation();
        if walk.advance(operation, Way::default()).is_err() {
            break;
        }
    }
    walk
}

fn explain<'a>(before: &Walk<'a>, operation: Operation, assumed: &mut Assumed) -> Option<Walk<'a>> {
    let trial = |way: Way| {
        let mut walk = before.clone();
        walk.advance(operation, way).ok().map(|()| walk)
    };
    match operation {
        Operation::Malloc { end } => {
            // Without stacks, `empty_cache()` just before a request looks like its own retry.
            let mut flushed = before.clone();
            if flushed.advance(Operation::Flush, Way::default()).is_ok() {
                return Some(flushed);
            }
            if let Some(walk) = collections(before, end).find_map(|collected| {
                trial(Way {
                    collected,
                    pool: None,
                })
            }) {
                return Some(walk);
            }
            if let Some(walk) = in_another_pool(before, end) {
                assumed.pools += 1;
                return Some(walk);
            }
        }
        Operation::Flush => {
            let pools = before.private_pools.iter().copied();
            if let Some(walk) = pools.rev().find_map(|pool| {
                trial(Way {
                    collected: 0,
                    pool: Some(pool),
                })
            }) {
                return Some(walk);
            }
        }
        Operation::Free | Operation::Completion | Operation::Note | Operation::CutOff => {
            return None;
        }
    }
    if assumed.settings.len() >= MOST_SETTINGS {
        return None;
    }
    let walk = under_other_settings(before, operation)?;
    assumed.settings.push(EventIndex(before.at));
    Some(walk)
}

/// How many of the releases before a request garbage collection may have decided on: all, or
/// those before an oversize release or a flush.
fn collections(walk: &Walk<'_>, end: u32) -> impl Iterator<Item = u32> + use<> {
    let actions = (walk.at..end).filter_map(|index| Some(walk.recorded(index)?.action));
    let releases = actions
        .skip_while(|action| *action == Action::FreeCompleted)
        .take_while(|action| *action == Action::SegmentFree)
        .count();
    let collects = walk.allocator.settings().garbage_collection_threshold > 0.0;
    let most = if collects { releases as u32 } else { 0 };
    (1..=most).rev()
}

/// The request in a private pool, where the record leaves its pool open.
fn in_another_pool<'a>(before: &Walk<'a>, end: u32) -> Option<Walk<'a>> {
    let span = before.span_of_request(end - 1)?;
    let is_open = before
        .replay
        .span(span)
        .is_some_and(|span| span.pool.is_none() || span.ended.is_some());
    if !is_open || before.assumed_pools.contains_key(&span) {
        return None;
    }
    let known = before.private_pools.iter().rev().take(MOST_POOLS).copied();
    let made = before.private_pools.len() as u64 + 1;
    // A number that no recorded pool has.
    let fresh = PoolId(u64::MAX, made);
    known.chain([fresh, PoolId::DEFAULT]).find_map(|pool| {
        let mut walk = before.clone();
        walk.assumed_pools.insert(span, pool);
        let way = Way {
            collected: 0,
            pool: Some(pool),
        };
        walk.advance(Operation::Malloc { end }, way)
            .ok()
            .map(|()| walk)
    })
}

/// The operation under settings that the recording does not name.
fn under_other_settings<'a>(before: &Walk<'a>, operation: Operation) -> Option<Walk<'a>> {
    let current = before.allocator.settings();
    other_settings(current).find_map(|settings| {
        let mut walk = before.clone();
        *walk.allocator.settings_mut() = settings;
        walk.advance(operation, Way::default()).ok().map(|()| walk)
    })
}

/// Settings that programs switch to, the nearest to the current ones first.
fn other_settings(current: &Settings) -> impl Iterator<Item = Settings> + use<> {
    const SPLITS_MB: [u64; 14] = [
        0, 20, 25, 32, 40, 50, 64, 100, 128, 200, 256, 512, 1024, 2048,
    ];
    const DIVISIONS: [u64; 7] = [0, 1, 2, 4, 8, 16, 32];
    let current = current.clone();
    let expandable = [current.expandable_segments, !current.expandable_segments];
    let mut all: Vec<(u32, Settings)> = Vec::new();
    for expandable_segments in expandable {
        for split_mb in SPLITS_MB {
            for divisions in DIVISIONS {
                let max_split_bytes = match split_mb {
                    0 => UNLIMITED,
                    mb => mb * MIB,
                };
                let settings = Settings {
                    expandable_segments,
                    max_split_bytes,
                    roundup_divisions: [divisions; crate::settings::ROUNDUP_SLOTS],
                    ..current.clone()
                };
                let changes = u32::from(expandable_segments != current.expandable_segments)
                    + u32::from(max_split_bytes != current.max_split_bytes)
                    + u32::from(settings.roundup_divisions != current.roundup_divisions);
                all.push((changes, settings));
            }
        }
    }
    all.sort_by_key(|(changes, _)| *changes);
    all.into_iter().map(|(_, settings)| settings)
}

fn with_candidates(before: &Walk<'_>, mismatch: Mismatch) -> Mismatch {
    let request = mismatch
        .recorded
        .filter(|event| event.action == Action::Alloc)
        .or(mismatch.predicted);
    let candidates = request.map(|event| {
        let rounded = before.allocator.settings().round(event.size_bytes);
        before.candidates(event.stream, rounded)
    });
    Mismatch {
        candidates: candidates.unwrap_or_default(),
        ..mismatch
    }
}

fn report(
    walk: &Walk<'_>,
    mismatch: Option<Mismatch>,
    cut_off: u64,
    assumed: Assumed,
) -> DeviceAgreement {
    let events = u64::from(walk.replay.events());
    let final_address = (mismatch.is_none() && cut_off == 0)
        .then(|| walk.final_difference())
        .flatten();
    let first_mismatch = mismatch.or(final_address.map(|_| Mismatch {
        event: EventIndex(walk.replay.events()),
        recorded: None,
        predicted: None,
        candidates: Vec::new(),
    }));
    let uncertain = walk.replay.uncertain_sizes() as u64;
    let is_guessed = !assumed.settings.is_empty() || assumed.pools > 0 || uncertain > 0;
    let verdict = if first_mismatch.is_some() && !is_guessed {
        Verdict::Disagrees
    } else if first_mismatch.is_some() || cut_off > 0 || !assumed.settings.is_empty() {
        // A wrong assumption may be the reason, or the operation goes on behind the end.
        Verdict::Incomplete
    } else {
        Verdict::Agrees
    };
    DeviceAgreement {
        device: walk.record.device,
        verdict,
        events,
        matched: u64::from(walk.at),
        unexplained: events - u64::from(walk.at),
        first_mismatch,
        uncertain_sizes: uncertain,
        assumed_pools: assumed.pools,
        assumed_settings: assumed.settings,
    }
}
