//! The keys, in a dialog.

use yew::prelude::*;

use crate::text;

#[derive(Properties, PartialEq)]
pub(crate) struct HelpProps {
    pub(crate) on_close: Callback<()>,
}

#[component]
pub(crate) fn Help(props: &HelpProps) -> Html {
    let rows = [
        (vec!["←", "→", ",", "."], text::key_step()),
        (vec!["Shift ←", "Shift →"], text::key_step_more()),
        (vec!["Home", "End"], text::key_ends()),
        (vec!["Space"], text::key_play()),
        (vec!["-", "+"], text::key_speed()),
        (vec!["p", "n"], text::key_jump()),
        (vec!["w", "s"], text::key_zoom()),
        (vec!["a", "d"], text::key_pan()),
        (vec!["f"], text::key_fit()),
        (vec!["Esc"], text::key_escape()),
        (vec!["?"], text::key_help()),
    ];
    let on_close = props.on_close.reform(|_: MouseEvent| ());
    let keep_open = Callback::from(|event: MouseEvent| event.stop_propagation());
    html! {
        <div class="veil" onclick={on_close.clone()}>
            <div class="dialog" id="help" role="dialog" aria-modal="true"
                aria-label={text::help_title()} onclick={keep_open}>
                <header>
                    <h2>{ text::help_title() }</h2>
                    <button class="quiet" onclick={on_close} aria-label={text::help_close()}>
                        { "×" }
                    </button>
                </header>
                <dl class="keys">
                    { for rows.into_iter().map(|(keys, what)| html! {
                        <>
                            <dt>{ for keys.into_iter().map(|key| html! { <kbd>{ key }</kbd> }) }</dt>
                            <dd>{ what }</dd>
                        </>
                    }) }
                </dl>
                <p>{ text::help_pointer() }</p>
            </div>
        </div>
    }
}
