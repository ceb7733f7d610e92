//! Questions that several steps ask of a tree, and what they answer where it is not read.

use crate::supported::library::{self, Known, known};
use crate::supported::{Obstacle, Reason, without_conversions};
use crate::tree::{Conversion, DeclId, ExprId, ExprKind, Place, StmtId, StmtKind, TypeId, TypeKind, Unit};

/// What a step gives, or the first thing that it cannot read.
pub type Done<T> = Result<T, Obstacle>;

/// A refusal.
pub fn refuse<T>(reason: Reason, place: Place) -> Done<T> {
    Err(Obstacle { place, reason })
}

/// The meaning of a function by its name, where the name gives it one.
pub fn meaning(unit: &Unit, decl: DeclId) -> Option<(&str, Known)> {
    let declared = &unit.declarations[decl];
    let name = declared.name.as_deref()?;
    let meaning = known(name).filter(|_| declared.body.is_none() || library::is_meant_despite_body(name));
    meaning.map(|meaning| (name, meaning))
}

/// Whether a function runs as one section by its name.
pub fn is_section(name: &str) -> bool {
    name.strip_prefix("__VERIFIER_atomic_").is_some_and(|rest| !matches!(rest, "begin" | "end"))
}

/// What a pointer was before it became one to `void`.
pub fn without_void(unit: &Unit, expr: ExprId) -> ExprId {
    let mut at = expr;
    loop {
        let operand = match unit.expressions[at].kind {
            ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand } => operand,
            _ => return at,
        };
        let is_void = |ty: Option<TypeId>| ty.is_some_and(|ty| matches!(unit.types[ty].kind, TypeKind::Void));
        let same = |one: Option<TypeId>, other: Option<TypeId>| match (one, other) {
            (Some(one), Some(other)) => unit.types[one].kind == unit.types[other].kind,
            _ => false,
        };
        let (from, to) = (unit.pointee(unit.expressions[operand].ty), unit.pointee(unit.expressions[at].ty));
        if from.is_none() || !(is_void(to) || is_void(from) || same(from, to)) {
            return at;
        }
        at = operand;
    }
}

/// The call that an expression is, behind conversions: its function and its arguments.
pub fn call_of(unit: &Unit, expr: ExprId) -> Option<(DeclId, &[ExprId])> {
    let mut at = expr;
    loop {
        match &unit.expressions[at].kind {
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => at = *operand,
            ExprKind::Call { callee, arguments } => return Some((unit.called(*callee)?, arguments)),
            _ => return None,
        }
    }
}

/// The call that an expression is, behind casts of pointers.
pub fn called_for(unit: &Unit, expr: ExprId) -> Option<ExprId> {
    let at = without_conversions(unit, expr);
    matches!(unit.expressions[at].kind, ExprKind::Call { .. }).then_some(at)
}

/// The expression that a statement consists of.
pub fn expression_of(unit: &Unit, stmt: StmtId) -> Option<ExprId> {
    match &unit.statements[stmt].kind {
        StmtKind::Expression(expr) => Some(*expr),
        StmtKind::Block(list) => match list.as_ref() {
            [only] => expression_of(unit, *only),
            _ => None,
        },
        _ => None,
    }
}
