//! A stack: the user's own frames bold, the framework's folded.

use shared::query::FrameView;
use yew::prelude::*;

use crate::text;
use crate::view::stack::{StackPart, fold, place};

#[derive(Properties, PartialEq)]
pub(crate) struct StackViewProps {
    pub(crate) title: String,
    pub(crate) frames: Vec<FrameView>,
}

#[component]
pub(crate) fn StackView(props: &StackViewProps) -> Html {
    if props.frames.is_empty() {
        return html! { <p class="stack second">{ text::stack_none() }</p> };
    }
    html! {
        <div class="stack">
            <h3>{ props.title.clone() }</h3>
            <ol>
                { for fold(&props.frames).iter().map(|part| match part {
                    StackPart::Own(frame) => html! { <li class="own">{ line(frame) }</li> },
                    StackPart::Folded(frames) => html! {
                        <li>
                            <details>
                                <summary>{ text::stack_folded(frames.len()) }</summary>
                                <ol>{ for frames.iter().map(|frame| html! {
                                    <li>{ line(frame) }</li>
                                }) }</ol>
                            </details>
                        </li>
                    },
                }) }
            </ol>
        </div>
    }
}

fn line(frame: &FrameView) -> Html {
    let title = format!("{}:{}", frame.file, frame.line);
    html! {
        <span {title}>
            <b>{ frame.name.clone() }</b>{ " " }<span class="place">{ place(frame) }</span>
        </span>
    }
}
