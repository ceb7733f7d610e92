//! The fingerprints of all visited states, with their nodes.
//!
//! **Input**: fingerprints. **Output**: for each fingerprint, the node under which it was first entered.
//!
//! **Algorithm**: hash tables with open addressing and linear probing. Key and value are adjacent, so a look-up and an insertion
//! touch the same cache line.
//! 1. The position of a fingerprint in its table is its lower half as a fraction of the size, so that a table may have any size,
//!    and a growing table moves its entries in order.
//! 2. There is one table at first. When it is large, it is divided into [`PARTS`], by the highest bits of the fingerprint. Each
//!    part grows separately by a third, so that little is held twice during the growth.
//!
//! **Soundness and limits**: exact on fingerprints. A fingerprint takes between 25 and 34 bytes. The first ten thousand or so may
//! take more: 40 bytes when the only table was divided.

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

    /// Makes room for one more: divides the only table when it is large.
    fn prepare(&mut self) {
        if let [only] = &self.tables[..]
            && only.len >= LARGE
        {
            self.divide();
        } else if self.tables.is_empty() {
            self.tables.push(Table::of(FIRST));
        }
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
        if self.len * 5 >= self.slots.len() * 4 {
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
    fn each_fingerprint_is_new_once() {
        let mut known = Fingerprints::default();
        let fingerprint = |number: u32| vm::hash(&[u64::from(number)]);
        assert!((0..100_000).all(|number| known.insert(fingerprint(number))));
        assert!(!(0..100_000).any(|number| known.insert(fingerprint(number))));
        assert_eq!(known.len(), 100_000);
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
