//! Pi placement: the terms of each read are its control definitions and its concurrent definitions.
//!
//! **Input**: accesses, SSA, locksets and classes. **Output**: the [`Form`].
//!
//! **Algorithm**
//! 1. Group the definitions of a variable by class, held locks, and the locks whose mutex body hides them.
//! 2. Give each read the same key: class, held locks, and the locks in whose body it is not upward-exposed.
//! 3. A read sees a group if their classes may run in parallel and no lock hides it. The reason is `killed-before-unlock` if the
//!    read holds a lock and the definition does not reach the exit of its body of that lock; it is `not-upward-exposed` if the
//!    definition holds a lock in whose body the read is not upward-exposed. If several groups differ only in their classes, one
//!    suffices.
//! 4. Add the control definitions ([`super::reaching`]). The two parts are stored separately, so that reads with different
//!    control definitions share the definitions that they see of other threads.
//!
//! **Soundness and limits**: see [`super`]; each rule removes only definitions that no execution can read.

use super::access::{Table, collect};
use super::exposure::Exposure;
use super::guard::{Guards, exclude_initial};
use super::lock_state::LockStates;
use super::reaching::ReachingDefinitions;
use super::same::{Known, find_same};
use super::swap::find_tried;
use super::{Form, ReadInstance, Reason, TermSetId};
use cssame_concurrency::lockset::{ATOMIC, Hold, Locksets};
use cssame_concurrency::row_locks::find_row_locks;
use cssame_concurrency::{ClassId, Concurrency, KnownReads, LocationId};
use cssame_ir::{DefinitionId, Program};
use cssame_ssa::{Ssa, build_ssa};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// What decides which concurrent definitions a read sees, or which reads see a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub class: ClassId,
    /// Locks held.
    pub held: Vec<Hold>,
    /// Of those, the ones whose body hides the access: a definition that does not reach the end, a read that does not look
    /// past a definition in the body.
    pub hidden: Vec<Hold>,
}

/// Definitions of one variable with equal keys.
pub(super) struct Group {
    pub key: Key,
    pub accesses: Vec<u32>,
}

/// Builds the form.
pub(super) fn build(program: &Program, known: &KnownReads, concurrency: Concurrency, locksets: Locksets) -> Form {
    let table = collect(program, &concurrency);
    let ssa = build_ssa(&concurrency.flow, &concurrency.dominators, table.variables.len(), &table.ssa);
    let builder = Builder {
        program,
        concurrency: &concurrency,
        table: &table,
        ssa: &ssa,
        exposure: Exposure { concurrency: &concurrency, locksets: &locksets, table: &table },
    };
    let (mut sets, mut reads) = builder.run();
    let tried = find_tried(program, &concurrency, (&table, &reads), known);
    let guards = Guards { program, concurrency: &concurrency, table: &table, known, tried: &tried };
    let mut excluded = exclude_initial(&guards, &mut reads, &mut sets);
    let held = held_locks(program, &concurrency, &locksets, &table);
    let states =
        LockStates { program, concurrency: &concurrency, locksets: &locksets, table: &table, known, held: &held };
    states.exclude(&mut reads, &mut sets, &mut excluded);
    states.exclude_own_swaps(&mut reads, &mut sets, &mut excluded);
    let known = Known {
        program,
        concurrency: &concurrency,
        locksets: &locksets,
        table: &table,
        ssa: &ssa,
        held: &held,
        sets: &sets,
    };
    let same = find_same(&known, &reads);
    let row_locks = find_row_locks(program, &concurrency);
    Form { concurrency, locksets, row_locks, table, sets, reads, excluded, same }
}

pub(super) struct Builder<'a> {
    pub program: &'a Program,
    pub concurrency: &'a Concurrency,
    pub table: &'a Table,
    pub ssa: &'a Ssa,
    pub exposure: Exposure<'a>,
}

/// Interned sets of terms.
#[derive(Default)]
struct Sets(IndexSet<Vec<DefinitionId>, FxBuildHasher>);

impl Sets {
    fn intern(&mut self, mut set: Vec<DefinitionId>) -> TermSetId {
        set.sort_unstable();
        set.dedup();
        TermSetId::new(self.0.insert_full(set).0)
    }
}

