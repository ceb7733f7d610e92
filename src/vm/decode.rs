//! Reconstructs states from words.
//!
//! **Input**: the words of a state, as `encode` writes them, and optionally the previously decoded state, with its hashes.
//! **Output**: the state.
//!
//! **Algorithm**: a waiting state resembles the previous one. If both have the same parts, only the differences are built and
//! hashed again ([`Machine::load`]); otherwise everything is.
//!
//! **Soundness and limits**: the words must come from the same machine. If the stack of a thread has another size, everything
//! after it moves, so everything is built again.

use super::encode::{DEEP, SPAWNED};
use super::fingerprint::Hashes;
use super::machine::{Fingerprints, Machine};
use super::state::{Block, Closed, Instances, ReadHold, State, Thread, ThreadIndex, ThreadStatus, Word};
use super::tables::{OutputId, PathId};

fn low(word: u64) -> u32 {
    word as u32
}

fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

const STATUSES: [ThreadStatus; 10] = [
    ThreadStatus::Free,
    ThreadStatus::Ready,
    ThreadStatus::AtBarrier,
    ThreadStatus::WaitingCondition,
    ThreadStatus::Reacquiring,
    ThreadStatus::TimedOut,
    ThreadStatus::WaitingToWrite,
    ThreadStatus::WaitingBare,
    ThreadStatus::Diverged,
    ThreadStatus::Ended,
];

/// Reads words one after the other.
struct Reader<'a> {
    words: std::slice::Iter<'a, u64>,
}

impl Reader<'_> {
    fn word(&mut self) -> u64 {
        self.words.next().copied().unwrap_or(0)
    }
}

impl Machine {
    /// Makes the state that words stand for. They must come from [`Machine::encode`] of the same machine.
    pub fn decode(&self, words: &[u64], state: &mut State) {
        let mut reader = Reader { words: words.iter() };
        let counts = reader.word();
        let more = reader.word();
        let rest = reader.word();
        state.exclusive = low(rest) as u16;
        state.unfinished = high(rest) as u16;
        state.taken = 0;
        state.touched = 0;
        let readers = if self.has_readers() { reader.word() } else { 0 };
        state.readers.clear();
        state.readers.extend((0..readers).map(|_| {
            let (of, thread) = (reader.word(), reader.word() as u16);
            ReadHold { address: low(of), thread, count: high(of) }
        }));
        state.blocks.clear();
        state.blocks.extend((0..low(more)).map(|_| {
            let place = reader.word();
            let variable = reader.word() as u32;
            Block { start: low(place), size: high(place), variable, owner: PathId(0), ordinal: 0 }
        }));
        state.closed.clear();
        state.closed.extend((0..high(more)).map(|_| {
            let word = reader.word();
            Closed { shape: PathId(0), path: PathId(low(word)), output: OutputId(high(word)) }
        }));
        state.cells.clear();
        state.cells.push(Word { value: 0, writer: super::state::NO_WRITER });
        let cells = low(counts) as usize;
        state.cells.extend((1..cells).map(|_| Word { value: reader.word() as i64, writer: 0 }));
        for two in state.cells[1..].chunks_mut(2) {
            let writers = reader.word();
            two[0].writer = low(writers);
            if let Some(second) = two.get_mut(1) {
                second.writer = high(writers);
            }
        }
        state.threads.clear();
        state.stack.clear();
        for _ in 0..high(counts) {
            self.decode_thread(&mut reader, state);
        }
        for thread in &mut state.threads {
            set_name(thread, reader.word());
        }
        for closed in &mut state.closed {
            closed.shape = PathId(reader.word() as u32);
        }
        for block in &mut state.blocks {
            let word = reader.word();
            (block.owner, block.ordinal) = (PathId(low(word)), high(word));
        }
        state.instances.clear();
        while reader.words.len() > 0 {
            let names = reader.word();
            let (ordinal, count) = (reader.word() as i64, reader.word() as u32);
            state.instances.push(Instances { parent: PathId(low(names)), label: high(names), ordinal, count });
        }
    }

    fn decode_thread(&self, reader: &mut Reader<'_>, state: &mut State) {
        let thread = self.decode_head(reader, state.stack.len() as u32);
        state.stack.resize((thread.base + thread.capacity) as usize, 0);
        self.decode_frames(reader, &thread, &mut state.stack);
        state.threads.push(thread);
    }

    /// All of a thread but its frames, for which its segment has just room.
    fn decode_head(&self, reader: &mut Reader<'_>, base: u32) -> Thread {
        let word = reader.word();
        let mut thread = Thread::free(base, 0);
        thread.pc = low(word);
        thread.status = STATUSES[(word >> 32 & 15) as usize];
        thread.spawned = word & SPAWNED != 0;
        thread.atomic = (word >> 48) as u16;
        if thread.status == ThreadStatus::Free {
            return thread;
        }
        let names = reader.word();
        thread.output = OutputId(high(names));
        // One of the two; the other one stands in the second part.
        (thread.shape, thread.path) = (PathId(low(names)), PathId(low(names)));
        if thread.status == ThreadStatus::Ended {
            thread.result = if self.compiled.has_results { reader.word() as i64 } else { 0 };
            return thread;
        }
        let waits = reader.word();
        thread.wait = low(waits);
        thread.parent = high(waits) as u16;
        thread.levels = (high(waits) >> 16) as u16;
        if word & DEEP != 0 {
            let depth = reader.word();
            thread.frame = low(depth);
            thread.depth = high(depth);
            thread.parent_frame = reader.word() as u32;
        }
        thread.frame_size = self.compiled.functions[self.compiled.origins[thread.pc as usize].function].frame_size;
        thread.capacity = thread.frame + thread.frame_size;
        thread
    }

