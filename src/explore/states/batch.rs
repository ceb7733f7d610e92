//! Expands a part of a level on several cores.
//!
//! **Input**: a part of a level, cut into one piece for each worker. **Output**: what each step of each state leads to,
//! in order, as words and fingerprints.
//!
//! **Algorithm**:
//! 1. Each worker does all steps of the states of its piece, with tables of names and outputs of its own.
//! 2. It looks for the fingerprints that it has met in the graph, which nobody changes meanwhile.
//! 3. The search enters what the workers have found, piece by piece, in the order in which it would have done the steps
//!    itself.
//!
//! **Soundness and limits**: the graph is the same for any number of workers. A step that makes a new name or a new
//! output, which have their numbers by order, is left to the search. A worker stops before a state that would make its
//! batch too large: with a thousand threads one state has a thousand successors of thousands of words.

use super::fingerprint::{self, encode_rest};
use super::frontier::{Frontier, Waiting};
use super::{Monitor, Searched};
use crate::vm::{self, Choice, CodeIndex, Encoding, Event, Machine, Move, State, Tables, ThreadName, Work};
use std::ops::Range;
use std::thread;

/// What a step leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To a state from which the execution goes on.
    On,
    /// To the end of the execution.
    ToEnd,
    /// Nowhere: the execution is discarded.
    Discarded,
    /// It is not known: the engine must do the step.
    Unknown,
}

/// A step of a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Successor {
    pub choice: Choice,
    pub leads: Leads,
    pub fingerprint: u128,
    /// The node, if it was known before the part was expanded.
    pub known: Option<u32>,
    /// Ends of its words for the state, of its words for the monitor, of its events, and of its notes, in the batch.
    ends: [usize; 4],
}

/// Words that a batch may hold: 32 MiB.
const BATCH_WORDS: usize = 4 << 20;

/// Instructions that may be executed for a batch: nobody looks at the clock before it is done.
const BATCH_INSTRUCTIONS: u64 = 64 << 20;

/// An event, where it happened.
type Happened = (ThreadName, CodeIndex, Event);

/// What a worker has found about a piece of a level, with notes of the monitor.
pub(super) struct Batch<N> {
    /// By state: the end of its steps.
    steps: Vec<usize>,
    successors: Vec<Successor>,
    words: Vec<u64>,
    events: Vec<Happened>,
    notes: Vec<N>,
}

impl<N> Default for Batch<N> {
    fn default() -> Self {
        let (steps, successors, words) = (Vec::new(), Vec::new(), Vec::new());
        Batch { steps, successors, words, events: Vec::new(), notes: Vec::new() }
    }
}

/// A step of a batch, with what belongs to it.
pub(super) struct Step<'a, N> {
    pub successor: Successor,
    pub state: &'a [u64],
    pub monitor: &'a [u64],
    pub events: &'a [Happened],
    pub notes: &'a [N],
}

impl<N> Batch<N> {
    /// Number of states that were expanded.
    pub(super) fn states(&self) -> usize {
        self.steps.len()
    }

    /// About how much memory it takes, in words.
    fn size(&self) -> usize {
        const SUCCESSOR: usize = size_of::<Successor>() / size_of::<u64>();
        const EVENT: usize = size_of::<Happened>() / size_of::<u64>();
        let notes = (self.notes.len() * size_of::<N>()).div_ceil(size_of::<u64>());
        self.words.len() + self.successors.len() * SUCCESSOR + self.events.len() * EVENT + notes
    }

    /// Forgets the steps of the state that was begun last.
    fn cancel_state(&mut self) {
        self.successors.truncate(self.steps.last().copied().unwrap_or(0));
        let [_, words, events, notes] = self.successors.last().map_or([0; 4], |before| before.ends);
        self.words.truncate(words);
        self.events.truncate(events);
        self.notes.truncate(notes);
    }

    /// The steps, state by state.
    pub(super) fn by_state(&self) -> impl Iterator<Item = Range<usize>> {
        let start = |index: usize| if index == 0 { 0 } else { self.steps[index - 1] };
        self.steps.iter().enumerate().map(move |(index, &end)| start(index)..end)
    }

