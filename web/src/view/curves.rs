//! Memory over events or time: areas of allocated, pending and cached bytes under the line of
//! reserved bytes, lanes of what happened below, and a minimap of the whole record.

use shared::query::{AnnotationSpan, Axis, Curves};

use super::scale::{Span, byte_step, decimal_step};
use crate::draw::chart::{SteppedAxis, draw_axes};
use crate::draw::scene::{Align, Glyph, Meaning, Rect, Scene};
use crate::text::format::{self, Unit};

/// Places in [`Curves::series`].
const ALLOCATED: usize = 0;
const ACTIVE: usize = 2;
const RESERVED: usize = 3;

/// Room for the labels left of the plot.
const LEFT: f32 = 56.0;
const MINIMAP: f32 = 20.0;
const LANE: f32 = 15.0;

/// Where the parts of the picture lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CurvesLayout {
    pub(crate) plot: Rect,
    /// What the driver did.
    pub(crate) driver: Rect,
    /// Marks; without height where there are none.
    pub(crate) marks: Rect,
    /// Annotated regions; without height where there are none.
    pub(crate) regions: Rect,
    pub(crate) minimap: Rect,
}

impl CurvesLayout {
    pub(crate) fn new(width: f32, height: f32, has_marks: bool, has_regions: bool) -> CurvesLayout {
        let inner = (width - LEFT - 20.0).max(10.0);
        let row = |y, height| Rect {
            x: LEFT,
            y,
            width: inner,
            height,
        };
        let minimap = row(height - MINIMAP - 2.0, MINIMAP);
        let lane = |above: Rect, shown: bool| {
            let height = if shown { LANE } else { 0.0 };
            row(above.y - height, height)
        };
        let mut regions = lane(minimap, has_regions);
        regions.y -= 4.0;
        let marks = lane(regions, has_marks);
        let driver = lane(marks, true);
        let plot = row(8.0, (driver.y - 8.0 - 16.0).max(10.0));
        CurvesLayout {
            plot,
            driver,
            marks,
            regions,
            minimap,
        }
    }
}

/// Curves and the range that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) curves: &'a Curves,
    pub(crate) span: Span,
}

/// A mark at a position of the axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlacedMark {
    pub(crate) at: f64,
    pub(crate) label: String,
}

/// Everything that the picture shows.
#[derive(Debug)]
pub(crate) struct CurvesView<'a> {
    pub(crate) layout: CurvesLayout,
    pub(crate) axis: Axis,
    /// What the plot shows, and all there is.
    pub(crate) span: Span,
    pub(crate) whole: Span,
    /// The last answers: for the plot, and for the minimap.
    pub(crate) near: Option<Asked<'a>>,
    pub(crate) far: Option<Asked<'a>>,
    /// Highest reserved bytes of the record.
    pub(crate) peak_bytes: u64,
    pub(crate) card_bytes: Option<u64>,
    /// The moment shown, as a position on the axis.
    pub(crate) cursor: Option<f64>,
    pub(crate) hovered: Option<f64>,
    pub(crate) marks: &'a [PlacedMark],
    pub(crate) regions: &'a [AnnotationSpan],
}

