//! Finds the possible behaviours from slices of the program.
//!
//! **Input**: a program, the facts about its memory, its machine, and a budget. **Output**: the same [`Answer`] and
//! [`SelectAnswer`] as for the whole program.
//!
//! **Algorithm**:
//! 1. Build the slice that preserves the ends of executions ([`relevance`]). Search it: this decides the outcomes, failures and
//!    deadlocks, and the writes that its reads see.
//! 2. For each other read, build the slice that preserves the writes that it sees, without the output. If several threads may run
//!    the read, watch it in one thread after the other. So the combinations of reads, of which there may be exponentially many,
//!    are never built.
//! 3. If outcomes are not requested, threads that influence no other thread ([`readers`](mod@readers)) are treated separately:
//!    these two steps are done for the program without them, and for the program with each of them alone.
//! 4. Each execution of a slice is repeated in the whole program ([`replay`]), so that every schedule belongs to the whole
//!    program.
//!
//! **Soundness and limits**: an execution of the program, restricted to the slice, is an execution of the slice. An execution of
//! the slice can be extended, since the removed parts neither block nor fail nor loop, and nothing depends on them. There is no
//! answer if local work of the slice does not end, because a loop has no step left ([`Declined`]).

mod bodies;
mod calls;
mod classes;
mod collected;
mod index;
mod print_successors;
mod program;
mod readers;
mod reading_bodies;
mod relevance;
mod replay;
mod short_locks;
mod silent;
mod unobserved_locks;

use crate::answer::{Answer, Ends, Query};
use crate::question::select::{SelectAnswer, Verdict, select};
pub(super) use bodies::looking_bodies;
use calls::Calls;
use collected::Collected;
use cssame_budget::Budget;
use cssame_concurrency::Sharing;
use cssame_concurrency::{Concurrency, Event, EventKind, ThreadId};
use cssame_form::Selection;
use cssame_ir::points_to::has_pointers;
use cssame_ir::{Instruction, LeafId, Program, ReadId};
use cssame_vm::{Machine, Options, Origin, Tables, ThreadIndex, Watched};
use fixedbitset::FixedBitSet;
use index::Index;
use program::Slice;
use readers::{Readers, without};
pub(super) use reading_bodies::ReadingBodies;
use relevance::Relevance;
use replay::Replay;
use rustc_hash::{FxHashMap, FxHashSet};
pub(super) use silent::Silent;
pub(super) use unobserved_locks::UnobservedLocks;

/// Whether each context of the unfolded graph is told apart, and no thread has an atomic block, or gives memory back: where not, nothing
/// is said of bodies of locks.
fn tells_bodies_apart(program: &Program, concurrency: &Concurrency) -> bool {
    let is_atomic = |event: &Event| matches!(event.kind, EventKind::AtomicBegin);
    !concurrency.merged
        && !program.frees_memory()
        && !concurrency.contexts.iter().any(|context| context.recursive)
        && !concurrency.events.iter().any(is_atomic)
}

/// The objects that each operation on one may mean, in all contexts.
fn leaves_by_operation(program: &Program, concurrency: &Concurrency) -> FxHashMap<Origin, Vec<LeafId>> {
    let mut operations: FxHashMap<Origin, Vec<LeafId>> = FxHashMap::default();
    for block in 0..concurrency.blocks.len() as u32 {
        let of = concurrency.blocks[block as usize];
        let Some(source) = of.source else { continue };
        let function = concurrency.contexts[of.context].function;
        for (instruction, of, events) in concurrency.instructions_of(program, block) {
            if matches!(of, Instruction::Synchronise(_)) {
                let meant = operations.entry(Origin { function, block: source, instruction }).or_default();
                for event in &concurrency.events[events.start as usize..events.end as usize] {
                    let locations = concurrency.locations_of(event).iter().chain(concurrency.locks_of(event));
                    meant.extend(locations.map(|&location| concurrency.locations[location].leaf));
                }
            }
        }
    }
    operations
}

/// Drops objects that some operation may mean beside one that is not among them.
fn drop_those_beside_others<'a>(
    objects: &mut FxHashSet<LeafId>,
    operations: impl Iterator<Item = &'a Vec<LeafId>> + Clone,
) {
    loop {
        let before = objects.len();
        for meant in operations.clone() {
            if meant.iter().any(|object| !objects.contains(object)) {
                meant.iter().for_each(|object| {
                    objects.remove(object);
                });
            }
        }
        if objects.len() == before {
            return;
        }
    }
}

