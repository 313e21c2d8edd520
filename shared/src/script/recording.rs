//! A run as a recording: its events with the lines that caused them, and the segments at its end.

use std::rc::Rc;

use super::playground::Playground;
use crate::allocator::SegmentReport;
use crate::ids::{DeviceIndex, FrameId, StackId};
use crate::model::{Block, CardMemory, Environment, Event, EventNotes, Segment, Source};
use crate::store::{Recording, RecordingBuilder};

const DEVICE: DeviceIndex = DeviceIndex(0);

/// File name of the script in stacks.
const FILE: &str = "playground.py";

impl Playground {
    /// What has happened so far, as a recording that opens in every view.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut builder = RecordingBuilder::new();
        *builder.environment() = Environment {
            source: Source::Vramscope,
            settings_text: Some(self.settings()),
            card: CardMemory {
                total_bytes: Some(self.capacity_bytes()),
                limit_bytes: self.limit_bytes(),
                base_free_bytes: Some(self.capacity_bytes()),
            },
            ..Environment::default()
        };
        let stacks = self.stacks(&mut builder);
        for placed in self.events(0) {
            let stack = stacks.get(placed.place as usize).copied();
            let stream = builder.stream(placed.event.stream.0);
            let event = Event {
                action: placed.event.action,
                address: placed.event.address,
                size_bytes: placed.event.size_bytes,
                stream,
                time_us: None,
                stack: stack.unwrap_or_default(),
                pool: None,
                notes: EventNotes::default(),
            };
            builder.event(DEVICE, &event);
        }
        for report in self.segments() {
            let segment = segment(&mut builder, report);
            builder.segment(DEVICE, segment);
        }
        builder.finish()
    }

    /// The stack of each place.
    fn stacks(&self, builder: &mut RecordingBuilder) -> Vec<StackId> {
        let file = builder.text(FILE);
        let mut stacks = Vec::new();
        for calls in &self.machine.places {
            let frames: Vec<FrameId> = calls
                .iter()
                .rev()
                .map(|(function, line): &(Rc<str>, u32)| {
                    let name = builder.text(function);
                    builder.frame(name, file, *line)
                })
                .collect();
            stacks.push(builder.stack(&frames));
        }
        stacks
    }

    fn limit_bytes(&self) -> Option<u64> {
        let fraction = self.machine.fraction;
        (fraction < 1.0).then(|| (fraction * self.capacity_bytes() as f64) as u64)
    }
}

fn segment(builder: &mut RecordingBuilder, report: SegmentReport) -> Segment {
    let block = |block: &crate::allocator::BlockReport| Block {
        address: block.address,
        size_bytes: block.size_bytes,
        requested_bytes: Some(block.requested_bytes),
        state: block.state,
        stack: StackId::default(),
    };
    Segment {
        address: report.address,
        size_bytes: report.total_bytes(),
        stream: builder.stream(report.stream.0),
        kind: report.kind,
        pool: Some(report.pool),
        expandable: report.expandable,
        stack: StackId::default(),
        stated_allocated_bytes: None,
        stated_active_bytes: None,
        blocks: report.blocks.iter().map(block).collect(),
    }
}
