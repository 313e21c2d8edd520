//! Forms of a recording: made from a real one, changed, written in all ways, read back.

use shared::read::read_all;
use shared::store::Recording;

use crate::fixture;
use crate::pickle::{Py, WRITERS, write};
use crate::python::assert_same;
use crate::snapshot::snapshot;

/// Reads a recording.
///
/// # Panics
/// When it does not open.
#[must_use]
pub fn open(bytes: &[u8]) -> Recording {
    read_all(bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// A real recording as a value that the tests make other forms of.
#[must_use]
pub fn modern() -> Py {
    snapshot(&open(&fixture::bytes("formats/f_annotations.pickle")))
}

/// Changes each event, by its row in its trace.
pub fn each_event(top: &mut Py, change: impl Fn(usize, &mut Py)) {
    for trace in top.at("device_traces").items_mut() {
        for (row, event) in trace.items_mut().iter_mut().enumerate() {
            change(row, event);
        }
    }
}

/// Changes each segment, by its row.
pub fn each_segment(top: &mut Py, change: impl Fn(usize, &mut Py)) {
    for (row, segment) in top.at("segments").items_mut().iter_mut().enumerate() {
        change(row, segment);
    }
}

/// Changes each block, by its row in its segment.
pub fn each_block(top: &mut Py, change: impl Fn(usize, &mut Py)) {
    each_segment(top, |_, segment| {
        for (row, block) in segment.at("blocks").items_mut().iter_mut().enumerate() {
            change(row, block);
        }
    });
}

/// Writes a value in all ways, compares each with CPython, and gives back what it says.
///
/// # Panics
/// Where CPython and we differ.
pub fn opens_alike(form: &Py) -> Recording {
    let files: Vec<_> = WRITERS
        .iter()
        .map(|&writer| (format!("{writer:?}.pickle"), write(form, writer)))
        .collect();
    assert_same(&files);
    open(&files[0].1)
}
