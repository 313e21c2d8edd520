//! Variables, and arguments becoming variables.

use std::rc::Rc;

use super::{Fault, Machine, calls::Keywords};
use crate::script::code::{Code, CodeKind, Op};
use crate::script::dict::{Dict, Key};
use crate::script::value::{Frame, Value, VarCell};

impl Machine {
    pub(super) fn variable(&mut self, op: Op) -> Result<(), Fault> {
        match op {
            Op::LoadLocal(slot) => {
                let value = self.top().frame.locals.borrow()[slot as usize].clone();
                match value {
                    Some(value) => self.push(value),
                    None => return Err(self.unbound(slot)),
                }
            }
            Op::StoreLocal(slot) => {
                let value = self.pop();
                let top = self.top();
                let old = top.frame.locals.borrow_mut()[slot as usize].replace(value);
                drop(old);
            }
            Op::DeleteLocal(slot) => {
                let old = self.top().frame.locals.borrow_mut()[slot as usize].take();
                if old.is_none() {
                    return Err(self.unbound(slot));
                }
            }
            Op::LoadClosure(slot) => {
                let cell = self.cell(slot);
                self.push(Value::Cell(cell));
            }
            Op::LoadCell(slot) => {
                let value = self.cell(slot).value.borrow().clone();
                match value {
                    Some(value) => self.push(value),
                    None => return Err(self.unbound(slot)),
                }
            }
            Op::StoreCell(slot) => {
                let value = self.pop();
                let old = self.cell(slot).value.replace(Some(value));
                drop(old);
            }
            Op::DeleteCell(slot) => {
                let old = self.cell(slot).value.take();
                if old.is_none() {
                    return Err(self.unbound(slot));
                }
            }
            other => return self.named(other),
        }
        Ok(())
    }

    fn cell(&mut self, slot: u32) -> Rc<VarCell> {
        let frame = &self.top().frame;
        let locals = frame.locals.borrow();
        let slot = slot as usize;
        match locals.get(slot) {
            Some(Some(Value::Cell(cell))) => Rc::clone(cell),
            _ => Rc::clone(&frame.cells.borrow()[slot.saturating_sub(locals.len())]),
        }
    }

    fn unbound(&mut self, slot: u32) -> Fault {
        let code = Rc::clone(&self.top().frame.code);
        let slot = slot as usize;
        let behind = slot.checked_sub(code.locals.len());
        let name = match behind {
            None => &code.locals[slot],
            Some(cell) => &code.cells[cell],
        };
        if behind.is_some_and(|cell| cell >= code.own_cells) {
            let message = format!(
                "cannot access free variable '{name}' where it is not associated with a value in \
                 enclosing scope"
            );
            return self.raise("NameError", message);
        }
        let message = format!(
            "cannot access local variable '{name}' where it is not associated with a value"
        );
        self.raise("UnboundLocalError", message)
    }

    fn named(&mut self, op: Op) -> Result<(), Fault> {
        let code = Rc::clone(&self.top().frame.code);
        let name = |index: u32| &code.names[index as usize];
        let in_class = code.kind == CodeKind::Class;
        match op {
            Op::LoadName(index) if in_class => {
                let own = self.top().frame.names.borrow().get(name(index)).cloned();
                let value = match own {
                    Some(value) => value,
                    None => self.global(name(index))?,
                };
                self.push(value);
            }
            Op::LoadName(index) | Op::LoadGlobal(index) => {
                let value = self.global(name(index))?;
                self.push(value);
            }
            Op::StoreName(index) if in_class => {
                let value = self.pop();
                let frame = &self.top().frame;
                let old = frame
                    .names
                    .borrow_mut()
                    .insert(Rc::clone(name(index)), value);
                drop(old);
            }
            Op::StoreName(index) | Op::StoreGlobal(index) => {
                let value = self.pop();
                let old = self.globals.insert(Rc::clone(name(index)), value);
                drop(old);
            }
            Op::DeleteName(index) if in_class => {
                let old = self
                    .top()
                    .frame
                    .names
                    .borrow_mut()
                    .shift_remove(name(index));
                drop(old);
            }
            Op::DeleteName(index) | Op::DeleteGlobal(index) => {
                let old = self.globals.shift_remove(name(index));
                if old.is_none() {
                    let message = format!("name '{}' is not defined", name(index));
                    return Err(self.raise("NameError", message));
                }
            }
            Op::Import(index) => {
                let module = self.import(name(index))?;
                self.push(module);
            }
            Op::ImportFrom(index) => {
                let module = self.pop();
                let value = self.attribute(&module, name(index));
                self.push(module);
                let value = value?;
                self.push(value);
            }
            _ => unreachable!("not a variable"),
        }
        Ok(())
    }

    fn global(&mut self, name: &str) -> Result<Value, Fault> {
        if let Some(value) = self.globals.get(name) {
            return Ok(value.clone());
        }
        match self.builtin(name)? {
            Some(value) => Ok(value),
            None => Err(self.raise("NameError", format!("name '{name}' is not defined"))),
        }
    }

