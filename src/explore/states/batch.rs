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

use super::dictionary::Dictionary;
use super::fingerprint::{encode_rest, with_rest};
use super::frontier::{Block, Reader, Waiting};
use super::origin::Happened;
use super::{Monitor, Searched};
use crate::reduction::Reduction;
use cssame_vm as vm;
use cssame_vm::{Choice, Encoding, Hashes, Machine, Move, State, Tables, Work};
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
    /// Ends of its words for the state, of the ends of the parts of these, of its words for the monitor, of its events, and of its
    /// notes, in the batch. There are no words where the node is known.
    ends: [usize; 5],
}

/// Words that a batch may hold: 32 MiB.
const BATCH_WORDS: usize = 4 << 20;

/// Instructions that may be executed for a batch: nobody looks at the clock before it is done.
const BATCH_INSTRUCTIONS: u64 = 64 << 20;

/// A state that was expanded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expanded {
    pub node: u32,
    /// The number of its words.
    pub words: u64,
    /// The thread, by its place in the list of moves, that was expanded alone.
    pub alone: Option<usize>,
    /// Where its steps end.
    end: usize,
}

/// What a worker has found about a piece of a level, with notes of the monitor.
pub(super) struct Batch<N> {
    states: Vec<Expanded>,
    successors: Vec<Successor>,
    words: Vec<u64>,
    parts: Vec<u32>,
    events: Vec<Happened>,
    notes: Vec<N>,
}

impl<N> Default for Batch<N> {
    fn default() -> Self {
        let (states, successors, words, parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Batch { states, successors, words, parts, events: Vec::new(), notes: Vec::new() }
    }
}

/// A step of a batch, with what belongs to it.
pub(super) struct Step<'a, N> {
    pub successor: Successor,
    /// The words of the state, and the ends of their parts.
    pub state: (&'a [u64], &'a [u32]),
    pub monitor: &'a [u64],
    pub events: &'a [Happened],
    pub notes: &'a [N],
}

impl<N> Batch<N> {
    /// Number of states that were expanded.
    pub(super) fn states(&self) -> usize {
        self.states.len()
    }

    /// About how much memory it takes, in words.
    fn size(&self) -> usize {
        const SUCCESSOR: usize = size_of::<Successor>() / size_of::<u64>();
        const EVENT: usize = size_of::<Happened>() / size_of::<u64>();
        let notes = (self.notes.len() * size_of::<N>()).div_ceil(size_of::<u64>());
        let words = self.words.len() + self.parts.len().div_ceil(2);
        words + self.successors.len() * SUCCESSOR + self.events.len() * EVENT + notes
    }

    /// Forgets the steps of the state that was begun last.
    fn cancel_state(&mut self) {
        self.successors.truncate(self.states.last().map_or(0, |last| last.end));
        let [_, parts, words, events, notes] = self.successors.last().map_or([0; 5], |before| before.ends);
        self.words.truncate(words);
        self.parts.truncate(parts);
        self.events.truncate(events);
        self.notes.truncate(notes);
    }

    /// The states that were expanded, with their steps.
    pub(super) fn by_state(&self) -> impl Iterator<Item = (Expanded, Range<usize>)> {
        let start = |index: usize| if index == 0 { 0 } else { self.states[index - 1].end };
        self.states.iter().enumerate().map(move |(index, &state)| (state, start(index)..state.end))
    }

    pub(super) fn step(&self, index: usize) -> Step<'_, N> {
        let successor = self.successors[index];
        let before = index.checked_sub(1).map_or([0; 5], |before| self.successors[before].ends);
        let [_, parts, words, events, notes] = before;
        let [state_end, parts_end, monitor_end, events_end, notes_end] = successor.ends;
        Step {
            successor,
            state: (&self.words[words..state_end], &self.parts[parts..parts_end]),
            monitor: &self.words[state_end..monitor_end],
            events: &self.events[events..events_end],
            notes: &self.notes[notes..notes_end],
        }
    }

    fn clear(&mut self) {
        self.states.clear();
        self.successors.clear();
        self.words.clear();
        self.parts.clear();
        self.events.clear();
        self.notes.clear();
    }
}

