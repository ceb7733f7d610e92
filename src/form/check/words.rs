//! Names of locks and threads, and lists of them, for messages.
//!
//! In: ids. Out: text. It decides nothing.

use super::Subject;
use cssame_concurrency::lockset::{ATOMIC, Hold, holds_lock};
use cssame_concurrency::{LocationId, ThreadId};
use cssame_ir::sync::Mode;

/// At most that many names of a list are written out.
const MAX_NAMES: usize = 4;

/// `A`, `A and B`, `A, B and C`, `A, B, C and 4 more`.
pub(super) fn list(names: &[String]) -> String {
    let mut shown = names.to_vec();
    if names.len() > MAX_NAMES {
        shown.truncate(MAX_NAMES - 1);
        shown.push(format!("{} more", names.len() - shown.len()));
    }
    match shown.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// `one thread`, `3 threads`.
pub(super) fn count(number: usize, word: &str) -> String {
    if number == 1 { format!("one {word}") } else { format!("{number} {word}s") }
}

impl Subject<'_> {
    /// The object of a location as the text names it, in quotes.
    pub(super) fn object(&self, location: LocationId) -> String {
        format!("`{}`", self.form.concurrency.location_name(self.program, location))
    }

    /// The threads, by their paths; each name once.
    pub(super) fn threads(&self, threads: &[ThreadId]) -> String {
        let mut sorted = threads.to_vec();
        sorted.sort_unstable();
        let mut names: Vec<String> =
            sorted.iter().map(|&thread| self.form.concurrency.threads[thread].path.clone()).collect();
        names.dedup();
        list(&names)
    }

    /// `holding no lock`, ``holding `L` ``, ``holding `R` for reading``, `in an atomic block`.
    pub(super) fn holding(&self, locks: &[Hold]) -> String {
        let name = |hold: &Hold| match hold.mode {
            Mode::Exclusive => self.object(hold.lock),
            Mode::Shared => format!("{} for reading", self.object(hold.lock)),
        };
        let names: Vec<String> = locks.iter().filter(|hold| hold.lock != ATOMIC).map(name).collect();
        match (holds_lock(locks, ATOMIC), names.is_empty()) {
            (true, true) => "in an atomic block".to_owned(),
            (true, false) => format!("in an atomic block, holding {}", list(&names)),
            (false, true) => "holding no lock".to_owned(),
            (false, false) => format!("holding {}", list(&names)),
        }
    }
}
