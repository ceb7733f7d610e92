//! The failures that a search meets: what makes two of them one, and their order in an answer.

use crate::answer::FailureWitness;
use cssame_ir::TextId;
use cssame_vm::{Choice, CodeIndex, Failure, FailureKind, Machine, PathId};
use rustc_hash::FxHashMap;

/// What tells failures apart: kind, message and place.
pub(crate) type FailureKey = (FailureKind, Option<TextId>, CodeIndex);

/// See [`FailureKey`].
pub(crate) fn failure_key(machine: &Machine, failure: &Failure) -> FailureKey {
    (failure.kind, failure.message, machine.place(failure.at))
}

/// The failures that a search has met, each with a thread, and with what shows it, of which `schedule` makes an execution.
pub(crate) fn failure_list(
    machine: &Machine,
    found: FxHashMap<FailureKey, (Failure, PathId, u32)>,
    schedule: impl Fn(u32) -> Vec<Choice>,
) -> Vec<FailureWitness> {
    let witness = |(failure, path, shown)| FailureWitness { failure, path, schedule: schedule(shown) };
    let mut failures: Vec<FailureWitness> = found.into_values().map(witness).collect();
    sort_failures(machine, &mut failures);
    failures
}

/// Brings failures into the order of an answer: by place.
pub(crate) fn sort_failures(machine: &Machine, failures: &mut [FailureWitness]) {
    failures.sort_by_key(|witness| {
        let Failure { kind, at, message, .. } = witness.failure;
        (machine.span(at), kind, at, message)
    });
}
