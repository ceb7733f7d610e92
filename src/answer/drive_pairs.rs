//! The answer of `drive --pairs`: tests for the method pairs that endanger correlated variables.
//!
//! In: the findings of `correlate` for a file. Out: the package. A test of a program with a `main` begins in a state that an
//! execution has reached when it called the two methods, with the same arguments ([`record_contexts`]). If no such context shows
//! the same result, the whole program is executed. For each selected pair, and each order, an execution is searched in which the
//! two run one after the other in this order.

use super::correlate::CorrelateAnswer;
use super::drive::{DriveAnswer, input};
use cssame_budget::Budget;
use cssame_correlation::MethodAccess;
use cssame_driver as driver;
use cssame_driver::{CaseKind, DriveError, Input, Options, PairCase, PairCases};
use cssame_ir::FunctionId;
use cssame_model::Model;
use cssame_tear::pairs::{RecordedContext, SerialSearch, record_contexts};
use cssame_vm::Choice;

/// Makes a package with the tests of the selected pairs. `budget` is that of [`correlate`](super::correlate()); what
/// is left of it is for serial orders.
///
/// # Errors
///
/// A program has no `main`.
pub fn drive_pairs(found: &CorrelateAnswer, options: &Options, budget: &Budget<'_>) -> Result<DriveAnswer, DriveError> {
    let (executed, report) = (&found.executed, &found.correlation);
    let recorded = record_contexts(executed, &found.analysis);
    let mut search = SerialSearch::new(executed, budget);
    let mut pairs = Vec::new();
    for (index, pair) in report.pairs.iter().enumerate().filter(|(_, pair)| pair.selected) {
        let maker = Maker { found, recorded: &recorded, index, budget };
        let mut cases = maker.torn();
        cases.extend(maker.ends());
        cases.extend(maker.serial(&mut search));
        let of_case = |case: &PairCase| maker.context(case.program?).map(|context| context.main().to_owned());
        let context = pair.context.clone().or_else(|| cases.iter().find_map(of_case));
        pairs.push(PairCases { methods: pair.methods.clone(), rank: pair.rank, status: pair.status, context, cases });
    }
    let (bound, states) = (search.bound, search.states);
    let models: Vec<&Model> = executed.settings().into_iter().map(|setting| setting.model).collect();
    let models: Vec<&Model> = models.into_iter().chain(recorded.iter().map(RecordedContext::model)).collect();
    let programs: Vec<Input<'_>> =
        used(&mut pairs).into_iter().filter_map(|of| models.get(of).copied()).map(input).collect();
    let package = driver::drive_pairs(&programs, &pairs, &report.counts, (bound, states), options)?;
    Ok(DriveAnswer { package: Some(package), bound, ..DriveAnswer::default() })
}

/// The programs that tests run in, in the order of the tests, which then name them by their place in this list.
fn used(pairs: &mut [PairCases]) -> Vec<usize> {
    let mut used: Vec<usize> = Vec::new();
    for case in pairs.iter_mut().flat_map(|pair| &mut pair.cases).filter(|case| case.schedule.is_ok()) {
        let Some(program) = case.program else { continue };
        let place = used.iter().position(|&known| known == program).unwrap_or_else(|| {
            used.push(program);
            used.len() - 1
        });
        case.program = Some(place);
    }
    used
}

/// Makes the tests of a pair. Programs are named by their place behind each other: those of the answer, then what was recorded.
struct Maker<'a> {
    found: &'a CorrelateAnswer,
    recorded: &'a [RecordedContext],
    index: usize,
    budget: &'a Budget<'a>,
}

