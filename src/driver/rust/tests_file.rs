//! `tests/futures.rs`: one test for each recorded execution.
//!
//! In: tests. Out: Rust text. Its body contains the plan and the predicted results.

use super::names::comment;
use super::program::path;
use super::value::datum;
use crate::parts::Parts;
use crate::plan::{Act, End, LastValue, Operation, Plan, Source, ThreadPlan, WaitingThread};
use crate::recorded::schedule_file;
use crate::test_case::TestCase;
use crate::{Expect, Options};
use std::fmt::Write;

/// The width of the lines of a package.
const MAX_WIDTH: usize = 120;

/// The text of the file.
pub(super) fn emit(parts: &Parts<'_>) -> String {
    let Parts { name: package, cases, options, .. } = *parts;
    let mut text = format!(
        "//! The futures of `{}`: made by cssame {}; do not edit.\n//!\n//! {}\n",
        comment(&options.file),
        env!("CARGO_PKG_VERSION"),
        if options.free {
            "A test runs the program some times, and comes near to the order of locks of the execution that stands above it;\n//! \
             it fails where the program fails. `README.md` says what that shows and what not, `src/lib.rs` how it is done."
        } else {
            "A test follows one recorded execution: each event is `Event(latch, act, place, latches that come before)`."
        }
    );
    if cases.is_empty() {
        let _ = writeln!(text, "//!\n//! There is {}.", parts.manifest.note.unwrap_or("no test"));
        return text;
    }
    if options.free {
        text += &format!("\n{}", import(package, "{Turns, free, program}"));
        cases.iter().for_each(|case| text += &free_test(case, options));
        return text;
    }
    // Which of the names the tests use depends on the executions.
    text += "\n#![allow(clippy::all, unused_imports)]\n\n";
    for names in ["Act::*", "Value::*", "{Act, End, Event, Expect, From, Future, Plan, check, program}"] {
        text += &import(package, names);
    }
    for case in cases {
        text += &test(case, options);
    }
    text
}

/// A line that imports names of the package.
fn import(package: &str, names: &str) -> String {
    let line = format!("use {package}::{names};\n");
    // The name of the file may be long.
    if line.len() > MAX_WIDTH { format!("#[rustfmt::skip]\n{line}") } else { line }
}

fn test(case: &TestCase, options: &Options) -> String {
    let mut text = "\n".to_owned();
    for line in &case.comment {
        let _ = writeln!(text, "/// {}", comment(line));
    }
    let text = text.replace("/// \n", "///\n");
    let expect = match case.expectation(options) {
        Expect::Program => "Program",
        Expect::Recorded => "Recorded",
    };
    let mut text =
        format!("{text}#[test]\n#[rustfmt::skip]\nfn {}() {{\n    static FUTURE: Future = Future {{\n", case.name);
    text += "        threads: &[\n";
    for thread in &case.plan.threads {
        let _ = writeln!(text, "            Plan {{\n                name: {:?},", thread.name);
        text += "                events: &[\n";
        for event in &thread.events {
            let after: Vec<String> = event.after.iter().map(usize::to_string).collect();
            let (act, after) = (act(&event.act), after.join(", "));
            let at = event.place();
            let _ = writeln!(text, "                    Event({}, {act}, {at:?}, &[{after}]),", event.latch);
        }
        text += "                ],\n            },\n";
    }
    text += "        ],\n        output: &[\n";
    for (thread, lines) in &case.plan.output {
        let _ = writeln!(text, "            ({thread}, &{lines:?}), // {}", comment(&case.plan.threads[*thread].name));
    }
    text += "        ],\n        shared: &[\n";
    for LastValue { name, source, value } in &case.plan.shared {
        let _ = writeln!(text, "            ({name:?}, {}, {}),", from(source), datum(value));
    }
    let (place, facts) = case.why.as_ref().map_or((&options.file, &[][..]), |(place, facts)| (place, facts));
    let _ = writeln!(text, "        ],\n        end: {},", end(&case.plan.end));
    let _ = writeln!(text, "        place: {place:?},\n        facts: &{facts:?},");
    let _ = writeln!(text, "        schedule: {:?},\n    }};", schedule_file(&case.name));
    let _ = writeln!(text, "    check({}::main, &FUTURE, Expect::{expect});", path(case.module.as_deref()));
    if let (Some(violation), "Program") = (&case.violation, expect) {
        let _ = writeln!(text, "    panic!(\"{{}}\", {violation:?});");
    }
    text += "}\n";
    text
}

/// A test that comes near to its execution.
fn free_test(case: &TestCase, options: &Options) -> String {
    let mut text = "\n".to_owned();
    for line in &case.comment {
        let _ = writeln!(text, "/// {}", comment(line));
    }
    let module = path(case.module.as_deref());
    let mut text = text.replace("/// \n", "///\n");
    let _ = writeln!(text, "#[test]\n#[rustfmt::skip]\nfn {}() {{\n    static TURNS: &[Turns] = &[", case.name);
    for (name, made, locks) in turns(&case.plan) {
        let _ = writeln!(text, "        Turns {{ made: &{made:?}, locks: &{locks:?} }}, // {}", comment(name));
    }
    let told = format!("{}, near to {}", options.file, schedule_file(&case.name));
    text + &format!("    ];\n    free({module}::main, {module}::memory, TURNS, {told:?});\n}}\n")
}

/// Of each thread its name, the threads that it makes, and the places of the locks that it takes in the order of all.
fn turns(plan: &Plan) -> Vec<(&str, Vec<usize>, Vec<usize>)> {
    let is_lock = |act: &Act| matches!(act, Act::Plain(Operation::Lock));
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
        Source::Initial(value) => format!("From::Initial({})", datum(value)),
        Source::Latch(latch) => format!("From::Latch({latch})"),
    }
}

fn act(act: &Act) -> String {
    match act {
        Act::Read(source, _) => format!("Read({})", from(source)),
        Act::Write(value) => format!("Write({})", datum(value)),
        Act::Plain(operation) => variant(*operation).to_owned(),
        Act::Fork(number) => format!("Fork({number})"),
        Act::Spawn(number, handle) => format!("Spawn({number}, {handle})"),
        Act::Choose(value) => format!("Choose({value})"),
        Act::Allocate(pointer) => format!("Allocate({pointer:#x})"),
        Act::Print(line) => format!("Print({line:?})"),
        Act::Fail(message) => format!("Fail({message:?})"),
    }
}

/// The variant of the runtime's `Act`.
fn variant(operation: Operation) -> &'static str {
    match operation {
        Operation::Lock => "Lock",
        Operation::Unlock => "Unlock",
        Operation::Nested => "Nested",
        Operation::NotTaken => "NotTaken",
        Operation::TimedOut => "TimedOut",
        Operation::Set => "Set",
        Operation::Clear => "Clear",
        Operation::WaitEvent => "WaitEvent",
        Operation::Arrive => "Arrive",
        Operation::Leave => "Leave",
        Operation::Wait => "Wait",
        Operation::Woken => "Woken",
        Operation::Notify => "Notify",
        Operation::Acquire => "Acquire",
        Operation::Free => "Free",
        Operation::Release => "Release",
        Operation::Join => "Join",
        // The package has a type `End`, too.
        Operation::End => "Act::End",
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
