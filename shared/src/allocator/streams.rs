//! Blocks used on other streams: their frees wait for events (§9).

use crate::ids::PoolId;

use super::{
    Allocator, BlockId, Stream, arena::Index, decision::Step, driver::Driver, spot_of, trace::Sink,
};

impl<D: Driver> Allocator<D> {
    /// `record_stream`: work on `stream` uses the block too (§9.1). Ignored for the block's own
    /// stream and for blocks that do not exist.
    pub fn record_stream(&mut self, id: BlockId, stream: Stream) {
        let Some(block) = self.blocks.resolve(id) else {
            return;
        };
        if block.stream == stream || !block.allocated {
            return;
        }
        let index = id.index;
        self.blocks[index].recorded = true;
        let streams = self.recorded_streams.entry(index).or_default();
        if !streams.contains(&stream) {
            streams.push(stream);
        }
        let device = self.device_of(index);
        let device = &mut self.devices[device];
        if device.is_diverting() {
            device
                .recorded_in_capture
                .entry(index)
                .or_default()
                .push(stream);
        }
    }

    /// One event on each stream that used the block; it is free when all have completed (§9.2).
    pub(super) fn record_events<S: Sink>(&mut self, index: Index, sink: &mut S) {
        let mut streams = self.recorded_streams.remove(&index).unwrap_or_default();
        streams.sort_unstable();
        if S::EXPLAINS {
            sink.step(Step::Deferred {
                block: spot_of(&self.blocks[index]),
                streams: streams.clone(),
                capture: false,
            });
        }
        let block = &mut self.blocks[index];
        block.recorded = false;
        block.events += streams.len() as u32;
        let (address, pool) = (block.address, block.pool);
        let device = self.device_of(index);
        self.devices[device].recorded_in_capture.remove(&index);
        for stream in streams {
            let event = self
                .driver
                .record_event(self.at(pool, stream), stream, address);
            let queues = &mut self.devices[device].outstanding;
            queues.entry(stream).or_default().push_back((event, index));
        }
    }

    /// Completes the frees whose events are done (§9.3).
    #[inline]
    pub(super) fn process_events<S: Sink>(&mut self, device: usize, sink: &mut S) {
        if !self.devices[device].deferred.is_empty() {
            self.end_deferral(device, sink);
        }
        if !self.devices[device].outstanding.is_empty() {
            self.poll_events(device, sink);
            if S::EXPLAINS {
                self.explain_waiting(device, sink);
            }
        }
    }

    /// Waits for all outstanding events, or for those of one pool's blocks, and completes their
    /// frees (§7.3).
    pub(super) fn wait_for_events<S: Sink>(
        &mut self,
        device: usize,
        only: Option<PoolId>,
        sink: &mut S,
    ) {
        if !self.devices[device].deferred.is_empty() {
            self.end_deferral(device, sink);
        }
        loop {
            if only.is_none() {
                // What is done already, in the order that the driver knows.
                self.poll_events(device, sink);
            }
            let queues = self.devices[device].outstanding.iter();
            let next = queues.into_iter().find_map(|(stream, queue)| {
                let of_pool = |index| {
                    let pool = self.blocks[index].pool;
                    only.is_none_or(|only| self.pools[pool as usize].id == only)
                };
                let at = queue.iter().position(|(_, index)| of_pool(*index))?;
                Some((*stream, at))
            });
            let Some((stream, at)) = next else {
                return;
            };
            self.finish_event(device, stream, at, Finish::Wait, sink);
        }
    }

    /// Streams in ascending order, each as far as it is done; once more as long as anything
    /// completed, so that a driver that answers from a recording can keep another order (§9.7).
    fn poll_events<S: Sink>(&mut self, device: usize, sink: &mut S) {
        let mut progressed = true;
        while progressed {
            progressed = false;
            let streams: Vec<_> = self.devices[device].outstanding.keys().copied().collect();
            for stream in streams {
                while self.finish_event(device, stream, 0, Finish::IfComplete, sink) {
                    progressed = true;
                }
            }
        }
    }

    fn explain_waiting<S: Sink>(&self, device: usize, sink: &mut S) {
        for (stream, queue) in &self.devices[device].outstanding {
            for (_, index) in queue {
                sink.step(Step::StillWaiting {
                    block: spot_of(&self.blocks[*index]),
                    stream: *stream,
                });
            }
        }
    }

    /// Takes an event off its stream's queue if it is done, or after waiting for it; the block is
    /// free when it was the last.
    fn finish_event<S: Sink>(
        &mut self,
        device: usize,
        stream: Stream,
        position: usize,
        how: Finish,
        sink: &mut S,
    ) -> bool {
        let queue = self.devices[device].outstanding.get(&stream);
        let Some((event, index)) = queue.and_then(|queue| queue.get(position)).copied() else {
            return false;
        };
        let at = self.at(self.blocks[index].pool, stream);
        match how {
            Finish::IfComplete if !self.driver.is_complete(at, stream, event) => return false,
            Finish::IfComplete => {}
            Finish::Wait => self.driver.wait(at, stream, event),
        }
        let queues = &mut self.devices[device].outstanding;
        if let Some(queue) = queues.get_mut(&stream) {
            queue.remove(position);
            if queue.is_empty() {
                queues.remove(&stream);
            }
        }
        let block = &mut self.blocks[index];
        block.events -= 1;
        if block.is_idle() {
            self.complete_free(index, sink);
        }
        true
    }
}

/// How an event is taken off its queue.
#[derive(Clone, Copy)]
enum Finish {
    IfComplete,
    Wait,
}
