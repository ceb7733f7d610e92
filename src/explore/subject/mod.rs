//! The entry point of the layer: a program for questions.
//!
//! **Input**: a program, the facts about its memory, and its machine; all of them come from a [`Model`]. **Output**: the answer
//! to a question, from the exact strategy that completes first.

mod count;

use crate::answer::{Answer, Ends, Query};
use crate::liveness::may_run_for_ever;
use crate::portfolio::{PartialAnswer, Retry};
use crate::question::futures::{Known, futures_with};
use crate::question::select::{self, SelectAnswer};
use crate::reduction::Commuting;
use crate::slice::{Declined, Silent, Sliceable, UnobservedLocks, looking_bodies, readers};
use cssame_budget::{Bound, Budget, Limits};
use cssame_concurrency::Concurrency;
use cssame_form::races::potential_races;
use cssame_form::{Form, Selection};
use cssame_ir::{Access, Program};
use cssame_model::Model;
use cssame_vm::{Machine, Origin, Visibility};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// A program as explorations see it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The program.
    pub program: &'a Program,
    /// What is known of its memory and its threads; without it there are no slices, and no partial-order reduction.
    pub form: Option<&'a Form>,
    /// Executes it, with [`Concurrency::sharing`] as what is visible.
    pub machine: &'a Machine,
}

/// Functions of threads that influence no other one from which on outcomes may be too many.
const MANY_READER_FUNCTIONS: usize = 6;

/// Such threads from which on outcomes may be too many, also of fewer functions.
const MANY_READERS: usize = 12;

/// States that are visited, and executions that are followed, for outcomes where there may be too many and nobody has asked
/// for all: a fraction of a second.
const OUTCOME_STATES: u64 = 20_000;
const OUTCOME_EXECUTIONS: u64 = 5_000;

/// As many times of these are cheap where threads are many, but their functions are few: some seconds. How many threads there are may
/// not be known.
const FOR_FEW_FUNCTIONS: u64 = 50;

impl<'a> From<&'a Model> for Subject<'a> {
    fn from(model: &'a Model) -> Subject<'a> {
        Subject { program: model.program(), form: Some(model.form()), machine: model.machine() }
    }
}

