//! Partial-order reduction: states of which one thread alone is expanded.
//!
//! **Input**: a state and its moves. **Output**: a thread whose next step may come before all that the others can do.
//!
//! **Algorithm**: persistent sets of one thread (Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", 1996)
//! by steps that move to the left (Lipton, "Reduction: a method of proving properties of parallel programs", 1975).
//! 1. A step *commutes* if it does one of these, and then local work alone: it reads or writes a cell without a race; it
//!    gives a lock back, or raises a semaphore, where no thread tries locks; it takes a lock whose order [nobody can
//!    see](crate::slice::UnobservedLocks); it joins threads that have ended; it makes threads,
//!    of which a program can have only so many: no loop of it runs for ever, and no function makes threads that run itself.
//! 2. Of a state in which a thread has such a step, that thread alone is expanded, if its successor was not expanded before, or
//!    states cannot lead back to themselves.
//!
//! **Soundness**: let t have a commuting step in a state s, and let the others do any steps from there, t none.
//! - None of these conflicts with the step of t, unless it takes an unobserved lock, whose soundness is argued there. One that
//!   accesses the cell in conflict would stand before its access while t stands before its own: that is a race, and there is none.
//!   The lock that t holds nobody else can take or give back; who has lowered a semaphore can do so where it is higher. A readers-writer
//!   lock that t holds others can take and give back as well as if t had given its hold back, unless writers are preferred. Threads
//!   that t makes do nothing yet but local work, and no other thread makes, ends or joins them before; a thread that has ended
//!   stays so. Which numbers new threads and locals get depends on the order, but nothing that a program can tell does.
//! - So the step of t can be done before all of them: each of them does the same then, reads from the same writer included, and
//!   leads to the same state. In s nobody is blocked for good, for t can move; and a failure of another thread is still
//!   ahead behind the step of t, which prints nothing and does not fail.
//! - So from the successor all terms, outcomes, failures, deadlocks and executions without end of s can be seen (conditions C0
//!   to C2 of Clarke, Grumberg and Peled, *Model Checking*, 1999).
//! - A chain of states of which one thread alone was expanded comes to an end where there are no cycles: only so many threads are made.
//! - A cycle of states of which one thread alone was expanded would have an edge to the one of them that was expanded first, from
//!   one that was expanded later (condition C3); that one is expanded whole. Where no loop of the program can run for ever, there are
//!   no cycles, and no states to be expanded whole for that.
//!
//! **Limits**: schedules are no longer shortest, so reduction begins where there are many states. Not where executions may be
//! discarded: whether a step counts may depend on what comes later. That there can be too many threads for the machine is a bound, and may
//! be met in fewer executions.

use cssame_ir::sync::Kind;
use cssame_vm::{Machine, Move, Origin, Pending, State, ThreadIndex, Visibility};
use rustc_hash::FxHashSet;

/// Steps that may come before what other threads can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commuting {
    /// The accesses to shared memory that race with no other one and are not atomic.
    pub accesses: Visibility,
    /// The operations on locks whose order nobody can see.
    pub locks: FxHashSet<Origin>,
    /// Whether no state can lead back to itself.
    pub acyclic: bool,
    /// Whether making threads commutes: there can be only so many.
    pub forks: bool,
}

/// How states are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction<'a> {
    /// What may go first.
    pub commuting: &'a Commuting,
    /// States that are expanded whole, at least, before reduction begins.
    pub from: u64,
}

impl Reduction<'_> {
    /// Whether the steps of a program may be reduced.
    pub(crate) fn serves(&self, machine: &Machine) -> bool {
        !machine.may_discard() && !machine.tries_locks()
    }

    /// The place, in the list of all moves, of a thread that may go first.
    pub(crate) fn first(&self, machine: &Machine, state: &State, moves: &[Move]) -> Option<usize> {
        first_of(moves, |thread| self.commutes(machine, state, thread))
    }

    /// Whether the next step of a thread may come before all that other threads can do, if the thread can move.
    pub(crate) fn commutes(&self, machine: &Machine, state: &State, thread: ThreadIndex) -> bool {
        let Commuting { accesses, locks, forks, .. } = self.commuting;
        match machine.pending(state, thread) {
            Some(Pending::Read { read, .. }) => accesses.read(read),
            Some(Pending::Write { definition, .. }) => accesses.definition(definition),
            Some(Pending::Synchronise { kind: Kind::Unlock | Kind::Release, .. }) => true,
            Some(Pending::Synchronise { kind: Kind::UnlockRw, .. }) => !machine.prefers_writers(),
            Some(Pending::Synchronise { kind: Kind::Lock | Kind::Acquire, .. }) => {
                locks.contains(&machine.origin(state.position(thread)))
            }
            Some(Pending::Fork | Pending::Spawn) => *forks,
            Some(Pending::Join) => true,
            // Without a thread it fails.
            Some(Pending::JoinThread { thread }) => thread.is_some(),
            _ => false,
        }
    }
}

/// The place, in the list of all moves, of a thread that may go first, if it is known whose next steps commute.
pub(crate) fn first_of(moves: &[Move], commutes: impl Fn(ThreadIndex) -> bool) -> Option<usize> {
    if moves.len() < 2 {
        return None;
    }
    moves.iter().position(|one| one.alternatives == 1 && commutes(one.thread))
}
