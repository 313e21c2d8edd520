use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::limits::Limits;
use crate::read::ReadError;
use crate::read::inflate::{Sink, damaged};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A zstd file, of one frame or several. One block is decoded at a time.
pub(in crate::read) struct Zstd {
    decoder: FrameDecoder,
    state: State,
    /// Bytes that were not taken yet.
    waiting: Vec<u8>,
    plain: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Header,
    Block {
        checksum: bool,
    },
    Skip {
        bytes: usize,
    },
    /// What stands behind the last frame is no zstd.
    Over,
}

impl std::fmt::Debug for Zstd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Zstd")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Zstd {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(limits.zstd_window_bytes);
        Self {
            decoder,
            state: State::Header,
            waiting: Vec::new(),
            plain: Vec::new(),
        }
    }

    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        offset: u64,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        let start = offset.saturating_sub(self.waiting.len() as u64);
        self.waiting.extend_from_slice(bytes);
        let waiting = std::mem::take(&mut self.waiting);
        let mut rest = waiting.as_slice();
        loop {
            let at = start + (waiting.len() - rest.len()) as u64;
            let Some(taken) = self.step(rest, at)? else {
                break;
            };
            rest = rest.get(taken..).unwrap_or_default();
            if !self.plain.is_empty() {
                let more = sink(&self.plain)?;
                self.plain.clear();
                if !more {
                    return Ok(());
                }
            }
        }
        self.waiting = rest.to_vec();
        Ok(())
    }

    /// The decoder keeps back as much as later blocks may refer to, until the last one. A frame that
    /// breaks off is ended here by an empty block.
    pub(super) fn flush(&mut self, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        const EMPTY_LAST: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
        if let State::Block { .. } = self.state {
            let ended = self
                .decoder
                .decode_blocks(&EMPTY_LAST[..], BlockDecodingStrategy::UptoBlocks(1));
            if ended.is_ok() && self.decoder.collect_to_writer(&mut self.plain).is_ok() {
                sink(&self.plain)?;
                self.plain.clear();
            }
        }
        Ok(())
    }

    /// Takes one header or block; how many bytes it had, `None` when it is not whole.
    fn step(&mut self, rest: &[u8], at: u64) -> Result<Option<usize>, ReadError> {
        match self.state {
            State::Over => Ok((!rest.is_empty()).then_some(rest.len())),
            State::Skip { bytes: 0 } => {
                self.state = State::Header;
                Ok(Some(0))
            }
            State::Skip { bytes } => {
                let skipped = bytes.min(rest.len());
                self.state = State::Skip {
                    bytes: bytes - skipped,
                };
                Ok((skipped > 0).then_some(skipped))
            }
            State::Header => self.header(rest, at),
            State::Block { checksum } => self.block(rest, checksum, at),
        }
    }

    fn header(&mut self, rest: &[u8], at: u64) -> Result<Option<usize>, ReadError> {
        let Some((magic, behind)) = rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        if matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18]) {
            let Some((length, _)) = behind.split_first_chunk() else {
                return Ok(None);
            };
            self.state = State::Skip {
                bytes: u32::from_le_bytes(*length) as usize,
            };
            return Ok(Some(8));
        }
        if *magic != MAGIC {
            self.state = State::Over;
            return Ok(Some(0));
        }
        let Some(&descriptor) = behind.first() else {
            return Ok(None);
        };
        // RFC 8878, 3.1.1.1: the window, the dictionary's id and the size are there or not.
        let single = descriptor & 0x20 != 0;
        let window = usize::from(!single);
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let size = [usize::from(single), 2, 4, 8][usize::from(descriptor >> 6)];
        let length = 5 + window + dictionary + size;
        let Some(mut header) = rest.get(..length) else {
            return Ok(None);
        };
        self.decoder
            .reset(&mut header)
            .map_err(|error| damaged("zstd", at, error))?;
        self.state = State::Block {
            checksum: descriptor & 4 != 0,
        };
        Ok(Some(length))
    }

    fn block(&mut self, rest: &[u8], checksum: bool, at: u64) -> Result<Option<usize>, ReadError> {
        let Some(&[low, middle, high]) = rest.first_chunk::<3>() else {
            return Ok(None);
        };
        let header = u32::from_le_bytes([low, middle, high, 0]);
        let last = header & 1 == 1;
        // A block of one repeated byte holds that byte only.
        let content = if header >> 1 & 3 == 1 { 1 } else { header >> 3 };
        let length = 3 + content as usize + if last && checksum { 4 } else { 0 };
        let Some(mut block) = rest.get(..length) else {
            return Ok(None);
        };
        self.decoder
            .decode_blocks(&mut block, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(|error| damaged("zstd", at, error))?;
        self.decoder
            .collect_to_writer(&mut self.plain)
            .map_err(|error| damaged("zstd", at, error))?;
        if last {
            let stated = self.decoder.get_checksum_from_data();
            if checksum && stated != self.decoder.get_calculated_checksum() {
                return Err(damaged("zstd", at, "the checksum does not match"));
            }
            self.state = State::Header;
        }
        Ok(Some(length))
    }
}
