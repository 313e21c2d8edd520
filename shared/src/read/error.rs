use std::fmt;

use thiserror::Error;

/// Why a file could not be read: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ReadError {
    /// What was wrong.
    pub kind: ReadErrorKind,
    /// Offset in the (decompressed) file, in bytes.
    pub offset: u64,
    /// Place inside the recording, as Python would write it (`device_traces[0][17].size`); empty
    /// where there is none.
    pub path: String,
}

impl ReadError {
    /// Trouble at `offset` that lies outside of the recording's structure.
    #[must_use]
    pub fn at(offset: u64, kind: ReadErrorKind) -> Self {
        Self {
            kind,
            offset,
            path: String::new(),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self.kind, ReadErrorKind::Empty | ReadErrorKind::Foreign(_)) {
            return write!(f, "{}", self.kind);
        }
        write!(f, "byte {}", grouped(self.offset))?;
        if !self.path.is_empty() {
            write!(f, " ({})", self.path)?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// `18,234`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What was wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// No byte at all.
    #[error(
        "the file is empty (0 bytes): the dump probably failed or another process overwrote it; record again"
    )]
    Empty,
    /// Some other kind of file.
    #[error("{0}")]
    Foreign(Foreign),
    /// An opcode that would run code.
    #[error("{opcode} {}; recordings hold data only, so this file was not read", named(object.as_deref()))]
    RefusedOpcode {
        /// Its name in Python's `pickletools`.
        opcode: &'static str,
        /// The Python object that it names, where it names one.
        object: Option<String>,
    },
    /// An opcode that data does not need.
    #[error(
        "{opcode} is not used by any recording ({why}); record again or save with protocol 2 to 5"
    )]
    UnusedOpcode {
        /// Its name in Python's `pickletools`.
        opcode: &'static str,
        /// What it is for.
        why: &'static str,
    },
    /// A byte that is no opcode.
    #[error("{0:#04x} is no pickle opcode: the file is damaged; copy it again")]
    UnknownOpcode(u8),
    /// A pickle newer than all known ones.
    #[error(
        "pickle protocol {0} is not known (2 to 5 are); a newer version of this program may read it"
    )]
    Protocol(u8),
    /// Opcodes that do not fit together.
    #[error("{0}: the file is damaged; copy it again")]
    Malformed(&'static str),
    /// A value of another type than its place asks for.
    #[error("{found} stands where {expected} is expected")]
    WrongType {
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A key is missing that the recording cannot do without.
    #[error("the key \"{0}\" is missing")]
    MissingKey(&'static str),
    /// A limit was met.
    #[error(
        "{what} beyond the limit of {limit}; no recording needs that, so this file was not read"
    )]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// Pickled data of another shape.
    #[error(
        "this is a pickle of {0}, not a memory snapshot; save one with torch.cuda.memory._dump_snapshot(path)"
    )]
    NotASnapshot(String),
    /// The file ends before anything in it was complete.
    #[error("the file ends before the first segment or event is complete; copy it again")]
    Truncated,
    /// The compressed data are damaged.
    #[error("the {codec} data are damaged ({why}); copy the file again")]
    Compressed {
        /// `gzip` or `zstd`.
        codec: &'static str,
        /// What the decoder said.
        why: String,
    },
    /// A page holds something else than base64 where the snapshot should be.
    #[error("the snapshot inside this page is damaged: {0:?} is no base64; save the page again")]
    Base64(char),
    /// A `.vtrace` file of a newer kind.
    #[error(
        "this .vtrace file has version {major}.{minor}, this program reads up to {known}.x; a newer version of it reads the file"
    )]
    NewerVersion {
        /// Major version of the file.
        major: u16,
        /// Minor version of the file.
        minor: u16,
        /// Highest major version known.
        known: u16,
    },
}

fn named(object: Option<&str>) -> String {
    match object {
        Some(object) => format!("names a Python object \"{object}\""),
        None => "builds a Python object".to_owned(),
    }
}

/// Files that people mistake for a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Foreign {
    /// The profiler's trace.
    #[error(
        "this is a trace of PyTorch's profiler (Chrome trace JSON), not a memory snapshot: it has no segments; save one with torch.cuda.memory._dump_snapshot(path)"
    )]
    ChromeTrace,
    /// `export_memory_timeline(...json)`.
    #[error(
        "this is a memory timeline of PyTorch's profiler (export_memory_timeline, JSON): sums by category without blocks; save a snapshot with torch.cuda.memory._dump_snapshot(path)"
    )]
    MemoryTimeline,
    /// `export_memory_timeline(...raw.json.gz)`.
    #[error(
        "this is a raw memory timeline of PyTorch's profiler (export_memory_timeline, .raw.json.gz): sizes without addresses; save a snapshot with torch.cuda.memory._dump_snapshot(path)"
    )]
    RawMemoryTimeline,
    /// `export_memory_timeline(...html)`.
    #[error(
        "this page holds only a picture of a memory timeline (export_memory_timeline, .html); save a snapshot with torch.cuda.memory._dump_snapshot(path)"
    )]
    MemoryTimelinePage,
    /// The page of an early `_memory_viz.py`.
    #[error(
        "this page was written by an old _memory_viz.py and holds processed data, not the snapshot; open the .pickle it was made from"
    )]
    ProcessedPage,
    /// Another page.
    #[error(
        "this HTML page holds no memory snapshot; open the .pickle file, or a page that _memory_viz.py trace_plot wrote"
    )]
    Page,
    /// Text output of `_memory_viz.py`.
    #[error(
        "this is text printed by _memory_viz.py, for people to read; open the .pickle it was made from"
    )]
    MemoryVizText,
    /// A ZIP archive, what `torch.save` writes.
    #[error(
        "this is a ZIP archive, probably a checkpoint of torch.save, not a memory snapshot; save one with torch.cuda.memory._dump_snapshot(path)"
    )]
    Zip,
    /// A pickle of protocol 0 or 1.
    #[error(
        "this is a text pickle (protocol 0 or 1), which no version of PyTorch writes for snapshots; load it in Python and save it with pickle.dump(snapshot, file, protocol=4)"
    )]
    TextPickle,
    /// Other JSON.
    #[error(
        "this is a JSON file, not a memory snapshot; save one with torch.cuda.memory._dump_snapshot(path)"
    )]
    Json,
    /// Other text.
    #[error(
        "this is a text file, not a memory snapshot; save one with torch.cuda.memory._dump_snapshot(path)"
    )]
    Text,
    /// Anything else.
    #[error(
        "this is no memory snapshot (.pickle), no page with one, and no .vtrace file; save one with torch.cuda.memory._dump_snapshot(path)"
    )]
    Binary,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_place_what_and_what_to_do() {
        let error = ReadError {
            kind: ReadErrorKind::RefusedOpcode {
                opcode: "GLOBAL",
                object: Some("os.system".to_owned()),
            },
            offset: 18_234,
            path: "device_traces[0][17]".to_owned(),
        };
        assert_eq!(
            error.to_string(),
            "byte 18,234 (device_traces[0][17]): GLOBAL names a Python object \"os.system\"; \
             recordings hold data only, so this file was not read"
        );
    }
}
