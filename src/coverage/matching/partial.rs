//! Beginnings of matches, and how an execution extends them.
//!
//! **Input**: a beginning and an action of a thread. **Output**: the resulting beginnings and matches.
//!
//! **Algorithm**: a beginning records its threads, its cells and its accesses, and which threads *know* of its last access: those
//! that are ordered after it by forks, joins and the ends of threads. A new thread knows all that its creator knows. After a
//! join, the joining thread knows all that the joined thread knows. The next access of another thread extends the beginning if
//! that thread does not know of the last access.
//!
//! A join of forked threads waits for the threads that were forked in the same function. If the head of a `parfor` calls a
//! function with a `cobegin`, the threads of the `cobegin` end at another join than those of the `parfor`.
//!
//! A beginning is *hopeless* if no remaining thread can extend it: the thread that must extend it has ended, or all existing
//! threads know of the last access. New threads would know of it as well.

use super::trie::{NodeId, Trie};
use crate::instance::Instance;
use crate::pattern::{Kind, MAX_LETTERS, Role, Slot};
use crate::universe::{AccessId, Binding, PlaceAccess, Universe, VariableNumber};
use cssame_ir::{Access, FunctionId};
use cssame_vm::{Cell, CodeIndex, Event, Machine, PathId, ThreadName};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A memory cell, by a number of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CellNumber(pub u32);

/// What a thread does, as far as matches depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// It accesses a variable of the universe.
    Access { thread: PathId, access: AccessId, variable: VariableNumber, kind: Kind, cell: CellNumber },
    /// It makes a thread for its next join in that function.
    Fork { thread: PathId, child: PathId, by: FunctionId },
    /// It makes a thread that nobody waits for by itself.
    Spawn { thread: PathId, child: PathId },
    /// It goes on behind the threads that it has forked in that function.
    Join { thread: PathId, by: FunctionId },
    /// It goes on behind a thread.
    JoinThread { thread: PathId, child: PathId },
    /// It ends.
    End { thread: PathId },
}

impl Step {
    /// What an event means for matches, if anything.
    pub fn of_event(meaning: &mut Meaning<'_>, thread: ThreadName, at: CodeIndex, event: Event) -> Option<Step> {
        let thread = thread.path;
        let by = |machine: &Machine| machine.origin(at).function;
        Some(match event {
            Event::Read { read, cell, shared: true, .. } => return meaning.access(thread, Access::Read(read), cell),
            Event::Write { definition, cell, shared: true, .. } => {
                return meaning.access(thread, Access::Write(definition), cell);
            }
            Event::Fork { child } => Step::Fork { thread, child: child.path, by: by(meaning.machine) },
            Event::Spawn { child } => Step::Spawn { thread, child: child.path },
            Event::Join => Step::Join { thread, by: by(meaning.machine) },
            Event::JoinThread { child } => Step::JoinThread { thread, child: child.path },
            Event::End { .. } => Step::End { thread },
            _ => return None,
        })
    }
}

/// What gives events their meaning.
#[derive(Clone, Debug)]
pub(crate) struct Meaning<'a> {
    machine: &'a Machine,
    universe: &'a Universe,
    binding: &'a Binding,
    cells: FxHashMap<Cell, CellNumber>,
}

impl<'a> Meaning<'a> {
    /// For a program and its accesses.
    pub fn new(machine: &'a Machine, universe: &'a Universe, binding: &'a Binding) -> Meaning<'a> {
        Meaning { machine, universe, binding, cells: FxHashMap::default() }
    }

    fn access(&mut self, thread: PathId, access: Access, cell: Cell) -> Option<Step> {
        let access = self.binding.of(access)?;
        let PlaceAccess { variable, kind, .. } = self.universe.accesses[access];
        let next = CellNumber(self.cells.len() as u32);
        let cell = *self.cells.entry(cell).or_insert(next);
        Some(Step::Access { thread, access, variable, kind, cell })
    }
}

/// The threads of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Threads {
    /// Those that have not ended, in order.
    pub alive: SmallVec<[PathId; 8]>,
    /// Forked threads that have ended, and no join is behind them yet: who has made them, and in which function.
    pub ended: SmallVec<[(PathId, PathId, FunctionId); 4]>,
    /// Who has made the forked threads that are alive, and in which function, in the order of the threads.
    pub made: SmallVec<[(PathId, PathId, FunctionId); 8]>,
}

impl Threads {
    /// Main alone.
    pub fn new(main: PathId) -> Threads {
        Threads { alive: SmallVec::from_slice(&[main]), ..Threads::default() }
    }

    /// Takes over what a step changes; gives what it makes known: to whom, and what whose knowledge.
    pub fn step(&mut self, step: &Step) -> SmallVec<[(PathId, PathId); 4]> {
        let mut told = SmallVec::new();
        match *step {
            Step::Access { .. } => {}
            Step::Fork { thread, child, by } => {
                self.begin(child);
                let place = self.made.partition_point(|made| made.0 < child);
                self.made.insert(place, (child, thread, by));
                told.push((child, thread));
            }
            Step::Spawn { thread, child } => {
                self.begin(child);
                told.push((child, thread));
            }
            Step::Join { thread, by } => {
                let is_joined =
                    |&(_, maker, function): &(PathId, PathId, FunctionId)| maker == thread && function == by;
                told.extend(self.ended.iter().filter(|one| is_joined(one)).map(|&(child, ..)| (thread, child)));
                self.ended.retain(|one| !is_joined(one));
            }
            Step::JoinThread { thread, child } => told.push((thread, child)),
            Step::End { thread } => {
                self.alive.retain(|alive| *alive != thread);
                if let Ok(place) = self.made.binary_search_by_key(&thread, |made| made.0) {
                    let made = self.made.remove(place);
                    let place = self.ended.partition_point(|&ended| ended < made);
                    self.ended.insert(place, made);
                }
            }
        }
        told
    }

