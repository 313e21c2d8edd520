//! Functions and types that are ours, not the script's.

use std::rc::Rc;

use super::machine::{Fault, Machine};
use super::value::Value;

/// Arguments of a call. They belong to the caller and are let go of when the call has ended.
#[derive(Debug, Default)]
pub(super) struct Args {
    pub(super) positional: Vec<Value>,
    pub(super) keywords: Vec<(Rc<str>, Value)>,
}

pub(super) type Outcome = Result<Value, Fault>;
pub(super) type NativeFn = fn(&mut Machine, &Args) -> Outcome;
pub(super) type MethodFn = fn(&mut Machine, &Value, &Args) -> Outcome;

/// A function.
pub(super) struct Native {
    pub(super) name: &'static str,
    pub(super) call: NativeFn,
}

/// A table of functions: what a module offers.
pub(super) type Table = &'static [Native];

/// Finds a function by its name.
pub(super) fn find(table: Table, name: &str) -> Option<Value> {
    let found = table.iter().find(|native| native.name == name);
    found.map(Value::Native)
}

macro_rules! native_types {
    ($($variant:ident $name:literal),* $(,)?) => {
        /// Classes of the values that are not instances of a script's classes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum NativeType { $($variant),* }

        impl NativeType {
            const ALL: &'static [NativeType] = &[$(NativeType::$variant),*];

            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

native_types! {
    Object "object", Type "type", NoneType "NoneType", NotImplementedType "NotImplementedType",
    Ellipsis "ellipsis", Bool "bool", Int "int", Float "float", Str "str", Tuple "tuple",
    List "list", Dict "dict", Set "set", Range "range", Slice "slice", Iterator "iterator",
    Generator "generator", Function "function", Method "method",
    Builtin "builtin_function_or_method", Property "property", StaticMethod "staticmethod",
    ClassMethod "classmethod", Traceback "traceback", Cell "cell", Module "module",
    Environ "_Environ", Properties "_CudaDeviceProperties", Tensor "Tensor", Size "Size",
    Storage "UntypedStorage", Dtype "dtype", Device "device", Stream "Stream", Pool "MemPool",
    Context "context manager", Super "super",
}

impl NativeType {
    /// The class of a value; `Object` for instances of a script's classes.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null | Value::Instance(_) | Value::Exception(_) => Self::Object,
            Value::None => Self::NoneType,
            Value::NotImplemented => Self::NotImplementedType,
            Value::Ellipsis => Self::Ellipsis,
            Value::Bool(_) => Self::Bool,
            Value::Int(_) | Value::Big(_) => Self::Int,
            Value::Float(_) => Self::Float,
            Value::Text(_) => Self::Str,
            Value::Tuple(tuple) if tuple.is_size => Self::Size,
            Value::Tuple(_) => Self::Tuple,
            Value::List(_) => Self::List,
            Value::Dict(_) => Self::Dict,
            Value::Set(_) => Self::Set,
            Value::Range(_) => Self::Range,
            Value::Slice(_) => Self::Slice,
            Value::Iter(_) => Self::Iterator,
            Value::Generator(_) => Self::Generator,
            Value::Function(_) => Self::Function,
            Value::Method(_) => Self::Method,
            Value::Super(_) => Self::Super,
            Value::Native(_) | Value::NativeMethod(_) | Value::BoundNative(_) => Self::Builtin,
            Value::Type(_) | Value::Class(_) => Self::Type,
            Value::Wrapped(_) => Self::Property,
            Value::Traceback(_) => Self::Traceback,
            Value::Cell(_) => Self::Cell,
            Value::Module(_) => Self::Module,
            Value::Environ => Self::Environ,
            Value::Properties => Self::Properties,
            Value::Tensor(_) => Self::Tensor,
            Value::Storage(_) => Self::Storage,
            Value::Dtype(_) => Self::Dtype,
            Value::Device(_) => Self::Device,
            Value::Stream(_) => Self::Stream,
            Value::Pool(_) => Self::Pool,
            Value::Context(_) => Self::Context,
        }
    }

    /// Whether values of this class are values of the other too.
    pub(super) fn is_a(self, other: Self) -> bool {
        self == other
            || other == Self::Object
            || matches!(
                (self, other),
                (Self::Bool, Self::Int) | (Self::Size, Self::Tuple)
            )
    }

    /// The class of that name, where scripts may name it.
    pub(super) fn named(name: &str) -> Option<Self> {
        let public = [
            Self::Object,
            Self::Type,
            Self::Bool,
            Self::Int,
            Self::Float,
            Self::Str,
            Self::Tuple,
            Self::List,
            Self::Dict,
            Self::Set,
            Self::Range,
            Self::Slice,
            Self::Property,
            Self::StaticMethod,
            Self::ClassMethod,
        ];
        let mut all = Self::ALL.iter().copied();
        all.find(|kind| kind.name() == name && public.contains(kind))
    }

    /// The name with its module, as `repr` prints it.
    pub(super) fn full_name(self) -> String {
        match self {
            Self::Tensor | Self::Size | Self::Dtype | Self::Device => {
                format!("torch.{}", self.name())
            }
            Self::Stream => "torch.cuda.streams.Stream".to_owned(),
            Self::Pool => "torch.cuda.memory.MemPool".to_owned(),
            _ => self.name().to_owned(),
        }
    }
}
