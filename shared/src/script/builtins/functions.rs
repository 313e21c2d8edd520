//! Python's builtin functions, and those of `os`, `gc`, `sys` and `math`.

use std::cmp::Ordering;
use std::rc::Rc;

use num_traits::Signed;

use super::exceptions::stop_iteration;
use crate::script::code::{BinaryOp, CompareOp};
use crate::script::error::Exhausted;
use crate::script::int;
use crate::script::iterator::State;
use crate::script::machine::{Fault, Machine, derives};
use crate::script::native::{Args, Native, NativeType, Outcome, Table};
use crate::script::value::Value;

macro_rules! table {
    ($($name:literal => $function:path),* $(,)?) => {
        &[$(Native { name: $name, call: $function }),*]
    };
}
pub(crate) use table;

pub(super) const TABLE: Table = table![
    "print" => print, "len" => len, "min" => min, "max" => max, "sum" => sum,
    "enumerate" => enumerate, "zip" => zip, "map" => map, "filter" => filter, "iter" => iter,
    "next" => next, "reversed" => reversed, "sorted" => sorted, "any" => any, "all" => all,
    "abs" => abs, "round" => round, "divmod" => divmod, "pow" => pow, "isinstance" => isinstance,
    "issubclass" => issubclass, "hasattr" => hasattr, "getattr" => getattr, "setattr" => setattr,
    "id" => id, "repr" => repr, "format" => format, "callable" => callable, "ord" => ord,
    "chr" => chr, "hex" => hex, "bin" => bin, "oct" => oct, "hash" => hash,
];

pub(super) const OS: Table = table!["getenv" => getenv];
pub(super) const GC: Table = table![
    "collect" => collect, "disable" => gc_disable, "enable" => gc_enable,
    "isenabled" => gc_isenabled, "freeze" => nothing,
];
pub(super) const SYS: Table = table![
    "getrefcount" => getrefcount, "getrecursionlimit" => getrecursionlimit,
];
pub(super) const MATH: Table = table![
    "sqrt" => sqrt, "ceil" => ceil, "floor" => floor, "log2" => log2, "log" => log,
    "prod" => prod, "gcd" => gcd, "exp" => exp, "log10" => log10,
];

fn print(machine: &mut Machine, args: &Args) -> Outcome {
    let option = |machine: &mut Machine, name: &str, default: &str| match args.keyword(name) {
        None | Some(Value::None) => Ok(default.to_owned()),
        Some(value) => machine.str(value),
    };
    if args.keyword("file").is_some() {
        return Err(machine.unsupported("print to a file", "print writes to the output."));
    }
    let separator = option(machine, "sep", " ")?;
    let end = option(machine, "end", "\n")?;
    let mut line = String::new();
    for (at, value) in args.positional.iter().enumerate() {
        if at > 0 {
            line.push_str(&separator);
        }
        line.push_str(&machine.str(value)?);
    }
    line.push_str(&end);
    let limit = machine.limits.output_bytes;
    if machine.output.len() + line.len() > limit {
        return Err(machine.exhausted(Exhausted::Output, limit as u64));
    }
    machine.output.push_str(&line);
    Ok(Value::None)
}

fn len(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("len", args, 1..=1, &[])?;
    let value = &args.positional[0];
    match machine.length(value)? {
        Some(length) => Ok(Value::Int(length as i64)),
        None => {
            let name = value.type_name();
            Err(machine.type_error(format!("object of type '{name}' has no len()")))
        }
    }
}

fn min(machine: &mut Machine, args: &Args) -> Outcome {
    extreme(machine, args, "min", CompareOp::Lt)
}

fn max(machine: &mut Machine, args: &Args) -> Outcome {
    extreme(machine, args, "max", CompareOp::Gt)
}

