//! The free blocks of a pool in the order (stream, size, address) (§3.3).
//!
//! Sorted runs of bounded length: most lists hold a few dozen blocks and are one run, where a
//! binary search and a short move beat a tree; long lists stay logarithmic.

use super::{
    Stream,
    arena::{Block, Index},
};

/// Entries a run may hold before it is halved.
const RUN_MAX: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    size: u64,
    address: u64,
    block: Index,
}

impl Entry {
    fn of(index: Index, block: &Block) -> Self {
        Self {
            size: block.size,
            address: block.address,
            block: index,
        }
    }

    fn key(&self) -> (u64, u64) {
        (self.size, self.address)
    }
}

/// Free blocks of all streams of a pool.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeList {
    /// Ascending by raw handle; a stream stays once it was seen.
    streams: Vec<(Stream, Runs)>,
}

/// Where an entry stands, until the list changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pub(super) block: Index,
    stream: usize,
    place: Place,
}

/// Place of an entry: the run and the position in it.
#[derive(Clone, Copy, Debug)]
struct Place {
    run: usize,
    at: usize,
}

#[derive(Clone, Debug, Default)]
struct Runs(Vec<Vec<Entry>>);

impl FreeList {
    pub(super) fn insert(&mut self, index: Index, block: &Block) {
        let slot = match self.slot(block.stream) {
            Ok(slot) => slot,
            Err(slot) => {
                self.streams.insert(slot, (block.stream, Runs::default()));
                slot
            }
        };
        self.streams[slot].1.insert(Entry::of(index, block));
    }

    pub(super) fn remove(&mut self, index: Index, block: &Block) {
        let slot = self.slot(block.stream);
        let runs = slot.ok().map(|slot| &mut self.streams[slot].1);
        let removed = runs.is_some_and(|runs| runs.remove(&Entry::of(index, block)));
        debug_assert!(removed, "a free block stands in the list of its pool");
    }

    /// The best fit: the first block of `stream` with at least `size` bytes.
    #[inline]
    pub(super) fn best_fit(&self, stream: Stream, size: u64) -> Option<Cursor> {
        let slot = self.slot(stream).ok()?;
        let runs = &self.streams[slot].1;
        runs.cursor(slot, runs.place(size, 0))
    }

    /// The next block of the same stream in order.
    pub(super) fn following(&self, cursor: Cursor) -> Option<Cursor> {
        let mut place = cursor.place;
        place.at += 1;
        self.streams[cursor.stream].1.cursor(cursor.stream, place)
    }

    #[inline]
    pub(super) fn remove_at(&mut self, cursor: Cursor) {
        self.streams[cursor.stream].1.remove_at(cursor.place);
    }

    /// Blocks of `stream` with at least `size` bytes, the best fit first.
    pub(super) fn at_least(&self, stream: Stream, size: u64) -> impl Iterator<Item = Index> {
        self.runs(stream)
            .map(|runs| runs.forward(runs.place(size, 0)))
            .into_iter()
            .flatten()
    }

    /// Blocks of `stream` with fewer than `size` bytes, the largest first.
    pub(super) fn below(&self, stream: Stream, size: u64) -> impl Iterator<Item = Index> {
        self.runs(stream)
            .map(|runs| runs.backward(runs.place(size, 0)))
            .into_iter()
            .flatten()
    }

    /// The streams that have or had free blocks, ascending.
    pub(super) fn streams(&self) -> impl Iterator<Item = Stream> {
        self.streams.iter().map(|(stream, _)| *stream)
    }

    /// All blocks in key order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Index> {
        self.streams
            .iter()
            .flat_map(|(_, runs)| runs.0.iter().flatten().map(|entry| entry.block))
    }

    fn slot(&self, stream: Stream) -> Result<usize, usize> {
        // The default stream is the first, and mostly the only one.
        match self.streams.first() {
            Some((first, _)) if *first == stream => Ok(0),
            _ => self.streams.binary_search_by_key(&stream, |(s, _)| *s),
        }
    }

    fn runs(&self, stream: Stream) -> Option<&Runs> {
        self.slot(stream).ok().map(|slot| &self.streams[slot].1)
    }
}

