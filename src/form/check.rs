//! Diagnostics of synchronisation and of races.
//!
//! **Input**: a program and, if it has a `main`, its CSSAME form. **Output**: diagnostics CS0301 to CS0316 (except CS0308, which
//! is a compilation error), CS0401 and CS0402, sorted.
//!
//! **Algorithm**: each kind has its module; all of them are passes over the unfolded graph. A certain failure when control
//! reaches the place is an error. A possible failure on some path is a warning, and its message says `may`.
//!
//! **Soundness and limits**: values are ignored: a branch that is never taken counts as a path. If calling contexts were merged,
//! paths of the graph mix callers, and facts that only some paths show are not reported.

mod assertions;
mod conditions;
mod held;
mod lock_order;
mod locks;
mod races;
mod retest;
mod unjoined;
mod unknown_locks;
mod unreachable;
mod updates;
mod waits;
mod words;
mod writes;

pub use lock_order::LockCycle;
pub use locks::RELEASED_BEFORE;

use super::Form;
use cssame_diagnostics as diagnostics;
use cssame_diagnostics::Diagnostic;
use cssame_ir::{LeafId, Program};
use cssame_source::SourceMap;

/// What the checks look at.
#[derive(Clone, Copy)]
struct Subject<'a> {
    sources: &'a SourceMap,
    program: &'a Program,
    form: &'a Form,
}

/// What may go wrong, if some execution leads there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Potential {
    /// Accesses to that variable race.
    Race(LeafId),
    /// Threads wait for each other that hold these locks, sorted: each an element of its leaf, or any.
    LockCycle(Vec<(LeafId, Option<u32>)>),
}

/// What the checks find.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// What is said without a doubt that an execution could settle, sorted.
    pub plain: Vec<Diagnostic>,
    /// What an execution may confirm, or all of them refute.
    pub potential: Vec<(Potential, Diagnostic)>,
}

/// All static diagnostics of a program that compiles. Without a form, only those that need no `main`.
#[must_use]
pub fn check(sources: &SourceMap, program: &Program, form: Option<&Form>) -> Vec<Diagnostic> {
    let Findings { plain: mut found, potential } = find(sources, program, form);
    found.extend(potential.into_iter().map(|(_, diagnostic)| diagnostic));
    diagnostics::sort(&mut found);
    found
}

/// The same, with what the potential ones are about.
#[must_use]
pub fn find(sources: &SourceMap, program: &Program, form: Option<&Form>) -> Findings {
    let mut found = unreachable::check(sources, program);
    let mut potential = Vec::new();
    if let Some(form) = form {
        let subject = Subject { sources, program, form };
        let mut held = held::Held::new(subject);
        let retest = retest::Retest::new(subject);
        locks::check(subject, &mut held, &retest, &mut found);
        waits::check(subject, &mut found);
        unjoined::check(subject, &mut found);
        conditions::check(subject, &mut held, &retest, &mut found);
        assertions::check(subject, &mut held, &retest, &mut found);
        updates::check(subject, &mut held, &retest, &mut found);
        writes::check(subject, &mut held, &mut found);
        races::check(subject, &mut potential);
        lock_order::check(subject, &mut held, &mut potential);
        unknown_locks::check(subject, &mut held, &mut potential);
    }
    diagnostics::sort(&mut found);
    Findings { plain: found, potential }
}

/// The cycles in which threads may take locks, for those who want to make them real.
#[must_use]
pub fn lock_cycles(sources: &SourceMap, program: &Program, form: &Form) -> Vec<LockCycle> {
    let subject = Subject { sources, program, form };
    let mut held = held::Held::new(subject);
    let mut found = lock_order::lock_cycles(subject, &mut held);
    found.extend(unknown_locks::lock_cycles(subject, &mut held));
    found
}
