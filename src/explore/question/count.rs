//! Counts the futures of a program.
//!
//! A future is a complete execution up to reordering that no read can tell: the map from each read instance to the
//! write instance that it read from. A write instance is the k-th write of a thread, or the initial value.
//!
//! **Input**: a machine and a budget. **Output**: their number.
//!
//! **Algorithm**: one execution for each ([`reads_from`]) where that is possible. Else a search through states, with a
//! monitor that holds for each thread a hash of what it has read so far, and for each cell the write instance that it
//! holds; the histories of the executions that end are counted.
//!
//! **Soundness and limits**: histories are told apart by hashes of 128 bits. Executions that an assumption discards are
//! left out.

use crate::budget::{Bound, Budget, Statistics};
use crate::explore::deadlock::blocked_threads;
use crate::explore::reads_from::{self, Refusal};
use crate::explore::states::{self, End, EndContext, Monitor, Transition, Visitor};
use crate::vm::{self, CodeIndex, Event, Machine, Observer, PathId, ThreadIndex, ThreadName};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// How many futures there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountAnswer {
    /// The futures that were found.
    pub futures: u64,
    /// The executions that were told apart: one for each future, and those that an assumption discards where each of them was
    /// followed.
    pub executions: u64,
    /// The bound that was hit; `None` if these are all of them.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
}

/// Counts the futures: by one execution for each where that is possible, else by a search through states. The states would
/// never be fewer, since each future ends in one of its own.
pub fn count(machine: &Machine, budget: &Budget<'_>) -> CountAnswer {
    match count_by_executions(machine, budget) {
        Ok(answer) => answer,
        Err(_) => count_by_states(machine, budget),
    }
}

/// Counts the futures by one execution for each.
///
/// # Errors
///
/// A program that cannot be explored in this way.
pub fn count_by_executions(machine: &Machine, budget: &Budget<'_>) -> Result<CountAnswer, Refusal> {
    let found = reads_from::enumerate(machine, budget, &mut |_| ControlFlow::Continue(()))?;
    let executions = found.futures + found.discarded;
    Ok(CountAnswer { futures: found.futures, executions, bound: found.bound, statistics: found.statistics })
}

/// Counts the futures by a search through all states, each with what its threads have read.
pub fn count_by_states(machine: &Machine, budget: &Budget<'_>) -> CountAnswer {
    let mut counter = Counter::default();
    let searched = states::search(machine, budget, History::default(), &mut counter);
    let futures = counter.futures.len() as u64;
    CountAnswer { futures, executions: futures, bound: searched.bound, statistics: searched.statistics }
}

/// A write instance: a thread, and the ordinal of the write among its writes from 1; all 0 for an initial value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Instance {
    path: u32,
    ordinal: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct ThreadHistory {
    path: u32,
    writes: u32,
    hash: u128,
}

/// What an execution has read so far.
#[derive(Debug, Default)]
struct History {
    threads: Vec<ThreadHistory>,
    cells: Vec<Instance>,
    /// Of the threads that have ended, in any order.
    ended: u128,
}

impl Clone for History {
    fn clone(&self) -> Self {
        let mut copy = History::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.threads.clone_from(&source.threads);
        self.cells.clone_from(&source.cells);
        self.ended = source.ended;
    }
}

fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

fn whole(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

impl History {
    fn thread(&mut self, thread: ThreadIndex) -> &mut ThreadHistory {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, ThreadHistory::default());
        }
        &mut self.threads[thread.index()]
    }

    fn cell(&mut self, address: u32) -> &mut Instance {
        if self.cells.len() <= address as usize {
            self.cells.resize(address as usize + 1, Instance::default());
        }
        &mut self.cells[address as usize]
    }

    fn learn(&mut self, thread: ThreadIndex, fact: [u64; 2]) {
        let history = self.thread(thread);
        let [low, high] = halves(history.hash);
        history.hash = vm::hash(&[low, high, fact[0], fact[1]]);
    }

    fn begin_thread(&mut self, thread: ThreadIndex, path: PathId) {
        *self.thread(thread) = ThreadHistory { path: path.0, writes: 0, hash: 0 };
    }

    fn end_thread(&mut self, thread: ThreadIndex) {
        let ThreadHistory { path, hash, .. } = std::mem::take(self.thread(thread));
        if hash != 0 {
            let [low, high] = halves(hash);
            self.ended = self.ended.wrapping_add(vm::hash(&[u64::from(path), low, high]));
        }
    }

    /// The hash of the histories of all threads.
    fn total(&self) -> u128 {
        let mut copy = self.clone();
        for index in 0..self.threads.len() {
            copy.end_thread(ThreadIndex(index as u16));
        }
        copy.ended
    }
}

