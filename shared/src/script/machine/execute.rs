//! One instruction. References are let go of in the order in which CPython's interpreter does it.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Activation, Fault, Machine, Role};
use crate::script::code::{Conversion, Op, UnaryOp};
use crate::script::dict::{Dict, Key};
use crate::script::value::{Class, Function, List, Slice, Value};

const BALANCED: &str = "lowered code pushes what it pops";

impl Machine {
    pub(super) fn top(&mut self) -> &mut Activation {
        self.activations.last_mut().expect("a call is running")
    }

    pub(super) fn push(&mut self, value: Value) {
        self.top().stack.push(value);
    }

    pub(super) fn pop(&mut self) -> Value {
        self.top().stack.pop().expect(BALANCED)
    }

    pub(super) fn pop_many(&mut self, count: usize) -> Vec<Value> {
        let stack = &mut self.top().stack;
        stack.split_off(stack.len() - count)
    }

    fn peek(&mut self, depth: usize) -> Value {
        let stack = &self.top().stack;
        stack[stack.len() - depth].clone()
    }

    fn name(&mut self, index: u32) -> Rc<str> {
        Rc::clone(&self.top().frame.code.names[index as usize])
    }

    /// Executes the next instruction; whether it began a line.
    pub(super) fn execute(&mut self) -> Result<bool, Fault> {
        let top = self.activations.last_mut().expect("a call is running");
        let op = top.frame.code.ops[top.at];
        top.at += 1;
        match op {
            Op::Line(line) => {
                top.line = line;
                return Ok(true);
            }
            Op::Const(index) => {
                let value = top.frame.code.constants[index as usize].clone();
                top.stack.push(value);
            }
            Op::Null => top.stack.push(Value::Null),
            Op::Pop => drop(self.pop()),
            Op::Copy(depth) => {
                let value = self.peek(depth.into());
                self.push(value);
            }
            Op::Swap(depth) => {
                let last = top.stack.len() - 1;
                top.stack.swap(last, last + 1 - usize::from(depth));
            }
            Op::Jump(target) => top.at = target as usize,
            Op::LoadLocal(_)
            | Op::StoreLocal(_)
            | Op::DeleteLocal(_)
            | Op::LoadCell(_)
            | Op::StoreCell(_)
            | Op::DeleteCell(_)
            | Op::LoadClosure(_)
            | Op::LoadName(_)
            | Op::StoreName(_)
            | Op::DeleteName(_)
            | Op::LoadGlobal(_)
            | Op::StoreGlobal(_)
            | Op::DeleteGlobal(_)
            | Op::Import(_)
            | Op::ImportFrom(_) => self.variable(op)?,
            Op::JumpIfFalse(_)
            | Op::JumpIfTrue(_)
            | Op::JumpIfFalseOrPop(_)
            | Op::JumpIfTrueOrPop(_) => self.branch(op)?,
            Op::Iterate => {
                let value = self.pop();
                let iterator = self.iterate(&value)?;
                drop(value);
                self.push(iterator);
            }
            Op::Next(target) => {
                let iterator = self.peek(1);
                match self.next_item(&iterator)? {
                    Some(item) => self.push(item),
                    None => {
                        drop(iterator);
                        drop(self.pop());
                        self.top().at = target as usize;
                    }
                }
            }
            Op::Unary(_)
            | Op::Binary(_)
            | Op::InPlace(_)
            | Op::Compare(_)
            | Op::Is(_)
            | Op::In(_) => self.operator(op)?,
            Op::Subscript
            | Op::StoreSubscript
            | Op::DeleteSubscript
            | Op::LoadAttribute(_)
            | Op::StoreAttribute(_)
            | Op::DeleteAttribute(_)
            | Op::LoadMethod(_) => self.access(op)?,
            Op::LoadSuper => self.load_super()?,
            Op::Call {
                positional,
                keywords,
            } => self.call_op(positional.into(), keywords.into())?,
            Op::CallSpread(keywords) => self.call_spread(keywords)?,
            Op::MakeFunction { .. } | Op::MakeClass { .. } => self.make(op)?,
            Op::Return => self.return_op()?,
            Op::Yield => self.yield_op(),
            Op::StartGenerator => self.start_generator(),
            Op::PushBlock(_)
            | Op::PushBlockBelow(_)
            | Op::PopBlock
            | Op::PushHandled
            | Op::PopHandled
            | Op::Matches
            | Op::Raise { .. }
            | Op::Reraise
            | Op::AssertionError
            | Op::EnterWith
            | Op::ExitWith => self.exceptional(op)?,
            _ => self.build(op)?,
        }
        Ok(false)
    }

