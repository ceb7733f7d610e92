//! Instances indexed by their beginnings.
//!
//! **Input**: instances. **Output**: [`Candidates`]: the number of instances that begin with given accesses. So a search for them
//! follows only beginnings that some instance has.

use super::trie::{NodeId, Trie};
use crate::instance::Instance;

use crate::pattern::MAX_LETTERS;
use crate::universe::AccessId;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// The first accesses of an instance, and where they lead in the trie of patterns.
pub(crate) type Prefix = (NodeId, [AccessId; MAX_LETTERS]);

/// Instances that are looked for.
#[derive(Clone, Debug)]
pub struct Candidates {
    trie: Trie,
    instances: FxHashSet<Instance>,
    /// How many begin so.
    beginnings: IndexMap<Prefix, u32, FxBuildHasher>,
}

impl Candidates {
    /// These.
    #[must_use]
    pub fn new(instances: impl IntoIterator<Item = Instance>) -> Candidates {
        let mut candidates =
            Candidates { trie: Trie::new(), instances: FxHashSet::default(), beginnings: IndexMap::default() };
        for instance in instances {
            if candidates.instances.insert(instance) {
                for prefix in prefixes(&candidates.trie, instance) {
                    *candidates.beginnings.entry(prefix).or_default() += 1;
                }
            }
        }
        candidates
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// How many of them begin, or end, so.
    pub(crate) fn count(&self, prefix: &Prefix) -> u32 {
        self.beginnings.get(prefix).copied().unwrap_or(0)
    }

    /// Number of different beginnings.
    pub(crate) fn beginnings(&self) -> usize {
        self.beginnings.len()
    }

    /// The number of a beginning, and how many begin so; none if none does.
    pub(crate) fn find(&self, prefix: &Prefix) -> Option<(usize, u32)> {
        self.beginnings.get_full(prefix).map(|(number, _, &count)| (number, count))
    }

    /// The numbers of all beginnings of an instance that is one of them.
    pub(crate) fn numbers(&self, instance: Instance) -> impl Iterator<Item = usize> + '_ {
        prefixes(&self.trie, instance).filter_map(|prefix| self.beginnings.get_index_of(&prefix))
    }

    /// Takes one out; whether it was in.
    pub(crate) fn remove(&mut self, instance: &Instance) -> bool {
        let was_in = self.instances.remove(instance);
        if was_in {
            for prefix in prefixes(&self.trie, *instance) {
                if let Some(count) = self.beginnings.get_mut(&prefix) {
                    *count -= 1;
                }
            }
        }
        was_in
    }
}

/// All beginnings of an instance, itself included.
fn prefixes(trie: &Trie, instance: Instance) -> impl Iterator<Item = Prefix> + use<'_> {
    (1..=instance.accesses().len()).map(move |length| {
        let mut steps = [AccessId(0); MAX_LETTERS];
        steps[..length].copy_from_slice(&instance.accesses()[..length]);
        (trie.behind(instance.pattern, length), steps)
    })
}
