//! Frames, and stacks as a tree of frames: a stack is its innermost frame above the stack that
//! called it, so stacks that share their outer part share its storage, and equal ones are one.

use crate::ids::{FrameId, StackId, TextId};
use crate::store::texts::Slots;

/// One line of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Function.
    pub name: TextId,
    /// File as recorded; often an absolute path.
    pub file: TextId,
    /// Line, from 1; 0 where unknown.
    pub line: u32,
}

/// The different frames of a recording.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    frames: Vec<Frame>,
    slots: Slots,
}

impl Frames {
    /// The number of `frame`, which is added if it is new.
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        let hash = Slots::hash(frame);
        if let Some(known) = self
            .slots
            .find(hash, |number| self.get(FrameId(number)) == Some(frame))
        {
            return FrameId(known);
        }
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.push(frame);
        self.slots.insert(hash, number);
        FrameId(number)
    }

    /// The frame of that number.
    #[must_use]
    pub fn get(&self, id: FrameId) -> Option<Frame> {
        self.frames.get(id.index()).copied()
    }

    /// How many different frames there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether no frame was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Frame>() + self.slots.memory_bytes()
    }
}

/// A stack: its innermost frame, and the stack of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    frame: FrameId,
    caller: StackId,
}

/// The different stacks of a recording; number 0 is the empty one.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    nodes: Vec<Node>,
    slots: Slots,
}

impl Stacks {
    /// The number of the stack `frames`, innermost first. Equal stacks have equal numbers.
    pub fn intern(&mut self, frames: &[FrameId]) -> StackId {
        frames
            .iter()
            .rev()
            .fold(StackId(0), |caller, &frame| self.push(frame, caller))
    }

    /// The number of the stack that has `frame` innermost, called by `caller`.
    pub fn push(&mut self, frame: FrameId, caller: StackId) -> StackId {
        let node = Node { frame, caller };
        let hash = Slots::hash(node);
        if let Some(known) = self.slots.find(hash, |number| {
            self.nodes.get(number as usize) == Some(&node)
        }) {
            return StackId(known + 1);
        }
        let number = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX - 1);
        self.nodes.push(node);
        self.slots.insert(hash, number);
        StackId(number + 1)
    }

    /// Innermost frame and caller of a stack; `None` for the empty one.
    #[must_use]
    pub fn split(&self, id: StackId) -> Option<(FrameId, StackId)> {
        let node = self.nodes.get(id.index().checked_sub(1)?)?;
        Some((node.frame, node.caller))
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, id: StackId) -> impl Iterator<Item = FrameId> + '_ {
        let mut rest = id;
        std::iter::from_fn(move || {
            let (frame, caller) = self.split(rest)?;
            rest = caller;
            Some(frame)
        })
    }

    /// How many stacks there are: those interned, all their outer parts, and the empty one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len() + 1
    }

    /// Never: the empty stack is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.slots.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_are_one_and_share_their_outer_part() {
        let mut stacks = Stacks::default();
        let outer = [FrameId(7), FrameId(1)];
        let inner = [FrameId(3), FrameId(7), FrameId(1)];
        let first = stacks.intern(&inner);
        assert_eq!(stacks.intern(&inner), first);
        assert_eq!(stacks.len(), 4);
        let shorter = stacks.intern(&outer);
        assert_eq!(stacks.len(), 4, "the outer part was there already");
        assert_eq!(stacks.frames(first).collect::<Vec<_>>(), inner);
        assert_eq!(stacks.frames(shorter).collect::<Vec<_>>(), outer);
        assert_eq!(stacks.frames(StackId(0)).count(), 0);
    }
}
