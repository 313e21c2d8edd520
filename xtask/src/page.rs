//! The page: compiled, bound, and laid out in `dist/` as one script, one wasm, one style sheet.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::need::{self, WASM};
use crate::shell::{cargo, root, target_directory};

/// How the page is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Small and fast: what is served.
    Page,
    /// Quick to build, for work on the page.
    Dev,
}

/// Builds the page into `dist/`.
pub(crate) fn build(profile: Profile) -> Result<()> {
    need::wasm_target()?;
    let (name, folder) = match profile {
        Profile::Page => ("page", "page"),
        Profile::Dev => ("dev", "debug"),
    };
    cargo([
        "build",
        "--package",
        "web",
        "--lib",
        "--target",
        WASM,
        "--profile",
        name,
    ])?;
    let wasm = target_directory().join(WASM).join(folder).join("web.wasm");

    let dist = dist_directory();
    // Files of an earlier build that are no longer part of the page must not be served.
    let fresh = dist.with_extension("new");
    remove_directory(&fresh)?;
    fs::create_dir_all(&fresh).with_context(|| format!("cannot make {}", fresh.display()))?;
    bind(&wasm, &fresh, profile)?;
    append_boot_script(&fresh.join("vramscope.js"))?;
    copy(&root().join("index.html"), &fresh.join("index.html"))?;
    write_style_sheet(&fresh.join("vramscope.css"))?;
    copy_tree(&root().join("web/assets"), &fresh)?;
    remove_directory(&dist)?;
    fs::rename(&fresh, &dist).with_context(|| format!("cannot make {}", dist.display()))
}

/// Builds the page and says what a host has to serve.
pub(crate) fn dist() -> Result<()> {
    build(Profile::Page)?;
    let mut files = files_below(&dist_directory())?;
    files.sort();
    for file in &files {
        let shown = file.strip_prefix(root()).unwrap_or(file);
        println!("{:>12}  {}", fs::metadata(file)?.len(), shown.display());
    }
    println!("dist/ is a static site: serve it from any host, at any path.");
    Ok(())
}

/// Where the page is laid out.
pub(crate) fn dist_directory() -> PathBuf {
    root().join("dist")
}

/// The glue and the wasm that it loads, as a plain script: it also runs as a worker, and from a
/// single HTML file.
fn bind(wasm: &Path, into: &Path, profile: Profile) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name("vramscope")
        .no_modules(true)?
        .typescript(false)
        .omit_default_module_path(false)
        .debug(profile == Profile::Dev)
        .keep_debug(profile == Profile::Dev)
        .remove_name_section(profile == Profile::Page)
        .remove_producers_section(true);
    bindgen
        .generate(into)
        .with_context(|| format!("cannot bind {}", wasm.display()))
}

fn append_boot_script(script: &Path) -> Result<()> {
    let boot = root().join("web/boot.js");
    let start = fs::read_to_string(&boot).with_context(|| format!("cannot read {boot:?}"))?;
    let glue = fs::read_to_string(script).with_context(|| format!("cannot read {script:?}"))?;
    fs::write(script, format!("{glue}\n{start}"))
        .with_context(|| format!("cannot write {script:?}"))
}

/// All of `web/styles` in one file: the tokens that the others use first, then by name.
fn write_style_sheet(to: &Path) -> Result<()> {
    let mut sheets = files_below(&root().join("web/styles"))?;
    sheets.retain(|sheet| sheet.extension().is_some_and(|kind| kind == "css"));
    sheets.sort_by_key(|sheet| (!sheet.ends_with("tokens.css"), sheet.clone()));
    let texts: Vec<String> = sheets
        .iter()
        .map(fs::read_to_string)
        .collect::<Result<_, _>>()?;
    fs::write(to, texts.join("\n")).with_context(|| format!("cannot write {to:?}"))
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    for file in files_below(from)? {
        let copied = to.join(file.strip_prefix(from).expect("it was found below"));
        fs::create_dir_all(copied.parent().expect("it lies in a folder"))?;
        copy(&file, &copied)?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// All files in a folder and its folders, in no order.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {folder:?}"))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    Ok(files)
}

fn remove_directory(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
