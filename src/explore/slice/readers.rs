//! Readers: threads that the other threads cannot distinguish from threads that do nothing. They are analysed separately.
//!
//! **Input**: a program and its unfolded graph. **Output**: [`Readers`]: the functions that only such threads run, with the
//! variables that they read, and the program without some of them ([`without`]).
//!
//! **Algorithm**: a *reader* is a thread that
//! 1. writes only data that no other function of a thread touches;
//! 2. creates no threads, joins none, chooses nothing, assumes nothing, and has no recursion;
//! 3. waits only for [short locks](super::short_locks), and releases only locks that it holds.
//!
//! A reader function is run only by threads, never by a call, and makes each of its threads a reader. The program is searched
//! with all reader functions *dropped* (their threads end at once), and with all but one dropped, for each.
//!
//! **Soundness and limits**. *Nothing is missed*: let e be an execution, and remove the steps of some readers. The rest is an
//! execution of the program in which their functions are dropped, and its reads see the same writes:
//! - No reader has written a cell that others read (1), so all values and writers are the same.
//! - A thread that takes a lock finds it as free as before, or freer; no thread tries whether a short lock is taken. No other
//!   synchronisation object, no thread and no choice depends on a reader (2, 3). A thread that joins a reader continues as
//!   before.
//! - If e ends in the failure of another thread, so does the rest. A failure ends the program. So an execution that a reader has
//!   ended by its failure, up to the last action of the others, is a beginning of one of their executions, and shows no more than
//!   that. If `assume` may later discard such an execution, a thread that may fail is not a reader.
//! - A reader that loops for ever ends no execution. A reader with a loop that does nothing visible to others fails, so any
//!   reader with a loop may fail.
//! - If e ends in a deadlock, the readers have ended: a reader could only wait for a short lock, and no thread keeps a short lock
//!   in a deadlock ([`short_locks`](super::short_locks)). So the rest ends in the same deadlock.
//!
//! So the terms of a read, and the failures of a thread, are those of the program in which all readers except that thread are
//! dropped. The deadlocks are those of the program without any reader.
//!
//! *Nothing is invented*: each execution that is found is repeated in the whole program, with the readers inserted
//! ([`replay`](super::replay)): as soon as a reader can complete without failing, or as late as it is needed. Both may be
//! impossible, if a reader always fails, never leaves a loop, or takes a lock that another thread keeps from before its fork
//! until after its join. Then the execution may not exist, and readers are not analysed separately.

use super::relevance::{may_fail, may_miss};
use super::short_locks::{gives_back, short_locks, takes};
use cssame_concurrency::lockset::{Hold, Locksets, find_units_held, holds_lock};
use cssame_concurrency::{Concurrency, Event, EventKind, InstanceId, LocationId, MAIN_THREAD, ThreadId};
use cssame_ir::{FunctionId, Instruction, LeafId, Program, ReadId, Terminator};
use cssame_ssa::Control;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// As how many a thread counts that may be there many times.
const MANY: usize = 20;

/// A function that only readers run.
pub(super) struct Reader {
    pub(super) function: FunctionId,
    /// What its threads read, sorted.
    pub(super) reads: Vec<ReadId>,
    pub(super) may_fail: bool,
}

/// The readers of a program. There may be none.
pub(super) struct Readers {
    /// By function.
    pub(super) all: Vec<Reader>,
    /// What all other threads read.
    pub(super) other_reads: FixedBitSet,
}

impl Readers {
    /// The readers, where there are several of them: one alone is not worth asking apart.
    pub(super) fn several(program: &Program, concurrency: &Concurrency, may_discard: bool) -> Option<Readers> {
        let found = Readers::find(program, concurrency, may_discard);
        found.filter(|readers| readers.all.len() >= 2)
    }

