//! A state of an execution, cheap to copy: the search keeps one copy for each branch point on its path.

use super::code::{Code, NONE, Sync};
use super::value::{READERS_WRITER, REENTRANT, Status, Value};
use std::rc::Rc;

/// Who wrote a value: the name of the write, the path of the thread, the how-manieth write of that thread it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Writer {
    pub name: u32,
    pub thread: u32,
    pub ordinal: u32,
    /// Where it stands in its calls, where somebody wants to know; else [`NONE`].
    pub located: u32,
}

/// A piece of storage.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub value: Value,
    pub variable: u32,
    pub writer: Writer,
    /// The thread that used it last, and the epoch of that thread; as long as all uses are ordered by fork and join,
    /// the last one stands for all.
    pub last_thread: u32,
    pub last_epoch: u32,
}

/// What keeps a thread, or lets it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// In front of a visible operation.
    Ready,
    /// Waits at the barrier of that address, behind the instruction.
    AtBarrier(u32),
    /// Waits for the condition of that address, at the instruction.
    AtCond(u32),
    /// Was notified and wants its lock back, at the instruction.
    Reacquiring,
    /// Has given up waiting and wants its lock back, at the instruction.
    TimedOut,
    /// Waits for the readers-writer lock of that address to write, at the instruction.
    AtWrite(u32),
    /// In a bare `wait()`, behind the instruction.
    BareWaiting,
    /// Its next step is a failure.
    Failing(Status),
    /// Its next step violates an assumption.
    Discarding,
    /// Has finished.
    Ended,
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    pub stack: Vec<Value>,
    pub pc: u32,
    pub base: u32,
    pub calls: u32,
    pub condition: Condition,
    /// Its path, and the path without the `#2` of a second thread of that path.
    pub path: u32,
    pub base_path: u32,
    /// Its output so far, and with what belongs to its next step.
    pub printed: u32,
    pub ahead: u32,
    /// Visible reads, visible writes and choices so far.
    pub reads: u32,
    pub writes: u32,
    pub choices: u32,
    /// Arms that have not ended.
    pub arms: u32,
    /// How often it held the lock with which it waits for a condition.
    pub levels: u32,
    /// The thread that waits for this arm.
    pub waiter: u32,
    /// How many atomic blocks it is in.
    pub atomic: u32,
    /// The calls and spawns that led here, where somebody wants to know.
    pub way: u32,
    /// Vector clock of fork and join alone.
    pub clock: Rc<[u32]>,
}

/// A state.
#[derive(Debug, Default)]
pub struct State {
    pub cells: Vec<Cell>,
    pub threads: Vec<Thread>,
    /// The thread inside an atomic block.
    pub exclusive: Option<usize>,
    pub steps: u32,
    /// Who holds which re-entrant or readers-writer lock: one for each time. Sorted.
    pub holds: Vec<Hold>,
}

/// A hold of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hold {
    pub lock: u32,
    pub thread: usize,
    /// Whether for reading.
    pub reads: bool,
}

impl Clone for Thread {
    fn clone(&self) -> Thread {
        Thread { stack: self.stack.clone(), clock: Rc::clone(&self.clock), ..*self }
    }

    fn clone_from(&mut self, source: &Thread) {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clone_from(&source.stack);
        *self = Thread { stack, clock: Rc::clone(&source.clock), ..*source };
    }
}

impl Clone for State {
    fn clone(&self) -> State {
        State { cells: self.cells.clone(), threads: self.threads.clone(), holds: self.holds.clone(), ..*self }
    }

    /// Reuses the memory: this is what makes a branch point cheap.
    fn clone_from(&mut self, source: &State) {
        self.cells.clone_from(&source.cells);
        self.threads.clone_from(&source.threads);
        self.holds.clone_from(&source.holds);
        self.exclusive = source.exclusive;
        self.steps = source.steps;
    }
}

impl Thread {
    pub fn new(path: u32, base_path: u32, pc: u32, stack: Vec<Value>, clock: Rc<[u32]>) -> Thread {
        Thread {
            stack,
            pc,
            base: 0,
            calls: 0,
            condition: Condition::Ready,
            path,
            base_path,
            printed: NONE,
            ahead: NONE,
            reads: 0,
            writes: 0,
            choices: 0,
            arms: 0,
            levels: 0,
            waiter: NONE,
            atomic: 0,
            way: NONE,
            clock,
        }
    }

    pub fn pop(&mut self) -> Value {
        self.stack.pop().expect("the compiler balances the stack")
    }

