//! The answer of `futures`: the possible behaviours, the number of futures, and whether a selection is consistent.

use super::endless::{self, EndlessFindings};
use super::selection::{SelectionReport, selection_report};
use cssame_budget::{Bound, Budget, Limits};
use cssame_explore::report::{FuturesReport, Schedules, report};
use cssame_explore::{
    Answer, CountAnswer, EndlessRequest, SelectAnswer, Subject, UnfinishedReport, Verdict, unfinished_report,
    with_fewer_switches,
};
use cssame_form::Selection;
use cssame_ir::{DefinitionId, ReadId};
use cssame_model::Model;
use cssame_schedule::fewer_switches;
use serde::Serialize;

/// States that are visited to count futures where nobody asked for the number: a fraction of a second.
const COUNT_STATES: u64 = 60_000;

/// Executions that are followed for the same purpose.
const COUNT_EXECUTIONS: u64 = 20_000;

/// What they may cost.
const COUNT_WORK: u64 = 1_000_000;

/// What is done for something that may take very long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// However long that takes.
    Always,
    /// Only where it takes a fraction of a second.
    #[default]
    IfCheap,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct FuturesRequest<'a> {
    /// Terms of which it is decided whether one execution has them all.
    pub selections: &'a [Selection],
    /// Whether futures are counted.
    pub count: Effort,
    /// Whether all outcomes are looked for where there may be exponentially many.
    pub outcomes: Effort,
    /// The executions whose steps get names.
    pub schedules: Schedules,
    /// What is asked of executions without end.
    pub endless: EndlessRequest,
}

impl Default for FuturesRequest<'_> {
    /// As the command asks without options.
    fn default() -> Self {
        let (count, outcomes) = (Effort::IfCheap, Effort::IfCheap);
        FuturesRequest {
            selections: &[],
            count,
            outcomes,
            schedules: Schedules::All,
            endless: EndlessRequest::default(),
        }
    }
}

/// What can happen.
#[derive(Debug, Serialize)]
pub struct FuturesAnswer {
    /// With names.
    #[serde(flatten)]
    pub futures: FuturesReport,
    /// Whether calling contexts were merged because unfolding them would have grown too large.
    pub merged: bool,
    /// Executions without end.
    #[serde(flatten)]
    pub endless: EndlessFindings,
    /// Only where something was selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionReport>,
    /// As the search has found it; its failures and deadlocks are in the order of the report.
    #[serde(skip)]
    pub answer: Answer,
    /// As the search has found it.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
    /// The bound that has stopped a search.
    #[serde(skip)]
    pub bound: Option<Bound>,
    /// The bound that has stopped the search for outcomes, where all else is decided.
    #[serde(skip)]
    pub outcomes_bound: Option<Bound>,
    /// The bound that has stopped the count alone, with the futures that were found.
    #[serde(skip)]
    pub count_bound: Option<(Bound, u64)>,
    /// What the search that was stopped has proved.
    #[serde(skip)]
    pub unfinished: Option<UnfinishedReport>,
}

/// Finds out what can happen.
#[must_use]
pub fn futures(model: &Model, request: &FuturesRequest<'_>, budget: &Budget<'_>) -> FuturesAnswer {
    let search = || search(model, request, budget);
    let (found, endless) = endless::around(model, request.endless, budget, search, |found| &found.answer);
    let naming = model.naming();
    let mut futures = report(&naming, &found.answer, &candidates(model), found.count.as_ref(), request.schedules);
    if let Some(bound) = found.outcomes {
        (futures.complete, futures.bound) = (false, Some(bound.name()));
    }
    futures.outcomes.extend(endless.outcomes(model, request.schedules));
    let selection = found.selection.as_ref();
    let selection = selection.map(|of| selection_report(model, request.selections, &of.verdict, Some(&found.answer)));
    let unfinished = found.unfinished(model, &futures);
    let bound = found.bound();
    let outcomes_bound = found.outcomes.filter(|_| found.selection.as_ref().is_none_or(|of| of.bound.is_none()));
    let count_bound = found.count_bound();
    let verdict = found.selection.map(|of| of.verdict);
    let merged = model.form().concurrency.merged;
    let answer = found.answer;
    FuturesAnswer {
        futures,
        merged,
        endless,
        selection,
        answer,
        verdict,
        bound,
        outcomes_bound,
        count_bound,
        unfinished,
    }
}

