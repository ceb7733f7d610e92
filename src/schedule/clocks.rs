//! Vector clocks: the happens-before relation between the events of an execution.
//!
//! **Input**: the events of an execution, in order, and which [`Edges`] count.
//!
//! **Output**: after each event, the [`Clock`] of its thread: how many events of each thread have happened before it. A [`Stamp`]
//! identifies an event. The event happens before another one if the clock of the other one contains it.
//!
//! **Algorithm** (Mattern 1989, Fidge 1988). Each thread has a clock.
//!
//! 1. An event takes over the clocks of the events that precede it by synchronisation, then counts itself.
//! 2. The edges are: a fork or spawn before all events of the new thread; the end of a thread before the join that waits for it;
//!    a notification before the continuation of the woken thread; each `set` of an event since its last `clear` before a `wait`
//!    that it lets pass; each `V` of a semaphore before each later `P`; all arrivals at a barrier before all departures of the
//!    same round; a release of a lock before each later acquisition, except between two readers of a readers-writer lock; the
//!    earlier of two atomic accesses to one cell before the later one, where the accesses of an atomic block end with the block.
//!    A failed try and a timed-out wait have no edge: their observations order nothing.
//! 3. A join takes over the ends of only those threads that were forked in the same call: if the head of a `parfor` calls a
//!    function with a `cobegin`, the threads of the `cobegin` end at another join than those of the `parfor`.
//! 4. [`Edges::WithoutMutualExclusion`] omits locks and atomic accesses: another execution may reverse the order that they cause
//!    in this one. That is the relation of the hybrid race detector (Sen 2008, O'Callahan and Choi 2003), which compares locksets
//!    instead. [`Edges::ForksAndJoins`] keeps only the edges of threads.
//!
//! **Soundness and limits**. A thread that continues without a notification gets no edge. A semaphore does not show which `V` has
//! let a `P` continue, so all earlier ones count. So some events count as ordered that another execution may reverse. The same
//! holds for two `set` of one event. Non-atomic reads and writes order nothing.
//!
//! The causal past of a row of a trace ([`super::Trace::cause`]), the order that a test driver enforces, and the past of an
//! operation in the search through reads-from classes are other relations: they contain the writes that reads see, and different
//! pairs of operations on one object. The module of each relation describes the differences and their reasons.

use cssame_ir::FunctionId;
use cssame_ir::sync::Mode;
use cssame_vm::{Cell, CodeIndex, Event, Machine, Observer, PathId, ThreadName};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Which synchronisation orders events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// All of it.
    AllSynchronisation,
    /// All but locks and atomic accesses, whose order may be another one in another execution.
    WithoutMutualExclusion,
    /// Forks, joins and the ends of threads alone: what may not run in parallel, whatever the synchronisation.
    ForksAndJoins,
}

/// A thread of an execution, by the order in which threads are made; main is 0. Unlike names, numbers are dense in one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadNumber(pub u32);

/// An event of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Its thread.
    pub thread: ThreadNumber,
    /// Its number in that thread, from 1.
    pub event: u32,
}

/// How many events of each thread have happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(SmallVec<[u32; 8]>);

impl Clock {
    /// How many events of a thread have happened.
    #[must_use]
    pub fn of(&self, thread: ThreadNumber) -> u32 {
        self.0.get(thread.0 as usize).copied().unwrap_or(0)
    }

    /// Whether an event has happened.
    #[must_use]
    pub fn knows(&self, stamp: Stamp) -> bool {
        stamp.event <= self.of(stamp.thread)
    }

    fn tick(&mut self, thread: ThreadNumber) {
        let index = thread.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        self.0[index] += 1;
    }

    /// What has happened by the other clock has also happened by this one.
    fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (own, &other) in self.0.iter_mut().zip(&other.0) {
            *own = other.max(*own);
        }
    }
}

