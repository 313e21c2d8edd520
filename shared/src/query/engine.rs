use crate::ids::{DeviceIndex, EventIndex};
use crate::model::AnnotationStage;
use crate::query::{
    AnnotationSpan, Annotations, Axis, DeviceOverview, MarkView, Overview, Query, Reply,
    StreamView, curves, details, map, rows, step, whatif,
};
use crate::replay::{Cursor, FlushKind, Replay};
use crate::store::{DeviceRecord, Recording};
use crate::verify::{self, DeviceAgreement, Why};
use crate::warning::Warnings;

/// One recording, ready to be asked.
#[derive(Debug)]
pub struct Engine {
    recording: Recording,
    devices: Vec<Device>,
}

/// One device of it.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) replay: Replay,
    pub(super) cursor: Cursor,
    /// Regions that the program annotated, in the order of their start.
    pub(super) regions: Vec<AnnotationSpan>,
    /// What verifying came to, once it was asked for.
    agreement: Option<DeviceAgreement>,
    /// The what-if question asked last.
    pub(super) what_if: Option<Box<whatif::WhatIf>>,
}

/// What an answer is made from.
pub(super) struct Scope<'a> {
    pub(super) recording: &'a Recording,
    pub(super) record: &'a DeviceRecord,
    pub(super) device: &'a mut Device,
}

impl Engine {
    /// Indexes a recording; the one slow step, about half a second for a million events.
    #[must_use]
    pub fn new(recording: Recording) -> Self {
        let devices = recording
            .devices
            .iter()
            .map(|record| {
                let replay = Replay::new(&recording, record);
                let cursor = Cursor::at_start(&replay);
                Device {
                    regions: regions(&recording, record),
                    replay,
                    cursor,
                    agreement: None,
                    what_if: None,
                }
            })
            .collect();
        Self { recording, devices }
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The replay of a device.
    #[must_use]
    pub fn replay(&self, device: DeviceIndex) -> Option<&Replay> {
        self.devices
            .iter()
            .map(|device| &device.replay)
            .find(|replay| replay.device() == device)
    }

    /// What reader and replay had to live with.
    #[must_use]
    pub fn warnings(&self) -> Warnings {
        let mut warnings = self.recording.warnings.clone();
        for device in &self.devices {
            warnings.merge(device.replay.warnings());
        }
        warnings
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let replays: usize = self.devices.iter().map(|d| d.replay.memory_bytes()).sum();
        self.recording.memory_bytes() + replays
    }

    /// Answers a question.
    pub fn answer(&mut self, query: &Query) -> Reply {
        self.try_answer(query).unwrap_or(Reply::OutOfRange)
    }

    fn try_answer(&mut self, query: &Query) -> Option<Reply> {
        Some(match *query {
            Query::Overview => Reply::Overview(Box::new(self.overview())),
            Query::Curves {
                device,
                axis,
                from,
                to,
                columns,
            } => Reply::Curves(curves::curves(
                &self.scope(device)?,
                axis,
                from..to,
                columns,
            )),
            Query::Map {
                device,
                at,
                finest_bytes,
            } => {
                let mut scope = self.scope(device)?;
                scope.seek_after(at)?;
                Reply::Map(map::memory_map(&scope, finest_bytes))
            }
            Query::Step { device, at } => {
                Reply::Step(Box::new(step::step(&mut self.scope(device)?, at)?))
            }
            Query::FreeList { device, at, rows } => {
                Reply::FreeList(map::free_list(&mut self.scope(device)?, at, rows)?)
            }
            Query::Jump {
                device,
                from,
                kind,
                forward,
            } => Reply::Jump(rows::jump(&self.scope(device)?, from, kind, forward)),
            Query::BlockAt {
                device,
                at,
                address,
            } => {
                let mut scope = self.scope(device)?;
                scope.seek_after(at)?;
                Reply::Block(details::block_at(&scope, address).map(Box::new))
            }
            Query::Life { device, life } => {
                Reply::Life(details::life(&self.scope(device)?, life).map(Box::new))
            }
            Query::Rows {
                device,
                first,
                count,
            } => Reply::Rows(rows::rows(&self.scope(device)?, first, count)),
            Query::Annotations {
                device,
                axis,
                from,
                to,
                most,
            } => Reply::Annotations(annotations(&self.scope(device)?, axis, from, to, most)),
            Query::Agreement { device } => {
                Reply::Agreement(Box::new(self.scope(device)?.agreement()))
            }
            Query::WhatIf {
                device,
                ref question,
                columns,
                most,
            } => Reply::WhatIf(Box::new(whatif::what_if(
                &mut self.scope(device)?,
                question,
                columns,
                most,
            ))),
            Query::Why { device, at } => Reply::Why(self.scope(device)?.why(at).map(Box::new)),
        })
    }

    fn scope(&mut self, device: DeviceIndex) -> Option<Scope<'_>> {
        let record = self.recording.device(device)?;
        let device = self
            .devices
            .iter_mut()
            .find(|candidate| candidate.replay.device() == device)?;
        Some(Scope {
            recording: &self.recording,
            record,
            device,
        })
    }

