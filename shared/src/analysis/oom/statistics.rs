//! `memory_summary()` tables and `memory_stats()` dictionaries in a text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::advice::{Advice, AdviceLists};
use super::figure::Figure;
use super::words::Words;

/// One table or dictionary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Which of the two.
    pub kind: StatisticsKind,
    /// Index of the card, which only the table names.
    pub device: Option<u32>,
    /// Bytes; of a table rounded down to its unit.
    pub figures: BTreeMap<Statistic, Figure>,
    /// How often an allocation failed.
    pub ooms: Option<u64>,
    /// How often the allocator gave back its cache and tried again, in vain or not.
    pub retries: Option<u64>,
}

/// Where statistics come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatisticsKind {
    /// A `memory_summary()` table (§14.3).
    MemorySummary,
    /// A `memory_stats()` dictionary (§14.1).
    MemoryStats,
}

/// The figures that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// In live blocks.
    Allocated,
    /// The most there ever was.
    AllocatedPeak,
    /// In live blocks and in blocks that another stream still uses.
    Active,
    /// What the program asked for, before rounding.
    Requested,
    /// Held from the driver.
    Reserved,
    /// The most there ever was.
    ReservedPeak,
    /// Cached in segments that a live block pins: not releasable.
    InactiveSplit,
}

impl Statistic {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::Allocated,
        Self::AllocatedPeak,
        Self::Active,
        Self::Requested,
        Self::Reserved,
        Self::ReservedPeak,
        Self::InactiveSplit,
    ];
}

impl Statistics {
    /// What the statistics alone can say: each failed allocation and each retry has given back
    /// everything releasable (§4.6), so doing it by hand does not help.
    #[must_use]
    pub fn advice(&self) -> AdviceLists {
        let flushed = [self.ooms, self.retries]
            .into_iter()
            .any(|count| count.is_some_and(|count| count > 0));
        AdviceLists {
            helps: Vec::new(),
            does_not_help: flushed.then_some(Advice::EmptyCache).into_iter().collect(),
        }
    }

    /// The figure, where it was found.
    #[must_use]
    pub fn get(&self, statistic: Statistic) -> Option<Figure> {
        self.figures.get(&statistic).copied()
    }

    /// The most that `empty_cache()` could give back: reserved − active − inactive split. Of
    /// expandable segments and private pools it may be less.
    #[must_use]
    pub fn releasable(&self) -> Option<Figure> {
        let active = self
            .get(Statistic::Active)
            .or_else(|| self.get(Statistic::Allocated))?;
        let pinned = self.get(Statistic::InactiveSplit)?;
        Some(self.get(Statistic::Reserved)?.minus(active).minus(pinned))
    }
}

/// Rows of the table; their first two cells are the current and the peak value.
const ROWS: [(&[&str], Statistic, Option<Statistic>); 5] = [
    (
        &["Allocated", "memory"],
        Statistic::Allocated,
        Some(Statistic::AllocatedPeak),
    ),
    (&["Active", "memory"], Statistic::Active, None),
    (&["Requested", "memory"], Statistic::Requested, None),
    (
        &["GPU", "reserved", "memory"],
        Statistic::Reserved,
        Some(Statistic::ReservedPeak),
    ),
    (
        &["Non", "releasable", "memory"],
        Statistic::InactiveSplit,
        None,
    ),
];

/// Keys of the dictionary.
const KEYS: [(&str, Statistic); 7] = [
    ("allocated_bytes.all.current", Statistic::Allocated),
    ("allocated_bytes.all.peak", Statistic::AllocatedPeak),
    ("active_bytes.all.current", Statistic::Active),
    ("requested_bytes.all.current", Statistic::Requested),
    ("reserved_bytes.all.current", Statistic::Reserved),
    ("reserved_bytes.all.peak", Statistic::ReservedPeak),
    ("inactive_split_bytes.all.current", Statistic::InactiveSplit),
];

/// All tables and dictionaries of the text.
pub(super) fn find(text: &str) -> Vec<Statistics> {
    let mut found: Vec<Statistics> = Vec::new();
    let mut words = Words::of(text);
    while let Some(word) = words.next() {
        if word == "memory" && words.starts_with(&["summary", "device", "ID"]) {
            let mut statistics = empty(StatisticsKind::MemorySummary);
            // "0", or "cuda:0".
            statistics.device = words
                .clone()
                .skip(3)
                .take(2)
                .find_map(|word| word.parse().ok());
            found.push(statistics);
        } else if word.contains('.') || word.starts_with("num_") {
            key(word, &words, &mut found);
        } else if let Some(table) = found
            .last_mut()
            .filter(|statistics| statistics.kind == StatisticsKind::MemorySummary)
        {
            row(word, &words, table);
        }
    }
    found.retain(|statistics| !statistics.figures.is_empty());
    found
}

fn empty(kind: StatisticsKind) -> Statistics {
    Statistics {
        kind,
        device: None,
        figures: BTreeMap::new(),
        ooms: None,
        retries: None,
    }
}

/// A word of a table: a count in its head, or the first word of a row.
fn row(word: &str, rest: &Words<'_>, table: &mut Statistics) {
    let count = || rest.clone().nth(1)?.parse().ok();
    if word == "CUDA" && rest.starts_with(&["OOMs"]) {
        table.ooms = table.ooms.or_else(count);
    } else if word == "cudaMalloc" && rest.starts_with(&["retries"]) {
        table.retries = table.retries.or_else(count);
    }
    for (names, current, peak) in ROWS {
        let Some((first, others)) = names.split_first() else {
            continue;
        };
        if word != *first || !rest.starts_with(others) || table.figures.contains_key(&current) {
            continue;
        }
        let mut cells = rest.clone().skip_words(others.len());
        let mut cell = || {
            let number = cells.next()?;
            Figure::read(number, &mut cells).map(Figure::rounded_down)
        };
        let values = [(Some(current), cell()), (peak, cell())];
        table.figures.extend(
            values
                .into_iter()
                .filter_map(|(name, value)| name.zip(value)),
        );
    }
}

/// A key of a dictionary and its number; a key that is there already begins the next one.
fn key(word: &str, rest: &Words<'_>, found: &mut Vec<Statistics>) {
    let Some(number) = rest
        .clone()
        .next()
        .and_then(|word| word.parse::<u64>().ok())
    else {
        return;
    };
    let statistic = KEYS.iter().find(|(key, _)| *key == word);
    if statistic.is_none() && !matches!(word, "num_ooms" | "num_alloc_retries") {
        return;
    }
    let seen = |last: &Statistics| {
        last.kind != StatisticsKind::MemoryStats
            || match statistic {
                Some((_, statistic)) => last.figures.contains_key(statistic),
                None if word == "num_ooms" => last.ooms.is_some(),
                None => last.retries.is_some(),
            }
    };
    if found.last().is_none_or(seen) {
        found.push(empty(StatisticsKind::MemoryStats));
    }
    let Some(last) = found.last_mut() else { return };
    match statistic {
        Some(&(_, statistic)) => {
            last.figures.insert(statistic, Figure::exact(number));
        }
        None if word == "num_ooms" => last.ooms = Some(number),
        None => last.retries = Some(number),
    }
}
