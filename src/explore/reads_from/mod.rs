//! One execution for each future: stateless model checking up to reads-from equivalence.
//!
//! **Input**: a machine, and a budget. **Output**: every complete execution, up to reordering that no read can tell, each visited
//! once where threads synchronise by memory, forks and joins alone; else once for each order of operations on objects, in which
//! readers of a lock that only read have none among each other, nor have bodies of locks that only look.
//!
//! **Algorithm**: after Abdulla, Atig, Jonsson, Lång, Ngo and Sagonas, "Optimal Stateless Model Checking for Reads-From
//! Equivalence under Sequential Consistency" (OOPSLA 2019). An execution is a log of operations; each read knows the
//! write that it reads from (its *source*), and each operation its *past*: what comes before it by program order,
//! forks, joins and reads-from.
//! 1. Follow an execution to its end; each read, and each choice, becomes a node, at which other executions part.
//! 2. Let P be the prefix of the log that ends before a read r. The futures that extend P and differ at r are told
//!    apart by the write w that r reads from instead, together with the past of w. Each pair of w and its past is a
//!    branch of its own.
//! 3. A branch is found when some execution that extends P holds w with such a past, in which r does not stand. The
//!    branch is P, the past of w, w, and r.
//! 4. Where r and w are both atomic, w cannot be put behind r as it is: for each two atomic operations on a cell the
//!    branch is made in which the second one comes first.
//! 5. An operation on a synchronisation object reads from the one before it on that object. For such a node there is a branch for each
//!    operation that may come right behind the same one instead: one that the log holds behind the node, or at which a thread is
//!    blocked at the end (`search::branch`). It is done anew, for its outcome is open.
//! 6. Where readers of readers-writer locks only read, to get such a lock and to give it back are reads of the operation by which a
//!    writer has given it back, and write nothing. At the node of a reader there is a branch for each writer before it that it may see, as
//!    of any read, and for each writer that may come first behind what is shared: there, the reader comes behind that writer. An
//!    execution does the body of a reader in one go, also in the middle of an order that is done again, since a writer may come next
//!    in that order: the reads in it are nodes like others.
//! 7. The body of a lock *looks* if it does nothing but read what others write in bodies of that lock alone, and gives the lock back
//!    for good or to wait (`search::looks`). Whether it does is seen when it begins. Its operations read from the one that has changed the
//!    object last, and write nothing; what changes the object next comes behind all such bodies before. It is done in one go, so it has
//!    one node, at its begin. A body that looks and comes first in one branch of a node sleeps in the later ones until the object
//!    changes. Another such body comes first in a branch only where something is seen to change the object right behind it.
//! 8. Where nobody clears events, only the first operation that sets one changes it. To set it again, and to wait for it, reads from that
//!    one and writes nothing; where it stands as a node, each other that sets the event may come first.
//! 9. To raise a semaphore and to lower it are operations on two objects, each with an order of its own. The k-th that lowers it has in its
//!    past the raise of number k less what the semaphore begins with: the semaphore lets it through behind that, and not before.
//! 10. A condition has one order with the lock that a thread gives back to wait for it; other locks and conditions have orders of their own
//!     (`search::groups`).
//! 11. Enter the branch that was found last, if its operations have a sequentially consistent order (`order`), and go on
//!     with 1.
//!
//! **Soundness and limits**: no future is met twice, since no future has two of the branches of a read. None is missed: take one whose
//! branch would be missed, with the smallest past. In it r can read, instead of w, what w has overwritten; that branch has a smaller
//! past, so it is found, and its executions hold w behind r. For a node o on an object and an operation o' that comes first instead:
//! the past of its thread has no operation on the object but those that P has, so o can be done behind P and that past, as the object
//! is as it was; the executions that follow have o' later, or end blocked at it. A body of a reader has no write, so nothing but the
//! rest of it has a part of it in its past: no branch holds an open body but that of the read that it ends with, and nobody waits for
//! the end of one. A writer that comes first, while a reader waits, could come behind the body of the reader as well, for that can be
//! done as soon as the writer stands before its lock. A reader that is blocked at the end, by a writer that waits, could have come
//! before that writer, or before an earlier one: this is a node of its own, behind all of the log. Bodies that look may change places:
//! nobody else can have their lock meanwhile, what they read is determined by what has changed the lock before, and those who wait are
//! a set. So an execution in which one of them comes first that sleeps has the same operations, reads and pasts as one in which it came
//! first in an earlier branch. Where one body comes first instead of another one, and nothing changes the object between them, the two
//! have changed places; something that does can as well come behind both, in executions of the branch that has the other one first: so
//! that branch is found there. An event that is set stays so, and whoever waits goes on behind the first that sets it, whatever comes
//! between: so any order that keeps the first one first, and pasts, can be done. A semaphore holds, behind n that raise it and k that
//! lower it, what it begins with and n - k: that is never below 0 where the k-th comes behind the raise that it needs, for the raises
//! have an order. At the node of one that lowers it another one can do so as well, for that raise stands before the node. Of executions
//! that only orders on objects tell apart, the first one is told to be new. Work is polynomial for each future as long as `order` need
//! not try many orders; memory does not grow with the number of futures beyond the branches that wait, and a hash for each where
//! objects are used. It does not serve atomic blocks, waits that a thread may give up, barriers at which more threads arrive than they
//! take, writers that are preferred, and failures while other threads may go on; it says so ([`Refusal`]). A local that threads share
//! is named by the thread that makes it and by how many of its kind that thread has made before (`cells`), which its past decides; its
//! address depends on the order of steps.

