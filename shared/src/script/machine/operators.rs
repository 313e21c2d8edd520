//! Operators on Python's own values; tensors have theirs in `torch`.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Fault, Machine};
use crate::script::code::{BinaryOp, CompareOp, UnaryOp};
use crate::script::dict::Dict;
use crate::script::int::{self, IntError};
use crate::script::native::Outcome;
use crate::script::value::Value;

impl Machine {
    pub(super) fn unary(&mut self, op: UnaryOp, value: &Value) -> Outcome {
        match (op, value) {
            (UnaryOp::Minus, Value::Float(it)) => Ok(Value::Float(-it)),
            (UnaryOp::Plus, Value::Float(it)) => Ok(Value::Float(*it)),
            (UnaryOp::Minus, Value::Int(it)) if *it != i64::MIN => Ok(Value::Int(-it)),
            (_, Value::Tensor(tensor)) => self.tensor_unary(op, tensor),
            (_, Value::Int(_) | Value::Big(_) | Value::Bool(_)) => {
                let number = int::big(value).unwrap_or_default();
                Ok(int::from_big(match op {
                    UnaryOp::Minus => -number,
                    UnaryOp::Invert => -number - 1,
                    _ => number,
                }))
            }
            _ => {
                let (symbol, method) = match op {
                    UnaryOp::Minus => ("-", "__neg__"),
                    UnaryOp::Plus => ("+", "__pos__"),
                    _ => ("~", "__invert__"),
                };
                if let Some(result) = self.call_special(value, method, Vec::new())? {
                    return Ok(result);
                }
                let name = value.type_name();
                self_error(
                    self,
                    format!("bad operand type for unary {symbol}: '{name}'"),
                )
            }
        }
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Outcome {
        if let Some(result) = int::binary_if_integral(op, left, right) {
            return result.map_err(|error| self.int_error(error));
        }
        if let (Some(a), Some(b)) = (int::float(left), int::float(right)) {
            return self.float_binary(op, a, b);
        }
        if matches!(left, Value::Tensor(_)) || matches!(right, Value::Tensor(_)) {
            return self.tensor_binary(op, left, right);
        }
        if let Some(result) = self.sequence_binary(op, left, right)? {
            return Ok(result);
        }
        for (value, other, prefix) in [(left, right, ""), (right, left, "r")] {
            let name = format!("__{prefix}{}__", op.method());
            match self.call_special(value, &name, vec![other.clone()])? {
                None | Some(Value::NotImplemented) => {}
                Some(result) => return Ok(result),
            }
        }
        let symbol = if op == BinaryOp::Pow {
            "** or pow()"
        } else {
            op.symbol()
        };
        let (a, b) = (left.type_name(), right.type_name());
        let message = format!("unsupported operand type(s) for {symbol}: '{a}' and '{b}'");
        self_error(self, message)
    }

    fn int_error(&mut self, error: IntError) -> Fault {
        match error {
            IntError::ZeroDivision(message) => self.raise("ZeroDivisionError", message),
            IntError::NegativeShift => self.raise("ValueError", "negative shift count"),
            IntError::TooLarge => {
                let limit = self.limits.value_size as u64;
                self.exhausted(crate::script::error::Exhausted::ValueSize, limit)
            }
        }
    }

    fn float_binary(&mut self, op: BinaryOp, a: f64, b: f64) -> Outcome {
        let zero = b == 0.0;
        Ok(Value::Float(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mult => a * b,
            BinaryOp::Div if zero => {
                return Err(self.raise("ZeroDivisionError", "division by zero"));
            }
            BinaryOp::FloorDiv if zero => {
                return Err(self.raise("ZeroDivisionError", "float floor division by zero"));
            }
            BinaryOp::Mod if zero => {
                return Err(self.raise("ZeroDivisionError", "float modulo"));
            }
            BinaryOp::Div => a / b,
            BinaryOp::FloorDiv => (a / b).floor(),
            BinaryOp::Mod => a - b * (a / b).floor(),
            BinaryOp::Pow if a == 0.0 && b < 0.0 => {
                let message = "0.0 cannot be raised to a negative power";
                return Err(self.raise("ZeroDivisionError", message));
            }
            BinaryOp::Pow => a.powf(b),
            other => {
                let message = format!(
                    "unsupported operand type(s) for {}: 'float' and 'float'",
                    other.symbol()
                );
                return Err(self.type_error(message));
            }
        }))
    }

