//! The commands that build, run and test vramscope: `cargo xtask …`.

mod check;
mod need;
mod page;
mod shell;
mod tidy;

use std::path::PathBuf;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  run [ARGUMENTS]  build page and server in release mode and serve the app
                   (ARGUMENTS go to `vramscope serve`: recordings, --port N, …)
  test             formatting, lints for both targets, all Rust tests, and the page's tests in
                   headless Chromium
  bench            measure in release mode: how fast a long recording opens, natively and in
                   Chromium, beside CPython; and the allocator on recorded lists
  tidy             check length of files, layers of `shared`, notes without a name
  dist             leave a static site in dist/ that any static host serves
  page [--dev]     build the page only into dist/ (--dev: quick to build, large and slow)
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["run", for_server @ ..] => run(for_server),
        ["test"] => check::test(),
        ["bench"] => bench(),
        ["tidy"] => tidy::tidy(),
        ["dist"] => page::dist(),
        ["page"] => page::build(page::Profile::Page),
        ["page", "--dev"] => page::build(page::Profile::Dev),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => bail!("which command?\n\n{USAGE}"),
        [other, ..] => bail!("no such command, or not with these arguments: {other}\n\n{USAGE}"),
    }
}

/// Builds everything in release mode and serves the app until it is stopped.
fn run(for_server: &[&str]) -> Result<()> {
    let binary = build_all()?;
    shell::run(shell::command(binary).arg("serve").args(for_server))
}

/// Builds everything in release mode and measures it.
fn bench() -> Result<()> {
    let browser = need::browser()?;
    let binary = build_all()?;
    shell::cargo(["build", "--package", "tests", "--bin", "measure"])?;
    let measure = shell::target_directory().join("debug").join("measure");
    shell::run(
        shell::command(measure)
            .arg(binary)
            .env("CHROME", browser.chrome)
            .env("CHROMEDRIVER", browser.chromedriver),
    )?;
    shell::cargo(["bench", "--package", "tests", "--bench", "allocator"])
}

/// The page, and the command line with the page inside; where that lies.
fn build_all() -> Result<PathBuf> {
    page::build(page::Profile::Page)?;
    shell::cargo(["build", "--release", "--package", "native"])?;
    Ok(shell::target_directory().join("release").join("vramscope"))
}
