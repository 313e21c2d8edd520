//! How much memory the program could get. Snapshots name neither the size of the card nor a
//! memory fraction, but every request that was refused, or was not, bounds them.

use serde::{Deserialize, Serialize};

use crate::ids::EventIndex;
use crate::model::{Action, Event};
use crate::replay::{FlushKind, Replay};
use crate::settings::Settings;
use crate::store::{DeviceRecord, Recording};
use crate::units::GIB;

/// Where nothing was ever refused and the recording does not say, the card is this large: larger
/// than any, so that it refuses nothing either.
const LARGER_THAN_ANY: u64 = 1024 * GIB;

/// What a record shows of the memory that the program could get, in bytes held at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// So much it got: the most that was held, or that a request which was served would have
    /// needed as a new segment.
    pub fits_bytes: u64,
    /// So much it did not get: the least of what was held plus the segment that was refused.
    pub refused_bytes: Option<u64>,
    /// What the driver had for the program when a request failed: held plus free on the card.
    pub available_bytes: Option<u64>,
    /// Whether a request failed although the card had room, so that a memory fraction was set.
    pub limit_shows: bool,
    /// Requests that were refused at first.
    pub refusals: u32,
    /// First events of bursts that look like retries, but would have fitted: calls of
    /// `empty_cache()` just before a request.
    not_retries: Vec<EventIndex>,
}

/// The card that a run takes place on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its size.
    pub capacity_bytes: u64,
    /// What others use of it.
    pub others_bytes: u64,
    /// What the program may hold at most (memory fraction).
    pub limit_bytes: Option<u64>,
    /// How the size is known.
    pub capacity_from: Knowledge,
    /// How the limit is known; [`Knowledge::Nothing`] where there is none.
    pub limit_from: Knowledge,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knowledge {
    /// It was asked for.
    Chosen,
    /// The recording says it.
    Recorded,
    /// Bounded by what was served and what was refused; the lower bound is taken.
    Bounded,
    /// Nothing says it, so nothing is refused.
    Nothing,
}

impl Bounds {
    /// What the record of one device shows.
    #[must_use]
    pub fn find(recording: &Recording, record: &DeviceRecord, replay: &Replay) -> Self {
        let mut walk = Walk {
            settings: replay.settings(),
            reserved: replay.sums().start().reserved,
            released: None,
            grown: None,
            served: replay.sums().start().reserved,
            refused: Vec::new(),
            bounds: Self::default(),
        };
        for (index, event) in record.events.iter() {
            walk.event(index, &event);
        }
        let (served, refused) = (walk.served, walk.refused);
        let mut bounds = walk.bounds;
        bounds.fits_bytes = served;
        let card = recording.environment.card;
        let known = card.limit_bytes.unwrap_or(0);
        for refusal in refused {
            let kind = refusal.burst.and_then(|first| replay.flush_at(first));
            let kind = kind.map(|flush| flush.kind);
            let certain = refusal.burst.is_none();
            let retried = matches!(kind, Some(FlushKind::Retry | FlushKind::Oversize));
            if certain || (retried && refusal.bytes > served.max(known)) {
                bounds.refusals += 1;
                let least = bounds.refused_bytes.unwrap_or(u64::MAX);
                bounds.refused_bytes = Some(least.min(refusal.bytes));
            } else if let Some(first) = refusal.burst {
                let named = record.events.get(first).map(|event| event.stack);
                if named == Some(crate::ids::StackId(0)) && kind == Some(FlushKind::Retry) {
                    bounds.not_retries.push(first);
                }
            }
        }
        bounds
    }

    /// Whether a burst that looks like a retry is a call of `empty_cache()`.
    pub(super) fn is_not_a_retry(&self, first: EventIndex) -> bool {
        self.not_retries.contains(&first)
    }

