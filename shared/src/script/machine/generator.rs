//! Generators: calls that are put aside at `yield`.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Activation, Fault, Machine, Role};
use crate::script::heap::{Node, NodeId, id_of};
use crate::script::value::{Value, visit_all};

/// A call that can be gone on with; nothing when it has ended or is running.
pub(crate) struct Generator {
    state: RefCell<State>,
}

enum State {
    New(Activation),
    Suspended(Activation),
    Running,
    Ended,
}

impl Node for Generator {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        if let State::New(call) | State::Suspended(call) = &*self.state.borrow() {
            visit(id_of(&call.frame));
            visit_all(&call.stack, visit);
            call.handled.iter().for_each(|it| visit(id_of(it)));
        }
    }

    fn clear(&self) {
        let state = self.state.replace(State::Ended);
        drop(state);
    }
}

impl Machine {
    /// The arguments are bound: the call becomes a generator, the result of the call.
    pub(super) fn start_generator(&mut self) {
        let Some(mut call) = self.activations.pop() else {
            return;
        };
        let boundary = std::mem::replace(&mut call.boundary, true);
        call.role = Role::Generator;
        let generator = Value::Generator(self.heap.track(Generator {
            state: RefCell::new(State::New(call)),
        }));
        if boundary {
            self.returned = Some(generator);
        } else {
            self.push(generator);
        }
    }

    pub(super) fn yield_op(&mut self) {
        let value = self.pop();
        self.returned = Some(value);
        let call = self.activations.pop();
        self.yielded = call;
    }

    /// Goes on with a generator until it yields or ends.
    pub(crate) fn resume(&mut self, generator: &Rc<Generator>) -> Result<Option<Value>, Fault> {
        let state = generator.state.replace(State::Running);
        let call = match state {
            State::New(call) => call,
            State::Suspended(mut call) => {
                // The value of the `yield` expression.
                call.stack.push(Value::None);
                call
            }
            State::Running => {
                return Err(self.raise("ValueError", "generator already executing"));
            }
            State::Ended => {
                generator.state.replace(State::Ended);
                return Ok(None);
            }
        };
        let base = self.activations.len();
        self.activations.push(call);
        let outcome = self.run_above(base);
        let next = match self.yielded.take() {
            Some(call) => State::Suspended(call),
            None => State::Ended,
        };
        generator.state.replace(next);
        outcome
    }
}