    pub(super) fn step(&self, index: usize) -> Step<'_, N> {
        let successor = self.successors[index];
        let [_, words, events, notes] = index.checked_sub(1).map_or([0; 4], |before| self.successors[before].ends);
        let [state_end, monitor_end, events_end, notes_end] = successor.ends;
        Step {
            successor,
            state: &self.words[words..state_end],
            monitor: &self.words[state_end..monitor_end],
            events: &self.events[events..events_end],
            notes: &self.notes[notes..notes_end],
        }
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.successors.clear();
        self.words.clear();
        self.events.clear();
        self.notes.clear();
    }
}

/// Expands states apart from the engine.
pub(super) struct Worker<G: Monitor> {
    tables: Tables,
    parent: (State, G),
    child: (State, G),
    encoding: Encoding,
    more: Vec<u64>,
    moves: Vec<Move>,
    /// How large its batch may become.
    room: usize,
    /// Instructions that it has executed for its batch.
    pub(super) executed: Work,
    pub(super) batch: Batch<G::Note>,
}

impl<G: Monitor> Worker<G> {
    pub(super) fn new(monitor: &G) -> Worker<G> {
        Worker {
            tables: Tables::new(),
            parent: (State::default(), monitor.clone()),
            child: (State::default(), monitor.clone()),
            encoding: Encoding::default(),
            more: Vec::new(),
            moves: Vec::new(),
            room: BATCH_WORDS,
            executed: Work::default(),
            batch: Batch::default(),
        }
    }

    /// Expands the states of a piece of a level, from its beginning as far as there is room. `watched` says whether events are
    /// asked for.
    pub(super) fn expand(
        &mut self,
        machine: &Machine,
        found: &Searched,
        level: &Frontier,
        piece: Range<usize>,
        watched: bool,
    ) {
        let Searched { graph, tables, .. } = found;
        self.batch.clear();
        self.executed = Work::default();
        self.tables.catch_up(tables);
        for of in level.part(piece) {
            if !self.expand_state(machine, of, watched) {
                self.batch.cancel_state();
                break;
            }
        }
        // The table is far larger than the caches: its lines are fetched side by side here, and are at hand later.
        for successor in &mut self.batch.successors {
            if matches!(successor.leads, Leads::On | Leads::ToEnd) {
                successor.known = graph.find(successor.fingerprint);
            }
        }
    }

    /// Does all steps of a state; false if there was no room for them.
    fn expand_state(&mut self, machine: &Machine, of: Waiting<'_>, watched: bool) -> bool {
        machine.decode(of.state, &mut self.parent.0);
        self.parent.1.decode(of.monitor);
        let mut moves = std::mem::take(&mut self.moves);
        machine.moves(&self.parent.0, &mut moves);
        self.parent.1.restrict(&self.parent.0, &mut moves);
        let choices = moves.iter().flat_map(|&Move { thread, alternatives }| {
            (0..alternatives).map(move |alternative| Choice { thread, alternative })
        });
        let mut has_room = true;
        for choice in choices {
            has_room = self.batch.size() < self.room && self.executed.0 < BATCH_INSTRUCTIONS;
            if !has_room {
                break;
            }
            self.step(machine, choice, watched);
        }
        self.moves = moves;
        if has_room {
            self.batch.steps.push(self.batch.successors.len());
        }
        has_room
    }

    fn step(&mut self, machine: &Machine, choice: Choice, watched: bool) {
        self.child.0.clone_from(&self.parent.0);
        self.child.1.clone_from(&self.parent.1);
        let batch = &mut self.batch;
        let (state, monitor) = &mut self.child;
        let marks = self.tables.marks();
        let mut observer = (&mut *monitor, &mut self.executed);
        let progress = if watched {
            machine.step(state, &mut self.tables, choice, &mut (&mut batch.events, &mut observer))
        } else {
            machine.step(state, &mut self.tables, choice, &mut observer)
        };
        let is_known = self.tables.marks() == marks;
        if is_known && progress != vm::Progress::Discarded {
            monitor.settle(machine, state);
        }
        let leads = match progress {
            _ if !is_known => {
                self.tables.truncate(marks);
                Leads::Unknown
            }
            vm::Progress::Discarded => Leads::Discarded,
            _ if monitor.is_dead() => Leads::Discarded,
            vm::Progress::Running => Leads::On,
            vm::Progress::Finished | vm::Progress::Failed(_) => Leads::ToEnd,
        };
        let (mut fingerprint, mut state_end) = (0, batch.words.len());
        if matches!(leads, Leads::On | Leads::ToEnd) {
            batch.notes.extend_from_slice(monitor.notes());
            machine.encode(state, &mut self.encoding);
            let monitor_words = encode_rest(monitor, progress, &mut self.more);
            fingerprint = fingerprint::fingerprint(&self.encoding, &self.more);
            if leads == Leads::On {
                batch.words.extend_from_slice(self.encoding.words());
                state_end = batch.words.len();
                batch.words.extend_from_slice(&self.more[..monitor_words]);
            }
        }
        let ends = [state_end, batch.words.len(), batch.events.len(), batch.notes.len()];
        batch.successors.push(Successor { choice, leads, fingerprint, known: None, ends });
    }
}

