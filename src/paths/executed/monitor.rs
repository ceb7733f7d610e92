//! The monitor of a search for branch outcomes and unprotected pairs: the part of an execution that the search must remember.
//!
//! **Input**: the events of an execution. **Output**: [`Note`]s: the outcome of each branch, each wait that has returned, and
//! each unprotected pair, reported as they happen.
//!
//! **Algorithm**: for each thread that has not ended, the monitor keeps
//! 1. how often it has reached each branch and each wait, up to a maximum;
//! 2. the locks that it holds, and the number of atomic blocks that it is in;
//! 3. the operations of other threads that fork and join alone do not order before it: its next operation may form an unprotected
//!    pair with each of these. When an operation is executed, it joins the sets of all other threads. A thread begins with the
//!    set of its creator. At a join, the operations that are ordered before the end of a joined thread leave the set.
//!
//! Consider the operations that are ordered before the end of a forked thread and not before its parent. If no thread in the
//! whole program is joined by a handle, these are its own operations and those of threads that it has forked. Then nothing is
//! kept of an ended thread. Its operations pass to its parent, and leave the set of the parent at the join. If handles are
//! joined, an ended thread keeps its set until no thread can join it any more, and a join intersects the two sets.
//!
//! Data without consequences is forgotten after each step ([`Ahead`]): counts of places that the thread cannot reach any more,
//! and operations that conflict with no operation that the thread has ahead. A parent that waits for its threads forgets their
//! operations, since these are ordered before all that it has ahead.
//!
//! **Soundness and limits**: exact: two executions that reach one state with equal monitors have the same outcomes and pairs
//! ahead. One thread executes its operations in order. So among equal operations, the last one decides which threads they are not
//! ordered before, and the set need not record when each was executed.

use super::records::{Interned, Record};
use super::{ExecutedRequest, Note};
use crate::ahead::{Ahead, Item, Prospect};
use cssame_explore::frame::Monitor;
use cssame_ir::sync::Mode;
use cssame_ir::{Access, Instruction, Program};
use cssame_vm::{Cell, CodeIndex, Event, Machine, Observer, PathId, Pending, State, ThreadIndex, ThreadName};

/// What does not change during a search.
#[derive(Debug)]
pub(super) struct Fixed<'a> {
    machine: &'a Machine,
    program: &'a Program,
    request: &'a ExecutedRequest<'a>,
    ahead: Option<Ahead<'a>>,
    /// Whether some thread may be joined by its handle.
    joins_handles: bool,
    records: Interned<Record>,
    locks: Interned<Vec<(Cell, Mode)>>,
    /// The number of the empty set of locks.
    no_locks: u32,
}

impl<'a> Fixed<'a> {
    pub(super) fn new(machine: &'a Machine, program: &'a Program, request: &'a ExecutedRequest<'a>) -> Fixed<'a> {
        let mut instructions =
            program.functions.iter().flat_map(|function| function.blocks.iter()).flat_map(|block| &block.instructions);
        let joins_handles = instructions.any(|one| matches!(one, Instruction::JoinThread { .. }));
        let locks = Interned::default();
        let no_locks = locks.number(Vec::new());
        let ahead = Ahead::new(machine, program);
        Fixed { machine, program, request, ahead, joins_handles, records: Interned::default(), locks, no_locks }
    }

    /// The number of the set of locks with one more or one less.
    fn with_lock(&self, set: u32, lock: (Cell, Mode), held: bool) -> u32 {
        let mut locks = self.locks.read().get_index(set as usize).cloned().unwrap_or_default();
        match (locks.binary_search(&lock), held) {
            (Err(place), true) => locks.insert(place, lock),
            (Ok(place), false) => {
                locks.remove(place);
            }
            _ => {}
        }
        self.locks.number(locks)
    }

    fn have_common_lock(&self, one: u32, other: u32) -> bool {
        if one == self.no_locks || other == self.no_locks {
            return false;
        }
        let sets = self.locks.read();
        let (Some(one), Some(other)) = (sets.get_index(one as usize), sets.get_index(other as usize)) else {
            return false;
        };
        one.iter().any(|(lock, mode)| other.iter().any(|(with, of)| with == lock && mode.excludes(*of)))
    }

    /// Whether an operation conflicts with something ahead.
    fn concerns(&self, ahead: &Ahead<'_>, prospect: &Prospect<'_>, record: Option<&Record>) -> bool {
        let Some(record) = record else { return true };
        let symbol = record.access.cells_of(self.program);
        let has = |item| ahead.number(item).is_none_or(|number| prospect.has(number));
        has(Item::Write(symbol)) || record.access.is_write() && has(Item::Read(symbol))
    }
}

