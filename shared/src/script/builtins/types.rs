//! Python's types as functions: `int("3")`, `list(…)`, `range(…)`.

use std::rc::Rc;

use num_bigint::BigInt;

use super::mappings::pairs;
use crate::script::dict::Dict;
use crate::script::int;
use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, MethodFn, NativeType, Outcome};
use crate::script::value::{Range, Slice, Value, Wrapped, Wrapping};

impl Machine {
    /// Calls a type.
    pub(crate) fn construct(&mut self, kind: NativeType, args: &Args) -> Outcome {
        let first = args.positional.first();
        match (kind, first) {
            (NativeType::Int, None) => Ok(Value::Int(0)),
            (NativeType::Int, Some(value)) => self.int_of(value, args.get(1, "base")),
            (NativeType::Float, None) => Ok(Value::Float(0.0)),
            (NativeType::Float, Some(value)) => self.float_of(value),
            (NativeType::Bool, None) => Ok(Value::Bool(false)),
            (NativeType::Bool, Some(value)) => Ok(Value::Bool(self.truth(value)?)),
            (NativeType::Str, None) => Ok(Value::text("")),
            (NativeType::Str, Some(value)) => {
                let text = self.str(value)?;
                Ok(Value::text(&text))
            }
            (NativeType::List, _) => {
                let items = self.optional_items(first)?;
                Ok(self.list(items))
            }
            (NativeType::Tuple, _) => {
                let items = self.optional_items(first)?;
                Ok(self.tuple(items))
            }
            (NativeType::Set, _) => {
                let set = self.heap.track(Dict::default());
                for item in self.optional_items(first)? {
                    let key = self.key(item)?;
                    set.entries.borrow_mut().entry(key).or_insert(Value::None);
                }
                Ok(Value::Set(set))
            }
            (NativeType::Dict, _) => self.dict_of(args),
            (NativeType::Range, _) => self.range_of(args),
            (NativeType::Slice, _) => {
                let mut parts = args.positional.iter().cloned();
                let mut next = || parts.next().unwrap_or(Value::None);
                let (start, stop, step) = match args.len() {
                    1 => (Value::None, next(), Value::None),
                    _ => (next(), next(), next()),
                };
                Ok(Value::Slice(self.heap.track(Slice { start, stop, step })))
            }
            (NativeType::Type, Some(Value::Instance(it))) => Ok(Value::Class(Rc::clone(&it.class))),
            (NativeType::Type, Some(Value::Exception(it))) => {
                Ok(Value::Class(Rc::clone(&it.class)))
            }
            (NativeType::Type, Some(value)) => Ok(Value::Type(NativeType::of(value))),
            (NativeType::Property, Some(value)) => Ok(self.wrapped(Wrapping::Property, value)),
            (NativeType::StaticMethod, Some(value)) => Ok(self.wrapped(Wrapping::Static, value)),
            (NativeType::ClassMethod, Some(value)) => Ok(self.wrapped(Wrapping::Class, value)),
            (NativeType::Object, _) => {
                let class = self.heap.track(crate::script::value::Class {
                    name: Rc::from("object"),
                    is_exception: false,
                    module: "",
                    bases: Vec::new().into(),
                    attributes: Default::default(),
                });
                let attributes = Default::default();
                let instance = crate::script::value::Instance { class, attributes };
                Ok(Value::Instance(self.heap.track(instance)))
            }
            _ => self.construct_torch(kind, args),
        }
    }

    fn wrapped(&self, wrapping: Wrapping, function: &Value) -> Value {
        Value::Wrapped(self.heap.track(Wrapped {
            wrapping,
            function: function.clone(),
        }))
    }

    fn optional_items(&mut self, value: Option<&Value>) -> Result<Vec<Value>, Fault> {
        match value {
            Some(value) => self.collect(value),
            None => Ok(Vec::new()),
        }
    }

