//! Python's values. A value that Python shares is an `Rc`: cloning it is taking a reference, and
//! dropping it letting go of one, so that the count is CPython's.

use std::cell::{Cell as Slot, RefCell};
use std::rc::{Rc, Weak};

use indexmap::IndexMap;
use num_bigint::BigInt;
use rustc_hash::FxBuildHasher;

use super::code::Code;
use super::dict::Dict;
use super::heap::{Node, NodeId, dispose, id_of};
use super::iterator::Iter;
use super::machine::{Generator, Machine};
use super::native::{MethodFn, Native, NativeType};
use super::torch::{Context, Device, Dtype, Pool, Storage, StreamObject, Tensor};

/// Names and what they stand for, in the order in which they came.
pub(super) type Names = IndexMap<Rc<str>, Value, FxBuildHasher>;

#[derive(Clone)]
pub(super) enum Value {
    /// No value at all: the place of a receiver in a call without one.
    Null,
    None,
    NotImplemented,
    Ellipsis,
    Bool(bool),
    Int(i64),
    /// Integers that do not fit into `Int`.
    Big(Rc<BigInt>),
    Float(f64),
    Text(Rc<str>),
    Tuple(Rc<Tuple>),
    List(Rc<List>),
    Dict(Rc<Dict>),
    /// A set is a dict without values.
    Set(Rc<Dict>),
    Range(Rc<Range>),
    Slice(Rc<Slice>),
    Iter(Rc<Iter>),
    Generator(Rc<Generator>),
    Function(Rc<Function>),
    Method(Rc<Method>),
    /// `super()`: the class after which to search, and the receiver.
    Super(Rc<(Rc<Class>, Value)>),
    Native(&'static Native),
    /// A method of a native type without its receiver.
    NativeMethod(MethodFn),
    /// The same with its receiver.
    BoundNative(Rc<BoundNative>),
    Type(NativeType),
    Class(Rc<Class>),
    Instance(Rc<Instance>),
    /// `staticmethod`, `classmethod` and `property` objects.
    Wrapped(Rc<Wrapped>),
    Exception(Rc<Exception>),
    Traceback(Rc<Traceback>),
    Cell(Rc<VarCell>),
    Module(&'static str),
    Environ,
    /// `torch.cuda.get_device_properties()`.
    Properties,
    Tensor(Rc<Tensor>),
    Storage(Rc<Storage>),
    Dtype(Dtype),
    Device(Device),
    Stream(Rc<StreamObject>),
    Pool(Rc<Pool>),
    Context(Rc<Context>),
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{}>", self.type_name())
    }
}

pub(super) struct Tuple {
    pub(super) items: Vec<Value>,
    /// Whether it is a `torch.Size`.
    pub(super) is_size: bool,
}

pub(super) struct List {
    pub(super) items: RefCell<Vec<Value>>,
}

#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) start: i64,
    pub(super) stop: i64,
    pub(super) step: i64,
}

pub(super) struct Slice {
    pub(super) start: Value,
    pub(super) stop: Value,
    pub(super) step: Value,
}

/// A variable shared between functions.
#[derive(Default)]
pub(super) struct VarCell {
    pub(super) value: RefCell<Option<Value>>,
}

pub(super) struct Function {
    pub(super) code: Rc<Code>,
    pub(super) defaults: RefCell<Vec<Value>>,
    pub(super) keyword_defaults: RefCell<Vec<(Rc<str>, Value)>>,
    pub(super) closure: RefCell<Vec<Rc<VarCell>>>,
    /// Class in whose body it stands, for `super()`.
    pub(super) owner: RefCell<Weak<Class>>,
}

pub(super) struct Method {
    pub(super) function: Value,
    pub(super) receiver: Value,
}

pub(super) struct BoundNative {
    pub(super) receiver: Value,
    pub(super) call: MethodFn,
}

