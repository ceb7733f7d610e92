//! The answer of `drive`: a package with a test for each feasible term, or for a selection.

use super::endless::{self, EndlessFindings};
use super::run::{Course, RunRequest, run};
use super::selection::{SelectionReport, selection_report};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_driver as driver;
use cssame_driver::{
    Contents, DeadlockEntry, DriveError, FailureEntry, Input, LatchesError, Options, OutcomeEntry, Package, PairCounts,
    PairEntry, RaceEntry, Target, TermEntry, TestEntry, Wanted, check_size, drive_selection,
};
use cssame_explore::{
    Answer, EndlessRequest, HuntRequest, Query, Subject, UnfinishedReport, Verdict, unfinished_report,
};
use cssame_form::Selection;
use cssame_model::Model;
use cssame_schedule::{Departure, Schedule};
use cssame_vm::Choice;
use serde::Serialize;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct DriveRequest<'a> {
    /// Terms that one test is to have; where there are none, each feasible term gets a test.
    pub selections: &'a [Selection],
    /// What has a test beside terms.
    pub contents: Contents,
    /// Whether terms whose executions are one future share a test.
    pub distinct: bool,
    /// How the package is made.
    pub options: &'a Options,
}

impl<'a> DriveRequest<'a> {
    /// All terms, failures and deadlocks, each with a test of its own.
    #[must_use]
    pub fn new(options: &'a Options) -> DriveRequest<'a> {
        DriveRequest { selections: &[], contents: Contents::default(), distinct: false, options }
    }
}

/// A package, or why there is none.
#[derive(Debug, Default)]
pub struct DriveAnswer {
    /// None where the selection is inconsistent or undecided, or the race is not real.
    pub package: Option<Package>,
    /// The bound that has stopped the search.
    pub bound: Option<Bound>,
    /// What the search has proved all the same.
    pub unfinished: Option<UnfinishedReport>,
    /// Only where something was selected.
    pub selection: Option<SelectionReport>,
    /// Only where a race was asked for.
    pub race: Option<RaceEntry>,
    /// Executions without end, where they were looked for: no test can repeat one.
    pub endless: Option<EndlessFindings>,
}

/// A package that is written to a directory.
#[derive(Debug, Serialize)]
pub struct DriveReport {
    /// The directory.
    pub out: String,
    /// The files of the package, as paths in it; none where nothing was written.
    pub files: Vec<String>,
    /// Whether all that was asked for is decided.
    pub complete: bool,
    /// The bound that has stopped the search.
    pub bound: Option<&'static str>,
    /// What the search has proved all the same, where a bound has stopped it.
    pub unfinished: Option<UnfinishedReport>,
    /// The tests.
    pub tests: Vec<TestEntry>,
    /// The terms, with or without a test.
    pub terms: Vec<TermEntry>,
    /// The failures that were found, each with its test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Vec<FailureEntry>>,
    /// The deadlocks that were found, each with its test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlocks: Option<Vec<DeadlockEntry>>,
    /// The outcomes, where each is to have a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Vec<OutcomeEntry>>,
    /// Why there are no tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// Only where something was selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionReport>,
    /// The pairs of methods, where tests are about pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Vec<PairEntry>>,
    /// How few of all pairs are tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<PairCounts>,
    /// The race, where tests are about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceEntry>,
    /// Executions without end, where they were looked for: no test repeats them.
    #[serde(flatten)]
    pub endless: Option<EndlessFindings>,
    /// Whether the tests pass, where they were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// The language of the package.
    #[serde(skip)]
    pub target: Target,
}

impl DriveAnswer {
    /// What is said of a package that is written to a directory of that name.
    #[must_use]
    pub fn report(&self, out: &str) -> DriveReport {
        let package = self.package.as_ref();
        let is_open = self.race.as_ref().is_some_and(|race| race.status == "unconfirmed");
        let files = package.map(|package| package.files.iter().map(|(path, _)| path.to_string_lossy().into_owned()));
        DriveReport {
            out: out.to_owned(),
            files: files.map(Iterator::collect).unwrap_or_default(),
            complete: self.bound.is_none() && package.is_none_or(|package| package.manifest.complete) && !is_open,
            bound: self.bound.map(Bound::name),
            unfinished: self.unfinished.clone(),
            tests: package.map(|package| package.manifest.tests.clone()).unwrap_or_default(),
            terms: package.map(|package| package.manifest.terms.clone()).unwrap_or_default(),
            failures: package.and_then(|package| package.manifest.failures.clone()),
            deadlocks: package.and_then(|package| package.manifest.deadlocks.clone()),
            outcomes: package.and_then(|package| package.manifest.outcomes.clone()),
            note: package.and_then(|package| package.manifest.note),
            selection: self.selection.clone(),
            pairs: package.and_then(|package| package.manifest.pairs.clone()),
            counts: package.and_then(|package| package.manifest.counts.clone()),
            race: self.race.clone(),
            endless: self.endless.clone(),
            passed: None,
            target: package.map(|package| package.manifest.target).unwrap_or_default(),
        }
    }
}

/// What a driver is made from.
pub(super) fn input(model: &Model) -> Input<'_> {
    Input { sources: model.sources(), program: model.program(), form: model.form(), machine: model.machine() }
}

