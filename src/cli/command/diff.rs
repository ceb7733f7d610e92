//! `cssame diff OLD NEW`: the effects of a change; `cssame diff SCHEDULE SCHEDULE`: the point where two executions diverge.

use crate::files;
use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{BoundOptions, ExecutionOptions, ProcessBounds};
use crate::output::Output;
use crate::progress::with_budget;
use crate::recorded::{departed, read_schedule};
use crate::shared::AnalysisOptions;
use crate::status::Status;
use crate::view;
use clap::Args;
use cssame_answer::{ExecutionsReport, Findings, Judged, ProgramsAnswer, diff_executions, diff_programs, finding};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Diagnostics};
use cssame_model::Model;
use cssame_schedule::Schedule;
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// Arguments of `diff`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// The old program, or a schedule file
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The new program, or another schedule file
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Carry this execution of the old program over to the new one
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Write the execution that was carried over to a file
    #[arg(long, value_name = "FILE", requires = "schedule")]
    pub record: Option<PathBuf>,
    /// Also show what is the same
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundOptions,
    #[command(flatten)]
    pub(crate) analysis: AnalysisOptions<()>,
}

/// What differs.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Difference {
    Programs(Box<ProgramsAnswer>),
    Executions(Box<ExecutionsReport>),
}

/// What differs, and from what.
#[derive(Debug, Serialize)]
pub struct Compared {
    new: String,
    #[serde(flatten)]
    difference: Difference,
}

impl Job for Arguments {
    type Answer = Compared;

    const HELP: Help = Help {
        name: "diff",
        short: "Compare two programs, or two recorded executions",
        long: "\
Compares what can happen in two programs: terms, failures, deadlocks and outcomes that are gone, new or the same. \
Places are matched by structure, not by line, so a lock that was added changes nothing else. With `--schedule`, a \
recorded execution of the old program is carried over to the new one as far as it fits, and the answer says how it \
ends there.

For two schedule files, it says at which step the executions differ first, which reads see other writes or values, and \
how both end.",
        examples: "\
Examples:
  cssame diff samples/bank_account_broken.csm samples/bank_account.csm
  cssame diff --all samples/counter_unlocked.csm samples/counter_locked.csm
  cssame run --seed 1 --record sen.json samples/sen_fig1.csm
  cssame diff --schedule sen.json samples/sen_fig1.csm samples/sen_fig2.csm
  cssame run --seed 7 --record one.json samples/counter_unlocked.csm
  cssame run --seed 8 --record two.json samples/counter_unlocked.csm
  cssame diff one.json two.json

Exit status: 0 nothing is gone or new (for two schedules: no read and no end differs), 1 there is a difference, 2 bad \
usage, a program that does not compile or a schedule that does not fit its program, 3 a bound was hit and no \
difference was found so far.",
    };

    fn common(&self) -> Common<'_> {
        self.analysis.common(from_ref(&self.old))
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.bounds.set_defaults(bounds)
    }

    fn validate(&self) -> Result<(), String> {
        match (is_schedule(&self.old), is_schedule(&self.new)) {
            (true, true) if self.schedule.is_some() => Err("two schedules need no `--schedule`".to_owned()),
            (true, false) | (false, true) => {
                Err("give two programs or two schedules; `--schedule FILE` carries one over".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn answer(&self, output: &Output) -> Result<Compared, Diagnostics> {
        let difference = if is_schedule(&self.old) {
            Difference::Executions(Box::new(self.executions()?))
        } else {
            Difference::Programs(Box::new(self.programs(output)?))
        };
        Ok(Compared { new: load::name_of(&self.new), difference })
    }

    fn findings<'a>(&self, compared: &'a Compared) -> Findings<'a> {
        match &compared.difference {
            Difference::Programs(answer) => answer.findings(),
            Difference::Executions(_) => Findings::default(),
        }
    }

    fn bounds(&self, compared: &Compared) -> Vec<Diagnostic> {
        match &compared.difference {
            Difference::Programs(answer) => answer.hit.map(|bound| finding::bound(bound, None)).into_iter().collect(),
            Difference::Executions(_) => Vec::new(),
        }
    }

    fn print(&self, compared: &Compared, _: &Judged, output: &mut Output) {
        let colour = output.colour();
        match &compared.difference {
            Difference::Programs(answer) => {
                output.print(&view::diff::programs(answer, self.all, colour));
                output.complain(&SourceMap::default(), &self.bounds(compared));
                output.summary(&view::diff::programs_summary(answer));
            }
            Difference::Executions(report) => {
                let old = load::name_of(&self.old);
                output.print(&view::diff::executions(report, [&old, &compared.new], colour));
                output.summary(&view::diff::executions_summary(report));
            }
        }
    }

    fn status(&self, compared: &Compared, judged: &Judged) -> Status {
        match &compared.difference {
            Difference::Programs(answer) if answer.differs() || judged.has_findings() => Status::Findings,
            Difference::Programs(answer) if !answer.complete => Status::Undecided,
            Difference::Executions(report) if report.differs() => Status::Findings,
            Difference::Programs(_) | Difference::Executions(_) => Status::Clean,
        }
    }
}

/// A schedule file by its name; a program has no such ending.
fn is_schedule(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

/// The same with reads and definitions told apart by context, where there are several.
fn in_contexts(model: Model) -> Model {
    model.in_contexts().unwrap_or(model)
}

impl Arguments {
    fn programs(&self, output: &Output) -> Result<ProgramsAnswer, Diagnostics> {
        let read = |path: &PathBuf| Ok::<_, Diagnostics>((path.clone(), read_schedule(path, &self.old)?));
        let schedule = self.schedule.as_ref().map(read).transpose()?;
        let options = self.analysis.program.with(&self.execution);
        let options = match &schedule {
            Some((_, schedule)) => options.over(schedule)?,
            None => options,
        };
        let old = in_contexts(load::model(&self.old, options.clone())?);
        let new = in_contexts(load::model(&self.new, options)?);
        let compare = |budget: &Budget<'_>| diff_programs(&old, &new, schedule.as_ref().map(|of| &of.1), budget);
        let answer = match (with_budget(&self.bounds, output, compare), &schedule) {
            (Ok(answer), _) => answer,
            (Err(departure), Some((path, schedule))) => return Err(departed(&old, path, schedule, &departure)),
            (Err(departure), None) => return Err(old.lookup().unknown(&departure.to_string())),
        };
        if let (Some(path), Some(carried)) = (&self.record, &answer.carried) {
            files::write(path, &new.schedule(carried.schedule.clone(), carried.after).to_text())?;
        }
        Ok(answer)
    }

    fn executions(&self) -> Result<ExecutionsReport, Diagnostics> {
        let (old, first) = self.recorded(&self.old)?;
        let (new, second) = self.recorded(&self.new)?;
        diff_executions([&old, &new], [&first, &second]).map_err(|(which, departure)| {
            let (model, path, schedule) = [(&old, &self.old, &first), (&new, &self.new, &second)][which];
            departed(model, path, schedule, &departure)
        })
    }

    /// A schedule, and the program that it says it was recorded of: as it was named then, or beside the schedule.
    fn recorded(&self, path: &Path) -> Result<(Model, Schedule), Diagnostics> {
        let schedule = read_schedule(path, Path::new(""))?;
        let named = PathBuf::from(&schedule.file);
        let beside = path.parent().unwrap_or(Path::new("")).join(named.file_name().unwrap_or_default());
        let source = if named.exists() || !beside.is_file() { named } else { beside };
        let options = self.analysis.program.with(&self.execution).over(&schedule)?;
        Ok((in_contexts(load::model(&source, options)?), schedule))
    }
}
