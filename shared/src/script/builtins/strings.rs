//! Methods of texts.

use std::rc::Rc;

use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, MethodFn, Outcome};
use crate::script::value::Value;

pub(super) fn method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "join" => join,
        "split" => split,
        "splitlines" => splitlines,
        "strip" => |m, s, a| strip(m, s, a, true, true),
        "lstrip" => |m, s, a| strip(m, s, a, true, false),
        "rstrip" => |m, s, a| strip(m, s, a, false, true),
        "upper" => |_, s, _| Ok(Value::text(&own(s).to_uppercase())),
        "lower" => |_, s, _| Ok(Value::text(&own(s).to_lowercase())),
        "title" => |_, s, _| Ok(Value::text(&title(own(s)))),
        "capitalize" => |_, s, _| Ok(Value::text(&capitalize(own(s)))),
        "replace" => replace,
        "startswith" => |m, s, a| affix(m, s, a, |text, part| text.starts_with(part)),
        "endswith" => |m, s, a| affix(m, s, a, |text, part| text.ends_with(part)),
        "find" => find,
        "count" => count,
        "format" => format,
        "ljust" => |m, s, a| justify(m, s, a, '<'),
        "rjust" => |m, s, a| justify(m, s, a, '>'),
        "center" => |m, s, a| justify(m, s, a, '^'),
        "zfill" => zfill,
        "isdigit" => |_, s, _| Ok(Value::Bool(all(s, |c| c.is_ascii_digit()))),
        "isalpha" => |_, s, _| Ok(Value::Bool(all(s, char::is_alphabetic))),
        "isspace" => |_, s, _| Ok(Value::Bool(all(s, char::is_whitespace))),
        "isupper" => |_, s, _| Ok(Value::Bool(all(s, char::is_uppercase))),
        "islower" => |_, s, _| Ok(Value::Bool(all(s, char::is_lowercase))),
        _ => return None,
    })
}

fn own(receiver: &Value) -> &Rc<str> {
    match receiver {
        Value::Text(text) => text,
        _ => unreachable!("methods of texts are called on texts"),
    }
}

fn all(receiver: &Value, test: impl Fn(char) -> bool) -> bool {
    let text = own(receiver);
    !text.is_empty() && text.chars().all(test)
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + &chars.as_str().to_lowercase()
}

fn title(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_alphabetic());
    words.map(capitalize).collect()
}

fn join(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("join", args, 1..=1, &[])?;
    let mut text = String::new();
    for (at, item) in machine.collect(&args.positional[0])?.iter().enumerate() {
        if at > 0 {
            text.push_str(own(receiver));
        }
        let Value::Text(part) = item else {
            let name = item.type_name();
            let message = format!("sequence item {at}: expected str instance, {name} found");
            return Err(machine.type_error(message));
        };
        text.push_str(part);
        machine.check_size(text.len() as u128)?;
    }
    Ok(Value::text(&text))
}

fn split(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("split", args, 0..=2, &["sep", "maxsplit"])?;
    let text = own(receiver);
    let most = match args.get(1, "maxsplit") {
        Some(most) => usize::try_from(machine.whole(most)?).unwrap_or(usize::MAX - 1),
        None => usize::MAX - 1,
    };
    let parts: Vec<Value> = match args.get(0, "sep") {
        None | Some(Value::None) => text.split_whitespace().map(Value::text).collect(),
        Some(separator) => {
            let separator = machine.text_argument(separator)?;
            if separator.is_empty() {
                return Err(machine.raise("ValueError", "empty separator"));
            }
            text.splitn(most + 1, &**separator)
                .map(Value::text)
                .collect()
        }
    };
    Ok(machine.list(parts))
}

fn splitlines(machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    let lines = own(receiver).lines().map(Value::text).collect();
    Ok(machine.list(lines))
}

