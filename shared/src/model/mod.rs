//! The vocabulary of a recording: what an event, a segment and a block are, whoever recorded them.
//!
//! Read [`Event`] first. Nothing here is kept once per event: the store splits it into columns.

mod action;
mod environment;
mod event;
mod mark;
mod segment;

pub use action::Action;
pub use environment::{CardMemory, Environment, Source};
pub use event::{Event, EventNotes};
pub use mark::{Annotation, AnnotationStage, Gap, Mark};
pub use segment::{Block, BlockState, Segment};
