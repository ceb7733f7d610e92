//! Locks whose order is not observable.
//!
//! **Input**: a program and its unfolded graph. **Output**: [`UnobservedLocks`]: the operations that take and release
//! *unobserved* locks, and the program without them.
//!
//! **Algorithm**: a [short lock](super::short_locks) is unobserved if
//! 1. a thread that may hold it executes only local work that cannot fail and prints nothing, calls, accesses to cells without a
//!    conflicting parallel access, and operations that take or release locks;
//! 2. no thread releases it that may not hold it, or that names it by an index that may be out of range;
//! 3. no loop can run while it is held;
//! 4. no operation on it may, elsewhere, refer to a lock that is not unobserved;
//! 5. its bodies take only unobserved locks, which were found before.
//!
//! **Soundness**: let s be a state, and e an execution from s. Remove all operations on unobserved locks from e. The accesses in
//! their bodies have no conflict with any parallel access (1), so a thread that has begun a body may execute all of it at once,
//! as soon as it stands at it:
//! - In s, some threads are in bodies. One of them can always continue: each waits only for unobserved locks (1, 5), and each of
//!   these was found before the locks that the waiting thread holds (5). So one after the other leaves its body (3), since none
//!   fails (1, 2).
//! - From then on, all unobserved locks are free whenever no thread is in a body, and each thread executes its next body at once.
//!
//! The resulting execution has the same reads from the same writes, prints, failures, and blocked threads as e, since blocked
//! threads wait outside all such bodies (1). So an execution of the program without the operations is an execution of the
//! program. In a state in which a thread is about to take a free unobserved lock, that thread may go first.
//!
//! If executions are only counted, a body may have one access of the other kind on each path through it
//! ([`UnobservedLocks::find_with_single_accesses`]): the rest of the body can be executed directly next to that access, if it
//! releases no lock that was taken before. States need the lock then: while a thread is in the body, others may come first.
//!
//! A loop that only has operations on unobserved locks has no step in the program without them. There it is local work, and
//! exceeds a limit of the machine where the whole program continues. So an execution that ends in this way shows nothing about
//! the program.
//!
//! **Limits**: the module does not apply to merged or recursive contexts, or in programs with atomic blocks. A lock that protects
//! data which its threads share is observed.

use super::relevance::{may_fail, may_miss};
use super::short_locks::{Bodies, gives_back, takes};
use super::{tells_bodies_apart, without_operations};
use cssame_concurrency::lockset::{LocksetId, Locksets, find_units_held, holds_lock};
use cssame_concurrency::{ClassId, Concurrency, Event, EventKind, InstanceId, LocationId};
use cssame_ir::sync::Kind;
use cssame_ir::{BlockId, FunctionId, Instruction, LeafId, Operand, Place, Program};
use cssame_vm::Origin;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// Different accesses to one part of memory beyond which it counts as accessed in conflict.
const MAX_ACCESSES: usize = 1_000;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnobservedLocks {
    /// All operations on them.
    pub(crate) operations: FxHashSet<Origin>,
}

impl UnobservedLocks {
    /// Those of a program, if there are any.
    pub(crate) fn find(program: &Program, concurrency: &Concurrency) -> Option<UnobservedLocks> {
        UnobservedLocks::find_of(program, concurrency, Conflicts::None)
    }

    /// The same with locks whose bodies have one access at most with which others may conflict.
    pub(crate) fn find_with_single_accesses(program: &Program, concurrency: &Concurrency) -> Option<UnobservedLocks> {
        UnobservedLocks::find_of(program, concurrency, Conflicts::One)
    }

    fn find_of(program: &Program, concurrency: &Concurrency, allowed: Conflicts) -> Option<UnobservedLocks> {
        let takes_lock = |event: &Event| event.kind.synchronisation().is_some_and(takes);
        if !tells_bodies_apart(program, concurrency) || !concurrency.events.iter().any(takes_lock) {
            return None;
        }
        let locksets = find_units_held(program, concurrency);
        let bodies = Bodies::of(program, concurrency, &locksets)?;
        if bodies.short().is_clear() {
            return None;
        }
        let accesses = Accesses::of(concurrency);
        let (operations, conflicts) = (FxHashMap::default(), FxHashSet::default());
        let mut search = Search { program, concurrency, bodies, accesses, locksets, allowed, operations, conflicts };
        search.look_through();
        search.exclude_second_conflicts();
        search.exclude_loops();
        let operations = search.operations();
        (!operations.is_empty()).then_some(UnobservedLocks { operations })
    }

