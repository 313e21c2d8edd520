//! The payload of each kind of frame.

use std::ops::Range;

use crate::ids::{DeviceIndex, EventIndex, FrameId, PoolId, PoolKind, StackId, TextId};
use crate::model::{Annotation, AnnotationStage, BlockState, Environment, Event, Gap, Mark};
use crate::model::{Segment, Source};
use crate::store::{DeviceRecord, Frames, Stacks, Texts};
use crate::vtrace::fields::{FieldWriter, put_varint, zigzag};
use crate::vtrace::table;
use crate::vtrace::{
    annotations as notes, environment as env, events as ev, items, segments as seg,
};
use crate::warning::{Place, WarningKind, Warnings};

/// Bytes of text in one frame, about.
const TEXT_BYTES: usize = 4 << 20;

fn u32_of(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(super) fn environment(environment: &Environment) -> Vec<u8> {
    let mut fields = FieldWriter::default();
    let source = match environment.source {
        Source::Unknown => 0,
        Source::PytorchSnapshot => 1,
        Source::PytorchSegments => 2,
        Source::Vramscope => 3,
    };
    fields.number(env::SOURCE, source);
    if let Some(version) = &environment.torch_version {
        fields.bytes(env::TORCH_VERSION, version.as_bytes());
    }
    if let Some(text) = &environment.settings_text {
        fields.bytes(env::SETTINGS_TEXT, text.as_bytes());
    }
    for (name, value) in &environment.settings {
        let mut setting = FieldWriter::default();
        setting.bytes(env::setting::NAME, name.as_bytes());
        setting.bytes(env::setting::VALUE, value.as_bytes());
        fields.bytes(env::SETTING, &setting.finish());
    }
    fields.maybe(env::TOTAL_BYTES, environment.card.total_bytes);
    fields.maybe(env::LIMIT_BYTES, environment.card.limit_bytes);
    fields.maybe(env::BASE_FREE_BYTES, environment.card.base_free_bytes);
    fields.finish()
}

/// Texts from number `from` on, and the number behind the last.
pub(super) fn texts(texts: &Texts, from: usize) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    let mut lengths = Vec::new();
    let mut to = from;
    while to < texts.len() && bytes.len() < TEXT_BYTES && lengths.len() < super::BATCH {
        let text = texts.get(TextId(u32_of(to)));
        bytes.extend_from_slice(text.as_bytes());
        lengths.push(text.len() as u64);
        to += 1;
    }
    let mut fields = FieldWriter::default();
    fields.number(table::FIRST, from as u64);
    fields.column(table::LENGTHS, lengths);
    fields.bytes(table::BYTES, &bytes);
    (fields.finish(), to)
}

pub(super) fn frames(frames: &Frames, range: Range<usize>) -> Vec<u8> {
    let rows = || {
        range
            .clone()
            .filter_map(|at| frames.get(FrameId(u32_of(at))))
    };
    let mut fields = FieldWriter::default();
    fields.number(table::FIRST, range.start as u64);
    fields.column(table::NAMES, rows().map(|frame| u64::from(frame.name.0)));
    fields.column(table::FILES, rows().map(|frame| u64::from(frame.file.0)));
    fields.column(table::LINES, rows().map(|frame| u64::from(frame.line)));
    fields.finish()
}

/// A caller always has a lower number than the stacks above it: how much lower is written.
pub(super) fn stacks(stacks: &Stacks, range: Range<usize>) -> Vec<u8> {
    let rows = || {
        range.clone().filter_map(|at| {
            let (frame, caller) = stacks.split(StackId(u32_of(at)))?;
            Some((frame.0, (at as u64).wrapping_sub(u64::from(caller.0))))
        })
    };
    let mut fields = FieldWriter::default();
    fields.number(table::FIRST, range.start as u64);
    fields.column(table::FRAMES, rows().map(|(frame, _)| u64::from(frame)));
    fields.column(table::CALLERS, rows().map(|(_, below)| below));
    fields.finish()
}

pub(super) fn streams(streams: &[u64], from: usize) -> Vec<u8> {
    let mut fields = FieldWriter::default();
    fields.number(table::FIRST, from as u64);
    fields.column(table::HANDLES, streams.iter().skip(from).copied());
    fields.finish()
}