    fn overview(&self) -> Overview {
        let devices = self.recording.devices.iter().zip(&self.devices);
        Overview {
            environment: self.recording.environment.clone(),
            devices: devices
                .map(|(record, device)| device_overview(&self.recording, record, &device.replay))
                .collect(),
            warnings: self.warnings().iter().copied().collect(),
            annotations: self.recording.annotations.len() as u64,
            extra_json: self.recording.extra_json.clone(),
            memory_bytes: self.memory_bytes() as u64,
        }
    }
}

impl Scope<'_> {
    /// Goes to the state after an event.
    pub(super) fn seek_after(&mut self, at: EventIndex) -> Option<()> {
        let events = self.device.replay.events();
        if events > 0 && at.0 >= events {
            return None;
        }
        self.seek(at.0.saturating_add(1));
        Some(())
    }

    /// Goes to where `applied` events have happened.
    pub(super) fn seek(&mut self, applied: u32) {
        let Device { replay, cursor, .. } = &mut *self.device;
        cursor.seek(replay, &self.record.events, applied);
    }

    fn agreement(&mut self) -> DeviceAgreement {
        let Device {
            replay, agreement, ..
        } = &mut *self.device;
        agreement
            .get_or_insert_with(|| verify::verify_device(self.recording, self.record, replay))
            .clone()
    }

    fn why(&mut self, at: EventIndex) -> Option<Why> {
        let Device { replay, cursor, .. } = &mut *self.device;
        verify::why(self.recording, self.record, replay, cursor, at)
    }

    pub(super) fn stream(&self, stream: crate::ids::StreamId) -> StreamView {
        StreamView {
            stream,
            handle: self.recording.stream_handle(stream),
        }
    }
}

fn device_overview(
    recording: &Recording,
    record: &DeviceRecord,
    replay: &Replay,
) -> DeviceOverview {
    let mut actions = vec![0_u32; crate::model::Action::ALL.len()];
    for action in record.events.actions() {
        if let Some(count) = actions.get_mut(action as usize) {
            *count += 1;
        }
    }
    let whole = replay.sums().whole();
    let [allocated, requested, active, reserved, ..] = whole.max;
    let before = replay.lives().take_while(|(_, life)| life.born().is_none());
    let (alive_before_blocks, alive_before_bytes) = before
        .fold((0, 0_u64), |(count, bytes), (_, life)| {
            (count + 1, bytes.saturating_add(life.given_bytes))
        });
    let times = || record.events.iter().filter_map(|(_, event)| event.time_us);
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    DeviceOverview {
        device: record.device,
        events: replay.events(),
        actions,
        segments: count(record.segments.len()),
        blocks: count(record.segments.iter().map(|s| s.blocks.len()).sum()),
        start: replay.sums().start(),
        end: replay.sums().end(),
        peak: crate::replay::Sums {
            allocated,
            requested,
            active,
            reserved,
        },
        peak_allocated_at: replay.sums().peak_allocated_at(),
        alive_before_blocks,
        alive_before_bytes,
        first_time_us: times().next(),
        last_time_us: times().next_back(),
        largest_segment_bytes: largest_run(record, replay),
        most_segments: replay.most_spans(),
        empty_caches: replay
            .flushes()
            .iter()
            .filter(|flush| flush.kind == FlushKind::EmptyCache)
            .map(|flush| flush.first)
            .collect(),
        ooms: rows::events_of(record, crate::model::Action::Oom),
        marks: marks(recording, record),
        streams: streams(recording, record, replay),
    }
}

