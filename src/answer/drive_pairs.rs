//! The answer of `drive --pairs`: tests for the method pairs that endanger correlated variables.
//!
//! In: what `correlate` has found of a file. Out: the package. For each selected pair, an execution is looked for in which
//! the two run one after the other, in each order.

use super::correlate::CorrelateAnswer;
use super::drive::{DriveAnswer, input};
use crate::budget::Budget;
use crate::driver::{self, CaseKind, DriveError, Input, Options, PairCase, PairCases};
use crate::explore::pairs::SerialSearch;

/// Makes a package with the tests of the selected pairs. `budget` is that of [`correlate`](super::correlate()); what
/// is left of it is for serial orders.
///
/// # Errors
///
/// A program has no `main`.
pub fn drive_pairs(found: &CorrelateAnswer, options: &Options, budget: &Budget<'_>) -> Result<DriveAnswer, DriveError> {
    let (executed, report) = (&found.executed, &found.correlation);
    let mut search = SerialSearch::new(executed, budget);
    let mut pairs = Vec::new();
    for (index, pair) in report.pairs.iter().enumerate().filter(|(_, pair)| pair.selected) {
        let mut cases = torn(found, index);
        cases.extend(serial(found, index, &mut search));
        pairs.push(PairCases {
            program: executed.of_pair(index).and_then(|of| of.setting),
            methods: pair.methods.clone(),
            rank: pair.rank,
            status: pair.status,
            context: pair.context.clone(),
            cases,
        });
    }
    let (bound, states) = (search.bound, search.states);
    let programs: Vec<Input<'_>> = executed.settings().into_iter().map(|setting| input(setting.model)).collect();
    let package = driver::drive_pairs(&programs, &pairs, &report.counts, (bound, states), options)?;
    Ok(DriveAnswer { package: Some(package), bound, ..DriveAnswer::default() })
}

/// A test for each confirmed access of a pair, in the order of the report.
fn torn(found: &CorrelateAnswer, index: usize) -> Vec<PairCase> {
    let accesses = found.correlation.pairs[index].endangered_accesses.iter();
    let cases = accesses.filter_map(|access| {
        let schedule = found.executed.schedule_of(index, access.decision.schedule.as_ref()?)?.to_vec();
        let (variables, by) = (access.variables.clone(), access.by.clone());
        let kind = CaseKind::Tear { variables, accesses: access.accesses, by };
        Some(PairCase { kind, method: access.method.clone(), schedule: Ok(schedule) })
    });
    cases.collect()
}

/// A test for each order of a pair; of a method with itself, the one.
fn serial(found: &CorrelateAnswer, index: usize, search: &mut SerialSearch<'_>) -> Vec<PairCase> {
    let (first, second) = found.analysis.pairs[index].methods;
    let names = &found.correlation.pairs[index].methods;
    let mut orders = vec![((first, second), names[0].clone())];
    if first != second {
        orders.push(((second, first), names[1].clone()));
    }
    let cases = orders.into_iter().map(|(order, method)| {
        let schedule = search.search(index, order);
        PairCase { kind: CaseKind::Serial, method, schedule }
    });
    cases.collect()
}
