//! PyTorch: what of it scripts can use, and what each function allocates.
//!
//! Tensors have shapes and memory, but no values. `docs/playground.md` has the table.

mod arguments;
mod arithmetic;
mod card;
mod cuda;
mod dtype;
mod elementwise;
mod factory;
mod gpu;
mod indexing;
mod methods;
mod shape;
mod tensor;
mod views;

use std::rc::Rc;

use super::machine::{Fault, Machine};
use super::native::{Args, MethodFn, NativeType, Outcome, find};
use super::value::Value;

pub(super) use dtype::{Device, Dtype};
pub(super) use gpu::{Context, Gpu, Pool, Storage, StreamObject};
pub(super) use tensor::Tensor;

impl Machine {
    /// `import torch`.
    pub(super) fn start_torch(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The first use of CUDA: the settings are read.
    pub(super) fn start_cuda(&mut self) -> Result<(), Fault> {
        if self.gpu.is_started() {
            return Ok(());
        }
        let from_environment = ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"]
            .into_iter()
            .find_map(|name| self.environ.get(name).cloned());
        let text = match from_environment {
            Some(Value::Text(text)) => text,
            _ => Rc::from(""),
        };
        match self.gpu.start(&text) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.raise("RuntimeError", error.to_string())),
        }
    }

    pub(super) fn torch_attribute(&mut self, module: &str, name: &str) -> Outcome {
        if module != "torch" {
            return match cuda::attribute(self, name)? {
                Some(value) => Ok(value),
                None => Err(self.unsupported(
                    format!("torch.cuda.{name}"),
                    "Of torch.cuda there are the functions of memory and streams that \
                     docs/playground.md lists.",
                )),
            };
        }
        if let Some(value) = find(factory::TABLE, name).or_else(|| find(elementwise::TABLE, name)) {
            return Ok(value);
        }
        if let Some(dtype) = Dtype::named(name) {
            return Ok(Value::Dtype(dtype));
        }
        Ok(match name {
            "cuda" => Value::Module("torch.cuda"),
            "Tensor" => Value::Type(NativeType::Tensor),
            "Size" => Value::Type(NativeType::Size),
            "device" => Value::Type(NativeType::Device),
            "dtype" => Value::Type(NativeType::Dtype),
            "OutOfMemoryError" => Value::Class(self.exception_class("OutOfMemoryError")),
            "__version__" => Value::text("2.11.0+cu130"),
            "__name__" => Value::text("torch"),
            "inf" => Value::Float(f64::INFINITY),
            _ => {
                let instead = reason(name).unwrap_or(
                    "docs/playground.md lists the functions that there are and what each \
                     allocates.",
                );
                return Err(self.unsupported(format!("torch.{name}"), instead));
            }
        })
    }

    /// Calls one of PyTorch's types.
    pub(super) fn construct_torch(&mut self, kind: NativeType, args: &Args) -> Outcome {
        match kind {
            NativeType::Device => {
                let device = match args.positional.first() {
                    Some(value) => self.device(value)?,
                    None => return Err(self.type_error("device() needs an argument")),
                };
                match (device, args.positional.get(1)) {
                    (Device::Cuda(_), Some(index)) => {
                        let index = self.whole(index)?;
                        Ok(Value::Device(Device::Cuda(u32::try_from(index).ok())))
                    }
                    (device, _) => Ok(Value::Device(device)),
                }
            }
            NativeType::Size => {
                let mut sizes = Vec::new();
                if let Some(value) = args.positional.first() {
                    for item in self.collect(value)? {
                        sizes.push(self.whole(&item)?);
                    }
                }
                Ok(self.size(&sizes))
            }
            NativeType::Stream => cuda::new_stream(self, args),
            NativeType::Pool => cuda::new_pool(self, args),
            NativeType::Tensor => Err(self.unsupported(
                "torch.Tensor(…)",
                "Make tensors with torch.empty, torch.zeros, torch.ones, torch.full or \
                 torch.randn.",
            )),
            other => {
                let name = other.full_name();
                Err(self.type_error(format!("cannot create '{name}' instances")))
            }
        }
    }
}