    /// Fills the segment of a thread, which holds zeros.
    fn decode_frames(&self, reader: &mut Reader<'_>, thread: &Thread, stack: &mut [i64]) {
        if thread.capacity == 0 {
            return;
        }
        let compiled = &self.compiled;
        let (mut frame, mut at) = (thread.frame, thread.pc);
        for _ in 0..=thread.depth {
            let start = (thread.base + frame) as usize;
            let header = reader.word();
            stack[start] = header as i64;
            if thread.status != ThreadStatus::Diverged {
                for &slot in compiled.live_at(at) {
                    stack[start + slot as usize] = reader.word() as i64;
                }
            }
            at = low(header).wrapping_sub(1);
            if let Some(origin) = compiled.origins.get(at as usize) {
                frame = frame.wrapping_sub(compiled.functions[origin.function].frame_size);
            }
        }
    }

    /// Makes the state that words stand for, and makes `hashes` ready for the states behind it. Both are to be those of the state
    /// that was made so before, or new: what the words have in common with that one is kept.
    pub fn load(&self, words: &[u64], ends: &[u32], state: &mut State, hashes: &mut Hashes) {
        if !self.load_changes(words, ends, state, hashes) {
            self.decode(words, state);
            state.touch_all();
            if self.fingerprints == Fingerprints::Exact {
                self.begin_hashes_of(state, words, ends, hashes);
            }
        }
        hashes.loaded.set(words, ends);
        debug_assert!(self.fingerprints != Fingerprints::Exact || hashes.total == self.fingerprint(state));
        debug_assert!({
            let mut whole = State::default();
            self.decode(words, &mut whole);
            whole.is_same(state)
        });
    }

    /// The same where no part has come, gone, or another place; false if that is not so: then nothing holds of the state.
    fn load_changes(&self, words: &[u64], ends: &[u32], state: &mut State, hashes: &mut Hashes) -> bool {
        let Hashes { loaded, total, rest, threads, .. } = hashes;
        let (old, count) = (loaded, state.threads.len());
        if ends.len() != count + 2 || old.ends.first() != ends.first() || old.ends.len() != ends.len() {
            return false;
        }
        let end = self.len_of_rest(state);
        let (names, old_names) = (&words[ends[count] as usize..], &old.words[old.ends[count] as usize..]);
        // The third word says which threads can move, not how many parts there are.
        if old.words[..2] != words[..2] || old.words[3..end] != words[3..end] || old_names[count..] != names[count..] {
            return false;
        }
        if old.words[2] != words[2] {
            (state.exclusive, state.unfinished) = (low(words[2]) as u16, high(words[2]) as u16);
            let before = std::mem::replace(rest, super::hash::hash(&words[..end]));
            *total = total.wrapping_sub(before).wrapping_add(*rest);
        }
        load_cells(&words[end..ends[0] as usize], &mut state.cells, total);
        state.taken = 0;
        for slot in 0..count {
            let part = ends[slot] as usize..ends[slot + 1] as usize;
            if old.words[old.ends[slot] as usize..old.ends[slot + 1] as usize] == words[part.clone()] {
                if old_names[slot] != names[slot] {
                    set_name(&mut state.threads[slot], names[slot]);
                    state.touch(ThreadIndex(slot as u16));
                }
                continue;
            }
            state.touch(ThreadIndex(slot as u16));
            if !self.load_thread(slot, &words[part.clone()], state) {
                return false;
            }
            set_name(&mut state.threads[slot], names[slot]);
            if let Some(of_thread) = threads.get_mut(slot) {
                let before = std::mem::replace(of_thread, super::hash::hash_from(slot as u64, &words[part]));
                *total = total.wrapping_sub(before).wrapping_add(*of_thread);
            }
        }
        true
    }

    /// Makes another thread in a slot; false if its segment would have another size.
    fn load_thread(&self, slot: usize, words: &[u64], state: &mut State) -> bool {
        let mut reader = Reader { words: words.iter() };
        let Thread { base, capacity, .. } = state.threads[slot];
        let thread = self.decode_head(&mut reader, base);
        if thread.capacity != capacity {
            return false;
        }
        state.stack[base as usize..(base + capacity) as usize].fill(0);
        self.decode_frames(&mut reader, &thread, &mut state.stack);
        state.threads[slot] = thread;
        true
    }
}

/// Takes over the cells that have changed, and their hashes.
fn load_cells(words: &[u64], cells: &mut [Word], total: &mut u128) {
    let (values, writers) = words.split_at(cells.len() - 1);
    for (address, (cell, &value)) in cells[1..].iter_mut().zip(values).enumerate() {
        let new = Word { value: value as i64, writer: (writers[address / 2] >> (32 * (address % 2))) as u32 };
        if *cell != new {
            *total = super::hash::with_cell(*total, address + 1, *cell, new);
            *cell = new;
        }
    }
}

/// Sets the other one of the two names of a thread, and how many of its frames are fresh.
fn set_name(thread: &mut Thread, word: u64) {
    let name = PathId(low(word));
    if thread.output == OutputId::EMPTY {
        thread.path = name;
    } else {
        thread.shape = name;
    }
    thread.fresh = high(word);
}
