//! The log of an execution: its operations, the source of each read, and the past of each operation as a set of bits.

use crate::vm::{self, PathId};
use smallvec::SmallVec;

/// No operation; as a source, the initial value.
pub(super) const NONE: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reads a cell.
    Read,
    /// Writes a cell.
    Write,
    /// An atomic expression: reads a cell, and writes it unless it is a `cas` that fails.
    Atomic,
    /// Chooses a value.
    Choose,
    /// Makes threads for a join.
    Fork,
    /// Makes a thread with a handle.
    Spawn,
    /// Waits for threads.
    Join,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub kind: Kind,
    pub thread: PathId,
    /// The choice among the alternatives of its step.
    pub alternative: u32,
    /// The cell, for an access.
    pub cell: u32,
    /// The write that it reads from, for a read; [`NONE`] for the initial value, and for other operations.
    pub source: u32,
    /// Whether it writes.
    pub writes: bool,
    /// What comes right before it by program order, fork and join.
    pub before: SmallVec<[u32; 2]>,
    /// The threads that it makes.
    pub makes: SmallVec<[PathId; 4]>,
    /// For a fork, the instruction: that of its join is not known.
    pub fork_at: u32,
    /// The operation with all its past, reads-from included.
    pub hash: u128,
}

impl Operation {
    pub fn reads(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Atomic)
    }

    /// Memory of its lists, where they are long.
    pub fn bytes_of_lists(&self) -> usize {
        let before = if self.before.spilled() { self.before.capacity() * size_of::<u32>() } else { 0 };
        let makes = if self.makes.spilled() { self.makes.capacity() * size_of::<PathId>() } else { 0 };
        before + makes
    }
}

/// Operations in an order in which each stands behind its past.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub operations: Vec<Operation>,
    /// For each operation the set of its past and itself, as rows of bits.
    pasts: Vec<u64>,
    /// Words of a row.
    stride: usize,
    /// By thread: the last operation.
    last: Vec<u32>,
    /// By thread: the operation that has made it.
    made_by: Vec<u32>,
    /// By cell: its writes, in order.
    writes: Vec<Vec<u32>>,
}

impl Log {
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// The last operation of a thread, or what has made the thread; [`NONE`] for the beginning of main.
    pub fn last_of(&self, thread: PathId) -> u32 {
        let index = thread.0 as usize;
        match self.last.get(index) {
            Some(&last) if last != NONE => last,
            _ => self.made_by.get(index).copied().unwrap_or(NONE),
        }
    }

    /// The hash of an operation that would read from another source.
    pub fn hash_with(&self, operation: &Operation, source: u32) -> u128 {
        let mut words: SmallVec<[u64; 16]> = SmallVec::new();
        let place = (operation.kind as u64) << 32 | u64::from(operation.cell);
        words.extend([place, u64::from(operation.thread.0), u64::from(operation.alternative)]);
        for &before in operation.before.iter().chain([&source]) {
            let hash = self.hash_of(before);
            words.extend([hash as u64, (hash >> 64) as u64]);
        }
        vm::hash(&words)
    }

    /// The hash of an operation with its past; 0 for the initial value.
    pub fn hash_of(&self, operation: u32) -> u128 {
        self.operations.get(operation as usize).map_or(0, |operation| operation.hash)
    }

    /// Adds an operation whose `before` and `source` are known; computes its hash and its past.
    pub fn push(&mut self, mut operation: Operation) {
        let index = self.operations.len();
        if index >= self.stride * 64 {
            self.widen();
        }
        operation.hash = self.hash_with(&operation, operation.source);
        let row = index * self.stride;
        self.pasts.resize(row + self.stride, 0);
        let (earlier, own) = self.pasts.split_at_mut(row);
        own.fill(0);
        for &before in operation.before.iter().chain([&operation.source]).filter(|&&before| before != NONE) {
            let start = before as usize * self.stride;
            own.iter_mut().zip(&earlier[start..start + self.stride]).for_each(|(own, other)| *own |= other);
        }
        own[index / 64] |= 1 << (index % 64);
        *slot(&mut self.last, operation.thread) = index as u32;
        if operation.writes {
            self.add_write(operation.cell, index as u32);
        }
        for &thread in &operation.makes {
            *slot(&mut self.made_by, thread) = index as u32;
        }
        self.operations.push(operation);
    }

