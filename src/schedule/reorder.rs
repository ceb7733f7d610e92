//! Reordering: the same execution with fewer context switches.
//!
//! **Input**: the steps of an execution.
//!
//! **Output**: the same steps in an order with fewer thread switches, in which every thread does the same, every read sees the
//! same write and the end is the same; nothing if no order is better.
//!
//! **Algorithm**.
//!
//! 1. The execution is repeated and recorded: the actions of each thread, and the footprint of each step.
//! 2. Dependent steps keep their order ([`predecessors`]); a failure stays after all other steps.
//! 3. Within these limits a thread runs as long as it can: stopping it earlier never saves a switch. An order is then a sequence
//!    of such runs. A breadth-first search through the sets of executed steps of the threads finds one with the fewest runs.
//! 4. If there are too many threads or sets, two greedy orders are tried instead: the next thread is the one that can run
//!    longest, or the one whose next step came first. The better order is used.
//! 5. The new order is executed on the machine and recorded. It counts only if the actions and observations of each thread, and
//!    the end, are the same as before.
//!
//! **Soundness and limits**. Step 5 makes the answer correct even if dependence has missed something. Long executions, many
//! threads, and atomic blocks that take more than one step are left unchanged.

use super::dependence::{Footprints, predecessors};
use super::walk::Walk;
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{
    Choice, CodeIndex, Event, FailureKind, Machine, Observer, Obstacle, OutputId, PathId, Progress, State, Tables,
    ThreadName,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps in another order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reordered {
    /// The steps in the new order.
    pub steps: Vec<Choice>,
    /// By step of the given order: its place in the new one.
    pub places: Vec<usize>,
}

/// Steps beyond which an order is left as it is.
const MAX_STEPS: usize = 10_000;

/// Threads beyond which it is left as it is: nobody can follow so many columns.
const MAX_THREADS: usize = 64;

/// Threads beyond which the fewest switches are not searched for.
const FEW_THREADS: usize = 10;

/// The steps of an execution in an order with fewer switches; none if there is no better one.
#[must_use]
pub fn fewer_switches(machine: &Machine, steps: &[Choice]) -> Option<Reordered> {
    if steps.len() > MAX_STEPS {
        return None;
    }
    let mut tables = Tables::new();
    let given = record(machine, &mut tables, steps.len(), |index, _| steps.get(index).copied())?;
    let before = predecessors_of(&given);
    let threads = given.footprints.threads();
    let count = |order: &[usize]| order.windows(2).filter(|pair| threads[pair[0]] != threads[pair[1]]).count();
    let plain: Vec<usize> = (0..steps.len()).collect();
    let runs = Runs::new(threads, &before);
    if runs.steps.len() > MAX_THREADS {
        return None;
    }
    let orders = match runs.fewest() {
        Some(order) => vec![plain, order],
        None => vec![plain, runs.greedy(Next::LongestRun), runs.greedy(Next::FirstInTime)],
    };
    let best = orders.iter().min_by_key(|order| count(order))?;
    if count(best) == count(&orders[0]) {
        return None;
    }
    let again = record(machine, &mut tables, steps.len(), |index, state| {
        let step = *best.get(index)?;
        let thread = state.threads().find(|&thread| state.path(thread) == threads[step])?;
        Some(Choice { thread, alternative: steps[step].alternative })
    })?;
    if again.done != given.done || again.end != given.end {
        return None;
    }
    let mut places = vec![0; steps.len()];
    for (place, &step) in best.iter().enumerate() {
        places[step] = place;
    }
    Some(Reordered { steps: again.choices, places })
}

/// A write, by its thread and its number there.
type Writer = (PathId, u32);

/// What a thread does, as far as it must stay the same.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Read(ReadId, i64, Option<Writer>),
    Write(DefinitionId, i64),
    Print(OutputId),
    Choose(i64),
    Verdict(bool),
    Other(std::mem::Discriminant<Event>),
}

