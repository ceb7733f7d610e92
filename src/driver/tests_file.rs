//! `tests/futures.rs`: one test for each recorded execution.
//!
//! In: plans. Out: Rust text. A test's name and comment say which read it is about, which definition was chosen for it,
//! and the schedule; its body holds the plan and what is predicted.

use super::manifest::{TestEntry, name_in_contexts};
use super::names::comment;
use super::plan::ThreadPlan;
use super::{Act, End, Expect, Input, Options, Plan, Source, WaitingThread};
use crate::form::Selection;
use crate::form::selected_definition;
use crate::schedule::Step;
use crate::source::Span;
use crate::vm::Choice;
use std::fmt::Write;

/// Steps that a comment shows at most.
const STEPS_SHOWN: usize = 60;

/// The width of a comment.
const WIDTH: usize = 110;

/// A test.
pub(super) struct TestCase {
    name: String,
    /// The module of the program.
    module: String,
    plan: Plan,
    /// Lines of its comment.
    comment: Vec<String>,
    /// The steps of the execution.
    steps: Vec<Step>,
    /// What the execution shows, where the program does not fail and the test is to fail all the same.
    violation: Option<String>,
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
        TestCase::with(input, name, "program".to_owned(), lines, plan, schedule)
    }

    /// A test of a pair of methods, or of an order of accesses; the title says what it shows.
    pub(super) fn of_pair(
        input: &Input<'_>,
        name: String,
        module: String,
        title: String,
        plan: Plan,
        schedule: &[Choice],
    ) -> TestCase {
        TestCase::with(input, name, module, vec![title], plan, schedule)
    }

    fn with(
        input: &Input<'_>,
        name: String,
        module: String,
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
        let comment = lines.iter().map(|line| comment(line)).collect();
        TestCase { name, module, plan, comment, steps, violation: None, expect: None, shows: Vec::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The module of its program.
    pub(super) fn module(&self) -> &str {
        &self.module
    }

    /// The steps of the execution, and how it ends.
    pub(super) fn recorded(&self) -> (&[Step], &'static str) {
        (&self.steps, self.plan.status)
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
        let shared = |case: &TestCase| -> Vec<(String, String)> {
            case.plan.shared.iter().map(|(name, _, value)| (name.clone(), value.clone())).collect()
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
        TestEntry { name, end, message, output, shows, schedule: String::new(), program: None }
    }
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

/// The text of the file.
pub(super) fn emit(package: &str, cases: &[TestCase], options: &Options, note: Option<&str>) -> String {
    let mut text = format!(
        "//! The futures of `{}`: made by cssame {}; do not edit.\n//!\n//! {}\n",
        comment(&options.file),
        env!("CARGO_PKG_VERSION"),
        if options.free {
            "A test runs the program some times, and comes near to the order of locks of the execution that stands above it; it \
             fails where the program fails. `src/lib.rs` says how."
        } else {
            "A test follows one recorded execution: each event is `Event(latch, act, place, latches that come before)`."
        }
    );
    if cases.is_empty() {
        let _ = writeln!(text, "//!\n//! There is {}.", note.unwrap_or("no test"));
        return text;
    }
    if options.free {
        let _ = write!(text, "\nuse {package}::{{Turns, free, program}};\n");
        cases.iter().for_each(|case| text += &free_test(case));
        return text;
    }
    // Which of the names the tests use depends on the executions.
    text += "\n#![allow(unused_imports)]\n\n";
    let _ = writeln!(text, "use {package}::Act::*;\nuse {package}::Value::*;");
    let _ = writeln!(text, "use {package}::{{check, program, Act, End, Event, Expect, From, Future, Plan}};");
    for case in cases {
        text += &test(case, case.expect.unwrap_or(options.expect));
    }
    text
}

fn test(case: &TestCase, expect: Expect) -> String {
    let mut text = "\n".to_owned();
    for line in &case.comment {
        let _ = writeln!(text, "/// {line}");
    }
    let text = text.replace("/// \n", "///\n");
    let expect = match expect {
        Expect::Program => "Program",
        Expect::Recorded => "Recorded",
    };
    let mut text = format!("{text}#[test]\nfn {}() {{\n    static FUTURE: Future = Future {{\n", case.name);
    text += "        threads: &[\n";
    for thread in &case.plan.threads {
        let _ = writeln!(text, "            Plan {{\n                name: {:?},", thread.name);
        text += "                events: &[\n";
        for event in &thread.events {
            let after: Vec<String> = event.after.iter().map(usize::to_string).collect();
            let (act, after) = (act(&event.act), after.join(", "));
            let element = event.element.map_or_else(String::new, |element| format!("[{element}]"));
            let at = format!("{}{element}", event.at);
            let _ = writeln!(text, "                    Event({}, {act}, {at:?}, &[{after}]),", event.latch);
        }
        text += "                ],\n            },\n";
    }
    text += "        ],\n        output: &[\n";
    for (thread, lines) in &case.plan.output {
        let _ = writeln!(text, "            ({thread}, &{lines:?}), // {}", comment(&case.plan.threads[*thread].name));
    }
    text += "        ],\n        shared: &[\n";
    for (name, source, value) in &case.plan.shared {
        let _ = writeln!(text, "            ({name:?}, {}, {value}),", from(source));
    }
    let _ = writeln!(text, "        ],\n        end: {},\n    }};", end(&case.plan.end));
    let _ = writeln!(text, "    check({}::main, &FUTURE, Expect::{expect});", case.module);
    if let (Some(violation), "Program") = (&case.violation, expect) {
        let _ = writeln!(text, "    panic!(\"{{}}\", {violation:?});");
    }
    text += "}\n";
    text
}

/// A test that comes near to its execution.
fn free_test(case: &TestCase) -> String {
    let mut text = "\n".to_owned();
    for line in &case.comment {
        let _ = writeln!(text, "/// {line}");
    }
    let module = &case.module;
    let mut text = text.replace("/// \n", "///\n");
    let _ = writeln!(text, "#[test]\nfn {}() {{\n    static TURNS: &[Turns] = &[", case.name);
    for (name, made, locks) in turns(&case.plan) {
        let _ = writeln!(text, "        Turns {{ made: &{made:?}, locks: &{locks:?} }}, // {}", comment(name));
    }
    text + &format!("    ];\n    free({module}::main, {module}::memory, TURNS);\n}}\n")
}

/// Of each thread its name, the threads that it makes, and the places of the locks that it takes in the order of all.
fn turns(plan: &Plan) -> Vec<(&str, Vec<usize>, Vec<usize>)> {
    let is_lock = |act: &Act| matches!(act, Act::Plain("Lock"));
    let events = plan.threads.iter().flat_map(|thread| &thread.events);
    let mut latches: Vec<usize> = events.filter(|event| is_lock(&event.act)).map(|event| event.latch).collect();
    latches.sort_unstable();
    let of = |thread: &ThreadPlan| {
        let made = thread.events.iter().filter_map(|event| match event.act {
            Act::Fork(number) | Act::Spawn(number, _) => Some(number),
            _ => None,
        });
        let locks = thread.events.iter().filter(|event| is_lock(&event.act));
        (made.collect(), locks.filter_map(|event| latches.binary_search(&event.latch).ok()).collect())
    };
    let named = |thread| {
        let (made, locks) = of(thread);
        (thread.name.as_str(), made, locks)
    };
    plan.threads.iter().map(named).collect()
}

fn from(source: &Source) -> String {
    match source {
        Source::Initial(value) => format!("From::Initial({value})"),
        Source::Latch(latch) => format!("From::Latch({latch})"),
    }
}

fn act(act: &Act) -> String {
    match act {
        Act::Read(source) => format!("Read({})", from(source)),
        Act::Write(value) => format!("Write({value})"),
        Act::Plain(name) if *name == "End" => "Act::End".to_owned(),
        Act::Plain(name) => (*name).to_owned(),
        Act::Fork(number) => format!("Fork({number})"),
        Act::Spawn(number, handle) => format!("Spawn({number}, {handle})"),
        Act::Choose(value) => format!("Choose({value})"),
        Act::Print(line) => format!("Print({line:?})"),
        Act::Fail(message) => format!("Fail({message:?})"),
    }
}

fn end(end: &End) -> String {
    match end {
        End::Ok => "End::Ok".to_owned(),
        End::Fails(message) => format!("End::Fails({message:?})"),
        End::Deadlock(blocked) => {
            let one = |of: &WaitingThread| format!("            ({}, {:?}, {:?}),\n", of.thread, of.at, of.waits);
            let blocked: String = blocked.iter().map(one).collect();
            format!("End::Deadlock(&[\n{blocked}        ])")
        }
    }
}
