//! Events, time and bytes ⇄ pixels.

use crate::text::format::Unit;

/// A stretch of an axis shown over a width of pixels. The axis counts events or microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) first: f64,
    pub(crate) last: f64,
}

impl Span {
    pub(crate) fn length(self) -> f64 {
        self.last - self.first
    }

    /// Where a point of the axis lies on `width` pixels.
    pub(crate) fn px_of(self, at: f64, width: f64) -> f64 {
        (at - self.first) / self.length().max(f64::MIN_POSITIVE) * width
    }

    /// The point of the axis under a pixel.
    pub(crate) fn position_at(self, px: f64, width: f64) -> f64 {
        self.first + px / width.max(1.0) * self.length()
    }

    /// Closer (`factor` below 1) or farther, with the point `anchor` staying where it is; never
    /// beyond `whole` and never below `least` in length.
    pub(crate) fn zoomed(self, factor: f64, anchor: f64, whole: Span, least: f64) -> Span {
        let length = (self.length() * factor).clamp(least.min(whole.length()), whole.length());
        let share = (anchor - self.first) / self.length().max(f64::MIN_POSITIVE);
        let first = anchor - share * length;
        Span {
            first,
            last: first + length,
        }
        .kept_within(whole)
    }

    /// Moved by `by`, as far as `whole` reaches.
    pub(crate) fn moved(self, by: f64, whole: Span) -> Span {
        Span {
            first: self.first + by,
            last: self.last + by,
        }
        .kept_within(whole)
    }

    fn kept_within(self, whole: Span) -> Span {
        let length = self.length().min(whole.length());
        let first = self.first.clamp(whole.first, whole.last - length);
        Span {
            first,
            last: first + length,
        }
    }

    /// Moved just so far that `at` is inside, with a margin of a tenth.
    pub(crate) fn including(self, at: f64, whole: Span) -> Span {
        let margin = self.length() / 10.0;
        if at < self.first {
            self.moved(at - margin - self.first, whole)
        } else if at > self.last {
            self.moved(at + margin - self.last, whole)
        } else {
            self
        }
    }
}

/// Distance between the lines of an axis of sizes that reaches `top_bytes`: 1, 2 or 5 times a power
/// of two or ten that reads well in binary units, at most `most` lines.
pub(crate) fn byte_step(top_bytes: u64, most: u64) -> u64 {
    let unit = Unit::of(top_bytes).bytes();
    let mut steps = vec![1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
    steps.extend([1024, 2048, 4096, 8192]);
    let top = top_bytes.max(1);
    let smaller = (unit / 1024).max(1);
    let candidates = steps
        .iter()
        .map(|step| step * smaller)
        .chain(steps.iter().map(|s| s * unit));
    candidates
        .into_iter()
        .find(|step| top / step <= most)
        .unwrap_or(top)
}

/// Distance between the labels of an axis of events or microseconds: 1, 2 or 5 times a power of
/// ten, at most `most` labels on `length`.
pub(crate) fn decimal_step(length: f64, most: f64) -> u64 {
    let least = (length / most.max(1.0)).max(1.0);
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= least);
    (factor.unwrap_or(10.0) * power) as u64
}

#[cfg(test)]
mod tests {
    use shared::units::{GIB, KIB, MIB};

    use super::*;

    #[test]
    fn zooming_keeps_the_anchor_and_stays_inside() {
        let whole = Span {
            first: 0.0,
            last: 1000.0,
        };
        let closer = whole.zoomed(0.5, 400.0, whole, 10.0);
        assert_eq!(
            closer,
            Span {
                first: 200.0,
                last: 700.0
            }
        );
        assert_eq!(closer.px_of(400.0, 500.0), whole.px_of(400.0, 500.0));
        assert_eq!(closer.zoomed(8.0, 650.0, whole, 10.0), whole);
        let closest = closer.zoomed(1e-6, 200.0, whole, 10.0);
        assert_eq!(
            closest,
            Span {
                first: 200.0,
                last: 210.0
            }
        );
        assert_eq!(
            closest.moved(-500.0, whole),
            Span {
                first: 0.0,
                last: 10.0
            }
        );
    }

    #[test]
    fn the_window_follows_the_moment() {
        let whole = Span {
            first: 0.0,
            last: 1000.0,
        };
        let window = Span {
            first: 100.0,
            last: 200.0,
        };
        assert_eq!(window.including(150.0, whole), window);
        assert_eq!(
            window.including(205.0, whole),
            Span {
                first: 115.0,
                last: 215.0
            }
        );
        assert_eq!(
            window.including(5.0, whole),
            Span {
                first: 0.0,
                last: 100.0
            }
        );
    }

    #[test]
    fn axes_have_round_steps() {
        assert_eq!(byte_step(8 * GIB, 4), 2 * GIB);
        assert_eq!(byte_step(140 * GIB, 5), 32 * GIB);
        assert_eq!(byte_step(3 * MIB, 4), MIB);
        assert_eq!(byte_step(GIB + 1, 4), 256 * MIB);
        assert_eq!(byte_step(900 * KIB, 4), 256 * KIB);
        assert_eq!(decimal_step(22_035.0, 8.0), 5_000);
        assert_eq!(decimal_step(9.0, 8.0), 2);
    }
}