pub(super) fn events(record: &DeviceRecord, range: Range<usize>) -> Vec<u8> {
    let index = |at| EventIndex(u32_of(at));
    let rows: Vec<Event> = range
        .clone()
        .filter_map(|at| record.events.get(index(at)))
        .collect();
    let unit = if rows.iter().all(|event| event.address.is_multiple_of(512)) {
        512
    } else {
        1
    };
    let mut fields = FieldWriter::default();
    fields.number(ev::DEVICE, u64::from(record.device.0));
    fields.number(ev::FIRST, range.start as u64);
    let actions: Vec<u8> = rows.iter().map(|event| event.action as u8).collect();
    fields.bytes(ev::ACTIONS, &actions);
    fields.number(ev::ADDRESS_UNIT, unit);
    fields.differences(ev::ADDRESSES, rows.iter().map(|event| event.address / unit));
    fields.column(ev::SIZES, rows.iter().map(|event| event.size_bytes));
    fields.column(
        ev::STREAMS,
        rows.iter().map(|event| u64::from(event.stream.0)),
    );
    let times = || rows.iter().filter_map(|event| event.time_us);
    if times().next().is_some() {
        fields.differences(ev::TIMES, times().map(|time| time as u64));
    }
    let is_timeless = |&at: &usize| rows.get(at).is_some_and(|event| event.time_us.is_none());
    if rows.iter().any(|event| event.time_us.is_none()) {
        let timeless = (0..rows.len()).filter(is_timeless).map(|at| at as u64);
        fields.differences(ev::TIMELESS, timeless);
    }
    fields.differences(
        ev::STACKS,
        rows.iter().map(|event| u64::from(event.stack.0)),
    );
    event_pools(&rows, &mut fields);
    event_notes(&rows, &mut fields);
    fields.finish()
}

/// For each event 0, or 1 + the place of its pool in a list of those that occur.
fn event_pools(rows: &[Event], fields: &mut FieldWriter) {
    let mut pools: Vec<PoolId> = Vec::new();
    let numbers: Vec<u64> = rows
        .iter()
        .map(|event| {
            let Some(pool) = event.pool else {
                return 0;
            };
            let known = pools.iter().position(|&known| known == pool);
            known.unwrap_or_else(|| {
                pools.push(pool);
                pools.len() - 1
            }) as u64
                + 1
        })
        .collect();
    if !pools.is_empty() {
        fields.column(ev::POOLS, numbers);
        fields.column(ev::POOL_IDS, pools.iter().flat_map(|pool| [pool.0, pool.1]));
    }
}

fn event_notes(rows: &[Event], fields: &mut FieldWriter) {
    let with_notes = rows
        .iter()
        .enumerate()
        .filter(|(_, event)| !event.notes.is_empty());
    let mut notes = with_notes.peekable();
    if notes.peek().is_some() {
        let numbers = notes.flat_map(|(at, event)| {
            let texts = event.notes;
            let ids = [
                texts.compile_context,
                texts.user_metadata,
                texts.category,
                texts.unknown_action,
            ];
            std::iter::once(at as u64).chain(ids.map(|text| u64::from(text.0)))
        });
        fields.column(ev::NOTES, numbers);
    }
}

/// Runs of segments that have about `blocks` blocks each; an empty one where there is none.
pub(super) fn split_segments(
    segments: &[Segment],
    blocks: usize,
) -> impl Iterator<Item = &[Segment]> {
    let mut rest = segments;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut sum = 0;
        let fitting = rest
            .iter()
            .take_while(|segment| {
                let before = sum;
                sum += segment.blocks.len() + 1;
                before < blocks
            })
            .count();
        let (run, behind) = rest.split_at(fitting);
        rest = behind;
        Some(run)
    })
}

pub(super) fn segments(device: DeviceIndex, part: u64, segments: &[Segment]) -> Vec<u8> {
    let mut fields = FieldWriter::default();
    fields.number(seg::DEVICE, u64::from(device.0));
    fields.number(seg::PART, part);
    let all = || segments.iter();
    fields.differences(seg::ADDRESSES, all().map(|segment| segment.address));
    fields.column(seg::SIZES, all().map(|segment| segment.size_bytes));
    fields.column(
        seg::STREAMS,
        all().map(|segment| u64::from(segment.stream.0)),
    );
    let flags: Vec<u8> = all().map(segment_flags).collect();
    fields.bytes(seg::FLAGS, &flags);
    let pools = all().filter_map(|segment| segment.pool);
    fields.column(seg::POOL_IDS, pools.flat_map(|pool| [pool.0, pool.1]));
    let allocated = all().filter_map(|segment| segment.stated_allocated_bytes);
    fields.column(seg::STATED_ALLOCATED, allocated);
    let active = all().filter_map(|segment| segment.stated_active_bytes);
    fields.column(seg::STATED_ACTIVE, active);
    fields.differences(seg::STACKS, all().map(|segment| u64::from(segment.stack.0)));
    fields.column(
        seg::BLOCK_COUNTS,
        all().map(|segment| segment.blocks.len() as u64),
    );
    blocks(segments, &mut fields);
    fields.finish()
}