/// A thread.
#[derive(Debug)]
struct Thread {
    path: PathId,
    slot: ThreadIndex,
    /// Who has forked it.
    parent: Option<PathId>,
    ended: bool,
    /// Depth of atomic blocks.
    blocks: u32,
    locks: u32,
    /// Places with counts, sorted.
    counts: Vec<(CodeIndex, u32)>,
    /// Numbers of records that are not before it, sorted.
    open: Vec<u32>,
}

impl Clone for Thread {
    fn clone(&self) -> Self {
        Thread { counts: self.counts.clone(), open: self.open.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let (mut counts, mut open) = (std::mem::take(&mut self.counts), std::mem::take(&mut self.open));
        counts.clone_from(&source.counts);
        open.clone_from(&source.open);
        *self = Thread { counts, open, ..*source };
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct ExecutedMonitor<'a> {
    fixed: &'a Fixed<'a>,
    /// By path.
    threads: Vec<Thread>,
    notes: Vec<Note>,
}

impl Clone for ExecutedMonitor<'_> {
    fn clone(&self) -> Self {
        ExecutedMonitor { fixed: self.fixed, threads: self.threads.clone(), notes: Vec::new() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.threads.clone_from(&source.threads);
        self.notes.clear();
    }
}

fn insert(set: &mut Vec<u32>, number: u32) {
    if let Err(place) = set.binary_search(&number) {
        set.insert(place, number);
    }
}

impl<'a> ExecutedMonitor<'a> {
    pub(super) fn new(fixed: &'a Fixed<'a>) -> ExecutedMonitor<'a> {
        ExecutedMonitor { fixed, threads: Vec::new(), notes: Vec::new() }
    }

    fn place(&self, path: PathId) -> Result<usize, usize> {
        self.threads.binary_search_by_key(&path, |thread| thread.path)
    }

    fn thread(&mut self, path: PathId) -> Option<&mut Thread> {
        let place = self.place(path).ok()?;
        self.threads.get_mut(place)
    }

    fn begin(&mut self, name: ThreadName, maker: Option<PathId>, parent: Option<PathId>) {
        let open = maker.and_then(|maker| self.thread(maker)).map_or_else(Vec::new, |maker| maker.open.clone());
        let ThreadName { path, slot } = name;
        let locks = self.fixed.no_locks;
        let thread = Thread { path, slot, parent, ended: false, blocks: 0, locks, counts: Vec::new(), open };
        match self.place(path) {
            Ok(place) => self.threads[place] = thread,
            Err(place) => self.threads.insert(place, thread),
        }
    }

    /// The instance of a place that a thread comes to now, or waits at.
    pub(super) fn instance(&self, path: PathId, at: CodeIndex) -> u32 {
        let counts = self.place(path).ok().map(|place| &self.threads[place].counts);
        let count = counts.and_then(|counts| {
            let place = counts.binary_search_by_key(&at, |count| count.0).ok()?;
            Some(counts[place].1)
        });
        (count.unwrap_or(0) + 1).min(self.fixed.request.max_instance.max(1))
    }

    /// Counts a visit of a place; gives its instance.
    fn count(&mut self, path: PathId, at: CodeIndex) -> u32 {
        let instance = self.instance(path, at);
        if let Some(thread) = self.thread(path) {
            match thread.counts.binary_search_by_key(&at, |count| count.0) {
                Ok(place) => thread.counts[place].1 = instance,
                Err(place) => thread.counts.insert(place, (at, instance)),
            }
        }
        instance
    }

    fn woken(&mut self, thread: PathId, at: CodeIndex) {
        let instance = self.count(thread, at);
        self.notes.push(Note::Woken { thread, at, instance });
    }

    fn operation(&mut self, path: PathId, at: CodeIndex, access: Access, cell: Cell) {
        let fixed = self.fixed;
        if access.is_initial(fixed.program) {
            return;
        }
        let declared = fixed.program.symbols[access.symbol(fixed.program)].atomic;
        // Two accesses to a variable that is declared atomic are never a pair.
        let (false, Ok(place)) = (declared, self.place(path)) else { return };
        let thread = &self.threads[place];
        let atomic = thread.blocks > 0 || fixed.machine.is_atomic(at);
        let record = Record { thread: path, owner: path, access, cell, locks: thread.locks, atomic };
        let records = fixed.records.read();
        let open = thread.open.iter().filter_map(|&number| records.get_index(number as usize));
        for before in open.filter(|before| before.cell == cell) {
            let conflict = before.access.is_write() || access.is_write();
            if conflict && !(before.atomic && atomic) && !fixed.have_common_lock(before.locks, record.locks) {
                let mut sides = [(before.access, before.thread), (access, path)];
                sides.sort_unstable();
                let [first, second] = sides;
                self.notes.push(Note::Pair { accesses: [first.0, second.0], threads: [first.1, second.1] });
            }
        }
        drop(records);
        let number = fixed.records.number(record);
        let others = self.threads.iter_mut().enumerate().filter(|&(index, _)| index != place);
        others.for_each(|(_, other)| insert(&mut other.open, number));
    }

    /// All threads that it has forked have ended.
    fn join(&mut self, path: PathId) {
        let Ok(place) = self.place(path) else { return };
        let mut open = std::mem::take(&mut self.threads[place].open);
        if self.fixed.joins_handles {
            for child in self.threads.iter().filter(|child| child.ended && child.parent == Some(path)) {
                open.retain(|number| child.open.binary_search(number).is_ok());
            }
        } else {
            let records = self.fixed.records.read();
            open.retain(|&number| records.get_index(number as usize).is_none_or(|record| record.owner != path));
        }
        self.threads[place].open = open;
        self.threads.retain(|child| !(child.ended && child.parent == Some(path)));
    }

    fn join_thread(&mut self, path: PathId, child: PathId) {
        let (Ok(place), Ok(child)) = (self.place(path), self.place(child)) else { return };
        let mut open = std::mem::take(&mut self.threads[place].open);
        open.retain(|number| self.threads[child].open.binary_search(number).is_ok());
        self.threads[place].open = open;
    }

    fn end(&mut self, path: PathId) {
        let Ok(place) = self.place(path) else { return };
        if self.fixed.joins_handles {
            let thread = &mut self.threads[place];
            thread.ended = true;
            (thread.slot, thread.blocks, thread.locks) = (ThreadIndex(0), 0, self.fixed.no_locks);
            thread.counts.clear();
            return;
        }
        let Some(parent) = self.threads.remove(place).parent else { return };
        for thread in &mut self.threads {
            pass_on(self.fixed, &mut thread.open, path, parent);
        }
    }

    /// Forgets the operations of threads that a thread is waiting for.
    fn forget_children(&mut self, place: usize) {
        let path = self.threads[place].path;
        let mut open = std::mem::take(&mut self.threads[place].open);
        let records = self.fixed.records.read();
        let is_below = |record: &Record| self.is_below(record.owner, path);
        open.retain(|&number| !records.get_index(number as usize).is_some_and(is_below));
        self.threads[place].open = open;
    }

    /// Whether a thread is another one, or was forked by it or by a thread below it.
    fn is_below(&self, mut thread: PathId, above: PathId) -> bool {
        while thread != above {
            let parent = self.place(thread).ok().and_then(|place| self.threads[place].parent);
            let Some(parent) = parent else { return false };
            thread = parent;
        }
        true
    }

    /// Forgets what has no consequence for what threads have ahead, behind a step.
    pub(super) fn tidy(&mut self, machine: &Machine, state: &State) {
        if !self.fixed.joins_handles {
            for place in 0..self.threads.len() {
                let waits = machine.pending(state, self.threads[place].slot) == Some(Pending::Join);
                if waits && !self.threads[place].open.is_empty() {
                    self.forget_children(place);
                }
            }
        }
        self.forget(state);
    }

    /// Forgets counts of places that threads do not come to again, and operations that conflict with nothing ahead.
    fn forget(&mut self, state: &State) {
        let fixed = self.fixed;
        let Some(ahead) = &fixed.ahead else { return };
        let records = fixed.records.read();
        let mut concern = Vec::new();
        let mut may_join = false;
        for thread in self.threads.iter_mut().filter(|thread| !thread.ended) {
            let prospect = ahead.of(state, thread.slot);
            let concerns = |number: u32| fixed.concerns(ahead, &prospect, records.get_index(number as usize));
            let is_ahead = |at| ahead.number(Item::Place(at)).is_none_or(|number| prospect.has(number));
            thread.counts.retain(|count| is_ahead(count.0));
            may_join |= ahead.number(Item::JoinThread).is_none_or(|number| prospect.has(number));
            if fixed.joins_handles {
                // Whoever joins a thread asks for its set; so what is forgotten is forgotten by all.
                concern.extend(thread.open.iter().filter(|&&number| concerns(number)));
            } else {
                thread.open.retain(|&number| concerns(number));
            }
        }
        if fixed.joins_handles {
            concern.sort_unstable();
            concern.dedup();
            self.threads.retain(|thread| may_join || !thread.ended || thread.parent.is_some());
            for thread in &mut self.threads {
                thread.open.retain(|number| concern.binary_search(number).is_ok());
            }
        }
    }
}

/// The operations of a thread that has ended are those of its parent.
fn pass_on(fixed: &Fixed<'_>, open: &mut [u32], from: PathId, to: PathId) {
    let record = |number: u32| fixed.records.read().get_index(number as usize).copied();
    for number in open.iter_mut() {
        if let Some(record) = record(*number).filter(|record| record.owner == from) {
            *number = fixed.records.number(Record { owner: to, ..record });
        }
    }
    open.sort_unstable();
}

impl Observer for ExecutedMonitor<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let (path, fixed) = (thread.path, self.fixed);
        match event {
            Event::Read { read, cell, shared: true, .. } if fixed.request.operations.contains(cell) => {
                self.operation(path, at, Access::Read(read), cell);
            }
            Event::Write { definition, cell, shared: true, .. } if fixed.request.operations.contains(cell) => {
                self.operation(path, at, Access::Write(definition), cell);
            }
            Event::Lock { cell, by, .. } => {
                if let Some(thread) = self.thread(path) {
                    thread.locks = fixed.with_lock(thread.locks, (cell, by.mode()), true);
                }
            }
            Event::Unlock { cell, mode, .. } => {
                if let Some(thread) = self.thread(path) {
                    thread.locks = fixed.with_lock(thread.locks, (cell, mode), false);
                }
            }
            Event::Waited { .. } | Event::Acquire { .. } | Event::Leave { .. } | Event::Woken { .. } => {
                self.woken(path, at);
            }
            Event::Fork { child } => self.begin(child, Some(path), Some(path)),
            Event::Spawn { child } => self.begin(child, Some(path), None),
            Event::Join => self.join(path),
            Event::JoinThread { child } => self.join_thread(path, child.path),
            Event::End { .. } => self.end(path),
            Event::AtomicBegin | Event::AtomicEnd => {
                let begins = event == Event::AtomicBegin;
                if let Some(thread) = self.thread(path) {
                    thread.blocks = if begins { thread.blocks + 1 } else { thread.blocks.saturating_sub(1) };
                }
            }
            _ => {}
        }
    }

    fn begin_main(&mut self, main: ThreadName) {
        self.notes.clear();
        self.threads.clear();
        self.begin(main, None, None);
    }

    fn begin_step(&mut self, _: ThreadName) {
        self.notes.clear();
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        let instance = self.count(thread.path, at);
        self.notes.push(Note::Branch { thread: thread.path, at, instance, holds });
    }
}