    /// Concatenation, repetition and the operators of sets.
    fn sequence_binary(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
    ) -> Result<Option<Value>, Fault> {
        Ok(Some(match (op, left, right) {
            (BinaryOp::Add, Value::Text(a), Value::Text(b)) => {
                self.check_size((a.len() + b.len()) as u128)?;
                Value::text(&format!("{a}{b}"))
            }
            (BinaryOp::Add, Value::List(a), Value::List(b)) => {
                let mut items = a.items.borrow().clone();
                items.extend(b.items.borrow().iter().cloned());
                self.check_size(items.len() as u128)?;
                self.list(items)
            }
            (BinaryOp::Add, Value::Tuple(a), Value::Tuple(b)) => {
                let items: Vec<_> = a.items.iter().chain(&b.items).cloned().collect();
                self.check_size(items.len() as u128)?;
                self.tuple(items)
            }
            (BinaryOp::Mult, Value::Text(_) | Value::List(_) | Value::Tuple(_), _) => {
                let Some(times) = int::small(right) else {
                    return Ok(None);
                };
                self.repeat(left, times)?
            }
            (BinaryOp::Mult, _, Value::Text(_) | Value::List(_) | Value::Tuple(_)) => {
                let Some(times) = int::small(left) else {
                    return Ok(None);
                };
                self.repeat(right, times)?
            }
            (BinaryOp::Mod, Value::Text(format), _) => {
                let text = self.percent(format, right)?;
                Value::text(&text)
            }
            (BinaryOp::BitOr, Value::Dict(a), Value::Dict(b)) => {
                let mut entries = a.entries.borrow().clone();
                let more = b.entries.borrow();
                entries.extend(more.iter().map(|(k, v)| (k.clone(), v.clone())));
                Value::Dict(self.heap.track(Dict {
                    entries: entries.into(),
                }))
            }
            (_, Value::Set(a), Value::Set(b)) => {
                let (a, b) = (a.entries.borrow(), b.entries.borrow());
                let mut entries = a.clone();
                match op {
                    BinaryOp::BitOr => {
                        entries.extend(b.iter().map(|(k, v)| (k.clone(), v.clone())))
                    }
                    BinaryOp::BitAnd => entries.retain(|key, _| b.contains_key(key)),
                    BinaryOp::Sub => entries.retain(|key, _| !b.contains_key(key)),
                    BinaryOp::BitXor => {
                        entries.retain(|key, _| !b.contains_key(key));
                        let only_b = b.iter().filter(|(key, _)| !a.contains_key(*key));
                        entries.extend(only_b.map(|(k, v)| (k.clone(), v.clone())));
                    }
                    _ => return Ok(None),
                }
                Value::Set(self.heap.track(Dict {
                    entries: entries.into(),
                }))
            }
            _ => return Ok(None),
        }))
    }

    fn repeat(&mut self, value: &Value, times: i64) -> Outcome {
        let times = usize::try_from(times).unwrap_or(0);
        let length = self.length(value)?.unwrap_or(0);
        self.check_size(length as u128 * times as u128)?;
        Ok(match value {
            Value::Text(text) => Value::text(&text.repeat(times)),
            Value::List(list) => {
                let items = list.items.borrow().clone();
                let count = items.len() * times;
                self.list(items.into_iter().cycle().take(count).collect())
            }
            Value::Tuple(tuple) => {
                let count = tuple.items.len() * times;
                self.tuple(tuple.items.iter().cycle().take(count).cloned().collect())
            }
            _ => Value::None,
        })
    }

