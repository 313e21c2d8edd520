//! What becomes of lists and dictionaries when their items arrive: a dictionary that describes
//! something known becomes a row, a list of frames a stack, a list of events a trace.

use crate::read::ReadErrorKind;
use crate::read::pickle::fields::{Fault, Shape, describe, describe_kind};
use crate::read::pickle::machine::{Machine, malformed};
use crate::read::pickle::value::{Container, Kind, Value};
use crate::warning::{Place, WarningKind};

impl Machine {
    /// The container below the items that begin at `from`.
    #[inline]
    fn owner(&self, from: usize) -> Result<Container, Fault> {
        match from.checked_sub(1).and_then(|at| self.stack.get(at)) {
            Some(&Value::Container(container)) => Ok(container),
            _ => Err(malformed(
                "items are added to something that is no list or dictionary",
            )),
        }
    }

    /// Adds the items from `from` on to the list below them.
    #[inline]
    pub(super) fn append(&mut self, from: usize) -> Result<(), Fault> {
        let owner = self.owner(from)?;
        let Some(&first) = self.stack.get(from) else {
            return Ok(());
        };
        let kind = self.tables.kind(owner);
        match (kind, self.tables.kind_of(first)) {
            (Kind::EmptyList | Kind::Stack(_), Some(Kind::Frame(_))) => {
                self.append_frames(owner, kind, from)
            }
            (Kind::EmptyList | Kind::Trace(_), Some(Kind::Event(_))) => {
                self.append_events(owner, kind, from)
            }
            (_, Some(Kind::Dict(_))) if self.settle(from)? => self.append(from),
            (Kind::EmptyList, _) => {
                let list = self
                    .tables
                    .add_list(self.stack.get(from..).unwrap_or_default());
                Ok(self.tables.set_kind(owner, Kind::List(list))?)
            }
            (Kind::List(list), _) => {
                let items = self.stack.get(from..).unwrap_or_default();
                self.tables.extend_list(list, items);
                Ok(())
            }
            (kind, _) => Err(ReadErrorKind::WrongType {
                expected: match kind {
                    Kind::Stack(_) => "a stack frame",
                    Kind::Trace(_) => "a trace entry",
                    _ => "a list to add to",
                },
                found: self.describe(first),
            }
            .into()),
        }
    }

    fn append_frames(&mut self, owner: Container, kind: Kind, from: usize) -> Result<(), Fault> {
        self.frames.clear();
        if let Kind::Stack(stack) = kind {
            // The rest of a long list: nothing was made of its beginning yet but the stack.
            self.frames.extend(self.rows.frames_of(stack));
        }
        for &item in self.stack.get(from..).unwrap_or_default() {
            match self.tables.kind_of(item) {
                Some(Kind::Frame(frame)) => self.frames.push(frame),
                _ => {
                    return Err(ReadErrorKind::WrongType {
                        expected: "a stack frame",
                        found: self.describe(item),
                    }
                    .into());
                }
            }
        }
        let stack = self.rows.stack(&self.frames)?;
        Ok(self.tables.set_kind(owner, Kind::Stack(stack))?)
    }

    fn append_events(&mut self, owner: Container, kind: Kind, from: usize) -> Result<(), Fault> {
        let items = self.stack.get(from..).unwrap_or_default();
        let mut expected = None;
        for &item in items {
            match self.tables.kind_of(item) {
                Some(Kind::Event(row)) if expected.is_none_or(|next| next == row) => {
                    expected = Some(row + 1);
                }
                Some(Kind::Event(_)) => return Err(malformed("trace entries are out of order")),
                _ => {
                    return Err(ReadErrorKind::WrongType {
                        expected: "a trace entry",
                        found: self.describe(item),
                    }
                    .into());
                }
            }
        }
        let known = match kind {
            Kind::Trace(trace) => Some(trace),
            _ => None,
        };
        let trace = self.rows.traces.claim(known, items.len())?;
        Ok(self.tables.set_kind(owner, Kind::Trace(trace))?)
    }

