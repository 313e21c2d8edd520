//! Where in the recording the machine is, as Python would write it.

use std::fmt::Write;

use crate::read::pickle::machine::Machine;
use crate::read::pickle::value::{Kind, Value};

/// Deeper places are cut.
const LONGEST: usize = 200;

impl Machine {
    /// The place of the value that is being read: `device_traces[0][17].size`. Of the dictionary
    /// that is being closed, `key` is the key in question; empty for none.
    pub(super) fn path(&self, key: Option<&str>) -> String {
        let mut path = String::new();
        for (level, &mark) in self.marks.iter().enumerate() {
            let inner = self.marks.get(level + 1).copied();
            let items = self.stack.get(mark..inner.unwrap_or(self.stack.len()));
            let owner = mark.checked_sub(1).and_then(|at| self.stack.get(at));
            let kind = owner.and_then(|&owner| self.tables.kind_of(owner));
            let named_by_caller = inner.is_none() && key.is_some();
            match (kind, items) {
                (Some(Kind::EmptyDict | Kind::Dict(_)), _) if named_by_caller => {}
                (Some(Kind::EmptyDict | Kind::Dict(_)), Some(items)) => {
                    self.step_into_dict(items, &mut path);
                }
                (Some(list), Some(items)) => {
                    let index = self.len(list) + items.len().saturating_sub(1);
                    let _ = write!(path, "[{index}]");
                }
                _ => {}
            }
            if path.len() > LONGEST {
                return path;
            }
        }
        add_key(&mut path, key.unwrap_or_default());
        path
    }

    /// Adds the key whose value is being read. What stands behind a value is a list's only item,
    /// which will be appended to it.
    fn step_into_dict(&self, items: &[Value], path: &mut String) {
        let is_text = |value: &&Value| matches!(value, Value::Text(_));
        let mut rest = items;
        let mut last: &[Value] = &[];
        while let [Value::Text(_), behind @ ..] = rest {
            // The key, its value, and all that follows up to the next key.
            let nested = behind
                .iter()
                .skip(1)
                .take_while(|next| !is_text(next))
                .count();
            let (pair, next) = rest.split_at((2 + nested).min(rest.len()));
            (last, rest) = (pair, next);
        }
        if let [Value::Text(key), nested @ ..] = last {
            add_key(path, self.tables.text(*key));
            let owners = nested.len().saturating_sub(1);
            for &list in nested.iter().take(owners) {
                let index = self.tables.kind_of(list).map_or(0, |kind| self.len(kind));
                let _ = write!(path, "[{index}]");
            }
        }
    }

    fn len(&self, kind: Kind) -> usize {
        match kind {
            Kind::List(list) => self.tables.list_len(list),
            Kind::Trace(trace) => self.rows.traces.len(trace),
            _ => 0,
        }
    }
}

fn add_key(path: &mut String, key: &str) {
    if key.is_empty() {
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}
