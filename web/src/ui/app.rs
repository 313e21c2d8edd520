//! The whole page: bar, then the first screen, a recording on its way, or the workbench.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::help::Help;
use super::opening::{Failed, OpeningView};
use super::start::{DropTarget, Start};
use super::toolbar::Toolbar;
use super::workbench::Workbench;
use crate::keys::{self, KeyAction};
use crate::session::bell::{Topic, use_bell};
use crate::session::stage::Direction;
use crate::session::{Phase, SessionContext};
use crate::text;

#[component]
pub(crate) fn App() -> Html {
    let session = use_memo((), |()| SessionContext::start());
    let session = (*session).clone();
    use_bell(&session.bell, Topic::TABS | Topic::FRAME);
    let is_help_open = use_state(|| false);
    use_keys(&session, &is_help_open);
    use_system_theme(&session);

    let toggle_help = {
        let is_help_open = is_help_open.clone();
        Callback::from(move |()| is_help_open.set(!*is_help_open))
    };
    let content = match session.active_tab().map(|tab| (tab.clone(), tab.phase())) {
        None => html! { <Start /> },
        Some((
            tab,
            Phase::Opening {
                done_bytes,
                total_bytes,
            },
        )) => {
            html! { <OpeningView name={tab.title()} {done_bytes} {total_bytes} /> }
        }
        Some((tab, Phase::Failed(failure))) => html! { <Failed {tab} {failure} /> },
        Some((tab, Phase::Open(stage))) => html! { <Workbench key={tab.id} {stage} /> },
    };
    // A new key for each language: every component words itself anew.
    html! {
        <ContextProvider<SessionContext> context={session.clone()}>
            <DropTarget key={text::language().code()}>
                <Toolbar on_help={toggle_help.clone()} />
                { content }
                if *is_help_open {
                    <Help on_close={toggle_help} />
                }
            </DropTarget>
        </ContextProvider<SessionContext>>
    }
}

/// Listens to the keys of the whole page.
#[hook]
fn use_keys(session: &SessionContext, is_help_open: &UseStateHandle<bool>) {
    let session = session.clone();
    let is_help_open = is_help_open.clone();
    use_effect_with(*is_help_open, move |_| {
        let window = web_sys::window().expect("only the page listens");
        let on_key = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
            let is_taken = event.ctrl_key() || event.alt_key() || event.meta_key();
            if is_taken || is_typing(&event) {
                return;
            }
            let Some(action) = keys::action(&event.key(), event.shift_key()) else {
                return;
            };
            match action {
                KeyAction::Help => is_help_open.set(!*is_help_open),
                KeyAction::Escape if *is_help_open => is_help_open.set(false),
                _ if !obey(&session, action) => return,
                _ => {}
            }
            event.prevent_default();
        });
        let listener: &web_sys::js_sys::Function = on_key.as_ref().unchecked_ref();
        let _ = window.add_event_listener_with_callback("keydown", listener);
        move || {
            let listener: &web_sys::js_sys::Function = on_key.as_ref().unchecked_ref();
            let _ = window.remove_event_listener_with_callback("keydown", listener);
        }
    });
}

/// A key goes to a field, a list or a button first; space there means to press it.
fn is_typing(event: &KeyboardEvent) -> bool {
    let target = event
        .target()
        .and_then(|target| target.dyn_into::<HtmlElement>().ok());
    let Some(target) = target else { return false };
    match target.tag_name().as_str() {
        "SELECT" | "TEXTAREA" => event.key() != "Escape",
        "INPUT" => !matches!(event.key().as_str(), "Escape" | " " | "?"),
        "BUTTON" | "SUMMARY" | "A" => matches!(event.key().as_str(), " " | "Enter"),
        _ => false,
    }
}

/// Does what a key asks for; says whether there was a recording to do it on.
fn obey(session: &SessionContext, action: KeyAction) -> bool {
    let Some(stage) = session.stage() else {
        return false;
    };
    let last = stage.state().transport.last();
    let at = stage.state().transport.at;
    match action {
        KeyAction::Step(by) => stage.step(by),
        KeyAction::First => stage.seek(0),
        KeyAction::Last => stage.seek(last),
        KeyAction::TogglePlay => stage.toggle_play(),
        KeyAction::Faster => stage.change_speed(true),
        KeyAction::Slower => stage.change_speed(false),
        KeyAction::JumpNext => stage.jump(Direction::Forward),
        KeyAction::JumpPrevious => stage.jump(Direction::Back),
        KeyAction::Zoom(factor) => {
            let span = stage.state().span;
            let middle = (span.first + span.last) / 2.0;
            let cursor = stage
                .position_of(at)
                .filter(|at| (span.first..span.last).contains(at));
            stage.zoom(factor, cursor.unwrap_or(middle));
        }
        KeyAction::Pan(share) => stage.pan(share),
        KeyAction::Fit => stage.fit(),
        KeyAction::Escape => stage.select(None),
        KeyAction::Help => {}
    }
    true
}

/// Follows the system when it changes between light and dark.
#[hook]
fn use_system_theme(session: &SessionContext) {
    let session = session.clone();
    use_effect_with((), move |()| {
        let query = web_sys::window().and_then(|window| {
            window
                .match_media("(prefers-color-scheme: dark)")
                .ok()
                .flatten()
        });
        let on_change = Closure::<dyn Fn()>::new(move || {
            session.theme().apply();
            session.restyle();
        });
        if let Some(query) = &query {
            let _ = query
                .add_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
        }
        move || drop((query, on_change))
    });
}
