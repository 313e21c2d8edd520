//! Operators on tensors. An operator allocates its result; in place it allocates nothing. A
//! number divided by a tensor is two steps in PyTorch, with a result each.

use std::rc::Rc;

use super::dtype::{Device, Dtype, Ranks};
use super::shape;
use super::tensor::{Layout, Tensor};
use crate::script::code::{BinaryOp, CompareOp, UnaryOp};
use crate::script::machine::{Fault, Machine};
use crate::script::native::Outcome;
use crate::script::value::Value;

/// What the type of a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// That of the operands together.
    Same,
    /// The same, integers becoming floats.
    Float,
    Bool,
}

/// What an elementwise operation gives.
struct Result2 {
    shape: Vec<i64>,
    strides: Vec<i64>,
    dtype: Dtype,
    device: Device,
}

impl Machine {
    pub(crate) fn tensor_binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Outcome {
        if op == BinaryOp::MatMult {
            return Err(self.unsupported(
                "@ (a matrix product)",
                "Matrix products take workspaces that no rule gives; use elementwise arithmetic \
                 such as x * y.",
            ));
        }
        if let (BinaryOp::Div, Value::Tensor(divisor)) = (op, right)
            && !matches!(left, Value::Tensor(_))
        {
            // `Tensor.__rdiv__`: reciprocal, then times the number.
            let reciprocal =
                self.elementwise(&[&Value::Tensor(Rc::clone(divisor))], Kind::Float)?;
            return self.elementwise(&[&reciprocal, left], Kind::Same);
        }
        let kind = match op {
            BinaryOp::Div => Kind::Float,
            _ => Kind::Same,
        };
        self.elementwise(&[left, right], kind)
    }

    pub(crate) fn tensor_compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> Outcome {
        let is_operand = |value: &Value| {
            matches!(
                value,
                Value::Tensor(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)
            )
        };
        if !is_operand(left) || !is_operand(right) {
            return match op {
                CompareOp::Eq => Ok(Value::Bool(false)),
                CompareOp::Ne => Ok(Value::Bool(true)),
                _ => {
                    let (a, b) = (left.type_name(), right.type_name());
                    let message = format!(
                        "'{}' not supported between instances of '{a}' and '{b}'",
                        op.symbol()
                    );
                    Err(self.type_error(message))
                }
            };
        }
        self.elementwise(&[left, right], Kind::Bool)
    }

    pub(crate) fn tensor_unary(&mut self, op: UnaryOp, tensor: &Rc<Tensor>) -> Outcome {
        let value = Value::Tensor(Rc::clone(tensor));
        match op {
            UnaryOp::Plus => Ok(value),
            UnaryOp::Minus if tensor.dtype == Dtype::Bool => {
                let message = "Negation, the `-` operator, on a bool tensor is not supported. If \
                               you are trying to invert a mask, use the `~` or `logical_not()` \
                               operator instead.";
                Err(self.raise("RuntimeError", message))
            }
            UnaryOp::Invert if tensor.dtype.is_float() => {
                let message = "~ (operator.invert) is only implemented on integer and Boolean-type \
                               tensors";
                Err(self.type_error(message))
            }
            _ => self.elementwise(&[&value], Kind::Same),
        }
    }

    pub(crate) fn tensor_abs(&mut self, tensor: &Rc<Tensor>) -> Outcome {
        self.elementwise(&[&Value::Tensor(Rc::clone(tensor))], Kind::Same)
    }

    /// A new tensor from operands, element by element.
    pub(super) fn elementwise(&mut self, operands: &[&Value], kind: Kind) -> Outcome {
        let result = self.combine(operands, kind)?;
        let is_cuda = result.device.is_cuda();
        let layout = Layout {
            shape: result.shape,
            dtype: result.dtype,
            device: result.device,
        };
        let tensor = self.new_tensor_strided(layout, result.strides)?;
        if is_cuda {
            self.gpu.launch();
        }
        Ok(tensor)
    }

    pub(crate) fn tensor_in_place(
        &mut self,
        op: BinaryOp,
        tensor: &Rc<Tensor>,
        other: &Value,
    ) -> Outcome {
        if op == BinaryOp::MatMult {
            return self.tensor_binary(op, &Value::Tensor(Rc::clone(tensor)), other);
        }
        let kind = if op == BinaryOp::Div {
            Kind::Float
        } else {
            Kind::Same
        };
        self.write_into(tensor, &[other], kind)
    }

