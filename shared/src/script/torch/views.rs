//! Views: other shapes over the same memory. They allocate nothing, except where only a copy has
//! the shape (`reshape`, `flatten`).

use std::rc::Rc;

use super::shape;
use super::tensor::{Layout, Tensor};
use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, MethodFn, Outcome};
use crate::script::value::Value;

pub(super) fn method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "view" => view,
        "view_as" => view_as,
        "reshape" => reshape,
        "flatten" => flatten,
        "unsqueeze" => unsqueeze,
        "squeeze" => squeeze,
        "transpose" | "swapaxes" => transpose,
        "t" => t,
        "permute" => permute,
        "expand" => expand,
        "expand_as" => expand_as,
        "narrow" => narrow,
        "select" => select,
        "chunk" => chunk,
        "split" => split,
        "unbind" => unbind,
        "detach" => |machine, receiver, _| Ok(machine.alias(tensor(receiver))),
        "repeat" | "tile" => repeat,
        _ => return None,
    })
}

fn tensor(receiver: &Value) -> &Rc<Tensor> {
    match receiver {
        Value::Tensor(tensor) => tensor,
        _ => unreachable!("methods of tensors are called on tensors"),
    }
}

impl Machine {
    /// Another tensor over all of the same memory.
    pub(super) fn alias(&self, tensor: &Tensor) -> Value {
        let (shape, strides) = (tensor.shape.clone(), tensor.strides.clone());
        self.view_of(tensor, shape, strides, tensor.offset)
    }

    fn wanted_shape(&mut self, tensor: &Tensor, sizes: &[i64]) -> Result<Vec<i64>, Fault> {
        if let Some(size) = sizes.iter().find(|size| **size < -1) {
            let message = format!("invalid shape dimension {size}");
            return Err(self.raise("RuntimeError", message));
        }
        match shape::infer(sizes, tensor.numel()) {
            Some(shape) => Ok(shape),
            None => {
                let message = format!(
                    "shape '{}' is invalid for input of size {}",
                    shape::text(sizes),
                    tensor.numel()
                );
                Err(self.raise("RuntimeError", message))
            }
        }
    }

    fn reshaped(&mut self, tensor: &Rc<Tensor>, shape: Vec<i64>) -> Outcome {
        match shape::view_strides(&tensor.shape, &tensor.strides, &shape) {
            Some(strides) => Ok(self.view_of(tensor, shape, strides, tensor.offset)),
            None => self.launched(Layout {
                shape,
                dtype: tensor.dtype,
                device: tensor.device,
            }),
        }
    }
}

fn view(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    if let Some(Value::Dtype(dtype)) = args.positional.first() {
        if dtype.bytes() != tensor.dtype.bytes() {
            return Err(machine.unsupported(
                "view to a type of another size",
                "View types of the same size, or convert with .to(dtype).",
            ));
        }
        return Ok(machine.alias(tensor));
    }
    let sizes = machine.sizes(&args.positional)?;
    view_to(machine, tensor, &sizes)
}

fn view_to(machine: &mut Machine, tensor: &Rc<Tensor>, sizes: &[i64]) -> Outcome {
    let shape = machine.wanted_shape(tensor, sizes)?;
    match shape::view_strides(&tensor.shape, &tensor.strides, &shape) {
        Some(strides) => Ok(machine.view_of(tensor, shape, strides, tensor.offset)),
        None => {
            let message = "view size is not compatible with input tensor's size and stride (at \
                           least one dimension spans across two contiguous subspaces). Use \
                           .reshape(...) instead.";
            Err(machine.raise("RuntimeError", message))
        }
    }
}

fn view_as(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let other = machine.tensor_argument("view_as", args.positional.first())?;
    let sizes = other.shape.clone();
    view_to(machine, tensor(receiver), &sizes)
}

fn reshape(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let sizes = machine.sizes(&args.positional)?;
    let tensor = tensor(receiver);
    let shape = machine.wanted_shape(tensor, &sizes)?;
    machine.reshaped(tensor, shape)
}