mod cells;
mod events;
mod log;
mod operation;
mod order;
mod search;
mod tree;

use cssame_budget::{Bound, Budget, Statistics};
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{Choice, Failure, Machine, State, Tables};
use std::ops::ControlFlow;

/// Why a program cannot be explored in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An atomic block, a wait that a thread may give up, a barrier at which more threads arrive than it takes, or writers that are
    /// preferred.
    Synchronisation,
    /// Many executions differ only in the order of operations on objects, which no read tells apart.
    Orders,
    /// The program can fail while other threads may go on.
    Failure,
    /// Forks within the head of a `parfor`.
    NestedForks,
    /// A loop that waits for another thread may run for ever.
    Endless,
    /// A condition and a lock, of which operations were taken to have nothing to do with each other, are one group: the search begins
    /// again, and nobody else is told.
    Regrouped,
    /// A read is watched in the thread that is made as the k-th one: which that is depends on the order of steps.
    Watched,
}

/// A complete execution.
pub(super) struct Execution<'a> {
    pub machine: &'a Machine,
    pub tables: &'a Tables,
    /// The state at the end.
    pub state: &'a State,
    /// How it has failed, if it has.
    pub failure: Option<Failure>,
    tree: &'a tree::Tree,
    last: u32,
    /// Whether it is the first one of its future.
    pub is_new: bool,
    /// What was read since the execution before: in this one, unless another one that was discarded lies between.
    pub pairs: &'a [(ReadId, DefinitionId)],
    /// Memory that the search takes.
    pub bytes: u64,
}

impl Execution<'_> {
    /// The steps, from the beginning.
    pub fn choices(&self) -> Vec<Choice> {
        self.tree.choices(self.last)
    }
}

/// What an enumeration has come to.
#[derive(Debug, Default)]
pub(super) struct Enumerated {
    /// Futures: complete executions that no assumption discards.
    pub futures: u64,
    /// Executions that an assumption discards.
    pub discarded: u64,
    /// The bound that was hit.
    pub bound: Option<Bound>,
    pub statistics: Statistics,
    /// Names and outputs.
    pub tables: Tables,
}

/// Visits one execution of each future, until `visit` has seen enough.
///
/// # Errors
///
/// A program that cannot be explored in this way; what was visited before counts for nothing.
pub(super) fn enumerate(
    machine: &Machine,
    budget: &Budget<'_>,
    visit: &mut dyn FnMut(&Execution<'_>) -> ControlFlow<()>,
) -> Result<Enumerated, Refusal> {
    if machine.watched().is_some_and(|watched| !watched.ordered) {
        return Err(Refusal::Watched);
    }
    // Whether a writer begins to wait, or writes at once, depends on when it comes.
    if machine.prefers_writers() {
        return Err(Refusal::Synchronisation);
    }
    if machine.makes_locals() {
        search::Search::<true>::new(machine, budget)?.run(visit)
    } else {
        search::Search::<false>::new(machine, budget)?.run(visit)
    }
}
