//! Breadth-first search through all states.
//!
//! **Input**: a machine, a budget, a [`Monitor`] (the data that the search must remember beyond the state of the machine), and a
//! [`Visitor`]. **Output**: the [`Graph`] of all states, and calls of the visitor for each step and each end.
//!
//! **Algorithm**: explicit-state search, level by level, as in SPIN (Holzmann, "The Model Checker SPIN", 1997).
//! 1. The states of a level wait, each as the difference from the previous one (`frontier`). The states of the next level are
//!    appended in the same way. Nothing is allocated for a step.
//! 2. A state is decoded, and the machine executes each of its choices, observed by the monitor and by the visitor (`watch`). If
//!    the monitor remembers nothing, a step that was executed before in a similar state is not executed again (`collapsed`).
//! 3. A 128-bit fingerprint identifies the successor (`fingerprint`). It is computed from that of the previous state and from the
//!    changes of the step. A new successor becomes a node of the graph, which keeps the step that first led to it, and waits for
//!    the next level.
//! 4. If there are many states and the question allows it, only one thread is expanded where that suffices ([`Reduction`]).
//!
//! **Soundness and limits**: if no bound is hit, each state that an execution can reach is a node, and the path to it is a
//! shortest one. With reduction this holds only up to [`Statistics::all_states_to`]. Two states with one fingerprint would be
//! merged: with 10^9 states the probability is below 10^-20. The states themselves are not kept: they are recovered by repeating
//! the steps.

mod ahead;
pub mod assumption;
mod bounds;
mod bytes;
mod changes;
pub(crate) mod chunks;
mod collapse;
mod collapsed;
pub mod completion;
pub(crate) mod dictionary;
pub(crate) mod edges;
mod expansion;
pub(crate) mod fingerprint;
pub(crate) mod frontier;
pub mod graph;
mod images;
mod memo;
mod monitor;
mod numbered;
pub(crate) mod open;
mod origin;
pub(crate) mod reversed;
mod round_robin;
pub(crate) mod terms;
mod visited;
mod visitor;
mod watch;

use ahead::Ahead;
use collapse::Collapse;
use dictionary::Dictionary;
pub use fingerprint::fingerprint_of;
use fingerprint::{encode_failure, with_rest};
use frontier::{Block, Frontier, Reader, Waiting};
pub use monitor::Monitor;
use numbered::NumberReader;
pub(crate) use visited::Fingerprints;
pub use visitor::{AtEnds, End, EndContext, Transition, Visitor};
use watch::{Task, Watch, Watched};

use crate::reduction::Reduction;
use crate::states::graph::{DISCARDED, Graph, NodeKind};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_vm::{Choice, Encoding, Hashes, Machine, Move, Progress, State, Tables, ThreadIndex, Work};
use std::ops::ControlFlow;

/// What a search has found.
pub struct Searched {
    /// The states that were met.
    pub graph: Graph,
    /// The names of threads, and what was printed.
    pub tables: Tables,
    /// How much was visited.
    pub statistics: Statistics,
    /// The bound that was hit.
    pub bound: Option<Bound>,
    /// Whether the visitor has stopped the search.
    pub stopped: bool,
}

struct Engine<'a> {
    machine: &'a Machine,
    budget: &'a Budget<'a>,
    watch: &'a mut dyn Watch,
    reduction: Option<Reduction<'a>>,
    /// Whether states of this level are reduced.
    reduces: bool,
    /// The node that the last step has led to; the first one if it was discarded.
    arrived: u32,
    found: Searched,
    next: Frontier,
    dictionary: Dictionary,
    reader: Reader,
    number_reader: NumberReader,
    collapse: Collapse,
    /// The steps of the states that are expanded next, and their memory, for they are taken out while these are.
    ahead: Ahead,
    ahead_bytes: u64,
    /// States of the level that were not begun yet, and memory of all that are not given back.
    left: usize,
    level_bytes: u64,
    /// Words of the state that is expanded.
    words: u64,
    parent: State,
    child: State,
    hashes: Hashes,
    encoding: Encoding,
    /// What a state is known by besides: the words of the monitor, and a failure.
    more: Vec<u64>,
    moves: Vec<Move>,
    /// States that were expanded, or begun.
    entered: u64,
    /// Steps that were done when the last one was begun.
    steps_before: u64,
    /// Words of states that steps have led to since the bounds were looked at.
    work: u64,
    /// Instructions that steps have executed since the clock was looked at.
    executed: Work,
}

/// Memory that the dictionary of threads may take where there are few states.
const DICTIONARY: u64 = 1 << 16;

