//! Functions that make tensors. Each allocates its result and nothing else.

use std::rc::Rc;

use super::dtype::{Device, Dtype};
use super::shape;
use super::tensor::{Layout, Tensor};
use crate::script::builtins::table;
use crate::script::int;
use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, Native, Outcome, Table};
use crate::script::value::Value;

pub(super) const TABLE: Table = table![
    "empty" => empty, "zeros" => filled, "ones" => filled, "rand" => filled, "randn" => filled,
    "full" => full, "randint" => randint, "arange" => arange, "linspace" => linspace,
    "eye" => eye, "tensor" => tensor, "randperm" => randperm,
    "empty_like" => empty_like, "zeros_like" => filled_like, "ones_like" => filled_like,
    "rand_like" => filled_like, "randn_like" => filled_like, "full_like" => full_like,
    "cat" => cat, "concat" => cat, "concatenate" => cat, "stack" => stack,
    "manual_seed" => nothing, "no_grad" => no_grad, "inference_mode" => no_grad,
    "is_tensor" => is_tensor, "numel" => numel,
    "broadcast_shapes" => broadcast_shapes,
];

fn empty(machine: &mut Machine, args: &Args) -> Outcome {
    let layout = machine.layout("empty", args)?;
    machine.new_tensor(layout)
}

fn filled(machine: &mut Machine, args: &Args) -> Outcome {
    let layout = machine.layout("zeros", args)?;
    machine.launched(layout)
}

impl Machine {
    /// A new tensor that a kernel fills.
    pub(super) fn launched(&mut self, layout: Layout) -> Outcome {
        let is_cuda = layout.device.is_cuda();
        let tensor = self.new_tensor(layout)?;
        if is_cuda {
            self.gpu.launch();
        }
        Ok(tensor)
    }
}

fn number_dtype(value: &Value) -> Dtype {
    match value {
        Value::Bool(_) => Dtype::Bool,
        Value::Int(_) | Value::Big(_) => Dtype::Int64,
        _ => Dtype::Float32,
    }
}

fn full(machine: &mut Machine, args: &Args) -> Outcome {
    let size = args.get(0, "size").cloned().unwrap_or(Value::None);
    let fill = args.get(1, "fill_value").cloned().unwrap_or(Value::None);
    let (dtype, device) = machine.options("full", args, number_dtype(&fill), Device::Cpu)?;
    let shape = machine.sizes(&[size])?;
    machine.launched(Layout {
        shape,
        dtype,
        device,
    })
}

fn randint(machine: &mut Machine, args: &Args) -> Outcome {
    let (dtype, device) = machine.options("randint", args, Dtype::Int64, Device::Cpu)?;
    let size = args.keyword("size").or(args.positional.last());
    let size = size.cloned().unwrap_or(Value::None);
    let shape = machine.sizes(&[size])?;
    machine.launched(Layout {
        shape,
        dtype,
        device,
    })
}

fn arange(machine: &mut Machine, args: &Args) -> Outcome {
    let all_whole = args.positional.iter().all(|it| matches!(it, Value::Int(_)));
    let default = if all_whole {
        Dtype::Int64
    } else {
        Dtype::Float32
    };
    let (dtype, device) = machine.options("arange", args, default, Device::Cpu)?;
    let mut numbers = Vec::new();
    for value in &args.positional {
        match int::float(value) {
            Some(number) => numbers.push(number),
            None => return Err(machine.type_error("arange(): arguments must be numbers")),
        }
    }
    let (start, end, step) = match *numbers.as_slice() {
        [end] => (0.0, end, 1.0),
        [start, end] => (start, end, 1.0),
        [start, end, step] => (start, end, step),
        _ => return Err(machine.type_error("arange() takes one to three numbers")),
    };
    let count = ((end - start) / step).ceil();
    if step == 0.0 || count < 0.0 || !count.is_finite() {
        let message = "upper bound and lower bound inconsistent with step sign";
        return Err(machine.raise("RuntimeError", message));
    }
    machine.launched(Layout {
        shape: vec![count as i64],
        dtype,
        device,
    })
}

fn linspace(machine: &mut Machine, args: &Args) -> Outcome {
    let (dtype, device) = machine.options("linspace", args, Dtype::Float32, Device::Cpu)?;
    let steps = args.get(2, "steps").cloned().unwrap_or(Value::Int(100));
    let shape = machine.sizes(&[steps])?;
    machine.launched(Layout {
        shape,
        dtype,
        device,
    })
}

