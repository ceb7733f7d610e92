//! Data flow in an execution: the sources of values and conditions.
//!
//! **Input**: the places of the events of an execution, one after the other. **Output**: for each write, each index and each
//! condition, the operations from which it is computed, and the evaluations of branches that decided that it is reached.
//!
//! **Algorithm**: the conventional use-defines of the paper (section IV.B) on dynamic instances. Each thread has a position in
//! the flow graph, which moves to the place of the next event. Each branch event gives the direction of the branch, so there is
//! only one path. On this path, the set of operations of each register is the union of the sets of its inputs. Calls pass sets to
//! parameters and results. A branch is decided by the last evaluations, in its activation, of the branches on which its block is
//! control dependent, and by those of the call.
//!
//! **Soundness and limits**: exact for data flow through registers, parameters and results. A value assigned under a branch does
//! not depend on the condition, as in the paper, unless it is a temporary of `&&`, `||` or `?:`. A branch does not depend on its
//! own earlier evaluations. The module evaluates nothing and executes no step.

use super::ids::EvaluationId;
use super::taint::{Taint, Taints};
use cssame_ir::{
    AtomicOperation, Block, BlockId, Function, FunctionId, Instruction, Operand, Place, Program, RegisterId, Terminator,
};
use cssame_source::Span;
use cssame_ssa::Control;
use cssame_vm::{Origin, PathId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Instructions that a position is moved over to come to the next event, at most: a guard, no execution needs as many.
const MAX_WAY: usize = 1 << 22;

/// What decides that something is reached.
pub(super) type Controls = SmallVec<[EvaluationId; 2]>;

/// An activation of a function.
struct Frame {
    function: FunctionId,
    block: BlockId,
    instruction: usize,
    registers: Vec<Taint>,
    /// By block: the last evaluation of its branch.
    evaluations: FxHashMap<BlockId, EvaluationId>,
    /// What has decided that the function is called.
    controls: Controls,
}

/// The data flow of an execution.
pub(super) struct Flow<'a> {
    program: &'a Program,
    /// By function.
    control: Vec<Option<Control>>,
    threads: FxHashMap<PathId, Vec<Frame>>,
    pub taints: Taints,
}

