//! Input in chunks of any size: an opcode is taken whole or not at all, so what a chunk breaks off
//! is kept until the next one completes it.

use crate::limits::Limits;
use crate::read::ReadError;
use crate::read::pickle::machine::Machine;
use crate::read::pickle::opcode::refusal;
use crate::store::Recording;

/// Bytes added to a broken opcode at a time: more than the longest opcode without a text.
const STEP: usize = 512;

/// Reads one pickled snapshot.
#[derive(Debug)]
pub(in crate::read) struct PickleReader {
    machine: Machine,
    /// The beginning of an opcode that is not whole yet.
    broken: Vec<u8>,
    /// Offset of the first byte that was not taken.
    offset: u64,
}

impl PickleReader {
    pub(in crate::read) fn new(limits: Limits) -> Self {
        Self {
            machine: Machine::new(limits),
            broken: Vec::new(),
            offset: 0,
        }
    }

    /// Takes the next bytes of the file. Bytes behind the end of the pickle are ignored.
    pub(in crate::read) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), ReadError> {
        while !self.broken.is_empty() && !bytes.is_empty() {
            let kept = self.broken.len();
            // Long texts double, so that each byte is moved a few times at most.
            let (added, rest) = bytes.split_at(bytes.len().min(STEP.max(kept)));
            self.broken.extend_from_slice(added);
            let taken = self.machine.run(&self.broken, self.offset)?;
            self.offset += taken as u64;
            if taken >= kept {
                // The rest of what was added is still in the chunk.
                bytes = bytes.get(taken - kept..).unwrap_or_default();
                self.broken.clear();
            } else {
                self.broken.drain(..taken);
                bytes = rest;
            }
            if self.ended() {
                return Ok(());
            }
        }
        let taken = self.machine.run(bytes, self.offset)?;
        self.offset += taken as u64;
        if !self.ended() {
            let rest = bytes.get(taken..).unwrap_or_default();
            self.broken.extend_from_slice(rest);
        }
        Ok(())
    }

    /// Whether the pickle is complete.
    pub(in crate::read) fn ended(&self) -> bool {
        self.machine.result.is_some()
    }

    /// Events read so far.
    pub(in crate::read) fn events(&self) -> u64 {
        self.machine.rows.events()
    }

    /// The recording; of a pickle that breaks off, what was complete.
    pub(in crate::read) fn finish(self) -> Result<Recording, ReadError> {
        if self.ended() {
            return self.machine.assemble(self.offset);
        }
        if let Some(&opcode @ (b'c' | b'i')) = self.broken.first() {
            return Err(ReadError {
                kind: refusal(opcode, None),
                offset: self.offset,
                path: self.machine.path(None),
            });
        }
        let offset = self.offset + self.broken.len() as u64;
        self.machine.assemble_part(offset)
    }
}
