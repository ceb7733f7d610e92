//! Partial-order reduction: states in which only one thread is expanded.
//!
//! **Input**: a state and its moves. **Output**: a thread whose next step may come before all possible steps of the others.
//!
//! **Algorithm**: persistent sets of one thread (Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems",
//! 1996) for steps that are left movers (Lipton, "Reduction: a method of proving properties of parallel programs", 1975).
//! 1. A step *commutes* if it does one of the following, and then only local work. It reads or writes a cell without a race. It
//!    releases a lock, or raises a semaphore, if no thread tries locks, nor gives back the memory that it lies in. It takes a
//!    lock whose order is [not observable](crate::slice::UnobservedLocks). It joins threads that have ended. It creates threads
//!    whose number in the program is bounded: none of its loops runs for ever, and no function creates threads that run the
//!    function itself.
//! 2. In a state in which a thread has such a step, only that thread is expanded, if its successor was not expanded before, or if
//!    states cannot lead back to themselves.
//!
//! **Soundness**: let t have a commuting step in a state s, and let the others execute any steps from there, but not t.
//! - None of these steps conflicts with the step of t, unless it takes an unobserved lock, for which that module gives the proof.
//!   A thread with a conflicting access to the cell would stand before its access while t stands before its own: this would be a
//!   race, and there is none. No other thread can take or release the lock that t holds. A thread that has lowered a semaphore
//!   can also do so if its value is higher. Others can take and release a readers-writer lock that t holds just as if t had
//!   released its hold, unless writers are preferred. Threads that t creates have done only local work so far, and no other
//!   thread creates, ends or joins them before. A thread that has ended stays ended. The numbers of new threads and locals depend
//!   on the order, but nothing that a program can observe does.
//! - So the step of t can be executed before all of them: each of them then does the same, including reads from the same writer,
//!   and leads to the same state. In s no thread is permanently blocked, since t can move. A failure of another thread is still
//!   possible after the step of t, which prints nothing and does not fail.
//! - So all terms, outcomes, failures, deadlocks and executions without end of s can be seen from the successor (conditions C0 to
//!   C2 of Clarke, Grumberg and Peled, *Model Checking*, 1999).
//! - A chain of states in which only one thread was expanded ends if there are no cycles: only finitely many threads are created.
//! - Consider a cycle of states in which only one thread was expanded. It would have an edge to the state of the cycle that was
//!   expanded first, from one that was expanded later (condition C3); the latter is fully expanded. If no loop of the program can
//!   run for ever, there are no cycles, and no state needs full expansion for this reason.
//!
//! **Limits**: schedules are no longer shortest, so reduction begins only if there are many states. It is not used if executions
//! may be discarded: whether a step counts may depend on later events. The maximum number of threads of the machine is a bound,
//! and may be hit in fewer executions.

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
            Some(Pending::Synchronise { kind: Kind::Unlock | Kind::Release, address }) => machine.stays(address),
            Some(Pending::Synchronise { kind: Kind::UnlockRw, address }) => {
                !machine.prefers_writers() && machine.stays(address)
            }
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
