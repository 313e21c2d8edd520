//! Expressions.

use ruff_python_ast::{
    self as ast, Arguments, BoolOp, CmpOp, Expr, ExprCall, ExprCompare, ExprSlice, Number,
};
use ruff_text_size::Ranged;

use num_bigint::BigInt;
use std::rc::Rc;

use super::{Lowered, Lowering};
use crate::script::code::{BinaryOp, CompareOp, Op, UnaryOp};
use crate::script::value::Value;

impl Lowering<'_> {
    pub(super) fn expression(&mut self, expr: &Expr) -> Lowered {
        let before = self.at(expr.range());
        self.expression_inner(expr)?;
        self.back_to(before);
        Ok(())
    }

    fn expression_inner(&mut self, expr: &Expr) -> Lowered {
        match expr {
            Expr::Name(name) => self.load_name(name.id.as_str()),
            Expr::NumberLiteral(it) => self.number(&it.value, it)?,
            Expr::StringLiteral(it) => self.constant(Value::text(it.value.to_str())),
            Expr::BooleanLiteral(it) => self.constant(Value::Bool(it.value)),
            Expr::NoneLiteral(_) => self.none(),
            Expr::EllipsisLiteral(_) => self.constant(Value::Ellipsis),
            Expr::FString(it) => self.f_string(it)?,
            Expr::Attribute(it) => {
                self.expression(&it.value)?;
                let index = self.name_index(it.attr.as_str());
                self.emit(Op::LoadAttribute(index));
            }
            Expr::Subscript(it) => {
                self.expression(&it.value)?;
                self.expression(&it.slice)?;
                self.emit(Op::Subscript);
            }
            Expr::Slice(it) => self.slice(it)?,
            Expr::Call(it) => self.call(it)?,
            Expr::BinOp(it) => {
                self.expression(&it.left)?;
                self.expression(&it.right)?;
                self.emit(Op::Binary(binary_op(it.op)));
            }
            Expr::UnaryOp(it) => {
                self.expression(&it.operand)?;
                self.emit(Op::Unary(match it.op {
                    ast::UnaryOp::Invert => UnaryOp::Invert,
                    ast::UnaryOp::Not => UnaryOp::Not,
                    ast::UnaryOp::UAdd => UnaryOp::Plus,
                    ast::UnaryOp::USub => UnaryOp::Minus,
                }));
            }
            Expr::BoolOp(it) => self.bool_op(it.op, &it.values)?,
            Expr::Compare(it) => self.compare(it)?,
            Expr::If(it) => {
                self.expression(&it.test)?;
                let otherwise = self.jump(Op::JumpIfFalse);
                self.expression(&it.body)?;
                let end = self.jump(Op::Jump);
                self.land(otherwise);
                self.expression(&it.orelse)?;
                self.land(end);
            }
            Expr::Named(it) => {
                self.expression(&it.value)?;
                self.emit(Op::Copy(1));
                self.store(&it.target)?;
            }
            Expr::List(it) => {
                self.sequence(&it.elts, Op::BuildList, Op::ListExtend, Op::ListAppend)?
            }
            Expr::Set(it) => self.sequence(&it.elts, Op::BuildSet, Op::SetUpdate, Op::SetAdd)?,
            Expr::Tuple(it) => {
                if it.elts.iter().any(Expr::is_starred_expr) {
                    self.sequence(&it.elts, Op::BuildList, Op::ListExtend, Op::ListAppend)?;
                    self.emit(Op::ListToTuple);
                } else {
                    self.sequence(&it.elts, Op::BuildTuple, Op::ListExtend, Op::ListAppend)?;
                }
            }
            Expr::Dict(it) => self.dict(it)?,
            Expr::Lambda(it) => self.lambda(it)?,
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.comprehension(expr)?;
            }
            Expr::Yield(it) => {
                if !self.in_function() {
                    return self.syntax_error("'yield' outside function");
                }
                match &it.value {
                    Some(value) => self.expression(value)?,
                    None => self.none(),
                }
                self.emit(Op::Yield);
            }
            Expr::Starred(it) => {
                return self.unsupported(it, "a star here", "Stars stand in calls and lists.");
            }
            Expr::BytesLiteral(it) => {
                return self.unsupported(it, "bytes", "Texts, numbers and tensors are supported.");
            }
            Expr::TString(it) => {
                return self.unsupported(it, "a t-string", "Use an f-string.");
            }
            Expr::Await(it) => {
                return self.unsupported(it, "await", "Call plain functions.");
            }
            Expr::YieldFrom(it) => {
                return self.unsupported(it, "yield from", "Use for and yield.");
            }
            Expr::IpyEscapeCommand(it) => {
                return self.unsupported(it, "a notebook command", "Only Python runs here.");
            }
        }
        Ok(())
    }

    fn number(&mut self, number: &Number, node: &impl Ranged) -> Lowered {
        let value = match number {
            Number::Int(int) => match int.as_i64() {
                Some(small) => Value::Int(small),
                None => {
                    let text = int.to_string();
                    let value = parse_big(&text.replace('_', ""));
                    match value {
                        Some(value) => Value::Big(Rc::new(value)),
                        None => return Err(self.too_large(node)),
                    }
                }
            },
            Number::Float(float) => Value::Float(*float),
            Number::Complex { .. } => {
                return self.unsupported(node, "a complex number", "Use integers and floats.");
            }
        };
        self.constant(value);
        Ok(())
    }

    fn slice(&mut self, it: &ExprSlice) -> Lowered {
        for bound in [&it.lower, &it.upper] {
            match bound {
                Some(bound) => self.expression(bound)?,
                None => self.none(),
            }
        }
        if let Some(step) = &it.step {
            self.expression(step)?;
        }
        self.emit(Op::BuildSlice(it.step.is_some()));
        Ok(())
    }

    fn bool_op(&mut self, op: BoolOp, values: &[Expr]) -> Lowered {
        let Some((last, rest)) = values.split_last() else {
            return Ok(());
        };
        let mut ends = Vec::new();
        for value in rest {
            self.expression(value)?;
            ends.push(self.jump(match op {
                BoolOp::And => Op::JumpIfFalseOrPop,
                BoolOp::Or => Op::JumpIfTrueOrPop,
            }));
        }
        self.expression(last)?;
        ends.into_iter().for_each(|label| self.land(label));
        Ok(())
    }

    fn compare(&mut self, it: &ExprCompare) -> Lowered {
        self.expression(&it.left)?;
        let mut cleanups = Vec::new();
        let last = it.ops.len().saturating_sub(1);
        for (at, (op, right)) in it.ops.iter().zip(&it.comparators).enumerate() {
            self.expression(right)?;
            if at < last {
                self.emit(Op::Swap(2));
                self.emit(Op::Copy(2));
            }
            self.emit(compare_op(*op));
            if at < last {
                cleanups.push(self.jump(Op::JumpIfFalseOrPop));
            }
        }
        if cleanups.is_empty() {
            return Ok(());
        }
        let end = self.jump(Op::Jump);
        cleanups.into_iter().for_each(|label| self.land(label));
        self.emit(Op::Swap(2));
        self.emit(Op::Pop);
        self.land(end);
        Ok(())
    }

    fn sequence(
        &mut self,
        items: &[Expr],
        build: fn(u32) -> Op,
        extend: fn(u8) -> Op,
        append: fn(u8) -> Op,
    ) -> Lowered {
        if !items.iter().any(Expr::is_starred_expr) {
            items.iter().try_for_each(|item| self.expression(item))?;
            self.emit(build(items.len() as u32));
            return Ok(());
        }
        self.emit(build(0));
        for item in items {
            match item {
                Expr::Starred(it) => {
                    self.expression(&it.value)?;
                    self.emit(extend(1));
                }
                other => {
                    self.expression(other)?;
                    self.emit(append(1));
                }
            }
        }
        Ok(())
    }

    fn dict(&mut self, it: &ast::ExprDict) -> Lowered {
        if it.items.iter().all(|item| item.key.is_some()) {
            for item in &it.items {
                if let Some(key) = &item.key {
                    self.expression(key)?;
                }
                self.expression(&item.value)?;
            }
            self.emit(Op::BuildDict(it.items.len() as u32));
            return Ok(());
        }
        self.emit(Op::BuildDict(0));
        for item in &it.items {
            match &item.key {
                Some(key) => {
                    self.expression(key)?;
                    self.expression(&item.value)?;
                    self.emit(Op::DictAdd(1));
                }
                None => {
                    self.expression(&item.value)?;
                    self.emit(Op::DictUpdate(1));
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, it: &ExprCall) -> Lowered {
        let is_super = matches!(&*it.func, Expr::Name(name) if name.id.as_str() == "super");
        if is_super && it.arguments.args.is_empty() && it.arguments.keywords.is_empty() {
            if !self.in_function() {
                return self.syntax_error("super(): no arguments");
            }
            self.emit(Op::LoadSuper);
            return Ok(());
        }
        match &*it.func {
            Expr::Attribute(attribute) => {
                self.expression(&attribute.value)?;
                let before = self.at(attribute.range());
                let index = self.name_index(attribute.attr.as_str());
                self.emit(Op::LoadMethod(index));
                self.back_to(before);
            }
            function => {
                self.emit(Op::Null);
                self.expression(function)?;
            }
        }
        self.arguments(&it.arguments)
    }

    fn arguments(&mut self, it: &Arguments) -> Lowered {
        let spreads = it.args.iter().any(Expr::is_starred_expr)
            || it.keywords.iter().any(|keyword| keyword.arg.is_none());
        if spreads {
            return self.spread_arguments(it);
        }
        it.args.iter().try_for_each(|arg| self.expression(arg))?;
        let mut names: Vec<Rc<str>> = Vec::new();
        for keyword in &it.keywords {
            self.expression(&keyword.value)?;
            if let Some(name) = &keyword.arg {
                names.push(Rc::from(name.as_str()));
            }
        }
        let keywords = if names.is_empty() {
            0
        } else {
            let table = &mut self.unit().code.keywords;
            table.push(Rc::from(names));
            table.len() as u16
        };
        self.emit(Op::Call {
            positional: it.args.len() as u16,
            keywords,
        });
        Ok(())
    }

    fn spread_arguments(&mut self, it: &Arguments) -> Lowered {
        self.emit(Op::BuildList(0));
        for arg in &it.args {
            match arg {
                Expr::Starred(it) => {
                    self.expression(&it.value)?;
                    self.emit(Op::ListExtend(1));
                }
                other => {
                    self.expression(other)?;
                    self.emit(Op::ListAppend(1));
                }
            }
        }
        self.emit(Op::ListToTuple);
        if !it.keywords.is_empty() {
            self.emit(Op::BuildDict(0));
            for keyword in &it.keywords {
                if let Some(name) = &keyword.arg {
                    self.constant(Value::text(name.as_str()));
                    self.expression(&keyword.value)?;
                    self.emit(Op::DictAdd(1));
                } else {
                    self.expression(&keyword.value)?;
                    self.emit(Op::DictMerge(1));
                }
            }
        }
        self.emit(Op::CallSpread(!it.keywords.is_empty()));
        Ok(())
    }
}

fn parse_big(text: &str) -> Option<BigInt> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = if let Some(rest) = lower.strip_prefix("0x") {
        (rest, 16)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (rest, 8)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (rest, 2)
    } else {
        (lower.as_str(), 10)
    };
    // CPython's own limit for decimal literals is 4300 digits.
    if digits.len() > 20_000 {
        return None;
    }
    BigInt::parse_bytes(digits.as_bytes(), radix)
}

pub(super) fn binary_op(op: ast::Operator) -> BinaryOp {
    match op {
        ast::Operator::Add => BinaryOp::Add,
        ast::Operator::Sub => BinaryOp::Sub,
        ast::Operator::Mult => BinaryOp::Mult,
        ast::Operator::MatMult => BinaryOp::MatMult,
        ast::Operator::Div => BinaryOp::Div,
        ast::Operator::Mod => BinaryOp::Mod,
        ast::Operator::Pow => BinaryOp::Pow,
        ast::Operator::LShift => BinaryOp::LShift,
        ast::Operator::RShift => BinaryOp::RShift,
        ast::Operator::BitOr => BinaryOp::BitOr,
        ast::Operator::BitXor => BinaryOp::BitXor,
        ast::Operator::BitAnd => BinaryOp::BitAnd,
        ast::Operator::FloorDiv => BinaryOp::FloorDiv,
    }
}

fn compare_op(op: CmpOp) -> Op {
    match op {
        CmpOp::Eq => Op::Compare(CompareOp::Eq),
        CmpOp::NotEq => Op::Compare(CompareOp::Ne),
        CmpOp::Lt => Op::Compare(CompareOp::Lt),
        CmpOp::LtE => Op::Compare(CompareOp::Le),
        CmpOp::Gt => Op::Compare(CompareOp::Gt),
        CmpOp::GtE => Op::Compare(CompareOp::Ge),
        CmpOp::Is => Op::Is(true),
        CmpOp::IsNot => Op::Is(false),
        CmpOp::In => Op::In(true),
        CmpOp::NotIn => Op::In(false),
    }
}
