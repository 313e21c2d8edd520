//! What the machine's stack and memo hold: numbers inline, everything else by its number in a
//! table. Nothing owns anything, so copying a reference never copies what it refers to.

use crate::ids::{FrameId, StackId, TextId};

/// A value on the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// A number above `i64::MAX`.
    Unsigned(u64),
    /// A number that 64 bits don't hold.
    Huge,
    Float(f64),
    Text(TextId),
    /// Two numbers in a tuple, by their number among all such pairs: the id of a pool.
    Pair(u32),
    Container(Container),
}

/// A list, dictionary or tuple, by its number in the order of appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Container(pub(super) u32);

/// What has become of a container so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    EmptyList,
    EmptyDict,
    /// A list of anything but frames and events, in the table of lists.
    List(u32),
    Tuple(u32),
    /// A dictionary that is none of the following, in the table of dictionaries.
    Dict(u32),
    Frame(FrameId),
    /// A list of frames.
    Stack(StackId),
    /// An entry of a trace; its row is in the columns already.
    Event(u32),
    /// A list of events.
    Trace(u32),
    Block(u32),
    Segment(u32),
    Annotation(u32),
}

/// Numbers in packed form end here.
pub(super) const MAX_NUMBER: u32 = (1 << 28) - 1;

/// A [`Kind`] in four bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedKind(u32);

impl PackedKind {
    pub(super) const EMPTY_LIST: PackedKind = PackedKind(0);
    pub(super) const EMPTY_DICT: PackedKind = PackedKind(1 << 28);

    /// `None` when a number is above [`MAX_NUMBER`].
    pub(super) fn new(kind: Kind) -> Option<Self> {
        let (tag, number) = match kind {
            Kind::EmptyList => (0, 0),
            Kind::EmptyDict => (1, 0),
            Kind::List(number) => (2, number),
            Kind::Tuple(number) => (3, number),
            Kind::Dict(number) => (4, number),
            Kind::Frame(id) => (5, id.0),
            Kind::Stack(id) => (6, id.0),
            Kind::Event(row) => (7, row),
            Kind::Trace(number) => (8, number),
            Kind::Block(number) => (9, number),
            Kind::Segment(number) => (10, number),
            Kind::Annotation(number) => (11, number),
        };
        (number <= MAX_NUMBER).then_some(Self(tag << 28 | number))
    }

    #[inline]
    pub(super) fn kind(self) -> Kind {
        let number = self.0 & MAX_NUMBER;
        match self.0 >> 28 {
            0 => Kind::EmptyList,
            1 => Kind::EmptyDict,
            2 => Kind::List(number),
            3 => Kind::Tuple(number),
            4 => Kind::Dict(number),
            5 => Kind::Frame(FrameId(number)),
            6 => Kind::Stack(StackId(number)),
            7 => Kind::Event(number),
            8 => Kind::Trace(number),
            9 => Kind::Block(number),
            10 => Kind::Segment(number),
            _ => Kind::Annotation(number),
        }
    }
}

/// The memo: four bytes an entry, since all that writers memoise are texts and containers.
#[derive(Debug, Default)]
pub(super) struct Memo {
    entries: Vec<u32>,
    /// Values that are no texts, pairs or containers.
    others: Vec<Value>,
}

const TEXT: u32 = 0;
const PAIR: u32 = 1;
const CONTAINER: u32 = 2;
const OTHER: u32 = 3;
const UNSET: u32 = u32::MAX;

impl Memo {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The value at `index`, if one was put there.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Value> {
        let &entry = self.entries.get(index)?;
        let number = entry >> 2;
        match entry & 3 {
            TEXT => Some(Value::Text(TextId(number))),
            PAIR => Some(Value::Pair(number)),
            CONTAINER => Some(Value::Container(Container(number))),
            _ => self.others.get(number as usize).copied(),
        }
    }

    /// Appends a value (MEMOIZE).
    #[inline]
    pub(super) fn push(&mut self, value: Value) {
        let entry = self.pack(value);
        self.entries.push(entry);
    }

    /// Puts a value at `index` (BINPUT), which the caller has bounded.
    pub(super) fn put(&mut self, index: usize, value: Value) {
        let entry = self.pack(value);
        if index >= self.entries.len() {
            self.entries.resize(index + 1, UNSET);
        }
        if let Some(slot) = self.entries.get_mut(index) {
            *slot = entry;
        }
    }

    fn pack(&mut self, value: Value) -> u32 {
        let (tag, number) = match value {
            Value::Text(text) => (TEXT, text.0),
            Value::Pair(pair) => (PAIR, pair),
            Value::Container(container) => (CONTAINER, container.0),
            other => {
                self.others.push(other);
                (OTHER, u32::try_from(self.others.len() - 1).unwrap_or(UNSET))
            }
        };
        number << 2 | tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_16_bytes_and_come_back_from_the_memo() {
        assert_eq!(size_of::<Value>(), 16);
        let mut memo = Memo::default();
        let values = [
            Value::Text(TextId(7)),
            Value::Container(Container(9)),
            Value::Pair(3),
            Value::Int(-1),
            Value::None,
        ];
        for value in values {
            memo.push(value);
        }
        memo.put(9, Value::Bool(true));
        for (index, value) in values.into_iter().enumerate() {
            assert_eq!(memo.get(index), Some(value));
        }
        assert_eq!(memo.get(9), Some(Value::Bool(true)));
        assert_eq!(memo.get(7), None);
        assert_eq!(memo.get(10), None);
        for kind in [
            Kind::EmptyDict,
            Kind::Event(5),
            Kind::Annotation(MAX_NUMBER),
        ] {
            assert_eq!(PackedKind::new(kind).map(PackedKind::kind), Some(kind));
        }
        assert!(PackedKind::new(Kind::Event(MAX_NUMBER + 1)).is_none());
    }
}
