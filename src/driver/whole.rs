//! Packages of tests of a whole program: for terms, failures, deadlocks and outcomes.
//!
//! **Input**: a program, and the findings of the exploration ([`Answer`]). **Output**: a [`Package`].
//!
//! **Algorithm**.
//! 1. Unless only failures are wanted, each feasible term of a pi function gets a test of the execution that
//!    [`witnesses`](super::witnesses) chooses. On request, terms whose executions are one future share a test.
//! 2. Each failure and each deadlock that no test shows gets its own test; on request, so does each outcome.
//! 3. A program without pi functions gets a test of an execution that ends well.
//!
//! **Soundness and limits**: an execution that is too long gets no test; its findings are listed with the reason.

use super::executions::{Ending, Executions, Shown};
use super::manifest::{DeadlockEntry, FailureEntry, Manifest, OutcomeEntry, TermStatus, pi_terms};
use super::names::Names;
use super::parts::Module;
use super::test_case::{TestCase, selection_line, test_name};
use super::titles;
use super::witnesses::{InitialPicture, Witness, choose};
use super::{DriveError, Input, MAX_STEPS, Options, Package, Plan, candidates, check_size, package, plan};
use cssame_budget::Budget;
use cssame_explore::Answer;
use cssame_explore::report::{DeadlockReport, FailureReport, thread_outputs};
use cssame_form::Selection;
use cssame_ir::{DefinitionId, ReadId};
use cssame_schedule as schedule;
use cssame_schedule::{ExecutionStatus, RoundRobin, Scripted, Then, fewer_switches};
use cssame_vm::Choice;
use rustc_hash::FxHashMap;

/// What has a test beside terms, if these have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contents {
    /// Nothing.
    Terms,
    /// Each failure and each deadlock; and in a program without pi functions one execution that ends well.
    #[default]
    Failures,
    /// The failures and deadlocks, and no term.
    FailuresAlone,
    /// The same and each outcome.
    Outcomes,
}

/// The tests that are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What can happen.
    pub answer: &'a Answer,
    /// What has a test beside terms.
    pub contents: Contents,
    /// Whether terms whose executions are one future share a test.
    pub distinct: bool,
    /// The program that the package has. It may be another one than the one that was explored, with the same schedules: one
    /// whose functions were not copied for their contexts.
    pub code: Input<'a>,
}

/// A package of tests of a program.
///
/// # Errors
///
/// The program has no `main`, is one in C that the target cannot write, or has too many terms. A term whose execution does not end
/// is listed as undecided.
pub fn drive(
    input: &Input<'_>,
    wanted: &Wanted<'_>,
    budget: &Budget<'_>,
    options: &Options,
) -> Result<Package, DriveError> {
    check_size(input.form)?;
    let answer = wanted.answer;
    let mut writer = Writer {
        input,
        code: &wanted.code,
        options,
        manifest: Manifest::new(options, answer.bound, answer.statistics.states),
        executions: Executions::new(input, options.max_steps),
        names: Names::of_tests(),
        tests: Vec::new(),
        steps: 0,
    };
    let has_terms = wanted.contents != Contents::FailuresAlone;
    let all = if has_terms { pi_terms(input) } else { Vec::new() };
    let picture = InitialPicture::new(input.form, &all);
    writer.terms(wanted, (&picture, &all), budget);
    if wanted.contents != Contents::Terms {
        writer.failures(answer);
        writer.deadlocks(answer);
    }
    if wanted.contents == Contents::Outcomes {
        writer.outcomes(answer);
    }
    match wanted.contents {
        Contents::FailuresAlone => writer.manifest.note = Some("no test: no failure and no deadlock was found"),
        Contents::Failures | Contents::Outcomes if all.is_empty() => writer.one_outcome(answer, budget),
        Contents::Failures | Contents::Outcomes | Contents::Terms => {}
    }
    let cases = writer.cases(&picture);
    package(&[Module::only(&wanted.code)], &cases, writer.manifest, options)
}