impl<'a> Flow<'a> {
    pub(super) fn new(program: &'a Program) -> Flow<'a> {
        let control = program.functions.iter().map(|_| None).collect();
        Flow { program, control, threads: FxHashMap::default(), taints: Taints::default() }
    }

    /// A thread begins.
    pub(super) fn begin(&mut self, thread: PathId, function: FunctionId, arguments: &[Taint], controls: Controls) {
        let frame = self.frame(function, arguments, controls);
        self.threads.insert(thread, vec![frame]);
    }

    pub(super) fn end(&mut self, thread: PathId) {
        self.threads.remove(&thread);
    }

    fn frame(&mut self, function: FunctionId, arguments: &[Taint], controls: Controls) -> Frame {
        let of = &self.program.functions[function];
        self.control[function.index()].get_or_insert_with(|| Control::new(of));
        let mut registers = vec![Taint::NONE; of.registers.len()];
        for (parameter, &argument) in of.parameters.iter().zip(arguments) {
            registers[parameter.index()] = argument;
        }
        let (block, evaluations) = (BlockId::new(0), FxHashMap::default());
        Frame { function, block, instruction: 0, registers, evaluations, controls }
    }

    /// Moves a thread to a place.
    pub(super) fn advance(&mut self, thread: PathId, to: Origin) {
        for _ in 0..MAX_WAY {
            let Some(frame) = self.threads.get(&thread).and_then(|frames| frames.last()) else { return };
            let here = Origin { function: frame.function, block: frame.block, instruction: frame.instruction as u32 };
            if here == to || !self.pass(thread) {
                return;
            }
        }
    }

    /// Passes over what a thread stands before; false where that is a branch that has not been told of, or the end.
    fn pass(&mut self, thread: PathId) -> bool {
        let Some((function, block, frame)) = self.here(thread) else { return false };
        let Some(instruction) = block.instructions.get(frame.instruction) else {
            return match block.terminator {
                Terminator::Jump(target) => {
                    (frame.block, frame.instruction) = (target, 0);
                    true
                }
                Terminator::Branch { .. } => false,
                Terminator::Return(value) => self.leave(thread, value),
                // Nothing comes behind it.
                Terminator::End(_) => false,
            };
        };
        if let Instruction::Call { function: callee, arguments, .. } = instruction {
            let (callee, arguments) = (*callee, arguments.clone());
            let controls = self.controls(thread);
            let sets = self.operands(thread, &arguments);
            let frame = self.frame(callee, &sets, controls);
            self.threads.entry(thread).or_default().push(frame);
            return true;
        }
        let is_temporary_copy = is_copy_to_temporary(function, instruction);
        let span = block.spans.get(frame.instruction).copied().unwrap_or(block.terminator_span);
        // What an access has read is known from its event.
        let is_access = matches!(instruction, Instruction::Load { .. } | Instruction::Atomic { .. });
        let dest = instruction.dest().filter(|_| !is_access);
        let mut used: SmallVec<[RegisterId; 4]> = SmallVec::new();
        instruction.uses(&mut |register| used.push(register));
        frame.instruction += 1;
        let Some(dest) = dest else { return true };
        let mut sources = Taint::NONE;
        for register in used {
            sources = self.with_register(thread, sources, register);
        }
        if is_temporary_copy {
            sources = self.with_conditions(thread, sources, span);
        }
        self.set(thread, dest, sources);
        true
    }

    fn here(&mut self, thread: PathId) -> Option<(&'a Function, &'a Block, &mut Frame)> {
        let frame = self.threads.get_mut(&thread)?.last_mut()?;
        let function = &self.program.functions[frame.function];
        Some((function, function.blocks.get(frame.block)?, frame))
    }

    /// Leaves a function; false where it was the first one of the thread.
    fn leave(&mut self, thread: PathId, value: Option<Operand>) -> bool {
        let result = value.map_or(Taint::NONE, |value| self.operand(thread, value));
        let Some(frames) = self.threads.get_mut(&thread).filter(|frames| frames.len() > 1) else { return false };
        frames.pop();
        let Some((_, block, frame)) = self.here(thread) else { return false };
        let call = block.instructions.get(frame.instruction);
        frame.instruction += 1;
        if let Some(dest) = call.and_then(Instruction::dest) {
            self.set(thread, dest, result);
        }
        true
    }

    fn set(&mut self, thread: PathId, register: RegisterId, sources: Taint) {
        if let Some(frame) = self.threads.get_mut(&thread).and_then(|frames| frames.last_mut()) {
            frame.registers[register.index()] = sources;
        }
    }

    fn register(&self, thread: PathId, register: RegisterId) -> Taint {
        let frame = self.threads.get(&thread).and_then(|frames| frames.last());
        frame.map_or(Taint::NONE, |frame| frame.registers[register.index()])
    }

    fn with_register(&mut self, thread: PathId, set: Taint, register: RegisterId) -> Taint {
        let other = self.register(thread, register);
        self.taints.union(set, other)
    }

    fn operand(&self, thread: PathId, operand: Operand) -> Taint {
        match operand {
            Operand::Register(register) => self.register(thread, register),
            Operand::Constant(_) => Taint::NONE,
        }
    }

    fn operands(&self, thread: PathId, operands: &[Operand]) -> Vec<Taint> {
        operands.iter().map(|&operand| self.operand(thread, operand)).collect()
    }

    /// Adds what the conditions of an expression are computed from that have decided that the thread is here.
    fn with_conditions(&mut self, thread: PathId, set: Taint, expression: Span) -> Taint {
        let Some(frame) = self.threads.get(&thread).and_then(|frames| frames.last()) else { return set };
        let Some(control) = self.control[frame.function.index()].as_ref() else { return set };
        let blocks = &self.program.functions[frame.function].blocks;
        let (mut sources, mut waiting, mut seen) = (set, vec![frame.block.0], FxHashSet::default());
        while let Some(at) = waiting.pop() {
            for &branch in control.branches.get(at as usize).map_or(&[][..], Vec::as_slice) {
                let block = &blocks[BlockId(branch)];
                let inside =
                    expression.start <= block.terminator_span.start && block.terminator_span.end <= expression.end;
                if !inside || !seen.insert(branch) {
                    continue;
                }
                waiting.push(branch);
                if let Terminator::Branch { condition: Operand::Register(register), .. } = block.terminator {
                    sources = self.taints.union(sources, frame.registers[register.index()]);
                }
            }
        }
        sources
    }

    /// What has decided that a thread is where it is.
    pub(super) fn controls(&self, thread: PathId) -> Controls {
        let Some(frame) = self.threads.get(&thread).and_then(|frames| frames.last()) else { return Controls::new() };
        let mut controls = frame.controls.clone();
        let control = self.control[frame.function.index()].as_ref();
        let branches = control.and_then(|control| control.branches.get(frame.block.index()));
        for &branch in branches.into_iter().flatten().filter(|&&branch| branch != frame.block.0) {
            controls.extend(frame.evaluations.get(&BlockId(branch)).copied());
        }
        controls.sort_unstable();
        controls.dedup();
        controls
    }

    /// The instruction that a thread stands before.
    fn instruction(&mut self, thread: PathId) -> Option<&'a Instruction> {
        self.here(thread).and_then(|(_, block, frame)| block.instructions.get(frame.instruction))
    }

