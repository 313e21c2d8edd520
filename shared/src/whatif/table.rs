//! Several runs side by side, in slices, with what is needed to believe them.

use serde::{Deserialize, Serialize};

use crate::allocator::{DriverCall, cost_on_h200_ns};
use crate::ids::EventIndex;
use crate::model::{Action, Event};
use crate::replay::{FlushKind, Replay};
use crate::store::{DeviceRecord, Recording};
use crate::whatif::bounds::{Bounds, Card};
use crate::whatif::requests::Requests;
use crate::whatif::run::{Figures, Run};
use crate::whatif::search::{Advice, advise, grid};
use crate::whatif::variants::Variant;

/// Runs of several variants over the record of one device, as far as they have come.
#[derive(Debug)]
pub struct Question {
    requests: Requests,
    bounds: Bounds,
    card: Card,
    recorded: Figures,
    /// The recorded circumstances first, then the variants.
    entries: Vec<Entry>,
    /// Entries that are done.
    done: usize,
    /// The variant that a search holds the others against.
    searched_from: Option<u32>,
}

#[derive(Debug)]
struct Entry {
    variant: Variant,
    run: Result<Run, Trouble>,
}

/// Why a variant has no run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// PyTorch would refuse its settings.
    Settings {
        /// In these words.
        message: String,
    },
    /// The record begins in a state that no allocator can be in.
    Start,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which of the variants asked for, from 0.
    pub variant: u32,
    /// Its settings text.
    pub conf: String,
    /// The card it ran on.
    pub card: Card,
    /// What it came to.
    pub outcome: Result<Figures, Trouble>,
}

/// How far the replay of the recorded circumstances is from the recording itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closeness {
    /// What the recording shows.
    pub recorded: Figures,
    /// What the replay came to.
    pub replayed: Figures,
    /// The first event after which the replay holds more or less than was recorded, as near as
    /// the curve shows it.
    pub first_apart: Option<EventIndex>,
}

/// What was there before the first request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedWith {
    /// The requests begin before this event.
    pub at: EventIndex,
    /// Live blocks. They and the segments stay as the recording had arranged them: other settings
    /// count from here on, as if they had been changed at this moment.
    pub live_blocks: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
    /// Bytes held.
    pub reserved_bytes: u64,
}

/// All runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The variants: those without a failed request first, then by bytes held at the peak, then
    /// by driver calls.
    pub rows: Vec<Row>,
    /// How far to believe them; `None` when the record begins in an impossible state.
    pub closeness: Option<Closeness>,
    /// What the recording shows of the memory it could get.
    pub bounds: Bounds,
    /// The card that the recorded circumstances ran on.
    pub card: Card,
    /// What was there at the start.
    pub start: StartedWith,
    /// Requests asked again.
    pub requests: u64,
    /// Events that do not fit the state, so that nothing was asked for them.
    pub skipped: u64,
}

impl Question {
    /// Asks how `variants` fare with what the program asked after the first `from` events.
    #[must_use]
    pub fn new(
        recording: &Recording,
        record: &DeviceRecord,
        replay: &Replay,
        from: u32,
        variants: &[Variant],
    ) -> Self {
        let requests = Requests::new(recording, record, replay, from);
        let bounds = Bounds::find(recording, record, replay);
        let card = bounds.card(recording);
        let mut question = Self {
            recorded: recorded_figures(record, replay, requests.from),
            requests,
            bounds,
            card,
            entries: Vec::new(),
            done: 0,
            searched_from: None,
        };
        question.add(recording, &Variant::default());
        for variant in variants {
            question.add(recording, variant);
        }
        question
    }

    /// Adds a variant.
    pub fn add(&mut self, recording: &Recording, variant: &Variant) {
        let run = variant
            .settings(recording)
            .map_err(|error| Trouble::Settings {
                message: error.to_string(),
            })
            .and_then(|settings| {
                let card = variant.card(self.card);
                Run::new(&self.requests, variant, settings, card).map_err(|_| Trouble::Start)
            });
        self.entries.push(Entry {
            variant: variant.clone(),
            run,
        });
    }

