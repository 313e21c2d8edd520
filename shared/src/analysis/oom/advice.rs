//! What helps and what does not, case by case.

use serde::{Deserialize, Serialize};

use super::flag::{Flag, is_limited, unaccounted_bytes};
use super::label::Field;
use super::message::{Figures, Form};
use super::verdict::{Undecided, Verdict};
use crate::units::{GIB, MIB};

/// What a process has on the card beside the allocator's memory, where the message does not say:
/// its context and libraries. Less than this is not another process's.
const CONTEXT_BYTES: u64 = GIB;

/// Every desktop holds a little; stopping that is no advice.
const WORTH_STOPPING_BYTES: i128 = 256 * MIB as i128;

/// A thing that people try. What is in neither list cannot be judged from the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Ask for less at once: smaller batch, shorter sequence, chunks.
    SmallerRequest,
    /// Keep less alive: checkpointing, lower precision, offloading, references dropped.
    FewerLiveTensors,
    /// Stop what else is on the card.
    OtherProcess,
    /// Allow more: `set_per_process_memory_fraction`, the high watermark of MPS.
    RaiseLimit,
    /// Free the pools of CUDA graphs and MemPools: nothing else can use their cached memory.
    PrivatePools,
    /// Look outside the allocator: driver, container, WDDM, another program in that moment.
    OutsideAllocator,
    /// Find the live blocks that pin cached segments: record a snapshot.
    PinningBlocks,
    /// `expandable_segments:True`.
    ExpandableSegments,
    /// Allocate what lives long first, the large before the small.
    AllocationOrder,
    /// `roundup_power2_divisions`: sizes that vary a little become equal.
    Roundup,
    /// `torch.cuda.empty_cache()`.
    EmptyCache,
    /// `max_split_size_mb`.
    MaxSplitSizeMb,
    /// `garbage_collection_threshold`.
    GarbageCollectionThreshold,
}

impl Advice {
    /// The stable word, as `docs/explain.md` lists it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::SmallerRequest => "smaller_request",
            Self::FewerLiveTensors => "fewer_live_tensors",
            Self::OtherProcess => "other_process",
            Self::RaiseLimit => "raise_limit",
            Self::PrivatePools => "private_pools",
            Self::OutsideAllocator => "outside_allocator",
            Self::PinningBlocks => "pinning_blocks",
            Self::ExpandableSegments => "expandable_segments",
            Self::AllocationOrder => "allocation_order",
            Self::Roundup => "roundup_power2_divisions",
            Self::EmptyCache => "empty_cache",
            Self::MaxSplitSizeMb => "max_split_size_mb",
            Self::GarbageCollectionThreshold => "garbage_collection_threshold",
        }
    }
}

/// Both lists, the first thing to try first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdviceLists {
    /// What helps.
    pub helps: Vec<Advice>,
    /// What does not, though people try it.
    pub does_not_help: Vec<Advice>,
}

/// The settings of the allocator that are recommended for out-of-memory errors.
const SETTINGS: [Advice; 4] = [
    Advice::ExpandableSegments,
    Advice::MaxSplitSizeMb,
    Advice::Roundup,
    Advice::GarbageCollectionThreshold,
];

/// The advice; where several cases are open, what is true in each of them.
pub(super) fn advice(
    figures: &Figures,
    form: Form,
    verdict: &Verdict,
    flags: &[Flag],
) -> AdviceLists {
    let mut cases = verdict.candidates.clone();
    if verdict.undecided == Some(Undecided::OtherAllocator) {
        if form == Form::Mps {
            return mps(&cases);
        }
        // Whether what is cached can be used is what the figures do not tell there.
        cases.extend([2, 3]);
    }
    let mut each = cases.iter().map(|case| match case {
        0 => never_fits(figures, flags),
        1 => not_capacity(figures),
        2 => real_need(figures),
        _ => fragmentation(figures, form),
    });
    let mut common = each.next().unwrap_or_default();
    for lists in each {
        common.helps.retain(|word| lists.helps.contains(word));
        common
            .does_not_help
            .retain(|word| lists.does_not_help.contains(word));
    }
    common
}

/// Case 0. The fraction matters only where it, and not the card, is too small.
fn never_fits(figures: &Figures, flags: &[Flag]) -> AdviceLists {
    let mut lists = AdviceLists {
        helps: vec![Advice::SmallerRequest],
        does_not_help: vec![Advice::FewerLiveTensors, Advice::OtherProcess],
    };
    let fits_card = !flags.contains(&Flag::RequestAboveCard);
    if figures.get(Field::Allowed).is_some() {
        lists.judge(Advice::RaiseLimit, fits_card);
    }
    lists.does_not_help.push(Advice::EmptyCache);
    lists.does_not_help.extend(SETTINGS);
    lists
}

