//! The curves with their legend, the figures of the moment, and what the pointer does there.

use std::cell::Cell;
use std::rc::Rc;

use shared::query::Axis;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::canvas_view::{CanvasView, capture, point_on};
use super::workbench::{StageProps, TIP_ID};
use crate::draw::pictures::{Picture, curves_layout, placed_marks, regions_at};
use crate::platform;
use crate::session::bell::{Topic, use_bell};
use crate::session::stage::Stage;
use crate::text;
use crate::text::format::Unit;

#[component]
pub(crate) fn CurvesPanel(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    let axis = stage.state().axis;
    let title = match axis {
        Axis::Events => text::curves_over_events(),
        Axis::Time => text::curves_over_time(),
    };
    use_bell(&stage.bell, Topic::CURVES);
    html! {
        <section class="panel curves">
            <header>
                <h2>{ title }</h2>
                <AxisSwitch stage={stage.clone()} />
                <ul class="legend">
                    <li><i class="swatch allocated" />{ text::legend_allocated() }</li>
                    <li><i class="swatch cached" />{ text::legend_cached() }</li>
                    if stage.has_pending() {
                        <li><i class="swatch pending" />{ text::legend_pending() }</li>
                    }
                    <li><i class="stroke" />{ text::legend_reserved() }</li>
                    <li class="minor">{ "▲ " }{ text::legend_driver() }</li>
                    <li class="minor">{ "▽ " }{ text::legend_returned() }</li>
                    if stage.device().is_some_and(|device| !device.empty_caches.is_empty()) {
                        <li class="minor"><b class="accent">{ "◆ " }</b>{ text::legend_empty_cache() }</li>
                    }
                    if stage.device().is_some_and(|device| !device.ooms.is_empty()) {
                        <li class="minor"><b class="oom">{ "✕ " }</b>{ text::legend_oom() }</li>
                    }
                </ul>
                <Figures stage={stage.clone()} />
            </header>
            <CurvesCanvas {stage} />
        </section>
    }
}

#[component]
fn AxisSwitch(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    if !stage.has_times() {
        return Html::default();
    }
    let axis = stage.state().axis;
    let onchange = Callback::from(move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        let is_time = select.selected_index() == 1;
        stage.choose_axis(if is_time { Axis::Time } else { Axis::Events });
    });
    html! {
        <select class="pill small" id="axis" {onchange} aria-label={text::curves_axis_label()}>
            <option selected={axis == Axis::Events}>{ text::curves_axis_events() }</option>
            <option selected={axis == Axis::Time}>{ text::curves_axis_time() }</option>
        </select>
    }
}

/// The sums of the moment; their unit is that of the peak, so that it does not jump.
#[component]
fn Figures(props: &StageProps) -> Html {
    let stage = &props.stage;
    use_bell(&stage.bell, Topic::STEP);
    let unit = Unit::of(stage.device().map_or(0, |device| device.peak.reserved));
    let state = stage.state();
    let Some(sums) = state
        .step()
        .map(|step| step.after)
        .or_else(|| state.map().map(|map| map.summary.sums))
    else {
        return Html::default();
    };
    let card = stage.overview.environment.card.total_bytes;
    html! {
        <p class="figures">
            <span id="figure-allocated"><strong class="accent">{ unit.size(sums.allocated) }</strong>
                { " " }{ text::figure_allocated() }</span>
            <span id="figure-reserved"><strong>{ unit.size(sums.reserved) }</strong>
                { " " }{ text::figure_reserved() }</span>
            <span id="figure-cached">{ text::figure_cached(unit.size(sums.cached())) }</span>
            if let Some(card) = card {
                <span class="minor">{ text::figure_card(Unit::Gib.size(card)) }</span>
            }
        </p>
    }
}

/// What a drag does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drag {
    None,
    /// Moves the moment.
    Scrub,
    /// Moves what the curves show, from the minimap.
    Window,
}

