//! gzip and zstd in front of any reader: compressed bytes in, plain bytes out, a small piece at a
//! time, so that a bomb meets the reader behind before it fills the memory.

mod gzip;
mod zstd;

use crate::limits::Limits;
use crate::read::{ReadError, ReadErrorKind};

/// Takes the bytes that came out; `false` when it wants no more.
pub(super) type Sink<'s> = dyn FnMut(&[u8]) -> Result<bool, ReadError> + 's;

/// A decompressor.
#[derive(Debug)]
pub(super) enum Inflate {
    Gzip(Box<gzip::Gzip>),
    Zstd(Box<zstd::Zstd>),
}

impl Inflate {
    pub(super) fn gzip() -> Self {
        Inflate::Gzip(Box::new(gzip::Gzip::new()))
    }

    pub(super) fn zstd(limits: &Limits) -> Self {
        Inflate::Zstd(Box::new(zstd::Zstd::new(limits)))
    }

    /// Takes compressed bytes and hands on what comes out. `offset` is that of `bytes`.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        offset: u64,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        match self {
            Inflate::Gzip(gzip) => gzip.feed(bytes, offset, sink),
            Inflate::Zstd(zstd) => zstd.feed(bytes, offset, sink),
        }
    }

    /// Hands on what is still held back when the file has ended, at `offset`.
    pub(super) fn flush(&mut self, offset: u64, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        match self {
            Inflate::Gzip(gzip) => gzip.flush(offset, sink),
            Inflate::Zstd(zstd) => zstd.flush(sink),
        }
    }
}

fn damaged(codec: &'static str, offset: u64, why: impl ToString) -> ReadError {
    let why = why.to_string();
    ReadError::at(offset, ReadErrorKind::Compressed { codec, why })
}
