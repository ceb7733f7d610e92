//! Enumerates the classes of a program, state by state.
//!
//! **Input**: a machine, and the threads that may move. **Output**: the number of classes, and an execution for each.
//!
//! **Algorithm**: a search through states, each with the history of its threads ([`Course`]). The histories of all threads and
//! the kind of end identify an end. Executions that reach the same state of the machine with the same histories are in the same
//! class from there on.
//!
//! **Soundness and limits**: exact if no bound is hit. Otherwise each class found is real, and there may be more.

use super::course::{Course, History};
use super::found::{Classes, Found, class_of};
use super::operations::Operations;
use super::scope::Scope;
use cssame_budget::Budget;
use cssame_explore::frame::{self, AtEnds, EndContext, Searched};
use cssame_vm::{Machine, Tables};
use std::ops::ControlFlow;

/// Tells all classes apart, and enters the executions that lead to them.
pub(super) fn enumerate(
    machine: &Machine,
    tables: &Tables,
    (operations, scope): (&Operations, &Scope),
    budget: &Budget<'_>,
    found: &mut Found,
) -> Searched {
    let (mut classes, mut nodes) = (Classes::default(), Vec::new());
    let mut ends = AtEnds::new(|context: &EndContext<'_, Course<'_>>, bytes: &mut u64| {
        let class = class_of(context.machine, context.monitor, context.end, context.state);
        if class.is_some_and(|class| classes.insert(class)) && nodes.len() < found.most {
            nodes.push(context.node);
        }
        *bytes = (classes.capacity() * size_of::<u128>() + nodes.capacity() * size_of::<u32>()) as u64;
        ControlFlow::Continue(())
    });
    let course = Course::new(operations, scope, Some(History::default()));
    let searched = frame::search_with_names(machine, tables.clone(), budget, course, &mut ends);
    found.schedules = nodes.iter().map(|&node| searched.graph.path_to(node)).collect();
    found.classes = classes;
    searched
}
