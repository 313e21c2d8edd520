use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use thirtyfour::{ChromeCapabilities, ChromiumLikeCapabilities, LoggingPrefsLogLevel, WebDriver};

/// A `chromedriver` on a port of its own; it ends with this value. Sessions have to be ended
/// before.
#[derive(Debug)]
pub(super) struct Driver {
    process: Child,
    address: String,
}

/// Headless, on machines without a sandbox or a GPU, and quiet on the network.
const FLAGS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-device-scale-factor=1",
];

impl Driver {
    /// Starts the one that `CHROMEDRIVER` names, or the one on the path.
    pub(super) fn start() -> Result<Self> {
        let program = std::env::var_os("CHROMEDRIVER").filter(|program| !program.is_empty());
        let program = program.unwrap_or_else(|| "chromedriver".into());
        let mut process = Command::new(&program)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| {
                format!(
                    "cannot run {}: cargo xtask test finds or installs it",
                    program.display()
                )
            })?;
        let output = process.stdout.take().expect("it was asked for");
        let mut lines = BufReader::new(output).lines();
        let said = "started successfully on port ";
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once(said)?;
            Some(port.trim_end_matches('.').to_owned())
        });
        // Whatever else it says is of no interest, but it must be able to say it.
        std::thread::spawn(move || lines.for_each(drop));
        match port {
            Some(port) => Ok(Self {
                process,
                address: format!("http://127.0.0.1:{port}"),
            }),
            None => {
                let status = process.wait()?;
                bail!("{} ended at once: {status}", program.display())
            }
        }
    }

    /// A browser of its own, with a fresh profile.
    pub(super) async fn session(&self, (width, height): (u32, u32)) -> Result<WebDriver> {
        let mut wanted = ChromeCapabilities::new();
        for flag in FLAGS {
            wanted.add_arg(flag)?;
        }
        wanted.add_arg(&format!("--window-size={width},{height}"))?;
        wanted.add_arg("--lang=en-US")?;
        wanted.set_browser_log_level(LoggingPrefsLogLevel::All)?;
        if let Some(chrome) = std::env::var_os("CHROME").filter(|chrome| !chrome.is_empty()) {
            wanted.set_binary(&chrome.to_string_lossy())?;
        }
        Ok(WebDriver::new(&self.address, wanted).await?)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