fn extreme(machine: &mut Machine, args: &Args, name: &str, op: CompareOp) -> Outcome {
    let items = match args.positional.as_slice() {
        [] => {
            let message = format!("{name} expected at least 1 argument, got 0");
            return Err(machine.type_error(message));
        }
        [only] => machine.collect(only)?,
        several => several.to_vec(),
    };
    let key = args
        .keyword("key")
        .filter(|key| !matches!(key, Value::None));
    let mut best: Option<(Value, Value)> = None;
    for item in items {
        let rank = match key {
            Some(key) => machine.call_now(key, vec![item.clone()])?,
            None => item.clone(),
        };
        let better = match &best {
            None => true,
            Some((_, best)) => {
                let verdict = machine.compare(op, &rank, best)?;
                machine.truth(&verdict)?
            }
        };
        if better {
            best = Some((item, rank));
        }
    }
    match (best, args.keyword("default")) {
        (Some((item, _)), _) => Ok(item),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => {
            let message = format!("{name}() iterable argument is empty");
            Err(machine.raise("ValueError", message))
        }
    }
}

fn sum(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("sum", args, 1..=2, &["start"])?;
    let mut total = args.get(1, "start").cloned().unwrap_or(Value::Int(0));
    let iterator = machine.iterate(&args.positional[0])?;
    while let Some(item) = machine.next_item(&iterator)? {
        machine.count_work(1)?;
        let next = machine.binary(BinaryOp::Add, &total, &item)?;
        total = next;
        drop(item);
    }
    Ok(total)
}

fn enumerate(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("enumerate", args, 1..=2, &["start"])?;
    let start = match args.get(1, "start") {
        Some(start) => machine.whole(start)?,
        None => 0,
    };
    let inner = machine.iterate(&args.positional[0])?;
    let last = machine.raw_tuple(vec![Value::None, Value::None]);
    Ok(machine.iterator(State::Enumerate(inner, start, last)))
}

fn zip(machine: &mut Machine, args: &Args) -> Outcome {
    let mut inner = Vec::new();
    for value in &args.positional {
        inner.push(machine.iterate(value)?);
    }
    let last = machine.raw_tuple(vec![Value::None; inner.len()]);
    Ok(machine.iterator(State::Zip(inner, last)))
}

fn map(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("map", args, 2..=64, &[])?;
    let mut inner = Vec::new();
    for value in &args.positional[1..] {
        inner.push(machine.iterate(value)?);
    }
    Ok(machine.iterator(State::Map(args.positional[0].clone(), inner)))
}

fn filter(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("filter", args, 2..=2, &[])?;
    let inner = machine.iterate(&args.positional[1])?;
    Ok(machine.iterator(State::Filter(args.positional[0].clone(), inner)))
}

fn iter(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("iter", args, 1..=1, &[])?;
    machine.iterate(&args.positional[0])
}

fn next(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("next", args, 1..=2, &[])?;
    match (
        machine.next_item(&args.positional[0])?,
        args.positional.get(1),
    ) {
        (Some(item), _) => Ok(item),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err(stop_iteration(machine)),
    }
}

fn reversed(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("reversed", args, 1..=1, &[])?;
    let list = match &args.positional[0] {
        Value::List(list) => Rc::clone(list),
        other => {
            let items = machine.collect(other)?;
            machine.new_list(items)
        }
    };
    let length = list.items.borrow().len();
    Ok(machine.iterator(State::ListBack(list, length)))
}

fn sorted(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("sorted", args, 1..=3, &["key", "reverse"])?;
    let items = machine.collect(&args.positional[0])?;
    let sorted = machine.sort(items, args)?;
    Ok(machine.list(sorted))
}

