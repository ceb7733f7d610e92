//! Exact means in turn, each with a growing share of the work, until one comes to its end.
//!
//! In: a search through states, one by executions, and perhaps a third, as functions of their bounds. Out: the answer of the
//! first that is not stopped by its share. Which one is cheaper cannot be known before: the states of a program with many
//! threads outnumber its futures, the futures of a long one its states. So the loser costs no more than a fixed multiple of
//! the winner. Where many threads run at a time, the third comes first, then executions, else states.

use super::reads_from::Refusal;
use crate::budget::{Bound, Budget, Limits, Statistics};
use crate::schedule::Walk;
use crate::vm::{Choice, Machine, Move, Pending, Tables, ThreadStatus};

/// Threads at a time that make a program a wide one.
const WIDE: usize = 6;

/// The first share of states: of a wide program, and of others.
const STATES: (u64, u64) = (10_000, 20_000);

/// The first share of the third means, in states.
const ASIDE: u64 = 50_000;

/// The first share of executions, as [`Limits::max_work`].
const WORK: u64 = 2_000_000;

/// Work that is worth a state: who bounds states does not want to wait for executions much longer.
const WORK_FOR_STATE: u64 = 50;

/// Bytes that executions may take.
const MEMORY: u64 = 512 << 20;

/// How much larger each share is than the one before.
const GROWTH: u64 = 16;

/// What would help a means that has not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Larger,
    Never,
}

/// An answer that may be a part of the whole one.
pub(super) trait Found {
    /// The bound that has cut it.
    fn bound(&mut self) -> &mut Option<Bound>;
    /// How much was visited for it.
    fn visited(&self) -> &Statistics;
    /// Adds to states what executions have shown.
    fn merge(self, executions: Self) -> Self;
}

/// Keeps the answer for which more was visited: one of a later turn may have been cut at once.
fn keep_larger<A: Found>(known: &mut Option<A>, answer: A) {
    let size = |answer: &A| answer.visited().states + answer.visited().executions;
    if known.as_ref().is_none_or(|known| size(known) <= size(&answer)) {
        *known = Some(answer);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    States,
    Executions,
    Aside,
}

/// Means in turn.
pub(super) struct Dovetail<'a> {
    budget: &'a Budget<'a>,
    /// Whether many threads run at a time, and whether that means many states.
    many_threads: bool,
    many_states: bool,
    states: u64,
    work: u64,
}

impl<'a> Dovetail<'a> {
    /// Where states are searched up to symmetry, many threads need not mean many states.
    pub(super) fn new(machine: &Machine, budget: &'a Budget<'a>, is_symmetric: bool) -> Dovetail<'a> {
        let many_threads = width(machine) >= WIDE;
        let many_states = many_threads && !is_symmetric;
        let states = if many_states { STATES.0 } else { STATES.1 };
        Dovetail { budget, many_threads, many_states, states, work: WORK }
    }

    /// The answer of the first that comes to an end, or that is stopped by a bound of the caller; to that is added what the
    /// last executions have shown before their share was used up. `aside` is a third means: it gives the whole answer,
    /// or says whether a larger share may help.
    pub(super) fn run<A: Found>(
        mut self,
        mut by_states: impl FnMut(&Budget<'_>) -> A,
        mut by_executions: impl FnMut(&Budget<'_>) -> Result<A, Refusal>,
        mut aside: impl FnMut(&Budget<'_>) -> Result<A, Share>,
    ) -> A {
        let (mut refused, mut hopeless) = (false, false);
        let (mut partial, mut best): (Option<A>, Option<A>) = (None, None);
        loop {
            // The bound that ends it all.
            let mut over = None;
            for means in self.order() {
                match means {
                    Means::Executions if !refused => match by_executions(&self.share_of_executions()) {
                        Ok(mut answer) => {
                            if answer.bound().is_none() {
                                return answer;
                            }
                            keep_larger(&mut partial, answer);
                        }
                        Err(_) => refused = true,
                    },
                    Means::Aside if !hopeless => match aside(&self.share_aside()) {
                        Ok(found) => return found,
                        Err(share) => {
                            hopeless = share == Share::Never;
                            // Nothing that begins when the time is up shows anything.
                            over = self.budget.check().filter(|_| best.is_some());
                        }
                    },
                    Means::Executions | Means::Aside => {}
                    Means::States => {
                        let whole = self.is_whole(refused && hopeless);
                        let max_states = (!whole).then_some(self.states);
                        let mut answer = by_states(&self.budget.share(Limits { max_states, ..Limits::default() }));
                        let Some(bound) = *answer.bound() else { return answer };
                        keep_larger(&mut best, answer);
                        let is_last = bound != Bound::States || whole && (refused || self.many_states);
                        over = is_last.then_some(bound);
                    }
                }
                if over.is_some() {
                    break;
                }
            }
            let over = over.or(self.is_whole(false).then_some(Bound::States));
            if let Some((mut answer, bound)) = best.take_if(|_| over.is_some()).zip(over) {
                *answer.bound() = Some(bound);
                return match partial {
                    Some(other) => answer.merge(other),
                    None => answer,
                };
            }
            self.states = self.states.saturating_mul(GROWTH);
            self.work = self.work.saturating_mul(GROWTH);
        }
    }

    /// The order of a turn.
    fn order(&self) -> [Means; 3] {
        match (self.many_threads && self.work == WORK, self.many_states) {
            (true, true) => [Means::Aside, Means::Executions, Means::States],
            (true, false) => [Means::Aside, Means::States, Means::Executions],
            (false, true) => [Means::Executions, Means::States, Means::Aside],
            (false, false) => [Means::States, Means::Aside, Means::Executions],
        }
    }

    /// Whether states get all that the caller allows: without another means there is no turn to wait for.
    fn is_whole(&self, is_alone: bool) -> bool {
        is_alone || self.budget.limits().max_states.is_some_and(|limit| limit <= self.states)
    }

    fn share_of_executions(&self) -> Budget<'a> {
        let states = self.budget.limits().max_states;
        let most = states.map_or(u64::MAX, |states| states.saturating_mul(WORK_FOR_STATE).max(WORK));
        let work = self.work.min(most);
        self.budget.share(Limits { max_work: Some(work), max_memory: Some(MEMORY), ..Limits::default() })
    }

    /// Later it gets less than states do: what it has not decided soon, it seldom decides for less.
    fn share_aside(&self) -> Budget<'a> {
        let states = if self.work == WORK { ASIDE } else { self.states / 4 };
        self.share_of_executions().share(Limits { max_states: Some(states), ..Limits::default() })
    }
}

/// The most threads at a time in an execution in which threads are made as early as may be.
fn width(machine: &Machine) -> usize {
    let mut tables = Tables::new();
    let mut walk = Walk::new(machine, &mut tables, &mut ());
    let mut width = 0;
    let mut moves = Vec::new();
    for _ in 0..1_000 {
        let state = walk.state();
        width = width.max(state.threads().filter(|&thread| state.status(thread) != ThreadStatus::Ended).count());
        machine.moves(state, &mut moves);
        let makes = |one: &&Move| matches!(machine.pending(state, one.thread), Some(Pending::Fork | Pending::Spawn));
        let Some(&Move { thread, .. }) = moves.iter().find(makes).or(moves.first()) else { break };
        if walk.step(Choice { thread, alternative: 0 }, &mut ()).is_err() {
            break;
        }
    }
    width
}
