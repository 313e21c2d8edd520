//! The allocation path (§4).

use thiserror::Error;

use super::{
    Allocator, BlockId, Stream,
    arena::{Block, Index, NONE},
    decision::{FlushCause, PassedOver, Step},
    driver::{Driver, DriverCall, DriverError},
    free_list::{Cursor, FreeList},
    oom::OutOfMemory,
    spot_of,
    trace::Sink,
};
use crate::{
    ids::{DeviceIndex, PoolKind},
    model::Action,
    settings::{MAX_TENSOR_REQUEST, Settings},
};

/// What a program asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// On which device.
    pub device: DeviceIndex,
    /// Bytes, before any rounding.
    pub bytes: u64,
    /// Stream that is current at the time.
    pub stream: Stream,
}

/// Why there is no block.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MallocError {
    /// Nothing helped (§4.10).
    #[error(transparent)]
    OutOfMemory(Box<OutOfMemory>),
    /// Tensors of 2^60 bytes and more are refused unseen (§2.4).
    #[error("CUDA out of memory. Tried to allocate more than 1EB memory.")]
    MoreThanExabyte,
    /// The driver failed for another reason than memory.
    #[error(transparent)]
    Driver(DriverError),
    /// There is no such device.
    #[error("invalid device index {}", .0.0)]
    NoDevice(DeviceIndex),
}

/// A request on its way: what §4.1(c) and (d) derive from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) device: usize,
    pub(super) stream: Stream,
    pub(super) requested: u64,
    pub(super) rounded: u64,
    pub(super) segment: u64,
    pub(super) pool: u32,
    pub(super) kind: PoolKind,
    pub(super) expandable: bool,
}

/// Whether a driver call repeats one that failed before a flush (§4.6(a)).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Try {
    First,
    Retry,
}

impl<D: Driver> Allocator<D> {
    /// What a tensor of so many bytes does: nothing for 0 bytes, refused from 2^60 on (§2.4).
    ///
    /// # Errors
    /// When there is no memory, no such device, or the driver fails.
    pub fn malloc_tensor<S: Sink>(
        &mut self,
        request: Request,
        sink: &mut S,
    ) -> Result<Option<BlockId>, MallocError> {
        match request.bytes {
            0 => Ok(None),
            MAX_TENSOR_REQUEST.. => Err(MallocError::MoreThanExabyte),
            _ => self.malloc(request, sink).map(Some),
        }
    }

    /// Allocates (§4). Where memory is short it does all that PyTorch does before it gives up.
    ///
    /// # Errors
    /// When there is no memory, no such device, or the driver fails.
    pub fn malloc<S: Sink>(
        &mut self,
        request: Request,
        sink: &mut S,
    ) -> Result<BlockId, MallocError> {
        let device = request.device.index();
        if device >= self.devices.len() {
            return Err(MallocError::NoDevice(request.device));
        }
        if !self.devices[device].is_diverting() {
            self.process_events(device, sink);
        } else if self.settings.graph_capture_record_stream_reuse {
            self.free_reusable(device, request.stream, sink);
        }
        let mut ask = self.ask(device, request);
        if S::EXPLAINS {
            sink.step(self.asked(&ask));
        }
        match self.obtain(&mut ask, sink)? {
            Some(found) => Ok(self.hand_out(found, &ask, sink)),
            None => Err(MallocError::OutOfMemory(Box::new(
                self.out_of_memory(&ask, sink),
            ))),
        }
    }

    #[inline]
    fn ask(&self, device: usize, request: Request) -> Ask {
        let rounded = self.settings.round(request.bytes);
        let kind = Settings::pool_kind(rounded);
        let pool = self.choose_pool(device, kind, request.stream);
        Ask {
            device,
            stream: request.stream,
            requested: request.bytes,
            rounded,
            segment: self.settings.segment_bytes(rounded),
            pool,
            kind,
            expandable: self.settings.expandable_segments && !self.has_custom_allocator(pool),
        }
    }

    fn asked(&self, ask: &Ask) -> Step {
        Step::Asked {
            requested_bytes: ask.requested,
            rounded_bytes: ask.rounded,
            segment_bytes: ask.segment,
            pool: self.pools[ask.pool as usize].id,
            kind: ask.kind,
            stream: ask.stream,
            expandable: ask.expandable,
        }
    }

