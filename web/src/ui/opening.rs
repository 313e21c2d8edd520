//! A recording on its way, or one that could not be opened.

use std::rc::Rc;

use yew::prelude::*;

use crate::session::{SessionContext, Tab};
use crate::text::{self, format};
use crate::view::failure::failure_sentence;
use crate::worker::message::Failure;

#[derive(Properties, PartialEq)]
pub(crate) struct OpeningViewProps {
    pub(crate) name: String,
    pub(crate) done_bytes: u64,
    pub(crate) total_bytes: Option<u64>,
}

#[component]
pub(crate) fn OpeningView(props: &OpeningViewProps) -> Html {
    let done = format::size(props.done_bytes);
    let is_read = props
        .total_bytes
        .is_some_and(|total| total > 0 && props.done_bytes >= total);
    let text = match props.total_bytes {
        _ if is_read => text::opening_index(),
        Some(total) => text::opening_of(done, format::size(total)),
        None => text::opening_read(done),
    };
    let max = props.total_bytes.unwrap_or(0).max(1).to_string();
    let value = props.total_bytes.map(|_| props.done_bytes.to_string());
    html! {
        <main class="notice" id="opening">
            <h2>{ text::opening_title(props.name.clone()) }</h2>
            <progress {max} {value} />
            <p role="status">{ text }</p>
        </main>
    }
}

#[derive(Properties)]
pub(crate) struct FailedProps {
    pub(crate) tab: Rc<Tab>,
    pub(crate) failure: Failure,
}

impl PartialEq for FailedProps {
    fn eq(&self, other: &FailedProps) -> bool {
        Rc::ptr_eq(&self.tab, &other.tab) && self.failure == other.failure
    }
}

#[component]
pub(crate) fn Failed(props: &FailedProps) -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let message = failure_sentence(&props.failure);
    let id = props.tab.id;
    let onclick = Callback::from(move |_| {
        session.close_tab(id);
        session.show_tab(0);
    });
    html! {
        <main class="notice is-failure" id="failed" role="alert">
            <h2>{ text::failed_title(props.tab.title()) }</h2>
            <p class="failure-text">{ message }</p>
            <button class="primary" {onclick}>{ text::failed_back() }</button>
        </main>
    }
}
