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
    /// The reader refused it, in its own words.
    Read { message: String },
    /// The address could not be fetched.
    Fetch { url: String, message: String },
    /// The file could not be read from the disk.
    File { message: String },
    /// The worker itself failed, for example for want of memory.
    Worker { message: String },
}

/// A message as bytes.
pub(super) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    postcard::to_allocvec(message).expect("plain values always serialise")
}

/// The message in these bytes; both sides come from one build, so they agree.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}
