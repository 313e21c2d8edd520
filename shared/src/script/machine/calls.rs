//! Calls: arguments move into the variables of Python functions, and stay with the caller for
//! functions of ours and for `__init__`.

use std::rc::Rc;

use super::{Fault, Machine, Role, exceptions::derives};
use crate::script::code::CodeKind;
use crate::script::native::Args;
use crate::script::value::{Class, Instance, Names, Value};

/// Names of the keyword arguments at the end of a list of arguments.
pub(super) type Keywords = Option<Rc<[Rc<str>]>>;

impl Machine {
    pub(super) fn call_op(&mut self, positional: usize, keywords: usize) -> Result<(), Fault> {
        let code = &self.top().frame.code;
        let names = keywords
            .checked_sub(1)
            .map(|at| Rc::clone(&code.keywords[at]));
        let count = positional + names.as_ref().map_or(0, |names| names.len());
        let stack = &mut self.top().stack;
        let with_receiver = !matches!(stack[stack.len() - count - 2], Value::Null);
        let args = stack.split_off(stack.len() - count - usize::from(with_receiver));
        let callable = self.pop();
        if !with_receiver {
            drop(self.pop());
        }
        if let Some(value) = self.call(callable, args, names, false)? {
            self.push(value);
        }
        Ok(())
    }

    pub(super) fn call_spread(&mut self, has_keywords: bool) -> Result<(), Fault> {
        let keywords = if has_keywords {
            self.pop()
        } else {
            Value::None
        };
        let positional = self.pop();
        let second = self.pop();
        let first = self.pop();
        let mut args = Vec::new();
        let callable = match first {
            Value::Null => second,
            method => {
                args.push(second);
                method
            }
        };
        if let Value::Tuple(tuple) = &positional {
            args.extend(tuple.items.iter().cloned());
        }
        let mut names: Vec<Rc<str>> = Vec::new();
        if let Value::Dict(dict) = &keywords {
            for (key, value) in dict.entries.borrow().iter() {
                if let Value::Text(name) = key.value() {
                    names.push(Rc::clone(name));
                    args.push(value.clone());
                }
            }
        }
        drop(positional);
        drop(keywords);
        let names = (!names.is_empty()).then(|| Rc::from(names));
        if let Some(value) = self.call(callable, args, names, false)? {
            self.push(value);
        }
        Ok(())
    }

    /// Calls from within an operation and waits for the result.
    pub(crate) fn call_now(&mut self, callable: &Value, args: Vec<Value>) -> Result<Value, Fault> {
        let base = self.activations.len();
        match self.call(callable.clone(), args, None, true)? {
            Some(value) => Ok(value),
            None => Ok(self.run_above(base)?.unwrap_or(Value::None)),
        }
    }

    /// Calls a special method of an instance, if its class has it.
    pub(crate) fn call_special(
        &mut self,
        value: &Value,
        name: &str,
        mut args: Vec<Value>,
    ) -> Result<Option<Value>, Fault> {
        let Value::Instance(instance) = value else {
            return Ok(None);
        };
        let Some(method) = lookup(&instance.class, name) else {
            return Ok(None);
        };
        args.insert(0, value.clone());
        self.call_now(&method, args).map(Some)
    }