    /// Where instructions of the program are in the one without the operations.
    pub(crate) fn places_without(&self, places: &FxHashSet<Origin>) -> FxHashSet<Origin> {
        let mut taken: FxHashMap<(FunctionId, BlockId), Vec<u32>> = FxHashMap::default();
        for &Origin { function, block, instruction } in &self.operations {
            taken.entry((function, block)).or_default().push(instruction);
        }
        let kept = places.difference(&self.operations);
        let moved = |&Origin { function, block, instruction }: &Origin| {
            let taken = taken.get(&(function, block)).map_or(&[][..], Vec::as_slice);
            let before = taken.iter().filter(|&&place| place < instruction).count();
            Origin { function, block, instruction: instruction - before as u32 }
        };
        kept.map(moved).collect()
    }

    /// The program without the operations.
    pub(crate) fn program_without(&self, program: &Program) -> Program {
        without_operations(program, &self.operations)
    }
}

/// Which accesses there are to each part of memory.
struct Accesses {
    parts: FxHashMap<(InstanceId, LeafId), FxHashSet<Access>>,
}

/// An access, as far as it matters whether others conflict with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Access {
    /// An element, or any.
    element: Option<u32>,
    writes: bool,
    class: ClassId,
}

/// Whether an event accesses memory, and if so, whether it writes.
fn writes(event: &Event) -> Option<bool> {
    match event.kind {
        EventKind::Read(_) => Some(false),
        EventKind::Write(_) | EventKind::Update { .. } => Some(true),
        _ => None,
    }
}

impl Accesses {
    fn of(concurrency: &Concurrency) -> Accesses {
        let mut parts: FxHashMap<_, FxHashSet<Access>> = FxHashMap::default();
        for block in 0..concurrency.blocks.len() as u32 {
            let class = concurrency.classes[block as usize];
            for event in concurrency.events_of(block) {
                let Some(writes) = writes(event) else { continue };
                for &location in concurrency.locations_of(event) {
                    let location = &concurrency.locations[location];
                    let of = parts.entry((location.instance, location.leaf)).or_default();
                    if of.len() <= MAX_ACCESSES {
                        of.insert(Access { element: location.element, writes, class });
                    }
                }
            }
        }
        Accesses { parts }
    }

    /// Whether an access of a block to a location has no conflict with one that may be in parallel.
    fn is_alone(&self, concurrency: &Concurrency, block: u32, location: LocationId, writes: bool) -> bool {
        let location = &concurrency.locations[location];
        let Some(others) = self.parts.get(&(location.instance, location.leaf)) else { return false };
        let class = concurrency.classes[block as usize];
        let is_same = |other: &Access| location.element.zip(other.element).is_none_or(|(one, other)| one == other);
        others.len() <= MAX_ACCESSES
            && !others.iter().any(|other| {
                (writes || other.writes) && is_same(other) && concurrency.parallel_classes(class, other.class)
            })
    }
}

/// What an operation on locks may mean.
#[derive(Default)]
struct Meaning {
    locks: Vec<usize>,
    /// Whether it may mean something else.
    others: bool,
}

/// How many accesses a body may have, on each way through it, with which others may conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conflicts {
    None,
    One,
}

struct Search<'a> {
    program: &'a Program,
    concurrency: &'a Concurrency,
    bodies: Bodies<'a>,
    accesses: Accesses,
    locksets: Locksets,
    allowed: Conflicts,
    operations: FxHashMap<Origin, Meaning>,
    /// Where bodies have such accesses: blocks, and instructions in them.
    conflicts: FxHashSet<(u32, u32)>,
}

/// An instruction in a context, with its events, and what is held before it for certain.
struct At<'e> {
    block: u32,
    operation: Origin,
    instruction: &'e Instruction,
    events: &'e [Event],
    certainly: Option<LocksetId>,
}

