//! The actions of threads while they hold a lock.
//!
//! **Input**: a program and its unfolded graph. **Output**: for an operation that acquires a lock, whether its body only reads,
//! on all paths or on some; and the places where threads acquire locks that they may release in this way.
//!
//! **Algorithm**: depth-first search through the blocks after the operation, up to the release of the lock, permanently or to
//! wait for a condition. A read counts if every write that may change the read data in parallel is in a body of the same lock. No
//! path contains a cycle.
//!
//! **Soundness and limits**: during such a body no thread writes the data that it reads, so it sees the same values whenever it
//! reads. The module does not apply to merged or recursive contexts, or in programs with atomic blocks.

use super::tells_bodies_apart;
use cssame_concurrency::lockset::{LocksetId, Locksets, find_locksets, hold_of};
use cssame_concurrency::{ClassId, Concurrency, Event, EventKind, InstanceId, LocationId};
use cssame_ir::sync::{Kind, Mode, Synchronisation};
use cssame_ir::{Instruction, LeafId, LeafKind, Program};
use cssame_vm::Origin;
use rustc_hash::{FxHashMap, FxHashSet};

/// Different accesses to one part of memory beyond which it counts as used without locks.
const MAX_ACCESSES: usize = 1_000;

/// Blocks of one body beyond which it counts as one that writes.
const MAX_BLOCKS: usize = 1_000;

/// An access, as far as it matters who writes while a body reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Access {
    /// An element, or any.
    element: Option<u32>,
    class: ClassId,
    /// What is held for certain.
    held: LocksetId,
}

/// By part of memory.
type Accesses = FxHashMap<(InstanceId, LeafId), FxHashSet<Access>>;

/// The writes of a part of memory that are not in bodies of a lock.
#[derive(Debug)]
struct Outside {
    classes: FxHashSet<ClassId>,
    /// Whether one of them may come in parallel to another write.
    may_be_at_once: bool,
}

/// Those of all writes of a part of memory, to an element or to any; `None` if there are too many.
fn outside_of_bodies(
    concurrency: &Concurrency,
    locksets: &Locksets,
    (accesses, element): (Option<&FxHashSet<Access>>, Option<u32>),
    lock: LocationId,
) -> Option<Outside> {
    let is_same = |access: &&Access| element.zip(access.element).is_none_or(|(one, other)| one == other);
    let is_in_body = |access: &Access| {
        let hold = hold_of(locksets.locks(access.held), lock);
        hold.is_some_and(|hold| hold.mode == Mode::Exclusive)
    };
    let nothing = || Outside { classes: FxHashSet::default(), may_be_at_once: false };
    let Some(accesses) = accesses else { return Some(nothing()) };
    if accesses.len() > MAX_ACCESSES {
        return None;
    }
    let all: FxHashSet<ClassId> = accesses.iter().filter(is_same).map(|access| access.class).collect();
    let outside = accesses.iter().filter(is_same).filter(|access| !is_in_body(access));
    let classes: FxHashSet<ClassId> = outside.map(|access| access.class).collect();
    let mut pairs = classes.iter().flat_map(|&one| all.iter().map(move |&other| (one, other)));
    let may_be_at_once = pairs.any(|(one, other)| concurrency.parallel_classes(one, other));
    Some(Outside { classes, may_be_at_once })
}

/// What is asked of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Whether it only reads, works for itself, prints, calls and may fail, and gives the lock back for good.
    ReadsOnly,
    /// Whether some way through it only reads and works for itself, up to where it gives the lock back or waits; on the others, what
    /// comes before the first operation of another kind does no more, and no thread can tell it from that.
    MayLook,
}

/// How far a body goes on in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// It is left there.
    End,
    /// To what comes behind the block.
    Successors,
    /// To an operation that is no read, by which it is no body that looks.
    Operation,
    /// To what is not allowed.
    More,
}

/// The bodies of the locks of a program.
pub(super) struct LockBodies<'a> {
    pub program: &'a Program,
    pub concurrency: &'a Concurrency,
    locksets: Locksets,
    writes: Accesses,
    /// Operations that are left out.
    left_out: &'a FxHashSet<Origin>,
    /// By part of memory and lock.
    outside: FxHashMap<(LocationId, LocationId), Option<Outside>>,
}

