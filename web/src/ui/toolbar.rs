//! The bar on top: what is open, which device, warnings, language, theme, help.

use shared::verify::Verdict;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::warnings::WarningsButton;
use crate::feature::whatif::WhatIfButton;
use crate::session::bell::{Topic, use_bell};
use crate::session::{SessionContext, Tab};
use crate::text;
use crate::theme::Theme;

#[derive(Properties, PartialEq)]
pub(crate) struct ToolbarProps {
    pub(crate) on_help: Callback<()>,
}

#[component]
pub(crate) fn Toolbar(props: &ToolbarProps) -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    use_bell(&session.bell, Topic::TABS | Topic::FRAME | Topic::TRANSPORT);
    let active = session.active_tab().map(|tab| tab.id);
    let go_home = {
        let session = session.clone();
        Callback::from(move |_| session.show_tab(0))
    };
    let on_help = props.on_help.reform(|_| ());
    html! {
        <header class="bar">
            <button class="brand" onclick={go_home.clone()} title={text::brand_hint()}>
                <span class="logo" aria-hidden="true"><i /><i /><i /></span>
                { "vramscope" }
            </button>
            <nav class="tabs">
                { for session.tabs().into_iter().map(|tab| {
                    let is_active = Some(tab.id) == active;
                    let key = tab.id;
                    html! { <TabPill {key} tab={TabRef(tab)} {is_active} /> }
                }) }
                if active.is_some() {
                    <button class="quiet" onclick={go_home} title={text::tab_open_more()}
                        aria-label={text::tab_open_more()}>{ "+" }</button>
                }
            </nav>
            <DevicePicker />
            <AgreementBadge />
            <WhatIfButton />
            <WarningsButton />
            <span class="bar-space" />
            <LanguageSwitch />
            <ThemeSwitch />
            <button class="pill" onclick={on_help} title={text::help_open()}
                aria-label={text::help_open()}>{ "?" }</button>
        </header>
    }
}

/// A tab, compared by identity.
#[derive(Clone)]
struct TabRef(std::rc::Rc<Tab>);

impl PartialEq for TabRef {
    fn eq(&self, other: &TabRef) -> bool {
        std::rc::Rc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Properties, PartialEq)]
struct TabPillProps {
    tab: TabRef,
    is_active: bool,
}

#[component]
fn TabPill(props: &TabPillProps) -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let id = props.tab.0.id;
    let title = props.tab.0.title();
    let on_show = {
        let session = session.clone();
        Callback::from(move |_| session.show_tab(id))
    };
    let on_close = Callback::from(move |_| session.close_tab(id));
    let class = classes!("tab", props.is_active.then_some("is-active"));
    let close = text::tab_close(title.clone());
    html! {
        <span {class}>
            <button class="tab-name" onclick={on_show} aria-pressed={props.is_active.to_string()}
                title={title.clone()}>{ title }</button>
            <button class="tab-close" onclick={on_close} title={close.clone()} aria-label={close}>
                { "×" }
            </button>
        </span>
    }
}

#[component]
fn DevicePicker() -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let Some(stage) = session.stage() else {
        return Html::default();
    };
    let devices = stage.overview.devices.clone();
    if devices.len() < 2 {
        return Html::default();
    }
    let shown = stage.state().device;
    let onchange = Callback::from(move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        stage.choose_device(usize::try_from(select.selected_index()).unwrap_or(0));
    });
    html! {
        <select class="pill" id="device" {onchange} aria-label={text::device_label()}>
            { for devices.iter().enumerate().map(|(place, device)| html! {
                <option selected={place == shown}>
                    { text::device_option(device.device.0, device.events) }
                </option>
            }) }
        </select>
    }
}

#[component]
fn LanguageSwitch() -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let onclick = Callback::from(move |_| session.choose_language(text::language().other()));
    html! {
        <button class="pill" id="language" {onclick} title={text::language_switch_hint()}>
            { text::language_switch() }
        </button>
    }
}

#[component]
fn ThemeSwitch() -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    use_bell(&session.bell, Topic::FRAME);
    let theme = session.theme();
    let (sign, hint) = match theme {
        Theme::Auto => ("◐", text::theme_hint_auto()),
        Theme::Light => ("○", text::theme_hint_light()),
        Theme::Dark => ("●", text::theme_hint_dark()),
    };
    let onclick = Callback::from(move |_| session.choose_theme(theme.next()));
    html! {
        <button class="pill" id="theme" {onclick} title={hint.clone()} aria-label={hint}>
            { sign }
        </button>
    }
}

/// Whether the allocator, given the requests of the record, does what the record says.
#[component]
fn AgreementBadge() -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    use_bell(&session.bell, Topic::AGREEMENT | Topic::TRANSPORT);
    let Some(stage) = session.stage() else {
        return Html::default();
    };
    let state = stage.state();
    let Some(agreement) = state.agreement() else {
        return Html::default();
    };
    let (events, matched) = (agreement.events, agreement.matched);
    let (class, text) = match agreement.verdict {
        Verdict::Agrees => ("agrees", text::agreement_agrees(events, matched)),
        Verdict::Disagrees => ("differs", text::agreement_differs(events, matched)),
        Verdict::Incomplete => ("", text::agreement_incomplete(events, matched)),
        Verdict::Impossible => ("differs", text::agreement_impossible()),
        Verdict::Empty => return Html::default(),
    };
    let first = agreement
        .first_mismatch
        .as_ref()
        .map(|mismatch| mismatch.event.0);
    let onclick = {
        let stage = stage.clone();
        Callback::from(move |_| {
            if let Some(at) = first {
                stage.seek(at);
            }
        })
    };
    let class = classes!("pill", class, first.is_none().then_some("is-plain"));
    html! { <button id="agreement" {class} {onclick} title={text::agreement_hint()}>{ text }</button> }
}
