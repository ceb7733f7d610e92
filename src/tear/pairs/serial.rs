//! Serial orders of executed pairs, within the bounds that the searches for tears have left.

use super::executed::ExecutedPairs;
use super::search::stopped;
use crate::serial::{Serial, serial};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_ir::FunctionId;
use cssame_model::Model;
use cssame_vm::Choice;

/// Looks for executions in which the two methods of a pair run one after the other.
#[derive(Debug)]
pub struct SerialSearch<'a> {
    executed: &'a ExecutedPairs,
    /// What is left of it.
    budget: Budget<'a>,
    /// States of all searches, those for tears included.
    pub states: u64,
    /// The bound that was hit last, by a search for tears too.
    pub bound: Option<Bound>,
}

impl<'a> SerialSearch<'a> {
    /// `budget` is that of the searches for tears; what they have cost is taken off.
    #[must_use]
    pub fn new(executed: &'a ExecutedPairs, budget: &Budget<'a>) -> SerialSearch<'a> {
        let mut search = SerialSearch { executed, budget: *budget, states: 0, bound: executed.bound };
        search.spend(executed.states);
        search
    }

    fn spend(&mut self, states: u64) {
        self.states += states;
        self.budget.spend(&Statistics { states, ..Statistics::default() });
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
        self.search_in(setting.model, (first, second))
    }

    /// The same in a program that was made for the pair.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn search_in(
        &mut self,
        model: &Model,
        (first, second): (FunctionId, FunctionId),
    ) -> Result<Vec<Choice>, String> {
        let (own, of) = (model.program(), &self.executed.unit().program);
        let id = |id: FunctionId| own.functions.ids().find(|&one| own.functions[one].span == of.functions[id].span);
        let (Some(first), Some(second)) = (id(first), id(second)) else {
            return Err("the methods are not in the context".to_owned());
        };
        if self.budget.limits().max_states == Some(0) {
            self.bound = Some(Bound::States);
            return Err(stopped(Bound::States));
        }
        let (answer, visited) = serial(model.machine(), (first, second), &self.budget);
        self.spend(visited.states);
        match answer {
            Serial::Found { schedule } => Ok(schedule),
            Serial::Impossible => Err("no execution runs them one after the other in this order".to_owned()),
            Serial::Undecided(bound) => {
                self.bound = Some(bound);
                Err(stopped(bound))
            }
        }
    }
}
