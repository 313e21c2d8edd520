//! A writer of pickles, for forms of recordings that there is no specimen of.
//!
//! [`Py`] is a Python value; what is shared in it ([`Rc`]) is written once and referred to.

use std::collections::HashMap;
use std::rc::Rc;

/// A Python value.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are Python's")]
pub enum Py {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(Rc<str>),
    List(Rc<Vec<Py>>),
    Tuple(Rc<Vec<Py>>),
    Dict(Rc<Vec<(Py, Py)>>),
}

impl Py {
    /// A list.
    pub fn list(items: impl IntoIterator<Item = Py>) -> Py {
        Py::List(Rc::new(items.into_iter().collect()))
    }

    /// A dictionary with texts as keys.
    pub fn dict<'k>(pairs: impl IntoIterator<Item = (&'k str, Py)>) -> Py {
        let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value));
        Py::Dict(Rc::new(pairs.collect()))
    }

    /// A tuple of two numbers.
    pub fn pair(first: u64, second: u64) -> Py {
        Py::Tuple(Rc::new(vec![first.into(), second.into()]))
    }

    /// The items of a list, in reach for changes.
    pub fn items_mut(&mut self) -> &mut Vec<Py> {
        match self {
            Py::List(items) | Py::Tuple(items) => Rc::make_mut(items),
            other => panic!("{other:?} is no list"),
        }
    }

    /// The value of a key, which is added if it is not there.
    pub fn at(&mut self, key: &str) -> &mut Py {
        let Py::Dict(pairs) = self else {
            panic!("{key} of something that is no dictionary");
        };
        let pairs = Rc::make_mut(pairs);
        let is_key = |pair: &(Py, Py)| matches!(&pair.0, Py::Str(known) if &**known == key);
        let place = pairs.iter().position(is_key).unwrap_or_else(|| {
            pairs.push((key.into(), Py::None));
            pairs.len() - 1
        });
        &mut pairs[place].1
    }

    /// Removes keys of a dictionary.
    pub fn remove(&mut self, keys: &[&str]) {
        let Py::Dict(pairs) = self else {
            panic!("{keys:?} of something that is no dictionary");
        };
        Rc::make_mut(pairs)
            .retain(|(key, _)| !matches!(key, Py::Str(key) if keys.contains(&&**key)));
    }

    /// Puts the pairs of a dictionary in the opposite order.
    pub fn reverse(&mut self) {
        let Py::Dict(pairs) = self else {
            panic!("{self:?} is no dictionary");
        };
        Rc::make_mut(pairs).reverse();
    }
}

impl From<&str> for Py {
    fn from(text: &str) -> Py {
        Py::Str(text.into())
    }
}

impl From<u64> for Py {
    fn from(number: u64) -> Py {
        Py::Int(number.into())
    }
}

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Python's `pickle`, with a protocol of 2 to 5.
    Python(u8),
    /// `torch::jit::Pickler`: protocol 2, one APPENDS of any length, PUT behind the whole.
    Cpp,
}

/// All writers that there are.
pub const WRITERS: [Writer; 5] = [
    Writer::Python(2),
    Writer::Python(3),
    Writer::Python(4),
    Writer::Python(5),
    Writer::Cpp,
];

/// Items that Python adds at a time.
const BATCH: usize = 1000;

/// The pickle of a value.
#[must_use]
pub fn write(value: &Py, writer: Writer) -> Vec<u8> {
    let mut state = State {
        writer,
        bytes: Vec::new(),
        texts: HashMap::new(),
        containers: HashMap::new(),
        memo: 0,
    };
    state.value(value);
    state.bytes.push(b'.');
    let protocol = match writer {
        Writer::Python(protocol) => protocol,
        Writer::Cpp => 2,
    };
    let mut file = vec![0x80, protocol];
    if protocol >= 4 {
        file.push(0x95);
        file.extend_from_slice(&(state.bytes.len() as u64).to_le_bytes());
    }
    file.extend(state.bytes);
    file
}

struct State {
    writer: Writer,
    bytes: Vec<u8>,
    texts: HashMap<Rc<str>, u32>,
    containers: HashMap<usize, u32>,
    memo: u32,
}

impl State {
    fn is_modern(&self) -> bool {
        matches!(self.writer, Writer::Python(4 | 5))
    }

    fn value(&mut self, value: &Py) {
        match value {
            Py::None => self.bytes.push(b'N'),
            Py::Bool(true) => self.bytes.push(0x88),
            Py::Bool(false) => self.bytes.push(0x89),
            Py::Int(number) => self.int(*number),
            Py::Float(number) => {
                self.bytes.push(b'G');
                self.bytes.extend_from_slice(&number.to_be_bytes());
            }
            Py::Str(text) => self.text(text),
            Py::List(items) => {
                self.container(Rc::as_ptr(items) as usize, b']', |state| state.items(items));
            }
            Py::Dict(pairs) => {
                self.container(Rc::as_ptr(pairs) as usize, b'}', |state| state.pairs(pairs));
            }
            Py::Tuple(items) => self.tuple(items),
        }
    }