    /// Writes the result of an operation on a tensor into it.
    pub(super) fn write_into(
        &mut self,
        tensor: &Rc<Tensor>,
        others: &[&Value],
        kind: Kind,
    ) -> Outcome {
        let value = Value::Tensor(Rc::clone(tensor));
        let mut operands = vec![&value];
        operands.extend(others);
        let result = self.combine(&operands, kind)?;
        if result.shape != tensor.shape {
            let message = format!(
                "output with shape {} doesn't match the broadcast shape {}",
                shape::text(&tensor.shape),
                shape::text(&result.shape)
            );
            return Err(self.raise("RuntimeError", message));
        }
        if kind != Kind::Bool && !result.dtype.can_cast(tensor.dtype) {
            let message = format!(
                "result type {} can't be cast to the desired output type {}",
                result.dtype.core_name(),
                tensor.dtype.core_name()
            );
            return Err(self.raise("RuntimeError", message));
        }
        if tensor.device.is_cuda() {
            self.gpu.launch();
        }
        Ok(value)
    }

    /// Shape, type and device of a result.
    fn combine(&mut self, operands: &[&Value], kind: Kind) -> Result<Result2, Fault> {
        let mut ranks = Ranks::default();
        let mut shape: Vec<i64> = Vec::new();
        let mut device: Option<(Device, bool)> = None;
        for operand in operands {
            match operand {
                Value::Tensor(tensor) => {
                    let has_dimensions = !tensor.shape.is_empty();
                    ranks.add(usize::from(!has_dimensions), tensor.dtype);
                    shape = self.broadcast(&shape, &tensor.shape)?;
                    device = Some(self.same_device(device, tensor)?);
                }
                Value::Bool(_) => ranks.add(2, Dtype::Bool),
                Value::Int(_) | Value::Big(_) => ranks.add(2, Dtype::Int64),
                Value::Float(_) => ranks.add(2, Dtype::Float32),
                other => {
                    let name = other.type_name();
                    let message =
                        format!("unsupported operand type(s) for a tensor: 'Tensor' and '{name}'");
                    return Err(self.type_error(message));
                }
            }
        }
        let promoted = ranks.result();
        let dtype = match kind {
            Kind::Same => promoted,
            Kind::Float if promoted.is_float() => promoted,
            Kind::Float => Dtype::Float32,
            Kind::Bool => Dtype::Bool,
        };
        let strides = result_strides(operands, &shape);
        let device = device.map_or(Device::Cpu, |(device, _)| device);
        Ok(Result2 {
            shape,
            strides,
            dtype,
            device,
        })
    }

    fn broadcast(&mut self, a: &[i64], b: &[i64]) -> Result<Vec<i64>, Fault> {
        shape::broadcast(a, b).map_err(|(x, y, at)| {
            let message = format!(
                "The size of tensor a ({x}) must match the size of tensor b ({y}) at \
                 non-singleton dimension {at}"
            );
            self.raise("RuntimeError", message)
        })
    }

    /// One device for all; tensors without dimensions on the cpu go with any.
    fn same_device(
        &mut self,
        known: Option<(Device, bool)>,
        tensor: &Tensor,
    ) -> Result<(Device, bool), Fault> {
        let is_free = tensor.shape.is_empty() && tensor.device == Device::Cpu;
        match known {
            None => Ok((tensor.device, is_free)),
            Some((device, _)) if device == tensor.device => Ok((device, is_free)),
            Some((_, true)) => Ok((tensor.device, false)),
            Some((device, false)) if is_free => Ok((device, false)),
            Some((device, false)) => {
                let message = format!(
                    "Expected all tensors to be on the same device, but found at least two \
                     devices, {} and {}!",
                    Device::Cuda(Some(0)).max_text(device, tensor.device).0,
                    Device::Cuda(Some(0)).max_text(device, tensor.device).1
                );
                Err(self.raise("RuntimeError", message))
            }
        }
    }
}

impl Device {
    /// Both devices in the order of PyTorch's message.
    fn max_text(self, a: Device, b: Device) -> (String, String) {
        if a == self {
            (a.to_string(), b.to_string())
        } else {
            (b.to_string(), a.to_string())
        }
    }
}

/// The first operand of the same shape decides how the result lies in memory.
fn result_strides(operands: &[&Value], shape: &[i64]) -> Vec<i64> {
    let same = operands.iter().find_map(|operand| match operand {
        Value::Tensor(tensor) if tensor.shape == shape => Some(tensor),
        _ => None,
    });
    match same {
        Some(tensor) => tensor.like_strides(),
        None => shape::contiguous_strides(shape),
    }
}
