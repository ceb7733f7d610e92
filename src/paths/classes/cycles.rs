//! Decides whether the number of classes of a program is finite.
//!
//! **Input**: a machine, and the threads that may move. **Output**: whether a reachable cycle of states contains a step that
//! performs an operation.
//!
//! **Algorithm**: a search through states, without the history of their threads, for [cycles with such a step](MarkedSteps).
//!
//! **Soundness and limits**: each further iteration of such a cycle performs more operations, so there are infinitely many
//! different executions (or beginnings of endless executions). A cycle that was found exists even if a bound has cut the search;
//! only a complete search shows that there is none. An infinite state space without a cycle, such as that of a counter that only
//! grows, is cut by a bound.

use super::course::Course;
use super::operations::Operations;
use super::scope::Scope;
use cssame_budget::{Bound, Budget, Statistics};
use cssame_explore::frame;
use cssame_explore::frame::MarkedSteps;
use cssame_vm::{Event, Machine, Tables};

/// What is known of cycles.
pub(super) struct Cycles {
    /// A cycle with an operation was found.
    pub(super) with_operation: bool,
    /// The bound that was hit: there may be others.
    pub(super) bound: Option<Bound>,
    pub(super) statistics: Statistics,
}

/// Looks for cycles with an operation.
pub(super) fn find_cycles(
    machine: &Machine,
    tables: &Tables,
    (operations, scope): (&Operations, &Scope),
    budget: &Budget<'_>,
) -> Cycles {
    let mut marked = MarkedSteps::new(|event: Event| match event {
        Event::Read { cell, shared: true, .. } | Event::Write { cell, shared: true, .. } => operations.contains(cell),
        _ => false,
    });
    let course = Course::new(operations, scope, None);
    let searched = frame::search_with_names(machine, tables.clone(), budget, course, &mut marked);
    let with_operation = marked.are_on_cycle(&searched.graph, &|_| true);
    Cycles { with_operation, bound: searched.bound, statistics: searched.statistics }
}