/// Expands states apart from the engine.
pub(super) struct Worker<G: Monitor> {
    tables: Tables,
    reader: Reader,
    parent: (State, G),
    child: (State, G),
    hashes: Hashes,
    encoding: Encoding,
    more: Vec<u64>,
    moves: Vec<Move>,
    /// How large its batch may become, in words.
    room: usize,
    /// Instructions that it has executed for its batch.
    pub(super) executed: Work,
    pub(super) batch: Batch<G::Note>,
}

/// States that a worker expands: of a block those from a number on, as many as are said.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub block: usize,
    pub states: Range<usize>,
}

/// Where the states of a level are found, and what is known.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub machine: &'a Machine,
    pub found: &'a Searched,
    pub dictionary: &'a Dictionary,
    pub blocks: &'a [Block],
    /// Whether events are asked for.
    pub watched: bool,
    /// How states of this level are reduced, if they are.
    pub reduction: Option<Reduction<'a>>,
}

impl<G: Monitor> Worker<G> {
    /// One whose batch takes so many bytes, and no more than [`BATCH_WORDS`].
    pub(super) fn new(monitor: &G, bytes: u64) -> Worker<G> {
        Worker {
            tables: Tables::new(),
            reader: Reader::default(),
            parent: (State::default(), monitor.clone()),
            child: (State::default(), monitor.clone()),
            hashes: Hashes::default(),
            encoding: Encoding::default(),
            more: Vec::new(),
            moves: Vec::new(),
            room: BATCH_WORDS.min((bytes / size_of::<u64>() as u64) as usize),
            executed: Work::default(),
            batch: Batch::default(),
        }
    }

    /// Expands the states of a piece of a level, from its beginning as far as there is room.
    pub(super) fn expand(&mut self, scene: Scene<'_>, piece: &Piece) {
        self.batch.clear();
        self.executed = Work::default();
        self.tables.catch_up(&scene.found.tables);
        let Some(block) = scene.blocks.get(piece.block) else { return };
        let mut reader = std::mem::take(&mut self.reader);
        reader.skip_to(piece.states.start, block, scene.dictionary);
        while reader.read() < piece.states.end && reader.next(block, scene.dictionary) {
            if !self.expand_state(scene, reader.state()) {
                self.batch.cancel_state();
                break;
            }
        }
        self.reader = reader;
    }

    /// Does all steps of a state; false if there was no room for them.
    fn expand_state(&mut self, scene: Scene<'_>, of: Waiting<'_>) -> bool {
        let machine = scene.machine;
        machine.load(of.state, of.ends, &mut self.parent.0, &mut self.hashes);
        self.parent.1.decode(of.monitor);
        let mut moves = std::mem::take(&mut self.moves);
        machine.moves(&self.parent.0, &mut moves);
        self.parent.1.restrict(&self.parent.0, &mut moves);
        let mut alone = scene.reduction.and_then(|it| it.first(machine, &self.parent.0, &moves));
        let first = alone.map(|place| Choice { thread: moves[place].thread, alternative: 0 });
        let others = moves.iter().enumerate().filter(|&(place, _)| Some(place) != alone);
        let others = others.flat_map(|(_, &Move { thread, alternatives })| {
            (0..alternatives).map(move |alternative| Choice { thread, alternative })
        });
        let mut has_room = true;
        for choice in first.into_iter().chain(others) {
            has_room = self.batch.size() < self.room && self.executed.0 < BATCH_INSTRUCTIONS;
            if !has_room {
                break;
            }
            self.step(scene, choice);
            // Whether it is enough is known when it is entered; that it is not may be known now.
            if Some(choice) == first {
                let last = self.batch.successors.last();
                let acyclic = scene.reduction.is_some_and(|reduction| reduction.commuting.acyclic);
                let leads_on = |last: &Successor| {
                    let may_be_new = acyclic || last.known.is_none_or(|to| to > of.node);
                    may_be_new && matches!(last.leads, Leads::On | Leads::Unknown)
                };
                if last.is_some_and(leads_on) {
                    break;
                }
            }
        }
        let steps = self.batch.successors.len() - self.batch.states.last().map_or(0, |last| last.end);
        alone = alone.filter(|_| steps == 1);
        self.moves = moves;
        if has_room {
            let words = (of.state.len() + of.monitor.len()) as u64;
            self.batch.states.push(Expanded { node: of.node, words, alone, end: self.batch.successors.len() });
        }
        has_room
    }

