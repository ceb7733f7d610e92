//! Converts failures, deadlocks, contradictions and bounds that were hit to diagnostics, in the same way for every command that
//! executes a program.

use super::hunt::MetRace;
use super::words::{plural, with_preemptions};
use cssame_budget::Bound;
use cssame_diagnostics::{Code, Diagnostic, Label, Severity};
use cssame_explore::report::{BlockedReport, CycleReport, EndlessReport, RoundReport, wait_cycle};
use cssame_explore::{Repetition, UnfinishedReport};
use cssame_paths::report::RaceReport;
use cssame_race::report::PairReport;
use cssame_schedule::{ExecutionStatus, Naming};
use cssame_source::{SourceMap, Span};
use cssame_vm::{Failure, FailureKind};

/// What to do about a race.
pub const PROTECT: &str = "hold the same lock at both places, or order them by an event or a join";

/// What to do about one that decides nothing: `atomic` says that no order is meant. Of any other race it would hide what follows.
const PROTECT_OR_DECLARE: &str =
    "hold the same lock at both places, order them by an event or a join, or declare the variable atomic";

/// Loops that are named where a search was stopped.
const RUNNING: usize = 8;

/// The code of a failure.
#[must_use]
pub fn code_of(kind: FailureKind) -> Code {
    match kind {
        FailureKind::Assert => Code::AssertionFailed,
        FailureKind::Error | FailureKind::EmptyHandle => Code::ErrorReached,
        FailureKind::DivisionByZero => Code::DivisionByZero,
        FailureKind::Overflow | FailureKind::ShiftCount => Code::Overflow,
        FailureKind::IndexOutOfRange => Code::IndexOutOfRange,
        FailureKind::UnlockNotHeld => Code::UnlockNotHeld,
        FailureKind::NullPointer
        | FailureKind::InvalidPointer
        | FailureKind::PointerOutOfRange
        | FailureKind::DanglingPointer => Code::InvalidPointer,
        FailureKind::OtherContent => Code::UnreadC,
        FailureKind::UseAfterFree => Code::UseAfterFree,
        FailureKind::DoubleFree => Code::DoubleFree,
        FailureKind::InvalidFree => Code::InvalidFree,
        FailureKind::StepLimit | FailureKind::CallDepth | FailureKind::LockLevels | FailureKind::TooManyThreads => {
            Code::StepLimit
        }
    }
}

/// The code of an execution that ends with that word, or whose results have it.
#[must_use]
pub fn code_of_status(status: &str) -> Code {
    match status {
        "deadlock" => Code::Deadlock,
        ExecutionStatus::ENDLESS => Code::Livelock,
        "not-linearizable" => Code::NotLinearizable,
        _ => FailureKind::ALL.into_iter().find(|kind| kind.status() == status).map_or(Code::ErrorReached, code_of),
    }
}