/// Makes a package with a test of a recorded execution; from the end of the schedule the threads go on in turn.
///
/// # Errors
///
/// The execution does not end, or the schedule is not one of the program: where the two part.
pub fn drive_schedule(
    model: &Model,
    (name, schedule): (&str, &Schedule),
    options: &Options,
) -> Result<DriveAnswer, NotDriven> {
    let request = RunRequest { course: Course::Recorded(schedule), max_steps: options.max_steps };
    let answer = run(model, &request);
    if let Some(departure) = answer.departure {
        return Err(NotDriven::Departs(departure));
    }
    let package = driver::drive_schedule(&input(model), (name, &answer.execution.steps), options);
    Ok(DriveAnswer { package: Some(package.map_err(NotDriven::Package)?), ..DriveAnswer::default() })
}

/// Makes a package in the paper's own form, with a test of each term, or of the selection.
///
/// # Errors
///
/// The form cannot say the program, or a selection means no term of a pi function.
pub fn drive_latches(model: &Model, selections: &[Selection], options: &Options) -> Result<DriveAnswer, LatchesError> {
    let package = driver::drive_latches(&input(model), selections, options)?;
    Ok(DriveAnswer { package: Some(package), ..DriveAnswer::default() })
}

/// Why a recorded execution has no package.
#[derive(Debug)]
pub enum NotDriven {
    /// The program departs from the schedule.
    Departs(Departure),
    /// There is none.
    Package(DriveError),
}

/// Explores a program and makes a package. `plain` is the program that the package has: the same one without copies for calling
/// contexts ([`Model::in_contexts`]).
///
/// # Errors
///
/// There are too many terms, or the execution of the selection does not end.
pub fn drive(
    (model, plain): (&Model, &Model),
    request: &DriveRequest<'_>,
    budget: &Budget<'_>,
) -> Result<DriveAnswer, DriveError> {
    if !request.selections.is_empty() {
        return drive_selected((model, plain), request, budget);
    }
    check_size(model.form())?;
    let (subject, endless) = (Subject::from(model), EndlessRequest::default());
    let by_futures = |query| {
        let search = || subject.futures_and_hunt(&query, budget);
        endless::around(model, endless, budget, search, |answer| answer)
    };
    let (answer, endless) = match request.contents {
        Contents::Terms | Contents::Failures => by_futures(Query::WITHOUT_OUTCOMES),
        Contents::Outcomes => by_futures(Query::default()),
        Contents::FailuresAlone => {
            let hunt = HuntRequest { stops_at_ends: true, ..HuntRequest::default() };
            let (hunted, endless) = endless::around_hunt(model, endless, budget, || subject.hunt(&hunt, budget));
            (Answer::from(hunted), endless)
        }
    };
    let DriveRequest { contents, distinct, .. } = *request;
    let wanted = Wanted { answer: &answer, contents, distinct, code: input(plain) };
    let package = driver::drive(&input(model), &wanted, budget, request.options)?;
    let unfinished = unfinished(model, answer.bound, &answer.statistics, &answer.open);
    let (bound, endless) = (answer.bound, Some(endless));
    Ok(DriveAnswer { package: Some(package), bound, unfinished, endless, ..DriveAnswer::default() })
}

fn drive_selected(
    (model, plain): (&Model, &Model),
    &DriveRequest { selections, options, .. }: &DriveRequest<'_>,
    budget: &Budget<'_>,
) -> Result<DriveAnswer, DriveError> {
    let answer = Subject::from(model).select(selections, budget);
    let package = match &answer.verdict {
        Verdict::Consistent { schedule, .. } => {
            Some(drive_selection((&input(model), &input(plain)), selections, schedule, options)?)
        }
        Verdict::Inconsistent { .. } | Verdict::Undecided => None,
    };
    let selection = Some(selection_report(model, selections, &answer.verdict, None));
    // A selection that holds is decided, whatever bound was hit on the way.
    let bound = answer.bound.filter(|_| package.is_none());
    // It has looked for the selection alone: nothing is proved of failures.
    let unfinished = unfinished(model, bound, &answer.statistics, &answer.open);
    let unfinished = unfinished.map(|of| UnfinishedReport { steps: 0, ..of });
    Ok(DriveAnswer { package, bound, unfinished, selection, ..DriveAnswer::default() })
}

fn unfinished(
    model: &Model,
    bound: Option<Bound>,
    statistics: &Statistics,
    open: &[Vec<Choice>],
) -> Option<UnfinishedReport> {
    bound.map(|bound| unfinished_report(&model.naming(), bound, statistics, open))
}
