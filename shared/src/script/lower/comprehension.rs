//! Comprehensions: functions of their own, called with the iterator of their first loop.

use ruff_python_ast::{Comprehension, Expr};
use ruff_text_size::Ranged;

use super::{Lowered, Lowering, Unit, scope::key_of};
use crate::script::code::{CodeKind, Op, Parameters};
use std::rc::Rc;

/// What a comprehension makes.
enum Product<'a> {
    List(&'a Expr),
    Set(&'a Expr),
    Dict(&'a Expr, &'a Expr),
    Generator(&'a Expr),
}

impl Lowering<'_> {
    pub(super) fn comprehension(&mut self, expr: &Expr) -> Lowered {
        let (product, loops, name) = match expr {
            Expr::ListComp(it) => (Product::List(&it.elt), &it.generators, "<listcomp>"),
            Expr::SetComp(it) => (Product::Set(&it.elt), &it.generators, "<setcomp>"),
            Expr::Generator(it) => (Product::Generator(&it.elt), &it.generators, "<genexpr>"),
            Expr::DictComp(it) => {
                let Some(key) = &it.key else {
                    return self.unsupported(it, "** in a comprehension", "Name key and value.");
                };
                (Product::Dict(key, &it.value), &it.generators, "<dictcomp>")
            }
            _ => return Ok(()),
        };
        let Some(first) = loops.first() else {
            return Ok(());
        };
        let kind = match product {
            Product::Generator(_) => CodeKind::Generator,
            _ => CodeKind::Comprehension,
        };
        let mut unit = Unit::new(name, kind);
        unit.code.parameters = Parameters {
            names: vec![Rc::from(".0")],
            positional: 1,
            positional_only: 1,
            ..Parameters::default()
        };
        unit.range = (expr.range().start().to_u32(), expr.range().end().to_u32());
        self.units.push(unit);
        self.enter_scope(key_of(expr));
        match product {
            Product::List(_) => drop(self.emit(Op::BuildList(0))),
            Product::Set(_) => drop(self.emit(Op::BuildSet(0))),
            Product::Dict(..) => drop(self.emit(Op::BuildDict(0))),
            Product::Generator(_) => drop(self.emit(Op::StartGenerator)),
        }
        self.loops(loops, 0, &product)?;
        if kind == CodeKind::Generator {
            self.none();
        }
        self.emit(Op::Return);

        let code = self.finish_unit();
        self.emit(Op::Null);
        self.make_function(code, 0, 0);
        self.expression(&first.iter)?;
        self.emit(Op::Iterate);
        self.emit(Op::Call {
            positional: 1,
            keywords: 0,
        });
        Ok(())
    }

    fn loops(&mut self, loops: &[Comprehension], at: usize, product: &Product<'_>) -> Lowered {
        let Some(each) = loops.get(at) else {
            return self.product(product, loops.len() as u8);
        };
        if each.is_async {
            return self.unsupported(each, "async for", "Use for.");
        }
        if at == 0 {
            self.emit(Op::LoadLocal(0));
        } else {
            self.expression(&each.iter)?;
            self.emit(Op::Iterate);
        }
        let again = self.here();
        let ended = self.jump(Op::Next);
        self.store(&each.target)?;
        for test in &each.ifs {
            self.expression(test)?;
            self.emit(Op::JumpIfFalse(again));
        }
        self.loops(loops, at + 1, product)?;
        self.emit(Op::Jump(again));
        self.land(ended);
        Ok(())
    }

    fn product(&mut self, product: &Product<'_>, depth: u8) -> Lowered {
        match product {
            Product::List(item) => {
                self.expression(item)?;
                self.emit(Op::ListAppend(depth + 1));
            }
            Product::Set(item) => {
                self.expression(item)?;
                self.emit(Op::SetAdd(depth + 1));
            }
            Product::Dict(key, value) => {
                self.expression(key)?;
                self.expression(value)?;
                self.emit(Op::DictAdd(depth + 1));
            }
            Product::Generator(item) => {
                self.expression(item)?;
                self.emit(Op::Yield);
                self.emit(Op::Pop);
            }
        }
        Ok(())
    }
}