/// A thread, also one that has ended.
#[derive(Debug, Default)]
struct Thread {
    clock: Clock,
    /// Number of calls that it is in.
    depth: u32,
    /// The depth of the parent when it made this thread.
    made_at: u32,
    /// Threads that it has forked and that have ended, with [`Thread::made_at`]: a join waits for them.
    ended: Vec<ThreadNumber>,
    /// Atomic blocks that it is in.
    blocks: u32,
    /// Cells that the block has accessed.
    accessed: SmallVec<[Cell; 4]>,
}

/// A barrier.
#[derive(Debug, Default)]
struct Barrier {
    /// All arrivals of a round.
    arrivals: Clock,
    /// Whether the threads of the round have begun to go on: the next arrival begins a new round.
    is_left: bool,
}

/// The clocks of all threads of an execution.
#[derive(Debug)]
pub struct Clocks<'a> {
    machine: &'a Machine,
    edges: Edges,
    /// By name.
    numbers: FxHashMap<PathId, ThreadNumber>,
    /// By number.
    threads: Vec<Thread>,
    /// By lock, event, semaphore, or cell that is accessed atomically: what lets others go on there.
    released: FxHashMap<Cell, Clock>,
    /// By readers-writer lock: what lets writers go on, but not readers.
    read: FxHashMap<Cell, Clock>,
    barriers: FxHashMap<Cell, Barrier>,
}