    /// The attempts of §4.2 in their order. The block found is in no list.
    fn obtain<S: Sink>(
        &mut self,
        ask: &mut Ask,
        sink: &mut S,
    ) -> Result<Option<Index>, MallocError> {
        if let Some(found) = self.search(ask, sink) {
            return Ok(Some(found));
        }
        if self.collects_garbage(ask.device) {
            self.collect_garbage(ask.device, sink);
        }
        if let Some(found) = self.grow(ask, Try::First, sink)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.search_pools_for_oom(ask, sink) {
            return Ok(Some(found));
        }
        if self.release_oversize(ask, sink)
            && let Some(found) = self.grow(ask, Try::First, sink)?
        {
            return Ok(Some(found));
        }
        if self.devices[ask.device].is_diverting() {
            return Ok(None);
        }
        self.flush_default(ask.device, FlushCause::Retry, sink);
        self.grow(ask, Try::Retry, sink)
    }

    /// Best fit in the pool of the request (§4.3).
    #[inline]
    pub(super) fn search<S: Sink>(&mut self, ask: &Ask, sink: &mut S) -> Option<Index> {
        if self.collects_garbage(ask.device) {
            self.pools[ask.pool as usize].searches += 1;
        }
        if S::EXPLAINS {
            self.explain_search(ask, sink);
        }
        let Some(found) = self.best_fit(ask, sink) else {
            if S::EXPLAINS {
                sink.step(Step::NothingFits);
            }
            return None;
        };
        self.pools[ask.pool as usize].free.remove_at(found);
        if S::EXPLAINS {
            sink.step(Step::Taken {
                block: spot_of(&self.blocks[found.block]),
            });
        }
        Some(found.block)
    }

    #[inline]
    fn best_fit<S: Sink>(&self, ask: &Ask, sink: &mut S) -> Option<Cursor> {
        let free = &self.pools[ask.pool as usize].free;
        let mut chosen = free.best_fit(ask.stream, ask.rounded)?;
        if self.blocks[chosen.block].is_expandable() {
            if ask.expandable {
                chosen = self.least_reach(free, chosen, sink);
            } else {
                while self.blocks[chosen.block].is_expandable() {
                    self.pass_over(chosen.block, PassedOver::Expandable, sink);
                    chosen = free.following(chosen)?;
                }
            }
        }
        match self.oversize_refusal(ask, &self.blocks[chosen.block]) {
            None => Some(chosen),
            Some(why) => {
                self.pass_over(chosen.block, why, sink);
                None
            }
        }
    }

    /// Among expandable blocks the next one in order wins as long as it has less room to grow
    /// (§4.3(c)).
    fn least_reach<S: Sink>(&self, free: &FreeList, first: Cursor, sink: &mut S) -> Cursor {
        let mut chosen = first;
        while self.blocks[chosen.block].is_expandable()
            && let Some(next) = free.following(chosen)
        {
            let reach_bytes = self.reach(chosen.block);
            if self.reach(next.block) >= reach_bytes {
                break;
            }
            self.pass_over(chosen.block, PassedOver::FartherReach { reach_bytes }, sink);
            chosen = next;
        }
        chosen
    }

    fn reach(&self, index: Index) -> u64 {
        let block = &self.blocks[index];
        match block.next {
            next if next != NONE && !self.blocks[next].mapped => {
                block.size + self.blocks[next].size
            }
            _ => block.size,
        }
    }

    /// Why the rules for oversize blocks refuse a block, if they do (§4.3(d)).
    #[inline]
    fn oversize_refusal(&self, ask: &Ask, block: &Block) -> Option<PassedOver> {
        let max_split_bytes = self.settings.max_split_bytes;
        let max_non_split_rounding_bytes = self.settings.max_non_split_rounding_bytes;
        if ask.rounded < max_split_bytes {
            (block.size >= max_split_bytes).then_some(PassedOver::Oversize { max_split_bytes })
        } else {
            (block.size >= ask.rounded.saturating_add(max_non_split_rounding_bytes)).then_some(
                PassedOver::TooLarge {
                    max_non_split_rounding_bytes,
                },
            )
        }
    }

