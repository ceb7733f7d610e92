//! Whether the classes of a program have an end.
//!
//! **Input**: a machine, and who may move. **Output**: whether a cycle of states can be reached in which some step
//! performs an operation.
//!
//! **Algorithm**: a search through states, without what their threads have done, for
//! [cycles with such a step](MarkedSteps).
//!
//! **Soundness and limits**: whoever goes round such a cycle once more has performed more operations, so executions, or
//! their beginnings where they have no end, differ in them without an end. A cycle that was found is one even where a
//! bound has cut the search; only a whole search shows that there is none. States that have no end without a cycle, such
//! as those of a counter that only grows, are cut by a bound.

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
