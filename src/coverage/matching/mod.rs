//! Which instances of patterns an execution has.
//!
//! **Input**: the events of an execution, and the [`Universe`](super::Universe) with the accesses of its program.
//! **Output**: [`Matcher::covered`]: the instances that it has.
//!
//! **Algorithm**: an instance is covered by a subsequence of the accesses, on one cell for each of its variables, by two
//! threads (the paper's section III-A). The matcher keeps all beginnings of matches ([`Partial`]), each once, and extends
//! them with each access: the time is linear in accesses times beginnings. The 17 patterns are one trie ([`Trie`]), so
//! that what they have in common is matched once.
//!
//! The two threads are threads that may run in parallel: where a match goes from one thread to the other, the two
//! accesses are not ordered by forks, joins and the ends of threads. So what main does before the fork or after the join
//! covers nothing. In one execution clocks tell ([`matcher`]); where all executions are looked at, each beginning knows
//! which threads know of its last access ([`partial`]).
//!
//! **Soundness and limits**: exact, up to a number of beginnings that an execution may have; beyond it, what is
//! covered is a lower bound, and [`Matcher::is_cut`] says so.

mod candidates;
mod matcher;
mod partial;
mod trie;

pub use candidates::Candidates;
pub use matcher::{MAX_PARTIALS, Matcher};
pub(super) use partial::{Awaited, Meaning, Partial, Step, Threads};
pub(super) use trie::Trie;
