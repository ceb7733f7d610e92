//! The values of the indices within one function.
//!
//! **Input**: a function, and the registers from which its indices are computed. **Output**: the value of an operand, and of the
//! indices of a place, at an instruction ([`Numbering`]).
//!
//! **Algorithm**: these registers are converted to SSA form ([`build_ssa`]). The version that an instruction reads is traced to
//! the instruction that defines it: a copy or an operator is evaluated, any other instruction yields a value of its own. A
//! reference to an element stands for the indices of its place.
//!
//! **Soundness and limits**: chains of more than [`MAX_CHAIN`] instructions are not followed.

use super::value::{Value, ValueId, Values};
use cssame_ir::{Base, BlockId, Function, FunctionId, Instruction, Operand, Place, Program, RegisterId, RegisterType};
use cssame_ssa::function::graph_of;
use cssame_ssa::{AccessKind, Accesses, Dominators, NO_VERSION, Origin, Ssa, build_ssa};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// No chain of instructions is followed further.
const MAX_CHAIN: u32 = 64;

/// An instruction of the function.
type At = (BlockId, u32);

/// The values of indices, and the parameter that the reference before them is.
pub(super) type Indices = (SmallVec<[ValueId; 2]>, Option<u32>);

/// The registers that an index, or a reference to what has one, is computed from. `parameters` are those of callees that flow into an
/// index there.
pub(super) fn index_registers_of<'p>(
    function: &Function,
    parameters: impl Fn(FunctionId) -> Option<&'p FixedBitSet>,
) -> FixedBitSet {
    let mut needed = FixedBitSet::with_capacity(function.registers.len());
    let mut waiting: Vec<RegisterId> = Vec::new();
    let mut makers: FxHashMap<RegisterId, Vec<&Instruction>> = FxHashMap::default();
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        if let Some(dest) = instruction.dest() {
            makers.entry(dest).or_default().push(instruction);
        }
        match instruction {
            Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Atomic { place, .. } => {
                registers_of(place, &mut |register| waiting.push(register));
            }
            Instruction::Call { function: callee, arguments, .. } => {
                let positions = parameters(*callee).into_iter().flat_map(FixedBitSet::ones);
                waiting.extend(positions.filter_map(|position| register(*arguments.get(position)?)));
                let registers = arguments.iter().filter_map(|&argument| register(argument));
                waiting.extend(registers.filter(|&of| function.registers[of].ty == RegisterType::Reference));
            }
            _ => {}
        }
    }
    while let Some(next) = waiting.pop() {
        if needed.put(next.index()) {
            continue;
        }
        for instruction in makers.get(&next).into_iter().flatten() {
            match instruction {
                Instruction::Copy { .. } | Instruction::Unary { .. } | Instruction::Binary { .. } => {
                    instruction.uses(&mut |register| waiting.push(register));
                }
                Instruction::Address { place, .. } => registers_of(place, &mut |register| waiting.push(register)),
                _ => {}
            }
        }
    }
    needed
}

fn register(operand: Operand) -> Option<RegisterId> {
    match operand {
        Operand::Register(register) => Some(register),
        Operand::Constant(_) => None,
    }
}

/// The registers that the indices of a place and its base are.
fn registers_of(place: &Place, f: &mut impl FnMut(RegisterId)) {
    if let Base::Reference(register) = place.base {
        f(register);
    }
    place.indices.iter().filter_map(|index| register(index.operand)).for_each(f);
}

/// The values in one function.
pub(super) struct Numbering<'a> {
    program: &'a Program,
    id: FunctionId,
    function: &'a Function,
    fixed: &'a FixedBitSet,
    constants: &'a FxHashMap<(FunctionId, u32), i64>,
    values: &'a mut Values,
    accesses: Accesses,
    ssa: Ssa,
    /// The first access of each instruction that has some, and the instruction of each access.
    first: FxHashMap<At, usize>,
    makers: Vec<At>,
    known: FxHashMap<usize, Option<ValueId>>,
}

impl<'a> Numbering<'a> {
    /// Brings the needed registers of a function into SSA form.
    pub fn new(
        (program, id): (&'a Program, FunctionId),
        needed: FixedBitSet,
        fixed: &'a FixedBitSet,
        constants: &'a FxHashMap<(FunctionId, u32), i64>,
        values: &'a mut Values,
    ) -> Numbering<'a> {
        let function = &program.functions[id];
        let (mut accesses, mut first, mut makers) = (Accesses::new(), FxHashMap::default(), Vec::new());
        for (block, content) in function.blocks.entries() {
            for (position, instruction) in content.instructions.iter().enumerate() {
                let at = (block, position as u32);
                let mut note = |register: RegisterId, kind: AccessKind| {
                    if needed.contains(register.index()) {
                        let access = accesses.push(register.0, kind);
                        first.entry(at).or_insert(access);
                        makers.push(at);
                    }
                };
                instruction.uses(&mut |register| note(register, AccessKind::Use));
                if let Some(dest) = instruction.dest() {
                    note(dest, AccessKind::Definition);
                }
            }
            accesses.end_block();
        }
        let graph = graph_of(function);
        let ssa = build_ssa(&graph, &Dominators::new(&graph), function.registers.len(), &accesses);
        let known = FxHashMap::default();
        Numbering { program, id, function, fixed, constants, values, accesses, ssa, first, makers, known }
    }

