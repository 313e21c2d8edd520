//! Our own recordings: frames with checksums, so that a file that was cut or damaged opens up to
//! what is whole. `docs/format.md` describes them.

mod decode;
mod numbers;
mod segments;

use ruzstd::decoding::FrameDecoder;

use crate::ids::{DeviceIndex, EventIndex};
use crate::limits::Limits;
use crate::read::vtrace::decode::Decoder;
use crate::read::{ReadError, ReadErrorKind};
use crate::store::Recording;
use crate::vtrace::frame::{self, FrameHeader, checksum};
use crate::vtrace::{HEADER_BYTES, MAJOR, codec, kind};
use crate::warning::{Place, WarningKind};

/// Reads one file.
#[derive(Debug)]
pub(super) struct VtraceReader {
    limits: Limits,
    decoder: Decoder,
    /// Bytes that make no whole frame yet.
    waiting: Vec<u8>,
    /// Offset of the first of them.
    offset: u64,
    header_read: bool,
    /// Number of the frame that comes next.
    sequence: u32,
    /// Offset of bytes that are no frame, where the last bytes were none.
    damage: Option<u64>,
    ended: bool,
}

/// What stands at the beginning of some bytes.
enum Found<'a> {
    Frame(FrameHeader, &'a [u8]),
    /// More bytes are needed to say.
    Unclear,
    Damage,
}

impl VtraceReader {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            decoder: Decoder::default(),
            waiting: Vec::new(),
            offset: 0,
            header_read: false,
            sequence: 0,
            damage: None,
            ended: false,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend_from_slice(bytes);
        let mut rest = waiting.as_slice();
        if !self.header_read {
            let Some(behind) = self.file_header(rest)? else {
                self.waiting = waiting;
                return Ok(());
            };
            self.take(&mut rest, HEADER_BYTES);
            debug_assert_eq!(rest.len(), behind.len());
        }
        while !self.ended && !rest.is_empty() {
            match self.find(rest) {
                Found::Unclear => break,
                Found::Damage => self.pass_over(&mut rest),
                Found::Frame(header, stored) => {
                    self.frame(header, stored);
                    self.take(&mut rest, frame::HEADER_BYTES + stored.len());
                }
            }
        }
        self.waiting = rest.to_vec();
        Ok(())
    }

    fn take(&mut self, rest: &mut &[u8], count: usize) {
        self.offset += count as u64;
        *rest = rest.get(count..).unwrap_or_default();
    }

    fn file_header<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, ReadError> {
        let Some((header, behind)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let &[_, _, _, _, _, _, _, _, major0, major1, minor0, minor1, ..] = header;
        let major = u16::from_le_bytes([major0, major1]);
        if major > MAJOR {
            let kind = ReadErrorKind::NewerVersion {
                major,
                minor: u16::from_le_bytes([minor0, minor1]),
                known: MAJOR,
            };
            return Err(ReadError::at(8, kind));
        }
        self.header_read = true;
        Ok(Some(behind))
    }

    fn find<'a>(&self, bytes: &'a [u8]) -> Found<'a> {
        let magic = bytes.get(..frame::MAGIC.len()).unwrap_or(bytes);
        if !frame::MAGIC.starts_with(magic) {
            return Found::Damage;
        }
        let Some((header, stated)) = FrameHeader::read(bytes) else {
            return Found::Unclear;
        };
        let too_long = |bytes: u32| bytes as usize > self.limits.frame_bytes;
        if too_long(header.stored_bytes) || too_long(header.raw_bytes) {
            return Found::Damage;
        }
        let end = frame::HEADER_BYTES + header.stored_bytes as usize;
        let Some(stored) = bytes.get(frame::HEADER_BYTES..end) else {
            return Found::Unclear;
        };
        let between = bytes.get(4..frame::HEADER_BYTES - 4).unwrap_or_default();
        if checksum(between, stored) == stated {
            Found::Frame(header, stored)
        } else {
            Found::Damage
        }
    }

    /// Passes over bytes that are no frame, up to where the next may begin.
    fn pass_over(&mut self, rest: &mut &[u8]) {
        self.damage.get_or_insert(self.offset);
        let behind = rest.get(1..).unwrap_or_default();
        let next = behind
            .iter()
            .position(|&byte| Some(&byte) == frame::MAGIC.first());
        self.take(rest, 1 + next.unwrap_or(behind.len()));
    }

    fn frame(&mut self, header: FrameHeader, stored: &[u8]) {
        if header.sequence < self.sequence {
            // It came twice, as it may over a connection that was taken up again.
            return;
        }
        let lost = u64::from(header.sequence - self.sequence);
        let damage = self.damage.take();
        if lost > 0 || damage.is_some() {
            self.warn_of_damage(damage.unwrap_or(self.offset), lost.max(1));
        }
        self.sequence = header.sequence.saturating_add(1);
        let is_taken = self
            .unpack(header, stored)
            .and_then(|payload| self.decoder.frame(header.kind, &payload));
        if is_taken.is_none() {
            self.warn_of_damage(self.offset, 1);
        }
        self.ended |= header.kind == kind::END;
    }

    fn warn_of_damage(&mut self, offset: u64, count: u64) {
        let warnings = self.decoder.builder.warnings();
        warnings.add_many(WarningKind::DamagedFrame, Place::Byte(offset), count);
    }

    fn unpack(&self, header: FrameHeader, stored: &[u8]) -> Option<Vec<u8>> {
        let raw_bytes = header.raw_bytes as usize;
        let payload = match header.codec {
            codec::NONE => stored.to_vec(),
            codec::ZSTD => {
                let mut payload = vec![0; raw_bytes];
                let mut decoder = FrameDecoder::new();
                decoder.set_max_window_size(self.limits.zstd_window_bytes);
                let written = decoder.decode_all(stored, &mut payload).ok()?;
                payload.truncate(written);
                payload
            }
            _ => return None,
        };
        (payload.len() == raw_bytes).then_some(payload)
    }

    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    pub(super) fn events(&self) -> u64 {
        self.decoder.events()
    }

    pub(super) fn finish(mut self) -> Result<Recording, ReadError> {
        let end = self.offset + self.waiting.len() as u64;
        // A damaged length may have made the reader wait for what never comes.
        while !self.ended && !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            let mut rest = waiting.as_slice();
            self.pass_over(&mut rest);
            self.feed(rest)?;
        }
        if self.ended {
            return Ok(self.decoder.finish());
        }
        // What was passed over at the end is the frame that was cut.
        let cut_at = self.damage.unwrap_or(end);
        let warnings = self.decoder.builder.warnings();
        warnings.add(WarningKind::Truncated, Place::Byte(cut_at));
        let recording = self.decoder.finish();
        if recording.devices.is_empty() {
            return Err(ReadError::at(end, ReadErrorKind::Truncated));
        }
        Ok(recording)
    }
}

/// A device index of a file, which may be damaged.
fn device(number: Option<u64>) -> Option<DeviceIndex> {
    Some(DeviceIndex(u32::try_from(number?).ok()?))
}

/// An event index of a file, which may be damaged.
fn event_index(number: Option<u64>) -> Option<EventIndex> {
    Some(EventIndex(u32::try_from(number?).ok()?))
}
