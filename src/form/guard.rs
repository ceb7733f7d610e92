//! Initial values that a branch excludes: after `if (ready)`, every variable that is written before each `ready = true` has been
//! written.
//!
//! **Input**: the reads with their terms. **Output**: the reads whose initial definition is excluded; it is removed from their
//! terms (reason `overwritten`).
//!
//! **Algorithm**
//! 1. A *guard* is a branch whose condition is computed from one read of shared memory and from constants. On each side of it,
//!    those terms of the read are removed that write a constant which leads to the other side.
//! 2. If no initial definition remains, the locations that are certainly written before each of the remaining definitions have
//!    been written when control reaches that side.
//! 3. Sides, writes, and attempted swaps ([`super::swap`]) add locations to the certain facts at the beginning of each block
//!    ([`super::before`]). A read does not see the initial value of a location that has been written.
//!
//! **Soundness and limits**: control reaches the side because the read has seen one of the remaining definitions. So that one has
//! happened, and the dominators of a definition happen before it. Only initial values of globals are excluded, for at most
//! [`MAX_LOCATIONS`] locations.

use super::access::Table;
use super::before::certainly_before;
use super::constants::{Written, written_constants};
use super::{Pruned, ReadInstance, Reason, TermSetId};
use cssame_concurrency::value::{Evaluator, Writers};
use cssame_concurrency::{Concurrency, ContextId, EventKind, KnownReads, LocationId};
use cssame_ir::{
    BlockId, DefinitionId, DefinitionKind, Function, FunctionId, Instruction, LeafId, Operand, Program, ReadId,
    RegisterId, Storage, Terminator,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Dominators that a walk visits at most.
const MAX_DOMINATORS: usize = 64;

/// Locations that are looked at.
const MAX_LOCATIONS: usize = 64;

/// Terms that a guard has at most.
const MAX_TERMS: usize = 32;

/// The same before equal ones of several iterations are left out.
const MAX_TERMS_OF_ITERATIONS: usize = 16 * MAX_TERMS;

/// What is known of the accesses.
pub(super) struct Guards<'a> {
    pub program: &'a Program,
    pub concurrency: &'a Concurrency,
    pub table: &'a Table,
    pub known: &'a KnownReads,
    /// The events of `cas` instructions behind which their location has certainly been written, with their blocks.
    pub tried: &'a FxHashMap<usize, (u32, LocationId)>,
}

/// Takes excluded initial definitions out of the terms of reads, and says which.
pub(super) fn exclude_initial(
    guards: &Guards<'_>,
    reads: &mut [ReadInstance],
    sets: &mut Vec<Vec<DefinitionId>>,
) -> FxHashMap<ReadId, Vec<Pruned>> {
    let sides = guards.sides(reads, sets);
    let mut excluded: FxHashMap<ReadId, Vec<Pruned>> = FxHashMap::default();
    if sides.is_empty() && guards.tried.is_empty() {
        return excluded;
    }
    let written = guards.written(&sides);
    let first_tried = guards.first_tried();
    let mut smaller: FxHashMap<(TermSetId, DefinitionId), TermSetId> = FxHashMap::default();
    for of in reads {
        let Some((location, leaf)) = guards.cell(of) else { continue };
        let Some(initial) = guards.program.leaves[leaf].initial_definition else { continue };
        if !sets[of.control.index()].contains(&initial) {
            continue;
        }
        let access = guards.table.accesses[of.access as usize];
        let is_behind = first_tried.get(&(access.block, location)).is_some_and(|&tried| tried < access.event as usize);
        if is_behind || written.has(location, access.block) {
            of.control = *smaller.entry((of.control, initial)).or_insert_with(|| {
                let rest = sets[of.control.index()].iter().copied().filter(|&one| one != initial).collect();
                sets.push(rest);
                TermSetId::new(sets.len() - 1)
            });
            let pruned = Pruned { definition: initial, reason: Reason::Overwritten, lock: None };
            excluded.entry(of.read).or_default().push(pruned);
        }
    }
    excluded
}

/// Which locations have certainly been written.
struct WrittenAt {
    /// The bit of each location.
    numbers: FxHashMap<LocationId, u32>,
    /// By block: the locations that were written when control comes to it.
    at_entry: Vec<u64>,
}

impl WrittenAt {
    fn has(&self, location: LocationId, block: u32) -> bool {
        self.numbers.get(&location).is_some_and(|bit| self.at_entry[block as usize] & (1 << bit) != 0)
    }
}

