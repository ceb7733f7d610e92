//! Bodies of locks that only read: they need not exclude one another.
//!
//! **Input**: a program and its unfolded graph. **Output**: the program in which locks with such bodies are readers-writer locks,
//! and these bodies read.
//!
//! **Algorithm**
//! 1. A lock may become a readers-writer lock if all that is ever done with it is to take it and to give it back: nobody tries to
//!    take it, and nobody waits for a condition with it. A lock that an operation may mean beside others becomes one only with those.
//! 2. The body of such a lock *only reads* if from where it is taken, on all ways to where it is given back, there is nothing but
//!    local work and reads, no way goes round, and of what is read each write that may come in parallel is in a body of the same lock.
//! 3. An operation takes a lock for reading if all bodies that it begins only read, whoever does it.
//!
//! **Soundness**: an execution of the program is one of the changed program. In an execution of that, bodies that read may overlap.
//! While one lasts, nobody writes what it reads (2), so it could as well have been done at one moment, and then it overlaps with none.
//! It waits for nothing, and no thread keeps a lock for reading for ever. So both programs have the same reads from the same writes,
//! and the same threads end, or are blocked at the same places.
//!
//! **Limits**: not where contexts are merged or recursive, and not beside atomic blocks. Re-entrant locks are left as they are.

use super::tells_bodies_apart;
use crate::concurrency::lockset::{LocksetId, Locksets, find_locksets, hold_of};
use crate::concurrency::{ClassId, Concurrency, Event, EventKind, InstanceId, LocationId};
use crate::ir::sync::{Kind, Mode};
use crate::ir::{Instruction, LeafId, LeafKind, Program};
use crate::vm::Origin;
use rustc_hash::{FxHashMap, FxHashSet};

/// Different writes to one part of memory beyond which it counts as written without locks.
const MAX_WRITES: usize = 1_000;

/// Blocks of one body beyond which it counts as one that writes.
const MAX_BLOCKS: usize = 1_000;

/// See the module.
#[derive(Clone, Debug)]
pub(in crate::explore) struct ReadingBodies {
    /// The locks that become readers-writer locks.
    locks: FxHashSet<LeafId>,
    /// All operations on them, and whether each of these takes its lock for reading.
    operations: FxHashMap<Origin, bool>,
}

impl ReadingBodies {
    /// Those of a program, if there are any.
    pub(in crate::explore) fn find(program: &Program, concurrency: &Concurrency) -> Option<ReadingBodies> {
        if !tells_bodies_apart(concurrency) {
            return None;
        }
        let locks = locks(program, concurrency);
        if locks.is_empty() {
            return None;
        }
        let locksets = find_locksets(program, concurrency);
        let writes = FxHashMap::default();
        let mut search = Search { program, concurrency, locksets, writes };
        search.note_writes();
        let operations = search.operations(&locks);
        operations.values().any(|&reads| reads).then_some(ReadingBodies { locks, operations })
    }

    /// The changed program. Instructions stay where they are.
    pub(in crate::explore) fn changed_program(&self, program: &Program) -> Program {
        let mut changed = program.clone();
        for &lock in &self.locks {
            changed.leaves[lock].kind = LeafKind::RwLock;
        }
        for (&Origin { function, block, instruction }, &reads) in &self.operations {
            let instructions = &mut changed.functions[function].blocks[block].instructions;
            if let Some(Instruction::Synchronise(operation)) = instructions.get_mut(instruction as usize) {
                operation.kind = match operation.kind {
                    Kind::Unlock => Kind::UnlockRw,
                    _ if reads => Kind::ReadLock,
                    _ => Kind::WriteLock,
                };
            }
        }
        changed
    }
}

/// Step 1.
fn locks(program: &Program, concurrency: &Concurrency) -> FxHashSet<LeafId> {
    let kinds = program.leaves.entries().filter(|(_, leaf)| leaf.kind == LeafKind::Lock);
    let mut locks: FxHashSet<LeafId> = kinds.map(|(leaf, _)| leaf).collect();
    let mut sets: FxHashSet<Vec<LeafId>> = FxHashSet::default();
    for event in &concurrency.events {
        let Some(kind) = event.kind.synchronisation() else { continue };
        let leaf = |&lock: &LocationId| concurrency.locations[lock].leaf;
        let mut meant: Vec<LeafId> = concurrency.locations_of(event).iter().map(leaf).collect();
        if matches!(kind, Kind::Lock | Kind::Unlock) {
            meant.sort_unstable();
            meant.dedup();
            sets.insert(meant);
        } else {
            meant.extend(concurrency.locks_of(event).iter().map(leaf));
            meant.iter().for_each(|lock| {
                locks.remove(lock);
            });
        }
    }
    loop {
        let before = locks.len();
        for meant in &sets {
            if meant.iter().any(|lock| !locks.contains(lock)) {
                meant.iter().for_each(|lock| {
                    locks.remove(lock);
                });
            }
        }
        if locks.len() == before {
            return locks;
        }
    }
}

/// A write, as far as it matters who writes while a body reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Write {
    /// An element, or any.
    element: Option<u32>,
    class: ClassId,
    /// What is held for certain.
    held: LocksetId,
}

/// How far a body goes on in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// It is left there.
    End,
    /// To what comes behind the block.
    Successors,
    /// To something that is no read.
    More,
}

struct Search<'a> {
    program: &'a Program,
    concurrency: &'a Concurrency,
    locksets: Locksets,
    writes: FxHashMap<(InstanceId, LeafId), FxHashSet<Write>>,
}

