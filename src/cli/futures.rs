//! `cssame futures FILE`: which terms and selections can happen; outcomes, failures and deadlocks.

use super::arguments::Job;
use super::finding;
use super::futures_text;
use super::json;
use super::load;
use super::options::{BoundOptions, ExecutionOptions, Format, FormatOption, OutputOptions, ProgramOptions};
use super::output::Output;
use super::progress::Monitor;
use super::record;
use super::status::Status;
use crate::budget::{Bound, Budget, Limits, Statistics};
use crate::diagnostics::Diagnostics;
use crate::explore::report::{FuturesReport, Listed, Schedules, report};
use crate::explore::{self, Answer, CountAnswer, Query, SelectAnswer, Subject, UnfinishedReport, Verdict};
use crate::form::Selection;
use crate::form::contradiction::{ReasonReport, explain, reason_report};
use crate::form::{definition_name, read_name};
use crate::ir::{DefinitionId, ReadId};
use crate::model::Model;
use crate::schedule::{Step, fewer_switches};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The long description of the command.
pub const ABOUT: &str = "\
Explores all that the program can do, and says what can happen at all: which pi terms are feasible and which \
no execution can realise, what the program can print, where it can fail, and in which deadlocks it can end. Each \
answer has a shortest execution that shows it.

With `--select` it also decides whether some execution has all the given terms: each read that it evaluates, and that \
is selected, reads from the selected write. If there is none, it names a smallest contradiction.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame futures samples/cssame_fig2.csm
  cssame futures --record-dir found samples/bank_transfer_deadlock.csm
  cssame futures --select a@24:11=a@16:5 samples/cssame_fig2.csm
  cssame futures --timeout 60 --format json samples/bakery2.csm

A read or a write is named VAR@LINE:COL, or VAR@LINE where that is unique; VAR@initial is the value before the first \
write, and VAR@LINE:COL#K the K-th time that a thread comes to a read.

Exit status: 0 no failure and no deadlock, 1 some, or the selection is inconsistent, 2 bad usage or a program that does \
not compile, 3 a bound was hit and nothing was found so far.";

/// States that are visited to count futures where nobody asked for the number: a fraction of a second.
const COUNT_STATES: u64 = 60_000;

/// Executions that are followed for the same purpose.
const COUNT_EXECUTIONS: u64 = 20_000;

/// What they may cost.
const COUNT_WORK: u64 = 1_000_000;

/// Writes that are named where a read never sees the selected one.
const SEEN: usize = 4;

/// Arguments of `futures`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Decide whether some execution has this term (repeatable: all of them)
    #[arg(long, value_name = "READ=DEF")]
    pub select: Vec<String>,
    /// Count the futures, however long that takes
    #[arg(long)]
    pub count: bool,
    /// Write the schedules of failures, deadlocks and feasible terms to this directory
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,
    /// Show also reads that can see a single write, all writes of each read, and all outcomes
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundOptions,
}

/// All that the command finds out, in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    #[serde(flatten)]
    pub(crate) futures: FuturesReport,
    /// Only where something was selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) selection: Option<SelectionReport>,
}

/// Whether the selection is consistent.
#[derive(Debug, Serialize)]
pub(crate) struct SelectionReport {
    pub(crate) selected: Vec<SelectedReport>,
    /// Nothing where a bound was hit before that was known.
    pub(crate) consistent: Option<bool>,
    /// Selected terms that contradict each other, none of which can be left out.
    pub(crate) contradiction: Vec<String>,
    /// Why they do, where they do.
    pub(crate) reason: Option<ReasonReport>,
    pub(crate) schedule: Option<Vec<Step>>,
}

/// A selected term.
#[derive(Debug, Serialize)]
pub(crate) struct SelectedReport {
    pub(crate) read: String,
    pub(crate) instance: Option<u32>,
    pub(crate) def: String,
    /// Whether the execution has it; the others are reads that it does not come to.
    pub(crate) satisfied: bool,
}

/// The answers of the searches.
pub(crate) struct Found {
    pub(crate) answer: Answer,
    pub(crate) count: Option<CountAnswer>,
    pub(crate) selection: Option<SelectAnswer>,
}

