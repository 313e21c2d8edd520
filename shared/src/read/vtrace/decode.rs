//! What each kind of frame says, put into the recording. `None` means that a frame is damaged
//! although its checksum is right; what it said up to there is kept.

use std::collections::BTreeMap;

use crate::ids::{DeviceIndex, EventIndex, FrameId, PoolId, StackId, StreamId, TextId};
use crate::model::Source;
use crate::model::{Action, Annotation, AnnotationStage, Event, EventNotes, Gap, Mark, Segment};
use crate::read::vtrace::numbers::NumberMap;
use crate::read::vtrace::{device, event_index, segments};
use crate::store::{Recording, RecordingBuilder};
use crate::vtrace::fields::{Fields, unzigzag};
use crate::vtrace::table;
use crate::vtrace::{annotations as notes, environment as env, events as ev, extra, items, kind};
use crate::warning::{Place, WarningKind, Warnings};

/// Everything read so far.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub(super) builder: RecordingBuilder,
    texts: NumberMap,
    frames: NumberMap,
    stacks: NumberMap,
    streams: NumberMap,
    /// Number of the next event of each device in the file.
    next: BTreeMap<DeviceIndex, u64>,
    segments: BTreeMap<DeviceIndex, Vec<Segment>>,
    warnings: Warnings,
    events: u64,
}

impl Decoder {
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn finish(mut self) -> Recording {
        for (device, segments) in self.segments {
            for segment in segments {
                self.builder.segment(device, segment);
            }
        }
        self.builder.warnings().merge(&self.warnings);
        self.builder.finish()
    }

    /// Takes the payload of one frame; frames of unknown kinds are passed over.
    pub(super) fn frame(&mut self, kind: u8, payload: &[u8]) -> Option<()> {
        if !(kind::ENVIRONMENT..=kind::END).contains(&kind) {
            return Some(());
        }
        let fields = Fields::parse(payload)?;
        match kind {
            kind::ENVIRONMENT => self.environment(&fields),
            kind::TEXTS => self.texts(&fields),
            kind::FRAMES => self.frames(&fields),
            kind::STACKS => self.stacks(&fields),
            kind::STREAMS => self.streams(&fields),
            kind::EVENTS => self.event_batch(&fields),
            kind::SEGMENTS => self.segments(&fields),
            kind::ANNOTATIONS => self.annotations(&fields),
            kind::MARKS => self.marks(&fields),
            kind::GAPS => self.gaps(&fields),
            kind::EXTRA => {
                self.builder.set_extra_json(fields.text(extra::JSON)?);
                Some(())
            }
            kind::WARNINGS => self.warnings(&fields),
            _ => Some(()),
        }
    }

    fn environment(&mut self, fields: &Fields<'_>) -> Option<()> {
        let environment = self.builder.environment();
        environment.source = match fields.number(env::SOURCE) {
            Some(1) => Source::PytorchSnapshot,
            Some(2) => Source::PytorchSegments,
            Some(3) => Source::Vramscope,
            _ => Source::Unknown,
        };
        environment.torch_version = fields.text(env::TORCH_VERSION);
        environment.settings_text = fields.text(env::SETTINGS_TEXT);
        environment.settings.clear();
        for setting in fields.items(env::SETTING) {
            let setting = Fields::parse(setting)?;
            let name = setting.text(env::setting::NAME)?;
            let value = setting.text(env::setting::VALUE)?;
            environment.settings.push((name, value));
        }
        environment.card.total_bytes = fields.number(env::TOTAL_BYTES);
        environment.card.limit_bytes = fields.number(env::LIMIT_BYTES);
        environment.card.base_free_bytes = fields.number(env::BASE_FREE_BYTES);
        Some(())
    }

