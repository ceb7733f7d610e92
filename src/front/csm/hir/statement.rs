//! Statements and declarations.

use super::item::Checker;
use super::scope::Meaning;
use super::{Constant, Expression, Place, Scalar, Statement, StatementKind, Type, Variable, VariableId, VariableKind};
use crate::diagnostics::{Code, Diagnostic};
use crate::front::csm::syntax::ast::{self, BinaryOp, ExprKind, Initialiser, StmtKind};
use crate::source::Span;

impl<'a> Checker<'a> {
    pub(super) fn check_statement_into(&mut self, statement: &'a ast::Stmt, into: &mut Vec<Statement>) {
        if let StmtKind::Declare(declaration) = &statement.kind {
            self.check_declaration(declaration, into);
        } else {
            into.push(self.statement(statement));
        }
    }

    pub(super) fn block(&mut self, statements: &'a [ast::Stmt]) -> Vec<Statement> {
        self.body.open();
        let mut body = Vec::with_capacity(statements.len());
        for statement in statements {
            self.check_statement_into(statement, &mut body);
        }
        self.body.close();
        body
    }

    fn boxed(&mut self, statement: &'a ast::Stmt) -> Box<Statement> {
        // A lone declaration has a scope of its own.
        let body = self.block(std::slice::from_ref(statement));
        let mut body = body.into_iter();
        match (body.next(), body.next()) {
            (Some(only), None) => Box::new(only),
            (first, second) => {
                let all = first.into_iter().chain(second).chain(body).collect();
                Box::new(Statement { kind: StatementKind::Block(all), span: statement.span })
            }
        }
    }

    fn looped(&mut self, statement: &'a ast::Stmt) -> Box<Statement> {
        self.body.loops += 1;
        let body = self.boxed(statement);
        self.body.loops -= 1;
        body
    }

    pub(super) fn statement(&mut self, statement: &'a ast::Stmt) -> Statement {
        let span = statement.span;
        let kind = match &statement.kind {
            StmtKind::Block(block) => StatementKind::Block(self.block(&block.statements)),
            StmtKind::Declare(declaration) => {
                let mut body = Vec::new();
                self.check_declaration(declaration, &mut body);
                StatementKind::Block(body)
            }
            StmtKind::Assign { target, op, value } => self.assignment(target, *op, value, span),
            StmtKind::Step { target, increment } => self.step(target, *increment, span),
            StmtKind::If { condition, then_branch, else_branch } => StatementKind::If {
                condition: self.condition(condition),
                then_branch: self.boxed(then_branch),
                else_branch: else_branch.as_ref().map(|branch| self.boxed(branch)),
            },
            StmtKind::While { condition, body } => {
                StatementKind::While { condition: self.condition(condition), body: self.looped(body), step: None }
            }
            StmtKind::DoWhile { body, condition } => {
                StatementKind::DoWhile { body: self.looped(body), condition: self.condition(condition) }
            }
            StmtKind::For { initial, condition, step, body } => {
                self.for_loop(initial.as_deref(), condition.as_ref(), step.as_deref(), body, span)
            }
            StmtKind::Switch { value, cases } => self.switch(value, cases),
            StmtKind::Fallthrough => self.misplaced_fallthrough(span),
            StmtKind::Break | StmtKind::Continue => self.jump(statement),
            StmtKind::Return(value) => self.return_statement(value.as_ref(), span),
            StmtKind::Cobegin(arms) => self.cobegin(arms),
            StmtKind::Parfor { initial, condition, step, body } => self.parfor(initial, condition, step, body, span),
            StmtKind::Synchronized { lock, body } => {
                let place = self.object(lock, Type::Lock);
                let inner = self.block(&body.statements);
                let end = Span { start: body.span.end.saturating_sub(1), ..body.span };
                match place {
                    Some(lock) => StatementKind::Synchronized { lock, body: inner, end },
                    None => StatementKind::Block(inner),
                }
            }
            StmtKind::Atomic(block) => {
                let (loops, switches) = (std::mem::take(&mut self.body.loops), std::mem::take(&mut self.body.switches));
                self.body.atomic += 1;
                let body = self.block(&block.statements);
                self.body.atomic -= 1;
                (self.body.loops, self.body.switches) = (loops, switches);
                StatementKind::Atomic(body)
            }
            StmtKind::Call(expr) => self.expression_statement(expr),
            StmtKind::Skip | StmtKind::Error => StatementKind::Skip,
        };
        Statement { kind, span }
    }

