//! Branches: the points where other executions depart from the one that was followed.
//!
//! **Input**: the log of an execution. **Output**: for each of its reads and choices, the other sources that the log shows, each
//! with its past; for each operation on an object, the other operations that may come first. All are given as operations to
//! execute after the shared part.

use super::super::log::Log;
use super::super::operation::{Kind, NONE, Operation};
use super::Search;
use super::node::Node;
use cssame_budget::Bound;
use cssame_vm::ThreadIndex;
use smallvec::SmallVec;

impl<const NAMES: bool> Search<'_, NAMES> {
    /// A node of the operation behind the first ones of the log, which is done behind a step.
    fn new_node(&mut self, base: usize, before: u32, is_early: bool) -> Node {
        let mut node = self.spare.pop().unwrap_or_default();
        (node.base, node.at, node.before) = (base, base, before);
        node.seen.clear();
        node.waiting.clear();
        (node.bytes, node.branches, node.cell) = (0, 1, None);
        (node.read_lock, node.body, node.is_early) = (None, None, is_early);
        node.asleep.clear();
        node
    }

    /// Makes a node of the last operation, which has just been done behind a step, with the branches that the log shows already.
    /// It is early if operations before it in the log are still to be done.
    pub(super) fn open_node(&mut self, before: u32, alternatives: u32, is_early: bool) {
        let mut node = self.new_node(self.log.len() - 1, before, is_early);
        let operation = &self.log.operations[node.at];
        if operation.kind == Kind::Choose {
            let others = (1..alternatives).rev();
            others.for_each(|alternative| node.push(vec![Operation { alternative, ..operation.clone() }]));
        } else {
            node.cell = Some(operation.cell);
            if operation.may_come_first() {
                node.seen.insert(self.log.hash_anywhere(operation));
                node.push_others(&self.log, &self.wakeable);
            } else {
                node.seen.insert(self.log.hash_of(operation.source));
                if operation.synchronises() {
                    node.read_lock = Some((operation.thread, operation.before.clone()));
                } else {
                    node.body = self.body;
                }
                self.add_earlier_sources(&mut node, operation, Some(operation.source));
            }
            let cell = operation.cell as usize;
            if self.readers.len() <= cell {
                self.readers.resize(cell + 1, Vec::new());
            }
            self.readers[cell].push(self.nodes.len() as u32);
        }
        self.put_to_sleep(&mut node, operation);
        self.branch_bytes += node.bytes;
        self.nodes.push(node);
    }

    /// Makes a branch for each write before a read that it may see instead of what it sees, if it sees something.
    fn add_earlier_sources(&self, node: &mut Node, read: &Operation, seen: Option<u32>) {
        let past = |write: u32| {
            let mut before = read.before.iter().filter(|&&before| before != NONE);
            before.any(|&before| self.log.is_past(write as usize, before as usize))
        };
        // Writes in the past of the read that no other one comes behind: those before them are overwritten. The past of a write
        // stands before it in the log.
        let mut last: SmallVec<[u32; 4]> = SmallVec::new();
        let mut sources: SmallVec<[u32; 8]> = SmallVec::new();
        for &write in self.log.writes_of(read.cell).iter().rev().filter(|&&write| write < node.at as u32) {
            if last.iter().any(|&later| self.log.is_past(write as usize, later as usize)) {
                continue;
            }
            if past(write) {
                last.push(write);
            }
            // What a later writer of its lock comes before is not seen in the body of a reader, who gets the lock from those that give it
            // back.
            let may_be_seen = if read.synchronises() {
                self.log.operations[write as usize].gives_back_rwlock()
            } else {
                node.body.is_none_or(|body| !self.log.is_behind_next_writer(body, write as usize))
            };
            if may_be_seen {
                sources.push(write);
            }
        }
        if last.is_empty() {
            sources.insert(0, NONE);
        }
        if read.synchronises() {
            sources.retain(|source| self.comes_behind_writers(read, *source));
        }
        for &source in sources.iter().rev().filter(|&&source| Some(source) != seen) {
            node.push(vec![Operation { source, writes: false, ..read.clone() }]);
        }
    }

    /// Whether a reader that gets its lock from a source comes behind all writers that this execution has put before it: others have
    /// executions in which it comes before them.
    fn comes_behind_writers(&self, reader: &Operation, source: u32) -> bool {
        let nodes = self.readers.get(reader.cell as usize).map_or(&[][..], Vec::as_slice);
        let of_reader = |number: &u32| {
            let node = &self.nodes[*number as usize];
            let is_passed = || self.log.operations[node.at].changes_object();
            let passed = node
                .read_lock
                .as_ref()
                .filter(|(thread, before)| *thread == reader.thread && *before == reader.before && is_passed());
            passed.map(|_| node.at)
        };
        let mut writers = nodes.iter().filter_map(of_reader);
        writers.all(|writer| source != NONE && self.log.is_past(writer, source as usize))
    }

    /// Finds the branches that operations of this execution show, from `first` on.
    pub(super) fn find_branches(&mut self, first: usize) {
        let (log, room) = (&self.log, self.room());
        for (index, operation) in log.operations.iter().enumerate().skip(first) {
            if !operation.may_be_read() {
                continue;
            }
            let readers = self.readers.get(operation.cell as usize).map_or(&[][..], Vec::as_slice);
            self.work += readers.len() as u64;
            let key = if operation.synchronises() { log.hash_anywhere(operation) } else { 0 };
            for &number in readers {
                let node = &mut self.nodes[number as usize];
                let read = &log.operations[node.at];
                if index < node.base || index == node.at {
                    continue;
                }
                let before = node.bytes;
                if read.begins_to_look() {
                    push_around_look(log, node, index, key);
                } else if read.may_come_first() {
                    push_first(log, node, operation, (key, read.source));
                } else if read.synchronises() {
                    // A writer that is the first one behind what is shared comes before the reader.
                    let Operation { source, .. } = *operation;
                    if !operation.gives_back_rwlock() && (source == NONE || (source as usize) < node.base) {
                        push_first(log, node, operation, (key, source));
                    }
                } else if operation.writes
                    && !log.is_past(node.at, index)
                    && node.body.is_none_or(|body| !log.is_behind_next_writer(body, index))
                    && node.seen.insert(operation.hash)
                {
                    let past = beyond(log.past(index), node.base);
                    node.push(branch(log, node, &past, None, read));
                }
                if operation.kind == Kind::Atomic && read.kind == Kind::Atomic && operation.source != read.source {
                    turn(log, node, index);
                }
                self.branch_bytes += node.bytes - before;
                if self.branch_bytes > room {
                    self.found.bound = Some(Bound::Memory);
                    return;
                }
            }
        }
    }

    /// Finds the branches in which a thread that is blocked at the end of this execution does what it stands before, earlier.
    pub(super) fn find_branches_of_blocked(&mut self) {
        let room = self.room();
        let state = &self.now.state;
        let blocked = state.threads().filter(|&thread| self.machine.alternatives(state, thread) == 0);
        let blocked: SmallVec<[ThreadIndex; 8]> = blocked.collect();
        let mut readers = Vec::new();
        for thread in blocked {
            let Some((operation, shares)) = self.standing(thread) else { continue };
            if shares {
                readers.push(operation);
                continue;
            }
            let key = self.log.hash_anywhere(&operation);
            for &number in self.readers.get(operation.cell as usize).map_or(&[][..], Vec::as_slice) {
                let node = &mut self.nodes[number as usize];
                let (before, first) = (node.bytes, &self.log.operations[node.at]);
                if first.may_come_first() {
                    push_first(&self.log, node, &operation, (key, first.source));
                }
                self.branch_bytes += node.bytes - before;
                self.work += 1;
                if self.branch_bytes > room {
                    self.found.bound = Some(Bound::Memory);
                    return;
                }
            }
        }
        if !readers.is_empty() {
            self.open_node_of_blocked(&readers);
        }
    }

    /// Makes a node of what readers do that are blocked at the end of this execution: each may read behind any body of a writer instead.
    fn open_node_of_blocked(&mut self, readers: &[Operation]) {
        let mut node = self.new_node(self.log.len(), self.now.last, false);
        readers.iter().for_each(|reader| self.add_earlier_sources(&mut node, reader, None));
        self.branch_bytes += node.bytes;
        self.nodes.push(node);
    }

    /// Memory that branches may take.
    fn room(&self) -> usize {
        let limit = self.budget.limits().max_memory.map_or(usize::MAX, |bytes| bytes as usize);
        limit.saturating_sub(self.tree.bytes() + self.measured)
    }
}

