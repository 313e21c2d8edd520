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
}
