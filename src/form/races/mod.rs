//! Potential races, found without running the program.
//!
//! **Input**: a program and its [`Form`]. **Output**: [`PotentialRaces`]: the unordered pairs of accesses, read–write and
//! write–write, that may race; and for any other pair of accesses to one variable the reason why they cannot.
//!
//! **Algorithm** (locksets as in Savage et al. 1997, with may-happen-in-parallel in place of an observed order)
//! 1. `group`: the accesses to each shared variable of each context are grouped by class of block, locks certainly
//!    held, and whether they are atomic.
//! 2. Two groups may race if their classes may run in parallel, no lock is certainly held in both, and they are not both atomic.
//!    Groups are compared, not accesses. Two accesses of such groups race unless both read or they certainly refer to different
//!    elements.
//! 3. `pairs`: pairs are made on demand only, access by access, and each once however many contexts have it.
//! 4. `separation`: describes the reasons of step 2 against a race.
//!
//! **Soundness and limits**: take two threads of some execution that stand at the same time before accesses to one cell, one of
//! them a write and not both atomic. Every such pair of places is potential. This holds because MHP and sharing are
//! over-approximations and locksets under-approximations. Locals of functions whose threads are not distinguished count as one
//! variable; the accesses for warnings (`unprotected`) exclude them. The module does not see order by the values of variables, by
//! conditions and by counting semaphores.

mod group;
mod pairs;
mod separation;
#[cfg(test)]
mod tests;
mod unprotected;

pub use pairs::Pairs;
pub use separation::{Order, Separation};
pub use unprotected::HeldMost;

use super::Form;
use cssame_concurrency::LocationId;
use cssame_concurrency::lockset::{ATOMIC, Hold, excluding};
use cssame_ir::sync::Mode;
use cssame_ir::{Access, LeafId, Program};
pub(crate) use group::Site;
use group::{Group, Key, Sites};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The pairs of accesses of a program that may race.
#[derive(Clone, Debug)]
pub struct PotentialRaces<'a> {
    program: &'a Program,
    form: &'a Form,
    sites: Sites,
}

/// Finds the pairs of accesses that may race.
#[must_use]
pub fn potential_races<'a>(program: &'a Program, form: &'a Form) -> PotentialRaces<'a> {
    PotentialRaces { program, form, sites: Sites::collect(program, form, |_| true) }
}

/// The same without what gives memory back: whether that comes too early is for executions to tell.
#[must_use]
pub(crate) fn potential_races_of_values<'a>(program: &'a Program, form: &'a Form) -> PotentialRaces<'a> {
    let is_value = |access| match access {
        Access::Read(_) => true,
        Access::Write(definition) => !program.definitions[definition].is_free(),
    };
    PotentialRaces { program, form, sites: Sites::collect(program, form, is_value) }
}

