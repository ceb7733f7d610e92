//! The states of one level of a breadth-first search that wait to be expanded.
//!
//! **Input**: states as words, in the order of their nodes. **Output**: the same states again.
//!
//! **Algorithm**: neighbouring states differ little: a thread or two, and some cells.
//! 1. A state is written as the parts in which it differs from the previous one. A thread is written as its number in a
//!    [`Dictionary`], since a thread has far fewer states than the program (Holzmann, "State compression in SPIN", 1997). Other
//!    parts are written as the words that differ, and of these the bytes that differ.
//! 2. States are in blocks, which are read from their beginnings. An expanded block is freed at once.
//! 3. The first blocks hold states uncompressed: if few states wait, writing differences takes more time than it saves.
//! 4. States that are represented by the [numbers](cssame_vm::Parts) of their parts are written as the numbers that differ
//!    (`bytes`).
//!
//! **Soundness and limits**: exact. Threads are entered into the dictionary while it is small compared with the visited states;
//! later threads are written like other parts.

use super::bytes::{read_number, write_list, write_number};
use super::dictionary::Dictionary;
use super::images::{Image, Images};
use std::collections::VecDeque;

/// States of a block, the same where they are known by their numbers, and the words that they may have. What is looked for of the
/// steps of all states of such a block stays in the cache until these are entered.
const BLOCK: usize = 512;
const NUMBERED_BLOCK: usize = 128;
const BLOCK_WORDS: u64 = 1 << 17;

/// Memory of states that wait from which on they are written as differences.
const FEW: u64 = 1 << 20;

/// A state that waits.
#[derive(Clone, Copy)]
pub(crate) struct Waiting<'a> {
    pub node: u32,
    pub state: &'a [u64],
    /// The ends of the parts of the state.
    pub ends: &'a [u32],
    pub monitor: &'a [u64],
}

/// States that wait to be expanded, in the order of their nodes.
#[derive(Default)]
pub(crate) struct Frontier {
    blocks: VecDeque<Block>,
    len: usize,
    /// Memory of the blocks that are full.
    bytes: u64,
    /// The state that was written last to the last block.
    last: Image,
    next: Image,
    last_numbers: Vec<u32>,
}

/// States one after the other.
#[derive(Default)]
pub(crate) struct Block {
    /// The states, where they are not written as differences.
    images: Option<Images>,
    /// Whether they are written as numbers of parts.
    pub is_numbered: bool,
    pub bytes: Vec<u8>,
    len: usize,
    words: u64,
    last_node: u32,
}

impl Frontier {
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        (self.len, self.bytes) = (0, 0);
    }

    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let last = self.blocks.back().map_or(0, Block::bytes);
        self.bytes + last + (self.blocks.capacity() * size_of::<Block>()) as u64
    }

    /// Adds a state, of which the ends of the parts are given.
    pub(crate) fn push(
        &mut self,
        node: u32,
        (state, ends): (&[u64], &[u32]),
        monitor: &[u64],
        dictionary: &mut Dictionary,
    ) {
        if self.needs_block(false) {
            self.close_block();
            let images = (self.bytes() < FEW).then(Images::default);
            self.blocks.push_back(Block { images, ..Block::default() });
            self.last.clear();
        }
        if let Some(block) = self.blocks.back_mut()
            && let Some(images) = &mut block.images
        {
            images.push(node, (state, ends), monitor);
            block.len += 1;
            block.words += (state.len() + monitor.len()) as u64;
            self.len += 1;
            return;
        }
        self.next.clear();
        self.next.words.extend_from_slice(state);
        self.next.words.extend_from_slice(monitor);
        self.next.ends.extend_from_slice(ends);
        self.next.ends.push(self.next.words.len() as u32);
        if let Some(block) = self.blocks.back_mut() {
            block.push(node, &self.last, &self.next, dictionary);
            self.len += 1;
        }
        std::mem::swap(&mut self.last, &mut self.next);
    }

    /// Adds a state by the numbers of its parts.
    pub(crate) fn push_numbers(&mut self, node: u32, numbers: &[u32]) {
        if self.needs_block(true) {
            self.close_block();
            self.blocks.push_back(Block { is_numbered: true, ..Block::default() });
            self.last_numbers.clear();
        }
        if let Some(block) = self.blocks.back_mut() {
            block.push_numbers(node, &mut self.last_numbers, numbers);
            self.len += 1;
        }
    }

    /// Whether the last block is full, or none of the kind that is needed.
    fn needs_block(&self, is_numbered: bool) -> bool {
        let most = if is_numbered { NUMBERED_BLOCK } else { BLOCK };
        let is_full = |block: &Block| block.len >= most || block.words >= BLOCK_WORDS;
        self.blocks.back().is_none_or(|block| is_full(block) || block.is_numbered != is_numbered)
    }

    /// The last block gets no more states.
    fn close_block(&mut self) {
        if let Some(full) = self.blocks.back_mut() {
            full.bytes.shrink_to_fit();
            self.bytes += full.bytes();
        }
    }

    /// Takes the first block off.
    pub(crate) fn take(&mut self) -> Option<Block> {
        let block = self.blocks.pop_front()?;
        self.len -= block.len;
        if !self.blocks.is_empty() {
            self.bytes -= block.bytes();
        }
        Some(block)
    }
}