impl Machine {
    /// Items in order, by `key=` and `reverse=`.
    pub(super) fn sort(&mut self, items: Vec<Value>, args: &Args) -> Result<Vec<Value>, Fault> {
        let key = args
            .keyword("key")
            .filter(|key| !matches!(key, Value::None));
        let reverse = match args.keyword("reverse") {
            Some(reverse) => self.truth(reverse)?,
            None => false,
        };
        self.count_work(items.len() as u64 * 4)?;
        let mut ranked = Vec::with_capacity(items.len());
        for item in items {
            let rank = match key {
                Some(key) => self.call_now(key, vec![item.clone()])?,
                None => item.clone(),
            };
            ranked.push((rank, item));
        }
        let mut fault = None;
        ranked.sort_by(|(a, _), (b, _)| {
            let (a, b) = if reverse { (b, a) } else { (a, b) };
            match self.order(a, b) {
                Ok(Some(ordering)) => ordering,
                Ok(None) => {
                    let (x, y) = (a.type_name(), b.type_name());
                    let message = format!("'<' not supported between instances of '{x}' and '{y}'");
                    fault.get_or_insert_with(|| self.type_error(message));
                    Ordering::Equal
                }
                Err(error) => {
                    fault.get_or_insert(error);
                    Ordering::Equal
                }
            }
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok(ranked.into_iter().map(|(_, item)| item).collect()),
        }
    }
}

fn any(machine: &mut Machine, args: &Args) -> Outcome {
    search(machine, args, "any", true)
}

fn all(machine: &mut Machine, args: &Args) -> Outcome {
    search(machine, args, "all", false)
}

fn search(machine: &mut Machine, args: &Args, name: &str, wanted: bool) -> Outcome {
    machine.expect(name, args, 1..=1, &[])?;
    let iterator = machine.iterate(&args.positional[0])?;
    while let Some(item) = machine.next_item(&iterator)? {
        machine.count_work(1)?;
        if machine.truth(&item)? == wanted {
            return Ok(Value::Bool(wanted));
        }
    }
    Ok(Value::Bool(!wanted))
}

fn abs(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("abs", args, 1..=1, &[])?;
    match &args.positional[0] {
        Value::Float(it) => Ok(Value::Float(it.abs())),
        Value::Tensor(tensor) => machine.tensor_abs(tensor),
        other => match int::big(other) {
            Some(number) => Ok(int::from_big(number.abs())),
            None => {
                let name = other.type_name();
                Err(machine.type_error(format!("bad operand type for abs(): '{name}'")))
            }
        },
    }
}

fn round(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("round", args, 1..=2, &["ndigits"])?;
    let value = &args.positional[0];
    let Value::Float(number) = value else {
        machine.whole(value)?;
        return Ok(value.clone());
    };
    match args.get(1, "ndigits") {
        None | Some(Value::None) => {
            let rounded = number.round_ties_even();
            let text = format!("{rounded:.0}");
            let whole = num_bigint::BigInt::parse_bytes(text.as_bytes(), 10);
            Ok(int::from_big(whole.unwrap_or_default()))
        }
        Some(digits) => {
            let digits = machine.whole(digits)?.clamp(-300, 300);
            let rounded = if digits >= 0 {
                format!("{number:.*}", digits as usize)
                    .parse()
                    .unwrap_or(*number)
            } else {
                let scale = 10f64.powi(-digits as i32);
                (number / scale).round_ties_even() * scale
            };
            Ok(Value::Float(rounded))
        }
    }
}

fn divmod(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("divmod", args, 2..=2, &[])?;
    let (a, b) = (&args.positional[0], &args.positional[1]);
    let parts = vec![
        machine.binary(BinaryOp::FloorDiv, a, b)?,
        machine.binary(BinaryOp::Mod, a, b)?,
    ];
    Ok(machine.tuple(parts))
}

fn pow(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("pow", args, 2..=2, &[])?;
    machine.binary(BinaryOp::Pow, &args.positional[0], &args.positional[1])
}

fn isinstance(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("isinstance", args, 2..=2, &[])?;
    let found = machine.is_instance(&args.positional[0], &args.positional[1])?;
    Ok(Value::Bool(found))
}

fn issubclass(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("issubclass", args, 2..=2, &[])?;
    match (&args.positional[0], &args.positional[1]) {
        (Value::Class(a), Value::Class(b)) => Ok(Value::Bool(derives(a, b))),
        (Value::Type(a), Value::Type(b)) => Ok(Value::Bool(a.is_a(*b))),
        (_, Value::Type(NativeType::Object)) => Ok(Value::Bool(true)),
        _ => Ok(Value::Bool(false)),
    }
}

fn hasattr(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("hasattr", args, 2..=2, &[])?;
    let name = Rc::clone(machine.text_argument(&args.positional[1])?);
    match machine.attribute(&args.positional[0], &name) {
        Ok(_) => Ok(Value::Bool(true)),
        Err(Fault::Raised(_)) => Ok(Value::Bool(false)),
        Err(stop) => Err(stop),
    }
}

fn getattr(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("getattr", args, 2..=3, &[])?;
    let name = Rc::clone(machine.text_argument(&args.positional[1])?);
    match (
        machine.attribute(&args.positional[0], &name),
        args.positional.get(2),
    ) {
        (Err(Fault::Raised(_)), Some(default)) => Ok(default.clone()),
        (result, _) => result,
    }
}

fn setattr(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("setattr", args, 3..=3, &[])?;
    let name = Rc::clone(machine.text_argument(&args.positional[1])?);
    let value = args.positional[2].clone();
    machine.store_attribute(&args.positional[0], &name, value)?;
    Ok(Value::None)
}

fn id(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("id", args, 1..=1, &[])?;
    Ok(Value::Int(args.positional[0].identity() as i64))
}

fn hash(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("hash", args, 1..=1, &[])?;
    let key = machine.key(args.positional[0].clone())?;
    Ok(Value::Int(key.value().identity() as i64))
}

fn repr(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("repr", args, 1..=1, &[])?;
    let text = machine.repr(&args.positional[0])?;
    Ok(Value::text(&text))
}

fn format(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("format", args, 1..=2, &[])?;
    let spec = match args.positional.get(1) {
        Some(spec) => Rc::clone(machine.text_argument(spec)?),
        None => Rc::from(""),
    };
    let text = machine.format(&args.positional[0], &spec)?;
    Ok(Value::text(&text))
}

fn callable(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("callable", args, 1..=1, &[])?;
    Ok(Value::Bool(matches!(
        args.positional[0],
        Value::Function(_)
            | Value::Method(_)
            | Value::Native(_)
            | Value::BoundNative(_)
            | Value::Class(_)
            | Value::Type(_)
    )))
}

fn ord(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("ord", args, 1..=1, &[])?;
    let text = machine.text_argument(&args.positional[0])?;
    let first = text.chars().next().unwrap_or_default();
    Ok(Value::Int(i64::from(u32::from(first))))
}

fn chr(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("chr", args, 1..=1, &[])?;
    let number = machine.whole(&args.positional[0])?;
    let c = u32::try_from(number).ok().and_then(char::from_u32);
    match c {
        Some(c) => Ok(Value::text(&c.to_string())),
        None => Err(machine.raise("ValueError", "chr() arg not in range(0x110000)")),
    }
}

fn hex(machine: &mut Machine, args: &Args) -> Outcome {
    in_base(machine, args, "#x")
}

fn bin(machine: &mut Machine, args: &Args) -> Outcome {
    in_base(machine, args, "#b")
}

fn oct(machine: &mut Machine, args: &Args) -> Outcome {
    in_base(machine, args, "#o")
}

fn in_base(machine: &mut Machine, args: &Args, spec: &str) -> Outcome {
    machine.expect("hex", args, 1..=1, &[])?;
    machine.whole(&args.positional[0])?;
    let text = machine.format(&args.positional[0], spec)?;
    Ok(Value::text(&text))
}

fn getenv(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("getenv", args, 1..=2, &["default"])?;
    let name = Rc::clone(machine.text_argument(&args.positional[0])?);
    let default = args.get(1, "default").cloned();
    let value = machine.environ.get(&name).cloned();
    Ok(value.or(default).unwrap_or(Value::None))
}

fn collect(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("collect", args, 0..=1, &["generation"])?;
    Ok(Value::Int(machine.heap.collect() as i64))
}

fn gc_disable(machine: &mut Machine, _args: &Args) -> Outcome {
    machine.collects_cycles = false;
    Ok(Value::None)
}

fn gc_enable(machine: &mut Machine, _args: &Args) -> Outcome {
    machine.collects_cycles = true;
    Ok(Value::None)
}

fn gc_isenabled(machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Bool(machine.collects_cycles))
}

