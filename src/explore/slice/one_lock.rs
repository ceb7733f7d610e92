//! Programs whose bodies of locks can be done one after the other.
//!
//! **Input**: a program, its unfolded graph, the accesses that race with no other one, and that no execution fails or ends blocked.
//! **Output**: the program with one lock, of which a thread holds it as long as it holds any lock of the given program, where both have the
//! same futures.
//!
//! **Algorithm**: an *outer body* goes from where a thread takes a lock, or lowers a semaphore that only those raise who have lowered it,
//! and holds no other one, to where it has given back all of them. The program is changed if
//! 1. locks, such semaphores and barriers are the only objects that it uses, and nobody tries to take a lock;
//! 2. wherever control comes, as many locks are held on all ways, and none where a thread ends;
//! 3. no lock is taken in an outer body behind one that was given back in it (two phases: Eswaran, Gray, Lorie and Traiger, "The Notions of
//!    Consistency and Predicate Locks in a Database System", 1976);
//! 4. no thread is made, waited for, or met at a barrier in an outer body;
//! 5. no two accesses race.
//!
//! **Soundness**
//! - An execution of the changed program is one of the program: no lock is held where an outer body begins, and in the body a thread waits for none
//!   but one that it holds itself, by which the program would block.
//! - Let e be an execution of the program, to its end, which is none that fails or blocks, so all bodies have ended. Let each outer body be
//!   done at the moment at which its thread takes the last lock of it; all else stays where it is. Two accesses that conflict are ordered by a
//!   chain of what is done in program order, of locks that are given back and taken, of semaphores that are raised and lowered, of barriers, forks
//!   and joins (5). Each link of it is kept: what is given back, is given back behind the moment of its body (3), and what is taken, before or at
//!   the moment of its own; barriers, forks and joins are in no body (4). So each read has the same source, and the bodies are done one after the other.
//!
//! **Limits**: not where contexts are merged or recursive, and not beside atomic blocks. Hand over hand has no two phases. A function that takes
//! a lock and is called with and without another one is not changed either.

use super::short_locks::{gives_back, takes};
use super::{tells_bodies_apart, without_operations};
use cssame_concurrency::lockset::find_units_held;
use cssame_concurrency::{Concurrency, Event, EventKind, LocationId, forward};
use cssame_ir::sync::{Kind, ObjectKind, Synchronisation};
use cssame_ir::{
    Access, Base, Instruction, Leaf, LeafId, LeafKind, Place, Program, Storage, Type, Value, Variable, VariableId,
};
use cssame_vm::Origin;
use rustc_hash::{FxHashMap, FxHashSet};

/// Locks that may be held at a time; programs with more are left as they are.
const MOST_HELD: u32 = 64;

/// How many locks a thread holds, and whether it has given back some of the outer body; as the sets of [`forward`], of which the empty one is
/// that in which none is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Depth {
    held: u32,
    gives_back: bool,
}

impl Depth {
    /// Stands for what must not be.
    const WRONG: u32 = u32::MAX;

    fn number(self) -> u32 {
        2 * self.held + u32::from(self.gives_back)
    }

    fn of(number: u32) -> Depth {
        Depth { held: number / 2, gives_back: number % 2 == 1 }
    }

    /// That behind an event; `None` for what must not be.
    fn behind(self, event: &Event) -> Option<Depth> {
        match event.kind {
            EventKind::Synchronise(kind) if takes(kind) => {
                let held = self.held + 1;
                (!self.gives_back && held < MOST_HELD).then_some(Depth { held, gives_back: false })
            }
            EventKind::Synchronise(kind) if gives_back(kind) => {
                let held = self.held.checked_sub(1)?;
                Some(Depth { held, gives_back: held > 0 })
            }
            EventKind::Read(_) | EventKind::Write(_) | EventKind::Update { .. } => Some(self),
            _ => (self.held == 0).then_some(self),
        }
    }
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Begins,
    Inner,
    Ends,
}

/// The program with one lock, if it can have one and has more, or semaphores. That no execution of it fails or ends blocked is to be asked
/// besides.
pub(crate) fn with_one_lock(program: &Program, concurrency: &Concurrency, race_free: &[Access]) -> Option<Program> {
    if !tells_bodies_apart(concurrency)
        || !uses_locks_alone(program, concurrency)
        || !is_race_free(concurrency, race_free)
    {
        return None;
    }
    let parts = parts(program, concurrency)?;
    let is_inner = |part: &(&Origin, &Part)| *part.1 == Part::Inner;
    let inner: FxHashSet<Origin> = parts.iter().filter(is_inner).map(|(&at, _)| at).collect();
    let mut changed = program.clone();
    let lock = add_lock(&mut changed)?;
    for (&Origin { function, block, instruction }, part) in &parts {
        let kind = match part {
            Part::Begins => Kind::Lock,
            Part::Ends => Kind::Unlock,
            Part::Inner => continue,
        };
        let place = Place { base: Base::Global(lock), offset: 0, indices: Vec::new() };
        let instructions = &mut changed.functions[function].blocks[block].instructions;
        instructions[instruction as usize] = Instruction::Synchronise(Synchronisation::on(kind, place));
    }
    Some(without_operations(&changed, &inner))
}

