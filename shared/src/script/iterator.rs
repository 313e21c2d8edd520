//! Iterators of the native types. They keep what CPython's keep: a list iterator lets go of its
//! list when it has ended, `enumerate`, `zip` and `items()` hold on to their last tuple.

use std::cell::RefCell;
use std::rc::Rc;

use super::dict::{Dict, Key};
use super::heap::{Node, NodeId};
use super::machine::{Fault, Machine};
use super::value::{List, Tuple, Value, visit_all, visit_value};

pub(super) struct Iter {
    pub(super) state: RefCell<State>,
}

pub(super) enum State {
    Ended,
    List(Rc<List>, usize),
    /// `reversed(list)`: items still to come.
    ListBack(Rc<List>, usize),
    Tuple(Rc<Tuple>, usize),
    Text(Rc<str>, usize),
    Range {
        next: i64,
        step: i64,
        left: u64,
    },
    Keys(Rc<Dict>, usize, usize),
    Values(Rc<Dict>, usize, usize),
    Items(Rc<Dict>, usize, usize, Rc<Tuple>),
    Enumerate(Value, i64, Rc<Tuple>),
    Zip(Vec<Value>, Rc<Tuple>),
    Map(Value, Vec<Value>),
    Filter(Value, Value),
}

impl Node for Iter {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        // While an item is being made the state is taken out; nothing is collected then.
        match &*self.state.borrow() {
            State::Ended | State::Range { .. } | State::Text(..) => {}
            State::List(list, _) | State::ListBack(list, _) => visit(super::heap::id_of(list)),
            State::Tuple(tuple, _) => visit(super::heap::id_of(tuple)),
            State::Keys(dict, ..) | State::Values(dict, ..) => visit(super::heap::id_of(dict)),
            State::Items(dict, _, _, last) => {
                visit(super::heap::id_of(dict));
                visit(super::heap::id_of(last));
            }
            State::Enumerate(inner, _, last) => {
                visit_value(inner, visit);
                visit(super::heap::id_of(last));
            }
            State::Zip(inner, last) => {
                visit_all(inner, visit);
                visit(super::heap::id_of(last));
            }
            State::Map(function, inner) => {
                visit_value(function, visit);
                visit_all(inner, visit);
            }
            State::Filter(function, inner) => visit_all([function, inner], visit),
        }
    }

    fn clear(&self) {
        let state = self.state.replace(State::Ended);
        drop(state);
    }
}

type Step = Result<Option<Value>, Fault>;

impl Machine {
    pub(super) fn iterator(&self, state: State) -> Value {
        Value::Iter(self.heap.track(Iter {
            state: RefCell::new(state),
        }))
    }

    /// `iter(value)`.
    pub(super) fn iterate(&mut self, value: &Value) -> Result<Value, Fault> {
        let state = match value {
            Value::Iter(_) | Value::Generator(_) => return Ok(value.clone()),
            Value::List(list) => State::List(Rc::clone(list), 0),
            Value::Tuple(tuple) => State::Tuple(Rc::clone(tuple), 0),
            Value::Text(text) => State::Text(Rc::clone(text), 0),
            Value::Range(range) => State::Range {
                next: range.start,
                step: range.step,
                left: range.len(),
            },
            Value::Dict(dict) | Value::Set(dict) => {
                State::Keys(Rc::clone(dict), 0, dict.entries.borrow().len())
            }
            Value::Tensor(_) => return self.iterate_tensor(value),
            Value::Instance(_) => {
                if let Some(iterator) = self.call_special(value, "__iter__", Vec::new())? {
                    return Ok(iterator);
                }
                return Err(self.not_iterable(value));
            }
            _ => return Err(self.not_iterable(value)),
        };
        Ok(self.iterator(state))
    }

    fn not_iterable(&mut self, value: &Value) -> Fault {
        let name = value.type_name();
        self.type_error(format!("'{name}' object is not iterable"))
    }

    /// `next(iterator)`; `None` at its end.
    pub(super) fn next_item(&mut self, iterator: &Value) -> Step {
        match iterator {
            Value::Generator(generator) => self.resume(generator),
            Value::Iter(iter) => {
                let state = iter.state.replace(State::Ended);
                let (state, item) = self.next_state(state)?;
                let ended = std::mem::replace(&mut *iter.state.borrow_mut(), state);
                drop(ended);
                Ok(item)
            }
            Value::Instance(_) => match self.call_special(iterator, "__next__", Vec::new()) {
                Ok(Some(item)) => Ok(Some(item)),
                Ok(None) => Err(self.not_an_iterator(iterator)),
                Err(fault) if self.is_stop_iteration(&fault) => Ok(None),
                Err(fault) => Err(fault),
            },
            other => Err(self.not_an_iterator(other)),
        }
    }

    fn not_an_iterator(&mut self, value: &Value) -> Fault {
        let name = value.type_name();
        self.type_error(format!("'{name}' object is not an iterator"))
    }

