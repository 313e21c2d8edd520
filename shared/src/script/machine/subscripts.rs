//! `container[index]`, slices, and changing them.

use std::rc::Rc;

use super::{Fault, Machine};
use crate::script::int;
use crate::script::native::Outcome;
use crate::script::value::{Range, Slice, Tuple, Value, drop_backwards};

impl Range {
    pub(crate) fn len(&self) -> u64 {
        let (low, high, step) = if self.step > 0 {
            (self.start, self.stop, i128::from(self.step))
        } else {
            (self.stop, self.start, -i128::from(self.step))
        };
        let distance = i128::from(high) - i128::from(low);
        if distance <= 0 || step == 0 {
            return 0;
        }
        u64::try_from((distance - 1) / step + 1).unwrap_or(u64::MAX)
    }

    pub(crate) fn contains(&self, item: i64) -> bool {
        let (low, high) = if self.step > 0 {
            (self.start, self.stop - 1)
        } else {
            (self.stop + 1, self.start)
        };
        (low..=high).contains(&item) && (item - self.start) % self.step == 0
    }
}

/// The items that a slice takes: from, to, step and count.
pub(crate) struct Cut {
    pub(crate) start: i64,
    pub(crate) step: i64,
    pub(crate) count: i64,
}

impl Cut {
    fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).map(|at| (self.start + at * self.step) as usize)
    }
}

impl Machine {
    /// What a slice means for a length.
    pub(crate) fn cut(&mut self, slice: &Slice, length: i64) -> Result<Cut, Fault> {
        let step = self.slice_bound(&slice.step)?.unwrap_or(1);
        if step == 0 {
            return Err(self.raise("ValueError", "slice step cannot be zero"));
        }
        let (lowest, highest) = if step > 0 {
            (0, length)
        } else {
            (-1, length - 1)
        };
        let clamp = |bound: i64| {
            let bound = if bound < 0 {
                bound.saturating_add(length)
            } else {
                bound
            };
            bound.clamp(lowest, highest)
        };
        let (first, last) = if step > 0 {
            (lowest, highest)
        } else {
            (highest, lowest)
        };
        let start = self.slice_bound(&slice.start)?.map_or(first, clamp);
        let stop = self.slice_bound(&slice.stop)?.map_or(last, clamp);
        let range = Range { start, stop, step };
        Ok(Cut {
            start,
            step,
            count: range.len() as i64,
        })
    }

    fn slice_bound(&mut self, bound: &Value) -> Result<Option<i64>, Fault> {
        match bound {
            Value::None => Ok(None),
            other => match int::small(other) {
                Some(bound) => Ok(Some(bound)),
                None => {
                    let message = "slice indices must be integers or None or have an __index__ \
                                   method";
                    Err(self.type_error(message))
                }
            },
        }
    }

    fn index(&mut self, index: &Value, length: usize, what: &str) -> Result<usize, Fault> {
        let Some(at) = int::small(index) else {
            let name = index.type_name();
            let message = format!("{what} indices must be integers or slices, not {name}");
            return Err(self.type_error(message));
        };
        let at = if at < 0 { at + length as i64 } else { at };
        match usize::try_from(at) {
            Ok(at) if at < length => Ok(at),
            _ => Err(self.raise("IndexError", format!("{what} index out of range"))),
        }
    }

