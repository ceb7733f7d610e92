//! Determines the cells that a lock protects.
//!
//! **Input**: the accesses with the held locks, and the acquisitions of a lock. **Output**: [`Protected`]: the cells that are
//! only written inside the mutex bodies of the lock or separately from them, and the sites at which their values may change.
//!
//! **Algorithm**
//! 1. Walk from the acquisitions forward to the releases: these blocks are the bodies.
//! 2. The parts of memory that are accessed in the bodies are the candidates. A part is protected if each write of it certainly
//!    holds the lock, or is outside the bodies in a block that is not parallel with any of them.
//! 3. The *sites* are the acquisitions, the returns from waits on a condition, and the writes outside. The *observers* are the
//!    reads outside that are not parallel with any body, or that read a cell which no body writes.
//!
//! **Soundness and limits**: re-entrant and readers-writer locks are left out, and so are locks with a try or a timed wait. A
//! lock is left out if an operation may refer to it and other locks, or if a body contains an operation that waits for another
//! thread or creates one. Without these, a block that is not parallel with any block of a body does not run while a thread is
//! inside it. There are at most [`MAX_SITES`] sites, [`MAX_BLOCKS`] blocks, and [`MAX_CELLS`] cells.

use crate::access::Table;
use cssame_concurrency::lockset::{Locksets, holds_lock};
use cssame_concurrency::mutex_body::Site;
use cssame_concurrency::{ClassId, Concurrency, Event, EventKind, InstanceId, LocationId};
use cssame_ir::sync::{Edge, Kind};
use cssame_ir::{DefinitionId, LeafId, LeafKind, Program};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// Sites of one lock: they are the bits of a word.
pub(super) const MAX_SITES: usize = 64;

/// Blocks of the bodies of one lock.
const MAX_BLOCKS: usize = 1024;

/// Classes of the blocks of the bodies of one lock.
const MAX_CLASSES: usize = 64;

/// Cells of one lock.
const MAX_CELLS: usize = 32;

/// Elements of an array that is looked at.
pub(super) const MAX_LENGTH: u32 = 16;

/// Accesses to one part of memory.
const MAX_ACCESSES: usize = 256;

/// Where the state of a lock may change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// A body begins.
    Acquire,
    /// A body begins again behind a wait on a condition.
    Resume,
    /// A write outside the bodies; the index of its event.
    Write(u32),
}

/// A site.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangeSite {
    pub at: Site,
    pub change: Change,
}

/// What a lock protects.
#[derive(Debug, Default)]
pub(super) struct Protected {
    pub sites: Vec<ChangeSite>,
    /// The first cell of each protected part of memory, and their number.
    pub cells: IndexMap<(InstanceId, LeafId), (usize, usize), FxBuildHasher>,
    pub cell_count: usize,
    /// Reads inside the bodies, by event.
    pub inside: FxHashSet<u32>,
    /// Reads outside, by event, with their places.
    pub observers: Vec<(u32, Site)>,
    /// Conditions that are waited on with this lock.
    pub conditions: Vec<LocationId>,
    /// Of these, as bits, those of which some notification does not hold the lock.
    pub notified_outside: u32,
}

/// What is known of the accesses.
pub(super) struct Finder<'a> {
    pub program: &'a Program,
    pub concurrency: &'a Concurrency,
    pub locksets: &'a Locksets,
    pub table: &'a Table,
    /// By access.
    pub held: &'a [Option<u32>],
    /// The accesses to each part of memory.
    pub of_part: FxHashMap<(InstanceId, LeafId), Vec<u32>>,
}

/// The bodies of a lock.
struct Bodies {
    blocks: Vec<u32>,
    members: FxHashSet<u32>,
    classes: Vec<ClassId>,
}

/// The acquisitions of each lock that every operation names with certainty, in the order of blocks.
pub(super) fn find_acquisitions(
    program: &Program,
    concurrency: &Concurrency,
    locksets: &Locksets,
) -> IndexMap<LocationId, Vec<ChangeSite>, FxBuildHasher> {
    let mut found: IndexMap<LocationId, Vec<ChangeSite>, FxBuildHasher> = IndexMap::default();
    let mut doubtful: FxHashSet<LocationId> = FxHashSet::default();
    for block in (0..concurrency.blocks.len() as u32).filter(|&block| locksets.at_entry(block).is_some()) {
        for (offset, event) in concurrency.events_of(block).iter().enumerate() {
            let EventKind::Synchronise(kind) = event.kind else { continue };
            let (acquired, released) = (concurrency.acquired_by(event), concurrency.released_by(event));
            if !has_plain_bodies(program, concurrency, kind, acquired) {
                doubtful.extend(acquired);
            }
            for locks in [acquired, released] {
                let of_lock = locks.iter().filter(|&&lock| locksets.is_lock(kind, lock) || kind == Kind::WaitCondition);
                if concurrency.certain(program, locks).is_none() {
                    doubtful.extend(of_lock);
                }
            }
            let Some(lock) = concurrency.certain(program, acquired) else { continue };
            if kind == Kind::WaitCondition || locksets.is_lock(kind, lock) {
                let change = if kind == Kind::WaitCondition { Change::Resume } else { Change::Acquire };
                let at = Site { block, offset: offset as u32 };
                found.entry(lock).or_default().push(ChangeSite { at, change });
                if !concurrency.dominators.is_reachable(block) {
                    doubtful.insert(lock);
                }
            }
        }
    }
    found.retain(|lock, sites| !doubtful.contains(lock) && sites.len() <= MAX_SITES);
    found
}

