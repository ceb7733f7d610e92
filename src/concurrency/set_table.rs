//! Interned sets: each distinct set is stored once and identified by a number.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Names an interned set; 0 is the empty set.
pub type SetId = u32;

/// Interned sets of small values, each sorted.
#[derive(Clone, Debug)]
pub struct SetTable<T> {
    sets: Vec<Vec<T>>,
    ids: FxHashMap<Vec<T>, SetId>,
    /// A set keeps that many of its least members.
    capacity: usize,
}

impl<T: Copy + Ord + Hash> SetTable<T> {
    /// Only the empty set; others keep at most `capacity` members.
    #[must_use]
    pub fn new(capacity: usize) -> SetTable<T> {
        SetTable { sets: vec![Vec::new()], ids: FxHashMap::from_iter([(Vec::new(), 0)]), capacity }
    }

    /// The members of a set, sorted.
    #[must_use]
    pub fn get(&self, set: SetId) -> &[T] {
        &self.sets[set as usize]
    }

    /// The set of these members.
    pub fn set(&mut self, mut members: Vec<T>) -> SetId {
        members.sort_unstable();
        members.dedup();
        self.intern(members)
    }

    /// A set with one member more.
    pub fn with(&mut self, set: SetId, member: T) -> SetId {
        let mut members = self.get(set).to_vec();
        if let Err(position) = members.binary_search(&member) {
            members.insert(position, member);
        }
        self.intern(members)
    }

    /// The members of a set that are to be kept.
    pub fn retain(&mut self, set: SetId, keep: impl Fn(T) -> bool) -> SetId {
        let members = self.get(set).iter().copied().filter(|&member| keep(member)).collect();
        self.intern(members)
    }

    /// The members of both sets.
    pub fn intersection(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b {
            return a;
        }
        let other = self.get(b);
        let members = self.get(a).iter().copied().filter(|member| other.contains(member)).collect();
        self.intern(members)
    }

    /// The members of either set.
    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b {
            return a;
        }
        let mut members = [self.get(a), self.get(b)].concat();
        members.sort_unstable();
        members.dedup();
        self.intern(members)
    }

    fn intern(&mut self, mut members: Vec<T>) -> SetId {
        members.truncate(self.capacity);
        if let Some(&known) = self.ids.get(&members) {
            return known;
        }
        let id = self.sets.len() as SetId;
        self.sets.push(members.clone());
        self.ids.insert(members, id);
        id
    }
}
