//! The data flow within one function.
//!
//! **Input**: a function, and the results for its callees. **Output**: [`FunctionSources`]: its assignments, the dependences of
//! its branches, the arguments that it passes to its callees, and its results; each as the set of source variables from which it
//! is computed.
//!
//! **Algorithm**: one pass over the blocks in reverse postorder suffices, since a temporary is written before it is read and
//! never lives around a loop. If several instructions write one temporary (a short-circuit operator, `?:`), it also depends on
//! the conditions that choose among them.
//!
//! **Soundness and limits**: at most [`MAX_FOLLOWED`] locals are followed from the result back to memory and parameters.

use super::binding::{AccessSite, BoundProgram, Target};
use super::control::Control;
use super::row::{Row, Rows};
use super::source_variable::{SourceVariableId, SourceVariables};
use super::sources::Sources;
use cssame_ir::{
    AtomicOperation, Base, BlockId, Definition, DefinitionId, DefinitionKind, Function, FunctionId, Instruction,
    NewThread, Operand, Place, Program, Register, RegisterId, Terminator, TextId, VariableId, flow,
};
use cssame_source::Span;
use cssame_source::arena::Arena;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// Locals that are followed on the way to what a call returns.
const MAX_FOLLOWED: usize = 64;

/// The object that a field is written in: `obj` of `obj.f`, the object of the method of a bare `f`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Parent {
    base: ParentBase,
    path: Box<str>,
}

/// What the path to the object begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ParentBase {
    /// A declared variable; the path names it.
    Variable(VariableId),
    /// An object that comes from outside.
    Formal(u32),
    /// What a reference of a function points to.
    Reference(FunctionId, RegisterId),
}

impl Parent {
    /// The parent of a field; a variable has none.
    fn of(
        program: &Program,
        (function, registers): (FunctionId, &Arena<RegisterId, Register>),
        place: &Place,
        of: &Definition,
        target: Option<&Target>,
    ) -> Option<Parent> {
        program.symbols[of.symbol].class?;
        let name = |text: TextId| program.texts.get(text).split('[').next().unwrap_or_default();
        let path = |name: &str| name.rsplit_once('.').map_or("", |(path, _)| path).to_owned();
        if let Some(&Target::Leaf(leaf, _)) = target {
            let leaf = &program.leaves[leaf];
            let base = ParentBase::Variable(leaf.variable);
            return Some(Parent { base, path: path(name(leaf.name)).into() });
        }
        let path = path(name(of.name));
        let Base::Reference(register) = place.base else { return None };
        let own = registers[register].name.map_or("", |name| program.texts.get(name));
        // A bare name stands for a field of the object that the method has.
        let path = match path.split_once('.') {
            Some((first, rest)) if first == own => rest,
            None if path == own => "",
            _ => &path,
        };
        let base = match target {
            Some(&Target::Formal(number)) => ParentBase::Formal(number),
            _ => ParentBase::Reference(function, register),
        };
        Some(Parent { base, path: path.into() })
    }
}

/// An assignment as it stands in the function.
#[derive(Clone, Debug)]
pub(super) struct RawAssignment {
    pub target: SourceVariableId,
    pub block: BlockId,
    pub position: u32,
    pub sources: Sources,
    pub parent: Option<Parent>,
    /// Of a write to memory.
    pub row: Option<Row>,
    pub span: Span,
}

/// How a function is invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Invocation {
    /// By a call, to which it returns.
    Call,
    /// As a thread.
    Thread,
}

/// A call, or the making of a thread.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub callee: FunctionId,
    pub block: BlockId,
    pub position: u32,
    /// Which of the threads that the instruction makes.
    pub thread: usize,
    pub invocation: Invocation,
    /// The scalar parameters of the callee, and what they get here.
    pub arguments: Vec<(SourceVariableId, Sources)>,
}

/// The flow of data in a function.
#[derive(Clone, Debug)]
pub(super) struct FunctionSources {
    pub id: FunctionId,
    pub control: Control,
    pub assignments: Vec<RawAssignment>,
    /// What the condition of a branch is computed from.
    pub branches: FxHashMap<BlockId, Sources>,
    pub sites: Vec<Site>,
    /// Parameters that are never written.
    fixed_parameters: Vec<Option<SourceVariableId>>,
    /// Memory and fixed parameters that the result is computed from.
    returns: Sources,
    /// Locals that only count the rounds of a loop.
    pub counters: Vec<SourceVariableId>,
}

struct Pass<'a> {
    bound: &'a BoundProgram<'a>,
    program: &'a Program,
    data: &'a SourceVariables,
    rows: &'a Rows,
    done: &'a [Option<FunctionSources>],
    function: &'a Function,
    /// By register; of named scalars only what is written to them, which is not looked up.
    temporaries: Vec<Sources>,

    result: Sources,
    out: FunctionSources,
}

