//! The header of a frame.

/// What every frame begins with; a reader looks for it behind damage.
pub(crate) const MAGIC: [u8; 4] = *b"\xf1vtf";
/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 24;

/// The header of a frame, all numbers little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// What the frame holds.
    pub(crate) kind: u8,
    /// How its payload is stored.
    pub(crate) codec: u8,
    /// Frames count from 0.
    pub(crate) sequence: u32,
    /// Bytes of the payload as stored.
    pub(crate) stored_bytes: u32,
    /// Bytes of the payload when decompressed.
    pub(crate) raw_bytes: u32,
}

impl FrameHeader {
    /// Header and payload as they stand in the file.
    pub(crate) fn write(&self, stored: &[u8]) -> Vec<u8> {
        let mut frame = Vec::with_capacity(HEADER_BYTES + stored.len());
        frame.extend_from_slice(&MAGIC);
        frame.extend_from_slice(&[self.kind, self.codec, 0, 0]);
        frame.extend_from_slice(&self.sequence.to_le_bytes());
        frame.extend_from_slice(&self.stored_bytes.to_le_bytes());
        frame.extend_from_slice(&self.raw_bytes.to_le_bytes());
        let checksum = checksum(frame.get(4..).unwrap_or_default(), stored);
        frame.extend_from_slice(&checksum.to_le_bytes());
        frame.extend_from_slice(stored);
        frame
    }

    /// Reads a header and its checksum; `None` where there is none.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, u32)> {
        let &[
            m0,
            m1,
            m2,
            m3,
            kind,
            codec,
            _,
            _,
            s0,
            s1,
            s2,
            s3,
            t0,
            t1,
            t2,
            t3,
            r0,
            r1,
            r2,
            r3,
            c0,
            c1,
            c2,
            c3,
        ] = bytes.first_chunk::<HEADER_BYTES>()?;
        let header = Self {
            kind,
            codec,
            sequence: u32::from_le_bytes([s0, s1, s2, s3]),
            stored_bytes: u32::from_le_bytes([t0, t1, t2, t3]),
            raw_bytes: u32::from_le_bytes([r0, r1, r2, r3]),
        };
        ([m0, m1, m2, m3] == MAGIC).then_some((header, u32::from_le_bytes([c0, c1, c2, c3])))
    }
}

/// CRC-32 over the header between magic and checksum, and the payload as stored.
pub(crate) fn checksum(header: &[u8], stored: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(stored);
    hasher.finalize()
}