impl FuturesAnswer {
    /// Whether all that was asked for is decided, the number of futures and outcomes that are too many aside.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.answer.is_complete() && self.selection.as_ref().is_none_or(|of| of.consistent.is_some())
    }

    /// The same, and whether all executions without end were looked for.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_decided() && self.endless.endless_complete
    }

    /// Whether the program can fail, block or run for ever, or the selection is inconsistent.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        let inconsistent = self.selection.as_ref().is_some_and(|of| of.consistent == Some(false));
        let endless = !self.endless.endless.is_empty();
        inconsistent || endless || !self.futures.failures.is_empty() || !self.futures.deadlocks.is_empty()
    }
}

/// The answers of the searches.
struct Found {
    answer: Answer,
    /// The bound that has stopped the search for outcomes alone.
    outcomes: Option<Bound>,
    count: Option<CountAnswer>,
    selection: Option<SelectAnswer>,
}

fn search(model: &Model, request: &FuturesRequest<'_>, budget: &Budget<'_>) -> Found {
    let (subject, machine) = (Subject::from(model), model.machine());
    let (all_outcomes, counts) = (request.outcomes == Effort::Always, request.count == Effort::Always);
    let (mut answer, outcomes) = subject.futures_with_outcomes_and_hunt(all_outcomes, counts, budget);
    with_fewer_switches(machine, &mut answer);
    let selected = !request.selections.is_empty();
    let mut selection = selected.then(|| subject.select(request.selections, budget));
    if let Some(SelectAnswer { verdict: Verdict::Consistent { schedule, .. }, .. }) = &mut selection
        && let Some(found) = fewer_switches(machine, schedule)
    {
        *schedule = found.steps;
    }
    let count = || match request.count {
        Effort::Always => Some(subject.count(budget)),
        Effort::IfCheap => {
            let share = share_of_count(&answer, budget).filter(|_| outcomes.is_none());
            // A number that nobody asked for is not worth a bound that is hit.
            let count = share.map(|share| subject.count(&share));
            count.filter(|count| count.bound.is_none())
        }
    };
    let count = CountAnswer::of(&answer).or_else(count);
    Found { answer, outcomes, count, selection }
}

/// The budget of a count that nobody asked for; `None` where it would hit its bounds. Where slices had to decide, it is
/// a small chance.
fn share_of_count<'a>(answer: &Answer, budget: &Budget<'a>) -> Option<Budget<'a>> {
    let share = if answer.from_slices { 4 } else { 1 };
    let budget = budget.share(Limits {
        max_states: Some(COUNT_STATES / share),
        max_executions: Some(COUNT_EXECUTIONS / share),
        max_work: Some(COUNT_WORK / share),
        ..Limits::default()
    });
    (answer.is_complete() && Some(answer.statistics.states) <= budget.limits().max_states).then_some(budget)
}

impl Found {
    /// The bound that has stopped a search.
    fn bound(&self) -> Option<Bound> {
        let count = self.count.as_ref().and_then(|count| count.bound);
        self.answer.bound.or(self.outcomes).or(self.selection.as_ref().and_then(|selection| selection.bound)).or(count)
    }

    /// The bound that has stopped the count where all else was decided, with the futures that were found.
    fn count_bound(&self) -> Option<(Bound, u64)> {
        let count = self.count.as_ref()?;
        let is_decided = self.answer.is_complete()
            && self.outcomes.is_none()
            && self.selection.as_ref().is_none_or(|selection| selection.bound.is_none());
        count.bound.filter(|_| is_decided).map(|bound| (bound, count.futures))
    }

    /// What the search that was stopped has proved.
    fn unfinished(&self, model: &Model, report: &FuturesReport) -> Option<UnfinishedReport> {
        let of_selection = || {
            let answer = self.selection.as_ref()?;
            let bound = answer.bound?;
            Some(unfinished_report(&model.naming(), bound, &answer.statistics, &answer.open))
        };
        // Where only the selection is open, all failures and deadlocks are known.
        report.unfinished.clone().or_else(|| of_selection().map(|of| UnfinishedReport { steps: 0, ..of }))
    }
}

/// The terms of all reads of shared variables.
pub(super) fn candidates(model: &Model) -> Vec<(ReadId, DefinitionId)> {
    let form = model.form();
    let reads = form.shared_reads().into_iter();
    reads.flat_map(|read| form.terms(read).into_iter().map(move |definition| (read, definition))).collect()
}
