//! Fingerprints of states.
//!
//! **Input**: a state. **Output**: its words, from which an equal state can be made again, and a hash of 128 bits of
//! the part of them that determines the future, the outputs and the last writers.
//!
//! **Algorithm**: two multiplicative mixes with different constants. A machine that takes interchangeable threads for
//! one another hashes the canonical words of [`symmetry`](super::symmetry) instead.
//!
//! **Soundness and limits**: a search that meets n states takes two different ones for the same with a probability of
//! about n²/2¹²⁹: below 10⁻²⁰ for a thousand million.

use super::machine::{Fingerprints, Machine};
use super::state::State;
use super::symmetry::Canonical;

/// A state as words.
#[derive(Clone, Debug, Default)]
pub struct Encoding {
    words: Vec<u64>,
    significant: usize,
    /// What is hashed instead, where threads are taken for one another.
    canonical: Canonical,
}

impl Encoding {
    /// All words; [`Machine::decode`] makes a state of them.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The hash of the first part.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        match self.canonical.words() {
            [] => hash(&self.words[..self.significant]),
            words => hash(words),
        }
    }

    /// The hash of the first part and of more words that belong to the state for the caller.
    #[must_use]
    pub fn fingerprint_with(&self, more: &[u64]) -> u128 {
        let first = self.fingerprint();
        let second = hash(more);
        let low = fold(first as u64 ^ SECRETS[4], second as u64 ^ SECRETS[5]);
        let high = fold((first >> 64) as u64 ^ SECRETS[6], (second >> 64) as u64 ^ SECRETS[7]);
        // A plain xor beside the products: these alone would lose a half that is equal to its secret.
        (u128::from(high) << 64 | u128::from(low)) ^ first.rotate_left(23) ^ second
    }
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
    let length = words.len() as u64;
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

impl Machine {
    /// The hash of everything that determines the future of a state, its outputs and its last writers.
    #[must_use]
    pub fn fingerprint(&self, state: &State) -> u128 {
        let mut encoding = Encoding::default();
        self.encode(state, &mut encoding);
        encoding.fingerprint()
    }

    /// Writes a state as words.
    pub fn encode(&self, state: &State, out: &mut Encoding) {
        out.words.clear();
        out.significant = self.write_words(state, &mut out.words);
        if self.fingerprints == Fingerprints::UpToSymmetry {
            self.encode_up_to_symmetry(state, &mut out.canonical);
        }
    }
}
