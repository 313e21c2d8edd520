//! Why a script stopped: what happened, where, and what to write instead.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in the script's text, in characters as editors count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Column after the last character; at least `column`.
    pub end_column: u32,
}

/// Which of the limits a script ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exhausted {
    /// Instructions executed.
    Steps,
    /// Events of the allocator.
    Events,
    /// Bytes printed.
    Output,
    /// Items, characters or digits that one value holds.
    ValueSize,
    /// Values alive at once.
    Values,
    /// Bytes or nesting of the script itself.
    Source,
}

/// What stopped a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptErrorKind {
    /// It is not Python.
    Syntax {
        /// The parser's words.
        message: String,
    },
    /// It is Python, but outside of the part that runs here.
    Unsupported {
        /// What was asked for.
        what: String,
        /// What is supported in its place.
        instead: String,
    },
    /// An exception that nothing caught.
    Uncaught {
        /// Name of its class as Python prints it (`torch.OutOfMemoryError`).
        class: String,
        /// Its text.
        message: String,
        /// The calls that led there, outermost first: function and line.
        calls: Vec<(String, u32)>,
    },
    /// A limit that keeps a script from hanging the page.
    Limit {
        /// Which.
        exhausted: Exhausted,
        /// Its value.
        limit: u64,
    },
}

/// Why a script stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptError {
    /// Where.
    pub position: Position,
    /// What happened.
    pub kind: ScriptErrorKind,
}

impl std::error::Error for ScriptError {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column, .. } = self.position;
        write!(f, "line {line}, column {column}: ")?;
        match &self.kind {
            ScriptErrorKind::Syntax { message } => write!(f, "SyntaxError: {message}"),
            ScriptErrorKind::Unsupported { what, instead } => {
                write!(f, "{what} is outside of the playground. {instead}")
            }
            ScriptErrorKind::Uncaught { class, message, .. } if message.is_empty() => {
                f.write_str(class)
            }
            ScriptErrorKind::Uncaught { class, message, .. } => write!(f, "{class}: {message}"),
            ScriptErrorKind::Limit { exhausted, limit } => exhausted.write(f, *limit),
        }
    }
}

impl Exhausted {
    fn write(self, f: &mut fmt::Formatter<'_>, limit: u64) -> fmt::Result {
        match self {
            Self::Steps => write!(
                f,
                "stopped after {limit} instructions: is there a loop that never ends?"
            ),
            Self::Events => write!(f, "stopped after {limit} events of the allocator"),
            Self::Output => write!(f, "stopped after printing {limit} bytes"),
            Self::ValueSize => write!(
                f,
                "stopped: a list, text or number would grow beyond {limit} items or digits"
            ),
            Self::Values => write!(f, "stopped: more than {limit} objects are alive"),
            Self::Source => write!(
                f,
                "the script is too long or nests too deeply (limit {limit})"
            ),
        }
    }
}
