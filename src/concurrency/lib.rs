//! Thread structure, calling contexts, sharing, locks held, and the may-happen-in-parallel relation.
//!
//! **Input**: the PFG of a program with a `main`. **Output**: [`Concurrency`]: the program unfolded into one flow graph without
//! calls (every function once for each calling context), in which each block belongs to one static thread; and the relations over
//! its blocks: may-happen-in-parallel (MHP), happens-before by barriers and signals, locks held, mutex bodies.
//!
//! **Algorithm**
//! 1. `context`: unfold calls by whole call strings, with the constant and reference arguments, and counting loops by iterations
//!    (`counted_loop`, `unrolling`).
//! 2. `builder`: copy the blocks of each context, and connect calls, forks and joins (`join_target`: joins of handles).
//! 3. `live_region`, `unique`, `order`: live regions of child threads, locals that are one variable for all threads, the
//!    happens-before edges of signals and barriers.
//! 4. `parallel`, `sharing`: MHP by classes of blocks, and the memory that two parallel threads access.
//! 5. On top of the result: [`lockset`], [`mutex_body`], [`repetition`].
//!
//! [`specialise`] writes the contexts of step 1 into the program, for questions about a place in its context.
//!
//! **Soundness and limits**: every execution is a path of the unfolded graph. If the unfolding would grow too large, contexts are
//! merged: for each thread, or, as the last resort, for all threads together, in a pseudo-thread that counts as parallel with
//! everything ([`Thread::unordered`]). Merging only loses precision. The layer does not see values that are not constant in their
//! context, and the order that locks, conditions and counting semaphores impose (pruning by locks belongs to `form`).

mod apart;
mod arrivals;
mod barrier;
mod builder;
mod confined;
mod context;
mod context_names;
mod context_threads;
mod context_unrolling;
mod copies;
mod counted_loop;
pub mod forward;
mod graph;
mod index_value;
mod join_target;
mod live_region;
pub mod lockset;
pub mod mutex_body;
mod operand;
mod order;
mod parallel;
mod policy;
pub mod repetition;
mod row;
pub mod row_locks;
pub mod set_table;
mod sharing;
mod signal;
pub mod specialise;
mod sync_object;
mod tried;
mod unique;
mod unrolling;
pub mod value;
mod wire;

pub use apart::Apart;
pub use builder::event_count;
pub use order::ClassId;
pub use policy::Policy;
pub use repetition::Repetition;
pub use sharing::Sharing;

use cssame_ir::sync::{self, Kind};
use cssame_ir::{BlockId, DefinitionId, FunctionId, Instruction, LeafId, LeafKind, Program, ReadId, VariableId};
use cssame_source::Span;
use cssame_source::arena::{Arena, id};
use cssame_ssa::dominators::Dominators;
use cssame_ssa::graph::Graph;
use rustc_hash::FxHashMap;
use std::ops::Range;

id! {
    /// A function in a calling context.
    ContextId
}
id! {
    /// A static thread: `main`, an arm of a fork in its context, a spawned thread.
    ThreadId
}
id! {
    /// A memory variable of a context: a global, or the local of one calling context.
    InstanceId
}
id! {
    /// A leaf of an instance, or one element of an array.
    LocationId
}
id! {
    /// The blocks of a parent in which the threads of one fork may be alive.
    RegionId
}

id! {
    /// An iteration of a loop that counts, in the iterations of the loops around it; the first is outside of all such loops.
    IterationId
}

/// The entry of `main`, and of the whole graph.
pub const MAIN_THREAD: ThreadId = ThreadId(0);

/// A function in a calling context.
#[derive(Clone, Debug)]
pub struct Context {
    /// The function.
    pub function: FunctionId,
    /// The thread that runs it.
    pub thread: ThreadId,
    /// Its parameters.
    pub arguments: Vec<value::AbstractValue>,
    /// The context that calls or forks it.
    pub caller: Option<ContextId>,
    /// Whether several activations may be live in one thread: its locals are then not single cells.
    pub recursive: bool,
    /// Its first block in the graph.
    pub entry: u32,
    /// Where its returns lead.
    pub exit: u32,
}

