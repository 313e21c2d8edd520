//! Readers: the bytes of a file, in chunks as they arrive, become a [`Recording`].
//!
//! ```
//! use shared::limits::Limits;
//! use shared::read::Reader;
//!
//! # fn main() -> Result<(), shared::read::ReadError> {
//! let file = b"\x80\x04]."; // an empty list of segments
//! let mut reader = Reader::new(Limits::default());
//! for chunk in file.chunks(2) {
//!     reader.feed(chunk)?;
//! }
//! let recording = reader.finish()?;
//! assert!(recording.devices.is_empty());
//! # Ok(())
//! # }
//! ```

mod error;
mod html;
mod inflate;
mod pickle;
mod sniff;
mod vtrace;

pub use error::{Foreign, ReadError, ReadErrorKind};

use crate::limits::Limits;
use crate::read::html::HtmlReader;
use crate::read::inflate::Inflate;
use crate::read::pickle::PickleReader;
use crate::read::sniff::{Sniffed, sniff};
use crate::read::vtrace::VtraceReader;
use crate::store::Recording;

/// Bytes behind the end of a recording that are still decompressed, to meet the checksum.
const MOST_BEHIND: u64 = 1 << 20;

/// Reads one recording of any known format; what it is, the first bytes say.
#[derive(Debug)]
pub struct Reader {
    limits: Limits,
    bytes: u64,
    /// Bytes behind the end of the recording.
    bytes_behind: u64,
    /// Layers of compression around.
    layers: usize,
    state: State,
}

/// How far a reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file taken so far, as it came.
    pub bytes: u64,
    /// Events read so far, of all devices.
    pub events: u64,
}

#[derive(Debug)]
enum State {
    Sniffing(Vec<u8>),
    Pickle(Box<PickleReader>),
    Page(Box<HtmlReader>),
    Vtrace(Box<VtraceReader>),
    Packed(Inflate, Box<Reader>),
}

impl Reader {
    /// A reader that has seen nothing yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            bytes: 0,
            bytes_behind: 0,
            layers: 0,
            state: State::Sniffing(Vec::new()),
        }
    }

    /// Takes the next bytes of the file, in chunks of any size.
    ///
    /// # Errors
    /// As soon as the bytes can't be a recording. The reader is of no use afterwards.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        let offset = self.bytes;
        self.bytes += bytes.len() as u64;
        if self.ended() {
            self.bytes_behind += bytes.len() as u64;
        }
        match &mut self.state {
            State::Sniffing(start) => {
                start.extend_from_slice(bytes);
                self.decide(false)
            }
            State::Pickle(pickle) => pickle.feed(bytes),
            State::Page(page) => page.feed(bytes),
            State::Vtrace(vtrace) => vtrace.feed(bytes),
            State::Packed(inflate, inner) => {
                if inner.ended() && inner.bytes_behind > MOST_BEHIND {
                    return Ok(());
                }
                inflate.feed(bytes, offset, &mut |plain| {
                    inner.feed(plain)?;
                    Ok(inner.bytes_behind <= MOST_BEHIND)
                })
            }
        }
    }

    /// Whether the recording is complete; further bytes are ignored.
    #[must_use]
    pub fn ended(&self) -> bool {
        match &self.state {
            State::Sniffing(_) => false,
            State::Pickle(pickle) => pickle.ended(),
            State::Page(page) => page.ended(),
            State::Vtrace(vtrace) => vtrace.ended(),
            State::Packed(_, inner) => inner.ended(),
        }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let events = match &self.state {
            State::Sniffing(_) => 0,
            State::Pickle(pickle) => pickle.events(),
            State::Page(page) => page.events(),
            State::Vtrace(vtrace) => vtrace.events(),
            State::Packed(_, inner) => inner.progress().events,
        };
        Progress {
            bytes: self.bytes,
            events,
        }
    }

    /// The recording, when the file has ended. A file that breaks off gives what was complete in
    /// it, with a warning.
    ///
    /// # Errors
    /// When nothing was complete, or the file is none of ours.
    pub fn finish(mut self) -> Result<Recording, ReadError> {
        if let State::Sniffing(start) = &self.state {
            if start.is_empty() {
                return Err(ReadError::at(0, ReadErrorKind::Empty));
            }
            self.decide(true)?;
        }
        match self.state {
            State::Sniffing(_) => Err(foreign(Foreign::Binary)),
            State::Pickle(pickle) => pickle.finish(),
            State::Page(page) => page.finish(),
            State::Vtrace(vtrace) => vtrace.finish(),
            State::Packed(mut inflate, mut inner) => {
                if inner.bytes_behind <= MOST_BEHIND {
                    inflate.flush(self.bytes, &mut |plain| inner.feed(plain).map(|()| true))?;
                }
                // Nothing came out: it broke off before its first block.
                match inner.bytes {
                    0 => Err(ReadError::at(self.bytes, ReadErrorKind::Truncated)),
                    _ => inner.finish(),
                }
            }
        }
    }

    /// Chooses the reader of the format, and gives it what was kept.
    fn decide(&mut self, whole: bool) -> Result<(), ReadError> {
        let State::Sniffing(start) = &mut self.state else {
            return Ok(());
        };
        let limits = self.limits;
        let state = match sniff(start, whole) {
            Sniffed::Unclear => return Ok(()),
            Sniffed::Foreign(kind) => return Err(foreign(kind)),
            Sniffed::Pickle => State::Pickle(Box::new(PickleReader::new(limits))),
            Sniffed::Page => State::Page(Box::new(HtmlReader::new(limits))),
            Sniffed::Vtrace => State::Vtrace(Box::new(VtraceReader::new(limits))),
            Sniffed::Gzip => State::Packed(Inflate::gzip(), self.inner()?),
            Sniffed::Zstd => State::Packed(Inflate::zstd(&limits), self.inner()?),
        };
        if let State::Sniffing(start) = std::mem::replace(&mut self.state, state) {
            self.bytes -= start.len() as u64;
            self.feed(&start)?;
        }
        Ok(())
    }

    /// The reader of what is inside of a compressed file.
    fn inner(&self) -> Result<Box<Reader>, ReadError> {
        if self.layers >= self.limits.layers {
            let kind = ReadErrorKind::Limit {
                what: "the file is compressed more often than once",
                limit: self.limits.layers as u64,
            };
            return Err(ReadError::at(0, kind));
        }
        let mut inner = Reader::new(self.limits);
        inner.layers = self.layers + 1;
        Ok(Box::new(inner))
    }
}

fn foreign(kind: Foreign) -> ReadError {
    ReadError::at(0, ReadErrorKind::Foreign(kind))
}

/// Reads a recording that is in memory as a whole.
///
/// # Errors
/// As [`Reader::feed`] and [`Reader::finish`].
pub fn read_all(bytes: &[u8]) -> Result<Recording, ReadError> {
    let mut reader = Reader::new(Limits::default());
    reader.feed(bytes)?;
    reader.finish()
}
