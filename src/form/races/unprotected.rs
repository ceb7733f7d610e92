//! The accesses of a warning, and the locks that accesses hold.
//!
//! **Input**: the groups of accesses. **Output**: for each variable, the accesses that may race with another access, or with
//! themselves in another thread; one such access; the lock that most accesses hold.
//!
//! **Algorithm**: for each group, kind of access and element, find the first group that it may race with and that has a
//! conflicting access. The answer holds for all of its accesses. No pairs are made.
//!
//! **Soundness and limits**: locals of functions whose threads are not distinguished are left out: it is unknown which of their
//! accesses refer to the same cell.

use super::PotentialRaces;
use super::group::{Group, Site, rows};
use cssame_concurrency::LocationId;
use cssame_concurrency::lockset::{ATOMIC, holds_lock};
use cssame_ir::{Access, LeafId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The lock that most accesses to a variable hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldMost {
    /// Its name.
    pub lock: String,
    /// How many accesses in the text certainly hold it.
    pub holding: usize,
    /// How many accesses in the text there are.
    pub accesses: usize,
}

/// What decides with which groups a site conflicts: variable, group, element, and whether it writes.
type SiteKey = (u32, u32, Option<u32>, bool);

fn site_key(site: &Site) -> SiteKey {
    (site.variable, site.group, site.element, site.access.is_write())
}

impl PotentialRaces<'_> {
    /// The sites that may race, by variable and access; those of locals that are not told apart are left out.
    pub(crate) fn unprotected(&self) -> BTreeMap<LeafId, Vec<&Site>> {
        let mut known: FxHashMap<SiteKey, bool> = FxHashMap::default();
        let mut found: BTreeMap<LeafId, Vec<&Site>> = BTreeMap::new();
        for site in self.sites.all() {
            let key = (site.variable, site.group, site.element, site.access.is_write());
            let races =
                *known.entry(key).or_insert_with(|| self.is_told_apart(site.variable) && self.has_partner(site));
            if races {
                found.entry(self.leaf_of(site.variable)).or_default().push(site);
            }
        }
        found
    }

    /// Whether some access races with that one.
    fn has_partner(&self, site: &Site) -> bool {
        let key = self.key(site);
        self.conflicting(site).any(|group| self.may_meet(site.variable, key, group.key))
    }

    /// Whether some access would race with that one if there were no locks and nothing were atomic.
    fn has_parallel_partner(&self, site: &Site) -> bool {
        let key = self.key(site);
        self.conflicting(site).any(|group| self.may_run_at_once(site.variable, key, group.key))
    }

    /// The groups that have an access which conflicts with that one.
    fn conflicting(&self, site: &Site) -> impl Iterator<Item = &Group> {
        let (writes, element) = (site.access.is_write(), site.element);
        let groups = self.groups(site.variable).iter();
        groups.filter(move |group| if writes { group.has(element) } else { group.has_write(element) })
    }

    /// The first access in the text that races with that one.
    pub(crate) fn first_partner(&self, site: &Site) -> Option<Access> {
        let key = self.key(site);
        let groups = self.groups(site.variable).iter();
        let met = groups.filter(|group| self.may_meet(site.variable, key, group.key));
        let lists = met.flat_map(|group| [Some(&group.writes), site.access.is_write().then_some(&group.reads)]);
        let partners = lists.flatten().flat_map(|list| rows(list, site.element)).flatten();
        partners.map(|&(_, access)| access).min_by_key(|access| (access.span(self.program), *access))
    }

    /// Whether the accesses to a variable of the unfolded program certainly mean one cell (or array) where they are
    /// said to race.
    fn is_told_apart(&self, variable: u32) -> bool {
        let concurrency = &self.form.concurrency;
        let instance = &concurrency.instances[self.form.table.variables[variable as usize].instance];
        match instance.context.filter(|_| !instance.unique) {
            Some(context) => !concurrency.threads[concurrency.contexts[context].thread].unordered,
            None => true,
        }
    }

    /// For some variables, sorted: the lock that most accesses hold. It is held by more than half of them, and then of
    /// several locks the first by name; or by just half of them, where it is the only such lock. Accesses that nothing
    /// conflicts with at the same time, such as those before the first thread is made, do not count.
    #[must_use]
    pub fn held_most(&self, variables: &[LeafId]) -> BTreeMap<LeafId, HeldMost> {
        let mut counts: BTreeMap<LeafId, (usize, FxHashMap<LocationId, usize>)> = BTreeMap::new();
        let mut known: FxHashMap<SiteKey, bool> = FxHashMap::default();
        let mut counted = |site: &&Site| {
            variables.binary_search(&self.leaf_of(site.variable)).is_ok()
                && *known.entry(site_key(site)).or_insert_with(|| self.has_parallel_partner(site))
        };
        for of_access in self.sites.all().chunk_by(|a, b| a.access == b.access) {
            let sites: Vec<&Site> = of_access.iter().filter(&mut counted).collect();
            for (leaf, held) in self.held_at(&sites) {
                let (accesses, holding) = counts.entry(leaf).or_default();
                *accesses += 1;
                held.into_iter().for_each(|lock| *holding.entry(lock).or_default() += 1);
            }
        }
        let most = counts.into_iter().filter_map(|(leaf, (accesses, holding))| {
            let mut named: Vec<_> = holding.iter().map(|(&lock, &count)| (count, self.object_name(lock))).collect();
            named.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            let (holding, lock) = named.first().map(|(holding, lock)| (*holding, lock))?;
            let only = named.get(1).is_none_or(|second| second.0 < holding);
            let most = holding * 2 > accesses || holding * 2 == accesses && only;
            // Where all of them do, they hold it for reading, which helps against writers alone.
            (most && holding < accesses).then(|| (leaf, HeldMost { lock: lock.to_owned(), holding, accesses }))
        });
        most.collect()
    }

    /// The locks that all of these sites at a variable hold, for each variable.
    fn held_at(&self, sites: &[&Site]) -> BTreeMap<LeafId, Vec<LocationId>> {
        let mut held: BTreeMap<LeafId, Vec<LocationId>> = BTreeMap::new();
        for site in sites {
            let locks = &self.held(self.key(site));
            held.entry(self.leaf_of(site.variable))
                .and_modify(|known| known.retain(|&lock| holds_lock(locks, lock)))
                .or_insert_with(|| locks.iter().map(|hold| hold.lock).filter(|&lock| lock != ATOMIC).collect());
        }
        held
    }
}