/// A program without some of its instructions.
fn without_operations(program: &Program, operations: &FxHashSet<Origin>) -> Program {
    let mut left = program.clone();
    for (function, of) in program.functions.entries() {
        for (block, content) in of.blocks.entries() {
            let is_kept = |&instruction: &usize| {
                !operations.contains(&Origin { function, block, instruction: instruction as u32 })
            };
            let kept: Vec<usize> = (0..content.instructions.len()).filter(is_kept).collect();
            if kept.len() < content.instructions.len() {
                let made = &mut left.functions[function].blocks[block];
                made.instructions = kept.iter().map(|&place| content.instructions[place].clone()).collect();
                made.spans = kept.iter().filter_map(|&place| content.spans.get(place).copied()).collect();
            }
        }
    }
    left
}

/// Why slices give no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// Nothing can be taken out, or too little.
    Whole,
    /// Nothing is known of the memory of the program, or it is asked for a write that a slice may leave out.
    Unsupported,
    /// Local work of a slice has no end.
    Endless,
    /// A bound was hit.
    Bound,
    /// An execution of a slice is none of the program. That would be an error of this module.
    Disagreement,
}

/// A program, and what slices of it need.
pub(super) struct Sliceable<'a> {
    index: Index<'a>,
    concurrency: &'a Concurrency,
    machine: &'a Machine,
    /// The accesses that are visible in the whole program.
    shared: &'a Sharing,
    /// What every slice keeps, and what the slice keeps that preserves how executions end.
    always: Relevance,
    ends: Relevance,
    /// Accesses that part a print from what follows.
    after_prints: FixedBitSet,
    /// Whether threads are made in one and the same order in all executions.
    ordered: bool,
    /// Reads that some thread may run, and that several may.
    reads: FixedBitSet,
    in_several_threads: FixedBitSet,
    /// How a slice runs.
    options: Options,
    /// The functions whose threads end at once here, but not in the whole program.
    dropped: Option<FixedBitSet>,
}

/// What executions of a slice have in common with those of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preserved {
    /// What the reads see that are asked about.
    Reads,
    /// How they end as well: prints and failures of several threads have to be told apart.
    Ends,
}

/// A slice that runs, beside its program.
struct Running<'a> {
    slice: Slice,
    machine: Machine,
    whole: &'a Machine,
    preserved: Preserved,
    dropped: Option<&'a FixedBitSet>,
}

/// Slices are small, and which accesses race is known of the whole program alone.
fn unreduced<'a>(query: &Query<'a>) -> Query<'a> {
    Query { reduction: None, ..*query }
}

impl<'a> Sliceable<'a> {
    /// Finds what every slice of a program has to keep.
    pub(super) fn new(program: &'a Program, concurrency: &'a Concurrency, machine: &'a Machine) -> Self {
        let index = Index::new(program, concurrency);
        let shared = &concurrency.sharing;
        let calls = Calls::new(program);
        let always = relevance::always(&index, &calls);
        let after_prints = print_successors::behind_prints(&index, shared);
        let ends = relevance::with_prints(&index, &relevance::with_places(&index, &always, &after_prints));
        let ordered = makes_threads_in_order(concurrency);
        let (reads, in_several_threads) = reads_by_threads(program, concurrency);
        let options = narrow_options(machine.options(), calls.extent(program));
        let dropped = None;
        Sliceable {
            index,
            concurrency,
            machine,
            shared,
            always,
            ends,
            after_prints,
            ordered,
            reads,
            in_several_threads,
            options,
            dropped,
        }
    }

