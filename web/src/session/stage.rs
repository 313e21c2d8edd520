//! One open recording on screen: the moment, what the pictures show of it, and the answers they are
//! drawn from. A plain cell, not Yew state: while playing it changes sixty times a second.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use shared::ids::{DeviceIndex, EventIndex};
use shared::model::Action;
use shared::query::{Axis, DeviceOverview, JumpKind, Overview, Query, Reply};

use super::bell::{Bell, Topic};
use super::link::{Link, Selection};
use super::slot::{Slot, View};
use super::transport::Transport;
use crate::draw::frame;
use crate::view::map_scale::MapScale;
use crate::view::memory_map::MapLayout;
use crate::view::scale::Span;
use crate::worker::host::Host;

/// A recording on screen.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(super) host: Host,
    pub(crate) overview: Rc<Overview>,
    pub(crate) bell: Bell,
    pub(super) state: RefCell<StageState>,
}

/// What changes about it.
#[derive(Debug)]
pub(crate) struct StageState {
    /// Place in [`Overview::devices`].
    pub(crate) device: usize,
    pub(crate) transport: Transport,
    pub(crate) axis: Axis,
    /// What the curves show.
    pub(crate) span: Span,
    pub(crate) selection: Option<Selection>,
    /// The reasons of the step are shown.
    pub(crate) is_why_open: bool,
    /// Address and bytes of the block under the pointer.
    pub(crate) hovered: Option<(u64, u64)>,
    /// Position on the axis under the pointer.
    pub(crate) hovered_at: Option<f64>,
    /// Magnification of the map, and pixels above its window.
    pub(crate) map_zoom: f32,
    pub(crate) map_scroll: f32,
    /// Pixels of the plot and bytes to a pixel of the map, which bound what is asked for.
    pub(crate) curve_columns: u32,
    pub(crate) finest_bytes: u64,
    /// Pictures have to be drawn anew.
    pub(crate) is_dirty: bool,
    /// The link no longer says what is shown.
    pub(crate) is_link_stale: bool,
    /// Scale of the map at magnification 1, for a size of its canvas.
    pub(crate) map_scale: Option<((f32, f32), MapScale)>,
    /// Where the map's blocks lie, for the pointer.
    pub(crate) map_layout: Rc<MapLayout>,
    pub(super) slots: [Slot; View::COUNT],
    /// What changed since the bell rang last.
    pub(super) waiting: Option<Topic>,
    pub(super) last_ring_ms: f64,
    pub(super) last_frame_ms: f64,
}

impl PartialEq for Stage {
    fn eq(&self, other: &Stage) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Stage {
    /// The recording as a link wants it, else at the peak of its first device.
    pub(crate) fn new(host: Host, overview: Rc<Overview>, bell: Bell, link: &Link) -> Rc<Stage> {
        let wanted = link.device.and_then(|wanted| {
            overview
                .devices
                .iter()
                .position(|device| device.device == DeviceIndex(wanted))
        });
        let fullest = || {
            let devices = overview.devices.iter().enumerate();
            devices.max_by_key(|(place, device)| (device.events, usize::MAX - place))
        };
        let device = wanted
            .or_else(|| fullest().map(|(place, _)| place))
            .unwrap_or(0);
        let state = StageState {
            device,
            transport: Transport::new(0),
            axis: Axis::Events,
            span: Span {
                first: 0.0,
                last: 1.0,
            },
            selection: link.selection,
            is_why_open: false,
            hovered: None,
            hovered_at: None,
            map_zoom: 1.0,
            map_scroll: 0.0,
            curve_columns: 0,
            finest_bytes: 0,
            is_dirty: true,
            is_link_stale: true,
            map_scale: None,
            map_layout: Rc::default(),
            slots: Default::default(),
            waiting: None,
            last_ring_ms: 0.0,
            last_frame_ms: 0.0,
        };
        let stage = Rc::new(Stage {
            host,
            overview,
            bell,
            state: RefCell::new(state),
        });
        stage.enter_device(device);
        {
            let mut state = stage.state.borrow_mut();
            if link.is_over_time && stage.time_span(device).is_some() {
                state.axis = Axis::Time;
            }
            state.span = stage.whole_span(device, state.axis);
            if let Some((first, last)) = link.zoom {
                let zoom = Span {
                    first: first as f64,
                    last: last as f64,
                };
                state.span =
                    zoom.zoomed(1.0, zoom.first, stage.whole_span(device, state.axis), 2.0);
            }
            if let Some(at) = link.at_event {
                state.transport.seek(at);
            }
            state.selection = link.selection;
        }
        stage
    }

    pub(crate) fn state(&self) -> Ref<'_, StageState> {
        self.state.borrow()
    }