    fn expression_statement(&mut self, expr: &'a ast::Expr) -> StatementKind {
        match &expr.kind {
            ExprKind::Call { receiver, callee, arguments } => {
                self.call_statement(receiver.as_deref(), callee, arguments, expr.span)
            }
            ExprKind::Spawn(call) => self.spawn(None, call, None),
            ExprKind::Error => StatementKind::Skip,
            _ => {
                self.report(
                    Diagnostic::error(
                        Code::MisplacedStatement,
                        expr.span,
                        "a value alone is no statement",
                        "has no effect",
                    )
                    .with_help("assign it, print it, or leave it out"),
                );
                StatementKind::Skip
            }
        }
    }

    fn for_loop(
        &mut self,
        initial: Option<&'a ast::Stmt>,
        condition: Option<&ast::Expr>,
        step: Option<&'a ast::Stmt>,
        body: &'a ast::Stmt,
        span: Span,
    ) -> StatementKind {
        self.body.open();
        let mut statements = Vec::new();
        if let Some(initial) = initial {
            self.check_statement_into(initial, &mut statements);
        }
        let condition = match condition {
            Some(condition) => self.condition(condition),
            None => Expression::of(Constant::Bool(true), span),
        };
        let step = step.map(|step| Box::new(self.statement(step)));
        let body = self.looped(body);
        self.body.close();
        statements.push(Statement { kind: StatementKind::While { condition, body, step }, span });
        StatementKind::Block(statements)
    }

    fn jump(&mut self, statement: &ast::Stmt) -> StatementKind {
        let is_break = matches!(statement.kind, StmtKind::Break);
        if self.body.loops == 0 && (!is_break || self.body.switches == 0) {
            let (message, label) = if is_break {
                ("`break` outside a loop or switch".to_owned(), "no loop to leave")
            } else {
                ("`continue` outside a loop".to_owned(), "no loop to go on with")
            };
            let mut diagnostic = Diagnostic::error(Code::MisplacedStatement, statement.span, message, label);
            if !self.body.arms.is_empty() {
                diagnostic = diagnostic.with_help("a thread cannot leave a loop that runs in the thread that made it");
            } else if self.body.atomic > 0 {
                diagnostic = diagnostic.with_help("an atomic block is left at its end only");
            }
            self.report(diagnostic);
            return StatementKind::Skip;
        }
        if is_break { StatementKind::Break } else { StatementKind::Continue }
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span) -> StatementKind {
        let value = value.map(|value| self.expression(value));
        let place = if !self.body.arms.is_empty() {
            Some("in a thread of a cobegin or parfor")
        } else if self.body.atomic > 0 {
            Some("in an atomic block")
        } else {
            None
        };
        if let Some(place) = place {
            self.report(
                Diagnostic::error(
                    Code::MisplacedStatement,
                    span,
                    format!("`return` {place}"),
                    "cannot leave from here",
                )
                .with_help("let control reach the end of it instead"),
            );
            return StatementKind::Skip;
        }
        let result = self.body.function.and_then(|function| self.program.functions[function].result);
        match (value, result) {
            (None, None) => StatementKind::Return(None),
            (Some(value), Some(ty)) => {
                let value = self.coerce(value, ty, "the result", None);
                StatementKind::Return(Some(value))
            }
            (Some(value), None) => {
                if value.ty != Scalar::Error {
                    self.report(Diagnostic::error(
                        Code::WrongType,
                        span,
                        "a value is returned, but none is wanted",
                        "returns nothing",
                    ));
                }
                StatementKind::Skip
            }
            (None, Some(ty)) => {
                let message = format!("a value of type {} must be returned", ty.name());
                self.report(Diagnostic::error(Code::WrongType, span, message, "returns nothing"));
                StatementKind::Skip
            }
        }
    }