    /// Moves arguments into the variables of a new frame.
    pub(super) fn bind(
        &mut self,
        frame: &Rc<Frame>,
        mut args: Vec<Value>,
        names: Keywords,
    ) -> Result<(), Fault> {
        let code = Rc::clone(&frame.code);
        let parameters = &code.parameters;
        let named = names.as_ref().map_or(0, |names| names.len());
        let values = args.split_off(args.len() - named);
        let given = args.len();
        let mut slots: Vec<Option<Value>> = vec![None; parameters.names.len()];
        let rest = (given > parameters.positional).then(|| args.split_off(parameters.positional));
        for (slot, value) in slots.iter_mut().zip(args) {
            *slot = Some(value);
        }
        let rest_slot = parameters.positional + parameters.keyword_only;
        if parameters.rest {
            slots[rest_slot] = Some(self.tuple(rest.unwrap_or_default()));
        } else if rest.is_some() {
            return Err(self.too_many(&code, frame, given));
        }
        let extra = parameters
            .rest_keywords
            .then(|| self.heap.track(Dict::default()));
        for (name, value) in names.iter().flat_map(|names| names.iter()).zip(values) {
            self.bind_keyword(&code, &mut slots, extra.as_ref(), name, value)?;
        }
        if let Some(extra) = extra {
            let at = rest_slot + usize::from(parameters.rest);
            slots[at] = Some(Value::Dict(extra));
        }
        self.fill_defaults(&code, frame, &mut slots)?;
        for slot in &code.cell_parameters {
            let slot = &mut slots[*slot as usize];
            let cell = VarCell {
                value: slot.take().into(),
            };
            *slot = Some(Value::Cell(self.heap.track(cell)));
        }
        let mut locals = frame.locals.borrow_mut();
        for (local, value) in locals.iter_mut().zip(slots) {
            *local = value;
        }
        Ok(())
    }

    fn bind_keyword(
        &mut self,
        code: &Rc<Code>,
        slots: &mut [Option<Value>],
        extra: Option<&Rc<Dict>>,
        name: &Rc<str>,
        value: Value,
    ) -> Result<(), Fault> {
        let parameters = &code.parameters;
        let nameable = parameters.positional + parameters.keyword_only;
        let mut candidates = parameters.names.iter().take(nameable);
        let slot = candidates.position(|parameter| parameter == name);
        match (slot, extra) {
            (Some(slot), _) if slot >= parameters.positional_only => {
                if slots[slot].is_some() {
                    let message =
                        format!("{}() got multiple values for argument '{name}'", code.name);
                    return Err(self.type_error(message));
                }
                slots[slot] = Some(value);
                Ok(())
            }
            (_, Some(extra)) => {
                let key = Key::new(Value::Text(Rc::clone(name)));
                if let Ok(key) = key {
                    extra.entries.borrow_mut().insert(key, value);
                }
                Ok(())
            }
            _ => {
                let message = format!(
                    "{}() got an unexpected keyword argument '{name}'",
                    code.name
                );
                Err(self.type_error(message))
            }
        }
    }

    fn fill_defaults(
        &mut self,
        code: &Rc<Code>,
        frame: &Rc<Frame>,
        slots: &mut [Option<Value>],
    ) -> Result<(), Fault> {
        let parameters = &code.parameters;
        let function = frame.function.borrow();
        let Some(function) = &*function else {
            return Ok(());
        };
        let defaults = function.defaults.borrow();
        let first = parameters.positional - defaults.len().min(parameters.positional);
        let mut missing = Vec::new();
        for (slot, name) in parameters
            .names
            .iter()
            .enumerate()
            .take(parameters.positional)
        {
            if slots[slot].is_none() {
                let default = slot.checked_sub(first).and_then(|at| defaults.get(at));
                slots[slot] = default.cloned();
                if slots[slot].is_none() {
                    missing.push(format!("'{name}'"));
                }
            }
        }
        let kind = if missing.is_empty() {
            "keyword-only"
        } else {
            "positional"
        };
        let keyword_only = parameters.keyword_only;
        let keyword_slots = parameters.positional..parameters.positional + keyword_only;
        if missing.is_empty() {
            let defaults = function.keyword_defaults.borrow();
            for slot in keyword_slots {
                if slots[slot].is_none() {
                    let name = &parameters.names[slot];
                    let default = defaults.iter().find(|(known, _)| known == name);
                    slots[slot] = default.map(|(_, value)| value.clone());
                    if slots[slot].is_none() {
                        missing.push(format!("'{name}'"));
                    }
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let plural = if missing.len() == 1 { "" } else { "s" };
        let message = format!(
            "{}() missing {} required {kind} argument{plural}: {}",
            code.name,
            missing.len(),
            and_list(&missing)
        );
        drop(defaults);
        Err(self.type_error(message))
    }

    fn too_many(&mut self, code: &Rc<Code>, frame: &Rc<Frame>, given: usize) -> Fault {
        let most = code.parameters.positional;
        let defaults = {
            let function = frame.function.borrow();
            function.as_ref().map_or(0, |it| it.defaults.borrow().len())
        };
        let takes = if defaults > 0 {
            format!("from {} to {most}", most - defaults)
        } else {
            most.to_string()
        };
        let plural = if most == 1 && defaults == 0 { "" } else { "s" };
        let was = if given == 1 { "was" } else { "were" };
        let message = format!(
            "{}() takes {takes} positional argument{plural} but {given} {was} given",
            code.name
        );
        self.type_error(message)
    }
}

fn and_list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        [rest @ .., last] => format!("{}, and {last}", rest.join(", ")),
    }
}
