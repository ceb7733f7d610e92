//! The fingerprints of all states that were met, with their nodes.
//!
//! **Input**: fingerprints. **Output**: for each the node under which it was entered first.
//!
//! **Algorithm**: hash tables with open addressing and linear probing. Key and value stand side by side, so looking for a
//! fingerprint and entering it touch the same cache line.
//! 1. The place of a fingerprint in its table is its lower half as a fraction of the size, so that a table may have any
//!    size, and one that grows moves its entries in order.
//! 2. There is one table at first. When it is large it is divided into [`PARTS`], by the highest bits of the fingerprint.
//!    Each grows apart by a third, so that hardly anything is held twice while it does.
//!
//! **Soundness and limits**: exact on fingerprints. Between 25 and 34 bytes a fingerprint, but for the first some ten thousand: 40 when the only table
//! was divided.

use smallvec::SmallVec;

/// Places of a table, at first.
const FIRST: usize = 1 << 8;

/// Entries of the only table at which it is divided.
const LARGE: usize = 1 << 13;

/// Tables of a large set.
const PARTS: usize = 1 << 8;

/// The fingerprint as four words, which need no alignment, and the node plus 1; 0 where there is none.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: [u32; 4],
    node: u32,
}

impl Slot {
    fn place_in(&self, size: usize) -> usize {
        let low = u64::from(self.key[0]) | u64::from(self.key[1]) << 32;
        ((u128::from(low) * size as u128) >> 64) as usize
    }

    /// The table of a large set that it belongs to.
    fn part(&self) -> usize {
        (self.key[3] >> 24) as usize
    }
}

/// Fingerprints with their nodes.
#[derive(Default)]
pub(crate) struct Visited {
    /// One, or [`PARTS`].
    tables: Vec<Table>,
}

fn key(fingerprint: u128) -> [u32; 4] {
    [0, 32, 64, 96].map(|shift| (fingerprint >> shift) as u32)
}

impl Visited {
    #[inline]
    fn table_of(&self, slot: &Slot) -> usize {
        if self.tables.len() > 1 { slot.part() } else { 0 }
    }

    /// The node of a fingerprint.
    #[inline]
    pub(crate) fn find(&self, fingerprint: u128) -> Option<u32> {
        let slot = Slot { key: key(fingerprint), node: 0 };
        let table = self.tables.get(self.table_of(&slot))?;
        table.slots[table.place(&slot)].node.checked_sub(1)
    }

    /// Prefetches the entries of fingerprints, all at a time: whoever asks for one after the other waits for each.
    #[inline]
    pub(crate) fn prefetch(&self, fingerprints: impl Iterator<Item = u128>) {
        let first = fingerprints.map(|fingerprint| {
            let slot = Slot { key: key(fingerprint), node: 0 };
            self.tables.get(self.table_of(&slot)).map_or(0, |table| table.first(&slot))
        });
        std::hint::black_box(first.fold(0, |all, node| all ^ node));
    }

    /// Enters a fingerprint with its node, unless it is there; gives the node that it has then.
    pub(crate) fn find_or_insert(&mut self, fingerprint: u128, node: u32) -> u32 {
        self.prepare();
        let slot = Slot { key: key(fingerprint), node: node + 1 };
        let table = self.table_of(&slot);
        self.tables[table].find_or_insert(slot)
    }

    /// Makes room for more: divides the only table when it is large. Tables are as large as the number of fingerprints says, whoever
    /// has entered these, if this was called behind the last one.
    pub(super) fn prepare(&mut self) {
        if let [only] = &self.tables[..]
            && only.len >= LARGE
        {
            self.divide();
        } else if self.tables.is_empty() {
            self.tables.push(Table::of(FIRST));
        }
    }

    /// Takes the tables out, for so many that enter these new fingerprints at a time: each gets some of the tables. They have grown before,
    /// for an allocator keeps apart what each thread has asked for and given back.
    pub(super) fn take_shares(&mut self, count: usize, new: &[(u128, u32)]) -> Vec<Share> {
        self.prepare();
        let is_divided = self.tables.len() > 1;
        if is_divided {
            let mut more = [0; PARTS];
            let slot = |&(fingerprint, node): &(u128, u32)| Slot { key: key(fingerprint), node };
            new.iter().for_each(|one| more[slot(one).part()] += 1);
            self.tables.iter_mut().zip(more).for_each(|(table, more)| table.make_room(more));
        }
        let size = self.tables.len().div_ceil(count.max(1));
        let mut rest = std::mem::take(&mut self.tables);
        let mut shares = Vec::new();
        while !rest.is_empty() {
            let behind = rest.split_off(size.min(rest.len()));
            let first = shares.len() * size;
            shares.push(Share { first, tables: std::mem::replace(&mut rest, behind), is_divided });
        }
        shares
    }

