//! The fingerprints of all states that were met, with their nodes.
//!
//! A hash table with open addressing and linear probing: the place of a fingerprint follows from its lowest bits, which
//! are mixed well already. Key and value stand side by side, so looking for a fingerprint and entering it touch the
//! same cache line; and a table that grows moves its entries in order.

/// Places of a table that is not empty, at first.
const FIRST: usize = 1 << 10;

/// The fingerprint as four words, which need no alignment, and the node plus 1; 0 where there is none.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: [u32; 4],
    node: u32,
}

/// Fingerprints with their nodes.
#[derive(Default)]
pub(in crate::explore) struct Visited {
    slots: Vec<Slot>,
    len: usize,
}

fn key(fingerprint: u128) -> [u32; 4] {
    [0, 32, 64, 96].map(|shift| (fingerprint >> shift) as u32)
}

impl Visited {
    /// The place of a key, or that where it would be entered. There is always a free one.
    fn place(&self, key: [u32; 4]) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = (u64::from(key[0]) | u64::from(key[1]) << 32) as usize & mask;
        while self.slots[place].node != 0 && self.slots[place].key != key {
            place = (place + 1) & mask;
        }
        place
    }

    /// The node of a fingerprint.
    pub(in crate::explore) fn find(&self, fingerprint: u128) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.place(key(fingerprint))].node.checked_sub(1)
    }

    /// Enters a fingerprint with its node, unless it is there; gives the node that it has then.
    pub(in crate::explore) fn find_or_insert(&mut self, fingerprint: u128, node: u32) -> u32 {
        if self.len * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let key = key(fingerprint);
        let place = self.place(key);
        let slot = &mut self.slots[place];
        if slot.node == 0 {
            *slot = Slot { key, node: node + 1 };
            self.len += 1;
        }
        slot.node - 1
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(FIRST);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.node != 0) {
            let place = self.place(slot.key);
            self.slots[place] = slot;
        }
    }

    /// Memory that it takes. While it grows there are two tables.
    pub(in crate::explore) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm;

    #[test]
    fn fingerprints_are_found_again() {
        let mut visited = Visited::default();
        let fingerprint = |number: u32| vm::hash(&[u64::from(number)]);
        assert_eq!(visited.find(fingerprint(0)), None);
        for number in 0..10_000 {
            assert_eq!(visited.find(fingerprint(number)), None);
            assert_eq!(visited.find_or_insert(fingerprint(number), number), number);
            assert_eq!(visited.find_or_insert(fingerprint(number / 2), number + 1), number / 2);
        }
        assert!((0..10_000).all(|number| visited.find(fingerprint(number)) == Some(number)));
        assert_eq!(visited.find(fingerprint(10_000)), None);
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
