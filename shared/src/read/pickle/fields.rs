//! The fields of one dictionary while it is being recognised, and typed access to them.

use crate::ids::{PoolId, StackId, TextId};
use crate::read::ReadErrorKind;
use crate::read::pickle::tables::Tables;
use crate::read::pickle::value::{Kind, Value};
use crate::read::pickle::words::Word;

/// Trouble inside a dictionary or list; the machine knows where that is.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: ReadErrorKind,
    /// The key at which it was met: `None` where the machine is, empty where it concerns a
    /// dictionary as a whole.
    pub(super) key: Option<&'static str>,
}

impl From<ReadErrorKind> for Fault {
    fn from(kind: ReadErrorKind) -> Self {
        Self { kind, key: None }
    }
}

/// One slot for each known key.
#[derive(Debug)]
pub(super) struct Fields {
    seen: u64,
    values: [Value; 64],
    unknown: u64,
}

/// Which thing a dictionary describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Event,
    Frame,
    Block,
    Segment,
    Annotation,
    /// None of these, or not yet.
    Other,
}

const fn bit(word: Word) -> u64 {
    1 << (word as u8 & 63)
}

impl Fields {
    pub(super) fn new() -> Self {
        Self {
            seen: 0,
            values: [Value::None; 64],
            unknown: 0,
        }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.seen = 0;
        self.unknown = 0;
    }

    #[inline]
    pub(super) fn set(&mut self, key: Value, value: Value) {
        match key {
            Value::Text(text) if Word::is_key(text) => {
                self.seen |= 1 << (text.0 & 63);
                self.values[text.0 as usize & 63] = value;
            }
            _ => self.unknown += 1,
        }
    }

    /// How many keys were none of the known ones.
    pub(super) fn unknown(&self) -> u64 {
        self.unknown
    }

    #[inline]
    pub(super) fn shape(&self) -> Shape {
        let has = |mask: u64| self.seen & mask == mask;
        if has(bit(Word::Action)) {
            Shape::Event
        } else if has(bit(Word::Name) | bit(Word::Filename)) {
            Shape::Frame
        } else if has(bit(Word::State) | bit(Word::Size)) {
            Shape::Block
        } else if has(bit(Word::TotalSize) | bit(Word::Address)) {
            Shape::Segment
        } else if has(bit(Word::Stage) | bit(Word::Name)) {
            Shape::Annotation
        } else {
            Shape::Other
        }
    }

    #[inline]
    pub(super) fn get(&self, word: Word) -> Option<Value> {
        (self.seen & bit(word) != 0).then(|| self.values[word as usize & 63])
    }

    /// A number of bytes, or another that can't be negative.
    #[inline]
    pub(super) fn size(&self, word: Word) -> Result<Option<u64>, Fault> {
        match self.get(word) {
            None => Ok(None),
            Some(Value::Int(number)) if number >= 0 => Ok(Some(number as u64)),
            Some(Value::Unsigned(number)) => Ok(Some(number)),
            Some(other) => Err(wrong(word, "a number of 0 or more", other)),
        }
    }

    /// An address or handle: 64 bits, which some writers print as a signed number.
    #[inline]
    pub(super) fn address(&self, word: Word) -> Result<Option<u64>, Fault> {
        match self.get(word) {
            None => Ok(None),
            Some(Value::Int(number)) => Ok(Some(number as u64)),
            Some(Value::Unsigned(number)) => Ok(Some(number)),
            Some(other) => Err(wrong(word, "an address", other)),
        }
    }

    /// A number that may be negative, or nothing.
    #[inline]
    pub(super) fn signed(&self, word: Word) -> Result<Option<i64>, Fault> {
        match self.get(word) {
            None | Some(Value::None) => Ok(None),
            Some(Value::Int(number)) => Ok(Some(number)),
            Some(other) => Err(wrong(word, "a number", other)),
        }
    }

