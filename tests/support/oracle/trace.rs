//! What the oracle of `paths` has to know of an execution: the history of each thread.
//!
//! A history is the sequence of a thread's operations on shared variables, with the versions that they read or write, of
//! its branches, lock operations and choices. Beside it goes a shadow of all values that says which shared reads each of
//! them comes from: through slots, parameters, results and private cells, and through the index of an element, for it
//! says which element is meant. What decides the value of `?:`, `&&` or `||` is a part of it; what decides whether a
//! statement is executed is no part of the value that it assigns.
//!
//! A branch that comes behind a `print` waits for the next step of its thread, as the print does.

use super::code::{Atomic, Code, NONE, Op, Sync};
use super::state::{State, Thread};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// No reads.
pub const EMPTY: u32 = 0;

/// One entry of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// An operation: a read or a write of a shared cell.
    Op {
        /// Name of the access.
        name: u32,
        write: bool,
        variable: u32,
        cell: u32,
        /// The number of writes to the cell so far; a write counts itself.
        version: u32,
        atomic: bool,
        /// The reads that the written value and the index come from.
        from: u32,
        /// The clocks of the thread.
        clock: u32,
        /// Number of the operation in its thread.
        number: u32,
    },
    /// A branch, and the reads that its condition and those of the branches that it depends on come from.
    Branch {
        pc: u32,
        holds: bool,
        start: u32,
    },
    Lock(u32),
    Unlock(u32),
    Choice(i64),
}

/// An access to a cell.
pub struct Access {
    pub address: u32,
    pub name: u32,
    pub read: bool,
    pub write: bool,
    pub atomic: bool,
    /// Whether it is to a shared variable, and no initial definition.
    pub counted: bool,
}

/// A read: path of the thread, number of the operation.
pub type Instance = (u32, u32);

/// Two vector clocks of a thread: of fork and join alone, and of all synchronisation but locks.
pub type ClockPair = (Rc<[u32]>, Rc<[u32]>);

/// What is kept of an execution where only the order of some operations is asked for.
#[derive(Debug, Default)]
pub struct Selected {
    /// Names of accesses, and whether they write.
    pub operations: FxHashSet<(u32, bool)>,
    /// Path of the thread, instruction.
    pub branches: FxHashSet<(u32, u32)>,
}

/// Sets of reads, clocks, cells and histories, each under a number.
#[derive(Debug, Default)]
pub struct Tables {
    sets: Vec<Rc<[Instance]>>,
    set_index: FxHashMap<Rc<[Instance]>, u32>,
    clocks: Vec<ClockPair>,
    clock_index: FxHashMap<ClockPair, u32>,
    /// A cell is told by its variable, the thread that made it, and a number among those of the thread.
    cell_index: FxHashMap<(u32, u32, u32), u32>,
    /// The history before, and the last entry.
    nodes: Vec<(u32, Record)>,
    node_index: FxHashMap<(u32, Record), u32>,
    /// Which branches each instruction depends on.
    pub controllers: Vec<Vec<u32>>,
    /// The accesses that are operations, and whether they write; all, if none are given.
    operations: Option<FxHashSet<(u32, bool)>>,
    pub selected: Option<Selected>,
}

impl Tables {
    pub fn new(
        controllers: Vec<Vec<u32>>,
        operations: Option<FxHashSet<(u32, bool)>>,
        selected: Option<Selected>,
    ) -> Tables {
        let mut tables = Tables { controllers, operations, selected, ..Tables::default() };
        tables.set(&[]);
        tables
    }

    fn is_operation(&self, access: &Access, write: bool) -> bool {
        let is_listed = |operations: &FxHashSet<(u32, bool)>| operations.contains(&(access.name, write));
        access.counted && self.operations.as_ref().is_none_or(is_listed)
    }

    fn set(&mut self, reads: &[Instance]) -> u32 {
        if let Some(&known) = self.set_index.get(reads) {
            return known;
        }
        let reads: Rc<[Instance]> = reads.into();
        self.sets.push(Rc::clone(&reads));
        self.set_index.insert(reads, self.sets.len() as u32 - 1);
        self.sets.len() as u32 - 1
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b || b == EMPTY {
            return a;
        }
        let mut reads: Vec<Instance> = self.sets[a as usize].iter().chain(&*self.sets[b as usize]).copied().collect();
        reads.sort_unstable();
        reads.dedup();
        self.set(&reads)
    }

