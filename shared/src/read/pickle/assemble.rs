//! Puts the recording together when the pickle has ended, or has broken off.

use crate::ids::{DeviceIndex, EventIndex, TextId};
use crate::model::{Action, Source};
use crate::read::pickle::fields::{describe, describe_kind};
use crate::read::pickle::machine::Machine;
use crate::read::pickle::value::{Kind, Value};
use crate::read::pickle::words::Word;
use crate::read::{ReadError, ReadErrorKind};
use crate::store::{EventColumns, Recording};
use crate::warning::{Place, WarningKind};

/// Nested settings are written out up to this depth and length; PyTorch nests them once.
const SETTINGS_DEPTH: usize = 4;
const SETTINGS_BYTES: usize = 4096;

impl Machine {
    /// The recording, where STOP left one; `offset` is where it did.
    pub(super) fn assemble(mut self, offset: u64) -> Result<Recording, ReadError> {
        let top = self.result.unwrap_or(Value::None);
        self.take_top(top)
            .map_err(|(kind, path)| ReadError { kind, offset, path })?;
        Ok(self.rows.builder.finish())
    }

    /// What was complete when the file broke off, if that was anything.
    pub(super) fn assemble_part(mut self, offset: u64) -> Result<Recording, ReadError> {
        let path = self.path(None);
        let truncated = ReadError {
            kind: ReadErrorKind::Truncated,
            offset,
            path,
        };
        self.close_what_is_open();
        self.is_part = true;
        let Some(&top) = self.stack.first() else {
            return Err(truncated);
        };
        if self.take_top(top).is_err() {
            return Err(truncated);
        }
        let mut builder = self.rows.builder;
        builder
            .warnings()
            .add(WarningKind::Truncated, Place::Byte(offset));
        let recording = builder.finish();
        if recording.devices.is_empty() {
            return Err(truncated);
        }
        Ok(recording)
    }

    /// Closes the open lists, innermost first, with the items that are complete. Dictionaries that
    /// are not complete are dropped, but for the outermost.
    fn close_what_is_open(&mut self) {
        while let Some(from) = self.marks.last().copied() {
            let owner = from
                .checked_sub(1)
                .and_then(|at| self.stack.get(at))
                .copied();
            match owner.and_then(|owner| self.tables.kind_of(owner)) {
                Some(Kind::EmptyDict | Kind::Dict(_)) if from == 1 => self.close_top(from),
                Some(Kind::EmptyDict | Kind::Dict(_)) => self.stack.truncate(from - 1),
                _ => {
                    self.drop_incomplete(from);
                    self.close_single(from);
                    // A list that takes none of it stays as it is.
                    let _ = self.append(from);
                    self.stack.truncate(from);
                }
            }
            self.marks.pop();
        }
    }

    /// Drops dictionaries that have no key yet from the end of the stack.
    fn drop_incomplete(&mut self, from: usize) {
        while self.stack.len() > from
            && let Some(&last) = self.stack.last()
            && matches!(self.tables.kind_of(last), None | Some(Kind::EmptyDict))
        {
            self.stack.pop();
        }
    }

    /// Gives the last item to the empty list before it, whose only item it is.
    fn close_single(&mut self, from: usize) {
        let last = self.stack.len().saturating_sub(1);
        let kind = |at: usize| {
            self.stack
                .get(at)
                .and_then(|&value| self.tables.kind_of(value))
        };
        let is_item = matches!(
            kind(last),
            Some(Kind::Event(_) | Kind::Segment(_) | Kind::Block(_))
        );
        if last > from
            && is_item
            && kind(last - 1) == Some(Kind::EmptyList)
            && self.append(last).is_ok()
        {
            self.stack.truncate(last);
        }
    }

    /// Sets the pairs of the outermost dictionary; a list behind a value is the value's only item.
    fn close_top(&mut self, from: usize) {
        let mut at = from;
        while let (Some(&Value::Text(_)), Some(_)) = (self.stack.get(at), self.stack.get(at + 1)) {
            while self.stack.len() > at + 2
                && !matches!(self.stack.get(at + 2), Some(Value::Text(_)))
            {
                // Only the innermost of such lists can hold something: append from the end.
                let end = self.stack.len();
                let nested = (at + 2..end)
                    .take_while(|&at| !matches!(self.stack.get(at), Some(Value::Text(_))))
                    .count();
                if at + 2 + nested < end || self.append(at + 1 + nested).is_err() {
                    break;
                }
                self.stack.truncate(at + 1 + nested);
            }
            at += 2;
        }
        self.stack.truncate(at);
        let _ = self.set_items(from, 0);
        self.stack.truncate(from);
    }

