use serde::{Deserialize, Serialize};

use crate::ids::{DeviceIndex, EventIndex, TextId};

/// A named moment of our own: a step of the program, with what was known about memory then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// What it says.
    pub label: String,
    /// Microseconds since the Unix epoch.
    pub time_us: i64,
    /// `torch.cuda.memory_allocated()` then, in bytes.
    pub allocated_bytes: Option<u64>,
    /// `torch.cuda.memory_reserved()` then, in bytes.
    pub reserved_bytes: Option<u64>,
    /// Bytes in use on the whole card as the driver saw it, other programs and the context
    /// included.
    pub driver_used_bytes: Option<u64>,
}

/// Which end of an annotated region an [`Annotation`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnnotationStage {
    /// The region was entered.
    Start,
    /// The region was left.
    End,
}

/// One end of a region that the program annotated (`record_function`, §13.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Its name.
    pub name: TextId,
    /// Which end.
    pub stage: AnnotationStage,
    /// Device that was current.
    pub device: DeviceIndex,
    /// Microseconds since the Unix epoch.
    pub time_us: Option<i64>,
}

/// Events are missing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Device whose events are missing.
    pub device: DeviceIndex,
    /// The gap lies before this event.
    pub before: EventIndex,
    /// How many are missing, where known.
    pub missing_events: Option<u64>,
}