impl Search<'_> {
    fn note_writes(&mut self) {
        let (program, concurrency) = (self.program, self.concurrency);
        for block in 0..concurrency.blocks.len() as u32 {
            let Some(mut held) = self.locksets.at_entry(block) else { continue };
            let class = concurrency.classes[block as usize];
            for event in concurrency.events_of(block) {
                if matches!(event.kind, EventKind::Write(_) | EventKind::Update { .. }) {
                    for &location in concurrency.locations_of(event) {
                        let location = &concurrency.locations[location];
                        let of = self.writes.entry((location.instance, location.leaf)).or_default();
                        if of.len() <= MAX_WRITES {
                            of.insert(Write { element: location.element, class, held });
                        }
                    }
                }
                held = Locksets::step(&mut self.locksets, program, concurrency, held, event);
            }
        }
    }

    /// Steps 2 and 3: the operations on these locks.
    fn operations(&self, locks: &FxHashSet<LeafId>) -> FxHashMap<Origin, bool> {
        let concurrency = self.concurrency;
        let mut operations: FxHashMap<Origin, bool> = FxHashMap::default();
        for block in 0..concurrency.blocks.len() as u32 {
            let of = concurrency.blocks[block as usize];
            let (function, Some(source)) = (concurrency.contexts[of.context].function, of.source) else { continue };
            for (position, instruction, events) in concurrency.instructions_of(self.program, block) {
                let Instruction::Synchronise(operation) = instruction else { continue };
                let Some(event) = concurrency.events.get(events.start as usize) else { continue };
                let meant = concurrency.locations_of(event);
                let is_one = |&lock: &LocationId| locks.contains(&concurrency.locations[lock].leaf);
                if meant.is_empty() || !meant.iter().all(is_one) {
                    continue;
                }
                let reads = operation.kind == Kind::Lock
                    && concurrency
                        .certain(self.program, meant)
                        .is_some_and(|lock| self.only_reads((block, position), lock));
                let origin = Origin { function, block: source, instruction: position };
                operations.entry(origin).and_modify(|all| *all &= reads).or_insert(reads);
            }
        }
        operations
    }

    /// Step 2 for the body behind the operation at that place, which takes the lock.
    fn only_reads(&self, (first, position): (u32, u32), lock: LocationId) -> bool {
        let reached = self.follow(first, Some(position), lock);
        if reached != Reached::Successors {
            return reached == Reached::End;
        }
        // Depth first: blocks that are open are on the way to the one that is looked at.
        let successors = |block| self.concurrency.local.successors(block).iter().map(|&next| (next, false));
        let mut open: FxHashSet<u32> = FxHashSet::from_iter([first]);
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut work: Vec<(u32, bool)> = successors(first).collect();
        if work.is_empty() {
            return false;
        }
        while let Some((block, is_left)) = work.pop() {
            if is_left {
                open.remove(&block);
                continue;
            }
            if open.contains(&block) || seen.len() >= MAX_BLOCKS {
                return false;
            }
            if !seen.insert(block) {
                continue;
            }
            match self.follow(block, None, lock) {
                Reached::End => {}
                Reached::Successors if !self.concurrency.local.successors(block).is_empty() => {
                    open.insert(block);
                    work.push((block, true));
                    work.extend(successors(block));
                }
                Reached::Successors | Reached::More => return false,
            }
        }
        true
    }

    /// How far a body goes on in a block, from the begin, or from behind an instruction.
    fn follow(&self, block: u32, behind: Option<u32>, lock: LocationId) -> Reached {
        let concurrency = self.concurrency;
        for (position, instruction, events) in concurrency.instructions_of(self.program, block) {
            if behind.is_some_and(|behind| position <= behind) {
                continue;
            }
            let events = &concurrency.events[events.start as usize..events.end as usize];
            match instruction {
                Instruction::Synchronise(operation) => {
                    let is_end = operation.kind == Kind::Unlock
                        && events.first().and_then(|event| concurrency.certain_location(self.program, event))
                            == Some(lock);
                    return if is_end { Reached::End } else { Reached::More };
                }
                Instruction::Load { .. } => {
                    if !events.iter().all(|event| self.is_guarded(block, event, lock)) {
                        return Reached::More;
                    }
                }
                Instruction::Store { definition, .. } if !concurrency.sharing.definition(*definition) => {}
                Instruction::Copy { .. }
                | Instruction::Unary { .. }
                | Instruction::Binary { .. }
                | Instruction::Address { .. }
                | Instruction::Allocate { .. }
                | Instruction::Print { .. }
                | Instruction::Assert { .. }
                | Instruction::Error { .. }
                | Instruction::Call { .. } => {}
                Instruction::Store { .. }
                | Instruction::Atomic { .. }
                | Instruction::Choose { .. }
                | Instruction::Assume { .. }
                | Instruction::Fork { .. }
                | Instruction::Join
                | Instruction::Spawn { .. }
                | Instruction::JoinThread { .. }
                | Instruction::AtomicBegin
                | Instruction::AtomicEnd => return Reached::More,
            }
        }
        Reached::Successors
    }

    /// Whether each write of what is read that may come in parallel is in a body of the lock.
    fn is_guarded(&self, block: u32, event: &Event, lock: LocationId) -> bool {
        let concurrency = self.concurrency;
        let class = concurrency.classes[block as usize];
        concurrency.locations_of(event).iter().all(|&location| {
            let location = &concurrency.locations[location];
            let Some(writes) = self.writes.get(&(location.instance, location.leaf)) else { return true };
            let is_same = |write: &Write| location.element.zip(write.element).is_none_or(|(one, other)| one == other);
            let is_in_body = |write: &Write| {
                let hold = hold_of(self.locksets.locks(write.held), lock);
                hold.is_some_and(|hold| hold.mode == Mode::Exclusive)
            };
            writes.len() <= MAX_WRITES
                && writes.iter().all(|write| {
                    !is_same(write) || !concurrency.parallel_classes(class, write.class) || is_in_body(write)
                })
        })
    }
}
