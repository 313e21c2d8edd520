//! A size out of a text, with how precisely it is known.

use serde::{Deserialize, Serialize};

use super::words::Words;
use crate::units::{GIB, KIB, MIB};

/// More digits than any size has; beyond, the arithmetic could overflow.
const MAX_DIGITS: usize = 20;

/// A size and the half-width of its rounding (§4.11): "1.50 GiB" is 1.50 GiB ± 0.005 GiB,
/// "0 bytes" is exact. Kept in hundredths of a byte, in which two decimals of any unit are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Figure {
    hundredths: i128,
    half_hundredths: i128,
}

impl Figure {
    /// A size known to the byte.
    #[must_use]
    pub fn exact(bytes: u64) -> Self {
        Self {
            hundredths: i128::from(bytes) * 100,
            half_hundredths: 0,
        }
    }

    /// The size in bytes, rounded to whole ones; negative only for a difference.
    #[must_use]
    pub fn bytes(self) -> i128 {
        (self.hundredths + 50).div_euclid(100)
    }

    /// The size in bytes that a bar or a text can use: 0 where it is negative, the largest `u64`
    /// where it is above (an underflow printed as 17179869184.00 GiB).
    #[must_use]
    pub fn clamped_bytes(self) -> u64 {
        u64::try_from(self.bytes().max(0)).unwrap_or(u64::MAX)
    }

    /// Half the width of the rounding, in bytes, rounded up; 0 for an exact figure.
    #[must_use]
    pub fn half_width_bytes(self) -> u64 {
        u64::try_from((self.half_hundredths + 99).div_euclid(100)).unwrap_or(u64::MAX)
    }

    /// The sum; the roundings add up.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            hundredths: self.hundredths + other.hundredths,
            half_hundredths: self.half_hundredths + other.half_hundredths,
        }
    }

    /// The difference; the roundings add up.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            hundredths: self.hundredths - other.hundredths,
            half_hundredths: self.half_hundredths + other.half_hundredths,
        }
    }

    /// Whether this is larger; `None` where the two differ by less than their rounding.
    #[must_use]
    pub fn exceeds(self, other: Self) -> Option<bool> {
        let difference = self.minus(other);
        if difference.hundredths.abs() < difference.half_hundredths {
            None
        } else {
            Some(difference.hundredths > 0)
        }
    }

    /// The same size rounded down instead of to the nearest, as the cells of `memory_summary()`
    /// are: it is known to one unit, not to half of it.
    pub(super) fn rounded_down(self) -> Self {
        Self {
            half_hundredths: self.half_hundredths * 2,
            ..self
        }
    }

    /// Reads a number and its unit, the number being this word; both may be one word. Takes the
    /// unit from the words that follow.
    pub(super) fn read<'a>(word: &'a str, rest: &mut Words<'a>) -> Option<Self> {
        let split = word
            .find(|c: char| c.is_ascii_alphabetic() || c == '_')
            .unwrap_or(word.len());
        let (number, glued) = word.split_at_checked(split)?;
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if !glued.is_empty() {
            return Self::of(number, unit_bytes(glued)?);
        }
        let mut ahead = rest.clone();
        let figure = Self::of(number, unit_bytes(ahead.next()?)?)?;
        *rest = ahead;
        Some(figure)
    }

    fn of(number: &str, unit_bytes: u64) -> Option<Self> {
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + decimals.len() > MAX_DIGITS {
            return None;
        }
        let digits: i128 = format!("{whole}{decimals}").parse().ok()?;
        let scale = 10_i128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
        let unit = i128::from(unit_bytes) * 100;
        let half_hundredths = if unit_bytes == 1 {
            0
        } else {
            (unit / 2).div_euclid(scale)
        };
        Some(Self {
            hundredths: (digits * unit).div_euclid(scale),
            half_hundredths,
        })
    }
}

/// PyTorch's units are powers of 1024 in every version: MPS prints them as KB, MB, GB, and so did
/// early `memory_summary()` tables.
fn unit_bytes(word: &str) -> Option<u64> {
    Some(match word {
        "bytes" | "byte" | "B" => 1,
        "KiB" | "KB" => KIB,
        "MiB" | "MB" => MIB,
        "GiB" | "GB" => GIB,
        "TiB" | "TB" => GIB * 1024,
        _ => return None,
    })
}