    fn texts(&mut self, fields: &Fields<'_>) -> Option<()> {
        let mut number = fields.number(table::FIRST)?;
        let mut bytes = fields.bytes(table::BYTES);
        for length in fields.column(table::LENGTHS) {
            let (text, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
            bytes = rest;
            let id = self.builder.text(&String::from_utf8_lossy(text));
            self.texts.insert(number, id.0);
            number = number.checked_add(1)?;
        }
        Some(())
    }

    /// A text of the file; the empty one where it was lost.
    pub(super) fn text(&self, number: u64) -> TextId {
        TextId(self.texts.get(number).unwrap_or(0))
    }

    fn frames(&mut self, fields: &Fields<'_>) -> Option<()> {
        let mut number = fields.number(table::FIRST)?;
        let mut files = fields.column(table::FILES);
        let mut lines = fields.column(table::LINES);
        for name in fields.column(table::NAMES) {
            let file = self.text(files.next()?);
            let line = u32::try_from(lines.next()?).unwrap_or(0);
            let id = self.builder.frame(self.text(name), file, line);
            self.frames.insert(number, id.0);
            number = number.checked_add(1)?;
        }
        Some(())
    }

    fn stacks(&mut self, fields: &Fields<'_>) -> Option<()> {
        let mut number = fields.number(table::FIRST)?;
        let mut callers = fields.column(table::CALLERS);
        for frame in fields.column(table::FRAMES) {
            let caller = self.stack(number.checked_sub(callers.next()?)?);
            let frame = match self.frames.get(frame) {
                Some(frame) => FrameId(frame),
                None => self.builder.frame(TextId(0), TextId(0), 0),
            };
            let id = self.builder.stack_above(frame, caller);
            self.stacks.insert(number, id.0);
            number = number.checked_add(1)?;
        }
        Some(())
    }

    /// A stack of the file; the empty one where it was lost.
    pub(super) fn stack(&self, number: u64) -> StackId {
        StackId(self.stacks.get(number).unwrap_or(0))
    }

    fn streams(&mut self, fields: &Fields<'_>) -> Option<()> {
        let mut number = fields.number(table::FIRST)?;
        for handle in fields.column(table::HANDLES) {
            let id = self.builder.stream(handle);
            self.streams.insert(number, id.0);
            number = number.checked_add(1)?;
        }
        Some(())
    }

    /// A stream of the file; the default one where it was lost.
    pub(super) fn stream(&mut self, number: u64) -> StreamId {
        match self.streams.get(number) {
            Some(stream) => StreamId(stream),
            None => self.builder.stream(0),
        }
    }

    fn event_batch(&mut self, fields: &Fields<'_>) -> Option<()> {
        let device = device(fields.number(ev::DEVICE))?;
        let first = fields.number(ev::FIRST)?;
        let actions = fields.bytes(ev::ACTIONS);
        self.note_gap(device, first);
        self.next
            .insert(device, first.saturating_add(actions.len() as u64));
        let unit = fields.number(ev::ADDRESS_UNIT).unwrap_or(1);
        let mut addresses = fields.differences(ev::ADDRESSES);
        let mut sizes = fields.column(ev::SIZES);
        let mut streams = fields.column(ev::STREAMS);
        let mut times = fields.differences(ev::TIMES);
        let mut timeless = fields.differences(ev::TIMELESS).peekable();
        let mut stacks = fields.differences(ev::STACKS);
        let mut pools = fields.column(ev::POOLS);
        let pool_ids = pairs(fields.column(ev::POOL_IDS));
        let mut notes = notes_by_row(fields);
        for (row, &action) in actions.iter().enumerate() {
            let row = row as u64;
            let pool = pools.next().unwrap_or(0).checked_sub(1);
            let event = Event {
                action: Action::from_number(action).unwrap_or(Action::Unknown),
                address: addresses.next()?.wrapping_mul(unit),
                size_bytes: sizes.next()?,
                stream: self.stream(streams.next()?),
                time_us: match timeless.next_if_eq(&row) {
                    Some(_) => None,
                    None => times.next().map(|time| time as i64),
                },
                stack: self.stack(stacks.next()?),
                pool: pool.and_then(|pool| pool_ids.get(usize::try_from(pool).ok()?).copied()),
                notes: match notes.next_if(|&(at, _)| at == row) {
                    Some((_, texts)) => self.notes(texts),
                    None => EventNotes::default(),
                },
            };
            self.builder.event(device, &event);
            self.events += 1;
        }
        Some(())
    }

    fn notes(&self, [context, metadata, category, action]: [u64; 4]) -> EventNotes {
        EventNotes {
            compile_context: self.text(context),
            user_metadata: self.text(metadata),
            category: self.text(category),
            unknown_action: self.text(action),
        }
    }

    /// Says that events are missing where a batch begins later than the last one ended.
    fn note_gap(&mut self, device: DeviceIndex, first: u64) {
        let next = self.next.get(&device).copied().unwrap_or(0);
        let missing = first.saturating_sub(next);
        if missing > 0 {
            let before = self.builder.device(device).events.len();
            self.builder.gap(Gap {
                device,
                before: EventIndex(u32::try_from(before).unwrap_or(u32::MAX)),
                missing_events: Some(missing),
            });
        }
    }

    fn segments(&mut self, fields: &Fields<'_>) -> Option<()> {
        let (device, part) = segments::place(fields)?;
        let read = segments::read(fields, self)?;
        let known = self.segments.entry(device).or_default();
        if part == 0 {
            known.clear();
        }
        known.extend(read);
        Some(())
    }

    fn annotations(&mut self, fields: &Fields<'_>) -> Option<()> {
        let mut names = fields.column(notes::NAMES);
        let mut devices = fields.column(notes::DEVICES);
        let mut times = fields.differences(notes::TIMES);
        for &flags in fields.bytes(notes::FLAGS) {
            let annotation = Annotation {
                name: self.text(names.next()?),
                stage: if flags & notes::IS_END == 0 {
                    AnnotationStage::Start
                } else {
                    AnnotationStage::End
                },
                device: device(devices.next())?,
                time_us: if flags & notes::HAS_TIME == 0 {
                    None
                } else {
                    Some(times.next()? as i64)
                },
            };
            self.builder.annotation(annotation);
        }
        Some(())
    }

    fn marks(&mut self, fields: &Fields<'_>) -> Option<()> {
        for item in fields.items(items::ITEM) {
            let item = Fields::parse(item)?;
            self.builder.mark(Mark {
                label: item.text(items::mark::LABEL)?,
                time_us: unzigzag(item.number(items::mark::TIME)?),
                allocated_bytes: item.number(items::mark::ALLOCATED),
                reserved_bytes: item.number(items::mark::RESERVED),
                driver_used_bytes: item.number(items::mark::DRIVER_USED),
            });
        }
        Some(())
    }

    fn gaps(&mut self, fields: &Fields<'_>) -> Option<()> {
        for item in fields.items(items::ITEM) {
            let item = Fields::parse(item)?;
            self.builder.gap(Gap {
                device: device(item.number(items::gap::DEVICE))?,
                before: event_index(item.number(items::gap::BEFORE))?,
                missing_events: item.number(items::gap::MISSING),
            });
        }
        Some(())
    }

    fn warnings(&mut self, fields: &Fields<'_>) -> Option<()> {
        self.warnings = Warnings::default();
        for item in fields.items(items::ITEM) {
            let item = Fields::parse(item)?;
            let name = item.text(items::warning::KIND)?;
            // A kind of a newer version has no words here.
            let Some(&kind) = WarningKind::ALL.iter().find(|kind| kind.name() == name) else {
                continue;
            };
            let at = item.number(items::warning::AT);
            let of = device(item.number(items::warning::DEVICE));
            let place = match (item.number(items::warning::PLACE), of, at) {
                (Some(1), _, Some(offset)) => Place::Byte(offset),
                (Some(2), Some(device), at) => Place::Event(device, event_index(at)?),
                (Some(3), Some(device), Some(address)) => Place::Address(device, address),
                _ => Place::Recording,
            };
            let count = item.number(items::warning::COUNT)?;
            self.warnings.add_many(kind, place, count);
        }
        Some(())
    }
}

/// Ids of pools, two numbers each.
pub(super) fn pairs(mut numbers: impl Iterator<Item = u64>) -> Vec<PoolId> {
    let mut pools = Vec::new();
    while let (Some(first), Some(second)) = (numbers.next(), numbers.next()) {
        pools.push(PoolId(first, second));
    }
    pools
}

/// The rows that carry texts, and the numbers of these.
fn notes_by_row<'a>(
    fields: &Fields<'a>,
) -> std::iter::Peekable<impl Iterator<Item = (u64, [u64; 4])> + 'a> {
    let mut numbers = fields.column(ev::NOTES);
    std::iter::from_fn(move || {
        let row = numbers.next()?;
        let texts = [
            numbers.next()?,
            numbers.next()?,
            numbers.next()?,
            numbers.next()?,
        ];
        Some((row, texts))
    })
    .peekable()
}