fn eye(machine: &mut Machine, args: &Args) -> Outcome {
    let mut layout = machine.layout("eye", args)?;
    if let [size] = *layout.shape {
        layout.shape.push(size);
    }
    machine.launched(layout)
}

fn randperm(machine: &mut Machine, args: &Args) -> Outcome {
    let (_, device) = machine.options("randperm", args, Dtype::Int64, Device::Cpu)?;
    if device.is_cuda() {
        return Err(machine.unsupported(
            "torch.randperm on cuda",
            "It sorts, with a workspace that no rule gives; make it on the cpu and move it.",
        ));
    }
    let mut layout = machine.layout("randperm", args)?;
    layout.dtype = Dtype::Int64;
    machine.new_tensor(layout)
}

/// `torch.tensor(data)`: the values are dropped, shape and type are kept.
fn tensor(machine: &mut Machine, args: &Args) -> Outcome {
    let data = args.get(0, "data").cloned().unwrap_or(Value::None);
    let mut shape = Vec::new();
    let mut dtype = None;
    measure(machine, &data, 0, &mut shape, &mut dtype)?;
    let default = dtype.unwrap_or(Dtype::Float32);
    let (dtype, device) = machine.options("tensor", args, default, Device::Cpu)?;
    machine.launched(Layout {
        shape,
        dtype,
        device,
    })
}

fn measure(
    machine: &mut Machine,
    data: &Value,
    depth: usize,
    shape: &mut Vec<i64>,
    dtype: &mut Option<Dtype>,
) -> Result<(), Fault> {
    match data {
        Value::List(_) | Value::Tuple(_) if depth < 8 => {
            let items = machine.collect(data)?;
            if shape.len() == depth {
                shape.push(items.len() as i64);
            } else if shape[depth] != items.len() as i64 {
                let message = format!(
                    "expected sequence of length {} at dim {depth} (got {})",
                    shape[depth],
                    items.len()
                );
                return Err(machine.raise("ValueError", message));
            }
            machine.count_work(items.len() as u64)?;
            items
                .iter()
                .try_for_each(|item| measure(machine, item, depth + 1, shape, dtype))
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            let own = number_dtype(data);
            *dtype = Some(dtype.map_or(own, |known| known.promote(own)));
            Ok(())
        }
        other => {
            let name = other.type_name();
            Err(machine.unsupported(
                format!("torch.tensor of {name}"),
                "Give numbers and lists of numbers.",
            ))
        }
    }
}

/// Layout and strides of a tensor like another.
fn like(machine: &mut Machine, function: &str, args: &Args) -> Result<(Layout, Vec<i64>), Fault> {
    let other = Rc::clone(machine.tensor_argument(function, args.positional.first())?);
    let (dtype, device) = machine.options(function, args, other.dtype, other.device)?;
    let layout = Layout {
        shape: other.shape.clone(),
        dtype,
        device,
    };
    Ok((layout, other.like_strides()))
}

fn empty_like(machine: &mut Machine, args: &Args) -> Outcome {
    let (layout, strides) = like(machine, "empty_like", args)?;
    machine.new_tensor_strided(layout, strides)
}

fn filled_like(machine: &mut Machine, args: &Args) -> Outcome {
    let (layout, strides) = like(machine, "zeros_like", args)?;
    let is_cuda = layout.device.is_cuda();
    let tensor = machine.new_tensor_strided(layout, strides)?;
    if is_cuda {
        machine.gpu.launch();
    }
    Ok(tensor)
}

fn full_like(machine: &mut Machine, args: &Args) -> Outcome {
    filled_like(machine, args)
}

fn tensors(machine: &mut Machine, function: &str, args: &Args) -> Result<Vec<Rc<Tensor>>, Fault> {
    let list = args.get(0, "tensors").cloned().unwrap_or(Value::None);
    let mut tensors = Vec::new();
    for item in machine.collect(&list)? {
        tensors.push(Rc::clone(machine.tensor_argument(function, Some(&item))?));
    }
    if tensors.is_empty() {
        let message = match function {
            "stack" => "stack expects a non-empty TensorList",
            _ => "torch.cat(): expected a non-empty list of Tensors",
        };
        return Err(machine.raise("RuntimeError", message));
    }
    Ok(tensors)
}