impl Builder<'_> {
    fn run(&self) -> (Vec<Vec<DefinitionId>>, Vec<ReadInstance>) {
        let held = held_locks(self.program, self.concurrency, self.exposure.locksets, self.table);
        let (definitions, uses) = self.by_variable();
        let mut control = ReachingDefinitions::new(self.concurrency, self.table, self.ssa);
        let mut sets = Sets::default();
        let mut reads = Vec::new();
        let mut keys = FxHashMap::default();
        for variable in 0..self.table.variables.len() as u32 {
            // Step 1: definitions that the same reads see.
            let groups = self.group(&definitions[variable as usize], &held, &mut keys);
            let bundles = self.bundles(&groups);
            let mut visible: FxHashMap<(Key, Option<u32>), TermSetId> = FxHashMap::default();
            let mut known: FxHashMap<(u32, Option<u32>), TermSetId> = FxHashMap::default();
            for &access in &uses[variable as usize] {
                let of = self.table.accesses[access as usize];
                let (Some(read), Some(locks)) = (of.read, held[access as usize]) else { continue };
                // Steps 2 and 3: the groups that the key of the read sees.
                let concurrent =
                    *visible.entry((self.use_key(access, locks), of.element)).or_insert_with_key(|(key, element)| {
                        let seen = bundles.iter().filter_map(|bundle| bundle.iter().find(|of| self.sees(key, &of.key)));
                        let accesses = seen.flat_map(|group| group.accesses.iter().copied());
                        sets.intern(self.definitions(accesses, *element).collect())
                    });
                // Step 4: control definitions.
                let version = self.ssa.used(access as usize);
                let control = *known.entry((version, of.element)).or_insert_with_key(|(version, element)| {
                    sets.intern(self.control_terms(&mut control, variable, *version, *element))
                });
                reads.push(ReadInstance { read, access, control, concurrent });
            }
        }
        reads.sort_by_key(|of| (of.read, of.access));
        (sets.0.into_iter().collect(), reads)
    }

    /// Definitions and uses of each variable.
    pub(super) fn by_variable(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let mut definitions = vec![Vec::new(); self.table.variables.len()];
        let mut uses = vec![Vec::new(); self.table.variables.len()];
        for (index, access) in self.table.accesses.iter().enumerate() {
            let variable = self.table.variable_of(index as u32) as usize;
            if access.definition.is_some_and(|definition| !self.program.definitions[definition].is_free()) {
                definitions[variable].push(index as u32);
            }
            if access.read.is_some() {
                uses[variable].push(index as u32);
            }
        }
        (definitions, uses)
    }

    /// The definitions that accesses make, but for those of other elements of an array.
    fn definitions(
        &self,
        accesses: impl Iterator<Item = u32>,
        element: Option<u32>,
    ) -> impl Iterator<Item = DefinitionId> {
        accesses.filter_map(move |access| {
            let of = self.table.accesses[access as usize];
            let other = of.element.is_some() && element.is_some() && of.element != element;
            if other { None } else { of.definition }
        })
    }

    /// The control definitions of a read of a version.
    fn control_terms(
        &self,
        control: &mut ReachingDefinitions<'_>,
        variable: u32,
        version: u32,
        element: Option<u32>,
    ) -> Vec<DefinitionId> {
        let reaching = control.reaching(variable, version);
        let initial = reaching.initial.then(|| self.initial(variable)).flatten();
        self.definitions(reaching.accesses.iter().copied(), element).chain(initial).collect()
    }

    /// The initial definition of a variable, if it is there from the start.
    pub(super) fn initial(&self, variable: u32) -> Option<DefinitionId> {
        let leaf = &self.program.leaves[self.table.variables[variable as usize].leaf];
        match self.program.variables[leaf.variable].storage {
            cssame_ir::Storage::Global => leaf.initial_definition,
            // A local has no value before its declaration, which is an access.
            cssame_ir::Storage::Local(_) => None,
        }
    }

    pub(super) fn group(
        &self,
        definitions: &[u32],
        held: &[Option<u32>],
        keys: &mut FxHashMap<Key, usize>,
    ) -> Vec<Group> {
        keys.clear();
        let mut groups: Vec<Group> = Vec::new();
        for &access in definitions {
            let Some(set) = held[access as usize] else { continue };
            let locks = self.exposure.locksets.locks(set).to_vec();
            let hidden = locks.iter().copied().filter(|&of| !self.exposure.reaches_release(access, of.lock)).collect();
            let key = Key { class: self.class_of(access), held: locks, hidden };
            let index = *keys.entry(key).or_insert_with_key(|key| {
                groups.push(Group { key: key.clone(), accesses: Vec::new() });
                groups.len() - 1
            });
            groups[index].accesses.push(access);
        }
        groups
    }

    /// Groups that differ in their classes alone: who sees one of them sees the definitions of all. So the threads that run one
    /// function do not have to be asked one by one.
    fn bundles<'g>(&self, groups: &'g [Group]) -> Vec<Vec<&'g Group>> {
        let mut bundles: IndexMap<_, Vec<&Group>, FxBuildHasher> = IndexMap::default();
        for group in groups {
            let of = group.accesses.iter().map(|&access| {
                let of = self.table.accesses[access as usize];
                (of.definition, of.element)
            });
            let key = (&group.key.held, &group.key.hidden, of.collect::<Vec<_>>());
            bundles.entry(key).or_default().push(group);
        }
        bundles.into_values().collect()
    }

    pub(super) fn use_key(&self, access: u32, set: u32) -> Key {
        let locks = self.exposure.locksets.locks(set).to_vec();
        let hidden =
            locks.iter().copied().filter(|&of| !self.exposure.reached_from_acquisition(access, of.lock)).collect();
        Key { class: self.class_of(access), held: locks, hidden }
    }

    pub(super) fn class_of(&self, access: u32) -> ClassId {
        self.concurrency.classes[self.table.block_of(access) as usize]
    }

    fn sees(&self, read: &Key, definition: &Key) -> bool {
        self.concurrency.parallel_classes(read.class, definition.class) && hiding(read, definition).is_none()
    }
}

