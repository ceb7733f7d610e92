//! Bodies of locks that only read: they need not exclude each other.
//!
//! **Input**: a program and its unfolded graph. **Output**: the program in which locks with such bodies are readers-writer locks,
//! and these bodies are readers.
//!
//! **Algorithm**
//! 1. A lock may become a readers-writer lock if it is only taken and released: no thread tries to take it, and no thread waits
//!    for a condition with it. If an operation may refer to several locks, they become readers-writer locks only together.
//! 2. The body of such a lock *only reads* under three conditions. From the acquisition, on all paths to the release, there is
//!    only local work and reads. No path contains a cycle. Every write that may change the read data in parallel is in a body of
//!    the same lock.
//! 3. An operation takes a lock for reading if all bodies that it begins only read, in every thread.
//!
//! **Soundness**: an execution of the program is one of the changed program. In an execution of the changed program, reading
//! bodies may overlap. During such a body, no thread writes the data that it reads (2). So it could as well have run at one
//! moment, and then it overlaps with none. It waits for nothing, and no thread keeps a read lock for ever. So both programs have
//! the same reads from the same writes, and the same threads end, or are blocked at the same places.
//!
//! **Limits**: the module does not apply to merged or recursive contexts, or in programs with atomic blocks. Re-entrant locks are
//! left unchanged.

use super::bodies::{LockBodies, Wanted};
use super::{drop_those_beside_others, leaves_by_operation, tells_bodies_apart};
use cssame_concurrency::{Concurrency, LocationId};
use cssame_ir::sync::Kind;
use cssame_ir::{Instruction, LeafId, LeafKind, Program};
use cssame_vm::Origin;
use rustc_hash::{FxHashMap, FxHashSet};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct ReadingBodies {
    /// The locks that become readers-writer locks.
    locks: FxHashSet<LeafId>,
    /// All operations on them, and whether each of these takes its lock for reading.
    operations: FxHashMap<Origin, bool>,
}

impl ReadingBodies {
    /// Those of a program, if there are any.
    pub(crate) fn find(program: &Program, concurrency: &Concurrency) -> Option<ReadingBodies> {
        if !tells_bodies_apart(program, concurrency) {
            return None;
        }
        let locks = locks(program, concurrency);
        if locks.is_empty() {
            return None;
        }
        let nothing = FxHashSet::default();
        let operations = operations(&mut LockBodies::new(program, concurrency, &nothing), &locks);
        operations.values().any(|&reads| reads).then_some(ReadingBodies { locks, operations })
    }

    /// The changed program. Instructions stay where they are.
    pub(crate) fn changed_program(&self, program: &Program) -> Program {
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
    for event in &concurrency.events {
        let Some(kind) = event.kind.synchronisation() else { continue };
        if !matches!(kind, Kind::Lock | Kind::Unlock) {
            let meant = concurrency.locations_of(event).iter().chain(concurrency.locks_of(event));
            meant.for_each(|&lock| {
                locks.remove(&concurrency.locations[lock].leaf);
            });
        }
    }
    drop_those_beside_others(&mut locks, leaves_by_operation(program, concurrency).values());
    locks
}

/// Steps 2 and 3: the operations on these locks.
fn operations(bodies: &mut LockBodies<'_>, locks: &FxHashSet<LeafId>) -> FxHashMap<Origin, bool> {
    let LockBodies { program, concurrency, .. } = *bodies;
    let mut operations: FxHashMap<Origin, bool> = FxHashMap::default();
    for (origin, place, operation, event) in bodies.operations() {
        let meant = concurrency.locations_of(event);
        let is_one = |&lock: &LocationId| locks.contains(&concurrency.locations[lock].leaf);
        if meant.is_empty() || !meant.iter().all(is_one) {
            continue;
        }
        let lock = concurrency.certain(program, meant).filter(|_| operation.kind == Kind::Lock);
        let reads = lock.is_some_and(|lock| bodies.behind(place, lock, Wanted::ReadsOnly));
        operations.entry(origin).and_modify(|all| *all &= reads).or_insert(reads);
    }
    operations
}
