//! Methods of dicts, sets and `os.environ`.

use std::rc::Rc;

use crate::script::dict::{Dict, Entries};
use crate::script::iterator::State;
use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, MethodFn, Outcome};
use crate::script::value::Value;

pub(super) fn dict_method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "keys" => keys,
        "values" => values,
        "items" => items,
        "get" => get,
        "pop" => pop,
        "popitem" => popitem,
        "setdefault" => setdefault,
        "update" => update,
        "clear" => clear,
        "copy" => copy,
        _ => return None,
    })
}

pub(super) fn set_method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "add" => add,
        "remove" => remove,
        "discard" => discard,
        "pop" => set_pop,
        "clear" => clear,
        "copy" => copy,
        "update" => set_update,
        "union" => union,
        "intersection" => intersection,
        "difference" => difference,
        "issubset" => issubset,
        "issuperset" => issuperset,
        "isdisjoint" => isdisjoint,
        _ => return None,
    })
}

pub(super) fn environ_method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "get" => environ_get,
        "setdefault" => environ_setdefault,
        "pop" => environ_pop,
        _ => return None,
    })
}

fn entries(receiver: &Value) -> &Rc<Dict> {
    match receiver {
        Value::Dict(dict) | Value::Set(dict) => dict,
        _ => unreachable!("methods of dicts and sets are called on them"),
    }
}

fn keys(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("keys", args, 0..=0, &[])?;
    let dict = entries(receiver);
    let length = dict.entries.borrow().len();
    Ok(machine.iterator(State::Keys(Rc::clone(dict), 0, length)))
}

fn values(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("values", args, 0..=0, &[])?;
    let dict = entries(receiver);
    let length = dict.entries.borrow().len();
    Ok(machine.iterator(State::Values(Rc::clone(dict), 0, length)))
}

fn items(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("items", args, 0..=0, &[])?;
    let dict = entries(receiver);
    let length = dict.entries.borrow().len();
    let last = machine.raw_tuple(vec![Value::None, Value::None]);
    Ok(machine.iterator(State::Items(Rc::clone(dict), 0, length, last)))
}

fn get(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("get", args, 1..=2, &[])?;
    let key = machine.key(args.positional[0].clone())?;
    let found = entries(receiver).entries.borrow().get(&key).cloned();
    let default = || args.positional.get(1).cloned().unwrap_or(Value::None);
    Ok(found.unwrap_or_else(default))
}

fn pop(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("pop", args, 1..=2, &[])?;
    let key = machine.key(args.positional[0].clone())?;
    let found = entries(receiver).entries.borrow_mut().shift_remove(&key);
    match (found, args.positional.get(1)) {
        (Some(value), _) => Ok(value),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err(machine.key_error(&args.positional[0])),
    }
}

fn popitem(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("popitem", args, 0..=0, &[])?;
    let last = entries(receiver).entries.borrow_mut().pop();
    match last {
        Some((key, value)) => Ok(machine.tuple(vec![key.value().clone(), value])),
        None => {
            let message = Value::text("popitem(): dictionary is empty");
            Err(machine.key_error(&message))
        }
    }
}

fn setdefault(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("setdefault", args, 1..=2, &[])?;
    let key = machine.key(args.positional[0].clone())?;
    let default = args.positional.get(1).cloned().unwrap_or(Value::None);
    let mut entries = entries(receiver).entries.borrow_mut();
    Ok(entries.entry(key).or_insert(default).clone())
}

fn update(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let dict = entries(receiver);
    if let Some(other) = args.positional.first() {
        let pairs = pairs(machine, other)?;
        for (key, value) in pairs {
            let key = machine.key(key)?;
            let old = dict.entries.borrow_mut().insert(key, value);
            drop(old);
        }
    }
    for (name, value) in &args.keywords {
        let key = machine.key(Value::Text(Rc::clone(name)))?;
        let old = dict.entries.borrow_mut().insert(key, value.clone());
        drop(old);
    }
    Ok(Value::None)
}

/// Keys and values of a dict or of an iterable of pairs.
pub(super) fn pairs(machine: &mut Machine, value: &Value) -> Result<Vec<(Value, Value)>, Fault> {
    if let Value::Dict(dict) = value {
        let entries = dict.entries.borrow();
        let pairs = entries.iter().map(|(k, v)| (k.value().clone(), v.clone()));
        return Ok(pairs.collect());
    }
    let mut pairs = Vec::new();
    for item in machine.collect(value)? {
        let pair = machine.collect(&item)?;
        match <[Value; 2]>::try_from(pair) {
            Ok([key, value]) => pairs.push((key, value)),
            Err(pair) => {
                let message = format!(
                    "dictionary update sequence element #{} has length {}; 2 is required",
                    pairs.len(),
                    pair.len()
                );
                return Err(machine.raise("ValueError", message));
            }
        }
    }
    Ok(pairs)
}

