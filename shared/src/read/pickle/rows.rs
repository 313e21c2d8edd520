//! Turns complete dictionaries into rows of the recording: frames, stacks, events, blocks,
//! segments, annotations.

use crate::ids::{DeviceIndex, FrameId, PoolKind, StackId, StreamId, TextId};
use crate::limits::Limits;
use crate::model::{Action, Annotation, AnnotationStage, Block, Event, EventNotes, Segment};
use crate::read::ReadErrorKind;
use crate::read::pickle::fields::{Fault, Fields, describe, describe_kind, missing, wrong};
use crate::read::pickle::tables::Tables;
use crate::read::pickle::traces::Traces;
use crate::read::pickle::value::{Kind, Value};
use crate::read::pickle::words::Word;
use crate::store::RecordingBuilder;
use crate::warning::{Place, WarningKind};

/// A block before its segment is known; old files give it no address.
#[derive(Clone, Copy, Debug)]
struct LooseBlock {
    address: Option<u64>,
    block: Block,
}

/// Everything read so far.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) builder: RecordingBuilder,
    pub(super) traces: Traces,
    pub(super) segments: Vec<Option<(DeviceIndex, Segment)>>,
    pub(super) annotations: Vec<Annotation>,
    blocks: Vec<Option<LooseBlock>>,
    /// The recording's number of each text of the file, once it was needed.
    kept: Vec<Option<TextId>>,
    /// Frames of the stack interned last, outermost first, and the stack up to each.
    last_stack: Vec<(FrameId, StackId)>,
    last_stream: Option<(u64, StreamId)>,
    events: u64,
    kept_text_bytes: usize,
    stack_frames: usize,
}

