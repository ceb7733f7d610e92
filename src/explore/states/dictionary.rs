//! The states of single threads that a search has visited.
//!
//! **Input**: a thread as words. **Output**: its number, from which the words can be recovered.
//!
//! **Soundness and limits**: a thread with many words, or a new one when the room is used up, has no number.

use cssame_vm as vm;
use rustc_hash::FxHashMap;

/// Numbered words.
#[derive(Default)]
pub(crate) struct Dictionary {
    words: Vec<u64>,
    ends: Vec<u32>,
    numbers: FxHashMap<u128, u32>,
    room: u64,
}

/// Words of a thread beyond which it has no number.
const LARGE: usize = 64;

impl Dictionary {
    /// Memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = self.numbers.capacity() * (size_of::<(u128, u32)>() + 1);
        (self.words.capacity() * size_of::<u64>() + self.ends.capacity() * size_of::<u32>() + numbers) as u64
    }

    /// Lets it take so many bytes.
    pub(crate) fn make_room(&mut self, bytes: u64) {
        self.room = bytes.min(1 << 30);
    }

    /// The number of a thread, if there is room for it.
    pub(crate) fn number(&mut self, words: &[u64]) -> Option<u32> {
        if words.len() > LARGE {
            return None;
        }
        let hash = vm::hash(words);
        if let Some(&number) = self.numbers.get(&hash) {
            return (self.words(number) == words).then_some(number);
        }
        if self.bytes() >= self.room {
            return None;
        }
        let number = self.ends.len() as u32;
        self.words.extend_from_slice(words);
        self.ends.push(self.words.len() as u32);
        self.numbers.insert(hash, number);
        Some(number)
    }

    /// The words of a number.
    pub(crate) fn words(&self, number: u32) -> &[u64] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..self.ends[number] as usize]
    }
}