    fn assignment(
        &mut self,
        target: &'a ast::Expr,
        op: Option<BinaryOp>,
        value: &'a ast::Expr,
        span: Span,
    ) -> StatementKind {
        let place = self.target(target);
        if let ExprKind::Spawn(call) = &value.kind {
            return self.spawn(place, call, Some(target.span));
        }
        let value = self.expression(value);
        let Some(place) = place else { return StatementKind::Skip };
        let Type::Scalar(ty) = place.ty else {
            self.report_not_assignable(&place);
            return StatementKind::Skip;
        };
        if ty == Scalar::Thread && value.ty != Scalar::Error && (op.is_some() || value.ty != Scalar::Thread) {
            self.report(
                Diagnostic::error(
                    Code::BadThreadHandle,
                    span,
                    "a thread handle gets its value from `spawn`",
                    "not a thread",
                )
                .with_help("write `t = spawn f(…);`"),
            );
            return StatementKind::Skip;
        }
        match op {
            None => {
                let value = self.coerce(value, ty, "the variable", Some(place.symbol.1));
                StatementKind::Assign { place, value }
            }
            Some(op) => match self.update(&place, op, value, span) {
                Some((ty, value)) => StatementKind::Update { place, op, ty, value },
                None => StatementKind::Skip,
            },
        }
    }

    fn step(&mut self, target: &'a ast::Expr, increment: bool, span: Span) -> StatementKind {
        let Some(place) = self.target(target) else { return StatementKind::Skip };
        if !matches!(place.ty, Type::Scalar(_)) {
            self.report_not_assignable(&place);
            return StatementKind::Skip;
        }
        let op = if increment { BinaryOp::Add } else { BinaryOp::Subtract };
        match self.update(&place, op, Expression::of(Constant::Int(1), span), span) {
            Some((ty, value)) => StatementKind::Update { place, op, ty, value },
            None => StatementKind::Skip,
        }
    }

    fn report_not_assignable(&mut self, place: &Place) {
        if place.ty == Type::Error {
            return;
        }
        let message = format!("`{}` is {}", self.program.texts.get(place.name), self.type_name(place.ty));
        self.report(
            Diagnostic::error(Code::NotAssignable, place.span, message, "cannot be assigned")
                .with_label(place.symbol.1, "declared here")
                .with_help("assign its elements or fields one by one"),
        );
    }

    /// Declares the globals of a declaration, without looking at values that are not constant.
    pub(super) fn declare_globals(&mut self, declaration: &'a ast::Declaration) {
        let known =
            |checker: &Self, declarator: &ast::Declarator| checker.declared_constants.contains(&declarator.name.span);
        let reported = self.diagnostics.len();
        let base = self.resolve_type(&declaration.ty, None);
        if declaration.constant {
            if declaration.declarators.iter().any(|one| known(self, one)) {
                // A wrong type was reported with the constants.
                self.diagnostics.truncate(reported);
            }
            self.may_be_constant(declaration, base);
        }
        let atomic = self.is_atomic(declaration, base);
        for declarator in &declaration.declarators {
            if known(self, declarator) {
                continue;
            }
            if declaration.constant {
                self.read_only.insert(declarator.name.span);
            }
            let ty = self.declared_type(base, declarator);
            // A global handle is a variable of main: nothing else may use it.
            let zeros = self.initial_zeros(ty);
            let variable = self.new_variable(declarator, ty, VariableKind::Global, zeros);
            self.program.variables[variable].atomic = atomic;
            let name = self.program.variables[variable].name;
            self.declare_global_name(name, Meaning::Variable(variable), declarator.name.span);
        }
    }

    pub(super) fn new_variable(
        &mut self,
        declarator: &ast::Declarator,
        ty: Type,
        kind: VariableKind,
        initial: Vec<Constant>,
    ) -> VariableId {
        let name = self.intern(&declarator.name.name);
        self.program.variables.push(Variable {
            name,
            span: declarator.name.span,
            ty,
            kind,
            initial,
            captured: false,
            atomic: false,
        })
    }

