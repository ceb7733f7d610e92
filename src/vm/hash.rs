//! Hashes of words and of cells.
//!
//! **Input**: words. **Output**: 128 bits, which are added to form [fingerprints](super::fingerprint).
//!
//! **Algorithm**: multiplicative mixes with different constants for the two halves, mixed once more, so that no sums of few
//! hashes cancel out.

use super::encode::pair;
use super::state::Word;

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
