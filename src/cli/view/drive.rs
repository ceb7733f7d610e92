//! A package for people.

use super::reason;
use super::replay::quoted;
use super::snippet::Table;
use crate::answer::words::plural;
use crate::answer::{DriveReport, finding};
use crate::budget::Bound;
use crate::cli::load::name_of;
use crate::cli::output::Output;
use crate::driver::{PairCounts, PairEntry, RaceEntry, TermStatus};
use crate::source::SourceMap;
use std::path::Path;

/// Prints what is in a package, and how to run its tests.
pub fn print(report: &DriveReport, sources: &SourceMap, bound: Option<Bound>, output: &mut Output) {
    let note = report.note;
    let mut table = Table::new("");
    for term in &report.terms {
        let status = match term.status {
            TermStatus::Feasible => "feasible",
            TermStatus::Impossible => "impossible",
            TermStatus::Undecided => "undecided",
        };
        let last = term.test.clone().or_else(|| term.reason.clone()).unwrap_or_default();
        table.row(vec![term.read.clone(), term.def.clone(), status.to_owned(), last]);
    }
    output.print(&table.lines().concat());
    report.pairs.iter().flatten().for_each(|pair| output.print(&pair_text(pair)));
    report.race.iter().for_each(|race| output.print(&race_text(race)));
    if let Some(selection) = &report.selection
        && selection.consistent == Some(false)
    {
        output.complain(sources, &[finding::inconsistent(&selection.contradiction)]);
        let colour = output.colour();
        output.print(&selection.reason.as_ref().map_or_else(String::new, |why| reason::text(why, colour)));
    }
    if let Some(bound) = bound {
        output.complain(sources, &[finding::bound(bound, report.unfinished.as_ref())]);
    }
    if let Some(counts) = &report.counts {
        output.summary(&reduction(counts));
    }
    output.summary(&if report.files.is_empty() {
        "nothing was written\n".to_owned()
    } else {
        let manifest = quoted(&name_of(&Path::new(&report.out).join("Cargo.toml")));
        let tests = plural(report.tests.len(), "test");
        let note = note.map_or_else(String::new, |note| format!("note:   {note}\n"));
        format!("wrote {tests} to {}\n{note}test:   cargo test --manifest-path {manifest}\n", report.out)
    });
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
