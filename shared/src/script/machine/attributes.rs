//! Attributes and methods.

use std::rc::Rc;

use super::calls::lookup;
use super::{Fault, Machine};
use crate::script::builtins;
use crate::script::native::{Args, NativeType, Outcome};
use crate::script::value::{Class, Value, Wrapping};

impl Machine {
    /// `owner.name`.
    pub(crate) fn attribute(&mut self, owner: &Value, name: &str) -> Result<Value, Fault> {
        match owner {
            Value::Instance(instance) => {
                let found = lookup(&instance.class, name);
                if let Some(Value::Wrapped(wrapped)) = &found
                    && wrapped.wrapping == Wrapping::Property
                {
                    return self.call_now(&wrapped.function, vec![owner.clone()]);
                }
                let own = instance.attributes.borrow().get(name).cloned();
                if let Some(value) = own {
                    return Ok(value);
                }
                match (found, name) {
                    (Some(value), _) => Ok(self.of_class(value, owner, &instance.class)),
                    (None, "__class__") => Ok(Value::Class(Rc::clone(&instance.class))),
                    (None, "__dict__") => Ok(self.attributes_dict(owner)),
                    (None, _) => Err(self.no_attribute(owner, name)),
                }
            }
            Value::Exception(exception) => {
                let own = exception.attributes.borrow().get(name).cloned();
                if let Some(value) = own {
                    return Ok(value);
                }
                if let Some(value) = lookup(&exception.class, name) {
                    return Ok(self.of_class(value, owner, &exception.class));
                }
                match builtins::exception_attribute(self, exception, name) {
                    Some(value) => Ok(value),
                    None => self.native_attribute(owner, name),
                }
            }
            Value::Class(class) => match (lookup(class, name), name) {
                (Some(Value::Wrapped(it)), _) if it.wrapping != Wrapping::Property => {
                    let function = it.function.clone();
                    match it.wrapping {
                        Wrapping::Class => Ok(self.bind_attribute(function, owner)),
                        _ => Ok(function),
                    }
                }
                (Some(value), _) => Ok(value),
                (None, "__name__" | "__qualname__") => Ok(Value::Text(Rc::clone(&class.name))),
                (None, "__module__") => Ok(Value::text(class.module.trim_end_matches('.'))),
                (None, _) => {
                    let message = format!("type object '{}' has no attribute '{name}'", class.name);
                    Err(self.raise("AttributeError", message))
                }
            },
            Value::Function(function) if matches!(name, "__name__" | "__qualname__") => {
                Ok(Value::Text(Rc::clone(&function.code.name)))
            }
            Value::Type(kind) if matches!(name, "__name__" | "__qualname__") => {
                Ok(Value::text(kind.name()))
            }
            Value::Super(pair) => {
                let (method, receiver) = self.super_method(&pair.0, &pair.1, name)?;
                Ok(match method {
                    Value::NativeMethod(call) => self.bound_native(&receiver, call),
                    other => self.bind_attribute(other, &receiver),
                })
            }
            Value::Module(module) => self.module_attribute(module, name),
            _ => self.native_attribute(owner, name),
        }
    }

    fn of_class(&mut self, value: Value, owner: &Value, class: &Rc<Class>) -> Value {
        match value {
            Value::Wrapped(wrapped) => match wrapped.wrapping {
                Wrapping::Static | Wrapping::Property => wrapped.function.clone(),
                Wrapping::Class => {
                    let class = Value::Class(Rc::clone(class));
                    self.bind_attribute(wrapped.function.clone(), &class)
                }
            },
            other => self.bind_attribute(other, owner),
        }
    }

    fn attributes_dict(&mut self, owner: &Value) -> Value {
        let dict = self.heap.track(crate::script::dict::Dict::default());
        if let Value::Instance(instance) = owner {
            for (name, value) in instance.attributes.borrow().iter() {
                if let Ok(key) = crate::script::dict::Key::new(Value::Text(Rc::clone(name))) {
                    dict.entries.borrow_mut().insert(key, value.clone());
                }
            }
        }
        Value::Dict(dict)
    }

    fn native_attribute(&mut self, owner: &Value, name: &str) -> Outcome {
        if let Some(value) = builtins::attribute(self, owner, name)? {
            return Ok(value);
        }
        if name == "__class__" {
            return Ok(Value::Type(NativeType::of(owner)));
        }
        match builtins::method(owner, name) {
            Some(call) => Ok(self.bound_native(owner, call)),
            None => Err(self.no_native_attribute(owner, name)),
        }
    }

    fn no_attribute(&mut self, owner: &Value, name: &str) -> Fault {
        let class = owner.type_name();
        let message = format!("'{class}' object has no attribute '{name}'");
        self.raise("AttributeError", message)
    }

    /// What Python's own types have beyond the playground stops the script; what they lack raises.
    fn no_native_attribute(&mut self, owner: &Value, name: &str) -> Fault {
        match builtins::outside(owner, name) {
            Some((what, instead)) => self.unsupported(what, instead),
            None => self.no_attribute(owner, name),
        }
    }