pub(super) struct Class {
    pub(super) name: Rc<str>,
    /// Of an exception class; its instances are `Value::Exception`.
    pub(super) is_exception: bool,
    /// What Python prints before the name (`torch.`).
    pub(super) module: &'static str,
    /// Itself, then the classes to search after it.
    pub(super) bases: RefCell<Vec<Rc<Class>>>,
    pub(super) attributes: RefCell<Names>,
}

pub(super) struct Instance {
    pub(super) class: Rc<Class>,
    pub(super) attributes: RefCell<Names>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapping {
    Static,
    Class,
    Property,
}

pub(super) struct Wrapped {
    pub(super) wrapping: Wrapping,
    pub(super) function: Value,
}

/// Fields are let go of in this order, as in CPython.
pub(super) struct Exception {
    pub(super) class: Rc<Class>,
    pub(super) attributes: RefCell<Names>,
    pub(super) args: RefCell<Vec<Value>>,
    pub(super) traceback: RefCell<Option<Rc<Traceback>>>,
    pub(super) cause: RefCell<Option<Value>>,
    pub(super) context: RefCell<Option<Rc<Exception>>>,
    /// Where it was raised first, as a range of the source.
    pub(super) raised_at: Slot<Option<(u32, u32)>>,
}

pub(super) struct Traceback {
    pub(super) next: RefCell<Option<Rc<Traceback>>>,
    pub(super) frame: RefCell<Option<Rc<Frame>>>,
    pub(super) line: u32,
}

/// The variables of one call. Let go of in the order of their slots, then cells, then function.
pub(super) struct Frame {
    pub(super) locals: RefCell<Vec<Option<Value>>>,
    pub(super) cells: RefCell<Vec<Rc<VarCell>>>,
    /// Names of a class body.
    pub(super) names: RefCell<Names>,
    pub(super) function: RefCell<Option<Rc<Function>>>,
    pub(super) code: Rc<Code>,
}

impl Drop for Tuple {
    fn drop(&mut self) {
        let items = std::mem::take(&mut self.items);
        drop_backwards(items);
    }
}

impl Drop for List {
    fn drop(&mut self) {
        let items = std::mem::take(self.items.get_mut());
        drop_backwards(items);
    }
}

/// Lists and tuples let go of their last item first.
pub(super) fn drop_backwards(items: Vec<Value>) {
    if items.iter().any(|item| item.node_id().is_some()) {
        dispose(move || items.into_iter().rev().for_each(drop));
    }
}

/// Defaults and closure are tuples in CPython: they let go of their last item first.
impl Drop for Function {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let attributes = std::mem::take(self.attributes.get_mut());
        if !attributes.is_empty() {
            dispose(move || drop(attributes));
        }
    }
}

