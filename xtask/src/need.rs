//! What the commands need of the machine: installed where that is possible, named exactly where
//! it is not.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::shell::{command, find_program, output, run};

/// The target that the page is compiled for.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// The standard library for [`WASM`], by rustup.
pub(crate) fn wasm_target() -> Result<()> {
    let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
    let library = Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(WASM)
        .join("lib");
    if library.is_dir() {
        return Ok(());
    }
    if find_program(&["rustup"]).is_none() {
        bail!(
            "missing: Rust's standard library for {WASM} (with rustup: rustup target add {WASM})"
        );
    }
    run(command("rustup").args(["target", "add", WASM]))
}

/// rustfmt and clippy, by rustup.
pub(crate) fn rustfmt_and_clippy() -> Result<()> {
    for (component, program) in [("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")] {
        if output(command(program).arg("--version")).is_ok() {
            continue;
        }
        if find_program(&["rustup"]).is_none() {
            bail!("missing: {component} (with rustup: rustup component add {component})");
        }
        run(command("rustup").args(["component", "add", component]))?;
    }
    Ok(())
}

/// The browser that the page's tests drive, and its driver.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) chrome: PathBuf,
    pub(crate) chromedriver: PathBuf,
}

const CHROME: Program = Program {
    variable: "CHROME",
    names: &[
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
    ],
    what: "Chromium or Chrome",
};
const CHROMEDRIVER: Program = Program {
    variable: "CHROMEDRIVER",
    names: &["chromedriver"],
    what: "ChromeDriver of the same version",
};

/// Chromium and its driver: from `CHROME` and `CHROMEDRIVER`, from the path, or by apt.
pub(crate) fn browser() -> Result<Browser> {
    let (chrome, chromedriver) = (CHROME.find()?, CHROMEDRIVER.find()?);
    if let (Some(chrome), Some(chromedriver)) = (chrome, chromedriver) {
        return Ok(Browser {
            chrome,
            chromedriver,
        });
    }
    let tried = install_by_apt();
    let (chrome, chromedriver) = (CHROME.find()?, CHROMEDRIVER.find()?);
    match (chrome, chromedriver) {
        (Some(chrome), Some(chromedriver)) => Ok(Browser {
            chrome,
            chromedriver,
        }),
        (chrome, chromedriver) => {
            let missing: Vec<String> = [(chrome, CHROME), (chromedriver, CHROMEDRIVER)]
                .into_iter()
                .filter(|(found, _)| found.is_none())
                .map(|(_, program)| {
                    format!(
                        "  {}: its path in the variable {}",
                        program.what, program.variable
                    )
                })
                .collect();
            let tried = tried.map_or_else(|error| format!("\n{error:#}"), |()| String::new());
            bail!(
                "missing for the page's tests:\n{}{tried}",
                missing.join("\n")
            )
        }
    }
}

struct Program {
    /// The environment variable that names it.
    variable: &'static str,
    /// What it is called on the path.
    names: &'static [&'static str],
    what: &'static str,
}

impl Program {
    /// An explicit choice that does not exist is an error, not a reason to take another.
    fn find(&self) -> Result<Option<PathBuf>> {
        match std::env::var_os(self.variable).filter(|value| !value.is_empty()) {
            None => Ok(find_program(self.names)),
            Some(chosen) if Path::new(&chosen).is_file() => Ok(Some(chosen.into())),
            Some(chosen) => {
                bail!(
                    "{}={}: there is no such file",
                    self.variable,
                    chosen.display()
                )
            }
        }
    }
}

/// Debian's packages; Ubuntu has the driver under another name.
fn install_by_apt() -> Result<()> {
    if find_program(&["apt-get"]).is_none() {
        bail!("they can be installed by this command only where there is apt-get");
    }
    let root = output(command("id").arg("-u"))?.trim() == "0";
    if !root && find_program(&["sudo"]).is_none() {
        bail!("to install them by apt-get, run this as root or install sudo");
    }
    let apt_get = |arguments: &[&str]| {
        let mut command = if root {
            command("apt-get")
        } else {
            command("sudo")
        };
        if !root {
            command.arg("apt-get");
        }
        run(command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install = |packages: &[&str]| {
        apt_get(&[&["install", "--yes", "--no-install-recommends"], packages].concat())
    };
    apt_get(&["update"])?;
    install(&["chromium", "chromium-driver", "fonts-noto-cjk"])
        .or_else(|_| install(&["chromium-browser", "chromium-chromedriver"]))
}
