//! The commands: one file each.

pub(crate) mod args;
mod serve;

use anyhow::Result;

use args::{Arguments, Command};

/// Does what was asked for.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Serve(arguments) => serve::run(&arguments),
    }
}