    fn append(&mut self, head: u32, record: Record) -> u32 {
        let next = self.nodes.len() as u32;
        let node = *self.node_index.entry((head, record)).or_insert(next);
        if node == next {
            self.nodes.push((head, record));
        }
        node
    }

    /// The entries of a history.
    pub fn history(&self, mut head: u32) -> Vec<Record> {
        let mut records = Vec::new();
        while head != NONE {
            let (before, record) = self.nodes[head as usize];
            records.push(record);
            head = before;
        }
        records.reverse();
        records
    }

    /// All entries of all histories.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        self.nodes.iter().map(|node| node.1)
    }

    pub fn reads(&self, set: u32) -> &[Instance] {
        &self.sets[set as usize]
    }

    pub fn clocks(&self, clock: u32) -> &ClockPair {
        &self.clocks[clock as usize]
    }

    fn clock(&mut self, pair: ClockPair) -> u32 {
        let next = self.clocks.len() as u32;
        let clock = *self.clock_index.entry(pair.clone()).or_insert(next);
        if clock == next {
            self.clocks.push(pair);
        }
        clock
    }

    fn cell(&mut self, variable: u32, owner: u32, number: u32) -> u32 {
        let next = self.cell_index.len() as u32;
        *self.cell_index.entry((variable, owner, number)).or_insert(next)
    }
}

/// A call of a function.
#[derive(Clone, Debug, Default)]
struct Activation {
    /// Of each branch, the reads of its last evaluation.
    last: Vec<(u32, u32)>,
    /// Those of the branches that the call depends on.
    call: u32,
}