    fn begin(&mut self, child: PathId) {
        if let Err(place) = self.alive.binary_search(&child) {
            self.alive.insert(place, child);
        }
    }
}

/// An access that a beginning waits for: by this thread, or by another one than the first; to this cell, or to one of
/// another variable.
pub(crate) type Awaited = (Option<PathId>, Option<CellNumber>);

/// A beginning of matches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Partial {
    pub node: NodeId,
    /// By role.
    threads: [Option<PathId>; 2],
    /// By slot, with the variable of the first one.
    cells: [Option<CellNumber>; 2],
    variable: VariableNumber,
    steps: [AccessId; MAX_LETTERS],
    length: u8,
    /// The threads that know of the last access, its own one left out, in order.
    knowing: SmallVec<[PathId; 4]>,
}

impl Partial {
    /// What it is by its accesses alone, whoever makes them where.
    pub fn prefix(&self) -> (NodeId, [AccessId; MAX_LETTERS]) {
        (self.node, self.steps)
    }

    /// The accesses so far.
    pub fn accesses(&self) -> &[AccessId] {
        &self.steps[..usize::from(self.length)]
    }

    /// The instance that ends here, if one does.
    pub fn instance(&self, trie: &Trie) -> Option<Instance> {
        trie.get(self.node).accepts.map(|pattern| Instance::new(pattern, self.accesses()))
    }

    /// Who has made the last access.
    pub fn last(&self, trie: &Trie) -> Option<PathId> {
        trie.get(self.node).last.and_then(|role| self.threads[role as usize])
    }

    /// What it waits for: accesses of a thread, or of any other one, to a cell, or to any of another variable.
    pub fn waits(&self, trie: &Trie) -> SmallVec<[Awaited; 4]> {
        let mut waits: SmallVec<[Awaited; 4]> = SmallVec::new();
        for (letter, _) in &trie.get(self.node).next {
            let awaited = (self.threads[letter.role as usize], self.cells[letter.slot as usize]);
            if !waits.contains(&awaited) {
                waits.push(awaited);
            }
        }
        waits
    }

    /// The beginnings of one access.
    pub fn begin(trie: &Trie, step: &Step, found: &mut Vec<Partial>) {
        let Step::Access { thread, access, variable, kind, cell } = *step else { return };
        for &(letter, node) in &trie.get(NodeId::ROOT).next {
            if letter.kind == kind {
                let mut steps = [AccessId(0); MAX_LETTERS];
                steps[0] = access;
                let threads = [Some(thread), None];
                let cells = [Some(cell), None];
                found.push(Partial { node, threads, cells, variable, steps, length: 1, knowing: SmallVec::new() });
            }
        }
    }

    /// Adds the beginnings that come of this one by an access.
    pub fn extend(&self, trie: &Trie, step: &Step, found: &mut Vec<Partial>) {
        let Step::Access { thread, access, variable, kind, cell } = *step else { return };
        let node = trie.get(self.node);
        for &(letter, next) in &node.next {
            let changes = node.last != Some(letter.role);
            let plays = match self.threads[letter.role as usize] {
                Some(known) => known == thread,
                None => letter.role == Role::B && self.threads[Role::A as usize] != Some(thread),
            };
            let fits = match self.cells[letter.slot as usize] {
                Some(known) => known == cell,
                None => letter.slot == Slot::Y && variable != self.variable,
            };
            if letter.kind != kind || !plays || !fits || changes && self.knowing.contains(&thread) {
                continue;
            }
            let mut longer = self.clone();
            longer.node = next;
            longer.threads[letter.role as usize] = Some(thread);
            longer.cells[letter.slot as usize] = Some(cell);
            longer.steps[usize::from(self.length)] = access;
            longer.length += 1;
            longer.knowing.clear();
            found.push(longer);
        }
    }

    /// A thread learns what another one knows.
    pub fn tell(&mut self, trie: &Trie, (thread, from): (PathId, PathId)) {
        let last = self.last(trie);
        let knows = last == Some(from) || self.knowing.contains(&from);
        if knows
            && last != Some(thread)
            && let Err(place) = self.knowing.binary_search(&thread)
        {
            self.knowing.insert(place, thread);
        }
    }

    /// Whether no thread can go on with it.
    pub fn is_hopeless(&self, trie: &Trie, alive: &[PathId]) -> bool {
        let node = trie.get(self.node);
        !node.next.iter().any(|(letter, _)| {
            let changes = node.last != Some(letter.role);
            let can = |thread: &PathId| !changes || !self.knowing.contains(thread);
            match self.threads[letter.role as usize] {
                Some(thread) => alive.contains(&thread) && can(&thread),
                None => alive.iter().any(|thread| Some(*thread) != self.threads[Role::A as usize] && can(thread)),
            }
        })
    }
}
