//! Loops, `try`, `with` and the ways out of them. Each way out unwinds the blocks around it, as
//! CPython's compiler does.

use ruff_python_ast::{
    ElifElseClause, ExceptHandler, ExceptHandlerExceptHandler, Expr, Stmt, StmtFor, StmtIf,
    StmtTry, StmtWhile, StmtWith, WithItem,
};
use ruff_text_size::Ranged;

use super::{Label, Lowered, Lowering};
use crate::script::code::Op;

/// A block that is open where an instruction stands.
pub(super) enum Block {
    /// A loop: jumps out of it, where it begins again, and whether its iterator is on the stack.
    Loop {
        breaks: Vec<Label>,
        again: u32,
        iterator: bool,
    },
    /// The body of `try`.
    Try,
    /// The body of `try` with `finally`: what runs on every way out.
    Finally(Vec<Stmt>),
    /// The exceptional run of `finally`: an exception is on the stack.
    FinallyRun,
    /// The body of `with`: the exit function is on the stack.
    With,
    /// The body of `except`, with the name that it ends.
    Handler(Option<String>),
}

impl Lowering<'_> {
    pub(super) fn if_statement(&mut self, it: &StmtIf) -> Lowered {
        self.branch(&it.test, &it.body, &it.elif_else_clauses)
    }

    fn branch(&mut self, test: &Expr, body: &[Stmt], clauses: &[ElifElseClause]) -> Lowered {
        self.expression(test)?;
        let otherwise = self.jump(Op::JumpIfFalse);
        self.body(body)?;
        let Some((first, rest)) = clauses.split_first() else {
            self.land(otherwise);
            return Ok(());
        };
        let end = self.jump(Op::Jump);
        self.land(otherwise);
        match &first.test {
            Some(test) => {
                let line = self.source.line(first.range().start().to_u32());
                let before = self.at(test.range());
                self.emit(Op::Line(line));
                self.branch(test, &first.body, rest)?;
                self.back_to(before);
            }
            None => self.body(&first.body)?,
        }
        self.land(end);
        Ok(())
    }

    pub(super) fn for_statement(&mut self, it: &StmtFor, line: u32) -> Lowered {
        if it.is_async {
            return self.unsupported(it, "async for", "Use for.");
        }
        self.expression(&it.iter)?;
        self.emit(Op::Iterate);
        let again = self.here();
        let ended = self.jump(Op::Next);
        self.store(&it.target)?;
        self.unit().blocks.push(Block::Loop {
            breaks: Vec::new(),
            again,
            iterator: true,
        });
        self.body(&it.body)?;
        // The line of `for` is lit again for each item.
        self.emit(Op::Line(line));
        self.emit(Op::Jump(again));
        let block = self.unit().blocks.pop();
        self.land(ended);
        self.end_loop(block, &it.orelse)
    }

    pub(super) fn while_statement(&mut self, it: &StmtWhile, line: u32) -> Lowered {
        let again = self.here();
        self.emit(Op::Line(line));
        self.expression(&it.test)?;
        let ended = self.jump(Op::JumpIfFalse);
        self.unit().blocks.push(Block::Loop {
            breaks: Vec::new(),
            again,
            iterator: false,
        });
        self.body(&it.body)?;
        self.emit(Op::Jump(again));
        let block = self.unit().blocks.pop();
        self.land(ended);
        self.end_loop(block, &it.orelse)
    }

    fn end_loop(&mut self, block: Option<Block>, otherwise: &[Stmt]) -> Lowered {
        self.body(otherwise)?;
        if let Some(Block::Loop { breaks, .. }) = block {
            breaks.into_iter().for_each(|label| self.land(label));
        }
        Ok(())
    }

    /// `break` or `continue`.
    pub(super) fn leave_loop(&mut self, breaks: bool) -> Lowered {
        let mut blocks = self.unit().blocks.iter();
        let loops = blocks.rposition(|block| matches!(block, Block::Loop { .. }));
        let Some(inner) = loops else {
            let word = if breaks { "break" } else { "continue" };
            return self.syntax_error(&format!("'{word}' outside loop"));
        };
        self.unwind_to(inner + 1, false)?;
        let Some(Block::Loop {
            again, iterator, ..
        }) = self.unit().blocks.get(inner)
        else {
            return Ok(());
        };
        let (again, iterator) = (*again, *iterator);
        if !breaks {
            self.emit(Op::Jump(again));
            return Ok(());
        }
        if iterator {
            self.emit(Op::Pop);
        }
        let label = self.jump(Op::Jump);
        if let Some(Block::Loop { breaks, .. }) = self.unit().blocks.get_mut(inner) {
            breaks.push(label);
        }
        Ok(())
    }

    pub(super) fn return_statement(&mut self, value: Option<&Expr>) -> Lowered {
        if !self.in_function() {
            return self.syntax_error("'return' outside function");
        }
        match value {
            Some(value) => self.expression(value)?,
            None => self.none(),
        }
        self.unwind_to(0, true)?;
        self.emit(Op::Return);
        Ok(())
    }

    /// Leaves the blocks from the innermost down to `depth`, with a value on top of the stack if
    /// `keeps_top`.
    fn unwind_to(&mut self, depth: usize, keeps_top: bool) -> Lowered {
        let mut left = Vec::new();
        while self.unit().blocks.len() > depth {
            let Some(block) = self.unit().blocks.pop() else {
                break;
            };
            self.leave_block(&block, keeps_top)?;
            left.push(block);
        }
        self.unit().blocks.extend(left.into_iter().rev());
        Ok(())
    }

    fn leave_block(&mut self, block: &Block, keeps_top: bool) -> Lowered {
        match block {
            Block::Loop { iterator: true, .. } => self.pop_below(keeps_top),
            Block::Loop { .. } => {}
            Block::Try => {
                self.emit(Op::PopBlock);
            }
            Block::Finally(body) => {
                self.emit(Op::PopBlock);
                self.body(body)?;
            }
            Block::FinallyRun => {
                self.pop_below(keeps_top);
                self.emit(Op::PopBlock);
                self.emit(Op::PopHandled);
            }
            Block::With => {
                self.emit(Op::PopBlock);
                if keeps_top {
                    self.emit(Op::Swap(2));
                }
                self.call_exit();
            }
            Block::Handler(name) => {
                self.emit(Op::PopBlock);
                self.emit(Op::PopHandled);
                self.end_name(name.as_deref());
            }
        }
        Ok(())
    }

    fn pop_below(&mut self, keeps_top: bool) {
        if keeps_top {
            self.emit(Op::Swap(2));
        }
        self.emit(Op::Pop);
    }

    fn end_name(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.none();
            self.store_name(name);
            self.delete_name(name);
        }
    }

    pub(super) fn try_statement(&mut self, it: &StmtTry) -> Lowered {
        if it.is_star {
            return self.unsupported(it, "except*", "Use except.");
        }
        if it.finalbody.is_empty() {
            return self.try_except(it);
        }
        let guard = self.jump(Op::PushBlock);
        let block = Block::Finally(it.finalbody.to_vec());
        self.unit().blocks.push(block);
        if it.handlers.is_empty() {
            self.body(&it.body)?;
        } else {
            self.try_except(it)?;
        }
        self.unit().blocks.pop();
        self.emit(Op::PopBlock);
        self.body(&it.finalbody)?;
        let end = self.jump(Op::Jump);

        self.land(guard);
        self.emit(Op::PushHandled);
        let cleanup = self.jump(Op::PushBlockBelow);
        self.unit().blocks.push(Block::FinallyRun);
        self.body(&it.finalbody)?;
        self.unit().blocks.pop();
        self.emit(Op::PopBlock);
        self.emit(Op::PopHandled);
        self.emit(Op::Reraise);
        self.land(cleanup);
        self.clean_up_handler();
        self.land(end);
        Ok(())
    }

    /// An exception in a handler: the handled one is done with, the new one goes on.
    fn clean_up_handler(&mut self) {
        self.emit(Op::PopHandled);
        self.emit(Op::Reraise);
    }

    fn try_except(&mut self, it: &StmtTry) -> Lowered {
        let guard = self.jump(Op::PushBlock);
        self.unit().blocks.push(Block::Try);
        self.body(&it.body)?;
        self.unit().blocks.pop();
        self.emit(Op::PopBlock);
        self.body(&it.orelse)?;
        let mut ends = vec![self.jump(Op::Jump)];

        self.land(guard);
        self.emit(Op::PushHandled);
        let cleanup = self.jump(Op::PushBlockBelow);
        for handler in &it.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            ends.extend(self.handler(handler)?);
        }
        self.emit(Op::PopBlock);
        self.emit(Op::PopHandled);
        self.emit(Op::Reraise);
        self.land(cleanup);
        self.clean_up_handler();
        ends.into_iter().for_each(|label| self.land(label));
        Ok(())
    }

    /// One `except`; returns the jump to the end of the statement.
    fn handler(
        &mut self,
        it: &ExceptHandlerExceptHandler,
    ) -> Result<Option<Label>, super::ScriptError> {
        let before = self.at(it.range);
        let line = self.source.line(it.range.start().to_u32());
        self.emit(Op::Line(line));
        let mut next = None;
        if let Some(class) = &it.type_ {
            self.expression(class)?;
            self.emit(Op::Matches);
            next = Some(self.jump(Op::JumpIfFalse));
        }
        let name = it.name.as_ref().map(|name| name.as_str().to_owned());
        match &name {
            Some(name) => self.store_name(name),
            None => {
                self.emit(Op::Pop);
            }
        }
        let cleanup = name.is_some().then(|| self.jump(Op::PushBlock));
        // The block around all handlers is left as well, by `Handler`.
        self.unit().blocks.push(Block::Handler(name.clone()));
        if cleanup.is_some() {
            self.unit().blocks.push(Block::Try);
        }
        self.body(&it.body)?;
        if cleanup.is_some() {
            self.unit().blocks.pop();
            self.emit(Op::PopBlock);
        }
        self.unit().blocks.pop();
        self.emit(Op::PopBlock);
        self.emit(Op::PopHandled);
        self.end_name(name.as_deref());
        let end = self.jump(Op::Jump);
        if let Some(cleanup) = cleanup {
            self.land(cleanup);
            self.end_name(name.as_deref());
            self.emit(Op::Reraise);
        }
        if let Some(next) = next {
            self.land(next);
        }
        self.back_to(before);
        Ok(Some(end))
    }

    pub(super) fn with_statement(&mut self, it: &StmtWith) -> Lowered {
        if it.is_async {
            return self.unsupported(it, "async with", "Use with.");
        }
        self.with_items(&it.items, &it.body)
    }

    fn with_items(&mut self, items: &[WithItem], body: &[Stmt]) -> Lowered {
        let Some((item, rest)) = items.split_first() else {
            return self.body(body);
        };
        let before = self.at(item.context_expr.range());
        self.expression(&item.context_expr)?;
        self.emit(Op::EnterWith);
        let guard = self.jump(Op::PushBlockBelow);
        // The value of the context stays above the exit function until it is stored.
        match &item.optional_vars {
            Some(target) => self.store(target)?,
            None => {
                self.emit(Op::Pop);
            }
        }
        self.back_to(before);
        self.unit().blocks.push(Block::With);
        self.with_items(rest, body)?;
        self.unit().blocks.pop();
        let before = self.at(item.context_expr.range());
        self.emit(Op::PopBlock);
        self.call_exit();
        let end = self.jump(Op::Jump);

        self.land(guard);
        self.emit(Op::PushHandled);
        let cleanup = self.jump(Op::PushBlockBelow);
        self.emit(Op::ExitWith);
        let swallowed = self.jump(Op::JumpIfTrue);
        self.emit(Op::PopBlock);
        self.emit(Op::PopHandled);
        self.emit(Op::Reraise);
        self.land(cleanup);
        self.clean_up_handler();
        self.land(swallowed);
        // The exception, then the exit function.
        self.emit(Op::Pop);
        self.emit(Op::PopBlock);
        self.emit(Op::PopHandled);
        self.emit(Op::Pop);
        self.land(end);
        self.back_to(before);
        Ok(())
    }

    /// Calls the exit function on the stack without an exception.
    fn call_exit(&mut self) {
        self.emit(Op::Null);
        self.emit(Op::Swap(2));
        for _ in 0..3 {
            self.none();
        }
        self.emit(Op::Call {
            positional: 3,
            keywords: 0,
        });
        self.emit(Op::Pop);
    }
}
