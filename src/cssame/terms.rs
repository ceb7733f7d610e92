//! Terms: the control definitions of each read together with its concurrent ones.
//!
//! In: accesses, SSA, locks and classes. Out: the [`Form`]. Definitions of a variable are grouped by class, locks held and
//! exposure; each group of reads is held against each group of definitions once.

use super::access::{Table, collect};
use super::exposure::Exposure;
use super::reaching::Follower;
use super::{Form, Pruned, ReadInstance, Reason, TermSetId};
use crate::concurrency::lockset::{ATOMIC, Locksets};
use crate::concurrency::{ClassId, Concurrency, LocationId};
use crate::ir::{DefinitionId, LeafId, Program, ReadId};
use crate::ssa::build::{Ssa, build_ssa};
use rustc_hash::{FxHashMap, FxHashSet};

/// What decides which concurrent definitions a read sees, or which reads see a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    class: ClassId,
    /// Locks held.
    held: Vec<LocationId>,
    /// Of those, the ones whose body hides the access: a definition that does not reach the end, a read that does not look
    /// past a definition in the body.
    hidden: Vec<LocationId>,
}

/// Definitions of one variable with equal keys.
struct Group {
    key: Key,
    accesses: Vec<u32>,
}

/// Builds the form.
pub(super) fn build(program: &Program, concurrency: Concurrency, locksets: Locksets) -> Form {
    let table = collect(program, &concurrency);
    let ssa = build_ssa(&concurrency.flow, &concurrency.dominators, table.variables.len(), &table.ssa);
    let builder = Builder {
        program,
        concurrency: &concurrency,
        table: &table,
        ssa: &ssa,
        exposure: Exposure { concurrency: &concurrency, locksets: &locksets, table: &table },
    };
    let (sets, reads) = builder.run();
    Form { concurrency, locksets, table, sets, reads }
}

struct Builder<'a> {
    program: &'a Program,
    concurrency: &'a Concurrency,
    table: &'a Table,
    ssa: &'a Ssa,
    exposure: Exposure<'a>,
}

/// Interned sets of terms.
#[derive(Default)]
struct Sets {
    sets: Vec<Vec<DefinitionId>>,
    ids: FxHashMap<Vec<DefinitionId>, TermSetId>,
}

impl Sets {
    fn intern(&mut self, set: Vec<DefinitionId>) -> TermSetId {
        let sets = &mut self.sets;
        *self.ids.entry(set).or_insert_with_key(|set| {
            sets.push(set.clone());
            TermSetId::new(sets.len() - 1)
        })
    }
}