    /// Calls something; the result, unless an activation has been pushed that will give it.
    pub(super) fn call(
        &mut self,
        callable: Value,
        mut args: Vec<Value>,
        names: Keywords,
        boundary: bool,
    ) -> Result<Option<Value>, Fault> {
        match callable {
            Value::Function(function) => {
                if self.activations.len() >= self.limits.recursion {
                    return Err(self.raise("RecursionError", "maximum recursion depth exceeded"));
                }
                let frame = self.frame(Rc::clone(&function.code), Some(Rc::clone(&function)));
                drop(function);
                self.bind(&frame, args, names)?;
                self.activate(frame, Role::Plain, boundary);
                Ok(None)
            }
            Value::Method(method) => {
                args.insert(0, method.receiver.clone());
                let function = method.function.clone();
                drop(method);
                self.call(function, args, names, boundary)
            }
            Value::Class(class) => self.instantiate(class, args, names, boundary),
            Value::Native(native) => {
                let args = arguments(args, names);
                (native.call)(self, &args).map(Some)
            }
            Value::NativeMethod(method) => {
                let receiver = args.remove(0);
                let args = arguments(args, names);
                let result = method(self, &receiver, &args);
                drop(receiver);
                drop(args);
                result.map(Some)
            }
            Value::BoundNative(bound) => {
                let args = arguments(args, names);
                let result = (bound.call)(self, &bound.receiver, &args);
                drop(args);
                result.map(Some)
            }
            Value::Type(kind) => {
                let args = arguments(args, names);
                let result = self.construct(kind, &args);
                drop(args);
                result.map(Some)
            }
            Value::Instance(ref instance) => match lookup(&instance.class, "__call__") {
                Some(method) => {
                    args.insert(0, callable.clone());
                    drop(callable);
                    self.call(method, args, names, boundary)
                }
                None => Err(self.not_callable(&callable)),
            },
            other => Err(self.not_callable(&other)),
        }
    }

    fn not_callable(&mut self, value: &Value) -> Fault {
        if let Value::Module(name) = value {
            return self.type_error(format!("'module' object is not callable: {name}"));
        }
        let name = value.type_name();
        self.type_error(format!("'{name}' object is not callable"))
    }

    fn instantiate(
        &mut self,
        class: Rc<Class>,
        args: Vec<Value>,
        names: Keywords,
        boundary: bool,
    ) -> Result<Option<Value>, Fault> {
        let init = lookup(&class, "__init__");
        let instance = if class.is_exception {
            let positional = args.len() - names.as_ref().map_or(0, |names| names.len());
            let args = args.iter().take(positional).cloned().collect();
            Value::Exception(self.exception(Rc::clone(&class), args))
        } else {
            self.check_size(0)?;
            Value::Instance(self.heap.track(Instance {
                class: Rc::clone(&class),
                attributes: Names::default().into(),
            }))
        };
        let Some(init) = init else {
            if !args.is_empty() && !class.is_exception {
                return Err(self.type_error(format!("{}() takes no arguments", class.name)));
            }
            drop(args);
            return Ok(Some(instance));
        };
        let Value::Function(function) = init else {
            return Err(self.unsupported("this __init__", "Define __init__ with def."));
        };
        if self.activations.len() >= self.limits.recursion {
            return Err(self.raise("RecursionError", "maximum recursion depth exceeded"));
        }
        let mut bound = Vec::with_capacity(args.len() + 1);
        bound.push(instance.clone());
        bound.extend(args.iter().cloned());
        let frame = self.frame(Rc::clone(&function.code), Some(function));
        self.bind(&frame, bound, names)?;
        let role = Role::Init {
            instance,
            held: args,
        };
        self.activate(frame, role, boundary);
        Ok(None)
    }

    /// `return`: the variables go, then the result is the caller's.
    pub(super) fn return_op(&mut self) -> Result<(), Fault> {
        let value = self.pop();
        let Some(ended) = self.activations.pop() else {
            return Ok(());
        };
        let (frame, boundary) = (ended.frame, ended.boundary);
        drop(ended.stack);
        let result = match ended.role {
            Role::Plain => {
                drop(frame);
                value
            }
            Role::Generator => {
                drop(frame);
                self.returned = None;
                return Ok(());
            }
            Role::Init { instance, held } => {
                drop(frame);
                if !matches!(value, Value::None) {
                    let name = value.type_name();
                    let message = format!("__init__() should return None, not '{name}'");
                    return Err(self.type_error(message));
                }
                drop(held);
                instance
            }
            Role::Class(bases) => {
                let attributes = frame.names.take();
                let name = Rc::clone(&frame.code.name);
                drop(frame);
                self.class(name, bases, attributes)?
            }
        };
        if boundary || self.activations.is_empty() {
            self.returned = Some(result);
        } else {
            self.push(result);
        }
        Ok(())
    }

