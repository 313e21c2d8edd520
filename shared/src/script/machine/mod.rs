//! The machine that runs [`Code`]: one activation per call, each with a stack of its own, so that
//! it can stop at any line and nothing of Python's depth is on ours.

mod attributes;
mod binding;
mod calls;
mod exceptions;
mod execute;
mod generator;
mod operators;
mod subscripts;

use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::code::Code;
use super::error::{Exhausted, ScriptError, ScriptErrorKind};
use super::heap::Heap;
use super::limits::Limits;
use super::source::Source;
use super::torch::Gpu;
use super::value::{Exception, Frame, Names, Value};

pub(super) use calls::lookup;
pub(super) use exceptions::derives;
pub(super) use generator::Generator;
pub(super) use subscripts::Cut;

/// Why an operation has no value.
#[derive(Debug)]
pub(super) enum Fault {
    /// A Python exception.
    Raised(Rc<Exception>),
    /// Something that no script can catch: outside of the playground, or a limit.
    Stop(Box<ScriptError>),
}

impl std::fmt::Debug for Exception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.class.name)
    }
}

/// What a call is for.
pub(super) enum Role {
    Plain,
    /// `__init__`: the instance is the result, and the arguments are held until it has ended.
    Init {
        instance: Value,
        held: Vec<Value>,
    },
    /// A class body, with the bases.
    Class(Vec<Rc<super::value::Class>>),
    Generator,
}

/// One call that has not ended.
pub(super) struct Activation {
    pub(super) stack: Vec<Value>,
    pub(super) frame: Rc<Frame>,
    /// The next instruction.
    pub(super) at: usize,
    pub(super) line: u32,
    /// Handlers: target and height of the stack.
    pub(super) blocks: Vec<(u32, usize)>,
    /// Exceptions being handled, innermost last.
    pub(super) handled: Vec<Rc<Exception>>,
    pub(super) role: Role,
    /// Whether the result goes to our caller and not to the activation below.
    pub(super) boundary: bool,
}

/// A function and the line at which it is, for each call, outermost first.
pub(super) type Calls = Vec<(Rc<str>, u32)>;

pub(super) struct Machine {
    pub(super) source: Rc<Source>,
    pub(super) limits: Limits,
    pub(super) heap: Heap,
    pub(super) gpu: Rc<Gpu>,
    pub(super) globals: Names,
    pub(super) environ: Names,
    pub(super) exceptions: Names,
    pub(super) output: String,
    pub(super) activations: Vec<Activation>,
    /// Where events happened: an index into `places` each.
    pub(super) event_places: Vec<u32>,
    pub(super) places: IndexSet<Calls, FxBuildHasher>,
    pub(super) collects_cycles: bool,
    /// Of the memory, as the script set it.
    pub(super) fraction: f64,
    returned: Option<Value>,
    /// The call that has just yielded.
    yielded: Option<Activation>,
    /// The exception under way goes on after a handler: its traceback has this frame already.
    reraising: bool,
    /// Runs inside one another of the loop below.
    nested: usize,
    pub(super) repr_depth: usize,
    steps: u64,
    /// The exception that ended the script; it keeps what it holds alive.
    uncaught: Option<Rc<Exception>>,
}

/// Runs inside one another that fit on our stack.
const NESTED: usize = 60;

/// What a slice of work came to.
pub(super) enum Progress {
    /// A line is about to be executed.
    AtLine,
    Going,
    Ended,
}

impl Machine {
    pub(super) fn new(source: Rc<Source>, code: Rc<Code>, gpu: Rc<Gpu>, limits: Limits) -> Self {
        let heap = Heap::default();
        let exceptions = super::builtins::exception_classes(&heap);
        let mut machine = Self {
            source,
            limits,
            heap,
            gpu,
            globals: Names::default(),
            environ: Names::default(),
            exceptions,
            output: String::new(),
            activations: Vec::new(),
            event_places: Vec::new(),
            places: IndexSet::default(),
            collects_cycles: true,
            fraction: 1.0,
            returned: None,
            yielded: None,
            reraising: false,
            nested: 0,
            repr_depth: 0,
            steps: 0,
            uncaught: None,
        };
        let name = Value::text("__main__");
        machine.globals.insert(Rc::from("__name__"), name);
        let frame = machine.frame(code, None);
        machine.activate(frame, Role::Plain, true);
        machine
    }

    /// Executes up to `budget` instructions, or up to the next line if `to_line`.
    pub(super) fn advance(&mut self, budget: u64, to_line: bool) -> Result<Progress, ScriptError> {
        for _ in 0..budget {
            let at_line = match self.step() {
                Ok(at_line) => at_line,
                Err(fault) => return Err(self.ended_by(fault)),
            };
            if self.activations.is_empty() {
                return Ok(Progress::Ended);
            }
            if at_line && to_line {
                return Ok(Progress::AtLine);
            }
        }
        Ok(Progress::Going)
    }

