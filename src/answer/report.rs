//! The answer of `report`: the contents of a page about one program.
//!
//! **Input**: a file, and the maximum cost of each question. **Output**: [`ReportAnswer`]: the unchanged answers of the other
//! commands, the combined findings of `check`, `races` and `futures`, and an execution of each finding that has one.
//!
//! **Limits**: a file without `main` has no pi functions, no graph and no futures of its own. Its findings by executions belong
//! to programs that were made for it. Those programs have no place in the file, so these findings have no execution here. Lists
//! that grow at least with the square of the program are cut, so that a browser can show the page; [`LeftOut`] lists the missing
//! parts.

use super::ci::{CiCommand, CiFile, CiReport, CiRequest, ci_file};
use super::compiled::Compiled;
use super::correlate::{CorrelateAnswer, CorrelateRequest, Execute, correlate};
use super::coverage::{CoverageAnswer, CoverageRequest, coverage};
use super::endless::EndlessFindings;
use super::futures::FuturesAnswer;
use super::ir::{Emit, FormData, IrAnswer, ir};
use super::ir_source::ir_source;
use super::pi::{PiReport, pi};
use super::report_executions::{Executions, executions};
use super::run::RunReport;
use super::suppress::{Findings, Judged};
use cssame_budget::Budget;
use cssame_coverage::{Universe, totals};
use cssame_diagnostics::json::{DiagnosticData, diagnostic_data};
use cssame_diagnostics::{Diagnostic, Severity};
use cssame_ir::json::ProgramData;
use cssame_model::{Options, Unit};
use cssame_race::report::{PairReport, RacesReport};
use cssame_source::{FileId, SourceMap};
use serde::{Serialize, Serializer};

/// Instructions of the largest graph that is held: a megabyte.
const INSTRUCTIONS: usize = 10_000;

/// Instances of memory-access patterns beyond which none are looked for: an execution may cover them all, and each takes memory. The
/// samples have 12,000 at most.
const INSTANCES: u64 = 1_000_000;

/// Rows of each list that may be longer than the program.
const LISTED: usize = 1_000;

/// What is asked for.
#[derive(Clone, Debug, Default)]
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
    races: Option<ListedRaces>,
    graph: Option<ProgramData>,
    form: Option<Vec<String>>,
    correlate: Option<CorrelateAnswer>,
    coverage: Option<CoverageAnswer>,
    executions: Executions,
    left_out: Vec<LeftOut>,
}

/// Something that is too large for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// `findings`, `executions`, `races`, `coverage`, `graph`.
    pub what: &'static str,
    /// How many are there: findings, findings with their execution, pairs, instances of patterns, instructions.
    pub shown: u64,
    /// Of how many.
    pub total: u64,
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
    /// Races; without the schedules of pairs, which `executions` has.
    pub races: Option<&'a ListedRaces>,
    /// Correlated variables and pairs of methods.
    pub correlate: Option<&'a CorrelateAnswer>,
    /// What random executions cover; the instances that are missing are those that may be possible.
    pub coverage: Option<&'a CoverageAnswer>,
    /// The flow graph in CSSAME form; of a program that is not too large.
    pub graph: Option<&'a ProgramData>,
    /// The lines of the text in CSSAME form; of a program that is not too large.
    pub form: Option<&'a [String]>,
    /// Executions of findings.
    pub executions: &'a [RunReport],
    /// What is too large to be here.
    pub left_out: &'a [LeftOut],
}