impl<'a> LockBodies<'a> {
    /// Those of a program that is executed without some operations.
    pub(super) fn new(
        program: &'a Program,
        concurrency: &'a Concurrency,
        left_out: &'a FxHashSet<Origin>,
    ) -> LockBodies<'a> {
        let locksets = find_locksets(program, concurrency);
        let (writes, outside) = Default::default();
        let mut bodies = LockBodies { program, concurrency, locksets, writes, left_out, outside };
        bodies.note_writes();
        bodies
    }

    fn note_writes(&mut self) {
        let (program, concurrency) = (self.program, self.concurrency);
        for block in 0..concurrency.blocks.len() as u32 {
            let Some(mut held) = self.locksets.at_entry(block) else { continue };
            let class = concurrency.classes[block as usize];
            for event in concurrency.events_of(block) {
                let writes = match event.kind {
                    EventKind::Write(definition) | EventKind::Update { definition, .. } => {
                        concurrency.sharing.definition(definition)
                    }
                    _ => false,
                };
                if writes {
                    for &location in concurrency.locations_of(event) {
                        let location = &concurrency.locations[location];
                        let of = self.writes.entry((location.instance, location.leaf)).or_default();
                        if of.len() <= MAX_ACCESSES {
                            of.insert(Access { element: location.element, class, held });
                        }
                    }
                }
                held = Locksets::step(&mut self.locksets, program, concurrency, held, event);
            }
        }
    }

    /// Whether what is wanted is so of the body behind the operation at that place, which takes the lock.
    pub(super) fn behind(&mut self, (first, position): (u32, u32), lock: LocationId, wanted: Wanted) -> bool {
        // Depth first: blocks that are open are on the way to the one that is looked at.
        let mut open: FxHashSet<u32> = FxHashSet::default();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut work: Vec<(u32, bool)> = vec![(first, false)];
        let (mut behind, mut may_end) = (Some(position), false);
        while let Some((block, is_left)) = work.pop() {
            if is_left {
                open.remove(&block);
                continue;
            }
            if open.contains(&block) || seen.len() >= MAX_BLOCKS {
                return false;
            }
            // The part of the first block that stands before the body is on no way that comes back: the lock is taken between them.
            let position = behind.take();
            if position.is_none() && !seen.insert(block) {
                continue;
            }
            let successors = self.concurrency.local.successors(block);
            match self.follow(block, position, lock, wanted) {
                Reached::End => may_end = true,
                Reached::Operation if wanted != Wanted::ReadsOnly => {}
                Reached::Successors if !successors.is_empty() => {
                    if position.is_none() {
                        open.insert(block);
                        work.push((block, true));
                    }
                    work.extend(successors.iter().map(|&next| (next, false)));
                }
                Reached::Successors | Reached::Operation | Reached::More => return false,
            }
        }
        may_end
    }

    /// How far a body goes on in a block, from the begin, or from behind an instruction.
    fn follow(&mut self, block: u32, behind: Option<u32>, lock: LocationId, wanted: Wanted) -> Reached {
        let concurrency = self.concurrency;
        let of = concurrency.blocks[block as usize];
        let function = concurrency.contexts[of.context].function;
        for (position, instruction, events) in concurrency.instructions_of(self.program, block) {
            if behind.is_some_and(|behind| position <= behind) {
                continue;
            }
            let events = &concurrency.events[events.start as usize..events.end as usize];
            match instruction {
                Instruction::Synchronise(_)
                    if of.source.is_some_and(|block| {
                        self.left_out.contains(&Origin { function, block, instruction: position })
                    }) => {}
                Instruction::Synchronise(operation) => {
                    let may_end = operation.kind == Kind::Unlock
                        || operation.kind == Kind::WaitCondition && wanted == Wanted::MayLook;
                    let given_back = events.first().map_or(&[][..], |event| concurrency.released_by(event));
                    let is_end = may_end && concurrency.certain(self.program, given_back) == Some(lock);
                    return if is_end { Reached::End } else { Reached::Operation };
                }
                Instruction::Load { .. } => {
                    if !events.iter().all(|event| self.is_guarded(block, event, lock, wanted)) {
                        return Reached::More;
                    }
                }
                Instruction::Store { definition, .. } if !concurrency.sharing.definition(*definition) => {}
                Instruction::Copy { .. }
                | Instruction::Unary { .. }
                | Instruction::Binary { .. }
                | Instruction::Address { .. }
                | Instruction::CurrentThread { .. }
                | Instruction::Allocate { .. }
                | Instruction::Call { .. } => {}
                Instruction::Print { .. } | Instruction::Assert { .. } | Instruction::Error { .. } => {
                    if wanted == Wanted::MayLook {
                        return Reached::More;
                    }
                }
                Instruction::Store { .. }
                | Instruction::Free { .. }
                | Instruction::Atomic { .. }
                | Instruction::Choose { .. }
                | Instruction::Fork { .. }
                | Instruction::Join
                | Instruction::Spawn { .. }
                | Instruction::JoinThread { .. } => return Reached::Operation,
                Instruction::Assume { .. } | Instruction::AtomicBegin | Instruction::AtomicEnd => return Reached::More,
            }
        }
        Reached::Successors
    }

    /// Whether each write of what is read that may come in parallel is in a body of the lock. Of a body that looks, also each write
    /// that may come in parallel to another one, for only then the lock tells which of them is seen.
    fn is_guarded(&mut self, block: u32, event: &Event, lock: LocationId, wanted: Wanted) -> bool {
        self.concurrency.locations_of(event).iter().all(|&location| {
            let class = self.concurrency.classes[block as usize];
            self.outside(location, lock).is_some_and(|(concurrency, outside)| {
                let are_ordered = wanted == Wanted::ReadsOnly || !outside.may_be_at_once;
                are_ordered && outside.classes.iter().all(|&write| !concurrency.parallel_classes(class, write))
            })
        })
    }

    /// The writes of a part of memory that are not in bodies of a lock, unless there are too many.
    fn outside(&mut self, location: LocationId, lock: LocationId) -> Option<(&'a Concurrency, &Outside)> {
        let concurrency = self.concurrency;
        let outside = self.outside.entry((location, lock)).or_insert_with(|| {
            let location = &concurrency.locations[location];
            let writes = self.writes.get(&(location.instance, location.leaf));
            outside_of_bodies(concurrency, &self.locksets, (writes, location.element), lock)
        });
        outside.as_ref().map(|outside| (concurrency, outside))
    }

    /// All operations on synchronisation objects, in all contexts: the place, the operation and its event.
    pub(super) fn operations(
        &self,
    ) -> impl Iterator<Item = (Origin, (u32, u32), &'a Synchronisation, &'a Event)> + use<'a> {
        let (program, concurrency) = (self.program, self.concurrency);
        (0..concurrency.blocks.len() as u32).flat_map(move |block| {
            let of = concurrency.blocks[block as usize];
            let function = concurrency.contexts[of.context].function;
            let all = of.source.into_iter().flat_map(move |source| {
                let all = concurrency.instructions_of(program, block);
                all.map(move |(position, instruction, events)| (source, position, instruction, events))
            });
            all.filter_map(move |(source, position, instruction, events)| {
                let Instruction::Synchronise(operation) = instruction else { return None };
                let event = concurrency.events.get(events.start as usize)?;
                Some((Origin { function, block: source, instruction: position }, (block, position), operation, event))
            })
        })
    }
}

