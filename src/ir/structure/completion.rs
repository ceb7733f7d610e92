//! Determines which statements can complete, by the rules of Java.
//!
//! **Input**: statements. **Output**: whether they complete normally (Java Language Specification 14.22), so that a statement may
//! follow them, and a function with a result needs one there.
//!
//! **Algorithm**: the rules, with every condition treated as not constant. Every `break` counts as reachable:
//! [`super::structured`] generates only reachable ones.

use super::{Label, Structured};

/// Whether the statements, one after the other, come to their end. An `if` without `else` does, whatever its condition; so
/// does a [`Structured::While`]. A [`Structured::Loop`] or a labelled block is left by a `break`.
#[must_use]
pub fn completes(statements: &[Structured]) -> bool {
    statements.iter().all(|statement| match statement {
        Structured::Block(_) | Structured::While { .. } => true,
        Structured::If { then, otherwise, .. } => otherwise.is_empty() || completes(then) || completes(otherwise),
        Structured::Loop { label, body } => is_left(body, *label, true),
        Structured::Labelled { label, body } => completes(body) || is_left(body, Some(*label), false),
        Structured::Break(_) | Structured::Continue(_) | Structured::Return { .. } => false,
    })
}

/// Whether a `break` in the body leaves what has that label; `is_innermost`: a loop that one without a label leaves.
fn is_left(body: &[Structured], label: Option<Label>, is_innermost: bool) -> bool {
    body.iter().any(|statement| match statement {
        Structured::Break(None) => is_innermost,
        Structured::Break(target) => *target == label,
        Structured::If { then, otherwise, .. } => {
            is_left(then, label, is_innermost) || is_left(otherwise, label, is_innermost)
        }
        Structured::Loop { body, .. } | Structured::While { body, .. } => is_left(body, label, false),
        Structured::Labelled { body, .. } => is_left(body, label, is_innermost),
        Structured::Block(_) | Structured::Continue(_) | Structured::Return { .. } => false,
    })
}
