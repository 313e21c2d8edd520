//! The recorded operation lists that come with the tests.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// The folder of the recordings of the real allocator.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/conformance")
}

/// All operation lists, by name.
///
/// # Panics
/// When the folder is not there.
#[must_use]
pub fn paths() -> Vec<PathBuf> {
    let files = fs::read_dir(folder()).expect("the recordings are part of the tests");
    let mut lists: Vec<_> = files
        .map(|file| file.expect("readable").path())
        .filter(|path| path.to_string_lossy().ends_with(".json.zst"))
        .collect();
    lists.sort();
    lists
}

/// The text of a list.
///
/// # Panics
/// When it can't be read.
#[must_use]
pub fn text(path: &Path) -> String {
    let file = File::open(path).expect("readable");
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(file).expect("zstd");
    let mut text = String::new();
    decoder.read_to_string(&mut text).expect("UTF-8");
    text
}
