//! The state of an execution.
//!
//! A [`State`] is a handful of flat vectors: memory cells with their last writers, threads, one stack that holds the
//! frames of all threads in segments, the blocks of allocated locals. [`State::clone_from`](Clone::clone_from) reuses
//! the vectors, so a pool of states does not allocate. Names of threads and printed lines are interned in
//! [`Tables`]; the state holds their ids.
//!
//! A frame is a run of words on the stack: a header (the return position, and the number of unfinished threads that the frame has
//! forked), then its registers.

use super::code::CodeIndex;
use super::tables::{OutputId, PathId, Tables};
use cssame_ir::DefinitionId;

/// A thread: an index into the threads of a state. The slot of a thread that was forked is used again after its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIndex(pub u16);

impl ThreadIndex {
    /// As an index.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// No thread; also stands for the holder of a lock whose holder has ended and left no trace.
pub(super) const NO_THREAD: u16 = u16::MAX;

/// The writer of a cell that nobody has written and that has no initial definition, such as a lock.
pub const NO_WRITER: u32 = u32::MAX;

/// Marks the cells of re-entrant locks.
pub(super) const REENTRANT: i64 = 1 << 62;

/// What a memory cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Word {
    pub value: i64,
    /// A definition; for a lock, the code index at which it was taken.
    pub writer: u32,
}

/// The cells of an allocated local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub start: u32,
    pub size: u32,
    pub variable: u32,
    /// The thread that has made it, and its number among those of the variable that the thread has made.
    pub owner: PathId,
    pub ordinal: u32,
}

/// What a thread is doing between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStatus {
    /// No thread: the slot is free.
    Free,
    /// It stands before an instruction.
    Ready,
    /// It has arrived at a barrier and waits for the others.
    AtBarrier,
    /// It waits for a notification of a condition.
    WaitingCondition,
    /// It was notified and has to take the lock again.
    Reacquiring,
    /// It has given up waiting for a condition, and has to take the lock again.
    TimedOut,
    /// It waits for a readers-writer lock to write, and nobody gets that for reading.
    WaitingToWrite,
    /// It waits for a bare notification.
    WaitingBare,
    /// It runs for ever, or its calls are too deep: its next step fails.
    Diverged,
    /// It has ended.
    Ended,
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub pc: u32,
    pub status: ThreadStatus,
    /// Made by a spawn (or main): nobody waits for it unless by its handle.
    pub spawned: bool,
    /// Depth of atomic blocks that it is inside of.
    pub atomic: u16,
    /// Its segment of the stack.
    pub base: u32,
    pub capacity: u32,
    /// Its current frame, counted from `base`.
    pub frame: u32,
    pub frame_size: u32,
    /// Number of frames below the current one.
    pub depth: u32,
    /// How many frames, from the current one down, nothing has happened in yet.
    pub fresh: u32,
    /// The thread that forked it, and the frame which waits for it.
    pub parent: u16,
    pub parent_frame: u32,
    /// Address of the barrier, the condition or the readers-writer lock that it waits at.
    pub wait: u32,
    /// Levels, but for the first, at which it held the re-entrant lock that it waits with.
    pub levels: u16,
    /// Of one that has ended: what its function has returned.
    pub result: i64,
    pub path: PathId,
    /// The path without the numbers of instances.
    pub shape: PathId,
    pub output: OutputId,
}

impl Thread {
    /// A slot without a thread.
    pub(super) fn free(base: u32, capacity: u32) -> Thread {
        Thread {
            pc: 0,
            status: ThreadStatus::Free,
            spawned: false,
            atomic: 0,
            base,
            capacity,
            frame: 0,
            frame_size: 0,
            depth: 0,
            fresh: 0,
            parent: NO_THREAD,
            parent_frame: 0,
            wait: 0,
            levels: 0,
            result: 0,
            path: PathId(0),
            shape: PathId(0),
            output: OutputId(0),
        }
    }
}

/// The output of a thread whose slot is free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed {
    pub shape: PathId,
    pub path: PathId,
    pub output: OutputId,
}

/// Marks the label of [`Instances`] that counts locals: the rest of the label is their variable.
pub(super) const OF_VARIABLE: u32 = 1 << 31;

/// How many threads of one name, or how many instances of a local, a thread has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instances {
    pub parent: PathId,
    pub label: u32,
    pub ordinal: i64,
    pub count: u32,
}

/// A thread that holds a readers-writer lock for reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReadHold {
    pub address: u32,
    /// [`NO_THREAD`] where it has ended.
    pub thread: u16,
    /// How often, at least once.
    pub count: u32,
}

