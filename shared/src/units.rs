//! Sizes as PyTorch prints them. Everywhere else a size is a plain `u64` whose name ends in
//! `_bytes`, a time an `i64` or `u64` whose name ends in `_us` (microseconds) or `_ns`.

/// 1024 bytes.
pub const KIB: u64 = 1024;
/// 1024 KiB.
pub const MIB: u64 = 1024 * KIB;
/// 1024 MiB.
pub const GIB: u64 = 1024 * MIB;

/// The size as PyTorch's messages print it (§4.11): whole bytes up to 1024, then two decimals in
/// KiB, MiB and GiB; never TiB.
#[must_use]
pub fn size_text(bytes: u64) -> String {
    // Precision is lost above 2^53 bytes, as it is in PyTorch.
    let value = bytes as f64;
    if bytes <= KIB {
        format!("{bytes} bytes")
    } else if bytes <= MIB {
        format!("{:.2} KiB", value / KIB as f64)
    } else if bytes <= GIB {
        format!("{:.2} MiB", value / MIB as f64)
    } else {
        format!("{:.2} GiB", value / GIB as f64)
    }
}

/// A text that is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is no size: write bytes, or a number with KiB, MiB, GiB or TiB, such as 24GiB")]
pub struct SizeError {
    /// The text.
    pub text: String,
}

/// Bytes of a size as people write it: `24GiB`, `1.5 GiB`, `512 MiB`, `25769803776`.
///
/// # Errors
/// When it is no size, or 2^64 bytes and more. `GB` is refused: it could mean either.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let refused = || SizeError {
        text: text.to_owned(),
    };
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let number = number.trim();
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" => KIB,
        "mib" => MIB,
        "gib" => GIB,
        "tib" => 1024 * GIB,
        _ => return Err(refused()),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit).ok_or_else(refused);
    }
    let bytes = number.parse::<f64>().map_err(|_| refused())? * unit as f64;
    // 2^64; the comparison also refuses what is no number.
    if !(0.0..18_446_744_073_709_551_616.0).contains(&bytes) {
        return Err(refused());
    }
    Ok(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_in_pytorch() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1024, "1024 bytes"),
            (1025, "1.00 KiB"),
            (MIB, "1024.00 KiB"),
            (GIB, "1024.00 MiB"),
            (4_503_296_409, "4.19 GiB"),
            (1 << 60, "1073741824.00 GiB"),
        ] {
            assert_eq!(size_text(bytes), text);
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("24GiB", 24 * GIB),
            (" 1.5 gib ", 1_610_612_736),
            ("512 MiB", 512 * MIB),
            ("0", 0),
            ("4503296409", 4_503_296_409),
            ("100B", 100),
            ("2TiB", 2048 * GIB),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "GiB",
            "24GB",
            "-1GiB",
            "nan",
            "1e30GiB",
            "18446744073709551615KiB",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