    /// The forks of a thread that no join has waited for.
    pub fn open_forks(&self, thread: PathId) -> impl Iterator<Item = &Operation> {
        let own = move |&index: &u32| self.operations.get(index as usize).is_some_and(|each| each.thread == thread);
        let first = Some(self.last_of(thread)).filter(own);
        let earlier = move |&index: &u32| {
            let before = self.operations[index as usize].before.first().copied();
            before.filter(own)
        };
        std::iter::successors(first, earlier)
            .map(|index| &self.operations[index as usize])
            .take_while(|operation| operation.kind != Kind::Join)
            .filter(|operation| operation.kind == Kind::Fork)
    }

    /// The last operation, an atomic expression, turns out to write.
    pub fn last_writes(&mut self) {
        let index = self.operations.len() as u32;
        let Some(last) = self.operations.last_mut() else { return };
        if !std::mem::replace(&mut last.writes, true) {
            let cell = last.cell;
            self.add_write(cell, index - 1);
        }
    }

    fn add_write(&mut self, cell: u32, write: u32) {
        let cell = cell as usize;
        if self.writes.len() <= cell {
            self.writes.resize(cell + 1, Vec::new());
        }
        self.writes[cell].push(write);
    }

    /// The writes of a cell, in order.
    pub fn writes_of(&self, cell: u32) -> &[u32] {
        self.writes.get(cell as usize).map_or(&[], Vec::as_slice)
    }

    /// Forgets all operations from an index on.
    pub fn truncate(&mut self, length: usize) {
        while self.operations.len() > length {
            let Some(operation) = self.operations.pop() else { return };
            if operation.writes {
                self.writes[operation.cell as usize].pop();
            }
            let own = operation.before.first().copied().unwrap_or(NONE);
            let same = self.operations.get(own as usize).is_some_and(|before| before.thread == operation.thread);
            *slot(&mut self.last, operation.thread) = if same { own } else { NONE };
        }
        self.pasts.truncate(length * self.stride);
    }

    /// Memory that it takes.
    pub fn bytes(&self) -> usize {
        let writes: usize = self.writes.iter().map(|of| of.capacity() * size_of::<u32>() + size_of::<Vec<u32>>()).sum();
        let threads = (self.last.capacity() + self.made_by.capacity()) * size_of::<u32>();
        self.operations.capacity() * size_of::<Operation>()
            + self.pasts.capacity() * size_of::<u64>()
            + writes
            + threads
    }

    /// Whether `earlier` is `later` or in its past.
    pub fn is_past(&self, earlier: usize, later: usize) -> bool {
        self.pasts[later * self.stride + earlier / 64] >> (earlier % 64) & 1 != 0
    }

    /// The past of an operation, itself included.
    pub fn past(&self, operation: usize) -> &[u64] {
        &self.pasts[operation * self.stride..(operation + 1) * self.stride]
    }

    fn widen(&mut self) {
        let (old, new) = (self.stride, (self.stride * 2).max(1));
        let mut pasts = vec![0; self.operations.len() * new];
        for row in 0..self.operations.len() {
            pasts[row * new..row * new + old].copy_from_slice(&self.pasts[row * old..(row + 1) * old]);
        }
        (self.pasts, self.stride) = (pasts, new);
    }
}

fn slot(list: &mut Vec<u32>, thread: PathId) -> &mut u32 {
    let index = thread.0 as usize;
    if list.len() <= index {
        list.resize(index + 1, NONE);
    }
    &mut list[index]
}
