//! Out-of-memory messages: the figures in them, which of four cases they are, what helps.
//!
//! Needs no recording. [`explain`] reads any text: a traceback, a log of several ranks, a
//! `memory_summary()` table, a `memory_stats()` dictionary. Everything it returns is plain data;
//! the command line and the page word it. Start at [`Message`] and [`Verdict`].
//!
//! The rule rests on when the figures are taken (§4.6, §4.10): after the allocator has given back
//! every releasable cached segment and tried again. What is still cached then cannot be released.

mod advice;
mod card;
mod figure;
mod flag;
mod label;
mod message;
mod statistics;
mod verdict;
mod words;

pub use advice::{Advice, AdviceLists};
pub use card::{Card, Part, PartKind};
pub use figure::Figure;
pub use flag::Flag;
pub use label::Field;
pub use message::{Device, Figures, Form, Message, Process};
pub use statistics::{Statistic, Statistics, StatisticsKind};
pub use verdict::{Undecided, Verdict};

use serde::{Deserialize, Serialize};

/// What was found in a text, in the order in which it stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The out-of-memory messages.
    pub messages: Vec<Message>,
    /// The `memory_summary()` tables and `memory_stats()` dictionaries.
    pub statistics: Vec<Statistics>,
}

/// Finds and explains every out-of-memory message and every table of statistics in a text.
#[must_use]
pub fn explain(text: &str) -> Explanation {
    Explanation {
        messages: message::find(text),
        statistics: statistics::find(text),
    }
}