/// The operations by which a thread gets a lock, or gets it again behind a wait, whose body may only look, whoever does it: see
/// [`Wanted`], where the program is executed without some operations. Re-entrant locks are left out.
pub(crate) fn looking_bodies(
    program: &Program,
    concurrency: &Concurrency,
    left_out: &FxHashSet<Origin>,
) -> FxHashSet<Origin> {
    let gets_lock = |kind: Kind| matches!(kind, Kind::Lock | Kind::WaitCondition);
    let is_one = |event: &Event| event.kind.synchronisation().is_some_and(gets_lock);
    if !tells_bodies_apart(program, concurrency) || !concurrency.events.iter().any(is_one) {
        return FxHashSet::default();
    }
    let mut bodies = LockBodies::new(program, concurrency, left_out);
    let is_plain = |&lock: &LocationId| program.leaves[concurrency.locations[lock].leaf].kind == LeafKind::Lock;
    let mut all: FxHashMap<Origin, bool> = FxHashMap::default();
    for (origin, place, _, event) in bodies.operations().filter(|(.., operation, _)| gets_lock(operation.kind)) {
        let lock = concurrency.certain(program, concurrency.acquired_by(event)).filter(is_plain);
        let looks = lock.is_some_and(|lock| bodies.behind(place, lock, Wanted::MayLook));
        all.entry(origin).and_modify(|all| *all &= looks).or_insert(looks);
    }
    all.into_iter().filter(|&(_, looks)| looks).map(|(origin, _)| origin).collect()
}
