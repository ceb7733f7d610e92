//! Locations that have certainly been written after a `cas`, whether it succeeds or not.
//!
//! **Input**: the reads, and the `cas` instructions. **Output**: the events of those `cas` instructions after which their
//! location has certainly been written.
//!
//! **Algorithm**: a `cas` is in the result if its expected value is the initial value of its location, or was read from the
//! location by its own thread.
//!
//! **Soundness and limits**: if it succeeds, it writes. If it fails, the location does not hold the expected value, which is the
//! initial value or the value that the thread read earlier. A read that has not seen the initial definition itself proves that
//! the location was written. Only single cells of globals that are not doubles are considered.

use super::ReadInstance;
use super::access::Table;
use cssame_concurrency::value::{Evaluator, Writers};
use cssame_concurrency::{Concurrency, ContextId, EventKind, KnownReads, LocationId};
use cssame_ir::{AtomicOperation, DefinitionId, FunctionId, Instruction, Operand, Program, ReadId, Storage};
use rustc_hash::FxHashMap;

/// Copies between a read and a `cas`.
const MAX_CHAIN: usize = 16;

/// The events of such `cas` instructions, among those of all blocks, with their blocks and locations.
pub(super) fn find_tried(
    program: &Program,
    concurrency: &Concurrency,
    (table, reads): (&Table, &[ReadInstance]),
    known: &KnownReads,
) -> FxHashMap<usize, (u32, LocationId)> {
    let expected = expected_values(program);
    let mut tried = FxHashMap::default();
    if expected.is_empty() {
        return tried;
    }
    let mut writers: FxHashMap<FunctionId, Writers> = FxHashMap::default();
    // None where it is not the same in all iterations of the loops around the read.
    let mut location_of: FxHashMap<(ReadId, ContextId), Option<LocationId>> = FxHashMap::default();
    for of in reads {
        let access = table.accesses[of.access as usize];
        let event = &concurrency.events[access.event as usize];
        let location = concurrency.certain_location(program, event);
        let known = location_of.entry((of.read, concurrency.blocks[access.block as usize].context)).or_insert(location);
        *known = known.filter(|_| *known == location);
    }
    for block in 0..concurrency.blocks.len() as u32 {
        let context = concurrency.blocks[block as usize].context;
        let first = concurrency.first_event(block);
        for (offset, event) in concurrency.events_of(block).iter().enumerate() {
            let EventKind::Update { definition, always: false, .. } = event.kind else { continue };
            let Some(&old) = expected.get(&definition) else { continue };
            let Some(location) = concurrency.certain_location(program, event) else { continue };
            let of = &concurrency.contexts[context];
            let function = &program.functions[of.function];
            let writers = writers.entry(of.function).or_insert_with(|| Writers::of(function));
            let evaluator = Evaluator::new(program, function, writers, &of.arguments, known);
            let is_initial = initial_bits(program, concurrency, location)
                .is_some_and(|initial| evaluator.constant(old) == Some(initial));
            let was_read =
                source(&evaluator, old).and_then(|read| location_of.get(&(read, context)).copied().flatten());
            if is_global(program, concurrency, location) && (is_initial || was_read == Some(location)) {
                tried.insert(first + offset, (block, location));
            }
        }
    }
    tried
}

/// What each `cas` expects, by its definition; those of doubles left out, where a value may differ from itself.
fn expected_values(program: &Program) -> FxHashMap<DefinitionId, Operand> {
    let blocks = program.functions.iter().flat_map(|function| function.blocks.iter());
    let expected = blocks.flat_map(|block| &block.instructions).filter_map(|instruction| match instruction {
        Instruction::Atomic { op: AtomicOperation::CompareAndSwap { old, double: false, .. }, definition, .. } => {
            Some((*definition, *old))
        }
        _ => None,
    });
    expected.collect()
}

fn is_global(program: &Program, concurrency: &Concurrency, location: LocationId) -> bool {
    let leaf = &program.leaves[concurrency.locations[location].leaf];
    program.variables[leaf.variable].storage == Storage::Global
}

/// The value that a cell of a global begins with.
fn initial_bits(program: &Program, concurrency: &Concurrency, location: LocationId) -> Option<i64> {
    let location = &concurrency.locations[location];
    let element = location.element.unwrap_or(0) as usize;
    program.leaves[location.leaf].initial.get(element).map(|value| value.bits())
}

/// The read that an operand is a copy of.
fn source(evaluator: &Evaluator<'_>, mut operand: Operand) -> Option<ReadId> {
    for _ in 0..MAX_CHAIN {
        let Operand::Register(register) = operand else { return None };
        let (block, position) = evaluator.writers.place(register)?;
        match &evaluator.function.blocks[block].instructions[position as usize] {
            Instruction::Load { read, .. } => return Some(*read),
            Instruction::Copy { source, .. } => operand = *source,
            _ => return None,
        }
    }
    None
}
