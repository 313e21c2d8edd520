//! Element types and what they become together, as PyTorch promotes them; devices.

use std::fmt;

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dtype {
    Bool,
    Uint8,
    Int8,
    Int16,
    Int32,
    Int64,
    Float16,
    Bfloat16,
    Float32,
    Float64,
}

impl Dtype {
    const NAMES: [(&'static str, Dtype); 16] = [
        ("bool", Self::Bool),
        ("uint8", Self::Uint8),
        ("int8", Self::Int8),
        ("int16", Self::Int16),
        ("int32", Self::Int32),
        ("int64", Self::Int64),
        ("float16", Self::Float16),
        ("bfloat16", Self::Bfloat16),
        ("float32", Self::Float32),
        ("float64", Self::Float64),
        ("half", Self::Float16),
        ("float", Self::Float32),
        ("double", Self::Float64),
        ("short", Self::Int16),
        ("int", Self::Int32),
        ("long", Self::Int64),
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, dtype)| *dtype)
    }

    pub(crate) fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, dtype)| *dtype == self);
        found.map_or("", |(name, _)| name)
    }

    /// The name in error messages of PyTorch's core.
    pub(crate) fn core_name(self) -> &'static str {
        match self {
            Self::Bool => "Bool",
            Self::Uint8 => "Byte",
            Self::Int8 => "Char",
            Self::Int16 => "Short",
            Self::Int32 => "Int",
            Self::Int64 => "Long",
            Self::Float16 => "Half",
            Self::Bfloat16 => "BFloat16",
            Self::Float32 => "Float",
            Self::Float64 => "Double",
        }
    }

    pub(crate) fn bytes(self) -> i64 {
        match self {
            Self::Bool | Self::Uint8 | Self::Int8 => 1,
            Self::Int16 | Self::Float16 | Self::Bfloat16 => 2,
            Self::Int32 | Self::Float32 => 4,
            Self::Int64 | Self::Float64 => 8,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(
            self,
            Self::Float16 | Self::Bfloat16 | Self::Float32 | Self::Float64
        )
    }

    /// 0 for bool, 1 for integers, 2 for floats.
    fn category(self) -> u8 {
        match self {
            Self::Bool => 0,
            other => 1 + u8::from(other.is_float()),
        }
    }

    /// Whether a result of this type may be written into another.
    pub(crate) fn can_cast(self, into: Self) -> bool {
        self.category() <= into.category()
    }

    /// The type that holds both.
    pub(crate) fn promote(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        match (self.category(), other.category()) {
            (2, 2) if self.bytes() == 2 && other.bytes() == 2 => Self::Float32,
            (a, b) if a > b => self,
            (a, b) if a < b => other,
            (2, 2) if self.bytes() > other.bytes() => self,
            (2, 2) => other,
            // Unsigned and signed bytes.
            _ if self.bytes() == 1 && other.bytes() == 1 => Self::Int16,
            _ if self.bytes() > other.bytes() => self,
            _ => other,
        }
    }
}

/// The types of the operands by rank: tensors with dimensions, tensors without, Python numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ranks(pub(crate) [Option<Dtype>; 3]);

impl Ranks {
    pub(crate) fn add(&mut self, rank: usize, dtype: Dtype) {
        let slot = &mut self.0[rank];
        *slot = Some(slot.map_or(dtype, |known| known.promote(dtype)));
    }

    pub(crate) fn result(self) -> Dtype {
        let [with_dimensions, without, numbers] = self.0;
        let lower = combine(without, numbers);
        combine(with_dimensions, lower).unwrap_or(Dtype::Float32)
    }
}

/// A lower rank counts only where it is of a higher category.
fn combine(higher: Option<Dtype>, lower: Option<Dtype>) -> Option<Dtype> {
    match (higher, lower) {
        (Some(higher), Some(lower)) => {
            if higher.is_float() || (higher != Dtype::Bool && !lower.is_float()) {
                Some(higher)
            } else {
                Some(higher.promote(lower))
            }
        }
        (higher, lower) => higher.or(lower),
    }
}

/// Where a tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Device {
    Cpu,
    /// `cuda`, with its index where it was given.
    Cuda(Option<u32>),
}

impl Device {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "cpu" => Some(Self::Cpu),
            "cuda" => Some(Self::Cuda(None)),
            _ => text
                .strip_prefix("cuda:")?
                .parse()
                .ok()
                .map(|it| Self::Cuda(Some(it))),
        }
    }

    pub(crate) fn is_cuda(self) -> bool {
        self != Self::Cpu
    }

    pub(crate) fn repr(self) -> String {
        match self {
            Self::Cpu => "device(type='cpu')".to_owned(),
            Self::Cuda(None) => "device(type='cuda')".to_owned(),
            Self::Cuda(Some(index)) => format!("device(type='cuda', index={index})"),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(None) => f.write_str("cuda"),
            Self::Cuda(Some(index)) => write!(f, "cuda:{index}"),
        }
    }
}
