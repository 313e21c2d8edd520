//! Elementwise functions and methods: one result each, none in place (`…_`).

use std::rc::Rc;

use super::arithmetic::Kind;
use crate::script::builtins::table;
use crate::script::machine::Machine;
use crate::script::native::{Args, MethodFn, Native, Outcome, Table};
use crate::script::value::Value;

macro_rules! functions {
    ($($name:literal => $function:ident),* $(,)?) => {
        table![$($name => $function),*]
    };
}

pub(super) const TABLE: Table = functions![
    "abs" => same, "absolute" => same, "neg" => same, "negative" => same, "sign" => same,
    "floor" => same, "ceil" => same, "round" => same, "trunc" => same, "frac" => same,
    "relu" => same, "square" => same, "clamp" => clamp, "clip" => clamp,
    "bitwise_not" => same, "exp" => float, "exp2" => float, "expm1" => float, "log" => float,
    "log2" => float, "log10" => float, "log1p" => float, "sqrt" => float, "rsqrt" => float,
    "sin" => float, "cos" => float, "tan" => float, "tanh" => float, "sigmoid" => float,
    "erf" => float, "reciprocal" => float, "logical_not" => boolean, "isnan" => isnan,
    "add" => same, "sub" => same, "subtract" => same, "mul" => same, "multiply" => same,
    "maximum" => same, "minimum" => same, "pow" => same, "remainder" => same, "fmod" => same,
    "floor_divide" => same, "div" => float, "divide" => float, "true_divide" => float,
    "atan2" => float, "bitwise_and" => same, "bitwise_or" => same, "bitwise_xor" => same,
    "eq" => boolean, "ne" => boolean, "lt" => boolean, "le" => boolean, "gt" => boolean,
    "ge" => boolean, "logical_and" => boolean, "logical_or" => boolean,
    "logical_xor" => boolean, "clone" => clone,
];

fn apply(machine: &mut Machine, args: &Args, kind: Kind) -> Outcome {
    let refused = args
        .keywords
        .iter()
        .find(|(name, _)| !matches!(&**name, "alpha" | "other" | "input"));
    if let Some((name, _)) = refused {
        return Err(machine.unsupported(
            format!("{name}= of an elementwise function"),
            "Give the operands; alpha= is allowed.",
        ));
    }
    let mut operands: Vec<&Value> = args.positional.iter().collect();
    operands.extend(args.keyword("other"));
    if !operands.iter().any(|it| matches!(it, Value::Tensor(_))) {
        machine.tensor_argument("elementwise", operands.first().copied())?;
    }
    machine.elementwise(&operands, kind)
}

fn same(machine: &mut Machine, args: &Args) -> Outcome {
    apply(machine, args, Kind::Same)
}

fn float(machine: &mut Machine, args: &Args) -> Outcome {
    apply(machine, args, Kind::Float)
}

fn boolean(machine: &mut Machine, args: &Args) -> Outcome {
    apply(machine, args, Kind::Bool)
}

/// `self != self`.
fn isnan(machine: &mut Machine, args: &Args) -> Outcome {
    apply(machine, args, Kind::Bool)
}

fn clamp(machine: &mut Machine, args: &Args) -> Outcome {
    let tensor = Rc::clone(machine.tensor_argument("clamp", args.positional.first())?);
    machine.elementwise(&[&Value::Tensor(tensor)], Kind::Same)
}

fn clone(machine: &mut Machine, args: &Args) -> Outcome {
    let tensor = machine.tensor_argument("clone", args.positional.first())?;
    machine.copy_of(&Rc::clone(tensor))
}

/// Functions that are not methods under the same name, or have methods of their own elsewhere.
const NOT_METHODS: [&str; 1] = ["clone"];

pub(super) fn method(name: &str) -> Option<MethodFn> {
    if let Some(base) = name.strip_suffix('_') {
        return in_place(base);
    }
    let native = TABLE.iter().find(|native| native.name == name)?;
    if NOT_METHODS.contains(&name) {
        return None;
    }
    Some(match kind_of(native) {
        Kind::Same if matches!(name, "clamp" | "clip") => clamp_method,
        Kind::Same => |m, s, a| method_of(m, s, a, Kind::Same),
        Kind::Float => |m, s, a| method_of(m, s, a, Kind::Float),
        Kind::Bool => |m, s, a| method_of(m, s, a, Kind::Bool),
    })
}

fn kind_of(native: &Native) -> Kind {
    match native.name {
        "div" | "divide" | "true_divide" | "exp" | "exp2" | "expm1" | "log" | "log2" | "log10"
        | "log1p" | "sqrt" | "rsqrt" | "sin" | "cos" | "tan" | "tanh" | "sigmoid" | "erf"
        | "reciprocal" | "atan2" => Kind::Float,
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "logical_and" | "logical_or" | "logical_xor"
        | "logical_not" | "isnan" => Kind::Bool,
        _ => Kind::Same,
    }
}

fn method_of(machine: &mut Machine, receiver: &Value, args: &Args, kind: Kind) -> Outcome {
    let mut operands = vec![receiver];
    operands.extend(&args.positional);
    operands.extend(args.keyword("other"));
    machine.elementwise(&operands, kind)
}

fn clamp_method(machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    machine.elementwise(&[receiver], Kind::Same)
}

fn in_place(base: &str) -> Option<MethodFn> {
    if matches!(
        base,
        "zero" | "fill" | "normal" | "uniform" | "random" | "exponential" | "clamp" | "clip"
    ) {
        return Some(|machine, receiver, _args| {
            let Value::Tensor(tensor) = receiver else {
                return Ok(Value::None);
            };
            machine.write_into(tensor, &[], Kind::Same)
        });
    }
    let native = TABLE.iter().find(|native| native.name == base)?;
    if NOT_METHODS.contains(&base) {
        return None;
    }
    Some(match kind_of(native) {
        Kind::Same => |m, s, a| write(m, s, a, Kind::Same),
        Kind::Float => |m, s, a| write(m, s, a, Kind::Float),
        Kind::Bool => |m, s, a| write(m, s, a, Kind::Bool),
    })
}

fn write(machine: &mut Machine, receiver: &Value, args: &Args, kind: Kind) -> Outcome {
    let Value::Tensor(tensor) = receiver else {
        return Ok(Value::None);
    };
    let mut others: Vec<&Value> = args.positional.iter().collect();
    others.extend(args.keyword("other"));
    machine.write_into(tensor, &others, kind)
}
