//! Fingerprints of states.
//!
//! **Input**: a state, or one and the state that it was made of by a step. **Output**: its words, from which an equal state can
//! be made again, and a hash of 128 bits of the part of them that determines the future, the outputs and the last writers.
//!
//! **Algorithm**: the sum of the hashes of all parts (Zobrist, 1970): each cell with its address and its last writer, each
//! thread with its slot, and the rest. So the fingerprint behind a step is the one before it, less the hashes of the parts that
//! have changed, and with their new ones ([`Machine::fingerprint_behind`]). Each hash is made of multiplicative mixes with
//! different constants for the two halves, and mixed once more, so that no sums of few parts cancel out. For a machine
//! that takes interchangeable threads for one another [`symmetry`](super::symmetry) says what the parts are.
//!
//! **Soundness and limits**: a search that meets n states takes two different ones for the same with a probability of
//! about n²/2¹²⁹: below 10⁻²⁰ for a thousand million.

use super::encode::{Encoding, pair};
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

/// The hash of a state and of more words that belong to it for the caller.
#[must_use]
pub fn with_more(first: u128, more: &[u64]) -> u128 {
    let second = hash(more);
    let low = fold(first as u64 ^ SECRETS[4], second as u64 ^ SECRETS[5]);
    let high = fold((first >> 64) as u64 ^ SECRETS[6], (second >> 64) as u64 ^ SECRETS[7]);
    // A plain xor beside the products: these alone would lose a half that is equal to its secret.
    (u128::from(high) << 64 | u128::from(low)) ^ first.rotate_left(23) ^ second
}

/// Digits of the fraction of pi.
const SECRETS: [u64; 8] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
    0xc0ac_29b7_c97c_50dd,
    0x3f84_d5b5_b547_0917,
];

#[inline(always)]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// Hashes words to 128 bits.
#[must_use]
pub fn hash(words: &[u64]) -> u128 {
    hash_from(0, words)
}

/// The same for words that are known by a small number besides.
pub(super) fn hash_from(number: u64, words: &[u64]) -> u128 {
    let length = words.len() as u64 ^ number << 32;
    let (mut low, mut high) = (SECRETS[0] ^ length, SECRETS[1] ^ length);
    let mut pairs = words.chunks_exact(2);
    for pair in &mut pairs {
        low = fold(pair[0] ^ SECRETS[2], pair[1] ^ low);
        high = fold(pair[0] ^ high, pair[1] ^ SECRETS[3]);
    }
    if let [last] = pairs.remainder() {
        low = fold(last ^ SECRETS[2], low);
        high = fold(last ^ high, SECRETS[3]);
    }
    low = fold(low ^ SECRETS[4], SECRETS[5]);
    high = fold(high ^ SECRETS[6], SECRETS[7]);
    u128::from(high) << 64 | u128::from(low)
}

/// The hash of a cell.
#[inline(always)]
pub(super) fn hash_of_cell(address: usize, cell: Word) -> u128 {
    let place = pair(address as u32, cell.writer);
    let low = fold(cell.value as u64 ^ SECRETS[0], place ^ SECRETS[1]);
    let high = fold(cell.value as u64 ^ SECRETS[2], place ^ SECRETS[3]);
    // Without the second mix, sums of neighbouring values at neighbouring addresses would be alike.
    let (low, high) = (fold(low ^ SECRETS[4], SECRETS[5]), fold(high ^ SECRETS[6], SECRETS[7]));
    u128::from(high) << 64 | u128::from(low)
}

/// The sum of hashes when a cell has changed.
#[inline(always)]
pub(super) fn with_cell(total: u128, address: usize, old: Word, new: Word) -> u128 {
    total.wrapping_sub(hash_of_cell(address, old)).wrapping_add(hash_of_cell(address, new))
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
