//! Curves and lanes: one value a pixel column, from the pyramid of the sums.

use std::ops::Range;

use crate::ids::EventIndex;
use crate::model::Action;
use crate::query::engine::Scope;
use crate::query::{Axis, CurveSeries, Curves, Series};
use crate::replay::FlushKind;
use crate::store::DeviceRecord;

/// More columns than any screen has.
const MOST_COLUMNS: u32 = 16_384;

pub(super) fn curves(scope: &Scope<'_>, axis: Axis, range: Range<i64>, columns: u32) -> Curves {
    let columns = columns.clamp(1, MOST_COLUMNS);
    let replay = &scope.device.replay;
    let events = &scope.record.events;
    let edges = edges(scope.record, replay.events(), axis, &range, columns);
    let mut series = vec![CurveSeries::default(); Series::ALL.len()];
    for (from, to) in pairs(&edges) {
        let extremes = replay.sums().range(replay, events, from, to);
        let values = extremes
            .min
            .into_iter()
            .zip(extremes.max)
            .zip(extremes.last.values());
        for (curve, ((min, max), last)) in series.iter_mut().zip(values) {
            curve.min.push(min);
            curve.max.push(max);
            curve.last.push(last);
        }
    }
    let mut curves = Curves {
        series,
        segment_allocs: vec![0; columns as usize],
        segment_frees: vec![0; columns as usize],
        empty_caches: vec![0; columns as usize],
        ooms: vec![0; columns as usize],
        first_events: edges,
    };
    fill_lanes(scope, &mut curves);
    curves
}

fn pairs(edges: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    edges.windows(2).filter_map(|pair| match pair {
        [from, to] => Some((*from, *to)),
        _ => None,
    })
}

/// First event of each column, and the first behind the last.
fn edges(
    record: &DeviceRecord,
    events: u32,
    axis: Axis,
    range: &Range<i64>,
    columns: u32,
) -> Vec<u32> {
    let width = i128::from(range.end.saturating_sub(range.start).max(1));
    (0..=columns)
        .map(|column| {
            let offset = width * i128::from(column) / i128::from(columns);
            let position = i64::try_from(i128::from(range.start) + offset).unwrap_or(i64::MAX);
            let event = match axis {
                Axis::Events => u32::try_from(position.max(0)).unwrap_or(u32::MAX),
                Axis::Time => {
                    let before = record.events.count_until(position.saturating_sub(1));
                    u32::try_from(before).unwrap_or(u32::MAX)
                }
            };
            event.min(events)
        })
        .collect()
}

fn fill_lanes(scope: &Scope<'_>, curves: &mut Curves) {
    let edges = &curves.first_events;
    let (Some(&first), Some(&end)) = (edges.first(), edges.last()) else {
        return;
    };
    let column = |event: u32| {
        let after = edges.partition_point(|&edge| edge <= event);
        after.checked_sub(1)
    };
    let count = |lane: &mut Vec<u32>, event: u32| {
        if let Some(slot) = column(event).and_then(|column| lane.get_mut(column)) {
            *slot += 1;
        }
    };
    for event in first..end {
        match scope.record.events.action(EventIndex(event)) {
            Some(Action::SegmentAlloc | Action::SegmentMap) => {
                count(&mut curves.segment_allocs, event);
            }
            Some(Action::SegmentFree | Action::SegmentUnmap) => {
                count(&mut curves.segment_frees, event);
            }
            Some(Action::Oom) => count(&mut curves.ooms, event),
            _ => {}
        }
    }
    let flushes = scope.device.replay.flushes().iter();
    for flush in flushes.filter(|flush| flush.kind == FlushKind::EmptyCache) {
        if (first..end).contains(&flush.first.0) {
            count(&mut curves.empty_caches, flush.first.0);
        }
    }
}