    fn take_top(&mut self, top: Value) -> Result<(), (ReadErrorKind, String)> {
        let is_snapshot = |word| self.tables.find(top, word).is_some();
        if is_snapshot(Word::Segments) || is_snapshot(Word::DeviceTraces) {
            self.rows.builder.environment().source = Source::PytorchSnapshot;
            self.take_snapshot(top)
        } else if self.is_segment_list(top) {
            self.rows.builder.environment().source = Source::PytorchSegments;
            self.take_segments(top, "")
        } else {
            let kind = ReadErrorKind::NotASnapshot(self.describe_top(top));
            Err((kind, String::new()))
        }
    }

    fn is_segment_list(&self, top: Value) -> bool {
        let Value::Container(container) = top else {
            return false;
        };
        let items = self.tables.list(container);
        items.is_some_and(|items| {
            let is_segment =
                |&item: &Value| matches!(self.tables.kind_of(item), Some(Kind::Segment(_)));
            items.iter().all(is_segment)
        })
    }

    fn describe_top(&self, top: Value) -> String {
        let keys: Vec<String> = self
            .tables
            .dict(top)
            .unwrap_or_default()
            .iter()
            .take(5)
            .filter_map(|&(key, _)| match key {
                Value::Text(text) => Some(format!("{:?}", cut(self.tables.text(text)))),
                _ => None,
            })
            .collect();
        if !keys.is_empty() {
            return format!("a dictionary with the keys {}", keys.join(", "));
        }
        match self.tables.kind_of(top) {
            Some(kind) => describe_kind(kind).to_owned(),
            None => describe(top),
        }
    }

    fn take_snapshot(&mut self, top: Value) -> Result<(), (ReadErrorKind, String)> {
        let pairs = self.tables.dict(top).unwrap_or_default().to_vec();
        for (key, value) in pairs {
            let word = match key {
                Value::Text(text) => Word::of(text),
                _ => None,
            };
            match word {
                Some(Word::Segments) => self.take_segments(value, Word::Segments.text())?,
                Some(Word::DeviceTraces) => self.take_traces(value)?,
                Some(Word::AllocatorSettings) => self.take_settings(value),
                Some(Word::ExternalAnnotations) => {
                    for annotation in std::mem::take(&mut self.rows.annotations) {
                        self.rows.builder.annotation(annotation);
                    }
                }
                Some(Word::HostSegments | Word::HostTraces) => {
                    let count = self.count(value);
                    let warnings = self.rows.builder.warnings();
                    warnings.add_many(WarningKind::HostMemory, Place::Recording, count);
                }
                _ => {
                    let warnings = self.rows.builder.warnings();
                    warnings.add(WarningKind::UnknownKey, Place::Recording);
                }
            }
        }
        Ok(())
    }

    /// How many entries lists of entries hold.
    fn count(&self, value: Value) -> u64 {
        match (value, self.tables.kind_of(value)) {
            (_, Some(Kind::Trace(trace))) => self.rows.traces.len(trace) as u64,
            (Value::Container(container), Some(Kind::List(_))) => {
                let items = self.tables.list(container).unwrap_or_default();
                let entries = items.iter().map(|&item| match self.tables.kind_of(item) {
                    Some(Kind::Trace(trace)) => self.rows.traces.len(trace) as u64,
                    Some(Kind::EmptyList) => 0,
                    _ => 1,
                });
                entries.sum()
            }
            _ => 0,
        }
    }

    fn items(&self, value: Value, path: &str) -> Result<Vec<Value>, (ReadErrorKind, String)> {
        let items = match value {
            Value::Container(container) => self.tables.list(container),
            _ => None,
        };
        match items {
            Some(items) => Ok(items.to_vec()),
            None => Err(self.unexpected("a list", value, path.to_owned())),
        }
    }

    fn unexpected(
        &self,
        expected: &'static str,
        value: Value,
        path: String,
    ) -> (ReadErrorKind, String) {
        let found = self.describe_top(value);
        (ReadErrorKind::WrongType { expected, found }, path)
    }