fn nothing(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::None)
}

/// The argument itself is one of the references, as in CPython.
fn getrefcount(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("getrefcount", args, 1..=1, &[])?;
    Ok(Value::Int(args.positional[0].reference_count() as i64))
}

fn getrecursionlimit(machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Int(machine.limits.recursion as i64))
}

fn real(machine: &mut Machine, args: &Args) -> Result<f64, Fault> {
    let value = args.positional.first().unwrap_or(&Value::None);
    match int::float(value) {
        Some(number) => Ok(number),
        None => {
            let name = value.type_name();
            Err(machine.type_error(format!("must be real number, not {name}")))
        }
    }
}

fn sqrt(machine: &mut Machine, args: &Args) -> Outcome {
    let number = real(machine, args)?;
    if number < 0.0 {
        return Err(machine.raise("ValueError", "math domain error"));
    }
    Ok(Value::Float(number.sqrt()))
}

fn logarithm(machine: &mut Machine, args: &Args, of: fn(f64) -> f64) -> Outcome {
    let number = real(machine, args)?;
    if number <= 0.0 {
        return Err(machine.raise("ValueError", "math domain error"));
    }
    Ok(Value::Float(of(number)))
}

fn log2(machine: &mut Machine, args: &Args) -> Outcome {
    logarithm(machine, args, f64::log2)
}