    /// The program that is left, in which a read may be watched in one thread alone.
    fn slice(
        &self,
        relevance: &Relevance,
        watched: Option<Watched>,
        preserved: Preserved,
    ) -> Result<Running<'_>, Declined> {
        let slice = Slice::new(
            &self.index,
            relevance,
            self.shared,
            (preserved == Preserved::Ends).then_some(&self.after_prints),
        );
        if !slice.is_smaller && watched.is_none() && self.dropped.is_none() {
            return Err(Declined::Whole);
        }
        let machine = Machine::with_options(&slice.program, &slice.visible, self.options);
        let machine = match watched {
            Some(watched) => machine.watching(watched),
            None => machine,
        };
        Ok(Running { slice, machine, whole: self.machine, preserved, dropped: self.dropped.as_ref() })
    }

    /// Slices of programs with pointers, or whose main ends them, are not made.
    fn supported(&self) -> Result<(), Declined> {
        let program = self.index.program;
        let is_plain = !program.ends_with_main && !has_pointers(program);
        is_plain.then_some(()).ok_or(Declined::Unsupported)
    }

    /// Decides what can happen.
    pub(super) fn futures(&self, query: &Query<'_>, budget: &Budget<'_>) -> Result<Answer, Declined> {
        self.supported()?;
        if query.ends != Ends::Outcomes {
            let apart = self.futures_by_readers(query, budget);
            if matches!(apart, Ok(_) | Err(Declined::Bound | Declined::Endless)) {
                return apart;
            }
        }
        let mut collected = Collected::new(budget);
        self.collect(&mut collected, &unreduced(query), None)?;
        Ok(collected.finish(self.machine))
    }

    /// Decides what can happen where outcomes are not asked for, from the program without [`readers`](mod@readers) and with each of
    /// them alone.
    pub(super) fn futures_by_readers(&self, query: &Query<'_>, budget: &Budget<'_>) -> Result<Answer, Declined> {
        self.supported()?;
        let program = self.index.program;
        let readers = Readers::several(program, self.concurrency, self.machine.may_discard()).ok_or(Declined::Whole)?;
        let mut collected = Collected::new(budget);
        let mut search = |kept, query: &Query<'_>, reads: &FixedBitSet| {
            collected.pay_for_slice(self.index.sites.len())?;
            let dropped = readers.but(kept, program);
            let part = without(program, &dropped);
            let mut sliceable = Sliceable::new(&part, self.concurrency, self.machine);
            sliceable.dropped = Some(dropped);
            sliceable.collect(&mut collected, query, Some(reads))
        };
        let query = &unreduced(query);
        search(None, query, &readers.other_reads)?;
        for reader in &readers.all {
            // Deadlocks, and failures of other threads, are those of the program without it.
            let ends = if reader.may_fail { query.ends } else { Ends::Nothing };
            let reads = reader.reads.iter().map(|read| read.index()).collect();
            search(Some(reader.function), &Query { ends, ..*query }, &reads)?;
        }
        Ok(collected.finish(self.machine))
    }

    /// Searches the slices of what is asked: of all reads, or of those that are wanted.
    fn collect(
        &self,
        collected: &mut Collected<'_>,
        query: &Query<'_>,
        wanted: Option<&FixedBitSet>,
    ) -> Result<(), Declined> {
        let is_wanted = |read: ReadId| wanted.is_none_or(|wanted| wanted.contains(read.index()));
        let base = self.slice(&self.ends, None, Preserved::Ends)?;
        let reads: Vec<ReadId> = self.reads.ones().map(ReadId::new).filter(|&read| is_wanted(read)).collect();
        if wanted.is_none() || query.ends != Ends::Nothing || reads.iter().any(|&read| base.slice.holds(read)) {
            // If even that is too large, there is no use in trying again; but without readers it may be far smaller.
            let is_all = wanted.is_none();
            let too_large = |declined| if is_all && declined == Declined::Bound { Declined::Whole } else { declined };
            collected.add(&base, query, None).map_err(too_large)?;
        }
        for read in reads {
            if base.slice.holds(read) {
                continue;
            }
            self.collect_read(collected, query, read)?;
        }
        Ok(())
    }

    /// Searches the slice of what a read sees.
    fn collect_read(&self, collected: &mut Collected<'_>, query: &Query<'_>, read: ReadId) -> Result<(), Declined> {
        let relevance = relevance::with_reads(&self.index, &self.always, &[read]);
        // What others read must not matter where one of them is watched alone.
        let matters = self.index.read_sites(read).iter().any(|&site| relevance.values(site));
        let is_watched = !matters && self.shared.read(read) && self.runs_in_several(read);
        let of_read = Query { ends: Ends::Nothing, ..*query };
        let (mut thread, mut made) = (0, 1);
        while thread < made {
            let number = ThreadIndex(thread as u16);
            let watched = is_watched.then_some(Watched { read, thread: number, ordered: self.ordered });
            collected.pay_for_slice(self.index.sites.len())?;
            let running = self.slice(&relevance, watched, Preserved::Reads)?;
            let slots = collected.add(&running, &of_read, Some(read))?;
            made = if is_watched { made.max(slots) } else { made };
            thread += 1;
        }
        Ok(())
    }

    /// Whether a read may run in several threads, and can be watched in one of them.
    fn runs_in_several(&self, read: ReadId) -> bool {
        let watchable = |&site: &u32| matches!(self.index.instruction(site), Instruction::Load { .. });
        self.in_several_threads.contains(read.index()) && self.index.read_sites(read).iter().all(watchable)
    }

    /// Decides whether some execution has the selections.
    pub(super) fn select(&self, selections: &[Selection], budget: &Budget<'_>) -> Result<SelectAnswer, Declined> {
        self.supported()?;
        let reads: Vec<ReadId> = selections.iter().flat_map(|selection| selection.reads.iter().copied()).collect();
        let running = self.slice(&relevance::with_reads(&self.index, &self.always, &reads), None, Preserved::Reads)?;
        let mut answer = select(&running.machine, selections, budget);
        if answer.diverged {
            return Err(Declined::Endless);
        }
        let replay = running.replay();
        if let Verdict::Consistent { schedule, .. } = &mut answer.verdict {
            *schedule = replay.run(schedule, None, &mut Tables::new()).ok_or(Declined::Disagreement)?.schedule;
        }
        let open = answer.open.iter().filter_map(|open| replay.run(open, None, &mut Tables::new()));
        answer.open = open.map(|replayed| replayed.schedule).collect();
        Ok(answer)
    }
}

