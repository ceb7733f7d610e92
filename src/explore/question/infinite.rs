//! Decides whether a program has infinitely many futures, or none.
//!
//! **Input**: a machine and a budget. **Output**: whether there is a reachable cycle of states with a step that reads, chooses or
//! receives a verdict, and from which an execution can end; and whether no execution ends at all.
//!
//! **Algorithm**: a search through states, without data that has no influence on the rest of an execution, for [cycles with such
//! a step](crate::question::cycles).
//!
//! **Soundness and limits**: each further iteration of such a cycle before the end yields another future, since some thread has
//! evaluated more reads. If there is none and all states were visited, the number of reads in executions that end is bounded, and
//! there are finitely many futures. A cycle that was found exists even if a bound has cut the search. A program whose data grows
//! for ever, such as one that counts its waits, has no such cycle.

use super::cycles::MarkedSteps;
use super::steps::Forgetful;
use crate::states;
use cssame_budget::{Budget, Statistics};
use cssame_vm::{Event, Machine};

/// What is known of the number of futures.
pub(super) struct Infinite {
    /// Whether there are infinitely many for certain.
    pub(super) proven: bool,
    /// Whether no execution has an end.
    pub(super) none: bool,
    pub(super) statistics: Statistics,
}

/// Looks for a cycle that makes futures infinitely many, and for ends.
pub(super) fn infinite_or_none(machine: &Machine, budget: &Budget<'_>) -> Infinite {
    let mut marked = MarkedSteps::new(|event: Event| {
        matches!(event, Event::Read { shared: true, .. } | Event::Choose { .. } | Event::Verdict { .. })
    });
    let searched = states::search(machine, budget, Forgetful, &mut marked);
    let graph = &searched.graph;
    let ends: Vec<u32> = (0..graph.len() as u32).filter(|&node| graph.kind(node).is_end()).collect();
    let none = ends.is_empty() && searched.bound.is_none();
    let can_end = graph.reversed().closure(ends);
    let proven = marked.are_on_cycle(graph, &|node| can_end.contains(node as usize));
    Infinite { proven, none, statistics: searched.statistics }
}