    fn check_declaration(&mut self, declaration: &'a ast::Declaration, into: &mut Vec<Statement>) {
        let global = !self.body.in_block();
        let base = if global { None } else { Some(self.resolve_type(&declaration.ty, None)) };
        let atomic = base.is_some_and(|base| self.is_atomic(declaration, base));
        let constant = declaration.constant && base.is_some_and(|base| self.may_be_constant(declaration, base));
        for declarator in &declaration.declarators {
            let name = self.intern(&declarator.name.name);
            let known = if global {
                match self.globals.get(&name) {
                    Some(&(Meaning::Variable(variable), span))
                        if span == declarator.name.span && self.named_value(variable).is_none() =>
                    {
                        Some(variable)
                    }
                    _ => continue,
                }
            } else {
                None
            };
            if constant {
                if let Some(value) = base.and_then(|base| self.named_constant(base, declarator)) {
                    let variable = self.new_constant(name, declarator.name.span, value);
                    self.declare_local(name, variable);
                    continue;
                }
                self.read_only.insert(declarator.name.span);
            }
            let ty = match (known, base) {
                (Some(variable), _) => self.program.variables[variable].ty,
                (None, base) => self.declared_type(base.unwrap_or(Type::Error), declarator),
            };
            if let Some(Initialiser::Value(Expr { kind: ExprKind::Spawn(call), .. })) = &declarator.initialiser {
                self.spawned_declaration(declarator, ty, known, call, into);
                continue;
            }
            // The initialiser is checked before the name is declared: it cannot use it.
            let before = self.diagnostics.len();
            let (initial, late) = self.constant_initialiser(ty, declarator);
            let values =
                if late && self.diagnostics.len() == before { self.late_values(ty, declarator) } else { Vec::new() };
            let constructor = self.constructor_arguments(ty, declarator);
            let variable = known.unwrap_or_else(|| self.new_variable(declarator, ty, VariableKind::Local, Vec::new()));
            self.program.variables[variable].initial = initial;
            if !global {
                self.program.variables[variable].atomic = atomic;
                self.declare_local(name, variable);
            }
            if !global || !values.is_empty() {
                into.push(Statement { kind: StatementKind::Declare { variable, values }, span: declarator.name.span });
            }
            let object = self.whole(variable, declarator.name.span);
            self.construct(object, constructor, into);
        }
    }

    fn spawned_declaration(
        &mut self,
        declarator: &'a ast::Declarator,
        ty: Type,
        known: Option<VariableId>,
        call: &'a ast::Expr,
        into: &mut Vec<Statement>,
    ) {
        let span = declarator.name.span;
        let zeros = self.initial_zeros(ty);
        let variable = known.unwrap_or_else(|| {
            let variable = self.new_variable(declarator, ty, VariableKind::Local, zeros);
            let name = self.program.variables[variable].name;
            self.declare_local(name, variable);
            into.push(Statement { kind: StatementKind::Declare { variable, values: Vec::new() }, span });
            variable
        });
        let declared = &self.program.variables[variable];
        let place = Place {
            root: super::Root::Variable(variable),
            offset: 0,
            indices: Vec::new(),
            name: declared.name,
            last_indices: self.empty,
            span,
            symbol: (declared.name, span),
            ty,
        };
        let kind = self.spawn(Some(place), call, Some(span));
        into.push(Statement { kind, span });
    }

