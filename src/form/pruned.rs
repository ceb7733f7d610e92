//! The definitions that were pruned from the pi functions, and the reasons.
//!
//! **Input**: the [`Form`]. **Output**: for each read, the definitions of other threads that are no terms, each with a
//! [`Reason`]; equal lists are stored once.
//!
//! **Algorithm**
//! 1. If a definition in a parallel block is no term, a lock hides it. The reason is that of the pruning rule ([`super::terms`]),
//!    decided once for each group.
//! 2. If a definition is in a block that is not parallel with the read, the reason is `overwritten` if a path of value flow leads
//!    from the definition to the read, `ordered-after` if one leads from the read to the definition, `exclusive` if none does.
//! 3. Definitions that only the drop at a merge removed ([`super::reaching`]) are `overwritten` as well.
//! 4. Definitions that guards ([`super::guard`]) and the states of locks ([`super::lock_state`]) removed have the reason that
//!    these give.
//!
//! **Soundness and limits**: the reasons explain an earlier decision; they decide nothing.

use super::exposure::Exposure;
use super::reaching::ReachingDefinitions;
use super::terms::{Builder, Group, Key, held_locks, hiding};
use super::{Form, Pruned, Reason, TermSetId};
use cssame_concurrency::lockset::ATOMIC;
use cssame_concurrency::mutex_body::Direction;
use cssame_concurrency::{Concurrency, ThreadId};
use cssame_ir::{Program, ReadId};
use cssame_ssa::{Ssa, build_ssa};
use fixedbitset::FixedBitSet;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// What was pruned from several reads.
#[derive(Clone, Debug)]
pub struct PrunedLists {
    /// The distinct lists, each sorted.
    pub lists: Vec<Vec<Pruned>>,
    /// For each of the reads, the index of its list.
    pub of_read: Vec<usize>,
}

impl Form {
    /// The definitions of other threads that a read does not see, and why; also an initial or control definition that is always
    /// overwritten. What the read's own thread replaces by itself is not listed.
    #[must_use]
    pub fn pruned(&self, program: &Program, read: ReadId) -> Vec<Pruned> {
        self.pruned_all(program, &[read]).lists.pop().unwrap_or_default()
    }

    /// As [`Self::pruned`], for several reads at once.
    #[must_use]
    pub fn pruned_all(&self, program: &Program, reads: &[ReadId]) -> PrunedLists {
        let ssa = build_ssa(
            &self.concurrency.flow,
            &self.concurrency.dominators,
            self.table.variables.len(),
            &self.table.ssa,
        );
        let builder = Builder {
            program,
            concurrency: &self.concurrency,
            table: &self.table,
            ssa: &ssa,
            exposure: Exposure { concurrency: &self.concurrency, locksets: &self.locksets, table: &self.table },
        };
        let mut explainer = Explainer {
            form: self,
            control: ReachingDefinitions::new(&self.concurrency, &self.table, &ssa),
            ssa: &ssa,
            held: held_locks(program, &self.concurrency, &self.locksets, &self.table),
            definitions: builder.by_variable().0,
            builder,
            groups: FxHashMap::default(),
            around: Around { concurrency: &self.concurrency, reached: FxHashMap::default() },
            known: FxHashMap::default(),
            found: IndexSet::default(),
            lists: FxHashMap::default(),
            distinct: IndexSet::default(),
        };
        let of_read = reads.iter().map(|&read| explainer.list(read)).collect();
        PrunedLists { lists: explainer.distinct.into_iter().collect(), of_read }
    }
}

/// Definitions of one thread with equal keys.
struct ThreadGroup {
    thread: ThreadId,
    group: Group,
}

/// What the definitions that an access does not see depend on, but for its variable.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    block: u32,
    key: Key,
    version: u32,
    element: Option<u32>,
}

/// Explains reads one after the other.
struct Explainer<'a> {
    form: &'a Form,
    builder: Builder<'a>,
    control: ReachingDefinitions<'a>,
    ssa: &'a Ssa,
    held: Vec<Option<u32>>,
    /// By variable.
    definitions: Vec<Vec<u32>>,
    /// By variable, as far as they were asked for.
    groups: FxHashMap<u32, Vec<ThreadGroup>>,
    around: Around<'a>,
    /// What was found at a place of a variable, as an index of [`Self::found`].
    known: FxHashMap<(u32, Place), usize>,
    /// The distinct lists of places, terms included; each sorted, each definition once.
    found: IndexSet<Vec<Pruned>, FxBuildHasher>,
    /// The lists of reads, by what was found at their places, and their terms.
    lists: FxHashMap<Vec<(usize, TermSetId, TermSetId)>, usize>,
    /// The distinct lists.
    distinct: IndexSet<Vec<Pruned>, FxBuildHasher>,
}

