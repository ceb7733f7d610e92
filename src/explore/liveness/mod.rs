//! Executions without end: states from which no end can be reached, livelocks, starving threads.
//!
//! **Input**: a program with its machine, an [`EndlessRequest`], and a budget. **Output**: an [`EndlessAnswer`]: each kind of
//! endless execution once, as a *lasso*: the steps into it, and the steps of a cycle that returns to its first state.
//!
//! An end is a state in which all threads have ended, the program has failed, or no thread can move. An execution that an
//! assumption discards does not count, and is no end. An execution without end is *weakly fair* if each thread that can move at
//! all times from some point on moves again. It is *strongly fair* if each thread that can move, or be woken by another one,
//! infinitely often moves again: then a thread that waits for a lock that is repeatedly free finally gets it.
//!
//! **Algorithm** (`space`, `components`, `lasso`, `starvation`)
//! 1. If all loops of the program count to a bound, there is no such execution ([`finite`]).
//! 2. Search all states, without data that has no consequence for the future.
//! 3. Find the fair strongly connected components: an execution without end finally stays in one. If the execution is fair, a
//!    part of the component is fair too.
//! 4. A component from which neither an end nor another such component can be reached is [`EndlessKind::NoEnd`]. A component from
//!    which an end can be reached is [`EndlessKind::Livelock`]. Components in which the same threads cycle at the same places are
//!    shown once, by the one nearest to the beginning.
//! 5. Parts of the components show starving threads.
//!
//! Suppose that each choice that is open infinitely often is taken some time ([`Fairness::Choices`], for example with
//! probabilities). Then an execution ends unless it reaches a component that no step leaves; only these count.
//!
//! **Soundness and limits**: exact if no bound was hit, up to collisions of fingerprints; otherwise nothing is claimed. The
//! machine repeats each lasso before it is shown. A program whose data grows for ever has infinitely many states, and always hits
//! a bound.

mod components;
mod finite;
mod lasso;
mod seen;
mod space;
mod starvation;
#[cfg(test)]
mod tests;
mod waiting;

use crate::states::reversed::Reversed;
use components::{Component, Finder, Follow};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_ir::Program;
use cssame_schedule::Walks;
use cssame_source::Span;
use cssame_vm::{Choice, CodeIndex, Machine, ThreadIndex};
use fixedbitset::FixedBitSet;
use lasso::lasso;
use rustc_hash::FxHashSet;
pub use seen::{SeenCycle, cycle_in, returns};
use space::{Explored, Space};
use starvation::{Kept, Starved, Starving, goes_on};
use waiting::WaitingLoops;

/// What an execution without end has to grant to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// Nothing: a thread may be left out for ever.
    None,
    /// A thread that can move from some point on for ever moves again.
    Weak,
    /// A thread that can move, or be woken, again and again does so: locks, semaphores and notifications pass nobody over for ever.
    #[default]
    Strong,
    /// Each choice that is open again and again is taken again and again.
    Choices,
}

/// What is asked of executions without end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndlessRequest {
    /// Whether threads are looked for that can starve.
    pub starvation: bool,
    /// Which executions count.
    pub fairness: Fairness,
}

/// How an execution can run for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndlessKind {
    /// No end can be reached any more.
    NoEnd,
    /// An end could be reached, but is not.
    Livelock,
    /// A thread stays where it is for ever, while others move.
    Starvation,
}

impl EndlessKind {
    /// The word that users read.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            EndlessKind::NoEnd => "no-end",
            EndlessKind::Livelock => "livelock",
            EndlessKind::Starvation => "starvation",
        }
    }
}

/// A way to run for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endless {
    /// Which of the three.
    pub kind: EndlessKind,
    /// The steps that lead into the cycle.
    pub schedule: Vec<Choice>,
    /// The steps that lead back to where they began.
    pub cycle: Vec<Choice>,
    /// The number of steps after which no end can be reached.
    pub no_end_after: Option<usize>,
    /// The thread that starves, by its slot in the cycle.
    pub starving: Option<ThreadIndex>,
    /// The loop in which it waits; without one it stays at an operation.
    pub waits_in: Option<Span>,
}

/// The ways to run for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndlessAnswer {
    /// The nearest first, by kind.
    pub list: Vec<Endless>,
    /// Where strong fairness is asked for: those that are only weakly fair.
    pub unfair: Vec<Endless>,
    /// The bound that has stopped the search: others may have been missed.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
}

impl EndlessAnswer {
    /// Whether all was looked at.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.bound.is_none()
    }
}

/// Whether a program may have executions without end, judged by its loops alone.
#[must_use]
pub fn may_run_for_ever(program: &Program) -> bool {
    finite::may_run_for_ever(program)
}

