use crate::ids::{DeviceIndex, FrameId, StackId, StreamId};
use crate::model::{Annotation, Environment, Gap, Mark, Segment};
use crate::settings::Settings;
use crate::store::{EventColumns, Frame, Frames, Stacks, Texts};
use crate::warning::Warnings;

/// A recording as it was read: immutable, except that a live one grows at its end.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// What it was made with.
    pub environment: Environment,
    /// All texts.
    pub texts: Texts,
    /// All frames.
    pub frames: Frames,
    /// All stacks.
    pub stacks: Stacks,
    /// Raw handle of each stream, by [`StreamId`].
    pub streams: Vec<u64>,
    /// The devices that have events or segments, in the order of their index.
    pub devices: Vec<DeviceRecord>,
    /// Regions that the program annotated, in the order of the file.
    pub annotations: Vec<Annotation>,
    /// Our own marks, in the order of time.
    pub marks: Vec<Mark>,
    /// Where events are missing.
    pub gaps: Vec<Gap>,
    /// A JSON object of whatever came with the recording (figures of the run, messages); empty
    /// where nothing did.
    pub extra_json: String,
    /// What the reader had to live with.
    pub warnings: Warnings,
}

/// The record of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceRecord {
    /// Which device.
    pub device: DeviceIndex,
    /// Its events in order.
    pub events: EventColumns,
    /// Its segments in the final snapshot, in the order of their addresses.
    pub segments: Vec<Segment>,
}

impl Recording {
    /// The record of a device.
    #[must_use]
    pub fn device(&self, device: DeviceIndex) -> Option<&DeviceRecord> {
        self.devices.iter().find(|record| record.device == device)
    }

    /// The settings it was made under; defaults where it does not say, or says what cannot be
    /// read.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let text = self
            .environment
            .settings_text
            .as_deref()
            .unwrap_or_default();
        Settings::parse(text).unwrap_or_default()
    }

    /// The raw handle of a stream; 0, the default stream, for numbers never given.
    #[must_use]
    pub fn stream_handle(&self, stream: StreamId) -> u64 {
        self.streams.get(stream.index()).copied().unwrap_or(0)
    }

    /// The frames of a stack, innermost first.
    pub fn stack_frames(&self, stack: StackId) -> impl Iterator<Item = (FrameId, Frame)> + '_ {
        self.stacks
            .frames(stack)
            .filter_map(|id| Some((id, self.frames.get(id)?)))
    }

    /// Bytes of memory held by events, tables and segments.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let devices: usize = self
            .devices
            .iter()
            .map(|record| {
                let blocks: usize = record
                    .segments
                    .iter()
                    .map(|segment| size_of::<Segment>() + size_of_val(segment.blocks.as_slice()))
                    .sum();
                record.events.memory_bytes() + blocks
            })
            .sum();
        devices
            + self.texts.memory_bytes()
            + self.frames.memory_bytes()
            + self.stacks.memory_bytes()
            + size_of_val(self.annotations.as_slice())
    }
}