/// Whether an operation leaves no doubt that the bodies of its lock come one after the other, each from an acquisition to the
/// next release: a try and a wait that may time out have other ends, readers are inside at once, and levels nest.
fn has_plain_bodies(program: &Program, concurrency: &Concurrency, kind: Kind, acquired: &[LocationId]) -> bool {
    let nests = |lock: &LocationId| {
        let leaf = &program.leaves[concurrency.locations[*lock].leaf];
        matches!(leaf.kind, LeafKind::ReentrantLock | LeafKind::RwLock)
    };
    !kind.has_verdict() && !acquired.iter().any(nests)
}

impl Finder<'_> {
    /// What a lock protects; `None` where it is left out.
    pub fn find(&self, lock: LocationId, acquisitions: &[ChangeSite]) -> Option<Protected> {
        let bodies = self.bodies(lock, acquisitions)?;
        let mut found = Protected { sites: acquisitions.to_vec(), ..Protected::default() };
        for part in self.candidates(lock, &bodies) {
            self.add_part(part, lock, &bodies, &mut found);
        }
        self.add_conditions(lock, &mut found);
        found.observers.retain(|observer| self.concurrency.dominators.is_reachable(observer.1.block));
        let is_small = found.sites.len() <= MAX_SITES && found.conditions.len() < 32 && found.cell_count > 0;
        is_small.then_some(found)
    }

    /// Step 1: the blocks between acquisitions and releases.
    fn bodies(&self, lock: LocationId, acquisitions: &[ChangeSite]) -> Option<Bodies> {
        let mut bodies = Bodies { blocks: Vec::new(), members: FxHashSet::default(), classes: Vec::new() };
        let mut waiting: Vec<(u32, u32)> =
            acquisitions.iter().map(|site| (site.at.block, site.at.offset + 1)).collect();
        let mut walked: FxHashSet<u32> = FxHashSet::default();
        while let Some((block, first)) = waiting.pop() {
            if bodies.members.insert(block) {
                bodies.blocks.push(block);
            }
            if bodies.blocks.len() > MAX_BLOCKS {
                return None;
            }
            let events = &self.concurrency.events_of(block)[first as usize..];
            let mut is_left = false;
            for event in events {
                if self.concurrency.may_release(event, lock) {
                    is_left = true;
                    break;
                }
                if !self.stays_inside(event, lock) {
                    return None;
                }
            }
            if !is_left {
                let next = self.concurrency.local.successors(block).iter().copied();
                waiting.extend(next.filter(|&next| walked.insert(next)).map(|next| (next, 0)));
            }
        }
        bodies.classes = bodies.blocks.iter().map(|&block| self.concurrency.classes[block as usize]).collect();
        bodies.classes.sort_unstable();
        bodies.classes.dedup();
        (bodies.classes.len() <= MAX_CLASSES).then_some(bodies)
    }

    /// Whether an event neither orders its thread behind another one, nor makes threads, nor takes the lock again.
    fn stays_inside(&self, event: &Event, lock: LocationId) -> bool {
        match event.kind {
            EventKind::Fork | EventKind::Join | EventKind::JoinThread => false,
            EventKind::Synchronise(kind) => {
                let acquired = self.concurrency.acquired_by(event);
                let is_lock = kind == Kind::WaitCondition
                    || !acquired.is_empty() && acquired.iter().all(|&one| self.locksets.is_lock(kind, one));
                let waits = matches!(kind.properties().edge, Edge::Target | Edge::Meeting);
                !acquired.contains(&lock) && (is_lock || !waits)
            }
            _ => true,
        }
    }

    /// Step 2: the parts of memory that are accessed in the bodies, in the order of their blocks.
    fn candidates(&self, lock: LocationId, bodies: &Bodies) -> Vec<(InstanceId, LeafId)> {
        let mut blocks = bodies.blocks.clone();
        blocks.sort_unstable();
        let mut parts: IndexMap<(InstanceId, LeafId), (), FxBuildHasher> = IndexMap::default();
        for block in blocks {
            let first = self.concurrency.first_event(block);
            for event in first..first + self.concurrency.events_of(block).len() {
                let (start, end) = self.table.of_event[event];
                for access in start..end {
                    if self.is_held(access, lock) {
                        let variable = self.table.variables[self.table.variable_of(access) as usize];
                        parts.insert((variable.instance, variable.leaf), ());
                    }
                }
            }
        }
        parts.into_keys().filter(|part| self.is_plain(*part)).collect()
    }

    /// Whether a part of memory is one variable for all threads, and small.
    fn is_plain(&self, (instance, leaf): (InstanceId, LeafId)) -> bool {
        let (instance, leaf) = (&self.concurrency.instances[instance], &self.program.leaves[leaf]);
        instance.single
            && instance.unique
            && leaf.element_count() <= MAX_LENGTH
            && matches!(leaf.kind, LeafKind::Data(_))
    }

    fn is_held(&self, access: u32, lock: LocationId) -> bool {
        self.held[access as usize].is_some_and(|set| holds_lock(self.locksets.locks(set), lock))
    }

    /// Adds a part of memory, if the lock protects it.
    fn add_part(&self, part: (InstanceId, LeafId), lock: LocationId, bodies: &Bodies, found: &mut Protected) {
        let accesses = self.of_part.get(&part).map_or(&[][..], Vec::as_slice);
        let length = self.program.leaves[part.1].element_count() as usize;
        if accesses.len() > MAX_ACCESSES || found.cell_count + length > MAX_CELLS {
            return;
        }
        let concurrency = self.concurrency;
        let apart = |block: u32| {
            let class = concurrency.classes[block as usize];
            !bodies.members.contains(&block)
                && bodies.classes.iter().all(|&body| !concurrency.parallel_classes(class, body))
        };
        let (mut sites, mut inside, mut observers) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_written_inside = false;
        for &access in accesses.iter().filter(|&&access| self.held[access as usize].is_some()) {
            let of = self.table.accesses[access as usize];
            let event = &concurrency.events[of.event as usize];
            let is_single = concurrency.locations_of(event).len() == 1;
            let at = Site { block: of.block, offset: of.event - concurrency.first_event(of.block) as u32 };
            let is_inside = self.is_held(access, lock);
            if of.definition.is_some() {
                if !is_single || !(is_inside || apart(of.block)) {
                    return;
                }
                is_written_inside |= is_inside;
                if !is_inside {
                    sites.push(ChangeSite { at, change: Change::Write(of.event) });
                }
            }
            if of.read.is_some() && is_single {
                if is_inside { inside.push(of.event) } else { observers.push((of.event, at)) }
            }
        }
        let may_observe = |observer: &(u32, Site)| {
            !bodies.members.contains(&observer.1.block) && (!is_written_inside || apart(observer.1.block))
        };
        observers.retain(may_observe);
        found.cells.insert(part, (found.cell_count, length));
        found.cell_count += length;
        found.sites.extend(sites);
        found.sites.sort_by_key(|site| (site.at, matches!(site.change, Change::Write(_))));
        found.sites.dedup_by_key(|site| site.at);
        found.inside.extend(inside);
        found.observers.extend(observers);
        found.observers.sort_unstable();
        found.observers.dedup();
    }

    /// The conditions that are waited on with a lock, and who notifies them.
    fn add_conditions(&self, lock: LocationId, found: &mut Protected) {
        for site in found.sites.iter().filter(|site| matches!(site.change, Change::Resume)) {
            let event = &self.concurrency.events_of(site.at.block)[site.at.offset as usize];
            for &condition in self.concurrency.locations_of(event) {
                if !found.conditions.contains(&condition) {
                    found.conditions.push(condition);
                }
            }
        }
        if found.conditions.is_empty() {
            return;
        }
        let mut locksets = self.locksets.clone();
        for block in 0..self.concurrency.blocks.len() as u32 {
            let Some(mut set) = self.locksets.at_entry(block) else { continue };
            for event in self.concurrency.events_of(block) {
                if notifies(event) && !holds_lock(locksets.locks(set), lock) {
                    found.notified_outside |= condition_bits(self.concurrency, &found.conditions, event);
                }
                set = locksets.step(self.program, self.concurrency, set, event);
            }
        }
    }
}

