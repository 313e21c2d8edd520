use crate::ids::{EventIndex, PoolId, PoolKind, StreamId};

/// Number of a [`Span`] in the table of its replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(pub u32);

impl SpanId {
    /// The number as an index into the table.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Stands for "no event" where an event index is stored plainly.
const NEVER: u32 = u32::MAX;

/// One life of a block: handed out, given back, completed. There is one for every allocation, so
/// it is kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Address of its first byte.
    pub address: u64,
    /// Bytes of the block.
    pub given_bytes: u64,
    /// Bytes that were asked for.
    pub requested_bytes: u64,
    /// Span in which it was handed out; [`Life::span`] unpacks it.
    span: u32,
    born: u32,
    free_requested: u32,
    ended: u32,
}

impl Life {
    pub(super) fn new(
        address: u64,
        requested_bytes: u64,
        given_bytes: u64,
        span: Option<SpanId>,
        born: Option<EventIndex>,
    ) -> Self {
        Self {
            address,
            given_bytes,
            requested_bytes,
            span: span.map_or(NEVER, |span| span.0),
            born: born.map_or(NEVER, |event| event.0),
            free_requested: NEVER,
            ended: NEVER,
        }
    }

    /// First address behind it.
    #[must_use]
    pub fn end_address(&self) -> u64 {
        self.address.saturating_add(self.given_bytes)
    }

    /// The span in which it was handed out; `None` when it lay outside every known segment.
    #[must_use]
    pub fn span(&self) -> Option<SpanId> {
        (self.span != NEVER).then_some(SpanId(self.span))
    }

    /// The request; `None` when it came before the record.
    #[must_use]
    pub fn born(&self) -> Option<EventIndex> {
        (self.born != NEVER).then_some(EventIndex(self.born))
    }

    /// When the program gave it back; `None` when it did not, or before the record.
    #[must_use]
    pub fn free_requested(&self) -> Option<EventIndex> {
        (self.free_requested != NEVER).then_some(EventIndex(self.free_requested))
    }

    /// When it went back to its pool (or was lost).
    #[must_use]
    pub fn ended(&self) -> Option<EventIndex> {
        (self.ended != NEVER).then_some(EventIndex(self.ended))
    }

    pub(super) fn set_free_requested(&mut self, event: EventIndex) {
        self.free_requested = event.0;
    }

    pub(super) fn set_ended(&mut self, event: EventIndex) {
        self.ended = event.0;
    }
}

/// A driver allocation, or a range of pages mapped into an expandable segment, from the moment it
/// came until it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Address of its first byte.
    pub address: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Stream that its blocks belong to.
    pub stream: StreamId,
    /// Small or large pool.
    pub kind: PoolKind,
    /// Its pool; `None` where nothing says.
    pub pool: Option<PoolId>,
    /// Whether it is pages of an expandable segment.
    pub expandable: bool,
    /// The event that brought it; `None` when it came before the record.
    pub born: Option<EventIndex>,
    /// The event that ended it.
    pub ended: Option<EventIndex>,
}

impl Span {
    /// First address behind it.
    #[must_use]
    pub fn end_address(&self) -> u64 {
        self.address.saturating_add(self.size_bytes)
    }

    /// Whether an address lies in it.
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        self.address <= address && address < self.end_address()
    }

    /// Whether `next` continues it as one mapped run of an expandable segment.
    #[must_use]
    pub fn runs_on_into(&self, next: &Span) -> bool {
        self.expandable
            && next.expandable
            && self.end_address() == next.address
            && self.stream == next.stream
            && self.kind == next.kind
    }
}