/// The codes of executions that end badly; not of those that a limit ends.
#[must_use]
pub fn bad_ends() -> Vec<Code> {
    let failures = FailureKind::ALL.into_iter().filter(|kind| !kind.is_limit()).map(code_of);
    let mut codes: Vec<Code> = failures.chain([Code::Deadlock]).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// A failure of a thread of that name, with the values that it comes from.
#[must_use]
pub fn failure(naming: &Naming<'_>, failure: &Failure, thread: &str, facts: &[String]) -> Diagnostic {
    let sentence = failure.kind.sentence();
    let message = match failure.message.map(|text| naming.program.texts.get(text)) {
        Some(text) => format!("{sentence}: {text}"),
        None => sentence.to_owned(),
    };
    let span = naming.machine.span(failure.at);
    let diagnostic = Diagnostic::error(code_of(failure.kind), span, message, format!("in thread {thread}"));
    if facts.is_empty() { diagnostic } else { diagnostic.with_note(facts.join(", ")) }
}

/// A deadlock of these threads. Those that wait for each other in a cycle come first, in its order.
#[must_use]
pub fn deadlock(sources: &SourceMap, threads: &[BlockedReport]) -> Diagnostic {
    let cycle = wait_cycle(threads);
    let in_cycle = cycle.iter().filter_map(|name| threads.iter().find(|thread| thread.thread == *name));
    let others = threads.iter().filter(|thread| !cycle.contains(&thread.thread));
    let ordered: Vec<&BlockedReport> = in_cycle.chain(others).collect();
    let names: Vec<&str> = ordered.iter().map(|thread| thread.thread.as_str()).collect();
    let message = match names.as_slice() {
        [only] => format!("deadlock: {only} waits for ever"),
        several => format!("deadlock: {} wait for ever", several.join(", ")),
    };
    let mut diagnostic = Diagnostic::general(Code::Deadlock, Severity::Error, message);
    for thread in &ordered {
        let label = format!("{} {}", thread.thread, thread.waits());
        let span = word_at(sources, thread.span);
        diagnostic = match diagnostic.primary {
            None => Diagnostic { primary: Some(Label { span, message: label }), ..diagnostic },
            Some(_) => diagnostic.with_label(span, label),
        };
        if let (Some(holder), Some(taken), Some(object)) = (&thread.holder, thread.taken_span, &thread.object) {
            let span = word_at(sources, taken);
            diagnostic = diagnostic.with_label(span, format!("{holder} took `{object}` here"));
        }
    }
    diagnostic.secondary.sort_by_key(|label| label.span);
    diagnostic.secondary.dedup();
    if cycle.is_empty() {
        return diagnostic;
    }
    let waits: Vec<String> = ordered[..cycle.len()].iter().map(|thread| link(thread)).collect();
    diagnostic.with_note(format!("cycle: {}", waits.join("; ")))
}

/// A way to run for ever: who goes round where, and who waits meanwhile.
#[must_use]
pub fn endless(sources: &SourceMap, report: &EndlessReport) -> Diagnostic {
    let CycleReport { threads, .. } = &report.cycle;
    let names: Vec<&str> = threads.iter().map(|thread| thread.thread.as_str()).collect();
    let names = names.join(", ");
    let (code, severity, message) = match (&report.starving, report.kind) {
        (Some(of), _) if of.spins => {
            (Code::Starvation, Severity::Warning, format!("starvation: {} may wait in a loop for ever", of.thread))
        }
        (Some(of), _) => {
            let message = format!("starvation: {} may wait for ever while others continue: {names}", of.thread);
            (Code::Starvation, Severity::Warning, message)
        }
        (None, "no-end") => {
            let message = format!("no end can be reached any more: {names} {} for ever", runs(threads));
            (Code::NoEnd, Severity::Error, message)
        }
        (None, _) => {
            let message = format!("livelock: {names} may run for ever, though the execution could end");
            (Code::Livelock, Severity::Warning, message)
        }
    };
    let mut diagnostic = Diagnostic::general(code, severity, message);
    if let Some(of) = &report.starving {
        let label = if of.spins {
            format!("{} does not leave this loop", of.thread)
        } else {
            format!("{} stays here", of.thread)
        };
        diagnostic.primary = Some(Label { span: word_at(sources, of.span), message: label });
    }
    with_cycle(sources, diagnostic, &report.cycle, report.no_end_after)
}

/// An execution that comes back to a state in which it was, so that it may go on so for ever.
#[must_use]
pub fn cycle(sources: &SourceMap, report: &CycleReport) -> Diagnostic {
    let names: Vec<&str> = report.threads.iter().map(|thread| thread.thread.as_str()).collect();
    let message =
        format!("this execution may continue like this for ever: {} {}", names.join(", "), go(&report.threads));
    with_cycle(sources, Diagnostic::general(Code::Livelock, Severity::Warning, message), report, None)
}

fn runs(threads: &[RoundReport]) -> &'static str {
    if threads.len() == 1 { "runs" } else { "run" }
}

