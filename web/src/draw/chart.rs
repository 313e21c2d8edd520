//! Axes by plotters, drawn into a scene: the same chart code can then draw SVG elsewhere.

use std::convert::Infallible;
use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind,
};

use super::scene::{Align, Meaning, Rect, Scene};

type Fault = DrawingErrorKind<Infallible>;

/// An axis with lines at whole multiples of a step.
#[derive(Clone, Debug)]
pub(crate) struct SteppedAxis {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) step: f64,
}

impl Ranged for SteppedAxis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE);
        limit.0 + (f64::from(limit.1 - limit.0) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        let first = (self.from / self.step).ceil() as i64;
        let last = (self.to / self.step).floor() as i64;
        (first..=last).map(|n| n as f64 * self.step).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

/// Draws the lines of the vertical axis and the labels of both around `plot`.
pub(crate) fn draw_axes(
    scene: &mut Scene,
    plot: Rect,
    (x_axis, x_label): (SteppedAxis, &dyn Fn(f64) -> String),
    (y_axis, y_label): (SteppedAxis, &dyn Fn(f64) -> String),
) {
    let (left, below) = (plot.x as u32, 16);
    let backend = SceneBackend {
        scene,
        width: plot.right() as u32,
        height: plot.bottom() as u32 + below,
    };
    let grid = style(Meaning::Grid);
    let ink = ("sans-serif", 11).with_color(colour(Meaning::InkSecond));
    let draw = move || -> Result<(), DrawingAreaErrorKind<Infallible>> {
        let area = backend.into_drawing_area();
        let lines = (
            y_axis
                .key_points(plotters::coord::ranged1d::BoldPoints(16))
                .len(),
            16,
        );
        let mut chart = ChartBuilder::on(&area)
            .margin_top(plot.y as u32)
            .y_label_area_size(left)
            .x_label_area_size(below)
            .build_cartesian_2d(x_axis, y_axis)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(grid)
            .light_line_style(TRANSPARENT)
            .axis_style(grid)
            .set_all_tick_mark_size(0)
            .y_labels(lines.0)
            .x_labels(lines.1)
            .label_style(ink)
            .x_label_formatter(&|at| x_label(*at))
            .y_label_formatter(&|at| y_label(*at))
            .draw()
    };
    // A scene takes every shape, so nothing can fail.
    let _ = draw();
}

/// A meaning, as the only thing that plotters hands through: a colour.
fn colour(meaning: Meaning) -> RGBColor {
    RGBColor(if meaning == Meaning::Grid { 0 } else { 1 }, 0, 0)
}

fn style(meaning: Meaning) -> ShapeStyle {
    Color::stroke_width(&colour(meaning), 1)
}

fn meaning(colour: BackendColor) -> Option<Meaning> {
    let meaning = if colour.rgb.0 == 0 {
        Meaning::Grid
    } else {
        Meaning::InkSecond
    };
    (colour.alpha > 0.0).then_some(meaning)
}

/// Turns what plotters draws into shapes.
struct SceneBackend<'a> {
    scene: &'a mut Scene,
    width: u32,
    height: u32,
}

fn point((x, y): BackendCoord) -> (f32, f32) {
    (x as f32, y as f32)
}

impl DrawingBackend for SceneBackend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    fn ensure_prepared(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Result<(), Fault> {
        self.draw_line(at, at, &colour_style(colour))
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Result<(), Fault> {
        if let Some(meaning) = meaning(style.color()) {
            let ((x0, y0), (x1, y1)) = (point(from), point(to));
            let rect = Rect {
                x: x0.min(x1),
                y: y0.min(y1),
                width: (x1 - x0).abs(),
                height: (y1 - y0).abs(),
            };
            let line = Rect {
                width: rect.width.max(1.0),
                height: rect.height.max(1.0),
                ..rect
            };
            self.scene.fill(line, meaning);
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        at: BackendCoord,
    ) -> Result<(), Fault> {
        use plotters_backend::text_anchor::{HPos, VPos};
        let Some(meaning) = meaning(style.color()) else {
            return Ok(());
        };
        let anchor = style.anchor();
        let (x, y) = point(at);
        let x = if matches!(anchor.h_pos, HPos::Right) {
            x - 4.0
        } else {
            x
        };
        let y = match anchor.v_pos {
            VPos::Top => y + 6.0,
            VPos::Center => y,
            VPos::Bottom => y - 6.0,
        };
        let align = match anchor.h_pos {
            HPos::Left => Align::Left,
            HPos::Center => Align::Center,
            HPos::Right => Align::Right,
        };
        self.scene.text((x, y), align, meaning, text.to_owned());
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        _style: &S,
    ) -> Result<(u32, u32), Fault> {
        Ok((text.chars().count() as u32 * 6, 11))
    }
}

fn colour_style(colour: BackendColor) -> ShapeStyle {
    let (r, g, b) = colour.rgb;
    Color::stroke_width(&RGBColor(r, g, b).mix(colour.alpha), 1)
}
