//! Schedule files of the findings of a search.

use super::files;
use super::load::name_of;
use cssame_answer::{Compiled, CorrelateAnswer, CoverageAnswer, FuturesAnswer, HuntAnswer, LibraryPaths, RacesAnswer};
use cssame_diagnostics::Diagnostics;
use cssame_explore::report::EndlessReport;
use cssame_model::Model;
use cssame_paths::report::PathsReport;
use cssame_schedule::{ExecutionStatus, Schedule, SharedStep, Step};
use cssame_tear::pairs::ExecutedPairs;
use std::path::{Path, PathBuf};

/// Outcomes that get a file each.
const OUTCOMES: usize = 1_000;

/// Writes a schedule for each failure, each deadlock, each outcome, each way to run for ever, each feasible term and for the selection.
///
/// # Errors
///
/// CS0910 where the directory or a file cannot be written.
pub fn write_futures(directory: &Path, model: &Model, answer: &FuturesAnswer) -> Result<(), Diagnostics> {
    files::create_directory(directory)?;
    let write = |path: PathBuf, steps: &[Step], status: &str| {
        files::write(&path, &model.schedule(steps.to_vec(), status).to_text())
    };
    let report = &answer.futures;
    for (index, failure) in report.failures.iter().enumerate() {
        write(failure_file(directory, index), &failure.schedule, failure.status)?;
    }
    for (index, deadlock) in report.deadlocks.iter().enumerate() {
        write(deadlock_file(directory, index), &deadlock.schedule, "deadlock")?;
    }
    write_endless(directory, model, &answer.endless.endless)?;
    // Those without end have files of their own.
    let outcomes = report.outcomes.iter().filter(|outcome| outcome.status != ExecutionStatus::ENDLESS);
    for (index, outcome) in outcomes.enumerate().take(OUTCOMES) {
        if let Some(steps) = &outcome.schedule {
            let steps: Vec<Step> = steps.iter().cloned().map(SharedStep::into_step).collect();
            write(outcome_file(directory, index), &steps, outcome.status)?;
        }
    }
    for term in report.terms.iter() {
        if let Some(schedule) = term.schedule {
            let steps: Vec<Step> = schedule.iter().cloned().map(SharedStep::into_step).collect();
            let (read, definition) = (term.context.unwrap_or(term.read), term.def_context.unwrap_or(term.def));
            write(term_file(directory, read, definition), &steps, "term")?;
        }
    }
    if let Some(schedule) = answer.selection.as_ref().and_then(|selection| selection.schedule.as_ref()) {
        write(selection_file(directory), schedule, "selection")?;
    }
    Ok(())
}

/// Writes a schedule for each failure, each deadlock, each race and each way to run for ever.
///
/// # Errors
///
/// CS0910 where the directory or a file cannot be written.
pub fn write_hunt(directory: &Path, model: &Model, answer: &HuntAnswer) -> Result<(), Diagnostics> {
    files::create_directory(directory)?;
    let report = &answer.report;
    let failures = report.failures.iter().enumerate();
    let failures = failures.map(|(index, of)| (failure_file(directory, index), &of.found.schedule, of.found.status));
    let deadlocks = report.deadlocks.iter().enumerate();
    let deadlocks = deadlocks.map(|(index, of)| (deadlock_file(directory, index), &of.found.schedule, "deadlock"));
    let races = report.races.iter().flatten().enumerate();
    let races = races.map(|(index, of)| (race_file(directory, index), &of.found.schedule, "race"));
    for (path, steps, status) in failures.chain(deadlocks).chain(races) {
        files::write(&path, &model.schedule(steps.clone(), status).to_text())?;
    }
    write_endless(directory, model, &answer.report.endless.endless)
}

fn write_endless(directory: &Path, model: &Model, all: &[EndlessReport]) -> Result<(), Diagnostics> {
    for (index, endless) in all.iter().enumerate() {
        let steps = endless.cycle.schedule.iter().chain(&endless.cycle.cycle).cloned().collect();
        let schedule = Schedule { cycle: Some(endless.start()), ..model.schedule(steps, ExecutionStatus::ENDLESS) };
        files::write(&endless_file(directory, index), &schedule.to_text())?;
    }
    Ok(())
}

