//! The simulated card under the tensors: the allocator, its events, and what the streams do.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use super::card::Card;
use crate::allocator::{
    Allocator, At, BlockId, CardSize, Driver, MallocError, PoolError, PoolOptions, Request, Stream,
    TraceEvent,
};
use crate::ids::{DeviceIndex, PoolId};
use crate::script::heap::{Node, NodeId};
use crate::settings::{Settings, SettingsError};

pub(crate) const DEVICE: DeviceIndex = DeviceIndex(0);

/// The card of one run. The allocator is made at the first use of CUDA, when the settings are
/// read.
#[derive(Debug)]
pub(crate) struct Gpu {
    size: CardSize,
    addresses: Vec<u64>,
    state: RefCell<State>,
    count: Cell<usize>,
    current: Cell<Stream>,
    streams_made: Cell<u64>,
}

#[derive(Debug, Default)]
struct State {
    allocator: Option<Allocator<Card>>,
    events: Vec<TraceEvent>,
    /// Streams with work that nobody has waited for.
    busy: BTreeSet<Stream>,
}

impl Gpu {
    pub(crate) fn new(size: CardSize, addresses: Vec<u64>) -> Self {
        Self {
            size,
            addresses,
            state: RefCell::default(),
            count: Cell::new(0),
            current: Cell::new(Stream(0)),
            streams_made: Cell::new(0),
        }
    }

    /// Makes the allocator, if that has not happened.
    pub(crate) fn start(&self, settings: &str) -> Result<(), SettingsError> {
        let mut state = self.state.borrow_mut();
        if state.allocator.is_none() {
            let settings = Settings::parse(settings)?;
            let card = Card::new(self.size, &self.addresses);
            state.allocator = Some(Allocator::new(settings, card, 1));
        }
        Ok(())
    }

    pub(crate) fn is_started(&self) -> bool {
        self.state.borrow().allocator.is_some()
    }

    pub(crate) fn event_count(&self) -> usize {
        self.count.get()
    }

    pub(crate) fn events(&self) -> std::cell::Ref<'_, [TraceEvent]> {
        std::cell::Ref::map(self.state.borrow(), |state| state.events.as_slice())
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.size.capacity_bytes
    }

    /// Works on the allocator; `None` before it is made.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Allocator<Card>, &mut Vec<TraceEvent>) -> T,
    ) -> Option<T> {
        let mut state = self.state.borrow_mut();
        let State {
            allocator, events, ..
        } = &mut *state;
        let result = allocator.as_mut().map(|allocator| work(allocator, events));
        self.count.set(state.events.len());
        result
    }

    pub(crate) fn malloc(&self, bytes: u64) -> Result<Option<BlockId>, MallocError> {
        let request = Request {
            device: DEVICE,
            bytes,
            stream: self.current.get(),
        };
        self.with(|allocator, events| allocator.malloc_tensor(request, events))
            .unwrap_or(Ok(None))
    }

    fn free(&self, block: BlockId) {
        self.with(|allocator, events| allocator.free(block, events));
        self.complete_idle();
    }

    /// Events on streams without work complete at once.
    fn complete_idle(&self) {
        let mut state = self.state.borrow_mut();
        let State {
            allocator, busy, ..
        } = &mut *state;
        if let Some(allocator) = allocator {
            for stream in 0..=self.streams_made.get() {
                let stream = stream_handle(stream);
                if !busy.contains(&stream) {
                    allocator.driver_mut().complete(DEVICE, Some(stream));
                }
            }
        }
    }

    /// Work was queued on the current stream.
    pub(crate) fn launch(&self) {
        self.state.borrow_mut().busy.insert(self.current.get());
    }

    /// The work of a stream is done; of all without one.
    pub(crate) fn synchronize(&self, stream: Option<Stream>) {
        let mut state = self.state.borrow_mut();
        let State {
            allocator, busy, ..
        } = &mut *state;
        match stream {
            Some(stream) => drop(busy.remove(&stream)),
            None => busy.clear(),
        }
        if let Some(allocator) = allocator {
            allocator.driver_mut().complete(DEVICE, stream);
        }
    }

    pub(crate) fn is_busy(&self, stream: Stream) -> bool {
        self.state.borrow().busy.contains(&stream)
    }

    pub(crate) fn current(&self) -> Stream {
        self.current.get()
    }

    pub(crate) fn set_current(&self, stream: Stream) -> Stream {
        self.current.replace(stream)
    }

    pub(crate) fn new_stream(&self) -> Stream {
        // PyTorch hands out 32 streams in turn.
        let made = self.streams_made.get();
        self.streams_made.set(made + 1);
        stream_handle(made % 32 + 1)
    }

    pub(crate) fn new_pool(&self, options: PoolOptions) -> Result<PoolId, PoolError> {
        self.with(|allocator, _| allocator.create_mem_pool(DEVICE, options))
            .unwrap_or(Err(PoolError::NoDevice(DEVICE)))
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        let at = At {
            device: DEVICE,
            event: 0,
            pool: PoolId::DEFAULT,
            stream: Stream(0),
        };
        self.with(|allocator, _| allocator.driver_mut().free_bytes(at))
            .unwrap_or(self.size.capacity_bytes)
    }

    /// Address of a block.
    pub(crate) fn address(&self, block: BlockId) -> u64 {
        self.with(|allocator, _| allocator.block(block))
            .flatten()
            .map_or(0, |spot| spot.address)
    }
}

/// Raw handle of the n-th stream; 0 is the default stream.
fn stream_handle(number: u64) -> Stream {
    Stream(number)
}

/// Memory that tensors share. It goes back when the last of them goes.
pub(crate) struct Storage {
    pub(crate) gpu: Rc<Gpu>,
    pub(crate) block: Option<BlockId>,
    pub(crate) bytes: u64,
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(block) = self.block {
            self.gpu.free(block);
        }
    }
}

impl Node for Storage {
    fn visit(&self, _visit: &mut dyn FnMut(NodeId)) {}

    fn clear(&self) {}
}

/// A `MemPool` object.
pub(crate) struct Pool {
    pub(crate) gpu: Rc<Gpu>,
    pub(crate) id: PoolId,
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.gpu
            .with(|allocator, events| allocator.drop_mem_pool(DEVICE, self.id, events));
    }
}

impl Node for Pool {
    fn visit(&self, _visit: &mut dyn FnMut(NodeId)) {}

    fn clear(&self) {}
}

/// A stream.
pub(crate) struct StreamObject {
    pub(crate) handle: Stream,
}

/// What `with` enters.
pub(crate) enum Context {
    /// `torch.cuda.stream(s)`, and the stream to go back to.
    Stream(Option<Rc<StreamObject>>, Cell<Stream>),
    /// `torch.cuda.use_mem_pool(pool)`.
    Pool(Rc<Pool>),
    /// `torch.no_grad()`: nothing here has gradients.
    Nothing,
}

impl Node for Context {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        if let Self::Pool(pool) = self {
            visit(crate::script::heap::id_of(pool));
        }
    }

    fn clear(&self) {}
}