    /// Recognises dictionaries that got their keys one by one; whether the first was.
    fn settle(&mut self, from: usize) -> Result<bool, Fault> {
        for at in from..self.stack.len() {
            let Some(&Value::Container(container)) = self.stack.get(at) else {
                continue;
            };
            if !matches!(self.tables.kind(container), Kind::Dict(_)) {
                continue;
            }
            self.fields.clear();
            for &(key, value) in self
                .tables
                .dict(Value::Container(container))
                .unwrap_or_default()
            {
                self.fields.set(key, value);
            }
            if let Some(kind) = self.recognise(0)? {
                self.tables.set_kind(container, kind)?;
            }
        }
        let first = self
            .stack
            .get(from)
            .and_then(|&first| self.tables.kind_of(first));
        Ok(!matches!(first, Some(Kind::Dict(_))))
    }

    /// Gives the keys and values from `from` on to the dictionary below them. With `left` bytes of
    /// the input at hand behind it.
    #[inline]
    pub(super) fn set_items(&mut self, from: usize, left: usize) -> Result<(), Fault> {
        let owner = self.owner(from)?;
        let items = self.stack.get(from..).unwrap_or_default();
        let (pairs, odd) = items.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(malformed("a key has no value"));
        }
        if self.tables.kind(owner) != Kind::EmptyDict {
            return self.extend(owner, from);
        }
        self.fields.clear();
        for &[key, value] in pairs {
            self.fields.set(key, value);
        }
        match self.recognise(left)? {
            Some(kind) => Ok(self.tables.set_kind(owner, kind)?),
            None => self.extend(owner, from),
        }
    }

    /// What the fields at hand describe, made into a row; `None` when it is nothing known.
    #[inline]
    fn recognise(&mut self, left: usize) -> Result<Option<Kind>, Fault> {
        let kind = match self.fields.shape() {
            Shape::Event => self.rows.event(&self.fields, &self.tables)?,
            Shape::Frame => self.rows.frame(&self.fields, &self.tables)?,
            Shape::Block => self.rows.block(&self.fields, &self.tables)?,
            Shape::Segment => self.rows.segment(&self.fields, &self.tables)?,
            Shape::Annotation => self.rows.annotation(&self.fields, &self.tables)?,
            Shape::Other => return Ok(None),
        };
        if self.fields.unknown() > 0 {
            let place = Place::Byte(self.end - left as u64);
            let warnings = self.rows.builder.warnings();
            warnings.add_many(WarningKind::UnknownKey, place, self.fields.unknown());
        }
        Ok(Some(kind))
    }

    /// One key and its value: nothing is recognised before the dictionary is used.
    pub(super) fn set_item(&mut self, from: usize) -> Result<(), Fault> {
        let owner = self.owner(from)?;
        self.extend(owner, from)
    }

    fn extend(&mut self, owner: Container, from: usize) -> Result<(), Fault> {
        let items = self.stack.get(from..).unwrap_or_default();
        let pairs = items
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[key, value]| (key, value));
        for (_, value) in pairs.clone() {
            if let Some(Kind::Event(row)) = self.tables.kind_of(value) {
                self.rows.traces.disown(row);
            }
        }
        let dict = match self.tables.kind(owner) {
            Kind::Dict(dict) => dict,
            Kind::EmptyDict => {
                let dict = self.tables.add_dict();
                self.tables.set_kind(owner, Kind::Dict(dict))?;
                dict
            }
            _ => {
                let what = "keys are added to something that is no open dictionary";
                return Err(malformed(what));
            }
        };
        self.tables.extend_dict(dict, pairs);
        Ok(())
    }

    fn describe(&self, value: Value) -> String {
        match self.tables.kind_of(value) {
            Some(kind) => describe_kind(kind).to_owned(),
            None => describe(value),
        }
    }
}