    /// All of them; `None` where that is not known.
    pub(super) fn find(program: &Program, concurrency: &Concurrency, may_discard: bool) -> Option<Readers> {
        if concurrency.merged {
            return None;
        }
        let mut search = Search::new(program, concurrency);
        let candidates = search.candidates();
        if candidates.is_empty() {
            return None;
        }
        search.look_through(candidates.keys().copied().collect());
        let Search { mut reads, mut other_reads, excluded, .. } = search;
        let failing = functions_where(program, |id| function_may_fail(program, id) || has_loops(program, id));
        let mut all = Vec::new();
        for (function, runs) in candidates {
            let mut reads = reads.remove(&function).unwrap_or_default();
            reads.sort_unstable();
            reads.dedup();
            let may_fail = runs.iter().any(|each| failing.contains(each.index()));
            if excluded.contains(&function) || may_fail && may_discard {
                other_reads.extend(reads.into_iter().map(ReadId::index));
            } else {
                all.push(Reader { function, reads, may_fail });
            }
        }
        Some(Readers { all, other_reads })
    }

    /// How many threads they are, in the text: one that may be many times counts as [`MANY`].
    pub(super) fn threads(&self, concurrency: &Concurrency) -> usize {
        let root = |id: ThreadId| concurrency.contexts[concurrency.threads[id].root].function;
        let is_reader = |id: ThreadId| self.all.iter().any(|reader| reader.function == root(id));
        let threads = concurrency.threads.ids().filter(|&id| is_reader(id));
        threads.map(|id| if concurrency.may_be_many(id) { MANY } else { 1 }).sum()
    }

    /// The functions of all of them, but for one.
    pub(super) fn but(&self, kept: Option<FunctionId>, program: &Program) -> FixedBitSet {
        let mut functions = FixedBitSet::with_capacity(program.functions.len());
        functions
            .extend(self.all.iter().map(|one| one.function).filter(|&one| Some(one) != kept).map(FunctionId::index));
        functions
    }
}

/// The program in which threads of some functions end at once.
pub(super) fn without(program: &Program, dropped: &FixedBitSet) -> Program {
    let mut made = program.clone();
    for id in dropped.ones().map(FunctionId::new) {
        let function = &mut made.functions[id];
        let mut entry = function.blocks[cssame_ir::BlockId(0)].clone();
        entry.instructions.clear();
        entry.spans.clear();
        entry.terminator = Terminator::Return(None);
        function.blocks = std::iter::once(entry).collect();
    }
    made
}

/// The functions of which something holds: each is asked once, however many threads run it.
fn functions_where(program: &Program, holds: impl Fn(FunctionId) -> bool) -> FixedBitSet {
    program.functions.ids().filter(|&id| holds(id)).map(FunctionId::index).collect()
}

/// Whether a function draws no values and discards nothing.
fn is_determined(program: &Program, function: FunctionId) -> bool {
    let mut all = program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
    !all.any(|one| matches!(one, Instruction::Choose { .. } | Instruction::Assume { .. }))
}

fn has_loops(program: &Program, function: FunctionId) -> bool {
    !Control::new(&program.functions[function]).cyclic.is_clear()
}

/// Whether a function may fail by itself: what frees a lock is held to hold it.
fn function_may_fail(program: &Program, function: FunctionId) -> bool {
    let mut all = program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
    all.any(|one| match one {
        Instruction::Synchronise(operation) => operation.places().any(may_miss),
        _ => may_fail(one),
    })
}

struct Search<'a> {
    program: &'a Program,
    concurrency: &'a Concurrency,
    /// The threads of each function.
    threads: BTreeMap<FunctionId, Vec<ThreadId>>,
    /// Who touches each part of memory: the function of its threads, or nothing for several.
    touched: FxHashMap<(InstanceId, LeafId), Option<FunctionId>>,
    /// What the threads of each candidate read.
    reads: BTreeMap<FunctionId, Vec<ReadId>>,
    other_reads: FixedBitSet,
    excluded: FxHashSet<FunctionId>,
}