/// Whether an event wakes threads that wait on a condition.
pub(super) fn notifies(event: &Event) -> bool {
    event.kind.synchronisation().is_some_and(|kind| kind.signals(Kind::WaitCondition))
}

/// The conditions that an event may mean, as bits.
pub(super) fn condition_bits(concurrency: &Concurrency, conditions: &[LocationId], event: &Event) -> u32 {
    let of = concurrency.locations_of(event);
    let named = conditions.iter().enumerate().filter(|(_, condition)| of.contains(condition));
    named.fold(0, |bits, (index, _)| bits | 1 << index)
}

/// The accesses to each part of memory.
pub(super) fn accesses_of_parts(table: &Table) -> FxHashMap<(InstanceId, LeafId), Vec<u32>> {
    let mut found: FxHashMap<(InstanceId, LeafId), Vec<u32>> = FxHashMap::default();
    for (access, of) in table.accesses.iter().enumerate() {
        if of.event != u32::MAX {
            let variable = table.variables[table.variable_of(access as u32) as usize];
            found.entry((variable.instance, variable.leaf)).or_default().push(access as u32);
        }
    }
    found
}

/// The definition that an event makes.
pub(super) fn definition_of(event: &Event) -> Option<DefinitionId> {
    match event.kind {
        EventKind::Write(definition) | EventKind::Update { definition, .. } => Some(definition),
        _ => None,
    }
}
