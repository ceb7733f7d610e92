//! Symmetry reduction: states equal up to a permutation of `parfor` iterations get one fingerprint (Ip and Dill 1996).
//!
//! **Input**: a state. **Output**: a hash that is the same for two states if one is a permutation of the other, in which
//! interchangeable iterations of a `parfor` are exchanged.
//!
//! **Algorithm** (Ip and Dill: "Better Verification Through Symmetry", 1996; Emerson and Sistla, 1996): the sum of the hashes of
//! all parts, as for other fingerprints; a sum replaces each sorted list.
//!
//! 1. Everything except the interchangeable threads is hashed unchanged, with its address or slot. A lock that one of these
//!    threads holds counts as held by some thread.
//! 2. For each interchangeable thread, hash its frames without its number and name, and the locks that it holds.
//!
//! **Soundness and limits**: equal parts imply that there is a permutation, because the part of a thread determines all its
//! possible actions, and nothing else refers to these threads. So the two states have the same futures, except for the names of
//! those threads. Permutations that would also have to move memory are not recognised.

use super::encode::pair;
use super::hash::{hash, hash_from, hash_of_cell};
use super::locks;
use super::machine::Machine;
use super::state::{NO_THREAD, State, Thread, ThreadStatus, Word};
use cssame_ir::FunctionId;

/// Room to hash in.
#[derive(Clone, Debug, Default)]
pub(super) struct Symmetric {
    words: Vec<u64>,
    /// By thread: whether it may be exchanged.
    exchangeable: Vec<bool>,
    /// Locks that such threads hold: the thread, the address, and how often beyond the first time.
    held: Vec<(u16, u32, u32)>,
}

/// Stands for the holder of a lock that may be exchanged.
const SOMEBODY: u64 = u64::MAX;

/// Stands for the slot of a thread that may be exchanged.
const ANY_SLOT: u64 = 1 << 20;

impl Machine {
    /// The fingerprint of a state up to symmetry.
    pub(super) fn symmetric_fingerprint(&self, state: &State, room: &mut Symmetric) -> u128 {
        let Symmetric { words, exchangeable, held } = room;
        exchangeable.clear();
        exchangeable.extend(state.threads.iter().map(|thread| self.may_be_exchanged(state, thread)));
        let mut total = self.symmetric_hash_of_cells(state, exchangeable, held);
        let exclusive = exchangeable.get(usize::from(state.exclusive)).is_none_or(|&may| !may);
        let holder = if exclusive { u32::from(state.exclusive) } else { u32::from(NO_THREAD) + 1 };
        total = total.wrapping_add(self.symmetric_hash_of_rest(state, holder, words));
        for slot in 0..state.threads.len() {
            let is_exclusive = usize::from(state.exclusive) == slot;
            total = total.wrapping_add(self.symmetric_hash_of_thread(state, slot, (is_exclusive, held), words));
        }
        total
    }

    /// The hash of what stands neither in cells nor in threads: `holder` is the thread in the middle of an atomic block.
    pub(super) fn symmetric_hash_of_rest(&self, state: &State, holder: u32, words: &mut Vec<u64>) -> u128 {
        words.clear();
        words.push(pair(state.cells.len() as u32, state.blocks.len() as u32));
        words.push(pair(holder, state.closed.len() as u32));
        // How many read stands in the cell, and who they are among others.
        if self.has_readers() {
            words.push(state.readers.len() as u64);
        }
        for hold in &state.readers {
            let thread = state.threads.get(usize::from(hold.thread));
            if !thread.is_some_and(|thread| self.may_be_exchanged(state, thread)) {
                words.extend([pair(hold.address, hold.count), SOMEBODY - u64::from(hold.thread)]);
            }
        }
        for block in &state.blocks {
            words.extend([pair(block.start, block.size), u64::from(block.variable)]);
        }
        words.extend(state.closed.iter().map(|closed| pair(closed.path.0, closed.output.0)));
        hash(words)
    }

    /// The hash of a thread: whether it is in the middle of an atomic block, and which locks threads hold that may be exchanged.
    pub(super) fn symmetric_hash_of_thread(
        &self,
        state: &State,
        slot: usize,
        (is_exclusive, held): (bool, &[(u16, u32, u32)]),
        words: &mut Vec<u64>,
    ) -> u128 {
        let thread = &state.threads[slot];
        if thread.status == ThreadStatus::Free {
            return 0;
        }
        words.clear();
        self.encode_thread(state, thread, words);
        if !self.may_be_exchanged(state, thread) {
            return hash_from(slot as u64, words);
        }
        // The second word is its name.
        words[1] = u64::from(is_exclusive);
        let locks = held.iter().filter(|(holder, ..)| usize::from(*holder) == slot);
        words.extend(locks.map(|&(_, address, levels)| pair(address, levels)));
        hash_from(ANY_SLOT, words)
    }

    /// The sum of the hashes of all cells; finds the locks that threads hold which may be exchanged.
    fn symmetric_hash_of_cells(&self, state: &State, exchangeable: &[bool], held: &mut Vec<(u16, u32, u32)>) -> u128 {
        held.clear();
        let cells = state.cells.iter().enumerate().skip(1);
        let mut total = cells.fold(0, |sum: u128, (address, &cell)| sum.wrapping_add(hash_of_cell(address, cell)));
        self.layout.each_lock(&state.blocks, |address| {
            let cell = state.cells[address as usize];
            if let Some((holder, levels)) = locks::held(cell.value)
                && exchangeable.get(holder) == Some(&true)
            {
                held.push((holder as u16, address, levels));
                let by_somebody = Word { value: SOMEBODY as i64, ..cell };
                total = super::hash::with_cell(total, address as usize, cell, by_somebody);
            }
        });
        let may = |thread: u16| exchangeable.get(usize::from(thread)) == Some(&true);
        let readers = state.readers.iter().filter(|hold| may(hold.thread));
        held.extend(readers.map(|hold| (hold.thread, hold.address, hold.count)));
        held.sort_unstable();
        total
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