    /// The card as the recording says or shows it.
    #[must_use]
    pub fn card(&self, recording: &Recording) -> Card {
        let stated = recording.environment.card;
        let mut card = Card {
            capacity_bytes: stated.total_bytes.unwrap_or(LARGER_THAN_ANY),
            others_bytes: 0,
            limit_bytes: stated.limit_bytes,
            capacity_from: Knowledge::Nothing,
            limit_from: Knowledge::Nothing,
        };
        if let Some(total) = stated.total_bytes {
            card.capacity_from = Knowledge::Recorded;
            let free = stated.base_free_bytes.unwrap_or(total);
            card.others_bytes = total.saturating_sub(free);
        }
        if stated.limit_bytes.is_some() {
            card.limit_from = Knowledge::Recorded;
        } else if self.refused_bytes.is_some() {
            self.bound(recording, &mut card);
        }
        card
    }

    /// Something refused what is said nowhere: a fraction if the card had room, else the card.
    fn bound(&self, recording: &Recording, card: &mut Card) {
        let room = card.capacity_bytes - card.others_bytes.min(card.capacity_bytes);
        let stated = card.capacity_from == Knowledge::Recorded;
        let collects = recording.settings().garbage_collection_threshold > 0.0;
        let refused = self.refused_bytes.unwrap_or(u64::MAX);
        if self.limit_shows || collects || (stated && refused <= room) {
            card.limit_bytes = Some(self.fits_bytes);
            card.limit_from = Knowledge::Bounded;
        } else if !stated {
            card.capacity_bytes = self.available_bytes.unwrap_or(self.fits_bytes);
            card.capacity_bytes = card.capacity_bytes.max(self.fits_bytes);
            card.capacity_from = Knowledge::Bounded;
        }
    }
}

struct Refusal {
    /// Held and refused together.
    bytes: u64,
    /// The burst that followed; `None` for a request that failed in the end.
    burst: Option<EventIndex>,
}

struct Walk<'a> {
    settings: &'a Settings,
    reserved: u64,
    /// The burst of releases just before, and what was held before it.
    released: Option<(EventIndex, u64)>,
    /// What was held before the driver was asked for the request under way.
    grown: Option<u64>,
    served: u64,
    refused: Vec<Refusal>,
    bounds: Bounds,
}

impl Walk<'_> {
    fn event(&mut self, index: EventIndex, event: &Event) {
        match event.action {
            Action::SegmentFree | Action::SegmentUnmap => {
                self.released.get_or_insert((index, self.reserved));
                self.reserved = self.reserved.saturating_sub(event.size_bytes);
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                self.grown.get_or_insert(self.reserved);
                self.reserved = self.reserved.saturating_add(event.size_bytes);
                self.served = self.served.max(self.reserved);
            }
            Action::FreeCompleted => {}
            Action::Alloc => self.request_served(event),
            Action::Oom => self.request_failed(event),
            _ => self.end_request(),
        }
    }

    fn request_served(&mut self, event: &Event) {
        let rounded = self.settings.round(event.size_bytes);
        let segment = self.settings.segment_bytes(rounded);
        if let Some(held) = self.grown {
            self.served = self.served.max(held.saturating_add(segment));
            self.refused_at_first(segment);
        }
        self.end_request();
    }

    fn request_failed(&mut self, event: &Event) {
        let segment = self.settings.segment_bytes(event.size_bytes);
        self.refused_at_first(segment);
        self.refused.push(Refusal {
            bytes: self.reserved.saturating_add(segment),
            burst: None,
        });
        // The event carries the driver's free bytes in place of an address (§12).
        let free = event.address;
        let available = self.reserved.saturating_add(free);
        let least = self.bounds.available_bytes.unwrap_or(u64::MAX);
        self.bounds.available_bytes = Some(least.min(available));
        self.bounds.limit_shows |= free >= segment;
        self.end_request();
    }

    fn refused_at_first(&mut self, segment: u64) {
        if let Some((first, held)) = self.released {
            self.refused.push(Refusal {
                bytes: held.saturating_add(segment),
                burst: Some(first),
            });
        }
    }

    fn end_request(&mut self) {
        self.released = None;
        self.grown = None;
    }
}
