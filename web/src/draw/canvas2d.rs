//! Paints a scene on a canvas. Works in device pixels, so that edges are sharp and textures keep
//! their grain at every zoom of the browser.

use rustc_hash::FxHashMap;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasPattern, CanvasRenderingContext2d, HtmlCanvasElement};

use super::palette::{self, Texture};
use super::scene::{Align, Glyph, Meaning, Rect, Scene, Shape};

/// A canvas and what it takes to paint on it in the current theme.
#[derive(Debug)]
pub(crate) struct Painter {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    /// Device pixels to a CSS pixel.
    density: f64,
    tokens: FxHashMap<&'static str, String>,
    patterns: FxHashMap<Meaning, CanvasPattern>,
    font: String,
}

impl Painter {
    /// None when the browser has no 2D canvas.
    pub(crate) fn new(canvas: HtmlCanvasElement) -> Option<Painter> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        let mut painter = Painter {
            canvas,
            context,
            density: 1.0,
            tokens: FxHashMap::default(),
            patterns: FxHashMap::default(),
            font: String::new(),
        };
        painter.restyle();
        Some(painter)
    }

    /// Forgets the colours: after a change of theme.
    pub(crate) fn restyle(&mut self) {
        self.tokens.clear();
        self.patterns.clear();
        self.font = style_property("--sans");
    }

    /// Width and height of the canvas in CSS pixels, after fitting its store to them.
    pub(crate) fn fit(&mut self) -> (f32, f32) {
        let density = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
        if density != self.density {
            self.density = density;
            self.patterns.clear();
        }
        let (width, height) = (self.canvas.client_width(), self.canvas.client_height());
        let store = |length: i32| (f64::from(length) * density).round() as u32;
        if self.canvas.width() != store(width) || self.canvas.height() != store(height) {
            self.canvas.set_width(store(width));
            self.canvas.set_height(store(height));
        }
        (width as f32, height as f32)
    }

    /// Clears the canvas and paints all shapes from back to front.
    pub(crate) fn paint(&mut self, scene: &Scene) {
        let (width, height) = (self.canvas.width(), self.canvas.height());
        self.context
            .clear_rect(0.0, 0.0, width.into(), height.into());
        self.context.set_text_baseline("middle");
        let mut filled = None;
        for shape in &scene.shapes {
            match shape {
                Shape::Fill { rect, meaning } => self.fill(*rect, *meaning, &mut filled),
                other => {
                    filled = None;
                    self.paint_other(other);
                }
            }
        }
    }

    fn fill(&mut self, rect: Rect, meaning: Meaning, filled: &mut Option<Meaning>) {
        if *filled != Some(meaning) {
            self.set_fill(meaning);
            *filled = Some(meaning);
        }
        let (x, y) = (self.snap(rect.x), self.snap(rect.y));
        // What exists is at least one device pixel wide.
        let width = (self.snap(rect.right()) - x).max(1.0);
        let height = (self.snap(rect.bottom()) - y).max(1.0);
        let paint = palette::paint(meaning);
        if paint.fill.is_some() {
            self.context.fill_rect(x, y, width, height);
        }
        if paint.texture == Texture::SoftLeft {
            self.soften(x, y, width.min(6.0 * self.density), height);
            *filled = None;
        }
    }

    /// Fades the left edge of what began before the record.
    fn soften(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let colour = self.token("panel").to_owned();
        self.context.set_fill_style_str(&colour);
        for (part, alpha) in [0.6, 0.45, 0.3, 0.15].into_iter().enumerate() {
            self.context.set_global_alpha(alpha);
            self.context
                .fill_rect(x + width * part as f64 / 4.0, y, width / 4.0, height);
        }
        self.context.set_global_alpha(1.0);
    }

    fn paint_other(&mut self, shape: &Shape) {
        match shape {
            Shape::Fill { .. } => {}
            Shape::Edge {
                rect,
                meaning,
                line_width,
            } => self.edge(*rect, *meaning, *line_width),
            Shape::Area { points, meaning } => {
                self.set_fill(*meaning);
                self.trace(points);
                self.context.fill();
            }
            Shape::Path {
                points,
                meaning,
                line_width,
            } => {
                self.set_stroke(*meaning, *line_width);
                self.trace(points);
                self.context.stroke();
            }
            Shape::Text {
                x,
                y,
                text,
                align,
                meaning,
                bold,
            } => {
                self.set_fill(*meaning);
                let size = 11.0 * self.density;
                let weight = if *bold { "600" } else { "400" };
                self.context
                    .set_font(&format!("{weight} {size}px {}", self.font));
                self.context.set_text_align(match align {
                    Align::Left => "left",
                    Align::Center => "center",
                    Align::Right => "right",
                });
                // A canvas whose text cannot be painted has nothing better to show.
                let _ = self.context.fill_text(text, self.px(*x), self.px(*y));
            }
            Shape::Glyph {
                x,
                y,
                glyph,
                meaning,
            } => self.glyph(*x, *y, *glyph, *meaning),
        }
    }

    fn edge(&mut self, rect: Rect, meaning: Meaning, line_width: f32) {
        self.set_stroke(meaning, line_width);
        let half = self.context.line_width() / 2.0;
        let (x, y) = (self.snap(rect.x), self.snap(rect.y));
        let (right, bottom) = (self.snap(rect.right()), self.snap(rect.bottom()));
        let width = (right - x - 2.0 * half).max(0.0);
        let height = (bottom - y - 2.0 * half).max(0.0);
        self.context.stroke_rect(x + half, y + half, width, height);
    }

    fn glyph(&mut self, x: f32, y: f32, glyph: Glyph, meaning: Meaning) {
        let corner = |dx: f32, dy: f32| (x + dx, y + dy);
        let (points, is_filled) = match glyph {
            Glyph::Arrived => (
                vec![corner(-4.0, 3.0), corner(4.0, 3.0), corner(0.0, -4.0)],
                true,
            ),
            Glyph::Returned => (
                vec![corner(-4.0, -3.0), corner(4.0, -3.0), corner(0.0, 4.0)],
                false,
            ),
            Glyph::Emptied => {
                let sides = [(0.0, -5.0), (4.5, 0.0), (0.0, 5.0), (-4.5, 0.0)];
                (sides.map(|(dx, dy)| corner(dx, dy)).to_vec(), true)
            }
            Glyph::Flag => (
                vec![corner(0.0, -4.0), corner(6.0, -1.5), corner(0.0, 1.0)],
                true,
            ),
            Glyph::Dot => {
                let sides = (0..12).map(|part| {
                    let angle = part as f32 * std::f32::consts::TAU / 12.0;
                    corner(4.0 * angle.cos(), 4.0 * angle.sin())
                });
                (sides.collect(), true)
            }
            Glyph::Failed => (Vec::new(), false),
        };
        self.set_fill(meaning);
        self.set_stroke(meaning, if glyph == Glyph::Failed { 2.0 } else { 1.0 });
        if glyph == Glyph::Failed {
            for (dx, dy) in [(4.0, 4.0), (4.0, -4.0)] {
                self.trace(&[corner(-dx, -dy), corner(dx, dy)]);
                self.context.stroke();
            }
            return;
        }
        self.trace(&points);
        self.context.close_path();
        if is_filled {
            self.context.fill()
        } else {
            self.context.stroke()
        }
        if glyph == Glyph::Flag {
            self.trace(&[corner(0.0, -4.0), corner(0.0, 5.0)]);
            self.context.stroke();
        }
    }

    fn trace(&self, points: &[(f32, f32)]) {
        self.context.begin_path();
        for (place, (x, y)) in points.iter().enumerate() {
            if place == 0 {
                self.context.move_to(self.px(*x), self.px(*y));
            } else {
                self.context.line_to(self.px(*x), self.px(*y));
            }
        }
    }

    fn px(&self, length: f32) -> f64 {
        f64::from(length) * self.density
    }

    fn snap(&self, length: f32) -> f64 {
        self.px(length).round()
    }

    fn set_fill(&mut self, meaning: Meaning) {
        let paint = palette::paint(meaning);
        if matches!(paint.texture, Texture::Hatched(_) | Texture::Dotted(_)) {
            if !self.patterns.contains_key(&meaning)
                && let Some(pattern) = self.make_pattern(meaning)
            {
                self.patterns.insert(meaning, pattern);
            }
            if let Some(pattern) = self.patterns.get(&meaning) {
                self.context.set_fill_style_canvas_pattern(pattern);
                return;
            }
        }
        let colour = self.token(paint.fill.unwrap_or(paint.edge)).to_owned();
        self.context.set_fill_style_str(&colour);
    }

    fn set_stroke(&mut self, meaning: Meaning, line_width: f32) {
        let paint = palette::paint(meaning);
        let colour = self.token(paint.edge).to_owned();
        self.context.set_stroke_style_str(&colour);
        self.context.set_line_width(self.snap(line_width).max(1.0));
        let dashes = js_sys::Array::new();
        if paint.is_dashed {
            let dash = JsValue::from(4.0 * self.density);
            dashes.push(&dash);
            dashes.push(&dash);
        }
        // Without dashes the line is still there.
        let _ = self.context.set_line_dash(&dashes);
    }

    /// A tile of the texture over its colour.
    fn make_pattern(&mut self, meaning: Meaning) -> Option<CanvasPattern> {
        let paint = palette::paint(meaning);
        let size = (6.0 * self.density).round();
        let tile = web_sys::window()?
            .document()?
            .create_element("canvas")
            .ok()?;
        let tile: HtmlCanvasElement = tile.dyn_into().ok()?;
        tile.set_width(size as u32);
        tile.set_height(size as u32);
        let context: CanvasRenderingContext2d = tile.get_context("2d").ok()??.dyn_into().ok()?;
        let ground = self.token(paint.fill?).to_owned();
        context.set_fill_style_str(&ground);
        context.fill_rect(0.0, 0.0, size, size);
        match paint.texture {
            Texture::Hatched(token) => {
                context.set_stroke_style_str(self.token(token));
                context.set_line_width(self.density);
                // Three lines, so that the corners of the tile join.
                for shift in [-size, 0.0, size] {
                    context.begin_path();
                    context.move_to(shift - 1.0, size + 1.0);
                    context.line_to(shift + size + 1.0, -1.0);
                    context.stroke();
                }
            }
            Texture::Dotted(token) => {
                context.set_fill_style_str(self.token(token));
                let dot = (1.5 * self.density).round();
                context.fill_rect(size / 4.0, size / 4.0, dot, dot);
                context.fill_rect(size * 0.75, size * 0.75, dot, dot);
            }
            Texture::Plain | Texture::SoftLeft => {}
        }
        self.context
            .create_pattern_with_html_canvas_element(&tile, "repeat")
            .ok()?
    }

    fn token(&mut self, name: &'static str) -> &str {
        self.tokens
            .entry(name)
            .or_insert_with(|| style_property(&format!("--{name}")))
    }
}

/// A custom property of the page's root.
fn style_property(name: &str) -> String {
    let value = || {
        let window = web_sys::window()?;
        let root = window.document()?.document_element()?;
        let style = window.get_computed_style(&root).ok()??;
        style.get_property_value(name).ok()
    };
    value().unwrap_or_default().trim().to_owned()
}
