//! Fingerprints of states.
//!
//! **Input**: a state; or a state and its predecessor by a step. **Output**: its words, from which an equal state can be
//! reconstructed, and a 128-bit hash of the part of them that determines the future, the outputs and the last writers.
//!
//! **Algorithm**: the sum of the hashes of all parts (Zobrist, 1970): each cell with its address and its last writer, each thread
//! with its slot, and the rest. So the fingerprint after a step is the previous one, minus the old hashes of the changed parts,
//! plus the new ones ([`Machine::fingerprint_behind`]). Each hash consists of multiplicative mixes with different constants for
//! the two halves, and is mixed once more, so that no sums of few parts cancel out. If a machine treats interchangeable threads
//! as equal, [`symmetry`](super::symmetry) defines the parts.
//!
//! **Soundness and limits**: a search that visits n states confuses two different ones with a probability of about n²/2¹²⁹: below
//! 10⁻²⁰ for a thousand million.

use super::encode::Encoding;
use super::hash::{hash, hash_from, hash_of_cell, with_cell};
use super::machine::{Fingerprints, Machine};
use super::state::{State, Word};
use super::symmetry::Symmetric;

/// The hashes of the parts of a state that steps begin in, and room to hash in.
#[derive(Clone, Debug, Default)]
pub struct Hashes {
    pub(super) total: u128,
    pub(super) rest: u128,
    /// By slot.
    pub(super) threads: Vec<u128>,
    /// The words that the state was [loaded](Machine::load) from; empty where it was not.
    pub(super) loaded: Encoding,
    words: Vec<u64>,
    symmetric: Symmetric,
}

impl Hashes {
    /// The words that the state was [loaded](Machine::load) from; empty where it was not.
    #[must_use]
    pub fn loaded(&self) -> &Encoding {
        &self.loaded
    }
}

/// The sum of hashes when all cells may have changed, or have come or gone.
fn with_cells(mut total: u128, before: &[Word], now: &[Word]) -> u128 {
    // Few cells change in a step: most runs of them are passed over by one branch.
    const RUN: usize = 4;
    let common = before.len().min(now.len());
    for (run, (old, new)) in before[..common].chunks(RUN).zip(now[..common].chunks(RUN)).enumerate() {
        let different = |(old, new): (&Word, &Word)| (old.value ^ new.value) | i64::from(old.writer ^ new.writer);
        if old.iter().zip(new).map(different).fold(0, |any, one| any | one) == 0 {
            continue;
        }
        for (place, (&old, &new)) in old.iter().zip(new).enumerate().filter(|&(_, (old, new))| old != new) {
            total = with_cell(total, run * RUN + place, old, new);
        }
    }
    for (address, &old) in before.iter().enumerate().skip(common.max(1)) {
        total = total.wrapping_sub(hash_of_cell(address, old));
    }
    for (address, &new) in now.iter().enumerate().skip(common.max(1)) {
        total = total.wrapping_add(hash_of_cell(address, new));
    }
    total
}

impl Machine {
    /// The hash of everything that determines the future of a state, its outputs and its last writers.
    #[must_use]
    pub fn fingerprint(&self, state: &State) -> u128 {
        self.begin_hashes(state, &mut Hashes::default())
    }

    /// Writes a state as words.
    pub fn encode(&self, state: &State, out: &mut Encoding) {
        self.write_words(state, &Encoding::default(), out);
    }

    /// The same for a state that a step has led to, of which [`State::copy_changes_from`] was called before; `hashes` are those
    /// of the state before the step, which was [loaded](Machine::load), or is none.
    pub fn encode_behind(&self, hashes: &Hashes, state: &State, out: &mut Encoding) {
        self.write_words(state, &hashes.loaded, out);
        debug_assert!({
            let mut whole = Encoding::default();
            self.encode(state, &mut whole);
            (whole.words, whole.ends) == (out.words.clone(), out.ends.clone())
        });
    }

    /// The fingerprint of a state; `hashes` is ready then for the states behind it.
    pub fn begin_hashes(&self, state: &State, hashes: &mut Hashes) -> u128 {
        hashes.loaded.words.clear();
        hashes.loaded.ends.clear();
        if self.fingerprints == Fingerprints::UpToSymmetry {
            return self.symmetric_fingerprint(state, &mut hashes.symmetric);
        }
        hashes.threads.clear();
        for slot in 0..state.threads.len() {
            let of_thread = self.hash_of_thread(state, slot, &mut hashes.words);
            hashes.threads.push(of_thread);
        }
        self.add_hashes(state, hashes)
    }

    /// Makes `hashes` ready where the words of the state and the ends of their parts are at hand. Not up to symmetry.
    pub(super) fn begin_hashes_of(&self, state: &State, words: &[u64], ends: &[u32], hashes: &mut Hashes) {
        let parts = ends.windows(2).take(state.threads.len()).enumerate();
        hashes.threads.clear();
        hashes
            .threads
            .extend(parts.map(|(slot, part)| hash_from(slot as u64, &words[part[0] as usize..part[1] as usize])));
        self.add_hashes(state, hashes);
    }

    /// Adds what stands outside of the threads to their hashes.
    fn add_hashes(&self, state: &State, hashes: &mut Hashes) -> u128 {
        hashes.rest = self.hash_of_rest(state, &mut hashes.words);
        let cells = state.cells.iter().enumerate().skip(1);
        let outside = cells.fold(hashes.rest, |sum, (address, &cell)| sum.wrapping_add(hash_of_cell(address, cell)));
        hashes.total = hashes.threads.iter().fold(outside, |sum, &of_thread| sum.wrapping_add(of_thread));
        hashes.total
    }

    /// The fingerprint of a state that a step has led to, of which [`State::copy_changes_from`] was called before; `hashes` are those
    /// of the state before the step.
    pub fn fingerprint_behind(&self, before: &State, hashes: &mut Hashes, state: &State) -> u128 {
        if self.fingerprints == Fingerprints::UpToSymmetry {
            return self.symmetric_fingerprint(state, &mut hashes.symmetric);
        }
        let mut total = hashes.total;
        if !state.has_same_rest(before) {
            total = total.wrapping_sub(hashes.rest).wrapping_add(self.hash_of_rest(state, &mut hashes.words));
        }
        for slot in 0..state.threads.len().max(before.threads.len()) {
            let is_in_both = slot < state.threads.len() && slot < before.threads.len();
            if is_in_both && !state.is_touched(slot) {
                continue;
            }
            if let Some(&of_thread) = hashes.threads.get(slot) {
                total = total.wrapping_sub(of_thread);
            }
            if slot < state.threads.len() {
                total = total.wrapping_add(self.hash_of_thread(state, slot, &mut hashes.words));
            }
        }
        total = with_cells(total, &before.cells, &state.cells);
        debug_assert_eq!(total, self.fingerprint(state), "all that has changed was noted");
        total
    }

    fn hash_of_thread(&self, state: &State, slot: usize, words: &mut Vec<u64>) -> u128 {
        let thread = &state.threads[slot];
        words.clear();
        self.encode_thread(state, thread, words);
        hash_from(slot as u64, words)
    }

    /// The hash of all but cells and threads.
    fn hash_of_rest(&self, state: &State, words: &mut Vec<u64>) -> u128 {
        words.clear();
        self.write_rest(state, words);
        hash(words)
    }
}
