//! The last steps: what cannot run is taken out, registers are written before they are read, definitions get their numbers.
//!
//! In: a program whose functions are lowered. Out: the same without blocks that nothing leads to, and without the reads and
//! definitions in them.

use cssame_ir::flow::{Successors, predecessors, reverse_postorder};
use cssame_ir::{
    Block, BlockId, DefinitionId, DefinitionKind, Function, Instruction, Operand, Program, ReadId, RegisterId,
    RegisterType, Terminator, number_versions,
};
use cssame_source::arena::Arena;

/// Finishes a program.
pub fn finish(program: &mut Program) {
    for function in program.functions.iter_mut() {
        prune(function);
        write_first(function);
    }
    renumber(program);
    number_versions(program);
}

/// Takes out the blocks that the entry does not lead to.
fn prune(function: &mut Function) {
    let order = reverse_postorder(function, Successors::InOrder);
    let mut numbers: Vec<Option<BlockId>> = vec![None; function.blocks.len()];
    let mut kept: Vec<BlockId> = order;
    kept.sort_unstable();
    for (number, block) in kept.iter().enumerate() {
        numbers[block.index()] = Some(BlockId::new(number));
    }
    let of = |block: BlockId| numbers[block.index()].unwrap_or(block);
    let blocks: Arena<BlockId, Block> = kept
        .iter()
        .map(|&id| {
            let block = function.blocks[id].clone();
            let terminator = match block.terminator {
                Terminator::Jump(target) => Terminator::Jump(of(target)),
                Terminator::Branch { condition, then_block, else_block } => {
                    Terminator::Branch { condition, then_block: of(then_block), else_block: of(else_block) }
                }
                other => other,
            };
            Block { terminator, ..block }
        })
        .collect();
    function.blocks = blocks;
}

/// What a local holds before it is written is not determined; the graph has a zero there.
fn write_first(function: &mut Function) {
    let live = live_at_entry(function);
    let span = function.span;
    let mut copies = Vec::new();
    for register in live.into_iter().filter(|register| !function.parameters.contains(register)) {
        if let RegisterType::Scalar(ty) = function.registers[register].ty {
            let source = Operand::Constant(super::datum::zero(ty));
            copies.push(Instruction::Copy { dest: register, source });
        }
    }
    let count = copies.len();
    let entry = &mut function.blocks[BlockId(0)];
    entry.instructions.splice(0..0, copies);
    entry.spans.splice(0..0, std::iter::repeat_n(span, count));
}

/// The registers that some path reads before it writes them.
fn live_at_entry(function: &Function) -> Vec<RegisterId> {
    let mut written: Vec<Vec<RegisterId>> = Vec::with_capacity(function.blocks.len());
    let mut exposed: Vec<(RegisterId, BlockId)> = Vec::new();
    for (id, block) in function.blocks.entries() {
        let mut own: Vec<RegisterId> = Vec::new();
        let mut newest = rustc_hash::FxHashSet::default();
        for instruction in &block.instructions {
            instruction.uses(&mut |register| {
                if !newest.contains(&register) {
                    exposed.push((register, id));
                }
            });
            if let Some(dest) = instruction.dest()
                && newest.insert(dest)
            {
                own.push(dest);
            }
        }
        if let Some(register) = block.terminator.register()
            && !newest.contains(&register)
        {
            exposed.push((register, id));
        }
        own.sort_unstable();
        written.push(own);
    }
    exposed.sort_unstable();
    exposed.dedup();
    let before = predecessors(function);
    let mut live = Vec::new();
    let mut seen: Vec<Option<RegisterId>> = vec![None; function.blocks.len()];
    for reads in exposed.chunk_by(|one, other| one.0 == other.0) {
        let Some(&(register, _)) = reads.first() else { continue };
        let mut work: Vec<BlockId> = reads.iter().map(|&(_, block)| block).collect();
        while let Some(block) = work.pop() {
            if seen[block.index()].replace(register) == Some(register) {
                continue;
            }
            if block.index() == 0 {
                live.push(register);
                break;
            }
            let open = before[block.index()].iter();
            work.extend(open.filter(|from| written[from.index()].binary_search(&register).is_err()));
        }
    }
    live
}

/// Takes out the reads and writes that no instruction makes.
fn renumber(program: &mut Program) {
    let mut reads: Vec<Option<ReadId>> = vec![None; program.reads.len()];
    let mut definitions: Vec<Option<DefinitionId>> = vec![None; program.definitions.len()];
    let mut kept_reads = Arena::new();
    let mut kept_definitions = Arena::new();
    for (id, definition) in program.definitions.entries() {
        if matches!(definition.kind, DefinitionKind::Initial(_)) {
            definitions[id.index()] = Some(kept_definitions.push(definition.clone()));
        }
    }
    let instructions = program.functions.iter_mut().flat_map(|function| function.blocks.iter_mut());
    for instruction in instructions.flat_map(|block| &mut block.instructions) {
        let (read, definition) = match instruction {
            Instruction::Load { read, .. } => (Some(read), None),
            Instruction::Store { definition, .. } | Instruction::Free { definition, .. } => (None, Some(definition)),
            Instruction::Atomic { read, definition, .. } => (Some(read), Some(definition)),
            _ => (None, None),
        };
        if let Some(read) = read {
            let old = &program.reads[*read];
            *read = *reads[read.index()].get_or_insert_with(|| kept_reads.push(old.clone()));
        }
        if let Some(definition) = definition {
            let old = &program.definitions[*definition];
            *definition = *definitions[definition.index()].get_or_insert_with(|| kept_definitions.push(old.clone()));
        }
    }
    for leaf in program.leaves.iter_mut() {
        leaf.initial_definition = leaf.initial_definition.and_then(|definition| definitions[definition.index()]);
    }
    program.reads = kept_reads;
    program.definitions = kept_definitions;
}