/// Asks all questions of a file. Each of them has the budget that `budget` makes.
pub fn report<'a>(
    name: &str,
    text: (SourceMap, Result<FileId, Diagnostic>),
    request: &ReportRequest,
    budget: &dyn Fn() -> Budget<'a>,
) -> ReportAnswer {
    let read = text.1.as_ref().ok().map(|&file| (text.0.clone(), file));
    let source = read.as_ref().map(|(sources, file)| sources.file(*file).text().to_owned()).unwrap_or_default();
    let commands = CiCommand::WORDS.map(|(_, command)| command).into();
    let of_ci = CiRequest { commands, options: request.options.clone(), race_states: request.race_states };
    let file = ci_file(name, text, &of_ci, budget);
    let executions = executions(&file);
    let unit = || {
        let (sources, of) = read.clone()?;
        Unit::from_sources(sources, of, &request.options.inputs).ok().filter(|_| file.compiles)
    };
    let with_main = unit().and_then(|unit| unit.with_main().ok());
    let of_correlate = CorrelateRequest {
        threshold: 0.5,
        rank: 0.0,
        sets: false,
        execute: Execute::Nothing,
        options: &request.options,
    };
    let mut left_out = Vec::new();
    let graph = with_main.as_ref().and_then(|_| graph(unit()?, &mut left_out));
    let form = || match ir_source(unit()?, &request.options.inputs) {
        Ok(IrAnswer::Source(lines)) => Some(lines),
        _ => None,
    };
    let subject = unit().map(|unit| Compiled::new(unit, request.options.clone()));
    ReportAnswer {
        pi: with_main.as_ref().map(pi),
        races: file.races().map(|answer| ListedRaces {
            report: races(&answer.report, LISTED, &mut left_out),
            endless: answer.endless.clone(),
        }),
        coverage: subject.and_then(|subject| covered(&subject, &request.options, &budget(), &mut left_out)),
        form: graph.as_ref().and_then(|_| form()),
        graph,
        correlate: unit().map(|unit| correlate(unit, &of_correlate, &budget())),
        ci: CiReport { files: vec![file], diagnostics: Vec::new() },
        findings: Vec::new(),
        source,
        executions,
        left_out,
    }
}

fn graph(unit: Unit, left_out: &mut Vec<LeftOut>) -> Option<ProgramData> {
    let FormData::Graph(data) = ir(unit, Emit::Cssame).ok()?.report().form else { return None };
    let blocks = data.functions.iter().flat_map(|function| &function.blocks);
    let count = blocks.map(|block| block.instructions.len()).sum::<usize>();
    if count > INSTRUCTIONS {
        left_out.push(LeftOut { what: "graph", shown: 0, total: count as u64 });
        return None;
    }
    Some(data)
}

/// Races as the page has them; it serialises as the answer of `races`.
#[derive(Debug, Serialize)]
pub struct ListedRaces {
    /// The pairs that matter most.
    #[serde(flatten)]
    pub report: RacesReport,
    /// Executions without end.
    #[serde(flatten)]
    pub endless: EndlessFindings,
}

/// That many of the pairs that matter most, in text order. A schedule of each would make the page grow with the cube of the program.
fn races(report: &RacesReport, most: usize, left_out: &mut Vec<LeftOut>) -> RacesReport {
    let weight = |pair: &PairReport| match pair.status {
        _ if pair.harmful => 0,
        "real" => 1,
        "unconfirmed" => 2,
        _ => 3,
    };
    let mut chosen: Vec<(usize, &PairReport)> = report.potential.iter().enumerate().collect();
    let total = chosen.len();
    chosen.sort_by_key(|&(place, pair)| (weight(pair), place));
    chosen.truncate(most);
    chosen.sort_by_key(|&(place, _)| place);
    if chosen.len() < total {
        left_out.push(LeftOut { what: "races", shown: chosen.len() as u64, total: total as u64 });
    }
    let without_schedule = |pair: &PairReport| PairReport {
        a: pair.a.clone(),
        b: pair.b.clone(),
        variable: pair.variable.clone(),
        variables: pair.variables.clone(),
        kinds: pair.kinds.clone(),
        proof: pair.proof.clone(),
        fails_when_first: pair.fails_when_first.clone(),
        driver: pair.driver.clone(),
        predicted: pair.predicted.clone(),
        threads: pair.threads.clone(),
        locks_a: pair.locks_a.clone(),
        locks_b: pair.locks_b.clone(),
        sides: pair.sides.clone(),
        schedule: None,
        witness: None,
        ..*pair
    };
    RacesReport {
        potential: chosen.into_iter().map(|(_, pair)| without_schedule(pair)).collect(),
        aims: report.aims.clone(),
        failures: report.failures.clone(),
        deadlocks: report.deadlocks.clone(),
        schedulers: report.schedulers.clone(),
        drivers: report.drivers.clone(),
        ..*report
    }
}