/// Adds the branches in which something comes before the body of a node that only looks, for an operation on its object. Whether other such
/// bodies come first matters only to what changes the object right behind all of them, if that can come before the body.
fn push_around_look(log: &Log, node: &mut Node, index: usize, key: u128) {
    let (operation, source) = (&log.operations[index], log.operations[node.at].source);
    if operation.begins_to_look() {
        return;
    }
    let needs_it = |&before: &u32| before != NONE && log.is_past(node.at, before as usize);
    if operation.source == source && !operation.before_thread().iter().any(needs_it) {
        for &end in operation.before_by_object() {
            let first = log.begin_of_look(end);
            if first as usize >= node.base && first as usize != node.at {
                let first = &log.operations[first as usize];
                push_first(log, node, first, (log.hash_anywhere(first), source));
            }
        }
    }
    push_first(log, node, operation, (key, source));
}

/// Adds the branch in which an operation on an object comes right behind what the node's operation comes behind now: the past of its
/// thread, and the operation, which is to be done anew. `key` is its hash, wherever it comes.
fn push_first(log: &Log, node: &mut Node, operation: &Operation, (key, source): (u128, u32)) {
    let before = || operation.before_thread().iter().filter(|&&before| before != NONE);
    if before().any(|&before| log.is_past(node.at, before as usize)) || node.seen.contains(&key) {
        return;
    }
    if !log.lets_through(operation, source) {
        return;
    }
    let mut past = vec![0; log.stride()];
    for &each in before() {
        past.iter_mut().zip(log.past(each as usize)).for_each(|(own, other)| *own |= other);
    }
    let past = beyond(&past, node.base);
    // It comes behind a body that looks, which comes first then.
    if past.iter().map(|&each| &log.operations[each as usize]).any(|each| each.looks && each.cell == operation.cell) {
        return;
    }
    node.seen.insert(key);
    let before = SmallVec::from_slice(operation.before_thread());
    let (writes, looks, by_object) = (true, false, 0);
    let first = Operation { alternative: 0, source, writes, looks, by_object, before, ..operation.clone() };
    let operations = shared(log, node, &past, Some(first));
    node.push(operations);
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
fn branch(log: &Log, node: &Node, past: &[u32], turned: Option<Operation>, read: &Operation) -> Vec<Operation> {
    let mut operations = shared(log, node, past, turned);
    let source = (node.base + operations.len()) as u32 - 1;
    operations.push(Operation { source, writes: false, ..read.clone() });
    operations
}

/// A past behind the base, and one more operation, as they stand behind the base alone; with room for one more.
fn shared(log: &Log, node: &Node, past: &[u32], last: Option<Operation>) -> Vec<Operation> {
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
    // With room for the last ones: there are very many branches.
    let mut operations: Vec<Operation> = Vec::with_capacity(past.len() + 1 + usize::from(last.is_some()));
    operations.extend(past.iter().map(|&index| place(log.operations[index as usize].clone())));
    operations.extend(last.map(place));
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
    let operations = branch(log, node, &beyond(&past, node.base), Some(turned), read);
    node.push(operations);
}
