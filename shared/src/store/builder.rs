use rustc_hash::FxHashMap;

use crate::ids::{DeviceIndex, EventIndex, FrameId, StackId, StreamId, TextId};
use crate::model::{Action, Annotation, Environment, Event, Gap, Mark, Segment};
use crate::store::{DeviceRecord, Frame, Recording};
use crate::warning::{Place, WarningKind, Warnings};

/// Puts a recording together, in whatever order its parts come.
#[derive(Debug, Default)]
pub struct RecordingBuilder {
    recording: Recording,
    streams: FxHashMap<u64, StreamId>,
}

impl RecordingBuilder {
    /// An empty recording.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Interns a text.
    pub fn text(&mut self, text: &str) -> TextId {
        self.recording.texts.intern(text)
    }

    /// Interns a frame; line 0 is an unknown one.
    pub fn frame(&mut self, name: TextId, file: TextId, line: u32) -> FrameId {
        self.recording.frames.intern(Frame { name, file, line })
    }

    /// Interns a stack, innermost frame first.
    pub fn stack(&mut self, frames: &[FrameId]) -> StackId {
        self.recording.stacks.intern(frames)
    }

    /// Interns a stack from its innermost frame and its caller's stack.
    pub fn stack_above(&mut self, frame: FrameId, caller: StackId) -> StackId {
        self.recording.stacks.push(frame, caller)
    }

    /// Interns a stream by its raw handle.
    pub fn stream(&mut self, handle: u64) -> StreamId {
        let streams = &mut self.recording.streams;
        *self.streams.entry(handle).or_insert_with(|| {
            streams.push(handle);
            StreamId(u32::try_from(streams.len() - 1).unwrap_or(u32::MAX))
        })
    }

    /// Appends an event to the record of a device.
    pub fn event(&mut self, device: DeviceIndex, event: &Event) {
        let events = &mut self.device(device).events;
        let index = EventIndex(u32::try_from(events.len()).unwrap_or(u32::MAX));
        if !events.push(event) {
            self.warnings()
                .add(WarningKind::MissingEvents, Place::Event(device, index));
        } else if event.action == Action::Unknown {
            self.warnings()
                .add(WarningKind::UnknownAction, Place::Event(device, index));
        }
    }

    /// Adds a segment of the final snapshot of a device.
    pub fn segment(&mut self, device: DeviceIndex, segment: Segment) {
        self.device(device).segments.push(segment);
    }

    /// Adds one end of an annotated region.
    pub fn annotation(&mut self, annotation: Annotation) {
        self.recording.annotations.push(annotation);
    }

    /// Adds a mark.
    pub fn mark(&mut self, mark: Mark) {
        self.recording.marks.push(mark);
    }

    /// Notes that events are missing.
    pub fn gap(&mut self, gap: Gap) {
        self.warnings().add_many(
            WarningKind::MissingEvents,
            Place::Event(gap.device, gap.before),
            gap.missing_events.unwrap_or(1),
        );
        self.recording.gaps.push(gap);
    }

    /// What it was made with; filled in by the reader.
    pub fn environment(&mut self) -> &mut Environment {
        &mut self.recording.environment
    }

    /// Keeps a JSON object that came with the recording.
    pub fn set_extra_json(&mut self, json: String) {
        self.recording.extra_json = json;
    }

    /// What the reader has to report.
    pub fn warnings(&mut self) -> &mut Warnings {
        &mut self.recording.warnings
    }

    /// The recording so far.
    #[must_use]
    pub fn so_far(&self) -> &Recording {
        &self.recording
    }

    /// Ensures that a device is listed although it has neither events nor segments yet.
    pub fn device(&mut self, device: DeviceIndex) -> &mut DeviceRecord {
        let devices = &mut self.recording.devices;
        let at = match devices.binary_search_by_key(&device, |record| record.device) {
            Ok(at) => at,
            Err(at) => {
                devices.insert(
                    at,
                    DeviceRecord {
                        device,
                        ..DeviceRecord::default()
                    },
                );
                at
            }
        };
        &mut devices[at]
    }

    /// Finishes: orders segments, blocks and marks, and drops devices that hold nothing.
    #[must_use]
    pub fn finish(mut self) -> Recording {
        let recording = &mut self.recording;
        recording
            .devices
            .retain(|record| !record.events.is_empty() || !record.segments.is_empty());
        for record in &mut recording.devices {
            record.segments.sort_by_key(|segment| segment.address);
            for segment in &mut record.segments {
                segment.blocks.sort_by_key(|block| block.address);
            }
        }
        recording.marks.sort_by_key(|mark| mark.time_us);
        note_what_is_missing(recording);
        self.recording
    }
}

fn note_what_is_missing(recording: &mut Recording) {
    let events: usize = recording
        .devices
        .iter()
        .map(|record| record.events.len())
        .sum();
    let warning = if recording.devices.is_empty() {
        Some(WarningKind::Empty)
    } else if events == 0 {
        Some(WarningKind::NoEvents)
    } else {
        let timeless = |record: &DeviceRecord| {
            let last = record.events.len().checked_sub(1);
            last.is_some_and(|last| {
                let last = EventIndex(u32::try_from(last).unwrap_or(u32::MAX));
                record.events.time_us(last).is_none()
            })
        };
        recording
            .devices
            .iter()
            .any(timeless)
            .then_some(WarningKind::NoTimes)
    };
    if let Some(kind) = warning {
        recording.warnings.add(kind, Place::Recording);
    }
}
