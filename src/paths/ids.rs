//! Identifiers for the elements of a trace.

use cssame_source::arena::id;

id! {
    /// An action of a trace, in the order of the execution.
    ActionId
}

id! {
    /// An evaluation of a branch in a trace, in the order of the execution.
    EvaluationId
}
