//! Writes `.vtrace` as a stream: each call appends frames for what the recording has gained.

mod batches;

use std::collections::BTreeMap;

use crate::ids::DeviceIndex;
use crate::model::Environment;
use crate::store::Recording;
use crate::vtrace::fields::FieldWriter;
use crate::vtrace::frame::FrameHeader;
use crate::vtrace::{MAGIC, MAJOR, MINOR, codec, end, extra, kind};

/// Rows in one frame at most: a loss costs no more, and a reader needs no more memory.
const BATCH: usize = 1 << 16;

/// Writes one recording, which may still grow. Every frame goes to the closure given to the calls.
///
/// `compress` turns a payload into one zstd frame, or says `None` to store it as it is; see
/// [`fastest`] and [`stored`].
#[derive(Debug)]
pub struct VtraceWriter<C> {
    compress: C,
    sequence: u32,
    begun: bool,
    environment: Option<Environment>,
    extra_json: String,
    written: Written,
}

/// How much of each table is written.
#[derive(Debug, Default)]
struct Written {
    texts: usize,
    frames: usize,
    stacks: usize,
    streams: usize,
    annotations: usize,
    marks: usize,
    gaps: usize,
    events: BTreeMap<DeviceIndex, usize>,
}

/// Compresses with the fastest level of the decoder's own library.
#[must_use]
pub fn fastest(raw: &[u8]) -> Option<Vec<u8>> {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    Some(ruzstd::encoding::compress_to_vec(raw, level))
}

/// Does not compress.
#[must_use]
pub fn stored(_raw: &[u8]) -> Option<Vec<u8>> {
    None
}

/// The whole file of a finished recording.
#[must_use]
pub fn to_vtrace(recording: &Recording, compress: impl FnMut(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut file = Vec::new();
    VtraceWriter::new(compress).finish(recording, &mut |bytes| file.extend_from_slice(bytes));
    file
}

impl<C: FnMut(&[u8]) -> Option<Vec<u8>>> VtraceWriter<C> {
    /// A writer that has written nothing yet.
    #[must_use]
    pub fn new(compress: C) -> Self {
        Self {
            compress,
            sequence: 0,
            begun: false,
            environment: None,
            extra_json: String::new(),
            written: Written {
                // Number 0 is the empty text and the empty stack in every recording.
                texts: 1,
                stacks: 1,
                ..Written::default()
            },
        }
    }

    /// Writes what `recording`, always the same one, has gained since the last call.
    pub fn append(&mut self, recording: &Recording, emit: &mut dyn FnMut(&[u8])) {
        if !self.begun {
            self.begun = true;
            emit(&file_header());
        }
        if self.environment.as_ref() != Some(&recording.environment) {
            self.environment = Some(recording.environment.clone());
            let payload = batches::environment(&recording.environment);
            self.frame(kind::ENVIRONMENT, payload, emit);
        }
        self.tables(recording, emit);
        for record in &recording.devices {
            let from = self.written.events.get(&record.device).copied();
            let mut from = from.unwrap_or(0);
            while from < record.events.len() {
                let to = record.events.len().min(from + BATCH);
                self.frame(kind::EVENTS, batches::events(record, from..to), emit);
                from = to;
            }
            self.written.events.insert(record.device, from);
        }
        self.side_tables(recording, emit);
    }

    /// Writes the rest: the final snapshot, the reader's warnings, and that the file is complete.
    pub fn finish(mut self, recording: &Recording, emit: &mut dyn FnMut(&[u8])) {
        self.append(recording, emit);
        for record in &recording.devices {
            for (part, segments) in batches::split_segments(&record.segments, BATCH).enumerate() {
                let payload = batches::segments(record.device, part as u64, segments);
                self.frame(kind::SEGMENTS, payload, emit);
            }
        }
        let warnings = batches::warnings(&recording.warnings);
        if !warnings.is_empty() {
            self.frame(kind::WARNINGS, warnings, emit);
        }
        let mut fields = FieldWriter::default();
        fields.number(end::FRAMES, u64::from(self.sequence) + 1);
        self.frame(kind::END, fields.finish(), emit);
    }

    /// Texts, frames, stacks and streams come before what refers to them.
    fn tables(&mut self, recording: &Recording, emit: &mut dyn FnMut(&[u8])) {
        let ends = Written {
            texts: recording.texts.len(),
            frames: recording.frames.len(),
            stacks: recording.stacks.len(),
            streams: recording.streams.len(),
            ..Written::default()
        };
        while self.written.texts < ends.texts {
            let (payload, to) = batches::texts(&recording.texts, self.written.texts);
            self.written.texts = to;
            self.frame(kind::TEXTS, payload, emit);
        }
        while self.written.frames < ends.frames {
            let from = self.written.frames;
            let to = ends.frames.min(from + BATCH);
            self.written.frames = to;
            self.frame(
                kind::FRAMES,
                batches::frames(&recording.frames, from..to),
                emit,
            );
        }
        while self.written.stacks < ends.stacks {
            let from = self.written.stacks;
            let to = ends.stacks.min(from + BATCH);
            self.written.stacks = to;
            self.frame(
                kind::STACKS,
                batches::stacks(&recording.stacks, from..to),
                emit,
            );
        }
        if self.written.streams < ends.streams {
            let from = self.written.streams;
            self.written.streams = ends.streams;
            self.frame(
                kind::STREAMS,
                batches::streams(&recording.streams, from),
                emit,
            );
        }
    }

    fn side_tables(&mut self, recording: &Recording, emit: &mut dyn FnMut(&[u8])) {
        let new = |list: usize, written: &mut usize| {
            let from = std::mem::replace(written, list);
            (from < list).then_some(from)
        };
        let annotations = &recording.annotations;
        if let Some(from) = new(annotations.len(), &mut self.written.annotations) {
            let payload = batches::annotations(annotations.get(from..).unwrap_or_default());
            self.frame(kind::ANNOTATIONS, payload, emit);
        }
        if let Some(from) = new(recording.marks.len(), &mut self.written.marks) {
            let payload = batches::marks(recording.marks.get(from..).unwrap_or_default());
            self.frame(kind::MARKS, payload, emit);
        }
        if let Some(from) = new(recording.gaps.len(), &mut self.written.gaps) {
            let payload = batches::gaps(recording.gaps.get(from..).unwrap_or_default());
            self.frame(kind::GAPS, payload, emit);
        }
        if self.extra_json != recording.extra_json {
            self.extra_json.clone_from(&recording.extra_json);
            let mut fields = FieldWriter::default();
            fields.bytes(extra::JSON, recording.extra_json.as_bytes());
            self.frame(kind::EXTRA, fields.finish(), emit);
        }
    }

    fn frame(&mut self, kind: u8, raw: Vec<u8>, emit: &mut dyn FnMut(&[u8])) {
        let raw_bytes = u32::try_from(raw.len()).unwrap_or(u32::MAX);
        let compressed = (self.compress)(&raw).filter(|packed| packed.len() < raw.len());
        let (codec, stored) = match compressed {
            Some(packed) => (codec::ZSTD, packed),
            None => (codec::NONE, raw),
        };
        let header = FrameHeader {
            kind,
            codec,
            sequence: self.sequence,
            stored_bytes: u32::try_from(stored.len()).unwrap_or(u32::MAX),
            raw_bytes,
        };
        self.sequence = self.sequence.wrapping_add(1);
        emit(&header.write(&stored));
    }
}

fn file_header() -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&MAJOR.to_le_bytes());
    header.extend_from_slice(&MINOR.to_le_bytes());
    header.extend_from_slice(&[0; 4]);
    header
}