/// The state of an execution.
#[derive(Debug)]
pub struct State {
    pub(super) cells: Vec<Word>,
    pub(super) threads: Vec<Thread>,
    pub(super) stack: Vec<i64>,
    /// By rising start.
    pub(super) blocks: Vec<Block>,
    /// By rising shape and path.
    pub(super) closed: Vec<Closed>,
    /// By rising parent, label and ordinal.
    pub(super) instances: Vec<Instances>,
    /// By rising address and thread.
    pub(super) readers: Vec<ReadHold>,
    /// The thread in the middle of an atomic block, else [`NO_THREAD`].
    pub(super) exclusive: u16,
    /// Threads that have not ended.
    pub(super) unfinished: u16,
    /// No slot below this one is free.
    pub(super) taken: u16,
    /// Threads in which something may have changed since [`State::copy_changes_from`], by slot; the last bit stands for all behind.
    pub(super) touched: u64,
}

impl Default for State {
    fn default() -> Self {
        State {
            cells: Vec::new(),
            threads: Vec::new(),
            stack: Vec::new(),
            blocks: Vec::new(),
            closed: Vec::new(),
            instances: Vec::new(),
            readers: Vec::new(),
            exclusive: NO_THREAD,
            unfinished: 0,
            taken: 0,
            touched: 0,
        }
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = State::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.cells.clone_from(&source.cells);
        self.threads.clone_from(&source.threads);
        self.stack.clone_from(&source.stack);
        self.clone_lists_from(source);
    }
}

impl State {
    /// No threads, and these values of the cells; what was allocated stays.
    pub(super) fn reset(&mut self, cells: &[Word]) {
        self.cells.clear();
        self.cells.extend_from_slice(cells);
        self.threads.clear();
        self.stack.clear();
        self.blocks.clear();
        self.closed.clear();
        self.instances.clear();
        self.readers.clear();
        (self.exclusive, self.unfinished, self.taken) = (NO_THREAD, 0, 0);
    }

    /// Copies all but cells, threads and stack.
    pub(super) fn clone_lists_from(&mut self, source: &State) {
        self.blocks.clone_from(&source.blocks);
        self.closed.clone_from(&source.closed);
        self.instances.clone_from(&source.instances);
        self.readers.clone_from(&source.readers);
        self.exclusive = source.exclusive;
        self.unfinished = source.unfinished;
        self.taken = source.taken;
        self.touched = source.touched;
    }

