//! Threads: `cobegin`, `parfor`, `spawn`, and the anonymous barriers of their arms.

use super::item::Checker;
use super::scope::ArmContext;
use super::{
    Arm, Constant, Expression, ExpressionKind, Place, Root, Scalar, Statement, StatementKind, Type, Variable,
    VariableId, VariableKind,
};
use crate::csm::syntax::ast::{self, BinaryOp, ExprKind, StmtKind};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;
use cssame_source::names::NameKind;

impl<'a> Checker<'a> {
    pub(super) fn cobegin(&mut self, arms: &'a [ast::Arm]) -> StatementKind {
        let mut barriers: Vec<(u32, VariableId)> = Vec::new();
        let mut checked: Vec<Arm> = Vec::with_capacity(arms.len());
        for arm in arms {
            let label = self.intern(&arm.label.name);
            self.note(arm.label.span, arm.label.span, NameKind::Thread);
            if let Some(earlier) = checked.iter().find(|earlier| earlier.label == label) {
                let earlier = earlier.span;
                self.report_duplicate(label, arm.label.span, earlier);
            }
            checked.push(self.arm(label, arm.label.span, &arm.statements, None, &mut barriers));
        }
        StatementKind::Cobegin { barriers: barriers.into_iter().map(|(_, variable)| variable).collect(), arms: checked }
    }

    /// Checks an arm; `copy` is the loop variable that a `parfor` gives each thread.
    fn arm(
        &mut self,
        label: cssame_source::texts::TextId,
        span: Span,
        statements: &'a [ast::Stmt],
        copy: Option<VariableId>,
        barriers: &mut Vec<(u32, VariableId)>,
    ) -> Arm {
        let (loops, switches) = (std::mem::take(&mut self.body.loops), std::mem::take(&mut self.body.switches));
        self.body.arms.push(ArmContext { barriers: std::mem::take(barriers), ..ArmContext::default() });
        self.body.open();
        if let Some(copy) = copy {
            let name = self.program.variables[copy].name;
            self.declare_local(name, copy);
        }
        let body = self.block(statements);
        self.body.close();
        let context = self.body.arms.pop().unwrap_or_default();
        *barriers = context.barriers;
        (self.body.loops, self.body.switches) = (loops, switches);
        Arm { label, span, captures: context.captures, uses_this: context.uses_this, body }
    }

    pub(super) fn parfor(
        &mut self,
        initial: &'a ast::Stmt,
        condition: &'a ast::Expr,
        step: &'a ast::Stmt,
        body: &'a ast::Stmt,
        span: Span,
    ) -> StatementKind {
        let Some((declarator, value)) = loop_variable(initial) else {
            self.report(
                Diagnostic::error(
                    Code::MisplacedStatement,
                    initial.span,
                    "a parfor declares its loop variable",
                    "no `int i = …`",
                )
                .with_help("write `parfor (int i = 0; i < n; i++) { … }`"),
            );
            return StatementKind::Skip;
        };
        let first = self.expression(value);
        let first = self.coerce(first, Scalar::Int, "the loop variable", None);
        let name = self.intern(&declarator.name.name);
        let new = |checker: &mut Self| {
            checker.program.variables.push(Variable {
                name,
                span: declarator.name.span,
                ty: Type::Scalar(Scalar::Int),
                kind: VariableKind::Local,
                initial: vec![Constant::Int(0)],
                captured: false,
                atomic: false,
            })
        };
        let variable = new(self);
        self.body.open();
        self.declare_local(name, variable);
        let condition = self.condition(condition);
        let step = Box::new(self.statement(step));
        self.body.close();
        let copy = new(self);
        let line = self.sources.line(span);
        let label = self.intern(&format!("parfor@{line}"));
        let mut barriers = Vec::new();
        let arm = self.arm(
            label,
            Span { end: span.start + 6, ..span },
            std::slice::from_ref(body),
            Some(copy),
            &mut barriers,
        );
        let canonical = canonical(variable, &condition, &step);
        let barriers = barriers.into_iter().map(|(_, variable)| variable).collect();
        StatementKind::Parfor { barriers, variable, first, condition, step, copy, arm, line, canonical }
    }