fn flatten(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    let dims = tensor.shape.len();
    let first = args.get(0, "start_dim").cloned().unwrap_or(Value::Int(0));
    let last = args.get(1, "end_dim").cloned().unwrap_or(Value::Int(-1));
    let first = machine.dimension(&first, dims)?;
    let last = machine.dimension(&last, dims)?;
    if dims == 0 {
        return machine.reshaped(tensor, vec![1]);
    }
    if first >= last {
        return Ok(receiver.clone());
    }
    let mut shape = tensor.shape[..first].to_vec();
    shape.push(tensor.shape[first..=last].iter().product());
    shape.extend(&tensor.shape[last + 1..]);
    machine.reshaped(tensor, shape)
}

fn unsqueeze(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("unsqueeze", args, 1..=1, &["dim"])?;
    let tensor = tensor(receiver);
    let dim = args.get(0, "dim").cloned().unwrap_or(Value::Int(0));
    let dim = machine.dimension(&dim, tensor.shape.len() + 1)?;
    let (mut shape, mut strides) = (tensor.shape.clone(), tensor.strides.clone());
    let stride = match (shape.get(dim), strides.get(dim)) {
        (Some(size), Some(stride)) => size * stride,
        _ => 1,
    };
    shape.insert(dim, 1);
    strides.insert(dim, stride);
    Ok(machine.view_of(tensor, shape, strides, tensor.offset))
}

fn squeeze(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    let only = match args.get(0, "dim") {
        Some(dim) => Some(machine.dimension(dim, tensor.shape.len())?),
        None => None,
    };
    let kept = |(at, size): &(usize, &i64)| **size != 1 || only.is_some_and(|it| it != *at);
    let kept: Vec<usize> = tensor
        .shape
        .iter()
        .enumerate()
        .filter(kept)
        .map(|(at, _)| at)
        .collect();
    let shape = kept.iter().map(|at| tensor.shape[*at]).collect();
    let strides = kept.iter().map(|at| tensor.strides[*at]).collect();
    Ok(machine.view_of(tensor, shape, strides, tensor.offset))
}

fn transpose(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("transpose", args, 2..=2, &["dim0", "dim1"])?;
    let tensor = tensor(receiver);
    let dims = tensor.shape.len();
    let first = args.get(0, "dim0").cloned().unwrap_or(Value::Int(0));
    let second = args.get(1, "dim1").cloned().unwrap_or(Value::Int(1));
    let first = machine.dimension(&first, dims)?;
    let second = machine.dimension(&second, dims)?;
    Ok(machine.swapped(tensor, first, second))
}

impl Machine {
    /// Two dimensions exchanged.
    pub(super) fn swapped(&self, tensor: &Tensor, first: usize, second: usize) -> Value {
        let (mut shape, mut strides) = (tensor.shape.clone(), tensor.strides.clone());
        if first < shape.len() && second < shape.len() {
            shape.swap(first, second);
            strides.swap(first, second);
        }
        self.view_of(tensor, shape, strides, tensor.offset)
    }
}

fn t(machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    if tensor.shape.len() > 2 {
        let message = format!(
            "t() expects a tensor with <= 2 dimensions, but self is {}D",
            tensor.shape.len()
        );
        return Err(machine.raise("RuntimeError", message));
    }
    Ok(machine.swapped(tensor, 0, 1))
}

fn permute(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    let order = machine.sizes(&args.positional)?;
    let mut dims = Vec::new();
    for at in order {
        let at = machine.dimension(&Value::Int(at), tensor.shape.len())?;
        if dims.contains(&at) {
            let message = "permute(dims): duplicate dims are not allowed.";
            return Err(machine.raise("RuntimeError", message));
        }
        dims.push(at);
    }
    if dims.len() != tensor.shape.len() {
        let message = format!(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the \
             length of the desired ordering of dimensions i.e. input.dim() = {} is not equal to \
             len(dims) = {}",
            tensor.shape.len(),
            dims.len()
        );
        return Err(machine.raise("RuntimeError", message));
    }
    let shape = dims.iter().map(|at| tensor.shape[*at]).collect();
    let strides = dims.iter().map(|at| tensor.strides[*at]).collect();
    Ok(machine.view_of(tensor, shape, strides, tensor.offset))
}

