//! Choices: values of which nothing is known.
//!
//! In: a call such as `__VERIFIER_nondet_int()`, and what is assumed of its variable behind it. Out: a choice from a range: the one
//! of the settings, else what the assumption lets through, if these are few, or three values from where it begins, else 0 and 1. A note says which.

use super::ask::{Done, call_of, expression_of, meaning};
use super::builder::{Builder, Typed};
use crate::supported::library::Known;
use crate::supported::{Reason, is_null};
use crate::tree::{BinaryOperator as Operator, Conversion, DeclId, ExprId, ExprKind, Place, StmtId, StmtKind};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_ir::{Instruction, Operand, ScalarType, Value};

/// Values of one choice that are few.
const MOST_CHOSEN: i32 = 16;

impl Builder<'_, '_> {
    /// The value of a function of which nothing is known.
    pub fn choice(&mut self, name: &str, arguments: &[ExprId], expr: ExprId, wanted: bool) -> Done<Option<Typed>> {
        let place = self.expr(expr).place;
        match name {
            "scanf" | "sscanf" | "fscanf" => {
                let first = if name == "scanf" { 1 } else { 2 };
                for &target in arguments.get(first..).unwrap_or_default() {
                    let lvalue = self.pointed(target)?;
                    let chosen = self.chosen_value(None, self.expr(target).place);
                    self.store(&lvalue, chosen, target)?;
                }
                let count = arguments.len().saturating_sub(first) as i32;
                return Ok(Some(Typed::int(count)));
            }
            "gettimeofday" | "clock_gettime" => {
                self.evaluated(arguments)?;
                self.note(format!("the time that `{name}` returns is ignored"), place);
                return Ok(Some(Typed::int(0)));
            }
            "time" if arguments.first().is_some_and(|&target| !is_null(self.unit, target)) => {
                return self.refuse(Reason::LaterFunction(name.into()), place);
            }
            _ => self.evaluated(arguments)?,
        }
        if !wanted {
            return Ok(None);
        }
        let Some(ty) = self.input().scalar(self.key.unit, self.expr(expr).ty) else { return Ok(None) };
        if ty == ScalarType::Pointer {
            return self.refuse(Reason::LaterFunction(name.into()), place);
        }
        let range = self.ranges.get(&expr).copied();
        let chosen = self.chosen_value(range, place);
        Ok(Some(Typed { operand: self.converted(chosen, ty, place.span), ty }))
    }

    fn chosen_value(&mut self, range: Option<(i32, i32)>, place: Place) -> Typed {
        let (low, high) = self.input().settings.nondet.or(range).unwrap_or((0, 1));
        let text = self.lowering.text_at(place.span);
        let limit = format!("`{}` is {low}..{high}", self.lowering.program.texts.get(text));
        self.limit(&limit, format!("{limit} here"), place);
        let dest = self.temporary(ScalarType::Int, place.span);
        let bound = |value: i32| Operand::Constant(Value::Int(value));
        self.emit(Instruction::Choose { dest, low: bound(low), high: bound(high) }, place.span);
        Typed::register(dest, ScalarType::Int)
    }

    /// Notes what was chosen: for the program, once, and at its place; what has the message `note` there, once.
    pub fn limit(&mut self, limit: &str, note: String, place: Place) {
        let limits = &mut self.lowering.program.limits;
        let is_known = limits.iter().any(|known| known == limit);
        if !is_known {
            limits.push(limit.to_owned());
        }
        // A sentence of its own is about the whole program.
        if !is_known || note != limit {
            self.note(note, place);
        }
    }

    fn note(&mut self, message: String, place: Place) {
        let mut note = Diagnostic::warning(Code::DoubtfulC, place.span, message, "");
        note.severity = Severity::Note;
        if !self.lowering.notes.contains(&note) {
            self.lowering.notes.push(note);
        }
    }