    /// A text, or nothing.
    #[inline]
    pub(super) fn text(&self, word: Word) -> Result<Option<TextId>, Fault> {
        match self.get(word) {
            None | Some(Value::None) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(word, "a text", other)),
        }
    }

    /// Yes or no.
    pub(super) fn flag(&self, word: Word) -> Result<bool, Fault> {
        match self.get(word) {
            None | Some(Value::None) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(Value::Int(number)) => Ok(number != 0),
            Some(other) => Err(wrong(word, "True or False", other)),
        }
    }

    /// A stack; the empty one where there is none.
    #[inline]
    pub(super) fn stack(&self, word: Word, tables: &Tables) -> Result<StackId, Fault> {
        match self.get(word) {
            None | Some(Value::None) => Ok(StackId(0)),
            Some(Value::Container(container)) => match tables.kind(container) {
                Kind::Stack(stack) => Ok(stack),
                Kind::EmptyList => Ok(StackId(0)),
                other => Err(wrong_kind(word, "a list of frames", other)),
            },
            Some(other) => Err(wrong(word, "a list of frames", other)),
        }
    }

    /// The identity of a pool.
    #[inline]
    pub(super) fn pool(&self, word: Word, tables: &Tables) -> Result<Option<PoolId>, Fault> {
        match self.get(word) {
            None | Some(Value::None) => Ok(None),
            Some(Value::Pair(pair)) => Ok(tables.pair(pair)),
            Some(other) => Err(wrong(word, "a pair of numbers", other)),
        }
    }

    /// The values of a list or tuple; none where it is empty or missing.
    pub(super) fn list<'t>(&self, word: Word, tables: &'t Tables) -> Result<&'t [Value], Fault> {
        match self.get(word) {
            None | Some(Value::None) => Ok(&[]),
            Some(Value::Container(container)) => tables
                .list(container)
                .ok_or_else(|| wrong_kind(word, "a list", tables.kind(container))),
            Some(other) => Err(wrong(word, "a list", other)),
        }
    }
}

pub(super) fn missing(word: Word) -> Fault {
    Fault {
        kind: ReadErrorKind::MissingKey(word.text()),
        key: Some(""),
    }
}

pub(super) fn wrong(word: Word, expected: &'static str, found: Value) -> Fault {
    Fault {
        kind: ReadErrorKind::WrongType {
            expected,
            found: describe(found),
        },
        key: Some(word.text()),
    }
}

pub(super) fn wrong_kind(word: Word, expected: &'static str, found: Kind) -> Fault {
    Fault {
        kind: ReadErrorKind::WrongType {
            expected,
            found: describe_kind(found).to_owned(),
        },
        key: Some(word.text()),
    }
}

/// What a value is, for messages.
pub(super) fn describe(value: Value) -> String {
    match value {
        Value::None => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Int(number) => format!("the number {number}"),
        Value::Unsigned(number) => format!("the number {number}"),
        Value::Huge => "a number of more than 64 bits".to_owned(),
        Value::Float(number) => format!("the number {number:?}"),
        Value::Text(_) => "a text".to_owned(),
        Value::Pair(_) => "a pair of numbers".to_owned(),
        Value::Container(_) => "a list or dictionary".to_owned(),
    }
}

/// What a container is, for messages.
pub(super) fn describe_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::EmptyList => "an empty list",
        Kind::EmptyDict => "an empty dictionary",
        Kind::List(_) => "a list",
        Kind::Tuple(_) => "a tuple",
        Kind::Dict(_) => "a dictionary",
        Kind::Frame(_) => "a stack frame",
        Kind::Stack(_) => "a list of stack frames",
        Kind::Event(_) => "a trace entry",
        Kind::Trace(_) => "a list of trace entries",
        Kind::Block(_) => "a block",
        Kind::Segment(_) => "a segment",
        Kind::Annotation(_) => "an annotation",
    }
}