fn expand(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let sizes = machine.sizes(&args.positional)?;
    expand_to(machine, tensor(receiver), &sizes)
}

fn expand_as(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let other = machine.tensor_argument("expand_as", args.positional.first())?;
    let sizes = other.shape.clone();
    expand_to(machine, tensor(receiver), &sizes)
}

fn expand_to(machine: &mut Machine, tensor: &Rc<Tensor>, sizes: &[i64]) -> Outcome {
    let Some(new) = sizes.len().checked_sub(tensor.shape.len()) else {
        let message = format!(
            "expand(torch.cuda.FloatTensor{{{}}}, size={}): the number of sizes provided ({}) \
             must be greater or equal to the number of dimensions in the tensor ({})",
            shape::text(&tensor.shape),
            shape::text(sizes),
            sizes.len(),
            tensor.shape.len()
        );
        return Err(machine.raise("RuntimeError", message));
    };
    let (mut shape, mut strides) = (Vec::new(), Vec::new());
    for (at, size) in sizes.iter().enumerate() {
        let own = at
            .checked_sub(new)
            .map(|at| (tensor.shape[at], tensor.strides[at]));
        let (own_size, own_stride) = own.unwrap_or((1, 0));
        let size = if *size == -1 { own_size } else { *size };
        if size != own_size && own_size != 1 {
            let message = format!(
                "The expanded size of the tensor ({size}) must match the existing size \
                 ({own_size}) at non-singleton dimension {at}.  Target sizes: {}.  Tensor sizes: \
                 {}",
                shape::text(sizes),
                shape::text(&tensor.shape)
            );
            return Err(machine.raise("RuntimeError", message));
        }
        shape.push(size);
        strides.push(if size == own_size && own.is_some() {
            own_stride
        } else {
            0
        });
    }
    Ok(machine.view_of(tensor, shape, strides, tensor.offset))
}

fn narrow(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("narrow", args, 3..=3, &[])?;
    let tensor = tensor(receiver);
    let dim = machine.dimension(&args.positional[0], tensor.shape.len())?;
    let start = machine.whole(&args.positional[1])?;
    let length = machine.whole(&args.positional[2])?;
    let size = tensor.shape[dim];
    if start < 0 || length < 0 || start + length > size {
        let message =
            format!("start ({start}) + length ({length}) exceeds dimension size ({size}).");
        return Err(machine.raise("RuntimeError", message));
    }
    Ok(machine.part(tensor, dim, start, length))
}

impl Machine {
    /// A range of one dimension.
    pub(super) fn part(&self, tensor: &Tensor, dim: usize, start: i64, length: i64) -> Value {
        let mut shape = tensor.shape.clone();
        shape[dim] = length;
        let offset = tensor.offset + start * tensor.strides[dim];
        self.view_of(tensor, shape, tensor.strides.clone(), offset)
    }

    /// One index of a dimension, which is gone then.
    pub(super) fn at(&self, tensor: &Tensor, dim: usize, index: i64) -> Value {
        let (mut shape, mut strides) = (tensor.shape.clone(), tensor.strides.clone());
        shape.remove(dim);
        let stride = strides.remove(dim);
        self.view_of(tensor, shape, strides, tensor.offset + index * stride)
    }

    pub(crate) fn tensor_length(&mut self, tensor: &Rc<Tensor>) -> Result<Option<usize>, Fault> {
        match tensor.shape.first() {
            Some(size) => Ok(Some(*size as usize)),
            None => Err(self.type_error("len() of a 0-d tensor")),
        }
    }

    /// `for row in tensor`: all views are made at once, as `unbind` makes them.
    pub(crate) fn iterate_tensor(&mut self, value: &Value) -> Outcome {
        let tensor = tensor(value);
        if tensor.shape.is_empty() {
            return Err(self.type_error("iteration over a 0-d tensor"));
        }
        let rows = unbind(self, value, &Args::default())?;
        self.iterate(&rows)
    }
}