    pub(super) fn subscript(&mut self, container: &Value, index: &Value) -> Outcome {
        match container {
            Value::List(list) => {
                let length = list.items.borrow().len();
                if let Value::Slice(slice) = index {
                    let cut = self.cut(slice, length as i64)?;
                    let items = list.items.borrow();
                    let picked = cut.indices().filter_map(|at| items.get(at).cloned());
                    let picked: Vec<_> = picked.collect();
                    drop(items);
                    return Ok(self.list(picked));
                }
                let at = self.index(index, length, "list")?;
                Ok(list.items.borrow()[at].clone())
            }
            Value::Tuple(tuple) => {
                if let Value::Slice(slice) = index {
                    let cut = self.cut(slice, tuple.items.len() as i64)?;
                    let picked = cut.indices().filter_map(|at| tuple.items.get(at).cloned());
                    let items = picked.collect();
                    let is_size = tuple.is_size;
                    return Ok(Value::Tuple(self.heap.track(Tuple { items, is_size })));
                }
                let at = self.index(index, tuple.items.len(), "tuple")?;
                Ok(tuple.items[at].clone())
            }
            Value::Text(text) => {
                let characters: Vec<char> = text.chars().collect();
                if let Value::Slice(slice) = index {
                    let cut = self.cut(slice, characters.len() as i64)?;
                    let picked: String = cut.indices().map(|at| characters[at]).collect();
                    return Ok(Value::text(&picked));
                }
                let at = self.index(index, characters.len(), "string")?;
                Ok(Value::text(&characters[at].to_string()))
            }
            Value::Range(range) => {
                if matches!(index, Value::Slice(_)) {
                    let items = self.collect(container)?;
                    let list = self.list(items);
                    return self.subscript(&list, index);
                }
                let at = self.index(index, range.len() as usize, "range object")?;
                Ok(Value::Int(range.start + at as i64 * range.step))
            }
            Value::Dict(dict) => {
                let key = self.key(index.clone())?;
                let found = dict.entries.borrow().get(&key).cloned();
                match found {
                    Some(value) => Ok(value),
                    None => Err(self.key_error(index)),
                }
            }
            Value::Environ => match index {
                Value::Text(name) if self.environ.contains_key(name) => {
                    Ok(self.environ[name].clone())
                }
                _ => Err(self.key_error(index)),
            },
            Value::Tensor(tensor) => self.tensor_index(tensor, index),
            Value::Instance(_) => {
                match self.call_special(container, "__getitem__", vec![index.clone()])? {
                    Some(value) => Ok(value),
                    None => Err(self.not_subscriptable(container)),
                }
            }
            // `list[int]` in annotations and the like.
            Value::Type(_) => Ok(container.clone()),
            _ => Err(self.not_subscriptable(container)),
        }
    }

    pub(crate) fn key_error(&mut self, key: &Value) -> Fault {
        let class = self.exception_class("KeyError");
        Fault::Raised(self.exception(class, vec![key.clone()]))
    }

    fn not_subscriptable(&mut self, value: &Value) -> Fault {
        let name = value.type_name();
        self.type_error(format!("'{name}' object is not subscriptable"))
    }

    pub(super) fn store_subscript(
        &mut self,
        container: &Value,
        index: &Value,
        value: &Value,
    ) -> Result<(), Fault> {
        match container {
            Value::List(list) => {
                if let Value::Slice(slice) = index {
                    let items = self.collect(value)?;
                    return self.replace_slice(list, slice, items);
                }
                let length = list.items.borrow().len();
                let at = self.index(index, length, "list assignment")?;
                let old = std::mem::replace(&mut list.items.borrow_mut()[at], value.clone());
                drop(old);
                Ok(())
            }
            Value::Dict(dict) => {
                let key = self.key(index.clone())?;
                let length = dict.entries.borrow().len();
                self.check_size(length as u128)?;
                let old = dict.entries.borrow_mut().insert(key, value.clone());
                drop(old);
                Ok(())
            }
            Value::Environ => self.set_environment(index, value),
            Value::Tensor(tensor) => self.tensor_store(tensor, index, value),
            Value::Instance(_) => {
                let args = vec![index.clone(), value.clone()];
                match self.call_special(container, "__setitem__", args)? {
                    Some(_) => Ok(()),
                    None => Err(self.no_item_assignment(container, "assignment")),
                }
            }
            other => Err(self.no_item_assignment(other, "assignment")),
        }
    }

