//! Branches: where other executions part from one that was followed.
//!
//! **Input**: the log of an execution. **Output**: for each of its reads and choices, the other sources that the log
//! shows, each with its past, as operations that are to stand behind the part that is shared.

use super::super::log::{Kind, Log, NONE, Operation};
use super::{Node, Search};
use crate::budget::Bound;
use smallvec::SmallVec;

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Makes a node of the last operation, which has just been done, with the branches that the log shows already.
    pub(super) fn open_node(&mut self, alternatives: u32) {
        let mut node = self.spare.pop().unwrap_or_default();
        let at = self.log.len() - 1;
        (node.base, node.at) = (at, at);
        node.seen.clear();
        node.waiting.clear();
        (node.operations, node.branches) = (0, 1);
        std::mem::swap(&mut node.before, &mut self.previous);
        let operation = &self.log.operations[at];
        if operation.kind == Kind::Choose {
            let others = (1..alternatives).rev();
            others.for_each(|alternative| node.push(vec![Operation { alternative, ..operation.clone() }]));
        } else {
            node.seen.insert(self.log.hash_of(operation.source));
            // A write that another one in the past of the read comes behind is overwritten.
            let in_past = |&&write: &&u32| {
                let mut before = operation.before.iter().filter(|&&before| before != NONE);
                before.any(|&before| self.log.is_past(write as usize, before as usize))
            };
            let writes: SmallVec<[u32; 8]> =
                self.log.writes_of(operation.cell).iter().copied().filter(|&write| write < at as u32).collect();
            let past: SmallVec<[u32; 8]> = writes.iter().filter(in_past).copied().collect();
            let overwritten = |source: u32| match source {
                NONE => !past.is_empty(),
                source => {
                    past.iter().any(|&later| later != source && self.log.is_past(source as usize, later as usize))
                }
            };
            for &source in writes.iter().chain([&NONE]) {
                if node.seen.insert(self.log.hash_of(source)) && !overwritten(source) {
                    node.push(vec![Operation { source, writes: false, ..operation.clone() }]);
                }
            }
        }
        self.nodes.push(node);
    }

    /// Finds the branches that operations of this execution show, from `first` on.
    pub(super) fn find_branches(&mut self, first: usize) {
        let log = &self.log;
        let limit = self.budget.limits().max_memory.map_or(usize::MAX, |bytes| bytes as usize / size_of::<Operation>());
        let mut waiting: usize = self.nodes.iter().map(|node| node.operations).sum();
        for (index, operation) in log.operations.iter().enumerate().skip(first) {
            if !operation.writes && operation.kind != Kind::Atomic {
                continue;
            }
            for node in &mut self.nodes {
                let read = &log.operations[node.at];
                if !read.reads() || read.cell != operation.cell || index < node.base || index == node.at {
                    continue;
                }
                let before = node.operations;
                if operation.writes && !log.is_past(node.at, index) && node.seen.insert(operation.hash) {
                    let past = beyond(log.past(index), node.base);
                    node.push(branch(log, node, past, None, read));
                }
                if operation.kind == Kind::Atomic && read.kind == Kind::Atomic && operation.source != read.source {
                    turn(log, node, index);
                }
                waiting += node.operations - before;
            }
            if waiting > limit {
                self.found.bound = Some(Bound::Memory);
                return;
            }
        }
    }
}

/// The operations of a past that stand behind a base, in the order of the log.
fn beyond(past: &[u64], base: usize) -> Vec<u32> {
    let mut operations = Vec::new();
    for (word, &bits) in past.iter().enumerate().skip(base / 64) {
        let mut bits = if word == base / 64 { bits & (u64::MAX << (base % 64)) } else { bits };
        while bits != 0 {
            operations.push((word * 64) as u32 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    operations
}

/// A branch: a past behind the base, an atomic operation that reads from another source than in the log, and the read of the
/// node, which reads from the last of them.
fn branch(log: &Log, node: &Node, past: Vec<u32>, turned: Option<Operation>, read: &Operation) -> Vec<Operation> {
    let base = node.base as u32;
    // A past is sorted.
    let moved = |index: u32| match index {
        NONE => NONE,
        index if index < base => index,
        index => past.binary_search(&index).map_or(NONE, |place| base + place as u32),
    };
    let place = |mut operation: Operation| {
        operation.source = moved(operation.source);
        operation.before.iter_mut().for_each(|before| *before = moved(*before));
        operation
    };
    let mut operations: Vec<Operation> =
        past.iter().map(|&index| place(log.operations[index as usize].clone())).collect();
    operations.extend(turned.map(place));
    let source = base + operations.len() as u32 - 1;
    operations.push(Operation { source, writes: false, ..read.clone() });
    operations
}

/// Two atomic operations on a cell: the branch in which the second one reads what the node's read reads now, and that reads
/// from it.
fn turn(log: &Log, node: &mut Node, index: usize) {
    let (read, operation) = (&log.operations[node.at], &log.operations[index]);
    let follows = operation.before.iter().any(|&before| before != NONE && log.is_past(node.at, before as usize));
    let precedes = read.source != NONE && log.is_past(index, read.source as usize);
    if follows || precedes {
        return;
    }
    if !node.seen.insert(log.hash_with(operation, read.source)) {
        return;
    }
    let mut past = vec![0; log.past(index).len()];
    for &each in operation.before.iter().chain([&read.source]).filter(|&&each| each != NONE) {
        past.iter_mut().zip(log.past(each as usize)).for_each(|(own, other)| *own |= other);
    }
    let turned = Operation { source: read.source, writes: true, ..operation.clone() };
    let operations = branch(log, node, beyond(&past, node.base), Some(turned), read);
    node.push(operations);
}
