//! Facts of a failure: the values that caused it.
//!
//! **Input**: a failure and the steps that lead to it. **Output**: sentences, such as `x is 1`, `index 5, size 4: v[5]`, or
//! `L is held by T2 since 4:3`; none if there is nothing to add.
//!
//! **Algorithm**.
//!
//! 1. A machine that [keeps registers](cssame_vm::Machine::keeping_registers) repeats the steps, so that the operands of the
//!    failing instruction are available. The branches of each open call of a thread are recorded.
//! 2. The branches determine which blocks ran before the instruction. Follow them back through the blocks whose condition is part
//!    of the failing statement, as for `&&` and `?:`.
//! 3. The description of an operand lists its sources in these blocks: variables, elements, results of calls, each with its
//!    value. Constants are left out.
//! 4. If a thread releases a lock that it does not hold, the fact is the holder of the lock, or the thread that last released it.
//! 5. If memory is used or given back that was given back before, the fact is the thread that did so, and where.
//!
//! **Soundness and limits**. A search compares failures by kind, message and place. Facts are computed for one execution, and
//! never distinguish failures. If more than [`MAX_BLOCKS`] blocks compute an expression, the part before these is left out.

use super::naming::Naming;
use super::walk::Walk;
use cssame_ir::sync::{Kind, Synchronisation};
use cssame_ir::{
    Base, BlockId, Dimension, Function, FunctionId, Instruction, Object, Operand, Place, Pointer, RegisterId,
    RegisterType, ScalarType, Terminator,
};
use cssame_source::Span;
use cssame_vm::{
    Choice, CodeIndex, Event, Failure, FailureKind, Machine, Observer, Obstacle, PathId, Progress, State, Tables,
    ThreadIndex, ThreadName,
};
use rustc_hash::FxHashMap;
/// Blocks of one expression.
const MAX_BLOCKS: usize = 64;

/// The facts of a failure that an execution ends with; none where `steps` do not lead to it.
#[must_use]
pub fn facts(naming: &Naming<'_>, failure: &Failure, steps: &[Choice]) -> Vec<String> {
    let machine = naming.machine.keeping_registers(naming.program);
    let (mut tables, mut history) = (Tables::new(), History::default());
    let mut walk = Walk::new(&machine, &mut tables, &mut history);
    // Whoever does not know the steps gets no facts.
    let Ok(Progress::Failed(failed)) = walk.follow(steps, &mut history) else { return Vec::new() };
    if (failed.kind, failed.at) != (failure.kind, failure.at) {
        return Vec::new();
    }
    let origin = machine.origin(failure.at);
    let function = &naming.program.functions[origin.function];
    let (state, tables) = (walk.state(), walk.tables());
    // Slots depend on the order of steps: another execution with this failure may have another slot for the thread.
    let thread = failed.thread;
    let path = state.path(thread);
    let branches = history.calls.get(&path).and_then(|calls| calls.last()).map_or(&[][..], Vec::as_slice);
    let root = machine.span(failure.at);
    let here = (origin.function, origin.block, origin.instruction as usize);
    let executed = executed(naming, &machine, here, root, branches);
    let scene = Scene { naming, machine: &machine, function, state, tables, thread, executed, history: &history };
    let mut facts = Facts { scene: &scene, sentences: Vec::new() };
    facts.of(&failed, function.blocks[origin.block].instructions.get(origin.instruction as usize));
    facts.sentences
}

/// What is kept of an execution until it fails.
#[derive(Default)]
struct History {
    /// By thread, for each call that it is in: the last branches.
    calls: FxHashMap<PathId, Vec<Vec<(CodeIndex, bool)>>>,
    /// By lock: who gave it back last, and where.
    freed: FxHashMap<u32, (PathId, CodeIndex)>,
    /// By the location of its first cell: who gave memory back, and where.
    memory: FxHashMap<u32, (PathId, CodeIndex)>,
}

impl History {
    fn of(&mut self, thread: PathId) -> &mut Vec<Vec<(CodeIndex, bool)>> {
        self.calls.entry(thread).or_insert_with(|| vec![Vec::new()])
    }
}

impl Observer for History {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let (table, address) = match event {
            Event::Unlock { address, .. } => (&mut self.freed, address),
            Event::Free { address, .. } => (&mut self.memory, address),
            _ => return,
        };
        table.insert(address, (thread.path, at));
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        if let Some(branches) = self.of(thread.path).last_mut() {
            if branches.len() >= 2 * MAX_BLOCKS {
                branches.drain(..MAX_BLOCKS);
            }
            branches.push((at, holds));
        }
    }

    fn call(&mut self, thread: ThreadName, _: CodeIndex, _: FunctionId, _: &[i64]) {
        self.of(thread.path).push(Vec::new());
    }

    fn leave(&mut self, thread: ThreadName) {
        self.of(thread.path).pop();
    }
}

