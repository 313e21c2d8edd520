//! Python's syntax lowered to [`Code`], in the order in which CPython evaluates it. What is
//! outside of the part that runs here is refused with its place.

mod assign;
mod blocks;
mod comprehension;
mod expression;
mod function;
mod scope;
mod statement;
mod text;

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxBuildHasher;

use super::code::{Code, CodeKind, Op, Parameters};
use super::error::{Exhausted, ScriptError, ScriptErrorKind};
use super::limits::Limits;
use super::source::Source;
use super::value::Value;
use blocks::Block;
use scope::{MODULE, Reach, Scope, ScopeKey, Scopes};

/// Lowers a script.
pub(super) fn lower(source: &Source, limits: &Limits) -> Result<Rc<Code>, ScriptError> {
    source.check_nesting(limits)?;
    let parsed = ruff_python_parser::parse_module(source.text()).map_err(|error| {
        let range = error.location;
        ScriptError {
            position: source.position(range.start().to_u32(), range.end().to_u32()),
            kind: ScriptErrorKind::Syntax {
                message: error.error.to_string(),
            },
        }
    })?;
    let body = parsed.into_suite();
    let mut lowering = Lowering {
        source,
        scopes: scope::analyze(&body),
        units: vec![Unit::new("<module>", CodeKind::Module)],
        value_size: limits.value_size,
    };
    lowering.enter_scope(MODULE);
    lowering.body(&body)?;
    lowering.constant(Value::None);
    lowering.emit(Op::Return);
    Ok(lowering.finish_unit())
}

type Lowered = Result<(), ScriptError>;

/// A code object that is being made.
struct Unit {
    code: Code,
    scope: Scope,
    locals: IndexMap<Rc<str>, (), FxBuildHasher>,
    /// Cells behind the locals.
    cells: Vec<Rc<str>>,
    blocks: Vec<Block>,
    range: (u32, u32),
}

/// Cell numbers from here on count the cells behind the locals, until the locals are known.
const BEHIND_LOCALS: u32 = 1 << 24;

impl Unit {
    fn new(name: &str, kind: CodeKind) -> Self {
        Self {
            code: Code {
                name: Rc::from(name),
                kind,
                ops: Vec::new(),
                ranges: Vec::new(),
                constants: Vec::new(),
                names: Vec::new(),
                keywords: Vec::new(),
                codes: Vec::new(),
                parameters: Parameters::default(),
                locals: Vec::new(),
                cell_parameters: Vec::new(),
                cells: Vec::new(),
                own_cells: 0,
            },
            scope: Scope::default(),
            locals: IndexMap::default(),
            cells: Vec::new(),
            blocks: Vec::new(),
            range: (0, 0),
        }
    }
}

struct Lowering<'a> {
    source: &'a Source,
    scopes: Scopes,
    units: Vec<Unit>,
    value_size: usize,
}

/// A jump whose target is not known yet.
#[derive(Clone, Copy)]
struct Label(usize);

