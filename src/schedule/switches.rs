//! The same execution with fewer switches from thread to thread.
//!
//! In: the steps of an execution. Out: the same steps in an order with fewer context switches in which every thread does the
//! same, every read sees the same write and the end is the same; nothing where the order is not better.
//!
//! Two steps keep their order if they belong to one thread, or if they touch one shared cell or object and one of them changes
//! it. Within that freedom a thread runs on as long as it can: to stop it earlier never saves a switch. Who follows is found by a
//! search, breadth first, through what the threads have done by then, which gives the fewest switches; where it would be too
//! long, the thread follows that can run longest, or that whose turn came first in the given order: the better of both. Whatever
//! was overlooked shows when the new order is done on the machine: what each thread does and sees is compared, and so is the
//! end.

use super::dependence::{Footprint, Footprints, predecessors};
use super::walk::Walk;
use crate::ir::{DefinitionId, ReadId};
use crate::vm::{
    Choice, CodeIndex, Event, FailureKind, Machine, Observer, Obstacle, OutputId, PathId, Progress, State, Tables,
    ThreadIndex,
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
    let before = before(&given);
    let count = |order: &[usize]| order.windows(2).filter(|pair| given.by[pair[0]] != given.by[pair[1]]).count();
    let plain: Vec<usize> = (0..steps.len()).collect();
    let runs = Runs::new(&given.by, &before);
    if runs.steps.len() > MAX_THREADS {
        return None;
    }
    let orders = match runs.fewest() {
        Some(order) => vec![plain, order],
        None => vec![plain, runs.arrange(true), runs.arrange(false)],
    };
    let best = orders.iter().min_by_key(|order| count(order))?;
    if count(best) == count(&orders[0]) {
        return None;
    }
    let again = record(machine, &mut tables, steps.len(), |index, state| {
        let step = *best.get(index)?;
        let thread = state.threads().find(|&thread| state.path(thread) == given.by[step])?;
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
enum Deed {
    Read(ReadId, i64, Option<Writer>),
    Write(DefinitionId, i64),
    Print(OutputId),
    Choose(i64),
    Other(std::mem::Discriminant<Event>),
}

/// How an execution ends.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Over,
    Failed(FailureKind, CodeIndex, PathId),
    /// The threads that cannot move, and where they stand, where none can.
    Stands(Vec<(PathId, CodeIndex, Option<std::mem::Discriminant<Obstacle>>)>),
}

/// An execution that was watched.
struct Record {
    choices: Vec<Choice>,
    /// By step: the thread.
    by: Vec<PathId>,
    /// By step: what it uses.
    footprints: Vec<Footprint>,
    done: FxHashMap<PathId, Vec<(CodeIndex, Deed)>>,
    end: End,
}

/// Watches the steps.
struct Watcher {
    footprints: Footprints,
    writers: FxHashMap<u32, Writer>,
    writes: FxHashMap<PathId, u32>,
    done: FxHashMap<PathId, Vec<(CodeIndex, Deed)>>,
    /// Atomic blocks that were begun and not ended.
    atomic: i64,
}

impl Observer for Watcher {
    fn event(&mut self, thread: ThreadIndex, at: CodeIndex, event: Event) {
        self.footprints.event(thread, at, event);
        let thread = self.footprints.thread(thread);
        let deed = match event {
            Event::Read { read, address, value, .. } => Deed::Read(read, value, self.writers.get(&address).copied()),
            Event::Write { definition, address, value, .. } => {
                let count = self.writes.entry(thread).or_default();
                *count += 1;
                self.writers.insert(address, (thread, *count));
                Deed::Write(definition, value)
            }
            Event::Print { output } => Deed::Print(output),
            Event::Choose { value } => Deed::Choose(value),
            other => Deed::Other(std::mem::discriminant(&other)),
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
        self.done.entry(thread).or_default().push((at, deed));
    }
}

/// Does steps and watches them. None where one cannot be done, or where an atomic block takes more than one.
fn record(
    machine: &Machine,
    tables: &mut Tables,
    count: usize,
    mut choose: impl FnMut(usize, &State) -> Option<Choice>,
) -> Option<Record> {
    // Main is there before anything is told of it.
    let main = Walk::new(machine, tables, &mut ()).into_state();
    let mut watcher = Watcher {
        footprints: Footprints::new(&main),
        writers: FxHashMap::default(),
        writes: FxHashMap::default(),
        done: FxHashMap::default(),
        atomic: 0,
    };
    let mut walk = Walk::new(machine, tables, &mut watcher);
    let (mut choices, mut by, mut footprints) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..count {
        let choice = choose(index, walk.state())?;
        let thread = watcher.footprints.thread(choice.thread);
        watcher.footprints.begin(choice.thread);
        let progress = walk.step(choice, &mut watcher).ok()?;
        let over = matches!(progress, Progress::Failed(_) | Progress::Discarded);
        if watcher.atomic != 0 && !over {
            return None;
        }
        choices.push(choice);
        by.push(thread);
        footprints.push(watcher.footprints.end());
    }
    let state = walk.state();
    let end = match walk.progress() {
        Progress::Finished => End::Over,
        Progress::Discarded => return None,
        Progress::Failed(failure) => End::Failed(failure.kind, failure.at, watcher.footprints.thread(failure.thread)),
        Progress::Running => {
            let stands = |thread| {
                let obstacle = machine.obstacle(state, thread);
                (state.path(thread), state.position(thread), obstacle.map(|obstacle| std::mem::discriminant(&obstacle)))
            };
            let mut threads: Vec<_> = state.threads().map(stands).collect();
            threads.sort_by_key(|&(path, at, _)| (path, at));
            End::Stands(threads)
        }
    };
    Some(Record { choices, by, footprints, done: watcher.done, end })
}

/// By step: the steps that must come before it.
fn before(given: &Record) -> Vec<Vec<usize>> {
    let mut before = predecessors(&given.footprints);
    if let (Some(last), End::Failed(..)) = (before.last_mut(), &given.end) {
        // A failure ends the execution of all.
        *last = (0..given.by.len() - 1).collect();
    }
    before
}

/// What the threads have done by some point: by thread, the number of its steps.
type Done = Box<[u32]>;

/// The steps by thread, and how far each thread can run.
struct Runs<'a> {
    before: &'a [Vec<usize>],
    /// By thread: its steps.
    steps: Vec<Vec<usize>>,
    /// By step: its thread, and its number there.
    place: Vec<(usize, u32)>,
}

/// Points that the search visits.
const MAX_POINTS: usize = 3_000;

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

    /// The order with the fewest switches, unless that takes too long to find.
    fn fewest(&self) -> Option<Vec<usize>> {
        let count = self.steps.len();
        if count > FEW_THREADS {
            return None;
        }
        let end: Done = self.steps.iter().map(|steps| steps.len() as u32).collect();
        let start: Done = vec![0; count].into();
        // By point: the point before, and the thread that ran.
        let mut points: Vec<(Done, usize, usize)> = vec![(start.clone(), 0, 0)];
        let mut known: FxHashSet<Done> = FxHashSet::from_iter([start]);
        let mut at = 0;
        while at < points.len() {
            if points[at].0 == end {
                return Some(self.order(&points, at));
            }
            if points.len() > MAX_POINTS {
                return None;
            }
            for thread in 0..count {
                let done = &points[at].0;
                let far = self.run(done, thread);
                if far > done[thread] {
                    let mut next = done.clone();
                    next[thread] = far;
                    if known.insert(next.clone()) {
                        points.push((next, at, thread));
                    }
                }
            }
            at += 1;
        }
        None
    }

    /// The steps on the way to a point.
    fn order(&self, points: &[(Done, usize, usize)], mut at: usize) -> Vec<usize> {
        let mut runs = Vec::new();
        while at != 0 {
            let (done, from, thread) = &points[at];
            runs.push((*thread, points[*from].0[*thread], done[*thread]));
            at = *from;
        }
        let steps = runs.iter().rev().map(|&(thread, from, to)| &self.steps[thread][from as usize..to as usize]);
        steps.flatten().copied().collect()
    }

    /// An order in which a thread runs on as long as it can. `longest` says who follows: the thread that can run longest, or
    /// that whose turn comes first.
    fn arrange(&self, longest: bool) -> Vec<usize> {
        let mut done: Done = vec![0; self.steps.len()].into();
        let mut order = Vec::with_capacity(self.place.len());
        while order.len() < self.place.len() {
            let runs = (0..self.steps.len()).map(|thread| (thread, self.run(&done, thread)));
            let runs = runs.filter(|&(thread, far)| far > done[thread]);
            let next = if longest {
                runs.rev().max_by_key(|&(thread, far)| far - done[thread])
            } else {
                runs.min_by_key(|&(thread, _)| self.steps[thread][done[thread] as usize])
            };
            // The first of all steps that are left is always free.
            let Some((thread, far)) = next else { break };
            order.extend(&self.steps[thread][done[thread] as usize..far as usize]);
            done[thread] = far;
        }
        order
    }
}