impl Block {
    /// Adds a state by the numbers of its parts; `last` are those of the one before it.
    fn push_numbers(&mut self, node: u32, last: &mut Vec<u32>, numbers: &[u32]) {
        write_number(&mut self.bytes, u64::from(node.wrapping_sub(self.last_node)));
        write_list(last, numbers, &mut self.bytes);
        self.last_node = node;
        self.len += 1;
        self.words += numbers.len() as u64 / 2;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.bytes.capacity() + self.images.as_ref().map_or(0, Images::bytes)) as u64
    }

    fn push(&mut self, node: u32, before: &Image, image: &Image, dictionary: &mut Dictionary) {
        self.write(u64::from(node.wrapping_sub(self.last_node)));
        self.write(image.ends.len() as u64);
        let mut written = 0;
        for index in 0..image.ends.len() {
            let (old, new) = (before.part(index), image.part(index));
            if old == new {
                continue;
            }
            self.write((index - written) as u64 + 1);
            written = index + 1;
            // The first part, and the last two, are no threads.
            let is_thread = index > 0 && index + 2 < image.ends.len();
            match is_thread.then(|| dictionary.number(new)).flatten() {
                Some(number) => self.write(u64::from(number) << 1 | 1),
                None => {
                    self.write((new.len() as u64) << 1);
                    self.write_difference(old, new);
                }
            }
        }
        self.write(0);
        self.last_node = node;
        self.len += 1;
        self.words += image.words.len() as u64;
    }

    /// Writes the words that differ: how many stand between, which bytes differ, and these.
    fn write_difference(&mut self, old: &[u64], new: &[u64]) {
        let mut written = 0;
        for (index, &word) in new.iter().enumerate() {
            let difference = word ^ old.get(index).copied().unwrap_or(0);
            if difference == 0 {
                continue;
            }
            self.write((index - written) as u64 + 1);
            written = index + 1;
            let (mut rest, place_of_mask) = (difference, self.bytes.len());
            self.bytes.push(0);
            // Few bytes differ: one turn for each of these.
            while rest != 0 {
                let place = rest.trailing_zeros() / 8;
                self.bytes[place_of_mask] |= 1 << place;
                self.bytes.push((rest >> (8 * place)) as u8);
                rest &= !(0xff << (8 * place));
            }
        }
        self.write(0);
    }

    fn write(&mut self, number: u64) {
        write_number(&mut self.bytes, number);
    }
}

/// Reads the states of a block, one after the other.
#[derive(Default)]
pub(crate) struct Reader {
    at: usize,
    /// Number of states that were read.
    read: usize,
    node: u32,
    last: Image,
    next: Image,
}

impl Reader {
    /// Begins with another block.
    pub(crate) fn begin(&mut self) {
        (self.at, self.read, self.node) = (0, 0, 0);
        self.last.clear();
    }