    /// Takes back the next of the shares, of which the first was given back first.
    pub(super) fn give_back(&mut self, share: Share) {
        debug_assert_eq!(self.tables.len(), share.first);
        self.tables.extend(share.tables);
    }

    fn divide(&mut self) {
        let size = (LARGE / PARTS) * 2;
        let old = std::mem::take(&mut self.tables);
        self.tables.resize_with(PARTS, || Table::of(size));
        for slot in old.into_iter().flat_map(|table| table.slots).filter(|slot| slot.node != 0) {
            self.tables[slot.part()].find_or_insert(slot);
        }
    }

    /// Memory that it takes. While a table grows there are two.
    pub(crate) fn bytes(&self) -> u64 {
        self.tables.iter().map(|table| (table.slots.len() * size_of::<Slot>()) as u64).sum()
    }
}

/// Some of the tables.
pub(super) struct Share {
    first: usize,
    tables: Vec<Table>,
    is_divided: bool,
}

/// Fingerprints that are entered together.
const TOGETHER: usize = 16;

impl Share {
    /// Enters those of these new fingerprints that belong here, with their nodes. Whoever enters one after the other waits for the place of
    /// each, so some places are asked for at a time.
    pub(super) fn insert(&mut self, new: &[(u128, u32)]) {
        let mut some: SmallVec<[(usize, Slot); TOGETHER]> = SmallVec::new();
        for &(fingerprint, node) in new {
            let slot = Slot { key: key(fingerprint), node: node + 1 };
            let table = if self.is_divided { slot.part() } else { 0 };
            let Some(table) = table.checked_sub(self.first).filter(|&table| table < self.tables.len()) else {
                continue;
            };
            some.push((table, slot));
            if some.len() == TOGETHER {
                self.insert_together(&some);
                some.clear();
            }
        }
        self.insert_together(&some);
    }

    fn insert_together(&mut self, some: &[(usize, Slot)]) {
        let first = |(table, slot): &(usize, Slot)| self.tables[*table].first(slot);
        std::hint::black_box(some.iter().map(first).fold(0, |all, node| all ^ node));
        for &(table, slot) in some {
            self.tables[table].find_or_insert(slot);
        }
    }
}

/// Fingerprints alone. Nothing is held twice while there are more and more of them, as in a hash set that doubles.
#[derive(Default)]
pub(crate) struct Fingerprints {
    visited: Visited,
    len: u32,
}

impl Fingerprints {
    /// Enters a fingerprint; whether it is new.
    pub(crate) fn insert(&mut self, fingerprint: u128) -> bool {
        let is_new = self.visited.find_or_insert(fingerprint, self.len) == self.len;
        self.len += u32::from(is_new);
        is_new
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.len)
    }

    /// Memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.visited.bytes()
    }
}

/// Few fingerprints with their nodes, which are forgotten again.
pub(super) struct Recent(Table);

impl Default for Recent {
    fn default() -> Self {
        Recent(Table::of(FIRST))
    }
}

impl Recent {
    /// About what it takes for each fingerprint.
    pub(super) const BYTES: u64 = 3 * size_of::<Slot>() as u64 / 2;

    pub(super) fn clear(&mut self) {
        if self.0.len > 0 {
            self.0.slots.fill(Slot::default());
            self.0.len = 0;
        }
    }

    /// The node of a fingerprint.
    #[inline]
    pub(super) fn find(&self, fingerprint: u128) -> Option<u32> {
        let slot = Slot { key: key(fingerprint), node: 0 };
        self.0.slots[self.0.place(&slot)].node.checked_sub(1)
    }

    /// Enters a fingerprint with its node, unless it is there; gives the node that it has then.
    #[inline]
    pub(super) fn find_or_insert(&mut self, fingerprint: u128, node: u32) -> u32 {
        self.0.find_or_insert(Slot { key: key(fingerprint), node: node + 1 })
    }
}

/// A hash table that is never empty nor full.
struct Table {
    slots: Vec<Slot>,
    len: usize,
}

impl Table {
    fn of(size: usize) -> Table {
        Table { slots: vec![Slot::default(); size], len: 0 }
    }

