//! Enumerates the classes of a program, state by state.
//!
//! **Input**: a machine, and who may move. **Output**: the number of classes, and an execution for each.
//!
//! **Algorithm**: a search through states, each with what its threads have done ([`Course`]). Ends are told apart by the
//! histories of all threads and by how the execution has ended. Who can reach the same state of the machine with the
//! same histories is in the same class from there on.
//!
//! **Soundness and limits**: exact where no bound is hit; else each class that was found is one, and there may be more.

use super::course::{Course, History};
use super::found::{Classes, Found, class_of};
use super::operations::Operations;
use super::scope::Scope;
use crate::states::{self, EndContext, Searched, Transition, Visitor};
use cssame_budget::Budget;
use cssame_vm::{CodeIndex, Event, Machine, Observer, Tables, ThreadName};
use std::ops::ControlFlow;

/// Tells all classes apart, and enters the executions that lead to them.
pub(super) fn enumerate(
    machine: &Machine,
    tables: &Tables,
    (operations, scope): (&Operations, &Scope),
    budget: &Budget<'_>,
    found: &mut Found,
) -> Searched {
    let mut ends = Ends { classes: Classes::default(), nodes: Vec::new(), most: found.most };
    let course = Course::new(operations, scope, Some(History::default()));
    let searched = states::search_with_names(machine, tables.clone(), budget, course, &mut ends);
    found.schedules = ends.nodes.iter().map(|&node| searched.graph.path_to(node)).collect();
    found.classes = ends.classes;
    searched
}

/// Collects the ends of executions.
struct Ends {
    classes: Classes,
    /// The first node of each class.
    nodes: Vec<u32>,
    most: usize,
}

impl Observer for Ends {
    const ACTIVE: bool = false;
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, _: Event) {}
}

impl Visitor<Course<'_>> for Ends {
    fn asks_for_edges(&self) -> bool {
        false
    }

    fn begin(&mut self) {}

    fn bytes(&self) -> u64 {
        (self.classes.capacity() * size_of::<u128>() + self.nodes.capacity() * size_of::<u32>()) as u64
    }

    fn transition(&mut self, _: &Transition) {}

    fn end(&mut self, context: &EndContext<'_, Course<'_>>) -> ControlFlow<()> {
        let class = class_of(context.machine, context.monitor, context.end, context.state);
        if class.is_some_and(|class| self.classes.insert(class)) && self.nodes.len() < self.most {
            self.nodes.push(context.node);
        }
        ControlFlow::Continue(())
    }
}
