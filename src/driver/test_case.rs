//! Tests of recorded executions in the form common to all targets: a name, a plan, and a comment.
//!
//! **Input**: a plan, and the observations of its execution. **Output**: a [`TestCase`]. Its name and comment state its read, the
//! definition that was chosen for it, and the schedule.

use super::datum::Datum;
use super::manifest::{TestEntry, name_in_contexts};
use super::plan::{End, Plan, WaitingThread};
use super::{Expect, Input, Options};
use cssame_form::Selection;
use cssame_form::selected_definition;
use cssame_schedule::{Step, Walk, facts};
use cssame_source::Span;
use cssame_vm::{Choice, Progress, Tables};

/// Steps that a comment shows at most.
const STEPS_SHOWN: usize = 60;

/// The width of a comment.
const WIDTH: usize = 110;

/// A test of a recorded execution.
pub(super) struct TestCase {
    /// An identifier in most languages: lower-case letters, digits and underscores.
    pub(super) name: String,
    /// The name of its program, as [`Module::name`](super::parts::Module::name).
    pub(super) module: Option<String>,
    pub(super) plan: Plan,
    /// Lines of its comment. They hold text of the program, which a target has to escape.
    pub(super) comment: Vec<String>,
    /// Where the program fails (`FILE:LINE:COL`), and the values that the failure comes from.
    pub(super) why: Option<(String, Vec<String>)>,
    /// The steps of the execution.
    steps: Vec<Step>,
    /// What the execution shows, where the program does not fail and the test is to fail all the same.
    pub(super) violation: Option<String>,
    /// When it passes, where that differs from the others.
    expect: Option<Expect>,
    /// The terms that it is the test of.
    shows: Vec<String>,
}

/// `a_6_24_from_a_4_31`; several are joined by `and`.
pub(super) fn test_name(input: &Input<'_>, selections: &[Selection]) -> String {
    let one = |selection: &Selection| {
        let definition = selected_definition(input.sources, input.program, selection);
        format!("{}_from_{definition}", name_in_contexts(input, selection))
    };
    selections.iter().map(one).collect::<Vec<_>>().join("_and_")
}

impl TestCase {
    /// A test of an execution of the whole program; the lines say what it shows.
    pub(super) fn of_execution(
        input: &Input<'_>,
        name: String,
        lines: Vec<String>,
        plan: Plan,
        schedule: &[Choice],
    ) -> TestCase {
        TestCase::with(input, name, None, lines, plan, schedule)
    }

    /// A test of a pair of methods, or of an order of accesses; the title says what it shows.
    pub(super) fn of_pair(
        input: &Input<'_>,
        name: String,
        module: Option<String>,
        title: String,
        plan: Plan,
        schedule: &[Choice],
    ) -> TestCase {
        TestCase::with(input, name, module, vec![title], plan, schedule)
    }

    fn with(
        input: &Input<'_>,
        name: String,
        module: Option<String>,
        mut lines: Vec<String>,
        plan: Plan,
        schedule: &[Choice],
    ) -> TestCase {
        lines.push(String::new());
        lines.extend(schedule_lines(input, schedule));
        lines.push(String::new());
        lines.push(match &plan.end {
            End::Ok => "It ends well.".to_owned(),
            End::Fails(message) => format!("The program fails: {message}."),
            End::Deadlock(_) => "It ends in a deadlock:".to_owned(),
        });
        if let End::Deadlock(blocked) = &plan.end {
            let line = |of: &WaitingThread| format!("- {} at `{}` {}", plan.threads[of.thread].name, of.at, of.waits);
            lines.extend(blocked.iter().map(line));
        }
        let steps = input.naming().steps(&plan.steps);
        let why = why(input, &plan.steps);
        TestCase { name, module, plan, comment: lines, why, steps, violation: None, expect: None, shows: Vec::new() }
    }

    /// The steps of the execution, and how it ends.
    pub(super) fn recorded(&self) -> (&[Step], &'static str) {
        (&self.steps, self.plan.status)
    }

    /// When it passes.
    pub(super) fn expectation(&self, options: &Options) -> Expect {
        self.expect.unwrap_or(options.expect)
    }

    /// The same, with when it passes, and with what the execution shows that the program does not tell itself.
    pub(super) fn expecting(self, expect: Expect, violation: Option<String>) -> TestCase {
        TestCase { expect: Some(expect), violation, ..self }
    }

