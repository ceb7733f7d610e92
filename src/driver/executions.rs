//! The observations of whole executions: the definition that each read sees, the output, the kind of end.
//!
//! **Input**: schedules. **Output**: for each one a [`Shown`], in the order in which they were added.
//!
//! **Algorithm**: a schedule is repeated under an observer. If it stops before the end, the threads continue in turn, as in a
//! plan. All executions share one table of names, so that threads and outputs can be compared.
//!
//! **Soundness and limits**: an execution that does not end, is discarded or has too many events for a plan has no entry.

use super::Input;
use super::planner::MAX_EVENTS;
use cssame_explore::report::{ThreadOutput, thread_outputs};
use cssame_explore::{BlockedThread, blocked_threads};
use cssame_ir::{DefinitionId, ReadId, TextId};
use cssame_schedule as schedule;
use cssame_schedule::{ExecutionStatus, RoundRobin, Scripted, Then};
use cssame_vm::{Choice, CodeIndex, Event, FailureKind, Observer, OutputId, PathId, Tables, ThreadName};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// How an execution ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Ok,
    /// What fails, where, and the message.
    Failed(FailureKind, CodeIndex, Option<TextId>),
    Deadlock(Vec<BlockedThread>),
}

impl Ending {
    /// The word that users read.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Ending::Ok => "ok",
            Ending::Failed(kind, ..) => kind.status(),
            Ending::Deadlock(_) => "deadlock",
        }
    }
}

/// The evaluations of a read that see one definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evaluations {
    pub read: ReadId,
    pub definition: DefinitionId,
    /// How many there are.
    pub count: u32,
    /// The first one: its number among those of its thread, from 1.
    pub first: u32,
}

/// What an execution shows.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// All its steps.
    pub schedule: Vec<Choice>,
    pub ending: Ending,
    pub outputs: Vec<(PathId, OutputId)>,
    /// Sorted by read and definition.
    pub evaluations: Vec<Evaluations>,
    /// Each thread with what it reads and chooses, in its order: equal of two executions of one future.
    pub future: Vec<u64>,
}

impl Shown {
    /// The evaluations of a read, by definition.
    pub(super) fn of_read(&self, read: ReadId) -> &[Evaluations] {
        let start = self.evaluations.partition_point(|of| of.read < read);
        let end = self.evaluations.partition_point(|of| of.read <= read);
        &self.evaluations[start..end]
    }

    /// Of a term that this execution has: the evaluation of the read that sees the definition, if not every one does; none if it
    /// does not have the term.
    pub(super) fn instance(&self, read: ReadId, definition: DefinitionId) -> Option<Option<u32>> {
        let all = self.of_read(read);
        let found = all.iter().find(|of| of.definition == definition)?;
        Some((all.len() > 1).then_some(found.first))
    }

    /// What is printed, and how it ends.
    pub(super) fn outcome(&self) -> (&[(PathId, OutputId)], &'static str) {
        (&self.outputs, self.ending.word())
    }

    /// Whether both are one future.
    pub(super) fn is_future_of(&self, other: &Shown) -> bool {
        self.future == other.future && self.ending == other.ending
    }
}

/// Executions and what they show.
pub(super) struct Executions<'a> {
    input: &'a Input<'a>,
    max_steps: u64,
    tables: Tables,
    known: FxHashMap<Vec<Choice>, Option<usize>>,
    pub list: Vec<Shown>,
    /// Steps of all of them.
    pub steps: usize,
}

