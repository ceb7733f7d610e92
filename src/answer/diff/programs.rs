//! Compares the possible behaviours of two programs.
//!
//! **Input**: the possible behaviours of both, and an [`Alignment`] of their texts. **Output**: terms, failures, deadlocks and
//! outcomes, each with its change.
//!
//! **Algorithm**: each item of the old program gets the name that it would have in the new one; equal names are one item.
//!
//! **Soundness and limits**: if a search was stopped, an item that it has not found is undecided, not gone.

use super::align::{Alignment, pair_up};
use cssame_explore::report::{DeadlockReport, FailureReport, FuturesReport, OutcomeReport, ThreadOutput};
use cssame_schedule::Step;
use serde::Serialize;
use std::collections::BTreeMap;

/// What has become of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It could happen in the old program and cannot in the new one.
    Gone,
    /// It can happen in the new program and could not in the old one.
    New,
    /// A search was stopped before it was known.
    Undecided,
    /// It can, or cannot, happen in both, or the other program does not have it and it cannot happen here.
    Same,
}

/// A term in both programs.
#[derive(Clone, Debug, Serialize)]
pub struct TermChange {
    /// What has become of it.
    pub change: Change,
    /// The read and the definition, as the old program names them.
    pub old: Option<[String; 2]>,
    /// The same in the new one.
    pub new: Option<[String; 2]>,
    /// Whether it can happen in the old program: `feasible`, `impossible`, `undecided`, or nothing where it is no term.
    pub before: Option<&'static str>,
    /// The same in the new one.
    pub after: Option<&'static str>,
}

/// A failure of either program.
#[derive(Clone, Debug, Serialize)]
pub struct FailureChange {
    /// What has become of it.
    pub change: Change,
    /// As the new program has it, or the old one where it is gone.
    #[serde(flatten)]
    pub failure: FailureReport,
}

/// A deadlock of either program.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockChange {
    /// What has become of it.
    pub change: Change,
    /// As the new program has it, or the old one where it is gone.
    #[serde(flatten)]
    pub deadlock: DeadlockReport,
}

/// An outcome of either program.
#[derive(Clone, Debug, Serialize)]
pub struct OutcomeChange {
    /// What has become of it.
    pub change: Change,
    /// `ok`, `assert`, `deadlock`, …
    pub status: &'static str,
    /// What the program says when it fails.
    pub message: Option<String>,
    /// The printed lines, thread by thread.
    pub by_thread: Vec<ThreadOutput>,
}

/// What can happen in the two programs.
#[derive(Clone, Copy)]
pub(super) struct Both<'a> {
    pub old: &'a FuturesReport,
    pub new: &'a FuturesReport,
    pub alignment: &'a Alignment,
}

/// A term of one of the programs.
struct Term {
    /// Read and definition, in their contexts where their places have several.
    names: [String; 2],
    /// The same without contexts.
    places: [String; 2],
    verdict: &'static str,
}

/// What can be said where only one of the programs shows something.
fn change(old: bool, new: bool, both: Both<'_>) -> Change {
    match (old, new) {
        (true, false) if both.new.complete => Change::Gone,
        (false, true) if both.old.complete => Change::New,
        (true, true) => Change::Same,
        _ => Change::Undecided,
    }
}

