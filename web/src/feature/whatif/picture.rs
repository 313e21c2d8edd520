//! The curves over each other, as one small drawing.

use std::fmt::Write;
use std::rc::Rc;

use shared::query::{WhatIfAnswer, WhatIfCurves};
use shared::whatif::Stretch;
use yew::prelude::*;

use crate::text::{self, format};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 180.0;

#[derive(Properties)]
pub(super) struct PictureProps {
    pub(super) answer: Rc<WhatIfAnswer>,
}

impl PartialEq for PictureProps {
    fn eq(&self, other: &PictureProps) -> bool {
        Rc::ptr_eq(&self.answer, &other.answer)
    }
}

#[component]
pub(super) fn Picture(props: &PictureProps) -> Html {
    let answer = &props.answer;
    let (own, other) = shown(answer);
    let Some(own) = own else {
        return Html::default();
    };
    let highest = [Some(own), other]
        .into_iter()
        .flatten()
        .flat_map(|curves| &curves.reserved)
        .map(|stretch| stretch.max)
        .max()
        .unwrap_or(0);
    let allocated = format!(
        "{} L{WIDTH},{HEIGHT} L0,{HEIGHT} Z",
        path(&own.allocated, highest)
    );
    html! {
        <figure class="what-if-curves">
            <svg viewBox={format!("0 0 {WIDTH} {HEIGHT}")} preserveAspectRatio="none" role="img"
                aria-label={text::whatif_curves_label()}>
                <path class="own-allocated" d={allocated} />
                <path class="own" id="what-if-curve-own" d={path(&own.reserved, highest)} />
                if let Some(other) = other {
                    <path class="other" id="what-if-curve-other" d={path(&other.reserved, highest)} />
                }
            </svg>
            <figcaption>
                <span class="own-key">{ text::whatif_key_own() }</span>
                if other.is_some() {
                    <span class="other-key">{ text::whatif_key_other() }</span>
                }
                <span class="allocated-key">{ text::whatif_key_allocated() }</span>
                <span class="second">{ text::whatif_key_top(format::size(highest)) }</span>
            </figcaption>
        </figure>
    }
}

/// The recorded circumstances, and the variant that stands first in the table.
fn shown(answer: &WhatIfAnswer) -> (Option<&WhatIfCurves>, Option<&WhatIfCurves>) {
    let of = |variant: Option<u32>| {
        answer
            .curves
            .iter()
            .find(|curves| curves.variant == variant)
    };
    let best = answer.table.rows.first().map(|row| row.variant);
    (of(None), best.and_then(|best| of(Some(best))))
}

/// A line along the highest values, and down to the lowest where a column has both.
fn path(stretches: &[Stretch], highest: u64) -> String {
    let x = |column: usize| WIDTH * column as f64 / stretches.len().max(1) as f64;
    let y = |value: u64| HEIGHT * (1.0 - value as f64 / highest.max(1) as f64);
    let mut path = String::new();
    for (column, stretch) in stretches.iter().enumerate() {
        let command = if column == 0 { 'M' } else { 'L' };
        // Writing to a string does not fail.
        let _ = write!(path, "{command}{:.1},{:.1} ", x(column), y(stretch.max));
        if stretch.min < stretch.max {
            let _ = write!(path, "L{:.1},{:.1} ", x(column), y(stretch.min));
        }
        let _ = write!(path, "L{:.1},{:.1} ", x(column + 1), y(stretch.last));
    }
    path.truncate(path.trim_end().len());
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_all_extremes() {
        let stretch = |min, max, last| Stretch { min, max, last };
        let check = |stretches: &[Stretch], expected: &str| {
            assert_eq!(path(stretches, 100), expected);
        };
        check(&[], "");
        check(&[stretch(100, 100, 100)], "M0.0,0.0 L960.0,0.0");
        check(
            &[stretch(0, 50, 50), stretch(50, 100, 50)],
            "M0.0,90.0 L0.0,180.0 L480.0,90.0 L480.0,0.0 L480.0,90.0 L960.0,90.0",
        );
    }
}
