//! The command line of vramscope.
//!
//! What was typed becomes [`cli::args`], each command has a file of its own, and this file turns
//! their result into an exit status: 0, 1 for bad input with one line on standard error, 2 for
//! wrong usage.

mod cli;
mod input;
mod output;
mod server;
mod sidecar;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // Wrong usage ends here, with status 2.
    let arguments = cli::args::Arguments::parse();
    match cli::run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line: scripts read it, and people see it among much else.
            let line = format!("{error:#}")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            eprintln!("vramscope: {line}");
            ExitCode::from(1)
        }
    }
}