/// Words of states that steps lead to between two looks at the bounds, at most, and those of one state.
const LOOK: u64 = 1 << 20;

/// Instructions between two looks at the clock, at most, and those of one step: some hundredths of a second.
pub(crate) const LOOK_INSTRUCTIONS: u64 = 4 << 20;

/// Searches all states; `monitor` is what is known before the first step.
pub fn search<G: Monitor, V: Visitor<G>>(
    machine: &Machine,
    budget: &Budget<'_>,
    monitor: G,
    visitor: &mut V,
) -> Searched {
    search_with_names(machine, Tables::new(), budget, monitor, visitor)
}

/// As [`search`], with the names of threads that are known before: they keep their ids.
pub fn search_with_names<G: Monitor, V: Visitor<G>>(
    machine: &Machine,
    tables: Tables,
    budget: &Budget<'_>,
    monitor: G,
    visitor: &mut V,
) -> Searched {
    search_by(machine, tables, budget, monitor, visitor, None)
}

/// As [`search`], with names that are known, and with reduction.
pub(crate) fn search_by<G: Monitor, V: Visitor<G>>(
    machine: &Machine,
    tables: Tables,
    budget: &Budget<'_>,
    monitor: G,
    visitor: &mut V,
    reduction: Option<Reduction<'_>>,
) -> Searched {
    let graph = if visitor.asks_for_edges() { Graph::default() } else { Graph::without_edges() };
    let collapse = Collapse::new(machine, !G::REMEMBERS && machine.has_parts());
    let found = Searched { graph, tables, statistics: Statistics::default(), bound: None, stopped: false };
    search_watched((machine, budget), reduction, (found, collapse), &mut Watched::new(monitor, visitor))
}

fn search_watched<'a>(
    (machine, budget): (&'a Machine, &'a Budget<'a>),
    reduction: Option<Reduction<'a>>,
    (found, collapse): (Searched, Collapse),
    watch: &'a mut dyn Watch,
) -> Searched {
    let mut engine = Engine {
        machine,
        budget,
        watch,
        reduction: reduction.filter(|reduction| reduction.serves(machine)),
        reduces: false,
        arrived: 0,
        found,
        next: Frontier::default(),
        dictionary: Dictionary::default(),
        reader: Reader::default(),
        number_reader: NumberReader::default(),
        collapse,
        ahead: Ahead::default(),
        ahead_bytes: 0,
        left: 0,
        level_bytes: 0,
        words: 0,
        parent: State::default(),
        child: State::default(),
        hashes: Hashes::default(),
        encoding: Encoding::default(),
        more: Vec::new(),
        moves: Vec::new(),
        entered: 0,
        steps_before: 0,
        work: 0,
        executed: Work::default(),
    };
    // `Break` means that the search is over; `found` says why.
    let _ = engine.run();
    engine.found.statistics.states = engine.found.graph.len() as u64;
    engine.found
}

