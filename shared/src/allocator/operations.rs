//! Lists of operations: what a program asks of the allocator, as data, and the loop that runs them.

use rustc_hash::FxHashMap;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        Error as _, MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use thiserror::Error;

use super::{
    Allocator, BlockId, Driver, FractionError, FreeError, MallocError, PoolError, PoolOptions,
    Request, Sink, Stream,
};
use crate::{
    ids::{DeviceIndex, PoolId},
    settings::SettingsError,
};

/// One operation, in JSON an array whose first item names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// `["a", id, bytes, stream]`: a tensor of so many bytes, on the stream of that index.
    Allocate {
        /// Name of the block from here on.
        id: u64,
        /// Bytes asked for.
        bytes: u64,
        /// Index of the stream.
        stream: u32,
    },
    /// `["f", id]`: nothing happens if its allocation failed.
    Free {
        /// The block.
        id: u64,
    },
    /// `["e"]`.
    EmptyCache,
    /// `["r", id, stream]`.
    RecordStream {
        /// The block.
        id: u64,
        /// Index of the stream.
        stream: u32,
    },
    /// `["s"]`: the device is synchronized, so that all stream events have completed.
    Synchronize,
    /// `["F", fraction]`: the per-process memory fraction.
    Fraction(f64),
    /// `["P", k]`: allocations go to MemPool k, which is made at its first use.
    EnterPool(u64),
    /// `["p"]`: they no longer do.
    LeavePool,
    /// `["D", k]`: the object of MemPool k is dropped.
    DropPool(u64),
    /// `["S", text]`: the settings change.
    Settings(String),
}

/// A list of operations and what it was recorded with: in JSON `{"meta": {…}, "ops": […]}`, or the
/// bare list.
#[derive(Clone, Debug, Default)]
pub struct OperationList {
    /// What a recording says beside its operations.
    pub meta: Meta,
    /// The operations in their order.
    pub ops: Vec<Operation>,
}

/// Facts of a recorded list, all optional.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Settings text.
    pub conf: String,
    /// Bytes of the card.
    pub total: Option<u64>,
    /// Raw handle of each stream; a stream without one has its index as handle.
    pub streams: Vec<u64>,
}

impl Meta {
    /// Raw handle of the stream of that index.
    #[must_use]
    pub fn stream(&self, index: u32) -> Stream {
        let handle = self.streams.get(index as usize).copied();
        Stream(handle.unwrap_or(u64::from(index)))
    }
}

/// What an operation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done; an allocation gave this block.
    Done(Option<BlockId>),
    /// The allocation failed; the list goes on without its block.
    Failed(MallocError),
    /// The settings text was refused, partly in force all the same (§11.1).
    SettingsRefused(SettingsError),
}