/// A static thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The thread that makes it.
    pub parent: Option<ThreadId>,
    /// `main`, `T1`, `outer/inner`, `parfor@7[2]`, `parfor@7[*]` where the iterations are not told apart.
    pub path: String,
    /// The block that ends with its fork.
    pub fork: u32,
    /// Whether several instances may run at once.
    pub multiple: bool,
    /// Whether nothing is known of its order: it counts as parallel with everything, itself included.
    pub unordered: bool,
    /// Whether it was spawned, not forked.
    pub spawned: bool,
    /// The context that it runs.
    pub root: ContextId,
    /// Where its parent may be while it is alive.
    pub region: Option<RegionId>,
}

/// A memory variable in a context.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The variable.
    pub variable: VariableId,
    /// The context whose frame holds it; `None` for a global.
    pub context: Option<ContextId>,
    /// Whether all accesses of one thread at any one time mean one and the same variable: a write then kills.
    pub single: bool,
    /// Whether all accesses of all threads at any one time mean one and the same variable.
    pub unique: bool,
}

/// A part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The variable.
    pub instance: InstanceId,
    /// The part of it.
    pub leaf: LeafId,
    /// An element of an array; `None` for any of them, and for what is no array.
    pub element: Option<u32>,
}

/// What an event does to an object or to the set of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Reads memory.
    Read(ReadId),
    /// Writes memory.
    Write(DefinitionId),
    /// Reads and writes in one step; `always` unless it is a `cas`, which may write nothing.
    Update {
        /// The read.
        read: ReadId,
        /// The write.
        definition: DefinitionId,
        /// Whether it writes in any case.
        always: bool,
    },
    /// An operation on synchronisation objects; the lock of a wait on a condition stands in the second list. One that
    /// tries may have acquired its object or not.
    Synchronise(Kind),
    /// Behind a branch: the last try at that place has acquired its object, which has not been released since.
    Taken(Kind),
    /// Behind a branch: the last try at that place has not acquired its object.
    NotTaken(Kind),
    /// Makes threads; the block's [`Concurrency::forks`] say which.
    Fork,
    /// Waits for all forked threads.
    Join,
    /// Waits for the thread of a handle.
    JoinThread,
    /// Begin of an atomic block.
    AtomicBegin,
    /// End of an atomic block.
    AtomicEnd,
}