#[component]
fn CurvesCanvas(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    let canvas = use_node_ref();
    let drag = use_memo((), |()| Cell::new(Drag::None));
    let onpointerdown = {
        let (stage, canvas, drag) = (stage.clone(), canvas.clone(), drag.clone());
        Callback::from(move |event: PointerEvent| {
            let Some(((x, y), size)) = point_on(&canvas, &event) else {
                return;
            };
            capture(&event);
            let is_minimap = y >= curves_layout(&stage, size).minimap.y;
            drag.set(if is_minimap {
                Drag::Window
            } else {
                Drag::Scrub
            });
            follow(&stage, drag.get(), x, size);
        })
    };
    let onpointermove = {
        let (stage, canvas, drag) = (stage.clone(), canvas.clone(), drag.clone());
        Callback::from(move |event: PointerEvent| {
            let Some(((x, y), size)) = point_on(&canvas, &event) else {
                return;
            };
            follow(&stage, drag.get(), x, size);
            let at = position(&stage, x, size);
            platform::set_text(TIP_ID, &curves_tip(&stage, at, y, size));
            platform::place_beside(TIP_ID, event.client_x(), event.client_y());
            stage.hover(None, Some(at));
        })
    };
    let onpointerup = {
        let drag = drag.clone();
        Callback::from(move |_: PointerEvent| drag.set(Drag::None))
    };
    let onpointerleave = {
        let stage = stage.clone();
        Callback::from(move |_: PointerEvent| {
            platform::set_text(TIP_ID, "");
            stage.hover(None, None);
        })
    };
    let onwheel = {
        let (stage, canvas) = (stage.clone(), canvas.clone());
        Callback::from(move |event: WheelEvent| {
            let Some(((x, _), size)) = point_on(&canvas, &event) else {
                return;
            };
            event.prevent_default();
            if event.shift_key() || event.delta_x().abs() > event.delta_y().abs() {
                stage.pan((event.delta_x() + event.delta_y()) / 1000.0);
            } else {
                stage.zoom(1.002f64.powf(event.delta_y()), position(&stage, x, size));
            }
        })
    };
    html! {
        <CanvasView {stage} picture={Picture::Curves} label={text::curves_label()} {canvas}
            {onpointerdown} {onpointermove} {onpointerup} {onpointerleave} {onwheel} />
    }
}

/// The position on the axis under a pixel of the plot.
fn position(stage: &Stage, x: f32, size: (f32, f32)) -> f64 {
    let plot = curves_layout(stage, size).plot;
    let px = (x - plot.x).clamp(0.0, plot.width);
    stage.state().span.position_at(px.into(), plot.width.into())
}

/// What lies under the pointer: the mark or the region of a lane, else where it is.
fn curves_tip(stage: &Stage, at: f64, y: f32, size: (f32, f32)) -> String {
    let layout = curves_layout(stage, size);
    let reach = stage.state().span.length() / f64::from(layout.plot.width.max(1.0)) * 6.0;
    if (layout.marks.y..layout.marks.bottom()).contains(&y) {
        let marks = placed_marks(stage);
        let near = marks.iter().filter(|mark| (at - mark.at).abs() <= reach);
        return near
            .map(|mark| mark.label.as_str())
            .collect::<Vec<_>>()
            .join("\n");
    }
    if (layout.regions.y..layout.regions.bottom()).contains(&y) {
        return regions_at(stage, at).join("\n");
    }
    stage
        .event_at(at)
        .map(text::event_number)
        .unwrap_or_default()
}

fn follow(stage: &Rc<Stage>, drag: Drag, x: f32, size: (f32, f32)) {
    match drag {
        Drag::None => {}
        Drag::Scrub => {
            if let Some(at) = stage.event_at(position(stage, x, size)) {
                stage.seek(at);
            }
        }
        Drag::Window => {
            let map = curves_layout(stage, size).minimap;
            let at = stage
                .whole()
                .position_at((x - map.x).into(), map.width.into());
            stage.center(at);
        }
    }
}
