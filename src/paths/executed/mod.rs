//! Finds the branch outcomes, waits and unprotected pairs of all executions.
//!
//! **Input**: a program with its machine, the accesses that are operations, names of threads, and a budget. **Output**:
//! [`ExecutedAnswer`]: for each instance of a branch, the outcomes that it has in some execution; for each instance of a wait,
//! whether it returns, and whether an execution ends in a deadlock while it waits; and the unprotected pairs. Each fact has an
//! execution that shows it.
//!
//! The K-th instance of a branch is its K-th evaluation by a thread, and likewise for a wait. Two operations of different threads
//! on one cell are an *unprotected pair* under four conditions. One of them writes. Not both are atomic (in an atomic block, of
//! an atomic expression, or of a variable that is declared so). No lock is held at both. Fork, join, spawn and the end of threads
//! alone do not order them.
//!
//! **Algorithm**:
//! 1. Search all states together with a monitor (`monitor`). It remembers how often each thread has reached each branch and wait,
//!    and which operations are not ordered before each thread. Outputs and last writers are ignored.
//! 2. Record the first step that shows each fact (`recorder`). If executions may be discarded, record every such step, and take
//!    the first one from which some execution continues that is not discarded.
//! 3. Complete the executions.
//! 4. If a small number of states does not suffice, check whether one execution of each future shows everything (`executions`).
//!
//! **Soundness and limits**: exact if no bound was hit. Otherwise the facts found are real, and others stay unknown. Executions
//! that deadlock, fail or never end count; discarded ones do not. Evaluations beyond a maximum number of instances count as the
//! last instance, so that loops have finitely many states. A program that creates threads in an endless loop still has infinitely
//! many states, since each thread has its own name. A wait has returned once it is notified, even if it still has to wait for its
//! lock. The outcome of a branch is that of the machine's condition, which may be the negation of the text. The execution that
//! shows a fact is complete if an execution to an end is known.

mod executions;
mod monitor;
mod recorder;
mod records;

use crate::classes::Operations;
use cssame_budget::{Bound, Budget, Statistics};
use cssame_explore::frame::each_future;
use cssame_explore::frame::{self, Searched};
use cssame_ir::{Access, Program};
use cssame_vm::{Choice, CodeIndex, Machine, PathId, Tables};
pub use executions::executed_by_executions;
use monitor::{ExecutedMonitor, Fixed};
use recorder::Recorder;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct ExecutedRequest<'a> {
    /// The cells whose accesses are operations, if they are visible. Initial definitions are none.
    pub operations: &'a Operations,
    /// Names of threads that are known before; they keep their ids.
    pub tables: &'a Tables,
    /// Instances of branches and waits beyond this one, at least 1, count as this one.
    pub max_instance: u32,
}

/// An outcome of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchOutcome {
    /// Who evaluates the condition.
    pub thread: PathId,
    /// The branch.
    pub at: CodeIndex,
    /// Which evaluation of it by the thread, from 1.
    pub instance: u32,
    /// Whether the machine's condition holds; [`Block::negated`](cssame_ir::Block::negated) says whether the text is
    /// its negation.
    pub holds: bool,
    /// An execution that shows it.
    pub schedule: Vec<Choice>,
}

/// Whether a wait comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitOutcome {
    /// Who waits.
    pub thread: PathId,
    /// The operation: a wait, lowering a semaphore, or a barrier.
    pub at: CodeIndex,
    /// Which wait of the thread there, from 1.
    pub instance: u32,
    /// Whether it comes back; else the execution ends in a deadlock while it waits.
    pub woken: bool,
    /// An execution that shows it.
    pub schedule: Vec<Choice>,
}

/// An unprotected pair; see the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnprotectedPair {
    /// The accesses, sorted.
    pub accesses: [Access; 2],
    /// Who makes them in the execution.
    pub threads: [PathId; 2],
    /// An execution that shows it.
    pub schedule: Vec<Choice>,
}

/// What executions have.
#[derive(Clone, Debug)]
pub struct ExecutedAnswer {
    /// By thread, branch, instance and outcome.
    pub outcomes: Vec<BranchOutcome>,
    /// By accesses, each two once.
    pub pairs: Vec<UnprotectedPair>,
    /// By thread, operation, instance and outcome.
    pub waits: Vec<WaitOutcome>,
    /// Instances beyond this one count as this one.
    pub instances_up_to: u32,
    /// The bound that was hit; `None` if every state was visited, or one execution of each future.
    pub bound: Option<Bound>,
    /// How much was visited by the search that has the answer.
    pub statistics: Statistics,
    /// Names of threads; those that were given have the same ids.
    pub tables: Tables,
}

/// Finds all branch outcomes, waits and unprotected pairs by a search through all states, or by one execution of each future.
#[must_use]
pub fn executed(
    machine: &Machine,
    program: &Program,
    request: &ExecutedRequest<'_>,
    budget: &Budget<'_>,
) -> ExecutedAnswer {
    if let Some(few) = each_future::few_states(machine, budget) {
        let found = executed_by_states(machine, program, request, &few);
        if found.bound.is_none() {
            return found;
        }
        if let Some(answer) = executed_by_executions(machine, program, request, &few) {
            return answer;
        }
    }
    let found = executed_by_states(machine, program, request, budget);
    let are_too_many = matches!(found.bound, Some(Bound::States | Bound::Memory));
    let answer = are_too_many.then(|| executed_by_executions(machine, program, request, budget)).flatten();
    answer.unwrap_or(found)
}

/// The same by states alone.
fn executed_by_states(
    machine: &Machine,
    program: &Program,
    request: &ExecutedRequest<'_>,
    budget: &Budget<'_>,
) -> ExecutedAnswer {
    let fixed = Fixed::new(machine, program, request);
    let mut recorder = Recorder::new(machine.may_discard());
    let monitor = ExecutedMonitor::new(&fixed);
    let searched = frame::search_with_names(machine, request.tables.clone(), budget, monitor, &mut recorder);
    let (outcomes, waits, pairs) = recorder.lists(machine, &searched);
    let Searched { tables, statistics, bound, .. } = searched;
    let instances_up_to = request.max_instance.max(1);
    ExecutedAnswer { outcomes, pairs, waits, instances_up_to, bound, statistics, tables }
}

/// What a step shows.
#[derive(Clone, Copy, Debug)]
enum Note {
    Branch { thread: PathId, at: CodeIndex, instance: u32, holds: bool },
    Woken { thread: PathId, at: CodeIndex, instance: u32 },
    Pair { accesses: [Access; 2], threads: [PathId; 2] },
}

#[cfg(test)]
mod tests;
