//! The page in headless Chromium, as a person meets it.
//!
//! [`Visit`] says what to open, [`Page`] is the open page. Each visit has a server, a driver and a
//! session of its own, so tests can run side by side. Wait on conditions ([`Page::until`],
//! [`Page::find`]), never for a time.

mod driver;
mod page;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

use anyhow::{Context, Result};
use tokio::runtime::Runtime;

use crate::server::Server;
use driver::Driver;

pub use page::Page;
/// Keys that [`Page::press`] takes besides letters.
pub use thirtyfour::Key;
/// What [`Page::find`] gives.
pub use thirtyfour::WebElement;

/// A visit to the page: what is served, and how large the window is.
#[derive(Clone, Debug)]
pub struct Visit {
    recordings: Vec<PathBuf>,
    binary: Option<PathBuf>,
    size_px: (u32, u32),
    fragment: String,
    errors_expected: bool,
}

impl Default for Visit {
    fn default() -> Self {
        Self {
            recordings: Vec::new(),
            binary: None,
            size_px: (1280, 800),
            fragment: String::new(),
            errors_expected: false,
        }
    }
}

impl Visit {
    /// The start page in a window of 1280 × 800, with the built-in recordings only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers those files or folders on the start page, as `vramscope serve FILES` does.
    #[must_use]
    pub fn with_recordings(mut self, recordings: impl IntoIterator<Item = PathBuf>) -> Self {
        self.recordings.extend(recordings);
        self
    }

    /// Serves with this binary instead of the one of the same build.
    #[must_use]
    pub fn served_by(mut self, binary: PathBuf) -> Self {
        self.binary = Some(binary);
        self
    }

    /// Width and height of the window, in CSS pixels.
    #[must_use]
    pub fn with_size_px(mut self, width: u32, height: u32) -> Self {
        self.size_px = (width, height);
        self
    }

    /// Opens the link with this behind the `#`.
    #[must_use]
    pub fn with_fragment(mut self, fragment: &str) -> Self {
        fragment.clone_into(&mut self.fragment);
        self
    }

    /// Errors in the console, which otherwise fail the visit, belong to what is tested.
    #[must_use]
    pub fn expecting_console_errors(mut self) -> Self {
        self.errors_expected = true;
        self
    }

    /// Opens the page, does what the test does, and closes everything, whatever comes of it.
    ///
    /// # Panics
    /// With the test, and where an error was written to the console: screenshot and console are
    /// left in `target/page-failures` then.
    pub fn run<T>(self, test: impl AsyncFnOnce(&Page) -> Result<T>) -> T {
        self.try_run(test)
            .unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// [`Visit::run`] for callers that are no tests.
    ///
    /// # Errors
    /// Whatever went wrong.
    pub fn try_run<T>(self, test: impl AsyncFnOnce(&Page) -> Result<T>) -> Result<T> {
        let server = match &self.binary {
            Some(binary) => Server::start_binary(binary, &self.recordings)?,
            None => Server::start(&self.recordings)?,
        };
        let driver = Driver::start()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let page = runtime.block_on(Page::open(&driver, server, self.size_px))?;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(async {
                page.go(&self.fragment).await?;
                test(&page).await
            })
        }));
        let outcome = outcome.map(|result| {
            result.and_then(|value| {
                runtime.block_on(self.check_console(&page))?;
                Ok(value)
            })
        });
        if !matches!(outcome, Ok(Ok(_))) {
            leave_evidence(&runtime, &page);
        }
        // The session first: a driver that is killed leaves its browser running.
        let closed = runtime.block_on(page.close());
        drop(driver);
        match outcome {
            Ok(result) => result.and_then(|value| closed.map(|()| value)),
            Err(panic) => resume_unwind(panic),
        }
    }

    async fn check_console(&self, page: &Page) -> Result<()> {
        let errors: Vec<String> = page.console_errors().await?;
        if !self.errors_expected && !errors.is_empty() {
            anyhow::bail!("errors in the console:\n{}", errors.join("\n"));
        }
        Ok(())
    }
}

/// Screenshot and console of a visit that failed, named after the test.
fn leave_evidence(runtime: &Runtime, page: &Page) {
    let saved = runtime.block_on(async {
        let folder = evidence_folder()?;
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("page").replace("::", ".");
        let picture = folder.join(format!("{name}.png"));
        page.screenshot(&picture).await?;
        std::fs::write(
            folder.join(format!("{name}.console.txt")),
            page.console().await?,
        )?;
        anyhow::Ok(picture)
    });
    match saved {
        Ok(picture) => eprintln!("how it looked: {}", picture.display()),
        Err(error) => eprintln!("no picture of it: {error:#}"),
    }
}

fn evidence_folder() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let profile = test.ancestors().find(|folder| folder.join("deps").is_dir());
    let target = profile
        .and_then(|folder| folder.parent())
        .context("no target folder")?;
    let folder = target.join("page-failures");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}