impl FunctionSources {
    /// Follows the data through a function; `done` has its callees.
    pub fn of(
        bound: &BoundProgram<'_>,
        (data, rows): (&SourceVariables, &Rows),
        done: &[Option<FunctionSources>],
        id: FunctionId,
    ) -> FunctionSources {
        let program = &*bound.program;
        let function = &program.functions[id];
        let written = written_registers(function);
        let fixed = |register: RegisterId| {
            let variable = data.of_register(id, register);
            (data.is_named(variable) && !written.contains(register.index())).then_some(variable)
        };
        let out = FunctionSources {
            id,
            control: Control::of(function),
            assignments: Vec::new(),
            branches: FxHashMap::default(),
            sites: Vec::new(),
            fixed_parameters: function.parameters.iter().map(|&register| fixed(register)).collect(),
            returns: Sources::default(),
            counters: Vec::new(),
        };
        let temporaries = vec![Sources::default(); function.registers.len()];
        let mut pass =
            Pass { bound, program, data, rows, done, function, temporaries, result: Sources::default(), out };
        pass.run();
        pass.finish()
    }
}

/// Registers that an instruction writes.
fn written_registers(function: &Function) -> FixedBitSet {
    let mut written = FixedBitSet::with_capacity(function.registers.len());
    let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    written.extend(instructions.filter_map(Instruction::dest).map(RegisterId::index));
    written
}

