//! What page and worker say to each other. Of the page's messages the second part may be a file.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use shared::query::{Query, Reply};

/// Number of a question, unique in its worker.
pub(crate) type Number = u32;

/// Where a recording comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    /// The file attached to the message.
    Attached,
    /// Something to fetch.
    Url(String),
}

/// From the page to the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    Open { source: Source },
    Ask { number: Number, query: Query },
}

/// From the worker to the page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    Progress {
        done_bytes: u64,
        total_bytes: Option<u64>,
    },
    Opened,
    Failed(Failure),
    Answered {
        number: Number,
        reply: Reply,
    },
}

/// Why a recording could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Failure {
    /// The reader refused it.
    Read(ReadFailure),
    /// The address could not be fetched.
    Fetch { url: String, message: String },
    /// The file could not be read from the disk.
    File { message: String },
    /// The worker itself failed, for example for want of memory.
    Worker { message: String },
}

/// What the reader refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadFailure {
    pub(crate) kind: ReadFailureKind,
    /// Offset in the (decompressed) file.
    pub(crate) offset: u64,
    /// Place in the recording's structure, or empty.
    pub(crate) path: String,
}

/// [`ReadErrorKind`](shared::read::ReadErrorKind) with what its sentence needs, so that the page
/// can word it in its language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ReadFailureKind {
    Empty,
    RefusedOpcode {
        opcode: String,
        object: Option<String>,
    },
    UnusedOpcode {
        opcode: String,
    },
    UnknownOpcode(u8),
    Protocol(u8),
    Limit {
        what: String,
        limit: u64,
    },
    NotASnapshot(String),
    Truncated,
    Compressed {
        codec: String,
    },
    NewerVersion {
        major: u16,
        minor: u16,
    },
    ChromeTrace,
    MemoryTimeline,
    ProcessedPage,
    OtherPage,
    PrintedText,
    Zip,
    /// Whatever else, in the reader's own words.
    Other(String),
}

/// A message as bytes.
pub(super) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    postcard::to_allocvec(message).expect("plain values always serialise")
}

/// The message in these bytes; both sides come from one build, so they agree.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}
