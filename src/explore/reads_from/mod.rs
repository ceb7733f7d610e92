//! One execution for each future: stateless model checking up to reads-from equivalence.
//!
//! **Input**: a machine, and a budget. **Output**: every complete execution, up to reorderings that no read can distinguish. Each
//! is visited once if threads synchronise only by memory, forks and joins; otherwise once for each order of operations on
//! objects. Readers of a lock that only read have no order among each other, and neither have bodies of locks that only look.
//!
//! **Algorithm**: after Abdulla, Atig, Jonsson, Lång, Ngo and Sagonas, "Optimal Stateless Model Checking for Reads-From
//! Equivalence under Sequential Consistency" (OOPSLA 2019). An execution is a log of operations. Each read knows the write that
//! it reads from (its *source*). Each operation knows its *past*: the operations before it by program order, forks, joins and
//! reads-from.
//! 1. Follow an execution to its end. Each read, and each choice, becomes a node, at which other executions branch off.
//! 2. Let P be the prefix of the log that ends before a read r. The futures that extend P and differ at r are distinguished by
//!    the write w that r reads from instead, together with the past of w. Each pair of w and its past is a separate branch.
//! 3. A branch is found when some execution that extends P contains w with such a past, and r is not in this past. The branch is
//!    P, the past of w, w, and r.
//! 4. If r and w are both atomic, w cannot be moved before r unchanged: for each two atomic operations on a cell, there is a
//!    branch in which the second one comes first.
//! 5. An operation on a synchronisation object reads from the previous operation on that object. For such a node there is a
//!    branch for each operation that may directly follow the same predecessor instead: an operation that the log contains after
//!    the node, or at which a thread is blocked at the end (`search::branch`). It is executed again, since its outcome is open.
//! 6. If readers of readers-writer locks only read, acquiring and releasing such a lock are reads of the operation by which a
//!    writer has released it, and write nothing. At the node of a reader there is a branch for each earlier writer that it may
//!    see, as for any read. There is also a branch for each writer that may come first after the shared part: there, the reader
//!    comes after that writer. An execution runs the body of a reader as a unit, even in the middle of a repeated order, since a
//!    writer may come next in that order. The reads in the body are ordinary nodes.
//! 7. The body of a lock *looks* if it only reads data that others write in bodies of that lock alone, and releases the lock
//!    permanently or to wait (`search::looks`). This is decided when the body begins. Its operations read from the operation that
//!    last changed the object, and write nothing. The next operation that changes the object comes after all such earlier bodies.
//!    The body runs as a unit, so it has one node, at its beginning. If a looking body comes first in one branch of a node, it
//!    sleeps in the later branches until the object changes. Another such body comes first in a branch only if some operation is
//!    seen to change the object directly after it.
//! 8. If no thread clears events, only the first operation that sets an event changes it. Setting it again and waiting for it
//!    read from that operation and write nothing. If that operation is a node, each other operation that sets the event may come
//!    first.
//! 9. Raising and lowering a semaphore are operations on two objects, each with its own order. The k-th lowering has in its past
//!    the raise with number k minus the initial value of the semaphore: the semaphore admits it after that raise, and not before.
//! 10. A condition has a common order with the lock that a thread releases to wait for it. Other locks and conditions have
//!     separate orders (`search::groups`).
//! 11. Enter the branch that was found last, if its operations have a sequentially consistent order (`order`), and continue with
//!     step 1.
//!
//! **Soundness and limits**: no future is visited twice, since no future has two of the branches of a read. No future is missed:
//! among the futures whose branch is missed, take one with the smallest past. In it, r can read the write that w has overwritten,
//! instead of w. That branch has a smaller past, so it is found, and its executions contain w after r. For a node o on an object
//! and an operation o' that comes first instead: the past of the thread of o' has no operation on the object except those in P.
//! So o can be executed after P and that past, since the object is unchanged. Later executions contain o', or end with o'
//! blocked. The body of a reader has no write, so only the rest of the body has a part of it in its past. No branch contains an
//! open body except the body of the read with which it ends, and no thread waits for the end of such a body. A writer that comes
//! first while a reader waits could also come after the body of the reader, since the body can run as soon as the writer stands
//! before its lock. A reader that is blocked at the end by a waiting writer could have come before that writer, or before an
//! earlier one: this is a separate node, after the whole log. Looking bodies can be exchanged: no other thread can have their
//! lock in the meantime, the last change of the lock determines the values that they read, and the waiting threads form a set. So
//! an execution in which a sleeping body comes first has the same operations, reads and pasts as one in which it came first in an
//! earlier branch. If one body comes first instead of another one, and nothing changes the object between them, the two are
//! exchanged. An operation that changes the object can also come after both, in executions of the branch that has the other body
//! first, so that branch is found there. A set event stays set, and each waiting thread continues after the first operation that
//! sets it, whatever comes in between. So any order that keeps the first one first, and respects pasts, can be executed. After n
//! raises and k lowerings, the value of a semaphore is its initial value plus n - k. It is never below 0 if the k-th lowering
//! comes after the raise that it needs, since the raises have an order. At the node of a lowering, another lowering can come
//! first as well, since that raise is before the node. Among executions that differ only in orders on objects, the first one is
//! reported as new. The work for each future is polynomial as long as `order` need not try many orders. Memory does not grow with
//! the number of futures, except for the waiting branches, and a hash for each future if objects are used. The module refuses
//! ([`Refusal`]) atomic blocks, waits that a thread may abandon, barriers at which more threads arrive than they admit, preferred
//! writers, and failures while other threads may continue. A local that threads share is named by the thread that creates it and
//! by how many of its kind that thread has created before (`cells`). Its past determines this name, whereas its address depends
//! on the order of steps.

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
    /// An atomic block, memory that is given back, a wait that a thread may give up, a barrier at which more threads arrive than it
    /// takes, or writers that are preferred.
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
    // The cells that are given back are written in one step.
    if machine.frees_shared_memory() {
        return Err(Refusal::Synchronisation);
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
