//! Placeholder until the next step.
use crate::limits::Limits;
use crate::read::{ReadError, ReadErrorKind};
use crate::store::Recording;
pub(crate) const MAGIC: [u8; 8] = *b"\x8avtrace\n";
#[derive(Debug)]
pub(super) struct VtraceReader;
impl VtraceReader {
    pub(super) fn new(_limits: Limits) -> Self {
        Self
    }
    pub(super) fn feed(&mut self, _bytes: &[u8]) -> Result<(), ReadError> {
        Ok(())
    }
    pub(super) fn ended(&self) -> bool {
        false
    }
    pub(super) fn events(&self) -> u64 {
        0
    }
    pub(super) fn finish(self) -> Result<Recording, ReadError> {
        Err(ReadError::at(0, ReadErrorKind::Truncated))
    }
}
