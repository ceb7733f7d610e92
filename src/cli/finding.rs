//! Failures and deadlocks as diagnostics, the same for every command that executes a program.

use super::snippet::span_at;
use crate::diagnostics::{Code, Diagnostic, Severity};
use crate::explore::Bound;
use crate::explore::report::BlockedReport;
use crate::schedule::{Execution, Naming};
use crate::source::{FileId, SourceMap};
use crate::vm::{Failure, FailureKind, Obstacle, ThreadIndex};

/// The code of a failure.
#[must_use]
pub fn code_of(kind: FailureKind) -> Code {
    match kind {
        FailureKind::Assert => Code::AssertionFailed,
        FailureKind::Error | FailureKind::EmptyHandle => Code::ErrorReached,
        FailureKind::DivisionByZero => Code::DivisionByZero,
        FailureKind::IndexOutOfRange => Code::IndexOutOfRange,
        FailureKind::UnlockNotHeld => Code::UnlockNotHeld,
        FailureKind::StepLimit => Code::StepLimit,
    }
}

/// A failure of a thread of that name.
#[must_use]
pub fn failure(naming: &Naming<'_>, failure: &Failure, thread: &str) -> Diagnostic {
    let sentence = failure.kind.sentence();
    let message = match failure.message.map(|text| naming.program.texts.get(text)) {
        Some(text) => format!("{sentence}: {text}"),
        None => sentence.to_owned(),
    };
    Diagnostic::error(code_of(failure.kind), naming.machine.span(failure.at), message, format!("in thread {thread}"))
}

/// A deadlock of these threads.
#[must_use]
pub fn deadlock(sources: &SourceMap, file: FileId, threads: &[BlockedReport]) -> Diagnostic {
    let names: Vec<&str> = threads.iter().map(|thread| thread.thread.as_str()).collect();
    let message = match names.as_slice() {
        [only] => format!("deadlock: {only} waits for ever"),
        several => format!("deadlock: {} wait for ever", several.join(", ")),
    };
    let mut diagnostic = Diagnostic::general(Code::Deadlock, Severity::Error, message);
    for thread in threads {
        let label = format!("{} {}", thread.thread, waits_for(thread));
        let span = span_at(sources, file, &thread.at);
        diagnostic = match diagnostic.primary {
            None => Diagnostic { primary: Some(crate::diagnostics::Label { span, message: label }), ..diagnostic },
            Some(_) => diagnostic.with_label(span, label),
        };
        if let (Some(holder), Some(taken_at), Some(object)) = (&thread.holder, &thread.taken_at, &thread.object) {
            let span = span_at(sources, file, taken_at);
            diagnostic = diagnostic.with_label(span, format!("{holder} took `{object}` here"));
        }
    }
    diagnostic.secondary.sort_by_key(|label| label.span);
    diagnostic.secondary.dedup();
    diagnostic
}

fn waits_for(thread: &BlockedReport) -> String {
    let object = thread.object.as_deref().unwrap_or("?");
    match thread.waits_for {
        "lock" => match thread.holder.as_deref() {
            Some(holder) if holder == thread.thread => format!("waits for the lock `{object}`, which it holds itself"),
            Some(holder) => format!("waits for the lock `{object}`, which {holder} holds"),
            None => format!("waits for the lock `{object}`, which an ended thread holds"),
        },
        "event" => format!("waits for the event `{object}`"),
        "barrier" => {
            let (arrived, count) = (thread.arrived.unwrap_or(0), thread.count.unwrap_or(0));
            format!("waits at the barrier `{object}`: {arrived} of {count} have arrived")
        }
        "condition" => format!("waits to be notified of `{object}`"),
        "notification" => "waits to be notified".to_owned(),
        "semaphore" => format!("waits for the semaphore `{object}`"),
        _ => format!("waits for the end of {}", thread.threads.join(", ")),
    }
}

/// The threads that are blocked at the end of an execution.
#[must_use]
pub fn blocked(naming: &Naming<'_>, execution: &Execution) -> Vec<BlockedReport> {
    let Execution { state, .. } = execution;
    state
        .threads()
        .filter_map(|thread| Some(blocked_thread(naming, execution, thread, naming.machine.obstacle(state, thread)?)))
        .collect()
}

fn blocked_thread(
    naming: &Naming<'_>,
    Execution { state, tables, .. }: &Execution,
    thread: ThreadIndex,
    obstacle: Obstacle,
) -> BlockedReport {
    let name = |thread: ThreadIndex| naming.machine.path_name(tables, state.path(thread));
    let object = |address: u32| Some(naming.object(state, address));
    let at = naming.sources.position(naming.machine.span(state.position(thread)));
    let mut report = BlockedReport {
        thread: name(thread),
        at: at.to_string(),
        line: at.line,
        waits_for: "threads",
        object: None,
        holder: None,
        taken_at: None,
        arrived: None,
        count: None,
        threads: Vec::new(),
    };
    match obstacle {
        Obstacle::Lock { address, holder, taken_at } => {
            (report.waits_for, report.object) = ("lock", object(address));
            report.holder = holder.map(name);
            report.taken_at = Some(naming.sources.position(naming.machine.span(taken_at)).to_string());
        }
        Obstacle::Event { address } => (report.waits_for, report.object) = ("event", object(address)),
        Obstacle::Barrier { address, arrived, count } => {
            (report.waits_for, report.object) = ("barrier", object(address));
            (report.arrived, report.count) = (Some(arrived), Some(count));
        }
        Obstacle::Condition { address } => (report.waits_for, report.object) = ("condition", object(address)),
        Obstacle::Notification => report.waits_for = "notification",
        Obstacle::Semaphore { address } => (report.waits_for, report.object) = ("semaphore", object(address)),
        Obstacle::Children { threads } => report.threads = threads.into_iter().map(name).collect(),
        Obstacle::Thread { thread } | Obstacle::AtomicBlock { thread } => report.threads = vec![name(thread)],
    }
    report
}

/// Says that a selection is inconsistent.
#[must_use]
pub fn inconsistent(contradiction: &[String]) -> Diagnostic {
    Diagnostic::general(Code::InconsistentSelection, Severity::Error, "no execution has the selected terms")
        .with_note(format!("these contradict each other: {}", contradiction.join(", ")))
        .with_help("leave out or change one of them")
}

/// Says that a search was stopped by a bound, and what that means.
#[must_use]
pub fn bound(bound: Bound) -> Diagnostic {
    let (code, message) = match bound {
        Bound::States | Bound::Steps | Bound::Executions | Bound::Memory => {
            (Code::ExplorationLimit, format!("the search was stopped by `--{}`", bound.name()))
        }
        Bound::Timeout => (Code::Timeout, "the time that `--timeout` allows ran out".to_owned()),
        Bound::Interrupt => (Code::Interrupted, "the search was interrupted".to_owned()),
    };
    Diagnostic::general(code, Severity::Warning, message)
        .with_note("what was found is real; what was not found may still be possible")
}
