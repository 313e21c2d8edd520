//! The pickle machine: takes opcodes one by one and builds nothing but rows and handles.

use crate::ids::FrameId;
use crate::limits::Limits;
use crate::read::pickle::fields::{Fault, Fields};
use crate::read::pickle::opcode::{self as op, refusal};
use crate::read::pickle::rows::Rows;
use crate::read::pickle::tables::Tables;
use crate::read::pickle::value::{Kind, Memo, PackedKind, Value};
use crate::read::{ReadError, ReadErrorKind};

/// The state between two opcodes.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) stack: Vec<Value>,
    /// Where each open MARK stands on the stack.
    pub(super) marks: Vec<usize>,
    pub(super) tables: Tables,
    pub(super) rows: Rows,
    /// What STOP left.
    pub(super) result: Option<Value>,
    /// Whether the file broke off, so that what does not fit is passed over.
    pub(super) is_part: bool,
    memo: Memo,
    pub(super) fields: Fields,
    pub(super) frames: Vec<FrameId>,
    limits: Limits,
    copies: u64,
    /// Offset of the end of the input at hand.
    pub(super) end: u64,
}

/// The rest of the input behind an opcode; `None` when the opcode is not whole.
type Rest<'a> = Result<Option<&'a [u8]>, Fault>;

pub(super) fn malformed(what: &'static str) -> Fault {
    ReadErrorKind::Malformed(what).into()
}

