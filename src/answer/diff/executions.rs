//! Finds the point where two executions diverge.
//!
//! **Input**: two schedules, each of a program; both programs may be the same. **Output**: [`ExecutionsReport`]: the first step
//! that differs, the reads that see other writes or other values, and the ends of both.
//!
//! **Algorithm**: both executions are repeated. A read is identified by its thread, its name, and how often the thread has
//! reached it. Places of the first program get the names that they have in the second one.
//!
//! **Soundness and limits**: executions that differ only in the order of independent steps diverge as well, but no read differs.

use super::align::Alignment;
use super::carry::MAX_STEPS;
use cssame_explore::report::{ThreadOutput, thread_outputs};
use cssame_form::{definition_in_context, read_name};
use cssame_model::Model;
use cssame_schedule as schedule;
use cssame_schedule::{Departure, Schedule, Step};
use cssame_vm::{CodeIndex, Event, Observer, PathId, Tables, ThreadName, format_value};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// How an execution ends.
#[derive(Clone, Debug, Serialize)]
pub struct EndReport {
    /// `ok`, `assert`, `deadlock`, …
    pub status: &'static str,
    /// What the program says when it fails.
    pub message: Option<String>,
    /// What it prints, thread by thread.
    pub by_thread: Vec<ThreadOutput>,
}

/// What a read sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenReport {
    /// The write: `x@4:5`, `x@initial`.
    pub def: Option<String>,
    /// The value.
    pub value: String,
}

/// A read that differs.
#[derive(Clone, Debug, Serialize)]
pub struct ReadChange {
    /// Its thread.
    pub thread: String,
    /// Its name, in the second program where it is there.
    pub read: String,
    /// How often its thread has come to it, from 1.
    pub instance: usize,
    /// What it sees in the first execution; nothing where it is not come to.
    pub first: Option<SeenReport>,
    /// The same in the second one.
    pub second: Option<SeenReport>,
}

/// Where two executions part, and what follows.
#[derive(Clone, Debug, Serialize)]
pub struct ExecutionsReport {
    /// Steps that are the same in both, from the beginning.
    pub common: usize,
    /// The first step of each that differs; nothing where the execution is over.
    pub parting: Option<[Option<Step>; 2]>,
    /// Reads that differ, in the order of the first execution, then of the second.
    pub reads: Vec<ReadChange>,
    /// How both end.
    pub ends: [EndReport; 2],
}

impl ExecutionsReport {
    /// Whether a read differs, or the end.
    #[must_use]
    pub fn differs(&self) -> bool {
        let [one, other] = &self.ends;
        let lines =
            |end: &EndReport| end.by_thread.iter().map(|of| (of.thread.clone(), of.output.clone())).collect::<Vec<_>>();
        !self.reads.is_empty()
            || (one.status, &one.message) != (other.status, &other.message)
            || lines(one) != lines(other)
    }
}

/// A read that was seen: its thread, its name, and what it saw.
struct SeenRead {
    thread: PathId,
    read: String,
    seen: SeenReport,
}

struct Reads<'a> {
    model: &'a Model,
    seen: Vec<SeenRead>,
}

impl Observer for Reads<'_> {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, value, writer, shared: true, .. } = event {
            let (sources, program) = (self.model.sources(), self.model.program());
            let ty = super::read_type(program, read);
            let def = writer.map(|writer| definition_in_context(sources, program, writer));
            let seen = SeenReport { def, value: format_value(&program.texts, ty, value) };
            self.seen.push(SeenRead { thread: thread.path, read: read_name(sources, program, read), seen });
        }
    }
}

/// An execution, done again.
struct Again {
    steps: Vec<Step>,
    /// Thread, read, instance, and what it saw.
    reads: Vec<((String, String, usize), SeenReport)>,
    end: EndReport,
}

fn again(model: &Model, schedule: &Schedule) -> Result<Again, Departure> {
    let (naming, machine) = (model.naming(), model.machine());
    let mut replay = model.replay(schedule);
    let mut reads = Reads { model, seen: Vec::new() };
    let done = schedule::run(machine, &mut replay, MAX_STEPS, &mut reads);
    if let Some(departure) = replay.departure_of(&done.status, schedule.status.as_deref()) {
        return Err(departure);
    }
    let message = match &done.status {
        schedule::ExecutionStatus::Failed(failure) => Some(naming.failure_message(failure)),
        _ => None,
    };
    let by_thread = thread_outputs(machine, &done.tables, &done.outputs(machine));
    let end = EndReport { status: done.status.word(), message, by_thread };
    Ok(Again { steps: naming.steps(&done.steps), reads: numbered(model, &done.tables, reads.seen), end })
}

fn numbered(model: &Model, tables: &Tables, seen: Vec<SeenRead>) -> Vec<((String, String, usize), SeenReport)> {
    let mut counts: FxHashMap<(String, String), usize> = FxHashMap::default();
    let numbered = seen.into_iter().map(|SeenRead { thread, read, seen }| {
        let thread = model.machine().path_name(tables, thread);
        let count = counts.entry((thread.clone(), read.clone())).or_default();
        *count += 1;
        ((thread, read, *count), seen)
    });
    numbered.collect()
}

/// Compares two executions.
///
/// # Errors
///
/// Which of the schedules does not fit its program, 0 or 1, and where.
pub(super) fn compare(
    models: [&Model; 2],
    schedules: [&Schedule; 2],
    alignment: &Alignment,
) -> Result<ExecutionsReport, (usize, Departure)> {
    let mut first = again(models[0], schedules[0]).map_err(|departure| (0, departure))?;
    let second = again(models[1], schedules[1]).map_err(|departure| (1, departure))?;
    let renamed = |name: &str| alignment.name(name).unwrap_or_else(|| name.to_owned());
    for ((thread, read, _), seen) in &mut first.reads {
        (*thread, *read) = (renamed(thread), renamed(read));
        seen.def = seen.def.as_deref().map(renamed);
    }
    let same = |(one, other): &(&Step, &Step)| {
        renamed(&one.thread) == other.thread
            && renamed(&one.at) == other.at
            && (&one.op, one.alternative) == (&other.op, other.alternative)
    };
    let common = first.steps.iter().zip(&second.steps).take_while(same).count();
    let parting = [first.steps.get(common).cloned(), second.steps.get(common).cloned()];
    let parting = parting.iter().any(Option::is_some).then_some(parting);
    Ok(ExecutionsReport { common, parting, reads: reads(&first, &second), ends: [first.end, second.end] })
}

fn reads(first: &Again, second: &Again) -> Vec<ReadChange> {
    let by_key = |of: &Again| of.reads.iter().cloned().collect::<FxHashMap<_, _>>();
    let (one, other) = (by_key(first), by_key(second));
    let only = second.reads.iter().filter(|(key, _)| !one.contains_key(key));
    let changes = first.reads.iter().chain(only).filter_map(|(key, _)| {
        let (first, second) = (one.get(key).cloned(), other.get(key).cloned());
        let (thread, read, instance) = key.clone();
        (first != second).then_some(ReadChange { thread, read, instance, first, second })
    });
    changes.collect()
}
