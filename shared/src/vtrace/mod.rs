//! The `.vtrace` format itself: what reader and writer have in common. `docs/format.md` describes
//! it for others.

pub(crate) mod fields;
pub(crate) mod frame;

/// The first bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"\x8avtrace\n";
/// Readers refuse a higher one.
pub(crate) const MAJOR: u16 = 1;
/// Readers ignore what they do not know of a higher one.
pub(crate) const MINOR: u16 = 0;
/// Magic, major, minor, and four bytes that are zero.
pub(crate) const HEADER_BYTES: usize = 16;

macro_rules! numbers {
    ($type:ty: $($(#[doc = $doc:literal])* $name:ident = $number:literal,)*) => {
        $($(#[doc = $doc])* pub(crate) const $name: $type = $number;)*
    };
}

/// What a frame holds.
pub(crate) mod kind {
    numbers! { u8:
        ENVIRONMENT = 1, TEXTS = 2, FRAMES = 3, STACKS = 4, STREAMS = 5, EVENTS = 6,
        SEGMENTS = 7, ANNOTATIONS = 8, MARKS = 9, GAPS = 10, EXTRA = 11, WARNINGS = 12, END = 13,
    }
}

/// How the payload of a frame is stored.
pub(crate) mod codec {
    numbers! { u8: NONE = 0, ZSTD = 1, }
}

/// Fields of the environment.
pub(crate) mod environment {
    numbers! { u32:
        SOURCE = 1, TORCH_VERSION = 2, SETTINGS_TEXT = 3, SETTING = 4,
        TOTAL_BYTES = 5, LIMIT_BYTES = 6, BASE_FREE_BYTES = 7,
    }
    /// Fields of one setting.
    pub(crate) mod setting {
        numbers! { u32: NAME = 1, VALUE = 2, }
    }
}

/// Fields of the tables: texts, frames, stacks, streams.
pub(crate) mod table {
    numbers! { u32:
        /// Number of the first entry in the frame.
        FIRST = 1,
        LENGTHS = 2, BYTES = 3,
        NAMES = 2, FILES = 3, LINES = 4,
        FRAMES = 2, CALLERS = 3,
        HANDLES = 2,
    }
}

/// Fields of a batch of events.
pub(crate) mod events {
    numbers! { u32:
        DEVICE = 1, FIRST = 2, ACTIONS = 3, ADDRESS_UNIT = 4, ADDRESSES = 5, SIZES = 6,
        STREAMS = 7, TIMES = 8, TIMELESS = 9, STACKS = 10, POOLS = 11, POOL_IDS = 12, NOTES = 13,
    }
}

/// Fields of a part of the final snapshot of a device.
pub(crate) mod segments {
    numbers! { u32:
        DEVICE = 1, PART = 2, ADDRESSES = 3, SIZES = 4, STREAMS = 5, FLAGS = 6, POOL_IDS = 7,
        STATED_ALLOCATED = 8, STATED_ACTIVE = 9, STACKS = 10, BLOCK_COUNTS = 11, BLOCK_GAPS = 12,
        BLOCK_SIZES = 13, BLOCK_FLAGS = 14, BLOCK_REQUESTED = 15, BLOCK_STACKS = 16,
    }
    numbers! { u8:
        IS_LARGE = 1, IS_EXPANDABLE = 2, HAS_POOL = 4, HAS_ALLOCATED = 8, HAS_ACTIVE = 16,
        /// Of a block: the lower two bits are its state.
        STATE = 3, HAS_REQUESTED = 4,
    }
}

/// Fields of annotations.
pub(crate) mod annotations {
    numbers! { u32: NAMES = 1, FLAGS = 2, DEVICES = 3, TIMES = 4, }
    numbers! { u8: IS_END = 1, HAS_TIME = 2, }
}

/// Fields of marks, gaps and warnings: a list of items.
pub(crate) mod items {
    numbers! { u32: ITEM = 1, }
    /// Fields of a mark.
    pub(crate) mod mark {
        numbers! { u32: LABEL = 1, TIME = 2, ALLOCATED = 3, RESERVED = 4, DRIVER_USED = 5, }
    }
    /// Fields of a gap.
    pub(crate) mod gap {
        numbers! { u32: DEVICE = 1, BEFORE = 2, MISSING = 3, }
    }
    /// Fields of a warning.
    pub(crate) mod warning {
        numbers! { u32: KIND = 1, COUNT = 2, PLACE = 3, DEVICE = 4, AT = 5, }
    }
}

/// Fields of the free part.
pub(crate) mod extra {
    numbers! { u32: JSON = 1, }
}

/// Fields of the end.
pub(crate) mod end {
    numbers! { u32: FRAMES = 1, }
}