impl Machine {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            stack: Vec::new(),
            marks: Vec::new(),
            tables: Tables::new(),
            rows: Rows::new(&limits),
            result: None,
            is_part: false,
            memo: Memo::default(),
            fields: Fields::new(),
            frames: Vec::new(),
            limits,
            copies: 0,
            end: 0,
        }
    }

    /// Takes as many whole opcodes as `input`, which begins at `offset` of the file, has; how many
    /// bytes these were.
    pub(super) fn run(&mut self, input: &[u8], offset: u64) -> Result<usize, ReadError> {
        self.end = offset + input.len() as u64;
        let mut rest = input;
        while self.result.is_none()
            && let Some((&opcode, behind)) = rest.split_first()
        {
            match self.step(opcode, behind) {
                Ok(Some(next)) => rest = next,
                Ok(None) => break,
                Err(fault) => {
                    return Err(ReadError {
                        kind: fault.kind,
                        offset: self.end - rest.len() as u64,
                        path: self.path(fault.key),
                    });
                }
            }
        }
        let taken = input.len() - rest.len();
        self.check_limits().map_err(|fault| ReadError {
            kind: fault.kind,
            offset: offset + taken as u64,
            path: self.path(None),
        })?;
        Ok(taken)
    }

    /// What grows with every byte of the input is checked once for each chunk.
    fn check_limits(&self) -> Result<(), Fault> {
        let limits = &self.limits;
        let values = self.stack.len().max(self.tables.values());
        let objects = self.memo.len().max(self.tables.objects());
        if values > limits.values {
            return Err(limit("there are values", limits.values));
        }
        if objects > limits.objects {
            return Err(limit("there are objects", limits.objects));
        }
        if self.tables.text_bytes() > limits.all_text_bytes {
            return Err(limit("texts have bytes", limits.all_text_bytes));
        }
        Ok(())
    }

    #[inline]
    fn step<'a>(&mut self, opcode: u8, rest: &'a [u8]) -> Rest<'a> {
        match opcode {
            op::BINGET => {
                let Some((&index, rest)) = rest.split_first() else {
                    return Ok(None);
                };
                self.get(usize::from(index))?;
                return Ok(Some(rest));
            }
            op::LONG_BINGET => {
                return fixed(rest, |index: [u8; 4]| {
                    self.get(u32::from_le_bytes(index) as usize)
                });
            }
            op::MEMOIZE => self.memo.push(self.top()?),
            op::BININT1 => {
                return fixed(rest, |[byte]: [u8; 1]| {
                    self.push(Value::Int(i64::from(byte)))
                });
            }
            op::BININT => {
                return fixed(rest, |bytes: [u8; 4]| {
                    self.push(Value::Int(i64::from(i32::from_le_bytes(bytes))))
                });
            }
            op::BININT2 => {
                return fixed(rest, |bytes: [u8; 2]| {
                    self.push(Value::Int(i64::from(u16::from_le_bytes(bytes))))
                });
            }
            op::LONG1 => {
                let Some((&length, rest)) = rest.split_first() else {
                    return Ok(None);
                };
                return self.long(usize::from(length), rest);
            }
            op::SHORT_BINUNICODE => {
                let Some((&length, rest)) = rest.split_first() else {
                    return Ok(None);
                };
                return self.text(u64::from(length), rest);
            }
            op::MARK => {
                if self.marks.len() >= self.limits.depth {
                    return Err(limit("containers are nested", self.limits.depth));
                }
                self.marks.push(self.stack.len());
            }
            op::EMPTY_DICT => self.stack.push(self.tables.open(PackedKind::EMPTY_DICT)?),
            op::EMPTY_LIST => self.stack.push(self.tables.open(PackedKind::EMPTY_LIST)?),
            op::SETITEMS => {
                let from = self.mark()?;
                self.set_items(from, rest.len())?;
                self.stack.truncate(from);
                self.marks.pop();
            }
            op::APPENDS => {
                let from = self.mark()?;
                self.append(from)?;
                self.stack.truncate(from);
                self.marks.pop();
            }
            _ => return self.rare(opcode, rest),
        }
        Ok(Some(rest))
    }

    /// Opcodes that no speed depends on.
    fn rare<'a>(&mut self, opcode: u8, rest: &'a [u8]) -> Rest<'a> {
        match opcode {
            op::PROTO => {
                return fixed(rest, |[version]: [u8; 1]| match version {
                    0..=5 => Ok(()),
                    _ => Err(ReadErrorKind::Protocol(version).into()),
                });
            }
            op::FRAME => return fixed(rest, |_length: [u8; 8]| Ok(())),
            op::STOP => self.result = Some(self.pop()?),
            op::POP => drop(self.pop()?),
            op::POP_MARK => {
                let from = self.mark()?;
                self.stack.truncate(from);
                self.marks.pop();
            }
            op::APPEND => {
                let from = self.single(1)?;
                self.append(from)?;
                self.stack.truncate(from);
            }
            op::SETITEM => {
                let from = self.single(2)?;
                self.set_item(from)?;
                self.stack.truncate(from);
            }
            op::LIST | op::TUPLE | op::DICT => self.gather(opcode, rest.len())?,
            op::EMPTY_TUPLE => self.tuple(self.stack.len())?,
            op::TUPLE1 => self.tuple(self.single(1)?)?,
            op::TUPLE2 => self.tuple(self.single(2)?)?,
            op::TUPLE3 => self.tuple(self.single(3)?)?,
            op::NONE => self.stack.push(Value::None),
            op::NEWTRUE => self.stack.push(Value::Bool(true)),
            op::NEWFALSE => self.stack.push(Value::Bool(false)),
            op::BINFLOAT => {
                return fixed(rest, |bytes| {
                    self.push(Value::Float(f64::from_be_bytes(bytes)))
                });
            }
            op::BINPUT => return fixed(rest, |[index]: [u8; 1]| self.put(usize::from(index))),
            op::LONG_BINPUT => {
                return fixed(rest, |index| self.put(u32::from_le_bytes(index) as usize));
            }
            op::LONG4 => {
                let Some((length, rest)) = rest.split_first_chunk() else {
                    return Ok(None);
                };
                return self.long(u32::from_le_bytes(*length) as usize, rest);
            }
            op::BINUNICODE => {
                let Some((length, rest)) = rest.split_first_chunk() else {
                    return Ok(None);
                };
                return self.text(u64::from(u32::from_le_bytes(*length)), rest);
            }
            op::BINUNICODE8 => {
                let Some((length, rest)) = rest.split_first_chunk() else {
                    return Ok(None);
                };
                return self.text(u64::from_le_bytes(*length), rest);
            }
            op::GLOBAL | op::INST => return self.refuse_global(opcode, rest),
            op::STACK_GLOBAL => {
                let object = self.take_object();
                return Err(refusal(opcode, object).into());
            }
            other => return Err(refusal(other, None).into()),
        }
        Ok(Some(rest))
    }

    fn push(&mut self, value: Value) -> Result<(), Fault> {
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<Value, Fault> {
        self.single(1)?;
        self.stack.pop().ok_or_else(|| malformed(UNDERFLOW))
    }

    fn top(&self) -> Result<Value, Fault> {
        self.stack
            .last()
            .copied()
            .ok_or_else(|| malformed(UNDERFLOW))
    }

    /// Where the items of the open MARK begin.
    #[inline]
    fn mark(&self) -> Result<usize, Fault> {
        self.marks
            .last()
            .copied()
            .ok_or_else(|| malformed("an opcode closes a MARK that is not there"))
    }

    /// Where the last `count` values begin; a MARK may not stand among them.
    fn single(&self, count: usize) -> Result<usize, Fault> {
        self.stack
            .len()
            .checked_sub(count)
            .filter(|from| self.marks.last().is_none_or(|mark| mark <= from))
            .ok_or_else(|| malformed(UNDERFLOW))
    }

    #[inline]
    fn get(&mut self, index: usize) -> Result<(), Fault> {
        let value = self
            .memo
            .get(index)
            .ok_or_else(|| malformed("an opcode refers to a value that was never stored"))?;
        if let Value::Container(container) = value
            && let Kind::Event(row) = self.tables.kind(container)
        {
            return self.repeat(row);
        }
        self.stack.push(value);
        Ok(())
    }

    /// An event that the file lists again is another event.
    fn repeat(&mut self, row: u32) -> Result<(), Fault> {
        self.copies += 1;
        if self.copies > self.limits.copies {
            return Err(limit(
                "trace entries are listed again",
                self.limits.copies as usize,
            ));
        }
        let row = self.rows.traces.repeat(row)?;
        self.stack.push(self.tables.add(Kind::Event(row))?);
        Ok(())
    }

    fn put(&mut self, index: usize) -> Result<(), Fault> {
        // Every entry takes at least two bytes of the file, and writers number them in order.
        if index as u64 > self.end {
            return Err(limit(
                "the memo has entries",
                usize::try_from(self.end).unwrap_or(usize::MAX),
            ));
        }
        let value = self.top()?;
        if index == self.memo.len() {
            self.memo.push(value);
        } else {
            self.memo.put(index, value);
        }
        Ok(())
    }

    #[inline]
    fn long<'a>(&mut self, length: usize, rest: &'a [u8]) -> Rest<'a> {
        if length > self.limits.number_bytes {
            return Err(limit("a number has bytes", self.limits.number_bytes));
        }
        let Some((bytes, rest)) = rest.split_at_checked(length) else {
            return Ok(None);
        };
        self.stack.push(long_value(bytes));
        Ok(Some(rest))
    }

    #[inline]
    fn text<'a>(&mut self, length: u64, rest: &'a [u8]) -> Rest<'a> {
        if length > self.limits.text_bytes as u64 {
            return Err(limit("a text has bytes", self.limits.text_bytes));
        }
        let Some((bytes, rest)) = rest.split_at_checked(length as usize) else {
            return Ok(None);
        };
        let text = self.tables.intern(bytes);
        self.stack.push(Value::Text(text));
        Ok(Some(rest))
    }

    /// LIST, TUPLE and DICT: a container made of everything above the MARK.
    fn gather(&mut self, opcode: u8, left: usize) -> Result<(), Fault> {
        let from = self.mark()?;
        if opcode == op::TUPLE {
            self.marks.pop();
            return self.tuple(from);
        }
        let empty = match opcode {
            op::LIST => PackedKind::EMPTY_LIST,
            _ => PackedKind::EMPTY_DICT,
        };
        let container = self.tables.open(empty)?;
        self.stack.insert(from, container);
        if opcode == op::LIST {
            self.append(from + 1)?;
        } else {
            self.set_items(from + 1, left)?;
        }
        self.stack.truncate(from + 1);
        self.marks.pop();
        Ok(())
    }

    fn tuple(&mut self, from: usize) -> Result<(), Fault> {
        let items = self.stack.get(from..).unwrap_or_default();
        let pair = match items {
            &[first, second] => self.tables.pair_of(first, second),
            _ => None,
        };
        let value = match pair {
            Some(pair) => pair,
            None => {
                let list = self.tables.add_list(items);
                self.tables.add(Kind::Tuple(list))?
            }
        };
        self.stack.truncate(from);
        self.stack.push(value);
        Ok(())
    }

    fn refuse_global<'a>(&self, opcode: u8, rest: &'a [u8]) -> Rest<'a> {
        const LONGEST: usize = 200;
        let shown = rest.get(..LONGEST).unwrap_or(rest);
        let mut lines = shown.split(|&byte| byte == b'\n');
        let (module, name, end) = (lines.next(), lines.next(), lines.next());
        if end.is_none() && rest.len() < LONGEST {
            return Ok(None);
        }
        let text =
            |line: Option<&[u8]>| String::from_utf8_lossy(line.unwrap_or_default()).into_owned();
        let object = format!("{}.{}", text(module), text(name));
        Err(refusal(opcode, Some(object)).into())
    }

    /// What STACK_GLOBAL names: module and name, taken from the stack.
    fn take_object(&mut self) -> Option<String> {
        let from = self.stack.len().checked_sub(2)?;
        let object = match self.stack.get(from..)? {
            &[Value::Text(module), Value::Text(name)] => Some(format!(
                "{}.{}",
                self.tables.text(module),
                self.tables.text(name)
            )),
            _ => None,
        };
        self.stack.truncate(from);
        object
    }
}