    /// For the pictures, which keep there what they measured. Actions of people go through the
    /// methods below.
    pub(crate) fn state_mut(&self) -> RefMut<'_, StageState> {
        self.state.borrow_mut()
    }

    /// The device shown; `None` in a recording without any.
    pub(crate) fn device(&self) -> Option<&DeviceOverview> {
        self.overview.devices.get(self.state().device)
    }

    /// All of the axis.
    pub(crate) fn whole(&self) -> Span {
        let state = self.state();
        self.whole_span(state.device, state.axis)
    }

    /// Whether any block ever waited for a stream.
    pub(crate) fn has_pending(&self) -> bool {
        self.device().is_some_and(|device| {
            let (requested, completed) = (Action::FreeRequested, Action::FreeCompleted);
            let count = |action: Action| device.actions.get(action as usize).copied();
            device.peak.active > device.peak.allocated || count(requested) != count(completed)
        })
    }

    /// Whether the events have times.
    pub(crate) fn has_times(&self) -> bool {
        self.time_span(self.state().device).is_some()
    }

    pub(super) fn whole_span(&self, device: usize, axis: Axis) -> Span {
        let events = self
            .overview
            .devices
            .get(device)
            .map_or(0, |device| device.events);
        match (axis, self.time_span(device)) {
            (Axis::Time, Some(span)) => span,
            _ => Span {
                first: 0.0,
                last: f64::from(events.max(1)),
            },
        }
    }

    fn time_span(&self, device: usize) -> Option<Span> {
        let device = self.overview.devices.get(device)?;
        let (first, last) = (device.first_time_us?, device.last_time_us?);
        // Microseconds since 1970 are exact in a double until the year 2255.
        (last > first).then_some(Span {
            first: first as f64,
            last: last as f64 + 1.0,
        })
    }

    fn enter_device(&self, device: usize) {
        let Some(overview) = self.overview.devices.get(device) else {
            return;
        };
        let mut state = self.state.borrow_mut();
        state.device = device;
        state.transport = Transport::new(overview.events);
        state.transport.seek(
            overview
                .peak_allocated_at
                .map_or(overview.events, |at| at.0),
        );
        state.selection = None;
        state.map_scroll = 0.0;
        state.map_scale = None;
        state.slots = Default::default();
    }
}

// What people do.
impl Stage {
    /// Shows another device, at its peak.
    pub(crate) fn choose_device(&self, place: usize) {
        self.enter_device(place);
        let whole = self.whole();
        self.state.borrow_mut().span = whole;
        self.changed(Topic::TRANSPORT | Topic::STEP | Topic::SELECTION | Topic::MAP);
    }

    /// Shows the state after an event.
    pub(crate) fn seek(&self, at: u32) {
        self.state.borrow_mut().transport.seek(at);
        self.follow_moment();
        self.changed(Topic::TRANSPORT);
    }

    /// Goes some events forward or back, and stops playing.
    pub(crate) fn step(&self, by: i64) {
        {
            let mut state = self.state.borrow_mut();
            state.transport.is_playing = false;
            state.transport.step(by);
        }
        self.follow_moment();
        self.changed(Topic::TRANSPORT);
    }

    /// Starts or stops playing.
    pub(crate) fn toggle_play(&self) {
        self.state.borrow_mut().transport.toggle();
        self.changed(Topic::TRANSPORT);
    }

    /// Sets the speed as a multiple.
    pub(crate) fn choose_speed(&self, speed: f64) {
        self.state.borrow_mut().transport.speed = speed;
        self.changed(Topic::TRANSPORT);
    }

    /// Plays faster or slower.
    pub(crate) fn change_speed(&self, is_faster: bool) {
        self.state.borrow_mut().transport.change_speed(is_faster);
        self.changed(Topic::TRANSPORT);
    }

    /// Says what the jump buttons look for.
    pub(crate) fn choose_jump(&self, jump: JumpKind) {
        self.state.borrow_mut().transport.jump = jump;
        self.changed(Topic::TRANSPORT);
    }

    /// Goes to the next event of the chosen kind, or to the one before.
    pub(crate) fn jump(self: &Rc<Self>, direction: Direction) {
        let Some(device) = self.device().map(|device| device.device) else {
            return;
        };
        let query = {
            let state = self.state();
            Query::Jump {
                device,
                from: EventIndex(state.transport.at),
                kind: state.transport.jump,
                forward: direction == Direction::Forward,
            }
        };
        let stage = Rc::clone(self);
        self.host.ask(query, move |reply| {
            if let Reply::Jump(Some(at)) = reply {
                stage.state.borrow_mut().transport.is_playing = false;
                stage.seek(at.0);
            }
        });
    }

    /// Asks about the recording, beside what the pictures ask in each frame.
    pub(crate) fn ask(&self, query: Query, handler: impl FnOnce(Reply) + 'static) {
        self.host.ask(query, handler);
    }

    /// Selects a life or an address, or nothing.
    pub(crate) fn select(&self, selection: Option<Selection>) {
        {
            let mut state = self.state.borrow_mut();
            state.selection = selection;
            state.slots[View::Selected as usize].clear();
        }
        self.changed(Topic::SELECTION);
    }

    /// Shows the reasons of the step, or hides them.
    pub(crate) fn toggle_why(&self) {
        {
            let mut state = self.state.borrow_mut();
            state.is_why_open = !state.is_why_open;
            state.selection = None;
        }
        self.changed(Topic::SELECTION);
    }