impl Both<'_> {
    pub(super) fn terms(self) -> Vec<TermChange> {
        let verdict = |feasible: Option<bool>| match feasible {
            Some(true) => "feasible",
            Some(false) => "impossible",
            None => "undecided",
        };
        let list = |report: &FuturesReport| -> Vec<Term> {
            let named = report.terms.iter().map(|term| Term {
                // Where its place has several contexts, a term is told by its own.
                names: [term.context.unwrap_or(term.read).to_owned(), term.def_context.unwrap_or(term.def).to_owned()],
                places: [term.read.to_owned(), term.def.to_owned()],
                verdict: verdict(term.feasible),
            });
            named.collect()
        };
        let (old, new) = (list(self.old), list(self.new));
        let pairs = self.pairs(&old, &new);
        let changes = pairs.into_iter().map(|(one, other)| {
            let (one, other) = (one.map(|place| &old[place]), other.map(|place| &new[place]));
            let (before, after) = (one.map(|one| one.verdict), other.map(|other| other.verdict));
            let change = match (before, after) {
                (Some("undecided"), _) | (_, Some("undecided")) => Change::Undecided,
                (Some("feasible"), Some("feasible")) => Change::Same,
                (Some("feasible"), _) => Change::Gone,
                (_, Some("feasible")) => Change::New,
                _ => Change::Same,
            };
            let names = |of: Option<&Term>| of.map(|of| of.names.clone());
            TermChange { change, old: names(one), new: names(other), before, after }
        });
        changes.collect()
    }

    /// Pairs up terms by their names in context; then those that are left, where one of them has no context.
    fn pairs(self, old: &[Term], new: &[Term]) -> Vec<(Option<usize>, Option<usize>)> {
        let renamed = |[read, def]: &[String; 2]| Some([self.alignment.name(read)?, self.alignment.name(def)?]);
        let names = new.iter().map(|term| term.names.clone());
        let mut pairs = pair_up(old.iter().map(|term| renamed(&term.names)), names);
        for plain_old in [true, false] {
            let is_left = |of: &(Option<usize>, Option<usize>)| match *of {
                (Some(one), None) => (old[one].names == old[one].places) == plain_old,
                (None, Some(other)) => plain_old || new[other].names == new[other].places,
                _ => false,
            };
            let (left, done): (Vec<_>, Vec<_>) = pairs.into_iter().partition(is_left);
            let ones: Vec<usize> = left.iter().filter_map(|of| of.0).collect();
            let others: Vec<usize> = left.iter().filter_map(|of| of.1).collect();
            let keys = ones.iter().map(|&one| renamed(&old[one].places));
            let more = pair_up(keys, others.iter().map(|&other| new[other].places.clone()));
            let more = more.into_iter().map(|(one, other)| (one.map(|at| ones[at]), other.map(|at| others[at])));
            pairs = done.into_iter().chain(more).collect();
        }
        // In the order of the old program, then what is new.
        pairs.sort_by_key(|&(one, other)| (one.is_none(), one, other));
        pairs
    }

    pub(super) fn failures(self) -> Vec<FailureChange> {
        let key = |of: &FailureReport, at: String, thread: String| (of.status, of.message.clone(), at, thread);
        let renamed = self
            .old
            .failures
            .iter()
            .map(|of| Some(key(of, self.alignment.name(&of.at)?, self.alignment.name(&of.thread)?)));
        let new = self.new.failures.iter().map(|of| key(of, of.at.clone(), of.thread.clone()));
        let shown = pair_up(renamed, new).into_iter().filter_map(|(one, other)| {
            let failure = either(&self.old.failures, &self.new.failures, (one, other))?;
            Some(FailureChange { change: change(one.is_some(), other.is_some(), self), failure: failure.clone() })
        });
        shown.collect()
    }

    pub(super) fn deadlocks(self) -> Vec<DeadlockChange> {
        let renamed = self.old.deadlocks.iter().map(|of| {
            let threads = of.threads.iter().map(|each| {
                Some((self.alignment.name(&each.thread)?, self.alignment.name(&each.at)?, each.object.clone()))
            });
            threads.collect::<Option<Vec<_>>>()
        });
        let new = self.new.deadlocks.iter().map(|of| {
            let threads = of.threads.iter().map(|each| (each.thread.clone(), each.at.clone(), each.object.clone()));
            threads.collect::<Vec<_>>()
        });
        let shown = pair_up(renamed, new).into_iter().filter_map(|(one, other)| {
            let deadlock = either(&self.old.deadlocks, &self.new.deadlocks, (one, other))?;
            Some(DeadlockChange { change: change(one.is_some(), other.is_some(), self), deadlock: deadlock.clone() })
        });
        shown.collect()
    }

    pub(super) fn outcomes(self) -> Vec<OutcomeChange> {
        type Lines = Vec<(String, Vec<String>)>;
        let key = |of: &OutcomeReport, lines: Lines| (of.status, of.message.clone(), lines);
        let renamed = self.old.outcomes.iter().map(|of| {
            let lines = of.by_thread.iter().map(|of| Some((self.alignment.name(&of.thread)?, of.output.clone())));
            Some(key(of, lines.collect::<Option<Lines>>()?))
        });
        let new = self
            .new
            .outcomes
            .iter()
            .map(|of| key(of, of.by_thread.iter().map(|of| (of.thread.clone(), of.output.clone())).collect()));
        let shown = pair_up(renamed, new).into_iter().filter_map(|(one, other)| {
            let of = either(&self.old.outcomes, &self.new.outcomes, (one, other))?;
            let change = change(one.is_some(), other.is_some(), self);
            let OutcomeReport { status, message, by_thread, .. } = of;
            Some(OutcomeChange { change, status, message: message.clone(), by_thread: by_thread.clone() })
        });
        shown.collect()
    }
}

/// Of a pair the one of the new program; where there is none, that of the old one.
fn either<'a, T>(old: &'a [T], new: &'a [T], (one, other): (Option<usize>, Option<usize>)) -> Option<&'a T> {
    other.map_or_else(|| old.get(one?), |other| new.get(other))
}

/// A recorded step in the words of a list: `T1 write x at 5:9`.
#[must_use]
pub fn step_text(step: &Step) -> String {
    format!("{} {} at {}", step.thread, step.op, step.at)
}

/// How many of each change there are.
#[must_use]
pub fn count(changes: impl Iterator<Item = Change>) -> BTreeMap<Change, usize> {
    changes.fold(BTreeMap::new(), |mut counts, change| {
        *counts.entry(change).or_default() += 1;
        counts
    })
}
