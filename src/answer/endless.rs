//! Executions without end, in the form of the answers of commands.
//!
//! **Input**: a program, the request, the budget, and the result of a search for its ends. **Output**: [`EndlessFindings`].
//!
//! **Algorithm**: the search for executions without end is separate, since its states are fewer.
//! 1. Run it before any other search, through a few states ([`FIRST_STATES`]): a program that prints in a loop has infinitely
//!    many states if the output counts, and few otherwise.
//! 2. Run it after the search for ends, unless that has shown that all executions end: through more states ([`STATES`]), with the
//!    remaining budget.
//! 3. Commands with other questions ([`behind`]) search as many states as they have visited for their question.

use cssame_budget::{Bound, Budget, Limits};
use cssame_diagnostics::Code;
use cssame_explore::report::{EndlessReport, OutcomeReport, Schedules, ThreadOutput};
use cssame_explore::{Answer, Endless, EndlessAnswer, EndlessRequest, Fairness, HuntAnswer, endless, may_run_for_ever};
use cssame_model::Model;
use cssame_schedule::{ExecutionStatus, Namer};
use serde::Serialize;

/// States that are visited first: some hundredths of a second.
const FIRST_STATES: u64 = 20_000;

/// States that are visited behind the search for ends, at least: as many as that has visited, if these are more.
const STATES: u64 = 500_000;

/// The ways to run for ever, with names.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EndlessFindings {
    /// Those from which no end can be reached, then livelocks, then threads that starve.
    pub endless: Vec<EndlessReport>,
    /// Those that only an unfair lock, semaphore or notification makes: who waits for it is passed over for ever. They are no findings.
    #[serde(rename = "endless_unfair")]
    pub unfair: Vec<EndlessReport>,
    /// Whether all were looked for.
    pub endless_complete: bool,
    /// The bound that has stopped the search for them.
    #[serde(skip)]
    pub bound: Option<Bound>,
    /// What was asked.
    #[serde(skip)]
    pub request: EndlessRequest,
}

/// Looks for executions without end around a search for ends, which is given.
pub(super) fn around<T>(
    model: &Model,
    request: EndlessRequest,
    budget: &Budget<'_>,
    search: impl FnOnce() -> T,
    answer: impl Fn(&T) -> &Answer,
) -> (T, EndlessFindings) {
    let first = look(model, request, FIRST_STATES, budget);
    let found = search();
    let is_final = first.is_complete() || first.bound != Some(Bound::States);
    let endless = match () {
        () if is_final => first,
        () if answer(&found).all_end => EndlessAnswer::default(),
        () => look(model, request, STATES.max(answer(&found).statistics.states), budget),
    };
    (found, EndlessFindings::of(model, request, &endless))
}

/// The same around a search in the order of preemptions: behind it only where it has looked at all executions.
pub(super) fn around_hunt(
    model: &Model,
    request: EndlessRequest,
    budget: &Budget<'_>,
    search: impl FnOnce() -> HuntAnswer,
) -> (HuntAnswer, EndlessFindings) {
    let first = look(model, request, FIRST_STATES, budget);
    let found = search();
    let endless = match () {
        () if first.bound != Some(Bound::States) || !found.has_all_ends => first,
        () if found.all_end => EndlessAnswer::default(),
        // Its states were fewer: threads are left before fewer steps.
        () => look(model, request, STATES.max(4 * found.statistics.states), budget),
    };
    (found, EndlessFindings::of(model, request, &endless))
}

/// Looks for executions without end behind a search for something else, which has visited so many states.
pub(super) fn behind(model: &Model, states: u64, budget: &Budget<'_>) -> EndlessFindings {
    let request = EndlessRequest::default();
    EndlessFindings::of(model, request, &look(model, request, states.max(FIRST_STATES), budget))
}

fn look(model: &Model, request: EndlessRequest, states: u64, budget: &Budget<'_>) -> EndlessAnswer {
    if !may_run_for_ever(model.program()) {
        return EndlessAnswer::default();
    }
    let budget = budget.share(Limits { max_states: Some(states), ..Limits::default() });
    endless(model.program(), model.machine(), request, &budget)
}

impl EndlessFindings {
    fn of(model: &Model, request: EndlessRequest, answer: &EndlessAnswer) -> EndlessFindings {
        let endless = EndlessFindings::named(model, &answer.list);
        let unfair = EndlessFindings::named(model, &answer.unfair);
        let (endless_complete, bound) = (answer.is_complete(), answer.bound);
        EndlessFindings { endless, unfair, endless_complete, bound, request }
    }

    fn named(model: &Model, list: &[Endless]) -> Vec<EndlessReport> {
        let naming = model.naming();
        let mut reports: Vec<EndlessReport> = list.iter().map(|one| EndlessReport::of(&naming, one)).collect();
        let key = |of: &EndlessReport| {
            of.starving.as_ref().map(|starving| (starving.thread.clone(), starving.at.clone(), starving.spins))
        };
        // Slots that one thread has one after the other are one thread.
        let mut known = Vec::new();
        reports.retain(|report| {
            let key = key(report);
            let is_new = key.is_none() || !known.contains(&key);
            known.push(key);
            is_new
        });
        reports
    }

    /// The codes of which it is known that there are no other findings.
    pub(super) fn looked_for(&self) -> Vec<Code> {
        let EndlessRequest { starvation, fairness } = self.request;
        let asks_for_livelocks = fairness != Fairness::Choices;
        let asked = [(Code::NoEnd, true), (Code::Livelock, asks_for_livelocks), (Code::Starvation, starvation)];
        asked.into_iter().filter(|(_, is_asked)| *is_asked && self.endless_complete).map(|(code, _)| code).collect()
    }

    /// The executions without end among the outcomes: what was printed before the cycle, and the steps.
    pub(super) fn outcomes(&self, model: &Model, schedules: Schedules) -> Vec<OutcomeReport> {
        let mut namer = (schedules == Schedules::All).then(|| Namer::new(model.naming()));
        let of_outcomes = self.endless.iter().filter(|report| !report.is_starvation());
        let outcome = |report: &EndlessReport| OutcomeReport {
            output: report.printed.iter().flat_map(|thread| thread.output.iter().cloned()).collect(),
            by_thread: report.printed.clone(),
            status: ExecutionStatus::ENDLESS,
            message: None,
            line: None,
            schedule: namer.as_mut().map(|namer| namer.steps(&report.steps)),
        };
        let mut outcomes: Vec<OutcomeReport> = of_outcomes.map(outcome).collect();
        let mut known: Vec<Vec<ThreadOutput>> = Vec::new();
        outcomes.retain(|outcome| {
            let is_new = !known.contains(&outcome.by_thread);
            known.push(outcome.by_thread.clone());
            is_new
        });
        outcomes
    }
}
