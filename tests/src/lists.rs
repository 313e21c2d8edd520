//! The recorded operation lists that come with the tests: 94 runs of the real allocator.

use std::fs;

use crate::fixture;

/// The names of all of them, such as `mixed.default`: the list, then the settings.
///
/// # Panics
/// When the folder is not there.
#[must_use]
pub fn names() -> Vec<String> {
    let files = fs::read_dir(fixture::path("conformance")).expect("part of the tests");
    let mut names: Vec<_> = files
        .filter_map(|file| {
            let name = file.expect("readable").file_name();
            let name = name.to_str()?.strip_suffix(".json.zst")?;
            Some(name.to_owned())
        })
        .collect();
    names.sort();
    names
}

/// The operations of a list and what the real allocator said, as JSON.
#[must_use]
pub fn operations(name: &str) -> Vec<u8> {
    fixture::bytes(&format!("conformance/{name}.json"))
}

/// The snapshot at the end of a list.
#[must_use]
pub fn pickle(name: &str) -> Vec<u8> {
    fixture::bytes(&format!("conformance/{name}.pickle"))
}