    /// The state that was read last.
    pub(crate) fn state(&self) -> Waiting<'_> {
        let Image { words, ends } = &self.last;
        let ends = &ends[..ends.len().saturating_sub(1)];
        let end = ends.last().map_or(0, |&end| end as usize);
        Waiting { node: self.node, state: &words[..end], ends, monitor: &words[end..] }
    }

    /// Reads the next state of the block that was begun with; false behind the last one.
    pub(crate) fn next(&mut self, block: &Block, dictionary: &Dictionary) -> bool {
        if self.read == block.len {
            return false;
        }
        self.read += 1;
        if let Some(images) = &block.images {
            self.node = images.read(self.read - 1, &mut self.last);
            return true;
        }
        self.node = self.node.wrapping_add(self.number(block) as u32);
        let parts = self.number(block) as usize;
        self.next.clear();
        loop {
            let gap = self.number(block) as usize;
            let end = if gap == 0 { parts } else { self.next.ends.len() + gap - 1 };
            self.keep_parts(end);
            if gap == 0 {
                break;
            }
            let code = self.number(block);
            if code & 1 != 0 {
                self.next.words.extend_from_slice(dictionary.words((code >> 1) as u32));
            } else {
                self.read_difference(block, (code >> 1) as usize);
            }
            self.next.ends.push(self.next.words.len() as u32);
        }
        std::mem::swap(&mut self.last, &mut self.next);
        true
    }

    /// The parts up to that number are those of the state before, or empty where it has fewer.
    fn keep_parts(&mut self, all: usize) {
        let (first, end) = (self.next.ends.len(), all.min(self.last.ends.len()));
        if first < end {
            let start = first.checked_sub(1).map_or(0, |before| self.last.ends[before]);
            let moved = (self.next.words.len() as u32).wrapping_sub(start);
            self.next.words.extend_from_slice(&self.last.words[start as usize..self.last.ends[end - 1] as usize]);
            self.next.ends.extend(self.last.ends[first..end].iter().map(|&end| end.wrapping_add(moved)));
        }
        self.next.ends.resize(all, self.next.words.len() as u32);
    }

    fn read_difference(&mut self, block: &Block, len: usize) {
        let old = self.last.part(self.next.ends.len());
        let start = self.next.words.len();
        self.next.words.extend_from_slice(&old[..len.min(old.len())]);
        self.next.words.resize(start + len, 0);
        let mut index = start;
        loop {
            let gap = self.number(block) as usize;
            if gap == 0 {
                return;
            }
            index += gap - 1;
            let (mut mask, mut difference) = (self.byte(block), 0);
            while mask != 0 {
                difference |= u64::from(self.byte(block)) << (8 * mask.trailing_zeros());
                mask &= mask - 1;
            }
            self.next.words[index] ^= difference;
            index += 1;
        }
    }

    fn byte(&mut self, block: &Block) -> u8 {
        self.at += 1;
        block.bytes[self.at - 1]
    }

    fn number(&mut self, block: &Block) -> u64 {
        read_number(&block.bytes, &mut self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a state that resembles the one before it, and the ends of its parts.
    fn state(number: u64) -> (Vec<u64>, Vec<u32>, Vec<u64>) {
        let mut words = vec![number % 3, 7, number << 40, u64::MAX];
        let mut ends = vec![4];
        for thread in 0..number % 6 {
            words.extend((0..thread + number % 4).map(|word| word * number % 5));
            ends.push(words.len() as u32);
        }
        words.push(number % 2);
        ends.push(words.len() as u32);
        (words, ends, (0..number % 3).map(|word| word ^ number).collect())
    }

    const STATES: u64 = 20_000;

    #[test]
    fn states_are_read_as_they_were_written() {
        for room in [0, 1 << 20] {
            let (mut frontier, mut dictionary) = (Frontier::default(), Dictionary::default());
            dictionary.make_room(room);
            for number in 0..STATES {
                let (words, ends, monitor) = state(number);
                frontier.push(3 * number as u32, (&words, &ends), &monitor, &mut dictionary);
            }
            assert_eq!(frontier.len() as u64, STATES);
            // Some as they are, and more as differences.
            assert!(frontier.blocks.iter().filter(|block| block.images.is_none()).count() > 10);
            assert!(frontier.blocks.iter().filter(|block| block.images.is_some()).count() > 5);
            let (mut reader, mut number) = (Reader::default(), 0);
            while let Some(block) = frontier.take() {
                reader.begin();
                while reader.next(&block, &dictionary) {
                    let (words, parts, monitor) = state(number);
                    let Waiting { node, state, ends, monitor: read } = reader.state();
                    assert_eq!((node, state, ends), (3 * number as u32, &words[..], &parts[..]));
                    assert_eq!(read, monitor);
                    number += 1;
                }
            }
            assert_eq!((number, frontier.len(), frontier.is_empty()), (STATES, 0, true));
        }
    }
}
