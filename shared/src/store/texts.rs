//! Interned texts: each different one is kept once.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::FxHasher;

use crate::ids::TextId;

/// Texts by number; number 0 is the empty one.
#[derive(Clone, Debug)]
pub struct Texts {
    bytes: String,
    /// End of each text in `bytes`; it begins where the one before ends.
    ends: Vec<u32>,
    slots: Slots,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            bytes: String::new(),
            ends: vec![0],
            slots: Slots::default(),
        }
    }
}

impl Texts {
    /// The number of `text`, which is added if it is new. Beyond 4 GiB of different texts, the
    /// empty one.
    pub fn intern(&mut self, text: &str) -> TextId {
        if text.is_empty() {
            return TextId(0);
        }
        let hash = Slots::hash(text.as_bytes());
        if let Some(known) = self
            .slots
            .find(hash, |number| self.get(TextId(number)) == text)
        {
            return TextId(known);
        }
        let (Ok(end), Ok(number)) = (
            u32::try_from(self.bytes.len() + text.len()),
            u32::try_from(self.ends.len()),
        ) else {
            return TextId(0);
        };
        self.bytes.push_str(text);
        self.ends.push(end);
        self.slots.insert(hash, number);
        TextId(number)
    }

    /// The text of that number; empty for numbers never given.
    #[must_use]
    pub fn get(&self, id: TextId) -> &str {
        let Some(&end) = self.ends.get(id.index()) else {
            return "";
        };
        let start = match id.index().checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(end),
            None => 0,
        };
        self.bytes
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// How many different texts there are, the empty one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: the empty text is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + self.slots.memory_bytes()
    }
}

/// An open-addressing index from hashes to numbers; what the numbers stand for is compared by the
/// caller, so that nothing is stored twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// (hash, number + 1); 0 in the second place marks an empty slot.
    slots: Vec<(u32, u32)>,
    used: usize,
}

impl Slots {
    pub(super) fn hash(value: impl std::hash::Hash) -> u32 {
        let hash = BuildHasherDefault::<FxHasher>::default().hash_one(value);
        (hash ^ (hash >> 32)) as u32
    }

    pub(super) fn find(&self, hash: u32, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let &(known, number) = self.slots.get(at)?;
            let number = number.checked_sub(1)?;
            if known == hash && same(number) {
                return Some(number);
            }
            at = (at + 1) & mask;
        }
    }

    pub(super) fn insert(&mut self, hash: u32, number: u32) {
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            let bigger = (self.slots.len() * 2).max(64);
            let old = std::mem::replace(&mut self.slots, vec![(0, 0); bigger]);
            for (hash, number) in old.into_iter().filter(|&(_, number)| number != 0) {
                self.place(hash, number);
            }
        }
        self.place(hash, number.wrapping_add(1));
        self.used += 1;
    }

    fn place(&mut self, hash: u32, stored: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots.get(at).is_some_and(|slot| slot.1 != 0) {
            at = (at + 1) & mask;
        }
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = (hash, stored);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_once_and_come_back() {
        let mut texts = Texts::default();
        let ids: Vec<_> = (0..1000)
            .map(|number| texts.intern(&format!("frame {}", number % 300)))
            .collect();
        assert_eq!(texts.len(), 301);
        for (number, id) in ids.into_iter().enumerate() {
            assert_eq!(texts.get(id), format!("frame {}", number % 300));
        }
        assert_eq!(texts.intern(""), TextId(0));
        assert_eq!(texts.get(TextId(99_999)), "");
    }
}
