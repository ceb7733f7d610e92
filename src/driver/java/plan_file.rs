//! Plans in the format of the Java runtime: one event per line, in the order of the execution.
//!
//! In: a plan. Out: text; `docs/drivers.md` describes the format. Accesses to memory that no other thread can see are left out. A
//! single operation in Java is one event: the read and the write of an atomic expression, and the unlock with which a wait
//! begins.

use super::text::push_unit;
use crate::Options;
use crate::datum::Datum;
use crate::plan::{Act, End, Exchange, Operation, PlannedEvent};
use crate::test_case::TestCase;
use std::fmt::Write;

/// An event as Java has it: its kind, and its fields behind the place.
type Shown = (&'static str, Vec<String>);

/// The text of the file.
pub(super) fn text(case: &TestCase, options: &Options) -> String {
    let plan = &case.plan;
    let names: Vec<String> = plan.threads.iter().map(|thread| escaped(&thread.name)).collect();
    let mut text = format!("threads\t{}\n", names.join("\t"));
    let mut events: Vec<(usize, usize, String)> = Vec::new();
    for (number, thread) in plan.threads.iter().enumerate() {
        let mut list = thread.events.iter().peekable();
        while let Some(event) = list.next() {
            let Some((kind, fields)) = shown(event, list.peek().copied()) else { continue };
            if swallows_next(event, list.peek().copied()) {
                list.next();
            }
            let element = event.element.map_or_else(String::new, |element| format!("[{element}]"));
            let place = escaped(&format!("{}{element}", event.at));
            let fields: String = fields.iter().map(|field| format!("\t{field}")).collect();
            events.push((event.latch, number, format!("event\t{number}\t{kind}\t{place}{fields}\n")));
        }
    }
    events.sort_unstable();
    text.extend(events.into_iter().map(|(.., line)| line));
    for (thread, lines) in &plan.output {
        for line in lines {
            let _ = writeln!(text, "output\t{thread}\t{}", escaped(line));
        }
    }
    for last in &plan.shared {
        let _ = writeln!(text, "shared\t{}\t{}", escaped(&last.name), datum(&last.value).join("\t"));
    }
    match &plan.end {
        End::Ok => text.push_str("end\tok\n"),
        End::Fails(message) => {
            let (place, facts) = case.why.as_ref().map_or((&options.file, &[][..]), |(place, facts)| (place, facts));
            text.push_str(&format!("end\tfails\t{}\n", escaped(message)));
            let _ = writeln!(text, "why\t{}\t{}", escaped(place), escaped(&facts.join(", ")));
        }
        End::Deadlock(waiting) => {
            text.push_str("end\tdeadlock\n");
            let _ = writeln!(text, "why\t{}\t", escaped(&options.file));
            for of in waiting {
                let _ = writeln!(text, "waits\t{}\t{}\t{}", of.thread, escaped(&of.at), escaped(&of.waits));
            }
        }
    }
    text
}

/// Whether the next event of the thread belongs to this one.
fn swallows_next(event: &PlannedEvent, next: Option<&PlannedEvent>) -> bool {
    let Some(next) = next else { return false };
    let same = next.latch == event.latch + 1 && next.at == event.at;
    match (&event.act, &next.act) {
        (Act::Plain(Operation::Unlock), Act::Plain(Operation::Wait)) => same,
        (Act::Read(..), Act::Write(_)) => event.exchange.is_some() && next.exchange.is_some() && same,
        _ => false,
    }
}

/// None for what Java does not notice.
fn shown(event: &PlannedEvent, next: Option<&PlannedEvent>) -> Option<Shown> {
    let verdict = |kind| (kind, event.verdict.map_or_else(Vec::new, |verdict| datum(&Datum::Bool(verdict))));
    Some(match &event.act {
        Act::Read(..) | Act::Write(_) if !event.shared => return None,
        Act::Read(_, value) => match event.exchange {
            None => ("read", datum(value)),
            Some(Exchange::Old) => ("update", datum(value)),
            Some(Exchange::Compare) => ("update", datum(&Datum::Bool(swallows_next(event, next)))),
        },
        Act::Write(value) => ("write", datum(value)),
        Act::Plain(operation) => match operation {
            Operation::Unlock if swallows_next(event, next) => ("enter", Vec::new()),
            Operation::Notify => {
                let woken: Vec<String> = event.wakes.iter().map(usize::to_string).collect();
                ("notify", vec!["threads".to_owned(), woken.join(",")])
            }
            Operation::Woken if event.spurious => ("woken", vec!["spurious".to_owned(), "true".to_owned()]),
            Operation::Lock => verdict("lock"),
            Operation::Unlock => ("unlock", Vec::new()),
            Operation::Nested => verdict("nested"),
            Operation::NotTaken => verdict("not-taken"),
            Operation::TimedOut => verdict("timed-out"),
            Operation::Set => ("set", Vec::new()),
            Operation::Clear => ("clear", Vec::new()),
            Operation::WaitEvent => ("wait-event", Vec::new()),
            Operation::Arrive => ("arrive", Vec::new()),
            Operation::Leave => ("leave", Vec::new()),
            Operation::Wait => ("enter", Vec::new()),
            Operation::Woken => verdict("woken"),
            Operation::Acquire => ("acquire", Vec::new()),
            Operation::Free => ("free", Vec::new()),
            Operation::Release => ("release", Vec::new()),
            Operation::Join => ("join", Vec::new()),
            Operation::End => ("end", Vec::new()),
        },
        Act::Fork(child) => ("fork", vec!["threads".to_owned(), child.to_string()]),
        Act::Spawn(child, handle) => ("spawn", vec!["threads".to_owned(), child.to_string(), handle.to_string()]),
        // `unwritten` has refused a program in C.
        Act::Allocate(pointer) => ("allocate", vec![pointer.to_string()]),
        Act::Choose(value) => ("choose", vec!["int".to_owned(), value.to_string()]),
        Act::Print(line) => ("print", datum(&Datum::Text(line.clone()))),
        Act::Fail(message) => ("fail", datum(&Datum::Text(message.clone()))),
    })
}

/// The type and the value; a double by the bits of its IEEE form.
fn datum(value: &Datum) -> Vec<String> {
    let (ty, value) = match value {
        Datum::Int(value) => ("int", value.to_string()),
        Datum::Long(value) | Datum::Pointer(value, _) => ("long", value.to_string()),
        Datum::Unsigned(value) => ("long", value.cast_signed().to_string()),
        Datum::Bool(value) => ("bool", value.to_string()),
        Datum::Double(value) => ("double", format!("{:x}", value.to_bits())),
        Datum::Text(text) => ("string", escaped(text)),
        Datum::Thread(handle) => ("thread", handle.to_string()),
    };
    vec![ty.to_owned(), value]
}

/// Text in a field: printable ASCII.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for each in text.chars() {
        match each {
            '\t' => shown.push_str("\\t"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\\' => shown.push_str("\\\\"),
            ' '..='~' => shown.push(each),
            _ => each.encode_utf16(&mut [0; 2]).iter().for_each(|unit| push_unit(&mut shown, *unit)),
        }
    }
    shown
}
