//! The explanation in words, for a terminal.

mod bar;
mod sentence;

use std::fmt::Write as _;

use shared::analysis::oom::{
    Explanation, Field, Figure, Message, Statistic, Statistics, StatisticsKind,
};
use shared::units::size_text;

/// Everything that was found.
pub(super) fn text(explanation: &Explanation) -> String {
    let messages = explanation.messages.iter().map(message);
    let statistics = explanation.statistics.iter().map(statistics);
    messages.chain(statistics).collect::<Vec<_>>().join("\n")
}

fn message(message: &Message) -> String {
    let mut text = heading(message);
    for (name, figure) in named_figures(message) {
        line(&mut text, name, &exact_or_rounded(figure));
    }
    let own = message.figures.own_process().map(|process| process.pid);
    for process in &message.figures.processes {
        let note = if Some(process.pid) == own {
            " (this process itself, it seems)"
        } else {
            ""
        };
        let name = format!("process {}", process.pid);
        line(&mut text, &name, &(exact_or_rounded(process.in_use) + note));
    }
    if let Some(card) = &message.card {
        text += "\n";
        text += &bar::bar(card);
    }
    text += "\n";
    text += &sentence::verdict(message);
    for flag in &message.flags {
        if let Some(sentence) = sentence::flag(*flag) {
            push(&mut text, &sentence);
        }
    }
    list(&mut text, "Helps", &message.advice.helps);
    list(&mut text, "Does not help", &message.advice.does_not_help);
    text
}

fn heading(message: &Message) -> String {
    let mut heading = sentence::device(message.device).to_owned();
    if let Some(gpu) = message.gpu {
        heading += &format!(", GPU {gpu}");
    }
    if let Some(rank) = message.rank {
        heading += &format!(", rank {rank}");
    }
    heading += &format!(", line {}", message.line);
    if message.times > 1 {
        heading += &format!(", {} times in this text", message.times);
    }
    format!("{heading} ({})\n\n", sentence::form(message.form))
}

fn named_figures(message: &Message) -> impl Iterator<Item = (&'static str, Figure)> {
    Field::ALL.into_iter().filter_map(|field| {
        let figure = message.figures.get(field)?;
        Some((sentence::field(field), figure))
    })
}

/// Writing to a string does not fail.
fn push(text: &mut String, sentence: &str) {
    let _ = writeln!(text, "{sentence}");
}

fn line(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<34} {value}");
}

fn exact_or_rounded(figure: Figure) -> String {
    let Ok(bytes) = u64::try_from(figure.bytes()) else {
        return format!("{} bytes", figure.bytes());
    };
    size_text(bytes)
}

fn list(text: &mut String, title: &str, words: &[shared::analysis::oom::Advice]) {
    if words.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}:");
    for word in words {
        let _ = writeln!(text, "  {:<29} {}", word.word(), sentence::advice(*word));
    }
}

fn statistics(statistics: &Statistics) -> String {
    let mut text = match statistics.kind {
        StatisticsKind::MemorySummary => "memory_summary()",
        StatisticsKind::MemoryStats => "memory_stats()",
    }
    .to_owned();
    if let Some(device) = statistics.device {
        text += &format!(", GPU {device}");
    }
    text += "\n\n";
    for statistic in Statistic::ALL {
        if let Some(figure) = statistics.get(statistic) {
            line(
                &mut text,
                sentence::statistic(statistic),
                &exact_or_rounded(figure),
            );
        }
    }
    if let Some(releasable) = statistics.releasable() {
        let value = size_text(releasable.clamped_bytes());
        line(&mut text, "empty_cache() returns at most", &value);
    }
    let counts = [
        ("failed allocations (OOMs)", statistics.ooms),
        ("cache given back and tried again", statistics.retries),
    ];
    for (name, count) in counts {
        if let Some(count) = count {
            line(&mut text, name, &count.to_string());
        }
    }
    text += "\n";
    text += sentence::statistics(statistics);
    let advice = statistics.advice();
    list(&mut text, "Helps", &advice.helps);
    list(&mut text, "Does not help", &advice.does_not_help);
    text
}
