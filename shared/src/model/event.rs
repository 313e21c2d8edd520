use crate::ids::{PoolId, StackId, StreamId, TextId};
use crate::model::Action;

/// One entry of a device's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// Address of the block, segment or page range; for [`Action::Oom`] the free bytes that the
    /// driver reported.
    pub address: u64,
    /// Bytes; which ones depends on the action.
    pub size_bytes: u64,
    /// Stream that it belongs to.
    pub stream: StreamId,
    /// Microseconds since the Unix epoch, where the recording says.
    pub time_us: Option<i64>,
    /// Who asked, innermost frame first; the empty stack where none was recorded.
    pub stack: StackId,
    /// Pool, where the event names it (newer than 2.11).
    pub pool: Option<PoolId>,
    /// Texts that few events carry.
    pub notes: EventNotes,
}

/// Texts that an event may carry; most carry none, so they are stored apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventNotes {
    /// The compiled region it happened in; empty where none ("N/A" in recordings).
    pub compile_context: TextId,
    /// The text that the program had set for its thread.
    pub user_metadata: TextId,
    /// The profiler's category, where recorded.
    pub category: TextId,
    /// The name in the recording of an [`Action::Unknown`].
    pub unknown_action: TextId,
}

impl EventNotes {
    /// Whether there is nothing to store.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
