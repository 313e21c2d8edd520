//! The sentence about the step, and the controls that move in time.

use shared::model::Action;
use shared::query::JumpKind;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::strong::with_strong;
use super::workbench::StageProps;
use crate::session::bell::{Topic, use_bell};
use crate::session::stage::Direction;
use crate::session::transport::SPEEDS;
use crate::text;
use crate::view::sentence::sentence;

/// What the jump buttons look for, in the order of their menu.
const JUMPS: [JumpKind; 5] = [
    JumpKind::Segment,
    JumpKind::EmptyCache,
    JumpKind::Oom,
    JumpKind::Mark,
    JumpKind::Peak,
];

#[component]
pub(crate) fn TransportBar(props: &StageProps) -> Html {
    html! {
        <footer class="transport">
            <Sentence stage={props.stage.clone()} />
            <div class="controls">
                <Buttons stage={props.stage.clone()} />
                <Jumps stage={props.stage.clone()} />
                <Slider stage={props.stage.clone()} />
                <SpeedPicker stage={props.stage.clone()} />
            </div>
        </footer>
    }
}

#[component]
fn Sentence(props: &StageProps) -> Html {
    let stage = &props.stage;
    use_bell(&stage.bell, Topic::STEP);
    let state = stage.state();
    let Some(step) = state.step() else {
        return html! { <p class="sentence" /> };
    };
    let streams = stage.device().map_or(&[][..], |device| &device.streams);
    let class = classes!("chip", step.action.name());
    let on_why = {
        let stage = stage.clone();
        Callback::from(move |_| stage.toggle_why())
    };
    html! {
        <p class="sentence" id="sentence" aria-live="polite" data-at={step.at.0.to_string()}>
            <span {class}>{ step.action.name() }</span>
            <span>{ with_strong(&sentence(step, streams)) }</span>
            if step.action != Action::Unknown {
                <button class="link" id="why" onclick={on_why}>{ text::why_link() }</button>
            }
        </p>
    }
}

#[component]
fn Buttons(props: &StageProps) -> Html {
    let stage = &props.stage;
    use_bell(&stage.bell, Topic::TRANSPORT);
    let is_playing = stage.state().transport.is_playing;
    let last = stage.state().transport.last();
    let button = |id: &'static str,
                  sign: &'static str,
                  name: String,
                  class: &'static str,
                  act: Callback<MouseEvent>| {
        html! {
            <button {id} {class} onclick={act} title={name.clone()} aria-label={name}>{ sign }</button>
        }
    };
    let on = |act: fn(&crate::session::stage::Stage, u32)| {
        let stage = stage.clone();
        Callback::from(move |_: MouseEvent| act(&stage, last))
    };
    let (sign, name) = if is_playing {
        ("❚❚", text::transport_pause())
    } else {
        ("▶", text::transport_play())
    };
    html! {
        <>
            { button("first", "|◀", text::transport_first(), "step", on(|stage, _| stage.seek(0))) }
            { button("back", "◀", text::transport_back(), "step", on(|stage, _| stage.step(-1))) }
            { button("play", sign, name, "primary", on(|stage, _| stage.toggle_play())) }
            { button("step", "▶", text::transport_step(), "step", on(|stage, _| stage.step(1))) }
            { button("last", "▶|", text::transport_last(), "step", on(|stage, last| stage.seek(last))) }
        </>
    }
}

#[component]
fn Jumps(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    use_bell(&stage.bell, Topic::TRANSPORT);
    let chosen = stage.state().transport.jump;
    let onchange = {
        let stage = stage.clone();
        Callback::from(move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            let place = usize::try_from(select.selected_index()).unwrap_or(0);
            stage.choose_jump(JUMPS.get(place).copied().unwrap_or_default());
        })
    };
    let jump = |direction: Direction| {
        let stage = stage.clone();
        Callback::from(move |_: MouseEvent| stage.jump(direction))
    };
    let (previous, next) = (text::transport_previous(), text::transport_next());
    html! {
        <span class="jumps">
            <button id="jump-back" class="step" onclick={jump(Direction::Back)}
                title={previous.clone()} aria-label={previous}>{ "↤" }</button>
            <select id="jump-kind" class="pill" {onchange} aria-label={text::transport_jump()}>
                { for JUMPS.into_iter().map(|jump| html! {
                    <option selected={jump == chosen}>{ jump_name(jump) }</option>
                }) }
            </select>
            <button id="jump-next" class="step" onclick={jump(Direction::Forward)}
                title={next.clone()} aria-label={next}>{ "↦" }</button>
        </span>
    }
}

fn jump_name(jump: JumpKind) -> String {
    match jump {
        JumpKind::Segment => text::jump_segment(),
        JumpKind::EmptyCache => text::jump_empty_cache(),
        JumpKind::Oom => text::jump_oom(),
        JumpKind::Mark => text::jump_mark(),
        JumpKind::Peak => text::jump_peak(),
    }
}

/// Id of the slider and of the text beside it, which follow the moment in every frame.
pub(crate) const SLIDER_ID: &str = "slider";
pub(crate) const AT_ID: &str = "at-event";

#[component]
fn Slider(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    use_bell(&stage.bell, Topic::TRANSPORT);
    let (at, last, text) = {
        let state = stage.state();
        let transport = &state.transport;
        (
            transport.at,
            transport.last(),
            at_text(transport.at, transport.events),
        )
    };
    let oninput = Callback::from(move |event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        // A slider holds whole numbers up to its last event.
        stage.seek(input.value_as_number().max(0.0) as u32);
    });
    html! {
        <>
            <input type="range" id={SLIDER_ID} min="0" max={last.to_string()} value={at.to_string()}
                {oninput} aria-label={text::transport_slider()} aria-valuetext={text.clone()} />
            <output id={AT_ID} for={SLIDER_ID}>{ text }</output>
        </>
    }
}

/// Which event of how many; people count from 1, the record from 0, and so do links and messages.
pub(crate) fn at_text(at: u32, events: u32) -> String {
    if events == 0 {
        text::transport_none()
    } else {
        text::transport_at(at, events)
    }
}

#[component]
fn SpeedPicker(props: &StageProps) -> Html {
    let stage = props.stage.clone();
    use_bell(&stage.bell, Topic::TRANSPORT);
    let chosen = stage.state().transport.speed;
    let onchange = Callback::from(move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        let place = usize::try_from(select.selected_index()).unwrap_or(0);
        stage.choose_speed(SPEEDS.get(place).copied().unwrap_or(1.0));
    });
    html! {
        <select id="speed" class="pill" {onchange} aria-label={text::transport_speed()}>
            { for SPEEDS.into_iter().map(|speed| html! {
                <option selected={speed == chosen}>{ format!("{speed}×") }</option>
            }) }
        </select>
    }
}