/// Steps of schedules that are done again to see where threads stand.
const STEPS_AGAIN: usize = 5_000_000;

/// Finds the ways to run for ever.
#[must_use]
pub fn endless(program: &Program, machine: &Machine, request: EndlessRequest, budget: &Budget<'_>) -> EndlessAnswer {
    if !may_run_for_ever(program) {
        return EndlessAnswer::default();
    }
    let at_once = machine.ending_at_once();
    let machine = at_once.as_ref().unwrap_or(machine);
    let loops = if request.starvation { WaitingLoops::of(program, machine) } else { WaitingLoops::default() };
    let explored = space::explore(machine, &loops, budget);
    let (bound, statistics) = (explored.bound, explored.statistics);
    if bound.is_some() {
        return EndlessAnswer { bound, statistics, ..EndlessAnswer::default() };
    }
    let mut search = Search { machine, request, budget, loops: &loops, explored: &explored, bound: None };
    let (list, unfair) = search.run();
    EndlessAnswer { list, unfair, bound: search.bound, statistics }
}

struct Search<'a> {
    machine: &'a Machine,
    request: EndlessRequest,
    budget: &'a Budget<'a>,
    loops: &'a WaitingLoops,
    explored: &'a Explored,
    bound: Option<Bound>,
}

/// Which states lead to an end, and the steps turned round.
struct Ends {
    can_end: FixedBitSet,
    reversed: Reversed,
}