    pub(super) fn in_place(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Outcome {
        match (op, left) {
            (_, Value::Tensor(tensor)) => return self.tensor_in_place(op, tensor, right),
            (BinaryOp::Add, Value::List(list)) => {
                let items = self.collect(right)?;
                let length = list.items.borrow().len() + items.len();
                self.check_size(length as u128)?;
                list.items.borrow_mut().extend(items);
                return Ok(left.clone());
            }
            (BinaryOp::Mult, Value::List(list)) => {
                if let Some(times) = int::small(right) {
                    let Value::List(repeated) = self.repeat(left, times)? else {
                        return Ok(left.clone());
                    };
                    let old = list.items.replace(repeated.items.borrow().clone());
                    crate::script::value::drop_backwards(old);
                    return Ok(left.clone());
                }
            }
            (BinaryOp::BitOr, Value::Dict(dict)) => {
                if let Value::Dict(other) = right {
                    let more = other.entries.borrow().clone();
                    for (key, value) in more {
                        let old = dict.entries.borrow_mut().insert(key, value);
                        drop(old);
                    }
                    return Ok(left.clone());
                }
            }
            (_, Value::Set(set)) => {
                if let Value::Set(result) = self.binary(op, left, right)? {
                    let entries = result.entries.borrow().clone();
                    let old = set.entries.replace(entries);
                    drop(old);
                    return Ok(left.clone());
                }
            }
            (_, Value::Instance(_)) => {
                let name = format!("__i{}__", op.method());
                match self.call_special(left, &name, vec![right.clone()])? {
                    None | Some(Value::NotImplemented) => {}
                    Some(result) => return Ok(result),
                }
            }
            _ => {}
        }
        self.binary(op, left, right)
    }

    pub(crate) fn compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> Outcome {
        if matches!(left, Value::Tensor(_)) || matches!(right, Value::Tensor(_)) {
            return self.tensor_compare(op, left, right);
        }
        if matches!(left, Value::Instance(_)) || matches!(right, Value::Instance(_)) {
            let sides = [(left, right, op), (right, left, op.mirrored())];
            for (value, other, op) in sides {
                let args = vec![other.clone()];
                match self.call_special(value, op.method(), args)? {
                    None | Some(Value::NotImplemented) => {}
                    Some(result) => return Ok(result),
                }
            }
        }
        match op {
            CompareOp::Eq => return Ok(Value::Bool(self.equal(left, right)?)),
            CompareOp::Ne => return Ok(Value::Bool(!self.equal(left, right)?)),
            _ => {}
        }
        let ordering = self.order(left, right)?;
        let Some(ordering) = ordering else {
            let both_numbers = int::float(left).is_some() && int::float(right).is_some();
            if both_numbers {
                return Ok(Value::Bool(false));
            }
            let (a, b) = (left.type_name(), right.type_name());
            let symbol = op.symbol();
            let message = format!("'{symbol}' not supported between instances of '{a}' and '{b}'");
            return Err(self.type_error(message));
        };
        Ok(Value::Bool(match op {
            CompareOp::Lt => ordering == Ordering::Less,
            CompareOp::Le => ordering != Ordering::Greater,
            CompareOp::Gt => ordering == Ordering::Greater,
            _ => ordering != Ordering::Less,
        }))
    }

    /// `a == b` as a truth.
    pub(crate) fn equal(&mut self, a: &Value, b: &Value) -> Result<bool, Fault> {
        Ok(match (a, b) {
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(x), Value::List(y)) => {
                let (x, y) = (x.items.borrow().clone(), y.items.borrow().clone());
                self.all_equal(&x, &y)?
            }
            (Value::Tuple(x), Value::Tuple(y)) => self.all_equal(&x.items, &y.items)?,
            (Value::Dict(x), Value::Dict(y)) | (Value::Set(x), Value::Set(y)) => {
                let (x, y) = (x.entries.borrow().clone(), y.entries.borrow().clone());
                if x.len() != y.len() {
                    return Ok(false);
                }
                for (key, value) in &x {
                    match y.get(key) {
                        Some(other) if self.equal(value, other)? => {}
                        _ => return Ok(false),
                    }
                }
                true
            }
            (Value::Range(x), Value::Range(y)) => {
                x.len() == y.len() && (x.len() == 0 || (x.start == y.start && x.step == y.step))
            }
            (Value::Device(x), Value::Device(y)) => x == y,
            (Value::Stream(x), Value::Stream(y)) => x.handle == y.handle,
            (Value::Tensor(_), _) | (_, Value::Tensor(_)) => {
                if a.is(b) {
                    return Ok(true);
                }
                let result = self.compare(CompareOp::Eq, a, b)?;
                self.truth(&result)?
            }
            (Value::Instance(_), _) | (_, Value::Instance(_)) => {
                if a.is(b) {
                    return Ok(true);
                }
                match self.call_special(a, "__eq__", vec![b.clone()])? {
                    Some(result) => self.truth(&result)?,
                    None => false,
                }
            }
            _ => match (int::big(a), int::big(b)) {
                (Some(a), Some(b)) => a == b,
                _ => match (int::float(a), int::float(b)) {
                    (Some(a), Some(b)) => a == b,
                    _ => a.is(b),
                },
            },
        })
    }

