//! A reader's error as data that can be sent and then worded in the language of the page.

use shared::read::{Foreign, ReadError, ReadErrorKind};

use super::message::{Failure, ReadFailure, ReadFailureKind};

/// The error for the page.
pub(super) fn read_failure(error: &ReadError) -> Failure {
    Failure::Read(ReadFailure {
        kind: kind(&error.kind),
        offset: error.offset,
        path: error.path.clone(),
    })
}

fn kind(kind: &ReadErrorKind) -> ReadFailureKind {
    match kind {
        ReadErrorKind::Empty => ReadFailureKind::Empty,
        ReadErrorKind::Foreign(kind) => foreign(*kind),
        ReadErrorKind::RefusedOpcode { opcode, object } => ReadFailureKind::RefusedOpcode {
            opcode: (*opcode).to_owned(),
            object: object.clone(),
        },
        ReadErrorKind::UnusedOpcode { opcode, .. } => ReadFailureKind::UnusedOpcode {
            opcode: (*opcode).to_owned(),
        },
        ReadErrorKind::UnknownOpcode(byte) => ReadFailureKind::UnknownOpcode(*byte),
        ReadErrorKind::Protocol(number) => ReadFailureKind::Protocol(*number),
        ReadErrorKind::Limit { what, limit } => ReadFailureKind::Limit {
            what: (*what).to_owned(),
            limit: *limit,
        },
        ReadErrorKind::NotASnapshot(what) => ReadFailureKind::NotASnapshot(what.clone()),
        ReadErrorKind::Truncated => ReadFailureKind::Truncated,
        ReadErrorKind::Compressed { codec, .. } => ReadFailureKind::Compressed {
            codec: (*codec).to_owned(),
        },
        ReadErrorKind::NewerVersion { major, minor, .. } => ReadFailureKind::NewerVersion {
            major: *major,
            minor: *minor,
        },
        other => ReadFailureKind::Other(other.to_string()),
    }
}

fn foreign(kind: Foreign) -> ReadFailureKind {
    match kind {
        Foreign::ChromeTrace => ReadFailureKind::ChromeTrace,
        Foreign::MemoryTimeline | Foreign::RawMemoryTimeline | Foreign::MemoryTimelinePage => {
            ReadFailureKind::MemoryTimeline
        }
        Foreign::ProcessedPage => ReadFailureKind::ProcessedPage,
        Foreign::Page => ReadFailureKind::OtherPage,
        Foreign::MemoryVizText => ReadFailureKind::PrintedText,
        Foreign::Zip => ReadFailureKind::Zip,
        other => ReadFailureKind::Other(other.to_string()),
    }
}
