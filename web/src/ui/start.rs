//! The first screen: what this is, where a file goes, what is built in.

use wasm_bindgen::JsCast;
use web_sys::{DragEvent, HtmlInputElement};
use yew::prelude::*;

use crate::feature::diagnosis::Diagnosis;
use crate::session::bell::{Topic, use_bell};
use crate::session::gallery::{BuiltIn, built_ins};
use crate::session::{SessionContext, files};
use crate::text::{self, format};

#[component]
pub(crate) fn Start() -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    use_bell(&session.bell, Topic::SERVED);
    let wanted = session.wanted_file();
    let served = session.served();
    html! {
        <main class="start">
            <div class="start-head">
                <h1>{ text::start_headline() }</h1>
                <p>{ text::start_promise() }</p>
            </div>
            if let Some(name) = wanted {
                <p class="wanted" id="wanted">{ text::start_wanted(name) }</p>
            }
            <DropZone />
            <Diagnosis />
            if !served.is_empty() {
                <h2>{ text::start_served() }</h2>
                <ul class="gallery" id="served">
                    { for served.into_iter().map(|served| {
                        let session = session.clone();
                        let url = served.url.clone();
                        let onclick = Callback::from(move |_| session.open_url(&url));
                        html! {
                            <li key={served.url.clone()}>
                                <button class="gallery-card" {onclick}>
                                    <strong>{ served.name.clone() }</strong>
                                    <span>{ format::size(served.size_bytes) }</span>
                                </button>
                            </li>
                        }
                    }) }
                </ul>
            }
            <h2>{ text::start_gallery() }</h2>
            <ul class="gallery">
                { for built_ins().into_iter().map(|built_in| {
                    let key = built_in.name.clone();
                    html! { <GalleryCard {key} {built_in} /> }
                }) }
            </ul>
            <details class="record-howto">
                <summary>{ text::start_howto() }</summary>
                <pre>{ HOW_TO_RECORD }</pre>
            </details>
        </main>
    }
}

/// The lines that make a recording, as PyTorch documents them.
const HOW_TO_RECORD: &str = "import torch

torch.cuda.memory._record_memory_history(max_entries=1_000_000)
...  # the part of the program to look at
torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")
torch.cuda.memory._record_memory_history(enabled=None)";

#[component]
fn DropZone() -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let on_choose = Callback::from(move |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        if let Some(list) = input.files() {
            session.open_files(files::from_list(&list));
        }
        // So that choosing the same file again is a change.
        input.set_value("");
    });
    let choose = |id: &'static str| {
        Callback::from(move |_: MouseEvent| {
            let document = web_sys::window().and_then(|window| window.document());
            let input = document.and_then(|document| document.get_element_by_id(id));
            if let Some(input) = input.and_then(|input| input.dyn_into::<HtmlInputElement>().ok()) {
                input.click();
            }
        })
    };
    html! {
        <div class="drop-zone">
            <p class="drop-title">{ text::start_drop() }</p>
            <p class="drop-kinds">{ text::start_kinds() }</p>
            <div class="drop-buttons">
                <button class="primary" onclick={choose("choose-files")}>
                    { text::start_choose_files() }
                </button>
                <button onclick={choose("choose-folder")}>{ text::start_choose_folder() }</button>
            </div>
            <input id="choose-files" type="file" multiple=true hidden=true onchange={on_choose.clone()} />
            <input id="choose-folder" type="file" webkitdirectory=true hidden=true onchange={on_choose} />
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct GalleryCardProps {
    built_in: BuiltIn,
}

#[component]
fn GalleryCard(props: &GalleryCardProps) -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let built_in = props.built_in.clone();
    let onclick = Callback::from(move |_| session.open_built_in(&built_in));
    html! {
        <li>
            <button class="gallery-card" {onclick} data-recording={props.built_in.name.clone()}>
                <strong>{ props.built_in.title.text() }</strong>
                <span>{ props.built_in.line.text() }</span>
            </button>
        </li>
    }
}

/// Lets files be dropped anywhere on what it wraps.
#[derive(Properties, PartialEq)]
pub(crate) struct DropTargetProps {
    pub(crate) children: Children,
}

#[component]
pub(crate) fn DropTarget(props: &DropTargetProps) -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let is_over = use_state(|| false);
    let ondragover = {
        let is_over = is_over.clone();
        Callback::from(move |event: DragEvent| {
            event.prevent_default();
            is_over.set(true);
        })
    };
    let ondragleave = {
        let is_over = is_over.clone();
        Callback::from(move |_: DragEvent| is_over.set(false))
    };
    let ondrop = {
        let is_over = is_over.clone();
        Callback::from(move |event: DragEvent| {
            event.prevent_default();
            is_over.set(false);
            if let Some(dropped) = event.data_transfer() {
                let session = session.clone();
                files::from_drop(&dropped, move |files| session.open_files(files));
            }
        })
    };
    let class = classes!("drop-target", is_over.then_some("is-over"));
    html! { <div {class} {ondragover} {ondragleave} {ondrop}>{ props.children.clone() }</div> }
}