/// How an execution ends.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Finished,
    Failed(FailureKind, CodeIndex, PathId),
    /// The threads that cannot move, and where they stand, where none can.
    Blocked(Vec<(PathId, CodeIndex, Option<std::mem::Discriminant<Obstacle>>)>),
}

/// An execution that was watched.
struct Record {
    choices: Vec<Choice>,
    footprints: Footprints,
    done: FxHashMap<PathId, Vec<(CodeIndex, Action)>>,
    end: End,
}

/// Records the steps.
#[derive(Default)]
struct Recorder {
    footprints: Footprints,
    writers: FxHashMap<u32, Writer>,
    writes: FxHashMap<PathId, u32>,
    done: FxHashMap<PathId, Vec<(CodeIndex, Action)>>,
    /// Atomic blocks that were begun and not ended.
    atomic: i64,
}

impl Observer for Recorder {
    fn begin_step(&mut self, thread: ThreadName) {
        self.footprints.begin_step(thread);
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.footprints.event(thread, at, event);
        let thread = thread.path;
        let action = match event {
            Event::Read { read, address, value, .. } => Action::Read(read, value, self.writers.get(&address).copied()),
            Event::Write { definition, address, value, .. } => {
                let count = self.writes.entry(thread).or_default();
                *count += 1;
                self.writers.insert(address, (thread, *count));
                Action::Write(definition, value)
            }
            Event::Print { output } => Action::Print(output),
            Event::Choose { value } => Action::Choose(value),
            Event::Verdict { value } => Action::Verdict(value),
            other => Action::Other(std::mem::discriminant(&other)),
        };
        match event {
            Event::AtomicBegin => self.atomic += 1,
            Event::AtomicEnd => self.atomic -= 1,
            Event::Allocate { address, size, .. } => {
                for cell in address..address + size {
                    self.writers.remove(&cell);
                }
            }
            _ => {}
        }
        self.done.entry(thread).or_default().push((at, action));
    }
}

/// Does steps and records them. None where one cannot be done, or where an atomic block takes more than one.
fn record(
    machine: &Machine,
    tables: &mut Tables,
    count: usize,
    mut choose: impl FnMut(usize, &State) -> Option<Choice>,
) -> Option<Record> {
    let mut recorder = Recorder::default();
    let mut walk = Walk::new(machine, tables, &mut recorder);
    let mut choices = Vec::new();
    for index in 0..count {
        let choice = choose(index, walk.state())?;
        let progress = walk.step(choice, &mut recorder).ok()?;
        let over = matches!(progress, Progress::Failed(_) | Progress::Discarded);
        if recorder.atomic != 0 && !over {
            return None;
        }
        choices.push(choice);
    }
    let state = walk.state();
    let end = match walk.progress() {
        Progress::Finished => End::Finished,
        Progress::Discarded => return None,
        Progress::Failed(failure) => End::Failed(failure.kind, failure.at, state.path(failure.thread)),
        Progress::Running => {
            let blocked = |thread| {
                let obstacle = machine.obstacle(state, thread);
                (state.path(thread), state.position(thread), obstacle.map(|obstacle| std::mem::discriminant(&obstacle)))
            };
            let mut threads: Vec<_> = state.threads().map(blocked).collect();
            threads.sort_by_key(|&(path, at, _)| (path, at));
            End::Blocked(threads)
        }
    };
    Some(Record { choices, footprints: recorder.footprints, done: recorder.done, end })
}

/// By step: the steps that must come before it.
fn predecessors_of(given: &Record) -> Vec<Vec<usize>> {
    let mut before = predecessors(given.footprints.steps());
    if let (Some(last), End::Failed(..)) = (before.last_mut(), &given.end) {
        // A failure ends the execution of all.
        *last = (0..given.choices.len() - 1).collect();
    }
    before
}

/// A set of steps that the threads have done: by thread, how many of its steps.
type Done = Box<[u32]>;

/// The thread that runs next in a greedy order.
#[derive(Clone, Copy)]
enum Next {
    /// The one that can run longest.
    LongestRun,
    /// The one whose next step came first in the given order.
    FirstInTime,
}

