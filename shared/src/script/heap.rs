//! Containers as Python's cycle collector sees them, and how deep structures are let go of.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use rustc_hash::FxHashMap;

/// Address of a container, as its identity.
pub(super) type NodeId = usize;

/// A value that can be part of a cycle.
pub(super) trait Node {
    /// Reports each reference to another container, once per reference.
    fn visit(&self, visit: &mut dyn FnMut(NodeId));

    /// Lets go of everything it refers to (CPython's `tp_clear`).
    fn clear(&self);
}

/// Identity of a shared object.
pub(super) fn id_of<T: ?Sized>(object: &Rc<T>) -> NodeId {
    Rc::as_ptr(object).cast::<()>() as usize
}

/// All containers, in the order in which they were made.
#[derive(Default)]
pub(super) struct Heap {
    nodes: RefCell<Vec<Weak<dyn Node>>>,
    prune_at: Cell<usize>,
}

impl std::fmt::Debug for Heap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Heap").finish_non_exhaustive()
    }
}

impl Heap {
    /// Makes a container known to the collector.
    pub(super) fn track<T: Node + 'static>(&self, value: T) -> Rc<T> {
        let object = Rc::new(value);
        let weak: Weak<T> = Rc::downgrade(&object);
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= self.prune_at.get().max(4096) {
            nodes.retain(|node| node.strong_count() > 0);
            self.prune_at.set(nodes.len() * 2);
        }
        nodes.push(weak);
        object
    }

    /// How many containers are alive, at most.
    pub(super) fn count(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// Frees the containers that only refer to one another, oldest first, and says how many
    /// there were (`gc.collect()`).
    pub(super) fn collect(&self) -> usize {
        let alive: Vec<Rc<dyn Node>> = {
            let mut nodes = self.nodes.borrow_mut();
            nodes.retain(|node| node.strong_count() > 0);
            nodes.iter().filter_map(Weak::upgrade).collect()
        };
        let index: FxHashMap<NodeId, usize> = alive
            .iter()
            .enumerate()
            .map(|(at, node)| (id_of(node), at))
            .collect();
        let reachable = reachable(&alive, &index);
        let garbage: Vec<Weak<dyn Node>> = alive
            .into_iter()
            .zip(reachable)
            .filter_map(|(node, reachable)| (!reachable).then(|| Rc::downgrade(&node)))
            .collect();
        let count = garbage.len();
        // What clearing one lets go of is gone before its turn comes.
        for node in garbage.iter().filter_map(Weak::upgrade) {
            node.clear();
        }
        count
    }
}

/// Which containers are referred to from outside, directly or not.
fn reachable(alive: &[Rc<dyn Node>], index: &FxHashMap<NodeId, usize>) -> Vec<bool> {
    // One reference is our own.
    let mut outside: Vec<usize> = alive.iter().map(|n| Rc::strong_count(n) - 1).collect();
    for node in alive {
        node.visit(&mut |id| {
            if let Some(at) = index.get(&id) {
                outside[*at] = outside[*at].saturating_sub(1);
            }
        });
    }
    let mut reachable = vec![false; alive.len()];
    let mut pending: Vec<usize> = (0..alive.len()).filter(|at| outside[*at] > 0).collect();
    while let Some(at) = pending.pop() {
        if std::mem::replace(&mut reachable[at], true) {
            continue;
        }
        alive[at].visit(&mut |id| {
            if let Some(next) = index.get(&id)
                && !reachable[*next]
            {
                pending.push(*next);
            }
        });
    }
    reachable
}

/// Containers inside one another that are let go of at once; deeper ones wait their turn, as in
/// CPython's trashcan, so that long chains do not overflow the stack.
const DEPTH: usize = 50;

thread_local! {
    static DISPOSING: Cell<usize> = const { Cell::new(0) };
    static WAITING: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `release`, which drops the contents of a container, now or after the containers around it.
pub(super) fn dispose(release: impl FnOnce() + 'static) {
    let depth = DISPOSING.get();
    if depth >= DEPTH {
        WAITING.with_borrow_mut(|waiting| waiting.push(Box::new(release)));
        return;
    }
    DISPOSING.set(depth + 1);
    release();
    DISPOSING.set(depth);
    if depth == 0 {
        while let Some(release) = WAITING.with_borrow_mut(Vec::pop) {
            DISPOSING.set(1);
            release();
            DISPOSING.set(0);
        }
    }
}
