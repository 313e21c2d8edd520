//! The event store: one recording in columns of numbers and interned ids.
//!
//! Read [`Recording`] first. [`RecordingBuilder`] is the only way in: readers and live streams
//! append there.

mod builder;
mod columns;
mod recording;
mod stacks;
mod texts;

pub use builder::RecordingBuilder;
pub use columns::{Column, EventColumns, WalkedEvent};
pub use recording::{DeviceRecord, Recording};
pub use stacks::{Frame, Frames, Stacks};
pub use texts::Texts;
