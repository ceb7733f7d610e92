//! Finds the instances of patterns that an execution covers.
//!
//! **Input**: the events of an execution, and the [`Universe`](super::Universe) with the accesses of its program. **Output**:
//! [`Matcher::covered`]: the covered instances.
//!
//! **Algorithm**: an instance is covered by a subsequence of the accesses, on one cell for each of its variables, by two threads
//! (the paper's section III-A). The matcher keeps all beginnings of matches ([`Partial`]), each once, and extends them with each
//! access: the time is linear in accesses times beginnings. The 17 patterns form one trie ([`Trie`]), so that common prefixes are
//! matched once.
//!
//! The two threads may run in parallel: where a match switches from one thread to the other, the two accesses are not ordered by
//! forks, joins and the ends of threads. So the accesses of main before the fork or after the join cover nothing. In one
//! execution, clocks decide this ([`matcher`]). If all executions are examined, each beginning records which threads know of its
//! last access ([`partial`]).
//!
//! **Soundness and limits**: exact up to a bound on the number of beginnings in an execution. Beyond it, the coverage is a lower
//! bound, and [`Matcher::is_cut`] says so.

mod candidates;
mod matcher;
mod partial;
mod trie;

pub use candidates::Candidates;
pub use matcher::{MAX_PARTIALS, Matcher};
pub(super) use partial::{Awaited, Meaning, Partial, Step, Threads};
pub(super) use trie::Trie;
