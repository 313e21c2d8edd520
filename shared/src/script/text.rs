//! `str`, `repr` and formatting, as Python words them.

use std::rc::Rc;

use super::int;
use super::machine::{Fault, Machine};
use super::value::Value;

impl Machine {
    /// `str(value)`.
    pub(super) fn str(&mut self, value: &Value) -> Result<String, Fault> {
        match value {
            Value::Text(text) => Ok(text.to_string()),
            Value::Exception(exception) => {
                if let Some(Value::Function(method)) =
                    super::machine::lookup(&exception.class, "__str__")
                {
                    let text = self.call_now(&Value::Function(method), vec![value.clone()])?;
                    return self.str(&text);
                }
                let args = exception.args.borrow().clone();
                match args.as_slice() {
                    [] => Ok(String::new()),
                    [only] if &*exception.class.name == "KeyError" => self.repr(only),
                    [only] => self.str(only),
                    _ => {
                        let args = self.tuple(args);
                        self.repr(&args)
                    }
                }
            }
            Value::Instance(_) => {
                for method in ["__str__", "__repr__"] {
                    if let Some(text) = self.call_special(value, method, Vec::new())? {
                        return self.str(&text);
                    }
                }
                self.repr(value)
            }
            Value::Device(device) => Ok(device.to_string()),
            _ => self.repr(value),
        }
    }

    /// `repr(value)`.
    pub(super) fn repr(&mut self, value: &Value) -> Result<String, Fault> {
        let address = value.identity() & 0xffff_ffff;
        Ok(match value {
            Value::Null | Value::None => "None".to_owned(),
            Value::NotImplemented => "NotImplemented".to_owned(),
            Value::Ellipsis => "Ellipsis".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Int(it) => it.to_string(),
            Value::Big(it) => it.to_string(),
            Value::Float(it) => float_repr(*it),
            Value::Text(it) => text_repr(it),
            Value::Tuple(it) if it.is_size => {
                format!("torch.Size([{}])", self.join(&it.items)?)
            }
            Value::Tuple(it) if it.items.len() == 1 => format!("({},)", self.join(&it.items)?),
            Value::Tuple(it) => format!("({})", self.join(&it.items)?),
            Value::List(it) => {
                let items = it.items.borrow().clone();
                self.nested(
                    |machine| Ok(format!("[{}]", machine.join(&items)?)),
                    "[...]",
                )?
            }
            Value::Dict(it) => {
                let entries: Vec<(Value, Value)> = {
                    let entries = it.entries.borrow();
                    let pairs = entries.iter();
                    pairs.map(|(k, v)| (k.value().clone(), v.clone())).collect()
                };
                self.nested(|machine| machine.dict_repr(&entries), "{...}")?
            }
            Value::Set(it) => {
                let items: Vec<Value> = {
                    let entries = it.entries.borrow();
                    entries.keys().map(|key| key.value().clone()).collect()
                };
                if items.is_empty() {
                    "set()".to_owned()
                } else {
                    format!("{{{}}}", self.join(&items)?)
                }
            }
            Value::Range(it) if it.step == 1 => format!("range({}, {})", it.start, it.stop),
            Value::Range(it) => format!("range({}, {}, {})", it.start, it.stop, it.step),
            Value::Slice(it) => {
                let parts = [it.start.clone(), it.stop.clone(), it.step.clone()];
                format!("slice({})", self.join(&parts)?)
            }
            Value::Exception(exception) => {
                let args = exception.args.borrow().clone();
                format!("{}({})", exception.class.name, self.join(&args)?)
            }
            Value::Class(class) => format!("<class '{}{}'>", class.module, class.name),
            Value::Type(kind) => format!("<class '{}'>", kind.full_name()),
            Value::Instance(instance) => match self.call_special(value, "__repr__", Vec::new())? {
                Some(text) => self.str(&text)?,
                None => format!(
                    "<__main__.{} object at 0x{address:012x}>",
                    instance.class.name
                ),
            },
            Value::Function(function) => {
                format!("<function {} at 0x{address:012x}>", function.code.name)
            }
            Value::Native(native) => format!("<built-in function {}>", native.name),
            Value::Module(name) => format!("<module '{name}'>"),
            Value::Dtype(dtype) => format!("torch.{}", dtype.name()),
            Value::Device(device) => device.repr(),
            Value::Stream(stream) => format!(
                "<torch.cuda.Stream device=cuda:0 cuda_stream={:#x}>",
                stream.handle.0
            ),
            Value::Tensor(_) => return Err(self.needs_values("Printing a tensor")),
            other => format!("<{} object at 0x{address:012x}>", other.type_name()),
        })
    }

    fn dict_repr(&mut self, entries: &[(Value, Value)]) -> Result<String, Fault> {
        let mut parts = Vec::new();
        for (key, value) in entries {
            let key = self.repr(key)?;
            parts.push(format!("{key}: {}", self.repr(value)?));
        }
        Ok(format!("{{{}}}", parts.join(", ")))
    }