    /// `target = spawn f(…)`; `handle` is where the handle stands, for the thread's name and for messages.
    pub(super) fn spawn(&mut self, target: Option<Place>, call: &'a ast::Expr, handle: Option<Span>) -> StatementKind {
        let ExprKind::Call { receiver, callee, arguments } = &call.kind else {
            self.report(
                Diagnostic::error(Code::BadThreadHandle, call.span, "`spawn` needs a call", "not a call")
                    .with_help("write `spawn f(…)`"),
            );
            return StatementKind::Skip;
        };
        if let Some(place) = &target
            && !matches!(place.ty, Type::Scalar(Scalar::Thread) | Type::Error)
        {
            let message = format!(
                "`{}` is {} and cannot hold a thread",
                self.program.texts.get(place.name),
                self.type_name(place.ty)
            );
            self.report(
                Diagnostic::error(Code::BadThreadHandle, handle.unwrap_or(call.span), message, "not a thread handle")
                    .with_help("declare it as `thread t`"),
            );
            return StatementKind::Skip;
        }
        let label = match &target {
            Some(place) => place.name,
            None => self.intern(&callee.name),
        };
        let kind = self.call_statement(receiver.as_deref(), callee, arguments, call.span);
        match kind {
            StatementKind::Evaluate(Expression { kind: ExpressionKind::Call(call), .. }) => {
                StatementKind::Spawn { target, call: *call, label }
            }
            StatementKind::Skip => StatementKind::Skip,
            _ => {
                let message = format!("`{}` is not a function of the program", callee.name);
                self.report(Diagnostic::error(Code::BadThreadHandle, callee.span, message, "cannot run as a thread"));
                StatementKind::Skip
            }
        }
    }

    /// The hidden barrier of that count of the innermost `cobegin`/`parfor`, or of the program outside any.
    pub(super) fn anonymous_barrier(&mut self, count: u32, span: Span) -> Place {
        let depth = self.body.arms.len();
        let known = match self.body.arms.last() {
            Some(arm) => &arm.barriers,
            None => &self.barriers,
        };
        let known = known.iter().find(|(other, _)| *other == count).map(|&(_, variable)| variable);
        let variable = known.unwrap_or_else(|| {
            let name = self.intern(&format!("barrier({count})"));
            let variable = self.program.variables.push(Variable {
                name,
                span,
                ty: Type::Barrier,
                kind: if depth == 0 { VariableKind::Global } else { VariableKind::Local },
                initial: vec![Constant::Int(count as i32), Constant::Int(0)],
                captured: depth > 0,
                atomic: false,
            });
            match self.body.arms.last_mut() {
                Some(arm) => arm.barriers.push((count, variable)),
                None => self.barriers.push((count, variable)),
            }
            variable
        });
        if depth > 0 {
            // It is declared just outside the innermost arm.
            self.body.capture(variable, depth - 1);
        }
        self.whole(variable, span)
    }
}

fn loop_variable(initial: &ast::Stmt) -> Option<(&ast::Declarator, &ast::Expr)> {
    let StmtKind::Declare(declaration) = &initial.kind else { return None };
    match (&declaration.ty.kind, declaration.declarators.as_slice()) {
        (ast::TypeKind::Int, [declarator]) if declarator.sizes.is_empty() => match &declarator.initialiser {
            Some(ast::Initialiser::Value(value)) => Some((declarator, value)),
            _ => None,
        },
        _ => None,
    }
}

/// The limit and the step of a loop `i < limit; i += step` (also `i <= limit` with a constant), if it has that form.
fn canonical(variable: VariableId, condition: &Expression, step: &Statement) -> Option<(Expression, i64)> {
    let is_variable = |expression: &Expression| match &expression.kind {
        ExpressionKind::Read(place) => place.root == Root::Variable(variable),
        _ => false,
    };
    let StatementKind::Update { place, op: BinaryOp::Add, value, .. } = &step.kind else { return None };
    let increment = value.constant().and_then(Constant::integer).filter(|&increment| increment > 0)?;
    if place.root != Root::Variable(variable) {
        return None;
    }
    let ExpressionKind::Binary(op, Scalar::Int, left, right) = &condition.kind else { return None };
    let (limit, inclusive) = match op {
        BinaryOp::Less if is_variable(left) => (right, 0),
        BinaryOp::LessEqual if is_variable(left) => (right, 1),
        _ => return None,
    };
    let limit = limit.constant().and_then(Constant::integer)?.checked_add(inclusive)?;
    let constant = Constant::Int(i32::try_from(limit).ok()?);
    Some((Expression { kind: ExpressionKind::Constant(constant), ty: Scalar::Int, span: condition.span }, increment))
}
