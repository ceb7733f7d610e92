//! The answer of `correlate`: correlated variables, and method pairs by rank with the results of their executions.

use super::correlate_summary::{Summary, high_level_races};
use cssame_budget::{Bound, Budget};
use cssame_concurrency as concurrency;
use cssame_correlation as correlation;
use cssame_correlation::report::{EndData, PairData, Status};
use cssame_correlation::{Analysis, CorrelationReport, Decision};
use cssame_explore::report::{Awaited, BlockedReport, DeadlockReport, FailureReport};
use cssame_model::{Options, Unit};
use cssame_schedule::Step;
use cssame_tear::pairs::{ExecutedPairs, PairEnd, PairQuery, execute_pairs};
use serde::Serialize;
use std::sync::LazyLock;

/// Whether pairs are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execute {
    /// Those of a higher rank than the threshold.
    Selected,
    /// They are ranked only.
    Nothing,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct CorrelateRequest<'a> {
    /// Least probability of a correlation.
    pub threshold: f64,
    /// Pairs of a higher rank are selected.
    pub rank: f64,
    /// Whether any two variables of one set count as correlated too.
    pub sets: bool,
    /// Whether pairs are executed.
    pub execute: Execute,
    /// What executions depend on.
    pub options: &'a Options,
}

impl Default for CorrelateRequest<'_> {
    /// As the command asks without options.
    fn default() -> Self {
        static OPTIONS: LazyLock<Options> = LazyLock::new(Options::default);
        CorrelateRequest { threshold: 0.5, rank: 0.0, sets: false, execute: Execute::Selected, options: &OPTIONS }
    }
}

/// Correlations and pairs.
#[derive(Debug, Serialize)]
pub struct CorrelateAnswer {
    /// With names.
    #[serde(flatten)]
    pub correlation: CorrelationReport<Vec<Step>>,
    /// The program in figures.
    pub summary: Summary,
    /// The bound that has stopped the executions.
    pub bound: Option<&'static str>,
    /// States of all executions.
    pub states: u64,
    /// What executions have shown.
    #[serde(skip)]
    pub executed: ExecutedPairs,
    /// What was found without executing anything; its pairs are in the order of the report.
    #[serde(skip)]
    pub analysis: Analysis,
}

/// Finds correlated variables and ranks the pairs of methods; then executes those that are selected.
#[must_use]
pub fn correlate(unit: Unit, request: &CorrelateRequest<'_>, budget: &Budget<'_>) -> CorrelateAnswer {
    let &CorrelateRequest { threshold, rank, sets, execute, options } = request;
    let threads = concurrency::analyse(&unit.program);
    let analysis = correlation::analyse(&unit.program, threads.as_ref(), &correlation::Options { threshold, sets });
    let mut summary = Summary::of_text(&unit, &analysis, threads.as_ref());
    drop(threads);
    let executed = match execute {
        Execute::Selected => execute_pairs(&PairQuery { analysis: &analysis, rank, options }, unit, budget),
        Execute::Nothing => ExecutedPairs::none(unit),
    };
    let Unit { sources, program, .. } = executed.unit();
    let mut correlation =
        correlation::report(sources, program, &analysis, (threshold, rank), |pair, each| match execute {
            Execute::Selected => executed.decision(pair, each),
            Execute::Nothing => Decision::potential("nothing was executed"),
        });
    for (index, pair) in correlation.pairs.iter_mut().enumerate() {
        pair.context = executed.setting_of(index).and_then(|setting| setting.added.map(str::to_owned));
        pair.ends = ends(&executed, index);
    }
    summary.high_level_races = (execute == Execute::Selected).then(|| high_level_races(&correlation));
    let (bound, states) = (executed.bound.map(Bound::name), executed.states);
    CorrelateAnswer { correlation, summary, bound, states, executed, analysis }
}

impl CorrelateAnswer {
    /// Whether all pairs were ranked, and each selected one is torn or refuted.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.correlation.complete && self.selected().all(|pair| pair.status != Status::Potential)
    }

    fn selected(&self) -> impl Iterator<Item = &PairData<Vec<Step>>> {
        self.correlation.pairs.iter().filter(|pair| pair.selected)
    }
}

/// How a pair fails or blocks in programs that were made for it.
fn ends(executed: &ExecutedPairs, pair: usize) -> Vec<EndData<Vec<Step>>> {
    let settings = executed.settings();
    let ends = executed.of_pair(pair).map(|of| of.ends.as_slice()).unwrap_or_default();
    let data = |end: &PairEnd| {
        let setting = settings.get(end.setting)?;
        let naming = setting.model.naming();
        let (status, message, line) = match &end.failure {
            Some(failure) => {
                let report = FailureReport::of(&naming, failure, String::new(), &[]);
                (report.status, report.message, Some(report.line))
            }
            None => ("deadlock", waiting(&DeadlockReport::of(&naming, &end.schedule)), None),
        };
        let context = setting.added.unwrap_or_default().to_owned();
        Some(EndData { status, message, line, context, schedule: naming.steps(&end.schedule) })
    };
    ends.iter().filter_map(data).collect()
}

/// `first waits at 5:3 for b, which second holds; …`
fn waiting(deadlock: &DeadlockReport) -> String {
    let one = |thread: &BlockedReport| {
        let object = thread.object.as_ref().map_or_else(String::new, |object| format!(" for {object}"));
        let is_known = thread.holder.is_some() || !thread.threads.is_empty();
        let holder = if is_known { format!(", which {}", thread.in_its_way()) } else { String::new() };
        format!("{} waits at {}{object}{holder}", thread.thread, thread.at)
    };
    // Main only waits for the two.
    let threads = deadlock.threads.iter().filter(|thread| thread.waits_for != Awaited::Threads);
    threads.map(one).collect::<Vec<_>>().join("; ")
}