/// Lets each worker expand a piece of the rest of a level, all at a time. `size` is the number of states of a piece, `watched`
/// says whether events are asked for. Gives the pieces.
pub(super) fn expand<G: Monitor + Send>(
    workers: &mut [Worker<G>],
    machine: &Machine,
    found: &Searched,
    level: &Frontier,
    rest: Range<usize>,
    (size, watched): (usize, bool),
) -> Vec<Range<usize>> {
    let size = size.min(rest.len().div_ceil(workers.len().max(1)));
    let piece = |index: usize| {
        let start = (rest.start + index * size).min(rest.end);
        start..(start + size).min(rest.end)
    };
    let pieces = (0..workers.len()).map(piece).collect();
    let Some((first, others)) = workers.split_first_mut() else { return pieces };
    let mut left = Vec::new();
    thread::scope(|scope| {
        for (index, worker) in others.iter_mut().enumerate() {
            let piece = piece(index + 1);
            let work = move || worker.expand(machine, found, level, piece, watched);
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                left.push(index);
            }
        }
        first.expand(machine, found, level, piece(0), watched);
    });
    // Those for which no thread could be made.
    for index in left {
        others[index].expand(machine, found, level, piece(index + 1), watched);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Statistics;
    use crate::explore::states::graph::Graph;
    use crate::front::compile;
    use crate::source::SourceMap;
    use crate::vm::{ThreadIndex, Visibility};

    #[test]
    fn a_worker_stops_before_the_state_for_which_there_is_no_room() {
        let arms: String = (0..40).map(|arm| format!("T{arm}: x = {arm}; y = x;\n")).collect();
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", &format!("int x, y;\ncobegin\n{arms}coend\n"));
        let program = compile(&sources, file, &[]).program.expect("a program");
        let machine = Machine::new(&program, &Visibility::all(&program));
        let mut tables = Tables::new();
        let mut state = machine.initial(&mut tables);
        machine.step(&mut state, &mut tables, Choice { thread: ThreadIndex(0), alternative: 0 }, &mut ());
        let found = Searched {
            graph: Graph::default(),
            tables,
            statistics: Statistics::default(),
            bound: None,
            stopped: false,
        };
        let mut encoding = Encoding::default();
        machine.encode(&state, &mut encoding);
        let mut first = Frontier::default();
        first.push(0, encoding.words(), &[]);
        let mut whole = Worker::new(&());
        whole.expand(&machine, &found, &first, 0..1, false);
        let mut level = Frontier::default();
        (0..40).for_each(|index| level.push(0, whole.batch.step(index).state, &[]));
        whole.expand(&machine, &found, &level, 0..40, false);
        assert_eq!((whole.batch.states(), whole.batch.successors.len()), (40, 1_600));
        for room in [0, 1_000, 20_000, 100_000] {
            let mut worker = Worker { room, ..Worker::new(&()) };
            worker.expand(&machine, &found, &level, 0..40, false);
            let states = worker.batch.states();
            assert!(states < 40 && (room < 20_000 || states > 0), "{states} states with room for {room}");
            // The last step may be the one that does not fit any more.
            assert!(worker.batch.size() < room + 1_000, "{} with room for {room}", worker.batch.size());
            assert_eq!(worker.batch.successors.len(), 40 * states);
            for index in 0..40 * states {
                let (ours, theirs) = (worker.batch.step(index), whole.batch.step(index));
                assert_eq!((ours.state, ours.successor.fingerprint), (theirs.state, theirs.successor.fingerprint));
            }
        }
    }
}
