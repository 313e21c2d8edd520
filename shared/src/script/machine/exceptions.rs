//! Raising, catching and unwinding. A traceback keeps the frames that the exception went through,
//! and those keep their locals.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{Fault, Machine};
use crate::script::code::{CodeKind, Op};
use crate::script::error::{ScriptError, ScriptErrorKind};
use crate::script::native::NativeType;
use crate::script::value::{Class, Exception, Names, Traceback, Value};

impl Machine {
    /// An exception of ours.
    pub(crate) fn raise(&mut self, class: &str, message: impl AsRef<str>) -> Fault {
        let class = self.exception_class(class);
        let args = vec![Value::text(message.as_ref())];
        Fault::Raised(self.exception(class, args))
    }

    pub(crate) fn type_error(&mut self, message: impl AsRef<str>) -> Fault {
        self.raise("TypeError", message)
    }

    pub(crate) fn exception_class(&self, name: &str) -> Rc<Class> {
        let base = || self.exceptions.get("Exception");
        match self.exceptions.get(name).or_else(base) {
            Some(Value::Class(class)) => Rc::clone(class),
            _ => unreachable!("the table of exceptions holds classes"),
        }
    }

    pub(crate) fn exception(&self, class: Rc<Class>, args: Vec<Value>) -> Rc<Exception> {
        self.heap.track(Exception {
            class,
            attributes: RefCell::new(Names::default()),
            args: RefCell::new(args),
            traceback: RefCell::default(),
            cause: RefCell::default(),
            context: RefCell::default(),
            raised_at: Cell::default(),
        })
    }

    pub(crate) fn is_stop_iteration(&self, fault: &Fault) -> bool {
        matches!(fault, Fault::Raised(it) if self.is_instance_of(&it.class, "StopIteration"))
    }

    fn is_instance_of(&self, class: &Rc<Class>, name: &str) -> bool {
        let wanted = self.exception_class(name);
        derives(class, &wanted)
    }

    /// The exception that is being handled, of whichever call.
    fn handled(&self) -> Option<Rc<Exception>> {
        let mut calls = self.activations.iter().rev();
        calls.find_map(|call| call.handled.last().cloned())
    }

    /// Finds the handler; `fresh` exceptions get a context and entries in their traceback.
    pub(super) fn unwind(&mut self, exception: Rc<Exception>, fresh: bool) -> Result<(), Fault> {
        let mut fresh = fresh && !std::mem::take(&mut self.reraising);
        if fresh {
            self.set_context(&exception);
            if exception.raised_at.get().is_none() {
                exception.raised_at.set(Some(self.range()));
            }
        }
        loop {
            let Some(top) = self.activations.last_mut() else {
                return Err(Fault::Raised(exception));
            };
            let in_function = top.frame.code.kind != CodeKind::Comprehension;
            if fresh && in_function {
                let entry = Traceback {
                    next: RefCell::new(exception.traceback.take()),
                    frame: RefCell::new(Some(Rc::clone(&top.frame))),
                    line: top.line,
                };
                let entry = self.heap.track(entry);
                exception.traceback.replace(Some(entry));
            }
            if let Some((target, height)) = top.blocks.pop() {
                while top.stack.len() > height {
                    drop(top.stack.pop());
                }
                top.at = target as usize;
                top.stack.push(Value::Exception(exception));
                return Ok(());
            }
            while let Some(value) = top.stack.pop() {
                drop(value);
            }
            let ended = self.activations.pop();
            let boundary = ended.as_ref().is_some_and(|ended| ended.boundary);
            drop(ended);
            if boundary {
                return Err(Fault::Raised(exception));
            }
            fresh = true;
        }
    }

    /// The exception being handled becomes the context of a new one; cycles are cut.
    fn set_context(&mut self, exception: &Rc<Exception>) {
        let Some(handled) = self.handled() else {
            return;
        };
        if Rc::ptr_eq(&handled, exception) {
            return;
        }
        let mut link = Rc::clone(&handled);
        loop {
            let next = link.context.borrow().clone();
            match next {
                Some(next) if Rc::ptr_eq(&next, exception) => {
                    let cut = link.context.take();
                    drop(cut);
                    break;
                }
                Some(next) => link = next,
                None => break,
            }
        }
        let old = exception.context.replace(Some(handled));
        drop(old);
    }

