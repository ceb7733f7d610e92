//! `cssame futures FILE`: which terms and selections can happen; outcomes, failures and deadlocks.

use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{BoundOptions, EndlessOptions, Format, ProcessBounds};
use crate::output::Output;
use crate::progress::with_budget;
use crate::record;
use crate::shared::SearchOptions;
use crate::view::futures::{self as view, FuturesView};
use crate::view::limits::limits;
use clap::Args;
use cssame_answer::{Effort, Findings, FuturesAnswer, FuturesRequest, Judged, finding, futures};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Diagnostics};
use cssame_explore::report::Schedules;
use cssame_form::Selection;
use cssame_model::Model;
use serde::Serialize;
use std::path::PathBuf;
use std::slice::from_ref;

/// Arguments of `futures`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Decide whether some execution has this term, or comes to this write (repeatable: has all of them)
    #[arg(long, value_name = "READ=DEF|WRITE")]
    pub select: Vec<String>,
    /// Count the futures (executions that differ in which write a read sees), however long that takes
    #[arg(long)]
    pub count: bool,
    /// Look for all outcomes, even if threads that do not influence each other may have exponentially many
    #[arg(long)]
    pub outcomes: bool,
    /// Show an execution with this outcome, given by its number, a part of what it prints, or how it ends (repeatable)
    #[arg(long, value_name = "OUTCOME")]
    pub show: Vec<String>,
    /// Write the schedules of failures, deadlocks, outcomes and feasible terms to this directory
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,
    /// Show the text of the source beside each step
    #[arg(long)]
    pub source: bool,
    /// List the terms, even if there are more than 20
    #[arg(long)]
    pub terms: bool,
    /// Also show reads that can see only one write, all writes of each read, all outcomes, and all steps of calls
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) endless: EndlessOptions,
    #[command(flatten)]
    pub(crate) search: SearchOptions,
}

/// What can happen, and what it was asked of.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Explored {
    answer: FuturesAnswer,
    #[serde(skip)]
    model: Model,
    #[serde(skip)]
    selections: Vec<Selection>,
}

impl Job for Arguments {
    type Answer = Explored;

    const HELP: Help = Help {
        name: "futures",
        short: "Show what can happen: terms, outcomes, failures, deadlocks",
        long: "\
Explores all executions of the program and says what can happen: which pi terms (a read and a write that it may see) \
are feasible and which are impossible, what the program can print, where it can fail, in which deadlocks it can end, \
and how it can run for ever. Each answer has a shortest execution that shows it. An execution without end is shown as \
steps into a cycle, and the steps of the cycle.

With `--select` it also decides whether some execution has all the given terms: each selected read is evaluated, and \
every evaluation of it reads from the selected write. A write that is selected without a read has to happen, whichever \
reads see it. If there is no such execution, the answer names a smallest contradiction.",
        examples: "\
Examples:
  cssame futures samples/cssame_fig2.csm
  cssame futures --record-dir found samples/bank_transfer_deadlock.csm
  cssame futures --show 1 samples/counter_unlocked.csm
  cssame futures --select a@24:11=a@16:5 samples/cssame_fig2.csm
  cssame futures --select a@16:5 samples/cssame_fig2.csm
  cssame futures --timeout 60 --format json samples/bakery2.csm
  cssame futures --starvation samples/spinlock_cas.csm

A read or a write is named VAR@LINE:COL, or VAR@LINE where that is unique. VAR@initial is the value before the first \
write, and VAR@LINE:COL#K is the K-th time that a thread comes to a read. If a place has several contexts, \
T1:VAR@LINE:COL names the access in a thread, and VAR@LINE:COL~5:7 the access in the call at 5:7; without a context, \
all of them are meant.

Exit status: 0 no failure, no deadlock and no execution without end was found, 1 one of these was found (with \
`--starvation` also a thread that can starve), or the selection is inconsistent, 2 bad usage or a program that does \
not compile, 3 a bound was hit before terms, failures and deadlocks were decided, and nothing was found so far.",
    };

    fn common(&self) -> Common<'_> {
        self.search.common(from_ref(&self.file))
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.search.bounds.set_defaults(bounds)
    }

    fn answer(&self, output: &Output) -> Result<Explored, Diagnostics> {
        let model = load::model(&self.file, self.search.options())?;
        let model = model.in_contexts().unwrap_or(model);
        let selections = model.selections(&self.select)?;
        let request = FuturesRequest {
            selections: &selections,
            count: if self.count { Effort::Always } else { Effort::IfCheap },
            // Who wants to see one outcome wants it to be found.
            outcomes: if self.outcomes || !self.show.is_empty() { Effort::Always } else { Effort::IfCheap },
            schedules: self.schedules(),
            endless: self.endless.request(),
        };
        let search = |budget: &Budget<'_>| futures(&model, &request, budget);
        let answer = with_budget(&self.search.bounds, output, search);
        if let Some(directory) = &self.record_dir {
            record::write_futures(directory, &model, &answer)?;
        }
        Ok(Explored { answer, model, selections })
    }

    fn findings<'a>(&self, found: &'a Explored) -> Findings<'a> {
        found.answer.findings(&found.model)
    }

    fn bounds(&self, Explored { answer, .. }: &Explored) -> Vec<Diagnostic> {
        let outcomes = answer.outcomes_bound.map(finding::bound_of_outcomes);
        let count = answer.count_bound.map(|(bound, futures)| finding::bound_of_count(bound, futures));
        let bound = |bound| outcomes.or(count).unwrap_or_else(|| finding::bound(bound, answer.unfinished.as_ref()));
        answer.bound.map(bound).into_iter().collect()
    }

    fn within<'a>(&self, found: &'a Explored) -> &'a [String] {
        &found.model.program().limits
    }

    fn print(&self, found: &Explored, judged: &Judged, output: &mut Output) {
        let Explored { answer, model, selections } = found;
        let view = FuturesView {
            answer,
            model,
            selections,
            file: &self.file,
            select: &self.select,
            endless: self.endless,
            show: &self.show,
            bounds: &self.search.bounds.text(),
            record_dir: self.record_dir.as_deref(),
            terms: self.terms,
            source: self.source,
            all: self.all,
            judged,
            colour: output.colour(),
        };
        view.print(output);
        let listed = view.listed();
        output.complain(model.sources(), &self.bounds(found));
        output.summary(&view::summary(answer, listed));
        output.summary(&limits(self.within(found)));
    }

    fn is_decided(&self, found: &Explored) -> bool {
        found.answer.is_decided()
    }
}

impl Arguments {
    /// People get no names of schedules that they do not see.
    fn schedules(&self) -> Schedules {
        match self.search.analysis.format.into() {
            Format::Json => Schedules::All,
            Format::Human if self.record_dir.is_some() => Schedules::All,
            Format::Human | Format::Listing(_) => Schedules::OfFindings,
        }
    }
}