    fn all_equal(&mut self, a: &[Value], b: &[Value]) -> Result<bool, Fault> {
        if a.len() != b.len() {
            return Ok(false);
        }
        self.count_work(a.len() as u64)?;
        for (a, b) in a.iter().zip(b) {
            if !self.equal(a, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The order of two values; `None` where there is none.
    pub(crate) fn order(&mut self, a: &Value, b: &Value) -> Result<Option<Ordering>, Fault> {
        Ok(match (a, b) {
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::List(x), Value::List(y)) => {
                let (x, y) = (x.items.borrow().clone(), y.items.borrow().clone());
                self.order_items(&x, &y)?
            }
            (Value::Tuple(x), Value::Tuple(y)) => {
                let (x, y) = (Rc::clone(x), Rc::clone(y));
                self.order_items(&x.items, &y.items)?
            }
            (Value::Set(x), Value::Set(y)) => {
                let (x, y) = (x.entries.borrow(), y.entries.borrow());
                match (
                    x.keys().all(|k| y.contains_key(k)),
                    y.keys().all(|k| x.contains_key(k)),
                ) {
                    (true, true) => Some(Ordering::Equal),
                    (true, false) => Some(Ordering::Less),
                    (false, true) => Some(Ordering::Greater),
                    (false, false) => None,
                }
            }
            (Value::Instance(_), _) => {
                let less = self.call_special(a, "__lt__", vec![b.clone()])?;
                match less {
                    Some(less) if self.truth(&less)? => Some(Ordering::Less),
                    Some(_) => Some(Ordering::Greater),
                    None => None,
                }
            }
            _ => match (int::big(a), int::big(b)) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => match (int::float(a), int::float(b)) {
                    (Some(a), Some(b)) => a.partial_cmp(&b),
                    _ => None,
                },
            },
        })
    }

    fn order_items(&mut self, a: &[Value], b: &[Value]) -> Result<Option<Ordering>, Fault> {
        for (a, b) in a.iter().zip(b) {
            if !self.equal(a, b)? {
                return self.order(a, b);
            }
        }
        Ok(Some(a.len().cmp(&b.len())))
    }

    /// `item in container`.
    pub(super) fn contains(&mut self, container: &Value, item: &Value) -> Result<bool, Fault> {
        match container {
            Value::Text(text) => match item {
                Value::Text(part) => Ok(text.contains(&**part)),
                other => {
                    let name = other.type_name();
                    let message =
                        format!("'in <string>' requires string as left operand, not {name}");
                    Err(self.type_error(message))
                }
            },
            Value::Dict(dict) | Value::Set(dict) => {
                let key = self.key(item.clone())?;
                Ok(dict.entries.borrow().contains_key(&key))
            }
            Value::Range(range) => Ok(int::small(item).is_some_and(|it| range.contains(it))),
            Value::Environ => Ok(match item {
                Value::Text(name) => self.environ.contains_key(name),
                _ => false,
            }),
            Value::Instance(_) => {
                if let Some(found) =
                    self.call_special(container, "__contains__", vec![item.clone()])?
                {
                    return self.truth(&found);
                }
                self.is_among(container, item)
            }
            _ => self.is_among(container, item),
        }
    }

    fn is_among(&mut self, container: &Value, item: &Value) -> Result<bool, Fault> {
        let items = self.collect(container)?;
        self.count_work(items.len() as u64)?;
        for each in items {
            if each.is(item) || self.equal(&each, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts work inside of one instruction as instructions.
    pub(crate) fn count_work(&mut self, steps: u64) -> Result<(), Fault> {
        self.steps += steps;
        if self.steps > self.limits.steps {
            let limit = self.limits.steps;
            return Err(self.exhausted(crate::script::error::Exhausted::Steps, limit));
        }
        Ok(())
    }
}

fn self_error(machine: &mut Machine, message: String) -> Outcome {
    Err(machine.type_error(message))
}
