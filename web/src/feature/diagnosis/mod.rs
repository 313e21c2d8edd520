//! A pasted out-of-memory message, explained: figures, a bar of the card, the case, what helps and
//! what does not. Most people arrive with the message and without a recording.
//!
//! The text is searched right here and not by a worker: a paste is small, and no recording is read.

mod card_bar;
mod words;

use shared::analysis::oom::{
    Advice, Explanation, Field, Figure, Message, Statistic, Statistics, explain,
};
use shared::units::size_text;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

use crate::text;
use card_bar::CardBar;

/// More than that nobody reads at once; longer logs are for the command line.
const MAX_MESSAGES: usize = 16;

/// The box of the start page.
#[component]
pub(crate) fn Diagnosis() -> Html {
    let pasted = use_state(String::new);
    let oninput = {
        let pasted = pasted.clone();
        Callback::from(move |event: InputEvent| {
            let area = event
                .target()
                .and_then(|target| target.dyn_into::<HtmlTextAreaElement>().ok());
            pasted.set(area.map(|area| area.value()).unwrap_or_default());
        })
    };
    let explanation = use_memo((*pasted).clone(), |pasted| explain(pasted));
    html! {
        <section class="diagnosis" aria-labelledby="diagnosis-title">
            <h2 id="diagnosis-title">{ text::diagnosis_title() }</h2>
            <label for="diagnosis-text">{ text::diagnosis_hint() }</label>
            <textarea id="diagnosis-text" rows="4" spellcheck="false"
                placeholder="CUDA out of memory. Tried to allocate …" {oninput} />
            <div id="diagnosis-found" aria-live="polite">
                { found(&pasted, &explanation) }
            </div>
        </section>
    }
}

fn found(pasted: &str, explanation: &Explanation) -> Html {
    let (messages, statistics) = (&explanation.messages, &explanation.statistics);
    if pasted.trim().is_empty() {
        return Html::default();
    }
    if messages.is_empty() && statistics.is_empty() {
        return html! { <p class="diagnosis-none">{ text::diagnosis_none() }</p> };
    }
    let more = messages.len().saturating_sub(MAX_MESSAGES);
    html! {
        <>
            { for messages.iter().take(MAX_MESSAGES).map(message) }
            if more > 0 {
                <p>{ text::diagnosis_more(more as u64) }</p>
            }
            { for statistics.iter().take(MAX_MESSAGES).map(table) }
        </>
    }
}

fn message(message: &Message) -> Html {
    let flags = message.flags.iter().filter_map(|flag| words::flag(*flag));
    let case = message
        .verdict
        .case
        .map_or_else(|| "?".to_owned(), |case| case.to_string());
    html! {
        <article class="diagnosis-message" data-case={case}>
            <h3>{ words::heading(message) }</h3>
            <div class="diagnosis-verdict">
                { for words::verdict(message).into_iter().map(|line| html! { <p>{ line }</p> }) }
                { for flags.map(|line| html! { <p class="flag">{ line }</p> }) }
            </div>
            if let Some(card) = &message.card {
                <CardBar card={card.clone()} />
            }
            <div class="diagnosis-columns">
                { figures(message) }
                { advice(text::diagnosis_helps(), "helps", &message.advice.helps) }
                { advice(text::diagnosis_does_not_help(), "does-not-help", &message.advice.does_not_help) }
            </div>
        </article>
    }
}

fn figures(message: &Message) -> Html {
    let own = message.figures.own_process().map(|process| process.pid);
    let named = Field::ALL.into_iter().filter_map(|field| {
        let figure = message.figures.get(field)?;
        Some((words::field(field), figure))
    });
    let processes = message.figures.processes.iter().map(|process| {
        let pid = process.pid.to_string();
        let name = if Some(process.pid) == own {
            text::diagnosis_process_own(pid)
        } else {
            text::diagnosis_process(pid)
        };
        (name, process.in_use)
    });
    list_of_figures(named.chain(processes))
}

fn list_of_figures(figures: impl Iterator<Item = (String, Figure)>) -> Html {
    html! {
        <dl class="diagnosis-figures">
            { for figures.map(|(name, figure)| html! {
                <><dt>{ name }</dt><dd>{ size_text(figure.clamped_bytes()) }</dd></>
            }) }
        </dl>
    }
}

fn advice(title: String, class: &'static str, advice: &[Advice]) -> Html {
    if advice.is_empty() {
        return Html::default();
    }
    html! {
        <section class={classes!("diagnosis-advice", class)}>
            <h4>{ title }</h4>
            <ul>
                { for advice.iter().map(|advice| html! {
                    <li data-advice={advice.word()}>{ words::advice(*advice) }</li>
                }) }
            </ul>
        </section>
    }
}

/// Statistics without a message.
fn table(statistics: &Statistics) -> Html {
    let advice_lists = statistics.advice();
    let releasable = statistics
        .releasable()
        .map(|figure| (text::diagnosis_releasable(), figure));
    let named = Statistic::ALL.into_iter().filter_map(|statistic| {
        let figure = statistics.get(statistic)?;
        Some((words::statistic(statistic), figure))
    });
    html! {
        <article class="diagnosis-message">
            <h3>{ words::statistics_heading(statistics) }</h3>
            <p>{ words::statistics(statistics) }</p>
            <div class="diagnosis-columns">
                { list_of_figures(named.chain(releasable)) }
                { advice(text::diagnosis_does_not_help(), "does-not-help", &advice_lists.does_not_help) }
            </div>
        </article>
    }
}
