//! What an operation does, as the trace records it (§12), and where it is reported to.

use serde::{Deserialize, Serialize};

use super::{Stream, decision::Step};
use crate::{ids::DeviceIndex, model::Action};

/// One event of a device's trace (§12.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// Device it belongs to.
    pub device: DeviceIndex,
    /// What happened.
    pub action: Action,
    /// Address of the block, segment or page range; for [`Action::Oom`] the driver's free bytes.
    pub address: u64,
    /// Bytes: as asked for (`alloc`, `free_*`), real (`segment_*`) or rounded (`oom`) (T13).
    pub size_bytes: u64,
    /// Stream of the block or of the request.
    pub stream: Stream,
}

/// Where operations report to. `()` drops everything and costs nothing, `Vec<TraceEvent>` keeps
/// the events, [`Decision`](super::Decision) keeps the reasons as well.
pub trait Sink {
    /// Whether steps are wanted. Where they are not, none is built.
    const EXPLAINS: bool = false;

    /// Takes an event, in the order of the trace.
    fn event(&mut self, event: TraceEvent);

    /// Takes a reason, in the order in which the allocator proceeds.
    fn step(&mut self, _step: Step) {}
}

impl Sink for () {
    #[inline]
    fn event(&mut self, _event: TraceEvent) {}
}

impl Sink for Vec<TraceEvent> {
    #[inline]
    fn event(&mut self, event: TraceEvent) {
        self.push(event);
    }
}
