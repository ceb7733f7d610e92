//! The answer of `paths --emit`: a package with a test for each branch-affect group that was tested.
//!
//! **Input**: an answer of [`paths()`](super::paths()). **Output**: a package. Each test follows the schedule of its group. A failure
//! or a deadlock that no group's execution shows gets a test too. If it is asked for, so does a group that needs no test.

use super::drive::input;
use super::paths::PathsAnswer;
use cssame_driver::{DriveError, GroupCase, Options, OtherCase, Package, drive_groups};
use cssame_model::Model;
use cssame_paths::report::{GroupReport, PathsReport};

/// Makes a package of the test cases; of `all` groups of which an execution is known, or of those that a test stands for.
///
/// # Errors
///
/// The program has no `main`.
pub fn drive_paths(model: &Model, answer: &PathsAnswer, all: bool, options: &Options) -> Result<Package, DriveError> {
    let report = &answer.report;
    let groups: Vec<GroupCase> =
        report.groups.iter().chain(&report.wait_groups).map(|group| case(group, all)).collect();
    drive_groups(&input(model), &groups, &others(report, &groups), report.complete, options)
}

fn case(group: &GroupReport, all: bool) -> GroupCase {
    let steps = group.steps.clone().filter(|_| all || group.tested_by.is_some());
    let untested = if group.feasible.is_none() {
        "it is not known whether an execution has this order"
    } else if all {
        "an execution with this order differs from one of the others in steps that do not depend on each other"
    } else {
        "the method has ended before it was tested: the branches came out in all ways before"
    };
    GroupCase {
        branch: group.branch.clone(),
        span: group.span,
        group: group.group,
        order: group.threads.iter().zip(&group.order).map(|(thread, act)| format!("{thread} {act}")).collect(),
        outcome: group.outcome,
        execution: steps.ok_or_else(|| untested.to_owned()),
    }
}

/// The failures and deadlocks that no test of a group shows, and the first test of each class where there are no groups.
fn others(report: &PathsReport, groups: &[GroupCase]) -> Vec<OtherCase> {
    let failures = report.failures.iter().enumerate().map(|(index, met)| OtherCase {
        name: format!("failure_{}", index + 1),
        title: format!("Test {} fails at {}: {}.", met.test, met.failure.at, met.failure.message),
        schedule: met.steps.clone(),
    });
    let deadlocks = report.deadlocks.iter().enumerate().map(|(index, met)| OtherCase {
        name: format!("deadlock_{}", index + 1),
        title: format!("Test {} ends in a deadlock.", met.test),
        schedule: met.steps.clone(),
    });
    let is_new = |case: &OtherCase| groups.iter().all(|group| group.execution.as_ref() != Ok(&case.schedule));
    failures.chain(deadlocks).filter(is_new).collect()
}
