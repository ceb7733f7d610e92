//! Generated tests, for readers: each violation as a small table and as an interleaving, then the coverage of the tests.

use super::{CoverageView, joined};
use crate::load::name_of;
use crate::screen;
use crate::view::replay::{quoted, replay_line, test_line};
use crate::view::snippet::{self, one_line, styled, wrap, wrap_behind};
use crate::view::steps::StepsView;
use anstyle::AnsiColor;
use cssame_answer::words::plural;
use cssame_answer::{GenerateAnswer, GeneratedFailure, GeneratedNote};
use cssame_coverage::generate::{CallResults, TestSource};
use cssame_diagnostics::terminal;
use cssame_schedule::ExecutionStatus;
use cssame_source::cut::columns;
use std::path::Path;

/// Steps of an execution that is shown as a whole.
const WHOLE: usize = 40;

/// Violations that are shown without `--all`.
const SHOWN: usize = 6;

/// Directory of the tests in the command line that writes them.
const OUT: &str = "tests";

/// Columns of the words before a row of a test.
const LEFT: usize = 11;

/// How much was found, in a line.
#[must_use]
pub fn generated_summary(answer: &GenerateAnswer) -> String {
    let counted = answer.failures.iter().filter(|failure| !failure.sequential).count();
    let written = answer.emitted.as_ref().map_or_else(String::new, |emitted| {
        let tests = plural(emitted.tests.len(), "test");
        format!("wrote {tests} to {}\n{}", emitted.out, test_line(emitted.target, &emitted.out))
    });
    format!(
        "{} of {}, kept {}: {}; {} of {}, {} of {}\n{written}",
        plural(answer.tests.executions as usize, "execution"),
        plural(answer.tests.made as usize, "test"),
        answer.tests.kept,
        plural(counted, "failure"),
        answer.report.patterns.all.covered,
        plural(answer.report.patterns.all.total as usize, "instance"),
        answer.report.method_pairs.covered,
        plural(answer.report.method_pairs.total as usize, "method pair"),
    )
}

/// What cannot be said of some tests, if there are such.
fn unusable(answer: &GenerateAnswer) -> String {
    if answer.tests.discarded == 0 {
        return String::new();
    }
    let tests = plural(answer.tests.discarded as usize, "test");
    let text = format!(
        "{tests} discarded: calls before the threads fail or wait, no order of the calls comes to an end, or too many \
         orders do"
    );
    wrap("", &text)
}

