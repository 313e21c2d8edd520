//! Where the machine's values live: what became of each container, and the texts of the file.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::ids::{PoolId, TextId};
use crate::read::ReadErrorKind;
use crate::read::pickle::value::{Container, Kind, MAX_NUMBER, PackedKind, Value};
use crate::read::pickle::words::Word;
use crate::store::Texts;

/// The tables that values refer to.
#[derive(Debug)]
pub(super) struct Tables {
    /// Texts of the file; those of the first numbers are [`Word`]s.
    texts: Texts,
    kinds: Vec<PackedKind>,
    lists: Vec<Vec<Value>>,
    dicts: Vec<Vec<(Value, Value)>>,
    /// Values in lists and dictionaries together.
    values: usize,
    pairs: Vec<PoolId>,
    pair_numbers: FxHashMap<PoolId, u32>,
}

fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

const FULL: ReadErrorKind = ReadErrorKind::Limit {
    what: "there are objects",
    limit: MAX_NUMBER as u64,
};

impl Tables {
    pub(super) fn new() -> Self {
        Self {
            texts: Word::table(),
            kinds: Vec::new(),
            lists: Vec::new(),
            dicts: Vec::new(),
            values: 0,
            pairs: Vec::new(),
            pair_numbers: FxHashMap::default(),
        }
    }

    /// Interns a text; bytes that are no UTF-8 (lone surrogates) are replaced.
    pub(super) fn intern(&mut self, bytes: &[u8]) -> TextId {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => self.texts.intern(text),
            Cow::Owned(text) => self.texts.intern(&text),
        }
    }

    pub(super) fn text(&self, id: TextId) -> &str {
        self.texts.get(id)
    }

    /// A new container.
    #[inline]
    pub(super) fn open(&mut self, kind: PackedKind) -> Result<Value, ReadErrorKind> {
        let container = number(self.kinds.len());
        if container > MAX_NUMBER {
            return Err(FULL);
        }
        self.kinds.push(kind);
        Ok(Value::Container(Container(container)))
    }

    /// A new container of a known kind.
    pub(super) fn add(&mut self, kind: Kind) -> Result<Value, ReadErrorKind> {
        let packed = PackedKind::new(kind).ok_or(FULL)?;
        self.open(packed)
    }

    #[inline]
    pub(super) fn kind(&self, container: Container) -> Kind {
        self.kinds
            .get(container.0 as usize)
            .map_or(Kind::EmptyDict, |kind| kind.kind())
    }

    /// Says what has become of a container.
    #[inline]
    pub(super) fn set_kind(
        &mut self,
        container: Container,
        kind: Kind,
    ) -> Result<(), ReadErrorKind> {
        let packed = PackedKind::new(kind).ok_or(FULL)?;
        if let Some(slot) = self.kinds.get_mut(container.0 as usize) {
            *slot = packed;
        }
        Ok(())
    }

    pub(super) fn kind_of(&self, value: Value) -> Option<Kind> {
        match value {
            Value::Container(container) => Some(self.kind(container)),
            _ => None,
        }
    }

    pub(super) fn add_list(&mut self, items: &[Value]) -> u32 {
        self.values += items.len();
        self.lists.push(items.to_vec());
        number(self.lists.len() - 1)
    }

    pub(super) fn extend_list(&mut self, list: u32, items: &[Value]) {
        self.values += items.len();
        if let Some(known) = self.lists.get_mut(list as usize) {
            known.extend_from_slice(items);
        }
    }

    pub(super) fn list_len(&self, list: u32) -> usize {
        self.lists.get(list as usize).map_or(0, Vec::len)
    }

    pub(super) fn add_dict(&mut self) -> u32 {
        self.dicts.push(Vec::new());
        number(self.dicts.len() - 1)
    }

    pub(super) fn extend_dict(&mut self, dict: u32, pairs: impl Iterator<Item = (Value, Value)>) {
        if let Some(known) = self.dicts.get_mut(dict as usize) {
            let before = known.len();
            known.extend(pairs);
            self.values += 2 * (known.len() - before);
        }
    }

    /// Values in lists and dictionaries together.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    /// Lists, dictionaries and tuples so far.
    pub(super) fn objects(&self) -> usize {
        self.kinds.len().max(self.pairs.len())
    }

    /// Bytes that the different texts take.
    pub(super) fn text_bytes(&self) -> usize {
        self.texts.memory_bytes()
    }

    /// The values of a generic list or tuple, or of an empty one.
    pub(super) fn list(&self, container: Container) -> Option<&[Value]> {
        match self.kind(container) {
            Kind::EmptyList => Some(&[]),
            Kind::List(list) | Kind::Tuple(list) => {
                self.lists.get(list as usize).map(Vec::as_slice)
            }
            _ => None,
        }
    }

    /// The keys and values of a generic dictionary, or of an empty one.
    pub(super) fn dict(&self, value: Value) -> Option<&[(Value, Value)]> {
        match self.kind_of(value)? {
            Kind::EmptyDict => Some(&[]),
            Kind::Dict(dict) => self.dicts.get(dict as usize).map(Vec::as_slice),
            _ => None,
        }
    }

    /// The value of a key of a generic dictionary.
    pub(super) fn find(&self, dict: Value, key: Word) -> Option<Value> {
        let key = Value::Text(TextId(key as u32));
        let pairs = self.dict(dict)?;
        pairs
            .iter()
            .rev()
            .find(|&&(known, _)| known == key)
            .map(|&(_, value)| value)
    }

    /// A tuple of two values: a pair where both are numbers that can stand in the id of a pool.
    pub(super) fn pair_of(&mut self, first: Value, second: Value) -> Option<Value> {
        let part = |value| match value {
            Value::Int(number) => u64::try_from(number).ok(),
            Value::Unsigned(number) => Some(number),
            _ => None,
        };
        let pool = PoolId(part(first)?, part(second)?);
        let pairs = &mut self.pairs;
        let pair = *self.pair_numbers.entry(pool).or_insert_with(|| {
            pairs.push(pool);
            number(pairs.len() - 1)
        });
        Some(Value::Pair(pair))
    }

    pub(super) fn pair(&self, pair: u32) -> Option<PoolId> {
        self.pairs.get(pair as usize).copied()
    }
}
