//! `vramscope serve`, on a port of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::{Context, Result, bail};

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct Server {
    process: Child,
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves the page, and those recordings or folders, with the binary of the same build.
    ///
    /// # Errors
    /// Where the binary has not been built, or cannot serve.
    pub fn start(recordings: &[PathBuf]) -> Result<Self> {
        Self::start_binary(&built_binary("vramscope")?, recordings)
    }

    /// The same with a binary of another build.
    ///
    /// # Errors
    /// Where it cannot serve.
    pub fn start_binary(binary: &Path, recordings: &[PathBuf]) -> Result<Self> {
        let mut process = Command::new(binary)
            .args(["serve", "--port", "0", "--log-requests"])
            .args(recordings)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", binary.display()))?;
        let output = process.stdout.take().expect("it was asked for");
        let mut lines = BufReader::new(output);
        let address = match find_address(&mut lines) {
            Ok(address) => address,
            Err(error) => {
                process.wait()?;
                return Err(error);
            }
        };
        let requests = Arc::default();
        collect_requests(lines, Arc::clone(&requests));
        Ok(Self {
            process,
            address,
            requests,
        })
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// All requests so far, as `GET /path`, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no holder panics").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The binary of that name beside this test, wherever cargo puts them.
fn built_binary(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let near = test
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join(name));
    let found = near.into_iter().find(|path| path.is_file());
    found.with_context(|| format!("{name} is not built: cargo build -p native"))
}

fn find_address(lines: &mut BufReader<ChildStdout>) -> Result<String> {
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        if let Some(start) = line.find("http://") {
            let address = line[start..].split_whitespace().next().unwrap_or_default();
            return Ok(address.to_owned());
        }
        line.clear();
    }
    bail!("the server ended before it said where it is")
}

/// Reads on, so that the server never waits for us.
fn collect_requests(lines: BufReader<ChildStdout>, requests: Arc<Mutex<Vec<String>>>) {
    thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            requests.lock().expect("no holder panics").push(line);
        }
    });
}