fn log10(machine: &mut Machine, args: &Args) -> Outcome {
    logarithm(machine, args, f64::log10)
}

fn log(machine: &mut Machine, args: &Args) -> Outcome {
    let natural = logarithm(machine, args, f64::ln)?;
    match (natural, args.positional.get(1).and_then(int::float)) {
        (Value::Float(natural), Some(base)) => Ok(Value::Float(natural / base.ln())),
        (natural, _) => Ok(natural),
    }
}

fn exp(machine: &mut Machine, args: &Args) -> Outcome {
    Ok(Value::Float(real(machine, args)?.exp()))
}

fn ceil(machine: &mut Machine, args: &Args) -> Outcome {
    whole_part(machine, args, f64::ceil)
}

fn floor(machine: &mut Machine, args: &Args) -> Outcome {
    whole_part(machine, args, f64::floor)
}

fn whole_part(machine: &mut Machine, args: &Args, of: fn(f64) -> f64) -> Outcome {
    match args.positional.first() {
        Some(value @ (Value::Int(_) | Value::Big(_))) => Ok(value.clone()),
        _ => {
            let text = format!("{:.0}", of(real(machine, args)?));
            let whole = num_bigint::BigInt::parse_bytes(text.as_bytes(), 10);
            Ok(int::from_big(whole.unwrap_or_default()))
        }
    }
}

fn prod(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("prod", args, 1..=1, &[])?;
    let mut product = Value::Int(1);
    for item in machine.collect(&args.positional[0])? {
        product = machine.binary(BinaryOp::Mult, &product, &item)?;
    }
    Ok(product)
}

fn gcd(machine: &mut Machine, args: &Args) -> Outcome {
    let mut result = 0i64;
    for value in &args.positional {
        let number = machine.whole(value)?;
        result = num_integer::gcd(result, number);
    }
    Ok(Value::Int(result))
}