impl Guards<'_> {
    /// For each block, the first swap that was tried on each location.
    fn first_tried(&self) -> FxHashMap<(u32, LocationId), usize> {
        let mut found: FxHashMap<(u32, LocationId), usize> = FxHashMap::default();
        for (&event, &at) in self.tried {
            found.entry(at).and_modify(|first| *first = event.min(*first)).or_insert(event);
        }
        found
    }

    /// What has been written where control comes to each block.
    fn written(&self, sides: &FxHashMap<(u32, u32), FxHashSet<LocationId>>) -> WrittenAt {
        let mut locations: Vec<LocationId> = sides.values().flatten().copied().collect();
        locations.extend(self.tried.values().map(|at| at.1));
        locations.sort_unstable();
        locations.dedup();
        locations.truncate(MAX_LOCATIONS);
        let numbers: FxHashMap<LocationId, u32> =
            locations.iter().enumerate().map(|(bit, &location)| (location, bit as u32)).collect();
        let flow = &self.concurrency.flow;
        let count = flow.node_count();
        let mask = |of: &FxHashSet<LocationId>| {
            of.iter().filter_map(|location| numbers.get(location)).fold(0u64, |all, bit| all | 1 << bit)
        };
        let side = |from: u32, to: u32| sides.get(&(from, to)).map_or(0, mask);
        let own: Vec<u64> = (0..count as u32)
            .map(|block| {
                let mut written = FxHashSet::default();
                self.add_written(block, usize::MAX, &mut written);
                mask(&written)
            })
            .collect();
        let at_entry = certainly_before(self.concurrency, &own, &side);
        WrittenAt { numbers, at_entry }
    }

    /// For the edge to each side of a guard, the locations that have been written when control passes it.
    fn sides(
        &self,
        reads: &[ReadInstance],
        sets: &[Vec<DefinitionId>],
    ) -> FxHashMap<(u32, u32), FxHashSet<LocationId>> {
        // None where there are too many: reads share large sets, and nothing is gained by copying those.
        let mut terms: FxHashMap<(ReadId, ContextId), Option<Vec<DefinitionId>>> = FxHashMap::default();
        for of in reads {
            let context = self.concurrency.blocks[self.table.block_of(of.access) as usize].context;
            let of_read = terms.entry((of.read, context)).or_insert_with(|| Some(Vec::new()));
            let (control, concurrent) = (&sets[of.control.index()], &sets[of.concurrent.index()]);
            match of_read {
                // A read in several iterations has the same terms in many of them.
                Some(known) if known.len() + control.len() + concurrent.len() <= MAX_TERMS_OF_ITERATIONS => {
                    known.extend(control.iter().chain(concurrent));
                }
                _ => *of_read = None,
            }
        }
        for of_read in terms.values_mut().flatten() {
            of_read.sort_unstable();
            of_read.dedup();
        }
        let values = written_constants(self.program, self.known);
        let mut writers: FxHashMap<FunctionId, Writers> = FxHashMap::default();
        let mut before: FxHashMap<DefinitionId, FxHashSet<LocationId>> = FxHashMap::default();
        let mut sides = FxHashMap::default();
        let flow = &self.concurrency.flow;
        let edges =
            (0..flow.node_count() as u32).flat_map(|from| flow.successors(from).iter().map(move |&to| (from, to)));
        for edge in edges {
            let Some(guard) = self.guard(edge, &mut writers) else { continue };
            let known = terms.get(&(guard.read, guard.context)).and_then(Option::as_ref);
            let Some(definitions) = known.filter(|all| all.len() <= MAX_TERMS) else { continue };
            let left = definitions.iter().filter(|&one| self.may_lead_to(&guard, &writers, values.get(one).copied()));
            let mut all: Option<FxHashSet<LocationId>> = None;
            for &definition in left {
                let of = before.entry(definition).or_insert_with(|| self.written_before(definition));
                all = Some(match all {
                    Some(known) => known.intersection(of).copied().collect(),
                    None => of.clone(),
                });
            }
            sides.extend(all.filter(|all| !all.is_empty()).map(|all| (edge, all)));
        }
        sides
    }

    /// The guard to one side of which an edge leads.
    fn guard(&self, (branch, side): (u32, u32), writers: &mut FxHashMap<FunctionId, Writers>) -> Option<Guard> {
        let (from, to) = (&self.concurrency.blocks[branch as usize], &self.concurrency.blocks[side as usize]);
        let (source, target) = (from.source?, to.source?);
        if from.context != to.context || source == target {
            return None;
        }
        let id = self.concurrency.contexts[from.context].function;
        let function = &self.program.functions[id];
        let Terminator::Branch { condition, then_block, else_block } = function.blocks[source].terminator else {
            return None;
        };
        if then_block == else_block || (target != then_block && target != else_block) {
            return None;
        }
        let of_function = writers.entry(id).or_insert_with(|| Writers::of(function));
        let read = only_read(function, of_function, condition)?;
        Some(Guard { read, context: from.context, condition, holds: target == then_block })
    }

    /// Whether a branch may go to the side of a guard where its read has seen a definition that writes that.
    fn may_lead_to(&self, guard: &Guard, writers: &FxHashMap<FunctionId, Writers>, value: Option<Written>) -> bool {
        let Some(Written::Constant(bits)) = value else { return true };
        let context = &self.concurrency.contexts[guard.context];
        let Some(writers) = writers.get(&context.function) else { return true };
        let known = KnownReads::from_iter([(guard.read, bits)]);
        let function = &self.program.functions[context.function];
        let evaluator = Evaluator::new(self.program, function, writers, &context.arguments, &known);
        evaluator.constant(guard.condition).is_none_or(|bits| (bits != 0) == guard.holds)
    }

    /// The locations that are certainly written when a definition happens; none for an initial definition.
    fn written_before(&self, definition: DefinitionId) -> FxHashSet<LocationId> {
        let mut all: Option<FxHashSet<LocationId>> = None;
        if matches!(self.program.definitions[definition].kind, DefinitionKind::Write(_)) {
            for &access in self.table.events_of_definition(definition) {
                let of = self.table.accesses[access as usize];
                let first = self.concurrency.first_event(of.block);
                let mut written = FxHashSet::default();
                self.add_written(of.block, of.event as usize - first, &mut written);
                let event = &self.concurrency.events[of.event as usize];
                written.extend(self.concurrency.certain_location(self.program, event));
                self.dominators(of.block).for_each(|block| self.add_written(block, usize::MAX, &mut written));
                all = Some(match all {
                    Some(known) => known.intersection(&written).copied().collect(),
                    None => written,
                });
            }
        }
        all.unwrap_or_default()
    }

    /// Adds the locations that the first events of a block certainly write.
    fn add_written(&self, block: u32, count: usize, written: &mut FxHashSet<LocationId>) {
        let first = self.concurrency.first_event(block);
        for (offset, event) in self.concurrency.events_of(block).iter().take(count).enumerate() {
            let replaces = match event.kind {
                // An initialiser that is computed is the initial definition, and does not replace it.
                EventKind::Write(definition) => {
                    matches!(self.program.definitions[definition].kind, DefinitionKind::Write(_))
                }
                EventKind::Update { always, .. } => always,
                _ => false,
            };
            if replaces {
                written.extend(self.concurrency.certain_location(self.program, event));
            }
            written.extend(self.tried.get(&(first + offset)).map(|at| at.1));
        }
    }

    /// The nearest dominators of a block, itself left out.
    fn dominators(&self, block: u32) -> impl Iterator<Item = u32> {
        let above = |&block: &u32| self.concurrency.dominators.immediate_dominator(block);
        std::iter::successors(above(&block), above).take(MAX_DOMINATORS)
    }

    /// The cell of a global that a read certainly reads.
    fn cell(&self, of: &ReadInstance) -> Option<(LocationId, LeafId)> {
        let event = &self.concurrency.events[self.table.accesses[of.access as usize].event as usize];
        let location = self.concurrency.certain_location(self.program, event)?;
        let leaf = self.concurrency.locations[location].leaf;
        let variable = self.program.leaves[leaf].variable;
        (self.program.variables[variable].storage == Storage::Global).then_some((location, leaf))
    }
}

/// A side of a branch that one read decides.
struct Guard {
    read: ReadId,
    context: ContextId,
    condition: Operand,
    /// Whether the condition holds on that side.
    holds: bool,
}

/// The one read of memory that a condition is computed from, beside constants and parameters.
fn only_read(function: &Function, writers: &Writers, condition: Operand) -> Option<ReadId> {
    let mut found = None;
    let mut seen: Vec<RegisterId> = Vec::new();
    let mut waiting = vec![condition];
    while let Some(operand) = waiting.pop() {
        let Operand::Register(register) = operand else { continue };
        if seen.contains(&register) || function.parameters.contains(&register) {
            continue;
        }
        seen.push(register);
        let (block, position): (BlockId, u32) = writers.place(register)?;
        match &function.blocks[block].instructions[position as usize] {
            Instruction::Load { read, .. } if found.is_none_or(|known| known == *read) => found = Some(*read),
            Instruction::Copy { source, .. } => waiting.push(*source),
            Instruction::Unary { operand, .. } => waiting.push(*operand),
            Instruction::Binary { left, right, .. } => waiting.extend([*left, *right]),
            _ => return None,
        }
    }
    found
}
