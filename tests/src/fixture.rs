//! The files that tests read: recordings built into the page, and what `tests/data` keeps.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ruzstd::decoding::StreamingDecoder;
use shared::read::read_all;
use shared::store::Recording;

/// Where a file of `tests/data` lies.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

/// The bytes of a file of `tests/data`, which may lie there compressed as `name.zst`.
///
/// # Panics
/// When neither is there.
#[must_use]
pub fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|_| unpacked(&path(&format!("{name}.zst"))))
}

/// The folder of this repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Reads a recording of this repository, named from its root.
///
/// # Panics
/// When it is not there or cannot be read: the tests cannot go on then.
#[must_use]
pub fn recording(path: impl AsRef<Path>) -> Recording {
    let path = root().join(path);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    read_all(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A built-in recording by its name (`varlen.default`).
#[must_use]
pub fn built_in(name: &str) -> Recording {
    recording(format!("web/assets/recordings/{name}.vtrace"))
}

/// The files of a folder of this repository that end in `ending`, in order.
///
/// # Panics
/// When the folder is not there.
#[must_use]
pub fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let path = root().join(folder);
    let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    files
}

/// Every built-in recording.
#[must_use]
pub fn all_built_in() -> Vec<PathBuf> {
    files("web/assets/recordings", ".vtrace")
}

/// The content of a file that is kept compressed with zstd.
///
/// # Panics
/// When it is not there or damaged.
#[must_use]
pub fn unpacked(path: &Path) -> Vec<u8> {
    let read = || -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let packed = fs::read(path)?;
        let mut bytes = Vec::new();
        StreamingDecoder::new(packed.as_slice())?.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
