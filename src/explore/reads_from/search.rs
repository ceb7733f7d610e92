//! The search: executions, the branches that they show, and the way back.

use super::log::{Kind, Log, NONE, Operation};
use super::order::Sorter;
use super::watch::Seen;
use super::{Enumerated, Execution, Refusal};
use crate::explore::limits::{Bound, Limits, Progress, Watch};
use crate::vm::{self, Choice, Machine, Obstacle, PathId, Pending, State, ThreadIndex, ThreadStatus};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Steps of an execution beyond which it counts as endless.
const LONG: usize = 2_000;

/// Where an execution stands, and how it has come there.
#[derive(Clone, Debug, Default)]
struct Position {
    state: State,
    choices: Vec<Choice>,
    /// By cell: the write that it holds.
    holds: Vec<u32>,
}

impl Position {
    fn copy_from(&mut self, other: &Position) {
        self.state.clone_from(&other.state);
        self.choices.clone_from(&other.choices);
        self.holds.clone_from(&other.holds);
    }

    fn held(&self, cell: u32) -> u32 {
        self.holds.get(cell as usize).copied().unwrap_or(NONE)
    }

    fn hold(&mut self, cell: u32, write: u32) {
        let index = cell as usize;
        if self.holds.len() <= index {
            self.holds.resize(index + 1, NONE);
        }
        self.holds[index] = write;
    }
}

/// A read, or a choice, of the execution, at which executions part.
#[derive(Debug, Default)]
struct Node {
    /// Length of the log before it.
    base: usize,
    /// Where it stands in the log now: behind the past of its source.
    at: usize,
    before: Position,
    /// The sources, with their pasts, for which there is or was a branch.
    seen: FxHashSet<u128>,
    /// Branches that wait: what is to stand behind the base.
    waiting: Vec<Vec<Operation>>,
    /// How many operations these have.
    operations: usize,
}

impl Node {
    fn push(&mut self, branch: Vec<Operation>) {
        self.operations += branch.len();
        self.waiting.push(branch);
    }

    fn pop(&mut self) -> Option<Vec<Operation>> {
        let branch = self.waiting.pop()?;
        self.operations -= branch.len();
        Some(branch)
    }
}

/// What a step has led to.
enum Stepped {
    /// To an operation.
    Operation(Kind),
    /// To local work only.
    Local,
    /// An assumption does not hold.
    Discarded,
}

/// How far an execution has followed a log.
enum Followed {
    /// To its end.
    All,
    /// The last operation is a `cas` that writes, which was not assumed.
    LastWrites,
    /// Another one is a `cas` that does not write.
    NoWrite,
}

pub(super) struct Search<'a> {
    machine: &'a Machine,
    limits: &'a Limits,
    initial: Position,
    log: Log,
    nodes: Vec<Node>,
    /// Nodes that are not used now.
    spare: Vec<Node>,
    now: Position,
    /// Where the execution stood before the last step.
    previous: Position,
    seen: Seen,
    /// Threads that an assumption has stopped.
    halted: SmallVec<[PathId; 4]>,
    /// The thread that has moved last.
    turn: ThreadIndex,
    /// By thread: the slot in which it was last.
    slots: Vec<ThreadIndex>,
    sorter: Sorter,
    /// What operations that were held against reads have cost.
    work: u64,
    found: Enumerated,
}

