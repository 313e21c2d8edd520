//! Other programs, run in the root of the repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the repository")
}

/// Where cargo leaves what it builds.
pub(crate) fn target_directory() -> PathBuf {
    // The process is built by the same cargo: target/PROFILE/xtask.
    let xtask = std::env::current_exe().ok();
    let target = xtask
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::parent);
    target.map_or_else(|| root().join("target"), Path::to_owned)
}

/// A program to be run in the root of the repository.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Runs it with its output shown; an exit status other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command
        .status()
        .with_context(|| format!("cannot run: {shown}"))?;
    if !status.success() {
        bail!("{status}: {shown}");
    }
    Ok(())
}

/// Runs it and takes its standard output; an exit status other than 0 is an error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let output = command
        .output()
        .with_context(|| format!("cannot run: {shown}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}: {shown}\n{}", output.status, said.trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs cargo, the one that runs this.
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Result<()> {
    run(command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).args(arguments))
}

/// The first of these programs that is on the path.
pub(crate) fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|candidate| candidate.is_file())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
