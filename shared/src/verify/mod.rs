//! Does the allocator of the specification agree with a recording?
//!
//! The recording's own requests are put to the allocator, in the state in which the record began.
//! Taken from the recording are the allocations and frees, what the driver answered, and that a
//! flush happened; every address, size and order is predicted and held against what was recorded.
//! Start with [`verify`].

mod assume;
mod check;
mod end;
mod expected;
mod reserved;
mod walk;
mod why;

use serde::{Deserialize, Serialize};

use crate::allocator::TraceEvent;
use crate::ids::{DeviceIndex, EventIndex};
use crate::replay::{Cursor, Replay};
use crate::store::{DeviceRecord, Recording};
use crate::warning::WarningKind;

pub use why::{Why, why};

/// What verifying a recording came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every event is as predicted.
    Agrees,
    /// An event differs from the prediction.
    Disagrees,
    /// Nothing contradicts, but something cannot be known: pools that events do not name, settings
    /// that changed on the way, or the size of a block from before the record.
    Incomplete,
    /// No allocator can have done this: addresses that are no multiples of 512, overlaps, sums
    /// that do not add up.
    Impossible,
    /// Neither events nor segments.
    Empty,
}

/// The first event that is not as predicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Which event; the number of events when the final state differs.
    pub event: EventIndex,
    /// What the recording says; `None` at its end.
    pub recorded: Option<TraceEvent>,
    /// What the allocator would have done; `None` when nothing.
    pub predicted: Option<TraceEvent>,
    /// The cached blocks that the request could choose from (address, bytes), in search order,
    /// the 16 nearest to its size.
    pub candidates: Vec<(u64, u64)>,
}

/// How far one device agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceAgreement {
    /// Which device.
    pub device: DeviceIndex,
    /// Its verdict.
    pub verdict: Verdict,
    /// All its events.
    pub events: u64,
    /// Events that are as predicted.
    pub matched: u64,
    /// The others: from the first mismatch on.
    pub unexplained: u64,
    /// The first that is not.
    pub first_mismatch: Option<Mismatch>,
    /// Blocks from before the record that may be up to 1 MiB larger than assumed.
    pub uncertain_sizes: u64,
    /// Requests that agree only if they went to a pool that no event names.
    pub assumed_pools: u64,
    /// Places where the recording agrees only if the settings changed there.
    pub assumed_settings: Vec<EventIndex>,
}

/// How far a recording agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Its verdict: the worst of its devices.
    pub verdict: Verdict,
    /// By device.
    pub devices: Vec<DeviceAgreement>,
}

/// Holds a recording against the allocator.
#[must_use]
pub fn verify(recording: &Recording) -> Agreement {
    let devices = recording
        .devices
        .iter()
        .map(|record| verify_device(recording, record, &Replay::new(recording, record)))
        .collect();
    agreement(devices)
}

/// The verdict over all devices.
#[must_use]
pub fn agreement(devices: Vec<DeviceAgreement>) -> Agreement {
    let worst = [
        Verdict::Impossible,
        Verdict::Disagrees,
        Verdict::Incomplete,
        Verdict::Agrees,
    ];
    let verdict = worst
        .into_iter()
        .find(|worst| devices.iter().any(|device| device.verdict == *worst))
        .unwrap_or(Verdict::Empty);
    Agreement { verdict, devices }
}

/// Holds the record of one device against the allocator.
#[must_use]
pub fn verify_device(
    recording: &Recording,
    record: &DeviceRecord,
    replay: &Replay,
) -> DeviceAgreement {
    if is_impossible(replay) {
        return impossible(record, replay);
    }
    let start = Cursor::at_start(replay);
    match walk::Walk::from(recording, record, replay, &start) {
        Ok(walk) => assume::run(walk),
        Err(_) => impossible(record, replay),
    }
}

fn impossible(record: &DeviceRecord, replay: &Replay) -> DeviceAgreement {
    let unfit = replay.warnings().iter().find_map(|warning| {
        let crate::warning::Place::Event(_, event) = warning.first_at else {
            return None;
        };
        is_unfit(warning.kind).then_some(event)
    });
    let events = u64::from(replay.events());
    let matched = unfit.map_or(0, |event| u64::from(event.0));
    DeviceAgreement {
        device: record.device,
        verdict: Verdict::Impossible,
        events,
        matched,
        unexplained: events - matched,
        first_mismatch: None,
        uncertain_sizes: 0,
        assumed_pools: 0,
        assumed_settings: Vec::new(),
    }
}

/// Whether no allocator can have left such a record.
fn is_impossible(replay: &Replay) -> bool {
    replay
        .warnings()
        .iter()
        .any(|warning| is_unfit(warning.kind))
}

fn is_unfit(kind: WarningKind) -> bool {
    matches!(
        kind,
        WarningKind::UnalignedAddress
            | WarningKind::OutsideSegments
            | WarningKind::Overlap
            | WarningKind::SegmentSum
            | WarningKind::StatedSum
    )
}
