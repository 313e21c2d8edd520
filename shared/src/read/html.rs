//! The pages that `_memory_viz.py trace_plot` and `segment_plot` write: the pickle stands in them
//! as base64, with up to three NULs behind its end.

use crate::limits::Limits;
use crate::read::pickle::PickleReader;
use crate::read::{Foreign, ReadError, ReadErrorKind};
use crate::store::Recording;

/// What the snapshot follows, but for white space and a colon.
const KEY: &[u8] = b"\"base64\"";
/// The processed data of early pages.
const PROCESSED: &[u8] = b"alloc_data";
/// A picture.
const PICTURE: &[u8] = b"data:image/png;base64";

/// Reads one page.
#[derive(Debug)]
pub(super) struct HtmlReader {
    state: State,
    offset: u64,
    /// The last bytes before the snapshot, in which a word may have begun.
    tail: Vec<u8>,
    processed: bool,
    picture: bool,
    pickle: Option<PickleReader>,
    limits: Limits,
    /// Digits of base64 that make no whole group yet.
    bits: u32,
    digits: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the key.
    Searching,
    /// Behind the key, before the quotation mark.
    Opening,
    /// Inside of the quotation marks.
    Inside,
    /// Behind them.
    Closed,
}

impl HtmlReader {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            state: State::Searching,
            offset: 0,
            tail: Vec::new(),
            processed: false,
            picture: false,
            pickle: None,
            limits,
            bits: 0,
            digits: 0,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        let mut rest = bytes;
        while !rest.is_empty() && !self.ended() {
            let taken = match self.state {
                State::Searching => self.search(rest),
                State::Opening => self.open(rest),
                State::Inside => self.decode(rest)?,
                State::Closed => rest.len(),
            };
            self.offset += taken as u64;
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// Looks for the key; how many bytes are done with.
    fn search(&mut self, rest: &[u8]) -> usize {
        let before = self.tail.len();
        self.tail.extend_from_slice(rest);
        let find = |word: &[u8]| {
            self.tail
                .windows(word.len())
                .position(|window| window == word)
        };
        self.processed |= find(PROCESSED).is_some();
        self.picture |= find(PICTURE).is_some();
        if let Some(at) = find(KEY) {
            self.state = State::Opening;
            self.tail.clear();
            return (at + KEY.len()).saturating_sub(before);
        }
        let keep = self.tail.len().saturating_sub(PICTURE.len());
        self.tail.drain(..keep);
        rest.len()
    }

    fn open(&mut self, rest: &[u8]) -> usize {
        let between = |&&byte: &&u8| byte.is_ascii_whitespace() || byte == b':';
        let skipped = rest.iter().take_while(between).count();
        match rest.get(skipped) {
            None => skipped,
            Some(b'"') => {
                self.state = State::Inside;
                self.pickle = Some(PickleReader::new(self.limits));
                skipped + 1
            }
            Some(_) => {
                self.state = State::Searching;
                skipped
            }
        }
    }

    fn decode(&mut self, rest: &[u8]) -> Result<usize, ReadError> {
        let end = rest.iter().position(|&byte| byte == b'"' || byte == b'\\');
        let inside = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let mut plain = Vec::with_capacity(inside.len() / 4 * 3 + 3);
        for (at, &byte) in inside.iter().enumerate() {
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' => continue,
                _ if byte.is_ascii_whitespace() => continue,
                _ => {
                    let offset = self.offset + at as u64;
                    let kind = ReadErrorKind::Base64(char::from(byte));
                    return Err(ReadError::at(offset, kind));
                }
            };
            self.bits = self.bits << 6 | u32::from(digit);
            self.digits += 1;
            // Every digit but the first of four completes a byte.
            if self.digits > 1 {
                let behind = 8 - 2 * self.digits;
                plain.push((self.bits >> behind) as u8);
            }
            self.digits %= 4;
        }
        if let Some(pickle) = &mut self.pickle {
            pickle.feed(&plain)?;
        }
        if end.is_some() {
            self.state = State::Closed;
        }
        Ok(end.map_or(rest.len(), |end| end + 1))
    }

    pub(super) fn ended(&self) -> bool {
        self.pickle.as_ref().is_some_and(PickleReader::ended)
    }

    pub(super) fn events(&self) -> u64 {
        self.pickle.as_ref().map_or(0, PickleReader::events)
    }

    pub(super) fn finish(self) -> Result<Recording, ReadError> {
        let foreign = match self.pickle {
            Some(pickle) => return pickle.finish(),
            None if self.processed => Foreign::ProcessedPage,
            None if self.picture => Foreign::MemoryTimelinePage,
            None => Foreign::Page,
        };
        Err(ReadError::at(0, ReadErrorKind::Foreign(foreign)))
    }
}
