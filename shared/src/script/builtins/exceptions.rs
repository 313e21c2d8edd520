//! The exception classes of Python, and PyTorch's out of memory.

use std::rc::Rc;

use crate::script::heap::Heap;
use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, Outcome};
use crate::script::value::{Class, Exception, Names, Value};

/// Name and base of each class.
const CLASSES: [(&str, &str); 28] = [
    ("BaseException", ""),
    ("Exception", "BaseException"),
    ("KeyboardInterrupt", "BaseException"),
    ("SystemExit", "BaseException"),
    ("ArithmeticError", "Exception"),
    ("OverflowError", "ArithmeticError"),
    ("ZeroDivisionError", "ArithmeticError"),
    ("AssertionError", "Exception"),
    ("AttributeError", "Exception"),
    ("BufferError", "Exception"),
    ("ImportError", "Exception"),
    ("ModuleNotFoundError", "ImportError"),
    ("LookupError", "Exception"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("MemoryError", "Exception"),
    ("NameError", "Exception"),
    ("UnboundLocalError", "NameError"),
    ("OSError", "Exception"),
    ("RuntimeError", "Exception"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
    ("OutOfMemoryError", "RuntimeError"),
    ("StopIteration", "Exception"),
    ("TypeError", "Exception"),
    ("ValueError", "Exception"),
    ("Warning", "Exception"),
    ("UserWarning", "Warning"),
];

pub(crate) fn exception_classes(heap: &Heap) -> Names {
    let mut classes = Names::default();
    for (name, base) in CLASSES {
        let bases: Vec<Rc<Class>> = match classes.get(base) {
            Some(Value::Class(class)) => vec![Rc::clone(class)],
            _ => Vec::new(),
        };
        let class = heap.track(Class {
            name: Rc::from(name),
            is_exception: true,
            module: if name == "OutOfMemoryError" {
                "torch."
            } else {
                ""
            },
            bases: bases.into(),
            attributes: Names::default().into(),
        });
        classes.insert(Rc::from(name), Value::Class(class));
    }
    classes
}

pub(crate) fn exception_attribute(
    machine: &mut Machine,
    exception: &Rc<Exception>,
    name: &str,
) -> Option<Value> {
    let optional = |value: Option<Value>| value.unwrap_or(Value::None);
    Some(match name {
        "args" => {
            let args = exception.args.borrow().clone();
            machine.tuple(args)
        }
        "__class__" => Value::Class(Rc::clone(&exception.class)),
        "__traceback__" => optional(exception.traceback.borrow().clone().map(Value::Traceback)),
        "__cause__" => optional(exception.cause.borrow().clone()),
        "__context__" => optional(exception.context.borrow().clone().map(Value::Exception)),
        "value" if &*exception.class.name == "StopIteration" => {
            optional(exception.args.borrow().first().cloned())
        }
        _ => return None,
    })
}

pub(super) fn with_traceback(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("with_traceback", args, 1..=1, &[])?;
    if let (Value::Exception(exception), Some(Value::None)) = (receiver, args.positional.first()) {
        let old = exception.traceback.take();
        drop(old);
    }
    Ok(receiver.clone())
}

pub(super) fn add_note(_machine: &mut Machine, _receiver: &Value, _args: &Args) -> Outcome {
    Ok(Value::None)
}

/// `next()` at the end.
pub(super) fn stop_iteration(machine: &mut Machine) -> Fault {
    let class = machine.exception_class("StopIteration");
    Fault::Raised(machine.exception(class, Vec::new()))
}
