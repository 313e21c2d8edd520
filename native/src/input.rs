//! A file on this machine, fed to a reader in chunks.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use shared::limits::Limits;
use shared::read::Reader;
use shared::store::Recording;

/// Large enough that the calls do not count, small enough that a file is never held twice.
const CHUNK_BYTES: usize = 1 << 20;

/// Reads a recording of any known form; `-` is standard input.
///
/// # Errors
/// What is wrong with the file, behind its path.
pub(crate) fn read(path: &Path) -> Result<Recording> {
    let read = || -> Result<Recording> {
        if path == Path::new("-") {
            return read_from(io::stdin().lock());
        }
        let file = File::open(path)?;
        // Opening a folder succeeds, reading it does not, and says so in few words.
        if file.metadata()?.is_dir() {
            anyhow::bail!("this is a folder; name one of the recordings in it");
        }
        read_from(file)
    };
    read().with_context(|| path.display().to_string())
}

fn read_from(mut source: impl Read) -> Result<Recording> {
    let mut reader = Reader::new(Limits::default());
    let mut chunk = vec![0; CHUNK_BYTES];
    while !reader.ended() {
        let count = match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        reader.feed(&chunk[..count])?;
    }
    Ok(reader.finish()?)
}
