//! Integers without bound: `i64` as long as they fit.

use std::rc::Rc;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

use super::code::BinaryOp;
use super::value::Value;

/// What an integer operation can run into.
pub(super) enum IntError {
    ZeroDivision(&'static str),
    NegativeShift,
    /// The result would be too long to work with.
    TooLarge,
}

/// An integer as a number without bound; `None` for other values.
pub(super) fn big(value: &Value) -> Option<BigInt> {
    match value {
        Value::Bool(it) => Some(BigInt::from(u8::from(*it))),
        Value::Int(it) => Some(BigInt::from(*it)),
        Value::Big(it) => Some((**it).clone()),
        _ => None,
    }
}

pub(super) fn from_big(number: BigInt) -> Value {
    match number.to_i64() {
        Some(small) => Value::Int(small),
        None => Value::Big(Rc::new(number)),
    }
}

/// An integer that fits into 64 bits.
pub(super) fn small(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(it) => Some(i64::from(*it)),
        Value::Int(it) => Some(*it),
        _ => None,
    }
}

/// A number as a float.
pub(super) fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(it) => Some(*it),
        Value::Int(it) => Some(*it as f64),
        Value::Bool(it) => Some(f64::from(u8::from(*it))),
        Value::Big(it) => it.to_f64(),
        _ => None,
    }
}

/// `a op b` of two integers whose result is an integer.
pub(super) fn binary(op: BinaryOp, a: &Value, b: &Value) -> Option<Result<Value, IntError>> {
    if let (Some(a), Some(b)) = (small(a), small(b)) {
        let quick = match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Sub => a.checked_sub(b),
            BinaryOp::Mult => a.checked_mul(b),
            BinaryOp::BitAnd => Some(a & b),
            BinaryOp::BitOr => Some(a | b),
            BinaryOp::BitXor => Some(a ^ b),
            BinaryOp::FloorDiv if b > 0 => Some(a.div_euclid(b)),
            BinaryOp::Mod if b > 0 => Some(a.rem_euclid(b)),
            _ => None,
        };
        if let Some(result) = quick {
            return Some(Ok(Value::Int(result)));
        }
    }
    let (a, b) = (big(a)?, big(b)?);
    Some(binary_big(op, &a, &b).map(from_big))
}

fn binary_big(op: BinaryOp, a: &BigInt, b: &BigInt) -> Result<BigInt, IntError> {
    let bits = |number: &BigInt| u128::from(number.bits());
    Ok(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mult => {
            limit(bits(a) + bits(b))?;
            a * b
        }
        BinaryOp::FloorDiv | BinaryOp::Mod if b.is_zero() => {
            return Err(IntError::ZeroDivision(if op == BinaryOp::Mod {
                "integer modulo by zero"
            } else {
                "integer division or modulo by zero"
            }));
        }
        BinaryOp::FloorDiv => a.div_floor(b),
        BinaryOp::Mod => a.mod_floor(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::LShift | BinaryOp::RShift if b.is_negative() => {
            return Err(IntError::NegativeShift);
        }
        BinaryOp::LShift => {
            let by = b.to_u64().unwrap_or(u64::MAX);
            limit(bits(a) + u128::from(by))?;
            a << by
        }
        BinaryOp::RShift => a >> b.to_u64().unwrap_or(u64::MAX).min(1 << 40),
        BinaryOp::Pow => {
            let exponent = b.to_u32().unwrap_or(u32::MAX);
            if bits(a) > 1 {
                limit(bits(a) * u128::from(exponent))?;
            }
            a.pow(if bits(a) > 1 {
                exponent
            } else {
                exponent % 2 + 2
            })
        }
        BinaryOp::Div | BinaryOp::MatMult => BigInt::zero(),
    })
}

fn limit(bits: u128) -> Result<(), IntError> {
    // Beyond it printing alone takes seconds.
    if bits > 200_000 {
        Err(IntError::TooLarge)
    } else {
        Ok(())
    }
}

/// `a op b` where both are integers and so is the result; `/` and negative powers are not.
pub(super) fn binary_if_integral(
    op: BinaryOp,
    a: &Value,
    b: &Value,
) -> Option<Result<Value, IntError>> {
    let integral = |value: &Value| matches!(value, Value::Int(_) | Value::Bool(_) | Value::Big(_));
    if !integral(a) || !integral(b) || matches!(op, BinaryOp::Div | BinaryOp::MatMult) {
        return None;
    }
    if let (Value::Bool(a), Value::Bool(b)) = (a, b) {
        match op {
            BinaryOp::BitAnd => return Some(Ok(Value::Bool(a & b))),
            BinaryOp::BitOr => return Some(Ok(Value::Bool(a | b))),
            BinaryOp::BitXor => return Some(Ok(Value::Bool(a ^ b))),
            _ => {}
        }
    }
    if op == BinaryOp::Pow && big(b).is_some_and(|b| b.is_negative()) {
        return None;
    }
    binary(op, a, b)
}