impl<'a> Subject<'a> {
    fn concurrency(&self) -> Option<&'a Concurrency> {
        self.form.map(|form| &form.concurrency)
    }

    /// The accesses that race with no other one and are not atomic; none where the program was not analysed.
    pub(crate) fn race_free(&self) -> Visibility {
        let mut accesses = Visibility::none(self.program);
        let race_free = self.form.map(|form| potential_races(self.program, form).race_free());
        for access in race_free.into_iter().flatten() {
            match access {
                Access::Read(read) => accesses.reads.insert(read.index()),
                Access::Write(definition) => accesses.definitions.insert(definition.index()),
            }
        }
        accesses
    }

    /// The accesses that race with no other one and are not atomic, and the locks whose order nobody can see; `None` where the
    /// program was not analysed.
    #[must_use]
    pub fn commuting(&self) -> Option<Commuting> {
        let form = self.form?;
        let accesses = self.race_free();
        let locks = UnobservedLocks::find(self.program, &form.concurrency).unwrap_or_default().operations;
        let acyclic = !may_run_for_ever(self.program);
        // A recursion that makes threads is run by the thread whose order is not known.
        let forks = acyclic && form.concurrency.threads.iter().all(|thread| !thread.unordered);
        Some(Commuting { accesses, locks, acyclic, forks })
    }

    /// Finds out what can happen, by the [portfolio](crate::portfolio) of exact strategies.
    ///
    /// Where outcomes are not asked for, the prints of the program are left out.
    #[must_use]
    pub fn futures(&self, query: &Query<'_>, budget: &Budget<'_>) -> Answer {
        if query.ends == Ends::Outcomes {
            return self.search(query, budget);
        }
        let sharing = self.concurrency().map(|concurrency| &concurrency.sharing);
        let silent = sharing.and_then(|sharing| Silent::new(self.program, sharing, self.machine));
        let Some(silent) = silent else { return self.search(query, budget) };
        let quiet = Subject { program: silent.program(), machine: &silent.machine, ..*self };
        let found = silent.in_whole(self.machine, quiet.search(query, budget));
        found.unwrap_or_else(|| self.search(query, budget))
    }

    /// Finds out what can happen, outcomes included. Where many threads influence no other one there may be too many outcomes, but
    /// terms, failures and deadlocks can be decided all the same: they are asked for first, and of outcomes only what is cheap is
    /// looked for unless `all_outcomes` are asked for. The bound is that which has stopped the search for outcomes alone. If it
    /// `counts`, the number of futures may be told as well.
    #[must_use]
    pub fn futures_with_outcomes(
        &self,
        all_outcomes: bool,
        counts: bool,
        budget: &Budget<'_>,
    ) -> (Answer, Option<Bound>) {
        let query = Query { counts, ..Query::default() };
        let concurrency = self.concurrency();
        let (functions, threads) = concurrency.map_or((0, 0), |of| readers(self.program, of, self.machine));
        let has_many_functions = functions >= MANY_READER_FUNCTIONS;
        let has_many = has_many_functions || threads >= MANY_READERS;
        let decided = has_many.then(|| self.futures(&Query::WITHOUT_OUTCOMES, budget));
        let Some(decided) = decided.filter(Answer::is_complete) else {
            return (self.futures(&query, budget), None);
        };
        let times = if has_many_functions { 1 } else { FOR_FEW_FUNCTIONS };
        let states = times * OUTCOME_STATES;
        let is_cheap = !all_outcomes && budget.limits().max_states.is_none_or(|most| most > states);
        let limits = Limits {
            max_states: is_cheap.then_some(states),
            max_executions: is_cheap.then_some(times * OUTCOME_EXECUTIONS),
            ..Limits::default()
        };
        let all = self.futures(&query, &budget.share(limits));
        match all.bound {
            Some(Bound::States) if is_cheap => (decided.merge(all), Some(Bound::Outcomes)),
            Some(Bound::Executions) if is_cheap && budget.limits().max_executions.is_none() => {
                (decided.merge(all), Some(Bound::Outcomes))
            }
            Some(bound) => (decided.merge(all), Some(bound)),
            None => (all, None),
        }
    }

    fn search(&self, query: &Query<'_>, budget: &Budget<'_>) -> Answer {
        let mut sliceable = None;
        let known = Known { commuting: &|| self.commuting(), looks: &|| self.machine_of_executions() };
        futures_with(self.machine, query, &known, budget, &mut |budget| {
            let sliceable = sliceable.get_or_insert_with(|| self.sliceable()).as_ref();
            let found = sliceable.map_err(|&declined| declined).and_then(|it| it.futures(query, budget));
            found.map_err(|declined| if declined == Declined::Bound { Retry::WithMore } else { Retry::Never })
        })
    }

    /// The machine that knows which bodies of locks may only look: executions in which these come in another order are left out where
    /// executions are followed.
    #[must_use]
    pub fn machine_of_executions(&self) -> Cow<'a, Machine> {
        let bodies = self.looking_bodies(None);
        if bodies.is_empty() {
            return Cow::Borrowed(self.machine);
        }
        Cow::Owned(self.machine.clone().knowing_looks(&bodies))
    }

    /// The [bodies that may only look](looking_bodies), as they stand in the program without some locks.
    fn looking_bodies(&self, without: Option<&UnobservedLocks>) -> FxHashSet<Origin> {
        let Some(concurrency) = self.concurrency().filter(|_| self.machine.synchronises()) else {
            return FxHashSet::default();
        };
        let Some(locks) = without else { return looking_bodies(self.program, concurrency, &FxHashSet::default()) };
        locks.places_without(&looking_bodies(self.program, concurrency, &locks.operations))
    }

    /// Decides whether some execution has the selections, in the slice of what the selected reads can see where there
    /// is one.
    #[must_use]
    pub fn select(&self, selections: &[Selection], budget: &Budget<'_>) -> SelectAnswer {
        let looks = || self.machine_of_executions();
        self.select_by_slice(selections, budget)
            .unwrap_or_else(|_| select::select_with(self.machine, &looks, selections, budget))
    }

    /// Finds out what can happen from slices alone: for tests.
    ///
    /// # Errors
    ///
    /// Why slices do not tell.
    pub fn futures_by_slices(&self, query: &Query<'_>, budget: &Budget<'_>) -> Result<Answer, Declined> {
        self.sliceable()?.futures(query, budget)
    }

    /// Finds out what can happen, without outcomes, by asking apart the threads that influence no other one: for tests.
    ///
    /// # Errors
    ///
    /// Why they are not asked apart.
    pub fn futures_by_readers(&self, query: &Query<'_>, budget: &Budget<'_>) -> Result<Answer, Declined> {
        self.sliceable()?.futures_by_readers(query, budget)
    }

    /// Decides whether some execution has the selections in the slice alone: for tests.
    ///
    /// # Errors
    ///
    /// Why it does not tell.
    pub fn select_by_slice(&self, selections: &[Selection], budget: &Budget<'_>) -> Result<SelectAnswer, Declined> {
        if selections.iter().any(Selection::is_write) {
            return Err(Declined::Unsupported);
        }
        self.sliceable()?.select(selections, budget)
    }

    fn sliceable(&self) -> Result<Sliceable<'_>, Declined> {
        let concurrency = self.concurrency().ok_or(Declined::Unsupported)?;
        Ok(Sliceable::new(self.program, concurrency, self.machine))
    }
}
