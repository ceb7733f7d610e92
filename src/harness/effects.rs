//! Estimates the effects of a method on data that it does not own, from its text.
//!
//! **Input**: the functions and methods of a file. **Output**: [`Effects`] by name.
//!
//! **Algorithm**: each body is read once: its assignments, its calls, and whether it has a loop without a bound. Calls are
//! resolved by name alone, with methods of one name in different classes merged, and followed until nothing changes.
//!
//! **Soundness and limits**: names are not resolved. This only decides which programs are tried first, and what they print.

use super::methods::Callable;
use cssame_front::csm::syntax::ast::{Block, Declaration, Expr, ExprKind, Initialiser, Stmt, StmtKind};
use std::collections::{BTreeMap, BTreeSet};

/// Whether a call changes something that outlives it, waits for another thread, or may not come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// It assigns what is not a local of its own, or changes an object of synchronisation for good.
    pub changes: bool,
    /// It waits for what another thread has to do: an event, a barrier, a condition, a semaphore, the end of a thread.
    pub waits: bool,
    /// It has an assertion, an error, or a loop that only its condition ends.
    pub may_fail: bool,
}

impl Effects {
    fn and(self, other: Effects) -> Effects {
        Effects {
            changes: self.changes || other.changes,
            waits: self.waits || other.waits,
            may_fail: self.may_fail || other.may_fail,
        }
    }

    /// Those of a function of the language.
    fn of_builtin(name: &str) -> Effects {
        match name {
            "cas" | "swap" | "fetch_add" | "set" | "clear" | "notify" | "notifyAll" | "V" => {
                Effects { changes: true, ..Effects::default() }
            }
            "wait" | "timedwait" | "P" | "barrier" | "join" => Effects { waits: true, changes: true, may_fail: false },
            "assert" | "error" | "assume" => Effects { may_fail: true, ..Effects::default() },
            _ => Effects::default(),
        }
    }
}

/// The effects of all functions and methods, by their names.
pub(super) fn effects<'a>(callables: &[Callable<'a>]) -> BTreeMap<&'a str, Effects> {
    let mut bodies: BTreeMap<&str, Body<'_>> = BTreeMap::new();
    for one in callables {
        let body = bodies.entry(&one.function.name.name).or_default();
        body.locals = one.function.parameters.iter().map(|parameter| parameter.name.name.as_str()).collect();
        body.block(&one.function.body);
    }
    let mut known: BTreeMap<&str, Effects> = bodies.iter().map(|(&name, body)| (name, body.own)).collect();
    loop {
        let mut changed = false;
        for (&name, body) in &bodies {
            let called = |callee: &&str| known.get(*callee).copied().unwrap_or_else(|| Effects::of_builtin(callee));
            let all = body.calls.iter().map(called).fold(body.own, Effects::and);
            changed |= known.insert(name, all) != Some(all);
        }
        if !changed {
            return known;
        }
    }
}

/// The names that a body calls without a receiver.
pub(super) fn functions_called(one: Callable<'_>) -> BTreeSet<&str> {
    let mut body = Body::default();
    body.block(&one.function.body);
    body.without_receiver
}

/// What has been read of the bodies of one name.
#[derive(Default)]
struct Body<'a> {
    own: Effects,
    calls: BTreeSet<&'a str>,
    /// Those of them that stand without a receiver.
    without_receiver: BTreeSet<&'a str>,
    /// Parameters, and the locals that were declared so far.
    locals: BTreeSet<&'a str>,
}

impl<'a> Body<'a> {
    fn block(&mut self, block: &'a Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Block(block) | StmtKind::Atomic(block) => self.block(block),
            StmtKind::Declare(declaration) => self.declaration(declaration),
            StmtKind::Assign { target, value, .. } => {
                self.target(target);
                self.expression(value);
            }
            StmtKind::Step { target, .. } => self.target(target),
            StmtKind::If { condition, then_branch, else_branch } => {
                self.expression(condition);
                self.statement(then_branch);
                else_branch.iter().for_each(|branch| self.statement(branch));
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
                self.own.may_fail = true;
                self.expression(condition);
                self.statement(body);
            }
            StmtKind::For { initial, condition, step, body } => {
                initial.iter().for_each(|initial| self.statement(initial));
                condition.iter().for_each(|condition| self.expression(condition));
                step.iter().for_each(|step| self.statement(step));
                self.statement(body);
            }
            StmtKind::Parfor { initial, condition, step, body } => {
                self.statement(initial);
                self.expression(condition);
                self.statement(step);
                self.statement(body);
            }
            StmtKind::Cobegin(arms) => {
                arms.iter().flat_map(|arm| &arm.statements).for_each(|statement| self.statement(statement));
            }
            StmtKind::Synchronized { lock, body } => {
                self.expression(lock);
                self.block(body);
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.expression(value)),
            StmtKind::Call(call) => self.expression(call),
            StmtKind::Switch { value, cases } => {
                self.expression(value);
                cases.iter().flat_map(|case| &case.statements).for_each(|statement| self.statement(statement));
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Fallthrough | StmtKind::Skip | StmtKind::Error => {}
        }
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        for declarator in &declaration.declarators {
            let values = declarator.initialiser.iter().flat_map(Initialiser::expressions);
            values.for_each(|value| self.expression(value));
            self.locals.insert(&declarator.name.name);
        }
    }

    /// What is assigned: a local, or something that outlives the call. Of an object only its name counts, since objects
    /// are passed by reference.
    fn target(&mut self, target: &'a Expr) {
        let is_local = match &target.kind {
            ExprKind::Name(name) => self.locals.contains(name.as_str()),
            ExprKind::Index { array, index } => {
                self.expression(index);
                matches!(&array.kind, ExprKind::Name(name) if self.locals.contains(name.as_str()))
            }
            _ => false,
        };
        self.own.changes |= !is_local;
    }

    fn expression(&mut self, expression: &'a Expr) {
        match &expression.kind {
            ExprKind::Call { receiver, callee, arguments } => {
                self.calls.insert(&callee.name);
                if receiver.is_none() {
                    self.without_receiver.insert(&callee.name);
                }
                receiver.iter().for_each(|receiver| self.expression(receiver));
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            ExprKind::Spawn(call) => {
                self.own.changes = true;
                self.expression(call);
            }
            ExprKind::Field { object: one, .. }
            | ExprKind::Unary { operand: one, .. }
            | ExprKind::Cast { operand: one, .. } => self.expression(one),
            ExprKind::Index { array: left, index: right } | ExprKind::Binary { left, right, .. } => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Conditional { condition, then_value, else_value } => {
                [condition, then_value, else_value].into_iter().for_each(|part| self.expression(part));
            }
            ExprKind::Int { .. }
            | ExprKind::Double(_)
            | ExprKind::Bool(_)
            | ExprKind::String(_)
            | ExprKind::Name(_)
            | ExprKind::This
            | ExprKind::Error => {}
        }
    }
}