impl Rows {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            builder: RecordingBuilder::new(),
            traces: Traces::new(),
            segments: Vec::new(),
            annotations: Vec::new(),
            blocks: Vec::new(),
            kept: Vec::new(),
            last_stack: Vec::new(),
            last_stream: None,
            events: 0,
            kept_text_bytes: limits.kept_text_bytes,
            stack_frames: limits.stack_frames,
        }
    }

    /// Events so far.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// The recording's number of a text of the file.
    #[inline]
    pub(super) fn keep(&mut self, id: TextId, tables: &Tables) -> TextId {
        if let Some(&Some(kept)) = self.kept.get(id.index()) {
            return kept;
        }
        let text = tables.text(id);
        let cut = text.floor_char_boundary(self.kept_text_bytes);
        if cut < text.len() {
            let warnings = self.builder.warnings();
            warnings.add(WarningKind::LongText, Place::Recording);
        }
        let kept = self.builder.text(text.get(..cut).unwrap_or_default());
        if self.kept.len() <= id.index() {
            self.kept.resize(id.index() + 1, None);
        }
        if let Some(slot) = self.kept.get_mut(id.index()) {
            *slot = Some(kept);
        }
        kept
    }

    pub(super) fn frame(&mut self, fields: &Fields, tables: &Tables) -> Result<Kind, Fault> {
        let name = fields.text(Word::Name)?.unwrap_or_default();
        let file = fields.text(Word::Filename)?.unwrap_or_default();
        // Unknown lines are -1, also as an unsigned number.
        let line = match fields.get(Word::Line) {
            Some(Value::Int(line)) => u32::try_from(line).unwrap_or(0),
            None | Some(Value::None | Value::Unsigned(_)) => 0,
            Some(other) => return Err(wrong(Word::Line, "a line number", other)),
        };
        let name = self.keep(name, tables);
        let file = self.keep(file, tables);
        Ok(Kind::Frame(self.builder.frame(name, file, line)))
    }

    /// Interns a list of frames, innermost first. Most stacks share their outer part with the one
    /// before, so that part is not looked up again.
    pub(super) fn stack(&mut self, frames: &[FrameId]) -> Result<StackId, ReadErrorKind> {
        if frames.len() > self.stack_frames {
            return Err(ReadErrorKind::Limit {
                what: "a stack has frames",
                limit: self.stack_frames as u64,
            });
        }
        let shared = self
            .last_stack
            .iter()
            .zip(frames.iter().rev())
            .take_while(|&(&(known, _), &frame)| known == frame)
            .count();
        self.last_stack.truncate(shared);
        let mut stack = self
            .last_stack
            .last()
            .map_or(StackId(0), |&(_, stack)| stack);
        for &frame in frames.iter().rev().skip(shared) {
            stack = self.builder.stack_above(frame, stack);
            self.last_stack.push((frame, stack));
        }
        Ok(stack)
    }

    /// Frames of a stack, innermost first.
    pub(super) fn frames_of(&self, stack: StackId) -> Vec<FrameId> {
        self.builder.so_far().stacks.frames(stack).collect()
    }

    #[inline]
    fn stream(&mut self, fields: &Fields) -> Result<StreamId, Fault> {
        let handle = fields.address(Word::Stream)?.unwrap_or(0);
        if let Some((known, stream)) = self.last_stream
            && known == handle
        {
            return Ok(stream);
        }
        let stream = self.builder.stream(handle);
        self.last_stream = Some((handle, stream));
        Ok(stream)
    }

    pub(super) fn event(&mut self, fields: &Fields, tables: &Tables) -> Result<Kind, Fault> {
        let name = fields
            .text(Word::Action)?
            .ok_or_else(|| missing(Word::Action))?;
        let action = Word::of(name)
            .and_then(Word::action)
            .unwrap_or(Action::Unknown);
        let place = if action == Action::Oom {
            Word::DeviceFree
        } else {
            Word::Addr
        };
        let changes_state = !matches!(
            action,
            Action::Snapshot | Action::Oom | Action::Annotate | Action::Unknown
        );
        let required = |value: Option<u64>, word| match value {
            Some(value) => Ok(value),
            None if changes_state => Err(missing(word)),
            None => Ok(0),
        };
        let notes = EventNotes {
            compile_context: match fields.text(Word::CompileContext)? {
                Some(text) if text != TextId(Word::NotAvailable as u32) => self.keep(text, tables),
                _ => TextId(0),
            },
            user_metadata: self.keep(fields.text(Word::UserMetadata)?.unwrap_or_default(), tables),
            category: self.keep(category(fields), tables),
            unknown_action: match action {
                Action::Unknown => self.keep(name, tables),
                _ => TextId(0),
            },
        };
        let event = Event {
            action,
            address: required(fields.address(place)?, place)?,
            size_bytes: required(fields.size(Word::Size)?, Word::Size)?,
            stream: self.stream(fields)?,
            time_us: fields.signed(Word::TimeUs)?,
            stack: fields.stack(Word::Frames, tables)?,
            pool: fields.pool(Word::PoolId, tables)?,
            notes,
        };
        self.events += 1;
        Ok(Kind::Event(self.traces.push(&event)?))
    }

    pub(super) fn block(&mut self, fields: &Fields, tables: &Tables) -> Result<Kind, Fault> {
        let state = fields
            .text(Word::State)?
            .ok_or_else(|| missing(Word::State))?;
        let state = Word::of(state).and_then(Word::state).ok_or_else(|| Fault {
            kind: ReadErrorKind::WrongType {
                expected: "active_allocated, active_pending_free or inactive",
                found: format!("the text {:?}", tables.text(state)),
            },
            key: Some(Word::State.text()),
        })?;
        // The oldest files tell who holds a block in its history, the newest entry first.
        let newest = fields.list(Word::History, tables)?.first().copied();
        let from_history = |word| newest.and_then(|entry| tables.find(entry, word));
        let mut requested_bytes = fields.size(Word::RequestedSize)?;
        let mut stack = fields.stack(Word::Frames, tables)?;
        if let Some(Value::Int(size)) = from_history(Word::RealSize) {
            requested_bytes = requested_bytes.or(u64::try_from(size).ok());
        }
        if let Some(Kind::Stack(known)) =
            from_history(Word::Frames).and_then(|frames| tables.kind_of(frames))
        {
            stack = known;
        }
        let size_bytes = fields
            .size(Word::Size)?
            .ok_or_else(|| missing(Word::Size))?;
        self.blocks.push(Some(LooseBlock {
            address: fields.address(Word::Address)?,
            block: Block {
                address: 0,
                size_bytes,
                requested_bytes,
                state,
                stack,
            },
        }));
        Ok(Kind::Block(number(self.blocks.len())))
    }

    pub(super) fn segment(&mut self, fields: &Fields, tables: &Tables) -> Result<Kind, Fault> {
        let address = fields
            .address(Word::Address)?
            .ok_or_else(|| missing(Word::Address))?;
        let device = fields.size(Word::Device)?.unwrap_or(0);
        let device = DeviceIndex(
            u32::try_from(device)
                .map_err(|_| wrong(Word::Device, "a device index", Value::Unsigned(device)))?,
        );
        let size_bytes = fields
            .size(Word::TotalSize)?
            .ok_or_else(|| missing(Word::TotalSize))?;
        let kind = match fields.text(Word::SegmentType)?.and_then(Word::of) {
            Some(Word::Small) => PoolKind::Small,
            _ => PoolKind::Large,
        };
        let segment = Segment {
            address,
            size_bytes,
            stream: self.stream(fields)?,
            kind,
            pool: fields.pool(Word::SegmentPoolId, tables)?,
            expandable: fields.flag(Word::IsExpandable)?,
            stack: fields.stack(Word::Frames, tables)?,
            stated_allocated_bytes: fields.size(Word::AllocatedSize)?,
            stated_active_bytes: fields.size(Word::ActiveSize)?,
            blocks: self.take_blocks(address, fields, tables)?,
        };
        self.segments.push(Some((device, segment)));
        Ok(Kind::Segment(number(self.segments.len())))
    }

    fn take_blocks(
        &mut self,
        start: u64,
        fields: &Fields,
        tables: &Tables,
    ) -> Result<Vec<Block>, Fault> {
        let listed = fields.list(Word::Blocks, tables)?;
        let mut blocks = Vec::with_capacity(listed.len());
        let mut next = start;
        let mut derived = 0;
        for &item in listed {
            let loose = match tables.kind_of(item) {
                Some(Kind::Block(block)) => self
                    .blocks
                    .get_mut(block as usize)
                    .and_then(Option::take)
                    .ok_or_else(|| {
                        in_list(
                            Word::Blocks,
                            "a block that is listed once",
                            "one that was listed before",
                        )
                    })?,
                Some(other) => return Err(in_list(Word::Blocks, "a block", describe_kind(other))),
                None => return Err(in_list(Word::Blocks, "a block", &describe(item))),
            };
            derived += u64::from(loose.address.is_none());
            let address = loose.address.unwrap_or(next);
            next = address.saturating_add(loose.block.size_bytes);
            blocks.push(Block {
                address,
                ..loose.block
            });
        }
        let warnings = self.builder.warnings();
        warnings.add_many(WarningKind::DerivedAddress, Place::Recording, derived);
        Ok(blocks)
    }

    pub(super) fn annotation(&mut self, fields: &Fields, tables: &Tables) -> Result<Kind, Fault> {
        let stage = match fields.text(Word::Stage)?.and_then(Word::of) {
            Some(Word::Start) => AnnotationStage::Start,
            Some(Word::End) => AnnotationStage::End,
            _ => {
                let found = fields.get(Word::Stage).unwrap_or(Value::None);
                return Err(wrong(Word::Stage, "START or END", found));
            }
        };
        let name = fields.text(Word::Name)?.unwrap_or_default();
        let device = fields.signed(Word::Device)?.unwrap_or(0);
        let annotation = Annotation {
            name: self.keep(name, tables),
            stage,
            device: DeviceIndex(u32::try_from(device).unwrap_or(0)),
            time_us: fields.signed(Word::TimeUs)?,
        };
        self.annotations.push(annotation);
        Ok(Kind::Annotation(number(self.annotations.len())))
    }
}

/// The number of the element that was pushed last.
fn number(len: usize) -> u32 {
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}

/// The category is a text in some versions and a number in others.
fn category(fields: &Fields) -> TextId {
    match fields.get(Word::Category) {
        Some(Value::Text(text)) => text,
        _ => TextId(0),
    }
}

fn in_list(word: Word, expected: &'static str, found: &str) -> Fault {
    Fault {
        kind: ReadErrorKind::WrongType {
            expected,
            found: found.to_owned(),
        },
        key: Some(word.text()),
    }
}
