//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::{run::RunArguments, simulate::SimulateArguments, whatif::WhatIfArguments};

/// The port that the app is served on unless it is taken.
const DEFAULT_PORT: u16 = 7860;

/// Shows what PyTorch's CUDA caching allocator really does with GPU memory.
#[derive(Debug, Parser)]
#[command(name = "vramscope", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Convert(ConvertArguments),
    Explain(ExplainArguments),
    Info(InfoArguments),
    Run(Box<RunArguments>),
    Serve(ServeArguments),
    Simulate(Box<SimulateArguments>),
    Verify(VerifyArguments),
    Whatif(Box<WhatIfArguments>),
}

/// Serve the app on this machine, with the built-in recordings and any that are named
///
/// Nothing leaves this machine: the server listens on 127.0.0.1 only, and the page loads nothing
/// from elsewhere.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Recordings, or folders of recordings, to offer on the start page
    #[arg(value_name = "FILES")]
    pub(crate) recordings: Vec<PathBuf>,

    /// Port to listen on; 0 takes any free one, and so does a port that is taken
    #[arg(long, default_value_t = DEFAULT_PORT)]
    pub(crate) port: u16,

    /// Print each request, to see that the page makes none after it has loaded
    #[arg(long)]
    pub(crate) log_requests: bool,
}

/// Say what a recording holds
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// The recording; - reads standard input
    pub(crate) file: PathBuf,

    /// Print one JSON object, with the names that docs/info.md documents
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write a recording as .vtrace
///
/// What the .json beside it says is taken over: marks, size of the card, figures of the run.
#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// The recording; - reads standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,

    /// The file to write
    #[arg(value_name = "OUT.vtrace")]
    pub(crate) output: PathBuf,

    /// Size of the card in bytes
    #[arg(long, value_name = "BYTES")]
    pub(crate) total: Option<u64>,

    /// Bytes that the allocator was allowed (set_per_process_memory_fraction)
    #[arg(long, value_name = "BYTES")]
    pub(crate) limit: Option<u64>,
}

/// Hold a recording against the allocator, event by event
///
/// Exit status 1 when it disagrees or is impossible.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The recording; - reads standard input
    pub(crate) file: PathBuf,

    /// Print one JSON object, with the names that docs/verify.md documents
    #[arg(long)]
    pub(crate) json: bool,
}

/// Say what an out-of-memory message means, which case it is and what helps
///
/// Finds every message of any PyTorch in a traceback or log, and memory_summary() and
/// memory_stats() beside them. No recording is needed.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The text with the message; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) message: PathBuf,

    /// Print one JSON object, with the names that docs/explain.md documents
    #[arg(long)]
    pub(crate) json: bool,
}
