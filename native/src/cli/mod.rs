//! The commands: one file each.

pub(crate) mod args;
mod convert;
mod explain;
mod info;
mod run;
mod serve;
mod simulate;
mod verify;
mod whatif;

use anyhow::Result;

use args::{Arguments, Command};

/// Does what was asked for.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Whatif(arguments) => whatif::run(&arguments),
    }
}
