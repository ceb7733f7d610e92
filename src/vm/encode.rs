//! States as runs of words.
//!
//! **Input**: a state. **Output**: words from which `decode` can reconstruct an equal state, in a canonical form: only the live
//! registers of a frame, no spare capacity.
//!
//! The first part of the words determines the future, the outputs and the last writers. The second part contains data that only
//! events name: the numbers of instances in the names of threads and locals, and the frames in which nothing has happened. Two
//! states may differ in it and still count as one, so that a loop that creates threads or locals has finitely many states.

use super::machine::Machine;
use super::state::{State, Thread, ThreadStatus};
use super::tables::OutputId;

/// A state as words.
#[derive(Clone, Debug, Default)]
pub struct Encoding {
    pub(super) words: Vec<u64>,
    pub(super) ends: Vec<u32>,
}

impl Encoding {
    /// All words; [`Machine::decode`] makes a state of them.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Becomes those words with those ends.
    pub(super) fn set(&mut self, words: &[u64], ends: &[u32]) {
        self.words.clear();
        self.words.extend_from_slice(words);
        self.ends.clear();
        self.ends.extend_from_slice(ends);
    }

    /// The words of two states are best compared part by part. These are the ends of the parts: all but the threads, each
    /// thread, and what only events name.
    #[must_use]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }
}

pub(super) fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

pub(super) const SPAWNED: u64 = 1 << 40;
pub(super) const DEEP: u64 = 1 << 41;

impl Machine {
    /// Writes the words of a state, and the ends of their parts: all but the threads, each thread, and what only events
    /// name. Threads in which nothing has changed since `before`, which may be empty, are as they are there.
    pub(super) fn write_words(&self, state: &State, before: &Encoding, out: &mut Encoding) {
        let Encoding { words, ends } = out;
        words.clear();
        ends.clear();
        self.write_rest(state, words);
        // The first cell is none.
        words.extend(state.cells[1..].iter().map(|cell| cell.value as u64));
        let mut writers = state.cells[1..].chunks_exact(2);
        words.extend((&mut writers).map(|two| pair(two[0].writer, two[1].writer)));
        words.extend(writers.remainder().iter().map(|one| pair(one.writer, 0)));
        ends.push(words.len() as u32);
        for (slot, thread) in state.threads.iter().enumerate() {
            match before.ends.get(slot..slot + 2) {
                Some(part) if slot + 2 < before.ends.len() && !state.is_touched(slot) => {
                    words.extend_from_slice(&before.words[part[0] as usize..part[1] as usize]);
                }
                _ => self.encode_thread(state, thread, words),
            }
            ends.push(words.len() as u32);
        }
        for thread in &state.threads {
            // The other one of its two names stands in the first part.
            let name = if thread.output == OutputId::EMPTY { thread.path } else { thread.shape };
            words.push(pair(name.0, thread.fresh));
        }
        words.extend(state.closed.iter().map(|closed| u64::from(closed.shape.0)));
        words.extend(state.blocks.iter().map(|block| pair(block.owner.0, block.ordinal)));
        for entry in &state.instances {
            words.extend([pair(entry.parent.0, entry.label), entry.ordinal as u64, u64::from(entry.count)]);
        }
        ends.push(words.len() as u32);
    }

    /// Appends what stands neither in cells nor in threads.
    pub(super) fn write_rest(&self, state: &State, words: &mut Vec<u64>) {
        words.push(pair(state.cells.len() as u32, state.threads.len() as u32));
        words.push(pair(state.blocks.len() as u32, state.closed.len() as u32));
        words.push(pair(u32::from(state.exclusive), u32::from(state.unfinished)));
        words.extend(self.has_readers().then_some(state.readers.len() as u64));
        words.extend(state.readers.iter().flat_map(|hold| [pair(hold.address, hold.count), u64::from(hold.thread)]));
        for block in &state.blocks {
            words.extend([pair(block.start, block.size), u64::from(block.variable)]);
        }
        words.extend(state.closed.iter().map(|closed| pair(closed.path.0, closed.output.0)));
    }

    /// How many words [`Machine::write_rest`] writes.
    pub(super) fn len_of_rest(&self, state: &State) -> usize {
        let lists = 2 * state.readers.len() + 2 * state.blocks.len() + state.closed.len();
        3 + usize::from(self.has_readers()) + lists
    }

    pub(super) fn encode_thread(&self, state: &State, thread: &Thread, words: &mut Vec<u64>) {
        let deep = thread.depth > 0 || thread.parent_frame > 0;
        let flags = if thread.spawned { SPAWNED } else { 0 } | if deep { DEEP } else { 0 };
        let status = (thread.status as u64) << 32 | u64::from(thread.atomic) << 48;
        words.push(u64::from(thread.pc) | status | flags);
        if thread.status == ThreadStatus::Free {
            return;
        }
        let name = if thread.output == OutputId::EMPTY { thread.shape } else { thread.path };
        words.push(pair(name.0, thread.output.0));
        if thread.status == ThreadStatus::Ended {
            words.extend(self.compiled.has_results.then_some(thread.result as u64));
            return;
        }
        words.push(pair(thread.wait, u32::from(thread.parent) | u32::from(thread.levels) << 16));
        if deep {
            words.extend([pair(thread.frame, thread.depth), u64::from(thread.parent_frame)]);
        }
        let diverged = thread.status == ThreadStatus::Diverged;
        let (mut frame, mut at) = (thread.frame, thread.pc);
        for _ in 0..=thread.depth {
            let start = (thread.base + frame) as usize;
            let header = state.stack[start];
            words.push(header as u64);
            if !diverged {
                let live = self.compiled.live_at(at);
                words.extend(live.iter().map(|&slot| state.stack[start + slot as usize] as u64));
            }
            at = (header as u32).wrapping_sub(1);
            if let Some(origin) = self.compiled.origins.get(at as usize) {
                frame = frame.wrapping_sub(self.compiled.functions[origin.function].frame_size);
            }
        }
    }
}
