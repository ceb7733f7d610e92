//! The criteria side by side, for readers: three narrow tables, with a row for each program.

use crate::view::snippet;
use cssame_answer::{Amount, ComparisonReport, ComparisonRow};
use std::path::Path;

/// Columns of the name of a program at most.
const NAME: usize = 30;

/// The table.
#[must_use]
pub fn table(report: &ComparisonReport, colour: bool) -> String {
    let rows = &report.comparison;
    let program = block(
        "program",
        rows,
        colour,
        &[
            ("lines", &|row| row.lines.to_string()),
            ("code", &|row| row.statements.to_string()),
            ("threads", &|row| row.threads.to_string()),
            ("trace", &|row| row.trace_length.to_string()),
            ("shared", &shared),
            ("branches", &|row| row.branches_executed.to_string()),
            ("affected", &|row| row.branches_affected.to_string()),
        ],
    );
    let cases = block(
        "test cases",
        rows,
        colour,
        &[
            ("paths", &|row| amount(&row.race_equivalent)),
            ("reachability", &|row| amount(&row.reachability)),
            ("TPAIR", &|row| amount(&row.tpair)),
            ("futures", &|row| amount(&row.futures)),
        ],
    );
    let found = block(
        "found",
        rows,
        colour,
        &[
            ("executions", &|row| row.executions.to_string()),
            ("races", &|row| row.races.to_string()),
            ("failures", &|row| row.failures.to_string()),
            ("deadlocks", &|row| row.deadlocks.to_string()),
            ("time", &|row| format!("{:.2} s", row.took.as_secs_f64())),
        ],
    );
    [program, cases, found].join("\n") + NOTES
}

const NOTES: &str = "
  code      statements in three-address form
  trace     operations and synchronisation of the first run
  shared    shared variables, those left out because they are only read in brackets
  branches  evaluated in the first run; affected: other threads can change them
  paths     branch-affect groups; the others are classes of executions
";

type Cell<'a> = (&'a str, &'a dyn Fn(&ComparisonRow) -> String);

/// A table of numbers.
fn block(title: &str, rows: &[ComparisonRow], colour: bool, cells: &[Cell<'_>]) -> String {
    let heads: Vec<&str> = cells.iter().map(|(head, _)| *head).collect();
    let row = |row: &ComparisonRow| (name(row), cells.iter().map(|(_, cell)| cell(row)).collect());
    snippet::numbers(title, &heads, &rows.iter().map(row).collect::<Vec<_>>(), colour)
}

/// The name of a file, and the inputs.
fn name(row: &ComparisonRow) -> String {
    let file = Path::new(&row.file).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let inputs = row.inputs.iter().map(|(name, value)| format!(" {name}={value}"));
    snippet::shorten(&(file + &inputs.collect::<String>()), NAME)
}

fn shared(row: &ComparisonRow) -> String {
    match row.read_shared {
        0 => row.shared.to_string(),
        read => format!("{} ({read})", row.shared),
    }
}

fn amount(of: &Amount) -> String {
    // That there are none or more says nothing.
    let known = of.count.filter(|&count| count > 0 || !of.or_more);
    let Some(count) = known else { return if of.infinite { "infinite" } else { "?" }.to_owned() };
    let bound = match (of.or_more, of.or_fewer) {
        (false, false) => "",
        (true, false) => "≥ ",
        (false, true) => "≤ ",
        (true, true) => "~ ",
    };
    format!("{bound}{count}")
}
