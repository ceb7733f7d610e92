//! The search for a tear of one endangered access, within the remaining bounds.

use super::watch::{Watch, Watches};
use crate::{Tear, TearPattern, tear};
use cssame_budget::{Bound, Budget, Limits, Statistics};
use cssame_correlation::{Analysis, MethodAccess};
use cssame_model::Model;
use cssame_vm::Choice;

/// What a search with a share of the states has shown.
pub(super) enum Searched {
    /// This execution shows a tear.
    Torn(Vec<Choice>),
    /// No execution does.
    Impossible,
    /// The share did not do.
    ShareUsedUp,
    /// It is not known, for that reason.
    Open(String),
}

/// Searches for tears, all of them within the same bounds.
pub(super) struct Search<'a> {
    pub analysis: &'a Analysis,
    watches: Watches,
    /// What is left of it.
    pub budget: Budget<'a>,
    /// States of all searches.
    pub states: u64,
    /// The bound that was hit last.
    pub bound: Option<Bound>,
}

impl<'a> Search<'a> {
    /// Nothing is spent yet.
    pub(super) fn new(analysis: &'a Analysis, watches: Watches, budget: &Budget<'a>) -> Search<'a> {
        Search { analysis, watches, budget: *budget, states: 0, bound: None }
    }

    /// States that are left of the bound; `None` where there is none.
    pub(super) fn left(&self) -> Option<u64> {
        self.budget.limits().max_states
    }

    /// The endangered accesses of a pair, and what executions are watched for.
    pub(super) fn watches(&self, index: usize) -> Vec<(MethodAccess, Watch)> {
        self.watches.get(&index).cloned().unwrap_or_default()
    }

    /// Whether the time is over, or somebody has asked to stop: then nothing new is begun.
    pub(super) fn is_over(&mut self) -> bool {
        let hit = self.budget.check();
        self.bound = hit.or(self.bound);
        hit.is_some()
    }

    /// Visits at most so many states.
    pub(super) fn search(&mut self, model: &Model, watch: &TearPattern, at_most: u64) -> Searched {
        if self.left() == Some(0) {
            self.bound = Some(Bound::States);
            return Searched::Open(stopped(Bound::States));
        }
        let share = self.budget.share(Limits { max_states: Some(at_most), ..Limits::default() });
        let answer = tear(model.machine(), model.program(), watch, &share);
        let states = answer.statistics.states;
        self.states += states;
        self.budget.spend(&Statistics { states, ..Statistics::default() });
        match answer.tear {
            Tear::Found { schedule } => Searched::Torn(schedule),
            Tear::Impossible => Searched::Impossible,
            Tear::Undecided(None) => Searched::Open("it touches too many cells at once".to_owned()),
            Tear::Undecided(Some(Bound::States)) if at_most != u64::MAX => Searched::ShareUsedUp,
            Tear::Undecided(Some(bound)) => {
                self.bound = Some(bound);
                Searched::Open(stopped(bound))
            }
        }
    }
}

/// Not known, because a bound was hit.
pub(super) fn stopped(bound: Bound) -> String {
    format!("the bound {} was hit before", bound.name())
}
