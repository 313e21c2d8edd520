//! `x[i]`, `x[a:b]`, and writing to them. Indexing by numbers and slices makes views.

use std::rc::Rc;

use super::tensor::Tensor;
use crate::script::machine::{Fault, Machine};
use crate::script::native::Outcome;
use crate::script::value::Value;

impl Machine {
    pub(crate) fn tensor_index(&mut self, tensor: &Rc<Tensor>, index: &Value) -> Outcome {
        let indices = match index {
            Value::Tuple(tuple) => tuple.items.clone(),
            other => vec![other.clone()],
        };
        let is_none = |value: &&Value| matches!(value, Value::None);
        let is_rest = |value: &&Value| matches!(value, Value::Ellipsis);
        let used = indices.len()
            - indices.iter().filter(is_none).count()
            - indices.iter().filter(is_rest).count();
        if used > tensor.shape.len() {
            let message = if tensor.shape.is_empty() {
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or \
                 `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
                    .to_owned()
            } else {
                format!(
                    "too many indices for tensor of dimension {}",
                    tensor.shape.len()
                )
            };
            return Err(self.raise("IndexError", message));
        }
        let mut view = self.alias(tensor);
        let mut dim = 0;
        for index in &indices {
            let Value::Tensor(current) = view.clone() else {
                break;
            };
            match index {
                Value::Ellipsis => dim += tensor.shape.len() - used,
                Value::None => {
                    view = self.unsqueezed(&current, dim);
                    dim += 1;
                }
                Value::Int(at) => {
                    let at = self.row(*at, dim, current.shape[dim])?;
                    view = self.at(&current, dim, at);
                }
                Value::Slice(slice) => {
                    let cut = self.cut(slice, current.shape[dim])?;
                    if cut.step < 0 {
                        return Err(self.raise("ValueError", "step must be greater than zero"));
                    }
                    view = self.stepped(&current, dim, &cut);
                    dim += 1;
                }
                _ => {
                    return Err(self.unsupported(
                        "indexing by tensors, lists and truth values",
                        "It takes workspaces that no rule gives; index by numbers and slices.",
                    ));
                }
            }
        }
        Ok(view)
    }

    fn row(&mut self, at: i64, dim: usize, size: i64) -> Result<i64, Fault> {
        let index = if at < 0 { at + size } else { at };
        if (0..size).contains(&index) {
            return Ok(index);
        }
        let message = format!("index {at} is out of bounds for dimension {dim} with size {size}");
        Err(self.raise("IndexError", message))
    }

    fn unsqueezed(&self, tensor: &Tensor, dim: usize) -> Value {
        let (mut shape, mut strides) = (tensor.shape.clone(), tensor.strides.clone());
        let stride = match (shape.get(dim), strides.get(dim)) {
            (Some(size), Some(stride)) => size * stride,
            _ => 1,
        };
        shape.insert(dim, 1);
        strides.insert(dim, stride);
        self.view_of(tensor, shape, strides, tensor.offset)
    }

    fn stepped(&self, tensor: &Tensor, dim: usize, cut: &crate::script::machine::Cut) -> Value {
        let (mut shape, mut strides) = (tensor.shape.clone(), tensor.strides.clone());
        shape[dim] = cut.count;
        let offset = tensor.offset + cut.start * strides[dim];
        strides[dim] *= cut.step;
        self.view_of(tensor, shape, strides, offset)
    }

    /// `x[index] = value`: copied or filled in place.
    pub(crate) fn tensor_store(
        &mut self,
        tensor: &Rc<Tensor>,
        index: &Value,
        value: &Value,
    ) -> Result<(), Fault> {
        let Value::Tensor(target) = self.tensor_index(tensor, index)? else {
            return Ok(());
        };
        match value {
            Value::Tensor(source) => self.copy_into(&target, source),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Big(_) => {
                if target.device.is_cuda() {
                    self.gpu.launch();
                }
                Ok(())
            }
            other => {
                let name = other.type_name();
                let message = format!("can't assign a {name} to a torch tensor");
                Err(self.type_error(message))
            }
        }
    }
}
