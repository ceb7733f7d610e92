//! Statements.

use super::item::Checker;
use super::{Constant, Expression, Place, Scalar, Statement, StatementKind, Type};
use crate::csm::syntax::ast::{self, BinaryOp, ExprKind, StmtKind};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;

impl<'a> Checker<'a> {
    pub(super) fn check_statement_into(&mut self, statement: &'a ast::Stmt, into: &mut Vec<Statement>) {
        if self.exhausted {
            return;
        }
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
                        "a value alone is not a statement",
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
                ("`continue` outside a loop".to_owned(), "no loop to continue")
            };
            let mut diagnostic = Diagnostic::error(Code::MisplacedStatement, statement.span, message, label);
            if !self.body.arms.is_empty() {
                diagnostic = diagnostic.with_help("a thread cannot leave a loop that runs in the thread that made it");
            } else if self.body.atomic > 0 {
                diagnostic = diagnostic.with_help("an atomic block can be left only at its end");
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
                        "a value is returned, but there is no result type",
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
        if let Some(place) = place.as_ref().filter(|place| !matches!(place.ty, Type::Scalar(_) | Type::Error)) {
            self.report_not_assignable(place);
            // That what should be copied has no value follows from it.
            self.argument_of_unknown_type(value);
            return StatementKind::Skip;
        }
        let value = self.expression(value);
        let Some(place) = place else { return StatementKind::Skip };
        let Type::Scalar(ty) = place.ty else { return StatementKind::Skip };
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
                .with_help(match place.ty {
                    Type::Array(_) => "assign its elements one by one",
                    Type::Class(_) => "assign its fields one by one",
                    _ => {
                        "it always names the same object: pass it to a function, or declare an array of such objects \
                         and choose one by its index"
                    }
                }),
        );
    }
}