    fn class(
        &mut self,
        name: Rc<str>,
        bases: Vec<Rc<Class>>,
        attributes: Names,
    ) -> Result<Value, Fault> {
        if attributes.contains_key("__del__") {
            return Err(self.unsupported(
                "__del__",
                "Memory goes back when the last reference goes; nothing runs then.",
            ));
        }
        let base = self.exception_class("BaseException");
        let is_exception = bases.iter().any(|class| derives(class, &base));
        let functions: Vec<_> = attributes
            .values()
            .filter_map(|value| match value {
                Value::Function(function) => Some(Rc::clone(function)),
                Value::Wrapped(wrapped) => match &wrapped.function {
                    Value::Function(function) => Some(Rc::clone(function)),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let class = self.heap.track(Class {
            name,
            is_exception,
            module: "__main__.",
            bases: bases.into(),
            attributes: attributes.into(),
        });
        for function in functions {
            *function.owner.borrow_mut() = Rc::downgrade(&class);
        }
        Ok(Value::Class(class))
    }

    pub(super) fn load_super(&mut self) -> Result<(), Fault> {
        let frame = Rc::clone(&self.top().frame);
        let function = frame.function.borrow();
        let owner = function.as_ref().and_then(|it| it.owner.borrow().upgrade());
        let receiver = match frame.locals.borrow().first().cloned().flatten() {
            Some(Value::Cell(cell)) => cell.value.borrow().clone(),
            other => other,
        };
        match (owner, receiver) {
            (Some(owner), Some(receiver)) if frame.code.kind == CodeKind::Function => {
                self.push(Value::Super(Rc::new((owner, receiver))));
                Ok(())
            }
            _ => Err(self.raise("RuntimeError", "super(): no arguments")),
        }
    }

    /// Whether a value is true.
    pub(crate) fn truth(&mut self, value: &Value) -> Result<bool, Fault> {
        Ok(match value {
            Value::None => false,
            Value::Bool(it) => *it,
            Value::Int(it) => *it != 0,
            Value::Float(it) => *it != 0.0,
            Value::Text(it) => !it.is_empty(),
            Value::Tuple(it) => !it.items.is_empty(),
            Value::List(it) => !it.items.borrow().is_empty(),
            Value::Dict(it) | Value::Set(it) => !it.entries.borrow().is_empty(),
            Value::Range(it) => it.len() > 0,
            Value::Tensor(_) => return Err(self.needs_values("The truth of a tensor")),
            Value::Instance(_) => {
                if let Some(truth) = self.call_special(value, "__bool__", Vec::new())? {
                    return self.truth(&truth);
                }
                match self.call_special(value, "__len__", Vec::new())? {
                    Some(length) => self.truth(&length)?,
                    None => true,
                }
            }
            _ => true,
        })
    }

    /// A property, method or plain value of a class, for a receiver.
    pub(super) fn bind_attribute(&mut self, value: Value, receiver: &Value) -> Value {
        match &value {
            Value::Function(_) => Value::Method(self.heap.track(crate::script::value::Method {
                function: value,
                receiver: receiver.clone(),
            })),
            _ => value,
        }
    }
}

/// The attribute of a class or of the classes it derives from.
pub(crate) fn lookup(class: &Rc<Class>, name: &str) -> Option<Value> {
    let own = class.attributes.borrow().get(name).cloned();
    own.or_else(|| {
        let bases = class.bases.borrow();
        bases.iter().find_map(|base| lookup(base, name))
    })
}

fn arguments(mut args: Vec<Value>, names: Keywords) -> Args {
    let Some(names) = names else {
        return Args {
            positional: args,
            keywords: Vec::new(),
        };
    };
    let values = args.split_off(args.len() - names.len());
    Args {
        positional: args,
        keywords: names.iter().cloned().zip(values).collect(),
    }
}