    fn next_state(&mut self, state: State) -> Result<(State, Option<Value>), Fault> {
        let ended = (State::Ended, None);
        Ok(match state {
            State::Ended => ended,
            State::List(list, at) => {
                let item = list.items.borrow().get(at).cloned();
                match item {
                    Some(item) => (State::List(list, at + 1), Some(item)),
                    None => ended,
                }
            }
            State::ListBack(list, left) => {
                let at = left.checked_sub(1);
                let item = at.and_then(|at| list.items.borrow().get(at).cloned());
                match item {
                    Some(item) => (State::ListBack(list, left - 1), Some(item)),
                    None => ended,
                }
            }
            State::Tuple(tuple, at) => match tuple.items.get(at).cloned() {
                Some(item) => (State::Tuple(tuple, at + 1), Some(item)),
                None => ended,
            },
            State::Text(text, at) => match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) => {
                    let next = at + c.len_utf8();
                    (
                        State::Text(text, next),
                        Some(Value::text(c.encode_utf8(&mut [0; 4]))),
                    )
                }
                None => ended,
            },
            State::Range { left: 0, .. } => ended,
            State::Range { next, step, left } => {
                let state = State::Range {
                    next: next.wrapping_add(step),
                    step,
                    left: left - 1,
                };
                (state, Some(Value::Int(next)))
            }
            State::Keys(dict, at, len) => match self.entry(&dict, at, len)? {
                Some((key, _)) => (State::Keys(dict, at + 1, len), Some(key)),
                None => ended,
            },
            State::Values(dict, at, len) => match self.entry(&dict, at, len)? {
                Some((_, value)) => (State::Values(dict, at + 1, len), Some(value)),
                None => ended,
            },
            State::Items(dict, at, len, last) => match self.entry(&dict, at, len)? {
                Some((key, value)) => {
                    let (last, item) = self.pair(last, [key, value]);
                    (State::Items(dict, at + 1, len, last), Some(item))
                }
                None => ended,
            },
            State::Enumerate(inner, count, last) => match self.next_item(&inner)? {
                Some(item) => {
                    let (last, item) = self.pair(last, [Value::Int(count), item]);
                    (State::Enumerate(inner, count + 1, last), Some(item))
                }
                None => (State::Enumerate(inner, count, last), None),
            },
            State::Zip(inner, last) => self.advance_zip(inner, last)?,
            State::Map(function, inner) => {
                let mut args = Vec::with_capacity(inner.len());
                for iterator in &inner {
                    match self.next_item(iterator)? {
                        Some(item) => args.push(item),
                        None => return Ok((State::Map(function, inner), None)),
                    }
                }
                let item = self.call_now(&function, args)?;
                (State::Map(function, inner), Some(item))
            }
            State::Filter(function, inner) => loop {
                let Some(item) = self.next_item(&inner)? else {
                    break (State::Filter(function, inner), None);
                };
                let kept = match &function {
                    Value::None => self.truth(&item)?,
                    function => {
                        let verdict = self.call_now(function, vec![item.clone()])?;
                        self.truth(&verdict)?
                    }
                };
                if kept {
                    break (State::Filter(function, inner), Some(item));
                }
            },
        })
    }

    fn entry(
        &mut self,
        dict: &Rc<Dict>,
        at: usize,
        len: usize,
    ) -> Result<Option<(Value, Value)>, Fault> {
        let now = dict.entries.borrow().len();
        if now != len {
            let message = "dictionary changed size during iteration";
            return Err(self.raise("RuntimeError", message));
        }
        let entries = dict.entries.borrow();
        let entry = entries.get_index(at);
        Ok(entry.map(|(key, value): (&Key, &Value)| (key.value().clone(), value.clone())))
    }

    /// The tuple to hand out, and the one to hold on to: the same if nobody else has the last
    /// one, whose items go then.
    fn pair(&mut self, last: Rc<Tuple>, items: [Value; 2]) -> (Rc<Tuple>, Value) {
        let tuple = self.heap.track(Tuple {
            items: items.into(),
            is_size: false,
        });
        if Rc::strong_count(&last) == 1 {
            let old = last;
            release_forwards(old);
            (Rc::clone(&tuple), Value::Tuple(tuple))
        } else {
            (last, Value::Tuple(tuple))
        }
    }

    fn advance_zip(
        &mut self,
        inner: Vec<Value>,
        last: Rc<Tuple>,
    ) -> Result<(State, Option<Value>), Fault> {
        if inner.is_empty() {
            return Ok((State::Zip(inner, last), None));
        }
        let (mut items, kept) = match Rc::try_unwrap(last) {
            Ok(mut tuple) => (std::mem::take(&mut tuple.items), None),
            Err(last) => (vec![Value::None; inner.len()], Some(last)),
        };
        for (at, iterator) in inner.iter().enumerate() {
            let Some(item) = self.next_item(iterator)? else {
                let last = kept.unwrap_or_else(|| self.raw_tuple(items));
                return Ok((State::Zip(inner, last), None));
            };
            items[at] = item;
        }
        let tuple = self.raw_tuple(items);
        let last = kept.unwrap_or_else(|| Rc::clone(&tuple));
        Ok((State::Zip(inner, last), Some(Value::Tuple(tuple))))
    }

    pub(super) fn raw_tuple(&self, items: Vec<Value>) -> Rc<Tuple> {
        self.heap.track(Tuple {
            items,
            is_size: false,
        })
    }
}

/// Items of a tuple that is used again go first to last.
fn release_forwards(tuple: Rc<Tuple>) {
    if let Ok(mut tuple) = Rc::try_unwrap(tuple) {
        drop(std::mem::take(&mut tuple.items));
    }
}
