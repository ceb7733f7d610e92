//! Semaphores that are locks.
//!
//! **Input**: a program and its unfolded graph. **Output**: the program in which semaphores that work as locks are locks.
//!
//! **Algorithm**: a declared semaphore, with all elements of its array, becomes a lock if it begins with 1, every operation that may
//! mean it means one certain element of it, and only threads raise it that have lowered it ([`find_locksets`]).
//!
//! **Soundness**: such a semaphore is 0 while a thread has lowered and not yet raised it, else 1; so to lower and to raise it are
//! possible when taking and giving back the lock are, do the same, and block at the same places. A thread that ends between them
//! leaves both taken.

use super::{drop_those_beside_others, leaves_by_operation, tells_bodies_apart};
use cssame_concurrency::Concurrency;
use cssame_concurrency::lockset::find_locksets;
use cssame_ir::sync::{Kind, ObjectKind};
use cssame_ir::{Instruction, LeafId, LeafKind, Program, Value};
use cssame_vm::Origin;
use rustc_hash::{FxHashMap, FxHashSet};

/// The program with locks for the semaphores that are such, if there are any. Instructions stay where they are.
pub(crate) fn with_locks_for_semaphores(program: &Program, concurrency: &Concurrency) -> Option<Program> {
    let is_on_semaphore = |kind: Kind| kind.is_on(ObjectKind::Semaphore);
    let is_semaphore = |leaf: LeafId| program.leaves[leaf].kind == LeafKind::Semaphore;
    if !concurrency.events.iter().any(|event| event.kind.synchronisation().is_some_and(is_on_semaphore))
        || !tells_bodies_apart(concurrency)
    {
        return None;
    }
    let mutexes = find_locksets(program, concurrency).mutex_semaphores;
    let leaf = |location| concurrency.locations[location].leaf;
    let mut locks: FxHashSet<LeafId> =
        mutexes.iter().map(|&mutex| leaf(mutex)).filter(|&leaf| is_semaphore(leaf)).collect();
    let begins_with_one = |leaf: &LeafId| {
        let leaf = &program.leaves[*leaf];
        let given = leaf.initial.iter().all(|initial| *initial == Value::Int(1));
        given && leaf.initial.len() == leaf.element_count() as usize
    };
    locks.retain(begins_with_one);
    for event in &concurrency.events {
        if event.kind.synchronisation().is_some_and(is_on_semaphore) {
            let meant = concurrency.locations_of(event);
            if !concurrency.certain(program, meant).is_some_and(|certain| mutexes.contains(&certain)) {
                meant.iter().for_each(|&location| {
                    locks.remove(&leaf(location));
                });
            }
        }
    }
    let operations = leaves_by_operation(program, concurrency);
    drop_those_beside_others(&mut locks, operations.values());
    (!locks.is_empty()).then(|| changed(program, &operations, &locks))
}

/// The program in which semaphores are locks.
fn changed(program: &Program, operations: &FxHashMap<Origin, Vec<LeafId>>, locks: &FxHashSet<LeafId>) -> Program {
    let mut changed = program.clone();
    for &lock in locks {
        changed.leaves[lock].kind = LeafKind::Lock;
        changed.leaves[lock].initial.iter_mut().for_each(|initial| *initial = Value::Int(0));
    }
    for (&Origin { function, block, instruction }, meant) in operations {
        if !meant.first().is_some_and(|leaf| locks.contains(leaf)) {
            continue;
        }
        let instructions = &mut changed.functions[function].blocks[block].instructions;
        if let Some(Instruction::Synchronise(operation)) = instructions.get_mut(instruction as usize) {
            operation.kind = if operation.kind == Kind::Acquire { Kind::Lock } else { Kind::Unlock };
        }
    }
    changed
}