    fn branch(&mut self, op: Op) -> Result<(), Fault> {
        let value = self.pop();
        let truth = match value {
            Value::Bool(truth) => truth,
            ref other => self.truth(other)?,
        };
        match op {
            Op::JumpIfFalse(target) if !truth => self.top().at = target as usize,
            Op::JumpIfTrue(target) if truth => self.top().at = target as usize,
            Op::JumpIfFalseOrPop(target) if !truth => {
                self.top().at = target as usize;
                self.push(value);
            }
            Op::JumpIfTrueOrPop(target) if truth => {
                self.top().at = target as usize;
                self.push(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn operator(&mut self, op: Op) -> Result<(), Fault> {
        if let Op::Unary(op) = op {
            let value = self.pop();
            let result = match op {
                UnaryOp::Not => Value::Bool(!self.truth(&value)?),
                op => self.unary(op, &value)?,
            };
            drop(value);
            self.push(result);
            return Ok(());
        }
        let right = self.pop();
        let left = self.pop();
        let result = match op {
            Op::Binary(op) => self.binary(op, &left, &right),
            Op::InPlace(op) => self.in_place(op, &left, &right),
            Op::Compare(op) => self.compare(op, &left, &right),
            Op::Is(positive) => Ok(Value::Bool(left.is(&right) == positive)),
            Op::In(positive) => self
                .contains(&right, &left)
                .map(|found| Value::Bool(found == positive)),
            _ => unreachable!("not an operator"),
        };
        drop(left);
        drop(right);
        self.push(result?);
        Ok(())
    }

    fn access(&mut self, op: Op) -> Result<(), Fault> {
        match op {
            Op::Subscript => {
                let index = self.pop();
                let container = self.pop();
                let result = self.subscript(&container, &index);
                drop(container);
                drop(index);
                self.push(result?);
            }
            Op::StoreSubscript => {
                let index = self.pop();
                let container = self.pop();
                let value = self.pop();
                let outcome = self.store_subscript(&container, &index, &value);
                drop(value);
                drop(container);
                drop(index);
                outcome?;
            }
            Op::DeleteSubscript => {
                let index = self.pop();
                let container = self.pop();
                let outcome = self.delete_subscript(&container, &index);
                drop(container);
                drop(index);
                outcome?;
            }
            Op::LoadAttribute(name) => {
                let name = self.name(name);
                let owner = self.pop();
                let result = self.attribute(&owner, &name);
                drop(owner);
                self.push(result?);
            }
            Op::StoreAttribute(name) => {
                let name = self.name(name);
                let owner = self.pop();
                let value = self.pop();
                let outcome = self.store_attribute(&owner, &name, value);
                drop(owner);
                outcome?;
            }
            Op::DeleteAttribute(name) => {
                let name = self.name(name);
                let owner = self.pop();
                let outcome = self.delete_attribute(&owner, &name);
                drop(owner);
                outcome?;
            }
            Op::LoadMethod(name) => {
                let name = self.name(name);
                let owner = self.pop();
                let (method, receiver) = self.method(owner, &name)?;
                self.push(method);
                self.push(receiver);
            }
            _ => unreachable!("not an access"),
        }
        Ok(())
    }

    fn build(&mut self, op: Op) -> Result<(), Fault> {
        let value = match op {
            Op::BuildList(count) => {
                let items = self.pop_many(count as usize);
                self.list(items)
            }
            Op::BuildTuple(count) => {
                let items = self.pop_many(count as usize);
                self.tuple(items)
            }
            Op::BuildSet(count) => {
                let items = self.pop_many(count as usize);
                let set = self.heap.track(Dict::default());
                for item in items {
                    let key = self.key(item)?;
                    set.entries.borrow_mut().entry(key).or_insert(Value::None);
                }
                Value::Set(set)
            }
            Op::BuildDict(count) => {
                let mut items = self.pop_many(count as usize * 2).into_iter();
                let dict = self.heap.track(Dict::default());
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    let key = self.key(key)?;
                    dict.entries.borrow_mut().insert(key, value);
                }
                Value::Dict(dict)
            }
            Op::BuildText(count) => {
                let parts = self.pop_many(count as usize);
                let mut text = String::new();
                for part in &parts {
                    if let Value::Text(part) = part {
                        text.push_str(part);
                    }
                }
                self.check_size(text.len() as u128)?;
                Value::text(&text)
            }
            Op::BuildSlice(has_step) => {
                let step = if has_step { self.pop() } else { Value::None };
                let stop = self.pop();
                let start = self.pop();
                Value::Slice(self.heap.track(Slice { start, stop, step }))
            }
            Op::ListToTuple => {
                let list = self.pop();
                let items = match &list {
                    Value::List(list) => list.items.borrow().clone(),
                    _ => Vec::new(),
                };
                let tuple = self.tuple(items);
                drop(list);
                tuple
            }
            Op::Format { conversion, spec } => self.format_op(conversion, spec)?,
            Op::Unpack(count) => return self.unpack(count as usize, None),
            Op::UnpackRest { before, after } => {
                return self.unpack(before as usize, Some(after as usize));
            }
            _ => return self.grow(op),
        };
        self.push(value);
        Ok(())
    }

    fn format_op(&mut self, conversion: Conversion, spec: bool) -> Result<Value, Fault> {
        let spec = if spec { self.pop() } else { Value::text("") };
        let value = self.pop();
        let converted = match conversion {
            Conversion::None => value.clone(),
            Conversion::Str => Value::text(&self.str(&value)?),
            Conversion::Repr | Conversion::Ascii => Value::text(&self.repr(&value)?),
        };
        let text = match &spec {
            Value::Text(spec) => self.format(&converted, spec)?,
            _ => String::new(),
        };
        drop(value);
        Ok(Value::text(&text))
    }

    /// Adds to a container that is being built, `depth` below the popped value.
    fn grow(&mut self, op: Op) -> Result<(), Fault> {
        match op {
            Op::ListAppend(depth) => {
                let item = self.pop();
                if let Value::List(list) = self.peek(depth.into()) {
                    let length = list.items.borrow().len();
                    self.check_size(length as u128 + 1)?;
                    list.items.borrow_mut().push(item);
                }
            }
            Op::SetAdd(depth) => {
                let item = self.pop();
                let key = self.key(item)?;
                if let Value::Set(set) = self.peek(depth.into()) {
                    set.entries.borrow_mut().entry(key).or_insert(Value::None);
                }
            }
            Op::DictAdd(depth) => {
                let value = self.pop();
                let key = self.pop();
                let key = self.key(key)?;
                if let Value::Dict(dict) = self.peek(depth.into()) {
                    let old = dict.entries.borrow_mut().insert(key, value);
                    drop(old);
                }
            }
            Op::ListExtend(depth) | Op::SetUpdate(depth) => {
                let values = self.pop();
                let container = self.peek(depth.into());
                let items = self.collect(&values)?;
                drop(values);
                self.extend(&container, items)?;
            }
            Op::DictUpdate(depth) | Op::DictMerge(depth) => {
                let other = self.pop();
                let container = self.peek(depth.into());
                self.merge_dict(&container, &other, matches!(op, Op::DictMerge(_)))?;
            }
            _ => unreachable!("all instructions are handled"),
        }
        Ok(())
    }

    fn extend(&mut self, container: &Value, items: Vec<Value>) -> Result<(), Fault> {
        match container {
            Value::List(list) => {
                let length = list.items.borrow().len() + items.len();
                self.check_size(length as u128)?;
                list.items.borrow_mut().extend(items);
            }
            Value::Set(set) => {
                for item in items {
                    let key = self.key(item)?;
                    set.entries.borrow_mut().entry(key).or_insert(Value::None);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn merge_dict(&mut self, into: &Value, from: &Value, unique: bool) -> Result<(), Fault> {
        let (Value::Dict(into), Value::Dict(from)) = (into, from) else {
            let name = from.type_name();
            return Err(self.type_error(format!("'{name}' object is not a mapping")));
        };
        let entries: Vec<(Key, Value)> = {
            let from = from.entries.borrow();
            from.iter().map(|(k, v)| (k.clone(), v.clone())).collect()
        };
        for (key, value) in entries {
            if unique && into.entries.borrow().contains_key(&key) {
                let key = self.str(key.value())?;
                let message = format!("got multiple values for keyword argument '{key}'");
                return Err(self.type_error(message));
            }
            let old = into.entries.borrow_mut().insert(key, value);
            drop(old);
        }
        Ok(())
    }

    /// A value as a key of a dict or set.
    pub(crate) fn key(&mut self, value: Value) -> Result<Key, Fault> {
        Key::new(value).map_err(|value| {
            let name = value.type_name();
            self.type_error(format!("unhashable type: '{name}'"))
        })
    }

    fn unpack(&mut self, before: usize, after: Option<usize>) -> Result<(), Fault> {
        let value = self.pop();
        let mut items = self.collect(&value)?;
        let least = before + after.unwrap_or(0);
        if items.len() < least {
            let least = if after.is_some() {
                format!("at least {least}")
            } else {
                least.to_string()
            };
            let message = format!(
                "not enough values to unpack (expected {least}, got {})",
                items.len()
            );
            return Err(self.raise("ValueError", message));
        }
        match after {
            None if items.len() > before => {
                let message = format!("too many values to unpack (expected {before})");
                return Err(self.raise("ValueError", message));
            }
            None => {}
            Some(after) => {
                let tail = items.split_off(items.len() - after);
                let rest = items.split_off(before);
                let rest = self.list(rest);
                items.push(rest);
                items.extend(tail);
            }
        }
        items.reverse();
        self.top().stack.append(&mut items);
        drop(value);
        Ok(())
    }

    fn make(&mut self, op: Op) -> Result<(), Fault> {
        match op {
            Op::MakeFunction {
                code,
                defaults,
                keyword_defaults,
                closure,
            } => {
                let closure = self.pop_closure(closure);
                let mut named = self.pop_many(usize::from(keyword_defaults) * 2).into_iter();
                let mut keywords = Vec::new();
                while let (Some(Value::Text(name)), Some(value)) = (named.next(), named.next()) {
                    keywords.push((name, value));
                }
                let defaults = self.pop_many(defaults.into());
                let code = Rc::clone(&self.top().frame.code.codes[code as usize]);
                let function = self.function(code, closure);
                *function.defaults.borrow_mut() = defaults;
                *function.keyword_defaults.borrow_mut() = keywords;
                self.push(Value::Function(function));
            }
            Op::MakeClass {
                name: _,
                bases,
                code,
                closure,
            } => {
                let closure = self.pop_closure(closure);
                let bases = self.pop_many(bases.into());
                let code = Rc::clone(&self.top().frame.code.codes[code as usize]);
                let bases = self.base_classes(&bases)?;
                let function = self.function(Rc::clone(&code), closure);
                let frame = self.frame(code, Some(function));
                self.activate(frame, Role::Class(bases), false);
            }
            _ => unreachable!("only functions and classes are made"),
        }
        Ok(())
    }

    fn function(
        &mut self,
        code: Rc<crate::script::code::Code>,
        closure: Vec<Rc<crate::script::value::VarCell>>,
    ) -> Rc<Function> {
        self.heap.track(Function {
            code,
            defaults: RefCell::default(),
            keyword_defaults: RefCell::default(),
            closure: RefCell::new(closure),
            owner: RefCell::default(),
        })
    }

    fn pop_closure(&mut self, closure: bool) -> Vec<Rc<crate::script::value::VarCell>> {
        if !closure {
            return Vec::new();
        }
        let Value::Tuple(cells) = self.pop() else {
            return Vec::new();
        };
        let cells = cells.items.iter().filter_map(|cell| match cell {
            Value::Cell(cell) => Some(Rc::clone(cell)),
            _ => None,
        });
        cells.collect()
    }

    fn base_classes(&mut self, bases: &[Value]) -> Result<Vec<Rc<Class>>, Fault> {
        let mut classes = Vec::new();
        for base in bases {
            match base {
                Value::Class(class) => classes.push(Rc::clone(class)),
                Value::Type(kind) if *kind == crate::script::native::NativeType::Object => {}
                other => {
                    let name = self.str(other)?;
                    return Err(self.unsupported(
                        format!("the base class {name}"),
                        "Base classes are classes of the script and exceptions.",
                    ));
                }
            }
        }
        Ok(classes)
    }

    /// All items of an iterable.
    pub(crate) fn collect(&mut self, value: &Value) -> Result<Vec<Value>, Fault> {
        match value {
            Value::List(list) => return Ok(list.items.borrow().clone()),
            Value::Tuple(tuple) => return Ok(tuple.items.clone()),
            _ => {}
        }
        let iterator = self.iterate(value)?;
        let mut items = Vec::new();
        while let Some(item) = self.next_item(&iterator)? {
            items.push(item);
            self.check_size(items.len() as u128)?;
            self.count_work(1)?;
        }
        Ok(items)
    }

    pub(crate) fn new_list(&self, items: Vec<Value>) -> Rc<List> {
        self.heap.track(List {
            items: RefCell::new(items),
        })
    }
}