impl Runs {
    /// Where the first entry with a key of at least (size, address) stands.
    fn place(&self, size: u64, address: u64) -> Place {
        let key = (size, address);
        let run = if self.0.len() <= 1 {
            0
        } else {
            self.0
                .partition_point(|run| run.last().is_some_and(|last| last.key() < key))
        };
        let at = self
            .0
            .get(run)
            .map_or(0, |run| run.partition_point(|entry| entry.key() < key));
        Place { run, at }
    }

    fn insert(&mut self, entry: Entry) {
        let Place { mut run, mut at } = self.place(entry.size, entry.address);
        if run == self.0.len() {
            if run == 0 {
                self.0.push(Vec::with_capacity(RUN_MAX));
            } else {
                // Larger than all: it goes to the end of the last run.
                run -= 1;
                at = self.0[run].len();
            }
        }
        let entries = &mut self.0[run];
        entries.insert(at, entry);
        if entries.len() == RUN_MAX {
            let mut upper = Vec::with_capacity(RUN_MAX);
            upper.extend(entries.drain(RUN_MAX / 2..));
            self.0.insert(run + 1, upper);
        }
    }

    fn remove(&mut self, entry: &Entry) -> bool {
        let place = self.place(entry.size, entry.address);
        let found = self.0.get(place.run).and_then(|run| run.get(place.at)) == Some(entry);
        if found {
            self.remove_at(place);
        }
        found
    }

    #[inline]
    fn remove_at(&mut self, Place { run, at }: Place) {
        let entries = &mut self.0[run];
        entries.remove(at);
        if entries.is_empty() && self.0.len() > 1 {
            self.0.remove(run);
        }
    }

    /// The entry at a place, or the first of the next run when the place is behind the last.
    #[inline]
    fn cursor(&self, stream: usize, mut place: Place) -> Option<Cursor> {
        let mut run = self.0.get(place.run)?;
        if place.at >= run.len() {
            place = Place {
                run: place.run + 1,
                at: 0,
            };
            run = self.0.get(place.run)?;
        }
        let block = run.get(place.at)?.block;
        Some(Cursor {
            block,
            stream,
            place,
        })
    }

    fn forward(&self, from: Place) -> impl Iterator<Item = Index> {
        let first = self.0.get(from.run).map_or(&[][..], |run| &run[from.at..]);
        let rest = self.0.get(from.run + 1..).unwrap_or_default();
        first
            .iter()
            .chain(rest.iter().flatten())
            .map(|entry| entry.block)
    }

    fn backward(&self, from: Place) -> impl Iterator<Item = Index> {
        let first = self.0.get(from.run).map_or(&[][..], |run| &run[..from.at]);
        let rest = self.0.get(..from.run).unwrap_or_default();
        first
            .iter()
            .rev()
            .chain(rest.iter().rev().flat_map(|run| run.iter().rev()))
            .map(|entry| entry.block)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Many insertions and removals in a scrambled order against the standard library's set.
    #[test]
    fn behaves_as_an_ordered_set() {
        let mut list = FreeList::default();
        let mut expected = BTreeSet::new();
        let mut random = 1_u64;
        for step in 0..20_000_u32 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let (stream, size) = (Stream((random >> 60) % 3), (random >> 40) % 50);
            let address = (random >> 33) % 64;
            let block = Block::new(address, size, stream, 0, super::super::arena::NONE);
            let index = (size * 64 + address) as Index;
            if expected.remove(&(stream, size, address)) {
                list.remove(index, &block);
            } else {
                expected.insert((stream, size, address));
                list.insert(index, &block);
            }
            if step % 500 == 0 {
                let of = |(_, size, address): &(Stream, u64, u64)| (size * 64 + address) as Index;
                assert!(list.iter().eq(expected.iter().map(of)));
                let from = expected.range((stream, size, 0)..(stream, u64::MAX, 0));
                assert!(list.at_least(stream, size).eq(from.map(of)));
                let to = expected.range((stream, 0, 0)..(stream, size, 0)).rev();
                assert!(list.below(stream, size).eq(to.map(of)));
            }
        }
    }
}
