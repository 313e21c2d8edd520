//! Records that began late: cut from real ones, so that what was there before is known.

use shared::ids::EventIndex;
use shared::replay::{Cursor, Replay};
use shared::store::{EventColumns, Recording};
use shared::verify::{Verdict, verify};
use shared::warning::WarningKind;
use tests::fixture::{built_in, files, recording};

/// The recording without the first `cut` events of its first device.
fn without_first(recording: &Recording, cut: u32) -> Recording {
    let mut columns = EventColumns::default();
    for (index, event) in recording.devices[0].events.iter() {
        if index.0 >= cut {
            assert!(columns.push(&event), "there are few streams");
        }
    }
    let mut late = recording.clone();
    late.devices[0].events = columns;
    late
}

/// Blocks and segments: address, size, whether live.
fn layout(replay: &Replay, cursor: &Cursor) -> Vec<(u64, u64, bool)> {
    let runs = cursor.state().runs(replay);
    runs.iter()
        .flat_map(|run| &run.blocks)
        .map(|block| (block.address, block.size_bytes, block.life.is_some()))
        .collect()
}

/// Cuts a recording at several places. Returns how many start states were met exactly, and in how
/// many some block was sized only by its neighbours.
fn cut_everywhere(name: &str, recording: &Recording) -> (u32, u32) {
    let record = &recording.devices[0];
    let whole = Replay::new(recording, record);
    let (mut exact, mut inexact) = (0, 0);
    for part in 1..8 {
        let cut = whole.events() / 8 * part;
        let late = without_first(recording, cut);
        let late_record = &late.devices[0];
        let replay = Replay::new(&late, late_record);
        for kind in [
            WarningKind::FinalMismatch,
            WarningKind::UnmatchedFree,
            WarningKind::UnmatchedSegment,
            WarningKind::OutsideSegments,
            WarningKind::Overlap,
        ] {
            assert_eq!(
                replay.warnings().count(kind),
                0,
                "{name} at {cut}: {kind:?}"
            );
        }
        let mut there = Cursor::at_start(&whole);
        there.seek(&whole, &record.events, cut);
        let start = layout(&replay, &Cursor::at_start(&replay));
        if start == layout(&whole, &there) {
            exact += 1;
        } else {
            let sizes = replay.lives().filter(|(id, _)| replay.is_inferred(*id));
            assert!(sizes.count() > 0, "{name} at {cut}: a guess must be marked");
            inexact += 1;
        }
        let agreement = verify(&late);
        let first = agreement.devices[0].first_mismatch.clone();
        assert!(
            matches!(agreement.verdict, Verdict::Agrees | Verdict::Incomplete),
            "{name} at {cut}: {:?} {first:?}",
            agreement.verdict
        );
        let last = EventIndex(replay.events() - 1);
        let end = replay.sums().at(&replay, &late_record.events, last.0 + 1);
        assert_eq!(end, whole.sums().end(), "{name} at {cut}");
    }
    (exact, inexact)
}

#[test]
fn real_workloads_are_walked_back_exactly() {
    for name in [
        "varlen.default",
        "varlen.expandable",
        "kv_cat.default",
        "kv_cat.expandable",
        "switch_models.default",
        "leak.default",
        "oom.default",
    ] {
        assert_eq!(cut_everywhere(name, &built_in(name)), (7, 0), "{name}");
    }
}

#[test]
fn random_programs_are_walked_back() {
    let mut totals = (0, 0);
    for path in files("tests/data/conformance", ".pickle.zst") {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("pools") || name.starts_with("switched") {
            continue;
        }
        let (exact, inexact) = cut_everywhere(&name, &recording(&path));
        totals = (totals.0 + exact, totals.1 + inexact);
    }
    // Where it is not exact, nothing in the record shows how large a block was (rule 3).
    assert_eq!(totals.0 + totals.1, 82 * 7);
    assert!(totals.0 > 500, "{totals:?}");
}
