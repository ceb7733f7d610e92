//! Decides whether some execution tears two touches of a method apart.
//!
//! In: a [`Watch`]: a method that touches two variables which belong together, with synchronisation in between, and another
//! method. Out: an execution that shows the tear, or that none does. A *tear* is what no serial order of the two
//! activations could show: the method touches one variable, then an activation of the other method, in another thread,
//! makes an access that conflicts with that touch and one that conflicts with the second touch, and then the second touch
//! comes; and values are different for it: what is read has changed since, what is written was seen before. Also a tear:
//! the method writes both from one source, which the other method changes in between, so that the method reads two values
//! of it; a variable that the method reads, another one changes, and the method overwrites from its copy; and where the
//! other method fails after it has seen one half new and one old, so that the second touch, which other executions come
//! to, is not awaited. docs/correlation.md says it for users.
//!
//! The search goes through all states together with a ghost (`ghost`) that remembers the open touches (`touch`). It does not see
//! accesses to private variables.

mod ghost;
mod touch;
mod watch;
mod words;

pub use watch::{Side, Watch};

use crate::budget::{Bound, Budget, Statistics};
use crate::explore::states::assumption::lasting_states;
use crate::explore::states::completion::Completion;
use crate::explore::states::{self, EndContext, Searched, Transition, Visitor};
use crate::ir::Program;
use crate::schedule::{ExecutionStatus, Experiment, Random, Trial, Trials};
use crate::vm::{Choice, CodeIndex, Event, Machine, Observer, ThreadName};
use ghost::{Fixed, TearGhost};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Whether the two can be torn apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tear {
    /// By this execution.
    Found {
        /// To its end where one was found.
        schedule: Vec<Choice>,
    },
    /// By none.
    Impossible,
    /// A bound was hit before that was known.
    Undecided(Option<Bound>),
}

/// The answer of a search.
#[derive(Clone, Debug)]
pub struct TearAnswer {
    /// The verdict.
    pub tear: Tear,
    /// How much was visited.
    pub statistics: Statistics,
}

/// Looks for an execution that tears the two touches apart.
pub fn tear(machine: &Machine, program: &Program, watch: &Watch, budget: &Budget<'_>) -> TearAnswer {
    let fixed = Arc::new(Fixed::new(program, watch));
    let may_discard = machine.may_discard();
    let mut finder = Finder { fixed: Arc::clone(&fixed), may_discard, torn: Vec::new(), half: None, end: None };
    let searched = states::search(machine, budget, TearGhost::new(Arc::clone(&fixed)), &mut finder);
    let tear = match finder.witness(machine, &searched) {
        Some(schedule) => Tear::Found { schedule },
        None if searched.bound.is_some() || fixed.signals.overflow.get() => Tear::Undecided(searched.bound),
        None => Tear::Impossible,
    };
    TearAnswer { tear, statistics: searched.statistics }
}

/// Executions that [`tear_at_random`] tries.
const EXECUTIONS: u64 = 100;

/// Steps of each of them at most.
const STEPS: u64 = 5_000;

/// Looks for an execution that tears the two touches apart among some at random, the same ones each time: a cheap means
/// where a search is too deep. Finding none says nothing.
pub fn tear_at_random(machine: &Machine, program: &Program, watch: &Watch, budget: &Budget<'_>) -> Option<Vec<Choice>> {
    let trials = Trials { machine, seeds: 0..EXECUTIONS, max_steps: STEPS, budget };
    let mut found = None;
    trials.run(&RandomTears { fixed: Arc::new(Fixed::new(program, watch)) }, |_, torn| {
        found = torn;
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// Executions at random, of which those are kept that tear and come to an end.
struct RandomTears {
    fixed: Arc<Fixed>,
}

impl Experiment for RandomTears {
    type Policy = Random;
    type Observer = TearGhost;
    type Outcome = Option<Vec<Choice>>;

    fn begin(&self, seed: u64) -> (Random, TearGhost) {
        (Random::new(seed), TearGhost::new(Arc::clone(&self.fixed)))
    }

    fn outcome(&self, trial: &Trial<'_, TearGhost>) -> Option<Vec<Choice>> {
        let ends = matches!(trial.status, ExecutionStatus::Ok | ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock);
        (trial.observer.torn && ends).then(|| trial.steps.to_vec())
    }
}

/// Notes the steps that tear.
struct Finder {
    fixed: Arc<Fixed>,
    may_discard: bool,
    /// The states behind them.
    torn: Vec<u32>,
    /// The first failure of the other method on halves.
    half: Option<u32>,
    /// The end of an execution that has torn.
    end: Option<u32>,
}

impl Finder {
    fn has_half(&self) -> bool {
        self.half.is_some() && self.fixed.signals.completed.get()
    }

    /// The first execution that shows it, as far to its end as is known.
    fn witness(&self, machine: &Machine, searched: &Searched) -> Option<Vec<Choice>> {
        let graph = &searched.graph;
        if let Some(end) = self.end {
            return Some(graph.path_to(end));
        }
        // Where executions may be discarded, this one must not be.
        let lasting = (self.may_discard && !self.torn.is_empty()).then(|| lasting_states(graph, false));
        let mut torn = self.torn.iter().copied();
        let torn = torn.find(|&node| lasting.as_ref().is_none_or(|states| states.contains(node as usize)));
        if let Some(node) = torn {
            let mut schedule = graph.path_to(node);
            Completion::new(machine, graph).complete(&mut schedule, node);
            return Some(schedule);
        }
        self.half.filter(|_| self.has_half()).map(|node| graph.path_to(node))
    }
}

impl Observer for Finder {
    const ACTIVE: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, _: Event) {}
}

impl Visitor<TearGhost> for Finder {
    // It asks what the ghost has just seen.
    const APART: bool = false;

    fn begin(&mut self) {
        self.fixed.signals.torn.set(false);
        self.fixed.signals.half.set(false);
    }

    fn transition(&mut self, transition: &Transition) {
        if self.fixed.signals.torn.get() {
            self.torn.push(transition.to);
        }
        if self.fixed.signals.half.get() && self.half.is_none() {
            self.half = Some(transition.to);
        }
    }

    fn is_enough(&self) -> bool {
        !self.may_discard && !self.torn.is_empty() || self.has_half()
    }

    fn end(&mut self, context: &EndContext<'_, TearGhost>) -> ControlFlow<()> {
        if context.ghost.torn {
            self.end = Some(context.node);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
