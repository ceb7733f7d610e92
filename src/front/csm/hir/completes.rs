//! Decides whether control can reach the end of a body.
//!
//! **Input**: statements of the typed tree. **Output**: a verdict by their form alone: a condition counts as undecided unless it
//! is the constant `true`, and a call of `error` does not return.

use super::{Constant, Expression, ExpressionKind, Scalar, Statement, StatementKind, SwitchCase};

/// Whether control can reach the end of a body.
pub(super) fn can_complete(body: &[Statement]) -> bool {
    body.iter().all(statement_completes)
}

fn statement_completes(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) | StatementKind::Error(_) | StatementKind::Break | StatementKind::Continue => false,
        StatementKind::Block(body) | StatementKind::Atomic(body) | StatementKind::Synchronized { body, .. } => {
            can_complete(body)
        }
        StatementKind::If { then_branch, else_branch, .. } => {
            statement_completes(then_branch) || else_branch.as_ref().is_none_or(|branch| statement_completes(branch))
        }
        StatementKind::Switch { value, cases } => switch_completes(value, cases),
        StatementKind::While { condition, body, .. } => !is_true(condition) || breaks(body),
        StatementKind::DoWhile { body, condition } => {
            (statement_completes(body) && !is_true(condition)) || breaks(body)
        }
        _ => true,
    }
}

fn is_true(condition: &Expression) -> bool {
    matches!(condition.kind, ExpressionKind::Constant(Constant::Bool(true)))
}

/// Whether a statement of a loop or of a case holds a `break` that leaves it.
fn breaks(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Break => true,
        StatementKind::Block(body) | StatementKind::Atomic(body) | StatementKind::Synchronized { body, .. } => {
            body.iter().any(breaks)
        }
        StatementKind::If { then_branch, else_branch, .. } => {
            breaks(then_branch) || else_branch.as_ref().is_some_and(|branch| breaks(branch))
        }
        _ => false,
    }
}

/// Whether control can reach the end of a switch: past its last body, by a `break`, or where no label fits.
fn switch_completes(value: &Expression, cases: &[SwitchCase]) -> bool {
    let labels = || cases.iter().flat_map(|case| &case.labels);
    let both = value.ty == Scalar::Bool && labels().filter(|label| label.value.is_some()).count() == 2;
    let is_full = both || labels().any(|label| label.value.is_none());
    !is_full
        || cases.iter().any(|case| case.body.iter().any(breaks))
        || cases.last().is_none_or(|last| can_complete(&last.body))
}