impl Engine<'_> {
    fn run(&mut self) -> ControlFlow<()> {
        self.dictionary.make_room(DICTIONARY);
        self.start()?;
        let mut level = Frontier::default();
        while !self.next.is_empty() {
            std::mem::swap(&mut level, &mut self.next);
            self.next.clear();
            (self.left, self.level_bytes) = (level.len(), level.bytes());
            if self.budget.limits().max_steps.is_some_and(|limit| self.found.statistics.depth >= limit) {
                self.close_level(&mut level);
                return ControlFlow::Break(());
            }
            self.begin_level();
            self.expand_level(&mut level)?;
            self.found.statistics.depth += 1;
        }
        ControlFlow::Continue(())
    }

    /// A level begins. What is settled here is so for all of its states.
    fn begin_level(&mut self) {
        let states = self.found.graph.len() as u64;
        self.collapse.begin(states);
        self.reduces = self.reduction.is_some_and(|reduction| states >= reduction.from);
        if self.reduces {
            self.found.graph.set_reduced();
            self.found.statistics.all_states_to.get_or_insert(self.found.statistics.depth);
        }
    }

    fn expand_level(&mut self, level: &mut Frontier) -> ControlFlow<()> {
        while let Some(block) = level.take() {
            if block.is_numbered {
                self.expand_numbered(&block)?;
            } else {
                self.expand_words(&block)?;
            }
            self.level_bytes = self.level_bytes.saturating_sub(block.bytes());
        }
        ControlFlow::Continue(())
    }

    /// Expands the states of a block that are known by their words.
    fn expand_words(&mut self, block: &Block) -> ControlFlow<()> {
        let mut reader = std::mem::take(&mut self.reader);
        reader.begin();
        let mut over = ControlFlow::Continue(());
        while over.is_continue() && reader.next(block, &self.dictionary) {
            let state = reader.state();
            self.words = (state.state.len() + state.monitor.len()) as u64;
            over = self.look();
            if over.is_continue() {
                self.load(state);
                over = self.expand(state.node);
            }
        }
        self.reader = reader;
        over
    }

    fn load(&mut self, waiting: Waiting<'_>) {
        self.machine.load(waiting.state, waiting.ends, &mut self.parent, &mut self.hashes);
        self.watch.decode(waiting.monitor);
        self.collapse.forget_loaded();
    }

    /// Loads the next state of a block that was begun with; gives its node.
    fn load_next(&mut self, block: &Block) -> u32 {
        if block.is_numbered {
            let mut reader = std::mem::take(&mut self.number_reader);
            reader.next(block, &self.collapse.parts);
            self.load_numbers(reader.state().0);
            let node = reader.node();
            self.number_reader = reader;
            return node;
        }
        let mut reader = std::mem::take(&mut self.reader);
        reader.next(block, &self.dictionary);
        self.load(reader.state());
        let node = reader.state().node;
        self.reader = reader;
        node
    }

    /// Lets the machine do a step of the state of `child`, or the beginning.
    fn run_machine(&mut self, choice: Option<Choice>) -> Progress {
        let Engine { machine, watch, found, child, more, executed, .. } = self;
        watch.step(&mut Task { machine, tables: &mut found.tables, state: child, choice, work: executed }, more)
    }

    /// Enters the first state.
    fn start(&mut self) -> ControlFlow<()> {
        let progress = self.run_machine(None);
        self.arrive(0, Choice { thread: ThreadIndex(0), alternative: 0 }, progress)
    }

    /// The states of a level are not expanded because their executions are as long as may be.
    fn close_level(&mut self, level: &mut Frontier) {
        while let Some(block) = level.take() {
            self.reader.begin();
            self.number_reader.begin();
            for _ in 0..block.len() {
                let node = self.load_next(&block);
                if !self.parent_moves().is_empty() {
                    self.found.bound = Some(Bound::Steps);
                    continue;
                }
                if self.deadlock(node).is_break() {
                    return;
                }
            }
        }
    }

    fn ended(&mut self, wanted: ControlFlow<()>) -> ControlFlow<()> {
        if wanted.is_break() {
            self.found.stopped = true;
        }
        wanted
    }

    fn step(&mut self, node: u32, choice: Choice) -> ControlFlow<()> {
        self.may_step()?;
        self.child.copy_changes_from(&mut self.parent);
        let progress = self.run_machine(Some(choice));
        self.found.statistics.steps += 1;
        self.arrive(node, choice, progress)
    }

    /// Enters the state of `child` into the graph.
    fn arrive(&mut self, from: u32, choice: Choice, progress: Progress) -> ControlFlow<()> {
        let (kind, end) = match progress {
            Progress::Discarded => {
                self.discard(from, choice);
                return ControlFlow::Continue(());
            }
            Progress::Running => (NodeKind::Waiting, None),
            Progress::Finished => (NodeKind::Finished, Some(End::Finished)),
            Progress::Failed(failure) => (NodeKind::Failed, Some(End::Failed(failure))),
        };
        let is_first = self.found.graph.len() == 0;
        let monitor_words = self.more.len();
        encode_failure(progress, &mut self.more);
        let fingerprint = if is_first {
            self.machine.begin_hashes(&self.child, &mut self.hashes)
        } else {
            self.machine.fingerprint_behind(&self.parent, &mut self.hashes, &self.child)
        };
        let fingerprint = with_rest(fingerprint, &self.more);
        let (to, is_new) = self.found.graph.visit(fingerprint, from, choice, kind);
        self.arrived = to;
        if !is_first {
            self.found.graph.add_edge(to);
        }
        self.found.statistics.executions += u64::from(end.is_some());
        if self.watch.transition(&Transition { from, choice: (!is_first).then_some(choice), to }) {
            return self.ended(ControlFlow::Break(()));
        }
        if !is_new {
            return ControlFlow::Continue(());
        }
        match end {
            None => {
                self.machine.encode_behind(&self.hashes, &self.child, &mut self.encoding);
                self.push_state(to, monitor_words);
                self.wait()
            }
            Some(end) => {
                let (tables, state) = (&self.found.tables, &self.child);
                let context = EndContext { machine: self.machine, tables, state, monitor: &(), node: to, end };
                let wanted = self.watch.end(&context);
                self.ended(wanted)
            }
        }
    }
}