    /// Number of thread slots, free ones included.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// All threads that have a slot, ended ones included.
    pub fn threads(&self) -> impl Iterator<Item = ThreadIndex> + '_ {
        let slots = self.threads.iter().enumerate();
        slots.filter(|(_, thread)| thread.status != ThreadStatus::Free).map(|(index, _)| ThreadIndex(index as u16))
    }

    /// The threads that have not ended, and where they stand.
    pub fn standing(&self) -> impl Iterator<Item = (PathId, CodeIndex)> + '_ {
        let standing = self.threads().filter(|&thread| self.status(thread) != ThreadStatus::Ended);
        standing.map(|thread| (self.path(thread), self.position(thread)))
    }

    /// What a thread is doing.
    #[must_use]
    pub fn status(&self, thread: ThreadIndex) -> ThreadStatus {
        self.threads.get(thread.index()).map_or(ThreadStatus::Free, |thread| thread.status)
    }

    /// The name of a thread.
    #[must_use]
    pub fn path(&self, thread: ThreadIndex) -> PathId {
        self.threads[thread.index()].path
    }

    /// What a thread has printed.
    #[must_use]
    pub fn output(&self, thread: ThreadIndex) -> OutputId {
        self.threads[thread.index()].output
    }

    /// The threads that have printed something, and what, in no order that means anything. A line that is not ended is not printed.
    pub fn printed<'a>(&'a self, tables: &'a Tables) -> impl Iterator<Item = (PathId, OutputId)> + 'a {
        let closed = self.closed.iter().map(|closed| (closed.path, closed.output));
        let open = self.threads().map(|thread| (self.path(thread), self.output(thread)));
        let ended = closed.chain(open).map(|(path, output)| (path, tables.ended(output)));
        ended.filter(|&(_, output)| output != OutputId::EMPTY)
    }

    /// The address of the condition or barrier that a thread waits at; `None` for one that does not wait so.
    #[must_use]
    pub fn waited_object(&self, thread: ThreadIndex) -> Option<u32> {
        let thread = self.threads.get(thread.index())?;
        let waits = matches!(thread.status, ThreadStatus::WaitingCondition | ThreadStatus::AtBarrier);
        waits.then_some(thread.wait)
    }

    /// The instruction that a thread stands before, or waits at.
    #[must_use]
    pub fn position(&self, thread: ThreadIndex) -> CodeIndex {
        CodeIndex(self.threads[thread.index()].pc)
    }

    /// The thread that forked a thread and whose join waits for it.
    #[must_use]
    pub fn parent(&self, thread: ThreadIndex) -> Option<ThreadIndex> {
        let parent = self.threads[thread.index()].parent;
        (parent != NO_THREAD).then_some(ThreadIndex(parent))
    }

    /// Whether a thread stands inside of an atomic block: its next step goes on to the end of the block, or to a choice in
    /// it.
    #[must_use]
    pub fn is_in_atomic_block(&self, thread: ThreadIndex) -> bool {
        self.threads.get(thread.index()).is_some_and(|thread| thread.atomic > 0)
    }

    /// The thread in the middle of an atomic block, which alone can move.
    #[must_use]
    pub fn exclusive(&self) -> Option<ThreadIndex> {
        (self.exclusive != NO_THREAD).then_some(ThreadIndex(self.exclusive))
    }

    /// The value of a memory cell, as bits.
    #[must_use]
    pub fn value(&self, address: u32) -> i64 {
        self.cells.get(address as usize).map_or(0, |cell| cell.value)
    }

    /// The definition that wrote a memory cell last; `None` for the cell of a synchronisation object.
    #[must_use]
    pub fn writer(&self, address: u32) -> Option<DefinitionId> {
        let writer = self.cells.get(address as usize).map_or(NO_WRITER, |cell| cell.writer);
        (writer != NO_WRITER).then_some(DefinitionId(writer))
    }

    /// About how much memory it takes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<State>()
            + self.cells.len() * size_of::<Word>()
            + self.threads.len() * size_of::<Thread>()
            + self.stack.len() * size_of::<i64>()
            + self.blocks.len() * size_of::<Block>()
            + self.closed.len() * size_of::<Closed>()
            + self.instances.len() * size_of::<Instances>()
            + self.readers.len() * size_of::<ReadHold>()
    }

    /// Number of memory cells, the unused first one included.
    #[must_use]
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// Forgets what has no consequence for the rest of an execution: what was printed, and who wrote each cell. States
    /// that differ in nothing else are equal then. Later events name no writer where there was one before, and outputs
    /// begin anew.
    pub fn forget_past(&mut self) {
        self.cells.iter_mut().for_each(|cell| cell.writer = NO_WRITER);
        for slot in 0..self.threads.len() {
            if self.threads[slot].output != OutputId::EMPTY {
                self.threads[slot].output = OutputId::EMPTY;
                self.touch(ThreadIndex(slot as u16));
            }
        }
        self.closed.clear();
    }

    /// Number of threads that have not ended.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        usize::from(self.unfinished)
    }

    /// Counts one more thread of a name, or one more instance of a local, that a thread makes; gives its number, from
    /// 1.
    pub(super) fn count_instance(&mut self, parent: PathId, label: u32, ordinal: i64) -> u32 {
        let (key, instances) = ((parent, label, ordinal), &mut self.instances);
        match instances.binary_search_by_key(&key, |entry| (entry.parent, entry.label, entry.ordinal)) {
            Ok(index) => {
                instances[index].count += 1;
                instances[index].count
            }
            Err(index) => {
                instances.insert(index, Instances { parent, label, ordinal, count: 1 });
                1
            }
        }
    }

    /// The registers of the current frame of a thread, the header at slot 0.
    #[inline]
    pub(super) fn frame(&self, thread: ThreadIndex) -> &[i64] {
        let Thread { base, frame, frame_size, .. } = self.threads[thread.index()];
        let start = (base + frame) as usize;
        &self.stack[start..start + frame_size as usize]
    }

    /// Widens the segment of a thread to at least that many words.
    pub(super) fn reserve_segment(&mut self, thread: ThreadIndex, needed: u32) {
        let Thread { base, capacity, .. } = self.threads[thread.index()];
        if capacity >= needed {
            return;
        }
        // All behind it move as well. Deep recursion must not move the other segments at every call.
        self.touched |= u64::MAX << thread.0.min(63);
        let extra = if capacity == 0 { needed } else { needed.max(capacity + capacity / 2) - capacity };
        let end = (base + capacity) as usize;
        let old_length = self.stack.len();
        self.stack.resize(old_length + extra as usize, 0);
        self.stack.copy_within(end..old_length, end + extra as usize);
        self.stack[end..end + extra as usize].fill(0);
        self.threads[thread.index()].capacity += extra;
        // Segments stand in the order of the slots.
        for other in &mut self.threads[thread.index() + 1..] {
            other.base += extra;
        }
    }
}
