//! What-if questions, answered in slices: the same question asked again goes on where it stopped.

use serde::{Deserialize, Serialize};

use crate::ids::EventIndex;
use crate::query::engine::Scope;
use crate::whatif::{Advice, Question, Run, Stretch, Table, Variant};

/// More columns than any screen has.
const MOST_COLUMNS: u32 = 16_384;

/// What to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfQuestion {
    /// Begin before this event.
    pub from: EventIndex,
    /// The variants, beside a run under the recorded circumstances.
    pub variants: Vec<Variant>,
    /// Try settings worth trying in these circumstances as well.
    pub search: Option<Variant>,
}

/// How far the runs have come, and once they are done, what they came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfView {
    /// Requests done, over all runs.
    pub done: u64,
    /// Requests in all.
    pub total: u64,
    /// What came of it; `None` as long as it is not done.
    pub answer: Option<WhatIfAnswer>,
}

/// What the runs came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfAnswer {
    /// Side by side.
    pub table: Table,
    /// What a search came to.
    pub advice: Option<Advice>,
    /// First event of the first column.
    pub first_event: u32,
    /// First event behind the last column.
    pub end_event: u32,
    /// The curves: of the recorded circumstances, then of the variants in the order in which they
    /// were asked for; what could not be run has none.
    pub curves: Vec<WhatIfCurves>,
}

/// Curves of one run, one stretch a pixel column, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfCurves {
    /// Which variant, from 0; `None` for the recorded circumstances.
    pub variant: Option<u32>,
    /// Held from the driver.
    pub reserved: Vec<Stretch>,
    /// Handed out.
    pub allocated: Vec<Stretch>,
}

/// A question under way.
#[derive(Debug)]
pub(super) struct WhatIf {
    asked: WhatIfQuestion,
    question: Question,
}

/// Goes on with a question for about `most` requests; another question before it is given up.
pub(super) fn what_if(
    scope: &mut Scope<'_>,
    asked: &WhatIfQuestion,
    columns: u32,
    most: u32,
) -> WhatIfView {
    let known = scope.device.what_if.take();
    let mut under_way = match known.filter(|known| known.asked == *asked) {
        Some(known) => known,
        None => Box::new(begin(scope, asked)),
    };
    let is_done = under_way.question.advance(most.max(1) as usize);
    let (done, total) = under_way.question.progress();
    let answer = is_done.then(|| answer(scope, &under_way.question, columns));
    scope.device.what_if = Some(under_way);
    WhatIfView {
        done,
        total,
        answer,
    }
}

fn begin(scope: &Scope<'_>, asked: &WhatIfQuestion) -> WhatIf {
    let mut question = Question::new(
        scope.recording,
        scope.record,
        &scope.device.replay,
        asked.from.0,
        &asked.variants,
    );
    if let Some(circumstances) = &asked.search {
        question.add_search(scope.recording, circumstances);
    }
    WhatIf {
        asked: asked.clone(),
        question,
    }
}

fn answer(scope: &Scope<'_>, question: &Question, columns: u32) -> WhatIfAnswer {
    let replay = &scope.device.replay;
    let table = question.table(scope.recording, scope.record, replay);
    let (first, end) = (table.start.at.0, replay.events());
    let columns = columns.clamp(1, MOST_COLUMNS);
    let variants = (0..).take(question.variants().count()).map(Some);
    let curves = [None]
        .into_iter()
        .chain(variants)
        .filter_map(|variant| Some((variant, question.run(variant)?)))
        .map(|(variant, run)| curves_of(variant, run, first, end, columns))
        .collect();
    WhatIfAnswer {
        advice: question.advice(&table),
        table,
        first_event: first,
        end_event: end,
        curves,
    }
}

fn curves_of(variant: Option<u32>, run: &Run, first: u32, end: u32, columns: u32) -> WhatIfCurves {
    let events = u64::from(end.saturating_sub(first));
    let edge = |column: u32| {
        let offset = events * u64::from(column) / u64::from(columns);
        first.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX))
    };
    let mut curves = WhatIfCurves {
        variant,
        ..WhatIfCurves::default()
    };
    for column in 0..columns {
        let (from, to) = (edge(column), edge(column + 1));
        curves.reserved.push(run.reserved().range(from, to));
        curves.allocated.push(run.allocated().range(from, to));
    }
    curves
}
