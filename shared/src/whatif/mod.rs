//! What if: the requests of a recording, run again under other settings, on another card, with
//! other calls of `empty_cache()`.
//!
//! Exact are the allocator's decisions. Assumed are the addresses of new segments (they ascend),
//! the costs of driver calls (an H200's), and that the program would have asked for the same.
//! Start with [`Question`], which runs in slices and answers with a [`Table`].

mod bounds;
mod curve;
mod requests;
mod run;
mod search;
mod table;
mod variants;

pub use bounds::{Bounds, Card, Knowledge};
pub use curve::{Curve, Stretch};
pub use requests::Requests;
pub use run::{Figures, Run};
pub use search::{Advice, Gain};
pub use table::{Closeness, Question, Row, StartedWith, Table, Trouble};
pub use variants::{EmptyCaches, Variant};