impl Lowering<'_> {
    fn unit(&mut self) -> &mut Unit {
        self.units.last_mut().expect("the module is open")
    }

    /// The scope's cells: own ones by name, then those from outside.
    fn enter_scope(&mut self, key: ScopeKey) {
        let scope = self.scopes.remove(&key).unwrap_or_default();
        let unit = self.unit();
        let parameters = unit.code.parameters.names.clone();
        for (slot, name) in parameters.iter().enumerate() {
            unit.locals.insert(Rc::clone(name), ());
            if scope.cells.contains(&**name) {
                unit.code.cell_parameters.push(slot as u32);
            }
        }
        let behind = scope.cells.iter().filter(|cell| {
            let is_parameter = parameters.iter().any(|name| **name == ***cell);
            !is_parameter
        });
        unit.cells = behind.map(|name| Rc::from(name.as_str())).collect();
        unit.code.own_cells = unit.cells.len();
        let free = scope.free.iter().map(|name| Rc::from(name.as_str()));
        unit.cells.extend(free);
        unit.scope = scope;
    }

    fn finish_unit(&mut self) -> Rc<Code> {
        let mut unit = self.units.pop().expect("a unit is open");
        let count = unit.locals.len() as u32;
        for op in &mut unit.code.ops {
            if let Op::LoadCell(at) | Op::StoreCell(at) | Op::DeleteCell(at) | Op::LoadClosure(at) =
                op
                && *at >= BEHIND_LOCALS
            {
                *at = *at - BEHIND_LOCALS + count;
            }
        }
        unit.code.locals = unit.locals.into_keys().collect();
        unit.code.cells = unit.cells;
        Rc::new(unit.code)
    }

    fn emit(&mut self, op: Op) -> usize {
        let unit = self.unit();
        unit.code.ops.push(op);
        unit.code.ranges.push(unit.range);
        unit.code.ops.len() - 1
    }

    /// The following instructions come from that node; returns what was before.
    fn at(&mut self, range: TextRange) -> (u32, u32) {
        let range = (range.start().to_u32(), range.end().to_u32());
        std::mem::replace(&mut self.unit().range, range)
    }

    fn back_to(&mut self, range: (u32, u32)) {
        self.unit().range = range;
    }

    fn here(&mut self) -> u32 {
        self.unit().code.ops.len() as u32
    }

    /// A jump to be aimed later.
    fn jump(&mut self, op: fn(u32) -> Op) -> Label {
        Label(self.emit(op(u32::MAX)))
    }

    /// Aims a jump at the next instruction.
    fn land(&mut self, label: Label) {
        let target = self.here();
        let op = &mut self.unit().code.ops[label.0];
        *op = match *op {
            Op::Jump(_) => Op::Jump(target),
            Op::JumpIfFalse(_) => Op::JumpIfFalse(target),
            Op::JumpIfTrue(_) => Op::JumpIfTrue(target),
            Op::JumpIfFalseOrPop(_) => Op::JumpIfFalseOrPop(target),
            Op::JumpIfTrueOrPop(_) => Op::JumpIfTrueOrPop(target),
            Op::Next(_) => Op::Next(target),
            Op::PushBlock(_) => Op::PushBlock(target),
            Op::PushBlockBelow(_) => Op::PushBlockBelow(target),
            other => other,
        };
    }

    fn constant(&mut self, value: Value) {
        let constants = &mut self.unit().code.constants;
        constants.push(value);
        let index = constants.len() as u32 - 1;
        self.emit(Op::Const(index));
    }

    fn name_index(&mut self, name: &str) -> u32 {
        let names = &mut self.unit().code.names;
        let at = names.iter().position(|known| **known == *name);
        at.unwrap_or_else(|| {
            names.push(Rc::from(name));
            names.len() - 1
        }) as u32
    }

    fn local_index(&mut self, name: &str) -> u32 {
        self.unit().locals.insert_full(Rc::from(name), ()).0 as u32
    }

    fn cell_index(&mut self, name: &str) -> u32 {
        let unit = self.unit();
        let parameters = &unit.code.parameters.names;
        if let Some(slot) = parameters.iter().position(|known| **known == *name) {
            return slot as u32;
        }
        let at = unit.cells.iter().position(|known| **known == *name);
        BEHIND_LOCALS + at.unwrap_or_default() as u32
    }

    fn load_name(&mut self, name: &str) {
        let op = match self.unit().scope.reach(name) {
            Reach::Local => Op::LoadLocal(self.local_index(name)),
            Reach::Cell => Op::LoadCell(self.cell_index(name)),
            Reach::Global => Op::LoadGlobal(self.name_index(name)),
            Reach::Name => Op::LoadName(self.name_index(name)),
        };
        self.emit(op);
    }

    fn store_name(&mut self, name: &str) {
        let op = match self.unit().scope.reach(name) {
            Reach::Local => Op::StoreLocal(self.local_index(name)),
            Reach::Cell => Op::StoreCell(self.cell_index(name)),
            Reach::Global => Op::StoreGlobal(self.name_index(name)),
            Reach::Name => Op::StoreName(self.name_index(name)),
        };
        self.emit(op);
    }

    fn delete_name(&mut self, name: &str) {
        let op = match self.unit().scope.reach(name) {
            Reach::Local => Op::DeleteLocal(self.local_index(name)),
            Reach::Cell => Op::DeleteCell(self.cell_index(name)),
            Reach::Global => Op::DeleteGlobal(self.name_index(name)),
            Reach::Name => Op::DeleteName(self.name_index(name)),
        };
        self.emit(op);
    }

    fn unsupported<T>(
        &self,
        node: &impl Ranged,
        what: &str,
        instead: &str,
    ) -> Result<T, ScriptError> {
        let range = node.range();
        let line_end = self.source.line_end(range.start().to_u32());
        let end = range.end().to_u32().min(line_end);
        Err(ScriptError {
            position: self.source.position(range.start().to_u32(), end),
            kind: ScriptErrorKind::Unsupported {
                what: what.to_owned(),
                instead: instead.to_owned(),
            },
        })
    }

    /// An error that the parser leaves to the compiler, at the present node.
    fn syntax_error<T>(&mut self, message: &str) -> Result<T, ScriptError> {
        let (start, end) = self.unit().range;
        Err(ScriptError {
            position: self.source.position(start, end),
            kind: ScriptErrorKind::Syntax {
                message: message.to_owned(),
            },
        })
    }

    fn in_function(&mut self) -> bool {
        self.unit().scope.kind == scope::ScopeKind::Function
    }

    fn too_large(&self, node: &impl Ranged) -> ScriptError {
        let range = node.range();
        ScriptError {
            position: self
                .source
                .position(range.start().to_u32(), range.end().to_u32()),
            kind: ScriptErrorKind::Limit {
                exhausted: Exhausted::ValueSize,
                limit: self.value_size as u64,
            },
        }
    }

    fn body(&mut self, body: &[Stmt]) -> Lowered {
        body.iter()
            .try_for_each(|statement| self.statement(statement))
    }
}
