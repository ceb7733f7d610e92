//! The identity of a state in a search.
//!
//! **Input**: the fingerprint of a state, the words of a monitor, and the kind of end of the execution. **Output**: a 128-bit
//! hash.

use cssame_vm as vm;
use cssame_vm::{Machine, State};

/// Appends how an execution has failed to what a fingerprint takes in beyond the state.
pub fn encode_failure(progress: vm::Progress, words: &mut Vec<u64>) {
    if let vm::Progress::Failed(failure) = progress {
        let message = failure.message.map_or(0, |message| u64::from(message.0) + 1);
        words.extend([failure.kind as u64 + 1, u64::from(failure.at.0), message]);
    }
}

/// The fingerprint of a state in a search without a monitor, to find its node.
pub fn fingerprint_of(machine: &Machine, state: &State, progress: vm::Progress) -> u128 {
    let mut more = Vec::new();
    encode_failure(progress, &mut more);
    with_rest(machine.fingerprint(state), &more)
}

/// The fingerprint of a state and of what it is known by besides.
pub fn with_rest(fingerprint: u128, more: &[u64]) -> u128 {
    if more.is_empty() { fingerprint } else { vm::with_more(fingerprint, more) }
}
