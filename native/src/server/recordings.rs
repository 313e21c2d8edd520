//! The recordings that were named on the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tower::ServiceExt;
use tower_http::services::ServeFile;

/// Names that recordings have; a folder's other files are passed over.
const RECORDINGS: [&str; 4] = ["pickle", "pkl", "vtrace", "html"];
const COMPRESSED: [&str; 2] = ["gz", "zst"];

/// Recordings that the start page offers.
#[derive(Debug)]
pub(crate) struct Offered {
    entries: Vec<Entry>,
    files: Vec<PathBuf>,
}

/// One of them, as `/recordings.json` lists it.
#[derive(Debug, Serialize)]
struct Entry {
    /// Name of the file, with its folders below a folder that was named.
    name: String,
    size_bytes: u64,
    /// Relative to the page.
    url: String,
}

impl Offered {
    /// Those files, and the recordings in those folders, in that order; in a folder by name.
    ///
    /// # Errors
    /// A path that cannot be read, or a folder without recordings.
    pub(crate) fn find(paths: &[PathBuf]) -> Result<Self> {
        let mut offered = Self {
            entries: Vec::new(),
            files: Vec::new(),
        };
        for path in paths {
            let about = fs::metadata(path).with_context(|| path.display().to_string())?;
            if about.is_file() {
                offered.add(path, path.parent().unwrap_or(Path::new("")))?;
                continue;
            }
            let found = recordings_below(path)?;
            if found.is_empty() {
                let endings = RECORDINGS.join(", .");
                bail!(
                    "{}: no recordings in this folder (.{endings})",
                    path.display()
                );
            }
            for file in found {
                offered.add(&file, path)?;
            }
        }
        Ok(offered)
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn add(&mut self, file: &Path, below: &Path) -> Result<()> {
        let about = fs::metadata(file).with_context(|| file.display().to_string())?;
        let name = file
            .strip_prefix(below)
            .unwrap_or(file)
            .to_string_lossy()
            .into_owned();
        let last = file.file_name().unwrap_or_default().to_string_lossy();
        let url = format!("recordings/{}/{}", self.files.len(), escape(&last));
        self.entries.push(Entry {
            name,
            size_bytes: about.len(),
            url,
        });
        self.files.push(file.to_owned());
        Ok(())
    }
}

/// `/recordings.json`.
pub(crate) async fn list(State(offered): State<Arc<Offered>>) -> Response {
    Json(&offered.entries).into_response()
}

/// `/recordings/NUMBER/NAME`: the number decides, the name is for people.
pub(crate) async fn bytes(
    State(offered): State<Arc<Offered>>,
    axum::extract::Path((number, _name)): axum::extract::Path<(usize, String)>,
    request: Request,
) -> Response {
    let Some(file) = offered.files.get(number) else {
        return (StatusCode::NOT_FOUND, "no such recording").into_response();
    };
    match ServeFile::new(file).oneshot(request).await {
        Ok(response) => response.into_response(),
        Err(never) => match never {},
    }
}

fn recordings_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        // A link to a folder could lead back here.
        if path.is_dir() && !path.is_symlink() {
            found.extend(recordings_below(&path)?);
        } else if path.is_file() && looks_like_recording(&path) {
            found.push(path);
        }
    }
    Ok(found)
}

fn looks_like_recording(path: &Path) -> bool {
    let ends_with = |path: &Path, endings: &[&str]| {
        path.extension()
            .is_some_and(|found| endings.iter().any(|ending| found == *ending))
    };
    if ends_with(path, &COMPRESSED) {
        ends_with(&path.with_extension(""), &RECORDINGS)
    } else {
        ends_with(path, &RECORDINGS)
    }
}

/// A file name as one segment of a path.
fn escape(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    name.bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_known_by_their_endings() {
        let check = |name: &str, expected: bool| {
            assert_eq!(looks_like_recording(Path::new(name)), expected, "{name}");
        };
        check("snapshot.pickle", true);
        check("snapshot.pkl.gz", true);
        check("long.pickle.zst", true);
        check("oom.vtrace", true);
        check("trace_plot.html", true);
        check("w_oom.default.json", false);
        check("notes.gz", false);
        check("pickle", false);
    }

    #[test]
    fn names_become_one_segment_of_a_path() {
        assert_eq!(escape("a b/ü.pickle"), "a%20b%2F%C3%BC.pickle");
    }
}