/// Case 1.
fn not_capacity(figures: &Figures) -> AdviceLists {
    let mut lists = AdviceLists {
        helps: vec![Advice::OutsideAllocator, Advice::OtherProcess],
        does_not_help: vec![Advice::EmptyCache, Advice::PrivatePools],
    };
    if figures.get(Field::Allowed).is_some() {
        lists.does_not_help.push(Advice::RaiseLimit);
    }
    lists.does_not_help.extend(SETTINGS);
    lists
}

/// Case 2.
fn real_need(figures: &Figures) -> AdviceLists {
    let mut lists = AdviceLists {
        helps: vec![Advice::SmallerRequest, Advice::FewerLiveTensors],
        does_not_help: Vec::new(),
    };
    lists.elsewhere(figures);
    if let Some(cached) = figures.get(Field::PrivatePools) {
        lists.judge(
            Advice::PrivatePools,
            cached.bytes() >= lacking_bytes(figures),
        );
    }
    lists.does_not_help.push(Advice::EmptyCache);
    lists.does_not_help.extend(SETTINGS);
    lists
}

/// Case 3. `max_split_size_mb` is in neither list: it may help or hurt, and no message tells.
fn fragmentation(figures: &Figures, form: Form) -> AdviceLists {
    let mut lists = AdviceLists::default();
    // Form D names what private pools hold; before, it is hidden in the gap.
    if form != Form::D || figures.get(Field::PrivatePools).is_some() {
        lists.helps.push(Advice::PrivatePools);
    }
    lists.helps.extend([
        Advice::PinningBlocks,
        Advice::ExpandableSegments,
        Advice::AllocationOrder,
        Advice::Roundup,
        Advice::SmallerRequest,
        Advice::FewerLiveTensors,
    ]);
    lists.elsewhere(figures);
    lists.does_not_help.push(Advice::EmptyCache);
    lists.does_not_help.push(Advice::GarbageCollectionThreshold);
    lists
}

/// MPS reads none of CUDA's settings, and has given back its own cache before it fails.
fn mps(cases: &[u8]) -> AdviceLists {
    let mut lists = AdviceLists {
        helps: vec![Advice::SmallerRequest],
        does_not_help: vec![Advice::EmptyCache],
    };
    if !cases.contains(&0) {
        lists.helps.push(Advice::FewerLiveTensors);
    }
    lists.helps.push(Advice::RaiseLimit);
    lists.does_not_help.extend(SETTINGS);
    lists
}

impl AdviceLists {
    fn judge(&mut self, advice: Advice, helps: bool) {
        if helps {
            self.helps.push(advice);
        } else {
            self.does_not_help.push(advice);
        }
    }

    /// What lies outside of the allocator: other processes, where what they hold would be enough
    /// and no fraction stands before it, and the fraction itself.
    fn elsewhere(&mut self, figures: &Figures) {
        let limited = is_limited(figures);
        if limited {
            self.judge(Advice::OtherProcess, false);
        } else if let Some(others) = Others::of(figures) {
            let needed = lacking_bytes(figures);
            if i128::from(others.certain_bytes) >= needed.max(WORTH_STOPPING_BYTES) {
                self.judge(Advice::OtherProcess, true);
            } else if i128::from(others.possible_bytes) < needed {
                self.judge(Advice::OtherProcess, false);
            }
        }
        if figures.get(Field::Allowed).is_some() {
            self.judge(Advice::RaiseLimit, limited);
        }
    }
}

/// What others hold: listed processes, and what is in no figure.
struct Others {
    /// Less a context, where the figure of this process is not known.
    certain_bytes: u64,
    possible_bytes: u64,
}

impl Others {
    fn of(figures: &Figures) -> Option<Self> {
        let unaccounted = unaccounted_bytes(figures)?;
        let own = match figures.this_process() {
            Some(_) => 0,
            None => CONTEXT_BYTES,
        };
        let listed = figures.other_processes().fold(0_u64, |sum, process| {
            sum.saturating_add(process.in_use.clamped_bytes())
        });
        Some(Self {
            certain_bytes: listed.saturating_add(unaccounted.saturating_sub(own)),
            possible_bytes: listed.saturating_add(unaccounted),
        })
    }
}

/// How much is lacking even with all that is cached: asked − free − gap.
fn lacking_bytes(figures: &Figures) -> i128 {
    let bytes = |figure: Option<super::Figure>| figure.map_or(0, super::Figure::bytes);
    bytes(figures.get(Field::Tried)) - bytes(figures.get(Field::Free)) - bytes(figures.gap())
}
