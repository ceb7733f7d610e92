//! Short fair cycles.
//!
//! **Input**: a fair [`Component`], the steps that count, and further requirements on the cycle. **Output**: a [`Lasso`]: a state
//! near the beginning, and steps that lead from there back to it, so that each thread moves or is once unable to move.
//!
//! **Algorithm**: a cycle has an obligation for each thread that has steps in the component. If the pairs of a state and the open
//! obligations are few, a breadth-first search through them finds a shortest cycle through a state. Otherwise the cycle goes to
//! the nearest state that meets an obligation, and finally back. This is done for the first states of the component; the shortest
//! path into the component with a cycle counts. If strong fairness is required and the cycle omits a thread that could continue
//! in one of its states, then each thread that continues in the component has to do so in the cycle.
//!
//! **Soundness and limits**: the cycle is always fair. A shortest one is hard to find (it is a tour). The result is shortest for
//! its start state if there are at most [`EXACT`] obligations.

use super::Fairness;
use super::components::{Component, Finder, Follow};
use super::space::Space;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};

/// Debts up to which a shortest cycle is looked for.
const EXACT: usize = 10;

/// Pairs of a state and debts up to which it is.
const PAIRS: usize = 1 << 18;

/// States in which a cycle may begin that are tried.
const BEGINNINGS: usize = 16;

/// A cycle, as steps of the space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lasso {
    /// Where it begins.
    pub state: u32,
    /// Each with the state that it is a step of.
    pub steps: Vec<(u32, usize)>,
}

/// What a cycle has to show.
enum Debt<'f> {
    /// The thread moves, or cannot move in a state.
    Thread(usize),
    /// The thread moves, or is woken.
    GoesOn(usize),
    /// One of these steps is taken.
    Step(Follow<'f>),
}

/// What is searched for a cycle.
struct Search<'s, 'f> {
    finder: &'s Finder<'s>,
    space: &'s Space,
    follow: Follow<'f>,
    debts: Vec<Debt<'f>>,
}

/// A short fair cycle in a component, with one of the steps of `shows` where there are such.
pub(super) fn lasso(
    finder: &mut Finder<'_>,
    component: &Component,
    follow: Follow<'_>,
    shows: Option<Follow<'_>>,
    depth: &dyn Fn(u32) -> usize,
) -> Option<Lasso> {
    finder.mark(&component.states);
    let space = finder.space;
    let steps = || component.states.iter().flat_map(|&state| space.steps(state));
    let mut search = Search { finder, space, follow, debts: Vec::new() };
    let threads: BTreeSet<usize> = match finder.fairness {
        Fairness::None => BTreeSet::new(),
        _ => steps().map(|step| space.label(step).thread.index()).collect(),
    };
    search.debts = threads.into_iter().map(Debt::Thread).chain(shows.map(Debt::Step)).collect();
    let found = search.nearest(component, depth);
    if finder.fairness != Fairness::Strong || found.as_ref().is_some_and(|lasso| search.is_strongly_fair(lasso)) {
        return found;
    }
    let within = steps().filter(|&step| finder.within(step, follow).is_some());
    let threads: BTreeSet<usize> = within.flat_map(|step| space.label(step).who_goes_on()).collect();
    search.debts = threads.into_iter().map(Debt::GoesOn).chain(shows.map(Debt::Step)).collect();
    search.nearest(component, depth)
}

