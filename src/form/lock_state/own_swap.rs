//! Finds reads that do not see a successful `cas` of their own thread, because success leads elsewhere: out of the loop.
//!
//! **Input**: the reads with their terms. **Output**: the definitions of `cas` instructions that are removed from the terms of
//! reads of their own thread (reason `ordered-after`, or `overwritten` if the thread replaces them on the path).
//!
//! **Algorithm**: follow the thread from the point after the `cas`, where its result is `true`, or the value that was expected,
//! and all values of memory are unknown ([`super::step`]). Record the reads of its location that it reaches before it certainly
//! replaces the value.
//!
//! **Soundness and limits**: the thread runs once in an execution. If a read in it sees the definition, the thread has reached
//! the read from the `cas` without replacing the value, so the walk reaches it as well. At most [`MAX_SWAPS`] `cas` instructions
//! are followed, and [`MAX_STEPS`] instructions for each. A thread that forks or joins others after the `cas` is left out.

use super::machine::{Cell, Inside, Machine, Seen, State, Values};
use super::protected::Protected;
use super::{LockStates, Order};
use crate::{Pruned, ReadInstance, Reason, TermSetId};
use cssame_concurrency::mutex_body::Site;
use cssame_concurrency::{EventKind, LocationId};
use cssame_ir::{AtomicOperation, DefinitionId, Instruction, ReadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions `cas` that are followed.
const MAX_SWAPS: usize = 64;

/// Instructions of a walk.
const MAX_STEPS: usize = 2_000;

/// No lock: the walk passes all releases.
const NO_LOCK: LocationId = LocationId(u32::MAX - 1);

/// A `cas` of a thread that runs once.
struct Swap {
    at: Site,
    location: LocationId,
    definition: DefinitionId,
}

impl LockStates<'_> {
    /// Takes definitions out of the terms of reads of their own thread, and notes them.
    pub fn exclude_own_swaps(
        &self,
        reads: &mut [ReadInstance],
        sets: &mut Vec<Vec<DefinitionId>>,
        excluded: &mut FxHashMap<ReadId, Vec<Pruned>>,
    ) {
        let swaps = self.find_swaps();
        let of_location = self.reads_of(&swaps, reads);
        let mut smaller: FxHashMap<Vec<DefinitionId>, TermSetId> = FxHashMap::default();
        for swap in swaps {
            let candidates = of_location.get(&swap.location).map_or(&[][..], Vec::as_slice);
            let own: Vec<usize> =
                candidates.iter().copied().filter(|&index| self.is_own(&swap, &reads[index], sets)).collect();
            let events = own.iter().map(|&index| self.table.accesses[reads[index].access as usize].event);
            let events: FxHashSet<u32> = events.collect();
            if events.is_empty() {
                continue;
            }
            let Some(seen) = self.follow(&swap, events) else { continue };
            for index in own {
                let of = &mut reads[index];
                let found = &seen[&self.table.accesses[of.access as usize].event];
                let rest: Vec<DefinitionId> =
                    sets[of.control.index()].iter().copied().filter(|&one| one != swap.definition).collect();
                if found.contains(&swap.definition) || rest.len() + sets[of.concurrent.index()].len() == 0 {
                    continue;
                }
                of.control = *smaller.entry(rest).or_insert_with_key(|rest| {
                    sets.push(rest.clone());
                    TermSetId::new(sets.len() - 1)
                });
                let reason = if found.is_empty() { Reason::OrderedAfter } else { Reason::Overwritten };
                let pruned = Pruned { definition: swap.definition, reason, lock: None };
                excluded.entry(of.read).or_default().push(pruned);
            }
        }
    }

    /// The `cas` instructions of single cells in threads that run once, each in one context.
    fn find_swaps(&self) -> Vec<Swap> {
        let concurrency = self.concurrency;
        let mut repetitions = concurrency.repetitions();
        let mut swaps = Vec::new();
        for block in 0..concurrency.blocks.len() as u32 {
            for (offset, event) in concurrency.events_of(block).iter().enumerate() {
                let EventKind::Update { definition, always: false, .. } = event.kind else { continue };
                let Some(location) = concurrency.certain_location(self.program, event) else { continue };
                let thread = concurrency.thread_of(block);
                let entry = concurrency.contexts[concurrency.threads[thread].root].entry;
                let is_alone = self.table.events_of_definition(definition).len() == 1;
                let is_cell = !self.program.leaves[concurrency.locations[location].leaf].is_array();
                if swaps.len() < MAX_SWAPS
                    && is_alone
                    && is_cell
                    && !concurrency.may_be_many(thread)
                    && repetitions.of(entry).is_once()
                {
                    swaps.push(Swap { at: Site { block, offset: offset as u32 }, location, definition });
                }
            }
        }
        swaps
    }

    /// The reads, by index, that certainly read the location of a `cas`.
    fn reads_of(&self, swaps: &[Swap], reads: &[ReadInstance]) -> FxHashMap<LocationId, Vec<usize>> {
        let mut found: FxHashMap<LocationId, Vec<usize>> =
            swaps.iter().map(|swap| (swap.location, Vec::new())).collect();
        if found.is_empty() {
            return found;
        }
        for (index, of) in reads.iter().enumerate() {
            let event = &self.concurrency.events[self.table.accesses[of.access as usize].event as usize];
            let location = self.concurrency.certain_location(self.program, event);
            if let Some(reads) = location.and_then(|location| found.get_mut(&location)) {
                reads.push(index);
            }
        }
        found
    }

    /// Whether a read stands in the thread of a `cas`, and has it among its control definitions alone.
    fn is_own(&self, swap: &Swap, of: &ReadInstance, sets: &[Vec<DefinitionId>]) -> bool {
        let access = self.table.accesses[of.access as usize];
        sets[of.control.index()].contains(&swap.definition)
            && !sets[of.concurrent.index()].contains(&swap.definition)
            && self.concurrency.thread_of(access.block) == self.concurrency.thread_of(swap.at.block)
    }

    /// Follows the thread from behind a `cas` that has succeeded; says what the reads with those events see.
    fn follow(&self, swap: &Swap, events: FxHashSet<u32>) -> Option<Seen> {
        let location = &self.concurrency.locations[swap.location];
        let mut protected = Protected { cell_count: 1, inside: events, ..Protected::default() };
        protected.cells.insert((location.instance, location.leaf), (0, 1));
        let order = Order::default();
        let mut machine = Machine::new(self, NO_LOCK, (&protected, &order), Values::Nothing);
        machine.max_steps = MAX_STEPS;
        let Site { block, offset } = swap.at;
        let instruction = machine.instruction_behind(block, offset).ok()?;
        let of = self.concurrency.blocks[block as usize];
        let function = &self.program.functions[self.concurrency.contexts[of.context].function];
        let mut inside = Inside { block, instruction, event: offset + 1, ..Inside::default() };
        if let Instruction::Atomic { dest, op, .. } =
            &function.blocks[of.source?].instructions[instruction.checked_sub(1)? as usize]
        {
            let result = match op {
                AtomicOperation::CompareAndSwap { .. } => Some(1),
                AtomicOperation::CompareExchange { old, .. } => machine.value(&inside, of.context, *old),
                AtomicOperation::Swap(_) | AtomicOperation::FetchAdd(..) | AtomicOperation::FetchModify(..) => None,
            };
            machine.set(&mut inside, of.context, *dest, result);
        }
        let cells = vec![Cell { definition: Some(swap.definition), value: None }];
        let from = State { done: 0, notified: 0, pending: 0, cells, inside: Some(inside) };
        machine.run(from).then(|| machine.into_seen())
    }
}
