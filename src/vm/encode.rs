//! States as runs of words.
//!
//! **Input**: a state. **Output**: words from which an equal state can be made again, in a canonical form: of a frame
//! only the registers that are live where it stands, no spare capacity.
//!
//! The first part of the words determines the future, the outputs and the last writers. The second part is what only
//! events name: the numbers of instances in the names of threads and locals, and which frames nothing has happened in.
//! Two states may differ in it and still count as one, so that a loop which makes threads or locals has finitely many
//! states.

use super::machine::Machine;
use super::state::{Block, Closed, Instances, ReadHold, State, Thread, ThreadStatus, Word};
use super::tables::{OutputId, PathId};

pub(super) fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn low(word: u64) -> u32 {
    word as u32
}

fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

const SPAWNED: u64 = 1 << 40;
const DEEP: u64 = 1 << 41;

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
    /// Writes the words of a state, and the ends of their parts: all but the threads, each thread, and what only events
    /// name.
    pub(super) fn write_words(&self, state: &State, words: &mut Vec<u64>, ends: &mut Vec<u32>) {
        words.clear();
        ends.clear();
        self.write_rest(state, words);
        // The first cell is none.
        words.extend(state.cells[1..].iter().map(|cell| cell.value as u64));
        let mut writers = state.cells[1..].chunks_exact(2);
        words.extend((&mut writers).map(|two| pair(two[0].writer, two[1].writer)));
        words.extend(writers.remainder().iter().map(|one| pair(one.writer, 0)));
        ends.push(words.len() as u32);
        for thread in &state.threads {
            self.encode_thread(state, thread, words);
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
            let word = reader.word();
            let name = PathId(low(word));
            if thread.output == OutputId::EMPTY {
                thread.path = name;
            } else {
                thread.shape = name;
            }
            thread.fresh = high(word);
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
        let word = reader.word();
        let mut thread = Thread::free(state.stack.len() as u32, 0);
        thread.pc = low(word);
        thread.status = STATUSES[(word >> 32 & 15) as usize];
        thread.spawned = word & SPAWNED != 0;
        thread.atomic = (word >> 48) as u16;
        if thread.status != ThreadStatus::Free {
            let word = reader.word();
            thread.output = OutputId(high(word));
            // One of the two; the other one stands in the second part.
            (thread.shape, thread.path) = (PathId(low(word)), PathId(low(word)));
        }
        if !matches!(thread.status, ThreadStatus::Free | ThreadStatus::Ended) {
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
            self.decode_frames(reader, &mut thread, &mut state.stack);
        }
        state.threads.push(thread);
    }

    fn decode_frames(&self, reader: &mut Reader<'_>, thread: &mut Thread, stack: &mut Vec<i64>) {
        let compiled = &self.compiled;
        thread.frame_size = compiled.functions[compiled.origins[thread.pc as usize].function].frame_size;
        thread.capacity = thread.frame + thread.frame_size;
        stack.resize((thread.base + thread.capacity) as usize, 0);
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
}