/// A package with one test, of a recorded execution; from the end of the schedule the threads go on in turn.
///
/// # Errors
///
/// The program has no `main`, is one in C that the target cannot write, or the execution does not come to an end.
pub fn drive_schedule(
    input: &Input<'_>,
    (name, schedule): (&str, &[Choice]),
    options: &Options,
) -> Result<Package, DriveError> {
    let mut manifest = Manifest::new(options, None, 0);
    let name = Names::of_tests().fresh(&format!("schedule_{name}"));
    let mut policy = Then::new(Scripted::new(schedule), RoundRobin::new());
    let execution = schedule::run(input.machine, &mut policy, options.max_steps, &mut ());
    let plan = plan(input, &execution.steps, options.max_steps)
        .map_err(|reason| DriveError::NoEnd { test: name.clone(), reason: reason.to_owned() })?;
    let (mut failures, mut deadlocks, naming) = (Vec::new(), Vec::new(), input.naming());
    match &execution.status {
        ExecutionStatus::Failed(failure) => {
            let path = execution.state.path(failure.thread);
            let thread = input.machine.path_name(&execution.tables, path);
            failures.push(failure_entry(FailureReport::of(&naming, failure, thread, &[]), (Some(name.clone()), None)));
        }
        ExecutionStatus::Deadlock => {
            let report = DeadlockReport::of(&naming, &execution.steps);
            deadlocks.push(deadlock_entry(report, (Some(name.clone()), None)));
        }
        _ => {}
    }
    (manifest.failures, manifest.deadlocks) = (Some(failures), Some(deadlocks));
    let title = "The execution of a recorded schedule.".to_owned();
    let case = TestCase::of_execution(input, name, vec![title], plan, &execution.steps);
    package(&[Module::only(input)], &[case], manifest, options)
}

/// A package with one test, for a whole execution that selections were completed to.
///
/// # Errors
///
/// The program has no `main`, is one in C that the target cannot write, or the schedule does not lead to the end of an execution.
pub fn drive_selection(
    (input, code): (&Input<'_>, &Input<'_>),
    selections: &[Selection],
    schedule: &[Choice],
    options: &Options,
) -> Result<Package, DriveError> {
    let mut manifest = Manifest::new(options, None, 0);
    let name = Names::of_tests().fresh(&test_name(input, selections));
    let plan = plan(code, schedule, options.max_steps)
        .map_err(|reason| DriveError::NoEnd { test: name.clone(), reason: reason.to_owned() })?;
    let mut executions = Executions::new(input, options.max_steps);
    let shown = executions.add(schedule).map(|place| &executions.list[place]);
    let mut lines = Vec::new();
    for selection in selections {
        let line = selection_line(input, selection);
        if shown.is_none_or(|shown| selection.reads.iter().any(|&read| !shown.of_read(read).is_empty())) {
            manifest.add_term(input, selection, TermStatus::Feasible, Some(name.clone()));
            lines.push(line);
        } else {
            manifest.add_unevaluated(input, selection, &name);
            lines.push(line + " This execution does not come to that read.");
        }
    }
    let shows = selections.iter().map(|selection| titles::equation(input, selection)).collect();
    let case = TestCase::of_execution(code, name, lines, plan, schedule).showing(shows);
    package(&[Module::only(code)], &[case], manifest, options)
}

/// The name of a test, or why there is none.
type Made = (Option<String>, Option<String>);

fn failure_entry(report: FailureReport, (test, reason): Made) -> FailureEntry {
    let FailureReport { status, message, at, thread, .. } = report;
    FailureEntry { status, message, at, thread, test, reason }
}

fn deadlock_entry(report: DeadlockReport, (test, reason): Made) -> DeadlockEntry {
    let DeadlockReport { threads, cycle, .. } = report;
    DeadlockEntry { threads, cycle, test, reason }
}

/// A test.
struct Test {
    name: String,
    /// The place of its execution.
    execution: usize,
    plan: Plan,
    schedule: Vec<Choice>,
    /// What it shows, for its comment.
    lines: Vec<String>,
    /// The terms that it is the test of.
    terms: Vec<Selection>,
}

struct Writer<'a> {
    input: &'a Input<'a>,
    code: &'a Input<'a>,
    options: &'a Options,
    manifest: Manifest,
    executions: Executions<'a>,
    names: Names<'a>,
    tests: Vec<Test>,
    /// Of all tests so far.
    steps: usize,
}

