//! A text with parts between `**`, which are strong.

use yew::prelude::*;

/// The text as elements.
pub(crate) fn with_strong(text: &str) -> Html {
    let parts = text.split("**").enumerate().map(|(place, part)| {
        if place % 2 == 1 {
            html! { <strong>{ part.to_owned() }</strong> }
        } else {
            html! { { part.to_owned() } }
        }
    });
    html! { <>{ for parts }</> }
}