impl<'a> Search<'a> {
    pub fn new(machine: &'a Machine, limits: &'a Limits) -> Result<Search<'a>, Refusal> {
        let (mut found, mut seen) = (Enumerated::default(), Seen::default());
        let state = machine.start(&mut found.tables, &mut seen);
        if let Some(refusal) = seen.refusal {
            return Err(refusal);
        }
        let initial = Position { state, ..Position::default() };
        let mut now = Position::default();
        now.copy_from(&initial);
        Ok(Search {
            machine,
            limits,
            initial,
            log: Log::default(),
            nodes: Vec::new(),
            spare: Vec::new(),
            now,
            previous: Position::default(),
            seen,
            halted: SmallVec::new(),
            turn: ThreadIndex(0),
            slots: Vec::new(),
            sorter: Sorter::default(),
            work: 0,
            found,
        })
    }

    pub fn run(
        mut self,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
        visit: &mut dyn FnMut(&Execution<'_>) -> ControlFlow<()>,
    ) -> Result<Enumerated, Refusal> {
        let watch = Watch::new(self.limits);
        let mut first_new = 0;
        loop {
            self.complete()?;
            if self.found.bound.is_some() {
                break;
            }
            if self.count(visit).is_break() {
                break;
            }
            self.find_branches(first_new);
            if self.found.progress.executions.is_multiple_of(64) {
                self.found.progress.waiting = self.nodes.iter().map(|node| node.waiting.len() as u64).sum();
                let stopped = watch.check().or(progress(&self.found.progress).is_break().then_some(Bound::Interrupt));
                self.found.bound = self.found.bound.or(stopped);
            }
            self.work += ((self.log.len() - first_new) * self.nodes.len()) as u64 / 8;
            let work = self.work + self.found.progress.steps;
            let hit = |limit: Option<u64>, value| limit.is_some_and(|limit| value >= limit);
            if hit(self.limits.max_executions, self.found.progress.executions) || hit(self.limits.max_work, work) {
                self.found.bound = self.found.bound.or(Some(Bound::Executions));
            }
            match self.enter_branch()? {
                Some(base) if self.found.bound.is_none() => first_new = base,
                // All is found, also if the last execution was the last one that may be followed.
                None => {
                    self.found.bound = self.found.bound.filter(|&bound| bound != Bound::Executions);
                    break;
                }
                Some(_) => break,
            }
        }
        Ok(self.found)
    }

    /// Follows the execution to its end; each new read becomes a node.
    fn complete(&mut self) -> Result<(), Refusal> {
        while let Some((thread, alternatives)) = self.next_thread() {
            if self.now.choices.len() >= LONG {
                return Err(Refusal::Endless);
            }
            if self.limits.max_steps.is_some_and(|limit| self.now.choices.len() >= limit as usize) {
                self.found.bound = Some(Bound::Steps);
                return Ok(());
            }
            let path = self.now.state.path(thread);
            let pending = self.machine.pending(&self.now.state, thread);
            if !matches!(pending, Some(Pending::Write { .. } | Pending::Fork | Pending::Spawn | Pending::Join)) {
                self.previous.copy_from(&self.now);
            }
            match self.step(Choice { thread, alternative: 0 })? {
                Stepped::Local => {}
                Stepped::Discarded => {
                    self.halted.push(path);
                    std::mem::swap(&mut self.now, &mut self.previous);
                }
                Stepped::Operation(kind) => {
                    self.log_operation(kind, path)?;
                    if matches!(kind, Kind::Read | Kind::Atomic | Kind::Choose) {
                        self.open_node(alternatives);
                    }
                }
            }
        }
        if self.halted.is_empty() && !self.machine.is_finished(&self.now.state) {
            return Err(Refusal::Synchronisation);
        }
        Ok(())
    }

    /// A thread that can move: the one that has moved last, or the first behind it.
    fn next_thread(&mut self) -> Option<(ThreadIndex, u32)> {
        let state = &self.now.state;
        let last = self.turn.index();
        let threads = (last..state.thread_count()).chain(0..last.min(state.thread_count()));
        let mut able = threads.map(|index| {
            let thread = ThreadIndex(index as u16);
            (thread, self.machine.alternatives(state, thread))
        });
        let found = able.find(|&(thread, alternatives)| {
            alternatives > 0 && (self.halted.is_empty() || !self.halted.contains(&state.path(thread)))
        });
        self.turn = found.map_or(ThreadIndex(0), |(thread, _)| thread);
        found
    }

    /// The slot of a thread; where it was last, if it is still there.
    fn slot(&mut self, thread: PathId) -> Option<ThreadIndex> {
        let state = &self.now.state;
        let index = thread.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, ThreadIndex(0));
        }
        let known = self.slots[index];
        if known.index() >= state.thread_count()
            || state.path(known) != thread
            || state.status(known) == ThreadStatus::Free
        {
            self.slots[index] = state.threads().find(|&slot| state.path(slot) == thread)?;
        }
        Some(self.slots[index])
    }

    /// Does a step; says which operation it was, and leaves what it has done in `seen`.
    fn step(&mut self, choice: Choice) -> Result<Stepped, Refusal> {
        self.seen.clear();
        self.found.progress.steps += 1;
        let progress = self.machine.step(&mut self.now.state, &mut self.found.tables, choice, &mut self.seen);
        // Also where an assumption in an atomic block does not hold.
        if let Some(refusal) = self.seen.refusal {
            return Err(refusal);
        }
        match progress {
            vm::Progress::Discarded => return Ok(Stepped::Discarded),
            vm::Progress::Failed(_) => return Err(Refusal::Failure),
            vm::Progress::Running | vm::Progress::Finished => self.now.choices.push(choice),
        }
        for &(first, size) in &self.seen.allocated {
            let mut cells = first..first + size;
            if cells.any(|cell| self.log.is_accessed(cell)) {
                return Err(Refusal::Locals);
            }
        }
        Ok(match &self.seen {
            Seen { read: Some((_, at)), .. } if self.machine.is_atomic(*at) => Stepped::Operation(Kind::Atomic),
            Seen { read: Some(_), .. } => Stepped::Operation(Kind::Read),
            Seen { write: Some(_), .. } => Stepped::Operation(Kind::Write),
            Seen { chosen: true, .. } => Stepped::Operation(Kind::Choose),
            Seen { spawned: true, .. } => Stepped::Operation(Kind::Spawn),
            Seen { forks, .. } if !forks.is_empty() => Stepped::Operation(Kind::Fork),
            Seen { joined: true, .. } | Seen { joined_thread: Some(_), .. } => Stepped::Operation(Kind::Join),
            _ => Stepped::Local,
        })
    }

    /// Adds the operation that the last step was to the log.
    fn log_operation(&mut self, kind: Kind, thread: PathId) -> Result<(), Refusal> {
        let cell = self.seen.cell();
        let mut before: SmallVec<[u32; 2]> = SmallVec::new();
        before.push(self.log.last_of(thread));
        if self.seen.joined {
            let children = self.log.open_forks(thread).flat_map(|fork| fork.makes.iter());
            before.extend(children.map(|&child| self.log.last_of(child)));
        }
        if let Some(child) = self.seen.joined_thread {
            before.push(self.log.last_of(self.now.state.path(child)));
        }
        let fork_at = self.seen.fork_at;
        if kind == Kind::Fork && self.log.open_forks(thread).next().is_some_and(|open| open.fork_at != fork_at) {
            return Err(Refusal::NestedForks);
        }
        let writes = self.seen.write.is_some();
        let source = if self.seen.read.is_some() { self.now.held(cell) } else { NONE };
        let alternative = self.now.choices.last().map_or(0, |choice| choice.alternative);
        if writes {
            self.now.hold(cell, self.log.len() as u32);
        }
        let makes = self.seen.forks.iter().copied().collect();
        self.log.push(Operation { kind, thread, alternative, cell, source, writes, before, makes, fork_at, hash: 0 });
        Ok(())
    }

    /// Makes a node of the last operation, which has just been done, with the branches that the log shows already.
    fn open_node(&mut self, alternatives: u32) {
        let mut node = self.spare.pop().unwrap_or_default();
        let at = self.log.len() - 1;
        (node.base, node.at) = (at, at);
        node.seen.clear();
        node.waiting.clear();
        node.operations = 0;
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

    fn count(&mut self, visit: &mut dyn FnMut(&Execution<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        self.found.progress.executions += 1;
        self.found.progress.depth = self.now.choices.len() as u32;
        if !self.halted.is_empty() {
            self.found.discarded += 1;
            return ControlFlow::Continue(());
        }
        self.found.futures += 1;
        let (Position { state, choices, .. }, pairs) = (&self.now, &self.seen.pairs);
        let wanted = visit(&Execution { machine: self.machine, tables: &self.found.tables, state, choices, pairs });
        self.seen.pairs.clear();
        wanted
    }

    /// Finds the branches that operations of this execution show, from `first` on.
    fn find_branches(&mut self, first: usize) {
        let log = &self.log;
        let limit = self.limits.max_memory.map_or(usize::MAX, |bytes| bytes as usize / size_of::<Operation>());
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

    /// Enters the last branch that has an order; gives the length of the log that it shares with the execution before.
    fn enter_branch(&mut self) -> Result<Option<usize>, Refusal> {
        while let Some(node) = self.nodes.last_mut() {
            let Some(operations) = node.pop() else {
                self.spare.extend(self.nodes.pop());
                continue;
            };
            let base = node.base;
            self.log.truncate(base);
            for operation in operations {
                self.log.push(operation);
            }
            node.at = self.log.len() - 1;
            self.halted.clear();
            if self.replay(base)? {
                return Ok(Some(base));
            }
        }
        Ok(None)
    }

    /// Brings the machine behind the log of a branch; `false` if the log has no order.
    fn replay(&mut self, base: usize) -> Result<bool, Refusal> {
        // Whether the last operation, if it is a `cas`, writes, shows when it is done.
        loop {
            let Some(node) = self.nodes.last() else { return Ok(false) };
            let followed = if self.is_direct(base, &node.before) {
                self.now.copy_from(&node.before);
                self.follow(base as u32..self.log.len() as u32)?
            } else {
                let Some(order) = self.sorter.order(&self.log) else { return Ok(false) };
                self.now.copy_from(&self.initial);
                self.follow(order)?
            };
            match followed {
                Followed::All => return Ok(true),
                Followed::LastWrites => self.log.last_writes(),
                Followed::NoWrite => return Ok(false),
            }
        }
    }

    /// Whether the operations behind the base can be done in the order of the log.
    fn is_direct(&self, base: usize, before: &Position) -> bool {
        let mut written: SmallVec<[(u32, u32); 8]> = SmallVec::new();
        for (index, operation) in self.log.operations.iter().enumerate().skip(base) {
            let newest = written.iter().rev().find(|(cell, _)| *cell == operation.cell);
            let held = newest.map_or_else(|| before.held(operation.cell), |&(_, write)| write);
            if operation.reads() && held != operation.source {
                return false;
            }
            if operation.writes {
                written.push((operation.cell, index as u32));
            }
        }
        true
    }

    /// Does operations of the log in an order.
    fn follow(&mut self, order: impl IntoIterator<Item = u32>) -> Result<Followed, Refusal> {
        let last = self.log.len() - 1;
        let mut order = order.into_iter().peekable();
        while let Some(index) = order.next() {
            let Operation { thread, alternative, kind, cell, writes, .. } = self.log.operations[index as usize];
            let done = self.perform(thread, alternative)?;
            debug_assert_eq!(
                (done, self.seen.cell()),
                (kind, cell),
                "an execution that repeats another departs from it"
            );
            match (self.seen.write.is_some(), writes) {
                (true, false) if index as usize == last => {
                    if order.peek().is_some() {
                        return Ok(Followed::LastWrites);
                    }
                    self.log.last_writes();
                    self.now.hold(cell, index);
                }
                (written, _) if written != writes => return Ok(Followed::NoWrite),
                (true, _) => self.now.hold(cell, index),
                (false, _) => {}
            }
        }
        Ok(Followed::All)
    }

    /// Lets a thread go on to its next operation.
    fn perform(&mut self, thread: PathId, alternative: u32) -> Result<Kind, Refusal> {
        loop {
            let slot = self.slot(thread).ok_or(Refusal::Synchronisation)?;
            let state = &self.now.state;
            if self.machine.alternatives(state, slot) == 0 {
                self.end_joined(slot)?;
                continue;
            }
            let chooses = matches!(self.machine.pending(state, slot), Some(Pending::Choose));
            let choice = Choice { thread: slot, alternative: if chooses { alternative } else { 0 } };
            match self.step(choice)? {
                Stepped::Operation(kind) => return Ok(kind),
                Stepped::Local => {}
                Stepped::Discarded => return Err(Refusal::Synchronisation),
            }
        }
    }

    /// Lets a thread that another one waits for do its last local work, which is no operation.
    fn end_joined(&mut self, joining: ThreadIndex) -> Result<(), Refusal> {
        let state = &self.now.state;
        let handle = match self.machine.obstacle(state, joining) {
            Some(Obstacle::Thread { thread }) => vec![thread],
            Some(Obstacle::Children { threads }) => threads,
            _ => Vec::new(),
        };
        let able = |&thread: &ThreadIndex| self.machine.alternatives(state, thread) > 0;
        let thread = handle.into_iter().find(able).ok_or(Refusal::Synchronisation)?;
        match self.step(Choice { thread, alternative: 0 })? {
            Stepped::Local => Ok(()),
            Stepped::Operation(_) | Stepped::Discarded => Err(Refusal::Synchronisation),
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
