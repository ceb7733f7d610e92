//! Groups of locks and conditions that have a common order.
//!
//! **Input**: the numbered locks and conditions of the operations, and which lock a thread releases to wait for which condition.
//! **Output**: the group of each.
//!
//! **Algorithm**: union-find (`ena`).
//! 1. A wait works on a condition and on a lock, so these are in one group. All others have separate orders.
//! 2. A wait of a thread shows that two belong together. If operations have worked on both before as if they were independent,
//!    the search begins again with this knowledge ([`Refusal::Regrouped`](super::Refusal)).
//! 3. For globals it guesses more: a condition and a lock belong together if they have the same distance as two that do, as in
//!    arrays, and in objects of one class.
//!
//! **Soundness and limits**: in the end, the condition and the lock of each wait in an execution are in one group. There is no
//! other wait: the first wait that no execution shows would follow from its past. Some execution shows that past, since the
//! groups are right up to there. Groups that are too large only cost executions. After [`RESTARTS`] restarts, all are in one
//! group.

use ena::unify::{InPlaceUnificationTable, UnifyKey, UnifyValue};
use rustc_hash::FxHashMap;

/// How often a search begins again before all locks and conditions are one group.
const RESTARTS: usize = 6;

/// A lock or a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key(u32);

/// The number of a group: that of its object on which an operation has worked first; none before.
#[derive(Clone, Copy, Debug, Default)]
struct Number(Option<u32>);

impl UnifyKey for Key {
    type Value = Number;

    fn index(&self) -> u32 {
        self.0
    }

    fn from_index(index: u32) -> Key {
        Key(index)
    }

    fn tag() -> &'static str {
        "lock or condition"
    }
}

impl UnifyValue for Number {
    type Error = ena::unify::NoError;

    /// Where operations have worked on both, the search begins again: either will do.
    fn unify_values(one: &Number, other: &Number) -> Result<Number, ena::unify::NoError> {
        Ok(Number(one.0.or(other.0)))
    }
}

/// Groups of locks and conditions, by number.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Numbers below that are those of globals.
    globals: u32,
    keys: FxHashMap<u32, Key>,
    table: InPlaceUnificationTable<Key>,
    /// The objects on which operations have worked, also before the search has begun again, and whether they are conditions.
    known: FxHashMap<u32, bool>,
    /// How far behind its condition a lock stands, of globals.
    distances: Vec<i64>,
    restarts: usize,
}

impl Groups {
    /// Nothing is known yet but which conditions are waited for with which locks whatever happens.
    pub(super) fn new(globals: u32, waits: impl Iterator<Item = (u32, u32)>) -> Groups {
        let mut groups = Groups { globals, ..Groups::default() };
        waits.for_each(|(condition, lock)| groups.unite(condition, lock));
        groups
    }

    /// The group of a lock, or a condition, on which an operation works: the number of one of its objects; 0 where all are one.
    pub(super) fn of(&mut self, object: u32, is_condition: bool) -> u32 {
        if self.restarts > RESTARTS {
            return 0;
        }
        if self.known.insert(object, is_condition).is_none() {
            self.guess(object, is_condition);
        }
        let key = self.key(object);
        self.table.probe_value(key).0.unwrap_or_else(|| {
            self.table.union_value(key, Number(Some(object)));
            object
        })
    }

    /// A thread gives a lock back to wait for a condition; false if operations have worked on both apart.
    #[must_use]
    pub(super) fn join(&mut self, condition: u32, lock: u32) -> bool {
        let keys = (self.key(condition), self.key(lock));
        if self.restarts > RESTARTS || self.table.unioned(keys.0, keys.1) {
            return true;
        }
        let distance = i64::from(lock) - i64::from(condition);
        if condition.max(lock) < self.globals && !self.distances.contains(&distance) {
            self.distances.push(distance);
        }
        let are_apart = self.are_used_apart(condition, lock);
        self.unite(condition, lock);
        !are_apart
    }

    /// The search begins again: no operation has worked on any group.
    pub(super) fn restart(&mut self) {
        self.restarts += 1;
        let mut before = std::mem::take(&mut self.table);
        let keys = (0..before.len() as u32).map(Key);
        keys.clone().for_each(|_| _ = self.table.new_key(Number::default()));
        keys.for_each(|key| self.table.union(key, before.find(key)));
        let mut known: Vec<(u32, bool)> =
            self.known.iter().map(|(&object, &is_condition)| (object, is_condition)).collect();
        known.sort_unstable();
        known.into_iter().for_each(|(object, is_condition)| self.guess(object, is_condition));
    }

    /// Guesses what else belongs to the group of an object.
    fn guess(&mut self, object: u32, is_condition: bool) {
        if object >= self.globals {
            return;
        }
        for index in 0..self.distances.len() {
            let distance = self.distances[index];
            let other = i64::from(object) + if is_condition { distance } else { -distance };
            if let Some(other) = u32::try_from(other).ok().filter(|&other| other < self.globals)
                && !self.are_used_apart(object, other)
            {
                self.unite(object, other);
            }
        }
    }

    fn are_used_apart(&mut self, one: u32, other: u32) -> bool {
        let keys = [self.key(one), self.key(other)];
        let [one, other] = keys.map(|key| self.table.probe_value(key).0);
        one.is_some() && other.is_some() && one != other
    }

    fn unite(&mut self, one: u32, other: u32) {
        let keys = (self.key(one), self.key(other));
        self.table.union(keys.0, keys.1);
    }

    fn key(&mut self, object: u32) -> Key {
        *self.keys.entry(object).or_insert_with(|| self.table.new_key(Number::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_joins_its_lock_and_its_condition() {
        let mut groups = Groups::new(100, std::iter::empty());
        let (lock, other) = (groups.of(10, false), groups.of(11, false));
        assert_ne!(lock, other);
        // Nobody has worked on the condition before.
        assert!(groups.join(20, 10));
        assert_eq!(groups.of(20, true), lock);
        // A condition as far from its lock.
        assert_eq!(groups.of(21, true), other);
        assert!(groups.join(21, 11));
    }

    #[test]
    fn what_was_apart_is_one_group_when_the_search_begins_again() {
        let mut groups = Groups::new(100, std::iter::empty());
        let before = [groups.of(10, false), groups.of(20, true), groups.of(11, false), groups.of(21, true)];
        assert_eq!(before, [10, 20, 11, 21]);
        assert!(!groups.join(20, 10));
        groups.restart();
        assert_eq!(groups.of(10, false), groups.of(20, true));
        assert_eq!(groups.of(11, false), groups.of(21, true));
        assert_ne!(groups.of(10, false), groups.of(11, false));
        assert!(groups.join(21, 11));
    }

    #[test]
    fn all_are_one_group_where_too_many_have_to_be_joined() {
        let mut groups = Groups::new(0, std::iter::empty());
        for number in 1..=RESTARTS as u32 + 1 {
            let (lock, condition) = (2 * number, 2 * number + 1);
            assert_ne!(groups.of(lock, false), groups.of(condition, true));
            assert!(!groups.join(condition, lock));
            groups.restart();
        }
        assert_eq!((groups.of(500, false), groups.of(600, false)), (0, 0));
        assert!(groups.join(600, 500));
    }
}