    /// What the index of the access is computed from that a thread stands before.
    pub(super) fn index(&mut self, thread: PathId) -> Taint {
        let place = match self.instruction(thread) {
            Some(
                Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Atomic { place, .. },
            ) => place,
            _ => return Taint::NONE,
        };
        self.index_of(thread, place)
    }

    fn index_of(&mut self, thread: PathId, place: &Place) -> Taint {
        let mut all = Taint::NONE;
        for index in &place.indices {
            let taint = self.operand(thread, index.operand);
            all = self.taints.union(all, taint);
        }
        all
    }

    /// A thread has read what it stands before: its value is computed from `value`.
    pub(super) fn loaded(&mut self, thread: PathId, value: Taint) {
        let Some(instruction) = self.instruction(thread) else { return };
        let sources = match instruction {
            Instruction::Atomic {
                op: AtomicOperation::CompareAndSwap { old, .. } | AtomicOperation::CompareExchange { old, .. },
                ..
            } => {
                let expected = self.operand(thread, *old);
                self.taints.union(value, expected)
            }
            _ => value,
        };
        if let Some(dest) = instruction.dest() {
            self.set(thread, dest, sources);
        }
    }

    /// What the value is computed from that a thread writes at the instruction that it stands before; `read` is what an
    /// atomic expression has read.
    pub(super) fn stored(&mut self, thread: PathId, read: Taint) -> Taint {
        match self.instruction(thread) {
            Some(Instruction::Store { value, place, .. }) => {
                let (value, index) = (self.operand(thread, *value), self.index_of(thread, place));
                self.taints.union(value, index)
            }
            Some(Instruction::Atomic { op, place, .. }) => match *op {
                AtomicOperation::CompareAndSwap { new, .. }
                | AtomicOperation::CompareExchange { new, .. }
                | AtomicOperation::Swap(new) => self.operand_and_index(thread, new, place),
                AtomicOperation::FetchAdd(operand, _) | AtomicOperation::FetchModify(_, operand, _) => {
                    let rest = self.operand_and_index(thread, operand, place);
                    self.taints.union(rest, read)
                }
            },
            _ => Taint::NONE,
        }
    }

    fn operand_and_index(&mut self, thread: PathId, operand: Operand, place: &Place) -> Taint {
        let (value, index) = (self.operand(thread, operand), self.index_of(thread, place));
        self.taints.union(value, index)
    }

    /// A thread goes on behind the access that it stands before; at an atomic expression, and where it gives memory
    /// back, it stays, because that may have another event.
    pub(super) fn step_over(&mut self, thread: PathId) {
        if let Some((_, block, frame)) = self.here(thread) {
            let is_atomic = matches!(
                block.instructions.get(frame.instruction),
                Some(Instruction::Atomic { .. } | Instruction::Free { .. })
            );
            frame.instruction += usize::from(!is_atomic);
        }
    }

    /// What the arguments of the thread are computed from that a thread makes: the one of that number at the fork that
    /// it stands before.
    pub(super) fn made(&mut self, thread: PathId, number: usize) -> Option<(FunctionId, Vec<Taint>)> {
        let made = self.instruction(thread)?.new_threads().get(number)?;
        Some((made.function, self.operands(thread, &made.arguments)))
    }

    /// What the condition is computed from of the branch that a thread stands before.
    pub(super) fn condition(&mut self, thread: PathId) -> Taint {
        let terminator = self.here(thread).map(|(_, block, _)| block.terminator);
        match terminator {
            Some(Terminator::Branch { condition, .. }) => self.operand(thread, condition),
            _ => Taint::NONE,
        }
    }

    /// A thread takes the branch that it stands before.
    pub(super) fn branched(&mut self, thread: PathId, holds: bool, evaluation: EvaluationId) {
        let Some((_, block, frame)) = self.here(thread) else { return };
        if let Terminator::Branch { then_block, else_block, .. } = block.terminator {
            frame.evaluations.insert(frame.block, evaluation);
            (frame.block, frame.instruction) = (if holds { then_block } else { else_block }, 0);
        }
    }
}

/// Whether it copies to a temporary: the value of `&&`, `||` or `?:`, which stands for their conditions.
fn is_copy_to_temporary(function: &Function, instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Copy { dest, .. } if function.registers[*dest].name.is_none())
}