    #[inline]
    fn pass_over<S: Sink>(&self, index: Index, why: PassedOver, sink: &mut S) {
        if S::EXPLAINS {
            sink.step(Step::PassedOver {
                block: spot_of(&self.blocks[index]),
                why,
            });
        }
    }

    /// What the search never looks at, but people do: blocks too small, and other streams' blocks.
    fn explain_search<S: Sink>(&self, ask: &Ask, sink: &mut S) {
        let free = &self.pools[ask.pool as usize].free;
        let mut smaller = free.below(ask.stream, ask.rounded);
        if let Some(largest) = smaller.next() {
            let count = 1 + smaller.count() as u64;
            self.pass_over(largest, PassedOver::TooSmall { count }, sink);
        }
        for stream in free.streams().filter(|stream| *stream != ask.stream) {
            if let Some(best) = free.at_least(stream, ask.rounded).next() {
                self.pass_over(best, PassedOver::OtherStream, sink);
            }
        }
    }

    /// Marked pools serve requests of the default pool that would fail otherwise (§4.7).
    fn search_pools_for_oom<S: Sink>(&mut self, ask: &mut Ask, sink: &mut S) -> Option<Index> {
        if self.pools[ask.pool as usize].is_private() {
            return None;
        }
        let marked: Vec<_> = self.devices[ask.device]
            .private
            .iter()
            .filter(|(_, pool)| pool.options.use_on_oom)
            .map(|(id, pool)| (*id, pool.pool(ask.kind)))
            .collect();
        for (id, pool) in marked {
            if S::EXPLAINS {
                sink.step(Step::OtherPool { pool: id });
            }
            let other = Ask {
                pool,
                expandable: false,
                ..*ask
            };
            if let Some(found) = self.search(&other, sink) {
                ask.expandable = false;
                return Some(found);
            }
        }
        None
    }

    /// Asks the driver for a segment or for pages (§4.6).
    fn grow<S: Sink>(
        &mut self,
        ask: &Ask,
        attempt: Try,
        sink: &mut S,
    ) -> Result<Option<Index>, MallocError> {
        let device = &mut self.devices[ask.device];
        if attempt == Try::Retry {
            device.stats.num_alloc_retries += 1;
        }
        if let Some(limit_bytes) = device.limit_bytes
            && device.held_bytes.saturating_add(ask.segment) > limit_bytes
        {
            if S::EXPLAINS {
                sink.step(Step::OverLimit {
                    held_bytes: device.held_bytes,
                    segment_bytes: ask.segment,
                    limit_bytes,
                });
            }
            return Ok(None);
        }
        let grown = if ask.expandable {
            self.grow_expandable(ask, sink)
        } else {
            self.grow_segment(ask, sink)
        };
        match grown {
            Ok(index) => Ok(Some(index)),
            Err(DriverError::OutOfMemory) => Ok(None),
            Err(error) => Err(MallocError::Driver(error)),
        }
    }

    /// §4.6(d) and (e).
    fn grow_segment<S: Sink>(&mut self, ask: &Ask, sink: &mut S) -> Result<Index, DriverError> {
        let bytes = ask.segment;
        let answer = self.driver.allocate(self.at(ask.pool, ask.stream), bytes);
        self.note_call(sink, DriverCall::Allocate { bytes }, answer.is_ok());
        let address = answer?;
        self.hold_private(ask.pool, bytes.cast_signed());
        let oversize = self.settings.is_oversize(bytes);
        let device = &mut self.devices[ask.device];
        device.held_bytes += bytes;
        device.stats.segment.increase(ask.kind, 1);
        device.stats.reserved_bytes.increase(ask.kind, bytes);
        device.stats.num_device_alloc += 1;
        if oversize {
            device.stats.oversize_segments.increase(1);
        }
        let event = (Action::SegmentAlloc, address, bytes);
        self.emit(sink, ask.device, event, ask.stream);
        let block = Block::new(address, bytes, ask.stream, ask.pool, NONE);
        Ok(self.blocks.insert(block))
    }
}