impl Writer<'_> {
    fn cases(&mut self, picture: &InitialPicture) -> Vec<TestCase> {
        let (input, code, executions) = (self.input, self.code, &self.executions);
        let cases = self.tests.drain(..).map(|test| {
            let Test { name, execution, plan, schedule, mut lines, terms } = test;
            if !terms.is_empty() {
                lines.push(titles::differences(input, picture, &executions.list[execution], &terms));
            }
            let shows = terms.iter().map(|term| titles::equation(input, term)).collect();
            TestCase::of_execution(code, name, lines, plan, &schedule).showing(shows)
        });
        cases.collect()
    }

    fn shown(&self, execution: usize) -> &Shown {
        &self.executions.list[execution]
    }

    /// Adds a test of an execution under a name that is wanted for it; gives its place, or says why there is none.
    fn add(&mut self, wanted: &str, lines: Vec<String>, execution: usize) -> Result<usize, &'static str> {
        let schedule = &self.executions.list[execution].schedule;
        if self.steps + schedule.len() > MAX_STEPS {
            return Err("is not written: the tests of the package are too long already");
        }
        // An order that people can follow.
        let schedule =
            fewer_switches(self.input.machine, schedule).map_or_else(|| schedule.clone(), |found| found.steps);
        let plan = plan(self.code, &schedule, self.options.max_steps)?;
        self.steps += schedule.len();
        let name = self.names.fresh(wanted);
        self.tests.push(Test { name, execution, plan, schedule, lines, terms: Vec::new() });
        Ok(self.tests.len() - 1)
    }

    /// The test that shows the same as an execution, by what matters of it.
    fn test_of<T: PartialEq>(&self, execution: usize, what: impl Fn(&Shown) -> T) -> Option<String> {
        let looked_for = what(self.shown(execution));
        let found = self.tests.iter().find(|test| what(self.shown(test.execution)) == looked_for);
        found.map(|test| test.name.clone())
    }

    fn terms(
        &mut self,
        wanted: &Wanted<'_>,
        (picture, all): (&InitialPicture, &[(ReadId, DefinitionId)]),
        budget: &Budget<'_>,
    ) {
        let (input, answer) = (self.input, wanted.answer);
        let feasible: Vec<(ReadId, DefinitionId)> =
            all.iter().copied().filter(|&(read, definition)| answer.term(read, definition).is_some()).collect();
        let is_exact = candidates::collect(&mut self.executions, (input, answer), (picture, &feasible), budget);
        let witnesses = choose(&self.executions, picture, &feasible);
        let witnesses: FxHashMap<(ReadId, DefinitionId), Option<Witness>> =
            feasible.into_iter().zip(witnesses).collect();
        for &(read, definition) in all {
            let term = Selection::of(read, definition);
            match (answer.is_feasible(read, definition), witnesses.get(&(read, definition)).copied().flatten()) {
                (Some(true), Some(witness)) => self.term(term, &witness, (wanted.distinct, is_exact)),
                (Some(true), None) => {
                    let schedule = answer.term(read, definition).and_then(|term| term.schedule.as_ref());
                    let too_long = "is not written: the tests of the package are too long already";
                    let reason = schedule.map(|schedule| plan(self.code, schedule, self.options.max_steps).err());
                    self.manifest.add_unfinished(input, &term, reason.flatten().unwrap_or(too_long));
                }
                (Some(false), _) => self.manifest.add_term(input, &term, TermStatus::Impossible, None),
                (None, _) => self.manifest.add_term(input, &term, TermStatus::Undecided, None),
            }
        }
    }

    /// Adds the test of a term, or the term to a test of the same future.
    fn term(&mut self, term: Selection, witness: &Witness, (distinct, is_exact): (bool, bool)) {
        let input = self.input;
        let selected = Selection { instance: witness.instance, ..term.clone() };
        let shown = self.shown(witness.execution);
        let is_same = |test: &Test| self.shown(test.execution).is_future_of(shown);
        let known = self.test_of_same(&selected);
        let known = known.or_else(|| distinct.then(|| self.tests.iter().position(is_same)).flatten());
        let lines = titles::term(input, &selected, is_exact);
        let test = match known {
            Some(test) => {
                self.tests[test].lines.extend(lines);
                Ok(test)
            }
            None => self.add(&test_name(input, std::slice::from_ref(&selected)), lines, witness.execution),
        };
        match test {
            Ok(test) => {
                self.manifest.add_shown(input, &selected, &self.tests[test].name);
                self.tests[test].terms.push(selected);
            }
            Err(reason) => self.manifest.add_unfinished(input, &term, reason),
        }
    }

    /// The test of an earlier read that sees the same version, if its execution has this term as well.
    fn test_of_same(&self, term: &Selection) -> Option<usize> {
        let (read, definition) = (term.read(), term.definition());
        let mut same = self.input.form.same_as(read)?;
        while let Some(earlier) = self.input.form.same_as(same) {
            same = earlier;
        }
        self.tests.iter().position(|test| {
            let is_of_same = test.terms.iter().any(|of| of.selects(same) && of.accepts(Some(definition)));
            is_of_same && self.shown(test.execution).instance(read, definition) == Some(None)
        })
    }

    /// A test of an execution, or the one that shows the same: its name, or why there is none.
    fn shows<T: PartialEq>(
        &mut self,
        (wanted, title): (&str, String),
        schedule: Option<&[Choice]>,
        what: impl Fn(&Shown) -> T,
    ) -> Made {
        let execution = schedule.and_then(|schedule| self.executions.add(schedule));
        let made = match execution {
            None => Err("does not come to an end within the bounds, or was not kept"),
            Some(execution) => match self.test_of(execution, what) {
                Some(test) => Ok(test),
                None => self.add(wanted, vec![title], execution).map(|test| self.tests[test].name.clone()),
            },
        };
        self.manifest.complete &= made.is_ok();
        match made {
            Ok(test) => (Some(test), None),
            Err(reason) => (None, Some(format!("the execution that shows it {reason}"))),
        }
    }

    fn failures(&mut self, answer: &Answer) {
        let naming = self.input.naming();
        let mut entries = Vec::new();
        for witness in &answer.failures {
            let thread = self.input.machine.path_name(&answer.tables, witness.path);
            let report = FailureReport::of(&naming, &witness.failure, thread, &[]);
            let wanted = format!("{}_at_{}", report.status, report.at);
            let title = format!("{} fails at {}: {}.", report.thread, report.at, report.message);
            let ending = |shown: &Shown| shown.ending.clone();
            let made = self.shows((&wanted, title), Some(&witness.schedule), ending);
            entries.push(failure_entry(report, made));
        }
        self.manifest.failures = Some(entries);
    }

    fn deadlocks(&mut self, answer: &Answer) {
        let naming = self.input.naming();
        let mut entries = Vec::new();
        for (index, deadlock) in answer.deadlocks.iter().enumerate() {
            let report = DeadlockReport::of(&naming, &deadlock.schedule);
            let names: Vec<&str> = report.threads.iter().map(|thread| thread.thread.as_str()).collect();
            let wanted = format!("deadlock_{}", index + 1);
            let title = format!("A deadlock of {}.", names.join(", "));
            let ending = |shown: &Shown| shown.ending.clone();
            let made = self.shows((&wanted, title), Some(&deadlock.schedule), ending);
            entries.push(deadlock_entry(report, made));
        }
        self.manifest.deadlocks = Some(entries);
    }

    fn outcomes(&mut self, answer: &Answer) {
        let machine = self.input.machine;
        let mut entries = Vec::new();
        for (index, outcome) in answer.outcomes.iter().enumerate() {
            let status = outcome.status.word();
            let by_thread = thread_outputs(machine, &answer.tables, &outcome.outputs);
            let wanted = format!("outcome_{}", index + 1);
            let title = titles::outcome(status, &by_thread);
            let what = |shown: &Shown| (shown.outputs.clone(), shown.ending.word());
            let (test, reason) = self.shows((&wanted, title), outcome.schedule.as_deref(), what);
            entries.push(OutcomeEntry { status, by_thread, test, reason });
        }
        self.manifest.outcomes = Some(entries);
    }

    /// A test of an execution that ends well, in a program without pi functions. Threads go in turn; where that does not end well,
    /// another future is looked for.
    fn one_outcome(&mut self, answer: &Answer, budget: &Budget<'_>) {
        let mut schedules = vec![Vec::new()];
        if !answer.failures.is_empty() || !answer.deadlocks.is_empty() {
            schedules.extend(candidates::few_futures(self.input, budget));
        }
        let good = schedules.iter().find_map(|schedule| {
            let execution = self.executions.add(schedule)?;
            (self.shown(execution).ending == Ending::Ok).then_some(execution)
        });
        let Some(execution) = good else { return };
        let outcome = |shown: &Shown| (shown.outputs.clone(), shown.ending.word());
        if self.test_of(execution, outcome).is_some() {
            return;
        }
        let title = titles::without_pi(&self.executions.by_thread(self.shown(execution)));
        // An execution that is too long for a test does not make the answer incomplete: nothing was asked about it.
        let _ = self.add("outcome", vec![title], execution);
    }
}
