//! The states of one level of a breadth-first search, which wait to be expanded.

use std::ops::Range;

/// States that wait to be expanded, in the order of their nodes, as words in one flat buffer.
#[derive(Default)]
pub(super) struct Frontier {
    words: Vec<u64>,
    /// Node, end of the words of the state, end of the words of the monitor.
    entries: Vec<(u32, usize, usize)>,
}

/// A state that waits.
#[derive(Clone, Copy)]
pub(super) struct Waiting<'a> {
    pub node: u32,
    pub state: &'a [u64],
    pub monitor: &'a [u64],
}

impl Frontier {
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.entries.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.words.capacity() * size_of::<u64>() + self.entries.capacity() * size_of::<(u32, usize, usize)>()) as u64
    }

    /// Number of words of a state and its monitor.
    pub(super) fn words(&self, index: usize) -> u64 {
        let start = index.checked_sub(1).map_or(0, |before| self.entries[before].2);
        (self.entries[index].2 - start) as u64
    }

    pub(super) fn push(&mut self, node: u32, state: &[u64], monitor: &[u64]) {
        self.words.extend_from_slice(state);
        let end = self.words.len();
        self.words.extend_from_slice(monitor);
        self.entries.push((node, end, self.words.len()));
    }

    /// The states in a part of the list.
    pub(super) fn part(&self, range: Range<usize>) -> impl Iterator<Item = Waiting<'_>> {
        let mut start = range.start.checked_sub(1).map_or(0, |before| self.entries[before].2);
        self.entries[range].iter().map(move |&(node, state_end, monitor_end)| {
            let (state, monitor) = (&self.words[start..state_end], &self.words[state_end..monitor_end]);
            start = monitor_end;
            Waiting { node, state, monitor }
        })
    }
}
