//! Settings worth trying, and which of them helps.

use serde::{Deserialize, Serialize};

use crate::ids::EventIndex;
use crate::whatif::bounds::Card;
use crate::whatif::run::Figures;
use crate::whatif::table::{Row, rank};

/// A saving smaller than this share of the peak is not worth other settings.
const WORTH_A_SHARE: u64 = 50;

/// The settings that people are told to try, and their combinations that make sense. Garbage
/// collection does nothing without a memory limit (§4.5), so it is tried where there is one.
pub(super) fn grid(card: Card) -> Vec<String> {
    let mut confs = vec![String::new(), "expandable_segments:True".to_owned()];
    for divisions in [4, 8] {
        confs.push(format!("roundup_power2_divisions:{divisions}"));
        confs.push(format!(
            "expandable_segments:True,roundup_power2_divisions:{divisions}"
        ));
    }
    for split_mb in [32, 64, 128, 256, 512] {
        confs.push(format!("max_split_size_mb:{split_mb}"));
        if card.limit_bytes.is_some() && split_mb >= 128 {
            confs.push(format!(
                "max_split_size_mb:{split_mb},garbage_collection_threshold:0.8"
            ));
        }
    }
    confs.push("max_split_size_mb:256,roundup_power2_divisions:8".to_owned());
    if card.limit_bytes.is_some() {
        for threshold in ["0.6", "0.8"] {
            confs.push(format!("garbage_collection_threshold:{threshold}"));
        }
    }
    confs
}

/// What a search came to, for one sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Advice {
    /// The recorded run fails, this one does not.
    Saves(Gain),
    /// Both fail, this one later or less often.
    Delays(Gain),
    /// Neither fails; this one holds less.
    Lowers(Gain),
    /// Nothing tried is better by more than a fiftieth.
    KeepsBest,
}

/// The better settings beside the recorded ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Text of the better settings.
    pub conf: String,
    /// Under the recorded settings.
    pub before: Figures,
    /// Under the better ones.
    pub after: Figures,
}

/// The best of the rows that ran on the same card as `before`, against it.
pub(super) fn advise(before: &Row, rows: &[Row]) -> Option<Advice> {
    let rows = rows.iter().filter(|row| row.card == before.card);
    let before = before.outcome.as_ref().ok().copied()?;
    let (row, after) = rows
        .filter_map(|row| Some((row, row.outcome.as_ref().ok().copied()?)))
        .min_by_key(|(row, figures)| (delay_rank(figures), rank(&row.outcome)))?;
    let gain = |row: &Row| Gain {
        conf: row.conf.clone(),
        before,
        after,
    };
    let worth = before.peak_reserved_bytes / WORTH_A_SHARE;
    Some(if before.ooms > 0 && after.ooms == 0 {
        Advice::Saves(gain(row))
    } else if delay_rank(&after) < delay_rank(&before) {
        Advice::Delays(gain(row))
    } else if before.ooms == 0
        && after.peak_reserved_bytes.saturating_add(worth) < before.peak_reserved_bytes
    {
        Advice::Lowers(gain(row))
    } else {
        Advice::KeepsBest
    })
}

/// No failure first, then the later the first failure the better, then the fewer.
fn delay_rank(figures: &Figures) -> (bool, std::cmp::Reverse<Option<EventIndex>>, u64) {
    (
        figures.ooms > 0,
        std::cmp::Reverse(figures.first_oom_event),
        figures.ooms,
    )
}