    /// Adds settings worth trying in these circumstances, and the recorded settings to hold them
    /// against; [`advice`](Self::advice) says what came of it.
    pub fn add_search(&mut self, recording: &Recording, circumstances: &Variant) {
        let own = Variant {
            conf: None,
            ..circumstances.clone()
        };
        let known = self.variants().position(|variant| *variant == own);
        let position = known.unwrap_or_else(|| {
            self.add(recording, &own);
            self.entries.len() - 2
        });
        self.searched_from = u32::try_from(position).ok();
        let own_conf = recording.settings().text;
        for conf in grid(own.card(self.card)) {
            let variant = Variant {
                conf: Some(conf),
                ..circumstances.clone()
            };
            let is_own = variant.conf.as_deref() == Some(own_conf.as_str());
            if !is_own && !self.variants().any(|known| *known == variant) {
                self.add(recording, &variant);
            }
        }
    }

    /// What a search came to; `None` without one.
    #[must_use]
    pub fn advice(&self, table: &Table) -> Option<Advice> {
        let row = |row: &&Row| Some(row.variant) == self.searched_from;
        let before = table.rows.iter().find(row)?;
        advise(before, &table.rows)
    }

    /// Goes on for about so many requests; `true` when all runs are done.
    pub fn advance(&mut self, most: usize) -> bool {
        let mut rest = most;
        while let Some(entry) = self.entries.get_mut(self.done) {
            if let Ok(run) = &mut entry.run {
                let before = run.done();
                if !run.advance(&self.requests, rest) {
                    return false;
                }
                rest = rest.saturating_sub(run.done() - before);
            }
            self.done += 1;
        }
        true
    }

    /// Requests done and requests in all, over all runs.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        let each = self.requests.len() as u64;
        let runs = self
            .entries
            .iter()
            .filter_map(|entry| entry.run.as_ref().ok());
        let (done, all) = runs.fold((0, 0), |(done, all), run| {
            (done + run.done() as u64, all + each)
        });
        (done, all)
    }

    /// What was asked.
    #[must_use]
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// The run of a variant, from 0; of the recorded circumstances for `None`.
    #[must_use]
    pub fn run(&self, variant: Option<u32>) -> Option<&Run> {
        let index = variant.map_or(0, |variant| variant as usize + 1);
        self.entries.get(index)?.run.as_ref().ok()
    }

    /// The variants, in the order in which they were asked for.
    pub fn variants(&self) -> impl Iterator<Item = &Variant> {
        self.entries.iter().skip(1).map(|entry| &entry.variant)
    }

    /// The card that the recorded circumstances run on.
    #[must_use]
    pub fn card(&self) -> Card {
        self.card
    }

    /// All runs side by side, as far as they have come.
    #[must_use]
    pub fn table(&self, recording: &Recording, record: &DeviceRecord, replay: &Replay) -> Table {
        let start = &self.requests.start;
        let mut rows: Vec<Row> = (0..)
            .zip(self.entries.iter().skip(1))
            .map(|(variant, entry)| Row {
                variant,
                conf: match &entry.variant.conf {
                    Some(conf) => conf.clone(),
                    None => recording.settings().text,
                },
                card: entry.variant.card(self.card),
                outcome: entry.run.as_ref().map(Run::figures).map_err(Trouble::clone),
            })
            .collect();
        rows.sort_by_key(|row| rank(&row.outcome));
        Table {
            rows,
            closeness: self.run(None).map(|run| Closeness {
                recorded: self.recorded,
                replayed: run.figures(),
                first_apart: first_apart(run, record, replay, self.requests.from),
            }),
            bounds: self.bounds.clone(),
            card: self.card,
            start: StartedWith {
                at: EventIndex(self.requests.from),
                live_blocks: start.live.len() as u64,
                allocated_bytes: start.sums.allocated,
                reserved_bytes: start.sums.reserved,
            },
            requests: u64::from(self.requests.mallocs()),
            skipped: u64::from(self.requests.skipped()),
        }
    }
}

/// Orders outcomes, the best first.
pub(super) fn rank(outcome: &Result<Figures, Trouble>) -> (bool, u64, u64, u64) {
    match outcome {
        Ok(f) => (false, f.ooms, f.peak_reserved_bytes, f.driver_calls),
        Err(_) => (true, 0, 0, 0),
    }
}

/// The first event after which a run holds other than what was recorded. Within an operation the
/// two may differ: a run does all of it at its last event.
fn first_apart(run: &Run, record: &DeviceRecord, replay: &Replay, from: u32) -> Option<EventIndex> {
    let curve = run.reserved();
    let mut reserved = replay.sums().at(replay, &record.events, from).reserved;
    for index in (from..replay.events()).map(EventIndex) {
        let event = record.events.get(index)?;
        reserved = reserved_after(reserved, &event);
        let is_within = event.action.is_driver_call() || event.action == Action::FreeCompleted;
        let behind = index.0 + 1;
        let is_last = (behind - from).is_multiple_of(curve.width()) || behind == replay.events();
        if is_last && !is_within && curve.range(index.0, behind).last != reserved {
            return Some(index);
        }
    }
    None
}