impl Drop for Exception {
    fn drop(&mut self) {
        let context = self.context.get_mut().take();
        let parts = (
            std::mem::take(self.attributes.get_mut()),
            std::mem::take(self.args.get_mut()),
            self.traceback.get_mut().take(),
            self.cause.get_mut().take(),
        );
        dispose(move || {
            drop(parts);
            drop(context);
        });
    }
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(Rc::from(text))
    }

    /// Identity of the container behind the value, if it is one that the collector knows.
    pub(super) fn node_id(&self) -> Option<NodeId> {
        Some(match self {
            Self::Tuple(it) => id_of(it),
            Self::List(it) => id_of(it),
            Self::Dict(it) | Self::Set(it) => id_of(it),
            Self::Slice(it) => id_of(it),
            Self::Iter(it) => id_of(it),
            Self::Generator(it) => id_of(it),
            Self::Function(it) => id_of(it),
            Self::Method(it) => id_of(it),
            Self::BoundNative(it) => id_of(it),
            Self::Class(it) => id_of(it),
            Self::Instance(it) => id_of(it),
            Self::Wrapped(it) => id_of(it),
            Self::Exception(it) => id_of(it),
            Self::Traceback(it) => id_of(it),
            Self::Cell(it) => id_of(it),
            Self::Tensor(it) => id_of(it),
            Self::Storage(it) => id_of(it),
            Self::Pool(it) => id_of(it),
            Self::Context(it) => id_of(it),
            _ => return None,
        })
    }

    /// Identity as `is` and `id()` see it; equal for equal small values.
    pub(super) fn identity(&self) -> usize {
        match self {
            Self::Big(it) => id_of(it),
            Self::Text(it) => id_of(it),
            Self::Range(it) => id_of(it),
            Self::Stream(it) => id_of(it),
            Self::Native(it) => std::ptr::from_ref(*it).addr(),
            Self::Int(it) => (it.cast_unsigned() as usize)
                .wrapping_mul(32)
                .wrapping_add(8),
            Self::Bool(it) => 16 + usize::from(*it) * 32,
            Self::None => 24,
            other => other.node_id().unwrap_or(0),
        }
    }

    /// Whether `a is b`.
    pub(super) fn is(&self, other: &Self) -> bool {
        if let (Some(a), Some(b)) = (self.node_id(), other.node_id()) {
            return a == b;
        }
        match (self, other) {
            (Self::None, Self::None)
            | (Self::Ellipsis, Self::Ellipsis)
            | (Self::Environ, Self::Environ)
            | (Self::NotImplemented, Self::NotImplemented) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Big(a), Self::Big(b)) => Rc::ptr_eq(a, b),
            (Self::Stream(a), Self::Stream(b)) => Rc::ptr_eq(a, b),
            (Self::Native(a), Self::Native(b)) => std::ptr::eq(*a, *b),
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Dtype(a), Self::Dtype(b)) => a == b,
            (Self::Module(a), Self::Module(b)) => a == b,
            _ => false,
        }
    }

    /// References to the object behind the value, this one included.
    pub(super) fn reference_count(&self) -> usize {
        match self {
            Self::Tuple(it) => Rc::strong_count(it),
            Self::List(it) => Rc::strong_count(it),
            Self::Dict(it) | Self::Set(it) => Rc::strong_count(it),
            Self::Function(it) => Rc::strong_count(it),
            Self::Class(it) => Rc::strong_count(it),
            Self::Instance(it) => Rc::strong_count(it),
            Self::Exception(it) => Rc::strong_count(it),
            Self::Tensor(it) => Rc::strong_count(it),
            Self::Stream(it) => Rc::strong_count(it),
            Self::Pool(it) => Rc::strong_count(it),
            Self::Text(it) => Rc::strong_count(it),
            Self::Generator(it) => Rc::strong_count(it),
            // CPython never frees these.
            _ => 4_294_967_295,
        }
    }

    /// Name of the value's class.
    pub(super) fn type_name(&self) -> Rc<str> {
        match self {
            Self::Instance(instance) => Rc::clone(&instance.class.name),
            Self::Exception(exception) => Rc::clone(&exception.class.name),
            other => Rc::from(NativeType::of(other).name()),
        }
    }
}

pub(super) fn visit_value(value: &Value, visit: &mut dyn FnMut(NodeId)) {
    if let Some(id) = value.node_id() {
        visit(id);
    }
}

pub(super) fn visit_all<'a>(
    values: impl IntoIterator<Item = &'a Value>,
    visit: &mut dyn FnMut(NodeId),
) {
    values
        .into_iter()
        .for_each(|value| visit_value(value, visit));
}

impl Node for Tuple {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_all(&self.items, visit);
    }

    /// A tuple can't change: what it refers to breaks the cycle.
    fn clear(&self) {}
}

impl Node for List {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_all(&*self.items.borrow(), visit);
    }

    fn clear(&self) {
        drop_backwards(self.items.take());
    }
}

impl Node for VarCell {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_all(&*self.value.borrow(), visit);
    }

    fn clear(&self) {
        let value = self.value.take();
        drop(value);
    }
}

