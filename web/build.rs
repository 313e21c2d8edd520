//! Turns the Fluent files of `locales/` into one Rust function per message, so that a wrong key or
//! a missing argument cannot compile; the arguments stand in the order of the alphabet. Stops the build when a message is missing in a language,
//! takes other arguments there, or is used nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};

const LANGUAGES: [&str; 2] = ["en", "zh-CN"];

/// The arguments of each message by its key.
type Messages = BTreeMap<String, BTreeSet<String>>;

fn main() {
    println!("cargo:rerun-if-changed=locales");
    println!("cargo:rerun-if-changed=src");
    let mut faults = Vec::new();
    let texts = LANGUAGES.map(|language| read_language(language, &mut faults));
    let tables: Vec<Messages> = texts
        .iter()
        .zip(LANGUAGES)
        .map(|(text, language)| parse(text, language, &mut faults))
        .collect();
    compare(&tables, &mut faults);
    find_unused(&tables[0], &mut faults);
    for fault in &faults {
        println!("cargo::error=locales: {fault}");
    }
    if !faults.is_empty() {
        return;
    }

    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("messages.rs"), generate(&tables[0], &texts)).expect("OUT_DIR is writable");
}

/// All files of one language behind each other.
fn read_language(language: &str, faults: &mut Vec<String>) -> String {
    let mut paths = files_below(&Path::new("locales").join(language), "ftl");
    paths.sort();
    if paths.is_empty() {
        faults.push(format!("{language}: no .ftl file"));
    }
    let texts: Vec<String> = paths
        .iter()
        .map(|path| fs::read_to_string(path).expect("a locale file is readable UTF-8"))
        .collect();
    texts.join("\n")
}

fn parse(text: &str, language: &str, faults: &mut Vec<String>) -> Messages {
    let resource = match fluent_syntax::parser::parse(text) {
        Ok(resource) => resource,
        Err((resource, errors)) => {
            faults.extend(errors.iter().map(|error| format!("{language}: {error}")));
            resource
        }
    };
    let mut messages = Messages::new();
    for entry in &resource.body {
        if let Entry::Message(message) = entry {
            let mut arguments = BTreeSet::new();
            if let Some(pattern) = &message.value {
                collect_arguments(pattern, &mut arguments);
            }
            if messages
                .insert(message.id.name.to_owned(), arguments)
                .is_some()
            {
                faults.push(format!("{language}: {} stands twice", message.id.name));
            }
        }
    }
    messages
}

fn collect_arguments(pattern: &Pattern<&str>, arguments: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            collect_from_expression(expression, arguments);
        }
    }
}

fn collect_from_expression(expression: &Expression<&str>, arguments: &mut BTreeSet<String>) {
    match expression {
        Expression::Inline(inline) => collect_from_inline(inline, arguments),
        Expression::Select { selector, variants } => {
            collect_from_inline(selector, arguments);
            for variant in variants {
                collect_arguments(&variant.value, arguments);
            }
        }
    }
}

fn collect_from_inline(inline: &InlineExpression<&str>, arguments: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => {
            arguments.insert(id.name.to_owned());
        }
        InlineExpression::Placeable { expression } => {
            collect_from_expression(expression, arguments);
        }
        _ => {}
    }
}

fn compare(tables: &[Messages], faults: &mut Vec<String>) {
    for (table, language) in tables.iter().zip(LANGUAGES) {
        for (other, other_language) in tables.iter().zip(LANGUAGES) {
            for (key, arguments) in table {
                match other.get(key) {
                    None => faults.push(format!("{other_language}: {key} is missing")),
                    Some(others) if others != arguments && language < other_language => {
                        faults.push(format!(
                            "{key}: {language} takes {arguments:?}, {other_language} {others:?}"
                        ));
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

/// A message counts as used where the sources name its function.
fn find_unused(messages: &Messages, faults: &mut Vec<String>) {
    let sources: String = files_below(Path::new("src"), "rs")
        .iter()
        .map(|path| fs::read_to_string(path).expect("sources are UTF-8"))
        .collect();
    for key in messages.keys() {
        let name = format!("text::{}", function_name(key));
        let is_whole = |at: usize| {
            let next = sources[at + name.len()..].chars().next();
            next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
        };
        if !sources.match_indices(&name).any(|(at, _)| is_whole(at)) {
            faults.push(format!("{key} is used nowhere"));
        }
    }
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    found
}

fn function_name(key: &str) -> String {
    key.replace('-', "_")
}

fn generate(messages: &Messages, texts: &[String]) -> String {
    let mut code = String::new();
    for (language, text) in LANGUAGES.iter().zip(texts) {
        let name = language.replace('-', "_").to_uppercase();
        let _ = writeln!(code, "pub(super) const {name}: &str = {text:?};");
    }
    for (key, arguments) in messages {
        let name = function_name(key);
        let parameters: Vec<String> = arguments
            .iter()
            .map(|argument| format!("{}: impl Into<FluentValue<'a>>", function_name(argument)))
            .collect();
        let values: Vec<String> = arguments
            .iter()
            .map(|argument| format!("({argument:?}, {}.into())", function_name(argument)))
            .collect();
        let lifetime = if arguments.is_empty() { "" } else { "<'a>" };
        let _ = writeln!(
            code,
            "pub(crate) fn {name}{lifetime}({}) -> String {{ super::message({key:?}, [{}]) }}",
            parameters.join(", "),
            values.join(", ")
        );
    }
    code
}
