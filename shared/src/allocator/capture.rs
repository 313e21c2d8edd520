//! Frees while a graph is captured or a pool entered: events can't be asked for then (§9.5, §9.6).

use super::{
    Allocator, Stream,
    arena::Index,
    decision::Step,
    driver::{Driver, GraphNode},
    spot_of,
    trace::Sink,
};

/// A free put off.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    index: Index,
    /// The last nodes of the graph at the time of the free, on all streams that use the block;
    /// none where one of them is not captured.
    terminals: Vec<GraphNode>,
}

impl<D: Driver> Allocator<D> {
    /// Puts a free off until no capture is under way (§9.5).
    pub(super) fn defer_free<S: Sink>(&mut self, index: Index, sink: &mut S) {
        let block = &self.blocks[index];
        let recorded = self.recorded_streams.get(&index);
        let mut streams = recorded.cloned().unwrap_or_default();
        if S::EXPLAINS {
            sink.step(Step::Deferred {
                block: spot_of(block),
                streams: streams.clone(),
                capture: true,
            });
        }
        let at = self.at(block.pool, block.stream);
        streams.push(block.stream);
        let terminals = if self.settings.graph_capture_record_stream_reuse {
            self.driver.graph_terminals(at, &streams)
        } else {
            Vec::new()
        };
        let deferred = Deferred { index, terminals };
        self.devices[at.device.index()].deferred.push(deferred);
    }

    /// At the end of all captures: streams recorded in one no longer count (§9.5).
    pub(super) fn end_deferral<S: Sink>(&mut self, device: usize, sink: &mut S) {
        for Deferred { index, .. } in std::mem::take(&mut self.devices[device].deferred) {
            let in_capture = self.devices[device].recorded_in_capture.remove(&index);
            if let (Some(streams), Some(in_capture)) =
                (self.recorded_streams.get_mut(&index), in_capture)
            {
                streams.retain(|stream| !in_capture.contains(stream));
            }
            if self.recorded_streams.get(&index).is_none_or(Vec::is_empty) {
                self.forget_streams(index);
                self.complete_free(index, sink);
            } else {
                self.record_events(index, sink);
            }
        }
    }

    /// During a capture: a block of this stream is free once the work captured next can only run
    /// after all that used it (§9.6).
    pub(super) fn free_reusable<S: Sink>(&mut self, device: usize, stream: Stream, sink: &mut S) {
        for deferred in std::mem::take(&mut self.devices[device].deferred) {
            let block = &self.blocks[deferred.index];
            let at = self.at(block.pool, stream);
            let reusable = block.stream == stream
                && !deferred.terminals.is_empty()
                && self.driver.graph_follows(at, stream, &deferred.terminals);
            if reusable {
                self.forget_streams(deferred.index);
                self.devices[device]
                    .recorded_in_capture
                    .remove(&deferred.index);
                self.complete_free(deferred.index, sink);
            } else {
                self.devices[device].deferred.push(deferred);
            }
        }
    }

    fn forget_streams(&mut self, index: Index) {
        self.recorded_streams.remove(&index);
        self.blocks[index].recorded = false;
    }
}