fn go(threads: &[RoundReport]) -> &'static str {
    if threads.len() == 1 { "goes round in a cycle" } else { "go round in a cycle" }
}

/// Adds who goes round where, who waits for what, and how long the cycle is.
fn with_cycle(
    sources: &SourceMap,
    mut diagnostic: Diagnostic,
    report: &CycleReport,
    no_end_after: Option<usize>,
) -> Diagnostic {
    let rounds = report.threads.iter().map(|of| (of.span, format!("{} comes here again and again", of.thread)));
    let waits = report.kept().map(|of| (of.span, format!("{} {}", of.thread, of.waits())));
    for (span, label) in rounds.chain(waits) {
        let span = word_at(sources, span);
        diagnostic = match diagnostic.primary {
            None => Diagnostic { primary: Some(Label { span, message: label }), ..diagnostic },
            Some(ref primary) if primary.span == span && primary.message.starts_with(&label) => diagnostic,
            Some(_) => diagnostic.with_label(span, label),
        };
    }
    diagnostic.secondary.sort_by_key(|label| label.span);
    diagnostic.secondary.dedup();
    let steps = plural(report.cycle.len(), "step");
    let into = match report.schedule.len() {
        0 => "from the beginning".to_owned(),
        into => format!("after {}", plural(into, "step")),
    };
    let diagnostic = diagnostic.with_note(format!("the cycle: {steps}, {into}"));
    match no_end_after {
        None => diagnostic,
        Some(0) => diagnostic.with_note("no execution of the program comes to an end"),
        Some(after) => diagnostic.with_note(format!("after {} no end can be reached", plural(after, "step"))),
    }
}

/// Deadlocks that are shown with the first one of their kind.
const ALIKE: usize = 4;

/// A deadlock that other threads can be in as well: `others` are those deadlocks.
#[must_use]
pub fn with_symmetric(diagnostic: Diagnostic, others: &[&[BlockedReport]]) -> Diagnostic {
    if others.is_empty() {
        return diagnostic;
    }
    let names = |threads: &&[BlockedReport]| {
        let cycle = wait_cycle(threads);
        let all = || threads.iter().map(|thread| thread.thread.clone()).collect();
        let names: Vec<String> = if cycle.is_empty() { all() } else { cycle };
        names.join(", ")
    };
    let mut listed: Vec<String> = others.iter().take(ALIKE).map(names).collect();
    if others.len() > ALIKE {
        listed.push(format!("and {} more", others.len() - ALIKE));
    }
    diagnostic.with_note(format!(
        "{} at the same places, of other threads: {}",
        plural(others.len(), "further deadlock"),
        listed.join("; ")
    ))
}

/// The word or the sign with which a place begins.
fn word_at(sources: &SourceMap, place: Span) -> Span {
    let start = place.start as usize;
    let rest = sources.file(place.file).text().get(start..).unwrap_or("");
    let word = rest.find(|each: char| !each.is_alphanumeric() && each != '_').unwrap_or(rest.len());
    let sign = rest.chars().next().filter(|each| !each.is_control()).map_or(0, char::len_utf8);
    Span::new(place.file, start, start + word.max(sign))
}

/// `T1 waits for b, held by T2 since 4:3`
fn link(thread: &BlockedReport) -> String {
    match (&thread.holder, &thread.taken_at, &thread.object) {
        (Some(holder), Some(taken_at), Some(object)) => {
            format!("{} waits for `{object}`, held by {holder} since {taken_at}", thread.thread)
        }
        (_, _, Some(object)) => format!("{} waits for `{object}`, which {}", thread.thread, thread.in_its_way()),
        _ => format!("{} waits for the end of {}", thread.thread, thread.threads.join(", ")),
    }
}

