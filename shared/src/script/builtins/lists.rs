//! Methods of lists and tuples.

use std::rc::Rc;

use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, MethodFn, Outcome};
use crate::script::value::{List, Value, drop_backwards};

pub(super) fn list_method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "append" => append,
        "extend" => extend,
        "insert" => insert,
        "pop" => pop,
        "remove" => remove,
        "clear" => clear,
        "copy" => copy,
        "reverse" => reverse,
        "sort" => sort,
        "index" => index,
        "count" => count,
        _ => return None,
    })
}

pub(super) fn tuple_method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "index" => index,
        "count" => count,
        _ => return None,
    })
}

fn list(receiver: &Value) -> &Rc<List> {
    match receiver {
        Value::List(list) => list,
        _ => unreachable!("methods of lists are called on lists"),
    }
}

fn append(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("list.append", args, 1..=1, &[])?;
    let list = list(receiver);
    let length = list.items.borrow().len();
    machine.check_size(length as u128 + 1)?;
    list.items.borrow_mut().push(args.positional[0].clone());
    Ok(Value::None)
}

fn extend(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("list.extend", args, 1..=1, &[])?;
    let list = list(receiver);
    if let Value::List(_) | Value::Tuple(_) = &args.positional[0] {
        let items = machine.collect(&args.positional[0])?;
        let length = list.items.borrow().len() + items.len();
        machine.check_size(length as u128)?;
        list.items.borrow_mut().extend(items);
        return Ok(Value::None);
    }
    let iterator = machine.iterate(&args.positional[0])?;
    while let Some(item) = machine.next_item(&iterator)? {
        let length = list.items.borrow().len();
        machine.check_size(length as u128 + 1)?;
        machine.count_work(1)?;
        list.items.borrow_mut().push(item);
    }
    Ok(Value::None)
}

fn insert(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("insert", args, 2..=2, &[])?;
    let at = machine.whole(&args.positional[0])?;
    let mut items = list(receiver).items.borrow_mut();
    let length = items.len() as i64;
    let at = if at < 0 {
        (at + length).max(0)
    } else {
        at.min(length)
    };
    items.insert(at as usize, args.positional[1].clone());
    Ok(Value::None)
}

fn pop(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("pop", args, 0..=1, &[])?;
    let list = list(receiver);
    let length = list.items.borrow().len() as i64;
    if length == 0 {
        return Err(machine.raise("IndexError", "pop from empty list"));
    }
    let at = match args.positional.first() {
        Some(at) => machine.whole(at)?,
        None => -1,
    };
    let at = if at < 0 { at + length } else { at };
    if !(0..length).contains(&at) {
        return Err(machine.raise("IndexError", "pop index out of range"));
    }
    let item = list.items.borrow_mut().remove(at as usize);
    Ok(item)
}

fn position(machine: &mut Machine, items: &[Value], item: &Value) -> Result<Option<usize>, Fault> {
    machine.count_work(items.len() as u64)?;
    for (at, each) in items.iter().enumerate() {
        if each.is(item) || machine.equal(each, item)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn remove(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("list.remove", args, 1..=1, &[])?;
    let list = list(receiver);
    let items = list.items.borrow().clone();
    match position(machine, &items, &args.positional[0])? {
        Some(at) => {
            drop(items);
            let old = list.items.borrow_mut().remove(at);
            drop(old);
            Ok(Value::None)
        }
        None => Err(machine.raise("ValueError", "list.remove(x): x not in list")),
    }
}

fn clear(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("list.clear", args, 0..=0, &[])?;
    drop_backwards(list(receiver).items.take());
    Ok(Value::None)
}

fn copy(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("list.copy", args, 0..=0, &[])?;
    let items = list(receiver).items.borrow().clone();
    Ok(machine.list(items))
}

fn reverse(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("list.reverse", args, 0..=0, &[])?;
    list(receiver).items.borrow_mut().reverse();
    Ok(Value::None)
}

fn sort(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("sort", args, 0..=2, &["key", "reverse"])?;
    let list = list(receiver);
    let items = list.items.take();
    let kept = items.clone();
    match machine.sort(items, args) {
        Ok(sorted) => {
            list.items.replace(sorted);
            Ok(Value::None)
        }
        Err(fault) => {
            list.items.replace(kept);
            Err(fault)
        }
    }
}

fn items_of(receiver: &Value) -> Vec<Value> {
    match receiver {
        Value::List(list) => list.items.borrow().clone(),
        Value::Tuple(tuple) => tuple.items.clone(),
        _ => Vec::new(),
    }
}

fn index(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("index", args, 1..=1, &[])?;
    let items = items_of(receiver);
    match position(machine, &items, &args.positional[0])? {
        Some(at) => Ok(Value::Int(at as i64)),
        None => {
            let item = machine.repr(&args.positional[0])?;
            let message = match receiver {
                Value::Tuple(_) => "tuple.index(x): x not in tuple".to_owned(),
                _ => format!("{item} is not in list"),
            };
            Err(machine.raise("ValueError", message))
        }
    }
}

fn count(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("count", args, 1..=1, &[])?;
    let mut count = 0;
    for each in items_of(receiver) {
        if each.is(&args.positional[0]) || machine.equal(&each, &args.positional[0])? {
            count += 1;
        }
    }
    Ok(Value::Int(count))
}
