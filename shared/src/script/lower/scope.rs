//! Which variable belongs to which function, before anything is lowered.

use std::collections::{BTreeSet, HashMap};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, Expr, ExprContext, Parameters, Stmt};
use ruff_text_size::Ranged;

/// Where a scope stands in the source; each has a range of its own.
pub(super) type ScopeKey = (u32, u32);

pub(super) fn key_of(node: &impl Ranged) -> ScopeKey {
    (node.range().start().to_u32(), node.range().end().to_u32())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ScopeKind {
    #[default]
    Module,
    Function,
    Class,
}

/// The names of one function, class body, comprehension, or the module.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    bound: BTreeSet<String>,
    used: BTreeSet<String>,
    globals: BTreeSet<String>,
    nonlocals: BTreeSet<String>,
    children: Vec<ScopeKey>,
    /// Own variables that functions inside use.
    pub(super) cells: BTreeSet<String>,
    /// Variables of enclosing functions.
    pub(super) free: BTreeSet<String>,
    pub(super) is_generator: bool,
}

/// How a name is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Local,
    Cell,
    Global,
    /// By name in the class body or module.
    Name,
}

impl Scope {
    pub(super) fn reach(&self, name: &str) -> Reach {
        if self.cells.contains(name) || self.free.contains(name) {
            Reach::Cell
        } else if self.globals.contains(name) {
            Reach::Global
        } else if self.kind != ScopeKind::Function {
            Reach::Name
        } else if self.bound.contains(name) {
            Reach::Local
        } else {
            Reach::Global
        }
    }
}

pub(super) type Scopes = HashMap<ScopeKey, Scope>;

/// Key of the module itself.
pub(super) const MODULE: ScopeKey = (u32::MAX, u32::MAX);

/// All scopes of a module.
pub(super) fn analyze(body: &[Stmt]) -> Scopes {
    let mut finder = Finder {
        scopes: Scopes::new(),
        open: vec![(MODULE, Scope::default())],
    };
    finder.visit_body(body);
    let (key, module) = finder.open.pop().expect("the module is open");
    finder.scopes.insert(key, module);
    resolve(&mut finder.scopes, MODULE, &BTreeSet::new());
    finder.scopes
}

/// Finds the free names of a scope; returns those that it needs from outside.
fn resolve(scopes: &mut Scopes, key: ScopeKey, outer: &BTreeSet<String>) -> BTreeSet<String> {
    let Some(mut scope) = scopes.remove(&key) else {
        return BTreeSet::new();
    };
    let own: BTreeSet<String> = match scope.kind {
        ScopeKind::Function => {
            let declared =
                |name: &&String| !scope.globals.contains(*name) && !scope.nonlocals.contains(*name);
            scope.bound.iter().filter(declared).cloned().collect()
        }
        _ => BTreeSet::new(),
    };
    let mut visible = outer.clone();
    if scope.kind == ScopeKind::Function {
        visible.extend(own.iter().cloned());
        scope.globals.iter().for_each(|name| {
            visible.remove(name);
        });
    }
    let mut needed: BTreeSet<String> = BTreeSet::new();
    for child in scope.children.clone() {
        needed.extend(resolve(scopes, child, &visible));
    }
    let uses = scope.used.iter().chain(&scope.nonlocals);
    let is_free = |name: &&String| {
        outer.contains(*name) && !own.contains(*name) && !scope.globals.contains(*name)
    };
    let bound_in_class = |name: &String| {
        scope.kind == ScopeKind::Class
            && scope.bound.contains(name)
            && !scope.nonlocals.contains(name)
    };
    let mut free: BTreeSet<String> = uses
        .filter(is_free)
        .filter(|name| !bound_in_class(name))
        .cloned()
        .collect();
    for name in needed {
        if own.contains(&name) {
            scope.cells.insert(name);
        } else {
            free.insert(name);
        }
    }
    scope.free = free.clone();
    scopes.insert(key, scope);
    free
}

struct Finder {
    scopes: Scopes,
    open: Vec<(ScopeKey, Scope)>,
}

