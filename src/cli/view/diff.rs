//! The changes, for readers.

use super::snippet::{self, Table};
use cssame_answer::words::plural;
use cssame_answer::{
    CarriedReport, Change, EndReport, ExecutionsReport, OutcomeChange, ProgramsAnswer, SeenReport, TermChange, count,
    step_text,
};
use cssame_explore::report::ThreadOutput;

/// Columns of a value that is shown.
const VALUE: usize = 40;

fn word(change: Change) -> &'static str {
    match change {
        Change::Gone => "gone",
        Change::New => "new",
        Change::Undecided => "undecided",
        Change::Same => "same",
    }
}

/// A block with a title, unless it is empty.
fn block(title: &str, rows: Vec<Vec<String>>, colour: bool) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new("  ");
    rows.into_iter().for_each(|row| table.row(row));
    snippet::title(title, colour) + &table.lines().concat() + "\n"
}

/// What has changed from one program to the other one.
#[must_use]
pub fn programs(answer: &ProgramsAnswer, all: bool, colour: bool) -> String {
    let shown = |change: Change| all || change != Change::Same;
    let terms = answer.terms.iter().filter(|of| shown(of.change)).map(term).collect();
    let failures = answer.failures.iter().filter(|of| shown(of.change)).map(|of| {
        let of_failure = &of.failure;
        let place = format!("{} at {}", of_failure.thread, of_failure.at);
        vec![word(of.change).to_owned(), of_failure.status.to_owned(), place, of_failure.message.clone()]
    });
    let deadlocks = answer.deadlocks.iter().filter(|of| shown(of.change)).map(|of| {
        let waits = of.deadlock.threads.iter().map(|each| {
            let object = each.object.as_deref().unwrap_or("others");
            format!("{} at {} for {object}", each.thread, each.at)
        });
        vec![word(of.change).to_owned(), waits.collect::<Vec<_>>().join(", ")]
    });
    let outcomes = answer.outcomes.iter().filter(|of| shown(of.change)).map(outcome).collect();
    let mut text = block("terms", terms, colour);
    text += &block("failures", failures.collect(), colour);
    text += &block("deadlocks", deadlocks.collect(), colour);
    text += &block("outcomes", outcomes, colour);
    if let Some(carried) = &answer.carried {
        text += &snippet::title("the recorded execution", colour);
        text += &carried_text(carried);
    }
    text.trim_end().to_owned() + if text.is_empty() { "" } else { "\n" }
}

fn term(of: &TermChange) -> Vec<String> {
    let names = |names: &[String; 2]| format!("{} = {}", names[0], names[1]);
    let name = match (&of.old, &of.new) {
        (Some(old), Some(new)) if old == new => names(new),
        (Some(old), Some(new)) => format!("{}, was {}", names(new), names(old)),
        (Some(one), None) | (None, Some(one)) => names(one),
        (None, None) => String::new(),
    };
    let verdict = |verdict: Option<&'static str>| verdict.unwrap_or("no term");
    let verdicts = format!("{} -> {}", verdict(of.before), verdict(of.after));
    vec![word(of.change).to_owned(), verdicts, name]
}

fn outcome(of: &OutcomeChange) -> Vec<String> {
    let end = of.message.as_ref().map_or_else(|| of.status.to_owned(), |message| format!("{}: {message}", of.status));
    vec![word(of.change).to_owned(), end, outputs(&of.by_thread)]
}

fn outputs(by_thread: &[ThreadOutput]) -> String {
    if by_thread.is_empty() {
        return "(nothing printed)".to_owned();
    }
    let lines = by_thread.iter().map(|of| format!("{}: {}", of.thread, snippet::in_short(&of.output).join(" | ")));
    snippet::one_line(&lines.collect::<Vec<_>>().join("; "))
}

fn carried_text(of: &CarriedReport) -> String {
    let mut text = format!("  {} of {} kept", of.kept, plural(of.recorded, "step"));
    let more = |text: &mut String, count: usize, what: &str| {
        if count > 0 {
            *text += &format!(", {count} {what}");
        }
    };
    more(&mut text, of.added.len(), "added");
    more(&mut text, of.dropped.len(), "dropped");
    text.push('\n');
    for (what, steps) in [("added", &of.added), ("dropped", &of.dropped)] {
        for step in steps {
            text += &format!("  {what}: {}\n", step_text(step));
        }
    }
    if let Some(why) = &of.stopped {
        text += &snippet::wrap_behind("  it does not fit from ", "    ", why);
        text += "  from there on the threads move in turn\n";
    }
    let message = of.message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
    text + &format!(
        "  it ended with {}, and ends with {}{message}\n  {}\n",
        of.before,
        of.after,
        outputs(&of.by_thread)
    )
}

/// How much has changed, in a line.
#[must_use]
pub fn programs_summary(answer: &ProgramsAnswer) -> String {
    let part = |what: &str, counts: std::collections::BTreeMap<Change, usize>| {
        let of = |change| counts.get(&change).copied().unwrap_or_default();
        let undecided = of(Change::Undecided);
        let more = if undecided > 0 { format!(", {undecided} undecided") } else { String::new() };
        format!("{what}: {} gone, {} new, {} same{more}", of(Change::Gone), of(Change::New), of(Change::Same))
    };
    let parts = [
        part("terms", count(answer.terms.iter().map(|of| of.change))),
        part("failures", count(answer.failures.iter().map(|of| of.change))),
        part("deadlocks", count(answer.deadlocks.iter().map(|of| of.change))),
        part("outcomes", count(answer.outcomes.iter().map(|of| of.change))),
    ];
    parts.join("\n") + "\n"
}

/// Where two executions part.
#[must_use]
pub fn executions(report: &ExecutionsReport, names: [&str; 2], colour: bool) -> String {
    let mut text = String::new();
    if let Some(parting) = &report.parting {
        text += &snippet::title(&format!("they first differ at step {}", report.common + 1), colour);
        for (name, step) in names.iter().zip(parting) {
            text += &format!("  {name}: {}\n", step.as_ref().map_or_else(|| "is over".to_owned(), step_text));
        }
        text.push('\n');
    }
    let reads = report.reads.iter().map(|of| {
        let instance = if of.instance > 1 { format!("#{}", of.instance) } else { String::new() };
        let read = format!("{}{instance} in {}", of.read, of.thread);
        vec![read, format!("{} -> {}", seen(of.first.as_ref()), seen(of.second.as_ref()))]
    });
    text += &block("reads that differ", reads.collect(), colour);
    text += &snippet::title("what follows", colour);
    for (name, end) in names.iter().zip(&report.ends) {
        text += &format!("  {name}: {}\n", end_text(end));
    }
    text
}

fn seen(of: Option<&SeenReport>) -> String {
    let Some(SeenReport { def, value }) = of else { return "not come to".to_owned() };
    let value = snippet::shorten(value, VALUE);
    def.as_ref().map_or_else(|| value.clone(), |def| format!("{value} of {def}"))
}

fn end_text(end: &EndReport) -> String {
    let message = end.message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
    format!("{}{message}, {}", end.status, outputs(&end.by_thread))
}

/// How much differs, in a line.
#[must_use]
pub fn executions_summary(report: &ExecutionsReport) -> String {
    format!("{} in common, {} differ\n", plural(report.common, "step"), plural(report.reads.len(), "read"))
}