    /// What stands where a key is looked for first.
    #[inline]
    fn first(&self, slot: &Slot) -> u32 {
        self.slots[slot.place_in(self.slots.len())].node
    }

    /// The place of a key, or that where it would be entered. There is always a free one.
    #[inline]
    fn place(&self, slot: &Slot) -> usize {
        let mut place = slot.place_in(self.slots.len());
        while self.slots[place].node != 0 && self.slots[place].key != slot.key {
            place += 1;
            if place == self.slots.len() {
                place = 0;
            }
        }
        place
    }

    fn find_or_insert(&mut self, new: Slot) -> u32 {
        if self.is_full(self.len) {
            self.grow();
        }
        let place = self.place(&new);
        let slot = &mut self.slots[place];
        if slot.node == 0 {
            *slot = new;
            self.len += 1;
        }
        slot.node - 1
    }

    /// Whether it grows before another one joins so many.
    fn is_full(&self, len: usize) -> bool {
        len * 5 >= self.slots.len() * 4
    }

    /// Grows as it would while so many new ones are entered.
    fn make_room(&mut self, more: usize) {
        while more > 0 && self.is_full(self.len + more - 1) {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() + self.slots.len() / 3;
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.node != 0) {
            let place = self.place(&slot);
            self.slots[place] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_vm as vm;

    #[test]
    fn fingerprints_are_found_again() {
        let mut visited = Visited::default();
        let fingerprint = |number: u32| vm::hash(&[u64::from(number)]);
        assert_eq!(visited.find(fingerprint(0)), None);
        for number in 0..150_000 {
            assert_eq!(visited.find(fingerprint(number)), None);
            assert_eq!(visited.find_or_insert(fingerprint(number), number), number);
            assert_eq!(visited.find_or_insert(fingerprint(number / 2), number + 1), number / 2);
        }
        assert!((0..150_000).all(|number| visited.find(fingerprint(number)) == Some(number)));
        assert_eq!(visited.find(fingerprint(150_000)), None);
        assert!((25 * 150_000..=36 * 150_000).contains(&visited.bytes()), "{} bytes", visited.bytes());
    }

    #[test]
    fn shares_enter_what_belongs_to_them() {
        let fingerprint = |number: u32| vm::hash(&[u64::from(number)]);
        for count in 1..5 {
            let (mut visited, mut one_by_one) = (Visited::default(), Visited::default());
            for round in 0..100 {
                let numbers = 1_000 * round..1_000 * (round + 1);
                let new: Vec<(u128, u32)> = numbers.map(|number| (fingerprint(number), number)).collect();
                for mut share in visited.take_shares(count, &new) {
                    share.insert(&new);
                    visited.give_back(share);
                }
                visited.prepare();
                new.iter().for_each(|&(fingerprint, number)| _ = one_by_one.find_or_insert(fingerprint, number));
                one_by_one.prepare();
                assert_eq!(visited.bytes(), one_by_one.bytes());
            }
            assert!((0..100_000).all(|number| visited.find(fingerprint(number)) == Some(number)));
            assert_eq!(visited.find(fingerprint(100_000)), None);
        }
    }

    #[test]
    fn each_fingerprint_is_new_once() {
        let mut known = Fingerprints::default();
        let fingerprint = |number: u32| vm::hash(&[u64::from(number)]);
        assert!((0..100_000).all(|number| known.insert(fingerprint(number))));
        assert!(!(0..100_000).any(|number| known.insert(fingerprint(number))));
        assert_eq!(known.len(), 100_000);
    }

    #[test]
    fn what_is_recent_is_forgotten() {
        let mut recent = Recent::default();
        let fingerprint = |number: u32| vm::hash(&[u64::from(number)]);
        for first in [0, 10_000] {
            for number in 0..5_000 {
                assert_eq!(recent.find(fingerprint(number)), None);
                assert_eq!(recent.find_or_insert(fingerprint(number), first + number), first + number);
                assert_eq!(recent.find(fingerprint(number)), Some(first + number));
                assert_eq!(recent.find_or_insert(fingerprint(number), first + number + 1), first + number);
            }
            recent.clear();
        }
    }

    #[test]
    fn equal_places_go_on_behind_the_end() {
        let mut visited = Visited::default();
        // The same lowest bits, those of the last place.
        let fingerprint = |number: u128| number << 64 | u128::from(u64::MAX);
        for number in 0..100 {
            assert_eq!(visited.find_or_insert(fingerprint(number), number as u32), number as u32);
        }
        assert!((0..100).all(|number| visited.find(fingerprint(number)) == Some(number as u32)));
    }
}
