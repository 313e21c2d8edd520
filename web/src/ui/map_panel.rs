//! The memory map with its legend and figures, and what the pointer does there.

use shared::query::MemoryMap;
use yew::prelude::*;

use super::canvas_view::{CanvasView, point_on};
use super::strong::with_strong;
use super::workbench::{StageProps, TIP_ID};
use crate::draw::pictures::{MAP_MARGIN, Picture};
use crate::platform;
use crate::session::bell::{Topic, use_bell};
use crate::session::link::Selection;
use crate::session::stage::{Stage, StageState};
use crate::text::{self, format};
use crate::view::memory_map::MapHit;
use crate::view::tip::block_tip;

#[component]
pub(crate) fn MapPanel(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    html! {
        <section class="panel map">
            <header>
                <h2>{ text::map_title() }</h2>
                <ul class="legend">
                    <li><i class="swatch allocated" />{ text::legend_allocated() }</li>
                    if stage.has_pending() {
                        <li><i class="swatch pending" />{ text::legend_pending() }</li>
                    }
                    <li><i class="swatch cached" />{ text::legend_returnable() }</li>
                    <li><i class="swatch pinned" />{ text::legend_pinned() }</li>
                    <li><i class="swatch waste" />{ text::legend_waste() }</li>
                    <LegendOfFew stage={stage.clone()} />
                </ul>
                <MapFigures stage={stage.clone()} />
            </header>
            <MapCanvas {stage} />
        </section>
    }
}

/// Legends of what few recordings have.
#[component]
fn LegendOfFew(props: &StageProps) -> Html {
    let has_before = props
        .stage
        .device()
        .is_some_and(|device| device.alive_before_blocks > 0);
    let pages = [
        shared::model::Action::SegmentMap,
        shared::model::Action::SegmentUnmap,
    ];
    let has_pages = props.stage.device().is_some_and(|device| {
        pages
            .iter()
            .any(|action| device.actions.get(*action as usize).is_some_and(|n| *n > 0))
    });
    html! {
        <>
            if has_before {
                <li class="minor"><i class="swatch before" />{ text::legend_before() }</li>
            }
            if has_pages {
                <li class="minor"><i class="swatch unmapped" />{ text::legend_unmapped() }</li>
            }
        </>
    }
}

#[component]
fn MapFigures(props: &StageProps) -> Html {
    use_bell(&props.stage.bell, Topic::MAP);
    let state = props.stage.state();
    let Some(map) = state.map() else {
        return Html::default();
    };
    let summary = map.summary;
    let flush = text::map_flush(
        format::size(summary.pinned),
        format::size(summary.releasable),
    );
    html! {
        <p class="figures">
            <span id="figure-counts">{ text::map_counts(summary.blocks, map.segments.len()) }</span>
            <span id="figure-flush">{ with_strong(&flush) }</span>
        </p>
    }
}

#[component]
fn MapCanvas(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    let canvas = use_node_ref();
    let onpointerdown = {
        let (stage, canvas) = (stage.clone(), canvas.clone());
        Callback::from(move |event: PointerEvent| {
            let Some((point, _)) = point_on(&canvas, &event) else {
                return;
            };
            let selection = {
                let state = stage.state();
                hit(&state, point).map(|(map, hit)| selection_at(map, hit))
            };
            stage.select(selection);
        })
    };
    let onpointermove = {
        let (stage, canvas) = (stage.clone(), canvas.clone());
        Callback::from(move |event: PointerEvent| {
            let Some((point, _)) = point_on(&canvas, &event) else {
                return;
            };
            let under = under(&stage, point);
            platform::set_text(TIP_ID, under.as_ref().map_or("", |under| &under.tip));
            platform::place_beside(TIP_ID, event.client_x(), event.client_y());
            stage.hover(under.map(|under| under.range), None);
        })
    };
    let onpointerleave = {
        let stage = stage.clone();
        Callback::from(move |_: PointerEvent| {
            platform::set_text(TIP_ID, "");
            stage.hover(None, None);
        })
    };
    let onwheel = {
        let stage = stage.clone();
        Callback::from(move |event: WheelEvent| {
            event.prevent_default();
            if event.ctrl_key() || event.meta_key() {
                stage.zoom_map(1.002f32.powf(-event.delta_y() as f32));
            } else {
                stage.scroll_map(event.delta_y() as f32);
            }
        })
    };
    html! {
        <CanvasView {stage} picture={Picture::Map} label={text::map_label()} {canvas}
            {onpointerdown} {onpointermove} {onpointerleave} {onwheel} />
    }
}

/// The block under a point of the canvas.
fn hit(state: &StageState, (x, y): (f32, f32)) -> Option<(&MemoryMap, MapHit)> {
    let map = state.map()?;
    let y = y - MAP_MARGIN + state.map_scroll;
    let hit = state.map_layout.hit(map, x - MAP_MARGIN, y)?;
    Some((map, hit))
}

/// A live block is selected with its whole life, anything else by where it lies.
fn selection_at(map: &MemoryMap, hit: MapHit) -> Selection {
    let segment = &map.segments[hit.segment];
    let block = &segment.blocks[hit.block];
    match block.life {
        Some(life) => Selection::Life(life),
        None => Selection::Address(segment.address + block.offset_bytes),
    }
}

/// What is under the pointer.
struct Under {
    /// Its address and bytes.
    range: (u64, u64),
    tip: String,
}

fn under(stage: &Stage, point: (f32, f32)) -> Option<Under> {
    let state = stage.state();
    let (map, hit) = hit(&state, point)?;
    let segment = map.segments.get(hit.segment)?;
    let block = segment.blocks.get(hit.block)?;
    let range = (segment.address + block.offset_bytes, block.size_bytes);
    Some(Under {
        range,
        tip: block_tip(segment, block),
    })
}