impl Explainer<'_> {
    /// The list of a read, by its index.
    fn list(&mut self, read: ReadId) -> usize {
        let mut places = Vec::new();
        for of in self.form.instances_of(read) {
            places.extend(self.place(of.access).map(|place| (place, of.control, of.concurrent)));
        }
        let excluded = self.form.excluded.get(&read);
        if let Some(&known) = self.lists.get(&places).filter(|_| excluded.is_none()) {
            return known;
        }
        let terms = self.form.terms(read);
        let found = places.iter().flat_map(|&(place, ..)| &self.found[place]);
        let mut pruned: Vec<Pruned> =
            found.filter(|of| terms.binary_search(&of.definition).is_err()).cloned().collect();
        let of_excluded = excluded.into_iter().flatten();
        pruned.extend(of_excluded.filter(|of| terms.binary_search(&of.definition).is_err()).cloned());
        pruned.sort_unstable();
        pruned.dedup_by_key(|of| of.definition);
        let list = self.distinct.insert_full(pruned).0;
        if excluded.is_none() {
            self.lists.insert(places, list);
        }
        list
    }

    /// Finds out what an access does not see; gives the index of it in [`Self::found`].
    fn place(&mut self, access: u32) -> Option<usize> {
        let set = self.held[access as usize]?;
        let of = self.form.table.accesses[access as usize];
        let variable = self.form.table.variable_of(access);
        let key = self.builder.use_key(access, set);
        let version = self.ssa.used(access as usize);
        let place = Place { block: of.block, key, version, element: of.element };
        let name = (variable, place);
        if let Some(&known) = self.known.get(&name) {
            return Some(known);
        }
        let mut pruned = self.hidden_or_ordered(variable, &name.1);
        pruned.extend(self.replaced(variable, version));
        pruned.sort_unstable();
        pruned.dedup_by_key(|of| of.definition);
        let found = self.found.insert_full(pruned).0;
        self.known.insert(name, found);
        Some(found)
    }

    /// The definitions of other threads that a lock hides, or that cannot come before.
    fn hidden_or_ordered(&mut self, variable: u32, place: &Place) -> Vec<Pruned> {
        let Explainer { form, builder, held, definitions, groups, around, .. } = self;
        let (concurrency, table) = (&form.concurrency, &form.table);
        let groups =
            groups.entry(variable).or_insert_with(|| by_thread(builder, &definitions[variable as usize], held));
        let thread = concurrency.thread_of(place.block);
        let alone = !concurrency.may_be_many(thread);
        let mut pruned = Vec::new();
        for ThreadGroup { thread: other, group } in groups {
            if *other == thread && alone {
                continue;
            }
            let reason = if concurrency.parallel_classes(place.key.class, group.key.class) {
                let Some((reason, lock)) = hiding(&place.key, &group.key) else { continue };
                Some((reason, (lock != ATOMIC).then_some(lock)))
            } else {
                None
            };
            for &access in &group.accesses {
                let access = table.accesses[access as usize];
                let Some(definition) = access.definition else { continue };
                if access.element.is_some() && place.element.is_some() && access.element != place.element {
                    continue;
                }
                let (reason, lock) = reason.unwrap_or_else(|| (around.order(access.block, place.block), None));
                pruned.push(Pruned { definition, reason, lock });
            }
        }
        pruned
    }

    /// What only the drop at a merge took away, and all else that reaches a version.
    fn replaced(&self, variable: u32, version: u32) -> Vec<Pruned> {
        let all = self.control.reaching_without_drops(variable, version);
        let initial = all.initial.then(|| self.builder.initial(variable)).flatten();
        let made = all.accesses.iter().filter_map(|&access| self.form.table.accesses[access as usize].definition);
        made.chain(initial).map(|definition| Pruned { definition, reason: Reason::Overwritten, lock: None }).collect()
    }
}

/// The groups of definitions, by thread.
fn by_thread(builder: &Builder<'_>, definitions: &[u32], held: &[Option<u32>]) -> Vec<ThreadGroup> {
    let mut found: IndexMap<(usize, ThreadId), Vec<u32>, FxBuildHasher> = IndexMap::default();
    let groups = builder.group(definitions, held, &mut FxHashMap::default());
    for (index, group) in groups.iter().enumerate() {
        for &access in &group.accesses {
            let thread = builder.concurrency.thread_of(builder.table.block_of(access));
            found.entry((index, thread)).or_default().push(access);
        }
    }
    let group = |((index, thread), accesses): ((usize, ThreadId), _)| ThreadGroup {
        thread,
        group: Group { key: groups[index].key.clone(), accesses },
    };
    found.into_iter().map(group).collect()
}

/// Which blocks come before and after a definition.
struct Around<'a> {
    concurrency: &'a Concurrency,
    /// By block and direction: the blocks that a path leads to.
    reached: FxHashMap<(u32, Direction), FixedBitSet>,
}

/// Bits that the sets of reached blocks take at most: 64 MiB.
const MAX_BITS: usize = 1 << 29;

impl Around<'_> {
    /// Whether a path of at least one edge leads from `block` to `other`, or, backward, from `other` to `block`.
    fn reaches(&mut self, block: u32, other: u32, direction: Direction) -> bool {
        let flow = &self.concurrency.flow;
        if self.reached.len().saturating_mul(flow.node_count()) > MAX_BITS {
            self.reached.clear();
        }
        let set = self.reached.entry((block, direction)).or_insert_with(|| {
            let next = |block| match direction {
                Direction::Forward => flow.successors(block),
                Direction::Backward => flow.predecessors(block),
            };
            let mut seen = FixedBitSet::with_capacity(flow.node_count());
            let mut waiting = next(block).to_vec();
            while let Some(block) = waiting.pop() {
                if !seen.put(block as usize) {
                    waiting.extend(next(block));
                }
            }
            seen
        });
        set.contains(other as usize)
    }

    /// Why a definition that is not parallel with a read does not reach it.
    fn order(&mut self, definition: u32, read: u32) -> Reason {
        let dominates = definition != read && self.concurrency.dominators.dominates(definition, read);
        if dominates || self.reaches(definition, read, Direction::Forward) {
            Reason::Overwritten
        } else if self.reaches(definition, read, Direction::Backward) {
            Reason::OrderedAfter
        } else {
            Reason::Exclusive
        }
    }
}
