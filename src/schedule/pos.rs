//! Partial-order sampling: random priorities of operations, redrawn after a race.
//!
//! **Input**: a seed. **Output**: a [`Policy`].
//!
//! **Algorithm** (Yuan, Yang, Gu 2018).
//!
//! 1. A possible operation before which a thread stands gets a random priority, if it has none.
//! 2. The operation with the highest priority is executed, and loses its priority. A step with alternatives, such as `choose`,
//!    takes one of them at random.
//! 3. Pending operations of other threads that race with it, that is, are dependent on it ([`PendingFootprint`]), lose their
//!    priorities: their order relative to later operations is redrawn.
//!
//! **Soundness and limits**. Every possible step is chosen with positive probability, and every partial order of an execution
//! occurs. The order of two independent steps does not reduce the probability. A thread that waits in a loop draws a priority for
//! each iteration, so the thread that it waits for eventually goes with probability 1. Operations whose resources are unknown
//! before (an atomic block, a `print`) count as racing with all: this lowers probabilities, but excludes no execution. A policy
//! like the random one chooses k operations of one thread before the single operation of another one with probability 2⁻ᵏ, this
//! policy with 1 / (k + 1).

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
