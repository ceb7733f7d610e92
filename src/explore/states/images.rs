//! States as words, stored one after the other without compression.
//!
//! **Input**: states with the data that the monitor remembers. **Output**: the same, by their places.

/// A state as words: its parts one after the other, and the ends of them. The last part is the monitor.
#[derive(Clone, Default)]
pub(super) struct Image {
    pub words: Vec<u64>,
    pub ends: Vec<u32>,
}

impl Image {
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    /// The words of a part; none where there is no such part.
    pub(super) fn part(&self, index: usize) -> &[u64] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..end as usize]
    }
}

/// States as they are.
#[derive(Default)]
pub(super) struct Images {
    words: Vec<u64>,
    /// The ends of the parts of each, from its first word on.
    ends: Vec<u32>,
    /// For each its node, and where its words and its ends end.
    states: Vec<(u32, usize, usize)>,
}

impl Images {
    /// Adds one, of which the ends of the parts are given.
    pub(super) fn push(&mut self, node: u32, (state, ends): (&[u64], &[u32]), monitor: &[u64]) {
        self.words.extend_from_slice(state);
        self.words.extend_from_slice(monitor);
        self.ends.extend_from_slice(ends);
        self.ends.push((state.len() + monitor.len()) as u32);
        self.states.push((node, self.words.len(), self.ends.len()));
    }

    /// Copies one of them; gives its node.
    pub(super) fn read(&self, index: usize, image: &mut Image) -> u32 {
        let (node, words_end, ends_end) = self.states[index];
        let (_, words, ends) = index.checked_sub(1).map_or((0, 0, 0), |before| self.states[before]);
        image.clear();
        image.words.extend_from_slice(&self.words[words..words_end]);
        image.ends.extend_from_slice(&self.ends[ends..ends_end]);
        node
    }

    /// Memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let states = self.states.capacity() * size_of::<(u32, usize, usize)>();
        self.words.capacity() * size_of::<u64>() + self.ends.capacity() * size_of::<u32>() + states
    }
}