impl PotentialRaces<'_> {
    /// All pairs, each once, the lesser access first, sorted. Pairs are found as the iterator goes on, so that taking
    /// a few is cheap.
    #[must_use]
    pub fn pairs(&self) -> Pairs<'_> {
        Pairs::new(self, None)
    }

    /// The pairs that may race at a variable, in the same order. A pair of accesses that touch several variables, such
    /// as those of a method that runs on two objects, belongs to each of them.
    #[must_use]
    pub fn pairs_of(&self, variable: LeafId) -> Pairs<'_> {
        Pairs::new(self, Some(variable))
    }

    /// The variables that have a pair, sorted. An array is one variable.
    #[must_use]
    pub fn variables(&self) -> Vec<LeafId> {
        let racy = (0..self.sites.groups.len() as u32).filter(|&variable| self.has_pair(variable));
        let mut leaves: Vec<LeafId> = racy.map(|variable| self.leaf_of(variable)).collect();
        leaves.sort_unstable();
        leaves.dedup();
        leaves
    }

    /// Whether an access may be made more than once in an execution: in a loop, in several calls, or by several threads.
    #[must_use]
    pub fn may_repeat(&self, access: Access) -> bool {
        let blocks: BTreeSet<u32> = self.sites.of(access).iter().map(|site| site.block).collect();
        let mut repetitions = self.form.concurrency.repetitions();
        blocks.len() > 1 || blocks.iter().any(|&block| !repetitions.of(block).is_once())
    }

    /// The accesses to shared memory that race with no other one, and are not atomic: while a thread stands before one of them, no
    /// other thread accesses the cell in a way that conflicts.
    #[must_use]
    pub fn race_free(&self) -> Vec<Access> {
        // What is atomic races with nothing that is atomic as well, but does not change places with it.
        let mut racing: FxHashSet<Access> = FxHashSet::default();
        for variable in 0..self.sites.groups.len() as u32 {
            let groups = self.groups(variable);
            for (position, a) in groups.iter().enumerate() {
                if a.key.atomic {
                    racing.extend(a.reads.iter().chain(&a.writes).map(|&(_, access)| access));
                }
                for b in groups[..=position].iter().filter(|b| a.conflicts(b)) {
                    if self.may_meet(variable, a.key, b.key) {
                        group::meeting(a, b, &mut racing);
                        group::meeting(b, a, &mut racing);
                    }
                }
            }
        }
        let mut all: Vec<Access> = self.sites.all().iter().map(|site| site.access).collect();
        all.dedup();
        all.retain(|access| !racing.contains(access));
        all
    }

    /// Whether two accesses may race.
    #[must_use]
    pub fn contains(&self, a: Access, b: Access) -> bool {
        (a.is_write() || b.is_write())
            && self.sites.distinct(a).any(|x| {
                let mut others = self.sites.distinct_at(b, x.variable);
                others.any(|y| {
                    group::may_be_one_element(x.element, y.element)
                        && self.may_meet(x.variable, self.key(x), self.key(y))
                })
            })
    }

    /// The accesses, by variable of the unfolded program and group.
    pub(crate) fn groups(&self, variable: u32) -> &[Group] {
        &self.sites.groups[variable as usize]
    }

    /// The part of memory that a variable of the unfolded program is, or is an element of.
    pub(crate) fn leaf_of(&self, variable: u32) -> LeafId {
        self.form.table.variables[variable as usize].leaf
    }

    fn has_pair(&self, variable: u32) -> bool {
        let groups = self.groups(variable);
        groups.iter().enumerate().any(|(position, a)| {
            let mut others = groups[..=position].iter().filter(|b| a.conflicts(b));
            others.any(|b| self.may_meet(variable, a.key, b.key))
        })
    }

    /// Whether accesses of two groups may be made at the same time, without a lock between them.
    pub(crate) fn may_meet(&self, variable: u32, a: Key, b: Key) -> bool {
        !(a.atomic && b.atomic) && self.common_locks(a, b).next().is_none() && self.may_run_at_once(variable, a, b)
    }

    /// What the accesses of the group of a site have in common.
    pub(crate) fn key(&self, site: &Site) -> Key {
        self.groups(site.variable)[site.group as usize].key
    }

    /// Step 2, without locks: whether two threads may stand before accesses of these groups that mean one variable.
    fn may_run_at_once(&self, variable: u32, a: Key, b: Key) -> bool {
        self.form.concurrency.parallel_classes(a.class, b.class) && self.may_be_one_frame(variable, a, b)
    }

    /// Whether the accesses can mean one frame of a local variable where they are made at the same time.
    fn may_be_one_frame(&self, variable: u32, a: Key, b: Key) -> bool {
        let concurrency = &self.form.concurrency;
        let instance = &concurrency.instances[self.form.table.variables[variable as usize].instance];
        let Some(context) = instance.context.filter(|_| !instance.unique) else { return true };
        let owner = concurrency.contexts[context].thread;
        let (a, b) = (concurrency.order.representative(a.class), concurrency.order.representative(b.class));
        // The frame belongs to one instance of its thread, unless that is the pseudo-thread, which runs the code of many:
        // no thread is below itself, since recursion through a fork is run by the pseudo-thread.
        let runs_itself = concurrency.contexts[concurrency.threads[owner].root].thread == owner;
        let by_owner = concurrency.thread_of(a) == owner && concurrency.thread_of(b) == owner;
        !(runs_itself && by_owner) && concurrency.parallel_in_frame(a, b, Some(owner))
    }

    /// The locks, [`ATOMIC`] included, that are held in both groups, but for readers-writer locks that both hold for
    /// reading. Those of the row of an element are such locks where the accesses mean one cell.
    fn common_locks(&self, a: Key, b: Key) -> impl Iterator<Item = LocationId> {
        let locks = excluding(self.form.locksets.locks(a.lockset), self.form.locksets.locks(b.lockset));
        let of_rows = excluding(self.sites.row_locks(a.row_locks), self.sites.row_locks(b.row_locks));
        locks.chain(of_rows).map(|hold| hold.lock)
    }

    /// The locks that are held in a group; the locks of a row by their array where it is not known which they are.
    pub(crate) fn held(&self, key: Key) -> Vec<Hold> {
        let concurrency = &self.form.concurrency;
        let mut held = self.form.locksets.locks(key.lockset).to_vec();
        let array = |hold: &Hold| {
            let lock = concurrency.locations.get(hold.lock)?;
            Some((lock.instance, lock.leaf))
        };
        let known: Vec<_> = held.iter().filter_map(array).collect();
        let of_row = self.sites.row_locks(key.row_locks).iter();
        held.extend(of_row.filter(|hold| array(hold).is_none_or(|array| !known.contains(&array))));
        held
    }

    /// The name of a synchronisation object as its declaration gives it.
    fn object_name(&self, object: LocationId) -> String {
        self.form.concurrency.location_name(self.program, object)
    }

    /// The locks that are certainly held at an access, in all contexts that make it, by name; `None` for an access
    /// that touches nothing shared or never runs.
    #[must_use]
    pub fn locks_held(&self, access: Access) -> Option<Vec<String>> {
        let mut sites = self.sites.distinct(access);
        let mut held = self.held(self.key(sites.next()?));
        for site in sites {
            let others = self.held(self.key(site));
            held.retain(|hold| others.contains(hold));
        }
        held.retain(|hold| hold.lock != ATOMIC);
        let name = |hold: Hold| match hold.mode {
            Mode::Exclusive => self.object_name(hold.lock),
            Mode::Shared => format!("{} (read)", self.object_name(hold.lock)),
        };
        Some(held.into_iter().map(name).collect())
    }
}
