//! Exact means in turn, each with a growing share of the work, until one comes to its end.
//!
//! In: a search through states, one by executions, and perhaps a third, as functions of their bounds. Out: the answer of the
//! first that is not stopped by its share. Which one is cheaper cannot be known before: the states of a program with many
//! threads outnumber its futures, the futures of a long one its states. So the loser costs no more than a fixed multiple of
//! the winner. Where many threads run at a time, the third comes first, then executions, else states.

use super::limits::{Bound, Limits, Progress};
use super::reads_from::Refusal;
use crate::vm::{Choice, Machine, Move, Pending, Tables, ThreadStatus};
use std::ops::ControlFlow;
use std::time::Instant;

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

/// What a search calls now and then.
pub(super) type Watcher<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// What would help a means that has not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Larger,
    Never,
}

/// Means in turn.
pub(super) struct Dovetail<'a> {
    limits: &'a Limits,
    /// Whether the third means comes first, and whether executions come before states.
    crowded: bool,
    wide: bool,
    states: u64,
    work: u64,
}

impl<'a> Dovetail<'a> {
    /// Where states are searched up to symmetry, many threads need not mean many states.
    pub(super) fn new(machine: &Machine, limits: &'a Limits, is_symmetric: bool) -> Dovetail<'a> {
        let crowded = width(machine) >= WIDE;
        let wide = crowded && !is_symmetric;
        Dovetail { limits, crowded, wide, states: if wide { STATES.0 } else { STATES.1 }, work: WORK }
    }

    /// The answer of the first that comes to an end, or that is stopped by a bound of the caller. `merge` adds to that
    /// what the last executions have shown before their share was used up. `aside` is a third means: it gives the whole answer,
    /// or says whether a larger share may help.
    pub(super) fn run<A>(
        mut self,
        progress: Watcher<'_>,
        mut by_states: impl FnMut(&Limits, Watcher<'_>) -> A,
        mut by_executions: impl FnMut(&Limits, Watcher<'_>) -> Result<A, Refusal>,
        mut aside: impl FnMut(&Limits, Watcher<'_>) -> Result<A, Share>,
        bound: impl Fn(&A) -> Option<Bound>,
        merge: impl Fn(A, A) -> A,
    ) -> A {
        let began = Instant::now();
        let (mut refused, mut hopeless) = (false, false);
        let mut partial = None;
        loop {
            let is_first = self.work == WORK;
            if self.crowded && is_first {
                match aside(&self.share_aside(began), progress) {
                    Ok(found) => return found,
                    Err(share) => hopeless = share == Share::Never,
                }
            }
            let share = self.share_of_executions(began);
            // Whether it was refused, if the whole answer is not there yet.
            let mut some_executions = |share, progress: Watcher<'_>| match by_executions(&share, progress) {
                Ok(answer) if bound(&answer).is_none() => ControlFlow::Break(answer),
                Ok(answer) => {
                    partial = Some(answer);
                    ControlFlow::Continue(false)
                }
                Err(_) => ControlFlow::Continue(true),
            };
            if self.wide && !refused {
                match some_executions(share.clone(), progress) {
                    ControlFlow::Break(answer) => return answer,
                    ControlFlow::Continue(no) => refused = no,
                }
            }
            // Without another means there is no turn to wait for.
            let whole = refused && hopeless || self.limits.max_states.is_some_and(|limit| limit <= self.states);
            let states = if whole { self.limits.max_states } else { Some(self.states) };
            let answer = by_states(&Limits { max_states: states, ..self.limits.after(began) }, progress);
            if bound(&answer).is_none() {
                return answer;
            }
            let mut over = bound(&answer) != Some(Bound::States) || whole && (refused || self.wide);
            if !over && !hopeless && !(self.crowded && is_first) {
                match aside(&self.share_aside(began), progress) {
                    Ok(found) => return found,
                    Err(share) => hopeless = share == Share::Never,
                }
            }
            if !self.wide && !over {
                if !refused {
                    match some_executions(share, progress) {
                        ControlFlow::Break(found) => return found,
                        ControlFlow::Continue(no) => refused = no,
                    }
                }
                over = whole;
            }
            if over {
                return match partial {
                    Some(other) => merge(answer, other),
                    None => answer,
                };
            }
            self.states = self.states.saturating_mul(GROWTH);
            self.work = self.work.saturating_mul(GROWTH);
        }
    }

    fn share_of_executions(&self, began: Instant) -> Limits {
        let memory = self.limits.max_memory.map_or(MEMORY, |limit| limit.min(MEMORY));
        let most = self.limits.max_states.map_or(u64::MAX, |states| states.saturating_mul(WORK_FOR_STATE).max(WORK));
        Limits { max_work: Some(self.work.min(most)), max_memory: Some(memory), ..self.limits.after(began) }
    }

    /// Later it gets less than states do: what it has not decided soon, it seldom decides for less.
    fn share_aside(&self, began: Instant) -> Limits {
        let states = if self.work == WORK { ASIDE } else { self.states / 4 };
        let states = states.min(self.limits.max_states.unwrap_or(u64::MAX));
        Limits { max_states: Some(states), ..self.share_of_executions(began) }
    }
}

/// The most threads at a time in an execution in which threads are made as early as may be.
fn width(machine: &Machine) -> usize {
    let mut tables = Tables::new();
    let mut state = machine.initial(&mut tables);
    let mut width = 0;
    let mut moves = Vec::new();
    for _ in 0..1_000 {
        width = width.max(state.threads().filter(|&thread| state.status(thread) != ThreadStatus::Ended).count());
        machine.moves(&state, &mut moves);
        let makes = |one: &&Move| matches!(machine.pending(&state, one.thread), Some(Pending::Fork | Pending::Spawn));
        let Some(&Move { thread, .. }) = moves.iter().find(makes).or(moves.first()) else { break };
        machine.step(&mut state, &mut tables, Choice { thread, alternative: 0 }, &mut ());
    }
    width
}
