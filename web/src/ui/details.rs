//! What is selected, else what the step was about: sizes, place, life, stacks.

use std::rc::Rc;

use shared::model::{Action, BlockState};
use shared::query::{BlockDetails, LifeView, Step, StreamView};
use yew::prelude::*;

use super::strong::with_strong;
use super::workbench::StageProps;
use crate::session::bell::{Topic, use_bell};
use crate::session::stage::{Stage, StageState};
use crate::text::{self, format};
use crate::ui::stack::StackView;
use crate::view::sentence::{place, pool_name};
use crate::view::streams::stream_number;
use crate::view::why::why_lines;

#[component]
pub(crate) fn Details(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    use_bell(&stage.bell, Topic::STEP | Topic::SELECTION);
    let state = stage.state();
    html! {
        <section class="panel details" id="details">
            { content(&stage, &state) }
            if state.is_why_open {
                { why_view(&state, streams(&stage)) }
            }
        </section>
    }
}

fn content(stage: &Rc<Stage>, state: &StageState) -> Html {
    if state.selection.is_some() {
        let close = close_button(stage);
        return match (state.selected_life(), state.selected_block()) {
            (Some(life), _) => life_details(stage, life, text::badge_selected(), close),
            (None, Some(block)) => cached_details(stage, block, close),
            (None, None) => html! { <header><h2>{ text::details_empty() }</h2>{ close }</header> },
        };
    }
    match (state.step(), state.step_life()) {
        (Some(step), Some(life)) => {
            let badge = match step.action {
                Action::Alloc => text::badge_allocated(),
                Action::FreeRequested => text::badge_freed(),
                _ => text::badge_returned(),
            };
            life_details(stage, life, badge, Html::default())
        }
        (Some(step), None) => step_details(stage, step),
        (None, _) => html! { <header><h2>{ text::details_empty() }</h2></header> },
    }
}

fn close_button(stage: &Rc<Stage>) -> Html {
    let stage = stage.clone();
    let name = text::details_close();
    let onclick = Callback::from(move |_| stage.select(None));
    html! {
        <button class="quiet close" {onclick} title={name.clone()} aria-label={name}>{ "×" }</button>
    }
}

fn row(name: String, value: Html) -> Html {
    html! { <><dt>{ name }</dt><dd>{ value }</dd></> }
}

fn streams(stage: &Stage) -> &[StreamView] {
    stage.device().map_or(&[][..], |device| &device.streams)
}

fn life_details(stage: &Rc<Stage>, life: &LifeView, badge: String, close: Html) -> Html {
    let stream = stream_number(streams(stage), life.stream.stream);
    let pool = pool_name(Some(life.pool), Some(life.kind));
    html! {
        <>
            <header>
                <h2>{ text::details_block() }</h2>
                <span class="badge">{ badge }</span>
                { close }
            </header>
            <dl class="facts">
                { row(text::row_asked(), with_exact(life.requested_bytes)) }
                { row(text::row_given(), given(life)) }
                { row(text::row_address(), html! { <code>{ format::address(life.address) }</code> }) }
                { row(text::row_place(), text::place_pool_stream(pool, stream).into()) }
                { row(text::row_lives(), lives(stage, life)) }
                if let [Some(from), _, Some(to)] = life.times_us {
                    { row(text::row_lasts(), format::duration_us(to.abs_diff(from)).into()) }
                }
            </dl>
            <StackView title={text::stack_asked()} frames={life.frames.clone()} />
            if !life.free_frames.is_empty() {
                <StackView title={text::stack_freed()} frames={life.free_frames.clone()} />
            }
        </>
    }
}

fn with_exact(bytes: u64) -> Html {
    html! {
        <>{ format::size(bytes) }{ " " }<span class="second">{ format::exact_bytes(bytes) }</span></>
    }
}

/// What was given, and what of it nobody asked for.
fn given(life: &LifeView) -> Html {
    let rounding = life.rounded_bytes.saturating_sub(life.requested_bytes);
    let slack = life.given_bytes.saturating_sub(life.rounded_bytes);
    let mut notes = Vec::new();
    if rounding > 0 {
        notes.push(text::given_rounding(format::size(rounding)));
    }
    if slack > 0 {
        notes.push(text::given_slack(format::size(slack)));
    }
    if notes.is_empty() {
        notes.push(text::given_exact());
    }
    if life.inferred {
        notes.push(text::given_inferred());
    }
    html! {
        <>
            { format::size(life.given_bytes) }{ " " }
            <span class="second">{ notes.join(" · ") }</span>
        </>
    }
}

