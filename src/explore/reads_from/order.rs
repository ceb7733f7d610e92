//! Decides whether operations with given sources have a sequentially consistent order.
//!
//! **Input**: a log in which each operation comes after its past. **Output**: an order of its operations in which each read sees
//! its source, or `None` if there is none.
//!
//! **Algorithm**: testing sequential consistency with a given reads-from relation (Gibbons and Korach, "Testing Shared Memories",
//! 1997), from front to back.
//! 1. Take operations at once that can never be wrong: a read that sees its source now; a write to a cell whose value no
//!    operation waits for any more, if no operation reads the write, or if all other remaining writes of the cell have it in
//!    their past; an atomic operation that is the last reader of the current value of the cell.
//! 2. The remaining choice is between writes. Try each, with a copy of the position.
//! 3. If no order was possible from a set of operations with given contents of the cells, this combination is not tried again.
//!
//! **Soundness and limits**: if the remaining operations have an order, an operation of step 1 can come first in some order of
//! them. No remaining operation needs the data that it changes. If all other writes have a write in their past, no operation
//! before it in that order touches the cell. The problem is NP-complete, so step 2 may take exponentially long; the clock is
//! checked during the search.

use super::log::Log;
use super::operation::{Kind, NONE, Operation, ReaderBody};
use cssame_budget::{Bound, Budget};
use cssame_vm as vm;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Buffers that are used again.
#[derive(Debug, Default)]
pub(super) struct Sorter {
    /// For each operation those right behind it.
    after: Vec<SmallVec<[u32; 4]>>,
    /// For each operation how many reads have it as source; then for each cell the reads of the initial value.
    readers: Vec<u32>,
    /// By cell: the last write that is left, and whether each of them has the one before it in its past.
    chains: Vec<(u32, bool)>,
    dead: FxHashSet<u128>,
    /// Not used while no order is searched.
    front: Front,
    /// Where the last operation of the log stands in a body of a reader, the source of that body, as `waiting` counts it, which it
    /// keeps from being overwritten.
    open: Option<usize>,
    /// The bound that was hit on the way.
    stopped: Option<Bound>,
}

/// How far an order has come.
#[derive(Clone, Debug, Default)]
struct Front {
    order: Vec<u32>,
    /// For each operation how many must come before it that have not.
    missing: Vec<u32>,
    /// Operations whose predecessors have all come.
    ready: Vec<u32>,
    /// For each source the reads that have not come.
    waiting: Vec<u32>,
    /// By cell: the write that it holds.
    holds: Vec<u32>,
    /// By cell: writes that have not come.
    writes: Vec<u32>,
    done: Vec<u64>,
}

/// What is to be put in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left<'a> {
    /// The operations.
    pub operations: &'a [u32],
    /// By cell: the write that it holds before them.
    pub holds: &'a [u32],
    /// The body of a reader that the last operation of the log stands in.
    pub open: Option<ReaderBody>,
}

impl Sorter {
    /// Finds an order of those operations of a log that are left, behind all others. They rise. The last operation of the log may stand
    /// in a body of a reader, of which the rest can then be done right behind it.
    pub fn order(&mut self, log: &Log, left: &Left<'_>, budget: &Budget<'_>, order: &mut Vec<u32>) -> bool {
        let &Left { operations: left, holds, open } = left;
        let mut front = self.prepare(log, left, holds);
        self.open = open.map(|body| source_index(log.len(), body.source, body.lock));
        if let Some(open) = self.open {
            // A lock that none of the operations is on.
            if open >= front.waiting.len() {
                front.waiting.resize(open + 1, 0);
            }
            front.waiting[open] += 1;
        }
        self.dead.clear();
        self.stopped = None;
        let found = self.search(log, budget, left.len(), &mut front);
        std::mem::swap(order, &mut front.order);
        self.front = front;
        found
    }

    /// The bound that has stopped the last search.
    pub fn stopped(&self) -> Option<Bound> {
        self.stopped
    }

    fn prepare(&mut self, log: &Log, left: &[u32], holds: &[u32]) -> Front {
        let count = log.len();
        let cells = left.iter().map(|&index| log.operations[index as usize].cell as usize + 1).max().unwrap_or(0);
        let mut front = std::mem::take(&mut self.front);
        let sizes = [(&mut front.missing, count), (&mut front.waiting, count + cells), (&mut front.writes, cells)];
        for (list, size) in sizes {
            list.clear();
            list.resize(size, 0);
        }
        front.order.clear();
        front.ready.clear();
        front.holds.clear();
        front.holds.extend_from_slice(holds);
        front.holds.resize(cells.max(holds.len()), NONE);
        front.done.clear();
        front.done.resize(count.div_ceil(64), u64::MAX);
        self.chains.clear();
        self.chains.resize(cells, (NONE, true));
        self.after.resize_with(count.max(self.after.len()), SmallVec::new);
        for &index in left {
            front.done[index as usize / 64] &= !(1 << (index % 64));
            self.after[index as usize].clear();
        }
        for &index in left {
            let operation = &log.operations[index as usize];
            for &before in operation.before.iter().filter(|&&before| before != NONE) {
                if front.done[before as usize / 64] >> (before % 64) & 1 == 0 {
                    self.after[before as usize].push(index);
                    front.missing[index as usize] += 1;
                }
            }
            if operation.reads() {
                front.waiting[source_index(count, operation.source, operation.cell)] += 1;
            }
            if operation.writes {
                front.writes[operation.cell as usize] += 1;
                let (last, is_chain) = &mut self.chains[operation.cell as usize];
                *is_chain &= *last == NONE || log.is_past(*last as usize, index as usize);
                *last = index;
            }
            if front.missing[index as usize] == 0 {
                front.ready.push(index);
            }
        }
        self.readers.clone_from(&front.waiting);
        front
    }