    /// The value of an operand of an instruction.
    pub fn operand(&mut self, operand: Operand, at: At) -> Option<ValueId> {
        self.follow(operand, at, MAX_CHAIN)
    }

    /// The values of the indices of a place, before them those of the reference that it begins with, and the parameter that this
    /// comes from.
    pub fn indices(&mut self, place: &Place, at: At) -> Option<Indices> {
        self.indices_within(place, at, MAX_CHAIN)
    }

    fn indices_within(&mut self, place: &Place, at: At, fuel: u32) -> Option<Indices> {
        let (mut values, parameter) = match place.base {
            Base::Reference(register) => self.reference(register, at, fuel)?,
            Base::Global(_) => Indices::default(),
            Base::Pointer(_) => return None,
        };
        for index in &place.indices {
            values.push(self.follow(index.operand, at, fuel)?);
        }
        Some((values, parameter))
    }

    /// The indices of what a reference points to that an instruction reads.
    pub fn pointee(&mut self, register: RegisterId, at: At) -> Option<Indices> {
        self.reference(register, at, MAX_CHAIN)
    }

    fn reference(&mut self, register: RegisterId, at: At, fuel: u32) -> Option<Indices> {
        let fuel = fuel.checked_sub(1)?;
        let version = self.version(register, at)?;
        let maker = match self.ssa.origin(register.0, version) {
            Origin::Access(maker) => self.makers[maker as usize],
            Origin::Entry => return Some((SmallVec::new(), self.position(register))),
            Origin::Phi(_) => return None,
        };
        match self.instruction(maker)? {
            Instruction::Address { place, .. } => self.indices_within(place, maker, fuel),
            Instruction::Copy { source: Operand::Register(source), .. } => self.reference(*source, maker, fuel),
            Instruction::Allocate { .. } => Some(Indices::default()),
            _ => None,
        }
    }

    fn position(&self, register: RegisterId) -> Option<u32> {
        let position = self.function.parameters.iter().position(|&parameter| parameter == register);
        position.map(|position| position as u32)
    }

    fn instruction(&self, at: At) -> Option<&'a Instruction> {
        self.function.blocks[at.0].instructions.get(at.1 as usize)
    }

    /// The version that an instruction reads.
    fn version(&self, register: RegisterId, at: At) -> Option<u32> {
        let first = *self.first.get(&at)?;
        let mut own = (first..self.makers.len()).take_while(|&access| self.makers[access] == at);
        let is_read = |access: &usize| {
            let of = self.accesses.all()[*access];
            of.variable == register.0 && of.kind == AccessKind::Use
        };
        let version = self.ssa.used(own.find(is_read)?);
        (version != NO_VERSION).then_some(version)
    }

    fn follow(&mut self, operand: Operand, at: At, fuel: u32) -> Option<ValueId> {
        let register = match operand {
            Operand::Constant(value) => return Some(self.values.number(Value::Constant(value.bits()))),
            Operand::Register(register) => register,
        };
        let version = self.version(register, at)?;
        let key = self.ssa.value(register.0, version);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let value = match self.ssa.origin(register.0, version) {
            Origin::Entry => self.parameter(register),
            Origin::Phi(phi) => {
                let block = BlockId(self.ssa.phis()[phi as usize].block);
                Some(self.values.number(Value::Merged(self.id, block, register)))
            }
            Origin::Access(maker) => self.made(self.makers[maker as usize], fuel.checked_sub(1)?),
        };
        self.known.insert(key, value);
        value
    }

    fn parameter(&mut self, register: RegisterId) -> Option<ValueId> {
        let position = self.position(register)?;
        let value = match self.constants.get(&(self.id, position)) {
            Some(&bits) => Value::Constant(bits),
            None => Value::Parameter(self.id, position),
        };
        Some(self.values.number(value))
    }

    /// What an instruction gives its register.
    fn made(&mut self, at: At, fuel: u32) -> Option<ValueId> {
        let value = match self.instruction(at)? {
            Instruction::Copy { source, .. } => return self.follow(*source, at, fuel),
            Instruction::Unary { op, operand, .. } => {
                let operand = self.follow(*operand, at, fuel)?;
                return Some(self.values.unary(*op, operand));
            }
            Instruction::Binary { op, left, right, .. } => {
                let (left, right) = (self.follow(*left, at, fuel)?, self.follow(*right, at, fuel)?);
                return Some(self.values.binary(*op, left, right));
            }
            Instruction::Load { place, read, .. }
                if matches!(place.base, Base::Global(_))
                    && self.fixed.contains(self.program.reads[*read].symbol.index()) =>
            {
                Value::Fixed(self.program.reads[*read].symbol)
            }
            _ => Value::Made(self.id, at.0, at.1),
        };
        Some(self.values.number(value))
    }
}
