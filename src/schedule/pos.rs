//! Partial-order sampling: random priorities of operations, drawn anew after a race.
//!
//! **Input**: a seed. **Output**: a [`Policy`].
//!
//! **Algorithm** (Yuan, Yang, Gu 2018).
//!
//! 1. An operation that a thread stands before and that is possible gets a random priority, if it has none.
//! 2. The operation with the highest priority is done, and has none then. A step with alternatives, such as `choose`,
//!    takes one of them at random.
//! 3. The pending operations of others that race with it, that is, are dependent on it ([`PendingFootprint`]), lose their
//!    priorities: how they are ordered to what comes later is drawn anew.
//!
//! **Soundness and limits**. Every step that is possible is chosen with positive probability, and every partial order
//! of an execution comes about; the order of two steps that are not dependent costs no luck. A thread that waits in a
//! loop draws a priority for each turn, so whoever it waits for goes at last with probability 1. Operations whose use
//! is not known before (an atomic block, a `print`) count as racing with all: that costs luck, never an execution. A
//! policy like the random one chooses k operations of one thread before another one does its only one with probability
//! 2⁻ᵏ, this one with 1 / (k + 1).

use super::pending::PendingFootprint;
use super::per_thread::PerThread;
use super::policy::{Decision, Policy, Random, View};
use cssame_vm::{Choice, Move};

/// Gives pending operations random priorities.
#[derive(Clone, Debug)]
pub struct Pos {
    random: Random,
    /// Of the operations that threads stand before.
    priorities: PerThread<u64>,
}

impl Pos {
    /// The policy of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Pos {
        Pos { random: Random::new(seed), priorities: PerThread::new() }
    }
}

impl Policy for Pos {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let &View { machine, state, .. } = view;
        let Pos { random, priorities } = self;
        let mut priority = |one: &&Move| *priorities.get_or_insert_with(state, one.thread, || random.next());
        let Some(&Move { thread, alternatives }) = moves.iter().max_by_key(&mut priority) else {
            return Decision::Done;
        };
        priorities.remove(thread);
        let done = PendingFootprint::of(machine, state, thread);
        priorities.retain(|other| {
            let races = PendingFootprint::of(machine, state, other)
                .zip(done.as_ref())
                .is_none_or(|(pending, done)| pending.depends_on(done));
            !races
        });
        let alternative = if alternatives == 1 { 0 } else { random.below(alternatives) };
        Decision::Step(Choice { thread, alternative })
    }
}

#[cfg(test)]
mod tests;