/// What random executions cover, if there are not too many instances to look for.
fn covered(
    subject: &Compiled,
    options: &Options,
    budget: &Budget<'_>,
    left_out: &mut Vec<LeftOut>,
) -> Option<CoverageAnswer> {
    let universe = match subject {
        Compiled::Program(model) => Universe::of_program(model.program(), &model.form().concurrency.sharing),
        Compiled::Library(unit) => Universe::of_library(&unit.program),
    };
    let total = totals(&universe).all;
    if total > INSTANCES {
        left_out.push(LeftOut { what: "coverage", shown: 0, total });
        return None;
    }
    let mut answer = coverage(subject, options, &CoverageRequest::default(), budget).ok()?;
    let before = answer.report.missing.len();
    answer.report.missing.retain(|instance| instance.reason.is_none());
    answer.report.missing.truncate(LISTED);
    answer.report.missing_omitted += (before - answer.report.missing.len()) as u64;
    Some(answer)
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
            let list = file.findings().list.into_iter();
            for (((command, finding), severity), &execution) in
                list.zip(&judged.severities).zip(&self.executions.of_findings)
            {
                let shown = Diagnostic { severity: severity.unwrap_or(Severity::Note), ..finding.diagnostic };
                let diagnostic = diagnostic_data(finding.sources, &shown);
                findings.push(ReportedFinding { command, diagnostic, suppressed: severity.is_none(), execution });
            }
        }
        let mut left_out = self.left_out;
        let (total, shown) = (findings.len(), findings.len().min(LISTED));
        if shown < total {
            left_out.push(LeftOut { what: "findings", shown: shown as u64, total: total as u64 });
            findings.truncate(shown);
        }
        let shown = findings.iter().filter(|finding| finding.execution.is_some()).count();
        if shown < self.executions.asked {
            left_out.push(LeftOut { what: "executions", shown: shown as u64, total: self.executions.asked as u64 });
        }
        left_out.sort_by_key(|of| of.what);
        ReportAnswer { ci: self.ci.judged(judged), findings, left_out, ..self }
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
            races: self.races.as_ref(),
            correlate: self.correlate.as_ref(),
            coverage: self.coverage.as_ref(),
            graph: self.graph.as_ref(),
            form: self.form.as_deref(),
            executions: &self.executions.list,
            left_out: &self.left_out,
        }
    }
}

impl Serialize for ReportAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.data().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RacesRequest, races_of};

    #[test]
    fn harmful_races_are_kept_first() {
        // Who gets to the second write of `x` has passed the assertion: no failure follows.
        let text = "int x; int y;\nvoid f() { x = 1; }\nvoid main() {\n  cobegin\n    T1: { y = 1; f(); }\n    T2: { assert(y == 1); f(); }\n  coend\n}\n";
        let subject = Compiled::new(Unit::from_text("p", text, &[]).unwrap(), Options::default());
        let request = RacesRequest::default();
        let report = races_of(&subject, &Options::default(), &request, &Budget::default()).unwrap().report;
        let of = |most| {
            let mut left_out = Vec::new();
            let kept = races(&report, most, &mut left_out);
            let pairs = kept.potential.iter().map(|pair| (pair.variable.clone(), pair.schedule.is_some())).collect();
            (pairs, left_out)
        };
        let pairs: Vec<(String, bool)> = vec![("x".to_owned(), false), ("y".to_owned(), false)];
        assert_eq!(of(1), (pairs[1..].to_vec(), vec![LeftOut { what: "races", shown: 1, total: 2 }]));
        assert_eq!(of(2), (pairs, Vec::new()));
    }
}
