//! The canvases on screen, and what each of them shows of a stage.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use shared::query::Axis;

use super::canvas2d::Painter;
use super::frame;
use crate::session::link::Selection;
use crate::session::stage::{Stage, StageState};
use crate::view::curves::{Asked, CurvesLayout, CurvesView, PlacedMark, ends_of};
use crate::view::map_scale::{Fullest, MapScale};
use crate::view::memory_map::{Highlights, MapLayout, MapWindow, layout};
use crate::view::scale::Span;

/// Which picture a canvas shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picture {
    Curves,
    Map,
}

/// All canvases on screen.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    last: Cell<u32>,
    canvases: RefCell<Vec<(u32, Picture, Painter)>>,
}

impl Pictures {
    /// Draws on a canvas from now on; the number is for [`Pictures::detach`].
    pub(crate) fn attach(&self, picture: Picture, painter: Painter) -> u32 {
        let number = self.last.get() + 1;
        self.last.set(number);
        self.canvases.borrow_mut().push((number, picture, painter));
        number
    }

    pub(crate) fn detach(&self, number: u32) {
        self.canvases
            .borrow_mut()
            .retain(|(other, _, _)| *other != number);
    }

    /// Takes the colours of the theme anew.
    pub(crate) fn restyle(&self) {
        for (_, _, painter) in self.canvases.borrow_mut().iter_mut() {
            painter.restyle();
        }
    }

    /// Draws all of them.
    pub(crate) fn draw(&self, stage: &Stage) {
        for (_, picture, painter) in self.canvases.borrow_mut().iter_mut() {
            let size = painter.fit();
            if size.0 < 1.0 || size.1 < 1.0 {
                continue;
            }
            match picture {
                Picture::Curves => draw_curves(stage, painter, size),
                Picture::Map => draw_map(stage, painter, size),
            }
        }
    }
}

/// Where the parts of the curves lie on a canvas of this size.
pub(crate) fn curves_layout(stage: &Stage, size: (f32, f32)) -> CurvesLayout {
    let has_marks = stage
        .device()
        .is_some_and(|device| !device.marks.is_empty());
    CurvesLayout::new(size.0, size.1, has_marks, stage.overview.annotations > 0)
}

fn draw_curves(stage: &Stage, painter: &mut Painter, size: (f32, f32)) {
    let Some(device) = stage.device() else { return };
    let layout = curves_layout(stage, size);
    let columns = layout.plot.width.max(1.0) as u32;
    if stage.state().curve_columns != columns {
        stage.state_mut().curve_columns = columns;
        frame::request();
    }
    let state = stage.state();
    let marks = placed_marks(stage);
    let asked = |(from, to, curves)| Asked {
        curves,
        span: Span {
            first: from as f64,
            last: to as f64,
        },
    };
    let view = CurvesView {
        layout,
        axis: state.axis,
        span: state.span,
        whole: stage.whole(),
        near: state.curves().map(asked),
        far: state.whole_curves().map(asked),
        peak_bytes: device.peak.reserved,
        card_bytes: stage.overview.environment.card.total_bytes,
        cursor: stage.position_of(state.transport.at),
        hovered: state.hovered_at,
        marks: &marks,
        regions: state.regions(),
    };
    painter.paint(&view.scene());
}

/// The marks of the device at their places on the axis.
pub(crate) fn placed_marks(stage: &Stage) -> Vec<PlacedMark> {
    let axis = stage.state().axis;
    let marks = stage.device().map_or(&[][..], |device| &device.marks);
    let placed = marks.iter().map(|mark| PlacedMark {
        at: match axis {
            Axis::Events => mark.at.map_or(0.0, |at| f64::from(at.0) + 1.0),
            Axis::Time => mark.time_us as f64,
        },
        label: mark.label.clone(),
    });
    placed.collect()
}

/// Names of the regions around a position of the axis, outermost first.
pub(crate) fn regions_at(stage: &Stage, at: f64) -> Vec<String> {
    let state = stage.state();
    let whole = stage.whole();
    let regions = state.regions().iter().filter(|region| {
        let (from, to) = ends_of(region, state.axis, whole);
        (from..to).contains(&at)
    });
    regions.map(|region| region.name.clone()).collect()
}

