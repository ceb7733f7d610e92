//! The answer of `report`: all that a page about one program shows.
//!
//! **Input**: a file, and what each question may cost. **Output**: [`ReportAnswer`]: the answers of the other commands as they are, the
//! findings of `check`, `races` and `futures` together, and an execution of each finding that has one.
//!
//! **Limits**: a file without `main` has no pi functions, no graph and no futures of its own. Its findings by executions are those of
//! programs that were made for it, which have no place in the file: they have no execution here. A graph of more than
//! [`INSTRUCTIONS`] instructions is left out.

use super::ci::{CiCommand, CiFile, CiReport, CiRequest, ci_file};
use super::compiled::Compiled;
use super::correlate::{CorrelateAnswer, CorrelateRequest, Execute, correlate};
use super::coverage::{CoverageAnswer, CoverageRequest, coverage};
use super::futures::FuturesAnswer;
use super::ir::{Emit, FormData, ir};
use super::pi::{PiReport, pi};
use super::races::RacesAnswer;
use super::run::{Course, RunReport, RunRequest, run};
use super::suppress::{Findings, Judged};
use crate::budget::Budget;
use crate::diagnostics::json::{DiagnosticData, diagnostic_data};
use crate::diagnostics::{Diagnostic, Severity};
use crate::ir::json::ProgramData;
use crate::model::{Model, Options, Unit};
use crate::source::{FileId, SourceMap};
use serde::{Serialize, Serializer};

/// Instructions of the largest graph that is shown.
const INSTRUCTIONS: usize = 3_000;

/// Executions that are shown with their steps.
const EXECUTIONS: usize = 50;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ReportRequest {
    /// What executions depend on.
    pub options: Options,
    /// States that `races` visits at most; nothing for as many as it visits unasked.
    pub race_states: Option<u64>,
}

/// What was found of a program; it serialises as [`ReportData`].
#[derive(Debug)]
pub struct ReportAnswer {
    /// `check`, `races` and `futures`, of the one file.
    pub ci: CiReport,
    source: String,
    findings: Vec<ReportedFinding>,
    pi: Option<PiReport>,
    graph: Option<ProgramData>,
    correlate: Option<CorrelateAnswer>,
    coverage: Option<CoverageAnswer>,
    executions: Vec<RunReport>,
    /// For each finding of `ci` its execution.
    execution_of: Vec<Option<usize>>,
}

/// A finding, and what shows it.
#[derive(Debug, Serialize)]
pub struct ReportedFinding {
    /// Which command has found it first.
    pub command: CiCommand,
    /// What is said of it.
    #[serde(flatten)]
    pub diagnostic: DiagnosticData,
    /// Whether something suppresses it.
    pub suppressed: bool,
    /// The index of its execution, if it has one.
    pub execution: Option<usize>,
}

/// The data of the page.
#[derive(Debug, Serialize)]
pub struct ReportData<'a> {
    /// The version of the tool.
    pub tool: &'static str,
    /// The text of the file.
    pub source: &'a str,
    /// Whether the file has a `main`.
    pub has_main: bool,
    /// What each command could decide.
    pub commands: &'a [super::ci::CiOutcome],
    /// Why not all was looked at.
    pub bounds: Vec<DiagnosticData>,
    /// In the order of the commands.
    pub findings: &'a [ReportedFinding],
    /// Which writes each read may see; of a program.
    pub pi: Option<&'a PiReport>,
    /// What can happen; of a program.
    pub futures: Option<&'a FuturesAnswer>,
    /// Races.
    pub races: Option<&'a RacesAnswer>,
    /// Correlated variables and pairs of methods.
    pub correlate: Option<&'a CorrelateAnswer>,
    /// What random executions cover.
    pub coverage: Option<&'a CoverageAnswer>,
    /// The flow graph in CSSAME form; of a program that is not too large.
    pub graph: Option<&'a ProgramData>,
    /// Executions of findings.
    pub executions: &'a [RunReport],
}

