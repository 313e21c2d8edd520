//! Assignment, augmented assignment and `del`.

use ruff_python_ast::{Expr, StmtAugAssign};
use ruff_text_size::Ranged;

use super::{Lowered, Lowering, expression::binary_op};
use crate::script::code::Op;

impl Lowering<'_> {
    pub(super) fn assign(&mut self, targets: &[Expr], value: &Expr) -> Lowered {
        self.expression(value)?;
        for (at, target) in targets.iter().enumerate() {
            if at + 1 < targets.len() {
                self.emit(Op::Copy(1));
            }
            self.store(target)?;
        }
        Ok(())
    }

    /// Stores the value on the stack.
    pub(super) fn store(&mut self, target: &Expr) -> Lowered {
        let before = self.at(target.range());
        match target {
            Expr::Name(name) => self.store_name(name.id.as_str()),
            Expr::Attribute(it) => {
                self.expression(&it.value)?;
                let index = self.name_index(it.attr.as_str());
                self.emit(Op::StoreAttribute(index));
            }
            Expr::Subscript(it) => {
                self.expression(&it.value)?;
                self.expression(&it.slice)?;
                self.emit(Op::StoreSubscript);
            }
            Expr::Tuple(it) => self.unpack(&it.elts)?,
            Expr::List(it) => self.unpack(&it.elts)?,
            other => return self.unsupported(other, "this target", "Assign to a name."),
        }
        self.back_to(before);
        Ok(())
    }

    fn unpack(&mut self, targets: &[Expr]) -> Lowered {
        let rest = targets.iter().position(Expr::is_starred_expr);
        self.emit(match rest {
            Some(at) => Op::UnpackRest {
                before: at as u32,
                after: (targets.len() - at - 1) as u32,
            },
            None => Op::Unpack(targets.len() as u32),
        });
        for target in targets {
            match target {
                Expr::Starred(it) => self.store(&it.value)?,
                other => self.store(other)?,
            }
        }
        Ok(())
    }

    pub(super) fn augmented_assign(&mut self, it: &StmtAugAssign) -> Lowered {
        let op = Op::InPlace(binary_op(it.op));
        match &*it.target {
            Expr::Name(name) => {
                self.load_name(name.id.as_str());
                self.expression(&it.value)?;
                self.emit(op);
                self.store_name(name.id.as_str());
            }
            Expr::Attribute(target) => {
                self.expression(&target.value)?;
                let index = self.name_index(target.attr.as_str());
                self.emit(Op::Copy(1));
                self.emit(Op::LoadAttribute(index));
                self.expression(&it.value)?;
                self.emit(op);
                self.emit(Op::Swap(2));
                self.emit(Op::StoreAttribute(index));
            }
            Expr::Subscript(target) => {
                self.expression(&target.value)?;
                self.expression(&target.slice)?;
                self.emit(Op::Copy(2));
                self.emit(Op::Copy(2));
                self.emit(Op::Subscript);
                self.expression(&it.value)?;
                self.emit(op);
                self.emit(Op::Swap(3));
                self.emit(Op::Swap(2));
                self.emit(Op::StoreSubscript);
            }
            other => return self.unsupported(other, "this target", "Assign to a name."),
        }
        Ok(())
    }

    pub(super) fn delete(&mut self, target: &Expr) -> Lowered {
        match target {
            Expr::Name(name) => self.delete_name(name.id.as_str()),
            Expr::Attribute(it) => {
                self.expression(&it.value)?;
                let index = self.name_index(it.attr.as_str());
                self.emit(Op::DeleteAttribute(index));
            }
            Expr::Subscript(it) => {
                self.expression(&it.value)?;
                self.expression(&it.slice)?;
                self.emit(Op::DeleteSubscript);
            }
            Expr::Tuple(it) => return it.elts.iter().try_for_each(|each| self.delete(each)),
            Expr::List(it) => return it.elts.iter().try_for_each(|each| self.delete(each)),
            other => return self.unsupported(other, "this target of del", "Delete a name."),
        }
        Ok(())
    }
}