/// An attribute of a tensor, stream, pool and the like.
pub(super) fn attribute(
    machine: &mut Machine,
    owner: &Value,
    name: &str,
) -> Result<Option<Value>, Fault> {
    Ok(match owner {
        Value::Tensor(tensor) => return methods::attribute(machine, tensor, name),
        Value::Dtype(dtype) => match name {
            "itemsize" => Some(Value::Int(dtype.bytes())),
            "is_floating_point" => Some(Value::Bool(dtype.is_float())),
            _ => None,
        },
        Value::Device(device) => match name {
            "type" => Some(Value::text(if device.is_cuda() { "cuda" } else { "cpu" })),
            "index" => Some(match device {
                Device::Cuda(Some(index)) => Value::Int(i64::from(*index)),
                _ => Value::None,
            }),
            _ => None,
        },
        Value::Stream(stream) => match name {
            "cuda_stream" => Some(Value::Int(stream.handle.0 as i64)),
            "device" => Some(Value::Device(Device::Cuda(Some(0)))),
            _ => None,
        },
        Value::Pool(pool) if name == "id" => {
            let id = vec![Value::Int(pool.id.0 as i64), Value::Int(pool.id.1 as i64)];
            Some(machine.tuple(id))
        }
        Value::Properties => match name {
            "total_memory" => Some(Value::Int(machine.gpu.capacity() as i64)),
            "name" => Some(Value::text("simulated card")),
            _ => None,
        },
        _ => None,
    })
}

/// A method of a tensor, stream, pool and the like.
pub(super) fn method(owner: &Value, name: &str) -> Option<MethodFn> {
    match owner {
        Value::Tensor(_) => methods::method(name)
            .or_else(|| views::method(name))
            .or_else(|| elementwise::method(name)),
        Value::Tuple(_) if name == "numel" => Some(methods::size_numel),
        Value::Stream(_) => cuda::stream_method(name),
        Value::Context(_) => cuda::context_method(name),
        Value::Storage(_) => methods::storage_method(name),
        _ => None,
    }
}

/// Why something of PyTorch is left out.
fn reason(name: &str) -> Option<&'static str> {
    let reductions = [
        "sum",
        "mean",
        "max",
        "min",
        "argmax",
        "argmin",
        "prod",
        "std",
        "var",
        "norm",
        "softmax",
        "log_softmax",
        "cumsum",
        "cumprod",
        "topk",
        "sort",
        "argsort",
        "any",
        "all",
        "unique",
        "median",
        "logsumexp",
        "amax",
        "amin",
        "nonzero",
        "histc",
        "bincount",
        "masked_select",
    ];
    let products = [
        "matmul",
        "mm",
        "bmm",
        "mv",
        "dot",
        "addmm",
        "baddbmm",
        "einsum",
        "tensordot",
        "linear",
        "conv1d",
        "conv2d",
        "inner",
        "outer",
        "linalg",
        "kron",
    ];
    let gradients = [
        "backward",
        "grad",
        "requires_grad_",
        "autograd",
        "nn",
        "optim",
        "retain_grad",
        "grad_fn",
        "enable_grad",
        "func",
        "compile",
        "jit",
    ];
    let values = ["item", "tolist", "numpy", "equal", "allclose", "is_nonzero"];
    let files = ["save", "load", "from_numpy", "utils"];
    if reductions.contains(&name) {
        Some(
            "Reductions take workspaces that no rule gives; use elementwise arithmetic such as \
             x + y, x * 2 or x.exp().",
        )
    } else if products.contains(&name) {
        Some(
            "Matrix products take workspaces that no rule gives; use elementwise arithmetic such \
             as x + y, or allocate the result with torch.empty.",
        )
    } else if gradients.contains(&name) {
        Some(
            "There are no gradients and modules; record a whole model on a GPU and open the \
             recording.",
        )
    } else if values.contains(&name) {
        Some("The values of tensors are not computed; use shape, dtype and numel().")
    } else if files.contains(&name) {
        Some("There are no files; make tensors with torch.empty, torch.zeros or torch.randn.")
    } else {
        None
    }
}

/// What a tensor has in PyTorch, but not here.
pub(super) fn outside(owner: &Value, name: &str) -> Option<(String, &'static str)> {
    let class = match owner {
        Value::Tensor(_) => "Tensor",
        Value::Stream(_) => "Stream",
        Value::Pool(_) => "MemPool",
        _ => return None,
    };
    let instead = reason(name)
        .unwrap_or("docs/playground.md lists the methods that there are and what each allocates.");
    Some((format!("{class}.{name}"), instead))
}