    fn int_of(&mut self, value: &Value, base: Option<&Value>) -> Outcome {
        match value {
            Value::Bool(it) => Ok(Value::Int(i64::from(*it))),
            Value::Int(_) | Value::Big(_) => Ok(value.clone()),
            Value::Float(it) if it.is_finite() => {
                let text = format!("{:.0}", it.trunc());
                let whole = BigInt::parse_bytes(text.as_bytes(), 10);
                Ok(int::from_big(whole.unwrap_or_default()))
            }
            Value::Float(_) => {
                let message = "cannot convert float infinity to integer";
                Err(self.raise("OverflowError", message))
            }
            Value::Text(text) => {
                let base = match base {
                    Some(base) => self.whole(base)?,
                    None => 10,
                };
                let digits = text.trim().replace('_', "");
                let number = u32::try_from(base)
                    .ok()
                    .filter(|base| (2..=36).contains(base))
                    .and_then(|base| BigInt::parse_bytes(digits.as_bytes(), base));
                match number {
                    Some(number) => Ok(int::from_big(number)),
                    None => {
                        let shown = self.repr(value)?;
                        let message =
                            format!("invalid literal for int() with base {base}: {shown}");
                        Err(self.raise("ValueError", message))
                    }
                }
            }
            Value::Tensor(_) => Err(self.needs_values("int() of a tensor")),
            other => {
                let name = other.type_name();
                let message = format!(
                    "int() argument must be a string, a bytes-like object or a real number, not \
                     '{name}'"
                );
                Err(self.type_error(message))
            }
        }
    }

    fn float_of(&mut self, value: &Value) -> Outcome {
        if let Some(number) = int::float(value) {
            return Ok(Value::Float(number));
        }
        match value {
            Value::Text(text) => match text.trim().parse() {
                Ok(number) => Ok(Value::Float(number)),
                Err(_) => {
                    let shown = self.repr(value)?;
                    let message = format!("could not convert string to float: {shown}");
                    Err(self.raise("ValueError", message))
                }
            },
            Value::Tensor(_) => Err(self.needs_values("float() of a tensor")),
            other => {
                let name = other.type_name();
                let message =
                    format!("float() argument must be a string or a real number, not '{name}'");
                Err(self.type_error(message))
            }
        }
    }

    fn dict_of(&mut self, args: &Args) -> Outcome {
        let dict = self.heap.track(Dict::default());
        if let Some(first) = args.positional.first() {
            for (key, value) in pairs(self, first)? {
                let key = self.key(key)?;
                dict.entries.borrow_mut().insert(key, value);
            }
        }
        for (name, value) in &args.keywords {
            let key = self.key(Value::Text(Rc::clone(name)))?;
            dict.entries.borrow_mut().insert(key, value.clone());
        }
        Ok(Value::Dict(dict))
    }

    fn range_of(&mut self, args: &Args) -> Outcome {
        self.expect("range", args, 1..=3, &[])?;
        let mut bounds = Vec::new();
        for value in &args.positional {
            bounds.push(self.whole(value)?);
        }
        let (start, stop, step) = match *bounds.as_slice() {
            [stop] => (0, stop, 1),
            [start, stop] => (start, stop, 1),
            [start, stop, step] => (start, stop, step),
            _ => (0, 0, 1),
        };
        if step == 0 {
            return Err(self.raise("ValueError", "range() arg 3 must not be zero"));
        }
        Ok(Value::Range(Rc::new(Range { start, stop, step })))
    }
}

pub(super) fn bit_length(_machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    let number = int::big(receiver).unwrap_or_default();
    Ok(Value::Int(number.bits() as i64))
}

pub(super) fn is_integer(_machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    Ok(Value::Bool(
        int::float(receiver).is_some_and(|it| it.fract() == 0.0),
    ))
}

/// `dict.fromkeys` and the like are called on the type itself.
pub(super) fn class_method(kind: NativeType, name: &str) -> Option<MethodFn> {
    (kind == NativeType::Dict && name == "fromkeys").then_some(fromkeys as MethodFn)
}

fn fromkeys(machine: &mut Machine, _receiver: &Value, args: &Args) -> Outcome {
    machine.expect("fromkeys", args, 1..=2, &[])?;
    let value = args.positional.get(1).cloned().unwrap_or(Value::None);
    let dict = machine.heap.track(Dict::default());
    for item in machine.collect(&args.positional[0])? {
        let key = machine.key(item)?;
        dict.entries.borrow_mut().insert(key, value.clone());
    }
    Ok(Value::Dict(dict))
}
