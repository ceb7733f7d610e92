//! The undirected schedulers by name: random, PCT, POS.
//!
//! **Input**: the name of the scheduler, with its parameters, and a seed. **Output**: a [`Policy`] of one type for all, so that
//! the same code makes trials of different schedulers.

use super::pct::Pct;
use super::policy::{Decision, Policy, Random, View};
use super::pos::Pos;
use cssame_vm::Move;

/// How the steps of executions are chosen that aim at nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// [`Random`].
    Random,
    /// [`Pct`].
    Pct {
        /// The depth of bugs to look for.
        depth: u32,
        /// A bound on the number of steps of an execution.
        steps: u32,
    },
    /// [`Pos`].
    Pos,
}

impl Scheduler {
    /// The word that users read and write.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Scheduler::Random => "random",
            Scheduler::Pct { .. } => "pct",
            Scheduler::Pos => "pos",
        }
    }

    /// The policy of a seed.
    #[must_use]
    pub fn policy(self, seed: u64) -> Scheduled {
        match self {
            Scheduler::Random => Scheduled::Random(Random::new(seed)),
            Scheduler::Pct { depth, steps } => Scheduled::Pct(Pct::new(depth, steps, seed)),
            Scheduler::Pos => Scheduled::Pos(Pos::new(seed)),
        }
    }
}

/// The policy of a [`Scheduler`] and a seed.
#[derive(Clone, Debug)]
pub enum Scheduled {
    /// Of [`Scheduler::Random`].
    Random(Random),
    /// Of [`Scheduler::Pct`].
    Pct(Pct),
    /// Of [`Scheduler::Pos`].
    Pos(Pos),
}

impl Policy for Scheduled {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        match self {
            Scheduled::Random(policy) => policy.choose(view, moves),
            Scheduled::Pct(policy) => policy.choose(view, moves),
            Scheduled::Pos(policy) => policy.choose(view, moves),
        }
    }
}
