//! What a stage asks in a frame, and the last answers that its pictures are drawn from.

use std::rc::Rc;

use shared::ids::{DeviceIndex, EventIndex};
use shared::query::{
    AnnotationSpan, BlockDetails, Curves, FreeList, LifeView, MemoryMap, Query, Reply, Step,
};

use shared::verify::{DeviceAgreement, Why};

use super::bell::Topic;
use super::link::Selection;
use super::slot::View;
use super::stage::{Stage, StageState};
use crate::draw::frame;
use crate::view::scale::Span;

/// Rows of the free list to ask for.
const FREE_ROWS: u32 = 18;
/// Regions to ask for at most.
const MOST_REGIONS: u32 = 400;

impl Stage {
    /// Lets time pass and asks what is missing. Says whether another frame is wanted.
    pub(crate) fn advance(self: &Rc<Self>, now_ms: f64) -> bool {
        let (moved, is_playing, ended) = {
            let mut state = self.state.borrow_mut();
            let passed_ms = now_ms - state.last_frame_ms;
            state.last_frame_ms = now_ms;
            let was_playing = state.transport.is_playing;
            let moved = state.transport.advance(passed_ms);
            let is_playing = state.transport.is_playing;
            state.is_dirty |= moved;
            state.is_link_stale |= moved;
            (moved, is_playing, was_playing && !is_playing)
        };
        if moved {
            self.follow_moment();
        }
        if ended {
            self.bell.ring(Topic::TRANSPORT);
        }
        self.ask_missing();
        self.ring_waiting(now_ms);
        is_playing || self.state().waiting.is_some()
    }

    /// Rings for answers at ten times a second at most while it plays, at once otherwise.
    fn ring_waiting(&self, now_ms: f64) {
        let topic = {
            let mut state = self.state.borrow_mut();
            let is_due = !state.transport.is_playing || now_ms - state.last_ring_ms >= 100.0;
            if !is_due {
                return;
            }
            state.last_ring_ms = now_ms;
            state.waiting.take()
        };
        if let Some(topic) = topic {
            self.bell.ring(topic);
        }
    }

    fn ask_missing(self: &Rc<Self>) {
        let Some(device) = self.device().map(|device| device.device) else {
            return;
        };
        for (view, query) in self.wanted(device) {
            if self.state.borrow_mut().slots[view as usize].wants(&query) {
                let stage = Rc::clone(self);
                let asked = query.clone();
                self.host
                    .ask(query, move |reply| stage.answered(view, asked, reply));
            }
        }
    }

    /// What each view needs to know to show the moment.
    fn wanted(&self, device: DeviceIndex) -> Vec<(View, Query)> {
        let state = self.state();
        let whole = self.whole_span(state.device, state.axis);
        let range = |span: Span| (span.first.floor() as i64, span.last.ceil() as i64);
        let (from, to) = range(state.span);
        let axis = state.axis;
        let mut wanted = Vec::new();
        if state.curve_columns > 0 {
            let columns = state.curve_columns;
            wanted.push((
                View::Curves,
                Query::Curves {
                    device,
                    axis,
                    from,
                    to,
                    columns,
                },
            ));
            let (from, to) = range(whole);
            wanted.push((
                View::Whole,
                Query::Curves {
                    device,
                    axis,
                    from,
                    to,
                    columns,
                },
            ));
        }
        if self.overview.annotations > 0 {
            let most = MOST_REGIONS;
            wanted.push((
                View::Annotations,
                Query::Annotations {
                    device,
                    axis,
                    from,
                    to,
                    most,
                },
            ));
        }
        let at = EventIndex(state.transport.at);
        if state.finest_bytes > 0 {
            let finest_bytes = state.finest_bytes;
            wanted.push((
                View::Map,
                Query::Map {
                    device,
                    at,
                    finest_bytes,
                },
            ));
        }
        wanted.push((View::Step, Query::Step { device, at }));
        wanted.push((
            View::FreeList,
            Query::FreeList {
                device,
                at,
                rows: FREE_ROWS,
            },
        ));
        if let Some(life) = state.step().and_then(|step| step.life) {
            wanted.push((View::StepLife, Query::Life { device, life }));
        }
        match state.selection {
            Some(Selection::Life(life)) => {
                wanted.push((View::Selected, Query::Life { device, life }));
            }
            Some(Selection::Address(address)) => {
                wanted.push((
                    View::Selected,
                    Query::BlockAt {
                        device,
                        at,
                        address,
                    },
                ));
            }
            None => {}
        }
        if state.is_why_open {
            wanted.push((View::Why, Query::Why { device, at }));
        }
        // Takes its time, so the pictures come first.
        if state.map().is_some() && state.curves().is_some() && state.step().is_some() {
            wanted.push((View::Agreement, Query::Agreement { device }));
        }
        wanted
    }