/// From which event to which; both lead there.
fn lives(stage: &Rc<Stage>, life: &LifeView) -> Html {
    let born = match life.born {
        Some(at) => event_link(stage, at.0),
        None => html! { <span class="second">{ text::lives_before() }</span> },
    };
    let freed = match life.free_requested {
        Some(at) => event_link(stage, at.0),
        None => html! { <span class="second">{ text::lives_still() }</span> },
    };
    let count = match (life.born, life.free_requested) {
        (Some(from), Some(to)) => Some(text::lives_events(to.0.saturating_sub(from.0))),
        _ => None,
    };
    html! {
        <>
            { born }{ " → " }{ freed }
            if let Some(count) = count {
                { " " }<span class="second">{ count }</span>
            }
        </>
    }
}

fn event_link(stage: &Rc<Stage>, at: u32) -> Html {
    let stage = stage.clone();
    let onclick = Callback::from(move |_| stage.seek(at));
    html! { <button class="link" {onclick}>{ text::event_number(at) }</button> }
}

fn cached_details(stage: &Rc<Stage>, details: &BlockDetails, close: Html) -> Html {
    let block = details.block;
    let segment = &details.segment;
    let state = match block.state {
        BlockState::Allocated => text::state_allocated(),
        BlockState::PendingFree => text::state_pending(),
        BlockState::Cached if block.pinned => text::state_pinned(details.pinned_by.len()),
        BlockState::Cached => text::state_returnable(),
    };
    let stream = stream_number(streams(stage), segment.stream);
    let pool = pool_name(Some(segment.pool), Some(segment.kind));
    let address = segment.address + block.offset_bytes;
    let of_segment = text::segment_of(
        format::address(segment.address),
        details.of,
        details.position + 1,
        format::size(segment.size_bytes),
    );
    html! {
        <>
            <header>
                <h2>{ text::details_cached() }</h2>
                <span class="badge">{ text::badge_selected() }</span>
                { close }
            </header>
            <dl class="facts">
                { row(text::row_size(), with_exact(block.size_bytes)) }
                { row(text::row_state(), state.into()) }
                { row(text::row_address(), html! { <code>{ format::address(address) }</code> }) }
                { row(text::row_place(), text::place_pool_stream(pool, stream).into()) }
                { row(text::row_segment(), of_segment.into()) }
            </dl>
        </>
    }
}

fn step_details(stage: &Rc<Stage>, step: &Step) -> Html {
    let unit = format::Unit::of(stage.device().map_or(0, |device| device.peak.reserved));
    let change = |before: u64, after: u64| -> Html {
        format!("{} → {}", unit.size(before), unit.size(after)).into()
    };
    html! {
        <>
            <header>
                <h2>{ text::details_event() }</h2>
                <span class="badge">{ step.action.name() }</span>
            </header>
            <dl class="facts">
                { row(text::row_size(), with_exact(step.size_bytes)) }
                if step.action != Action::Oom {
                    { row(text::row_address(),
                        html! { <code>{ format::address(step.address) }</code> }) }
                }
                { row(text::row_place(), place(step, streams(stage)).into()) }
                { row(text::row_change(), change(step.before.allocated, step.after.allocated)) }
                { row(text::row_change_reserved(),
                    change(step.before.reserved, step.after.reserved)) }
                if let Some(passed) = since_start(stage, step) {
                    { row(text::row_time(), passed.into()) }
                }
                if !step.notes.is_empty() {
                    { row(text::row_notes(), step.notes.join(", ").into()) }
                }
            </dl>
            <StackView title={text::stack_asked()} frames={step.frames.clone()} />
        </>
    }
}

/// Time since the first event.
fn since_start(stage: &Stage, step: &Step) -> Option<String> {
    let first = stage.device()?.first_time_us?;
    Some(format::duration_us(step.time_us?.abs_diff(first)))
}

/// What the allocator looked at and did, line by line.
fn why_view(state: &StageState, streams: &[StreamView]) -> Html {
    let Some(why) = state.why() else {
        return Html::default();
    };
    let lines = why.map(|why| why_lines(why, streams)).unwrap_or_default();
    html! {
        <div class="why" id="why-steps">
            <h3>{ text::why_title() }</h3>
            if lines.is_empty() {
                <p class="second">{ text::why_nothing() }</p>
            }
            if why.is_some_and(|why| !why.agrees) {
                <p class="second">{ text::why_differs() }</p>
            }
            <ol>
                { for lines.into_iter().map(|line| {
                    let class = line.is_event.then_some("is-event");
                    html! { <li {class}>{ with_strong(&line.text) }</li> }
                }) }
            </ol>
        </div>
    }
}