impl Builder<'_> {
    fn run(&self) -> (Vec<Vec<DefinitionId>>, Vec<ReadInstance>) {
        let held = held_locks(self.program, self.concurrency, self.exposure.locksets, self.table);
        let (definitions, uses) = self.by_variable();
        let mut follower = Follower::new(self.concurrency, self.table, self.ssa);
        let mut sets = Sets::default();
        let mut reads = Vec::new();
        let mut keys = FxHashMap::default();
        for variable in 0..self.table.variables.len() as u32 {
            let groups = self.group(&definitions[variable as usize], &held, &mut keys);
            let mut visible: FxHashMap<Key, Vec<usize>> = FxHashMap::default();
            let mut known: FxHashMap<(u32, Vec<usize>, Option<u32>), TermSetId> = FxHashMap::default();
            for &access in &uses[variable as usize] {
                let of = self.table.accesses[access as usize];
                let (Some(read), Some(locks)) = (of.read, held[access as usize]) else { continue };
                let key = self.use_key(access, locks);
                let seen = visible
                    .entry(key)
                    .or_insert_with_key(|key| {
                        let groups = groups.iter().enumerate();
                        groups.filter(|(_, group)| self.sees(key, &group.key)).map(|(index, _)| index).collect()
                    })
                    .clone();
                let version = self.ssa.used(access as usize);
                let terms = *known.entry((version, seen, of.element)).or_insert_with_key(|(_, seen, element)| {
                    let concurrent = seen.iter().flat_map(|&group| groups[group].accesses.iter().copied());
                    sets.intern(self.term_set(&mut follower, variable, version, concurrent, *element))
                });
                reads.push(ReadInstance { read, access, terms });
            }
        }
        reads.sort_by_key(|of| (of.read, of.access));
        (sets.sets, reads)
    }

    /// Definitions and uses of each variable.
    fn by_variable(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let mut definitions = vec![Vec::new(); self.table.variables.len()];
        let mut uses = vec![Vec::new(); self.table.variables.len()];
        for (index, access) in self.table.accesses.iter().enumerate() {
            let variable = self.table.variable_of(index as u32) as usize;
            if access.definition.is_some() {
                definitions[variable].push(index as u32);
            }
            if access.read.is_some() {
                uses[variable].push(index as u32);
            }
        }
        (definitions, uses)
    }

    fn term_set(
        &self,
        follower: &mut Follower<'_>,
        variable: u32,
        version: u32,
        concurrent: impl Iterator<Item = u32>,
        element: Option<u32>,
    ) -> Vec<DefinitionId> {
        let reaching = follower.reaching(variable, version);
        let initial = reaching.initial.then(|| self.initial(variable)).flatten();
        let mut terms: Vec<DefinitionId> = reaching
            .accesses
            .iter()
            .copied()
            .chain(concurrent)
            .filter_map(|access| {
                let of = self.table.accesses[access as usize];
                let other = of.element.is_some() && element.is_some() && of.element != element;
                if other { None } else { of.definition }
            })
            .chain(initial)
            .collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// The initial definition of a variable, if it is there from the start.
    fn initial(&self, variable: u32) -> Option<DefinitionId> {
        let leaf = &self.program.leaves[self.table.variables[variable as usize].leaf];
        match self.program.variables[leaf.variable].storage {
            crate::ir::Storage::Global => leaf.initial_definition,
            // A local has no value before its declaration, which is an access.
            crate::ir::Storage::Local(_) => None,
        }
    }

    fn group(&self, definitions: &[u32], held: &[Option<u32>], keys: &mut FxHashMap<Key, usize>) -> Vec<Group> {
        keys.clear();
        let mut groups: Vec<Group> = Vec::new();
        for &access in definitions {
            let Some(set) = held[access as usize] else { continue };
            let locks = self.exposure.locksets.locks(set).to_vec();
            let hidden = locks.iter().copied().filter(|&lock| !self.exposure.reaches_release(access, lock)).collect();
            let key = Key { class: self.class_of(access), held: locks, hidden };
            let index = *keys.entry(key).or_insert_with_key(|key| {
                groups.push(Group { key: key.clone(), accesses: Vec::new() });
                groups.len() - 1
            });
            groups[index].accesses.push(access);
        }
        groups
    }

    fn use_key(&self, access: u32, set: u32) -> Key {
        let locks = self.exposure.locksets.locks(set).to_vec();
        let hidden = locks.iter().copied().filter(|&lock| !self.exposure.reached_from_take(access, lock)).collect();
        Key { class: self.class_of(access), held: locks, hidden }
    }

    fn class_of(&self, access: u32) -> ClassId {
        self.concurrency.classes[self.table.block_of(access) as usize]
    }

    fn sees(&self, read: &Key, definition: &Key) -> bool {
        self.concurrency.parallel_classes(read.class, definition.class) && hiding(read, definition).is_none()
    }
}

/// The lock that hides a definition from a read in another thread, and why.
fn hiding(read: &Key, definition: &Key) -> Option<(Reason, LocationId)> {
    let killed = definition.hidden.iter().find(|&&lock| lock == ATOMIC || read.held.contains(&lock));
    let own = read.hidden.iter().find(|&&lock| lock == ATOMIC || definition.held.contains(&lock));
    match (killed, own) {
        (Some(&lock), _) => Some((Reason::KilledBeforeUnlock, lock)),
        (None, Some(&lock)) => Some((Reason::NotUpwardExposed, lock)),
        (None, None) => None,
    }
}

