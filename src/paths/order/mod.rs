//! Decides whether operations can happen in a given order before a branch is evaluated.
//!
//! **Input**: operations of threads ([`OrderStep`]), some of them in an order, an instance of a branch or a wait ([`Target`]),
//! names of threads, and a budget. **Output**: [`OrderVerdict`]: an execution in which the operations happen in this order, then
//! the target is reached, and none of the other operations comes before (see [`Others`]); or the statement that there is none.
//!
//! **Algorithm**: a search through all states with a monitor (`monitor`), which tracks the progress in the order. The search does
//! not follow an execution that departs from the order, or one in which a thread cannot reach its part any more
//! ([`Ahead`](super::ahead::Ahead)). Outputs and last writers are ignored. The search ends with the first state in which the
//! target is reached. If executions may be discarded, it ends with the first end after such a state. If none ends, an endless
//! execution counts, unless it is discarded.
//!
//! **Soundness and limits**: exact if no bound was hit. The machine evaluates a condition together with the preceding operation
//! of the thread: nothing can come between the two. The execution is complete if an execution to an end is known. If the program
//! has no `assume` and no `choose`, the threads take turns after the target, and an execution that does not end soon stays
//! incomplete.

mod monitor;

use cssame_budget::{Bound, Budget, Statistics};
use cssame_explore::frame::witness;
use cssame_explore::frame::{self, EndContext, Searched, Transition, Visitor};
use cssame_ir::{Access, Program};
use cssame_vm::{Choice, CodeIndex, Machine, PathId, Tables};
use monitor::{Fixed, OrderMonitor};
use std::ops::ControlFlow;

/// An operation of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderStep {
    /// Who does it.
    pub thread: PathId,
    /// The access.
    pub access: Access,
    /// Which execution of the access by the thread, from 1.
    pub instance: u32,
}

/// What is to be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// An evaluation of a branch.
    Branch {
        /// Who evaluates it.
        thread: PathId,
        /// The branch.
        at: CodeIndex,
        /// Which evaluation, from 1.
        instance: u32,
    },
    /// The beginning of a wait. A wait for an event or a semaphore begins when the thread stands before it.
    WaitBegins {
        /// Who waits.
        thread: PathId,
        /// The wait, the lowering of a semaphore, or the barrier.
        at: CodeIndex,
        /// Which wait of the thread there, from 1.
        instance: u32,
    },
    /// The end of a wait: its notification, the event, the semaphore, or the last arrival at the barrier.
    WaitEnds {
        /// Who waits.
        thread: PathId,
        /// The wait, the lowering of a semaphore, or the barrier.
        at: CodeIndex,
        /// Which wait of the thread there, from 1.
        instance: u32,
    },
}

impl Target {
    /// Who, where, and which instance.
    #[must_use]
    pub fn parts(self) -> (PathId, CodeIndex, u32) {
        let (Target::Branch { thread, at, instance }
        | Target::WaitBegins { thread, at, instance }
        | Target::WaitEnds { thread, at, instance }) = self;
        (thread, at, instance)
    }
}

/// When operations that are not in the order may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// After the target, or never.
    #[default]
    AfterTarget,
    /// After the last operation of the order, or never: for an order that is cut behind the last operation that
    /// matters.
    AfterOrder,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRequest {
    /// All operations that matter, each once.
    pub members: Vec<OrderStep>,
    /// Those that come before the target, in this order: places in `members`.
    pub order: Vec<usize>,
    /// What is to be reached.
    pub target: Target,
    /// When the other members may happen.
    pub others: Others,
}

/// Whether there is such an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderVerdict {
    /// This one.
    Possible(Vec<Choice>),
    /// There is none.
    Impossible,
    /// A bound was hit before that was known.
    Undecided(Bound),
}

/// The answer of a search.
#[derive(Clone, Debug)]
pub struct OrderAnswer {
    /// The verdict.
    pub verdict: OrderVerdict,
    /// How much was visited.
    pub statistics: Statistics,
}

/// Looks for an execution with that order. `tables` hold the names of threads that the request speaks of.
#[must_use]
pub fn order(
    machine: &Machine,
    program: &Program,
    request: &OrderRequest,
    tables: &Tables,
    budget: &Budget<'_>,
) -> OrderAnswer {
    let Some(fixed) = Fixed::new(machine, program, request) else {
        return OrderAnswer { verdict: OrderVerdict::Impossible, statistics: Statistics::default() };
    };
    let may_discard = machine.may_discard();
    let mut finder = Finder { may_discard, reached: Vec::new(), end: None };
    let searched = frame::search_with_names(machine, tables.clone(), budget, OrderMonitor::new(&fixed), &mut finder);
    let verdict = match (finder.witness(machine, &searched), searched.bound) {
        (Some(schedule), _) => OrderVerdict::Possible(schedule),
        (None, Some(bound)) => OrderVerdict::Undecided(bound),
        (None, None) => OrderVerdict::Impossible,
    };
    OrderAnswer { verdict, statistics: searched.statistics }
}

/// Notes the steps that reach the target.
struct Finder {
    may_discard: bool,
    /// The states that they lead to.
    reached: Vec<u32>,
    /// The first end behind such a step, where executions may be discarded.
    end: Option<u32>,
}

impl Finder {
    fn witness(&self, machine: &Machine, searched: &Searched) -> Option<Vec<Choice>> {
        let end = self.end.map(|end| searched.graph.path_to(end));
        end.or_else(|| witness(machine, &searched.graph, &self.reached))
    }
}

impl Visitor<OrderMonitor<'_>> for Finder {
    fn transition(&mut self, transition: &Transition, notes: &[()]) {
        if !notes.is_empty() && self.reached.last() != Some(&transition.to) {
            self.reached.push(transition.to);
        }
    }

    fn is_enough(&self) -> bool {
        !self.may_discard && !self.reached.is_empty()
    }

    fn bytes(&self) -> u64 {
        (self.reached.capacity() * size_of::<u32>()) as u64
    }

    fn end(&mut self, context: &EndContext<'_, OrderMonitor<'_>>) -> ControlFlow<()> {
        if context.monitor.has_reached() {
            self.end = Some(context.node);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
