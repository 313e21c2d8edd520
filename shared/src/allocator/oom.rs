//! When nothing helped (§4.10).

use std::fmt;

use super::{
    Allocator,
    decision::Step,
    driver::{Driver, ProcessMemory},
    malloc::Ask,
    trace::Sink,
};
use crate::{ids::DeviceIndex, model::Action, units::size_text};

/// A failed request with all that PyTorch says about it; `Display` is its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Device that was asked.
    pub device: DeviceIndex,
    /// Bytes of the rounded request.
    pub rounded_bytes: u64,
    /// Bytes that the driver was asked for; the message shows these.
    pub segment_bytes: u64,
    /// Bytes of the card.
    pub total_bytes: u64,
    /// Bytes of the card that nobody uses.
    pub free_bytes: u64,
    /// Processes on the card as the management library lists them.
    pub processes: Vec<ProcessMemory>,
    /// The memory limit, where one is set.
    pub limit_bytes: Option<u64>,
    /// Bytes handed out.
    pub allocated_bytes: u64,
    /// Bytes held from the driver.
    pub reserved_bytes: u64,
    /// Bytes of *free* blocks in private pools, which the message counts as allocated (T14).
    pub private_bytes: u64,
}

impl std::error::Error for OutOfMemory {}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CUDA out of memory. Tried to allocate {}. GPU {} has a total capacity of {} of which \
             {} is free. ",
            size_text(self.segment_bytes),
            self.device.0,
            size_text(self.total_bytes),
            size_text(self.free_bytes),
        )?;
        for process in &self.processes {
            let size = size_text(process.bytes);
            match process.pid {
                Some(pid) => write!(f, "Process {pid} has {size} memory in use. ")?,
                None => write!(
                    f,
                    "Including non-PyTorch memory, this process has {size} memory in use. "
                )?,
            }
        }
        if let Some(limit) = self.limit_bytes {
            write!(f, "{} allowed; ", size_text(limit))?;
        }
        let allocated = self.allocated_bytes + self.private_bytes;
        write!(
            f,
            "Of the allocated memory {} is allocated by PyTorch, ",
            size_text(allocated)
        )?;
        if self.private_bytes > 0 {
            write!(
                f,
                "with {} allocated in private pools (e.g., CUDA Graphs), ",
                size_text(self.private_bytes)
            )?;
        }
        write!(
            f,
            "and {} is reserved by PyTorch but unallocated. If reserved but unallocated memory is \
             large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid \
             fragmentation.  See documentation for Memory Management  \
             (https://docs.pytorch.org/docs/stable/notes/cuda.html\
             #optimizing-memory-usage-with-pytorch-cuda-alloc-conf)",
            size_text(self.reserved_bytes.saturating_sub(allocated)),
        )
    }
}

impl<D: Driver> Allocator<D> {
    /// Reports a failed request.
    pub(super) fn out_of_memory<S: Sink>(&mut self, ask: &Ask, sink: &mut S) -> OutOfMemory {
        let free_bytes = self.driver.free_bytes(self.at(ask.pool, ask.stream));
        let index = self.devices[ask.device].index;
        let processes = self.driver.processes(index);
        let event = (Action::Oom, free_bytes, ask.rounded);
        self.emit(sink, ask.device, event, ask.stream);
        self.devices[ask.device].stats.num_ooms += 1;
        let device = &self.devices[ask.device];
        let private = device.private.values().map(|pool| self.free_bytes_of(pool));
        let report = OutOfMemory {
            device: index,
            rounded_bytes: ask.rounded,
            segment_bytes: ask.segment,
            total_bytes: self.driver.total_bytes(index),
            free_bytes,
            processes,
            limit_bytes: device.limit_bytes,
            allocated_bytes: device.stats.allocated_bytes.all.current.cast_unsigned(),
            reserved_bytes: device.stats.reserved_bytes.all.current.cast_unsigned(),
            private_bytes: private.sum(),
        };
        if S::EXPLAINS {
            sink.step(Step::OutOfMemory {
                segment_bytes: ask.segment,
                held_bytes: device.held_bytes,
                allocated_bytes: report.allocated_bytes,
            });
        }
        report
    }
}