fn strip(machine: &mut Machine, receiver: &Value, args: &Args, left: bool, right: bool) -> Outcome {
    machine.expect("strip", args, 0..=1, &[])?;
    let characters = match args.positional.first() {
        None | Some(Value::None) => None,
        Some(characters) => Some(Rc::clone(machine.text_argument(characters)?)),
    };
    let doomed = |c: char| match &characters {
        Some(characters) => characters.contains(c),
        None => c.is_whitespace(),
    };
    let mut text: &str = own(receiver);
    if left {
        text = text.trim_start_matches(doomed);
    }
    if right {
        text = text.trim_end_matches(doomed);
    }
    Ok(Value::text(text))
}

fn replace(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("replace", args, 2..=3, &[])?;
    let from = Rc::clone(machine.text_argument(&args.positional[0])?);
    let to = Rc::clone(machine.text_argument(&args.positional[1])?);
    let text = own(receiver);
    let found = text.matches(&*from).count();
    machine.check_size((text.len() + found * to.len()) as u128)?;
    Ok(Value::text(&match args.positional.get(2) {
        Some(most) => text.replacen(&*from, &to, machine.whole(most)?.max(0) as usize),
        None => text.replace(&*from, &to),
    }))
}

fn affix(
    machine: &mut Machine,
    receiver: &Value,
    args: &Args,
    test: fn(&str, &str) -> bool,
) -> Outcome {
    machine.expect("startswith", args, 1..=1, &[])?;
    let candidates = match &args.positional[0] {
        Value::Tuple(tuple) => tuple.items.clone(),
        other => vec![other.clone()],
    };
    for candidate in &candidates {
        let part = machine.text_argument(candidate)?;
        if test(own(receiver), part) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn find(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("find", args, 1..=1, &[])?;
    let part = machine.text_argument(&args.positional[0])?;
    let text = own(receiver);
    let at = text
        .find(&**part)
        .map(|at| text[..at].chars().count() as i64);
    Ok(Value::Int(at.unwrap_or(-1)))
}

fn count(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("count", args, 1..=1, &[])?;
    let part = machine.text_argument(&args.positional[0])?;
    Ok(Value::Int(own(receiver).matches(&**part).count() as i64))
}

fn justify(machine: &mut Machine, receiver: &Value, args: &Args, align: char) -> Outcome {
    machine.expect("ljust", args, 1..=2, &[])?;
    let width = machine.whole(&args.positional[0])?.max(0);
    let fill = match args.positional.get(1) {
        Some(fill) => machine.text_argument(fill)?.chars().next().unwrap_or(' '),
        None => ' ',
    };
    let text = machine.format(receiver, &format!("{fill}{align}{width}"))?;
    Ok(Value::text(&text))
}

fn zfill(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("zfill", args, 1..=1, &[])?;
    let width = machine.whole(&args.positional[0])?.max(0);
    let text = machine.format(receiver, &format!("0>{width}"))?;
    Ok(Value::text(&text))
}

/// `"{} {0} {name:>8}".format(…)`, without attributes and indices.
fn format(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let mut text = String::new();
    let mut next = 0;
    let mut rest: &str = own(receiver);
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..at + 1];
        rest = &rest[at + 1..];
        if rest.starts_with(brace) {
            text.push_str(brace);
            rest = &rest[1..];
            continue;
        }
        let Some(end) = rest.find('}').filter(|_| brace == "{") else {
            let message = "Single '}' encountered in format string";
            return Err(machine.raise("ValueError", message));
        };
        let field = &rest[..end];
        rest = &rest[end + 1..];
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        let value = field_value(machine, args, name, &mut next)?;
        text.push_str(&machine.format(&value, spec)?);
    }
    text.push_str(rest);
    Ok(Value::text(&text))
}

fn field_value(
    machine: &mut Machine,
    args: &Args,
    name: &str,
    next: &mut usize,
) -> Result<Value, Fault> {
    let at = if name.is_empty() {
        *next += 1;
        Some(*next - 1)
    } else {
        name.parse().ok()
    };
    let value = match at {
        Some(at) => args.positional.get(at),
        None => args.keyword(name),
    };
    match (value, at) {
        (Some(value), _) => Ok(value.clone()),
        (None, Some(_)) => {
            let message = "Replacement index out of range for positional args tuple";
            Err(machine.raise("IndexError", message))
        }
        (None, None) => Err(machine.key_error(&Value::text(name))),
    }
}