/// How many functions a program has of threads that influence no other one, and how many such threads.
pub(super) fn readers(program: &Program, concurrency: &Concurrency, machine: &Machine) -> (usize, usize) {
    let found = Readers::find(program, concurrency, machine.may_discard());
    found.map_or((0, 0), |readers| (readers.all.len(), readers.threads(concurrency)))
}

/// Limits of the machine under which a slice counts as endless wherever the program does: what was taken out was local
/// work too, and calls. Between two instructions of a slice there is at most one pass through a function without loops.
fn narrow_options(whole: &Options, (cost, depth): (u64, u32)) -> Options {
    let narrow = |instructions: u32| {
        let share = u64::from(instructions) / cost.saturating_add(1);
        u32::try_from(share).unwrap_or(u32::MAX).max(1)
    };
    Options {
        local_instructions: narrow(whole.local_instructions),
        block_instructions: narrow(whole.block_instructions),
        frames: whole.frames.saturating_sub(depth).max(1),
        ..*whole
    }
}

/// The reads that some thread may run, and those that several may.
fn reads_by_threads(program: &Program, concurrency: &Concurrency) -> (FixedBitSet, FixedBitSet) {
    let mut first: Vec<Option<ThreadId>> = vec![None; program.reads.len()];
    let mut in_several_threads = FixedBitSet::with_capacity(program.reads.len());
    for block in 0..concurrency.blocks.len() as u32 {
        let thread = concurrency.thread_of(block);
        for event in concurrency.events_of(block) {
            let (EventKind::Read(read) | EventKind::Update { read, .. }) = event.kind else { continue };
            if *first[read.index()].get_or_insert(thread) != thread || concurrency.may_be_many(thread) {
                in_several_threads.insert(read.index());
            }
        }
    }
    let reads = program.reads.ids().filter(|read| first[read.index()].is_some()).map(ReadId::index).collect();
    (reads, in_several_threads)
}

/// Whether no two threads may make threads at one time.
fn makes_threads_in_order(concurrency: &Concurrency) -> bool {
    let mut makers: Vec<u32> = concurrency.forks.keys().copied().collect();
    makers.sort_unstable();
    let apart = |(place, &one): (usize, &u32)| {
        makers[place..].iter().all(|&other| !concurrency.structurally_parallel(one, other))
    };
    makers.len() <= MAX_MAKERS && makers.iter().enumerate().all(apart)
}

/// Places that make threads of which it is asked whether they are parallel.
const MAX_MAKERS: usize = 200;

impl Running<'_> {
    fn replay(&self) -> Replay<'_> {
        let Running { slice, machine, whole, preserved, dropped } = self;
        Replay { whole, slice: machine, parts: slice, preserved: *preserved, dropped: *dropped }
    }
}

#[cfg(test)]
mod tests;