    pub fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    /// The value `depth` below the top.
    pub fn peek(&self, depth: usize) -> Value {
        self.stack[self.stack.len() - 1 - depth]
    }

    pub fn slot(&mut self, slot: u32) -> &mut Value {
        &mut self.stack[(self.base + slot) as usize]
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &[u32]) {
        let len = self.clock.len().max(other.len());
        let at = |clock: &[u32], index: usize| clock.get(index).copied().unwrap_or(0);
        self.clock = (0..len).map(|index| at(&self.clock, index).max(at(other, index))).collect();
    }

    /// Its own component of the clock grows, so that what it does from now on is not known to its children.
    pub fn next_epoch(&mut self, thread: usize) {
        let mut clock = self.clock.to_vec();
        clock[thread] += 1;
        self.clock = clock.into();
    }

    /// The clock of a child with that index.
    pub fn child_clock(&self, child: usize) -> Rc<[u32]> {
        let mut clock = self.clock.to_vec();
        clock.resize(child + 1, 0);
        clock[child] = 1;
        clock.into()
    }
}

impl State {
    /// Only the main thread, in front of its first instruction.
    pub fn initial(code: &Code, main: u32) -> State {
        let mut state = State::default();
        for init in &code.cells {
            state.allocate(code, init.value, init.variable, None);
        }
        let clock: Rc<[u32]> = vec![1].into();
        state.threads.push(Thread::new(main, main, code.entry, Vec::new(), clock));
        state
    }

    /// A new cell; it was made by `thread`, or is there from the beginning.
    pub fn allocate(&mut self, code: &Code, value: Value, variable: u32, thread: Option<usize>) -> u32 {
        let name = if variable == NONE { NONE } else { code.variables[variable as usize].initial };
        let writer = Writer { name, thread: NONE, ordinal: 0, located: NONE };
        let (last_thread, last_epoch) = match thread {
            Some(thread) => (thread as u32, self.threads[thread].clock[thread]),
            None => (0, 0),
        };
        self.cells.push(Cell { value, variable, writer, last_thread, last_epoch });
        self.cells.len() as u32 - 1
    }

    /// Whether a thread may take a lock by an operation, or would wait. Of a plain lock the cell says who holds it.
    pub fn may_take(&self, lock: u32, thread: usize, sync: Sync) -> bool {
        let held = |counts: &dyn Fn(&Hold) -> bool| self.holds.iter().any(|hold| hold.lock == lock && counts(hold));
        match (self.cells[lock as usize].value, sync) {
            (REENTRANT, _) => !held(&|hold| hold.thread != thread),
            (READERS_WRITER, Sync::ReadLock | Sync::TryReadLock) => !held(&|hold| !hold.reads),
            (READERS_WRITER, _) => !held(&|_| true),
            (value, _) => value == Value::Int(-1),
        }
    }

    /// Whether some thread has begun to wait for a readers-writer lock to write.
    pub fn has_waiting_writer(&self, lock: u32) -> bool {
        self.threads.iter().any(|thread| thread.condition == Condition::AtWrite(lock))
    }

    /// A thread takes a lock that it may take.
    pub fn take(&mut self, lock: u32, thread: usize, sync: Sync) {
        match *self.cell(lock) {
            REENTRANT | READERS_WRITER => {
                let reads = matches!(sync, Sync::ReadLock | Sync::TryReadLock);
                self.holds.push(Hold { lock, thread, reads });
                self.holds.sort_unstable();
            }
            _ => *self.cell(lock) = Value::Int(thread as i32),
        }
    }

    /// A thread gives a lock back, once or as often as it holds it; how often it was.
    pub fn give_back(&mut self, lock: u32, thread: usize, all: bool) -> u32 {
        if !matches!(*self.cell(lock), REENTRANT | READERS_WRITER) {
            let is_held = *self.cell(lock) == Value::Int(thread as i32);
            if is_held {
                *self.cell(lock) = Value::Int(-1);
            }
            return u32::from(is_held);
        }
        let is_own = |hold: &Hold| (hold.lock, hold.thread) == (lock, thread);
        let before = self.holds.len();
        if all {
            self.holds.retain(|hold| !is_own(hold));
        } else if let Some(place) = self.holds.iter().position(is_own) {
            self.holds.remove(place);
        }
        (before - self.holds.len()) as u32
    }

    pub fn cell(&mut self, address: u32) -> &mut Value {
        &mut self.cells[address as usize].value
    }
}