impl Observer for History {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let thread = thread.slot;
        match event {
            Event::Read { read, address, shared: true, .. } => {
                let Instance { path, ordinal } = *self.cell(address);
                // Not the address: which one a local gets depends on the order of steps. Which cell it is follows from what
                // its thread, and those that made it, have read and chosen before.
                self.learn(thread, [u64::from(read.0), u64::from(path) << 32 | u64::from(ordinal)]);
            }
            Event::Write { address, shared: true, .. } => {
                let history = self.thread(thread);
                history.writes += 1;
                *self.cell(address) =
                    Instance { path: self.threads[thread.index()].path, ordinal: self.threads[thread.index()].writes };
            }
            Event::Choose { value } => self.learn(thread, [u64::from(at.0) | 1 << 63, value as u64]),
            Event::Fork { child: ThreadName { slot: child, path } }
            | Event::Spawn { child: ThreadName { slot: child, path } } => self.begin_thread(child, path),
            Event::End { .. } => self.end_thread(thread),
            Event::Allocate { address, size, .. } => {
                for cell in address..address + size {
                    *self.cell(cell) = Instance::default();
                }
            }
            _ => {}
        }
    }
}

impl Monitor for History {
    fn encode(&self, words: &mut Vec<u64>) {
        words.push(self.threads.len() as u64);
        words.extend(halves(self.ended));
        for thread in &self.threads {
            words.push(u64::from(thread.path) << 32 | u64::from(thread.writes));
            words.extend(halves(thread.hash));
        }
        words.extend(self.cells.iter().map(|cell| u64::from(cell.path) << 32 | u64::from(cell.ordinal)));
    }

    fn decode(&mut self, words: &[u64]) {
        self.threads.clear();
        self.cells.clear();
        let [count, low, high, rest @ ..] = words else { return };
        self.ended = whole(*low, *high);
        let (threads, cells) = rest.split_at(3 * *count as usize);
        self.threads.extend(threads.chunks_exact(3).map(|words| ThreadHistory {
            path: (words[0] >> 32) as u32,
            writes: words[0] as u32,
            hash: whole(words[1], words[2]),
        }));
        let instance = |word: &u64| Instance { path: (word >> 32) as u32, ordinal: *word as u32 };
        self.cells.extend(cells.iter().map(instance));
    }
}

/// Collects the histories of complete executions.
#[derive(Default)]
struct Counter {
    futures: FxHashSet<u128>,
}

impl Observer for Counter {
    const ACTIVE: bool = false;
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, _: Event) {}
}

impl Visitor<History> for Counter {
    fn begin(&mut self) {}

    fn bytes(&self) -> u64 {
        (self.futures.capacity() * size_of::<u128>()) as u64
    }

    fn transition(&mut self, _: &Transition) {}

    fn end(&mut self, context: &EndContext<'_, History>) -> ControlFlow<()> {
        // A deadlock, or a failure, is another execution than one that goes on after the same reads; and so is one in
        // which others are blocked, or elsewhere.
        let mut words = halves(context.monitor.total()).to_vec();
        match context.end {
            End::Finished => words.push(0),
            End::Failed(failure) => words.push(2 + u64::from(failure.at.0)),
            End::Deadlock => {
                words.push(1);
                let blocked = blocked_threads(context.machine, context.tables, context.state);
                words.extend(blocked.iter().map(|thread| u64::from(thread.path.0) << 32 | u64::from(thread.at.0)));
            }
        }
        self.futures.insert(vm::hash(&words));
        ControlFlow::Continue(())
    }
}