impl Finder {
    fn scope(&mut self) -> &mut Scope {
        &mut self.open.last_mut().expect("the module is open").1
    }

    fn bind(&mut self, name: &str) {
        self.scope().bound.insert(name.to_owned());
    }

    fn open(&mut self, key: ScopeKey, kind: ScopeKind) {
        self.scope().children.push(key);
        let scope = Scope {
            kind,
            ..Scope::default()
        };
        self.open.push((key, scope));
    }

    fn close(&mut self) {
        if let Some((key, scope)) = self.open.pop() {
            self.scopes.insert(key, scope);
        }
    }

    fn bind_parameters(&mut self, parameters: &Parameters) {
        for parameter in parameters.iter() {
            self.bind(parameter.name().as_str());
        }
    }

    fn visit_defaults(&mut self, parameters: &Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                self.visit_expr(default);
            }
        }
    }

    fn comprehension(&mut self, key: ScopeKey, items: &[&Expr], loops: &[Comprehension]) {
        if let Some(first) = loops.first() {
            self.visit_expr(&first.iter);
        }
        self.open(key, ScopeKind::Function);
        self.bind(".0");
        for (at, each) in loops.iter().enumerate() {
            if at > 0 {
                self.visit_expr(&each.iter);
            }
            self.visit_expr(&each.target);
            each.ifs.iter().for_each(|test| self.visit_expr(test));
        }
        items.iter().for_each(|item| self.visit_expr(item));
        self.close();
    }
}

impl<'a> Visitor<'a> for Finder {
    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                self.bind(function.name.as_str());
                function
                    .decorator_list
                    .iter()
                    .for_each(|decorator| self.visit_expr(&decorator.expression));
                self.visit_defaults(&function.parameters);
                self.open(key_of(function), ScopeKind::Function);
                self.bind_parameters(&function.parameters);
                self.visit_body(&function.body);
                self.close();
            }
            Stmt::ClassDef(class) => {
                self.bind(class.name.as_str());
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.open(key_of(class), ScopeKind::Class);
                self.visit_body(&class.body);
                self.close();
            }
            Stmt::Global(it) => {
                let names = it.names.iter().map(|name| name.as_str().to_owned());
                self.scope().globals.extend(names);
            }
            Stmt::Nonlocal(it) => {
                let names = it.names.iter().map(|name| name.as_str().to_owned());
                self.scope().nonlocals.extend(names);
            }
            Stmt::Import(it) => {
                for alias in &it.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    let top = name.as_str().split('.').next().unwrap_or_default();
                    self.bind(top);
                }
            }
            Stmt::ImportFrom(it) => {
                for alias in &it.names {
                    self.bind(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                }
            }
            Stmt::Try(it) => {
                for handler in &it.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    if let Some(name) = &handler.name {
                        self.bind(name.as_str());
                    }
                }
                visitor::walk_stmt(self, statement);
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                let id = name.id.as_str().to_owned();
                if name.ctx == ExprContext::Load {
                    self.scope().used.insert(id);
                } else {
                    self.scope().bound.insert(id);
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.visit_defaults(parameters);
                }
                self.open(key_of(lambda), ScopeKind::Function);
                if let Some(parameters) = &lambda.parameters {
                    self.bind_parameters(parameters);
                }
                self.visit_expr(&lambda.body);
                self.close();
            }
            Expr::ListComp(it) => self.comprehension(key_of(it), &[&it.elt], &it.generators),
            Expr::SetComp(it) => self.comprehension(key_of(it), &[&it.elt], &it.generators),
            Expr::Generator(it) => self.comprehension(key_of(it), &[&it.elt], &it.generators),
            Expr::DictComp(it) => match &it.key {
                Some(key) => {
                    self.comprehension(key_of(it), &[key, &it.value], &it.generators);
                }
                None => self.comprehension(key_of(it), &[&it.value], &it.generators),
            },
            Expr::Yield(_) => {
                self.scope().is_generator = true;
                visitor::walk_expr(self, expr);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}