/// An operation that makes no sense where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OperationError {
    /// The id is in use.
    #[error("block {id} is allocated already")]
    IdInUse {
        /// The id.
        id: u64,
    },
    /// No allocation had the id, or it was freed.
    #[error("there is no block {id} to free or record")]
    NoBlock {
        /// The id.
        id: u64,
    },
    /// No pool is entered.
    #[error("no pool is entered")]
    NoPoolEntered,
    /// MemPool k does not exist or was dropped.
    #[error("there is no MemPool {index}")]
    NoPool {
        /// Its number in the list.
        index: u64,
    },
    /// The allocator refused a free.
    #[error(transparent)]
    Free(#[from] FreeError),
    /// The allocator refused what was asked of a pool.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The allocator refused a memory fraction.
    #[error(transparent)]
    Fraction(#[from] FractionError),
    /// The driver failed otherwise than for want of memory.
    #[error(transparent)]
    Driver(MallocError),
}

/// What the world does at a `["s"]`.
pub trait Synchronize {
    /// All work queued on the device's streams is done.
    fn synchronize(&mut self, device: DeviceIndex);
}

impl Synchronize for super::SimulatedCard {
    fn synchronize(&mut self, device: DeviceIndex) {
        self.complete(device, None);
    }
}

/// A recording knows by itself which events had completed.
impl<E: super::RecordedEvents> Synchronize for super::Recorded<E> {
    fn synchronize(&mut self, _device: DeviceIndex) {}
}

/// Runs operations on device 0 of an allocator.
#[derive(Clone, Debug)]
pub struct Program<D> {
    /// The allocator, for what happens between operations.
    pub allocator: Allocator<D>,
    meta: Meta,
    /// Blocks by id; none where the allocation failed.
    blocks: FxHashMap<u64, Option<BlockId>>,
    pools: FxHashMap<u64, PoolId>,
    entered: Vec<PoolId>,
}

const DEVICE: DeviceIndex = DeviceIndex(0);

impl<D: Driver + Synchronize> Program<D> {
    /// A program that has done nothing yet. Of `meta` only the streams count.
    #[must_use]
    pub fn new(allocator: Allocator<D>, meta: Meta) -> Self {
        Self {
            allocator,
            meta,
            blocks: FxHashMap::default(),
            pools: FxHashMap::default(),
            entered: Vec::new(),
        }
    }

    /// Runs one operation.
    ///
    /// # Errors
    /// When the operation makes no sense here. An allocation that fails is an [`Outcome`].
    pub fn run<S: Sink>(
        &mut self,
        operation: &Operation,
        sink: &mut S,
    ) -> Result<Outcome, OperationError> {
        match operation {
            Operation::Allocate { id, bytes, stream } => {
                return self.allocate(*id, *bytes, *stream, sink);
            }
            Operation::Free { id } => {
                let block = self.blocks.remove(id);
                if let Some(block) = block.ok_or(OperationError::NoBlock { id: *id })? {
                    self.allocator.free(block, sink)?;
                }
            }
            Operation::EmptyCache => self.allocator.empty_cache(sink),
            Operation::RecordStream { id, stream } => {
                let block = self.blocks.get(id).copied();
                if let Some(block) = block.ok_or(OperationError::NoBlock { id: *id })? {
                    self.allocator
                        .record_stream(block, self.meta.stream(*stream));
                }
            }
            Operation::Synchronize => self.allocator.driver_mut().synchronize(DEVICE),
            Operation::Fraction(fraction) => {
                self.allocator.set_memory_fraction(DEVICE, *fraction)?;
            }
            Operation::EnterPool(index) => self.enter_pool(*index)?,
            Operation::LeavePool => {
                let pool = self.entered.pop().ok_or(OperationError::NoPoolEntered)?;
                self.allocator.leave_pool(DEVICE, pool)?;
            }
            Operation::DropPool(index) => {
                let pool = self.pools.remove(index);
                let pool = pool.ok_or(OperationError::NoPool { index: *index })?;
                self.allocator.drop_mem_pool(DEVICE, pool, sink)?;
            }
            Operation::Settings(text) => {
                if let Err(error) = self.allocator.settings_mut().apply(text) {
                    return Ok(Outcome::SettingsRefused(error));
                }
            }
        }
        Ok(Outcome::Done(None))
    }

    fn allocate<S: Sink>(
        &mut self,
        id: u64,
        bytes: u64,
        stream: u32,
        sink: &mut S,
    ) -> Result<Outcome, OperationError> {
        if self.blocks.contains_key(&id) {
            return Err(OperationError::IdInUse { id });
        }
        let request = Request {
            device: DEVICE,
            bytes,
            stream: self.meta.stream(stream),
        };
        let (block, outcome) = match self.allocator.malloc_tensor(request, sink) {
            Ok(block) => (block, Outcome::Done(block)),
            Err(error @ MallocError::Driver(_)) => return Err(OperationError::Driver(error)),
            Err(error) => (None, Outcome::Failed(error)),
        };
        self.blocks.insert(id, block);
        Ok(outcome)
    }

    fn enter_pool(&mut self, index: u64) -> Result<(), OperationError> {
        let pool = match self.pools.get(&index) {
            Some(pool) => *pool,
            None => {
                let options = PoolOptions::default();
                let pool = self.allocator.create_mem_pool(DEVICE, options)?;
                self.pools.insert(index, pool);
                pool
            }
        };
        self.allocator.enter_pool(DEVICE, pool)?;
        self.entered.push(pool);
        Ok(())
    }
}

impl<'de> Deserialize<'de> for OperationList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = OperationList;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of operations, bare or as \"ops\" beside \"meta\"")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<OperationList, A::Error> {
        let ops = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
        let meta = Meta::default();
        Ok(OperationList { meta, ops })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OperationList, A::Error> {
        #[derive(Deserialize)]
        struct Recorded {
            #[serde(default)]
            meta: Meta,
            ops: Vec<Operation>,
        }
        let Recorded { meta, ops } = Recorded::deserialize(MapAccessDeserializer::new(map))?;
        Ok(OperationList { meta, ops })
    }
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(OperationVisitor)
    }
}

struct OperationVisitor;

impl<'de> Visitor<'de> for OperationVisitor {
    type Value = Operation;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an operation such as [\"a\", 7, 1048576, 0] or [\"f\", 7]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Operation, A::Error> {
        let name: String = item(&mut seq, "the name of an operation")?;
        let operation = match name.as_str() {
            "a" => Operation::Allocate {
                id: item(&mut seq, "the id of a block")?,
                bytes: item(&mut seq, "bytes")?,
                stream: item(&mut seq, "the index of a stream")?,
            },
            "f" => Operation::Free {
                id: item(&mut seq, "the id of a block")?,
            },
            "e" => Operation::EmptyCache,
            "r" => Operation::RecordStream {
                id: item(&mut seq, "the id of a block")?,
                stream: item(&mut seq, "the index of a stream")?,
            },
            "s" => Operation::Synchronize,
            "F" => Operation::Fraction(item(&mut seq, "a fraction")?),
            "P" => Operation::EnterPool(item(&mut seq, "the number of a MemPool")?),
            "p" => Operation::LeavePool,
            "D" => Operation::DropPool(item(&mut seq, "the number of a MemPool")?),
            "S" => Operation::Settings(item(&mut seq, "a settings text")?),
            _ => {
                let names = &["a", "f", "e", "r", "s", "F", "P", "p", "D", "S"];
                return Err(A::Error::unknown_variant(&name, names));
            }
        };
        match seq.next_element::<serde::de::IgnoredAny>()? {
            None => Ok(operation),
            Some(_) => Err(A::Error::custom(format!(
                "operation \"{name}\" has too many items"
            ))),
        }
    }
}

fn item<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
    seq: &mut A,
    what: &str,
) -> Result<T, A::Error> {
    let missing = || A::Error::custom(format!("an operation ends where {what} is needed"));
    seq.next_element()?.ok_or_else(missing)
}
