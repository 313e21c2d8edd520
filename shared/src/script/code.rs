//! What Python is lowered to: instructions for a stack machine, close to CPython's own, so that
//! every value is let go of at the same point.

use std::rc::Rc;

use super::value::Value;

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Add,
    Sub,
    Mult,
    MatMult,
    Div,
    Mod,
    Pow,
    LShift,
    RShift,
    BitOr,
    BitXor,
    BitAnd,
    FloorDiv,
}

impl BinaryOp {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mult => "*",
            Self::MatMult => "@",
            Self::Div => "/",
            Self::Mod => "%",
            Self::Pow => "**",
            Self::LShift => "<<",
            Self::RShift => ">>",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::BitAnd => "&",
            Self::FloorDiv => "//",
        }
    }

    /// Name of the special method, without underscores.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mult => "mul",
            Self::MatMult => "matmul",
            Self::Div => "truediv",
            Self::Mod => "mod",
            Self::Pow => "pow",
            Self::LShift => "lshift",
            Self::RShift => "rshift",
            Self::BitOr => "or",
            Self::BitXor => "xor",
            Self::BitAnd => "and",
            Self::FloorDiv => "floordiv",
        }
    }
}

/// An operator on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOp {
    Invert,
    Not,
    Plus,
    Minus,
}

/// A comparison that gives a value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CompareOp {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Eq => "__eq__",
            Self::Ne => "__ne__",
            Self::Lt => "__lt__",
            Self::Le => "__le__",
            Self::Gt => "__gt__",
            Self::Ge => "__ge__",
        }
    }

    /// The comparison with its sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same => same,
        }
    }
}

/// How a value of an f-string becomes text before it is formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    None,
    Str,
    Repr,
    Ascii,
}

/// One instruction. Numbers index the tables of its [`Code`], `Target`s its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// A statement of that line begins: where stepping stops.
    Line(u32),
    Const(u32),
    Null,
    Pop,
    /// Pushes the n-th value from the top again; 1 is the top.
    Copy(u8),
    /// Exchanges the top with the n-th value from the top.
    Swap(u8),
    LoadName(u32),
    StoreName(u32),
    DeleteName(u32),
    LoadGlobal(u32),
    StoreGlobal(u32),
    DeleteGlobal(u32),
    LoadLocal(u32),
    StoreLocal(u32),
    DeleteLocal(u32),
    /// Cells: variables shared between functions. Below the code's count of locals the number is
    /// a parameter that is a cell, above it one of the cells behind the locals.
    LoadCell(u32),
    StoreCell(u32),
    DeleteCell(u32),
    /// Pushes the cell itself, for a function that is about to be made.
    LoadClosure(u32),
    Unary(UnaryOp),
    Binary(BinaryOp),
    InPlace(BinaryOp),
    Compare(CompareOp),
    Is(bool),
    In(bool),
    Subscript,
    StoreSubscript,
    DeleteSubscript,
    LoadAttribute(u32),
    StoreAttribute(u32),
    DeleteAttribute(u32),
    /// Pushes what `Call` expects below its arguments: a method and its receiver.
    LoadMethod(u32),
    LoadSuper,
    Call {
        positional: u16,
        keywords: u16,
    },
    /// Arguments as a list and, if `true`, keywords as a dict.
    CallSpread(bool),
    BuildList(u32),
    BuildTuple(u32),
    BuildSet(u32),
    BuildDict(u32),
    BuildText(u32),
    BuildSlice(bool),
    ListToTuple,
    /// The container lies n below the popped value.
    ListAppend(u8),
    SetAdd(u8),
    DictAdd(u8),
    ListExtend(u8),
    SetUpdate(u8),
    DictUpdate(u8),
    /// Keywords of a call: names may not repeat.
    DictMerge(u8),
    Format {
        conversion: Conversion,
        spec: bool,
    },
    Unpack(u32),
    UnpackRest {
        before: u32,
        after: u32,
    },
    Jump(u32),
    JumpIfFalse(u32),
    JumpIfTrue(u32),
    /// Jumps and keeps the value, or drops it.
    JumpIfFalseOrPop(u32),
    JumpIfTrueOrPop(u32),
    Iterate,
    /// Pushes the next item, or drops the iterator and jumps.
    Next(u32),
    MakeFunction {
        code: u32,
        defaults: u16,
        keyword_defaults: u16,
        closure: bool,
    },
    MakeClass {
        name: u32,
        bases: u16,
        code: u32,
        closure: bool,
    },
    Import(u32),
    ImportFrom(u32),
    Return,
    Yield,
    Raise {
        exception: bool,
        cause: bool,
    },
    /// Raises the exception on the stack again, without a new entry in its traceback.
    Reraise,
    /// Exceptions until the matching `PopBlock` are handled at the target.
    PushBlock(u32),
    /// The same, where the value on top of the stack does not survive the exception.
    PushBlockBelow(u32),
    PopBlock,
    /// The exception on the stack is being handled from here on.
    PushHandled,
    PopHandled,
    /// Pops a class or tuple of classes and pushes whether the exception below is one.
    Matches,
    EnterWith,
    /// Calls the exit function below the handled exception with it; pushes whether it swallowed
    /// the exception.
    ExitWith,
    /// A generator begins: its arguments are bound.
    StartGenerator,
    AssertionError,
}

/// Parameters of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters {
    /// All names, in the order of their slots: positional, keyword only, `*args`, `**kwargs`.
    pub(super) names: Vec<Rc<str>>,
    pub(super) positional: usize,
    pub(super) positional_only: usize,
    pub(super) keyword_only: usize,
    pub(super) rest: bool,
    pub(super) rest_keywords: bool,
}

/// What kind of block a code object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeKind {
    Module,
    Function,
    Class,
    /// List, set and dict comprehensions: part of their function in tracebacks.
    Comprehension,
    Generator,
}

/// A block of instructions: the module, a function, a class body or a comprehension.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) name: Rc<str>,
    pub(super) kind: CodeKind,
    pub(super) ops: Vec<Op>,
    /// Byte range in the source of what each instruction came from.
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) constants: Vec<Value>,
    pub(super) names: Vec<Rc<str>>,
    /// Keyword names of calls, by `Op::Call::keywords` less one.
    pub(super) keywords: Vec<Rc<[Rc<str>]>>,
    pub(super) codes: Vec<Rc<Code>>,
    pub(super) parameters: Parameters,
    pub(super) locals: Vec<Rc<str>>,
    /// Parameters that functions inside use too.
    pub(super) cell_parameters: Vec<u32>,
    /// Cells behind the locals: own variables, then those of the enclosing functions.
    pub(super) cells: Vec<Rc<str>>,
    pub(super) own_cells: usize,
}