/// Step 2: the instructions that were executed for the failing one, as blocks with the numbers of their instructions,
/// and the conditions of the branches between them; the last ones first.
struct Executed {
    blocks: Vec<(BlockId, usize)>,
    conditions: Vec<Operand>,
}

fn executed(
    naming: &Naming<'_>,
    machine: &Machine,
    (id, block, before): (FunctionId, BlockId, usize),
    root: Span,
    branches: &[(CodeIndex, bool)],
) -> Executed {
    let function = &naming.program.functions[id];
    let mut found = Executed { blocks: vec![(block, before)], conditions: Vec::new() };
    let mut first = block;
    for &(at, holds) in branches.iter().rev().take(MAX_BLOCKS) {
        let origin = machine.origin(at);
        let of = &function.blocks[origin.block];
        let Terminator::Branch { condition, then_block, else_block } = of.terminator else { break };
        let is_part = root.file == of.terminator_span.file
            && root.start <= of.terminator_span.start
            && of.terminator_span.end <= root.end;
        let Some(between) = way(function, if holds { then_block } else { else_block }, first) else { break };
        if origin.function != id || !is_part {
            break;
        }
        found.blocks.extend(between.into_iter().rev().map(|block| (block, function.blocks[block].instructions.len())));
        found.blocks.push((origin.block, of.instructions.len()));
        found.conditions.push(condition);
        first = origin.block;
    }
    found
}

/// The blocks from one to another that no branch lies between, without the last.
fn way(function: &Function, from: BlockId, to: BlockId) -> Option<Vec<BlockId>> {
    let (mut at, mut way) = (from, Vec::new());
    while at != to {
        way.push(at);
        match function.blocks[at].terminator {
            Terminator::Jump(next) if way.len() <= MAX_BLOCKS => at = next,
            _ => return None,
        }
    }
    Some(way)
}

/// The state behind the failing step.
struct Scene<'a> {
    naming: &'a Naming<'a>,
    machine: &'a Machine,
    function: &'a Function,
    state: &'a State,
    tables: &'a Tables,
    thread: ThreadIndex,
    executed: Executed,
    history: &'a History,
}

impl Scene<'_> {
    fn bits(&self, operand: Operand) -> i64 {
        match operand {
            Operand::Register(register) => self.machine.register(self.state, self.thread, register),
            Operand::Constant(value) => value.bits(),
        }
    }

    /// The instruction that has given a register its value.
    fn definition(&self, register: RegisterId) -> Option<&Instruction> {
        let instructions = self
            .executed
            .blocks
            .iter()
            .flat_map(|&(block, count)| self.function.blocks[block].instructions[..count].iter().rev());
        instructions.into_iter().find(|instruction| instruction.dest() == Some(register))
    }

    /// A piece of the text on one line.
    fn text(&self, span: Span) -> String {
        self.naming.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn thread_name(&self, path: PathId) -> String {
        self.machine.path_name(self.tables, path)
    }

    fn position(&self, at: CodeIndex) -> String {
        self.naming.sources.place(self.machine.span(at))
    }

    /// The cell so far behind the base of a place.
    fn behind(&self, place: &Place, skipped: i64) -> Option<u32> {
        let base = match place.base {
            Base::Global(variable) => self.machine.global_address(variable)?,
            Base::Reference(register) => {
                u32::try_from(self.machine.register(self.state, self.thread, register)).ok()?
            }
            Base::Pointer(register) => {
                let bits = self.machine.register(self.state, self.thread, register);
                return self.machine.pointed_at(self.state, Pointer::from_bits(bits).plus(skipped));
            }
        };
        u32::try_from(i64::from(base) + skipped).ok()
    }

    /// The cell of a place whose indices are all in range.
    fn address(&self, place: &Place) -> Option<u32> {
        let skipped = place.indices.iter().map(|index| self.bits(index.operand) * i64::from(index.stride));
        self.behind(place, i64::from(place.offset) + skipped.sum::<i64>())
    }

    /// `v[5]`: a place with the values of its indices, also where one is out of range.
    fn place_name(&self, place: &Place) -> Option<String> {
        let program = self.naming.program;
        let (leaf, element) = self.machine.leaf_at(self.state, self.behind(place, i64::from(place.offset))?)?;
        let leaf = &program.leaves[leaf];
        let mut values: Vec<i64> = leaf.indices_of(element).into_iter().map(i64::from).collect();
        let mut next = 0;
        for index in &place.indices {
            let is_pointer = matches!(place.base, Base::Pointer(_));
            let stride = |of: &Dimension| if is_pointer { of.bytes } else { of.stride };
            let dimension = (next..values.len()).find(|&at| stride(&leaf.dimensions[at]) == index.stride)?;
            values[dimension] = values[dimension].saturating_add(self.bits(index.operand));
            next = dimension + 1;
        }
        Some(leaf.name_with(&program.texts, values.into_iter().map(|value| value.to_string())))
    }
}