/// Writes a schedule for each confirmed access, numbered in the order of the report, and the contexts of a library.
///
/// # Errors
///
/// CS0910 where the directory or a file cannot be written.
pub fn write_tears(directory: &Path, source: &Path, answer: &CorrelateAnswer) -> Result<(), Diagnostics> {
    files::create_directory(directory)?;
    let mut number = 0;
    for (index, pair) in answer.correlation.pairs.iter().enumerate().filter(|(_, pair)| pair.selected) {
        let Some(setting) = answer.executed.setting_of(index) else { continue };
        let source = tear_source(directory, source, &answer.executed, index);
        let mut is_written = setting.added.is_none();
        for steps in pair.endangered_accesses.iter().filter_map(|access| access.decision.schedule.as_ref()) {
            number += 1;
            if !std::mem::replace(&mut is_written, true) {
                files::write(&source, setting.model.unit().text())?;
            }
            let schedule = setting.model.schedule(steps.clone(), "tear");
            let schedule = Schedule { file: name_of(&source), ..schedule };
            files::write(&tear_file(directory, number), &schedule.to_text())?;
        }
    }
    Ok(())
}

/// The file that a tear is replayed with: the source, or `DIR/context-1.csm`.
#[must_use]
pub fn tear_source(directory: &Path, source: &Path, executed: &ExecutedPairs, pair: usize) -> PathBuf {
    match executed.setting_of(pair) {
        Some(setting) if setting.added.is_some() => directory.join(format!("context-{}.csm", pair + 1)),
        _ => source.to_owned(),
    }
}

/// `DIR/tear-1.json`
#[must_use]
pub fn tear_file(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("tear-{number}.json"))
}

/// `DIR/failure-1.json`
#[must_use]
pub fn failure_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("failure-{}.json", index + 1))
}

/// `DIR/deadlock-1.json`
#[must_use]
pub fn deadlock_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("deadlock-{}.json", index + 1))
}

/// `DIR/endless-1.json`
#[must_use]
pub fn endless_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("endless-{}.json", index + 1))
}

/// `DIR/outcome-1.json`
#[must_use]
pub fn outcome_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("outcome-{}.json", index + 1))
}

/// `DIR/instance-1.json`
#[must_use]
pub fn instance_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("instance-{}.json", index + 1))
}

/// `DIR/selection.json`
#[must_use]
pub fn selection_file(directory: &Path) -> PathBuf {
    directory.join("selection.json")
}

/// `DIR/term-a-6-24-from-a-4-31.json`: names of files hold no signs that some system forbids.
fn term_file(directory: &Path, read: &str, definition: &str) -> PathBuf {
    let plain = |name: &str| name.replace(['@', ':', '~', '/', '[', ']', '#', ' ', ','], "-");
    directory.join(format!("term-{}-from-{}.json", plain(read), plain(definition)))
}

/// Writes a schedule for each race that is real, each failure and each deadlock, numbered in the order of the report.
///
/// # Errors
///
/// CS0910 where the directory or a file cannot be written.
pub fn write_races(
    directory: &Path,
    source: &Path,
    subject: &Compiled,
    answer: &RacesAnswer,
) -> Result<(), Diagnostics> {
    files::create_directory(directory)?;
    let mut written: Vec<PathBuf> = Vec::new();
    let mut write = |path: PathBuf, steps: &[Step], status: &str, driver: Option<&String>| {
        let Some(model) = answer.model_of(subject, driver) else { return Ok(()) };
        let source = race_source(directory, source, answer, driver);
        if driver.is_some() && !written.contains(&source) {
            files::write(&source, model.unit().text())?;
            written.push(source.clone());
        }
        let schedule = Schedule { file: name_of(&source), ..model.schedule(steps.to_vec(), status) };
        files::write(&path, &schedule.to_text())
    };
    let report = &answer.report;
    for (index, pair) in report.potential.iter().enumerate() {
        if let Some(schedule) = &pair.schedule {
            write(race_file(directory, index), schedule, "race", pair.driver.as_ref())?;
        }
    }
    for (index, aim) in report.aims.iter().flatten().enumerate() {
        if let Some(schedule) = &aim.schedule {
            write(aim_file(directory, index), schedule, "aim", None)?;
        }
    }
    for (index, met) in report.failures.iter().enumerate() {
        let path = failure_file(directory, index);
        write(path, &met.failure.schedule, met.failure.status, met.driver.as_ref())?;
    }
    for (index, met) in report.deadlocks.iter().enumerate() {
        write(deadlock_file(directory, index), &met.deadlock.schedule, "deadlock", met.driver.as_ref())?;
    }
    Ok(())
}