    fn take_segments(&mut self, list: Value, path: &str) -> Result<(), (ReadErrorKind, String)> {
        for (at, item) in self.items(list, path)?.into_iter().enumerate() {
            let segment = match self.tables.kind_of(item) {
                Some(Kind::Segment(segment)) => self.rows.segments.get_mut(segment as usize),
                _ => None,
            };
            match segment.and_then(Option::take) {
                Some((device, segment)) => self.rows.builder.segment(device, segment),
                None if self.is_part => {}
                None => {
                    let expected = "a segment that is listed once";
                    return Err(self.unexpected(expected, item, format!("{path}[{at}]")));
                }
            }
        }
        Ok(())
    }

    fn take_traces(&mut self, list: Value) -> Result<(), (ReadErrorKind, String)> {
        let path = Word::DeviceTraces.text();
        for (at, item) in self.items(list, path)?.into_iter().enumerate() {
            let device = DeviceIndex(u32::try_from(at).unwrap_or(u32::MAX));
            let events = match self.tables.kind_of(item) {
                Some(Kind::EmptyList) => continue,
                Some(Kind::Trace(trace)) => self.rows.traces.take(trace),
                _ => None,
            };
            let Some(events) = events else {
                if self.is_part {
                    continue;
                }
                let expected = "a list of trace entries that is listed once";
                return Err(self.unexpected(expected, item, format!("{path}[{at}]")));
            };
            self.warn_of_unknown_actions(device, &events);
            self.rows.builder.device(device).events = events;
        }
        Ok(())
    }

    fn warn_of_unknown_actions(&mut self, device: DeviceIndex, events: &EventColumns) {
        let unknown = || {
            events
                .actions()
                .enumerate()
                .filter(|&(_, action)| action == Action::Unknown)
        };
        if let Some((first, _)) = unknown().next() {
            let place = Place::Event(device, EventIndex(u32::try_from(first).unwrap_or(u32::MAX)));
            let warnings = self.rows.builder.warnings();
            warnings.add_many(WarningKind::UnknownAction, place, unknown().count() as u64);
        }
    }

    fn take_settings(&mut self, settings: Value) {
        let Some(pairs) = self.tables.dict(settings) else {
            return;
        };
        let mut listed = Vec::with_capacity(pairs.len());
        let mut recorded = None;
        for &(key, value) in pairs {
            let mut text = String::new();
            self.write_setting(value, 0, &mut text);
            if key == Value::Text(TextId(Word::AllocConf as u32)) {
                recorded = Some(text.clone());
            }
            let mut name = String::new();
            self.write_setting(key, 0, &mut name);
            listed.push((name, text));
        }
        let environment = self.rows.builder.environment();
        environment.settings = listed;
        environment.settings_text = recorded;
    }

    /// Writes a value as Python prints it; a dictionary as `[1:0,2:0]`, the form in which the
    /// settings themselves list divisions (§11.1).
    fn write_setting(&self, value: Value, depth: usize, text: &mut String) {
        if text.len() > SETTINGS_BYTES || depth > SETTINGS_DEPTH {
            text.push('…');
            return;
        }
        let shown = match value {
            Value::Text(id) => cut(self.tables.text(id)).to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Unsigned(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Pair(pair) => {
                let pool = self.tables.pair(pair).unwrap_or_default();
                format!("({}, {})", pool.0, pool.1)
            }
            Value::Container(container) => {
                text.push('[');
                for (at, &(key, value)) in self
                    .tables
                    .dict(value)
                    .unwrap_or_default()
                    .iter()
                    .enumerate()
                {
                    if at > 0 {
                        text.push(',');
                    }
                    self.write_setting(key, depth + 1, text);
                    text.push(':');
                    self.write_setting(value, depth + 1, text);
                    if text.len() > SETTINGS_BYTES {
                        break;
                    }
                }
                for (at, &item) in self
                    .tables
                    .list(container)
                    .unwrap_or_default()
                    .iter()
                    .enumerate()
                {
                    if at > 0 {
                        text.push(',');
                    }
                    self.write_setting(item, depth + 1, text);
                    if text.len() > SETTINGS_BYTES {
                        break;
                    }
                }
                "]".to_owned()
            }
            other => describe(other),
        };
        text.push_str(&shown);
    }
}

/// The beginning of a text, for messages.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(200))
        .unwrap_or_default()
}
