//! What if: settings as controls, the curves of both runs over each other, the table, and in one
//! sentence what came of it.

mod controls;
mod picture;
mod table;
mod words;

use std::cell::Cell;
use std::rc::Rc;

use shared::ids::EventIndex;
use shared::query::{Query, Reply, WhatIfAnswer, WhatIfQuestion};
use yew::prelude::*;

use crate::session::SessionContext;
use crate::session::bell::{Topic, use_bell};
use crate::session::stage::Stage;
use crate::text;
use controls::{Choices, Controls};
use picture::Picture;
use table::ResultTable;

/// Requests of a slice: short enough that other questions are answered between two.
const SLICE: u32 = 50_000;
/// Columns of the curves.
const COLUMNS: u32 = 480;

/// The button of the bar, with what it opens.
#[component]
pub(crate) fn WhatIfButton() -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    use_bell(&session.bell, Topic::TABS | Topic::FRAME | Topic::TRANSPORT);
    let is_open = use_state(|| false);
    let Some(stage) = session.stage().filter(|stage| stage.device().is_some()) else {
        return Html::default();
    };
    let open = {
        let is_open = is_open.clone();
        Callback::from(move |_: MouseEvent| is_open.set(true))
    };
    let close = {
        let is_open = is_open.clone();
        Callback::from(move |()| is_open.set(false))
    };
    html! {
        <>
            <button class="pill" id="what-if" onclick={open} title={text::whatif_hint()}>
                { text::whatif_open() }
            </button>
            if *is_open {
                <WhatIfDialog {stage} on_close={close} />
            }
        </>
    }
}

#[derive(Properties, PartialEq)]
struct DialogProps {
    stage: Rc<Stage>,
    on_close: Callback<()>,
}

/// What is known of the question asked last.
#[derive(Clone, PartialEq)]
enum Known {
    Running { done: u64, total: u64 },
    Answered(Rc<WhatIfAnswer>),
}

#[component]
fn WhatIfDialog(props: &DialogProps) -> Html {
    let choices = use_state(Choices::default);
    let searches = use_state(|| false);
    let known = use_state(|| Known::Running { done: 0, total: 0 });
    // The question whose replies still count.
    let ticket = use_memo((), |()| Cell::new(0));
    let device = props.stage.device().map(|device| device.device);
    {
        let (stage, known) = (props.stage.clone(), known.clone());
        let of = ((*choices).clone(), *searches, device);
        use_effect_with(of, move |(choices, searches, _)| {
            ticket.set(ticket.get() + 1);
            let asking = Asking {
                stage,
                question: question(choices, *searches),
                ticket: ticket.get(),
                current: ticket.clone(),
                known,
            };
            asking.ask();
            // What is under way when the dialog closes is given up.
            move || ticket.set(ticket.get() + 1)
        });
    }
    let on_change = {
        let (choices, searches) = (choices.clone(), searches.clone());
        Callback::from(move |changed: Choices| {
            searches.set(false);
            choices.set(changed);
        })
    };
    let on_search = {
        let searches = searches.clone();
        Callback::from(move |()| searches.set(true))
    };
    let close = props.on_close.reform(|_: MouseEvent| ());
    let keep_open = Callback::from(|event: MouseEvent| event.stop_propagation());
    let on_escape = {
        let close = props.on_close.clone();
        Callback::from(move |event: KeyboardEvent| {
            // The page's keys are not for what lies under the dialog.
            event.stop_propagation();
            if event.key() == "Escape" {
                close.emit(());
            }
        })
    };
    html! {
        <div class="veil" onclick={close.clone()}>
            <div class="dialog what-if" id="what-if-dialog" role="dialog" aria-modal="true"
                aria-label={text::whatif_title()} onclick={keep_open} onkeydown={on_escape}>
                <header>
                    <h2>{ text::whatif_title() }</h2>
                    <button class="quiet" onclick={close} aria-label={text::help_close()}>
                        { "×" }
                    </button>
                </header>
                <Controls choices={(*choices).clone()} {on_change} {on_search} />
                { content(&known) }
            </div>
        </div>
    }
}

fn question(choices: &Choices, searches: bool) -> WhatIfQuestion {
    WhatIfQuestion {
        from: EventIndex(0),
        variants: if searches {
            Vec::new()
        } else {
            vec![choices.variant()]
        },
        search: searches.then(|| choices.circumstances()),
    }
}

fn content(known: &Known) -> Html {
    match known {
        Known::Running { done, total } => html! {
            <p class="second" id="what-if-progress">
                { text::whatif_running() }{ " " }
                <progress value={done.to_string()} max={(*total).max(1).to_string()} />
            </p>
        },
        Known::Answered(answer) => html! {
            <>
                <p id="what-if-sentence"><strong>{ words::sentence(answer) }</strong></p>
                <Picture answer={answer.clone()} />
                <ResultTable answer={answer.clone()} />
                { for words::notes(answer).into_iter().map(|note| html! {
                    <p class="second">{ note }</p>
                }) }
            </>
        },
    }
}

/// A question that is asked again until it is answered.
#[derive(Clone)]
struct Asking {
    stage: Rc<Stage>,
    question: WhatIfQuestion,
    ticket: u32,
    current: Rc<Cell<u32>>,
    known: UseStateHandle<Known>,
}

impl Asking {
    fn ask(self) {
        let Some(device) = self.stage.device().map(|device| device.device) else {
            return;
        };
        let query = Query::WhatIf {
            device,
            question: self.question.clone(),
            columns: COLUMNS,
            most: SLICE,
        };
        let stage = self.stage.clone();
        stage.ask(query, move |reply| self.heard(reply));
    }

    fn heard(self, reply: Reply) {
        let Reply::WhatIf(view) = reply else {
            return;
        };
        if self.current.get() != self.ticket {
            return;
        }
        match view.answer {
            Some(answer) => self.known.set(Known::Answered(Rc::new(answer))),
            None => {
                self.known.set(Known::Running {
                    done: view.done,
                    total: view.total,
                });
                self.ask();
            }
        }
    }
}
