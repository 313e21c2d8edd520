//! Attributes of tensors, conversions and copies.

use std::rc::Rc;

use super::dtype::{Device, Dtype};
use super::shape;
use super::tensor::{Layout, Tensor};
use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, MethodFn, Outcome};
use crate::script::value::Value;

pub(super) fn attribute(
    machine: &mut Machine,
    tensor: &Rc<Tensor>,
    name: &str,
) -> Result<Option<Value>, Fault> {
    Ok(Some(match name {
        "shape" => machine.size(&tensor.shape),
        "dtype" => Value::Dtype(tensor.dtype),
        "device" => Value::Device(tensor.device),
        "ndim" => Value::Int(tensor.shape.len() as i64),
        "nbytes" => Value::Int(tensor.numel() * tensor.dtype.bytes()),
        "itemsize" => Value::Int(tensor.dtype.bytes()),
        "is_cuda" => Value::Bool(tensor.device.is_cuda()),
        "is_cpu" => Value::Bool(!tensor.device.is_cuda()),
        "requires_grad" => Value::Bool(false),
        "is_leaf" => Value::Bool(true),
        "grad" => Value::None,
        "data" => machine.alias(tensor),
        "T" | "mT" => {
            let dims = tensor.shape.len();
            if dims != 2 && (name == "T" || dims < 2) {
                return Err(machine.unsupported(
                    format!(".{name} of a tensor of {dims} dimensions"),
                    "Use transpose or permute.",
                ));
            }
            machine.swapped(tensor, dims - 2, dims - 1)
        }
        _ => return Ok(None),
    }))
}

pub(super) fn method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "to" => to,
        "type" => to,
        "cpu" => |m, s, _| m.converted(tensor(s), None, Some(Device::Cpu), false),
        "cuda" => |m, s, _| m.converted(tensor(s), None, Some(Device::Cuda(None)), false),
        "half" => |m, s, _| m.converted(tensor(s), Some(Dtype::Float16), None, false),
        "bfloat16" => |m, s, _| m.converted(tensor(s), Some(Dtype::Bfloat16), None, false),
        "float" => |m, s, _| m.converted(tensor(s), Some(Dtype::Float32), None, false),
        "double" => |m, s, _| m.converted(tensor(s), Some(Dtype::Float64), None, false),
        "int" => |m, s, _| m.converted(tensor(s), Some(Dtype::Int32), None, false),
        "long" => |m, s, _| m.converted(tensor(s), Some(Dtype::Int64), None, false),
        "short" => |m, s, _| m.converted(tensor(s), Some(Dtype::Int16), None, false),
        "bool" => |m, s, _| m.converted(tensor(s), Some(Dtype::Bool), None, false),
        "byte" => |m, s, _| m.converted(tensor(s), Some(Dtype::Uint8), None, false),
        "clone" => |m, s, _| m.copy_of(tensor(s)),
        "contiguous" => contiguous,
        "copy_" => copy_,
        "numel" | "nelement" => |_, s, _| Ok(Value::Int(tensor(s).numel())),
        "element_size" => |_, s, _| Ok(Value::Int(tensor(s).dtype.bytes())),
        "dim" | "ndimension" => |_, s, _| Ok(Value::Int(tensor(s).shape.len() as i64)),
        "size" => size,
        "stride" => stride,
        "storage_offset" => |_, s, _| Ok(Value::Int(tensor(s).offset)),
        "is_contiguous" => |_, s, _| Ok(Value::Bool(tensor(s).is_contiguous())),
        "is_floating_point" => |_, s, _| Ok(Value::Bool(tensor(s).dtype.is_float())),
        "data_ptr" => |_, s, _| Ok(Value::Int(tensor(s).address() as i64)),
        "get_device" => |_, s, _| Ok(Value::Int(i64::from(tensor(s).device.is_cuda()) - 1)),
        "untyped_storage" => untyped_storage,
        "record_stream" => record_stream,
        "new_empty" => |m, s, a| new(m, s, a, false),
        "new_zeros" | "new_ones" => |m, s, a| new(m, s, a, true),
        "__len__" => |m, s, _| m.tensor_length(tensor(s)).map(length),
        _ => return None,
    })
}