    fn answered(&self, view: View, query: Query, reply: Reply) {
        let topic = match view {
            View::Curves | View::Whole | View::Annotations => Topic::CURVES,
            View::Map => Topic::MAP,
            View::Step | View::StepLife | View::Why => Topic::STEP,
            View::Agreement => Topic::AGREEMENT,
            View::FreeList => Topic::FREE_LIST,
            View::Selected => Topic::SELECTION,
        };
        {
            let mut state = self.state.borrow_mut();
            state.slots[view as usize].answered(query, Rc::new(reply));
            state.is_dirty = true;
            state.waiting = Some(state.waiting.map_or(topic, |waiting| waiting | topic));
        }
        frame::request();
    }
}

/// The last answers.
impl StageState {
    fn reply(&self, view: View) -> Option<&Reply> {
        self.slots[view as usize]
            .answer()
            .map(|(_, reply)| &**reply)
    }

    fn curves_of(&self, view: View) -> Option<(i64, i64, &Curves)> {
        match self.slots[view as usize].answer() {
            Some((Query::Curves { from, to, .. }, reply)) => match &**reply {
                Reply::Curves(curves) => Some((*from, *to, curves)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The curves with the range that they cover.
    pub(crate) fn curves(&self) -> Option<(i64, i64, &Curves)> {
        self.curves_of(View::Curves)
    }

    /// The curves of the whole record.
    pub(crate) fn whole_curves(&self) -> Option<(i64, i64, &Curves)> {
        self.curves_of(View::Whole)
    }

    pub(crate) fn regions(&self) -> &[AnnotationSpan] {
        match self.reply(View::Annotations) {
            Some(Reply::Annotations(annotations)) => &annotations.spans,
            _ => &[],
        }
    }

    pub(crate) fn map(&self) -> Option<&MemoryMap> {
        match self.reply(View::Map) {
            Some(Reply::Map(map)) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn step(&self) -> Option<&Step> {
        match self.reply(View::Step) {
            Some(Reply::Step(step)) => Some(step),
            _ => None,
        }
    }

    pub(crate) fn free_list(&self) -> Option<&FreeList> {
        match self.reply(View::FreeList) {
            Some(Reply::FreeList(list)) => Some(list),
            _ => None,
        }
    }

    /// The life that the step belongs to.
    pub(crate) fn step_life(&self) -> Option<&LifeView> {
        let life = self.step()?.life?;
        match self.reply(View::StepLife) {
            Some(Reply::Life(Some(found))) if found.life == life => Some(found),
            _ => None,
        }
    }

    /// The life that is selected, or that lies at the address selected.
    pub(crate) fn selected_life(&self) -> Option<&LifeView> {
        match self.reply(View::Selected) {
            Some(Reply::Life(Some(life))) => Some(life),
            Some(Reply::Block(Some(details))) => details.life.as_ref(),
            _ => None,
        }
    }

    /// What lies at the address selected.
    pub(crate) fn selected_block(&self) -> Option<&BlockDetails> {
        match self.reply(View::Selected) {
            Some(Reply::Block(Some(details))) => Some(details),
            _ => None,
        }
    }

    /// How far the allocator agrees with the record.
    pub(crate) fn agreement(&self) -> Option<&DeviceAgreement> {
        match self.reply(View::Agreement) {
            Some(Reply::Agreement(agreement)) => Some(agreement),
            _ => None,
        }
    }

    /// Why the step happened; the inner `None` where there is nothing to explain.
    pub(crate) fn why(&self) -> Option<Option<&Why>> {
        match self.reply(View::Why) {
            Some(Reply::Why(why)) => Some(why.as_deref()),
            _ => None,
        }
    }
}