impl Monitor for ExecutedMonitor<'_> {
    type Note = Note;

    fn encode(&self, words: &mut Vec<u64>) {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        for thread in &self.threads {
            let parent = thread.parent.map_or(0, |parent| parent.0 + 1);
            words.push(pair(thread.path.0, parent));
            words.push(pair(u32::from(thread.slot.0) | u32::from(thread.ended) << 16, thread.blocks));
            words.push(pair(thread.locks, 0));
            words.push(pair(thread.counts.len() as u32, thread.open.len() as u32));
            words.extend(thread.counts.iter().map(|&(at, count)| pair(at.0, count)));
            words.extend(thread.open.chunks(2).map(|two| pair(two[0], two.get(1).copied().unwrap_or(0))));
        }
    }

    fn decode(&mut self, words: &[u64]) {
        let mut spare = std::mem::take(&mut self.threads).into_iter();
        self.notes.clear();
        let halves = |word: u64| (word as u32, (word >> 32) as u32);
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            let mut next = || halves(rest.next().unwrap_or(0));
            let (path, parent) = halves(word);
            let (slot, blocks) = next();
            let (locks, _) = next();
            let (counts, records) = next();
            let (mut list, mut open) = spare.next().map_or_else(Default::default, |old| (old.counts, old.open));
            list.clear();
            open.clear();
            list.extend((0..counts).map(|_| next()).map(|(at, count)| (CodeIndex(at), count)));
            (0..records.div_ceil(2)).map(|_| next()).for_each(|(low, high)| open.extend([low, high]));
            open.truncate(records as usize);
            self.threads.push(Thread {
                path: PathId(path),
                slot: ThreadIndex(slot as u16),
                parent: parent.checked_sub(1).map(PathId),
                ended: slot >> 16 != 0,
                blocks,
                locks,
                counts: list,
                open,
            });
        }
    }

    fn settle(&mut self, machine: &Machine, state: &mut State) {
        state.forget_past();
        self.tidy(machine, state);
    }

    fn notes(&self) -> &[Note] {
        &self.notes
    }
}