impl Job for Arguments {
    fn name(&self) -> &'static str {
        "futures"
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.file)
    }

    fn format(&self) -> Format {
        self.format.format.into()
    }

    fn output_options(&self) -> &OutputOptions {
        &self.output
    }

    fn execute(&self, output: &mut Output) -> Result<Status, Diagnostics> {
        let prepared = load::model(&self.file, self.program.with(&self.execution))?;
        let selections = prepared.lookup().selections(&self.select)?;
        let found = self.search(&prepared, &selections, output);
        let report = self.report(&prepared, &selections, &found);
        if let Some(directory) = &self.record_dir {
            record::write_all(directory, &prepared, &report)?;
        }
        match self.format() {
            Format::Json => json::print(output, self.name(), self.file(), &report),
            _ => {
                futures_text::print(self, &prepared, (&found, &selections), &report, output);
                if let Some(bound) = found.bound() {
                    let unfinished = found.unfinished(&prepared, &report);
                    output.complain(prepared.sources(), &[finding::bound(bound, unfinished.as_ref())]);
                }
                output.summary(&futures_text::summary(&report.futures, self.listed()));
            }
        }
        let selection = report.selection.as_ref().map(|selection| selection.consistent);
        let failed = !report.futures.failures.is_empty() || !report.futures.deadlocks.is_empty();
        let decided = found.answer.is_complete() && selection != Some(None);
        Ok(Status::of_search(failed || selection == Some(Some(false)), decided))
    }
}

impl Arguments {
    /// The reads whose terms are listed for people, and counted.
    pub(super) fn listed(&self) -> Listed {
        if self.all { Listed::All } else { Listed::Several }
    }

    fn search(&self, prepared: &Model, selections: &[Selection], output: &Output) -> Found {
        let monitor = Monitor::start(output);
        let machine = prepared.machine();
        let show = |now: &Statistics| monitor.update(now);
        let budget = self.bounds.budget(monitor.interrupt(), self.output.jobs()).with_reporter(&show);
        let mut answer = Subject::from(prepared).futures(&Query::default(), &budget);
        explore::with_fewer_switches(machine, &mut answer);
        let mut selection = (!selections.is_empty()).then(|| Subject::from(prepared).select(selections, &budget));
        if let Some(SelectAnswer { verdict: Verdict::Consistent { schedule, .. }, .. }) = &mut selection
            && let Some(found) = fewer_switches(machine, schedule)
        {
            *schedule = found.steps;
        }
        let count = if self.count {
            Some(explore::count(machine, &budget))
        } else {
            // A number that nobody asked for is not worth a bound that is hit.
            let share = self.share_of_count(&answer, &budget);
            let count = share.map(|share| explore::count(machine, &share));
            count.filter(|count| count.bound.is_none())
        };
        Found { answer, count, selection }
    }

    /// The budget of a count that nobody asked for; `None` where it would hit them. Where slices had to decide, it is a small
    /// chance.
    fn share_of_count<'a>(&self, answer: &Answer, budget: &Budget<'a>) -> Option<Budget<'a>> {
        let share = if answer.from_slices { 4 } else { 1 };
        let budget = budget.share(Limits {
            max_states: Some(COUNT_STATES / share),
            max_executions: Some(COUNT_EXECUTIONS / share),
            max_work: Some(COUNT_WORK / share),
            ..Limits::default()
        });
        (answer.is_complete() && Some(answer.statistics.states) <= budget.limits().max_states).then_some(budget)
    }

    fn report(&self, prepared: &Model, selections: &[Selection], found: &Found) -> Report {
        let naming = prepared.naming();
        let needed = self.format() == Format::Json || self.record_dir.is_some();
        let schedules = if needed { Schedules::All } else { Schedules::OfFindings };
        let futures = report(&naming, &found.answer, &candidates(prepared), found.count.as_ref(), schedules);
        let selection = found.selection.as_ref();
        let selection =
            selection.map(|answer| selection_report(prepared, selections, &answer.verdict, Some(&found.answer)));
        Report { futures, selection }
    }
}

impl Found {
    /// The bound that has stopped a search.
    fn bound(&self) -> Option<Bound> {
        let count = self.count.as_ref().and_then(|count| count.bound);
        self.answer.bound.or(self.selection.as_ref().and_then(|selection| selection.bound)).or(count)
    }
}

