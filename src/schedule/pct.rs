//! Probabilistic concurrency testing: random priorities, lowered at few random steps.
//!
//! **Input**: a depth d, a bound k on the number of steps, a seed. **Output**: a [`Policy`].
//!
//! **Algorithm** (Burckhardt, Kothari, Musuvathi, Nagarakatte 2010).
//!
//! 1. A thread gets a random priority when it can move for the first time. Independent draws from 2⁶³ numbers order the threads
//!    uniformly at random, however many are created.
//! 2. d − 1 change points are drawn from 1..=k, independently and uniformly. If the i-th of them is s, the thread that executes
//!    step s gets the priority d − i afterwards, which is below all priorities of (1). If several points are at one step, the
//!    last one counts.
//! 3. Among the threads that can move, the one with the highest priority goes. A step with alternatives, such as `choose`, takes
//!    one of them at random.
//! 4. A thread that has executed k steps in a row while another one could move gets a priority below all others. An execution of
//!    at most k steps never reaches this case.
//!
//! **Soundness and limits**. If n threads execute at most k steps together, and an ordering of d events suffices for an execution
//! (a bug of depth d), it occurs with a probability of at least 1 / (n · kᵈ⁻¹). This holds for the choice of threads; the draws
//! of `choose` and `notify` multiply it. (4) is not part of the method: without it, a thread that waits in a loop with the
//! highest priority would do so for ever. With it, all looping threads take turns of k steps.

use super::per_thread::PerThread;
use super::policy::{Decision, Policy, Random, View};
use cssame_vm::{Choice, Move, ThreadIndex};
use std::cmp::Reverse;

/// Of priorities that were drawn; those of change points lie below.
const DRAWN: u64 = 1 << 63;

/// The priorities of change points lie above this one, those of threads that have gone on for too long at or below it.
const LOOPING: u64 = 1 << 62;

/// Gives threads random priorities, and lowers some of them at random steps.
#[derive(Clone, Debug)]
pub struct Pct {
    random: Random,
    /// Steps and priorities, the next one last.
    changes: Vec<(u64, u64)>,
    priorities: PerThread<u64>,
    /// Steps that were chosen.
    done: u64,
    /// Who did the last step, and how many in a row in which another one could move.
    last: Option<ThreadIndex>,
    in_a_row: u64,
    /// So many of them are too many.
    bound: u64,
    /// The priority of the next thread that goes on for too long.
    lowest: u64,
}

impl Pct {
    /// A greater depth counts as this one.
    pub const MAX_DEPTH: u32 = 10_000;

    /// The policy of a seed: for bugs of a depth, in executions of so many steps. Both are at least 1.
    #[must_use]
    pub fn new(depth: u32, steps: u32, seed: u64) -> Pct {
        let mut random = Random::new(seed);
        let (depth, steps) = (depth.clamp(1, Pct::MAX_DEPTH), steps.max(1));
        let change = |point| (u64::from(random.below(steps)) + 1, LOOPING + u64::from(depth - point));
        let mut changes: Vec<(u64, u64)> = (1..depth).map(change).collect();
        // Of those at one step the lowest priority counts: it comes last, and so is taken last.
        changes.sort_unstable_by_key(|&(step, priority)| (Reverse(step), priority));
        let priorities = PerThread::new();
        let bound = u64::from(steps);
        Pct { random, changes, priorities, done: 0, last: None, in_a_row: 0, bound, lowest: LOOPING }
    }

    /// Counts a step of a thread, and lowers its priority where it is time to.
    fn count(&mut self, view: &View<'_>, thread: ThreadIndex, is_alone: bool) {
        self.done += 1;
        if self.last != Some(thread) {
            (self.last, self.in_a_row) = (Some(thread), 0);
        }
        self.in_a_row += u64::from(!is_alone);
        let mut lowered = None;
        while let Some(&(_, priority)) = self.changes.last().filter(|(step, _)| *step == self.done) {
            lowered = Some(priority);
            self.changes.pop();
        }
        if self.in_a_row >= self.bound {
            lowered = Some(self.lowest);
            (self.lowest, self.in_a_row) = (self.lowest - 1, 0);
        }
        if let Some(priority) = lowered {
            *self.priorities.get_or_insert_with(view.state, thread, || priority) = priority;
        }
    }
}

impl Policy for Pct {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let Pct { random, priorities, .. } = self;
        let mut priority =
            |one: &&Move| *priorities.get_or_insert_with(view.state, one.thread, || random.next() | DRAWN);
        // The priorities of new threads are drawn in the order of their slots.
        let Some(&Move { thread, alternatives }) = moves.iter().max_by_key(&mut priority) else {
            return Decision::Done;
        };
        self.count(view, thread, moves.len() == 1);
        let alternative = if alternatives == 1 { 0 } else { self.random.below(alternatives) };
        Decision::Step(Choice { thread, alternative })
    }
}

#[cfg(test)]
mod tests;