const UNDERFLOW: &str = "an opcode needs values that are not there";

fn limit(what: &'static str, limit: usize) -> Fault {
    ReadErrorKind::Limit {
        what,
        limit: limit as u64,
    }
    .into()
}

/// Takes an argument of fixed length.
#[inline]
fn fixed<const N: usize>(rest: &[u8], act: impl FnOnce([u8; N]) -> Result<(), Fault>) -> Rest<'_> {
    let Some((argument, rest)) = rest.split_first_chunk() else {
        return Ok(None);
    };
    act(*argument)?;
    Ok(Some(rest))
}

/// A little-endian two's complement number of any length.
#[inline]
fn long_value(bytes: &[u8]) -> Value {
    let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
    let fill = if negative { 0xff } else { 0 };
    let mut low = [fill; 8];
    for (to, &from) in low.iter_mut().zip(bytes) {
        *to = from;
    }
    if bytes.iter().skip(8).any(|&byte| byte != fill) {
        return Value::Huge;
    }
    let number = i64::from_le_bytes(low);
    match (negative, number < 0) {
        (false, true) => Value::Unsigned(u64::from_le_bytes(low)),
        (true, false) => Value::Huge,
        _ => Value::Int(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_exact_or_called_huge() {
        for (bytes, value) in [
            (&[][..], Value::Int(0)),
            (&[0xff], Value::Int(-1)),
            (&[0xff, 0], Value::Int(255)),
            (&[0, 0, 0, 0, 0, 0, 0, 0x80], Value::Int(i64::MIN)),
            (
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0],
                Value::Unsigned(u64::MAX),
            ),
            (&[0, 0, 0, 0, 0, 0, 0, 0, 1], Value::Huge),
            (&[0, 0, 0, 0, 0, 0, 0, 0, 0xff], Value::Huge),
        ] {
            assert_eq!(long_value(bytes), value, "{bytes:x?}");
        }
    }
}
