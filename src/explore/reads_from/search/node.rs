//! Nodes: the points where executions branch off.
//!
//! **Input**: branches, as operations to execute after the part that executions share. **Output**: the waiting branches, the last
//! one first, and their memory.

use super::super::log::Log;
use super::super::operation::{Operation, ReaderBody};
use cssame_vm::PathId;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// A thread that stands before an operation on an object, of which all executions were followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sleeper {
    pub thread: PathId,
    /// The object.
    pub cell: u32,
    /// What it would do, wherever that comes.
    pub key: u128,
    /// The operation that has changed the object last: it sleeps until another one does so.
    pub source: u32,
}

/// A read, a choice, or an operation on a synchronisation object, of the execution, at which executions part.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Length of the log before it.
    pub base: usize,
    /// Where it stands in the log now: behind the past of its source.
    pub at: usize,
    /// The last step before it.
    pub before: u32,
    /// For a read or an operation on an object, its cell.
    pub cell: Option<u32>,
    /// For an operation by which a reader gets a lock, its thread, and what comes right before it.
    pub read_lock: Option<(PathId, SmallVec<[u32; 2]>)>,
    /// The body of a reader that the operation stands in.
    pub body: Option<ReaderBody>,
    /// Whether operations before it in the log were still to be done when it was done.
    pub is_early: bool,
    /// Threads that sleep in branches that are entered later.
    pub asleep: Vec<Sleeper>,
    /// The sources, or the operations that come first on the object, with their pasts, for which there is or was a branch.
    pub seen: FxHashSet<u128>,
    /// Branches that wait: what is to stand behind the base.
    pub waiting: Vec<Vec<Operation>>,
    /// Memory that these take.
    pub bytes: usize,
    /// How many branches were found so far, the one that is followed first included.
    pub branches: u32,
}

impl Node {
    pub fn push(&mut self, branch: Vec<Operation>) {
        self.bytes += bytes_of(&branch);
        self.branches += 1;
        self.waiting.push(branch);
    }

    pub fn pop(&mut self) -> Option<Vec<Operation>> {
        let branch = self.waiting.pop()?;
        self.bytes -= bytes_of(&branch);
        Some(branch)
    }

    /// Adds the branches in which the last operation, which the node is at, wakes another one of these threads than the first.
    pub fn push_others(&mut self, log: &Log, wakeable: &[PathId]) {
        for woken in wakeable.iter().skip(1).rev() {
            let mut operations = log.operations[self.base..].to_vec();
            if let Some(last) = operations.last_mut() {
                last.alternative = 1 + woken.0;
            }
            self.push(operations);
        }
    }
}

/// Memory of a branch. Branches are blocks of all sizes, which come and go, so an allocator has gaps: a quarter more.
pub(super) fn bytes_of(branch: &Vec<Operation>) -> usize {
    let lists = branch.iter().map(Operation::bytes_of_lists).sum::<usize>();
    (branch.capacity() * size_of::<Operation>() + lists) / 4 * 5
}