    /// Lets the axis count events or time.
    pub(crate) fn choose_axis(&self, axis: Axis) {
        let device = self.state().device;
        let whole = self.whole_span(device, axis);
        {
            let mut state = self.state.borrow_mut();
            state.axis = axis;
            state.span = whole;
            for view in [View::Curves, View::Whole, View::Annotations] {
                state.slots[view as usize].clear();
            }
        }
        self.changed(Topic::CURVES);
    }

    /// Brings the curves closer (`factor` below 1) or farther; `anchor` is a position on the axis.
    pub(crate) fn zoom(&self, factor: f64, anchor: f64) {
        let whole = self.whole();
        self.set_span(|span| span.zoomed(factor, anchor, whole, 8.0));
    }

    /// Moves the curves by a share of what they show.
    pub(crate) fn pan(&self, share: f64) {
        let whole = self.whole();
        self.set_span(|span| span.moved(span.length() * share, whole));
    }

    /// Moves the curves so that a position of the axis is in their middle.
    pub(crate) fn center(&self, at: f64) {
        let whole = self.whole();
        self.set_span(|span| span.moved(at - (span.first + span.last) / 2.0, whole));
    }

    /// Shows the whole record and the whole map.
    pub(crate) fn fit(&self) {
        let whole = self.whole();
        self.set_span(|_| whole);
        self.zoom_map(0.0);
    }

    /// Magnifies the map by `factor`; 0 goes back to all of it.
    pub(crate) fn zoom_map(&self, factor: f32) {
        {
            let mut state = self.state.borrow_mut();
            let before = state.map_zoom;
            state.map_zoom = (before * factor).clamp(1.0, 4096.0);
            // What is at the top stays at the top.
            state.map_scroll *= state.map_zoom / before;
        }
        self.changed(Topic::MAP);
    }

    /// Moves the map's window down by some pixels.
    pub(crate) fn scroll_map(&self, by: f32) {
        self.state.borrow_mut().map_scroll += by;
        self.redraw();
    }

    /// Marks a block and a position as under the pointer.
    pub(crate) fn hover(&self, block: Option<(u64, u64)>, at: Option<f64>) {
        let mut state = self.state.borrow_mut();
        if (state.hovered, state.hovered_at) != (block, at) {
            (state.hovered, state.hovered_at) = (block, at);
            drop(state);
            self.redraw();
        }
    }

    fn set_span(&self, change: impl FnOnce(Span) -> Span) {
        {
            let mut state = self.state.borrow_mut();
            state.span = change(state.span);
        }
        self.changed(Topic::CURVES);
    }

    /// Where an event lies on the axis, as far as the answers say.
    pub(crate) fn position_of(&self, at: u32) -> Option<f64> {
        let state = self.state();
        if state.axis == Axis::Events {
            return Some(f64::from(at) + 0.5);
        }
        let (from, to, curves) = state.curves()?;
        let columns = curves.first_events.len().checked_sub(1)?;
        // The column in which the event lies: the last that begins no later.
        let column = curves.first_events.partition_point(|first| *first <= at);
        let column = column.saturating_sub(1).min(columns) as f64 + 0.5;
        Some(from as f64 + column / columns.max(1) as f64 * (to - from) as f64)
    }

    /// The event at a position of the axis, as far as the answers say.
    pub(crate) fn event_at(&self, position: f64) -> Option<u32> {
        let state = self.state();
        if state.axis == Axis::Events {
            return Some(position.max(0.0) as u32);
        }
        let (from, to, curves) = state.curves()?;
        let columns = curves.first_events.len().checked_sub(1)?;
        let share = (position - from as f64) / (to - from).max(1) as f64;
        let column = (share * columns as f64).clamp(0.0, columns as f64) as usize;
        curves.first_events.get(column).copied()
    }

    pub(super) fn follow_moment(&self) {
        let at = self.state().transport.at;
        let whole = self.whole();
        if let Some(position) = self.position_of(at) {
            let mut state = self.state.borrow_mut();
            state.span = state.span.including(position, whole);
        }
    }

    fn changed(&self, topic: Topic) {
        {
            let mut state = self.state.borrow_mut();
            state.is_dirty = true;
            state.is_link_stale = true;
        }
        self.bell.ring(topic);
        frame::request();
    }

    /// Draws the pictures anew: after a change of theme, of size, of what is under the pointer.
    pub(crate) fn redraw(&self) {
        self.state.borrow_mut().is_dirty = true;
        frame::request();
    }

    /// The view as a link.
    pub(crate) fn write_link(&self, link: &mut Link) {
        let state = self.state();
        link.device = self
            .overview
            .devices
            .get(state.device)
            .map(|device| device.device.0);
        link.at_event = Some(state.transport.at);
        link.selection = state.selection;
        link.is_over_time = state.axis == Axis::Time;
        let whole = self.whole_span(state.device, state.axis);
        let zoom = (
            state.span.first.floor() as i64,
            state.span.last.ceil() as i64,
        );
        link.zoom = (state.span != whole).then_some(zoom);
    }
}

/// Forward in time, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Back,
}