impl EventKind {
    /// The operation on synchronisation objects, if it is one.
    #[must_use]
    pub fn synchronisation(self) -> Option<Kind> {
        match self {
            EventKind::Synchronise(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether it is a try, whose verdict is not known there.
    #[must_use]
    pub fn tries(self) -> bool {
        self.synchronisation().is_some_and(Kind::tries)
    }

    /// The operation by which it acquires, or may acquire, an object, if it does.
    #[must_use]
    pub fn acquisition(self) -> Option<Kind> {
        match self {
            EventKind::Synchronise(kind) | EventKind::Taken(kind) if kind.properties().acquires.is_some() => Some(kind),
            _ => None,
        }
    }

    /// The operation by which it certainly acquires an object that it has not released itself.
    #[must_use]
    pub fn certain_acquisition(self) -> Option<Kind> {
        match self {
            EventKind::Synchronise(kind) if kind.only_acquires() => Some(kind),
            EventKind::Taken(kind) => Some(kind),
            _ => None,
        }
    }
}

/// Something that happens in a block.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// Where in the text.
    pub span: Span,
    /// The possible locations of its object, as a range of [`Concurrency::operands`].
    pub operands: (u32, u32),
    /// For a wait on a condition: the possible locations of the lock.
    pub locks: (u32, u32),
}

/// A block of the unfolded graph.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its context.
    pub context: ContextId,
    /// The block of the function that it is (a part of); `None` for entries, exits and the meetings of barriers.
    pub source: Option<BlockId>,
    /// Its events, as a range of [`Concurrency::events`].
    pub events: (u32, u32),
    /// Its instructions, as a range of those of its source block.
    pub instructions: (u32, u32),
    /// Whether it ends with the terminator of its source block; else it was cut before or behind an instruction.
    pub terminates: bool,
}

/// A merge at which all branches have run, not one of them.
#[derive(Clone, Debug)]
pub struct AndJoin {
    /// The block.
    pub block: u32,
    /// The block at whose end the branches parted.
    pub marker: u32,
    /// The predecessors of the block, by branch: of one branch, any one was taken.
    pub branches: Vec<Vec<u32>>,
    /// The threads whose writes the branches may hold.
    pub threads: Vec<ThreadId>,
}

/// The unfolded program and its relations.
#[derive(Clone, Debug)]
pub struct Concurrency {
    /// Functions in their contexts.
    pub contexts: Arena<ContextId, Context>,
    /// Static threads; the first is `main`.
    pub threads: Arena<ThreadId, Thread>,
    /// Variables in their contexts.
    pub instances: Arena<InstanceId, Instance>,
    /// Parts of memory that are named by some event.
    pub locations: Arena<LocationId, Location>,
    /// Blocks; block 0 is the entry of `main`.
    pub blocks: Vec<Block>,
    /// Events of all blocks.
    pub events: Vec<Event>,
    /// Locations of all events.
    pub operands: Vec<LocationId>,
    /// Control flow within each thread: calls and returns, and past forks.
    pub local: Graph,
    /// How values flow: as [`Self::local`], but through the forked threads, and along barriers and signals.
    pub flow: Graph,
    /// Dominators of [`Self::flow`].
    pub dominators: Dominators,
    /// The threads that the fork at the end of a block makes.
    pub forks: FxHashMap<u32, Vec<ThreadId>>,
    /// Merges at which all branches have run.
    pub and_joins: Vec<AndJoin>,
    /// Blocks that end with a fork, and the blocks that begin with the join of its threads.
    pub joined: Vec<(u32, u32)>,
    /// Which parts of memory are shared.
    pub sharing: Sharing,
    /// For each block, its class: blocks of one class are parallel with the same blocks.
    pub classes: Vec<ClassId>,
    /// By event that means an element which is not known: its rows in `row_list`.
    pub rows: FxHashMap<u32, row::Rows>,
    /// The rows that `rows` names.
    pub row_list: Vec<row::Row>,
    /// What happens before what, by signals and barriers.
    pub order: order::Order,
    /// Where a parent may be while the threads that it has forked are alive.
    pub regions: live_region::Regions,
    /// Whether contexts were merged because the unfolding would have grown too large.
    pub merged: bool,
}

/// Reads of memory that see one and the same value in every execution, with its bits.
pub type KnownReads = FxHashMap<ReadId, i64>;

/// Analyses a program. A program without `main` has nothing to analyse: `None`.
#[must_use]
pub fn analyse(program: &Program) -> Option<Concurrency> {
    analyse_with(program, &KnownReads::default())
}

/// Analyses a program of which the values of some reads are known: branches that they decide go one way only.
#[must_use]
pub fn analyse_with(program: &Program, known: &KnownReads) -> Option<Concurrency> {
    let main = program.main?;
    let unfolding = context::unfold(program, main, known, context::Extent::default());
    Some(graph::build(program, unfolding))
}

impl Concurrency {
    /// The thread of a block.
    #[must_use]
    pub fn thread_of(&self, block: u32) -> ThreadId {
        self.contexts[self.blocks[block as usize].context].thread
    }

    /// The events of a block.
    #[must_use]
    pub fn events_of(&self, block: u32) -> &[Event] {
        let (start, end) = self.blocks[block as usize].events;
        &self.events[start as usize..end as usize]
    }

    /// The instructions of a block, each with its position in its source block and with its events, as a range of [`Self::events`].
    pub fn instructions_of<'a>(
        &'a self,
        program: &'a Program,
        block: u32,
    ) -> impl Iterator<Item = (u32, &'a Instruction, Range<u32>)> {
        let Block { context, source, events, instructions: (first, end), .. } = self.blocks[block as usize];
        let function = &program.functions[self.contexts[context].function];
        let all = source.map_or(&[][..], |source| &function.blocks[source].instructions[first as usize..end as usize]);
        let mut next = events.0;
        (first..).zip(all).map(move |(position, instruction)| {
            let before = next;
            next += builder::event_count(program, instruction);
            (position, instruction, before..next)
        })
    }

    /// Index of the first event of a block in [`Self::events`].
    #[must_use]
    pub fn first_event(&self, block: u32) -> usize {
        self.blocks[block as usize].events.0 as usize
    }