impl<'a> Clocks<'a> {
    /// Before the first event of main.
    #[must_use]
    pub fn new(machine: &'a Machine, edges: Edges) -> Clocks<'a> {
        Clocks {
            machine,
            edges,
            numbers: FxHashMap::default(),
            threads: vec![Thread::default()],
            released: FxHashMap::default(),
            read: FxHashMap::default(),
            barriers: FxHashMap::default(),
        }
    }

    /// The number of a thread.
    #[must_use]
    pub fn thread(&self, thread: PathId) -> ThreadNumber {
        // Nobody makes main.
        self.numbers.get(&thread).copied().unwrap_or_default()
    }

    /// What has happened before the last event of a thread, that event included.
    #[must_use]
    pub fn clock(&self, thread: PathId) -> &Clock {
        &self.threads[self.thread(thread).0 as usize].clock
    }

    /// The last event of a thread.
    #[must_use]
    pub fn stamp(&self, thread: PathId) -> Stamp {
        let number = self.thread(thread);
        Stamp { thread: number, event: self.clock(thread).of(number) }
    }

    /// Lets what a clock knows have happened before what a thread does next: edges that the events do not tell.
    pub fn learn(&mut self, thread: PathId, of: &Clock) {
        let thread = self.thread(thread);
        self.state(thread).clock.join(of);
    }

    fn state(&mut self, thread: ThreadNumber) -> &mut Thread {
        &mut self.threads[thread.0 as usize]
    }

    fn take_over(&mut self, thread: ThreadNumber, cell: Cell) {
        if let Some(released) = self.released.get(&cell) {
            self.threads[thread.0 as usize].clock.join(released);
        }
    }

    fn release(&mut self, thread: ThreadNumber, cell: Cell) {
        self.released.entry(cell).or_default().join(&self.threads[thread.0 as usize].clock);
    }

    fn take_over_from(&mut self, thread: ThreadNumber, other: ThreadNumber) {
        if thread != other {
            let clock = std::mem::take(&mut self.state(other).clock);
            self.state(thread).clock.join(&clock);
            self.state(other).clock = clock;
        }
    }

    /// Whether an access orders others by being atomic.
    fn is_atomic(&self, thread: ThreadNumber, at: CodeIndex) -> bool {
        let in_block = self.threads[thread.0 as usize].blocks > 0;
        self.edges == Edges::AllSynchronisation && (in_block || self.machine.is_atomic(at))
    }

    /// Step 1: what an event comes after.
    fn before(&mut self, thread: ThreadNumber, at: CodeIndex, event: Event) {
        if self.edges == Edges::ForksAndJoins && event.synchronisation().is_some() {
            return;
        }
        match event {
            Event::Waited { cell, .. } | Event::Acquire { cell, .. } => self.take_over(thread, cell),
            Event::Lock { cell, by, .. } if self.edges == Edges::AllSynchronisation => {
                self.take_over(thread, cell);
                if by.mode() == Mode::Exclusive
                    && let Some(read) = self.read.get(&cell)
                {
                    self.threads[thread.0 as usize].clock.join(read);
                }
            }
            Event::Read { cell, .. } | Event::Write { cell, .. } if self.is_atomic(thread, at) => {
                self.take_over(thread, cell);
            }
            Event::Leave { cell, .. } => {
                let barrier = self.barriers.entry(cell).or_default();
                barrier.is_left = true;
                self.threads[thread.0 as usize].clock.join(&barrier.arrivals);
            }
            Event::Woken { by: Some(by) } if self.edges != Edges::ForksAndJoins => {
                self.take_over_from(thread, self.thread(by.path))
            }
            Event::JoinThread { child } => self.take_over_from(thread, self.thread(child.path)),
            Event::Join => self.join(thread),
            _ => {}
        }
    }

    /// Step 3: the ends of the threads that were forked in the same call.
    fn join(&mut self, thread: ThreadNumber) {
        let depth = self.state(thread).depth;
        let ended = std::mem::take(&mut self.state(thread).ended);
        let (own, others): (Vec<_>, Vec<_>) =
            ended.into_iter().partition(|&child| self.threads[child.0 as usize].made_at == depth);
        self.state(thread).ended = others;
        own.into_iter().for_each(|child| self.take_over_from(thread, child));
    }

    /// What others may come after.
    fn after(&mut self, thread: ThreadNumber, at: CodeIndex, event: Event) {
        match event {
            Event::Set { cell, .. } | Event::Release { cell, .. } => self.release(thread, cell),
            Event::Clear { cell, .. } => {
                self.released.remove(&cell);
            }
            Event::Unlock { cell, mode, .. } if self.edges == Edges::AllSynchronisation => match mode {
                Mode::Exclusive => self.release(thread, cell),
                Mode::Shared => self.read.entry(cell).or_default().join(&self.threads[thread.0 as usize].clock),
            },
            Event::Read { cell, .. } | Event::Write { cell, .. } if self.is_atomic(thread, at) => {
                // The accesses of a block end with it.
                if self.state(thread).blocks > 0 {
                    self.state(thread).accessed.push(cell);
                } else {
                    self.release(thread, cell);
                }
            }
            Event::Arrive { cell, .. } => {
                let barrier = self.barriers.entry(cell).or_default();
                if std::mem::replace(&mut barrier.is_left, false) {
                    barrier.arrivals = Clock::default();
                }
                barrier.arrivals.join(&self.threads[thread.0 as usize].clock);
            }
            Event::Fork { child } | Event::Spawn { child } => self.make(thread, child.path),
            Event::End { parent: Some(parent) } => {
                let parent = self.thread(parent.path);
                self.state(parent).ended.push(thread);
            }
            Event::AtomicBegin => self.state(thread).blocks += 1,
            Event::AtomicEnd => self.end_block(thread),
            _ => {}
        }
    }

    fn make(&mut self, parent: ThreadNumber, child: PathId) {
        let Thread { clock, depth, .. } = &self.threads[parent.0 as usize];
        let made = Thread { clock: clock.clone(), made_at: *depth, ..Thread::default() };
        self.numbers.insert(child, ThreadNumber(self.threads.len() as u32));
        self.threads.push(made);
    }

    fn end_block(&mut self, thread: ThreadNumber) {
        let state = self.state(thread);
        state.blocks = state.blocks.saturating_sub(1);
        if state.blocks == 0 {
            let accessed = std::mem::take(&mut state.accessed);
            accessed.into_iter().for_each(|cell| self.release(thread, cell));
        }
    }
}

impl Observer for Clocks<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let thread = self.thread(thread.path);
        self.before(thread, at, event);
        self.state(thread).clock.tick(thread);
        self.after(thread, at, event);
    }

    fn enter(&mut self, thread: ThreadName, _: FunctionId) {
        let thread = self.thread(thread.path);
        self.state(thread).depth += 1;
    }

    fn leave(&mut self, thread: ThreadName) {
        let thread = self.thread(thread.path);
        let state = self.state(thread);
        state.depth = state.depth.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests;
