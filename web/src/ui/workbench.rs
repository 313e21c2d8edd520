//! One recording: curves, map, details, free lists, sentence and transport.

use std::rc::Rc;

use yew::prelude::*;

use super::curves_panel::CurvesPanel;
use super::details::Details;
use super::free_lists::FreeLists;
use super::map_panel::MapPanel;
use super::transport_bar::TransportBar;
use crate::session::stage::Stage;
use crate::text;

/// Id of the element that says what is under the pointer.
pub(crate) const TIP_ID: &str = "tip";

#[derive(Properties, PartialEq)]
pub(crate) struct StageProps {
    pub(crate) stage: Rc<Stage>,
}

/// The pages of a narrow screen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Page {
    Curves,
    Map,
    Details,
}

#[component]
pub(crate) fn Workbench(props: &StageProps) -> Html {
    let page = use_state(|| Page::Map);
    let stage = props.stage.clone();
    if stage.device().is_none() {
        return html! {
            <main class="notice" id="empty"><p>{ text::empty_device() }</p></main>
        };
    }
    let choices = [
        (Page::Curves, "curves", text::view_curves()),
        (Page::Map, "map", text::view_map()),
        (Page::Details, "details", text::view_details()),
    ];
    let shown = choices
        .iter()
        .find(|choice| choice.0 == *page)
        .map(|choice| choice.1);
    html! {
        <>
            <nav class="pages" aria-label={text::panel_pictures()}>
                { for choices.into_iter().map(|(choice, _, name)| {
                    let page = page.clone();
                    let stage = stage.clone();
                    let is_shown = *page == choice;
                    let onclick = Callback::from(move |_| {
                        page.set(choice);
                        stage.redraw();
                    });
                    let pressed = is_shown.to_string();
                    html! { <button {onclick} aria-pressed={pressed}>{ name }</button> }
                }) }
            </nav>
            <main class="workbench" data-page={shown}>
                <CurvesPanel stage={stage.clone()} />
                <MapPanel stage={stage.clone()} />
                <aside>
                    <Details stage={stage.clone()} />
                    <FreeLists stage={stage.clone()} />
                </aside>
                <div id={TIP_ID} />
            </main>
            <TransportBar {stage} />
        </>
    }
}
