//! Python's own functions, types and the few modules that scripts can import.

mod exceptions;
mod functions;
mod lists;
mod mappings;
mod strings;
mod types;

pub(super) use functions::table;
use std::rc::Rc;

use super::machine::{Fault, Machine};
use super::native::{Args, MethodFn, NativeType, Outcome, find};
use super::torch;
use super::value::Value;

pub(super) use exceptions::{exception_attribute, exception_classes};

const MODULES: [&str; 7] = [
    "torch",
    "torch.cuda",
    "torch.cuda.memory",
    "os",
    "gc",
    "sys",
    "math",
];

/// Whether scripts can import it.
pub(super) fn is_module(name: &str) -> bool {
    MODULES.contains(&name)
}

impl Machine {
    pub(super) fn import(&mut self, name: &str) -> Outcome {
        let Some(module) = MODULES.iter().find(|known| **known == name) else {
            return if name == "__future__" {
                Ok(Value::Module("__future__"))
            } else {
                let message = format!("No module named '{name}'");
                Err(self.raise("ModuleNotFoundError", message))
            };
        };
        if module.starts_with("torch") {
            self.start_torch()?;
        }
        Ok(Value::Module(module))
    }

    /// The builtin of that name.
    pub(super) fn builtin(&mut self, name: &str) -> Result<Option<Value>, Fault> {
        if let Some(value) = find(functions::TABLE, name) {
            return Ok(Some(value));
        }
        if let Some(kind) = NativeType::named(name) {
            return Ok(Some(Value::Type(kind)));
        }
        if let Some(class) = self.exceptions.get(name)
            && name != "OutOfMemoryError"
        {
            return Ok(Some(class.clone()));
        }
        Ok(match name {
            "NotImplemented" => Some(Value::NotImplemented),
            "Ellipsis" => Some(Value::Ellipsis),
            "open" | "input" | "exec" | "eval" | "compile" | "globals" | "locals" | "frozenset"
            | "bytes" | "bytearray" | "complex" | "memoryview" | "vars" | "dir" | "help" => {
                let instead = "Scripts work with numbers, texts, lists, dicts, sets, classes and \
                               tensors.";
                return Err(self.unsupported(name, instead));
            }
            _ => None,
        })
    }

    pub(super) fn module_attribute(&mut self, module: &'static str, name: &str) -> Outcome {
        let found = match module {
            "os" => match name {
                "environ" => Some(Value::Environ),
                _ => find(functions::OS, name),
            },
            "gc" => find(functions::GC, name),
            "sys" => match name {
                "maxsize" => Some(Value::Int(i64::MAX)),
                _ => find(functions::SYS, name),
            },
            "math" => match name {
                "pi" => Some(Value::Float(std::f64::consts::PI)),
                "e" => Some(Value::Float(std::f64::consts::E)),
                "inf" => Some(Value::Float(f64::INFINITY)),
                "nan" => Some(Value::Float(f64::NAN)),
                _ => find(functions::MATH, name),
            },
            "__future__" => Some(Value::None),
            _ => return self.torch_attribute(module, name),
        };
        match found {
            Some(value) => Ok(value),
            None if name == "__name__" => Ok(Value::text(module)),
            None => Err(self.unsupported(
                format!("{module}.{name}"),
                "Of the modules there are os.environ, os.getenv, gc.collect, gc.enable, \
                 gc.disable, gc.isenabled, sys.getrefcount and the functions of math on numbers.",
            )),
        }
    }
}

/// An attribute of a native value that is not a method.
pub(super) fn attribute(
    machine: &mut Machine,
    owner: &Value,
    name: &str,
) -> Result<Option<Value>, Fault> {
    Ok(match (owner, name) {
        (Value::Slice(it), "start") => Some(it.start.clone()),
        (Value::Slice(it), "stop") => Some(it.stop.clone()),
        (Value::Slice(it), "step") => Some(it.step.clone()),
        (Value::Range(it), "start") => Some(Value::Int(it.start)),
        (Value::Range(it), "stop") => Some(Value::Int(it.stop)),
        (Value::Range(it), "step") => Some(Value::Int(it.step)),
        (Value::Function(_) | Value::Method(_), "__doc__") => Some(Value::None),
        (Value::Method(it), "__self__") => Some(it.receiver.clone()),
        (Value::Method(it), "__func__") => Some(it.function.clone()),
        (Value::Native(it), "__name__") => Some(Value::text(it.name)),
        (Value::Wrapped(_), "setter" | "deleter") => {
            let instead = "Properties can be read; set attributes directly or with a method.";
            return Err(machine.unsupported("a property with a setter", instead));
        }
        _ => return torch::attribute(machine, owner, name),
    })
}

