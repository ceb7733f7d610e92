//! Compilation: from the flow graphs of a program to one flat array of code.
//!
//! **Input**: a program and the [`Visibility`] of its accesses.
//!
//! **Output**: [`Compiled`]: code, side tables, the origin of each instruction, and the live slots at each place where a thread
//! may stop.
//!
//! **Algorithm**: blocks are laid out in their order, instructions are lowered one by one (`lower`), and a jump to the
//! next instruction is left out. Live slots are collected from the end of each block to its beginning.
//!
//! **Soundness and limits**: it trusts the verifier of the intermediate representation.

use super::code::*;
use super::compiled::Compiled;
use super::interchangeable;
use super::liveness::{self, Liveness, SlotMap};
use super::lower::{Compiler, Lowering};
use super::memory::Layout;
use super::visibility::Visibility;
use cssame_ir::{BlockId, Function, FunctionId, Instruction, Operand, Program, RegisterId, Terminator};
use cssame_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// The slots of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slots {
    /// Registers share a slot where their ranges do not meet.
    Shared,
    /// Each has its own: [`own_slot`].
    OnePerRegister,
}

/// The slot of a register that shares it with no other.
pub(super) fn own_slot(register: RegisterId) -> Slot {
    register.index() as Slot + 1
}

/// Compiles all functions of a program.
pub(super) fn compile(program: &Program, visibility: &Visibility, layout: &Layout, slots: Slots) -> Compiled {
    let ranks = thread_ranks(program);
    let output = Compiled::default();
    let mut compiler = Compiler { visibility, layout, output, constant_index: FxHashMap::default(), ranks };
    let leaks = leaking_functions(program);
    let prepared: Vec<(Liveness, SlotMap)> = program
        .functions
        .iter()
        .map(|function| {
            let live = liveness::compute(function);
            let map = match slots {
                Slots::Shared => liveness::assign_slots(function, &live),
                Slots::OnePerRegister => own_slots(function),
            };
            (live, map)
        })
        .collect();
    // Calls need the slots of the parameters of functions that come later.
    for (id, function) in program.functions.entries() {
        let slots = &prepared[id.index()].1;
        let parameters = function.parameters.iter().map(|parameter| slots.slots[parameter.index()]).collect();
        compiler.output.functions.push(FunctionCode {
            entry: 0,
            frame_size: slots.frame_size,
            parameters,
            allocations: allocations(function, slots),
            leaks: leaks[id.index()],
        });
    }
    for (id, function) in program.functions.entries() {
        let (live, slots) = &prepared[id.index()];
        compile_function(&mut compiler, id, function, live, slots);
    }
    compiler.output.interchangeable = interchangeable::bodies(program);
    compiler.output.ends_with_main = program.ends_with_main;
    compiler.output.copied_from = program.contexts.functions.clone();
    compiler.output
}

fn own_slots(function: &Function) -> SlotMap {
    let slots: Vec<Slot> = function.registers.ids().map(own_slot).collect();
    SlotMap { frame_size: slots.len() as u32 + 2, slots }
}

fn allocations(function: &Function, slots: &SlotMap) -> Box<[Slot]> {
    let mut result: Vec<Slot> = instructions(function)
        .filter_map(|(_, _, instruction)| match instruction {
            Instruction::Allocate { dest, .. } => Some(slots.slots[dest.index()]),
            _ => None,
        })
        .collect();
    result.sort_unstable();
    result.dedup();
    result.into_boxed_slice()
}

fn instructions(function: &Function) -> impl Iterator<Item = (BlockId, u32, &Instruction)> {
    function.blocks.entries().flat_map(|(id, block)| {
        block.instructions.iter().enumerate().map(move |(index, instruction)| (id, index as u32, instruction))
    })
}

/// Numbers all places that make threads in text order, so that threads can be listed in that order. The key names
/// function, block, instruction and arm.
fn thread_ranks(program: &Program) -> FxHashMap<(u32, u32, u32, u32), u32> {
    let mut sites = Vec::new();
    for (id, function) in program.functions.entries() {
        for (block, index, instruction) in instructions(function) {
            let span = function.blocks[block].spans.get(index as usize).copied().unwrap_or_default();
            for arm in 0..instruction.new_threads().len() as u32 {
                sites.push((span, (id.0, block.0, index, arm)));
            }
        }
    }
    sites.sort_unstable();
    // Copies of one place, in several calling contexts, have one rank.
    let place = |&(span, (.., arm)): &(Span, (u32, u32, u32, u32))| (span, arm);
    let groups = sites.chunk_by(|a, b| place(a) == place(b));
    groups.enumerate().flat_map(|(rank, group)| group.iter().map(move |&(_, key)| (key, rank as u32))).collect()
}

fn has_reference(function: &Function, arguments: &[Operand]) -> bool {
    arguments.iter().any(|argument| match argument {
        Operand::Register(register) => function.registers[*register].ty == cssame_ir::RegisterType::Reference,
        Operand::Constant(_) => false,
    })
}