impl Found {
    /// What the search that was stopped has proved.
    fn unfinished(&self, prepared: &Model, report: &Report) -> Option<UnfinishedReport> {
        let of_selection = || {
            let answer = self.selection.as_ref()?;
            let bound = answer.bound?;
            Some(explore::unfinished_report(&prepared.naming(), bound, &answer.statistics, &answer.open))
        };
        // Where only the selection is open, all failures and deadlocks are known.
        report.futures.unfinished.clone().or_else(|| of_selection().map(|of| UnfinishedReport { steps: 0, ..of }))
    }
}

/// The terms of all reads of shared variables.
pub(crate) fn candidates(prepared: &Model) -> Vec<(ReadId, DefinitionId)> {
    let form = prepared.form();
    let reads = form.shared_reads().into_iter();
    reads.flat_map(|read| form.terms(read).into_iter().map(move |definition| (read, definition))).collect()
}

/// What an answer says of selections, with names.
/// `answer` is what is known of all terms, if that was asked for.
pub(crate) fn selection_report(
    prepared: &Model,
    selections: &[Selection],
    verdict: &Verdict,
    answer: Option<&Answer>,
) -> SelectionReport {
    let (sources, program) = (prepared.sources(), prepared.program());
    let selected = selections.iter().enumerate().map(|(place, selection)| SelectedReport {
        read: read_name(sources, program, selection.read),
        instance: selection.instance,
        def: definition_name(sources, program, selection.definition),
        satisfied: matches!(verdict, Verdict::Consistent { satisfied, .. } if satisfied[place]),
    });
    let selected: Vec<SelectedReport> = selected.collect();
    let (consistent, core, schedule) = match verdict {
        Verdict::Consistent { schedule, .. } => (Some(true), &[][..], Some(prepared.naming().steps(schedule))),
        Verdict::Inconsistent { core } => (Some(false), &core[..], None),
        Verdict::Undecided => (None, &[][..], None),
    };
    let contradiction = core.iter().map(|&place| selected[place].text()).collect();
    let mut reason = (consistent == Some(false)).then(|| reason(prepared, selections, core));
    if let (Some(ReasonReport { note: Some(note), .. }), Some(answer)) =
        (&mut reason, answer.filter(|all| all.is_complete()))
    {
        for &place in core {
            note.extend(sees_instead(prepared, selections[place], answer));
        }
    }
    SelectionReport { selected, consistent, contradiction, reason, schedule }
}

/// Why the selections of a core contradict each other. Where values decide that, all that is selected may still be forbidden
/// by orders.
fn reason(prepared: &Model, selections: &[Selection], core: &[usize]) -> ReasonReport {
    let form = prepared.form();
    let (sources, program) = (prepared.sources(), prepared.program());
    let of = |part: &[Selection]| reason_report(sources, program, form, part, &explain(program, form, part));
    let reason = of(&core.iter().map(|&place| selections[place]).collect::<Vec<Selection>>());
    if reason.note.is_none() || core.len() == selections.len() {
        return reason;
    }
    let whole = of(selections);
    if whole.note.is_none() { whole } else { reason }
}

/// What a read sees, where it never sees the selected write.
fn sees_instead(prepared: &Model, selection: Selection, answer: &Answer) -> Option<String> {
    let (sources, program) = (prepared.sources(), prepared.program());
    let read = read_name(sources, program, selection.read);
    let terms = answer.terms.iter().filter(|term| term.read == selection.read);
    let definitions: Vec<DefinitionId> = terms.map(|term| term.definition).collect();
    if definitions.contains(&selection.definition) {
        return None;
    }
    let names = definitions.iter().take(SEEN).map(|&definition| definition_name(sources, program, definition));
    let names = names.collect::<Vec<String>>().join(", ");
    Some(match definitions.len() {
        0 => format!("; no execution reads {read}"),
        count if count > SEEN => format!("; {read} reads from {names} and {} others", count - SEEN),
        _ => format!("; {read} reads only from {names}"),
    })
}

impl SelectedReport {
    /// `a@6:24#2=a@4:31`, as on the command line.
    pub(crate) fn text(&self) -> String {
        let instance = self.instance.map_or_else(String::new, |instance| format!("#{instance}"));
        format!("{}{instance}={}", self.read, self.def)
    }
}