/// The steps by thread, and how far each thread can run.
struct Runs<'a> {
    before: &'a [Vec<usize>],
    /// By thread: its steps.
    steps: Vec<Vec<usize>>,
    /// By step: its thread, and its number there.
    place: Vec<(usize, u32)>,
}

/// Sets of steps that the search visits.
const MAX_SETS: usize = 3_000;

impl<'a> Runs<'a> {
    fn new(by: &[PathId], before: &'a [Vec<usize>]) -> Runs<'a> {
        let mut threads: FxHashMap<PathId, usize> = FxHashMap::default();
        let (mut steps, mut place): (Vec<Vec<usize>>, Vec<(usize, u32)>) = (Vec::new(), Vec::new());
        for (step, &thread) in by.iter().enumerate() {
            let thread = *threads.entry(thread).or_insert_with(|| {
                steps.push(Vec::new());
                steps.len() - 1
            });
            place.push((thread, steps[thread].len() as u32));
            steps[thread].push(step);
        }
        Runs { before, steps, place }
    }

    /// How far a thread has come behind a run as long as can be.
    fn run(&self, done: &[u32], thread: usize) -> u32 {
        let is_done = |&step: &usize| {
            let (of, number) = self.place[step];
            // Its own steps come one after the other.
            of == thread || number < done[of]
        };
        let left = &self.steps[thread][done[thread] as usize..];
        done[thread] + left.iter().take_while(|&&step| self.before[step].iter().all(is_done)).count() as u32
    }

    /// Step 3: the order with the fewest switches, unless that takes too long to find.
    fn fewest(&self) -> Option<Vec<usize>> {
        let count = self.steps.len();
        if count > FEW_THREADS {
            return None;
        }
        let end: Done = self.steps.iter().map(|steps| steps.len() as u32).collect();
        let start: Done = vec![0; count].into();
        // By set: the set before, and the thread that ran.
        let mut sets: Vec<(Done, usize, usize)> = vec![(start.clone(), 0, 0)];
        let mut known: FxHashSet<Done> = FxHashSet::from_iter([start]);
        let mut at = 0;
        while at < sets.len() {
            if sets[at].0 == end {
                return Some(self.order(&sets, at));
            }
            if sets.len() > MAX_SETS {
                return None;
            }
            for thread in 0..count {
                let done = &sets[at].0;
                let far = self.run(done, thread);
                if far > done[thread] {
                    let mut next = done.clone();
                    next[thread] = far;
                    if known.insert(next.clone()) {
                        sets.push((next, at, thread));
                    }
                }
            }
            at += 1;
        }
        None
    }

    /// The steps on the way to a set.
    fn order(&self, sets: &[(Done, usize, usize)], mut at: usize) -> Vec<usize> {
        let mut runs = Vec::new();
        while at != 0 {
            let (done, from, thread) = &sets[at];
            runs.push((*thread, sets[*from].0[*thread], done[*thread]));
            at = *from;
        }
        let steps = runs.iter().rev().map(|&(thread, from, to)| &self.steps[thread][from as usize..to as usize]);
        steps.flatten().copied().collect()
    }

    /// Step 4: an order in which a thread runs on as long as it can.
    fn greedy(&self, rule: Next) -> Vec<usize> {
        let mut done: Done = vec![0; self.steps.len()].into();
        let mut order = Vec::with_capacity(self.place.len());
        while order.len() < self.place.len() {
            let runs = (0..self.steps.len()).map(|thread| (thread, self.run(&done, thread)));
            let runs = runs.filter(|&(thread, far)| far > done[thread]);
            let next = match rule {
                Next::LongestRun => runs.rev().max_by_key(|&(thread, far)| far - done[thread]),
                Next::FirstInTime => runs.min_by_key(|&(thread, _)| self.steps[thread][done[thread] as usize]),
            };
            // The first of all steps that are left is always free.
            let Some((thread, far)) = next else { break };
            order.extend(&self.steps[thread][done[thread] as usize..far as usize]);
            done[thread] = far;
        }
        order
    }
}