#[derive(Clone, Debug)]
struct Followed {
    path: u32,
    /// Of each value on the stack, the reads that it comes from.
    shadow: Vec<u32>,
    activations: Vec<Activation>,
    head: u32,
    operations: u32,
    cells: u32,
    clock: Vec<u32>,
    /// Branches that wait for the next step.
    deferred: Vec<Record>,
    /// Of each `?:`, `&&` and `||` that is being computed: the number of calls, and what has decided so far.
    deciding: Vec<(usize, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct CellShadow {
    id: u32,
    version: u32,
    from: u32,
}

/// What is known of an execution so far.
#[derive(Clone, Debug)]
pub struct Tracer {
    pub tables: Rc<RefCell<Tables>>,
    threads: Vec<Followed>,
    cells: Vec<CellShadow>,
    /// By address: what a set of an event, a V, or the arrivals at a barrier hand on.
    clocks: BTreeMap<u32, Vec<u32>>,
    /// The selected operations in their order.
    order: u32,
}

impl Tracer {
    /// Before the first step of `main`.
    pub fn new(state: &State, tables: Rc<RefCell<Tables>>) -> Tracer {
        let mut tracer =
            Tracer { tables, threads: Vec::new(), cells: Vec::new(), clocks: BTreeMap::new(), order: NONE };
        let shadow = vec![EMPTY; state.threads[0].stack.len()];
        tracer.threads.push(Followed::new(state.threads[0].path, shadow, vec![1]));
        tracer.grow(state, NONE);
        tracer
    }

    /// Of each thread its path and its history, and the order of the selected operations.
    pub fn histories(&self) -> (Vec<(u32, u32)>, u32) {
        (self.threads.iter().map(|thread| (thread.path, thread.head)).collect(), self.order)
    }

    /// All that matters for what the histories will be, beside the state.
    pub fn key(&self) -> Vec<u32> {
        let mut words = vec![self.order];
        words.extend(self.threads.iter().map(|thread| thread.head));
        if self.tables.borrow().selected.is_some() {
            return words;
        }
        for thread in &self.threads {
            words.push(thread.clock.len() as u32);
            words.extend(&thread.clock);
        }
        for (address, clock) in &self.clocks {
            words.extend([*address, clock.len() as u32]);
            words.extend(clock);
        }
        words
    }

    fn grow(&mut self, state: &State, owner: u32) {
        let mut tables = self.tables.borrow_mut();
        while self.cells.len() < state.cells.len() {
            let address = self.cells.len() as u32;
            let number = match self.threads.iter_mut().find(|thread| thread.path == owner) {
                Some(thread) => {
                    thread.cells += 1;
                    thread.cells
                }
                None => address,
            };
            let id = tables.cell(state.cells[address as usize].variable, owner, number);
            self.cells.push(CellShadow { id, version: 0, from: EMPTY });
        }
    }

    fn record(&mut self, t: usize, record: Record) {
        let (followed, mut tables) = (&mut self.threads[t], self.tables.borrow_mut());
        let is_kept = tables.selected.as_ref().is_none_or(|selected| match record {
            Record::Branch { pc, .. } => selected.branches.contains(&(followed.path, pc)),
            _ => false,
        });
        if is_kept {
            followed.head = tables.append(followed.head, record);
        }
    }

    fn union(&self, a: u32, b: u32) -> u32 {
        self.tables.borrow_mut().union(a, b)
    }

    /// What has waited for the step of the thread.
    pub fn begin_step(&mut self, t: usize) {
        for record in std::mem::take(&mut self.threads[t].deferred) {
            self.record(t, record);
        }
    }

    /// A condition was popped.
    pub fn branch(&mut self, t: usize, thread: &Thread, holds: bool) {
        let followed = &mut self.threads[t];
        let mut start = followed.shadow.pop().unwrap_or(EMPTY);
        let mut tables = self.tables.borrow_mut();
        if let Some((calls, decided)) = followed.deciding.last_mut()
            && *calls == followed.activations.len()
        {
            *decided = tables.union(*decided, start);
        }
        let above = dependence(&mut tables, &followed.activations, thread.pc);
        start = tables.union(start, above);
        if let Some(activation) = followed.activations.last_mut() {
            activation.last.retain(|known| known.0 != thread.pc);
            activation.last.push((thread.pc, start));
        }
        drop(tables);
        let record = Record::Branch { pc: thread.pc, holds, start };
        if thread.ahead != thread.printed && thread.atomic == 0 {
            followed.deferred.push(record);
        } else {
            self.record(t, record);
        }
    }

    /// A call at that instruction.
    pub fn called(&mut self, t: usize, pc: u32) {
        let mut tables = self.tables.borrow_mut();
        let call = dependence(&mut tables, &self.threads[t].activations, pc);
        self.threads[t].activations.push(Activation { call, last: Vec::new() });
    }

    pub fn chosen(&mut self, t: usize, value: i64) {
        self.record(t, Record::Choice(value));
    }

    pub fn lock(&mut self, t: usize, address: u32, taken: bool) {
        let cell = self.cells[address as usize].id;
        self.record(t, if taken { Record::Lock(cell) } else { Record::Unlock(cell) });
    }

    /// An instruction that is no access was executed.
    pub fn executed(&mut self, code: &Code, state: &State, t: usize, op: Op) {
        let thread = &state.threads[t];
        let (len, base) = (thread.stack.len(), thread.base);
        let shadow = &mut self.threads[t].shadow;
        match op {
            Op::Load { .. } | Op::Store { .. } | Op::StoreInitial { .. } | Op::Atomic { .. } => return,
            Op::Repeat => shadow.extend_from_within(shadow.len() - 1..),
            Op::LoadSlot(slot) => shadow.push(shadow[(base + slot) as usize]),
            Op::StoreSlot(slot) => {
                let from = shadow.pop().unwrap_or(EMPTY);
                shadow[(base + slot) as usize] = from;
            }
            Op::Binary(_) | Op::Index { .. } => {
                let (right, left) = (shadow.pop().unwrap_or(EMPTY), shadow.pop().unwrap_or(EMPTY));
                shadow.push(self.tables.borrow_mut().union(left, right));
            }
            Op::DecideBegin => {
                let calls = self.threads[t].activations.len();
                self.threads[t].deciding.push((calls, EMPTY));
            }
            Op::DecideEnd => {
                let decided = self.threads[t].deciding.pop().map_or(EMPTY, |each| each.1);
                let value = self.threads[t].shadow.pop().unwrap_or(EMPTY);
                let value = self.union(value, decided);
                self.threads[t].shadow.push(value);
            }
            Op::Choose | Op::Spawn { handle: true, .. } => {
                shadow.truncate(len - 1);
                shadow.push(EMPTY);
            }
            Op::Return => {
                let result = shadow.pop().unwrap_or(EMPTY);
                shadow.truncate(len - 1);
                shadow.push(result);
                self.threads[t].activations.pop();
            }
            Op::Box { slot, .. } => {
                let from = shadow.pop().unwrap_or(EMPTY);
                shadow[(base + slot) as usize] = EMPTY;
                self.grow(state, thread.path);
                if let Some(cell) = self.cells.last_mut() {
                    cell.from = from;
                }
            }
            Op::Allocate { slot, .. } => {
                shadow[(base + slot) as usize] = EMPTY;
                self.grow(state, thread.path);
            }
            Op::SlotAtomic { kind, slot, .. } => self.slot_atomic(t, kind, (base + slot) as usize),
            _ => shadow.resize(len, EMPTY),
        }
        debug_assert_eq!(self.threads[t].shadow.len(), len, "{op:?} in {:?}", code.places.len());
    }

    fn slot_atomic(&mut self, t: usize, kind: Atomic, slot: usize) {
        let mut tables = self.tables.borrow_mut();
        let shadow = &mut self.threads[t].shadow;
        let (old, last) = (shadow[slot], shadow.pop().unwrap_or(EMPTY));
        let (result, new) = match kind {
            Atomic::Swap => (old, last),
            Atomic::FetchAdd => (old, tables.union(old, last)),
            Atomic::Cas => {
                let expected = shadow.pop().unwrap_or(EMPTY);
                // Which of the two values it holds now depends on all of them.
                let verdict = tables.union(old, expected);
                (verdict, tables.union(verdict, last))
            }
        };
        shadow[slot] = new;
        shadow.push(result);
    }

    /// An access was made; its operands lie on the shadow as they did on the stack.
    pub fn access(&mut self, state: &State, t: usize, op: Op, access: &Access) {
        let shadow = &mut self.threads[t].shadow;
        let mut pop = || shadow.pop().unwrap_or(EMPTY);
        let (value, expected) = match op {
            Op::Load { .. } => (EMPTY, EMPTY),
            Op::Atomic { kind: Atomic::Cas, .. } => (pop(), pop()),
            _ => (pop(), EMPTY),
        };
        let index = pop();
        let mut old = self.cells[access.address as usize].from;
        let counts = [false, true].map(|write| self.tables.borrow().is_operation(access, write));
        if counts[0] && access.read {
            let instance = self.operation(state, t, access, false, index);
            old = self.tables.borrow_mut().set(&[instance]);
        }
        old = self.union(old, index);
        let written = match op {
            Op::Atomic { kind: Atomic::FetchAdd, .. } => self.union(value, old),
            _ => self.union(value, index),
        };
        if access.write {
            // Values flow through private cells; through shared ones only by operations.
            self.cells[access.address as usize].from = if access.counted { EMPTY } else { written };
        }
        if access.write && counts[1] {
            self.cells[access.address as usize].version += 1;
            self.operation(state, t, access, true, written);
        }
        if access.read {
            let result = self.union(old, expected);
            self.threads[t].shadow.push(result);
        }
    }

    /// Puts an operation into the history of the thread.
    fn operation(&mut self, state: &State, t: usize, access: &Access, write: bool, from: u32) -> Instance {
        let mut tables = self.tables.borrow_mut();
        let followed = &mut self.threads[t];
        let (number, name) = (followed.operations, access.name);
        followed.operations += 1;
        let cell = self.cells[access.address as usize];
        let variable = state.cells[access.address as usize].variable;
        let is_selected = tables.selected.as_ref().map(|selected| selected.operations.contains(&(name, write)));
        let (mut version, mut clock) = (cell.version, 0);
        match is_selected {
            Some(false) => return (followed.path, number),
            Some(true) => version = 0,
            None => {
                let pair = (Rc::clone(&state.threads[t].clock), followed.clock.as_slice().into());
                clock = tables.clock(pair);
            }
        }
        let atomic = access.atomic;
        let record = Record::Op { name, write, variable, cell: cell.id, version, atomic, from, clock, number };
        followed.head = tables.append(followed.head, record);
        if is_selected == Some(true) {
            // The order holds the thread as a choice before each operation.
            self.order = tables.append(self.order, Record::Choice(t as i64));
            self.order = tables.append(self.order, record);
        }
        (followed.path, number)
    }

    /// Thread `t` made the last thread of the state, an arm that begins with the slots of its parent.
    pub fn forked(&mut self, state: &State, t: usize, slots: usize) {
        self.grow(state, state.threads[t].path);
        let base = state.threads[t].base as usize;
        let shadow = self.threads[t].shadow[base..base + slots].to_vec();
        self.begin(state, t, shadow);
    }

    /// Thread `t` made the last thread of the state, with the arguments on top of its stack.
    pub fn spawned(&mut self, state: &State, t: usize, arguments: usize) {
        let own = &self.threads[t].shadow;
        let shadow = [EMPTY; 2].into_iter().chain(own[own.len() - arguments..].iter().copied()).collect();
        self.begin(state, t, shadow);
    }

    fn begin(&mut self, state: &State, t: usize, shadow: Vec<u32>) {
        let child = self.threads.len();
        let mut clock = self.threads[t].clock.clone();
        clock.resize(child + 1, 0);
        clock[child] = 1;
        self.threads.push(Followed::new(state.threads[child].path, shadow, clock));
    }

    /// The value of a parfor, so many below the number of its threads, goes into a slot of its thread.
    pub fn give_slot(&mut self, t: usize, child: usize, slot: u32, below: usize) {
        let own = &self.threads[t].shadow;
        let from = own[own.len() - 1 - below];
        self.threads[child].shadow[slot as usize] = from;
    }
}

/// The clocks of all synchronisation but locks.
impl Tracer {
    /// What the thread does from now on has not happened for those that know it so far.
    pub fn released(&mut self, t: usize) {
        self.threads[t].clock[t] += 1;
    }

    /// All that `from` has done comes before what `to` does from now on.
    pub fn order(&mut self, from: usize, to: usize) {
        let clock = self.threads[from].clock.clone();
        join(&mut self.threads[to].clock, &clock);
        self.released(from);
    }

    fn hand_on(&mut self, t: usize, address: u32) {
        join(self.clocks.entry(address).or_default(), &self.threads[t].clock);
        self.released(t);
    }

    fn take(&mut self, t: usize, address: u32) {
        if let Some(clock) = self.clocks.get(&address) {
            join(&mut self.threads[t].clock, clock);
        }
    }

    /// An operation on one object, other than a barrier or a condition.
    pub fn synchronised(&mut self, t: usize, sync: Sync, address: u32) {
        match sync {
            Sync::Lock => self.lock(t, address, true),
            Sync::Unlock => self.lock(t, address, false),
            Sync::Set | Sync::V => self.hand_on(t, address),
            Sync::WaitEvent | Sync::P => self.take(t, address),
            Sync::Clear => {
                self.clocks.remove(&address);
            }
            _ => {}
        }
    }

    pub fn arrive(&mut self, t: usize, barrier: u32) {
        self.hand_on(t, barrier);
    }

    pub fn depart(&mut self, t: usize, barrier: u32) {
        self.take(t, barrier);
    }

    pub fn end_round(&mut self, barrier: u32) {
        self.clocks.remove(&barrier);
    }
}

impl Followed {
    fn new(path: u32, shadow: Vec<u32>, clock: Vec<u32>) -> Followed {
        let activations = vec![Activation::default()];
        Followed {
            path,
            shadow,
            activations,
            head: NONE,
            operations: 0,
            cells: 0,
            clock,
            deferred: Vec::new(),
            deciding: Vec::new(),
        }
    }
}

/// The reads of the branches that an instruction of the last activation depends on.
fn dependence(tables: &mut Tables, activations: &[Activation], pc: u32) -> u32 {
    let Some(activation) = activations.last() else { return EMPTY };
    let mut reads = activation.call;
    for controller in tables.controllers[pc as usize].clone() {
        if let Some(&(_, start)) = activation.last.iter().find(|known| known.0 == controller) {
            reads = tables.union(reads, start);
        }
    }
    reads
}

fn join(own: &mut Vec<u32>, other: &[u32]) {
    if own.len() < other.len() {
        own.resize(other.len(), 0);
    }
    own.iter_mut().zip(other).for_each(|(own, &other)| *own = other.max(*own));
}
