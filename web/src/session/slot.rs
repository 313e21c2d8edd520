//! The last answer of each view, and the one question under way.

use std::rc::Rc;

use shared::query::{Query, Reply};

/// A view that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Curves,
    /// The curves over the whole record, for the minimap and the slider.
    Whole,
    Annotations,
    Map,
    Step,
    FreeList,
    /// Life of the block that the step is about.
    StepLife,
    /// Life or address that is selected.
    Selected,
    /// Whether the allocator agrees with the record.
    Agreement,
    /// Why the step happened.
    Why,
}

impl View {
    pub(crate) const COUNT: usize = 10;
}

/// Asks one question at a time. While an answer is awaited the last one stays, and of all the
/// questions that come up meanwhile only the newest is asked: so an answer is never waited for
/// behind outdated ones, and nothing has to be cancelled.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    is_asking: bool,
    answer: Option<(Query, Rc<Reply>)>,
}

impl Slot {
    /// Whether `query` has to be asked now.
    pub(crate) fn wants(&mut self, query: &Query) -> bool {
        let is_new = self
            .answer
            .as_ref()
            .is_none_or(|(answered, _)| answered != query);
        let asks = is_new && !self.is_asking;
        self.is_asking |= asks;
        asks
    }

    /// Keeps the answer.
    pub(crate) fn answered(&mut self, query: Query, reply: Rc<Reply>) {
        self.is_asking = false;
        self.answer = Some((query, reply));
    }

    /// Forgets the answer: nothing is shown any more.
    pub(crate) fn clear(&mut self) {
        self.answer = None;
    }

    /// The last answer, and what was asked.
    pub(crate) fn answer(&self) -> Option<(&Query, &Rc<Reply>)> {
        self.answer.as_ref().map(|(query, reply)| (query, reply))
    }
}

#[cfg(test)]
mod tests {
    use shared::ids::{DeviceIndex, EventIndex};

    use super::*;

    #[test]
    fn one_question_is_under_way_and_the_newest_follows() {
        let step = |at| Query::Step {
            device: DeviceIndex(0),
            at: EventIndex(at),
        };
        let mut slot = Slot::default();
        assert!(slot.wants(&step(1)));
        assert!(!slot.wants(&step(2)), "the first is under way");
        assert!(!slot.wants(&step(3)));
        slot.answered(step(1), Rc::new(Reply::OutOfRange));
        assert!(slot.wants(&step(3)), "the moment moved on meanwhile");
        slot.answered(step(3), Rc::new(Reply::OutOfRange));
        assert!(!slot.wants(&step(3)), "the answer is there");
        assert_eq!(slot.answer().map(|(query, _)| query), Some(&step(3)));
    }
}