    /// Line of the innermost call.
    pub(super) fn line(&self) -> Option<u32> {
        let top = self.activations.last()?;
        Some(top.line)
    }

    /// Executes one instruction, exceptions included; whether it began a line.
    fn step(&mut self) -> Result<bool, Fault> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(self.exhausted(Exhausted::Steps, self.limits.steps));
        }
        let outcome = self.execute();
        self.place_events()?;
        match outcome {
            Ok(at_line) => Ok(at_line),
            Err(Fault::Raised(exception)) => {
                let handled = self.unwind(exception, true);
                self.place_events()?;
                handled.map(|()| false)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Notes for new events which calls they came from.
    fn place_events(&mut self) -> Result<(), Fault> {
        let count = self.gpu.event_count();
        if count == self.event_places.len() {
            return Ok(());
        }
        let calls = self.calls();
        let place = self.places.insert_full(calls).0 as u32;
        self.event_places.resize(count, place);
        if count > self.limits.events {
            return Err(self.exhausted(Exhausted::Events, self.limits.events as u64));
        }
        Ok(())
    }

    pub(super) fn calls(&self) -> Calls {
        let each = self.activations.iter();
        each.map(|it| (Rc::clone(&it.frame.code.name), it.line))
            .collect()
    }

    /// Runs until the activation above `base` has returned.
    fn run_above(&mut self, base: usize) -> Result<Option<Value>, Fault> {
        if self.nested >= NESTED {
            self.activations.truncate(base);
            return Err(self.raise("RecursionError", "maximum recursion depth exceeded"));
        }
        self.nested += 1;
        let outcome = loop {
            if let Err(fault) = self.step() {
                break Err(fault);
            }
            if self.activations.len() <= base {
                break Ok(self.returned.take());
            }
        };
        self.nested -= 1;
        outcome
    }

    pub(super) fn frame(
        &self,
        code: Rc<Code>,
        function: Option<Rc<super::value::Function>>,
    ) -> Rc<Frame> {
        let own = (0..code.own_cells).map(|_| self.heap.track(Default::default()));
        let mut cells: Vec<_> = own.collect();
        if let Some(function) = &function {
            cells.extend(function.closure.borrow().iter().map(Rc::clone));
        }
        self.heap.track(Frame {
            locals: std::cell::RefCell::new(vec![None; code.locals.len()]),
            cells: std::cell::RefCell::new(cells),
            names: Default::default(),
            function: std::cell::RefCell::new(function),
            code,
        })
    }

    pub(super) fn activate(&mut self, frame: Rc<Frame>, role: Role, boundary: bool) {
        self.activations.push(Activation {
            stack: Vec::new(),
            frame,
            at: 0,
            line: 0,
            blocks: Vec::new(),
            handled: Vec::new(),
            role,
            boundary,
        });
    }

    /// Range in the source of the instruction being executed.
    pub(super) fn range(&self) -> (u32, u32) {
        let Some(top) = self.activations.last() else {
            return (0, 0);
        };
        let at = top.at.saturating_sub(1);
        top.frame.code.ranges.get(at).copied().unwrap_or_default()
    }

    pub(super) fn exhausted(&self, exhausted: Exhausted, limit: u64) -> Fault {
        self.stop(ScriptErrorKind::Limit { exhausted, limit })
    }

    pub(super) fn stop(&self, kind: ScriptErrorKind) -> Fault {
        let (start, end) = self.range();
        Fault::Stop(Box::new(ScriptError {
            position: self.source.position(start, end),
            kind,
        }))
    }

    /// Stops: `what` is outside of the playground.
    pub(super) fn unsupported(&self, what: impl Into<String>, instead: &str) -> Fault {
        self.stop(ScriptErrorKind::Unsupported {
            what: what.into(),
            instead: instead.to_owned(),
        })
    }

    /// Refuses a value that would hold too much.
    pub(super) fn check_size(&self, size: u128) -> Result<(), Fault> {
        if size > self.limits.value_size as u128 {
            let limit = self.limits.value_size as u64;
            return Err(self.exhausted(Exhausted::ValueSize, limit));
        }
        if self.heap.count() > self.limits.values * 2 {
            let limit = self.limits.values as u64;
            return Err(self.exhausted(Exhausted::Values, limit));
        }
        Ok(())
    }

    fn ended_by(&mut self, fault: Fault) -> ScriptError {
        match fault {
            Fault::Stop(error) => *error,
            Fault::Raised(exception) => {
                let error = self.describe(&exception);
                self.uncaught = Some(exception);
                error
            }
        }
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").finish_non_exhaustive()
    }
}