impl<'a> Executions<'a> {
    /// None so far; `max_steps` is the number of steps beyond which one is not followed.
    pub(super) fn new(input: &'a Input<'a>, max_steps: u64) -> Executions<'a> {
        let known = FxHashMap::default();
        Executions { input, max_steps, tables: Tables::new(), known, list: Vec::new(), steps: 0 }
    }

    /// Adds an execution; gives its place in the list.
    pub(super) fn add(&mut self, schedule: &[Choice]) -> Option<usize> {
        if let Some(&known) = self.known.get(schedule) {
            return known;
        }
        let shown = self.watch(schedule);
        self.steps += shown.as_ref().map_or(schedule.len(), |shown| shown.schedule.len());
        let place = shown.map(|shown| {
            self.list.push(shown);
            self.list.len() - 1
        });
        self.known.insert(schedule.to_vec(), place);
        place
    }

    fn watch(&mut self, schedule: &[Choice]) -> Option<Shown> {
        let machine = self.input.machine;
        let mut watcher = Watcher::default();
        let mut policy = Then::new(Scripted::new(schedule), RoundRobin::new());
        let tables = std::mem::take(&mut self.tables);
        let execution = schedule::run_named(machine, &mut policy, self.max_steps, &mut watcher, tables);
        let outputs = execution.outputs(machine);
        let ending = match execution.status {
            _ if watcher.events > MAX_EVENTS => None,
            ExecutionStatus::Ok => Some(Ending::Ok),
            ExecutionStatus::Failed(failure) => Some(Ending::Failed(failure.kind, failure.at, failure.message)),
            ExecutionStatus::Deadlock => {
                Some(Ending::Deadlock(blocked_threads(machine, &execution.tables, &execution.state)))
            }
            _ => None,
        };
        self.tables = execution.tables;
        let (evaluations, future) = watcher.finish();
        ending.map(|ending| Shown { schedule: execution.steps, ending, outputs, evaluations, future })
    }

    /// The printed lines of an execution.
    pub(super) fn by_thread(&self, shown: &Shown) -> Vec<ThreadOutput> {
        thread_outputs(self.input.machine, &self.tables, &shown.outputs)
    }
}

/// Stands for a choice of a value, where otherwise a read stands.
const CHOICE: u64 = 1 << 63;

/// Notes what reads see.
#[derive(Default)]
struct Watcher {
    events: usize,
    /// By location: the thread that has written it last, and the number of the write among those of the thread.
    writers: FxHashMap<u32, (PathId, u32)>,
    writes: FxHashMap<PathId, u32>,
    /// How often a thread has come to a read.
    counts: FxHashMap<(PathId, ReadId), u32>,
    seen: BTreeMap<(ReadId, DefinitionId), (u32, u32)>,
    facts: BTreeMap<PathId, Vec<u64>>,
}

impl Watcher {
    fn finish(self) -> (Vec<Evaluations>, Vec<u64>) {
        let evaluations = self.seen.into_iter();
        let evaluations =
            evaluations.map(|((read, definition), (count, first))| Evaluations { read, definition, count, first });
        let future = self.facts.into_iter().flat_map(|(path, facts)| {
            // The length keeps the facts of one thread from being taken for those of the next.
            [u64::from(path.0), facts.len() as u64].into_iter().chain(facts)
        });
        (evaluations.collect(), future.collect())
    }
}

impl Observer for Watcher {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.events += 1;
        let path = thread.path;
        match event {
            Event::Read { read, address, writer, shared: true, .. } => {
                let number = self.counts.entry((path, read)).or_insert(0);
                *number += 1;
                if let Some(definition) = writer {
                    self.seen.entry((read, definition)).or_insert((0, *number)).0 += 1;
                }
                let source =
                    self.writers.get(&address).map_or(0, |&(path, number)| u64::from(path.0) << 32 | u64::from(number));
                self.facts.entry(path).or_default().extend([u64::from(read.0), source]);
            }
            Event::Write { address, shared: true, .. } => {
                let number = self.writes.entry(path).or_insert(0);
                *number += 1;
                self.writers.insert(address, (path, *number));
            }
            Event::Choose { value } => {
                self.facts.entry(path).or_default().extend([CHOICE | u64::from(at.0), value as u64]);
            }
            Event::Verdict { value } => {
                self.facts.entry(path).or_default().extend([CHOICE | u64::from(at.0), u64::from(value)]);
            }
            Event::Allocate { address, size, .. } => {
                for cell in address..address + size {
                    self.writers.remove(&cell);
                }
            }
            _ => {}
        }
    }
}
