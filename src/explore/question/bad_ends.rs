//! The failures and deadlocks that a search finds, each once.
//!
//! **Input**: the states in which executions end, one after the other, each with data that leads to its schedule. **Output**:
//! failures, by place, and deadlocks, in the order in which they were found, each with an execution.
//!
//! Two failures are equal if kind, message and place are the same. Two deadlocks are equal if the same threads stand at the same
//! places and wait for the same objects. A place is a place of the text: the copy of a function in which a call runs does not
//! matter.

use crate::answer::FailureWitness;
use crate::deadlock::{BlockedThread, Deadlock, blocked_threads, places};
use crate::states::End;
use cssame_ir::TextId;
use cssame_vm::{Choice, CodeIndex, Failure, FailureKind, Machine, PathId, State, Tables};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::hash_map::Entry;

/// What tells failures apart: kind, message and place.
type FailureKey = (FailureKind, Option<TextId>, CodeIndex);

fn failure_key(machine: &Machine, failure: &Failure) -> FailureKey {
    (failure.kind, failure.message, machine.place(failure.at))
}

/// See the module. `W` leads to a schedule.
#[derive(Clone, Debug)]
pub(crate) struct BadEnds<W> {
    failures: FxHashMap<FailureKey, (Failure, PathId, W)>,
    deadlocks: IndexMap<Vec<BlockedThread>, (Vec<BlockedThread>, W), FxBuildHasher>,
}

impl<W> Default for BadEnds<W> {
    fn default() -> Self {
        BadEnds { failures: FxHashMap::default(), deadlocks: IndexMap::default() }
    }
}

impl BadEnds<Vec<Choice>> {
    /// Takes those of an answer out of it.
    pub(crate) fn take(
        machine: &Machine,
        (failures, deadlocks): (&mut Vec<FailureWitness>, &mut Vec<Deadlock>),
    ) -> BadEnds<Vec<Choice>> {
        let failure =
            |FailureWitness { failure, path, schedule }| (failure_key(machine, &failure), (failure, path, schedule));
        let deadlock = |Deadlock { threads, schedule }| (places(machine, &threads), (threads, schedule));
        BadEnds {
            failures: std::mem::take(failures).into_iter().map(failure).collect(),
            deadlocks: std::mem::take(deadlocks).into_iter().map(deadlock).collect(),
        }
    }
}

impl<W> BadEnds<W> {
    /// Notes how an execution ends; whether that is new.
    pub(crate) fn note(
        &mut self,
        (machine, tables, state): (&Machine, &Tables, &State),
        end: End,
        witness: impl FnOnce() -> W,
    ) -> bool {
        match end {
            End::Finished => false,
            End::Failed(failure) => match self.failures.entry(failure_key(machine, &failure)) {
                Entry::Vacant(vacant) => {
                    vacant.insert((failure, state.path(failure.thread), witness()));
                    true
                }
                Entry::Occupied(_) => false,
            },
            End::Deadlock => {
                let threads = blocked_threads(machine, tables, state);
                let at = places(machine, &threads);
                let is_new = !self.deadlocks.contains_key(&at);
                if is_new {
                    self.deadlocks.insert(at, (threads, witness()));
                }
                is_new
            }
        }
    }

    /// Memory that the deadlocks take; failures are as many as places of the text at most.
    pub(crate) fn bytes(&self) -> u64 {
        let threads: usize = self.deadlocks.keys().map(|threads| 2 * threads.len()).sum();
        (threads * size_of::<BlockedThread>()) as u64
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.failures.is_empty() && self.deadlocks.is_empty()
    }

    /// What leads to their schedules: of failures, and of deadlocks in the order in which they were met.
    pub(crate) fn into_witnesses(self) -> Vec<W> {
        let failures = self.failures.into_values().map(|(_, _, shown)| shown);
        failures.chain(self.deadlocks.into_values().map(|(_, shown)| shown)).collect()
    }

    /// All of them.
    pub(crate) fn lists(
        self,
        machine: &Machine,
        schedule: impl Fn(W) -> Vec<Choice>,
    ) -> (Vec<FailureWitness>, Vec<Deadlock>) {
        let (failures, deadlocks) = self.witnesses(machine);
        let witness = |(failure, path, shown)| FailureWitness { failure, path, schedule: schedule(shown) };
        let deadlock = |(threads, shown)| Deadlock { threads, schedule: schedule(shown) };
        (failures.into_iter().map(witness).collect(), deadlocks.into_iter().map(deadlock).collect())
    }

    /// All of them, failures by place, with what leads to their schedules.
    pub(crate) fn witnesses(self, machine: &Machine) -> (Vec<(Failure, PathId, W)>, Vec<(Vec<BlockedThread>, W)>) {
        let mut failures: Vec<_> = self.failures.into_values().collect();
        failures.sort_by_key(|(Failure { kind, at, message, .. }, ..)| (machine.span(*at), *kind, *at, *message));
        (failures, self.deadlocks.into_values().collect())
    }
}
