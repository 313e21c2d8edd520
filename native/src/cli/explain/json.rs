//! The JSON object.

use serde_json::{Map, Value, json};
use shared::analysis::oom::{
    Advice, Explanation, Field, Figure, Figures, Flag, Message, Statistic, Statistics,
};

/// One object: the first message, and all of them in `messages`. With statistics alone, their
/// figures and no case.
pub(super) fn report(explanation: &Explanation) -> Value {
    let messages: Vec<Value> = explanation.messages.iter().map(message).collect();
    let statistics: Vec<Value> = explanation
        .statistics
        .iter()
        .map(statistics_report)
        .collect();
    let mut report = match (messages.first(), explanation.statistics.first()) {
        (Some(Value::Object(first)), _) => first.clone(),
        (_, Some(first)) => statistics_alone(first),
        _ => Map::new(),
    };
    report.insert("messages".to_owned(), messages.into());
    report.insert("statistics".to_owned(), statistics.into());
    Value::Object(report)
}

fn message(message: &Message) -> Value {
    let verdict = &message.verdict;
    let mut object = json!({
        "figures": figures(&message.figures),
        "case": verdict.case,
        "missing": verdict.missing,
        "helps": words(&message.advice.helps),
        "does_not_help": words(&message.advice.does_not_help),
        "candidates": verdict.candidates,
        "undecided": verdict.undecided,
        "flags": message.flags.iter().map(|flag| flag.word()).collect::<Vec<_>>(),
        "impossible": impossible(&message.flags),
        "device": message.device,
        "gpu": message.gpu,
        "form": message.form,
        "rank": message.rank,
        "line": message.line,
        "times": message.times,
        "rounding": rounding(&message.figures),
        "card": message.card,
    });
    for flag in &message.flags {
        if let Flag::Unaccounted { bytes } | Flag::OutsideAllocator { bytes } = flag {
            object[format!("{}_bytes", flag.word())] = json!(bytes);
        }
    }
    object
}

fn words(advice: &[Advice]) -> Vec<&'static str> {
    advice.iter().map(|advice| advice.word()).collect()
}

fn impossible(flags: &[Flag]) -> Vec<&'static str> {
    let impossible = flags.iter().filter(|flag| flag.is_impossible());
    impossible.map(|flag| flag.word()).collect()
}

/// The name of a figure, as serde writes it.
fn name(field: impl serde::Serialize) -> String {
    match serde_json::to_value(field) {
        Ok(Value::String(name)) => name,
        _ => unreachable!("a variant without fields is written as its name"),
    }
}

/// Bytes of a figure. The one that does not fit, 2^64, is an underflow and a real one in messages.
fn bytes(figure: Figure) -> Value {
    let bytes = figure.bytes();
    match u64::try_from(bytes) {
        Ok(bytes) => bytes.into(),
        Err(_) => Value::Number(serde_json::Number::from_i128(bytes).unwrap_or(u64::MAX.into())),
    }
}

fn figures(figures: &Figures) -> Value {
    let mut object = Map::new();
    for field in Field::ALL {
        let value = figures.get(field).map_or(Value::Null, bytes);
        object.insert(name(field), value);
    }
    let processes = figures
        .processes
        .iter()
        .map(|process| json!({ "pid": process.pid, "bytes": bytes(process.in_use) }));
    object.insert("other_processes".to_owned(), processes.collect());
    object.into()
}

/// The half-width of each figure that is there.
fn rounding(figures: &Figures) -> Value {
    let named = figures.named.iter();
    named
        .map(|(field, figure)| (name(field), Value::from(figure.half_width_bytes())))
        .collect()
}

fn statistics_report(statistics: &Statistics) -> Value {
    json!({
        "kind": statistics.kind,
        "device": statistics.device,
        "figures": statistics_figures(statistics),
        "num_ooms": statistics.ooms,
        "num_alloc_retries": statistics.retries,
    })
}

fn statistics_figures(statistics: &Statistics) -> Map<String, Value> {
    let mut object: Map<String, Value> = Statistic::ALL
        .into_iter()
        .map(|statistic| {
            (
                name(statistic),
                statistics.get(statistic).map_or(Value::Null, bytes),
            )
        })
        .collect();
    let releasable = statistics.releasable().map(Figure::clamped_bytes);
    object.insert("releasable".to_owned(), releasable.into());
    object
}

/// Statistics say nothing of a request: which figures a case would need is named.
fn statistics_alone(statistics: &Statistics) -> Map<String, Value> {
    let advice = statistics.advice();
    let object = json!({
        "figures": statistics_figures(statistics),
        "case": null,
        "missing": [Field::Tried, Field::Total, Field::Free],
        "helps": words(&advice.helps),
        "does_not_help": words(&advice.does_not_help),
    });
    match object {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