/// Point 1, and that there is more than one lock, or a semaphore.
fn uses_locks_alone(program: &Program, concurrency: &Concurrency) -> bool {
    let units = find_units_held(program, concurrency).mutex_semaphores;
    let mut locks: FxHashSet<LocationId> = FxHashSet::default();
    let mut has_semaphores = false;
    for event in &concurrency.events {
        let EventKind::Synchronise(kind) = event.kind else { continue };
        let meant = concurrency.locations_of(event);
        match kind {
            Kind::Barrier => {}
            Kind::Lock | Kind::Unlock => locks.extend(meant),
            Kind::Acquire | Kind::Release => {
                has_semaphores = true;
                if !concurrency.certain(program, meant).is_some_and(|semaphore| units.contains(&semaphore)) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    let is_plain = |lock: &LocationId| program.leaves[concurrency.locations[*lock].leaf].kind == LeafKind::Lock;
    locks.iter().all(is_plain) && (locks.len() > 1 || has_semaphores)
}

/// Point 5.
fn is_race_free(concurrency: &Concurrency, race_free: &[Access]) -> bool {
    let known: FxHashSet<Access> = race_free.iter().copied().collect();
    let races_not = |event: &Event| match event.kind {
        EventKind::Read(read) => !concurrency.sharing.read(read) || known.contains(&Access::Read(read)),
        EventKind::Write(write) => !concurrency.sharing.definition(write) || known.contains(&Access::Write(write)),
        EventKind::Update { .. } => false,
        _ => true,
    };
    concurrency.events.iter().all(races_not)
}

/// Points 2 to 4: what becomes of each operation on locks.
fn parts(program: &Program, concurrency: &Concurrency) -> Option<FxHashMap<Origin, Part>> {
    let behind = |_: &mut (), before, block| {
        let events = concurrency.events_of(block).iter();
        let mut depth = (before != Depth::WRONG).then(|| Depth::of(before));
        events.for_each(|event| depth = depth.and_then(|depth| depth.behind(event)));
        depth.map_or(Depth::WRONG, Depth::number)
    };
    let meet = |_: &mut (), one, other| match (Depth::of(one), Depth::of(other)) {
        _ if one == other => one,
        (one, other) if one.held == other.held => Depth { gives_back: true, ..one }.number(),
        _ => Depth::WRONG,
    };
    let at_entry = forward::solve(concurrency, &mut (), behind, meet);
    let ends = concurrency.threads.iter().map(|thread| concurrency.contexts[thread.root].exit);
    if ends.into_iter().any(|exit| at_entry[exit as usize].is_some_and(|depth| depth != 0)) {
        return None;
    }
    let mut parts = FxHashMap::default();
    for block in 0..concurrency.blocks.len() as u32 {
        let Some(depth) = at_entry[block as usize] else { continue };
        let mut depth = (depth != Depth::WRONG).then(|| Depth::of(depth))?;
        let of = concurrency.blocks[block as usize];
        let function = concurrency.contexts[of.context].function;
        for (position, instruction, events) in concurrency.instructions_of(program, block) {
            let mut after = depth;
            for event in &concurrency.events[events.start as usize..events.end as usize] {
                after = after.behind(event)?;
            }
            let is_barrier = |of: &Synchronisation| of.kind.is_on(ObjectKind::Barrier);
            if let (Instruction::Synchronise(operation), Some(source)) = (instruction, of.source)
                && !is_barrier(operation)
            {
                let part = match (depth.held, after.held) {
                    (0, _) => Part::Begins,
                    (_, 0) => Part::Ends,
                    _ => Part::Inner,
                };
                let at = Origin { function, block: source, instruction: position };
                if *parts.entry(at).or_insert(part) != part {
                    return None;
                }
            }
            depth = after;
        }
    }
    Some(parts)
}

/// Adds a lock to the globals of a program; it has the name of some lock or semaphore of it.
fn add_lock(program: &mut Program) -> Option<VariableId> {
    let is_one = |leaf: &&Leaf| matches!(leaf.kind, LeafKind::Lock | LeafKind::Semaphore);
    let &Leaf { name, symbol, variable: known, .. } = program.leaves.iter().find(is_one)?;
    let (leaf, variable) = (LeafId::new(program.leaves.len()), VariableId::new(program.variables.len()));
    let (kind, initial) = (LeafKind::Lock, vec![Value::Int(0)]);
    let (dimensions, initial_definition) = (Vec::new(), None);
    program.leaves.push(Leaf { variable, name, symbol, offset: 0, dimensions, kind, initial, initial_definition });
    let span = program.variables[known].span;
    let (storage, ty) = (Storage::Global, Type::Single(kind));
    Some(program.variables.push(Variable { name, span, storage, ty, first_leaf: leaf, leaf_count: 1, size: 1 }))
}