    pub(super) fn exceptional(&mut self, op: Op) -> Result<(), Fault> {
        match op {
            Op::PushBlock(target) => {
                let top = self.top();
                top.blocks.push((target, top.stack.len()));
            }
            Op::PushBlockBelow(target) => {
                let top = self.top();
                top.blocks.push((target, top.stack.len() - 1));
            }
            Op::PopBlock => drop(self.top().blocks.pop()),
            Op::PushHandled => {
                let top = self.top();
                if let Some(Value::Exception(exception)) = top.stack.last() {
                    let exception = Rc::clone(exception);
                    top.handled.push(exception);
                }
            }
            Op::PopHandled => {
                let handled = self.top().handled.pop();
                drop(handled);
            }
            Op::Matches => {
                let class = self.pop();
                let matches = match self.top().stack.last().cloned() {
                    Some(Value::Exception(exception)) => self.matches(&exception, &class)?,
                    _ => false,
                };
                self.push(Value::Bool(matches));
            }
            Op::Raise { exception, cause } => return Err(self.raise_op(exception, cause)),
            Op::Reraise => {
                if let Value::Exception(exception) = self.pop() {
                    self.reraising = true;
                    return Err(Fault::Raised(exception));
                }
            }
            Op::AssertionError => {
                let class = self.exception_class("AssertionError");
                self.push(Value::Null);
                self.push(Value::Class(class));
            }
            Op::EnterWith => self.enter_with()?,
            Op::ExitWith => {
                let top = self.top();
                let height = top.stack.len();
                let exit = top.stack[height - 2].clone();
                let exception = top.stack[height - 1].clone();
                let class = match &exception {
                    Value::Exception(it) => Value::Class(Rc::clone(&it.class)),
                    _ => Value::None,
                };
                let swallowed = self.call_now(&exit, vec![class, exception, Value::None])?;
                let swallowed = self.truth(&swallowed)?;
                self.push(Value::Bool(swallowed));
            }
            _ => unreachable!("not about exceptions"),
        }
        Ok(())
    }

    fn raise_op(&mut self, given: bool, has_cause: bool) -> Fault {
        let cause = has_cause.then(|| self.pop());
        if !given {
            return match self.handled() {
                Some(exception) => {
                    self.reraising = true;
                    Fault::Raised(exception)
                }
                None => self.raise("RuntimeError", "No active exception to reraise"),
            };
        }
        let value = self.pop();
        let exception = match value {
            Value::Exception(exception) => exception,
            Value::Class(class) if class.is_exception => {
                match self.call_now(&Value::Class(class), Vec::new()) {
                    Ok(Value::Exception(exception)) => exception,
                    Ok(_) => return self.type_error("exceptions must derive from BaseException"),
                    Err(fault) => return fault,
                }
            }
            _ => return self.type_error("exceptions must derive from BaseException"),
        };
        if let Some(cause) = cause {
            let old = exception.cause.replace(Some(cause));
            drop(old);
        }
        Fault::Raised(exception)
    }

    fn matches(&mut self, exception: &Rc<Exception>, class: &Value) -> Result<bool, Fault> {
        match class {
            Value::Class(class) if class.is_exception => Ok(derives(&exception.class, class)),
            Value::Tuple(classes) => {
                for class in &classes.items {
                    if self.matches(exception, class)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => {
                let message = "catching classes that do not inherit from BaseException is not \
                               allowed";
                Err(self.type_error(message))
            }
        }
    }

    fn enter_with(&mut self) -> Result<(), Fault> {
        let context = self.pop();
        let missing = |machine: &mut Self, context: &Value| {
            let name = context.type_name();
            let message = format!("'{name}' object does not support the context manager protocol");
            machine.type_error(message)
        };
        if !matches!(context, Value::Instance(_) | Value::Context(_)) {
            return Err(missing(self, &context));
        }
        let exit = match self.attribute(&context, "__exit__") {
            Ok(exit) => exit,
            Err(Fault::Raised(_)) => return Err(missing(self, &context)),
            Err(stop) => return Err(stop),
        };
        let enter = self.attribute(&context, "__enter__")?;
        drop(context);
        self.push(exit);
        let value = self.call_now(&enter, Vec::new())?;
        drop(enter);
        self.push(value);
        Ok(())
    }

    /// The error that the page shows for an exception that nothing caught.
    pub(super) fn describe(&mut self, exception: &Rc<Exception>) -> ScriptError {
        let message = self
            .str(&Value::Exception(Rc::clone(exception)))
            .unwrap_or_default();
        let mut calls = Vec::new();
        let mut entry = exception.traceback.borrow().clone();
        while let Some(traceback) = entry {
            if let Some(frame) = &*traceback.frame.borrow() {
                calls.push((frame.code.name.to_string(), traceback.line));
            }
            entry = traceback.next.borrow().clone();
        }
        let (start, end) = exception.raised_at.get().unwrap_or_default();
        ScriptError {
            position: self.source.position(start, end),
            kind: ScriptErrorKind::Uncaught {
                class: format!("{}{}", exception.class.module, exception.class.name),
                message,
                calls,
            },
        }
    }

    /// `isinstance`.
    pub(crate) fn is_instance(&mut self, value: &Value, class: &Value) -> Result<bool, Fault> {
        Ok(match (value, class) {
            (_, Value::Tuple(classes)) => {
                for class in &classes.items {
                    if self.is_instance(value, class)? {
                        return Ok(true);
                    }
                }
                false
            }
            (Value::Instance(instance), Value::Class(class)) => derives(&instance.class, class),
            (Value::Exception(exception), Value::Class(class)) => derives(&exception.class, class),
            (_, Value::Class(_)) => false,
            (_, Value::Type(kind)) => NativeType::of(value).is_a(*kind),
            _ => {
                let message = "isinstance() arg 2 must be a type, a tuple of types, or a union";
                return Err(self.type_error(message));
            }
        })
    }
}

/// Whether a class is another or derives from it.
pub(crate) fn derives(class: &Rc<Class>, other: &Rc<Class>) -> bool {
    let ancestors = class.bases.borrow();
    Rc::ptr_eq(class, other) || ancestors.iter().any(|base| derives(base, other))
}