/// For each access, the set of locks held at it; `None` where control does not come.
fn held_locks(program: &Program, concurrency: &Concurrency, locksets: &Locksets, table: &Table) -> Vec<Option<u32>> {
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

impl Form {
    /// The definitions of other threads that a read does not see, and why; also an initial or control definition that is always
    /// overwritten. What the read's own thread replaces by itself is not listed.
    #[must_use]
    pub fn pruned(&self, program: &Program, read: ReadId) -> Vec<Pruned> {
        let ssa = build_ssa(
            &self.concurrency.flow,
            &self.concurrency.dominators,
            self.table.variables.len(),
            &self.table.ssa,
        );
        self.pruned_of(program, &[read], &ssa).pop().unwrap_or_default()
    }

    /// As [`Self::pruned`], for several reads at once.
    #[must_use]
    pub fn pruned_all(&self, program: &Program, reads: &[ReadId]) -> Vec<Vec<Pruned>> {
        let ssa = build_ssa(
            &self.concurrency.flow,
            &self.concurrency.dominators,
            self.table.variables.len(),
            &self.table.ssa,
        );
        self.pruned_of(program, reads, &ssa)
    }

    fn pruned_of(&self, program: &Program, reads: &[ReadId], ssa: &Ssa) -> Vec<Vec<Pruned>> {
        let builder = Builder {
            program,
            concurrency: &self.concurrency,
            table: &self.table,
            ssa,
            exposure: Exposure { concurrency: &self.concurrency, locksets: &self.locksets, table: &self.table },
        };
        let held = held_locks(program, &self.concurrency, &self.locksets, &self.table);
        let (definitions, _) = builder.by_variable();
        let follower = Follower::new(&self.concurrency, &self.table, ssa);
        let mut reach = Reach { concurrency: &self.concurrency, from: FxHashMap::default() };
        reads
            .iter()
            .map(|&read| {
                let terms = self.terms(read);
                let mut pruned: Vec<Pruned> = Vec::new();
                for of in self.instances_of(read) {
                    let variable = self.table.variable_of(of.access);
                    builder.explain(
                        of.access,
                        &definitions[variable as usize],
                        &held,
                        &follower,
                        &mut reach,
                        &mut pruned,
                    );
                }
                pruned.retain(|of| terms.binary_search(&of.definition).is_err());
                pruned.sort();
                pruned.dedup_by_key(|of| of.definition);
                pruned
            })
            .collect()
    }
}

impl Builder<'_> {
    fn explain(
        &self,
        access: u32,
        definitions: &[u32],
        held: &[Option<u32>],
        follower: &Follower<'_>,
        reach: &mut Reach<'_>,
        pruned: &mut Vec<Pruned>,
    ) {
        let Some(set) = held[access as usize] else { return };
        let of = self.table.accesses[access as usize];
        let variable = self.table.variable_of(access);
        let read_key = self.use_key(access, set);
        let thread = self.concurrency.thread_of(of.block);
        for &other in definitions {
            let access = self.table.accesses[other as usize];
            let (Some(definition), Some(set)) = (access.definition, held[other as usize]) else { continue };
            let elsewhere = access.element.is_some() && of.element.is_some() && access.element != of.element;
            let own = self.concurrency.thread_of(access.block) == thread && !self.concurrency.may_be_many(thread);
            if own || elsewhere {
                continue;
            }
            let (reason, lock) = if self.concurrency.parallel(of.block, access.block) {
                let locks = self.exposure.locksets.locks(set).to_vec();
                let hidden =
                    locks.iter().copied().filter(|&lock| !self.exposure.reaches_release(other, lock)).collect();
                let key = Key { class: self.class_of(other), held: locks, hidden };
                let Some((reason, lock)) = hiding(&read_key, &key) else { continue };
                (reason, self.lock_leaf(lock))
            } else {
                (reach.order(access.block, of.block), None)
            };
            pruned.push(Pruned { definition, reason, lock });
        }
        // What only the drop at a merge took away.
        let all = follower.reaching_without_drops(variable, self.ssa.used(access as usize));
        let initial = all.initial.then(|| self.initial(variable)).flatten();
        let accesses = all.accesses.iter().filter_map(|&access| self.table.accesses[access as usize].definition);
        for definition in accesses.chain(initial) {
            pruned.push(Pruned { definition, reason: Reason::Overwritten, lock: None });
        }
    }

    fn lock_leaf(&self, lock: LocationId) -> Option<LeafId> {
        (lock != ATOMIC).then(|| self.concurrency.locations[lock].leaf)
    }
}

/// Which blocks come after which.
struct Reach<'a> {
    concurrency: &'a Concurrency,
    from: FxHashMap<u32, FxHashSet<u32>>,
}

impl Reach<'_> {
    fn reaches(&mut self, from: u32, to: u32) -> bool {
        let flow = &self.concurrency.flow;
        let set = self.from.entry(from).or_insert_with(|| {
            let mut seen = FxHashSet::default();
            let mut waiting = flow.successors(from).to_vec();
            while let Some(block) = waiting.pop() {
                if seen.insert(block) {
                    waiting.extend(flow.successors(block));
                }
            }
            seen
        });
        set.contains(&to)
    }

    /// Why a definition that is not parallel with a read does not reach it.
    fn order(&mut self, definition: u32, read: u32) -> Reason {
        if self.reaches(definition, read) {
            Reason::Overwritten
        } else if self.reaches(read, definition) {
            Reason::OrderedAfter
        } else {
            Reason::Exclusive
        }
    }
}
