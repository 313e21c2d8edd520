//! Numbers that stand for things: each kind has its own type, so that one can't be taken for another.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into a table.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// Position of an event in the record of one device, from 0. Devices count separately.
    EventIndex
);
id!(
    /// A device as PyTorch numbers it (`cuda:0` is 0).
    DeviceIndex
);
id!(
    /// An interned text; 0 is the empty one.
    TextId
);
id!(
    /// An interned stack frame: name, file and line.
    FrameId
);
id!(
    /// An interned stack, innermost frame first; 0 is the empty one (none was recorded).
    StackId
);
id!(
    /// A stream of a recording: an index into its table of raw stream handles.
    StreamId
);
id!(
    /// One life of a block: an index into the table of lives of one device.
    LifeId
);

/// Identity of a memory pool as PyTorch writes it: `(0, 0)` is the default pool, `(0, k)` a
/// `MemPool`, `(k, 0)` the private pool of a CUDA graph (§3.5).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct PoolId(pub u64, pub u64);

impl PoolId {
    /// The pool of everything that asked for no other.
    pub const DEFAULT: PoolId = PoolId(0, 0);
}

/// The two pools by size that every pool consists of (§3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PoolKind {
    /// Rounded requests up to 1 MiB.
    Small,
    /// All others.
    Large,
}
