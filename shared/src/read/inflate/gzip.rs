use std::io::{ErrorKind, Write};

use flate2::write::GzDecoder;

use crate::read::ReadError;
use crate::read::inflate::{Sink, damaged};

/// Compressed bytes taken at a time; at most a thousand times as many come out.
const PIECE: usize = 16 << 10;

/// A gzip file, of one member or several.
#[derive(Debug)]
pub(in crate::read) struct Gzip {
    member: GzDecoder<Vec<u8>>,
    /// What stands behind the last member is no gzip.
    over: bool,
}

impl Gzip {
    pub(super) fn new() -> Self {
        Self {
            member: GzDecoder::new(Vec::new()),
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
            if !self.hand_on(sink)? {
                return Ok(());
            }
            if taken == 0 {
                self.next_member(piece, at, sink)?;
            }
        }
        Ok(())
    }

    /// Ends the last member. That it broke off, the reader behind tells better.
    pub(super) fn flush(&mut self, offset: u64, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        match self.member.try_finish() {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                return Err(damaged("gzip", offset, error));
            }
            _ => self.hand_on(sink)?,
        };
        Ok(())
    }

    /// Ends a member, and begins the next one where there is one.
    fn next_member(&mut self, rest: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        self.member
            .try_finish()
            .map_err(|error| damaged("gzip", at, error))?;
        self.hand_on(sink)?;
        self.over = rest.first() != Some(&0x1f);
        self.member = GzDecoder::new(Vec::new());
        Ok(())
    }

    fn hand_on(&mut self, sink: &mut Sink<'_>) -> Result<bool, ReadError> {
        let plain = self.member.get_mut();
        if plain.is_empty() {
            return Ok(true);
        }
        let more = sink(plain)?;
        plain.clear();
        Ok(more)
    }
}
