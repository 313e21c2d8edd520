//! Arguments that PyTorch's functions share: sizes, types, devices.

use super::dtype::{Device, Dtype};
use super::tensor::Layout;
use crate::script::machine::{Fault, Machine};
use crate::script::native::Args;
use crate::script::value::Value;

/// Keywords of the functions that make tensors.
pub(super) const OPTIONS: [&str; 9] = [
    "dtype",
    "device",
    "size",
    "requires_grad",
    "pin_memory",
    "layout",
    "memory_format",
    "generator",
    "out",
];

impl Machine {
    /// A device as text, number or `torch.device`.
    pub(super) fn device(&mut self, value: &Value) -> Result<Device, Fault> {
        let device = match value {
            Value::Device(device) => Some(*device),
            Value::Text(text) => Device::parse(text),
            Value::Int(index) => u32::try_from(*index).ok().map(|it| Device::Cuda(Some(it))),
            _ => None,
        };
        match device {
            Some(device) => Ok(device),
            None => {
                let shown = self.str(value)?;
                Err(self.unsupported(
                    format!("the device {shown}"),
                    "Devices are \"cuda\" and \"cpu\".",
                ))
            }
        }
    }

    /// Sizes given one by one or as one list, tuple or `torch.Size`.
    pub(super) fn sizes(&mut self, values: &[Value]) -> Result<Vec<i64>, Fault> {
        let items = match values {
            [list @ (Value::List(_) | Value::Tuple(_))] => self.collect(list)?,
            several => several.to_vec(),
        };
        let mut sizes = Vec::with_capacity(items.len());
        for item in &items {
            sizes.push(self.whole(item)?);
        }
        self.check_size(sizes.len() as u128 * 1000)?;
        Ok(sizes)
    }

    /// `dtype=` and `device=`, and refusal of what is outside.
    pub(super) fn options(
        &mut self,
        function: &str,
        args: &Args,
        default: Dtype,
        device: Device,
    ) -> Result<(Dtype, Device), Fault> {
        self.check_options(function, args)?;
        let dtype = match args.keyword("dtype") {
            Some(Value::Dtype(dtype)) => *dtype,
            None | Some(Value::None) => default,
            Some(other) => {
                let name = other.type_name();
                let message =
                    format!("{function}(): argument 'dtype' must be torch.dtype, not {name}");
                return Err(self.type_error(message));
            }
        };
        let device = match args.keyword("device") {
            None | Some(Value::None) => device,
            Some(value) => self.device(value)?,
        };
        Ok((dtype, device))
    }

    fn check_options(&mut self, function: &str, args: &Args) -> Result<(), Fault> {
        for (name, value) in &args.keywords {
            let is_off = matches!(value, Value::None | Value::Bool(false));
            match &**name {
                "requires_grad" if !is_off => {
                    return Err(self.unsupported(
                        "requires_grad=True",
                        "There are no gradients; record a whole model on a GPU and open the \
                         recording.",
                    ));
                }
                "out" | "layout" | "memory_format" | "generator" | "pin_memory" if !is_off => {
                    return Err(self.unsupported(
                        format!("{name}= of torch.{function}"),
                        "Give sizes, dtype= and device=.",
                    ));
                }
                known if OPTIONS.contains(&known) => {}
                "fill_value" | "low" | "high" | "start" | "end" | "step" | "steps" => {}
                unknown => {
                    let message =
                        format!("{function}() got an unexpected keyword argument '{unknown}'");
                    return Err(self.type_error(message));
                }
            }
        }
        Ok(())
    }

    /// The layout that `torch.empty(2, 3, dtype=…, device=…)` and its like ask for.
    pub(super) fn layout(&mut self, function: &str, args: &Args) -> Result<Layout, Fault> {
        let (dtype, device) = self.options(function, args, Dtype::Float32, Device::Cpu)?;
        let shape = match args.keyword("size") {
            Some(size) => self.sizes(std::slice::from_ref(size))?,
            None => self.sizes(&args.positional)?,
        };
        Ok(Layout {
            shape,
            dtype,
            device,
        })
    }

    /// A dimension, counted from the end where negative.
    pub(super) fn dimension(&mut self, value: &Value, dims: usize) -> Result<usize, Fault> {
        let at = self.whole(value)?;
        let dims = dims.max(1) as i64;
        if !(-dims..dims).contains(&at) {
            let message = format!(
                "Dimension out of range (expected to be in range of [{}, {}], but got {at})",
                -dims,
                dims - 1
            );
            return Err(self.raise("IndexError", message));
        }
        Ok(if at < 0 { at + dims } else { at } as usize)
    }

    pub(super) fn tensor_argument<'a>(
        &mut self,
        function: &str,
        value: Option<&'a Value>,
    ) -> Result<&'a std::rc::Rc<super::Tensor>, Fault> {
        match value {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            Some(other) => {
                let name = other.type_name();
                let message = format!(
                    "{function}(): argument 'input' (position 1) must be Tensor, not {name}"
                );
                Err(self.type_error(message))
            }
            None => {
                let message =
                    format!("{function}() missing 1 required positional arguments: \"input\"");
                Err(self.type_error(message))
            }
        }
    }
}
