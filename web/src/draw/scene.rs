//! A picture as shapes that have a meaning. View models make scenes, [`super::canvas2d`] paints
//! them, tests compare them. Lengths are CSS pixels from the top left corner of the canvas.

/// What a shape stands for. The palette turns it into colour and texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Meaning {
    /// A block handed out.
    Allocated,
    /// Handed out before the recording began.
    BeforeRecording,
    /// Freed, but a stream may still use it.
    Pending,
    /// A whole free segment: `empty_cache()` would return it.
    CachedReturnable,
    /// Free, but a live block in the same segment keeps it.
    CachedPinned,
    /// Bytes at the end of a block that nobody asked for.
    Waste,
    /// Reserved addresses without memory behind them.
    Unmapped,
    /// Free memory of any kind, where returnable and pinned are not told apart.
    Cached,
    /// The curve of reserved bytes.
    Reserved,
    /// The size of the card.
    Card,
    /// An event of the driver: a segment arrives or leaves.
    DriverCall,
    /// A span of an annotation.
    Annotation,
    /// A mark that the recording carries.
    Mark,
    /// Out of memory.
    Oom,
    /// The moment that is shown.
    Cursor,
    /// What is selected.
    Selected,
    /// What the pointer is over.
    Hovered,
    /// Lines of axes.
    Grid,
    /// What a minimap shows besides its window.
    Faint,
    /// Ground of a panel.
    Panel,
    /// Text to read.
    Ink,
    /// Text of second rank.
    InkSecond,
    /// Text on [`Meaning::Allocated`].
    InkOnAllocated,
    /// Text on [`Meaning::Pending`].
    InkOnPending,
    /// Line between two cached blocks.
    CachedEdge,
}

/// How a text lies about its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// Small figures of the lanes under the curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glyph {
    /// Filled triangle that points up: a segment came from the driver.
    Arrived,
    /// Hollow triangle that points down: a segment went back.
    Returned,
    /// Diamond: `empty_cache()`.
    Emptied,
    /// Cross: out of memory.
    Failed,
    /// Flag: a mark.
    Flag,
    /// Disc: the handle of a line.
    Dot,
}

/// A rectangle in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Rect {
    pub(crate) fn contains(&self, x: f32, y: f32) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }

    pub(crate) fn right(&self) -> f32 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f32 {
        self.y + self.height
    }

    /// Larger by `by` on every side.
    pub(crate) fn grown(&self, by: f32) -> Rect {
        Rect {
            x: self.x - by,
            y: self.y - by,
            width: self.width + 2.0 * by,
            height: self.height + 2.0 * by,
        }
    }
}

/// One thing to paint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A filled rectangle with its texture.
    Fill { rect: Rect, meaning: Meaning },
    /// The inner edge of a rectangle.
    Edge {
        rect: Rect,
        meaning: Meaning,
        line_width: f32,
    },
    /// A filled polygon.
    Area {
        points: Vec<(f32, f32)>,
        meaning: Meaning,
    },
    /// A line through points.
    Path {
        points: Vec<(f32, f32)>,
        meaning: Meaning,
        line_width: f32,
    },
    /// One line of text; `y` is its middle.
    Text {
        x: f32,
        y: f32,
        text: String,
        align: Align,
        meaning: Meaning,
        bold: bool,
    },
    /// A small figure with its middle at the point.
    Glyph {
        x: f32,
        y: f32,
        glyph: Glyph,
        meaning: Meaning,
    },
}

/// Shapes from back to front.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scene {
    pub(crate) shapes: Vec<Shape>,
}

impl Scene {
    pub(crate) fn fill(&mut self, rect: Rect, meaning: Meaning) {
        self.shapes.push(Shape::Fill { rect, meaning });
    }

    pub(crate) fn edge(&mut self, rect: Rect, meaning: Meaning, line_width: f32) {
        self.shapes.push(Shape::Edge {
            rect,
            meaning,
            line_width,
        });
    }

    pub(crate) fn path(&mut self, points: Vec<(f32, f32)>, meaning: Meaning, line_width: f32) {
        self.shapes.push(Shape::Path {
            points,
            meaning,
            line_width,
        });
    }

    pub(crate) fn area(&mut self, points: Vec<(f32, f32)>, meaning: Meaning) {
        self.shapes.push(Shape::Area { points, meaning });
    }

    pub(crate) fn glyph(&mut self, x: f32, y: f32, glyph: Glyph, meaning: Meaning) {
        self.shapes.push(Shape::Glyph {
            x,
            y,
            glyph,
            meaning,
        });
    }

    pub(crate) fn text(&mut self, at: (f32, f32), align: Align, meaning: Meaning, text: String) {
        let (x, y) = at;
        self.shapes.push(Shape::Text {
            x,
            y,
            text,
            align,
            meaning,
            bold: false,
        });
    }

    pub(crate) fn bold_text(&mut self, at: (f32, f32), meaning: Meaning, text: String) {
        let (x, y) = at;
        self.shapes.push(Shape::Text {
            x,
            y,
            text,
            align: Align::Left,
            meaning,
            bold: true,
        });
    }

    /// Moves every shape.
    pub(crate) fn shift(&mut self, dx: f32, dy: f32) {
        for shape in &mut self.shapes {
            match shape {
                Shape::Fill { rect, .. } | Shape::Edge { rect, .. } => {
                    rect.x += dx;
                    rect.y += dy;
                }
                Shape::Area { points, .. } | Shape::Path { points, .. } => {
                    for point in points {
                        *point = (point.0 + dx, point.1 + dy);
                    }
                }
                Shape::Text { x, y, .. } | Shape::Glyph { x, y, .. } => {
                    *x += dx;
                    *y += dy;
                }
            }
        }
    }
}
