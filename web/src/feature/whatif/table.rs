//! The variants as a table.

use std::rc::Rc;

use shared::query::WhatIfAnswer;
use shared::whatif::{Figures, Row, Trouble};
use yew::prelude::*;

use crate::text::{self, format};

#[derive(Properties)]
pub(super) struct TableProps {
    pub(super) answer: Rc<WhatIfAnswer>,
}

impl PartialEq for TableProps {
    fn eq(&self, other: &TableProps) -> bool {
        Rc::ptr_eq(&self.answer, &other.answer)
    }
}

#[component]
pub(super) fn ResultTable(props: &TableProps) -> Html {
    let table = &props.answer.table;
    let headings = [
        text::whatif_col_settings(),
        text::whatif_col_reserved(),
        text::whatif_col_allocated(),
        text::whatif_col_waste(),
        text::whatif_col_calls(),
        text::whatif_col_time(),
        text::whatif_col_retries(),
        text::whatif_col_failed(),
    ];
    html! {
        <div class="what-if-table">
            <table id="what-if-table">
                <thead>
                    <tr>{ for headings.into_iter().map(|name| html! { <th scope="col">{ name }</th> }) }</tr>
                </thead>
                <tbody>
                    if let Some(closeness) = table.closeness {
                        { line(&text::whatif_recorded(), &closeness.recorded) }
                    }
                    { for table.rows.iter().map(row) }
                </tbody>
            </table>
        </div>
    }
}

fn row(row: &Row) -> Html {
    let conf = if row.conf.is_empty() {
        text::whatif_defaults()
    } else {
        row.conf.clone()
    };
    match &row.outcome {
        Ok(figures) => line(&conf, figures),
        Err(trouble) => {
            let why = match trouble {
                Trouble::Settings { message } => message.clone(),
                Trouble::Start => text::whatif_no_start(),
            };
            html! { <tr><th scope="row">{ conf }</th><td colspan="7">{ why }</td></tr> }
        }
    }
}

fn line(name: &str, figures: &Figures) -> Html {
    let failed = match figures.first_oom_event {
        Some(event) => text::whatif_failed(figures.ooms, event.0),
        None => "–".to_owned(),
    };
    let cells = [
        format::size(figures.peak_reserved_bytes),
        format::size(figures.peak_allocated_bytes),
        format::size(figures.waste_at_peak_bytes),
        format::count(figures.driver_calls),
        format::duration_us(figures.driver_ns / 1000),
        format::count(figures.retries),
        failed,
    ];
    html! {
        <tr>
            <th scope="row">{ name }</th>
            { for cells.into_iter().map(|cell| html! { <td>{ cell }</td> }) }
        </tr>
    }
}
