//! Dicts and sets: insertion order, keys compared as Python compares them.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use indexmap::IndexMap;
use num_traits::ToPrimitive;
use rustc_hash::FxBuildHasher;

use super::heap::{Node, NodeId, dispose};
use super::value::{Value, visit_all};

/// A value that can be a key. Texts, numbers and tuples compare by value, everything else by
/// identity.
#[derive(Clone, Debug)]
pub(super) struct Key(Value);

pub(super) type Entries = IndexMap<Key, Value, FxBuildHasher>;

/// A dict; a set when its values are all `None`.
#[derive(Default)]
pub(super) struct Dict {
    pub(super) entries: RefCell<Entries>,
}

impl Key {
    /// The value as a key; the value again if it can't be one.
    pub(super) fn new(value: Value) -> Result<Self, Value> {
        if is_hashable(&value) {
            Ok(Self(value))
        } else {
            Err(value)
        }
    }

    pub(super) fn value(&self) -> &Value {
        &self.0
    }
}

fn is_hashable(value: &Value) -> bool {
    match value {
        Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Slice(_) => false,
        Value::Tuple(tuple) => tuple.items.iter().all(is_hashable),
        _ => true,
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        same_key(&self.0, &other.0)
    }
}

impl Eq for Key {}

fn same_key(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Tuple(a), Value::Tuple(b)) => {
            let same_length = a.items.len() == b.items.len();
            same_length && a.items.iter().zip(&b.items).all(|(a, b)| same_key(a, b))
        }
        (Value::Big(a), Value::Big(b)) => a == b,
        (Value::Device(a), Value::Device(b)) => a == b,
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a.is(b),
        },
    }
}

/// Numbers of different types are the same key when they are equal.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(it) => Some(f64::from(u8::from(*it))),
        // Integers beyond 2^53 that a float can't tell apart are told apart below, by `is`.
        Value::Int(it) if it.unsigned_abs() <= 1 << 53 => Some(*it as f64),
        Value::Big(it) => it.to_f64(),
        Value::Float(it) => Some(*it),
        _ => None,
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_value(&self.0, state);
    }
}

fn hash_value<H: Hasher>(value: &Value, state: &mut H) {
    match value {
        Value::Text(text) => text.hash(state),
        Value::Tuple(tuple) => tuple.items.iter().for_each(|item| hash_value(item, state)),
        Value::Dtype(dtype) => dtype.hash(state),
        Value::Device(device) => device.hash(state),
        Value::Type(kind) => kind.name().hash(state),
        Value::Module(name) => name.hash(state),
        other => match number(other) {
            Some(0.0) => 0.hash(state),
            Some(number) => number.to_bits().hash(state),
            None => other.identity().hash(state),
        },
    }
}

impl Drop for Dict {
    fn drop(&mut self) {
        let entries = std::mem::take(self.entries.get_mut());
        if !entries.is_empty() {
            dispose(move || drop(entries));
        }
    }
}

impl Node for Dict {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        let entries = self.entries.borrow();
        visit_all(entries.keys().map(Key::value), visit);
        visit_all(entries.values(), visit);
    }

    fn clear(&self) {
        let entries = self.entries.take();
        drop(entries);
    }
}