impl Search<'_, '_> {
    /// The cycle with the shortest way to its end, of those through the first states.
    fn nearest(&self, component: &Component, depth: &dyn Fn(u32) -> usize) -> Option<Lasso> {
        let mut best: Option<(usize, Lasso)> = None;
        for &state in component.states.iter().take(BEGINNINGS) {
            let way = depth(state);
            if best.as_ref().is_some_and(|(length, _)| way >= *length) {
                continue;
            }
            let Some(steps) = self.cycle(component, state) else { continue };
            let length = way + steps.len();
            if best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
                best = Some((length, Lasso { state, steps }));
            }
        }
        best.map(|(_, lasso)| lasso)
    }

    /// Whether each thread that could go on somewhere does so.
    fn is_strongly_fair(&self, lasso: &Lasso) -> bool {
        let goes_on: BTreeSet<usize> =
            lasso.steps.iter().flat_map(|&(_, step)| self.space.label(step).who_goes_on()).collect();
        let left_out = |thread: &usize| !goes_on.contains(thread);
        let mut others = (0..self.space.threads()).filter(left_out);
        others.all(|thread| lasso.steps.iter().all(|&(state, _)| !self.finder.can_go_on(state, thread)))
    }

    fn cycle(&self, component: &Component, state: u32) -> Option<Vec<(u32, usize)>> {
        let is_small = self.debts.len() <= EXACT && component.states.len() << self.debts.len() <= PAIRS;
        if is_small { self.shortest(state) } else { self.short(state) }
    }

    /// Whether a state pays a debt.
    fn is_paid_in(&self, debt: &Debt<'_>, state: u32) -> bool {
        match debt {
            Debt::Thread(thread) => !self.space.is_atomic(state) && !self.finder.can_move(state, *thread),
            Debt::GoesOn(_) | Debt::Step(_) => false,
        }
    }

    /// Whether a step pays a debt.
    fn is_paid_by(&self, debt: &Debt<'_>, step: usize) -> bool {
        match debt {
            Debt::Thread(thread) => self.space.label(step).thread.index() == *thread,
            Debt::GoesOn(thread) => self.space.label(step).who_goes_on().any(|one| one == *thread),
            Debt::Step(shows) => shows(step),
        }
    }

    /// Which debts a state pays, as bits.
    fn paid_in(&self, state: u32) -> u32 {
        self.bits(&|debt| self.is_paid_in(debt, state))
    }

    /// Which debts a step pays, as bits.
    fn paid_by(&self, step: usize) -> u32 {
        self.bits(&|debt| self.is_paid_by(debt, step))
    }

    fn bits(&self, pays: &dyn Fn(&Debt<'_>) -> bool) -> u32 {
        self.debts.iter().enumerate().filter(|(_, debt)| pays(debt)).fold(0, |bits, (place, _)| bits | 1 << place)
    }

    /// A shortest cycle through a state.
    fn shortest(&self, start: u32) -> Option<Vec<(u32, usize)>> {
        let all = (1u32 << self.debts.len()) - 1;
        // In the middle of atomic blocks alone, nothing is owed to those who wait.
        let first = (start, self.paid_in(start));
        let mut before: FxHashMap<(u32, u32), ((u32, u32), usize)> = FxHashMap::default();
        let mut waiting = VecDeque::from([first]);
        while let Some(at @ (state, paid)) = waiting.pop_front() {
            for step in self.space.steps(state) {
                let Some(target) = self.finder.within(step, self.follow) else { continue };
                let next = (target, paid | self.paid_by(step) | self.paid_in(target));
                if next == (start, all) {
                    return Some(way_back(&before, first, at, step));
                }
                if next != first && !before.contains_key(&next) {
                    before.insert(next, (at, step));
                    waiting.push_back(next);
                }
            }
        }
        None
    }

    /// A cycle through a state that pays one debt after the other.
    fn short(&self, start: u32) -> Option<Vec<(u32, usize)>> {
        let mut open: Vec<&Debt<'_>> = self.debts.iter().collect();
        let pays = |debt: &Debt<'_>, state: u32, step: Option<usize>| {
            step.is_some_and(|step| self.is_paid_by(debt, step)) || self.is_paid_in(debt, state)
        };
        open.retain(|debt| !pays(debt, start, None));
        let (mut state, mut steps) = (start, Vec::new());
        while !open.is_empty() {
            let way = self.way(state, &|target, step| open.iter().any(|debt| pays(debt, target, Some(step))))?;
            for &(_, step) in &way {
                state = self.finder.within(step, self.follow)?;
                open.retain(|debt| !pays(debt, state, Some(step)));
            }
            steps.extend(way);
        }
        if state != start || steps.is_empty() {
            steps.extend(self.way(state, &|target, _| target == start)?);
        }
        Some(steps)
    }

    /// A shortest way, of one step at least, whose last step is such a one.
    fn way(&self, start: u32, is_there: &dyn Fn(u32, usize) -> bool) -> Option<Vec<(u32, usize)>> {
        let mut before: FxHashMap<(u32, u32), ((u32, u32), usize)> = FxHashMap::default();
        let first = (start, 0);
        let mut waiting = VecDeque::from([first]);
        while let Some(at) = waiting.pop_front() {
            for step in self.space.steps(at.0) {
                let Some(target) = self.finder.within(step, self.follow) else { continue };
                if is_there(target, step) {
                    return Some(way_back(&before, first, at, step));
                }
                if target != start && !before.contains_key(&(target, 0)) {
                    before.insert((target, 0), (at, step));
                    waiting.push_back((target, 0));
                }
            }
        }
        None
    }
}

/// The steps from the first pair to one, and one more.
fn way_back(
    before: &FxHashMap<(u32, u32), ((u32, u32), usize)>,
    first: (u32, u32),
    last: (u32, u32),
    step: usize,
) -> Vec<(u32, usize)> {
    let (mut steps, mut at) = (vec![(last.0, step)], last);
    while at != first {
        let Some(&(from, step)) = before.get(&at) else { break };
        steps.push((from.0, step));
        at = from;
    }
    steps.reverse();
    steps
}