struct Facts<'a> {
    scene: &'a Scene<'a>,
    sentences: Vec<String>,
}

impl Facts<'_> {
    fn of(&mut self, failure: &Failure, instruction: Option<&Instruction>) {
        match (failure.kind, instruction) {
            (FailureKind::Assert, Some(&Instruction::Assert { condition, .. })) => {
                for &condition in self.scene.executed.conditions.iter().rev() {
                    self.operand(condition);
                }
                self.operand(condition);
            }
            (FailureKind::Overflow | FailureKind::ShiftCount, Some(&Instruction::Binary { left, right, .. })) => {
                self.operand(left);
                self.operand(right);
            }
            (FailureKind::DivisionByZero, Some(&Instruction::Binary { left, right, .. })) => {
                self.operand(left);
                self.divisor(right);
            }
            (FailureKind::IndexOutOfRange, Some(instruction)) => {
                places(instruction).into_iter().any(|place| self.index(place));
            }
            (FailureKind::DoubleFree, Some(&Instruction::Free { pointer, .. })) => {
                self.given_back(pointer);
            }
            (FailureKind::UseAfterFree, Some(instruction)) => {
                let pointers = places(instruction).into_iter().filter_map(|place| place.base.register());
                pointers.into_iter().any(|pointer| self.given_back(pointer));
            }
            (FailureKind::UnlockNotHeld, Some(Instruction::Synchronise(operation))) => self.not_held(operation),
            (FailureKind::EmptyHandle, Some(&Instruction::JoinThread { handle, .. })) => self.operand(handle),
            (FailureKind::LockLevels, Some(Instruction::Synchronise(operation))) => {
                let lock = operation.object.as_ref().and_then(|place| self.scene.place_name(place));
                self.sentences.extend(lock.map(|lock| format!("{lock} is held 65,535 times, which is the limit")));
            }
            (FailureKind::CallDepth, _) => self.depth(instruction),
            (FailureKind::StepLimit, _) => self.local_work(),
            (FailureKind::TooManyThreads, _) => {
                let limit = grouped(u32::from(self.scene.machine.options().threads));
                self.sentences.push(format!("{limit} threads at one time are the limit"));
            }
            _ => {}
        }
    }

    /// What holds a value; `declared` is its name in the declaration.
    fn say(&mut self, what: &str, (ty, declared): (ScalarType, Option<Span>), bits: i64) {
        let value = match ty {
            ScalarType::Thread if bits == 0 => "no thread".to_owned(),
            ScalarType::Thread => {
                let thread = ThreadIndex((bits - 1) as u16);
                self.scene.thread_name(self.scene.state.path(thread))
            }
            _ => self.scene.naming.value((self.scene.state, self.scene.tables), declared, ty, bits),
        };
        let sentence = format!("{what} is {value}");
        if what != value && !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
    }

    /// Step 3: what an operand was computed from.
    fn operand(&mut self, operand: Operand) {
        let Operand::Register(register) = operand else { return };
        let scene = self.scene;
        let of = &scene.function.registers[register];
        let RegisterType::Scalar(ty) = of.ty else { return };
        let bits = scene.bits(operand);
        if let Some(name) = of.name {
            return self.say(scene.naming.program.texts.get(name), (ty, Some(of.span)), bits);
        }
        match scene.definition(register) {
            Some(&Instruction::Copy { source, .. }) => self.operand(source),
            Some(&Instruction::Unary { operand, .. }) => self.operand(operand),
            Some(&Instruction::Binary { left, right, .. }) => {
                self.operand(left);
                self.operand(right);
            }
            Some(Instruction::Load { place, read, .. }) => {
                // The span is that of the name; an element is called by its index.
                let element = (!place.indices.is_empty()).then(|| scene.place_name(place)).flatten();
                let program = scene.naming.program;
                let declared = program.symbols[program.reads[*read].symbol].span;
                self.say(&element.unwrap_or_else(|| scene.text(of.span)), (ty, Some(declared)), bits);
                place.indices.iter().for_each(|index| self.operand(index.operand));
            }
            Some(Instruction::Call { arguments, .. }) => {
                self.say(&scene.text(of.span), (ty, None), bits);
                arguments.iter().for_each(|&argument| self.operand(argument));
            }
            Some(Instruction::Atomic { op, .. }) => {
                let name = op.word();
                self.say(&format!("{name}({})", scene.text(of.span)), (ty, None), bits);
            }
            _ => self.say(&scene.text(of.span), (ty, None), bits),
        }
    }

    /// A divisor that is zero: it is named also where it is computed from others.
    fn divisor(&mut self, operand: Operand) {
        if let Operand::Register(register) = operand {
            let of = &self.scene.function.registers[register];
            let is_computed =
                matches!(self.scene.definition(register), Some(Instruction::Binary { .. } | Instruction::Unary { .. }));
            if let (RegisterType::Scalar(ty), true) = (of.ty, is_computed && of.name.is_none()) {
                self.say(&self.scene.text(of.span), (ty, None), 0);
            }
        }
        self.operand(operand);
    }

    /// The index of a place that is out of its range; whether there is one.
    fn index(&mut self, place: &Place) -> bool {
        let scene = self.scene;
        let is_outside =
            |index: &&cssame_ir::Index| !(0..scene.bits(index.length)).contains(&scene.bits(index.operand));
        let Some(index) = place.indices.iter().find(is_outside) else { return false };
        let name = scene.place_name(place).map_or_else(String::new, |name| format!(": {name}"));
        self.sentences.push(format!("index {}, size {}{name}", scene.bits(index.operand), scene.bits(index.length)));
        self.operand(index.operand);
        true
    }

    /// Step 5: who gave back what a pointer leads to; whether somebody has.
    fn given_back(&mut self, pointer: RegisterId) -> bool {
        let scene = self.scene;
        let pointer = Pointer::from_bits(scene.bits(Operand::Register(pointer)));
        let Some((Object::Local(start), _)) = pointer.target() else { return false };
        let Some(&(thread, at)) = scene.history.memory.get(&start) else { return false };
        self.sentences.push(format!("{} gave it back at {}", scene.thread_name(thread), scene.position(at)));
        true
    }

    /// Step 4.
    fn not_held(&mut self, operation: &Synchronisation) {
        let scene = self.scene;
        let place = match operation.kind {
            Kind::WaitCondition | Kind::TimedWait => &operation.lock,
            _ => &operation.object,
        };
        let Some(address) = place.as_ref().and_then(|place| scene.address(place)) else { return };
        let lock = scene.naming.object(scene.state, scene.tables, address);
        let name = |&thread: &ThreadIndex| scene.thread_name(scene.state.path(thread));
        let freed = scene.history.freed.get(&address);
        self.sentences.push(match (scene.machine.holders(scene.state, address), freed) {
            (Some(Obstacle::Lock { holder: Some(holder), taken_at, .. }), _) => {
                format!("{lock} is held by {} since {}", name(&holder), scene.position(taken_at))
            }
            (Some(Obstacle::Lock { taken_at, .. }), _) => {
                format!("{lock} is held by a thread that has ended, since {}", scene.position(taken_at))
            }
            (Some(Obstacle::Readers { threads, .. }), _) => {
                format!("{lock} is read by {}", threads.iter().map(name).collect::<Vec<_>>().join(", "))
            }
            (_, Some(&(thread, at))) => {
                format!("nobody holds {lock}: {} gave it back at {}", scene.thread_name(thread), scene.position(at))
            }
            (_, None) => format!("nobody holds {lock}, or has held it"),
        });
    }

    fn depth(&mut self, instruction: Option<&Instruction>) {
        let program = self.scene.naming.program;
        let limit = grouped(self.scene.machine.options().frames);
        let called = match instruction {
            Some(Instruction::Call { function, .. }) => {
                format!(", the last one of {}", program.texts.get(program.functions[*function].name))
            }
            _ => String::new(),
        };
        self.sentences.push(format!("{limit} calls inside each other are the limit{called}"));
    }

    fn local_work(&mut self) {
        let options = self.scene.machine.options();
        let (local, block) = (grouped(options.local_instructions), grouped(options.block_instructions));
        self.sentences.push(format!(
            "{local} operations without one that other threads can see are the limit, in an atomic block {block}"
        ));
    }
}

/// The places that an instruction accesses, in the order in which their indices are tested.
fn places(instruction: &Instruction) -> Vec<&Place> {
    match instruction {
        Instruction::Load { place, .. }
        | Instruction::Store { place, .. }
        | Instruction::Atomic { place, .. }
        | Instruction::Address { place, .. } => vec![place],
        Instruction::Synchronise(operation) => operation.object.iter().chain(&operation.lock).collect(),
        _ => Vec::new(),
    }
}

/// A number with a comma between thousands.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