fn select(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    machine.expect("select", args, 2..=2, &[])?;
    let tensor = tensor(receiver);
    let dim = machine.dimension(&args.positional[0], tensor.shape.len())?;
    let index = machine.dimension(&args.positional[1], tensor.shape[dim] as usize)?;
    Ok(machine.at(tensor, dim, index as i64))
}

/// Where `chunk` and `split` split, and how.
fn pieces(machine: &mut Machine, receiver: &Value, dim: usize, sizes: &[i64]) -> Outcome {
    let tensor = tensor(receiver);
    machine.check_size(sizes.len() as u128)?;
    let mut start = 0;
    let mut parts = Vec::new();
    for size in sizes {
        parts.push(machine.part(tensor, dim, start, *size));
        start += size;
    }
    Ok(machine.tuple(parts))
}

fn split_dim(machine: &mut Machine, receiver: &Value, args: &Args) -> Result<usize, Fault> {
    let dim = args.get(1, "dim").cloned().unwrap_or(Value::Int(0));
    machine.dimension(&dim, tensor(receiver).shape.len())
}

fn even(total: i64, size: i64) -> Vec<i64> {
    let count = if total == 0 {
        1
    } else {
        (total + size - 1) / size
    };
    (0..count).map(|at| size.min(total - at * size)).collect()
}

fn chunk(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let dim = split_dim(machine, receiver, args)?;
    let count = args.get(0, "chunks").cloned().unwrap_or(Value::None);
    let count = machine.whole(&count)?;
    if count <= 0 {
        let message = format!("chunk expects `chunks` to be greater than 0, got: {count}");
        return Err(machine.raise("RuntimeError", message));
    }
    let total = tensor(receiver).shape[dim];
    let size = ((total + count - 1) / count).max(1);
    pieces(machine, receiver, dim, &even(total, size))
}

fn split(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let dim = split_dim(machine, receiver, args)?;
    let total = tensor(receiver).shape[dim];
    let how = args.get(0, "split_size").cloned().unwrap_or(Value::None);
    let sizes = match &how {
        Value::Int(size) if *size > 0 => even(total, *size),
        Value::Int(_) => {
            let message = "split_size can only be 0 if dimension size is 0";
            return Err(machine.raise("RuntimeError", message));
        }
        other => machine.sizes(std::slice::from_ref(other))?,
    };
    if sizes.iter().sum::<i64>() != total {
        let message = format!(
            "split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size \
             at dimension {dim}), but got split_sizes={}",
            shape::text(&sizes)
        );
        return Err(machine.raise("RuntimeError", message));
    }
    pieces(machine, receiver, dim, &sizes)
}

fn unbind(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    let dim = args.get(0, "dim").cloned().unwrap_or(Value::Int(0));
    let dim = machine.dimension(&dim, tensor.shape.len())?;
    let count = tensor.shape.get(dim).copied().unwrap_or(0);
    machine.check_size(count as u128)?;
    let rows = (0..count)
        .map(|index| machine.at(tensor, dim, index))
        .collect();
    Ok(machine.tuple(rows))
}

fn repeat(machine: &mut Machine, receiver: &Value, args: &Args) -> Outcome {
    let tensor = tensor(receiver);
    let times = machine.sizes(&args.positional)?;
    if times.len() < tensor.shape.len() {
        let message = "Number of dimensions of repeat dims can not be smaller than number of \
                       dimensions of tensor";
        return Err(machine.raise("RuntimeError", message));
    }
    let new = times.len() - tensor.shape.len();
    let own = |at: usize| at.checked_sub(new).map_or(1, |at| tensor.shape[at]);
    let shape = times
        .iter()
        .enumerate()
        .map(|(at, it)| it.saturating_mul(own(at)))
        .collect();
    machine.launched(Layout {
        shape,
        dtype: tensor.dtype,
        device: tensor.device,
    })
}