/// The file that a finding is replayed with: the source, or `DIR/driver-1.csm`.
#[must_use]
pub fn race_source(directory: &Path, source: &Path, answer: &RacesAnswer, driver: Option<&String>) -> PathBuf {
    let number = driver.and_then(|name| answer.drivers.iter().position(|one| one.0 == *name));
    number.map_or_else(|| source.to_owned(), |number| driver_file(directory, number))
}

/// `DIR/driver-1.csm`
#[must_use]
pub fn driver_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("driver-{}.csm", index + 1))
}

/// `DIR/driver-1`, for the schedules of its tests.
#[must_use]
pub fn driver_directory(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("driver-{}", index + 1))
}

/// `DIR/aim-1.json`
#[must_use]
pub fn aim_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("aim-{}.json", index + 1))
}

/// `DIR/race-1.json`
#[must_use]
pub fn race_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("race-{}.json", index + 1))
}

/// Writes a schedule for each test, each failure and each deadlock, numbered in the order of the report.
///
/// # Errors
///
/// CS0910 where the directory or a file cannot be written.
pub fn write_paths(
    directory: &Path,
    (source, model): (&Path, &Model),
    report: &PathsReport,
) -> Result<(), Diagnostics> {
    files::create_directory(directory)?;
    let write = |path: PathBuf, steps: &[Step], status: &str| {
        let schedule = Schedule { file: name_of(source), ..model.schedule(steps.to_vec(), status) };
        files::write(&path, &schedule.to_text())
    };
    for test in &report.tests {
        let steps: Vec<Step> = test.schedule.iter().cloned().map(SharedStep::into_step).collect();
        write(test_file(directory, test.test), &steps, test.status)?;
    }
    for (index, met) in report.failures.iter().enumerate() {
        write(failure_file(directory, index), &met.failure.schedule, met.failure.status)?;
    }
    for (index, met) in report.deadlocks.iter().enumerate() {
        write(deadlock_file(directory, index), &met.deadlock.schedule, "deadlock")?;
    }
    Ok(())
}

/// Writes each driver of a file without `main`, and a directory with the schedules of its tests.
///
/// # Errors
///
/// CS0910 where the directory or a file cannot be written.
pub fn write_library_paths(directory: &Path, answer: &LibraryPaths) -> Result<(), Diagnostics> {
    files::create_directory(directory)?;
    for (index, one) in answer.drivers.iter().enumerate() {
        let source = driver_file(directory, index);
        files::write(&source, one.model.unit().text())?;
        write_paths(&driver_directory(directory, index), (&source, &one.model), &one.answer.report)?;
    }
    Ok(())
}

/// `DIR/test-1.json`
#[must_use]
pub fn test_file(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("test-{number}.json"))
}

/// Writes a schedule for each failure and each deadlock, numbered in the order of the report.
///
/// # Errors
///
/// CS0910 where the directory or a file cannot be written.
pub fn write_coverage(directory: &Path, model: &Model, answer: &CoverageAnswer) -> Result<(), Diagnostics> {
    files::create_directory(directory)?;
    let write = |path: PathBuf, steps: &[Step], status: &str, seed: Option<u64>| {
        let schedule = Schedule { seed, ..model.schedule(steps.to_vec(), status) };
        files::write(&path, &schedule.to_text())
    };
    for (index, met) in answer.met.failures.iter().enumerate() {
        write(failure_file(directory, index), &met.failure.schedule, met.failure.status, met.seed)?;
    }
    for (index, met) in answer.met.deadlocks.iter().enumerate() {
        write(deadlock_file(directory, index), &met.deadlock.schedule, "deadlock", met.seed)?;
    }
    for (index, witness) in answer.findings.witnesses.iter().enumerate() {
        write(instance_file(directory, index), &model.naming().steps(&witness.steps), "instance", None)?;
    }
    Ok(())
}
