//! The reasons why blocks cannot run in parallel.
//!
//! In: nothing. Out: [`Apart`], which `parallel` and `order` compute, and which messages describe.

use super::{LocationId, ThreadId};

/// Why two blocks never run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Apart {
    /// Both belong to one thread, of which one instance is alive at a time.
    SameThread(ThreadId),
    /// One of them, the block named here, lies in the thread that makes `child`, outside its live region; the other
    /// lies in `child` or below it.
    OutsideLife {
        /// The block of the parent.
        block: u32,
        /// The thread that is not alive there.
        child: ThreadId,
    },
    /// They lie in, or below, two child threads of one parent that are never alive at once.
    Lives(ThreadId, ThreadId),
    /// The signal at the end of that block lies between them.
    Signal(u32),
    /// Rounds of that barrier lie between them.
    Barrier(LocationId),
}