    fn int(&mut self, number: i128) {
        if let Ok(byte) = u8::try_from(number) {
            self.bytes.extend_from_slice(&[b'K', byte]);
        } else if let Ok(short) = u16::try_from(number) {
            self.bytes.push(b'M');
            self.bytes.extend_from_slice(&short.to_le_bytes());
        } else if let Ok(int) = i32::try_from(number) {
            self.bytes.push(b'J');
            self.bytes.extend_from_slice(&int.to_le_bytes());
        } else {
            let bytes = number.to_le_bytes();
            // The shortest form that keeps the sign; torch always writes 8 bytes if they do.
            let fits = |length: usize| {
                let shift = 128 - 8 * length;
                number << shift >> shift == number
            };
            let least = if self.writer == Writer::Cpp { 8 } else { 1 };
            let length = (least..=16).find(|&length| fits(length)).unwrap_or(16);
            self.bytes.extend_from_slice(&[0x8a, length as u8]);
            self.bytes.extend_from_slice(&bytes[..length]);
        }
    }

    fn text(&mut self, text: &Rc<str>) {
        if let Some(&known) = self.texts.get(text) {
            return self.get(known);
        }
        match u8::try_from(text.len()) {
            Ok(length) if self.is_modern() => self.bytes.extend_from_slice(&[0x8c, length]),
            _ => {
                self.bytes.push(b'X');
                let length = u32::try_from(text.len()).expect("a short text");
                self.bytes.extend_from_slice(&length.to_le_bytes());
            }
        }
        self.bytes.extend_from_slice(text.as_bytes());
        let place = self.put();
        self.texts.insert(text.clone(), place);
    }

    fn container(&mut self, identity: usize, empty: u8, fill: impl FnOnce(&mut Self)) {
        if let Some(&known) = self.containers.get(&identity) {
            return self.get(known);
        }
        self.bytes.push(empty);
        if self.writer == Writer::Cpp {
            fill(self);
            let place = self.put();
            self.containers.insert(identity, place);
        } else {
            let place = self.put();
            self.containers.insert(identity, place);
            fill(self);
        }
    }

    fn items(&mut self, items: &[Py]) {
        if self.writer == Writer::Cpp {
            return self.batch(items, b'e', |state, item| state.value(item));
        }
        for batch in items.chunks(BATCH) {
            match batch {
                [single] => {
                    self.value(single);
                    self.bytes.push(b'a');
                }
                _ => self.batch(batch, b'e', |state, item| state.value(item)),
            }
        }
    }

    fn pairs(&mut self, pairs: &[(Py, Py)]) {
        let write = |state: &mut Self, (key, value): &(Py, Py)| {
            state.value(key);
            state.value(value);
        };
        if self.writer == Writer::Cpp {
            return self.batch(pairs, b'u', write);
        }
        for batch in pairs.chunks(BATCH) {
            match batch {
                [single] => {
                    write(self, single);
                    self.bytes.push(b's');
                }
                _ => self.batch(batch, b'u', write),
            }
        }
    }

    fn batch<T>(&mut self, items: &[T], close: u8, write: impl Fn(&mut Self, &T)) {
        self.bytes.push(b'(');
        for item in items {
            write(self, item);
        }
        self.bytes.push(close);
    }

    fn tuple(&mut self, items: &Rc<Vec<Py>>) {
        let identity = Rc::as_ptr(items) as usize;
        if let Some(&known) = self.containers.get(&identity) {
            return self.get(known);
        }
        if items.len() > 3 {
            self.bytes.push(b'(');
        }
        for item in items.iter() {
            self.value(item);
        }
        let opcode = [b')', 0x85, 0x86, 0x87].get(items.len()).copied();
        self.bytes.push(opcode.unwrap_or(b't'));
        if !items.is_empty() && self.writer != Writer::Cpp {
            let place = self.put();
            self.containers.insert(identity, place);
        }
    }

    fn get(&mut self, place: u32) {
        match u8::try_from(place) {
            Ok(place) => self.bytes.extend_from_slice(&[b'h', place]),
            Err(_) => {
                self.bytes.push(b'j');
                self.bytes.extend_from_slice(&place.to_le_bytes());
            }
        }
    }

    fn put(&mut self) -> u32 {
        let place = self.memo;
        self.memo += 1;
        match u8::try_from(place) {
            _ if self.is_modern() => self.bytes.push(0x94),
            Ok(place) => self.bytes.extend_from_slice(&[b'q', place]),
            Err(_) => {
                self.bytes.push(b'r');
                self.bytes.extend_from_slice(&place.to_le_bytes());
            }
        }
        place
    }
}
