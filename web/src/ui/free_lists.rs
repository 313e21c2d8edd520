//! The cached blocks among which the step chose, in the order in which the allocator searches.

use shared::query::FreeList;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use super::workbench::StageProps;
use crate::session::bell::{Topic, use_bell};
use crate::session::link::Selection;
use crate::text::{self, format};
use crate::view::sentence::pool_name;
use crate::view::streams::stream_number;

#[component]
pub(crate) fn FreeLists(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    use_bell(&stage.bell, Topic::FREE_LIST);
    let rows = use_node_ref();
    let at = stage
        .state()
        .free_list()
        .and_then(|list| Some((list.chosen?, list.first, list.total)));
    use_effect_with((rows.clone(), at), |(rows, at)| {
        if let (Some((chosen, first, _)), Some(rows)) = (*at, rows.cast::<Element>()) {
            bring_into_view(&rows, chosen.saturating_sub(first));
        }
    });
    let state = stage.state();
    let Some(list) = state.free_list() else {
        return html! { <section class="panel free-lists"><h2>{ text::free_title() }</h2></section> };
    };
    let of = list.stream.map(|stream| {
        let streams = stage.device().map_or(&[][..], |device| &device.streams);
        text::free_of(
            pool_name(Some(list.pool), list.kind),
            stream_number(streams, stream.stream),
        )
    });
    let left_out_before = list.first;
    let left_out_after = list
        .total
        .saturating_sub(list.first + list.blocks.len() as u32);
    html! {
        <section class="panel free-lists" id="free-lists">
            <header>
                <h2>{ text::free_title() }</h2>
                <span class="second">{ of }</span>
            </header>
            <p class="second">{ explain(list) }</p>
            if list.blocks.is_empty() {
                <p class="second">{ text::free_empty() }</p>
            }
            if left_out_before > 0 {
                <p class="second more">{ "⋯ " }{ text::free_left_out(left_out_before) }</p>
            }
            <ol class="free-rows" ref={rows}>
                { for list.blocks.iter().enumerate().map(|(row, block)| {
                    let stage = stage.clone();
                    let address = block.address;
                    let select = Callback::from(move |_| {
                        stage.select(Some(Selection::Address(address)));
                    });
                    free_row(list, row, select)
                }) }
            </ol>
            if left_out_after > 0 {
                <p class="second more">{ "⋯ " }{ text::free_left_out(left_out_after) }</p>
            }
        </section>
    }
}

/// Scrolls the panel, and nothing around it, so that a row is in its middle.
fn bring_into_view(rows: &Element, row: u32) {
    let Some(panel) = rows.parent_element() else {
        return;
    };
    let offset = |element: &Element| {
        element
            .dyn_ref::<HtmlElement>()
            .map_or(0, HtmlElement::offset_top)
    };
    if let Some(row) = rows.children().item(row) {
        panel.set_scroll_top(offset(&row) - offset(&panel) - panel.client_height() / 2);
    }
}

fn explain(list: &FreeList) -> Option<String> {
    let wanted = list.wanted_bytes?;
    let size = format::size(wanted);
    Some(match list.chosen {
        Some(_) => text::free_best_fit(size),
        None => text::free_none_fits(size),
    })
}

/// Bytes of a bar of full width: twice what was looked for, so that the fit can be seen; larger
/// blocks are cut.
fn full_bar(list: &FreeList) -> u64 {
    let largest = list.blocks.iter().map(|block| block.size_bytes).max();
    let largest = largest.unwrap_or(1).max(1);
    list.wanted_bytes
        .map_or(largest, |wanted| largest.min((wanted * 2).max(1)))
}

fn free_row(list: &FreeList, row: usize, onclick: Callback<MouseEvent>) -> Html {
    let block = list.blocks[row];
    let share = (block.size_bytes as f64 / full_bar(list) as f64).min(1.0) * 100.0;
    let is_cut = block.size_bytes > full_bar(list);
    let is_chosen = list.chosen == Some(list.first + row as u32);
    let is_too_small = list
        .wanted_bytes
        .is_some_and(|wanted| block.size_bytes < wanted);
    let class = classes!(
        "free-row",
        is_chosen.then_some("is-chosen"),
        is_too_small.then_some("is-too-small"),
        is_cut.then_some("is-cut"),
    );
    html! {
        <li key={block.address.to_string()}>
            <button {class} {onclick} title={format::address(block.address)}>
                <span class="free-size">{ format::size(block.size_bytes) }</span>
                <span class="free-bar"><i style={format!("width:{share:.2}%")} /></span>
            </button>
        </li>
    }
}
