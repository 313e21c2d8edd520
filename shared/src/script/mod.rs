//! The playground: a part of real Python and PyTorch, run on the allocator without a GPU.
//!
//! Scripts are parsed as Python, lowered to instructions close to CPython's and run by a machine
//! that counts references as CPython does, so that a tensor's memory goes back at the same point.
//! Tensors have shapes and memory, but no values. Read [`Playground`] first;
//! `docs/playground.md` says what the part is.

mod builtins;
mod code;
mod dict;
mod error;
mod heap;
mod int;
mod iterator;
mod limits;
mod lower;
mod machine;
mod native;
mod playground;
mod recording;
mod source;
mod text;
mod torch;
mod value;

pub use error::{Exhausted, Position, ScriptError, ScriptErrorKind};
pub use limits::Limits;
pub use playground::{Call, Options, Placed, Playground, Step};
