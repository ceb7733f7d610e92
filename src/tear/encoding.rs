//! The state of the monitor as words: the form that a search stores.

/// Words that are read one after the other.
pub(super) struct Words<'a>(pub &'a [u64]);

impl Words<'_> {
    /// The next word; 0 behind the last one.
    pub fn next(&mut self) -> u64 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// The list that [`encode_list`] has written.
    pub fn list<T>(&mut self, value: impl Fn(u64) -> T) -> Vec<(u32, T)> {
        let count = self.next();
        (0..count).map(|_| (self.next() as u32, value(self.next()))).collect()
    }
}

/// Writes a list with its length.
pub(super) fn encode_list<T: Copy>(list: &[(u32, T)], words: &mut Vec<u64>, word: impl Fn(T) -> u64) {
    words.push(list.len() as u64);
    for &(cell, value) in list {
        words.extend([u64::from(cell), word(value)]);
    }
}