impl CoverageView<'_> {
    /// The whole answer but for the summary.
    #[must_use]
    pub fn generated(&self, answer: &GenerateAnswer) -> String {
        let mut blocks = vec![headline(answer, self.colour) + &unusable(answer)];
        let limit = self.limit(SHOWN);
        let failures = answer.failures.iter().enumerate();
        let failures = failures.filter(|(_, failure)| self.judged.shown(failure.finding()).is_some());
        let count = failures.clone().count();
        blocks.extend(failures.take(limit).map(|(index, failure)| self.generated_failure(answer, index, failure)));
        if count > limit {
            let hidden = plural(count - limit, "further failure");
            blocks.push(format!("and {hidden} (--all shows them)\n"));
        }
        blocks.extend(answer.notes.iter().take(limit).map(|note| self.note(note)));
        blocks.extend(self.coverage_blocks());
        joined(blocks)
    }

    fn generated_failure(&self, answer: &GenerateAnswer, index: usize, failure: &GeneratedFailure) -> String {
        let sequential = if failure.sequential { ", also without interleaving calls: not counted" } else { "" };
        let style = if failure.sequential { AnsiColor::Yellow } else { AnsiColor::Red };
        let head = wrap_behind(
            &format!("failure {}: ", index + 1),
            "  ",
            &format!("{}: {}{sequential}", failure.status, failure.message),
        );
        let mut text = styled(head.trim_end(), style.on_default().bold(), self.colour) + "\n";
        text += &wrap("  ", &format!("{}, found by test {}", failure.class, failure.found_by_test));
        text += &self.test(&failure.test, Some(&failure.results));
        text += &allowed(&failure.allowed);
        text + &self.interleaving(failure) + &self.again(answer, index)
    }

    /// The test as a table: one column for each thread.
    fn test(&self, test: &TestSource, results: Option<&CallResults>) -> String {
        let mut text = row("objects", &test.objects.join(", "));
        let empty = CallResults::default();
        let results = results.unwrap_or(&empty);
        for (number, call) in test.prefix.iter().enumerate() {
            let word = if number == 0 { "prefix" } else { "" };
            text += &row(word, &with_result(call, result(&results.prefix, number)));
        }
        let cell = |thread: usize, number: usize| {
            let call = test.suffixes[thread].get(number)?;
            Some(with_result(call, result(&results.suffixes[thread], number)))
        };
        let rows = test.suffixes.iter().map(Vec::len).max().unwrap_or(0);
        let cells = (0..rows).filter_map(|number| cell(0, number));
        let width = cells.map(|cell| columns(&cell)).chain([12]).max().unwrap_or(12);
        let mut line = |word: &str, first: &str, second: &str| {
            // Nothing is cut: a terminal shows a long call on several lines.
            let pad = " ".repeat(width + 2 - columns(first).min(width));
            text += format!("  {word:9}{first}{pad}{second}").trim_end();
            text.push('\n');
        };
        line("threads", "a", "b");
        for number in 0..rows {
            line("", &cell(0, number).unwrap_or_default(), &cell(1, number).unwrap_or_default());
        }
        for (number, call) in test.post.iter().enumerate() {
            let word = if number == 0 { "post" } else { "" };
            text += &row(word, &with_result(call, result(&results.post, number)));
        }
        text
    }

    /// The place of a failure, or the threads of a deadlock; then the steps, with one column for each thread.
    fn interleaving(&self, failure: &GeneratedFailure) -> String {
        let (model, execution) = (&failure.shown.model, &failure.shown.execution);
        let ends_badly = matches!(execution.status, ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock);
        let diagnostic = ends_badly.then(|| self.judged.shown(failure.finding())).flatten();
        let text = diagnostic.map_or_else(String::new, |diagnostic| {
            format!("\n{}", terminal::render_all(model.sources(), &[diagnostic], screen::of_stdout(self.colour)))
        });
        let steps = StepsView { model, all: false, source: false, colour: self.colour };
        let text = text + "\n" + &steps.up_to(WHOLE, &execution.steps);
        match failure.switch.and_then(|place| failure.schedule.get(place)) {
            None => text,
            Some(step) => {
                let at = format!("{} comes in before {} at {}", step.thread, step.op, step.at);
                text + &wrap_behind("switch: ", "        ", &(at + ", in the middle of a call of the other thread"))
            }
        }
    }

    fn note(&self, note: &GeneratedNote) -> String {
        let variables = note.variables.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let head = format!(
            "{variables} can end with values that no serial order of the calls leaves; no result of test {} shows it",
            note.found_by_test
        );
        wrap_behind("note: ", "  ", &head) + &self.test(&note.test, None)
    }

    /// How to see it again.
    fn again(&self, answer: &GenerateAnswer, index: usize) -> String {
        let name = format!("failure_{}", index + 1);
        let (out, write) = match &answer.emitted {
            Some(emitted) => (emitted.out.clone(), String::new()),
            None => {
                let options = self.inputs.to_owned() + self.options;
                (
                    OUT.to_owned(),
                    format!("write:  cssame coverage {}{options} --out {OUT}\n", quoted(&name_of(self.file))),
                )
            }
        };
        let file = |ending: &str| Path::new(&out).join("recorded").join(format!("{name}.{ending}"));
        write + &replay_line(&file("csm"), &file("json"))
    }
}

fn headline(answer: &GenerateAnswer, colour: bool) -> String {
    let counted = answer.failures.iter().filter(|failure| !failure.sequential).count();
    let why = match answer.stopped_by {
        "failure" => "stopped at the first (--keep-going goes on)".to_owned(),
        "tests" => "as many as were asked for".to_owned(),
        "time" => "as many as the time allowed".to_owned(),
        bound => format!("stopped by {bound}"),
    };
    let failures = if counted == 0 { "no failure".to_owned() } else { plural(counted, "failure") };
    let tests = plural(answer.tests.made as usize, "test");
    let head = wrap("", &format!("{failures} in {tests}, {why}; seed {}, strategy {}", answer.seed, answer.strategy));
    snippet::title(head.trim_end(), colour)
}

/// What orders of the calls give, where the results are those of none.
fn allowed(allowed: &[CallResults]) -> String {
    let list = |results: &[Option<String>]| -> String {
        let values: Vec<String> = results.iter().flatten().map(|value| one_line(value)).collect();
        if values.is_empty() { "-".to_owned() } else { values.join(" ") }
    };
    let mut text = String::new();
    for (number, one) in allowed.iter().enumerate() {
        let [a, b] = &one.suffixes;
        let mut line = format!("a: {}; b: {}", list(a), list(b));
        if one.post.iter().any(Option::is_some) {
            line += &format!("; post: {}", list(&one.post));
        }
        text += &row(if number == 0 { "allowed" } else { "" }, &line);
    }
    text
}

/// A row of a test, with a word before it.
fn row(word: &str, text: &str) -> String {
    wrap_behind(&format!("  {word:9}"), &" ".repeat(LEFT), text)
}

fn result(results: &[Option<String>], number: usize) -> Option<&String> {
    results.get(number)?.as_ref()
}

/// `o.get() -> 3`
fn with_result(call: &str, result: Option<&String>) -> String {
    match result {
        Some(value) => format!("{call} -> {}", one_line(value)),
        None => call.to_owned(),
    }
}
