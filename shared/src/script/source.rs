//! The text of a script and places in it.

use super::error::{Exhausted, Position, ScriptError, ScriptErrorKind};
use super::limits::Limits;

/// A script and where its lines begin.
#[derive(Clone, Debug)]
pub(super) struct Source {
    text: String,
    line_starts: Vec<u32>,
}

impl Source {
    pub(super) fn new(text: &str, limits: &Limits) -> Result<Self, ScriptError> {
        if text.len() > limits.source_bytes {
            return Err(too_much(limits.source_bytes, Position::default()));
        }
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0)
            .chain(starts.map(|(at, _)| at as u32 + 1))
            .collect();
        Ok(Self {
            text: text.to_owned(),
            line_starts,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Line of a byte offset, from 1.
    pub(super) fn line(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|start| *start <= offset) as u32
    }

    /// Byte offset at which the line of `offset` ends.
    pub(super) fn line_end(&self, offset: u32) -> u32 {
        let next = self.line_starts.get(self.line(offset) as usize);
        next.map_or(self.text.len() as u32, |next| next - 1)
    }

    /// The place of a byte range; its end is cut at the end of the line.
    pub(super) fn position(&self, start: u32, end: u32) -> Position {
        let line = self.line(start);
        let from = self
            .line_starts
            .get(line as usize - 1)
            .copied()
            .unwrap_or(0);
        let characters = |to: u32| {
            let part = self
                .text
                .get(from as usize..to as usize)
                .unwrap_or_default();
            part.chars().count() as u32 + 1
        };
        let column = characters(start);
        Position {
            line,
            column,
            end_column: characters(end.min(self.line_end(start))).max(column),
        }
    }

    /// Refuses scripts that nest so deeply that parsing them could overflow the stack.
    pub(super) fn check_nesting(&self, limits: &Limits) -> Result<(), ScriptError> {
        let mut open = 0usize;
        let mut prefixes = 0usize;
        for (at, byte) in self.text.bytes().enumerate() {
            match byte {
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' => open = open.saturating_sub(1),
                b'-' | b'~' | b'+' | b'*' => prefixes += 1,
                b'\n' => prefixes = 0,
                _ => {}
            }
            if open > limits.nesting || prefixes > limits.nesting * 10 {
                return Err(too_much(
                    limits.nesting,
                    self.position(at as u32, at as u32 + 1),
                ));
            }
        }
        for (line, text) in self.text.lines().enumerate() {
            let indent = text.len() - text.trim_start().len();
            let words = text.split_whitespace();
            let nots = words
                .filter(|word| ["not", "lambda", "lambda:", "if", "else", "await"].contains(word))
                .count();
            if indent > limits.nesting * 8 || nots > limits.nesting * 2 {
                let start = self.line_starts.get(line).copied().unwrap_or(0);
                return Err(too_much(limits.nesting, self.position(start, start)));
            }
        }
        Ok(())
    }
}

fn too_much(limit: usize, position: Position) -> ScriptError {
    ScriptError {
        position,
        kind: ScriptErrorKind::Limit {
            exhausted: Exhausted::Source,
            limit: limit as u64,
        },
    }
}
