//! Decides whether some execution tears two accesses of a method apart ([`tear()`]), and whether two methods can run one after
//! the other ([`serial()`]). [`pairs`] decides both for the method pairs that endanger correlated variables.
//!
//! **Input**: a [`TearPattern`]: a method that accesses two variables which belong together, with synchronisation in between, and
//! the threads that may come between; and a budget. **Output**: an execution that shows the tear, or the statement that none
//! does.
//!
//! A *tear* is a behaviour that no serial order of the method and the others could show. There are these kinds:
//! - An activation of the method accesses one of the two variables. Then the others make an access that conflicts with it, and an
//!   access that conflicts with a later access of the activation to either variable. So in each serial order the others would
//!   have to come both after the method and before it. The activation makes the two accesses of the pattern at any time: before,
//!   in between or afterwards. The values must show the conflict: a value that was read has changed since, or a value that was
//!   written was seen before. If the others overwrite a write of the method and the method overwrites theirs, in the same cell,
//!   the last write does not count: the others could have come before the method. If a loop repeats a read at one place, only the
//!   last read counts: a method that waits for a value has not used the earlier ones. If another thread has seen a write before
//!   it waits for a condition, that does not count either: it looks again. If the others come between two accesses other than
//!   those of the pattern, the method must have let others in: it has released a lock, waited for a condition, raised a semaphore
//!   or ended an atomic block. Otherwise that is a race on one variable, or synchronisation through it.
//! - The same in an activation that does not make the two accesses, if other activations of the method make them: the values that
//!   it has read may have led it along another path.
//! - The method writes both variables from one source, and the others change the source in between, so that the method reads two
//!   values of it.
//! - The method reads a variable, another one changes it, and the method overwrites it from its copy.
//! - The others fail after they have seen the new value of one variable and the old value of the other. Then the search does not
//!   wait for the second access, which other executions reach.
//!
//! The others are one activation of a given method, or any behaviour of another thread: any sequence of activations and of its
//! own accesses. Several threads count as one if a conflict or a signal orders them one after the other ([`Other`]).
//!
//! **Algorithm**: a search through all states together with a monitor automaton (`monitor`). The automaton remembers the accesses
//! of the method, the later actions of other threads (`pending`), and the cycles that the method is in (`cycles`). The search is
//! skipped if no relevant access is a step and no thread is spawned: then no thread can come between.
//!
//! **Soundness and limits**: exact for the accesses that it sees, provided that no bound was hit. If [`tear_at_random`] finds
//! nothing, that proves nothing. Accesses to private variables are not seen. docs/correlation.md describes this for users.

mod cycles;
mod encoding;
mod monitor;
pub mod pairs;
mod parties;
mod pattern;
mod pending;
mod row;
mod serial;
mod setup;
mod stale;

pub use parties::parties;
pub use pattern::{Other, Side, TearPattern};
pub use serial::{Serial, serial};
pub use stale::stale_patterns;

use cssame_budget::{Bound, Budget, Statistics};
use cssame_explore::frame::witness;
use cssame_explore::frame::{self, EndContext, Searched, Transition, Visitor};
use cssame_ir::Program;
use cssame_schedule::{ExecutionStatus, Experiment, Policy, Random, Trial, Trials, TrialsEnd};
use cssame_vm::{Choice, Machine};
use monitor::TearMonitor;
use setup::Fixed;
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