    /// Containers inside one another are shortened where it could go on for ever.
    fn nested(
        &mut self,
        text: impl FnOnce(&mut Self) -> Result<String, Fault>,
        shortened: &str,
    ) -> Result<String, Fault> {
        if self.repr_depth >= 20 {
            return Ok(shortened.to_owned());
        }
        self.repr_depth += 1;
        let result = text(self);
        self.repr_depth -= 1;
        result
    }

    fn join(&mut self, items: &[Value]) -> Result<String, Fault> {
        let mut text = String::new();
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                text.push_str(", ");
            }
            text.push_str(&self.repr(item)?);
            self.check_size(text.len() as u128)?;
        }
        Ok(text)
    }

    /// `format(value, spec)`.
    pub(super) fn format(&mut self, value: &Value, spec: &str) -> Result<String, Fault> {
        if spec.is_empty() {
            return self.str(value);
        }
        if matches!(value, Value::Tensor(_)) {
            return Err(self.needs_values("Printing a tensor"));
        }
        let Some(spec) = Spec::parse(spec) else {
            return Err(self.raise("ValueError", "Invalid format specifier"));
        };
        self.check_size(spec.width.max(spec.precision.unwrap_or(0)) as u128)?;
        let text = match value {
            Value::Text(text) => {
                let cut = spec.precision.unwrap_or(usize::MAX);
                let text: String = text.chars().take(cut).collect();
                return Ok(spec.pad("", &text, '<'));
            }
            Value::Int(_) | Value::Big(_) | Value::Bool(_) if spec.is_for_integers() => {
                spec.integer(value)
            }
            _ => match int::float(value) {
                Some(float) => spec.float(float),
                None => {
                    let name = value.type_name();
                    let message = format!("unsupported format string passed to {name}.__format__");
                    return Err(self.type_error(message));
                }
            },
        };
        match text {
            Some(text) => Ok(text),
            None => {
                let name = value.type_name();
                let message = format!(
                    "Unknown format code '{}' for object of type '{name}'",
                    spec.kind
                );
                Err(self.raise("ValueError", message))
            }
        }
    }

    /// `"…" % values`.
    pub(super) fn percent(&mut self, format: &Rc<str>, values: &Value) -> Result<String, Fault> {
        let values = match values {
            Value::Tuple(tuple) => tuple.items.clone(),
            other => vec![other.clone()],
        };
        let mut values = values.into_iter();
        let mut text = String::new();
        let mut rest = &**format;
        while let Some(at) = rest.find('%') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let end = rest.find(|c: char| c.is_ascii_alphabetic() || c == '%');
            let Some(end) = end else {
                return Err(self.raise("ValueError", "incomplete format"));
            };
            let (flags, kind) = (&rest[..end], rest[end..].chars().next().unwrap_or('%'));
            rest = &rest[end + 1..];
            if kind == '%' {
                text.push('%');
                continue;
            }
            let Some(value) = values.next() else {
                return Err(self.type_error("not enough arguments for format string"));
            };
            let part = match kind {
                's' | 'r' => {
                    let part = if kind == 's' {
                        self.str(&value)?
                    } else {
                        self.repr(&value)?
                    };
                    self.format(&Value::text(&part), &flags.replace('-', "<"))?
                }
                'd' | 'i' => {
                    let truncated = int::float(&value).map(|it| Value::Int(it as i64));
                    let whole = if let Value::Float(_) = value {
                        truncated
                    } else {
                        Some(value)
                    };
                    let spec = format!("{}d", flags.replace('-', "<"));
                    self.format(&whole.unwrap_or(Value::Int(0)), &spec)?
                }
                kind => self.format(&value, &format!("{}{kind}", flags.replace('-', "<")))?,
            };
            text.push_str(&part);
        }
        text.push_str(rest);
        if values.next().is_some() {
            return Err(self.type_error("not all arguments converted during string formatting"));
        }
        Ok(text)
    }
}

/// A format specification: `[[fill]align][sign][#][0][width][,][.precision][type]`.
struct Spec {
    fill: char,
    align: Option<char>,
    sign: char,
    alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: char,
}

impl Spec {
    fn parse(text: &str) -> Option<Self> {
        let mut chars = text.chars().peekable();
        let mut spec = Self {
            fill: ' ',
            align: None,
            sign: '-',
            alternate: false,
            width: 0,
            grouping: None,
            precision: None,
            kind: ' ',
        };
        let aligns = ['<', '>', '^', '='];
        let second = text.chars().nth(1);
        if second.is_some_and(|c| aligns.contains(&c)) {
            spec.fill = chars.next()?;
            spec.align = chars.next();
        } else if chars.peek().is_some_and(|c| aligns.contains(c)) {
            spec.align = chars.next();
        }
        if chars.peek().is_some_and(|c| ['+', '-', ' '].contains(c)) {
            spec.sign = chars.next()?;
        }
        spec.alternate = chars.next_if_eq(&'#').is_some();
        if chars.next_if_eq(&'0').is_some() && spec.align.is_none() {
            spec.fill = '0';
            spec.align = Some('=');
        }
        spec.width = digits(&mut chars)?.unwrap_or(0);
        if chars.peek().is_some_and(|c| [',', '_'].contains(c)) {
            spec.grouping = chars.next();
        }
        if chars.next_if_eq(&'.').is_some() {
            spec.precision = Some(digits(&mut chars)??);
        }
        spec.kind = chars.next().unwrap_or(' ');
        chars.next().is_none().then_some(spec)
    }