impl Maker<'_> {
    fn context(&self, program: usize) -> Option<&RecordedContext> {
        self.recorded.get(program.checked_sub(self.found.executed.settings().len())?)
    }

    /// The recorded contexts of the pair, with their numbers.
    fn contexts(&self) -> impl Iterator<Item = (usize, &RecordedContext)> {
        let before = self.found.executed.settings().len();
        let all = self.recorded.iter().enumerate();
        all.filter(|(_, context)| context.pair == self.index).map(move |(place, context)| (before + place, context))
    }

    /// The program in which the pair was executed.
    fn whole(&self) -> Option<usize> {
        self.found.executed.of_pair(self.index).and_then(|of| of.setting)
    }

    /// Tests for each confirmed access, in the order of the report: one for each different context that shows it.
    fn torn(&self) -> Vec<PairCase> {
        let mut cases = Vec::new();
        for access in &self.found.correlation.pairs[self.index].endangered_accesses {
            let steps = access.decision.schedule.as_ref();
            let Some(whole) = steps.and_then(|steps| self.found.executed.schedule_of(self.index, steps)) else {
                continue;
            };
            let mut torn: Vec<(Option<usize>, Vec<String>, Vec<Choice>)> = self.torn_in_contexts(&access.of);
            if torn.is_empty() {
                torn.push((self.whole(), access.by.clone(), whole.to_vec()));
            }
            for (program, by, schedule) in torn {
                let kind = CaseKind::Tear { variables: access.variables.clone(), accesses: access.accesses, by };
                cases.push(PairCase { kind, method: access.method.clone(), program, schedule: Ok(schedule) });
            }
        }
        cases
    }

    /// The recorded contexts in which the other method tears an access, the name of that method, and the execution; of those whose
    /// calls have the same objects and origins of values, the first.
    fn torn_in_contexts(&self, each: &MethodAccess) -> Vec<(Option<usize>, Vec<String>, Vec<Choice>)> {
        let (first, second) = self.found.analysis.pairs[self.index].methods;
        let names = &self.found.correlation.pairs[self.index].methods;
        let (other, name) = if each.method == first { (second, &names[1]) } else { (first, &names[0]) };
        let program = &self.found.executed.unit().program;
        let tears =
            |context: &RecordedContext| context.tears(program, &self.found.analysis, (each, other), self.budget);
        let mut shown: Vec<&RecordedContext> = Vec::new();
        let mut found = Vec::new();
        for (place, context) in self.contexts() {
            if !shown.iter().any(|known| known.has_calls_of(context))
                && let Some(schedule) = tears(context)
            {
                shown.push(context);
                found.push((Some(place), vec![name.clone()], schedule));
            }
        }
        found
    }

    /// A test for each failure and deadlock of the two in parallel.
    fn ends(&self) -> Vec<PairCase> {
        let pair = &self.found.correlation.pairs[self.index];
        let of = self.found.executed.of_pair(self.index).map(|of| of.ends.as_slice()).unwrap_or_default();
        let case = |(end, data): (&cssame_tear::pairs::PairEnd, &cssame_correlation::report::EndData<_>)| PairCase {
            kind: CaseKind::End(data.status),
            method: pair.methods[0].clone(),
            program: Some(end.setting),
            schedule: Ok(end.schedule.clone()),
        };
        of.iter().zip(&pair.ends).map(case).collect()
    }

    /// A test for each order; of a method with itself, the one.
    fn serial(&self, search: &mut SerialSearch<'_>) -> Vec<PairCase> {
        let (first, second) = self.found.analysis.pairs[self.index].methods;
        let names = &self.found.correlation.pairs[self.index].methods;
        let mut orders = vec![((first, second), names[0].clone())];
        if first != second {
            orders.push(((second, first), names[1].clone()));
        }
        let cases = orders.into_iter().map(|(order, method)| {
            let (program, schedule) = self.in_order(order, search);
            PairCase { kind: CaseKind::Serial, method, program, schedule }
        });
        cases.collect()
    }

    fn in_order(
        &self,
        order: (FunctionId, FunctionId),
        search: &mut SerialSearch<'_>,
    ) -> (Option<usize>, Result<Vec<Choice>, String>) {
        for (place, context) in self.contexts() {
            if let Ok(schedule) = search.search_in(context.model(), order) {
                return (Some(place), Ok(schedule));
            }
        }
        (self.whole(), search.search(self.index, order))
    }
}
