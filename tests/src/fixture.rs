//! Files of `tests/data`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ruzstd::decoding::StreamingDecoder;

/// Where a file of `tests/data` lies.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name)
}

/// The bytes of a file of `tests/data`, which may lie there compressed as `name.zst`.
///
/// # Panics
/// When neither is there.
#[must_use]
pub fn bytes(name: &str) -> Vec<u8> {
    if let Ok(bytes) = fs::read(path(name)) {
        return bytes;
    }
    let packed =
        fs::read(path(&format!("{name}.zst"))).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut plain = Vec::new();
    StreamingDecoder::new(packed.as_slice())
        .expect("zstd")
        .read_to_end(&mut plain)
        .expect("whole");
    plain
}
