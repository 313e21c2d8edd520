//! Tells components that something they show has changed.

use std::cell::{Cell, RefCell};
use std::ops::BitOr;
use std::rc::Rc;

use yew::prelude::*;

/// What changed, as a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Topic(u32);

impl Topic {
    /// Recordings were opened, closed or switched.
    pub(crate) const TABS: Topic = Topic(1);
    /// The step shown, with what it did.
    pub(crate) const STEP: Topic = Topic(2);
    /// What is selected, and its details.
    pub(crate) const SELECTION: Topic = Topic(4);
    /// Playing, speed, device, kind of jump.
    pub(crate) const TRANSPORT: Topic = Topic(8);
    /// Curves and their range.
    pub(crate) const CURVES: Topic = Topic(16);
    /// The memory map.
    pub(crate) const MAP: Topic = Topic(32);
    /// The free list.
    pub(crate) const FREE_LIST: Topic = Topic(64);
    /// Language, theme, dialogs.
    pub(crate) const FRAME: Topic = Topic(128);

    /// The verdict on the whole record.
    pub(crate) const AGREEMENT: Topic = Topic(256);

    /// The list of recordings that the server offers.
    pub(crate) const SERVED: Topic = Topic(512);

    fn touches(self, other: Topic) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Topic {
    type Output = Topic;

    fn bitor(self, other: Topic) -> Topic {
        Topic(self.0 | other.0)
    }
}

/// Who listens. Ringing while it rings is fine: listeners only ask for a new rendering.
#[derive(Clone, Default)]
pub(crate) struct Bell {
    inner: Rc<Inner>,
}

#[derive(Default)]
struct Inner {
    last: Cell<u32>,
    listeners: RefCell<Vec<(u32, Topic, Callback<()>)>>,
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bell").finish_non_exhaustive()
    }
}

impl Bell {
    /// Calls everyone who listens to one of these topics.
    pub(crate) fn ring(&self, topic: Topic) {
        let called: Vec<Callback<()>> = {
            let listeners = self.inner.listeners.borrow();
            let touched = listeners
                .iter()
                .filter(|(_, wanted, _)| wanted.touches(topic));
            touched.map(|(_, _, callback)| callback.clone()).collect()
        };
        for callback in called {
            callback.emit(());
        }
    }

    fn listen(&self, topic: Topic, callback: Callback<()>) -> u32 {
        let number = self.inner.last.get() + 1;
        self.inner.last.set(number);
        self.inner
            .listeners
            .borrow_mut()
            .push((number, topic, callback));
        number
    }

    fn leave(&self, number: u32) {
        self.inner
            .listeners
            .borrow_mut()
            .retain(|(other, _, _)| *other != number);
    }
}

impl PartialEq for Bell {
    fn eq(&self, other: &Bell) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }
}

/// Renders the component anew whenever `bell` rings for one of `topic`.
#[hook]
pub(crate) fn use_bell(bell: &Bell, topic: Topic) {
    let update = use_force_update();
    use_effect_with((bell.clone(), topic.0), move |(bell, topic)| {
        let number = bell.listen(
            Topic(*topic),
            Callback::from(move |()| update.force_update()),
        );
        let bell = bell.clone();
        move || bell.leave(number)
    });
}