    fn step(&mut self, Scene { machine, found, watched, .. }: Scene<'_>, choice: Choice) {
        self.child.0.copy_changes_from(&mut self.parent.0);
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
        let (mut fingerprint, mut known, mut state_end) = (0, None, batch.words.len());
        if matches!(leads, Leads::On | Leads::ToEnd) {
            batch.notes.extend_from_slice(monitor.notes());
            let monitor_words = encode_rest(monitor, progress, &mut self.more);
            fingerprint = machine.fingerprint_behind(&self.parent.0, &mut self.hashes, state);
            fingerprint = with_rest(fingerprint, &self.more);
            known = found.graph.find(fingerprint);
            if leads == Leads::On && known.is_none() {
                machine.encode_behind(&self.hashes, state, &mut self.encoding);
                batch.words.extend_from_slice(self.encoding.words());
                batch.parts.extend_from_slice(self.encoding.ends());
                state_end = batch.words.len();
                batch.words.extend_from_slice(&self.more[..monitor_words]);
            }
        }
        let ends = [state_end, batch.parts.len(), batch.words.len(), batch.events.len(), batch.notes.len()];
        batch.successors.push(Successor { choice, leads, fingerprint, known, ends });
    }
}

/// Lets each worker expand a piece, all at a time.
pub(super) fn expand<G: Monitor + Send>(workers: &mut [Worker<G>], scene: Scene<'_>, pieces: &[Piece]) {
    let mut pairs = workers.iter_mut().zip(pieces);
    let Some((first, piece)) = pairs.next() else { return };
    let mut others: Vec<(&mut Worker<G>, &Piece, bool)> = pairs.map(|(worker, piece)| (worker, piece, false)).collect();
    thread::scope(|scope| {
        for (worker, piece, is_begun) in &mut others {
            let work = move || worker.expand(scene, piece);
            *is_begun = thread::Builder::new().spawn_scoped(scope, work).is_ok();
        }
        first.expand(scene, piece);
    });
    // Those for which no thread could be made.
    for (worker, piece, _) in others.into_iter().filter(|(.., is_begun)| !is_begun) {
        worker.expand(scene, piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::frontier::Frontier;
    use crate::states::graph::Graph;
    use cssame_budget::Statistics;
    use cssame_front::compile;
    use cssame_source::SourceMap;
    use cssame_vm::{ThreadIndex, Visibility};

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
        let (mut first, mut dictionary) = (Frontier::default(), Dictionary::default());
        first.push(0, (encoding.words(), encoding.ends()), &[], &mut dictionary);
        let expand = |worker: &mut Worker<()>, level: &mut Frontier, dictionary: &Dictionary| {
            let (blocks, states) = (Vec::from_iter(level.take()), 0..40);
            let scene = Scene {
                machine: &machine,
                found: &found,
                dictionary,
                blocks: &blocks,
                watched: false,
                reduction: None,
            };
            worker.expand(scene, &Piece { block: 0, states });
        };
        let mut whole = Worker::new(&(), u64::MAX);
        expand(&mut whole, &mut first, &dictionary);
        let mut level = Frontier::default();
        (0..40).for_each(|index| level.push(0, whole.batch.step(index).state, &[], &mut dictionary));
        let steps = Vec::from_iter((0..40).map(|index| {
            let (words, ends) = whole.batch.step(index).state;
            (words.to_vec(), ends.to_vec())
        }));
        expand(&mut whole, &mut level, &dictionary);
        assert_eq!((whole.batch.states(), whole.batch.successors.len()), (40, 1_600));
        for room in [0, 1_000, 20_000, 100_000] {
            let mut worker = Worker::new(&(), 8 * room);
            let mut level = Frontier::default();
            for (words, ends) in &steps {
                level.push(0, (words, ends), &[], &mut dictionary);
            }
            expand(&mut worker, &mut level, &dictionary);
            let states = worker.batch.states();
            assert!(states < 40 && (room < 20_000 || states > 0), "{states} states with room for {room}");
            // The last step may be the one that does not fit any more.
            assert!(worker.batch.size() < room as usize + 1_000, "{} with room for {room}", worker.batch.size());
            assert_eq!(worker.batch.successors.len(), 40 * states);
            for index in 0..40 * states {
                let (ours, theirs) = (worker.batch.step(index), whole.batch.step(index));
                assert_eq!((ours.state, ours.successor.fingerprint), (theirs.state, theirs.successor.fingerprint));
            }
        }
    }
}
