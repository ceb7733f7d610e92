//! Serial orders of executed pairs, with what the searches for tears have left of the bounds.

use super::allowance::Allowance;
use super::executed::ExecutedPairs;
use crate::explore::budget::{Bound, Limits, Progress};
use crate::explore::question::serial::{Serial, serial};
use crate::ir::FunctionId;
use crate::vm::Choice;
use std::ops::ControlFlow;

/// Looks for executions in which the two methods of a pair run one after the other.
pub struct SerialSearch<'a, 'b> {
    executed: &'a ExecutedPairs,
    allowance: Allowance<'a>,
    progress: &'b mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

impl<'a, 'b> SerialSearch<'a, 'b> {
    /// `limits` are those of the searches for tears.
    pub fn new(
        executed: &'a ExecutedPairs,
        limits: &'a Limits,
        progress: &'b mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> SerialSearch<'a, 'b> {
        let allowance = match executed.used {
            Some(used) => Allowance::after(limits, used),
            None => Allowance::new(limits),
        };
        SerialSearch { executed, allowance, progress }
    }

    /// The bound that was hit last, by a search for tears too.
    #[must_use]
    pub fn bound(&self) -> Option<Bound> {
        self.allowance.used.bound
    }

    /// States of all searches, those for tears included.
    #[must_use]
    pub fn states(&self) -> u64 {
        self.allowance.used.states
    }

    /// An execution in which the first of two methods of a pair runs before the second.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn search(&mut self, pair: usize, (first, second): (FunctionId, FunctionId)) -> Result<Vec<Choice>, String> {
        let Some(setting) = self.executed.setting_of(pair) else {
            let reason = self.executed.reason(pair);
            return Err(reason.unwrap_or("there is no program to run it in").to_owned());
        };
        let (own, of) = (setting.model.program(), &self.executed.unit().program);
        let id = |id: FunctionId| own.functions.ids().find(|&one| own.functions[one].span == of.functions[id].span);
        let (Some(first), Some(second)) = (id(first), id(second)) else {
            return Err("the methods are not in the context".to_owned());
        };
        let Some(limits) = self.allowance.next(u64::MAX) else { return Err(stopped(Bound::States)) };
        let (answer, visited) = serial(setting.model.machine(), (first, second), &limits, self.progress);
        self.allowance.used.states += visited.states;
        match answer {
            Serial::Found { schedule } => Ok(schedule),
            Serial::Impossible => Err("no execution runs them one after the other in this order".to_owned()),
            Serial::Undecided(bound) => {
                self.allowance.used.bound = Some(bound);
                Err(stopped(bound))
            }
        }
    }
}

fn stopped(bound: Bound) -> String {
    format!("the bound {} was hit before", bound.name())
}
