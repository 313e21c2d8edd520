use std::io::{ErrorKind, Write};

use flate2::write::GzDecoder;

use crate::read::ReadError;
use crate::read::inflate::{Sink, damaged};

/// Compressed bytes taken at a time; at most a thousand times as many come out.
const PIECE: usize = 16 << 10;

/// CRC-32 and length, four bytes each.
const TAIL: usize = 8;

/// A gzip file, of one member or several.
#[derive(Debug)]
pub(in crate::read) struct Gzip {
    member: GzDecoder<Vec<u8>>,
    /// The last bytes taken, which end with checksum and length of the member.
    tail: Vec<u8>,
    checksum: crc32fast::Hasher,
    length: u32,
    /// What stands behind the last member is no gzip.
    over: bool,
}

impl Gzip {
    pub(super) fn new() -> Self {
        Self {
            member: GzDecoder::new(Vec::new()),
            tail: Vec::new(),
            checksum: crc32fast::Hasher::new(),
            length: 0,
            over: false,
        }
    }

    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        offset: u64,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        let mut rest = bytes;
        while !rest.is_empty() && !self.over {
            let at = offset + (bytes.len() - rest.len()) as u64;
            let piece = rest.get(..PIECE).unwrap_or(rest);
            let taken = match self.member.write(piece) {
                Ok(taken) => taken,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(damaged("gzip", at, error)),
            };
            rest = rest.get(taken..).unwrap_or_default();
            self.keep_tail(piece.get(..taken).unwrap_or_default());
            if !self.hand_on(sink)? {
                return Ok(());
            }
            if taken == 0 {
                self.next_member(piece, at, sink)?;
            }
        }
        Ok(())
    }

    /// Ends the last member. That it broke off, the reader behind tells better; that its checksum
    /// is wrong although its length is right, only we can tell.
    pub(super) fn flush(&mut self, offset: u64, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        let ended = self.member.try_finish();
        self.hand_on(sink)?;
        match ended {
            Err(error) if error.kind() == ErrorKind::InvalidInput && self.has_whole_tail() => {
                Err(damaged("gzip", offset, error))
            }
            _ => Ok(()),
        }
    }

    fn keep_tail(&mut self, taken: &[u8]) {
        let from = taken.len().saturating_sub(TAIL);
        self.tail
            .extend_from_slice(taken.get(from..).unwrap_or_default());
        let extra = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..extra);
    }

    /// Whether the last bytes are the length of what came out, so that nothing is missing.
    fn has_whole_tail(&self) -> bool {
        self.tail.ends_with(&self.length.to_le_bytes())
            && !self
                .tail
                .starts_with(&self.checksum.clone().finalize().to_le_bytes())
    }

    /// Ends a member, and begins the next one where there is one.
    fn next_member(&mut self, rest: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        self.member
            .try_finish()
            .map_err(|error| damaged("gzip", at, error))?;
        self.hand_on(sink)?;
        self.over = rest.first() != Some(&0x1f);
        *self = Self {
            over: self.over,
            ..Self::new()
        };
        Ok(())
    }

    fn hand_on(&mut self, sink: &mut Sink<'_>) -> Result<bool, ReadError> {
        let plain = self.member.get_mut();
        if plain.is_empty() {
            return Ok(true);
        }
        self.checksum.update(plain);
        self.length = self.length.wrapping_add(plain.len() as u32);
        let more = sink(plain)?;
        plain.clear();
        Ok(more)
    }
}
