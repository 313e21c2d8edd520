//! The texts that recordings use as keys, actions and states: they are interned first, so that a
//! key is recognised by its number and never compared.

use crate::ids::TextId;
use crate::model::{Action, BlockState};
use crate::store::Texts;

macro_rules! words {
    ($($word:ident = $text:literal,)*) => {
        /// A known text; its number is its [`TextId`] in the machine's table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Word { $($word,)* }

        impl Word {
            const ALL: &'static [(Word, &'static str)] = &[$((Word::$word, $text),)*];

            /// The text itself.
            pub(super) fn text(self) -> &'static str {
                match self { $(Word::$word => $text,)* }
            }
        }
    };
}

// Keys first: their numbers are bits of a mask of 64.
words! {
    Empty = "",
    Action = "action", Addr = "addr", Size = "size", Stream = "stream", TimeUs = "time_us",
    Frames = "frames", CompileContext = "compile_context", UserMetadata = "user_metadata",
    PoolId = "pool_id", DeviceFree = "device_free", Category = "category",
    ForwardFrames = "forward_frames", InternalMetadata = "internal_metadata", Device = "device",
    Name = "name", Filename = "filename", Line = "line",
    FxNodeOp = "fx_node_op", FxNodeName = "fx_node_name", FxNodeTarget = "fx_node_target",
    FxOriginalTrace = "fx_original_trace", FxNodeInfo = "fx_node_info",
    Address = "address", TotalSize = "total_size", AllocatedSize = "allocated_size",
    ActiveSize = "active_size", RequestedSize = "requested_size", SegmentType = "segment_type",
    SegmentPoolId = "segment_pool_id", IsExpandable = "is_expandable", Blocks = "blocks",
    State = "state", History = "history", RealSize = "real_size",
    Stage = "stage", Metadata = "metadata",
    Segments = "segments", DeviceTraces = "device_traces",
    AllocatorSettings = "allocator_settings", ExternalAnnotations = "external_annotations",
    HostSegments = "host_segments", HostTraces = "host_traces",
    AllocConf = "PYTORCH_CUDA_ALLOC_CONF",
    Alloc = "alloc", FreeRequested = "free_requested", FreeCompleted = "free_completed",
    SegmentAlloc = "segment_alloc", SegmentFree = "segment_free", SegmentMap = "segment_map",
    SegmentUnmap = "segment_unmap", Snapshot = "snapshot", Oom = "oom", Annotate = "annotate",
    UserDefined = "user_defined",
    ActiveAllocated = "active_allocated", ActivePendingFree = "active_pending_free",
    ActiveAwaitingFree = "active_awaiting_free", Inactive = "inactive",
    Large = "large", Small = "small", Start = "START", End = "END", NotAvailable = "N/A",
}

/// Words from here on are no keys.
const FIRST_VALUE: u8 = Word::Alloc as u8;

impl Word {
    /// The word of that number, if it is one.
    pub(super) fn of(text: TextId) -> Option<Word> {
        Self::ALL.get(text.index()).map(|&(word, _)| word)
    }

    /// Whether the text of that number is a known key.
    #[inline]
    pub(super) fn is_key(text: TextId) -> bool {
        text.0 > 0 && text.0 < u32::from(FIRST_VALUE)
    }

    /// A table that holds exactly the words, each at its number.
    pub(super) fn table() -> Texts {
        let mut texts = Texts::default();
        for (_, text) in Self::ALL {
            texts.intern(text);
        }
        texts
    }

    /// The action that it names.
    pub(super) fn action(self) -> Option<Action> {
        Some(match self {
            Word::Alloc => Action::Alloc,
            Word::FreeRequested => Action::FreeRequested,
            Word::FreeCompleted => Action::FreeCompleted,
            Word::SegmentAlloc => Action::SegmentAlloc,
            Word::SegmentFree => Action::SegmentFree,
            Word::SegmentMap => Action::SegmentMap,
            Word::SegmentUnmap => Action::SegmentUnmap,
            Word::Snapshot => Action::Snapshot,
            Word::Oom => Action::Oom,
            Word::Annotate | Word::UserDefined => Action::Annotate,
            _ => return None,
        })
    }

    /// The state that it names. Files say `active_pending_free`, the documentation
    /// `active_awaiting_free`.
    pub(super) fn state(self) -> Option<BlockState> {
        Some(match self {
            Word::ActiveAllocated => BlockState::Allocated,
            Word::ActivePendingFree | Word::ActiveAwaitingFree => BlockState::PendingFree,
            Word::Inactive => BlockState::Cached,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_its_own_number_and_keys_fit_a_mask() {
        let mut table = Word::table();
        for (number, &(word, text)) in Word::ALL.iter().enumerate() {
            assert_eq!(word as usize, number);
            assert_eq!(table.intern(text).index(), number, "{text}");
            assert_eq!(word.text(), text);
        }
        const { assert!(FIRST_VALUE <= 64) };
        for action in Action::ALL {
            let text = table.intern(action.name());
            let named = Word::of(text).and_then(Word::action);
            assert_eq!(named, (action != Action::Unknown).then_some(action));
        }
    }
}
