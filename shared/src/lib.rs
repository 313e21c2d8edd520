//! vramscope's core: the event model, the readers of recordings, the caching allocator itself and
//! the replay of its state, behind view queries.
//!
//! Pure: no files, sockets, clocks, threads or pixels. The page's worker, the command line and the
//! agent feed it bytes and show what it answers. `ARCHITECTURE.md` has the layers.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod allocator;
pub mod analysis;
pub mod ids;
pub mod limits;
pub mod model;
pub mod query;
pub mod read;
pub mod recorded;
pub mod replay;
#[cfg(feature = "script")]
pub mod script;
pub mod settings;
pub mod store;
pub mod units;
pub mod verify;
pub(crate) mod vtrace;
pub mod warning;
pub mod whatif;
pub mod write;