impl<'a> Search<'a> {
    fn new(program: &'a Program, concurrency: &'a Concurrency) -> Search<'a> {
        let mut threads: BTreeMap<FunctionId, Vec<ThreadId>> = BTreeMap::new();
        for (id, thread) in concurrency.threads.entries() {
            threads.entry(concurrency.contexts[thread.root].function).or_default().push(id);
        }
        let mut search = Search {
            program,
            concurrency,
            threads,
            touched: FxHashMap::default(),
            reads: BTreeMap::new(),
            other_reads: FixedBitSet::with_capacity(program.reads.len()),
            excluded: FxHashSet::default(),
        };
        search.note_touches();
        search
    }

    /// The function that the thread of a block runs.
    fn root(&self, block: u32) -> FunctionId {
        let thread = &self.concurrency.threads[self.concurrency.thread_of(block)];
        self.concurrency.contexts[thread.root].function
    }

    fn note_touches(&mut self) {
        for block in 0..self.concurrency.blocks.len() as u32 {
            let root = self.root(block);
            for event in self.concurrency.events_of(block) {
                if !matches!(event.kind, EventKind::Read(_) | EventKind::Write(_) | EventKind::Update { .. }) {
                    continue;
                }
                for &location in self.concurrency.locations_of(event) {
                    let location = &self.concurrency.locations[location];
                    let by = self.touched.entry((location.instance, location.leaf)).or_insert(Some(root));
                    *by = by.filter(|&by| by == root);
                }
            }
        }
    }

    /// The functions that threads alone run, of which all is known, with the functions that these threads run: what all of
    /// them do follows from what they read.
    fn candidates(&self) -> BTreeMap<FunctionId, Vec<FunctionId>> {
        let Concurrency { contexts, threads, .. } = self.concurrency;
        let is_whole = |thread: &ThreadId| *thread != MAIN_THREAD && !threads[*thread].unordered;
        let roots = self.threads.iter().filter(|(_, threads)| threads.iter().all(is_whole));
        let mut found: BTreeMap<FunctionId, Vec<FunctionId>> = roots.map(|(&root, _)| (root, Vec::new())).collect();
        let determined = functions_where(self.program, |id| is_determined(self.program, id));
        for instruction in
            self.program.functions.iter().flat_map(|one| one.blocks.iter()).flat_map(|one| &one.instructions)
        {
            if let Instruction::Call { function, .. } = instruction {
                found.remove(function);
            }
        }
        for context in contexts.iter() {
            let root = contexts[threads[context.thread].root].function;
            if context.recursive || !determined.contains(context.function.index()) {
                found.remove(&root);
            } else if let Some(runs) = found.get_mut(&root) {
                runs.push(context.function);
            }
        }
        for runs in found.values_mut() {
            runs.sort_unstable();
            runs.dedup();
        }
        found
    }

    /// Looks at all events: excludes the functions whose threads do what a reader does not, and notes what is read.
    fn look_through(&mut self, candidates: FxHashSet<FunctionId>) {
        let mut locksets = find_units_held(self.program, self.concurrency);
        let short = short_locks(self.program, self.concurrency, &locksets);
        for block in 0..self.concurrency.blocks.len() as u32 {
            let root = self.root(block);
            let is_candidate = candidates.contains(&root);
            let mut held = locksets.at_entry(block);
            for event in self.concurrency.events_of(block) {
                self.note_read(root, is_candidate, event);
                if is_candidate && !held.is_some_and(|held| self.is_harmless(root, event, locksets.locks(held), &short))
                {
                    self.excluded.insert(root);
                }
                held = held.map(|held| Locksets::step(&mut locksets, self.program, self.concurrency, held, event));
            }
        }
    }

    fn note_read(&mut self, root: FunctionId, is_candidate: bool, event: &Event) {
        let (EventKind::Read(read) | EventKind::Update { read, .. }) = event.kind else { return };
        if is_candidate {
            self.reads.entry(root).or_default().push(read);
        } else {
            self.other_reads.insert(read.index());
        }
    }

    /// Whether a reader may do that, while it certainly holds some locks.
    fn is_harmless(&self, root: FunctionId, event: &Event, held: &[Hold], short: &FxHashSet<LocationId>) -> bool {
        let locations = self.concurrency.locations_of(event);
        match event.kind {
            EventKind::Read(_) | EventKind::AtomicBegin | EventKind::AtomicEnd => true,
            EventKind::Write(_) | EventKind::Update { .. } => {
                let alone = |&location: &LocationId| {
                    let location = &self.concurrency.locations[location];
                    self.touched.get(&(location.instance, location.leaf)) == Some(&Some(root))
                };
                !locations.is_empty() && locations.iter().all(alone)
            }
            EventKind::Synchronise(kind) if takes(kind) || gives_back(kind) => {
                let lock = self.concurrency.certain(self.program, locations);
                lock.is_some_and(|lock| short.contains(&lock) && (takes(kind) || holds_lock(held, lock)))
            }
            _ => false,
        }
    }
}
