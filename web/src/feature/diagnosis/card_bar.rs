//! The card of a message as a bar.

use shared::analysis::oom::{Card, Part, PartKind};
use shared::units::size_text;
use yew::prelude::*;

use super::words;
use crate::text;

#[derive(Properties, PartialEq)]
pub(super) struct CardBarProps {
    pub(super) card: Card,
}

/// The parts to scale, what was asked for at the same scale below, and the legend.
#[component]
pub(super) fn CardBar(props: &CardBarProps) -> Html {
    let card = &props.card;
    let scale = scale(card);
    let label = text::diagnosis_bar(size_text(card.total_bytes));
    let class = |part: &Part| classes!("card-part", class(part.kind));
    html! {
        <div class="card-bar">
            <div class="card-row" role="img" aria-label={label}>
                { for card.parts.iter().map(|part| html! {
                    <span class={class(part)} style={width(part.bytes, scale)}
                        title={format!("{} {}", words::part(part.kind), size_text(part.bytes))} />
                }) }
                if let Some(limit) = card.limit_bytes {
                    <span class="card-limit" style={format!("left:{:.3}%", percent(limit, scale))}
                        title={format!("{} {}", text::diagnosis_allowed(), size_text(limit))} />
                }
            </div>
            if let Some(tried) = card.tried_bytes {
                <div class="card-asked">
                    <span class="card-part tried-part" style={width(tried.min(scale), scale)} />
                    <span>{ text::diagnosis_asked(size_text(tried)) }</span>
                </div>
            }
            <ul class="card-legend">
                { for card.parts.iter().map(|part| html! {
                    <li><span class={class(part)} />{ words::part(part.kind) }{ " " }
                        <b>{ size_text(part.bytes) }</b></li>
                }) }
                if let Some(limit) = card.limit_bytes {
                    <li><span class="card-part limit-key" />{ text::diagnosis_allowed() }{ " " }
                        <b>{ size_text(limit) }</b></li>
                }
            </ul>
        </div>
    }
}

/// The bytes of the whole bar: impossible figures may add up to more than the card.
fn scale(card: &Card) -> u64 {
    let sum = card
        .parts
        .iter()
        .fold(0_u64, |sum, part| sum.saturating_add(part.bytes));
    sum.max(card.total_bytes).max(1)
}

fn percent(bytes: u64, scale: u64) -> f64 {
    (bytes as f64 / scale as f64 * 100.0).min(100.0)
}

fn width(bytes: u64, scale: u64) -> String {
    format!("width:{:.3}%", percent(bytes, scale))
}

fn class(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Allocated => "is-allocated",
        PartKind::PrivatePools => "is-private",
        PartKind::Cached => "is-cached",
        PartKind::Outside => "is-outside",
        PartKind::OtherProcesses => "is-others",
        PartKind::Unaccounted => "is-unaccounted",
        PartKind::Free => "is-free",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::oom::explain;

    #[test]
    fn a_bar_never_grows_beyond_its_box() {
        let text = "CUDA out of memory. Tried to allocate 10.73 GiB (GPU 0; 8.00 GiB total capacity; \
                    17.20 GiB already allocated; 0 bytes free; 19.15 GiB reserved in total by PyTorch)";
        let explanation = explain(text);
        let card = explanation.messages[0].card.as_ref().unwrap();
        let scale = scale(card);
        let sum: f64 = card
            .parts
            .iter()
            .map(|part| percent(part.bytes, scale))
            .sum();
        assert!((99.9..=100.1).contains(&sum), "{sum}");
    }
}
