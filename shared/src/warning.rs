//! Trouble that a reader or the replay could live with: merged by kind, counted, with the first
//! place of each. Nothing is dropped without a warning that counts it.

use serde::{Deserialize, Serialize};

use crate::ids::{DeviceIndex, EventIndex};

/// Where something was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// Of the whole recording.
    Recording,
    /// Byte offset in the file (decompressed).
    Byte(u64),
    /// An event of a device.
    Event(DeviceIndex, EventIndex),
    /// An address in the final snapshot of a device.
    Address(DeviceIndex, u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Recording => f.write_str("recording"),
            Place::Byte(offset) => write!(f, "byte {offset}"),
            Place::Event(device, event) => write!(f, "device {}, event {}", device.0, event.0),
            Place::Address(device, address) => {
                write!(f, "device {}, address {address:#x}", device.0)
            }
        }
    }
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident => $name:literal, $text:literal;)*) => {
        /// What kind of trouble it was.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum WarningKind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl WarningKind {
            /// All kinds.
            pub const ALL: &'static [WarningKind] = &[$(WarningKind::$kind,)*];

            /// The stable name, for `info --json` and for translations.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(WarningKind::$kind => $name,)* }
            }

            /// The English sentence, for terminals.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(WarningKind::$kind => $text,)* }
            }
        }
    };
}

kinds! {
    /// A key that we do not know was passed over.
    UnknownKey => "unknown_key", "unknown keys were ignored";
    /// An action of an unknown name.
    UnknownAction => "unknown_action", "events with an unknown action are kept but change nothing";
    /// A block without an address: it follows the one before it.
    DerivedAddress => "derived_address", "blocks carry no address; it was taken from the block before";
    /// No event was recorded.
    NoEvents => "no_events", "no events: recording was never switched on, so there is only the final state";
    /// Neither events nor segments.
    Empty => "empty", "nothing is in it: no events and no segments";
    /// Events carry no time.
    NoTimes => "no_times", "events carry no time, so the axis counts events";
    /// Blocks that were alive before the record began.
    AliveBefore => "alive_before_recording", "blocks were allocated before the recording began; the state was walked back to it";
    /// The file ends early.
    Truncated => "truncated", "the file ends early; what came before is shown";
    /// A damaged frame was passed over.
    DamagedFrame => "damaged_frame", "damaged frames were passed over; their events are missing";
    /// Events are missing from the record.
    MissingEvents => "missing_events", "events are missing from the record";
    /// Addresses that are no multiples of 512.
    UnalignedAddress => "unaligned_address", "addresses are no multiples of 512: they cannot come from this allocator";
    /// A block where there was no segment.
    OutsideSegments => "outside_segments", "blocks lie outside every known segment";
    /// Two live blocks share bytes.
    Overlap => "overlap", "blocks overlap";
    /// A free of something that was not allocated.
    UnmatchedFree => "unmatched_free", "frees name no allocated block";
    /// A segment event that does not fit what was there.
    UnmatchedSegment => "unmatched_segment", "segments were released or mapped that do not fit the state";
    /// Block sizes and segment size differ.
    SegmentSum => "segment_sum", "block sizes do not add up to their segment";
    /// The sums that the file states differ from those of its blocks.
    StatedSum => "stated_sum", "sums stated by the file differ from those of its blocks";
    /// The walk from the start state did not meet the final segments.
    FinalMismatch => "final_mismatch", "replaying the events does not lead to the recorded final state";
    /// Ranges whose size had to be inferred and did not follow from the rules.
    InferredSize => "inferred_size", "block sizes were inferred from their neighbours, not from the settings";
    /// Pinned host memory was recorded too.
    HostMemory => "host_memory", "entries about pinned host memory were passed over; only the card's memory is shown";
    /// A text was longer than what is kept.
    LongText => "long_text", "texts were cut because they are very long";
}

/// One kind of trouble: how often, and where first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What kind.
    pub kind: WarningKind,
    /// How often it was met.
    pub count: u64,
    /// Where it was met first.
    pub first_at: Place,
}

/// The trouble of one recording, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warnings {
    list: Vec<Warning>,
}

impl Warnings {
    /// Counts one more of `kind`.
    pub fn add(&mut self, kind: WarningKind, place: Place) {
        self.add_many(kind, place, 1);
    }

    /// Counts `count` more of `kind`; nothing when `count` is 0.
    pub fn add_many(&mut self, kind: WarningKind, place: Place, count: u64) {
        if count == 0 {
            return;
        }
        if let Some(warning) = self.list.iter_mut().find(|warning| warning.kind == kind) {
            warning.count += count;
        } else {
            self.list.push(Warning {
                kind,
                count,
                first_at: place,
            });
        }
    }

    /// Takes over what another reporter met.
    pub fn merge(&mut self, other: &Warnings) {
        for warning in &other.list {
            self.add_many(warning.kind, warning.first_at, warning.count);
        }
    }

    /// All kinds met, in the order in which they were met first.
    pub fn iter(&self) -> impl Iterator<Item = &Warning> {
        self.list.iter()
    }

    /// How often `kind` was met.
    #[must_use]
    pub fn count(&self, kind: WarningKind) -> u64 {
        self.iter()
            .find(|warning| warning.kind == kind)
            .map_or(0, |warning| warning.count)
    }

    /// Whether nothing was met.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