/// Functions whose locals outlive them: on the heap, or perhaps used by a spawned thread, to which they pass a reference themselves or
/// through what they call or fork.
fn leaking_functions(program: &Program) -> Vec<bool> {
    let mut leaks = vec![false; program.functions.len()];
    let mut passers: Vec<Vec<FunctionId>> = vec![Vec::new(); program.functions.len()];
    let mut work = Vec::new();
    for (id, function) in program.functions.entries() {
        for (_, _, instruction) in instructions(function) {
            match instruction {
                Instruction::Allocate { variable, .. } if program.variables[*variable].heap => work.push(id),
                Instruction::Spawn { thread, .. } if has_reference(function, &thread.arguments) => work.push(id),
                Instruction::Call { function: callee, arguments, .. } if has_reference(function, arguments) => {
                    passers[callee.index()].push(id);
                }
                Instruction::Fork { threads, .. } => {
                    for thread in threads.iter().filter(|thread| has_reference(function, &thread.arguments)) {
                        thread.functions().for_each(|function| passers[function.index()].push(id));
                    }
                }
                _ => {}
            }
        }
    }
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut leaks[id.index()], true) {
            work.extend(&passers[id.index()]);
        }
    }
    leaks
}

fn compile_function(
    compiler: &mut Compiler<'_>,
    id: FunctionId,
    function: &Function,
    live: &Liveness,
    slots: &SlotMap,
) {
    let mut starts = Vec::with_capacity(function.blocks.len());
    let mut terminators = Vec::with_capacity(function.blocks.len());
    compiler.output.functions[id].entry = compiler.output.code.len() as u32;
    for (block_id, block) in function.blocks.entries() {
        starts.push(compiler.output.code.len() as u32);
        let begin = compiler.output.code.len();
        for (index, instruction) in block.instructions.iter().enumerate() {
            let origin = Origin { function: id, block: block_id, instruction: index as u32 };
            let code = Lowering { compiler, function, slots: &slots.slots, origin }.instruction(instruction);
            push(&mut compiler.output, code, origin, block.spans.get(index).copied().unwrap_or(function.span));
        }
        let origin = Origin { function: id, block: block_id, instruction: block.instructions.len() as u32 };
        let lowering = Lowering { compiler, function, slots: &slots.slots, origin };
        if let Some(code) = terminator(lowering, &block.terminator, block_id) {
            terminators.push(compiler.output.code.len());
            push(&mut compiler.output, code, origin, block.terminator_span);
        }
        record_live(&mut compiler.output, (id, function), block_id, begin, live, slots);
    }
    for at in terminators {
        match &mut compiler.output.code[at] {
            Code::Jump { target } => *target = starts[*target as usize],
            Code::Branch { then_target, else_target, .. } => {
                *then_target = starts[*then_target as usize];
                *else_target = starts[*else_target as usize];
            }
            _ => {}
        }
    }
}

fn push(output: &mut Compiled, code: Code, origin: Origin, span: Span) {
    output.code.push(code);
    output.origins.push(origin);
    output.spans.push(span);
    output.live.push((0, 0));
}

/// The code of a terminator, its targets still blocks; `None` where it falls through.
fn terminator(mut lowering: Lowering<'_, '_>, terminator: &Terminator, block: BlockId) -> Option<Code> {
    match terminator {
        Terminator::Jump(target) if target.0 == block.0 + 1 => None,
        Terminator::Jump(target) => Some(Code::Jump { target: target.0 }),
        Terminator::Branch { condition, then_block, else_block } => Some(Code::Branch {
            condition: lowering.source(*condition),
            then_target: then_block.0,
            else_target: else_block.0,
        }),
        Terminator::Return(Some(value)) => Some(Code::Return { value: lowering.source(*value), present: true }),
        Terminator::Return(None) => Some(Code::Return { value: Source::slot(0), present: false }),
        Terminator::End(Some(value)) => Some(Code::End { value: lowering.source(*value), present: true }),
        Terminator::End(None) => Some(Code::End { value: Source::slot(0), present: false }),
    }
}

/// Notes the live slots at the instructions of a block where a thread may stand, from its end to its beginning.
fn record_live(
    output: &mut Compiled,
    (id, function): (FunctionId, &Function),
    block_id: BlockId,
    begin: usize,
    live: &Liveness,
    slots: &SlotMap,
) {
    let block = &function.blocks[block_id];
    let always = output.functions[id].allocations.clone();
    let mut current: FxHashSet<RegisterId> = live.live_out[block_id.index()].iter().copied().collect();
    current.extend(block.terminator.register());
    for (index, instruction) in block.instructions.iter().enumerate().rev() {
        if let Some(dest) = instruction.dest() {
            current.remove(&dest);
        }
        let is_call = matches!(instruction, Instruction::Call { .. });
        if is_call {
            note(output, begin + index, &current, &always, slots);
        }
        instruction.uses(&mut |register| {
            current.insert(register);
        });
        if !is_call && output.code[begin + index].may_stand() {
            note(output, begin + index, &current, &always, slots);
        }
    }
}

fn note(output: &mut Compiled, at: usize, current: &FxHashSet<RegisterId>, always: &[Slot], slots: &SlotMap) {
    let start = output.live_slots.len() as u32;
    output.live_slots.extend(always);
    output.live_slots.extend(current.iter().map(|register| slots.slots[register.index()]));
    let list = &mut output.live_slots[start as usize..];
    list.sort_unstable();
    let mut kept = start;
    for index in start as usize..output.live_slots.len() {
        if kept == start || output.live_slots[kept as usize - 1] != output.live_slots[index] {
            output.live_slots[kept as usize] = output.live_slots[index];
            kept += 1;
        }
    }
    output.live_slots.truncate(kept as usize);
    output.live[at] = (start, kept);
}
