//! `cssame drive FILE --pairs --out DIR`: tests for the method pairs that endanger correlated variables.
//!
//! In: the arguments of `drive`. Out: the package. The pairs are found and executed as by `correlate`; then an execution
//! is looked for in which the two run one after the other, in each order.

use super::drive::{Arguments, input};
use super::load;
use super::output::Output;
use super::progress::Monitor;
use super::tears::{self, Question, Tears};
use crate::budget::{Bound, Budget, Statistics};
use crate::concurrency;
use crate::correlation::report::CorrelationReport;
use crate::correlation::{self, Analysis, Options};
use crate::diagnostics::Diagnostics;
use crate::driver::{CaseKind, DriveError, Input, Package, PairCase, PairCases, drive_pairs};
use crate::explore::{self, Serial};
use crate::ir::FunctionId;
use crate::schedule::Step;
use crate::source::SourceMap;

/// A package, and what has stopped the search for its executions.
pub(super) struct Made {
    pub package: Package,
    pub bound: Option<Bound>,
    /// For diagnostics.
    pub sources: SourceMap,
}

/// Makes the package.
pub(super) fn make(arguments: &Arguments, output: &Output) -> Result<Made, Diagnostics> {
    let loaded = load::unit(&arguments.file, &arguments.program.inputs)?;
    let sources = loaded.sources.clone();
    let text = loaded.text().to_owned();
    let threads = concurrency::analyse(&loaded.program);
    let thresholds = (arguments.threshold.unwrap_or(0.5), arguments.rank.unwrap_or(0.0));
    let options = Options { threshold: thresholds.0 };
    let analysis = correlation::analyse(&loaded.program, threads.as_ref(), &options);
    let monitor = Monitor::start(output);
    let show = |now: &Statistics| monitor.update(now);
    let budget = arguments.bounds.budget(monitor.interrupt(), arguments.output.jobs()).with_reporter(&show);
    let question = Question {
        path: &arguments.file,
        options: &arguments.program.with(&arguments.execution),
        analysis: &analysis,
        rank: thresholds.1,
        budget: &budget,
    };
    let (tears, loaded) = tears::find(&question, loaded);
    let (_, program) = tears::program(&tears, loaded.as_ref());
    let report = correlation::report(&sources, program, &analysis, thresholds, |pair, each| tears.decision(pair, each));
    let mut finder = Finder { tears: &tears, budget, states: tears.states, bound: tears.bound };
    finder.budget.spend(&Statistics { states: tears.states, ..Statistics::default() });
    let mut pairs = Vec::new();
    for (index, pair) in report.pairs.iter().enumerate().filter(|(_, pair)| pair.selected) {
        let mut cases = torn(&tears, &report, index);
        cases.extend(finder.serial(&analysis, &report, index, program));
        pairs.push(PairCases {
            program: tears.of_pair(index).and_then(|of| of.setting),
            methods: pair.methods.clone(),
            rank: pair.rank,
            status: pair.status,
            context: tears.setting_of(index).and_then(|setting| setting.added.clone()),
            cases,
        });
    }
    let (bound, states) = (finder.bound, finder.states);
    let programs: Vec<Input<'_>> = tears.settings.iter().map(|setting| input(&setting.prepared)).collect();
    let options = arguments.driver_options(&text, &arguments.program.inputs);
    let package = drive_pairs(&programs, &pairs, &report.counts, (bound, states), &options)
        .map_err(|error: DriveError| super::drive::no_package(&error))?;
    Ok(Made { package, bound, sources })
}

/// A test for each confirmed access, in the order of the report.
fn torn(tears: &Tears, report: &CorrelationReport<Vec<Step>>, index: usize) -> Vec<PairCase> {
    let accesses = report.pairs[index].endangered_accesses.iter();
    let cases = accesses.filter_map(|access| {
        let schedule = tears.schedule_of(index, access.decision.schedule.as_ref()?)?.to_vec();
        let kind = CaseKind::Tear { variables: access.variables.clone(), accesses: access.accesses };
        Some(PairCase { kind, method: access.method.clone(), schedule: Ok(schedule) })
    });
    cases.collect()
}

/// Looks for serial orders, with what the searches for tears have left of the bounds.
struct Finder<'a> {
    tears: &'a Tears,
    /// What is left of it.
    budget: Budget<'a>,
    states: u64,
    bound: Option<Bound>,
}

impl Finder<'_> {
    /// Both orders of a pair; of a method with itself, the one.
    fn serial(
        &mut self,
        analysis: &Analysis,
        report: &CorrelationReport<Vec<Step>>,
        index: usize,
        program: &crate::ir::Program,
    ) -> Vec<PairCase> {
        let (first, second) = analysis.pairs[index].methods;
        let names = &report.pairs[index].methods;
        let mut orders = vec![((first, second), names[0].clone())];
        if first != second {
            orders.push(((second, first), names[1].clone()));
        }
        let cases = orders.into_iter().map(|(order, method)| {
            let schedule = self.search(index, order, program);
            PairCase { kind: CaseKind::Serial, method, schedule }
        });
        cases.collect()
    }

    fn search(
        &mut self,
        index: usize,
        (first, second): (FunctionId, FunctionId),
        program: &crate::ir::Program,
    ) -> Result<Vec<crate::vm::Choice>, String> {
        let Some(setting) = self.tears.setting_of(index) else {
            let reason = self.tears.reason(index);
            return Err(reason.unwrap_or("there is no program to run it in").to_owned());
        };
        let own = setting.prepared.program();
        let id =
            |id: FunctionId| own.functions.ids().find(|&one| own.functions[one].span == program.functions[id].span);
        let (Some(first), Some(second)) = (id(first), id(second)) else {
            return Err("the methods are not in the context".to_owned());
        };
        if self.budget.limits().max_states == Some(0) {
            self.bound = Some(Bound::States);
            return Err(format!("the bound {} was hit before", Bound::States.name()));
        }
        let (answer, visited) = explore::serial(setting.prepared.machine(), (first, second), &self.budget);
        self.states += visited.states;
        self.budget.spend(&Statistics { states: visited.states, ..Statistics::default() });
        match answer {
            Serial::Found { schedule } => Ok(schedule),
            Serial::Impossible => Err("no execution runs them one after the other in this order".to_owned()),
            Serial::Undecided(bound) => {
                self.bound = Some(bound);
                Err(format!("the bound {} was hit before", bound.name()))
            }
        }
    }
}