impl CurvesView<'_> {
    pub(crate) fn scene(&self) -> Scene {
        let mut scene = Scene::default();
        let top = self.top_bytes();
        self.draw_axes(&mut scene, top);
        if let Some(near) = self.near {
            self.draw_areas(&mut scene, near, top);
            self.draw_driver_lane(&mut scene, near);
        }
        self.draw_card(&mut scene, top);
        self.draw_marks(&mut scene);
        self.draw_regions(&mut scene);
        self.draw_minimap(&mut scene);
        self.draw_cursor(&mut scene);
        scene
    }

    /// The size at the upper edge: the card where the record comes near it, else a little above
    /// the peak.
    fn top_bytes(&self) -> u64 {
        let peak = self.peak_bytes.max(1);
        match self.card_bytes {
            Some(card) if peak > card / 2 => card + card / 40,
            _ => peak + peak / 16,
        }
    }

    fn draw_axes(&self, scene: &mut Scene, top: u64) {
        let step = byte_step(top, 4);
        let unit = if step >= Unit::of(top).bytes() {
            Unit::of(top)
        } else {
            Unit::of(step)
        };
        let y_label = |bytes: f64| {
            if bytes == 0.0 {
                return "0".to_owned();
            }
            format!(
                "{} {}",
                format::count((bytes / unit.bytes() as f64).round() as u64),
                unit.name()
            )
        };
        let y_axis = SteppedAxis {
            from: 0.0,
            to: top as f64,
            step: step as f64,
        };
        let room = f64::from(self.layout.plot.width) / 90.0;
        let step = decimal_step(self.span.length(), room);
        // Time counts from the first event, so that its numbers are short.
        let zero = if self.axis == Axis::Time {
            self.whole.first
        } else {
            0.0
        };
        let x_axis = SteppedAxis {
            from: self.span.first - zero,
            to: self.span.last - zero,
            step: step as f64,
        };
        let x_label = |at: f64| match self.axis {
            Axis::Events => format::count(at as u64),
            Axis::Time => format::axis_seconds(at as i64, step),
        };
        draw_axes(
            scene,
            self.layout.plot,
            (x_axis, &x_label),
            (y_axis, &y_label),
        );
    }

    fn draw_areas(&self, scene: &mut Scene, near: Asked<'_>, top: u64) {
        let plot = self.layout.plot;
        let layers = [
            (RESERVED, Meaning::Cached),
            (ACTIVE, Meaning::Pending),
            (ALLOCATED, Meaning::Allocated),
        ];
        for (series, meaning) in layers {
            let line = self.upper_line(near, series, plot, top);
            if line.len() > 1 {
                scene.area(closed_to(line, plot.bottom()), meaning);
            }
        }
        let line = self.upper_line(near, RESERVED, plot, top);
        scene.path(line, Meaning::Reserved, 1.5);
    }

    /// The highest values of a series as a line of steps inside `area`, at its own place even when
    /// the plot has moved on since it was asked for.
    fn upper_line(&self, asked: Asked<'_>, series: usize, area: Rect, top: u64) -> Vec<(f32, f32)> {
        let Some(values) = asked.curves.series.get(series) else {
            return Vec::new();
        };
        let columns = values.max.len().max(1) as f64;
        let y = |bytes: u64| area.bottom() - (bytes as f64 / top as f64) as f32 * area.height;
        let x = |column: usize| {
            let at = asked.span.first + column as f64 / columns * asked.span.length();
            let span = if area == self.layout.minimap {
                self.whole
            } else {
                self.span
            };
            let px = span.px_of(at, area.width.into()) as f32;
            area.x + px.clamp(0.0, area.width)
        };
        let mut line = Vec::with_capacity(values.max.len() * 2);
        for (column, &value) in values.max.iter().enumerate() {
            let (from, to) = (x(column), x(column + 1));
            if to > from {
                line.push((from, y(value)));
                line.push((to, y(value)));
            }
        }
        line
    }

    fn draw_driver_lane(&self, scene: &mut Scene, near: Asked<'_>) {
        let curves = near.curves;
        let lanes = [
            (
                &curves.segment_allocs,
                Glyph::Arrived,
                Meaning::DriverCall,
                5.0,
            ),
            (
                &curves.segment_frees,
                Glyph::Returned,
                Meaning::DriverCall,
                5.0,
            ),
            (&curves.empty_caches, Glyph::Emptied, Meaning::Cursor, 4.0),
            (&curves.ooms, Glyph::Failed, Meaning::Oom, 4.0),
        ];
        let lane = self.layout.driver;
        for (counts, glyph, meaning, apart) in lanes {
            let columns = counts.len().max(1) as f64;
            let mut last_x = f32::MIN;
            for column in (0..counts.len()).filter(|&column| counts[column] > 0) {
                let middle = (column as f64 + 0.5) / columns;
                let at = near.span.first + middle * near.span.length();
                let Some(x) = self.x_of(at) else { continue };
                if x - last_x >= apart {
                    scene.glyph(x, lane.y + lane.height / 2.0, glyph, meaning);
                    last_x = x;
                }
            }
        }
    }

    fn draw_card(&self, scene: &mut Scene, top: u64) {
        let plot = self.layout.plot;
        if let Some(card) = self.card_bytes.filter(|card| *card <= top) {
            let y = plot.bottom() - (card as f64 / top as f64) as f32 * plot.height;
            scene.path(vec![(plot.x, y), (plot.right(), y)], Meaning::Card, 1.0);
        }
    }

    fn draw_marks(&self, scene: &mut Scene) {
        let lane = self.layout.marks;
        let places: Vec<(f32, &str)> = self
            .marks
            .iter()
            .filter_map(|mark| Some((self.x_of(mark.at)?, mark.label.as_str())))
            .collect();
        for (place, (x, label)) in places.iter().enumerate() {
            let middle = lane.y + lane.height / 2.0;
            scene.glyph(*x, middle, Glyph::Flag, Meaning::Mark);
            let end = places
                .get(place + 1)
                .map_or(lane.right(), |(next, _)| *next);
            let room = end - x - 14.0;
            if room > 24.0 {
                let text = shortened(label, room);
                scene.text((x + 9.0, middle), Align::Left, Meaning::InkSecond, text);
            }
        }
    }

    fn draw_regions(&self, scene: &mut Scene) {
        let lane = self.layout.regions;
        for region in self.regions.iter().filter(|region| region.depth == 0) {
            let (from, to) = ends_of(region, self.axis, self.whole);
            let clamp = |at: f64| {
                let px = self.span.px_of(at, lane.width.into()) as f32;
                lane.x + px.clamp(0.0, lane.width)
            };
            let (from, to) = (clamp(from), clamp(to));
            let width = to - from;
            if width <= 0.0 {
                continue;
            }
            let rect = Rect {
                x: from,
                width: (width - 1.0).max(1.0),
                ..lane
            };
            scene.fill(rect, Meaning::Annotation);
            if width > 30.0 {
                let text = shortened(&region.name, width - 8.0);
                let at = (from + 4.0, lane.y + lane.height / 2.0);
                scene.text(at, Align::Left, Meaning::Ink, text);
            }
        }
    }

    fn draw_minimap(&self, scene: &mut Scene) {
        let map = self.layout.minimap;
        let peak = self.peak_bytes.max(1);
        if let Some(far) = self.far {
            for (series, meaning) in [(RESERVED, Meaning::Cached), (ALLOCATED, Meaning::Faint)] {
                let line = self.upper_line(far, series, map, peak);
                if line.len() > 1 {
                    scene.area(closed_to(line, map.bottom()), meaning);
                }
            }
        }
        let x = |at: f64| map.x + self.whole.px_of(at, map.width.into()) as f32;
        let (from, to) = (x(self.span.first), x(self.span.last));
        let window = Rect {
            x: from,
            width: (to - from).max(3.0),
            ..map
        };
        scene.edge(window, Meaning::Cursor, 1.0);
        if let Some(at) = self.cursor {
            scene.fill(
                Rect {
                    x: x(at),
                    width: 1.0,
                    ..map
                },
                Meaning::Cursor,
            );
        }
    }

    fn draw_cursor(&self, scene: &mut Scene) {
        let plot = self.layout.plot;
        let end = self.layout.driver.bottom();
        if let Some(x) = self.hovered.and_then(|at| self.x_of(at)) {
            scene.fill(
                Rect {
                    x,
                    y: plot.y,
                    width: 1.0,
                    height: plot.height,
                },
                Meaning::Faint,
            );
        }
        if let Some(x) = self.cursor.and_then(|at| self.x_of(at)) {
            let line = Rect {
                x: x - 0.5,
                y: plot.y - 3.0,
                width: 1.5,
                height: end - plot.y,
            };
            scene.fill(line, Meaning::Cursor);
            scene.glyph(x, plot.y - 3.0, Glyph::Dot, Meaning::Cursor);
        }
    }

    /// The pixel of a position, when the plot shows it.
    fn x_of(&self, at: f64) -> Option<f32> {
        let plot = self.layout.plot;
        let px = self.span.px_of(at, plot.width.into()) as f32;
        (-0.5..=plot.width + 0.5)
            .contains(&px)
            .then_some(plot.x + px)
    }
}