/// Size of the largest segment; of expandable ones the whole range that was ever mapped counts,
/// since their pages come one by one.
fn largest_run(record: &DeviceRecord, replay: &Replay) -> u64 {
    let mut spans: Vec<_> = replay.spans().iter().collect();
    spans.sort_by_key(|span| (span.address, span.end_address()));
    let mut largest = record
        .segments
        .iter()
        .map(|s| s.size_bytes)
        .max()
        .unwrap_or(0);
    let mut run: Option<(u64, u64)> = None;
    for span in spans {
        let (start, end) = match run {
            Some((start, end)) if span.expandable && span.address <= end => {
                (start, end.max(span.end_address()))
            }
            _ => (span.address, span.end_address()),
        };
        largest = largest.max(end - start);
        run = span.expandable.then_some((start, end));
    }
    largest
}

fn marks(recording: &Recording, record: &DeviceRecord) -> Vec<MarkView> {
    recording
        .marks
        .iter()
        .map(|mark| MarkView {
            label: mark.label.clone(),
            at: last_event_until(record, mark.time_us),
            time_us: mark.time_us,
            driver_used_bytes: mark.driver_used_bytes,
        })
        .collect()
}

fn streams(recording: &Recording, record: &DeviceRecord, replay: &Replay) -> Vec<StreamView> {
    let mut streams: Vec<_> = replay.spans().iter().map(|span| span.stream).collect();
    streams.extend(record.segments.iter().map(|segment| segment.stream));
    streams.sort_unstable();
    streams.dedup();
    streams
        .into_iter()
        .map(|stream| StreamView {
            stream,
            handle: recording.stream_handle(stream),
        })
        .collect()
}

/// The last event that is not later than a moment.
pub(super) fn last_event_until(record: &DeviceRecord, time_us: i64) -> Option<EventIndex> {
    let before = record.events.count_until(time_us).checked_sub(1)?;
    Some(EventIndex(u32::try_from(before).unwrap_or(u32::MAX)))
}

/// Pairs starts with ends by name, the innermost first, as `record_function` nests them.
fn regions(recording: &Recording, record: &DeviceRecord) -> Vec<AnnotationSpan> {
    let mut regions: Vec<AnnotationSpan> = Vec::new();
    let mut open: Vec<(crate::ids::TextId, usize)> = Vec::new();
    let here = recording
        .annotations
        .iter()
        .filter(|annotation| annotation.device == record.device);
    for annotation in here {
        let until = annotation
            .time_us
            .and_then(|time| last_event_until(record, time));
        let depth = u32::try_from(open.len()).unwrap_or(u32::MAX);
        let region = AnnotationSpan {
            name: recording.texts.get(annotation.name).to_owned(),
            first: None,
            last: None,
            from_us: None,
            to_us: None,
            depth,
        };
        match annotation.stage {
            AnnotationStage::Start => {
                open.push((annotation.name, regions.len()));
                regions.push(AnnotationSpan {
                    first: Some(until.map_or(EventIndex(0), |event| EventIndex(event.0 + 1))),
                    from_us: annotation.time_us,
                    ..region
                });
            }
            AnnotationStage::End => {
                let matching = open.iter().rposition(|(name, _)| *name == annotation.name);
                let started = matching.map(|position| open.remove(position).1);
                if let Some(region) = started.and_then(|index| regions.get_mut(index)) {
                    region.last = until;
                    region.to_us = annotation.time_us;
                } else {
                    regions.push(AnnotationSpan {
                        last: until,
                        to_us: annotation.time_us,
                        ..region
                    });
                }
            }
        }
    }
    regions
}

fn annotations(scope: &Scope<'_>, axis: Axis, from: i64, to: i64, most: u32) -> Annotations {
    let bounds = |region: &AnnotationSpan| match axis {
        Axis::Events => (
            region.first.map_or(i64::MIN, |event| i64::from(event.0)),
            region.last.map_or(i64::MAX, |event| i64::from(event.0) + 1),
        ),
        Axis::Time => (
            region.from_us.unwrap_or(i64::MIN),
            region.to_us.unwrap_or(i64::MAX),
        ),
    };
    let mut inside: Vec<(i64, usize, &AnnotationSpan)> = scope
        .device
        .regions
        .iter()
        .enumerate()
        .filter_map(|(order, region)| {
            let (start, end) = bounds(region);
            let length = end.min(to).saturating_sub(start.max(from));
            (start < to && end >= from).then_some((length, order, region))
        })
        .collect();
    let most = most as usize;
    let left_out = inside.len().saturating_sub(most);
    inside.sort_by_key(|&(length, order, _)| (std::cmp::Reverse(length), order));
    inside.truncate(most);
    inside.sort_by_key(|&(_, order, _)| order);
    Annotations {
        spans: inside
            .into_iter()
            .map(|(_, _, span)| span.clone())
            .collect(),
        left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
    }
}