    fn is_for_integers(&self) -> bool {
        matches!(self.kind, ' ' | 'd' | 'n' | 'x' | 'X' | 'o' | 'b' | 'c')
            && self.precision.is_none()
    }

    fn integer(&self, value: &Value) -> Option<String> {
        let number = int::big(value)?;
        let negative = number < num_bigint::BigInt::ZERO;
        let magnitude = number.magnitude();
        let (digits, prefix) = match self.kind {
            ' ' | 'd' | 'n' => (magnitude.to_str_radix(10), ""),
            'x' => (magnitude.to_str_radix(16), "0x"),
            'X' => (magnitude.to_str_radix(16).to_uppercase(), "0X"),
            'o' => (magnitude.to_str_radix(8), "0o"),
            'b' => (magnitude.to_str_radix(2), "0b"),
            _ => return None,
        };
        let digits = self.group(&digits, if prefix.is_empty() { 3 } else { 4 });
        let prefix = if self.alternate { prefix } else { "" };
        let sign = self.sign_of(negative);
        Some(self.pad(&format!("{sign}{prefix}"), &digits, '>'))
    }

    fn float(&self, value: f64) -> Option<String> {
        let magnitude = value.abs();
        let negative = value.is_sign_negative() && !value.is_nan();
        let precision = self.precision.unwrap_or(6);
        let text = if !magnitude.is_finite() {
            float_repr(magnitude)
        } else {
            match self.kind {
                'f' | 'F' => format!("{magnitude:.precision$}"),
                '%' => format!("{:.precision$}%", magnitude * 100.0),
                'e' => exponent(magnitude, precision),
                'E' => exponent(magnitude, precision).to_uppercase(),
                'g' | 'G' | 'n' => general(magnitude, precision, self.alternate),
                ' ' if self.precision.is_some() => {
                    let text = general(magnitude, precision.max(1), false);
                    if text.contains(['.', 'e']) {
                        text
                    } else {
                        format!("{text}.0")
                    }
                }
                ' ' => float_repr(magnitude),
                _ => return None,
            }
        };
        let point = text.find(['.', 'e', '%']).unwrap_or(text.len());
        let whole = self.group(&text[..point], 3);
        Some(self.pad(
            self.sign_of(negative),
            &format!("{whole}{}", &text[point..]),
            '>',
        ))
    }

    fn sign_of(&self, negative: bool) -> &'static str {
        match (negative, self.sign) {
            (true, _) => "-",
            (false, '+') => "+",
            (false, ' ') => " ",
            _ => "",
        }
    }

    fn group(&self, digits: &str, size: usize) -> String {
        let Some(separator) = self.grouping else {
            return digits.to_owned();
        };
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(size) {
                grouped.push(separator);
            }
            grouped.push(digit);
        }
        grouped
    }

    fn pad(&self, sign: &str, text: &str, default: char) -> String {
        let length = sign.chars().count() + text.chars().count();
        let missing = self.width.saturating_sub(length);
        let fill = |count: usize| self.fill.to_string().repeat(count);
        match self.align.unwrap_or(default) {
            '<' => format!("{sign}{text}{}", fill(missing)),
            '^' => format!(
                "{}{sign}{text}{}",
                fill(missing / 2),
                fill(missing - missing / 2)
            ),
            '=' => format!("{sign}{}{text}", fill(missing)),
            _ => format!("{}{sign}{text}", fill(missing)),
        }
    }
}

/// Digits as a number: `Some(None)` if there are none, `None` if it is too large.
fn digits(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Option<usize>> {
    let mut text = String::new();
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        text.push(digit);
    }
    if text.is_empty() {
        return Some(None);
    }
    text.parse().ok().map(Some)
}

fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    python_exponent(mantissa, exponent.parse().unwrap_or(0))
}

fn python_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let text = format!("{value:.*e}", precision - 1);
    let power: i32 = text
        .split_once('e')
        .and_then(|(_, it)| it.parse().ok())
        .unwrap_or(0);
    let trim = |text: String| {
        if alternate || !text.contains('.') {
            text
        } else {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    if power < -4 || power >= precision as i32 {
        let mantissa = text.split_once('e').map_or("", |(mantissa, _)| mantissa);
        python_exponent(&trim(mantissa.to_owned()), power)
    } else {
        let decimals = (precision as i32 - 1 - power).max(0) as usize;
        trim(format!("{value:.decimals$}"))
    }
}

/// The shortest text that reads back as the same float.
pub(super) fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = format!("{value:e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&power) {
        return python_exponent(mantissa, power);
    }
    let plain = format!("{value}");
    if plain.contains('.') {
        plain
    } else {
        format!("{plain}.0")
    }
}

/// A text in quotes, as Python chooses and escapes them.
pub(super) fn text_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut quoted = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\\' => quoted.push_str("\\\\"),
            c if c == quote => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push(quote);
    quoted
}