/// Both ends of a region on the axis; open ends reach as far as the record.
pub(crate) fn ends_of(region: &AnnotationSpan, axis: Axis, whole: Span) -> (f64, f64) {
    let (from, to) = match axis {
        Axis::Events => {
            let position = |event: shared::ids::EventIndex| f64::from(event.0);
            (
                region.first.map(position),
                region.last.map(|event| position(event) + 1.0),
            )
        }
        Axis::Time => (
            region.from_us.map(|us| us as f64),
            region.to_us.map(|us| us as f64),
        ),
    };
    (from.unwrap_or(whole.first), to.unwrap_or(whole.last))
}

/// A line, closed along the lower edge.
fn closed_to(mut line: Vec<(f32, f32)>, bottom: f32) -> Vec<(f32, f32)> {
    let ends = (line.first().copied(), line.last().copied());
    if let (Some((first, _)), Some((last, _))) = ends {
        line.push((last, bottom));
        line.push((first, bottom));
    }
    line
}

/// As much of a text as fits.
fn shortened(text: &str, room: f32) -> String {
    let width = |letter: char| if letter.is_ascii() { 6.0 } else { 11.0 };
    let mut used = 0.0;
    let mut short = String::new();
    for letter in text.chars() {
        used += width(letter);
        if used > room {
            short.pop();
            short.push('…');
            break;
        }
        short.push(letter);
    }
    short
}

#[cfg(test)]
mod tests;
