//! Exploration in the background.
//!
//! **Input**: a document that compiles. **Output**: [`Explored`], sent to the server: the terms that can happen, and the
//! failures, deadlocks and executions without end found.
//!
//! **Algorithm**: each document has at most one thread. It waits a moment, since a user who types usually continues. It explores
//! with a small time budget, and reports the findings. If that was not enough, it explores with the full time. A change of the
//! document sets its flag, which every search checks.

use super::Environment;
use super::analysis::{Analysis, shown};
use super::uri::Uri;
use crossbeam_channel::Sender;
use cssame_answer::{Effort, Findings, FuturesAnswer, FuturesRequest, STACK_BYTES, futures};
use cssame_budget::{Budget, Limits};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_explore::EndlessRequest;
use cssame_explore::report::Schedules;
use cssame_model::{Model, Options, Unit};
use cssame_schedule::Schedule;
use cssame_source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Time without a change before an exploration begins.
const QUIET: Duration = Duration::from_millis(150);

/// Time after which the first verdicts are told.
const FIRST: Duration = Duration::from_millis(500);

/// States that are visited at most.
const STATES: u64 = 20_000_000;

/// Whether a term can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Some execution has it.
    Feasible,
    /// No execution has it.
    Impossible,
}

/// What executions have shown of a version of a document.
#[derive(Debug)]
pub(super) struct Explored {
    /// The document.
    pub(super) uri: Uri,
    /// Its version.
    pub(super) version: i32,
    /// By the names of read and definition. What is not decided is not in it.
    pub(super) verdicts: BTreeMap<(String, String), Verdict>,
    /// The findings that are shown.
    pub(super) found: Vec<Diagnostic>,
    /// Executions of findings, those of suppressed ones among them.
    pub(super) executions: Vec<FoundExecution>,
    /// Whether terms, failures and deadlocks are all decided.
    pub(super) is_decided: bool,
}

/// An execution that shows a finding.
#[derive(Debug)]
pub(super) struct FoundExecution {
    /// Where the finding stands.
    pub(super) span: Span,
    /// Its code.
    pub(super) code: Code,
    /// The text of a schedule file (docs/schedule.md).
    pub(super) schedule: String,
}

/// The explorations that run.
pub(super) struct Explorer {
    environment: Environment,
    results: Sender<Explored>,
    /// Time of one exploration; none where nothing is to be explored.
    time: Option<Duration>,
    running: BTreeMap<String, Arc<AtomicBool>>,
}

impl Explorer {
    pub(super) fn new(environment: Environment, results: Sender<Explored>, time: Option<Duration>) -> Explorer {
        Explorer { environment, results, time, running: BTreeMap::new() }
    }

    /// Stops the exploration of a document.
    pub(super) fn cancel(&mut self, uri: &Uri) {
        if let Some(flag) = self.running.remove(uri.as_str()) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Stops all explorations.
    pub(super) fn cancel_all(&mut self) {
        for flag in std::mem::take(&mut self.running).into_values() {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Explores a version of a document, in place of an older one.
    pub(super) fn start(&mut self, uri: &Uri, version: i32, analysis: &Analysis) {
        self.cancel(uri);
        let Some(time) = self.time else { return };
        let flag = Arc::new(AtomicBool::new(false));
        self.running.insert(uri.as_str().to_owned(), Arc::clone(&flag));
        let (environment, results) = (self.environment.clone(), self.results.clone());
        let (uri, sources, file) = (uri.clone(), analysis.sources.clone(), analysis.file);
        let work = move || {
            thread::sleep(QUIET);
            let Ok(unit) = Unit::from_sources(sources, file, &[]) else { return };
            let Ok(model) = Model::new(unit, Options::default()) else { return };
            for time in [FIRST.min(time), time] {
                if flag.load(Ordering::Relaxed) {
                    return;
                }
                let explored = explore(&model, (&uri, version), time, &environment, &flag);
                let is_decided = explored.is_decided;
                // A server that has ended takes nothing any more.
                if flag.load(Ordering::Relaxed) || results.send(explored).is_err() || is_decided {
                    return;
                }
            }
        };
        // Where no thread is to be had, nothing is explored; the next change tries again.
        let _ = thread::Builder::new().name("explore".to_owned()).stack_size(STACK_BYTES).spawn(work);
    }
}

fn explore(
    model: &Model,
    (uri, version): (&Uri, i32),
    time: Duration,
    environment: &Environment,
    flag: &AtomicBool,
) -> Explored {
    let limits = Limits { max_states: Some(STATES), max_memory: environment.max_memory, ..Limits::default() };
    let budget = Budget::from(limits).with_interrupt(flag).with_timeout(time);
    let in_contexts = model.in_contexts();
    let model = in_contexts.as_ref().unwrap_or(model);
    let request = FuturesRequest {
        selections: &[],
        count: Effort::IfCheap,
        outcomes: Effort::IfCheap,
        schedules: Schedules::OfFindings,
        endless: EndlessRequest::default(),
    };
    let answer = futures(model, &request, &budget);
    let findings = answer.findings(model);
    Explored {
        uri: uri.clone(),
        version,
        verdicts: verdicts(&answer),
        found: shown(&findings, environment),
        executions: executions(model, &findings),
        is_decided: answer.is_decided(),
    }
}

fn executions(model: &Model, findings: &Findings<'_>) -> Vec<FoundExecution> {
    let with_steps = findings.list.iter().filter(|finding| !finding.steps.is_empty());
    let found = with_steps.filter_map(|finding| {
        let schedule = Schedule { status: None, ..model.schedule(finding.steps.to_vec(), "") };
        let (span, code) = (finding.diagnostic.span()?, finding.diagnostic.code);
        Some(FoundExecution { span, code, schedule: schedule.to_text() })
    });
    found.collect()
}

/// A term of a place can happen if it can in one of its contexts, and cannot if it cannot in any.
fn verdicts(answer: &FuturesAnswer) -> BTreeMap<(String, String), Verdict> {
    let mut all: BTreeMap<(String, String), Option<Verdict>> = BTreeMap::new();
    for term in answer.futures.terms.iter() {
        let now = match term.feasible {
            Some(true) => Some(Verdict::Feasible),
            Some(false) => Some(Verdict::Impossible),
            None => None,
        };
        let known = all.entry((term.read.to_owned(), term.def.to_owned())).or_insert(now);
        if *known != now {
            let is_feasible = [*known, now].contains(&Some(Verdict::Feasible));
            *known = is_feasible.then_some(Verdict::Feasible);
        }
    }
    all.into_iter().filter_map(|(term, verdict)| Some((term, verdict?))).collect()
}