    /// The same, as the test of these terms.
    pub(super) fn showing(self, shows: Vec<String>) -> TestCase {
        TestCase { shows, ..self }
    }

    pub(super) fn named(self, name: String) -> TestCase {
        TestCase { name, ..self }
    }

    /// Whether just the same comes out of both, whichever threads it is that print and write.
    pub(super) fn comes_out_as(&self, other: &TestCase) -> bool {
        let end = |case: &TestCase| {
            let TestEntry { end, message, mut output, .. } = case.entry();
            output.sort_unstable();
            (end, message, output)
        };
        let shared = |case: &TestCase| -> Vec<(String, Datum)> {
            case.plan.shared.iter().map(|last| (last.name.clone(), last.value.clone())).collect()
        };
        end(self) == end(other) && shared(self) == shared(other)
    }

    /// Its entry in the manifest, without the files of the execution.
    pub(super) fn entry(&self) -> TestEntry {
        let (end, message) = match &self.plan.end {
            End::Ok => ("ok", None),
            End::Fails(message) => ("failure", Some(message.clone())),
            End::Deadlock(_) => ("deadlock", None),
        };
        let output = self.plan.output.iter().flat_map(|(_, lines)| lines.iter().cloned()).collect();
        let message = message.or_else(|| self.violation.clone());
        let (name, shows) = (self.name.clone(), self.shows.clone());
        let status = self.plan.status;
        TestEntry { name, end, status, message, output, shows, schedule: String::new(), program: None }
    }
}

/// Where an execution fails, and the values that this comes from.
fn why(input: &Input<'_>, steps: &[Choice]) -> Option<(String, Vec<String>)> {
    let mut tables = Tables::new();
    let mut walk = Walk::new(input.machine, &mut tables, &mut ());
    let Ok(Progress::Failed(failure)) = walk.follow(steps, &mut ()) else { return None };
    let span = input.machine.span(failure.at);
    let place = format!("{}:{}", input.sources.get(span.file)?.name(), input.sources.position(span));
    Some((place, facts(&input.naming(), &failure, steps)))
}

/// `` `a@6:24` (line 6) reads from `a@4:31` (line 4: `a = 2;`). ``
pub(super) fn selection_line(input: &Input<'_>, selection: &Selection) -> String {
    let (sources, program) = (input.sources, input.program);
    let read = program.reads[selection.read()].span;
    let definition = program.definitions[selection.definition()].span;
    format!(
        "`{}` ({}) reads from `{}` ({}).",
        name_in_contexts(input, selection),
        line_of(input, read),
        selected_definition(sources, program, selection),
        line_of(input, definition)
    )
}

/// `` line 6: `b = a;` ``
pub(super) fn line_of(input: &Input<'_>, span: Span) -> String {
    let sources = input.sources;
    let text = sources.get(span.file).map_or("", |file| file.line_text(sources.line(span)));
    format!("line {}: `{}`", sources.line(span), text.trim().replace('`', "'"))
}

/// The schedule, compact: `Schedule: T1: lock L@5:3, write a@6:3; T2: …`.
fn schedule_lines(input: &Input<'_>, schedule: &[Choice]) -> Vec<String> {
    let steps = input.naming().steps(&schedule[..schedule.len().min(STEPS_SHOWN)]);
    let mut words: Vec<String> = Vec::new();
    let mut last = "";
    for step in &steps {
        let place = format!("{} at {}", step.op, step.at);
        if step.thread == last {
            words.push(format!(", {place}"));
        } else {
            let separator = if last.is_empty() { "Schedule: " } else { "; " };
            words.push(format!("{separator}{}: {place}", step.thread));
        }
        last = &step.thread;
    }
    if schedule.len() > STEPS_SHOWN {
        words.push(format!(" and {} more steps", schedule.len() - STEPS_SHOWN));
    }
    words.push(".".to_owned());
    fold(&words.concat())
}

/// Breaks a long line between words.
fn fold(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].len() + word.len() >= WIDTH {
            lines.push(word.to_owned());
        } else {
            let gap = if lines[last].is_empty() { "" } else { " " };
            lines[last] += gap;
            lines[last] += word;
        }
    }
    lines
}