fn length(length: Option<usize>) -> Value {
    Value::Int(length.unwrap_or(0) as i64)
}

fn tensor(receiver: &Value) -> &Rc<Tensor> {
    match receiver {
        Value::Tensor(tensor) => tensor,
        _ => unreachable!("methods of tensors are called on tensors"),
    }
}

/// `.to(…)`: a type, a device, both, or those of another tensor.
fn to(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let (mut dtype, mut device, mut copy) = (None, None, false);
    let named = args.keywords.iter().map(|(name, value)| (&**name, value));
    let all = args.positional.iter().map(|value| ("", value)).chain(named);
    for (name, value) in all {
        match (name, value) {
            ("non_blocking" | "memory_format", _) => {}
            ("copy", value) => copy = machine.truth(value)?,
            ("", Value::Bool(_)) => {}
            (_, Value::Dtype(given)) => dtype = Some(*given),
            (_, Value::Tensor(other)) => {
                dtype = Some(other.dtype);
                device = Some(other.device);
            }
            (_, Value::None) => {}
            (_, value) => device = Some(machine.device(value)?),
        }
    }
    machine.converted(tensor(receiver), dtype, device, copy)
}

impl Machine {
    /// The tensor itself if it is of that type and there already; a new one otherwise.
    fn converted(
        &mut self,
        tensor: &Rc<Tensor>,
        dtype: Option<Dtype>,
        device: Option<Device>,
        copy: bool,
    ) -> Outcome {
        let dtype = dtype.unwrap_or(tensor.dtype);
        let device = device.unwrap_or(tensor.device);
        self.check_device(device)?;
        let moves = device.is_cuda() != tensor.device.is_cuda();
        if !moves && dtype == tensor.dtype && !copy {
            return Ok(Value::Tensor(Rc::clone(tensor)));
        }
        let layout = Layout {
            shape: tensor.shape.clone(),
            dtype,
            device,
        };
        let result = self.new_tensor_strided(layout, tensor.like_strides())?;
        if let Value::Tensor(target) = &result {
            self.copy_into(target, tensor)?;
        }
        Ok(result)
    }

    /// Copies elements; memory for it is taken only between devices, where one side is not
    /// contiguous, and goes back at once.
    pub(super) fn copy_into(
        &mut self,
        target: &Rc<Tensor>,
        source: &Rc<Tensor>,
    ) -> Result<(), Fault> {
        if shape::broadcast(&target.shape, &source.shape).as_ref() != Ok(&target.shape) {
            let at = target.shape.len().saturating_sub(1);
            let size = |tensor: &Tensor| tensor.shape.last().copied().unwrap_or(1);
            let message = format!(
                "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton \
                 dimension {at}",
                size(target),
                size(source)
            );
            return Err(self.raise("RuntimeError", message));
        }
        let crosses = target.device.is_cuda() != source.device.is_cuda();
        if crosses {
            self.copy_across(target, source)?;
        }
        if target.device.is_cuda() || source.device.is_cuda() {
            self.gpu.launch();
            if crosses {
                self.gpu.synchronize(Some(self.gpu.current()));
            }
        }
        Ok(())
    }

    fn copy_across(&mut self, target: &Rc<Tensor>, source: &Rc<Tensor>) -> Result<(), Fault> {
        let alike = target.shape == source.shape
            && target.strides == source.strides
            && shape::is_dense(&target.shape, &target.strides);
        let both_contiguous = target.is_contiguous() && source.is_contiguous();
        if alike || (both_contiguous && target.shape == source.shape) {
            return Ok(());
        }
        let (staged, dtype) = if target.device.is_cuda() {
            (target, target.dtype)
        } else {
            (source, source.dtype)
        };
        let broadcasts = target.shape != source.shape;
        if !staged.is_contiguous() || (broadcasts && Rc::ptr_eq(staged, source)) {
            let temporary = self.new_tensor(Layout {
                shape: target.shape.clone(),
                dtype,
                device: staged.device,
            })?;
            drop(temporary);
        }
        Ok(())
    }

