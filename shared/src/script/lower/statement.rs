//! Statements other than blocks.

use ruff_python_ast::{Expr, Stmt, StmtImport, StmtImportFrom, StmtRaise};
use ruff_text_size::Ranged;

use super::{Lowered, Lowering};
use crate::script::code::Op;
use crate::script::value::Value;

impl Lowering<'_> {
    pub(super) fn statement(&mut self, statement: &Stmt) -> Lowered {
        let line = self.source.line(statement.range().start().to_u32());
        let before = self.at(statement.range());
        let loops = matches!(statement, Stmt::While(_));
        let silent = matches!(
            statement,
            Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::Try(_) | Stmt::FunctionDef(_)
        );
        if !loops && !silent {
            self.emit(Op::Line(line));
        }
        self.statement_inner(statement, line)?;
        self.back_to(before);
        Ok(())
    }

    fn statement_inner(&mut self, statement: &Stmt, line: u32) -> Lowered {
        match statement {
            Stmt::Expr(it) => {
                self.expression(&it.value)?;
                self.emit(Op::Pop);
                Ok(())
            }
            Stmt::Assign(it) => self.assign(&it.targets, &it.value),
            Stmt::AugAssign(it) => self.augmented_assign(it),
            Stmt::AnnAssign(it) => match &it.value {
                Some(value) => {
                    self.expression(value)?;
                    self.store(&it.target)
                }
                None => Ok(()),
            },
            Stmt::Delete(it) => it.targets.iter().try_for_each(|target| self.delete(target)),
            Stmt::FunctionDef(it) => self.function_definition(it),
            Stmt::ClassDef(it) => self.class_definition(it),
            Stmt::Return(it) => self.return_statement(it.value.as_deref()),
            Stmt::Raise(it) => self.raise_statement(it),
            Stmt::Assert(it) => self.assert_statement(&it.test, it.msg.as_deref()),
            Stmt::If(it) => self.if_statement(it),
            Stmt::For(it) => self.for_statement(it, line),
            Stmt::While(it) => self.while_statement(it, line),
            Stmt::Try(it) => self.try_statement(it),
            Stmt::With(it) => self.with_statement(it),
            Stmt::Break(_) => self.leave_loop(true),
            Stmt::Continue(_) => self.leave_loop(false),
            Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => Ok(()),
            Stmt::Import(it) => self.import_statement(it),
            Stmt::ImportFrom(it) => self.import_from_statement(it),
            Stmt::Match(it) => self.unsupported(it, "match", "Write it as if, elif and else."),
            Stmt::TypeAlias(it) => self.unsupported(it, "type", "Leave type aliases out."),
            Stmt::IpyEscapeCommand(it) => {
                self.unsupported(it, "a notebook command", "Only Python runs here.")
            }
        }
    }

    fn raise_statement(&mut self, it: &StmtRaise) -> Lowered {
        if let Some(exception) = &it.exc {
            self.expression(exception)?;
        }
        if let Some(cause) = &it.cause {
            self.expression(cause)?;
        }
        self.emit(Op::Raise {
            exception: it.exc.is_some(),
            cause: it.cause.is_some(),
        });
        Ok(())
    }

    fn assert_statement(&mut self, test: &Expr, message: Option<&Expr>) -> Lowered {
        self.expression(test)?;
        let fine = self.jump(Op::JumpIfTrue);
        self.emit(Op::AssertionError);
        if let Some(message) = message {
            self.expression(message)?;
            self.emit(Op::Call {
                positional: 1,
                keywords: 0,
            });
        } else {
            self.emit(Op::Call {
                positional: 0,
                keywords: 0,
            });
        }
        self.emit(Op::Raise {
            exception: true,
            cause: false,
        });
        self.land(fine);
        Ok(())
    }

    fn import_statement(&mut self, it: &StmtImport) -> Lowered {
        for alias in &it.names {
            let name = alias.name.as_str();
            self.check_module(name, alias)?;
            let index = self.name_index(name);
            self.emit(Op::Import(index));
            match &alias.asname {
                Some(short) => self.store_name(short.as_str()),
                // `import torch.cuda` binds `torch`.
                None => {
                    let top = name.split('.').next().unwrap_or(name);
                    if top != name {
                        self.emit(Op::Pop);
                        let index = self.name_index(top);
                        self.emit(Op::Import(index));
                    }
                    self.store_name(top);
                }
            }
        }
        Ok(())
    }

    fn import_from_statement(&mut self, it: &StmtImportFrom) -> Lowered {
        let module = it.module.as_ref().map_or("", |module| module.as_str());
        self.check_module(module, it)?;
        let index = self.name_index(module);
        self.emit(Op::Import(index));
        for alias in &it.names {
            if alias.name.as_str() == "*" {
                return self.unsupported(it, "import *", "Name what you import.");
            }
            let index = self.name_index(alias.name.as_str());
            self.emit(Op::ImportFrom(index));
            self.store_name(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
        }
        self.emit(Op::Pop);
        Ok(())
    }

    fn check_module(&self, name: &str, node: &impl Ranged) -> Lowered {
        if crate::script::builtins::is_module(name) || name == "__future__" {
            return Ok(());
        }
        let instead = if name.starts_with("torch") {
            "Of PyTorch there is torch and torch.cuda; record whole models on a GPU and open the \
             recording."
        } else {
            "Modules that can be imported: torch, torch.cuda, os, gc, sys and math."
        };
        self.unsupported(node, &format!("the module {name}"), instead)
    }

    pub(super) fn none(&mut self) {
        self.constant(Value::None);
    }
}
