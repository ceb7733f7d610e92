//! Failures and deadlocks in which executions end, whatever the purpose of the executions.
//!
//! **Input**: the ends of executions, with their origins. **Output**: each distinct failure and each distinct deadlock once, with
//! the first execution that has shown it.
//!
//! **Soundness and limits**: all of them are real. Threads are named as users see them, since the numbers of names differ between
//! executions.

use super::place::PlacePair;
use cssame_explore::{BlockedThread, WaitsFor, blocked_threads};
use cssame_ir::TextId;
use cssame_schedule::ExecutionStatus;
use cssame_vm::{Choice, CodeIndex, Failure, FailureKind, Machine, PathId, State, Tables};
use rustc_hash::FxHashMap;

/// Which execution has shown something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The seed that it was made by; none for one that a search has found.
    pub seed: Option<u64>,
    /// The pair of places that it was directed at.
    pub pair: Option<PlacePair>,
}

/// A thread in a deadlock, told apart by names.
type BlockedName = (String, CodeIndex, String);

/// What tells ends apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndKey {
    /// A failure: its kind, what the program says, and where.
    Failure(FailureKind, Option<TextId>, CodeIndex),
    /// A deadlock.
    Deadlock(Vec<BlockedName>),
}

/// A failure or a deadlock, and the execution that ends in it.
#[derive(Clone, Debug)]
pub struct BadEnd {
    /// What tells it from others.
    pub key: EndKey,
    /// For a failure, the same and the thread.
    pub failure: Option<(Failure, String)>,
    /// The execution.
    pub steps: Vec<Choice>,
}

impl BadEnd {
    /// The end of an execution, where it is a failure or a deadlock.
    #[must_use]
    pub fn of(
        machine: &Machine,
        tables: &Tables,
        (status, steps, state): (&ExecutionStatus, &[Choice], &State),
    ) -> Option<BadEnd> {
        match status {
            ExecutionStatus::Failed(failure) => {
                let thread = machine.path_name(tables, state.path(failure.thread));
                Some(BadEnd::failed(*failure, thread, steps.to_vec()))
            }
            ExecutionStatus::Deadlock => {
                let threads = blocked_threads(machine, tables, state);
                Some(BadEnd::blocked(machine, tables, &threads, steps.to_vec()))
            }
            ExecutionStatus::Ok
            | ExecutionStatus::Discarded
            | ExecutionStatus::StepLimit
            | ExecutionStatus::Stopped => None,
        }
    }

    /// A failure.
    #[must_use]
    pub fn failed(failure: Failure, thread: String, steps: Vec<Choice>) -> BadEnd {
        let key = EndKey::Failure(failure.kind, failure.message, failure.at);
        BadEnd { key, failure: Some((failure, thread)), steps }
    }

    /// A deadlock.
    #[must_use]
    pub fn blocked(machine: &Machine, tables: &Tables, threads: &[BlockedThread], steps: Vec<Choice>) -> BadEnd {
        let name = |path| machine.path_name(tables, path);
        let names = |paths: &[PathId]| paths.iter().map(|&path| name(path)).collect::<Vec<_>>().join(" ");
        let named = |thread: &BlockedThread| {
            let awaited = match &thread.waits_for {
                WaitsFor::Lock { object, holder, taken_at } => {
                    format!("{object:?} {:?} {taken_at:?}", holder.map(name))
                }
                WaitsFor::Readers { object, readers } => format!("{object:?} {}", names(readers)),
                WaitsFor::Writers { object, writers } => format!("{object:?} behind {}", names(writers)),
                WaitsFor::Threads(threads) => names(threads),
                other => format!("{other:?}"),
            };
            (name(thread.path), thread.at, awaited)
        };
        BadEnd { key: EndKey::Deadlock(threads.iter().map(named).collect()), failure: None, steps }
    }
}

/// The distinct ends that were met.
#[derive(Clone, Debug, Default)]
pub struct BadEnds {
    list: Vec<(BadEnd, Origin)>,
    known: FxHashMap<EndKey, usize>,
}

impl BadEnds {
    /// Adds an end. One that is known keeps its origin, and gets the shorter execution of a search.
    pub fn add(&mut self, end: BadEnd, origin: Origin) {
        match self.known.get(&end.key) {
            None => {
                self.known.insert(end.key.clone(), self.list.len());
                self.list.push((end, origin));
            }
            Some(&known) => {
                // In it another thread may fail there.
                if origin.seed.is_none() {
                    self.list[known].0 = end;
                }
            }
        }
    }

    /// Adds an end, unless it is known.
    pub fn add_longer(&mut self, end: BadEnd, origin: Origin) {
        if !self.known.contains_key(&end.key) {
            self.add(end, origin);
        }
    }

    /// In the order in which they were met.
    #[must_use]
    pub fn list(&self) -> &[(BadEnd, Origin)] {
        &self.list
    }

    /// Whether none was met.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