impl Search<'_> {
    /// Points 1 and 2.
    fn look_through(&mut self) {
        let (program, concurrency) = (self.program, self.concurrency);
        for block in 0..concurrency.blocks.len() as u32 {
            let Some(mut held) = self.bodies.at_entry(block).cloned() else { continue };
            let mut certainly = self.locksets.at_entry(block);
            let of = concurrency.blocks[block as usize];
            let (function, Some(source)) = (concurrency.contexts[of.context].function, of.source) else { continue };
            for (position, instruction, events) in concurrency.instructions_of(program, block) {
                let events = &concurrency.events[events.start as usize..events.end as usize];
                let operation = Origin { function, block: source, instruction: position };
                let at = At { block, operation, instruction, events, certainly };
                if !self.is_harmless(&at, &held) {
                    self.bodies.long.union_with(&held);
                }
                for event in events {
                    self.bodies.step(&mut held, event);
                    certainly =
                        certainly.map(|set| Locksets::step(&mut self.locksets, program, concurrency, set, event));
                }
            }
        }
    }

    /// Whether whoever holds an unobserved lock may do that.
    fn is_harmless(&mut self, at: &At<'_>, held: &FixedBitSet) -> bool {
        match at.instruction {
            Instruction::Synchronise(operation) => match (operation.kind, operation.object.as_ref(), at.events) {
                (kind, Some(place), [event]) if takes(kind) || gives_back(kind) => {
                    if gives_back(kind) {
                        self.exclude_hand_over_hand(held, event);
                    }
                    self.note_lock(at, kind, place, event)
                }
                _ => false,
            },
            _ if held.is_clear() => true,
            Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Atomic { place, .. } => {
                self.is_harmless_access(at, place)
            }
            Instruction::Copy { .. }
            | Instruction::Unary { .. }
            | Instruction::Binary { .. }
            | Instruction::Address { .. }
            | Instruction::Call { .. } => !may_fail(at.instruction),
            _ => false,
        }
    }

    /// Whether whoever holds an unobserved lock may access that place, perhaps once for each time that it takes the lock.
    fn is_harmless_access(&mut self, at: &At<'_>, place: &Place) -> bool {
        let concurrency = self.concurrency;
        let mut conflicts = 0;
        for event in at.events {
            let locations = concurrency.locations_of(event);
            if locations.is_empty() || !self.is_in_range(place, locations) {
                return false;
            }
            let writes = writes(event).unwrap_or(true);
            let is_alone = |&location: &LocationId| self.accesses.is_alone(concurrency, at.block, location, writes);
            conflicts += usize::from(!locations.iter().all(is_alone));
        }
        let is_single = conflicts == 1 && self.allowed == Conflicts::One;
        if is_single {
            self.conflicts.insert((at.block, at.operation.instruction));
        }
        conflicts == 0 || is_single
    }

    /// An operation on a lock; what it means for its own lock is noted here.
    fn note_lock(&mut self, at: &At<'_>, kind: Kind, place: &Place, event: &Event) -> bool {
        let locations = self.concurrency.locations_of(event);
        let meaning = self.operations.entry(at.operation).or_default();
        let Some(lock) = self.bodies.lock(locations) else {
            meaning.others = true;
            return takes(kind);
        };
        if !meaning.locks.contains(&lock) {
            meaning.locks.push(lock);
        }
        let holds = |set| holds_lock(self.locksets.locks(set), locations[0]);
        let is_held = takes(kind) || at.certainly.is_some_and(holds);
        if !is_held || !self.is_in_range(place, locations) {
            self.bodies.long.insert(lock);
        }
        is_held
    }

    /// Whoever gives back the outer one of two locks while it keeps the inner one lets others into bodies of the outer one, who cannot come
    /// into those of the inner one before it has left its own: so an access in its body must not count as all that there is of it.
    fn exclude_hand_over_hand(&mut self, held: &FixedBitSet, event: &Event) {
        let given_back = self.bodies.lock(self.concurrency.locations_of(event));
        if self.allowed == Conflicts::One {
            let is_inner =
                |&lock: &usize| given_back.is_none_or(|outer| lock != outer && !self.bodies.takes_in(lock, outer));
            let inner: Vec<usize> = held.ones().filter(is_inner).collect();
            self.bodies.long.extend(inner);
        }
    }

    /// Whether the indices of a place that means these locations are in range for certain.
    fn is_in_range(&self, place: &Place, locations: &[LocationId]) -> bool {
        // An element is known only where all indices are, and are in range as far as the lengths are known. Of objects each
        // element is told apart: it takes more than one to know that it is known.
        let is_known = |&location: &LocationId| {
            let location = &self.concurrency.locations[location];
            location.element.is_some() && self.program.leaves[location.leaf].element_count() > 1
        };
        let has_length = place.indices.iter().all(|index| matches!(index.length, Operand::Constant(_)));
        !may_miss(place) || has_length && locations.len() == 1 && locations.iter().all(is_known)
    }

    /// Locks in the bodies of which a second access may come behind a first one with which others may conflict.
    fn exclude_second_conflicts(&mut self) {
        if self.conflicts.is_empty() {
            return;
        }
        let concurrency = self.concurrency;
        // By block: the locks in the bodies of which there may have been one.
        let mut at_entry: FxHashMap<u32, FixedBitSet> = FxHashMap::default();
        let mut work: Vec<u32> = self.conflicts.iter().map(|&(block, _)| block).collect();
        work.sort_unstable();
        while let Some(block) = work.pop() {
            let Some(mut held) = self.bodies.at_entry(block).cloned() else { continue };
            let mut behind_one = at_entry.get(&block).cloned().unwrap_or_default();
            for (position, _, events) in concurrency.instructions_of(self.program, block) {
                if self.conflicts.contains(&(block, position)) {
                    let mut again = held.clone();
                    again.intersect_with(&behind_one);
                    self.bodies.long.union_with(&again);
                    behind_one.union_with(&held);
                }
                for event in &concurrency.events[events.start as usize..events.end as usize] {
                    self.bodies.step(&mut held, event);
                }
                behind_one.intersect_with(&held);
            }
            for &target in concurrency.local.successors(block).iter().filter(|_| !behind_one.is_clear()) {
                let known = at_entry.entry(target).or_default();
                if !behind_one.is_subset(known) {
                    known.union_with(&behind_one);
                    work.push(target);
                }
            }
        }
    }

    /// Point 3: locks that are held on an edge of a cycle of blocks, or behind one.
    fn exclude_loops(&mut self) {
        let concurrency = self.concurrency;
        let mut edges: FxHashMap<u32, (FixedBitSet, &[u32])> = FxHashMap::default();
        for block in 0..concurrency.blocks.len() as u32 {
            let Some(mut held) = self.bodies.at_entry(block).cloned() else { continue };
            concurrency.events_of(block).iter().for_each(|event| self.bodies.step(&mut held, event));
            if !held.is_clear() {
                edges.insert(block, (held, concurrency.local.successors(block)));
            }
        }
        let mut open: FxHashMap<u32, usize> = edges.keys().map(|&block| (block, 0)).collect();
        for target in edges.values().flat_map(|(_, targets)| targets.iter()) {
            open.entry(*target).and_modify(|count| *count += 1);
        }
        let mut waiting: Vec<u32> = open.iter().filter(|&(_, &count)| count == 0).map(|(&block, _)| block).collect();
        while let Some(block) = waiting.pop() {
            let Some((_, targets)) = edges.remove(&block) else { continue };
            for target in targets {
                if let Some(count) = open.get_mut(target) {
                    *count -= 1;
                    if *count == 0 {
                        waiting.push(*target);
                    }
                }
            }
        }
        edges.values().for_each(|(held, _)| self.bodies.long.union_with(held));
    }

    /// Points 4 and 5.
    fn operations(mut self) -> FxHashSet<Origin> {
        loop {
            let found = self.bodies.short();
            let is_whole =
                |meaning: &Meaning| !meaning.others && meaning.locks.iter().all(|&lock| found.contains(lock));
            let before = self.bodies.long.count_ones(..);
            for meaning in self.operations.values().filter(|meaning| !is_whole(meaning)) {
                self.bodies.long.extend(meaning.locks.iter().copied());
            }
            if self.bodies.long.count_ones(..) == before {
                let whole = self.operations.iter().filter(|(_, meaning)| is_whole(meaning));
                return whole.map(|(&operation, _)| operation).collect();
            }
        }
    }
}