/// A method of a native value.
pub(super) fn method(owner: &Value, name: &str) -> Option<MethodFn> {
    match owner {
        Value::List(_) => lists::list_method(name),
        Value::Tuple(tuple) if tuple.is_size && name == "numel" => torch::method(owner, name),
        Value::Tuple(_) => lists::tuple_method(name),
        Value::Dict(_) => mappings::dict_method(name),
        Value::Set(_) => mappings::set_method(name),
        Value::Environ => mappings::environ_method(name),
        Value::Text(_) => strings::method(name),
        Value::Int(_) | Value::Big(_) | Value::Bool(_) if name == "bit_length" => {
            Some(types::bit_length)
        }
        Value::Float(_) if name == "is_integer" => Some(types::is_integer),
        Value::Exception(_) if name == "with_traceback" => Some(exceptions::with_traceback),
        Value::Exception(_) if name == "add_note" => Some(exceptions::add_note),
        Value::Type(kind) => types::class_method(*kind, name),
        _ => torch::method(owner, name),
    }
}

/// What exists in Python or PyTorch under this name, but not here: how to call it, and what to do
/// in its place. `None` where it does not exist there either.
pub(super) fn outside(owner: &Value, name: &str) -> Option<(String, &'static str)> {
    let kind = NativeType::of(owner);
    let known: &[&str] = match owner {
        Value::Text(_) => &[
            "encode",
            "translate",
            "maketrans",
            "expandtabs",
            "format_map",
            "isidentifier",
            "isprintable",
            "istitle",
            "casefold",
            "isascii",
            "isdecimal",
            "isnumeric",
        ],
        Value::Generator(_) => &["send", "throw", "close"],
        Value::Int(_) => &["to_bytes", "bit_count", "as_integer_ratio", "real", "imag"],
        Value::Float(_) => &["hex", "as_integer_ratio", "real", "imag"],
        _ => return torch::outside(owner, name),
    };
    known.contains(&name).then(|| {
        let what = format!("{}.{name}", kind.name());
        (what, "docs/playground.md lists the methods that there are.")
    })
}

impl Args {
    pub(super) fn len(&self) -> usize {
        self.positional.len() + self.keywords.len()
    }

    pub(super) fn keyword(&self, name: &str) -> Option<&Value> {
        let found = self.keywords.iter().find(|(known, _)| &**known == name);
        found.map(|(_, value)| value)
    }

    /// The argument at a position or of a name.
    pub(super) fn get(&self, at: usize, name: &str) -> Option<&Value> {
        self.positional.get(at).or_else(|| self.keyword(name))
    }
}

impl Machine {
    /// Checks how many arguments there are, and which keywords.
    pub(super) fn expect(
        &mut self,
        function: &str,
        args: &Args,
        counts: std::ops::RangeInclusive<usize>,
        keywords: &[&str],
    ) -> Result<(), Fault> {
        let unknown = args
            .keywords
            .iter()
            .find(|(name, _)| !keywords.contains(&&**name));
        if let Some((name, _)) = unknown {
            let message = format!("{function}() got an unexpected keyword argument '{name}'");
            return Err(self.type_error(message));
        }
        if counts.contains(&args.len()) {
            return Ok(());
        }
        let given = args.len();
        let (least, most) = (counts.start(), counts.end());
        let message = if least == most {
            let wanted = match least {
                0 => "no arguments".to_owned(),
                1 => "exactly one argument".to_owned(),
                n => format!("exactly {n} arguments"),
            };
            format!("{function}() takes {wanted} ({given} given)")
        } else if given < *least {
            format!("{function} expected at least {least} arguments, got {given}")
        } else {
            format!("{function} expected at most {most} arguments, got {given}")
        };
        Err(self.type_error(message))
    }

    /// An argument that must be a whole number of 64 bits.
    pub(super) fn whole(&mut self, value: &Value) -> Result<i64, Fault> {
        match super::int::small(value) {
            Some(number) => Ok(number),
            None if matches!(value, Value::Big(_)) => {
                let message = "Python int too large to convert to C ssize_t";
                Err(self.raise("OverflowError", message))
            }
            None => {
                let name = value.type_name();
                let message = format!("'{name}' object cannot be interpreted as an integer");
                Err(self.type_error(message))
            }
        }
    }

    pub(super) fn text_argument<'a>(&mut self, value: &'a Value) -> Result<&'a Rc<str>, Fault> {
        match value {
            Value::Text(text) => Ok(text),
            other => {
                let name = other.type_name();
                Err(self.type_error(format!("expected str instance, {name} found")))
            }
        }
    }
}