fn draw_map(stage: &Stage, painter: &mut Painter, size: (f32, f32)) {
    // A margin, so that outlines of blocks at the edge are whole.
    let inner = (size.0 - 2.0 * MAP_MARGIN, size.1 - 2.0 * MAP_MARGIN);
    let base = base_scale(stage, inner);
    let streams = stage.device().map_or(&[][..], |device| &device.streams);
    let (found, scale) = {
        let state = stage.state();
        let Some(map) = state.map() else {
            drop(state);
            return ask_at(stage, base.small_px_per_byte(0));
        };
        let mut scale = zoomed(base, state.map_zoom);
        let mut found = layout(map, streams, inner.0, scale);
        // More groups than the overview made expect: smaller, and it stays so.
        while found.height > inner.1 && state.map_zoom <= 1.0 && scale.row_height > 6.0 {
            scale = scale.smaller();
            found = layout(map, streams, inner.0, scale);
        }
        (Rc::new(found), scale)
    };
    {
        let mut state = stage.state_mut();
        if state.map_zoom <= 1.0 {
            state.map_scale = Some((inner, scale));
        }
        let most = (found.height - inner.1).max(0.0);
        state.map_scroll = state.map_scroll.clamp(0.0, most);
        state.map_layout = Rc::clone(&found);
    }
    ask_at(stage, found.finest_px_per_byte.max(scale.px_per_byte));
    paint_map(stage, painter, &found, size.1);
}

/// Space around the map.
pub(crate) const MAP_MARGIN: f32 = 3.0;

fn paint_map(stage: &Stage, painter: &mut Painter, layout: &MapLayout, height: f32) {
    let state = stage.state();
    let (Some(map), Some(device)) = (state.map(), stage.device()) else {
        return;
    };
    let window = MapWindow {
        scroll: state.map_scroll,
        height,
    };
    let mut scene = layout.scene(map, &device.streams, window, &highlights(&state));
    scene.shift(MAP_MARGIN, MAP_MARGIN);
    painter.paint(&scene);
}

/// What stands out: the block of the step, what is selected, what is under the pointer.
fn highlights(state: &StageState) -> Highlights {
    let step = state.step().and_then(|step| match state.step_life() {
        Some(life) => Some((life.address, life.given_bytes)),
        None if step.action.is_driver_call() => Some((step.address, step.size_bytes)),
        None => None,
    });
    let selected = match state.selection {
        Some(Selection::Life(_)) => state
            .selected_life()
            .map(|life| (life.address, life.given_bytes)),
        Some(Selection::Address(_)) => state.selected_block().map(|details| {
            let address = details.segment.address + details.block.offset_bytes;
            (address, details.block.size_bytes)
        }),
        None => None,
    };
    Highlights {
        step,
        selected,
        hovered: state.hovered,
    }
}

/// The scale at magnification 1.
fn base_scale(stage: &Stage, size: (f32, f32)) -> MapScale {
    if let Some((of, scale)) = stage.state().map_scale
        && of == size
    {
        return scale;
    }
    let device = stage.device();
    let fullest = Fullest {
        reserved_bytes: device.map_or(0, |device| device.peak.reserved),
        largest_segment_bytes: device.map_or(0, |device| device.largest_segment_bytes),
        segments: device.map_or(0, |device| device.most_segments),
        groups: device.map_or(1, |device| 2 * device.streams.len().max(1) as u32),
    };
    fullest.fit(size.0, size.1)
}

fn zoomed(scale: MapScale, zoom: f32) -> MapScale {
    // Rows grow a little as well, so that labels find room.
    let row_height = scale
        .row_height
        .max((scale.row_height * zoom.sqrt()).min(40.0));
    MapScale {
        px_per_byte: scale.px_per_byte * f64::from(zoom),
        zoom,
        row_height,
    }
}

/// Lets the next question ask for what this scale can show.
fn ask_at(stage: &Stage, px_per_byte: f64) {
    let finest_bytes = (1.0 / px_per_byte).max(1.0) as u64;
    let mut state = stage.state_mut();
    if state.finest_bytes != finest_bytes {
        state.finest_bytes = finest_bytes;
        frame::request();
    }
}
