//! Files that are written: whole, or not at all.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Recordings are written once and read often: a high level costs little here.
const LEVEL: i32 = 19;

/// Compresses the payload of a frame; `None` when that is impossible.
pub(crate) fn compress_well(raw: &[u8]) -> Option<Vec<u8>> {
    zstd::bulk::compress(raw, LEVEL).ok()
}

/// Writes a file under another name beside it, and renames it when it is whole.
///
/// # Errors
/// What the system says, behind the path.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut part: OsString = path.into();
    part.push(".part");
    let write = || fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    write()
        .inspect_err(|_| drop(fs::remove_file(&part)))
        .with_context(|| path.display().to_string())
}