    /// Looks in a block for variables that get a choice, and what is assumed of them behind that.
    pub fn choices_of(&mut self, list: &[StmtId]) {
        let mut open: Vec<(DeclId, ExprId)> = Vec::new();
        for &stmt in list {
            if let Some((decl, call)) = self.chosen_variable(stmt) {
                open.push((decl, call));
                continue;
            }
            let Some(condition) = self.assumed(stmt) else {
                if !matches!(self.unit.statements[stmt].kind, StmtKind::Declarations(_) | StmtKind::Empty) {
                    open.clear();
                }
                continue;
            };
            for &(decl, call) in &open {
                if let (Some(low), high) = self.bounds(condition, decl) {
                    let few = high.filter(|&high| (low..low.saturating_add(MOST_CHOSEN)).contains(&high));
                    self.ranges.insert(call, (low, few.unwrap_or(low.saturating_add(2))));
                }
            }
        }
    }

    /// The variable that a statement gives a choice to, and the call.
    fn chosen_variable(&self, stmt: StmtId) -> Option<(DeclId, ExprId)> {
        let (decl, value) = match &self.unit.statements[stmt].kind {
            StmtKind::Declarations(list) => {
                let [decl] = list.as_ref() else { return None };
                let [only] = self.unit.declarations[*decl].initial.as_deref()? else { return None };
                (*decl, only.value)
            }
            _ => match self.expr(expression_of(self.unit, stmt)?).kind {
                ExprKind::Assign { operator: None, target, value, .. } => match self.expr(target).kind {
                    ExprKind::Name(decl) => (decl, value),
                    _ => return None,
                },
                _ => return None,
            },
        };
        let (called, _) = call_of(self.unit, value)?;
        matches!(meaning(self.unit, called), Some((_, Known::Choice))).then_some(())?;
        let mut at = value;
        while let ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } = self.expr(at).kind {
            at = operand;
        }
        Some((decl, at))
    }

    /// The condition that a statement assumes.
    fn assumed(&self, stmt: StmtId) -> Option<ExprId> {
        let (called, arguments) = call_of(self.unit, expression_of(self.unit, stmt)?)?;
        matches!(meaning(self.unit, called), Some((_, Known::Assumption))).then_some(())?;
        arguments.first().copied()
    }

    /// The least and the greatest value of a variable that a condition lets through, if they are written so.
    fn bounds(&self, condition: ExprId, decl: DeclId) -> (Option<i32>, Option<i32>) {
        match self.expr(condition).kind {
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => self.bounds(operand, decl),
            ExprKind::Binary { operator: Operator::LogicalAnd, left, right } => {
                let (one, other) = (self.bounds(left, decl), self.bounds(right, decl));
                let both = |one: Option<i32>, other: Option<i32>, of: fn(i32, i32) -> i32| match (one, other) {
                    (Some(one), Some(other)) => Some(of(one, other)),
                    (one, other) => one.or(other),
                };
                (both(one.0, other.0, i32::max), both(one.1, other.1, i32::min))
            }
            ExprKind::Binary { operator, left, right } => {
                let (operator, bound) = match (self.is_variable(left, decl), self.is_variable(right, decl)) {
                    (true, false) => (operator, self.unit.integer(right)),
                    (false, true) => (turned(operator), self.unit.integer(left)),
                    _ => return (None, None),
                };
                let plus = |more: i128| bound.and_then(|bound| i32::try_from(bound + more).ok());
                match operator {
                    Operator::Greater => (plus(1), None),
                    Operator::GreaterEqual => (plus(0), None),
                    Operator::Equal => (plus(0), plus(0)),
                    Operator::LessEqual => (None, plus(0)),
                    Operator::Less => (None, plus(-1)),
                    _ => (None, None),
                }
            }
            _ => (None, None),
        }
    }

    fn is_variable(&self, expr: ExprId, decl: DeclId) -> bool {
        match self.expr(expr).kind {
            ExprKind::Convert { conversion: Conversion::Read, operand } => {
                self.expr(operand).kind == ExprKind::Name(decl)
            }
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => self.is_variable(operand, decl),
            _ => false,
        }
    }
}

/// The comparison with its operands the other way round.
fn turned(operator: Operator) -> Operator {
    match operator {
        Operator::Less => Operator::Greater,
        Operator::LessEqual => Operator::GreaterEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterEqual => Operator::LessEqual,
        other => other,
    }
}