fn reserved_after(reserved: u64, event: &Event) -> u64 {
    match event.action {
        Action::SegmentAlloc | Action::SegmentMap => reserved.saturating_add(event.size_bytes),
        Action::SegmentFree | Action::SegmentUnmap => reserved.saturating_sub(event.size_bytes),
        _ => reserved,
    }
}

/// What the recording itself shows from an event on.
fn recorded_figures(record: &DeviceRecord, replay: &Replay, from: u32) -> Figures {
    let mut sums = replay.sums().at(replay, &record.events, from);
    let mut figures = Figures {
        peak_reserved_bytes: sums.reserved,
        peak_allocated_bytes: sums.allocated,
        waste_at_peak_bytes: sums.reserved.saturating_sub(sums.requested),
        ..Figures::default()
    };
    let whole = replay
        .sums()
        .range(replay, &record.events, from, replay.events());
    let [allocated, _, _, reserved, ..] = whole.max;
    figures.peak_allocated_bytes = figures.peak_allocated_bytes.max(allocated);
    let mut ns = 0.0;
    let mut is_new_peak = false;
    for index in (from..replay.events()).map(EventIndex) {
        let Some(event) = record.events.get(index) else {
            continue;
        };
        if let Some(call) = driver_call(replay, index, event.action, event.size_bytes) {
            figures.driver_calls += 1;
            ns += cost_on_h200_ns(call).unwrap_or(0.0);
            sums.reserved = reserved_after(sums.reserved, &event);
            is_new_peak |= sums.reserved > figures.peak_reserved_bytes;
            figures.peak_reserved_bytes = figures.peak_reserved_bytes.max(sums.reserved);
        } else if is_new_peak && event.action == Action::Alloc {
            let after = replay.sums().at(replay, &record.events, index.0 + 1);
            figures.waste_at_peak_bytes =
                figures.peak_reserved_bytes.saturating_sub(after.requested);
            figures.peak_at = Some(index);
            is_new_peak = false;
        } else if event.action == Action::Oom {
            figures.ooms += 1;
            figures.first_oom_event.get_or_insert(index);
        }
    }
    figures.peak_reserved_bytes = figures.peak_reserved_bytes.max(reserved);
    figures.driver_ns = ns as u64;
    figures.reserved_at_end_bytes = whole.last.reserved;
    figures.segments_at_end = record.segments.len() as u64;
    figures.retries = recorded_retries(record, replay, from);
    figures
}

/// Requests that flushed the cache: those whose retry released something, and those that failed.
fn recorded_retries(record: &DeviceRecord, replay: &Replay, from: u32) -> u64 {
    let served = replay.flushes().iter().filter(|flush| {
        let next = (flush.last.0 + 1..replay.events())
            .filter_map(|index| record.events.action(EventIndex(index)))
            .find(|action| *action != Action::FreeCompleted);
        flush.first.0 >= from && flush.kind == FlushKind::Retry && next != Some(Action::Oom)
    });
    let failed = (from..replay.events())
        .filter(|index| record.events.action(EventIndex(*index)) == Some(Action::Oom));
    (served.count() + failed.count()) as u64
}

fn driver_call(
    replay: &Replay,
    index: EventIndex,
    action: Action,
    bytes: u64,
) -> Option<DriverCall> {
    let pages = || {
        let kind = replay
            .span_of(action, index)
            .and_then(|span| replay.span(span))
            .map_or_else(
                || match bytes {
                    crate::settings::SMALL_SEGMENT => crate::ids::PoolKind::Small,
                    _ => crate::ids::PoolKind::Large,
                },
                |span| span.kind,
            );
        let page_bytes = replay.settings().page_bytes(kind);
        (bytes / page_bytes.max(1), page_bytes)
    };
    match action {
        Action::SegmentAlloc => Some(DriverCall::Allocate { bytes }),
        Action::SegmentFree => Some(DriverCall::Free { bytes }),
        Action::SegmentMap => {
            let (pages, page_bytes) = pages();
            Some(DriverCall::Map { pages, page_bytes })
        }
        Action::SegmentUnmap => {
            let (pages, page_bytes) = pages();
            Some(DriverCall::Unmap { pages, page_bytes })
        }
        _ => None,
    }
}
