//! `cargo xtask test`: everything that has to hold, in the order in which it fails soonest.

use anyhow::Result;

use crate::need::{self, WASM};
use crate::page::{self, Profile};
use crate::shell::{self, cargo, command};

/// Formatting, lints for both targets, the page, and all tests.
pub(crate) fn test() -> Result<()> {
    heading("what is needed");
    need::rustfmt_and_clippy()?;
    need::wasm_target()?;
    let browser = need::browser()?;
    println!("browser: {}", browser.chrome.display());
    println!("driver:  {}", browser.chromedriver.display());

    heading("formatting");
    cargo(["fmt", "--all", "--check"])?;

    heading("lints, host");
    cargo([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])?;

    heading("lints, page");
    cargo([
        "clippy", "-p", "shared", "-p", "web", "--target", WASM, "--", "-D", "warnings",
    ])?;

    heading("the page");
    page::build(Profile::Page)?;

    heading("tests: Rust, and the page in headless Chromium");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    shell::run(
        command(cargo)
            .args(["test", "--workspace", "--no-fail-fast"])
            .env("CHROME", &browser.chrome)
            .env("CHROMEDRIVER", &browser.chromedriver),
    )
}

fn heading(text: &str) {
    println!("\n=== {text} ===");
}