/// A real race: both sides, and what follows.
#[must_use]
pub fn race(pair: &PairReport) -> Diagnostic {
    let (code, severity, kind) = match (pair.harmful, pair.benign) {
        (true, _) => (Code::HarmfulRace, Severity::Error, "a harmful race"),
        (false, true) => (Code::BenignRace, Severity::Note, "a benign race"),
        (false, false) => (Code::RealRace, Severity::Warning, "a race"),
    };
    let label = |side: usize| {
        let Some(of) = pair.sides.as_ref().map(|sides| &sides[side]) else { return "here".to_owned() };
        let locks: Vec<String> = of.locks.iter().map(|held| format!("`{}` (since {})", held.lock, held.at)).collect();
        let holding =
            if locks.is_empty() { "holding no lock".to_owned() } else { format!("holding {}", locks.join(", ")) };
        let verb = if of.kind == "write" { "is about to write it" } else { "is about to read it" };
        format!("{} {verb}, {holding}", of.thread)
    };
    let value = pair.sides.as_ref().and_then(|sides| sides[0].value.as_ref());
    let holds = value.map_or_else(String::new, |value| format!(", which holds {value}"));
    let message = format!("{kind} on `{}`{holds}", pair.variable);
    let mut diagnostic = Diagnostic::general(code, severity, message);
    diagnostic.primary = Some(Label { span: pair.spans[0], message: label(0) });
    diagnostic = diagnostic.with_label(pair.spans[1], label(1));
    if let Some(sides) = &pair.sides {
        for held in sides.iter().flat_map(|side| &side.locks) {
            diagnostic = diagnostic.with_label(held.span, format!("`{}` is taken here", held.lock));
        }
    }
    diagnostic.secondary.sort_by_key(|label| label.span);
    diagnostic.secondary.dedup();
    let place = |side: &&str| if *side == "a" { format!("`{}`", pair.a) } else { format!("`{}`", pair.b) };
    let diagnostic = match (pair.harmful, pair.outcomes_differ) {
        (true, _) => {
            let first: Vec<String> = pair.fails_when_first.iter().map(place).collect();
            diagnostic.with_note(format!("a failure or a deadlock can follow when {} goes first", first.join(" or ")))
        }
        (false, Some(true)) => diagnostic.with_note("nothing fails, but the order changes the outcome"),
        (false, Some(false)) => diagnostic.with_note("nothing fails, and no order changes the outcome"),
        (false, None) => diagnostic.with_note("no failure was seen to follow; not all executions were looked at"),
    };
    diagnostic.with_help(if pair.benign { PROTECT_OR_DECLARE } else { PROTECT })
}

/// A race that a search has met: both sides.
#[must_use]
pub fn met_race(race: &MetRace) -> Diagnostic {
    let label = |side: usize| format!("{} is about to {} it", race.threads[side], race.kinds[side]);
    let message = format!("a race on `{}`", race.variable);
    let mut diagnostic = Diagnostic::general(Code::RealRace, Severity::Warning, message);
    diagnostic.primary = Some(Label { span: race.spans[0], message: label(0) });
    diagnostic.with_label(race.spans[1], label(1)).with_help("`cssame races` says what can follow")
}

/// Two operations of a test that no lock keeps apart: both sides.
#[must_use]
pub fn unprotected(race: &RaceReport) -> Diagnostic {
    let kinds: Vec<&str> = race.kinds.split('/').collect();
    let label = |side: usize, locks: &[String]| {
        let verb = if kinds.get(side) == Some(&"write") { "writes it" } else { "reads it" };
        let locks: Vec<String> = locks.iter().map(|lock| format!("`{lock}`")).collect();
        let holding =
            if locks.is_empty() { "holding no lock".to_owned() } else { format!("holding {}", locks.join(", ")) };
        format!("{} {verb}, {holding}", race.threads[side])
    };
    let message = format!("a race on `{}`", race.variable);
    let mut diagnostic = Diagnostic::general(Code::UnprotectedAccess, Severity::Warning, message);
    diagnostic.primary = Some(Label { span: race.spans[0], message: label(0, &race.locks_a) });
    diagnostic.with_label(race.spans[1], label(1, &race.locks_b))
}