    fn search(&mut self, log: &Log, budget: &Budget<'_>, length: usize, front: &mut Front) -> bool {
        loop {
            // 1. What can never be wrong.
            self.take_safe(log, front);
            if front.order.len() == length {
                return true;
            }
            // 2. What remains is a choice between writes.
            let able = front.ready.iter().enumerate().filter(|&(_, &each)| can_write(log, front, each));
            let mut choices: Vec<usize> = able.map(|(place, _)| place).collect();
            choices.sort_unstable_by_key(|&place| front.ready[place]);
            let Some((&last, others)) = choices.split_last() else { return false };
            if !others.is_empty() {
                // 3. There was no way on from here.
                if !self.dead.insert(key(front)) {
                    return false;
                }
                if self.dead.len().is_multiple_of(256) {
                    self.stopped = self.stopped.or(budget.check());
                }
                if self.stopped.is_some() {
                    return false;
                }
                for &choice in others {
                    let mut branch = front.clone();
                    self.take(log, &mut branch, choice);
                    if self.search(log, budget, length, &mut branch) {
                        *front = branch;
                        return true;
                    }
                }
            }
            self.take(log, front, last);
        }
    }

    /// Takes whatever can never be wrong.
    fn take_safe(&self, log: &Log, front: &mut Front) {
        loop {
            let before = front.order.len();
            let mut place = 0;
            while place < front.ready.len() {
                if self.is_safe(log, front, front.ready[place]) {
                    self.take(log, front, place);
                } else {
                    place += 1;
                }
            }
            // What was taken may have opened the way for others.
            if front.order.len() == before {
                return;
            }
        }
    }

    fn is_safe(&self, log: &Log, front: &Front, index: u32) -> bool {
        let operation = &log.operations[index as usize];
        let cell = operation.cell as usize;
        let count = log.len();
        match operation.kind {
            Kind::Choose | Kind::Fork | Kind::Spawn | Kind::Join | Kind::Arrive => true,
            Kind::Read => front.holds[cell] == operation.source,
            Kind::Atomic | Kind::Synchronise(_) => {
                front.holds[cell] == operation.source
                    && (!operation.writes || front.waiting[source_index(count, operation.source, operation.cell)] == 1)
            }
            Kind::Write => {
                can_write(log, front, index) && (self.readers[index as usize] == 0 || self.is_first(log, front, index))
            }
        }
    }

    /// Whether all other writes of a cell that are left have this one in their past.
    fn is_first(&self, log: &Log, front: &Front, write: u32) -> bool {
        let cell = log.operations[write as usize].cell;
        if front.writes[cell as usize] == 1 || self.chains[cell as usize].1 {
            return true;
        }
        let left =
            log.writes_of(cell).iter().filter(|&&other| front.done[other as usize / 64] >> (other % 64) & 1 == 0);
        left.copied().all(|other| log.is_past(write as usize, other as usize))
    }

    /// Takes the ready operation at a place; with one that begins a body that only looks all of that, for nobody else can have its lock
    /// meanwhile.
    fn take(&self, log: &Log, front: &mut Front, place: usize) {
        let mut operation = self.take_one(log, front, place);
        if !operation.begins_to_look() {
            return;
        }
        let thread = operation.thread;
        let is_next = |&each: &u32| log.operations[each as usize].thread == thread;
        while !operation.ends_to_look()
            && let Some(next) = front.ready.iter().rposition(is_next)
        {
            operation = self.take_one(log, front, next);
        }
    }

    fn take_one<'l>(&self, log: &'l Log, front: &mut Front, place: usize) -> &'l Operation {
        let index = front.ready.swap_remove(place);
        let operation = &log.operations[index as usize];
        front.order.push(index);
        front.done[index as usize / 64] |= 1 << (index % 64);
        if operation.reads() {
            front.waiting[source_index(log.len(), operation.source, operation.cell)] -= 1;
        }
        if index as usize + 1 == log.len()
            && let Some(open) = self.open
        {
            front.waiting[open] -= 1;
        }
        if operation.writes {
            front.holds[operation.cell as usize] = index;
            front.writes[operation.cell as usize] -= 1;
        }
        for &after in &self.after[index as usize] {
            front.missing[after as usize] -= 1;
            if front.missing[after as usize] == 0 {
                front.ready.push(after);
            }
        }
        operation
    }
}

/// Whether an operation is a write of a cell whose value nobody waits for.
fn can_write(log: &Log, front: &Front, index: u32) -> bool {
    let operation = &log.operations[index as usize];
    let held = || front.holds[operation.cell as usize];
    operation.kind == Kind::Write && front.waiting[source_index(log.len(), held(), operation.cell)] == 0
}

/// Where the reads of a source are counted.
fn source_index(count: usize, source: u32, cell: u32) -> usize {
    if source == NONE { count + cell as usize } else { source as usize }
}

/// What tells two fronts apart.
fn key(front: &Front) -> u128 {
    let mut words = front.done.clone();
    words.extend(front.holds.iter().map(|&held| u64::from(held)));
    vm::hash(&words)
}
