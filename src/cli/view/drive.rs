//! A package for people.

use super::endless;
use super::outcomes;
use super::reason;
use super::replay::test_line;
use super::snippet::{self, Table};
use crate::output::Output;
use cssame_answer::words::plural;
use cssame_answer::{DriveReport, Judged, finding};
use cssame_diagnostics::Diagnostic;
use cssame_driver::{DeadlockEntry, PairCounts, PairEntry, RaceEntry, TermStatus, TestEntry};
use cssame_source::SourceMap;

/// Prints what is in a package, and how to run its tests.
pub fn print(
    report: &DriveReport,
    (sources, judged): (&SourceMap, &Judged),
    bounds: &[Diagnostic],
    output: &mut Output,
) {
    let note = report.note;
    let mut table = Table::new("");
    for term in &report.terms {
        let status = match term.status {
            TermStatus::Feasible => "feasible",
            TermStatus::Impossible => "impossible",
            TermStatus::Undecided => "undecided",
            TermStatus::NotAsked => "not asked",
        };
        let last = term.test.clone().or_else(|| term.reason.clone()).unwrap_or_default();
        let read = term.context.as_ref().unwrap_or(&term.read).clone();
        let def = term.def_context.as_ref().unwrap_or(&term.def).clone();
        table.row(vec![read, def, status.to_owned(), last]);
    }
    output.print(&table.lines().concat());
    output.print(&failures_text(report));
    report.deadlocks.iter().flatten().for_each(|deadlock| output.print(&deadlock_text(deadlock)));
    let endless = report.endless.iter().flat_map(|findings| &findings.endless);
    output.print(&endless::told(endless, "no test, `cssame futures` shows it"));
    output.print(&outcomes_text(report));
    report.pairs.iter().flatten().for_each(|pair| output.print(&pair_text(pair)));
    report.race.iter().for_each(|race| output.print(&race_text(race)));
    if let Some(selection) = &report.selection
        && selection.consistent == Some(false)
    {
        output.complain(sources, judged.shown(finding::inconsistent(&selection.contradiction)).as_slice());
        let colour = output.colour();
        output.print(&selection.reason.as_ref().map_or_else(String::new, |why| reason::text(why, colour)));
    }
    output.complain(sources, bounds);
    if let Some(counts) = &report.counts {
        output.summary(&reduction(counts));
    }
    output.summary(&if report.files.is_empty() {
        "nothing was written\n".to_owned()
    } else {
        let tests = plural(report.tests.len(), "test");
        let note = note.map_or_else(String::new, |note| format!("note:   {note}\n"));
        let ends = ends(&report.tests);
        format!("wrote {tests} to {}{ends}\n{note}{}", report.out, test_line(report.target, &report.out))
    });
}

/// How the executions of tests end, where not all end well: `: 4 end well, 1 fails`.
fn ends(tests: &[TestEntry]) -> String {
    let count = |end: &str| tests.iter().filter(|test| test.end == end).count();
    let (well, fail, block) = (count("ok"), count("failure"), count("deadlock"));
    if well == tests.len() || well + fail + block == 0 {
        return String::new();
    }
    let say = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {several}")),
    };
    let parts = [
        say(well, "ends well", "end well"),
        say(fail, "fails", "fail"),
        say(block, "ends in a deadlock", "end in a deadlock"),
    ];
    format!(": {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Failures, each with its test.
fn failures_text(report: &DriveReport) -> String {
    let mut table = Table::new("");
    for failure in report.failures.iter().flatten() {
        let last = failure.test.clone().or_else(|| failure.reason.clone()).unwrap_or_default();
        let what = snippet::one_line(&format!("{} at {}: {}", failure.thread, failure.at, failure.message));
        table.row(vec!["failure".to_owned(), what, last]);
    }
    table.lines().concat()
}

/// A deadlock with its test, and who waits for what.
fn deadlock_text(deadlock: &DeadlockEntry) -> String {
    let last = deadlock.test.clone().or_else(|| deadlock.reason.clone()).unwrap_or_default();
    let lines = deadlock
        .threads
        .iter()
        .map(|thread| format!("  {} at {} {}\n", thread.thread, thread.at, thread.waits_since()));
    format!("deadlock  {last}\n{}", lines.collect::<String>())
}

/// Outcomes, each with its test.
fn outcomes_text(report: &DriveReport) -> String {
    let mut table = Table::new("");
    for outcome in report.outcomes.iter().flatten() {
        let last = outcome.test.clone().or_else(|| outcome.reason.clone()).unwrap_or_default();
        table.row(vec![format!("outcome {}", outcome.status), outcomes::printed(&outcome.by_thread), last]);
    }
    table.lines().concat()
}

/// A pair and its tests.
fn pair_text(pair: &PairEntry) -> String {
    let mut text = format!("{} || {}  {}\n", pair.methods[0], pair.methods[1], pair.status.word());
    let mut table = Table::new("  ");
    for test in &pair.tests {
        let what = match (&test.variables, &test.accesses) {
            (Some(variables), Some(accesses)) => {
                format!("{}s {}, {}s {}", accesses[0], variables[0], accesses[1], variables[1])
            }
            _ => "comes first".to_owned(),
        };
        let last = test.test.clone().or_else(|| test.reason.clone()).unwrap_or_default();
        table.row(vec![test.method.clone(), what, last]);
    }
    text += &table.lines().concat();
    text
}

/// A race and the tests of its orders, or why there are none.
fn race_text(race: &RaceEntry) -> String {
    let proof = race.proof.as_ref().map_or_else(String::new, |proof| format!(": {proof}"));
    let mut text = format!("{} || {}  {}{proof}\n", race.a, race.b, race.status);
    let mut table = Table::new("  ");
    for order in &race.orders {
        let threads = order.threads.as_ref().map_or_else(String::new, |threads| threads.join(", "));
        let last = order.test.clone().or_else(|| order.reason.clone()).unwrap_or_default();
        table.row(vec![format!("{} before {}", order.first, order.second), threads, last]);
    }
    text += &table.lines().concat();
    text
}

/// How few of all pairs are tested.
fn reduction(counts: &PairCounts) -> String {
    let PairCounts { pairs, tests } = counts;
    let parallel = pairs.pairs_parallel.map_or_else(String::new, |count| format!("{count} parallel, "));
    format!(
        "{}: {parallel}{} dependent, {} selected, {} confirmed; {}\n",
        plural(pairs.pairs_considered as usize, "method pair"),
        pairs.pairs_dependent,
        pairs.pairs_selected,
        pairs.pairs_confirmed,
        plural(*tests, "test")
    )
}
