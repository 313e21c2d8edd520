//! Numbers, sizes and times as the page shows them.

use shared::units::{GIB, KIB, MIB};

/// A whole number with its thousands apart: `22,035`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in bytes, exactly: `12,533,760 B`.
pub(crate) fn exact_bytes(bytes: u64) -> String {
    format!("{} B", count(bytes))
}

/// A unit of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Byte,
    Kib,
    Mib,
    Gib,
}

impl Unit {
    /// The unit that suits a size of this many bytes.
    pub(crate) fn of(bytes: u64) -> Unit {
        match bytes {
            0..KIB => Unit::Byte,
            KIB..MIB => Unit::Kib,
            MIB..GIB => Unit::Mib,
            _ => Unit::Gib,
        }
    }

    /// Bytes in one of it.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Unit::Byte => 1,
            Unit::Kib => KIB,
            Unit::Mib => MIB,
            Unit::Gib => GIB,
        }
    }

    /// As it stands behind a number.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Byte => "B",
            Unit::Kib => "KiB",
            Unit::Mib => "MiB",
            Unit::Gib => "GiB",
        }
    }

    /// A size in this unit, so that it does not jump while something plays.
    pub(crate) fn size(self, bytes: u64) -> String {
        let value = bytes as f64 / self.bytes() as f64;
        let decimals = match self {
            Unit::Byte => 0,
            Unit::Kib | Unit::Mib => 1,
            Unit::Gib => 2,
        };
        format!("{value:.decimals$} {}", self.name())
    }
}

/// A size in the unit that suits it: `512 B`, `96.0 KiB`, `12.0 MiB`, `2.88 GiB`.
pub(crate) fn size(bytes: u64) -> String {
    Unit::of(bytes).size(bytes)
}

/// An address: `0x7f12f6bf4000`.
pub(crate) fn address(address: u64) -> String {
    format!("{address:#x}")
}

/// A length of time: `850 µs`, `12.3 ms`, `4.56 s`, `3 min 20 s`.
pub(crate) fn duration_us(us: u64) -> String {
    let value = us as f64;
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", value / 1e3),
        1_000_000..120_000_000 => format!("{:.2} s", value / 1e6),
        _ => format!("{} min {} s", us / 60_000_000, us / 1_000_000 % 60),
    }
}

/// A point on an axis of time in seconds, with as many decimals as a distance of `step_us` between
/// two of them needs.
pub(crate) fn axis_seconds(us: i64, step_us: u64) -> String {
    let decimals = match step_us {
        1_000_000.. => 0,
        100_000.. => 1,
        10_000.. => 2,
        1_000.. => 3,
        _ => 6,
    };
    format!("{:.decimals$} s", us as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_the_unit_that_suits_them() {
        for (bytes, text) in [
            (0, "0 B"),
            (512, "512 B"),
            (98_304, "96.0 KiB"),
            (12_533_760, "12.0 MiB"),
            (786_432_000, "750.0 MiB"),
            (3_092_376_453, "2.88 GiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(Unit::Gib.size(12_533_760), "0.01 GiB");
    }

    #[test]
    fn thousands_stand_apart() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(count(number), text);
        }
        assert_eq!(exact_bytes(12_533_760), "12,533,760 B");
    }

    #[test]
    fn times_are_short() {
        for (us, text) in [
            (850, "850 µs"),
            (12_345, "12.3 ms"),
            (4_560_000, "4.56 s"),
            (200_000_000, "3 min 20 s"),
        ] {
            assert_eq!(duration_us(us), text);
        }
    }
}