impl Node for Function {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_all(&*self.defaults.borrow(), visit);
        let keywords = self.keyword_defaults.borrow();
        visit_all(keywords.iter().map(|(_, value)| value), visit);
        let closure = self.closure.borrow();
        closure.iter().for_each(|cell| visit(id_of(cell)));
    }

    fn clear(&self) {
        drop_backwards(self.defaults.take());
        drop(self.keyword_defaults.take());
        let mut closure = self.closure.take();
        while let Some(cell) = closure.pop() {
            drop(cell);
        }
    }
}

impl Node for Method {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_all([&self.function, &self.receiver], visit);
    }

    fn clear(&self) {}
}

impl Node for BoundNative {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_value(&self.receiver, visit);
    }

    fn clear(&self) {}
}

impl Node for Wrapped {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_value(&self.function, visit);
    }

    fn clear(&self) {}
}

impl Node for Class {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_all(self.attributes.borrow().values(), visit);
        let bases = self.bases.borrow();
        bases.iter().for_each(|base| visit(id_of(base)));
    }

    fn clear(&self) {
        let attributes = self.attributes.take();
        drop(attributes);
    }
}

impl Node for Instance {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit(id_of(&self.class));
        visit_all(self.attributes.borrow().values(), visit);
    }

    fn clear(&self) {
        let attributes = self.attributes.take();
        drop(attributes);
    }
}

impl Node for Exception {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit(id_of(&self.class));
        visit_all(self.attributes.borrow().values(), visit);
        visit_all(&*self.args.borrow(), visit);
        visit_all(&*self.cause.borrow(), visit);
        if let Some(traceback) = &*self.traceback.borrow() {
            visit(id_of(traceback));
        }
        if let Some(context) = &*self.context.borrow() {
            visit(id_of(context));
        }
    }

    fn clear(&self) {
        let taken = (
            self.attributes.take(),
            self.args.take(),
            self.traceback.take(),
            self.cause.take(),
            self.context.take(),
        );
        drop(taken);
    }
}

impl Node for Traceback {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        if let Some(next) = &*self.next.borrow() {
            visit(id_of(next));
        }
        if let Some(frame) = &*self.frame.borrow() {
            visit(id_of(frame));
        }
    }

    fn clear(&self) {
        let taken = (self.next.take(), self.frame.take());
        drop(taken);
    }
}

impl Node for Frame {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_all(self.locals.borrow().iter().flatten(), visit);
        visit_all(self.names.borrow().values(), visit);
        let cells = self.cells.borrow();
        cells.iter().for_each(|cell| visit(id_of(cell)));
        if let Some(function) = &*self.function.borrow() {
            visit(id_of(function));
        }
    }

    fn clear(&self) {
        for at in 0..self.locals.borrow().len() {
            let local = self.locals.borrow_mut()[at].take();
            drop(local);
        }
        let taken = (self.cells.take(), self.names.take(), self.function.take());
        drop(taken);
    }
}

impl Node for Slice {
    fn visit(&self, visit: &mut dyn FnMut(NodeId)) {
        visit_all([&self.start, &self.stop, &self.step], visit);
    }

    fn clear(&self) {}
}

/// Making values.
impl Machine {
    pub(super) fn tuple(&self, items: Vec<Value>) -> Value {
        Value::Tuple(self.heap.track(Tuple {
            items,
            is_size: false,
        }))
    }

    pub(super) fn size(&self, sizes: &[i64]) -> Value {
        Value::Tuple(self.heap.track(Tuple {
            items: sizes.iter().copied().map(Value::Int).collect(),
            is_size: true,
        }))
    }

    pub(super) fn list(&self, items: Vec<Value>) -> Value {
        Value::List(self.heap.track(List {
            items: RefCell::new(items),
        }))
    }

    pub(super) fn bound_native(&self, receiver: &Value, call: MethodFn) -> Value {
        Value::BoundNative(self.heap.track(BoundNative {
            receiver: receiver.clone(),
            call,
        }))
    }
}
