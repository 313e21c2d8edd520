//! Lists of events. An event goes into columns when its dictionary is complete, before the list
//! that holds it says that it does; the list then claims the rows that nobody has claimed yet.

use crate::ids::EventIndex;
use crate::model::Event;
use crate::read::ReadErrorKind;
use crate::store::EventColumns;

/// The list of events of one device.
#[derive(Debug, Default)]
struct Trace {
    events: EventColumns,
    /// How many of the rows belong to the list; those behind wait to be claimed.
    claimed: usize,
}

/// All lists of events, the last of which takes new rows.
#[derive(Debug)]
pub(super) struct Traces {
    traces: Vec<Trace>,
}

const ASTRAY: ReadErrorKind =
    ReadErrorKind::Malformed("trace entries and the lists that hold them do not fit together");

impl Traces {
    pub(super) fn new() -> Self {
        Self {
            traces: vec![Trace::default()],
        }
    }

    /// Appends a row; its number within the list that takes rows.
    #[inline]
    pub(super) fn push(&mut self, event: &Event) -> Result<u32, ReadErrorKind> {
        let trace = self.traces.last_mut().ok_or(ASTRAY)?;
        let row = u32::try_from(trace.events.len()).unwrap_or(u32::MAX);
        if !trace.events.push(event) {
            return Err(ReadErrorKind::Limit {
                what: "there are events, streams or pools",
                limit: u64::from(u16::MAX),
            });
        }
        Ok(row)
    }

    /// Appends a copy of an earlier row of the same list.
    pub(super) fn repeat(&mut self, row: u32) -> Result<u32, ReadErrorKind> {
        let trace = self.traces.last().ok_or(ASTRAY)?;
        let event = trace.events.get(EventIndex(row)).ok_or(ASTRAY)?;
        self.push(&event)
    }

    /// Drops the newest row, which turned out to be in no list.
    pub(super) fn disown(&mut self, row: u32) {
        if let Some(trace) = self.traces.last_mut()
            && trace.events.len() == row as usize + 1
            && trace.claimed <= row as usize
        {
            trace.events.truncate(row as usize);
        }
    }

    /// Gives the `count` unclaimed rows to the list that already has trace number `owner`, or to a
    /// new list. The trace number of the list.
    pub(super) fn claim(&mut self, owner: Option<u32>, count: usize) -> Result<u32, ReadErrorKind> {
        let last = self.traces.len().checked_sub(1).ok_or(ASTRAY)?;
        let open = self.traces.get_mut(last).ok_or(ASTRAY)?;
        if open.claimed + count != open.events.len() {
            return Err(ASTRAY);
        }
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let goes_on = owner == Some(number(last));
        if goes_on || (owner.is_none() && open.claimed == 0) {
            open.claimed += count;
            return Ok(number(last));
        }
        // Rows of another list wait behind those of the open one.
        let rows: Vec<Event> = (open.claimed..open.events.len())
            .filter_map(|row| open.events.get(EventIndex(number(row))))
            .collect();
        open.events.truncate(open.claimed);
        let at = match owner {
            Some(owner) => owner as usize,
            None => {
                self.traces.push(Trace::default());
                last + 1
            }
        };
        let trace = self.traces.get_mut(at).ok_or(ASTRAY)?;
        for event in &rows {
            if !trace.events.push(event) {
                return Err(ASTRAY);
            }
        }
        trace.claimed += count;
        Ok(number(at))
    }

    /// Events in a list.
    pub(super) fn len(&self, trace: u32) -> usize {
        self.traces
            .get(trace as usize)
            .map_or(0, |trace| trace.claimed)
    }

    /// Takes the events of a list out; `None` when they were taken before.
    pub(super) fn take(&mut self, trace: u32) -> Option<EventColumns> {
        let trace = self.traces.get_mut(trace as usize)?;
        if trace.claimed == 0 {
            return None;
        }
        let mut events = std::mem::take(&mut trace.events);
        events.truncate(trace.claimed);
        trace.claimed = 0;
        Some(events)
    }
}
