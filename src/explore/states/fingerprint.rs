//! What tells the states of a search apart.
//!
//! **Input**: the fingerprint of a state, a monitor, and how the execution has ended. **Output**: a hash of 128 bits.

use super::Monitor;
use cssame_vm as vm;
use cssame_vm::{Machine, State};

/// Writes what a fingerprint takes in beyond the state: the monitor, of which the number of words is given back, and how the
/// execution has failed.
pub(super) fn encode_rest<G: Monitor>(monitor: &G, progress: vm::Progress, words: &mut Vec<u64>) -> usize {
    words.clear();
    monitor.encode(words);
    let monitor_words = words.len();
    if let vm::Progress::Failed(failure) = progress {
        let message = failure.message.map_or(0, |message| u64::from(message.0) + 1);
        words.extend([failure.kind as u64 + 1, u64::from(failure.at.0), message]);
    }
    monitor_words
}

/// The fingerprint of a state in a search without a monitor, to find its node.
pub(crate) fn fingerprint_of(machine: &Machine, state: &State, progress: vm::Progress) -> u128 {
    let mut more = Vec::new();
    encode_rest(&(), progress, &mut more);
    with_rest(machine.fingerprint(state), &more)
}

/// The fingerprint of a state and of what it is known by besides.
pub(super) fn with_rest(fingerprint: u128, more: &[u64]) -> u128 {
    if more.is_empty() { fingerprint } else { vm::with_more(fingerprint, more) }
}