fn clear(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("clear", args, 0..=0, &[])?;
    let old = entries(receiver).entries.take();
    drop(old);
    Ok(Value::None)
}

fn copy(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("copy", args, 0..=0, &[])?;
    let entries = entries(receiver).entries.borrow().clone();
    let copy = machine.heap.track(Dict {
        entries: entries.into(),
    });
    Ok(match receiver {
        Value::Set(_) => Value::Set(copy),
        _ => Value::Dict(copy),
    })
}

fn add(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("add", args, 1..=1, &[])?;
    let key = machine.key(args.positional[0].clone())?;
    let mut entries = entries(receiver).entries.borrow_mut();
    entries.entry(key).or_insert(Value::None);
    Ok(Value::None)
}

fn remove(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("remove", args, 1..=1, &[])?;
    let key = machine.key(args.positional[0].clone())?;
    let old = entries(receiver)
        .entries
        .borrow_mut()
        .shift_remove_entry(&key);
    match old {
        Some(old) => {
            drop(old);
            Ok(Value::None)
        }
        None => Err(machine.key_error(&args.positional[0])),
    }
}

fn discard(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("discard", args, 1..=1, &[])?;
    let key = machine.key(args.positional[0].clone())?;
    let old = entries(receiver)
        .entries
        .borrow_mut()
        .shift_remove_entry(&key);
    drop(old);
    Ok(Value::None)
}

fn set_pop(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("pop", args, 0..=0, &[])?;
    let first = entries(receiver).entries.borrow_mut().shift_remove_index(0);
    match first {
        Some((key, _)) => Ok(key.value().clone()),
        None => {
            let message = Value::text("pop from an empty set");
            Err(machine.key_error(&message))
        }
    }
}

fn keys_of(machine: &mut Machine, args: &Args) -> Result<Entries, Fault> {
    let mut keys = Entries::default();
    for iterable in &args.positional {
        for item in machine.collect(iterable)? {
            let key = machine.key(item)?;
            keys.insert(key, Value::None);
        }
    }
    Ok(keys)
}

fn set_update(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let keys = keys_of(machine, args)?;
    let mut entries = entries(receiver).entries.borrow_mut();
    for key in keys.into_keys() {
        entries.entry(key).or_insert(Value::None);
    }
    Ok(Value::None)
}

fn new_set(machine: &Machine, entries: Entries) -> Outcome {
    Ok(Value::Set(machine.heap.track(Dict {
        entries: entries.into(),
    })))
}

fn union(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let keys = keys_of(machine, args)?;
    let mut result = entries(receiver).entries.borrow().clone();
    for key in keys.into_keys() {
        result.entry(key).or_insert(Value::None);
    }
    new_set(machine, result)
}

fn intersection(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let keys = keys_of(machine, args)?;
    let mut result = entries(receiver).entries.borrow().clone();
    result.retain(|key, _| keys.contains_key(key));
    new_set(machine, result)
}

fn difference(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let keys = keys_of(machine, args)?;
    let mut result = entries(receiver).entries.borrow().clone();
    result.retain(|key, _| !keys.contains_key(key));
    new_set(machine, result)
}

fn issubset(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let keys = keys_of(machine, args)?;
    let own = entries(receiver).entries.borrow();
    Ok(Value::Bool(own.keys().all(|key| keys.contains_key(key))))
}

fn issuperset(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let keys = keys_of(machine, args)?;
    let own = entries(receiver).entries.borrow();
    Ok(Value::Bool(keys.keys().all(|key| own.contains_key(key))))
}

fn isdisjoint(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let keys = keys_of(machine, args)?;
    let own = entries(receiver).entries.borrow();
    Ok(Value::Bool(!keys.keys().any(|key| own.contains_key(key))))
}

fn environ_get(machine: &mut Machine, _receiver: &Value, args: &Args) -> Outcome {
    machine.expect("get", args, 1..=2, &[])?;
    let name = Rc::clone(machine.text_argument(&args.positional[0])?);
    let value = machine.environ.get(&name).cloned();
    let default = || args.positional.get(1).cloned().unwrap_or(Value::None);
    Ok(value.unwrap_or_else(default))
}

fn environ_setdefault(machine: &mut Machine, _receiver: &Value, args: &Args) -> Outcome {
    machine.expect("setdefault", args, 2..=2, &[])?;
    let name = Rc::clone(machine.text_argument(&args.positional[0])?);
    let value = args.positional[1].clone();
    Ok(machine.environ.entry(name).or_insert(value).clone())
}

fn environ_pop(machine: &mut Machine, _receiver: &Value, args: &Args) -> Outcome {
    machine.expect("pop", args, 1..=2, &[])?;
    let name = Rc::clone(machine.text_argument(&args.positional[0])?);
    let old = machine.environ.shift_remove(&name);
    let default = || args.positional.get(1).cloned().unwrap_or(Value::None);
    Ok(old.unwrap_or_else(default))
}
