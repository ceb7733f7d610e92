//! The search through states in the order of preemptions.
//!
//! **Input**: a machine, the accesses that race with no other access, and a budget. **Output**: the failures, deadlocks and
//! races, each with the fewest preemptions that lead to it, and the number of preemptions up to which everything was examined.
//!
//! **Algorithm**: iterative context bounding (Musuvathi and Qadeer 2007) on a graph of states instead of executions. A step costs
//! one preemption if the thread of the last step could continue ([`Machine::could_go_on`]) and another thread moves; otherwise it
//! is free. Dijkstra's shortest paths, with a queue for each number of preemptions:
//! 1. If the thread that has led to a state could continue from it, the state waits twice: for the steps of that thread now, and
//!    for the steps of all others in the queue of the next number. If it could not continue, all steps are executed now.
//! 2. Each step of each state is executed once, at the least cost at which an execution reaches it ([`Claims`]). So all numbers
//!    together execute no more steps than a search without a bound. A path that reaches a known state for the steps of another
//!    thread is kept in addition to the first one: each path has as many preemptions as its number says.
//! 3. After a step, a thread continues by itself through accesses that race with no other access, if this leads to no end.
//! 4. The output and the last writers do not distinguish states.
//!
//! **Soundness and limits**: exact for each number whose queue was emptied. Point 3: suppose that an execution leaves a thread t
//! before such an access. The access can be executed before the steps of the others instead. It neither blocks nor releases any
//! other thread, so no other switch becomes a preemption, and a preemption may disappear.

use super::claims::Claims;
use super::going_on::{go_on, steps};
use super::races::Races;
use crate::question::bad_ends::BadEnds;
use crate::states::End;
use crate::states::chunks::Chunks;
use crate::states::dictionary::Dictionary;
use crate::states::fingerprint::{encode_failure, with_rest};
use crate::states::frontier::{Block, Frontier, Reader, Waiting};
use crate::states::graph::{Graph, NodeKind};
use crate::states::reversed::Reversed;
use cssame_budget::{Bound, Budget, Statistics};
use cssame_vm::{Choice, Encoding, Hashes, Machine, Move, Progress, State, Tables, ThreadIndex, Visibility, Work};
use std::ops::ControlFlow;

/// States between two looks at the bounds, and instructions.
const LOOK: u64 = 1_024;
const LOOK_INSTRUCTIONS: u64 = 4 << 20;
/// How many of these it takes to look for races with the next access of a thread.
const ACCESS: u64 = 16;

/// Memory that the dictionary of threads may take where there are few states.
const DICTIONARY: u64 = 1 << 16;

/// Which steps of a state are to be done; as a word beside it.
#[derive(Clone, Copy)]
enum Turn {
    /// Those of the thread that has led there; those of the others wait for the next number.
    First(ThreadIndex),
    /// Those of a thread: others wait already.
    Only(ThreadIndex),
    /// All that were not done.
    All,
}

impl Turn {
    /// As a word, with the node that the way to the state ends in.
    fn word(self, way: u32) -> u64 {
        u64::from(way) << 32
            | match self {
                Turn::All => 0,
                Turn::First(thread) => 1 << 16 | u64::from(thread.0),
                Turn::Only(thread) => 2 << 16 | u64::from(thread.0),
            }
    }

    fn of(word: u64) -> (Turn, u32) {
        let thread = ThreadIndex(word as u16);
        let turn = match word as u32 >> 16 {
            1 => Turn::First(thread),
            2 => Turn::Only(thread),
            _ => Turn::All,
        };
        (turn, (word >> 32) as u32)
    }
}

