//! Functions, lambdas and classes.

use std::rc::Rc;

use ruff_python_ast::{self as ast, ExprLambda, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::{
    Lowered, Lowering, Unit,
    scope::{ScopeKey, key_of},
};
use crate::script::code::{Code, CodeKind, Op, Parameters};

impl Lowering<'_> {
    pub(super) fn function_definition(&mut self, it: &StmtFunctionDef) -> Lowered {
        if it.is_async {
            return self.unsupported(it, "async def", "Use def.");
        }
        let first = it.decorator_list.first().map_or(it.range(), |d| d.range());
        let line = self.source.line(first.start().to_u32());
        self.emit(Op::Line(line));
        for decorator in &it.decorator_list {
            self.emit(Op::Null);
            self.expression(&decorator.expression)?;
        }
        let (positional, keywords) = self.defaults(&it.parameters)?;
        self.open_function(it.name.as_str(), &it.parameters, key_of(it));
        self.body(&it.body)?;
        self.none();
        self.emit(Op::Return);
        let code = self.finish_unit();
        self.make_function(code, positional, keywords);
        for _ in &it.decorator_list {
            self.emit(Op::Call {
                positional: 1,
                keywords: 0,
            });
        }
        self.store_name(it.name.as_str());
        Ok(())
    }

    pub(super) fn lambda(&mut self, it: &ExprLambda) -> Lowered {
        let empty = ast::Parameters::default();
        let parameters = it.parameters.as_deref().unwrap_or(&empty);
        let (positional, keywords) = self.defaults(parameters)?;
        self.open_function("<lambda>", parameters, key_of(it));
        self.expression(&it.body)?;
        self.emit(Op::Return);
        let code = self.finish_unit();
        self.make_function(code, positional, keywords);
        Ok(())
    }

    /// Evaluates the defaults; returns how many there are of positional and keyword parameters.
    fn defaults(&mut self, parameters: &ast::Parameters) -> Result<(u16, u16), super::ScriptError> {
        let mut positional = 0;
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
            if let Some(default) = &parameter.default {
                self.expression(default)?;
                positional += 1;
            }
        }
        let mut keywords = 0;
        for parameter in &parameters.kwonlyargs {
            if let Some(default) = &parameter.default {
                self.constant(crate::script::value::Value::text(parameter.name().as_str()));
                self.expression(default)?;
                keywords += 1;
            }
        }
        Ok((positional, keywords))
    }

    fn open_function(&mut self, name: &str, parameters: &ast::Parameters, key: ScopeKey) {
        let mut unit = Unit::new(name, CodeKind::Function);
        unit.range = self.unit().range;
        let text = |name: &ast::Identifier| -> Rc<str> { Rc::from(name.as_str()) };
        let mut names: Vec<Rc<str>> = Vec::new();
        let all = parameters.posonlyargs.iter().chain(&parameters.args);
        names.extend(all.map(|parameter| text(parameter.name())));
        let positional = names.len();
        names.extend(parameters.kwonlyargs.iter().map(|it| text(it.name())));
        names.extend(parameters.vararg.iter().map(|it| text(&it.name)));
        names.extend(parameters.kwarg.iter().map(|it| text(&it.name)));
        unit.code.parameters = Parameters {
            names,
            positional,
            positional_only: parameters.posonlyargs.len(),
            keyword_only: parameters.kwonlyargs.len(),
            rest: parameters.vararg.is_some(),
            rest_keywords: parameters.kwarg.is_some(),
        };
        self.units.push(unit);
        self.enter_scope(key);
        if self.unit().scope.is_generator {
            self.unit().code.kind = CodeKind::Generator;
            self.emit(Op::StartGenerator);
        }
    }

    /// Pushes the cells that a code object needs, and makes it a function.
    pub(super) fn make_function(&mut self, code: Rc<Code>, positional: u16, keywords: u16) {
        let closure = self.push_closure(&code);
        let codes = &mut self.unit().code.codes;
        codes.push(code);
        let index = codes.len() as u32 - 1;
        self.emit(Op::MakeFunction {
            code: index,
            defaults: positional,
            keyword_defaults: keywords,
            closure,
        });
    }

    fn push_closure(&mut self, code: &Code) -> bool {
        let free: Vec<Rc<str>> = code.cells.iter().skip(code.own_cells).cloned().collect();
        for name in &free {
            let cell = self.cell_index(name);
            self.emit(Op::LoadClosure(cell));
        }
        if !free.is_empty() {
            self.emit(Op::BuildTuple(free.len() as u32));
        }
        !free.is_empty()
    }

    pub(super) fn class_definition(&mut self, it: &StmtClassDef) -> Lowered {
        for decorator in &it.decorator_list {
            self.emit(Op::Null);
            self.expression(&decorator.expression)?;
        }
        let mut bases = 0;
        if let Some(arguments) = &it.arguments {
            if let Some(keyword) = arguments.keywords.first() {
                return self.unsupported(keyword, "a keyword of class", "Name base classes only.");
            }
            for base in &arguments.args {
                self.expression(base)?;
                bases += 1;
            }
        }
        let mut unit = Unit::new(it.name.as_str(), CodeKind::Class);
        unit.range = self.unit().range;
        self.units.push(unit);
        self.enter_scope(key_of(it));
        self.body(&it.body)?;
        self.none();
        self.emit(Op::Return);
        let code = self.finish_unit();
        let closure = self.push_closure(&code);
        let codes = &mut self.unit().code.codes;
        codes.push(code);
        let index = codes.len() as u32 - 1;
        let name = self.name_index(it.name.as_str());
        self.emit(Op::MakeClass {
            name,
            bases,
            code: index,
            closure,
        });
        for _ in &it.decorator_list {
            self.emit(Op::Call {
                positional: 1,
                keywords: 0,
            });
        }
        self.store_name(it.name.as_str());
        Ok(())
    }
}
