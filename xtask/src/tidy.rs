//! Rules that can be checked by reading the files: their length, who may use whom inside of
//! `shared`, and notes without a name. `ARCHITECTURE.md` says why. It runs as a test as well.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::page::files_below;
use crate::shell::root;

/// Nobody finds a second idea in a much longer file; aim at under 400.
const MOST_LINES: usize = 600;

/// A module of `shared`, and the modules that it may use besides itself.
const LAYERS: [(&str, &str); 18] = [
    ("ids", ""),
    ("limits", ""),
    ("units", ""),
    ("vtrace", ""),
    ("warning", "ids"),
    ("model", "ids"),
    ("settings", "units"),
    ("store", "ids model settings warning"),
    // Not the store: it has to stay usable as an allocator.
    ("allocator", "ids model settings units"),
    ("read", "ids limits model store vtrace warning"),
    ("write", "ids model store vtrace warning"),
    ("replay", "ids model settings store units warning"),
    ("analysis", "ids model replay settings store units warning"),
    ("recorded", "allocator ids model replay store"),
    ("script", "allocator ids model settings store units"),
    (
        "verify",
        "allocator ids model recorded replay settings store units warning",
    ),
    (
        "whatif",
        "allocator ids model recorded replay settings store units verify warning",
    ),
    // The door to all of it.
    (
        "query",
        "allocator analysis ids limits model recorded replay settings store units verify warning whatif",
    ),
];

/// Reads all source files.
pub(crate) fn tidy() -> Result<()> {
    let mut faults = Vec::new();
    for file in source_files()? {
        let text = fs::read_to_string(root().join(&file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        faults.extend(check(&file, &text));
    }
    if !faults.is_empty() {
        bail!("{} faults:\n{}", faults.len(), faults.join("\n"));
    }
    Ok(())
}

fn source_files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in ["native", "shared", "tests", "web", "xtask"] {
        files.extend(files_below(&root().join(folder))?);
    }
    let kinds = ["rs", "js", "css", "ftl"];
    files.retain(|file| {
        file.extension()
            .is_some_and(|kind| kinds.iter().any(|one| kind == *one))
    });
    files.sort();
    Ok(files
        .iter()
        .filter_map(|file| file.strip_prefix(root()).ok())
        .map(Path::to_owned)
        .collect())
}

fn check(file: &Path, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > MOST_LINES {
        faults.push(format!(
            "{}: {lines} lines, more than {MOST_LINES}",
            file.display()
        ));
    }
    for (number, line) in text.lines().enumerate() {
        let place = format!("{}:{}", file.display(), number + 1);
        if line.contains(concat!("TO", "DO")) && !line.contains(concat!("TO", "DO(")) {
            faults.push(format!("{place}: a note of work to do without a name"));
        }
    }
    let Some((module, allowed)) = module_of_shared(file) else {
        return faults;
    };
    for (line, used) in modules_used(text) {
        if used != module && !allowed.split(' ').any(|module| module == used) {
            let file = file.display();
            faults.push(format!("{file}:{line}: `{module}` may not use `{used}`"));
        }
    }
    faults
}

/// The module that a file of `shared` belongs to. Tests may use what they like.
fn module_of_shared(file: &Path) -> Option<(&'static str, &'static str)> {
    let inside = file.strip_prefix("shared/src").ok()?;
    if inside
        .components()
        .any(|part| part.as_os_str().to_string_lossy().starts_with("tests"))
    {
        return None;
    }
    let first = inside.components().next()?.as_os_str().to_string_lossy();
    let name = first.trim_end_matches(".rs");
    LAYERS.into_iter().find(|(module, _)| *module == name)
}

/// The modules that a file names as `crate::module` or `crate::{module, …}`, each with its line.
/// Comments and the tests at the end of the file do not count.
fn modules_used(text: &str) -> Vec<(usize, &'static str)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut used = Vec::new();
    // How deep in the braces of a `crate::{…}`.
    let mut depth = 0;
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        let mut rest = line;
        while !rest.is_empty() {
            let grouped = rest.strip_prefix("crate::{");
            if depth == 0
                && let Some(inside) = grouped
            {
                (depth, rest) = (1, inside);
            } else if let Some(named) = rest.strip_prefix("crate::") {
                used.extend(module_at(named).map(|module| (number + 1, module)));
                rest = named;
            } else {
                let word = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
                if depth == 1 {
                    used.extend(module_at(rest).map(|module| (number + 1, module)));
                }
                let mark = rest[word..].chars().next();
                depth = match mark {
                    Some('{') if depth > 0 => depth + 1,
                    Some('}') if depth > 0 => depth - 1,
                    _ => depth,
                };
                rest = &rest[word + mark.map_or(0, char::len_utf8)..];
            }
        }
    }
    used
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The module of the table that a text begins with.
fn module_at(text: &str) -> Option<&'static str> {
    let end = text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
    LAYERS
        .into_iter()
        .map(|(module, _)| module)
        .find(|module| *module == &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        tidy().unwrap();
    }

    #[test]
    fn what_a_module_may_not_use_is_found() {
        let file = Path::new("shared/src/allocator/mod.rs");
        let check = |text: &str| check(file, text);
        assert!(check("use crate::ids::PoolId;\n").is_empty());
        assert!(check("// not of crate::store::Recording\n").is_empty());
        assert_eq!(
            check("use crate::{\n    ids::PoolId,\n    query::{Reply, ids},\n};\n"),
            ["shared/src/allocator/mod.rs:3: `allocator` may not use `query`"]
        );
        assert_eq!(
            check("\nuse crate::store::Recording;\n"),
            ["shared/src/allocator/mod.rs:2: `allocator` may not use `store`"]
        );
    }

    #[test]
    fn long_files_are_found() {
        let file = Path::new("web/src/lib.rs");
        assert!(check(file, &"\n".repeat(600)).is_empty());
        assert_eq!(
            check(file, &"\n".repeat(601)),
            ["web/src/lib.rs: 601 lines, more than 600"]
        );
    }
}