/// Says that a selection is inconsistent.
#[must_use]
pub fn inconsistent(contradiction: &[String]) -> Diagnostic {
    if let [only] = contradiction {
        return Diagnostic::general(Code::InconsistentSelection, Severity::Error, "no execution has the selected term")
            .with_note(format!("this one alone is impossible: {only}"))
            .with_help("`cssame futures FILE` lists the terms that can happen");
    }
    Diagnostic::general(Code::InconsistentSelection, Severity::Error, "no execution has the selected terms")
        .with_note(format!("these contradict each other: {}", contradiction.join(", ")))
        .with_help("leave out or change one of them")
}

/// Says that a search was stopped by a bound when all but outcomes was decided.
#[must_use]
pub fn bound_of_outcomes(bound: Bound) -> Diagnostic {
    let diagnostic = stopped(bound)
        .with_note("terms, failures and deadlocks are all decided")
        .with_note("the outcomes that were found are real; there may be others");
    if bound == Bound::Outcomes { diagnostic.with_help("`--outcomes` looks for all") } else { diagnostic }
}

/// Says that a bound has stopped the count of futures, of which that many were found, when all else was decided.
#[must_use]
pub fn bound_of_count(bound: Bound, futures: u64) -> Diagnostic {
    stopped(bound)
        .with_note("terms, outcomes, failures and deadlocks are all decided")
        .with_note(format!("the futures were not all counted: there are at least {futures}"))
}

fn stopped(bound: Bound) -> Diagnostic {
    let (code, message) = match bound {
        Bound::States | Bound::Steps | Bound::Executions | Bound::Memory | Bound::Processor => {
            (Code::ExplorationLimit, format!("the search was stopped by `--{}`", bound.name()))
        }
        Bound::Outcomes => {
            (Code::ExplorationLimit, "there are too many outcomes to look for all of them by default".to_owned())
        }
        Bound::TooMany => (
            Code::ExplorationLimit,
            "there is too much to look at one by one, and no option raises this bound".to_owned(),
        ),
        Bound::Timeout => (Code::Timeout, "the time ran out (`--timeout`; a minute by default)".to_owned()),
        Bound::Interrupt => (Code::Interrupted, "the search was interrupted".to_owned()),
    };
    Diagnostic::general(code, Severity::Warning, message)
}

/// What is sure of executions with few preemptions, where a bound has stopped the search.
#[must_use]
pub fn within_preemptions(kinds: &str, most: u32) -> String {
    format!("no other {kinds} in any execution {}", with_preemptions(most))
}

/// Says that a search was stopped by a bound, what that means, what it has proved, and which loops still ran.
#[must_use]
pub fn bound(bound: Bound, unfinished: Option<&UnfinishedReport>) -> Diagnostic {
    let diagnostic = stopped(bound).with_note("all findings are real; other findings may still be possible");
    let Some(unfinished) = unfinished else { return diagnostic };
    let proved = match unfinished.preemptions {
        Some(most) => Some(within_preemptions("failure or deadlock", most)),
        // Where nobody looked by preemptions, steps are all that is known.
        None => (unfinished.steps > 0).then(|| {
            let steps = plural(unfinished.steps as usize, "step");
            format!("no other failure or deadlock in the first {steps} of any execution")
        }),
    };
    let diagnostic = proved.into_iter().fold(diagnostic, Diagnostic::with_note);
    let running = unfinished.running.iter().take(RUNNING).map(|one| {
        let what = match one.kind {
            Repetition::Loop => "the loop",
            Repetition::Recursion => "the recursion",
        };
        format!("{} in {what} at line {}", one.thread, one.line)
    });
    let mut running: Vec<String> = running.collect();
    if running.is_empty() {
        return diagnostic;
    }
    if unfinished.running.len() > RUNNING {
        running.push(format!("and {} more", unfinished.running.len() - RUNNING));
    }
    diagnostic.with_note(format!("still running then: {}", running.join(", ")))
}