    /// `.clone()`.
    pub(super) fn copy_of(&mut self, tensor: &Rc<Tensor>) -> Outcome {
        let layout = Layout {
            shape: tensor.shape.clone(),
            dtype: tensor.dtype,
            device: tensor.device,
        };
        let copy = self.new_tensor_strided(layout, tensor.like_strides())?;
        if tensor.device.is_cuda() {
            self.gpu.launch();
        }
        Ok(copy)
    }
}

fn contiguous(machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    if tensor.is_contiguous() {
        return Ok(receiver.clone());
    }
    machine.launched(Layout {
        shape: tensor.shape.clone(),
        dtype: tensor.dtype,
        device: tensor.device,
    })
}

fn copy_(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let source = Rc::clone(machine.tensor_argument("copy_", args.get(0, "src"))?);
    machine.copy_into(tensor(receiver), &source)?;
    Ok(receiver.clone())
}

fn size(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    match args.get(0, "dim") {
        None | Some(Value::None) => Ok(machine.size(&tensor.shape)),
        Some(dim) => {
            let dim = machine.dimension(dim, tensor.shape.len())?;
            Ok(Value::Int(tensor.shape[dim]))
        }
    }
}

fn stride(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    match args.get(0, "dim") {
        None | Some(Value::None) => {
            let strides = tensor.strides.iter().copied().map(Value::Int).collect();
            Ok(machine.tuple(strides))
        }
        Some(dim) => {
            let dim = machine.dimension(dim, tensor.shape.len())?;
            Ok(Value::Int(tensor.strides[dim]))
        }
    }
}

fn untyped_storage(machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    match tensor(receiver).storage() {
        Some(storage) => Ok(Value::Storage(storage)),
        None => Err(machine.raise("RuntimeError", "the tensor has no storage")),
    }
}

pub(super) fn storage_method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "nbytes" | "size" | "__len__" => |_, s, _| match s {
            Value::Storage(storage) => Ok(Value::Int(storage.bytes as i64)),
            _ => Ok(Value::None),
        },
        "data_ptr" => |_, s, _| match s {
            Value::Storage(storage) => {
                let address = storage.block.map_or(0, |block| storage.gpu.address(block));
                Ok(Value::Int(address as i64))
            }
            _ => Ok(Value::None),
        },
        _ => return None,
    })
}

pub(super) fn size_numel(_machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    let Value::Tuple(size) = receiver else {
        return Ok(Value::None);
    };
    let sizes = size.items.iter().filter_map(crate::script::int::small);
    Ok(Value::Int(sizes.product()))
}

fn record_stream(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("record_stream", args, 1..=1, &[])?;
    let Value::Stream(stream) = &args.positional[0] else {
        return Err(machine.type_error("record_stream(): argument must be a Stream"));
    };
    let storage = tensor(receiver).storage();
    if let Some(block) = storage.and_then(|storage| storage.block) {
        let handle = stream.handle;
        machine
            .gpu
            .with(|allocator, _| allocator.record_stream(block, handle));
    }
    Ok(Value::None)
}

fn new(machine: &mut Machine, receiver: &Value, args: &Args, fills: bool) -> Outcome {
    let own = tensor(receiver);
    let (dtype, device) = machine.options("new_empty", args, own.dtype, own.device)?;
    let shape = match args.keyword("size") {
        Some(size) => machine.sizes(std::slice::from_ref(size))?,
        None => machine.sizes(&args.positional)?,
    };
    let layout = Layout {
        shape,
        dtype,
        device,
    };
    if fills {
        machine.launched(layout)
    } else {
        machine.new_tensor(layout)
    }
}
