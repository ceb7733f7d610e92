//! Symmetry reduction: states equal up to a permutation of `parfor` iterations get one fingerprint (Ip and Dill 1996).
//!
//! **Input**: a state. **Output**: words that are the same for two states if one is a permutation of the other: the
//! iterations of a `parfor` that are interchangeable have changed places.
//!
//! **Algorithm** (Ip and Dill: "Better Verification Through Symmetry", 1996; Emerson and Sistla, 1996).
//!
//! 1. Everything but the interchangeable threads is written as it is; a lock that one of these holds counts as held by
//!    somebody.
//! 2. For each interchangeable thread, its frames without its number and name, and the locks that it holds.
//! 3. These lists, sorted.
//!
//! **Soundness and limits**: equal words mean that there is a permutation, because each list says all that a thread may
//! come to do, and nothing else points to these threads. So the two states have the same futures, but for the names of
//! those threads. Permutations that would have to move memory as well are not seen.

use super::encode::pair;
use super::locks;
use super::machine::Machine;
use super::state::{NO_THREAD, State, Thread, ThreadStatus};
use crate::ir::FunctionId;

/// The words, and room to sort in.
#[derive(Clone, Debug, Default)]
pub(super) struct Canonical {
    words: Vec<u64>,
    /// What the threads that may be exchanged are about to do, one behind the other, and where each begins and ends.
    contents: Vec<u64>,
    ranges: Vec<(u32, u32)>,
    /// By thread: whether it may be exchanged.
    exchangeable: Vec<bool>,
    /// Locks that such threads hold: the thread, the address, and how often beyond the first time.
    held: Vec<(u16, u32, u32)>,
}

impl Canonical {
    /// Nothing where threads are not taken for one another.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Stands for the holder of a lock that may be exchanged.
const SOMEBODY: u64 = u64::MAX;

impl Machine {
    pub(super) fn encode_up_to_symmetry(&self, state: &State, out: &mut Canonical) {
        let Canonical { words, contents, ranges, exchangeable, held } = out;
        exchangeable.clear();
        exchangeable.extend(state.threads.iter().map(|thread| self.may_be_exchanged(state, thread)));
        words.clear();
        words.push(pair(state.cells.len() as u32, state.blocks.len() as u32));
        let exclusive = exchangeable.get(usize::from(state.exclusive)).is_none_or(|&may| !may);
        let holder = if exclusive { u32::from(state.exclusive) } else { u32::from(NO_THREAD) + 1 };
        words.push(pair(holder, state.closed.len() as u32));
        self.encode_cells(state, exchangeable, held, words);
        for block in &state.blocks {
            words.extend([pair(block.start, block.size), u64::from(block.variable)]);
        }
        words.extend(state.closed.iter().map(|closed| pair(closed.path.0, closed.output.0)));
        contents.clear();
        ranges.clear();
        for (index, thread) in state.threads.iter().enumerate() {
            if thread.status == ThreadStatus::Free {
                continue;
            }
            if !exchangeable[index] {
                words.push(index as u64);
                self.encode_thread(state, thread, words);
                continue;
            }
            let start = contents.len();
            self.encode_thread(state, thread, contents);
            // The second word is its name.
            contents[start + 1] = u64::from(usize::from(state.exclusive) == index);
            let locks = held.iter().filter(|(holder, ..)| usize::from(*holder) == index);
            contents.extend(locks.map(|&(_, address, levels)| pair(address, levels)));
            ranges.push((start as u32, contents.len() as u32));
        }
        let content = |&(start, end): &(u32, u32)| &contents[start as usize..end as usize];
        ranges.sort_unstable_by(|left, right| content(left).cmp(content(right)));
        for range in &*ranges {
            words.push(SOMEBODY - 1 - u64::from(range.1 - range.0));
            words.extend(content(range));
        }
    }

    fn encode_cells(
        &self,
        state: &State,
        exchangeable: &[bool],
        held: &mut Vec<(u16, u32, u32)>,
        words: &mut Vec<u64>,
    ) {
        held.clear();
        let start = words.len();
        words.extend(state.cells.iter().map(|cell| cell.value as u64));
        self.layout.each_lock(&state.blocks, |address| {
            if let Some((holder, levels)) = locks::held(state.cells[address as usize].value)
                && exchangeable.get(holder) == Some(&true)
            {
                held.push((holder as u16, address, levels));
                words[start + address as usize] = SOMEBODY;
            }
        });
        // How many read stands in the cell, and who they are among others.
        if self.has_readers() {
            words.push(state.readers.len() as u64);
        }
        for hold in &state.readers {
            if exchangeable.get(usize::from(hold.thread)) == Some(&true) {
                held.push((hold.thread, hold.address, hold.count));
            } else {
                words.extend([pair(hold.address, hold.count), SOMEBODY - u64::from(hold.thread)]);
            }
        }
        held.sort_unstable();
        words.extend(state.cells.iter().map(|cell| u64::from(cell.writer)));
    }

    fn may_be_exchanged(&self, state: &State, thread: &Thread) -> bool {
        let in_play = !matches!(thread.status, ThreadStatus::Free | ThreadStatus::Ended);
        in_play && !thread.spawned && self.compiled.interchangeable[self.root_function(state, thread).index()]
    }

    /// The function that a thread has begun with.
    fn root_function(&self, state: &State, thread: &Thread) -> FunctionId {
        let (mut frame, mut at) = (thread.frame, thread.pc);
        for _ in 0..thread.depth {
            at = (state.stack[(thread.base + frame) as usize] as u32).wrapping_sub(1);
            let function = self.compiled.origins[at as usize].function;
            frame -= self.compiled.functions[function].frame_size;
        }
        self.compiled.origins[at as usize].function
    }
}
