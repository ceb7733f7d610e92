//! A read that is a step in only one thread.
//!
//! **Input**: a machine of a slice, a read that is visible in it, and a thread. **Output**: a machine in which only that thread
//! performs the read; in other threads it does nothing, and its result is 0.
//!
//! **Algorithm**: the instruction of the read is replaced by one that checks the thread. Slots of threads are not reused, so that
//! the number of a thread shows how many were created before it.
//!
//! **Soundness and limits**: the caller must ensure that no result of the read matters in other threads.

use super::code::{Code, NO_SLOT};
use super::compiled::Compiled;
use super::places::ComputedPlace;
use super::state::ThreadIndex;
use cssame_ir::ReadId;

/// A read that one thread performs; in others it does nothing, and its result is 0. It is for the caller to see that no
/// result of it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The read.
    pub read: ReadId,
    /// Who performs it.
    pub thread: ThreadIndex,
    /// Whether threads are made in one and the same order in all executions.
    pub ordered: bool,
}

impl Watched {
    /// Replaces the instructions of the read.
    pub(super) fn mark(self, compiled: &mut Compiled) {
        for code in &mut compiled.code {
            *code = match *code {
                Code::SharedLoad { dest, address, read } if read == self.read => {
                    let further = Box::default();
                    compiled.places.push(ComputedPlace {
                        reference: NO_SLOT,
                        pointed: None,
                        address,
                        index: None,
                        further,
                    });
                    Code::WatchedLoad { dest, place: compiled.places.len() as u32 - 1, read }
                }
                Code::SharedLoadAt { dest, place, read } if read == self.read => {
                    Code::WatchedLoad { dest, place, read }
                }
                code => code,
            };
        }
    }
}
