//! Blocks by index: neighbours are numbers, so nothing is shared or counted (§3.2).

use super::Stream;

/// Position of a block in the arena; [`NONE`] where there is no block.
pub(super) type Index = u32;

/// No block, no reservation.
pub(super) const NONE: u32 = u32::MAX;

/// Handle of a block as the caller holds it. It stops being valid when the block is merged away
/// or its segment goes back to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    pub(super) index: Index,
    generation: u32,
}

/// A range of memory. Identity is the index: it survives merges, and with it the stale
/// `requested` of free blocks (§13.3).
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) requested: u64,
    pub(super) stream: Stream,
    /// Searches of the pool when the block became free (§3.3).
    pub(super) gc_base: u64,
    pub(super) prev: Index,
    pub(super) next: Index,
    /// Position of the pool in the allocator's table.
    pub(super) pool: u32,
    /// Position of the reservation in the allocator's table, for expandable blocks.
    pub(super) reservation: u32,
    /// Events that must complete before the block is free.
    pub(super) events: u32,
    pub(super) allocated: bool,
    pub(super) mapped: bool,
    /// Whether other streams used it since it was handed out; they stand in the allocator's table.
    pub(super) recorded: bool,
}

impl Block {
    /// A free block without neighbours.
    pub(super) fn new(
        address: u64,
        size: u64,
        stream: Stream,
        pool: u32,
        reservation: u32,
    ) -> Self {
        Self {
            address,
            size,
            requested: 0,
            stream,
            gc_base: 0,
            prev: NONE,
            next: NONE,
            pool,
            reservation,
            events: 0,
            allocated: false,
            mapped: true,
            recorded: false,
        }
    }

    pub(super) fn is_split(&self) -> bool {
        self.prev != NONE || self.next != NONE
    }

    pub(super) fn is_expandable(&self) -> bool {
        self.reservation != NONE
    }

    /// Not in use and not waiting for events: mergeable, and mappable if it is not mapped (§8.2).
    pub(super) fn is_idle(&self) -> bool {
        !self.allocated && self.events == 0 && !self.recorded
    }

    /// Handed out, or freed and still waiting (§3.1).
    pub(super) fn is_active(&self) -> bool {
        !self.is_idle()
    }

    pub(super) fn end(&self) -> u64 {
        self.address + self.size
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Arena {
    blocks: Vec<Block>,
    generations: Vec<u32>,
    vacant: Vec<Index>,
}

impl Arena {
    pub(super) fn insert(&mut self, block: Block) -> Index {
        if let Some(index) = self.vacant.pop() {
            self.blocks[index as usize] = block;
            return index;
        }
        let index =
            Index::try_from(self.blocks.len()).expect("fewer than 2^32 blocks fit in memory");
        self.blocks.push(block);
        self.generations.push(0);
        index
    }

    /// Destroys a block; handles to it stop being valid.
    pub(super) fn remove(&mut self, index: Index) {
        self.generations[index as usize] = self.generations[index as usize].wrapping_add(1);
        self.vacant.push(index);
    }

    pub(super) fn id(&self, index: Index) -> BlockId {
        BlockId {
            index,
            generation: self.generations[index as usize],
        }
    }

    /// The block of a handle that is still valid.
    pub(super) fn resolve(&self, id: BlockId) -> Option<&Block> {
        let generation = *self.generations.get(id.index as usize)?;
        (generation == id.generation).then(|| &self[id.index])
    }

    /// All blocks that exist, by index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Index, &Block)> {
        let mut exists = vec![true; self.blocks.len()];
        for index in &self.vacant {
            exists[*index as usize] = false;
        }
        (0..)
            .zip(&self.blocks)
            .filter(move |(index, _)| exists[*index as usize])
    }
}

impl std::ops::Index<Index> for Arena {
    type Output = Block;

    fn index(&self, index: Index) -> &Block {
        &self.blocks[index as usize]
    }
}

impl std::ops::IndexMut<Index> for Arena {
    fn index_mut(&mut self, index: Index) -> &mut Block {
        &mut self.blocks[index as usize]
    }
}
