//! The failures that a search meets: what makes two of them one, and their order in an answer.

use crate::explore::answer::FailureWitness;
use crate::explore::states::graph::Graph;
use crate::ir::TextId;
use crate::vm::{CodeIndex, Failure, FailureKind, Machine, PathId};
use rustc_hash::FxHashMap;

/// What tells failures apart: kind, message and place.
pub(in crate::explore) type FailureKey = (FailureKind, Option<TextId>, CodeIndex);

/// The failures of a search through states, each with a thread and a node that show it.
pub(in crate::explore) fn failure_list(
    machine: &Machine,
    graph: &Graph,
    found: FxHashMap<FailureKey, (Failure, PathId, u32)>,
) -> Vec<FailureWitness> {
    let mut failures: Vec<FailureWitness> = found
        .into_values()
        .map(|(failure, path, node)| FailureWitness { failure, path, schedule: graph.path_to(node) })
        .collect();
    sort_failures(machine, &mut failures);
    failures
}

/// Brings failures into the order of an answer: by place.
pub(in crate::explore) fn sort_failures(machine: &Machine, failures: &mut [FailureWitness]) {
    failures.sort_by_key(|witness| {
        let Failure { kind, at, message, .. } = witness.failure;
        (machine.span(at), kind, at, message)
    });
}
