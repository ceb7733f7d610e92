//! The search for a tear of one endangered access, with what is left of the bounds.

use super::allowance::Allowance;
use super::executed::AccessVerdict;
use crate::correlation::{Analysis, MethodAccess, Pair};
use crate::explore::budget::{Bound, Limits, Progress};
use crate::explore::question::tear::{Tear, Watch, tear};
use crate::ir::FunctionId;
use crate::model::Model;
use std::ops::ControlFlow;

/// What a search with a share of the states has shown.
pub(super) enum Searched {
    /// As much as can be known.
    Decided(AccessVerdict),
    /// The share did not do.
    ShareUsedUp,
}

/// Searches for tears, all of them within the same bounds.
pub(super) struct Search<'a, 'b> {
    pub analysis: &'a Analysis,
    pub allowance: Allowance<'a>,
    pub progress: &'b mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

impl<'a, 'b> Search<'a, 'b> {
    /// The clock starts now.
    pub(super) fn new(
        analysis: &'a Analysis,
        limits: &'a Limits,
        progress: &'b mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Search<'a, 'b> {
        Search { analysis, allowance: Allowance::new(limits), progress }
    }

    /// The endangered accesses of a pair, and what executions are watched for; nothing for what no event tells of.
    pub(super) fn watches(&self, index: usize) -> Vec<(MethodAccess, Option<Watch>)> {
        let pair = &self.analysis.pairs[index];
        let endangered = pair.accesses.iter().filter(|each| each.access.endangered);
        endangered.map(|each| (*each, Watch::new(self.analysis, each, other_of(pair, each)))).collect()
    }

    /// Visits at most so many states.
    pub(super) fn search(&mut self, model: &Model, watch: &Watch, at_most: u64) -> Searched {
        let Some(limits) = self.allowance.next(at_most) else {
            return Searched::Decided(AccessVerdict::stopped(Bound::States));
        };
        let answer = tear(model.machine(), model.program(), watch, &limits, self.progress);
        self.allowance.used.states += answer.progress.states;
        Searched::Decided(match answer.tear {
            Tear::Found { schedule } => AccessVerdict::Confirmed(schedule),
            Tear::Impossible => AccessVerdict::Refuted,
            Tear::Undecided(None) => AccessVerdict::Open("it touches too many cells at once".to_owned()),
            Tear::Undecided(Some(Bound::States)) if at_most != u64::MAX => return Searched::ShareUsedUp,
            Tear::Undecided(Some(bound)) => {
                self.allowance.used.bound = Some(bound);
                AccessVerdict::stopped(bound)
            }
        })
    }
}

/// What is known of an access that no event tells of.
pub(super) fn private() -> AccessVerdict {
    AccessVerdict::Open("one of the two is private to a thread, and is not watched".to_owned())
}

/// The method that may come between.
fn other_of(pair: &Pair, each: &MethodAccess) -> FunctionId {
    if pair.methods.0 == each.method { pair.methods.1 } else { pair.methods.0 }
}