/// Looks for an execution that tears the two pending apart. What is no step of the machine must be ordered by forks and joins, as
/// in the machine of a [model](cssame_model::Model).
pub fn tear(machine: &Machine, program: &Program, pattern: &TearPattern, budget: &Budget<'_>) -> TearAnswer {
    let fixed = Arc::new(Fixed::new(program, pattern));
    if fixed.places.is_ordered(machine, program) {
        return TearAnswer { tear: Tear::Impossible, statistics: Statistics::default() };
    }
    let may_discard = machine.may_discard();
    let mut finder =
        Finder { fixed: Arc::clone(&fixed), may_discard, torn: Vec::new(), mixed_view: None, end: None, half: None };
    let searched = frame::search(machine, budget, TearMonitor::new(Arc::clone(&fixed)), &mut finder);
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

/// Looks for an execution that tears the two pending apart among some at random, the same ones each time: a cheap means
/// where a search is too deep. Finding none says nothing.
pub fn tear_at_random(
    machine: &Machine,
    program: &Program,
    pattern: &TearPattern,
    budget: &Budget<'_>,
) -> Option<Vec<Choice>> {
    let trials = Trials { machine, seeds: 0..EXECUTIONS, max_steps: STEPS, budget };
    let mut found = None;
    tears(&trials, program, pattern, Random::new, |_, torn| {
        found = torn.filter(|torn| torn.tears).map(|torn| torn.steps);
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// An execution in which it was looked for a tear, and that has come to its end.
#[derive(Clone, Debug)]
pub struct Torn {
    /// Whether it tears the two apart.
    pub tears: bool,
    /// How it has ended.
    pub status: ExecutionStatus,
    /// Its steps, if it tears them.
    pub steps: Vec<Choice>,
}

/// Looks for tears in executions by any policy. `take` gets each seed, with nothing for an execution that is discarded or cut.
pub fn tears<P: Policy>(
    trials: &Trials<'_>,
    program: &Program,
    pattern: &TearPattern,
    policy: impl Fn(u64) -> P + Sync,
    take: impl FnMut(u64, Option<Torn>) -> ControlFlow<()>,
) -> TrialsEnd {
    trials.run(&TearTrials { fixed: Arc::new(Fixed::new(program, pattern)), policy }, take)
}

/// Executions that are watched for a tear.
struct TearTrials<F> {
    fixed: Arc<Fixed>,
    policy: F,
}

impl<P: Policy, F: Fn(u64) -> P + Sync> Experiment for TearTrials<F> {
    type Policy = P;
    type Observer = TearMonitor;
    type Outcome = Option<Torn>;

    fn begin(&self, seed: u64) -> (P, TearMonitor) {
        ((self.policy)(seed), TearMonitor::new(Arc::clone(&self.fixed)))
    }

    fn outcome(&self, trial: &Trial<'_, P, TearMonitor>) -> Option<Torn> {
        let ends = matches!(trial.status, ExecutionStatus::Ok | ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock);
        let tears = trial.observer.torn;
        let steps = if tears { trial.steps.to_vec() } else { Vec::new() };
        ends.then(|| Torn { tears, status: trial.status.clone(), steps })
    }
}

/// Notes the steps that tear.
struct Finder {
    fixed: Arc<Fixed>,
    may_discard: bool,
    /// The states behind them.
    torn: Vec<u32>,
    /// The first failure of the other method on halves.
    mixed_view: Option<u32>,
    /// The end of an execution that has torn.
    end: Option<u32>,
    /// The end of the first one that has torn by half.
    half: Option<u32>,
}

impl Finder {
    fn has_mixed_view(&self) -> bool {
        self.mixed_view.is_some() && self.fixed.signals.completed.get()
    }

    /// The end of an execution that tears by half, if others make both accesses.
    fn half(&self) -> Option<u32> {
        self.half.filter(|_| self.fixed.signals.made.get())
    }

    /// The first execution that shows it, as far to its end as is known.
    fn witness(&self, machine: &Machine, searched: &Searched) -> Option<Vec<Choice>> {
        let graph = &searched.graph;
        let end = self.end.map(|end| graph.path_to(end));
        let mixed_view = || self.mixed_view.filter(|_| self.has_mixed_view()).map(|node| graph.path_to(node));
        let half = || self.half().map(|end| graph.path_to(end));
        end.or_else(|| witness(machine, graph, &self.torn)).or_else(half).or_else(mixed_view)
    }
}

impl Visitor<TearMonitor> for Finder {
    fn begin(&mut self) {
        self.fixed.signals.torn.set(false);
        self.fixed.signals.mixed_view.set(false);
    }

    fn transition(&mut self, transition: &Transition, _: &[()]) {
        if self.fixed.signals.torn.get() {
            self.torn.push(transition.to);
        }
        if self.fixed.signals.mixed_view.get() && self.mixed_view.is_none() {
            self.mixed_view = Some(transition.to);
        }
    }

    fn is_enough(&self) -> bool {
        !self.may_discard && !self.torn.is_empty() || self.has_mixed_view() || self.half().is_some()
    }

    fn end(&mut self, context: &EndContext<'_, TearMonitor>) -> ControlFlow<()> {
        if context.monitor.torn {
            self.end = Some(context.node);
            return ControlFlow::Break(());
        }
        if context.monitor.half && self.half.is_none() {
            self.half = Some(context.node);
        }
        ControlFlow::Continue(())
    }
}
