//! A recording as the dictionary that PyTorch 2.15 would dump, to make other forms from.

use std::collections::HashMap;
use std::rc::Rc;

use shared::ids::{PoolId, PoolKind, StackId};
use shared::model::{Action, AnnotationStage, Block, BlockState, Event, Segment};
use shared::store::Recording;

use crate::pickle::Py;

/// The whole snapshot, with every key.
#[must_use]
pub fn snapshot(recording: &Recording) -> Py {
    let mut stacks = Stacks {
        recording,
        frames: HashMap::new(),
        stacks: HashMap::new(),
    };
    let count = recording
        .devices
        .last()
        .map_or(0, |record| record.device.0 + 1);
    let traces: Vec<Py> = (0..count)
        .map(|device| {
            let of_device = |record: &&shared::store::DeviceRecord| record.device.0 == device;
            let record = recording.devices.iter().find(of_device);
            let events = record.into_iter().flat_map(|record| record.events.iter());
            Py::list(events.map(|(_, event)| stacks.event(&event)))
        })
        .collect();
    let segments: Vec<Py> = recording
        .devices
        .iter()
        .flat_map(|record| {
            record
                .segments
                .iter()
                .map(move |segment| (record.device, segment))
        })
        .map(|(device, segment)| stacks.segment(u64::from(device.0), segment))
        .collect();
    let settings = recording.environment.settings.iter();
    Py::dict([
        ("segments", Py::list(segments)),
        ("device_traces", Py::list(traces)),
        (
            "allocator_settings",
            Py::dict(settings.map(|(name, value)| (name.as_str(), value.as_str().into()))),
        ),
        ("external_annotations", annotations(recording)),
    ])
}

struct Stacks<'r> {
    recording: &'r Recording,
    frames: HashMap<u32, Py>,
    stacks: HashMap<StackId, Py>,
}

impl Stacks<'_> {
    /// One list for each stack, one dictionary for each frame.
    fn stack(&mut self, stack: StackId) -> Py {
        if let Some(known) = self.stacks.get(&stack) {
            return known.clone();
        }
        let texts = &self.recording.texts;
        let frames = self.recording.stack_frames(stack).map(|(id, frame)| {
            let fresh = || {
                Py::dict([
                    ("name", texts.get(frame.name).into()),
                    ("filename", texts.get(frame.file).into()),
                    ("line", u64::from(frame.line).into()),
                ])
            };
            self.frames.entry(id.0).or_insert_with(fresh).clone()
        });
        let list = Py::list(frames);
        self.stacks.insert(stack, list.clone());
        list
    }

    fn event(&mut self, event: &Event) -> Py {
        let texts = &self.recording.texts;
        let context = texts.get(event.notes.compile_context);
        let place = if event.action == Action::Oom {
            "device_free"
        } else {
            "addr"
        };
        Py::dict([
            ("action", event.action.name().into()),
            (place, event.address.into()),
            ("size", event.size_bytes.into()),
            ("stream", self.recording.stream_handle(event.stream).into()),
            ("time_us", Py::Int(event.time_us.unwrap_or(0).into())),
            (
                "compile_context",
                if context.is_empty() { "N/A" } else { context }.into(),
            ),
            ("user_metadata", texts.get(event.notes.user_metadata).into()),
            ("frames", self.stack(event.stack)),
        ])
    }

    fn segment(&mut self, device: u64, segment: &Segment) -> Py {
        let sum = |counts: &dyn Fn(&Block) -> bool| -> u64 {
            let counted = segment.blocks.iter().filter(|block| counts(block));
            counted.map(|block| block.size_bytes).sum()
        };
        let allocated = sum(&|block| block.state == BlockState::Allocated);
        let active = sum(&|block| block.state != BlockState::Cached);
        let PoolId(first, second) = segment.pool.unwrap_or_default();
        let blocks: Vec<Py> = segment
            .blocks
            .iter()
            .map(|block| self.block(block))
            .collect();
        Py::dict([
            ("device", device.into()),
            ("address", segment.address.into()),
            ("total_size", segment.size_bytes.into()),
            ("allocated_size", allocated.into()),
            ("active_size", active.into()),
            ("requested_size", active.into()),
            (
                "stream",
                self.recording.stream_handle(segment.stream).into(),
            ),
            (
                "segment_type",
                if segment.kind == PoolKind::Small {
                    "small"
                } else {
                    "large"
                }
                .into(),
            ),
            ("segment_pool_id", Py::pair(first, second)),
            ("is_expandable", Py::Bool(segment.expandable)),
            ("frames", self.stack(segment.stack)),
            ("blocks", Py::list(blocks)),
        ])
    }

    fn block(&mut self, block: &Block) -> Py {
        let state = match block.state {
            BlockState::Allocated => "active_allocated",
            BlockState::PendingFree => "active_pending_free",
            BlockState::Cached => "inactive",
        };
        Py::dict([
            ("address", block.address.into()),
            ("size", block.size_bytes.into()),
            ("requested_size", block.requested_bytes.unwrap_or(0).into()),
            ("state", state.into()),
            ("frames", self.stack(block.stack)),
        ])
    }
}

fn annotations(recording: &Recording) -> Py {
    let all = recording.annotations.iter().map(|annotation| {
        let stage = match annotation.stage {
            AnnotationStage::Start => "START",
            AnnotationStage::End => "END",
        };
        Py::dict([
            ("stage", stage.into()),
            ("name", recording.texts.get(annotation.name).into()),
            ("device", u64::from(annotation.device.0).into()),
            ("time_us", Py::Int(annotation.time_us.unwrap_or(0).into())),
        ])
    });
    Py::List(Rc::new(all.collect()))
}