/// Asks all questions of a file. Each of them has the budget that `budget` makes.
pub fn report<'a>(
    name: &str,
    text: (SourceMap, Result<FileId, Diagnostic>),
    request: &ReportRequest,
    budget: &dyn Fn() -> Budget<'a>,
) -> ReportAnswer {
    let source = text.1.as_ref().map(|&file| text.0.file(file).text().to_owned()).unwrap_or_default();
    let commands = CiCommand::WORDS.map(|(_, command)| command).into();
    let of_ci = CiRequest { commands, options: request.options.clone(), race_states: request.race_states };
    let file = ci_file(name, text, &of_ci, budget);
    let (executions, execution_of) = executions(&file);
    let unit = || Unit::from_text(name, &source, &request.options.inputs).ok().filter(|_| file.compiles);
    let with_main = unit().and_then(|unit| unit.with_main().ok());
    let of_correlate = CorrelateRequest {
        threshold: 0.5,
        rank: 0.0,
        sets: false,
        execute: Execute::Nothing,
        options: &request.options,
    };
    let of_coverage = CoverageRequest::default();
    let covered = |subject| coverage(&subject, &request.options, &of_coverage, &budget()).ok();
    ReportAnswer {
        pi: with_main.as_ref().map(pi),
        graph: with_main.and_then(graph),
        correlate: unit().map(|unit| correlate(unit, &of_correlate, &budget())),
        coverage: unit().and_then(|unit| covered(Compiled::new(unit, request.options.clone()))),
        ci: CiReport { files: vec![file], diagnostics: Vec::new() },
        findings: Vec::new(),
        source,
        executions,
        execution_of,
    }
}

fn graph(unit: Unit) -> Option<ProgramData> {
    let FormData::Graph(data) = ir(unit, Emit::Cssame).ok()?.report().form else { return None };
    let blocks = data.functions.iter().flat_map(|function| &function.blocks);
    (blocks.map(|block| block.instructions.len()).sum::<usize>() <= INSTRUCTIONS).then_some(data)
}

/// The executions of the findings of a program, and for each finding which one is its own.
fn executions(file: &CiFile) -> (Vec<RunReport>, Vec<Option<usize>>) {
    let mut executions = Vec::new();
    let Some(Compiled::Program(model)) = file.subject() else {
        return (executions, vec![None; file.findings().1.len()]);
    };
    let mut number = |steps: &[crate::schedule::Step]| {
        let is_shown = !steps.is_empty() && executions.len() < EXECUTIONS;
        is_shown.then(|| {
            executions.push(replayed(model, steps));
            executions.len() - 1
        })
    };
    let numbers = file.findings().1.iter().map(|(_, finding)| number(finding.steps)).collect();
    (executions, numbers)
}

fn replayed(model: &Model, steps: &[crate::schedule::Step]) -> RunReport {
    let schedule = model.schedule(steps.to_vec(), "");
    let schedule = crate::schedule::Schedule { status: None, ..schedule };
    run(model, &RunRequest { course: Course::Recorded(&schedule), max_steps: steps.len() as u64 + 1 }).report
}

impl ReportAnswer {
    /// The findings of all commands.
    #[must_use]
    pub fn findings(&self) -> Findings<'_> {
        self.ci.findings()
    }

    /// The same answer, with what has become of the findings.
    #[must_use]
    pub fn judged(self, judged: &Judged) -> ReportAnswer {
        let mut findings = Vec::new();
        for file in &self.ci.files {
            let list = file.findings().1.into_iter();
            for (((command, finding), severity), &execution) in list.zip(&judged.severities).zip(&self.execution_of) {
                let shown = Diagnostic { severity: severity.unwrap_or(Severity::Note), ..finding.diagnostic };
                let diagnostic = diagnostic_data(finding.sources, &shown);
                findings.push(ReportedFinding { command, diagnostic, suppressed: severity.is_none(), execution });
            }
        }
        ReportAnswer { ci: self.ci.judged(judged), findings, ..self }
    }

    /// The data of the page.
    #[must_use]
    pub fn data(&self) -> ReportData<'_> {
        let bounds = self.ci.bounds();
        let file = self.ci.files.first();
        ReportData {
            tool: env!("CARGO_PKG_VERSION"),
            source: &self.source,
            has_main: self.pi.is_some(),
            commands: file.map_or(&[], |file| &file.commands),
            bounds: bounds.iter().map(|of| diagnostic_data(&SourceMap::default(), of)).collect(),
            findings: &self.findings,
            pi: self.pi.as_ref(),
            futures: file.and_then(CiFile::futures),
            races: file.and_then(CiFile::races),
            correlate: self.correlate.as_ref(),
            coverage: self.coverage.as_ref(),
            graph: self.graph.as_ref(),
            executions: &self.executions,
        }
    }
}

impl Serialize for ReportAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.data().serialize(serializer)
    }
}