/// The lock that hides a definition from a read in another thread, and why.
///
/// Both rules rest on one fact: of two bodies that exclude each other, one is over before the other one begins. Two bodies
/// of a lock do, and of a readers-writer lock two of which at least one is a writer's.
///
/// - `killed-before-unlock`: the definition d does not reach the end of its body B. The read u lies in a body B' that
///   excludes B. Where B comes first, what is there when B' begins is not d, and during B' the thread of d does nothing in B;
///   where B comes last, d comes after u. So u does not see this instance of d; and each instance lies in a body of its own.
///   It is the same whether B is the body of a writer and B' of a reader, or the other way round.
/// - `not-upward-exposed`: on every way u follows a definition in its own body B'. The definition d lies in a body B that
///   excludes B'. Where B comes first, the definition in B' replaces d before u; where B comes last, d comes after u.
///
/// Of two readers' bodies neither rule says anything: a definition by a reader may come at any time during the body of another
/// reader. What a reader's body holds is used against writers alone.
pub(super) fn hiding(read: &Key, definition: &Key) -> Option<(Reason, LocationId)> {
    // The body of a lock that both hold, or an atomic block, which excludes everything: other threads only see what is there
    // when it is left, and it only sees of them what was there when it was entered.
    let excludes = |of: &&Hold, others: &[Hold]| of.lock == ATOMIC || others.iter().any(|other| of.excludes(*other));
    let killed = definition.hidden.iter().find(|of| excludes(of, &read.held));
    let own = read.hidden.iter().find(|of| excludes(of, &definition.held));
    match (killed, own) {
        (Some(of), _) => Some((Reason::KilledBeforeUnlock, of.lock)),
        (None, Some(of)) => Some((Reason::NotUpwardExposed, of.lock)),
        (None, None) => None,
    }
}

/// For each access, the set of locks held at it; `None` where control does not come.
pub(super) fn held_locks(
    program: &Program,
    concurrency: &Concurrency,
    locksets: &Locksets,
    table: &Table,
) -> Vec<Option<u32>> {
    let mut held = vec![None; table.accesses.len()];
    let mut locksets = locksets.clone();
    for block in 0..concurrency.blocks.len() as u32 {
        let Some(mut set) = locksets.at_entry(block) else { continue };
        let first = concurrency.first_event(block);
        for (offset, event) in concurrency.events_of(block).iter().enumerate() {
            let (start, end) = table.of_event[first + offset];
            for access in start..end {
                held[access as usize] = Some(set);
            }
            set = locksets.step(program, concurrency, set, event);
        }
    }
    held
}