    fn set_environment(&mut self, name: &Value, value: &Value) -> Result<(), Fault> {
        let (Value::Text(name), Value::Text(_)) = (name, value) else {
            return Err(self.type_error("str expected"));
        };
        self.environ.insert(Rc::clone(name), value.clone());
        Ok(())
    }

    fn no_item_assignment(&mut self, value: &Value, what: &str) -> Fault {
        let name = value.type_name();
        self.type_error(format!("'{name}' object does not support item {what}"))
    }

    fn replace_slice(
        &mut self,
        list: &Rc<crate::script::value::List>,
        slice: &Slice,
        items: Vec<Value>,
    ) -> Result<(), Fault> {
        let length = list.items.borrow().len();
        let cut = self.cut(slice, length as i64)?;
        if cut.step == 1 {
            let start = cut.start as usize;
            let range = start..start + cut.count as usize;
            self.check_size((length + items.len()) as u128)?;
            let old: Vec<Value> = list.items.borrow_mut().splice(range, items).collect();
            drop_backwards(old);
            return Ok(());
        }
        if items.len() != cut.count as usize {
            let message = format!(
                "attempt to assign sequence of size {} to extended slice of size {}",
                items.len(),
                cut.count
            );
            return Err(self.raise("ValueError", message));
        }
        for (at, item) in cut.indices().zip(items) {
            let old = std::mem::replace(&mut list.items.borrow_mut()[at], item);
            drop(old);
        }
        Ok(())
    }

    pub(super) fn delete_subscript(
        &mut self,
        container: &Value,
        index: &Value,
    ) -> Result<(), Fault> {
        match container {
            Value::List(list) => {
                let length = list.items.borrow().len();
                if let Value::Slice(slice) = index {
                    let cut = self.cut(slice, length as i64)?;
                    if cut.step == 1 {
                        return self.replace_slice(list, slice, Vec::new());
                    }
                    let mut doomed: Vec<usize> = cut.indices().collect();
                    doomed.sort_unstable();
                    let mut items = list.items.borrow_mut();
                    let mut old = Vec::new();
                    for at in doomed.into_iter().rev() {
                        old.push(items.remove(at));
                    }
                    drop(items);
                    old.reverse();
                    drop(old);
                    return Ok(());
                }
                let at = self.index(index, length, "list assignment")?;
                let old = list.items.borrow_mut().remove(at);
                drop(old);
                Ok(())
            }
            Value::Dict(dict) => {
                let key = self.key(index.clone())?;
                let old = dict.entries.borrow_mut().shift_remove_entry(&key);
                match old {
                    Some(old) => {
                        drop(old);
                        Ok(())
                    }
                    None => Err(self.key_error(index)),
                }
            }
            Value::Environ => {
                if let Value::Text(name) = index {
                    self.environ.shift_remove(name);
                }
                Ok(())
            }
            Value::Instance(_) => {
                match self.call_special(container, "__delitem__", vec![index.clone()])? {
                    Some(_) => Ok(()),
                    None => Err(self.no_item_assignment(container, "deletion")),
                }
            }
            other => Err(self.no_item_assignment(other, "deletion")),
        }
    }

    /// `len(value)`; `None` if it has none.
    pub(crate) fn length(&mut self, value: &Value) -> Result<Option<usize>, Fault> {
        Ok(Some(match value {
            Value::Text(it) => it.chars().count(),
            Value::Tuple(it) => it.items.len(),
            Value::List(it) => it.items.borrow().len(),
            Value::Dict(it) | Value::Set(it) => it.entries.borrow().len(),
            Value::Range(it) => it.len() as usize,
            Value::Tensor(it) => return self.tensor_length(it),
            Value::Instance(_) => {
                return match self.call_special(value, "__len__", Vec::new())? {
                    Some(length) => Ok(int::small(&length).map(|it| it as usize)),
                    None => Ok(None),
                };
            }
            _ => return Ok(None),
        }))
    }
}
