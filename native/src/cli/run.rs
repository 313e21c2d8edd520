//! `vramscope run`: a Python script on the simulated card.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, error::ErrorKind};
use shared::allocator::{CardSize, TraceEvent};
use shared::script::{Options, Playground, ScriptError, Step};
use shared::settings::Settings;
use shared::units::parse_size;

use super::simulate::{event_lines, is_stdout, write};
use crate::output;

/// Run a PyTorch script on a simulated card, without any GPU
///
/// What the script prints goes to standard output. docs/playground.md says which part of Python
/// and PyTorch runs. Exit status 1 when the script stops with an error.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The script
    script: PathBuf,

    /// The card: sim:SIZE
    #[arg(long, value_name = "sim:SIZE", default_value = "sim:24GiB", value_parser = simulated)]
    device: u64,

    /// Settings in the words of PYTORCH_CUDA_ALLOC_CONF; the script may set others
    #[arg(long, value_name = "TEXT", value_parser = Settings::parse)]
    conf: Option<Settings>,

    /// Write what happened here, as a recording
    #[arg(short, value_name = "FILE.vtrace")]
    output: Option<PathBuf>,

    /// Write the events here, one JSON object a line; - is standard output, and what the script
    /// prints goes to standard error then
    #[arg(long, value_name = "FILE|-")]
    events: Option<PathBuf>,
}

fn simulated(text: &str) -> Result<u64, String> {
    let Some(size) = text.strip_prefix("sim:") else {
        return Err("cards are simulated: write sim:24GiB".to_owned());
    };
    parse_size(size).map_err(|error| error.to_string())
}

/// Instructions between two looks at what was printed.
const SLICE: u64 = 100_000;

/// Runs the script and writes what was asked for, also when it stops with an error.
pub(crate) fn run(arguments: &RunArguments) -> Result<()> {
    if arguments
        .output
        .as_ref()
        .is_some_and(|path| is_stdout(path))
    {
        let message = "-o needs the name of a file\n";
        clap::Error::raw(ErrorKind::ValueValidation, message).exit();
    }
    let path = &arguments.script;
    let script = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let options = Options {
        settings: arguments.conf.clone().unwrap_or_default().text,
        card: CardSize {
            capacity_bytes: arguments.device,
            others_bytes: 0,
        },
        ..Options::default()
    };
    let failed = |error: ScriptError| anyhow::anyhow!("{}: {error}", path.display());
    let mut playground = Playground::new(&script, &options).map_err(failed)?;
    let end = print_while_running(&mut playground, arguments)?;
    if let Some(path) = &arguments.events {
        let events: Vec<TraceEvent> = playground.events(0).map(|placed| placed.event).collect();
        write(path, &event_lines(&events)?)?;
    }
    if let Some(path) = &arguments.output {
        let file = shared::write::to_vtrace(&playground.recording(), output::compress_well);
        output::write(path, &file)?;
    }
    match end {
        Step::Failed(error) => bail!(failed(error)),
        _ => Ok(()),
    }
}

fn print_while_running(playground: &mut Playground, arguments: &RunArguments) -> Result<Step> {
    let to_stderr = arguments
        .events
        .as_ref()
        .is_some_and(|path| is_stdout(path));
    let mut printed = 0;
    loop {
        let step = playground.run(SLICE);
        let text = playground.output().get(printed..).unwrap_or_default();
        let written = if to_stderr {
            std::io::stderr().write_all(text.as_bytes())
        } else {
            let mut stdout = std::io::stdout().lock();
            stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush())
        };
        match written {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(Step::Ended),
            other => other.context("cannot write what the script prints")?,
        }
        printed = playground.output().len();
        if step != Step::Going {
            return Ok(step);
        }
    }
}