    /// The constant part of what a variable begins with, and whether something is left for run time.
    pub(super) fn constant_initialiser(&mut self, ty: Type, declarator: &'a ast::Declarator) -> (Vec<Constant>, bool) {
        let mut cells = self.initial_zeros(ty);
        let Some(initialiser) = &declarator.initialiser else {
            if self.program.elements_of(ty).0 == Type::Barrier {
                let message = format!("barrier `{}` has no count", declarator.name.name);
                self.report(
                    Diagnostic::error(Code::BadSize, declarator.name.span, message, "for how many threads?")
                        .with_help(format!("write `barrier {}(2);`", declarator.name.name)),
                );
            }
            return (cells, false);
        };
        let declared = declarator.name.span;
        // Each element of an array of synchronisation objects begins alike.
        let element = match self.program.elements_of(ty).0 {
            element @ (Type::Semaphore | Type::Barrier) => element,
            _ => ty,
        };
        match (element, initialiser) {
            (Type::Error, _) => (cells, false),
            (Type::Scalar(scalar), Initialiser::Value(value)) => {
                let value = self.expression(value);
                let value = self.coerce(value, scalar, "the variable", Some(declared));
                match value.constant() {
                    Some(constant) if value.ty == scalar => {
                        cells[0] = constant;
                        (cells, false)
                    }
                    _ => (cells, value.ty != Scalar::Error),
                }
            }
            (Type::Array(_), Initialiser::List(values)) => {
                let (Type::Scalar(scalar), length) = self.program.elements_of(ty) else {
                    self.report_wrong_initialiser(ty, declarator);
                    return (cells, false);
                };
                if values.len() > length as usize {
                    let message = format!("{} values for an array of {length}", values.len());
                    self.report(Diagnostic::error(Code::BadSize, declared, message, "holds fewer elements"));
                    return (cells, false);
                }
                let mut late = false;
                for (cell, value) in values.iter().enumerate() {
                    let value = self.expression(value);
                    let value = self.coerce(value, scalar, "the array", Some(declared));
                    match value.constant() {
                        Some(constant) if value.ty == scalar => cells[cell] = constant,
                        _ => late |= value.ty != Scalar::Error,
                    }
                }
                (cells, late)
            }
            (Type::Semaphore, Initialiser::Value(value)) => {
                if let Some(count) = self.constant(value, Scalar::Int).and_then(Constant::integer) {
                    if count < 0 {
                        let message = format!("a semaphore cannot begin with {count}");
                        self.report(Diagnostic::error(Code::BadSize, value.span, message, "must not be negative"));
                    }
                    cells[0] = Constant::Int(count as i32);
                }
                (cells, false)
            }
            (Type::Barrier, Initialiser::Arguments(arguments)) if arguments.len() == 1 => {
                for count in arguments {
                    if let Some(value) = self.constant(count, Scalar::Int).and_then(Constant::integer)
                        && let Some(count) = self.barrier_count(value, count.span)
                    {
                        cells[0] = Constant::Int(count as i32);
                    }
                }
                (cells, false)
            }
            (_, Initialiser::Arguments(_)) if matches!(self.program.elements_of(ty).0, Type::Class(_)) => {
                (cells, false)
            }
            _ => {
                self.report_wrong_initialiser(ty, declarator);
                (cells, false)
            }
        }
    }

    fn report_wrong_initialiser(&mut self, ty: Type, declarator: &ast::Declarator) {
        let message = format!("`{}` is {} and cannot begin like this", declarator.name.name, self.type_name(ty));
        let diagnostic =
            Diagnostic::error(Code::WrongType, declarator.name.span, message, "wrong kind of initial value");
        let help = declarator.initialiser.as_ref().and_then(|initialiser| initialiser_meant(ty, initialiser));
        self.report(match help {
            Some(help) => diagnostic.with_help(help.replace("NAME", &declarator.name.name)),
            None => diagnostic,
        });
    }

    /// The values of an initialiser that are not constant, by cell. Their errors were reported before.
    fn late_values(&mut self, ty: Type, declarator: &'a ast::Declarator) -> Vec<(u32, Expression)> {
        let mut values = Vec::new();
        let (scalar, expressions): (Scalar, &[ast::Expr]) = match (ty, &declarator.initialiser) {
            (Type::Scalar(scalar), Some(Initialiser::Value(value))) => (scalar, std::slice::from_ref(value)),
            (Type::Array(_), Some(Initialiser::List(list))) => match self.program.elements_of(ty).0 {
                Type::Scalar(scalar) => (scalar, list),
                _ => return values,
            },
            _ => return values,
        };
        for (cell, expression) in expressions.iter().enumerate() {
            let value = self.expression(expression);
            let value = self.coerce(value, scalar, "the variable", None);
            if value.constant().is_none() {
                values.push((cell as u32, value));
            }
        }
        values
    }
}

/// How what was meant by an initial value is written.
fn initialiser_meant(ty: Type, initialiser: &Initialiser) -> Option<&'static str> {
    Some(match (ty, initialiser) {
        (Type::Semaphore, Initialiser::Arguments(_)) => {
            "the first value of a semaphore stands behind `=`: `sem NAME = 1;`"
        }
        (Type::Scalar(_), Initialiser::Arguments(_)) => "a first value stands behind `=`: `NAME = 1`",
        (Type::Array(_), Initialiser::Arguments(_) | Initialiser::Value(_)) => {
            "the values of an array stand in braces: `NAME[2] = {1, 2}`"
        }
        (Type::Barrier, _) => "a barrier takes the number of its threads: `barrier NAME(2);`",
        (Type::Class(_), Initialiser::Value(_)) => "the arguments of a constructor stand behind the name: `NAME(1)`",
        _ => return None,
    })
}

use ast::Expr;