impl Search<'_> {
    /// Those that count, and those that only weak fairness allows.
    fn run(&mut self) -> (Vec<Endless>, Vec<Endless>) {
        let space = &self.explored.space;
        let is_strong = self.request.fairness == Fairness::Strong;
        let mut finder = Finder::new(space, if is_strong { Fairness::Weak } else { self.request.fairness });
        let states: Vec<u32> = (0..space.len() as u32).collect();
        let mut fair = finder.fair_components(&states, &|_| true);
        if self.request.fairness == Fairness::Choices {
            fair.retain(|component| finder.is_closed(component));
        }
        if fair.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let reversed = space.reversed();
        let ends: Vec<u32> = states.iter().copied().filter(|&state| space.is_end(state)).collect();
        let ends = Ends { can_end: reversed.closure(ends), reversed };
        if !is_strong {
            let starved = self.starved(&mut finder, &fair);
            return (self.found(&mut finder, &fair, &starved, &ends), Vec::new());
        }
        let starved_weakly = self.starved(&mut finder, &fair);
        finder.fairness = Fairness::Strong;
        let strong = finder.strongly_fair(fair.clone(), &|_| true);
        let starved = self.starved(&mut finder, &strong);
        let list = self.found(&mut finder, &strong, &starved, &ends);
        finder.fairness = Fairness::Weak;
        let mut is_in_strong = FixedBitSet::with_capacity(states.len());
        is_in_strong.extend(strong.iter().flat_map(|component| &component.states).map(|&state| state as usize));
        fair.retain(|component| component.states.iter().all(|&state| !is_in_strong.contains(state as usize)));
        let is_known = |one: &Starved| starved.iter().any(|other| (one.thread, one.kept) == (other.thread, other.kept));
        let only_weakly: Vec<Starved> = starved_weakly.into_iter().filter(|one| !is_known(one)).collect();
        (list, self.found(&mut finder, &fair, &only_weakly, &ends))
    }

    /// Components and starving threads as lassos.
    fn found(&mut self, finder: &mut Finder<'_>, fair: &[Component], starved: &[Starved], ends: &Ends) -> Vec<Endless> {
        let Ends { can_end, reversed } = ends;
        // Those that lead to another one of which this holds are left out.
        let (mut no_end, mut livelocks) = (Vec::new(), Vec::new());
        let mut leads_on = FixedBitSet::with_capacity(self.explored.space.len());
        for component in fair {
            let first = component.states[0] as usize;
            if can_end.contains(first) {
                livelocks.push(component);
            } else if !leads_on.contains(first) {
                let unmarked = |state: &u32| !leads_on.put(*state as usize);
                let waiting = component.states.iter().copied().filter(unmarked).collect();
                reversed.close(&mut leads_on, waiting);
                no_end.push(component);
            }
        }
        let mut list = Vec::new();
        for (kind, components) in [(EndlessKind::NoEnd, no_end), (EndlessKind::Livelock, livelocks)] {
            for component in self.distinct(finder, components) {
                if self.is_over() {
                    return list;
                }
                list.extend(self.shown(finder, component, (kind, None), can_end));
            }
        }
        for one in starved {
            if self.is_over() {
                break;
            }
            list.extend(self.shown(finder, &one.component, (EndlessKind::Starvation, Some(one)), can_end));
        }
        list
    }

    /// Whether the time is up.
    fn is_over(&mut self) -> bool {
        self.bound = self.bound.or(self.budget.check());
        self.bound.is_some()
    }

    /// The components, nearest first, without those in which the same threads go round at the same places as in one before.
    fn distinct<'c>(&self, finder: &mut Finder<'_>, mut components: Vec<&'c Component>) -> Vec<&'c Component> {
        components.sort_by_key(|component| component.states[0]);
        let mut known: FxHashSet<Vec<(ThreadIndex, Option<CodeIndex>)>> = FxHashSet::default();
        components.retain(|component| {
            finder.mark(&component.states);
            let space = finder.space;
            let steps = component.states.iter().flat_map(|&state| space.steps(state));
            let within = steps.filter(|&step| finder.within(step, &|_| true).is_some());
            let place = |step: usize| {
                let label = space.label(step);
                (label.thread, label.at.map(|at| self.machine.place(at)))
            };
            let distinct: FxHashSet<_> = within.map(place).collect();
            let mut places: Vec<_> = distinct.into_iter().collect();
            places.sort_unstable();
            known.insert(places)
        });
        components
    }

    /// The threads that starve in some of these components, the nearest first, where that is asked.
    fn starved(&mut self, finder: &mut Finder<'_>, fair: &[Component]) -> Vec<Starved> {
        if !self.request.starvation {
            return Vec::new();
        }
        let (machine, graph, budget) = (self.machine, &self.explored.graph, self.budget);
        let (mut walks, mut left, mut bound) = (Walks::new(machine), STEPS_AGAIN, None);
        let mut standing = |state: u32, thread: usize| {
            let way = graph.path_to(state);
            left = left.saturating_sub(way.len() + 1);
            bound = bound.or(budget.check()).or((left == 0).then_some(Bound::Executions));
            if bound.is_some() {
                return None;
            }
            let (done, mut walk) = walks.begin(&way);
            walk.follow(&way[done..], &mut ()).ok()?;
            let thread = ThreadIndex(thread as u16);
            let alive = walk.state().threads().any(|other| other == thread);
            let obstacle = alive.then(|| machine.obstacle(walk.state(), thread)).flatten()?;
            Some((walk.state().position(thread), Some(obstacle)))
        };
        let mut over = None;
        let mut may_go_on = || {
            over = over.or(budget.check());
            over.is_none()
        };
        let may_go_on: &mut dyn FnMut() -> bool = &mut may_go_on;
        let mut starving = Starving { finder, loops: self.loops, may_go_on };
        let mut found = starving.find(fair, &mut standing);
        self.bound = self.bound.or(bound).or(over);
        found.sort_by_key(|one| (one.component.states[0], one.thread, one.kept));
        found
    }

    /// A component as a lasso.
    fn shown(
        &self,
        finder: &mut Finder<'_>,
        component: &Component,
        (kind, starved): (EndlessKind, Option<&Starved>),
        can_end: &FixedBitSet,
    ) -> Option<Endless> {
        let Explored { space, graph, .. } = self.explored;
        let thread = starved.map(|one| one.thread);
        let is_other = |step: usize| Some(space.label(step).thread.index()) != thread;
        let number = match starved.map(|one| one.kept) {
            Some(Kept::In(number)) => Some(number),
            _ => None,
        };
        let counts = |step: usize| match number {
            _ if thread.is_none() => true,
            None => is_other(step),
            Some(number) => is_other(step) || space.label(step).is_quiet && !space.label(step).left.contains(&number),
        };
        let shows =
            |step: usize| thread.zip(number).is_some_and(|(thread, number)| goes_on(space, step, thread, number));
        let shows: Option<Follow<'_>> = if number.is_some() { Some(&shows) } else { None };
        let depth = |state: u32| graph.path_to(state).len();
        let found = lasso(finder, component, &counts, shows, &depth)?;
        let schedule = graph.path_to(found.state);
        Some(Endless {
            kind,
            no_end_after: no_end_after(space, &schedule, can_end),
            schedule,
            cycle: found.steps.iter().map(|&(state, step)| space.choice(state, step)).collect(),
            starving: thread.map(|thread| ThreadIndex(thread as u16)),
            waits_in: number.map(|number| self.loops.span(number)),
        })
    }
}

/// The number of steps of a way after which no end can be reached.
fn no_end_after(space: &Space, way: &[Choice], can_end: &FixedBitSet) -> Option<usize> {
    let mut state = 0;
    for done in 0..=way.len() {
        if !can_end.contains(state as usize) {
            return Some(done);
        }
        let choice = way.get(done)?;
        let mut steps = space.steps(state);
        state = space.target(steps.find(|&step| space.choice(state, step) == *choice)?)?;
    }
    None
}
