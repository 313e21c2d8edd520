//! Tensors: a shape over a storage.

use std::cell::RefCell;
use std::rc::Rc;

use super::dtype::{Device, Dtype};
use super::gpu::Storage;
use super::shape;
use crate::allocator::MallocError;
use crate::script::heap::{Node, NodeId, id_of};
use crate::script::machine::{Fault, Machine};
use crate::script::value::Value;

pub(crate) struct Tensor {
    /// Taken away when the collector breaks a cycle.
    storage: RefCell<Option<Rc<Storage>>>,
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    /// Elements before the first.
    pub(crate) offset: i64,
    pub(crate) dtype: Dtype,
    pub(crate) device: Device,
}

impl Node for Tensor {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        if let Some(storage) = &*self.storage.borrow() {
            visit(id_of(storage));
        }
    }

    fn clear(&self) {
        let storage = self.storage.take();
        drop(storage);
    }
}

impl Tensor {
    pub(crate) fn numel(&self) -> i64 {
        shape::numel(&self.shape).unwrap_or(i64::MAX)
    }

    pub(crate) fn is_contiguous(&self) -> bool {
        shape::is_contiguous(&self.shape, &self.strides)
    }

    pub(crate) fn storage(&self) -> Option<Rc<Storage>> {
        self.storage.borrow().clone()
    }

    pub(crate) fn address(&self) -> u64 {
        let storage = self.storage.borrow();
        let block = storage.as_ref().and_then(|it| Some((it, it.block?)));
        block.map_or(0, |(storage, block)| {
            storage.gpu.address(block) + (self.offset * self.dtype.bytes()) as u64
        })
    }

    /// Strides of a result of the same shape: the same where they are dense.
    pub(crate) fn like_strides(&self) -> Vec<i64> {
        if shape::is_dense(&self.shape, &self.strides) {
            self.strides.clone()
        } else {
            shape::contiguous_strides(&self.shape)
        }
    }
}

/// What a new tensor is to be.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) shape: Vec<i64>,
    pub(crate) dtype: Dtype,
    pub(crate) device: Device,
}

impl Machine {
    /// A new tensor with memory of its own.
    pub(crate) fn new_tensor(&mut self, layout: Layout) -> Result<Value, Fault> {
        let strides = shape::contiguous_strides(&layout.shape);
        self.new_tensor_strided(layout, strides)
    }

    pub(crate) fn new_tensor_strided(
        &mut self,
        layout: Layout,
        strides: Vec<i64>,
    ) -> Result<Value, Fault> {
        let Layout {
            shape,
            dtype,
            device,
        } = layout;
        if let Some(size) = shape.iter().find(|size| **size < 0) {
            let shown = shape::text(&shape);
            let message =
                format!("Trying to create tensor with negative dimension {size}: {shown}");
            return Err(self.raise("RuntimeError", message));
        }
        let bytes = shape::numel(&shape).and_then(|count| count.checked_mul(dtype.bytes()));
        let Some(bytes) = bytes else {
            let shown = shape::text(&shape);
            let message = format!("Storage size calculation overflowed with sizes={shown}");
            return Err(self.raise("RuntimeError", message));
        };
        let storage = self.new_storage(bytes as u64, device)?;
        Ok(Value::Tensor(self.heap.track(Tensor {
            storage: RefCell::new(Some(storage)),
            shape,
            strides,
            offset: 0,
            dtype,
            device: self.resolved(device),
        })))
    }

    fn resolved(&self, device: Device) -> Device {
        match device {
            Device::Cpu => Device::Cpu,
            Device::Cuda(_) => Device::Cuda(Some(0)),
        }
    }

    fn new_storage(&mut self, bytes: u64, device: Device) -> Result<Rc<Storage>, Fault> {
        let block = if device.is_cuda() {
            self.check_device(device)?;
            self.start_cuda()?;
            match self.gpu.malloc(bytes) {
                Ok(block) => block,
                Err(error) => return Err(self.malloc_error(&error)),
            }
        } else {
            None
        };
        self.check_size(0)?;
        Ok(self.heap.track(Storage {
            gpu: Rc::clone(&self.gpu),
            block,
            bytes,
        }))
    }

    fn malloc_error(&mut self, error: &MallocError) -> Fault {
        let class = match error {
            MallocError::OutOfMemory(_) | MallocError::MoreThanExabyte => "OutOfMemoryError",
            _ => "RuntimeError",
        };
        self.raise(class, error.to_string())
    }

    pub(crate) fn check_device(&mut self, device: Device) -> Result<(), Fault> {
        match device {
            Device::Cuda(Some(index)) if index > 0 => Err(self.unsupported(
                format!("the device cuda:{index}"),
                "There is one card, cuda:0, and the cpu.",
            )),
            _ => Ok(()),
        }
    }

    /// The same memory in another shape.
    pub(crate) fn view_of(
        &self,
        tensor: &Tensor,
        shape: Vec<i64>,
        strides: Vec<i64>,
        offset: i64,
    ) -> Value {
        Value::Tensor(self.heap.track(Tensor {
            storage: RefCell::new(tensor.storage()),
            shape,
            strides,
            offset,
            dtype: tensor.dtype,
            device: tensor.device,
        }))
    }

    /// The values of tensors are not computed.
    pub(crate) fn needs_values(&self, what: &str) -> Fault {
        self.unsupported(
            format!("{what} (its values are not computed)"),
            "Print its shape, dtype, numel() or element_size(), or what \
             torch.cuda.memory_allocated() says.",
        )
    }
}