fn segment_flags(segment: &Segment) -> u8 {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    flag(segment.kind == PoolKind::Large, seg::IS_LARGE)
        | flag(segment.expandable, seg::IS_EXPANDABLE)
        | flag(segment.pool.is_some(), seg::HAS_POOL)
        | flag(segment.stated_allocated_bytes.is_some(), seg::HAS_ALLOCATED)
        | flag(segment.stated_active_bytes.is_some(), seg::HAS_ACTIVE)
}

fn blocks(segments: &[Segment], fields: &mut FieldWriter) {
    let mut gaps = Vec::new();
    let mut flags = Vec::new();
    for segment in segments {
        let mut expected = segment.address;
        for block in &segment.blocks {
            let gap = block.address.wrapping_sub(expected) as i64;
            put_varint(&mut gaps, zigzag(gap));
            expected = block.address.wrapping_add(block.size_bytes);
            let state = match block.state {
                BlockState::Allocated => 0,
                BlockState::PendingFree => 1,
                BlockState::Cached => 2,
            };
            let requested = block.requested_bytes.map_or(0, |_| seg::HAS_REQUESTED);
            flags.push(state | requested);
        }
    }
    let all = || segments.iter().flat_map(|segment| &segment.blocks);
    fields.bytes(seg::BLOCK_GAPS, &gaps);
    fields.column(seg::BLOCK_SIZES, all().map(|block| block.size_bytes));
    fields.bytes(seg::BLOCK_FLAGS, &flags);
    let requested = all().filter_map(|block| block.requested_bytes);
    fields.column(seg::BLOCK_REQUESTED, requested);
    fields.differences(
        seg::BLOCK_STACKS,
        all().map(|block| u64::from(block.stack.0)),
    );
}

pub(super) fn annotations(annotations: &[Annotation]) -> Vec<u8> {
    let mut fields = FieldWriter::default();
    let all = || annotations.iter();
    fields.column(
        notes::NAMES,
        all().map(|annotation| u64::from(annotation.name.0)),
    );
    let flags = all().map(|annotation| {
        let end = match annotation.stage {
            AnnotationStage::Start => 0,
            AnnotationStage::End => notes::IS_END,
        };
        end | annotation.time_us.map_or(0, |_| notes::HAS_TIME)
    });
    fields.bytes(notes::FLAGS, &flags.collect::<Vec<u8>>());
    fields.column(
        notes::DEVICES,
        all().map(|annotation| u64::from(annotation.device.0)),
    );
    let times = all().filter_map(|annotation| annotation.time_us);
    fields.differences(notes::TIMES, times.map(|time| time as u64));
    fields.finish()
}

pub(super) fn marks(marks: &[Mark]) -> Vec<u8> {
    let mut fields = FieldWriter::default();
    for mark in marks {
        let mut item = FieldWriter::default();
        item.bytes(items::mark::LABEL, mark.label.as_bytes());
        item.number(items::mark::TIME, zigzag(mark.time_us));
        item.maybe(items::mark::ALLOCATED, mark.allocated_bytes);
        item.maybe(items::mark::RESERVED, mark.reserved_bytes);
        item.maybe(items::mark::DRIVER_USED, mark.driver_used_bytes);
        fields.bytes(items::ITEM, &item.finish());
    }
    fields.finish()
}

pub(super) fn gaps(gaps: &[Gap]) -> Vec<u8> {
    let mut fields = FieldWriter::default();
    for gap in gaps {
        let mut item = FieldWriter::default();
        item.number(items::gap::DEVICE, u64::from(gap.device.0));
        item.number(items::gap::BEFORE, u64::from(gap.before.0));
        item.maybe(items::gap::MISSING, gap.missing_events);
        fields.bytes(items::ITEM, &item.finish());
    }
    fields.finish()
}

/// Warnings that a reader of the file would not meet again by itself.
pub(super) fn warnings(warnings: &Warnings) -> Vec<u8> {
    let mut fields = FieldWriter::default();
    for warning in warnings.iter() {
        use WarningKind::{Empty, MissingEvents, NoEvents, NoTimes, UnknownAction};
        if let Empty | NoEvents | NoTimes | UnknownAction | MissingEvents = warning.kind {
            continue;
        }
        let (place, device, at) = match warning.first_at {
            Place::Recording => (0, None, None),
            Place::Byte(offset) => (1, None, Some(offset)),
            Place::Event(device, event) => (2, Some(device), Some(u64::from(event.0))),
            Place::Address(device, address) => (3, Some(device), Some(address)),
        };
        let mut item = FieldWriter::default();
        item.bytes(items::warning::KIND, warning.kind.name().as_bytes());
        item.number(items::warning::COUNT, warning.count);
        item.number(items::warning::PLACE, place);
        item.maybe(
            items::warning::DEVICE,
            device.map(|device| u64::from(device.0)),
        );
        item.maybe(items::warning::AT, at);
        fields.bytes(items::ITEM, &item.finish());
    }
    fields.finish()
}