/// One type and one device for all.
fn common(machine: &mut Machine, tensors: &[Rc<Tensor>]) -> Result<(Dtype, Device), Fault> {
    let first = &tensors[0];
    let mut dtype = first.dtype;
    for tensor in tensors {
        dtype = dtype.promote(tensor.dtype);
        if tensor.device != first.device {
            let message = format!(
                "Expected all tensors to be on the same device, but got tensors is on {}, \
                 different from other tensors on {} (when checking argument in method \
                 wrapper_CUDA_cat)",
                tensor.device, first.device
            );
            return Err(machine.raise("RuntimeError", message));
        }
    }
    Ok((dtype, first.device))
}

fn cat(machine: &mut Machine, args: &Args) -> Outcome {
    let tensors = tensors(machine, "cat", args)?;
    let (dtype, device) = common(machine, &tensors)?;
    // Tensors of shape [0] are skipped.
    let is_real = |tensor: &&Rc<Tensor>| tensor.shape != [0];
    let Some(first) = tensors.iter().find(is_real) else {
        return machine.launched(Layout {
            shape: vec![0],
            dtype,
            device,
        });
    };
    let zero = Value::Int(0);
    let dim = args.get(1, "dim").unwrap_or(&zero);
    if first.shape.is_empty() {
        let message = "zero-dimensional tensor (at position 0) cannot be concatenated";
        return Err(machine.raise("RuntimeError", message));
    }
    let dim = machine.dimension(dim, first.shape.len())?;
    let mut shape = first.shape.clone();
    shape[dim] = 0;
    for (number, tensor) in tensors.iter().enumerate().filter(|(_, it)| is_real(it)) {
        if tensor.shape.len() != shape.len() {
            let message = format!(
                "Tensors must have same number of dimensions: got {} and {}",
                shape.len(),
                tensor.shape.len()
            );
            return Err(machine.raise("RuntimeError", message));
        }
        for (at, size) in tensor.shape.iter().enumerate() {
            if at != dim && *size != shape[at] {
                let message = format!(
                    "Sizes of tensors must match except in dimension {dim}. Expected size {} but \
                     got size {size} for tensor number {number} in the list.",
                    shape[at]
                );
                return Err(machine.raise("RuntimeError", message));
            }
        }
        shape[dim] += tensor.shape[dim];
    }
    machine.launched(Layout {
        shape,
        dtype,
        device,
    })
}

fn stack(machine: &mut Machine, args: &Args) -> Outcome {
    let tensors = tensors(machine, "stack", args)?;
    let (dtype, device) = common(machine, &tensors)?;
    let mut shape = tensors[0].shape.clone();
    for (number, tensor) in tensors.iter().enumerate() {
        if tensor.shape != shape {
            let message = format!(
                "stack expects each tensor to be equal size, but got {} at entry 0 and {} at \
                 entry {number}",
                shape::text(&shape),
                shape::text(&tensor.shape)
            );
            return Err(machine.raise("RuntimeError", message));
        }
    }
    let zero = Value::Int(0);
    let dim = args.get(1, "dim").unwrap_or(&zero);
    let dim = machine.dimension(dim, shape.len() + 1)?;
    shape.insert(dim, tensors.len() as i64);
    machine.launched(Layout {
        shape,
        dtype,
        device,
    })
}

fn nothing(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::None)
}

fn no_grad(machine: &mut Machine, _args: &Args) -> Outcome {
    let context = machine.heap.track(super::Context::Nothing);
    Ok(Value::Context(context))
}

fn is_tensor(_machine: &mut Machine, args: &Args) -> Outcome {
    let first = args.positional.first();
    Ok(Value::Bool(matches!(first, Some(Value::Tensor(_)))))
}

fn numel(machine: &mut Machine, args: &Args) -> Outcome {
    let tensor = machine.tensor_argument("numel", args.positional.first())?;
    Ok(Value::Int(tensor.numel()))
}

fn broadcast_shapes(machine: &mut Machine, args: &Args) -> Outcome {
    let mut result = Vec::new();
    for value in &args.positional {
        let sizes = machine.sizes(std::slice::from_ref(value))?;
        result = match shape::broadcast(&result, &sizes) {
            Ok(shape) => shape,
            Err(_) => {
                let message = "Shape mismatch: objects cannot be broadcast to a single shape";
                return Err(machine.raise("RuntimeError", message));
            }
        };
    }
    Ok(machine.size(&result))
}
