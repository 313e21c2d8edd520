//! One vector per field of an event, in chunks: growing never copies what is there, so the peak
//! while reading is the size itself.

use std::collections::BTreeMap;

use crate::ids::{EventIndex, PoolId, StackId, StreamId};
use crate::model::{Action, Event, EventNotes};

const CHUNK_BITS: usize = 14;
const CHUNK: usize = 1 << CHUNK_BITS;

/// A growing vector of plain numbers whose elements never move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column<T> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T: Copy> Column<T> {
    /// An empty column.
    #[must_use]
    pub fn new() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
        }
    }

    /// Appends an element.
    pub fn push(&mut self, value: T) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(value),
            _ => {
                // The first chunk grows by doubling, so that small recordings stay small.
                let mut chunk = if self.chunks.is_empty() {
                    Vec::new()
                } else {
                    Vec::with_capacity(CHUNK)
                };
                chunk.push(value);
                self.chunks.push(chunk);
            }
        }
        self.len += 1;
    }

    /// The element at `index`, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        self.chunks
            .get(index >> CHUNK_BITS)?
            .get(index & (CHUNK - 1))
            .copied()
    }

    /// Replaces the element at `index`; does nothing where there is none.
    pub fn set(&mut self, index: usize, value: T) {
        if let Some(slot) = self
            .chunks
            .get_mut(index >> CHUNK_BITS)
            .and_then(|chunk| chunk.get_mut(index & (CHUNK - 1)))
        {
            *slot = value;
        }
    }

    /// Drops all elements from `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.chunks.truncate(len.div_ceil(CHUNK));
        if let Some(last) = self.chunks.last_mut() {
            last.truncate(len - (len - 1) / CHUNK * CHUNK);
        }
        self.len = len;
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All elements in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + '_ {
        self.chunks.iter().flatten().copied()
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.chunks
            .iter()
            .map(|chunk| chunk.capacity() * size_of::<T>())
            .sum()
    }
}

impl<T: Copy> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut column = Self::new();
        for value in values {
            column.push(value);
        }
        column
    }
}

/// What a walk over a record needs of each event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkedEvent {
    /// What happened.
    pub action: Action,
    /// Address, as in [`Event`].
    pub address: u64,
    /// Bytes, as in [`Event`].
    pub size_bytes: u64,
}

/// Stands for "no time" in the column.
const NO_TIME: i64 = i64::MIN;
/// Stands for "the event names no pool" in the column.
const NO_POOL: u16 = u16::MAX;

/// The events of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventColumns {
    actions: Column<u8>,
    addresses: Column<u64>,
    sizes: Column<u64>,
    streams: Column<u16>,
    times: Column<i64>,
    stacks: Column<u32>,
    pools: Column<u16>,
    pool_ids: Vec<PoolId>,
    notes: BTreeMap<u32, EventNotes>,
}

impl EventColumns {
    /// Appends an event; `false` when a table of ids is full (65,535 streams or pools, or 2^32
    /// events), which no allocator reaches.
    #[must_use]
    pub fn push(&mut self, event: &Event) -> bool {
        let (Ok(index), Ok(stream)) = (u32::try_from(self.len()), u16::try_from(event.stream.0))
        else {
            return false;
        };
        let Some(pool) = self.pool_number(event.pool) else {
            return false;
        };
        self.actions.push(event.action as u8);
        self.addresses.push(event.address);
        self.sizes.push(event.size_bytes);
        self.streams.push(stream);
        self.times.push(event.time_us.unwrap_or(NO_TIME));
        self.stacks.push(event.stack.0);
        self.pools.push(pool);
        if !event.notes.is_empty() {
            self.notes.insert(index, event.notes);
        }
        true
    }

    /// Drops all events from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.actions.truncate(len);
        self.addresses.truncate(len);
        self.sizes.truncate(len);
        self.streams.truncate(len);
        self.times.truncate(len);
        self.stacks.truncate(len);
        self.pools.truncate(len);
        self.notes.retain(|&index, _| (index as usize) < len);
    }

    fn pool_number(&mut self, pool: Option<PoolId>) -> Option<u16> {
        let Some(pool) = pool else {
            return Some(NO_POOL);
        };
        let found = self.pool_ids.iter().position(|&known| known == pool);
        let number = found.unwrap_or_else(|| {
            self.pool_ids.push(pool);
            self.pool_ids.len() - 1
        });
        u16::try_from(number)
            .ok()
            .filter(|&number| number != NO_POOL)
    }

    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// The whole event at `index`.
    #[must_use]
    pub fn get(&self, index: EventIndex) -> Option<Event> {
        let at = index.index();
        let pool = self.pools.get(at)?;
        Some(Event {
            action: self.action(index)?,
            address: self.addresses.get(at)?,
            size_bytes: self.sizes.get(at)?,
            stream: StreamId(u32::from(self.streams.get(at)?)),
            time_us: self.time_us(index),
            stack: StackId(self.stacks.get(at)?),
            pool: self.pool_ids.get(usize::from(pool)).copied(),
            notes: self.notes.get(&index.0).copied().unwrap_or_default(),
        })
    }

    /// What happened at `index`.
    #[must_use]
    pub fn action(&self, index: EventIndex) -> Option<Action> {
        Action::from_number(self.actions.get(index.index())?)
    }

    /// When `index` happened, in microseconds since the Unix epoch.
    #[must_use]
    pub fn time_us(&self, index: EventIndex) -> Option<i64> {
        self.times
            .get(index.index())
            .filter(|&time| time != NO_TIME)
    }

    /// All events in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (EventIndex, Event)> + '_ {
        let len = u32::try_from(self.len()).unwrap_or(u32::MAX);
        (0..len)
            .map(EventIndex)
            .filter_map(|index| Some((index, self.get(index)?)))
    }

    /// Action, address and size of all events in order: what a walk over the record needs, from
    /// three columns instead of all.
    pub fn walks(&self) -> impl DoubleEndedIterator<Item = (EventIndex, WalkedEvent)> + '_ {
        let chunks = self
            .actions
            .chunks
            .iter()
            .zip(&self.addresses.chunks)
            .zip(&self.sizes.chunks);
        chunks
            .enumerate()
            .flat_map(|(chunk, ((actions, addresses), sizes))| {
                let first = chunk << CHUNK_BITS;
                let rows = actions.iter().zip(addresses).zip(sizes).enumerate();
                rows.map(move |(row, ((&action, &address), &size_bytes))| {
                    let index = u32::try_from(first + row).unwrap_or(u32::MAX);
                    let action = Action::from_number(action).unwrap_or(Action::Unknown);
                    let event = WalkedEvent {
                        action,
                        address,
                        size_bytes,
                    };
                    (EventIndex(index), event)
                })
            })
    }

    /// All actions in order.
    pub fn actions(&self) -> impl DoubleEndedIterator<Item = Action> + '_ {
        self.actions.iter().filter_map(Action::from_number)
    }

    /// How many events are before the first that is later than `time_us`; events without a time
    /// count as not later.
    #[must_use]
    pub fn count_until(&self, time_us: i64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.times.get(middle).is_some_and(|time| time <= time_us) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.actions.memory_bytes()
            + self.addresses.memory_bytes()
            + self.sizes.memory_bytes()
            + self.streams.memory_bytes()
            + self.times.memory_bytes()
            + self.stacks.memory_bytes()
            + self.pools.memory_bytes()
            + self.notes.len() * 2 * size_of::<(u32, EventNotes)>()
    }
}
