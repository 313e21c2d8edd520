//! Recordings that nobody made, with every value that a field can have.

use shared::ids::{DeviceIndex, EventIndex, FrameId, PoolId, PoolKind};
use shared::model::{Action, Annotation, AnnotationStage, Block, BlockState, Event, EventNotes};
use shared::model::{Gap, Mark, Segment, Source};
use shared::store::RecordingBuilder;
use shared::warning::{Place, WarningKind};

/// Numbers that look random, the same in each run.
#[derive(Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    /// Small, large, or at an end of the range.
    pub fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => self.roll(),
            _ => self.below(1 << 20) * 512,
        }
    }

    /// A value in two cases of three.
    pub fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(3) > 0).then(|| value(self))
    }

    /// A short text.
    pub fn text(&mut self) -> String {
        let words = [
            "",
            "forward",
            "反向传播",
            "/home/user/模型.py",
            "a\nb",
            "\u{0}",
        ];
        format!("{}{}", words[self.below(6) as usize], self.below(5))
    }
}

/// An event with any values; `builder` takes its texts, stack and stream.
pub fn some_event(dice: &mut Dice, builder: &mut RecordingBuilder) -> Event {
    let action = Action::from_number(dice.below(11) as u8).expect("one of eleven");
    let depth = dice.below(6);
    let frames: Vec<FrameId> = (0..depth)
        .map(|_| {
            let (name, file) = (dice.text(), dice.text());
            let (name, file) = (builder.text(&name), builder.text(&file));
            builder.frame(name, file, dice.below(9) as u32)
        })
        .collect();
    let mut notes = EventNotes::default();
    if dice.below(4) == 0 {
        notes.user_metadata = builder.text(&dice.text());
        notes.compile_context = builder.text(&dice.text());
    }
    Event {
        action,
        address: dice.number(),
        size_bytes: dice.number(),
        stream: builder.stream(dice.below(4) << 40),
        time_us: dice.maybe(|dice| dice.roll() as i64 >> 1),
        stack: builder.stack(&frames),
        pool: dice.maybe(|dice| PoolId(dice.below(2), dice.below(3))),
        notes,
    }
}

fn some_segment(dice: &mut Dice, builder: &mut RecordingBuilder) -> Segment {
    let address = dice.below(1 << 40) * 512;
    let stack = some_event(dice, builder).stack;
    let blocks = (0..dice.below(5)).map(|at| Block {
        address: address + at * 4096,
        size_bytes: dice.number(),
        requested_bytes: dice.maybe(Dice::number),
        state: [
            BlockState::Allocated,
            BlockState::PendingFree,
            BlockState::Cached,
        ][dice.below(3) as usize],
        stack,
    });
    let blocks = blocks.collect();
    Segment {
        address,
        size_bytes: dice.number(),
        stream: builder.stream(dice.below(4) << 40),
        kind: if dice.below(2) == 0 {
            PoolKind::Small
        } else {
            PoolKind::Large
        },
        pool: dice.maybe(|dice| PoolId(dice.below(2), dice.roll())),
        expandable: dice.below(2) == 0,
        stack,
        stated_allocated_bytes: dice.maybe(Dice::number),
        stated_active_bytes: dice.maybe(Dice::number),
        blocks,
    }
}

/// A recording of up to 400 events on three devices, the same for the same seed.
#[must_use]
pub fn some_recording(seed: u64) -> RecordingBuilder {
    let mut dice = Dice(seed * 0x9e37_79b9 + 1);
    let mut builder = RecordingBuilder::new();
    let environment = builder.environment();
    environment.source = Source::Vramscope;
    environment.torch_version = dice.maybe(Dice::text);
    environment.settings_text = dice.maybe(Dice::text);
    environment.settings = (0..dice.below(4))
        .map(|_| (dice.text(), dice.text()))
        .collect();
    environment.card.total_bytes = dice.maybe(Dice::number);
    environment.card.limit_bytes = dice.maybe(Dice::number);
    environment.card.base_free_bytes = dice.maybe(Dice::number);
    for _ in 0..dice.below(400) {
        let event = some_event(&mut dice, &mut builder);
        builder.event(DeviceIndex(dice.below(3) as u32 * 5), &event);
    }
    for _ in 0..dice.below(20) {
        let segment = some_segment(&mut dice, &mut builder);
        builder.segment(DeviceIndex(dice.below(3) as u32), segment);
    }
    for _ in 0..dice.below(20) {
        let annotation = Annotation {
            name: builder.text(&dice.text()),
            stage: [AnnotationStage::Start, AnnotationStage::End][dice.below(2) as usize],
            device: DeviceIndex(dice.below(3) as u32),
            time_us: dice.maybe(|dice| dice.roll() as i64),
        };
        builder.annotation(annotation);
        builder.mark(Mark {
            label: dice.text(),
            time_us: dice.roll() as i64,
            allocated_bytes: dice.maybe(Dice::number),
            reserved_bytes: dice.maybe(Dice::number),
            driver_used_bytes: dice.maybe(Dice::number),
        });
    }
    if dice.below(2) == 0 {
        builder.gap(Gap {
            device: DeviceIndex(0),
            before: EventIndex(1),
            missing_events: dice.maybe(|dice| dice.below(9)),
        });
        builder.set_extra_json(format!("{{\"step_s\":[{}]}}", dice.below(9)));
        let place = Place::Address(DeviceIndex(1), dice.roll());
        builder.warnings().add_many(WarningKind::LongText, place, 7);
        builder
            .warnings()
            .add(WarningKind::HostMemory, Place::Byte(9));
    }
    builder
}
