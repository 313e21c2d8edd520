//! What a reader accepts before it refuses a file: a recording may come from anybody, and a small
//! file must not be able to ask for unbounded memory or time.

/// Bounds of one read. All memory that a reader takes is bounded by these and by a small multiple
/// of the bytes it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many containers may be open inside one another. Recordings nest 7 deep.
    pub depth: usize,
    /// Longest text that is read at all, in bytes. C++ names of 3,289 bytes have been seen.
    pub text_bytes: usize,
    /// Longest text that is kept; longer ones are cut and counted.
    pub kept_text_bytes: usize,
    /// Longest number, in bytes. 9 hold every unsigned 64-bit number.
    pub number_bytes: usize,
    /// Frames of one stack. 303 have been seen.
    pub stack_frames: usize,
    /// Values that wait for the list or dictionary they belong to, or stand in one that is nothing
    /// known. torch's pickler keeps a whole trace waiting.
    pub values: usize,
    /// Lists, dictionaries and references to them. A million events make 2.6 million.
    pub objects: usize,
    /// Different texts of a file together, in bytes.
    pub all_text_bytes: usize,
    /// Trace entries that the file holds once and lists again, where each reference makes a copy.
    /// Real recordings have none.
    pub copies: u64,
    /// Layers of compression around a recording.
    pub layers: usize,
    /// Window that a zstd file may ask for, in bytes.
    pub zstd_window_bytes: u64,
    /// Bytes of one `.vtrace` frame when decompressed.
    pub frame_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 100,
            text_bytes: 16 << 20,
            kept_text_bytes: 64 << 10,
            number_bytes: 255,
            stack_frames: 1 << 16,
            values: 1 << 24,
            objects: 1 << 26,
            all_text_bytes: 256 << 20,
            copies: 100_000,
            layers: 2,
            zstd_window_bytes: 128 << 20,
            frame_bytes: 64 << 20,
        }
    }
}