    /// What a call of `owner.name(…)` calls, and its receiver: `Null` and the function where
    /// there is none.
    pub(super) fn method(&mut self, owner: Value, name: &str) -> Result<(Value, Value), Fault> {
        match &owner {
            Value::Instance(instance) => {
                let own = instance.attributes.borrow().contains_key(name);
                match lookup(&instance.class, name) {
                    Some(function @ Value::Function(_)) if !own => Ok((function, owner)),
                    _ => Ok((Value::Null, self.attribute(&owner, name)?)),
                }
            }
            Value::Super(pair) => {
                let (method, receiver) = self.super_method(&pair.0, &pair.1, name)?;
                Ok((method, receiver))
            }
            Value::Exception(_) | Value::Class(_) | Value::Module(_) | Value::Function(_) => {
                Ok((Value::Null, self.attribute(&owner, name)?))
            }
            _ => match builtins::method(&owner, name) {
                Some(call) => Ok((Value::NativeMethod(call), owner)),
                None => Ok((Value::Null, self.native_attribute(&owner, name)?)),
            },
        }
    }

    fn super_method(
        &mut self,
        after: &Rc<Class>,
        receiver: &Value,
        name: &str,
    ) -> Result<(Value, Value), Fault> {
        let class = match receiver {
            Value::Instance(instance) => Rc::clone(&instance.class),
            Value::Exception(exception) => Rc::clone(&exception.class),
            Value::Class(class) => Rc::clone(class),
            _ => return Err(self.type_error("super(): no arguments")),
        };
        let order = linearize(&class);
        let at = order.iter().position(|it| Rc::ptr_eq(it, after));
        let next = order.iter().skip(at.map_or(0, |at| at + 1));
        let found = next.filter_map(|it| it.attributes.borrow().get(name).cloned());
        match found.into_iter().next() {
            Some(Value::Wrapped(wrapped)) => Ok((wrapped.function.clone(), receiver.clone())),
            Some(value) => Ok((value, receiver.clone())),
            None if name == "__init__" => Ok((Value::NativeMethod(init), receiver.clone())),
            None => {
                let message = format!("'super' object has no attribute '{name}'");
                Err(self.raise("AttributeError", message))
            }
        }
    }

    pub(crate) fn store_attribute(
        &mut self,
        owner: &Value,
        name: &Rc<str>,
        value: Value,
    ) -> Result<(), Fault> {
        let old = match owner {
            Value::Instance(instance) => {
                let mut attributes = instance.attributes.borrow_mut();
                attributes.insert(Rc::clone(name), value)
            }
            Value::Class(class) => {
                let mut attributes = class.attributes.borrow_mut();
                attributes.insert(Rc::clone(name), value)
            }
            Value::Exception(exception) if &**name == "__traceback__" => {
                let old = exception.traceback.take();
                drop(old);
                None
            }
            Value::Exception(exception) => match &**name {
                "__context__" | "__cause__" => {
                    let old = (exception.context.take(), exception.cause.take());
                    drop(old);
                    None
                }
                _ => {
                    let mut attributes = exception.attributes.borrow_mut();
                    attributes.insert(Rc::clone(name), value)
                }
            },
            Value::Tensor(_) => {
                return Err(self.unsupported(
                    format!("setting .{name} of a tensor"),
                    "Keep what belongs to a tensor in a dict or in an object of your own.",
                ));
            }
            other => return Err(self.no_attribute(other, name)),
        };
        drop(old);
        Ok(())
    }

    pub(super) fn delete_attribute(&mut self, owner: &Value, name: &Rc<str>) -> Result<(), Fault> {
        let old = match owner {
            Value::Instance(it) => it.attributes.borrow_mut().shift_remove(name),
            Value::Class(it) => it.attributes.borrow_mut().shift_remove(name),
            Value::Exception(it) => it.attributes.borrow_mut().shift_remove(name),
            _ => None,
        };
        if old.is_none() {
            return Err(self.no_attribute(owner, name));
        }
        Ok(())
    }
}

/// `object.__init__` and `BaseException.__init__`.
fn init(_machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    if let Value::Exception(exception) = receiver {
        let old = exception.args.replace(args.positional.clone());
        drop(old);
    }
    Ok(Value::None)
}

/// The classes in the order in which they are searched, each once, after what derives from it.
fn linearize(class: &Rc<Class>) -> Vec<Rc<Class>> {
    let mut order = Vec::new();
    collect(class, &mut order);
    let mut last_only: Vec<Rc<Class>> = Vec::new();
    for class in order.into_iter().rev() {
        if !last_only.iter().any(|known| Rc::ptr_eq(known, &class)) {
            last_only.push(class);
        }
    }
    last_only.reverse();
    last_only
}

fn collect(class: &Rc<Class>, order: &mut Vec<Rc<Class>>) {
    order.push(Rc::clone(class));
    class
        .bases
        .borrow()
        .iter()
        .for_each(|base| collect(base, order));
}
