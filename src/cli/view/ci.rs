//! The findings of `ci`, for readers: the findings, a table of the files, and the slowest of them.

use super::snippet::Table;
use crate::output::Output;
use crate::screen;
use cssame_answer::words::plural;
use cssame_answer::{CiCommand, CiFile, CiOutcome, CiReport, Judged};
use cssame_diagnostics::{Diagnostic, terminal};
use std::cmp::Reverse;
use std::time::Duration;

/// Files that are named as the slowest ones.
const SLOWEST: usize = 3;

/// Below this time nobody asks why it took so long.
const SLOW: Duration = Duration::from_secs(1);

/// Prints the findings, and the files in which something was found or is open; all of them if that is wanted.
pub fn print(report: &CiReport, judged: &Judged, all: bool, output: &mut Output) {
    let colour = output.colour();
    for (finding, severity) in report.findings().list.iter().zip(&judged.severities) {
        let Some(severity) = *severity else { continue };
        let shown = Diagnostic { severity, ..finding.diagnostic.clone() };
        output.print(&terminal::render(finding.sources, &shown, screen::of_stdout(colour)));
    }
    let listed: Vec<&CiFile> = report.files.iter().filter(|file| all || !is_clean(file)).collect();
    if listed.is_empty() {
        return;
    }
    let asked = CiCommand::WORDS.map(|(_, command)| command);
    let asked: Vec<CiCommand> =
        asked.into_iter().filter(|&command| listed.iter().any(|file| outcome(file, command).is_some())).collect();
    let mut table = Table::new("");
    table.row(["file"].into_iter().chain(asked.iter().map(|of| of.word())).map(str::to_owned).collect());
    for file in listed {
        let verdict = |&command: &CiCommand| outcome(file, command).map_or("-".to_owned(), |of| verdict(file, of));
        table.row([file.file.clone()].into_iter().chain(asked.iter().map(verdict)).collect());
    }
    output.print(&table.lines().concat());
}

fn outcome(file: &CiFile, command: CiCommand) -> Option<&CiOutcome> {
    file.commands.iter().find(|of| of.command == command)
}

fn is_clean(file: &CiFile) -> bool {
    file.compiles && file.commands.iter().all(|of| of.complete && of.findings == 0)
}

fn verdict(file: &CiFile, of: &CiOutcome) -> String {
    match (file.compiles, of.findings, of.complete) {
        (false, ..) => "does not compile".to_owned(),
        (true, 0, true) if of.also_found > 0 => "the same".to_owned(),
        (true, 0, true) => "ok".to_owned(),
        (true, 0, false) => "undecided".to_owned(),
        (true, found, true) => format!("{found} found"),
        (true, found, false) => format!("{found} found, rest undecided"),
    }
}

/// How many files are how, and which took long.
#[must_use]
pub fn summary(report: &CiReport) -> String {
    let files = &report.files;
    let count = |is: &dyn Fn(&CiFile) -> bool| files.iter().filter(|file| is(file)).count();
    let has_findings = |file: &CiFile| file.compiles && file.commands.iter().any(|of| of.findings > 0);
    let invalid = count(&|file| !file.compiles);
    let found = count(&has_findings);
    let clean = count(&is_clean);
    let parts = [
        (clean, "clean"),
        (found, "with findings"),
        (files.len() - clean - found - invalid, "undecided"),
        (invalid, "that cannot be compiled"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    let parts: Vec<String> = parts.collect();
    format!("{}: {}\n", plural(files.len(), "file"), parts.join(", ")) + &slowest(files)
}

fn slowest(files: &[CiFile]) -> String {
    let time = |file: &CiFile| file.commands.iter().map(|of| of.time).sum::<Duration>();
    let mut slow: Vec<&CiFile> = files.iter().filter(|file| time(file) >= SLOW).collect();
    slow.sort_by_key(|file| Reverse(time(file)));
    let line = |file: &&CiFile| {
        let own = file.commands.iter().map(|of| format!("{} {:.1} s", of.command.word(), of.time.as_secs_f64()));
        format!("  {:.1} s  {} ({})\n", time(file).as_secs_f64(), file.file, own.collect::<Vec<_>>().join(", "))
    };
    let lines: String = slow.iter().take(SLOWEST).map(line).collect();
    if lines.is_empty() { lines } else { format!("the slowest:\n{lines}") }
}
