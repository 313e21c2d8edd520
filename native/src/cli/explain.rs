//! `vramscope explain --message`: what an out-of-memory message says, without a recording.
//! `docs/explain.md` documents the names of the JSON object; they are stable.

mod json;
mod text;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use shared::analysis::oom::explain;

use super::args::ExplainArguments;

/// Prints what the messages of a text say.
pub(crate) fn run(arguments: &ExplainArguments) -> Result<()> {
    let path = &arguments.message;
    let bytes = read(path).with_context(|| path.display().to_string())?;
    let explanation = explain(&String::from_utf8_lossy(&bytes));
    if explanation.messages.is_empty() && explanation.statistics.is_empty() {
        anyhow::bail!(
            "{}: no out-of-memory message of PyTorch in this text, and no memory_summary() or \
             memory_stats(); give it the whole error with its figures",
            path.display()
        );
    }
    let mut output = if arguments.json {
        serde_json::to_string_pretty(&json::report(&explanation))? + "\n"
    } else {
        text::text(&explanation)
    };
    if !output.ends_with('\n') {
        output.push('\n');
    }
    match io::stdout().lock().write_all(output.as_bytes()) {
        // `| head` has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}