    /// The possible locations of an event's object.
    #[must_use]
    pub fn locations_of(&self, event: &Event) -> &[LocationId] {
        &self.operands[event.operands.0 as usize..event.operands.1 as usize]
    }

    /// The possible locks of a wait on a condition.
    #[must_use]
    pub fn locks_of(&self, event: &Event) -> &[LocationId] {
        &self.operands[event.locks.0 as usize..event.locks.1 as usize]
    }

    /// The possible locations of what an operation acquires, or may acquire.
    #[must_use]
    pub fn acquired_by(&self, event: &Event) -> &[LocationId] {
        self.locations_of_operand(event, event.kind.acquisition().and_then(|kind| kind.properties().acquires))
    }

    /// The possible locations of what an operation releases, if only for a while.
    #[must_use]
    pub fn released_by(&self, event: &Event) -> &[LocationId] {
        self.locations_of_operand(event, event.kind.synchronisation().and_then(|kind| kind.properties().releases))
    }

    fn locations_of_operand(&self, event: &Event, operand: Option<sync::Operand>) -> &[LocationId] {
        match operand {
            Some(sync::Operand::Object) => self.locations_of(event),
            Some(sync::Operand::Lock) => self.locks_of(event),
            None => &[],
        }
    }

    /// The one location that an event certainly means, where it is a single cell or object.
    #[must_use]
    pub fn certain_location(&self, program: &Program, event: &Event) -> Option<LocationId> {
        self.certain(program, self.locations_of(event))
    }

    /// The only one of some locations, where it is a single cell or object.
    #[must_use]
    pub fn certain(&self, program: &Program, locations: &[LocationId]) -> Option<LocationId> {
        match locations {
            [only] if self.is_certain(program, *only) => Some(*only),
            _ => None,
        }
    }

    /// A part of memory as the text names it from outside: `L`, `fork[2]`, `a[1].balance`; where the element is not known, the
    /// name of the array, or of locks and the like `fork[i]`.
    #[must_use]
    pub fn location_name(&self, program: &Program, location: LocationId) -> String {
        let location = &self.locations[location];
        let leaf = &program.leaves[location.leaf];
        match location.element {
            Some(element) => leaf.element_name(&program.texts, element),
            None if leaf.is_array() && !matches!(leaf.kind, LeafKind::Data(_)) => leaf.row_name(&program.texts),
            None => program.texts.get(leaf.name).to_owned(),
        }
    }

    /// Whether a location means one cell (or object) whoever names it.
    #[must_use]
    pub fn is_certain(&self, program: &Program, location: LocationId) -> bool {
        self.kills(program, location) && self.instances[self.locations[location].instance].unique
    }

    /// Whether a write to a location certainly replaces what the thread would read there.
    #[must_use]
    pub fn kills(&self, program: &Program, location: LocationId) -> bool {
        let location = &self.locations[location];
        let element_known = location.element.is_some() || !program.leaves[location.leaf].is_array();
        element_known && self.instances[location.instance].single
    }

    /// Whether some instance of a thread may run in parallel with another one of it.
    #[must_use]
    pub fn may_be_many(&self, thread: ThreadId) -> bool {
        repetition::may_be_many(&self.threads, thread)
    }

    /// How often blocks can run in one execution.
    pub fn repetitions(&self) -> repetition::Repetitions<'_> {
        repetition::Repetitions {
            local: &self.local,
            blocks: &self.blocks,
            contexts: &self.contexts,
            threads: &self.threads,
            joined: &self.joined,
            known: FxHashMap::default(),
        }
    }

    /// Whether events in two blocks may happen in parallel.
    #[must_use]
    pub fn parallel(&self, a: u32, b: u32) -> bool {
        self.parallel_classes(self.classes[a as usize], self.classes[b as usize])
    }

    /// The signals: the block that ends with each, and the blocks that begin with a wait for it.
    pub fn signals(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.order.signals()
    }

    /// Whether a round of a barrier certainly lies between two blocks of different threads, wherever both are run once.
    #[must_use]
    pub fn barrier_between(&self, first: u32, second: u32) -> bool {
        let (from, to) = (self.thread_of(first), self.thread_of(second));
        from != to && self.order.barriers.iter().any(|barrier| barrier.lies_between((from, first), (to, second)))
    }
}