impl Pass<'_> {
    fn run(&mut self) {
        let function = self.function;
        for block in flow::reverse_postorder(function, flow::Successors::InOrder) {
            let content = &function.blocks[block];
            for (position, (instruction, &span)) in content.instructions.iter().zip(&content.spans).enumerate() {
                self.instruction(block, position as u32, instruction, span);
            }
            match content.terminator {
                Terminator::Branch { condition, .. } => {
                    let sources = self.operand(condition);
                    self.out.branches.insert(block, sources);
                }
                Terminator::Return(Some(value)) => {
                    let sources = self.operand(value);
                    self.result.add(&sources);
                }
                Terminator::Return(None) | Terminator::End(_) | Terminator::Jump(_) => {}
            }
        }
    }

    fn instruction(&mut self, block: BlockId, position: u32, instruction: &Instruction, span: Span) {
        match instruction {
            Instruction::Store { place, value, definition } => {
                let sources = self.operand(*value);
                self.store((block, position), place, *definition, sources, span);
            }
            Instruction::Atomic { dest, op, place, definition, .. } => {
                let site = (self.out.id, block, position);
                let target = self.data.at(site, self.program.definitions[*definition].symbol);
                let sources = match op {
                    AtomicOperation::CompareAndSwap { new, .. } | AtomicOperation::CompareExchange { new, .. } => {
                        self.operand(*new)
                    }
                    AtomicOperation::Swap(value) => self.operand(*value),
                    AtomicOperation::FetchAdd(value, _) | AtomicOperation::FetchModify(_, value, _) => {
                        let mut sources = self.operand(*value);
                        sources.insert(target);
                        sources
                    }
                };
                self.store((block, position), place, *definition, sources, span);
                self.temporaries[dest.index()].add(&Sources::one(target, self.rows.at(site)));
            }
            Instruction::Call { function, arguments, .. } => {
                self.pass_arguments((block, position, 0), *function, arguments, Invocation::Call);
                let sources = self.call(*function, arguments);
                self.write(block, position, instruction, sources, span);
            }
            Instruction::Fork { threads, .. } => {
                for (index, NewThread { function, arguments, .. }) in threads.iter().enumerate() {
                    self.pass_arguments((block, position, index), *function, arguments, Invocation::Thread);
                }
            }
            Instruction::Spawn { thread, .. } => {
                self.pass_arguments((block, position, 0), thread.function, &thread.arguments, Invocation::Thread);
            }
            Instruction::Copy { .. }
            | Instruction::Unary { .. }
            | Instruction::Binary { .. }
            | Instruction::Load { .. }
            | Instruction::Choose { .. } => {
                let sources = self.computed((self.out.id, block, position), instruction);
                self.write(block, position, instruction, sources, span);
            }
            _ => {}
        }
    }

    /// What an instruction computes its result from.
    fn computed(&self, site: AccessSite, instruction: &Instruction) -> Sources {
        match instruction {
            Instruction::Load { read, .. } => {
                self.named(self.data.at(site, self.program.reads[*read].symbol), self.rows.at(site))
            }
            Instruction::Copy { source, .. } => self.operand(*source),
            Instruction::Unary { operand, .. } => self.operand(*operand),
            Instruction::Binary { left, right, .. } => {
                let mut sources = self.operand(*left);
                sources.add(&self.operand(*right));
                sources
            }
            _ => Sources::default(),
        }
    }

    fn named(&self, variable: SourceVariableId, row: Option<Row>) -> Sources {
        if self.data.is_named(variable) { Sources::one(variable, row) } else { Sources::default() }
    }

    fn operand(&self, operand: Operand) -> Sources {
        let Operand::Register(register) = operand else { return Sources::default() };
        let variable = self.data.of_register(self.out.id, register);
        if self.data.is_named(variable) {
            Sources::private(variable, self.out.id)
        } else {
            self.temporaries[register.index()].clone()
        }
    }

    /// A write to a register: an assignment where it has a name.
    fn write(&mut self, block: BlockId, position: u32, instruction: &Instruction, sources: Sources, span: Span) {
        let Some(dest) = instruction.dest() else { return };
        let target = self.data.of_register(self.out.id, dest);
        if !self.data.is_named(target) {
            let chosen = self.temporaries[dest.index()].len() > 0 || matches!(instruction, Instruction::Copy { .. });
            self.temporaries[dest.index()].add(&sources);
            if chosen {
                self.add_choice(block, dest);
            }
            return;
        }
        let declared = self.function.registers[dest].span;
        let initialiser = span.start <= declared.start && declared.end <= span.end;
        if sources.len() > 0 || !initialiser {
            self.out.assignments.push(RawAssignment {
                target,
                block,
                position,
                sources,
                parent: None,
                row: None,
                span,
            });
        }
    }

    /// The conditions that decide whether this instruction gives a temporary its value.
    fn add_choice(&mut self, block: BlockId, dest: RegisterId) {
        for branch in self.out.control.direct(block) {
            if let Some(sources) = self.out.branches.get(branch) {
                self.temporaries[dest.index()].add(sources);
            }
        }
    }

    fn store(&mut self, at: (BlockId, u32), place: &Place, definition: DefinitionId, sources: Sources, span: Span) {
        let of = &self.program.definitions[definition];
        let (block, position) = at;
        let target = self.data.at((self.out.id, block, position), of.symbol);
        let initialiser = matches!(of.kind, DefinitionKind::Initial(_));
        if !self.data.is_named(target) || initialiser && sources.len() == 0 {
            return;
        }
        let object = self.bound.targets.get(&(self.out.id, block, position));
        let parent = Parent::of(self.program, (self.out.id, &self.function.registers), place, of, object);
        let span = if initialiser { span } else { of.span };
        let row = self.rows.at((self.out.id, block, position));
        self.out.assignments.push(RawAssignment { target, block, position, sources, parent, row, span });
    }

    fn pass_arguments(
        &mut self,
        (block, position, thread): (BlockId, u32, usize),
        callee: FunctionId,
        operands: &[Operand],
        invocation: Invocation,
    ) {
        let parameters = self.program.functions[callee].parameters.iter();
        let arguments = parameters.zip(operands).map(|(&parameter, &operand)| {
            let variable = self.data.of_register(callee, parameter);
            (variable, self.operand(operand).without_rows())
        });
        let arguments = arguments.filter(|(variable, _)| self.data.is_named(*variable)).collect();
        self.out.sites.push(Site { callee, block, position, thread, invocation, arguments });
    }

    /// What the result of a call is computed from.
    fn call(&self, callee: FunctionId, arguments: &[Operand]) -> Sources {
        let mut sources = Sources::default();
        let Some(callee) = &self.done[callee.index()] else { return sources };
        for source in callee.returns.iter() {
            let parameter = callee.fixed_parameters.iter().position(|&fixed| fixed == Some(source));
            match parameter.and_then(|position| arguments.get(position)) {
                Some(&argument) => sources.add(&self.operand(argument)),
                None => sources.insert(source),
            };
        }
        sources
    }

    fn finish(mut self) -> FunctionSources {
        self.find_counters();
        self.close_result();
        self.out
    }

    /// A counter is a local that some loop steps by itself and asks in the condition on which it goes on.
    fn find_counters(&mut self) {
        let control = &self.out.control;
        let mut asked: FxHashSet<(u32, SourceVariableId)> = FxHashSet::default();
        for (&branch, sources) in &self.out.branches {
            if let Some(cycle) = control.cycle(branch).filter(|_| control.is_loop_branch(branch)) {
                asked.extend(sources.iter().map(|variable| (cycle, variable)));
            }
        }
        let local = self.data.of_register(self.out.id, RegisterId(0));
        for assignment in &self.out.assignments {
            let target = assignment.target;
            let steps = assignment.sources.len() == 1 && assignment.sources.contains(target);
            let Some(cycle) = control.cycle(assignment.block).filter(|_| steps && target >= local) else { continue };
            if asked.contains(&(cycle, target)) {
                self.out.counters.push(target);
            }
        }
    }

    /// Follows the locals that the result is computed from back to memory and parameters.
    fn close_result(&mut self) {
        let local = self.data.of_register(self.out.id, RegisterId(0));
        let fixed: Vec<SourceVariableId> = self.out.fixed_parameters.iter().copied().flatten().collect();
        let mut written: FxHashMap<SourceVariableId, Sources> = FxHashMap::default();
        if self.result.iter().any(|source| source >= local) {
            for assignment in self.out.assignments.iter().filter(|assignment| assignment.target >= local) {
                written.entry(assignment.target).or_default().add(&assignment.sources);
            }
        }
        let mut waiting: Vec<SourceVariableId> = self.result.iter().collect();
        let mut seen = Sources::default();
        let mut fuel = MAX_FOLLOWED;
        while let Some(variable) = waiting.pop() {
            if variable < local || fixed.contains(&variable) {
                self.out.returns.insert(variable);
            } else if fuel > 0 && seen.insert(variable) {
                fuel -= 1;
                waiting.extend(written.get(&variable).into_iter().flat_map(Sources::iter));
            }
        }
    }
}