/// See the module.
pub(super) struct Search<'a> {
    machine: &'a Machine,
    race_free: &'a Visibility,
    budget: &'a Budget<'a>,
    stops_at_first: bool,
    pub races: Option<Races<'a>>,
    pub bad: BadEnds<(u32, u32)>,
    pub tables: Tables,
    graph: Graph,
    claims: Claims,
    /// The steps between states, where the program may run for ever.
    edges: Option<Chunks<(u32, u32)>>,
    /// The state that is expanded.
    at: u32,
    /// States that wait, for this number of preemptions and for the next one.
    now: Frontier,
    later: Frontier,
    dictionary: Dictionary,
    reader: Reader,
    parent: State,
    child: State,
    hashes: Hashes,
    encoding: Encoding,
    more: Vec<u64>,
    moves: Vec<Move>,
    /// Preemptions that are spent.
    pub preemptions: u32,
    pub statistics: Statistics,
    pub bound: Option<Bound>,
    work: Work,
    /// States that were looked at since the bounds were.
    looked: u64,
    waiting: u64,
}

/// Why a search has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// Nothing waits any more.
    Complete,
    /// All was looked at with as many preemptions as were asked for.
    Asked,
    /// A bound, or the first finding.
    Stopped,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        machine: &'a Machine,
        race_free: &'a Visibility,
        budget: &'a Budget<'a>,
        stops_at_first: bool,
        races: Option<Races<'a>>,
    ) -> Search<'a> {
        Search {
            machine,
            race_free,
            budget,
            stops_at_first,
            races,
            bad: BadEnds::default(),
            tables: Tables::new(),
            graph: Graph::without_edges(),
            claims: Claims::default(),
            edges: None,
            at: 0,
            now: Frontier::default(),
            later: Frontier::default(),
            dictionary: Dictionary::default(),
            reader: Reader::default(),
            parent: State::default(),
            child: State::default(),
            hashes: Hashes::default(),
            encoding: Encoding::default(),
            more: Vec::new(),
            moves: Vec::new(),
            preemptions: 0,
            statistics: Statistics::default(),
            bound: None,
            work: Work::default(),
            looked: 0,
            waiting: 0,
        }
    }

    /// Lets it find out whether all executions end.
    pub(super) fn watch_for_cycles(&mut self) {
        self.edges = Some(Chunks::default());
    }

    /// Whether all executions end; of a search that has looked at all of them, and was told to find out.
    pub(super) fn all_end(&self) -> bool {
        self.edges.as_ref().is_none_or(|edges| is_acyclic(self.graph.len(), edges))
    }

    /// Searches, with as many preemptions as are asked for.
    pub(super) fn run(&mut self, most: Option<u32>) -> Over {
        self.dictionary.make_room(DICTIONARY);
        let mut over = self.start();
        while over.is_continue() {
            over = self.empty_queue();
            if over.is_break() {
                break;
            }
            if self.later.is_empty() {
                return Over::Complete;
            }
            if most == Some(self.preemptions) {
                return Over::Asked;
            }
            self.preemptions += 1;
            std::mem::swap(&mut self.now, &mut self.later);
        }
        Over::Stopped
    }

    /// The steps that lead to a node.
    pub(super) fn path_to(&self, node: u32) -> Vec<Choice> {
        self.graph.path_to(node)
    }

    fn start(&mut self) -> ControlFlow<()> {
        self.machine.restart(&mut self.child, &mut self.tables, &mut ());
        self.child.forget_past();
        let is_over = self.machine.is_finished(&self.child);
        let progress = if is_over { Progress::Finished } else { Progress::Running };
        let fingerprint = self.machine.begin_hashes(&self.child, &mut self.hashes);
        // No step leads to it.
        let edges = self.edges.take();
        let over = self.enter(fingerprint, 0, Choice { thread: ThreadIndex(0), alternative: 0 }, progress);
        self.edges = edges;
        over
    }

    /// Does all steps that cost no further preemption.
    fn empty_queue(&mut self) -> ControlFlow<()> {
        while let Some(block) = self.now.take() {
            self.waiting = (self.now.len() + self.later.len()) as u64;
            let mut reader = std::mem::take(&mut self.reader);
            reader.begin();
            let over = self.expand_block(&block, &mut reader);
            self.reader = reader;
            over?;
        }
        ControlFlow::Continue(())
    }

    fn expand_block(&mut self, block: &Block, reader: &mut Reader) -> ControlFlow<()> {
        while reader.next(block, &self.dictionary) {
            self.look(block.bytes())?;
            self.expand(&reader.state())?;
        }
        ControlFlow::Continue(())
    }

    /// Looks at the bounds now and then.
    fn look(&mut self, block: u64) -> ControlFlow<()> {
        self.looked += 1;
        if !self.looked.is_multiple_of(LOOK) && self.work.0 < LOOK_INSTRUCTIONS {
            return ControlFlow::Continue(());
        }
        self.work = Work::default();
        self.statistics.waiting = self.waiting;
        if let Err(bound) = self.budget.report(&self.statistics) {
            return self.stop(bound);
        }
        self.dictionary.make_room(DICTIONARY.max(2 * self.statistics.states));
        let waiting = self.now.bytes() + self.later.bytes() + self.dictionary.bytes() + block;
        let edges = self.edges.as_ref().map_or(0, Chunks::bytes);
        let known = self.graph.bytes() + self.claims.bytes() + 2 * edges + self.tables.bytes() + self.bad.bytes();
        if self.budget.exceeds_memory(waiting + known) { self.stop(Bound::Memory) } else { ControlFlow::Continue(()) }
    }

    fn stop(&mut self, bound: Bound) -> ControlFlow<()> {
        self.bound = Some(bound);
        ControlFlow::Break(())
    }

    /// Does the steps of a state whose turn it is.
    fn expand(&mut self, waiting: &Waiting<'_>) -> ControlFlow<()> {
        let node = waiting.node;
        self.at = node;
        let (turn, way) = Turn::of(waiting.monitor[0]);
        if matches!(turn, Turn::All) && self.claims.all_done(node) {
            return ControlFlow::Continue(());
        }
        self.machine.load(waiting.state, waiting.ends, &mut self.parent, &mut self.hashes);
        let mut moves = std::mem::take(&mut self.moves);
        self.machine.moves(&self.parent, &mut moves);
        let over = match turn {
            Turn::All => self.all_moves((node, way), &moves),
            Turn::First(thread) => {
                if moves.iter().any(|one| one.thread != thread) {
                    let state = (waiting.state, waiting.ends);
                    self.later.push(node, state, &[Turn::All.word(way)], &mut self.dictionary);
                } else {
                    self.claims.set_all(node);
                }
                self.moves_of(way, &moves, thread)
            }
            Turn::Only(thread) => self.moves_of(way, &moves, thread),
        };
        self.moves = moves;
        over
    }

    fn all_moves(&mut self, (node, way): (u32, u32), moves: &[Move]) -> ControlFlow<()> {
        self.claims.set_all(node);
        if moves.is_empty() {
            return self.ends(way, End::Deadlock);
        }
        for one in moves {
            if self.claims.claim(node, one.thread) {
                self.moves_of(way, moves, one.thread)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn moves_of(&mut self, way: u32, moves: &[Move], thread: ThreadIndex) -> ControlFlow<()> {
        let alternatives = moves.iter().find(|one| one.thread == thread).map_or(0, |one| one.alternatives);
        (0..alternatives).try_for_each(|alternative| self.step(way, Choice { thread, alternative }))
    }

    /// Does a step of the state of `parent`.
    fn step(&mut self, way: u32, choice: Choice) -> ControlFlow<()> {
        if self.work.0 >= LOOK_INSTRUCTIONS
            && let Some(bound) = self.budget.check()
        {
            return self.stop(bound);
        }
        self.child.copy_changes_from(&mut self.parent);
        let (mut progress, done) =
            go_on((self.machine, self.race_free), &mut self.child, &mut self.tables, choice, &mut self.work);
        self.statistics.steps += u64::from(done);
        if progress != Progress::Running && done > 1 {
            // The end is a step of its own.
            self.child.copy_changes_from(&mut self.parent);
            progress = steps(self.machine, &mut self.child, &mut self.tables, choice, done - 1);
        }
        if progress == Progress::Discarded {
            return ControlFlow::Continue(());
        }
        self.child.forget_past();
        let fingerprint = self.machine.fingerprint_behind(&self.parent, &mut self.hashes, &self.child);
        self.enter(fingerprint, way, choice, progress)
    }

    /// Enters the state of `child`.
    fn enter(&mut self, fingerprint: u128, from: u32, choice: Choice, progress: Progress) -> ControlFlow<()> {
        self.more.clear();
        encode_failure(progress, &mut self.more);
        let (kind, end) = match progress {
            Progress::Finished => (NodeKind::Finished, Some(End::Finished)),
            Progress::Failed(failure) => (NodeKind::Failed, Some(End::Failed(failure))),
            Progress::Running | Progress::Discarded => (NodeKind::Waiting, None),
        };
        let (node, is_new) = self.graph.visit(with_rest(fingerprint, &self.more), from, choice, kind);
        self.statistics.states += u64::from(is_new);
        if let Some(edges) = &mut self.edges {
            edges.push((self.at, node));
        }
        if let Some(end) = end {
            return if is_new { self.ends(node, end) } else { ControlFlow::Continue(()) };
        }
        let last = choice.thread;
        let goes_on = self.machine.could_go_on(&self.child, last);
        let turn = match (is_new, goes_on) {
            (true, true) => Turn::First(last),
            (true, false) => Turn::All,
            (false, true) => Turn::Only(last),
            (false, false) => Turn::All,
        };
        let is_wanted = if goes_on { self.claims.claim(node, last) } else { !self.claims.all_wait(node) };
        if is_wanted {
            let way = if is_new { node } else { self.graph.add_way(from, choice) };
            self.machine.encode_behind(&self.hashes, &self.child, &mut self.encoding);
            let state = (self.encoding.words(), self.encoding.ends());
            self.now.push(node, state, &[turn.word(way)], &mut self.dictionary);
        }
        if let Some(races) = self.races.as_mut().filter(|_| is_new) {
            let accesses = races.look((&self.parent, &self.child), &mut self.tables, (last, node, self.preemptions));
            self.work.0 += ACCESS * accesses as u64;
        }
        let most = self.budget.limits().max_states.unwrap_or(u64::MAX);
        if self.statistics.states > most || self.graph.len() as u64 >= u64::from(u32::MAX) {
            self.stop(Bound::States)
        } else {
            ControlFlow::Continue(())
        }
    }

    /// An execution ends: in the state of `parent` if it is a deadlock, else in that of `child`.
    fn ends(&mut self, node: u32, end: End) -> ControlFlow<()> {
        self.statistics.executions += 1;
        let state = if end == End::Deadlock { &self.parent } else { &self.child };
        let preemptions = self.preemptions;
        let is_new = self.bad.note((self.machine, &self.tables, state), end, || (node, preemptions));
        if is_new && self.stops_at_first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Whether no state leads back to itself.
fn is_acyclic(states: usize, edges: &Chunks<(u32, u32)>) -> bool {
    let all = || (0..edges.len()).map(|index| edges.get(index));
    // Where all steps lead to later states there is no cycle.
    if all().all(|(from, to)| from < to) {
        return true;
    }
    let reversed = Reversed::new(states, |tell| all().for_each(|(from, to)| tell(from, to)));
    // Steps of each state that lead to one that was not taken away; a cycle is never taken away.
    let mut open = vec![0u32; states];
    all().for_each(|(from, _)| open[from as usize] += 1);
    let mut waiting: Vec<u32> = (0..states as u32).filter(|&state| open[state as usize] == 0).collect();
    let mut taken = 0;
    while let Some(state) = waiting.pop() {
        taken += 1;
        for &source in reversed.sources(state) {
            open[source as usize] -= 1;
            if open[source as usize] == 0 {
                waiting.push(source);
            }
        }
    }
    taken == states
}
