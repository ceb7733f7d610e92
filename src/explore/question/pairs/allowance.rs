//! Bounds that several searches share: what is left of them for the next one.

use crate::explore::budget::{Bound, Limits};
use std::time::Instant;

/// What searches have used of their bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// When the first of them began.
    pub began: Instant,
    /// States of all of them.
    pub states: u64,
    /// The bound that was hit last.
    pub bound: Option<Bound>,
}

/// Bounds, and what searches have used of them.
#[derive(Debug)]
pub(super) struct Allowance<'a> {
    limits: &'a Limits,
    pub used: Used,
}

impl<'a> Allowance<'a> {
    /// The clock starts now.
    pub(super) fn new(limits: &'a Limits) -> Allowance<'a> {
        Allowance { limits, used: Used { began: Instant::now(), states: 0, bound: None } }
    }

    /// For searches that come after others.
    pub(super) fn after(limits: &'a Limits, used: Used) -> Allowance<'a> {
        Allowance { limits, used }
    }

    /// States that are left of the bound; `None` where there is none.
    pub(super) fn left(&self) -> Option<u64> {
        self.limits.max_states.map(|limit| limit.saturating_sub(self.used.states))
    }

    /// The bounds of the next search, of at most so many states. Nothing where no state is left, which is noted as a bound
    /// that was hit.
    pub(super) fn next(&mut self, at_most: u64) -> Option<Limits> {
        let left = self.left();
        if left == Some(0) {
            self.used.bound = Some(Bound::States);
            return None;
        }
        let max_states = Some(left.map_or(at_most, |left| left.min(at_most)));
        Some(Limits { max_states, ..self.limits.after(self.used.began) })
    }
}
