//! Points-to: which cells a pointer may lead to.
//!
//! **Input**: a program. **Output**: for each register the [`Target`]s that it may hold ([`PointsTo::of`]), and the variables whose
//! addresses are stored in memory ([`PointsTo::is_stored`]).
//!
//! **Algorithm**: inclusion-based (Andersen 1994), field-sensitive: a set for each register, each leaf of a variable and each result of
//! a function; what flows from one to another is an inclusion between their sets, and accesses through pointers add inclusions as
//! the sets of their pointers grow ([`constraints`], [`solve`]). Integers have sets as well, so that a pointer that was cast to an
//! integer and back is still known.
//!
//! **Soundness and limits**: no order of instructions, no calling contexts: those are told apart where a pointer comes through
//! parameters and copies alone (`value` of the layer `concurrency`), and in programs that were specialised there. The elements of an array
//! are one; a pointer that computing moves by an unknown distance may lead to every cell of its object, unless it can only move from one
//! element of an outermost array to another. What an object's cells are is never unknown, so there is no set of "everything": a
//! pointer made of nothing but numbers leads nowhere, in the machine too.

mod constraints;
mod solve;
mod step;
mod symbols;

use crate::{FunctionId, Instruction, LeafId, Operand, Program, RegisterId, RegisterType, ScalarType, VariableId};
use fixedbitset::FixedBitSet;
pub use symbols::join_symbols;

/// Where a pointer may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The variable; a local is meant in all its activations.
    pub variable: VariableId,
    /// The byte of it; none where it may be any.
    pub byte: Option<u32>,
    /// Whether it is that byte. Else it is one that lies like it in other elements of the arrays that hold it.
    pub exact: bool,
}

impl Target {
    /// The target so many bytes behind it.
    #[must_use]
    pub fn behind(self, bytes: u32) -> Target {
        Target { byte: self.byte.map(|byte| byte.wrapping_add(bytes)), ..self }
    }

    /// The leaves that a pointer which leads there leads to.
    pub fn leaves(self, program: &Program) -> impl Iterator<Item = LeafId> {
        let any = self.byte.is_none().then(|| program.variables[self.variable].leaves());
        let one = self.byte.and_then(|byte| program.leaf_at_byte(self.variable, byte)).map(|(leaf, _)| leaf);
        any.into_iter().flatten().chain(one)
    }
}

/// The result of the analysis.
#[derive(Clone, Debug, Default)]
pub struct PointsTo {
    /// By function: the number of its first register.
    firsts: Vec<u32>,
    /// By number of a register: its targets, sorted.
    targets: Vec<Vec<Target>>,
    stored: FixedBitSet,
}

impl PointsTo {
    /// Analyses a program; without pointers there is nothing to do.
    #[must_use]
    pub fn new(program: &Program) -> PointsTo {
        if has_pointers(program) {
            solve::solve(program, constraints::constraints(program))
        } else {
            PointsTo::default()
        }
    }

    /// The cells that the value of a register may lead to.
    #[must_use]
    pub fn of(&self, function: FunctionId, register: RegisterId) -> &[Target] {
        let first = self.firsts.get(function.index()).copied().unwrap_or(0);
        self.targets.get((first + register.0) as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether the address of some cell of a variable may be stored in memory.
    #[must_use]
    pub fn is_stored(&self, variable: VariableId) -> bool {
        self.stored.contains(variable.index())
    }
}

/// Whether a program has a pointer at all.
#[must_use]
pub fn has_pointers(program: &Program) -> bool {
    let pointer = RegisterType::Scalar(ScalarType::Pointer);
    let of_function = |function: &crate::Function| function.registers.iter().any(|register| register.ty == pointer);
    program.functions.iter().any(of_function)
}

/// The registers of a function that are used as values, not only to access what they lead to: the pointer in them may go elsewhere.
#[must_use]
pub fn escaping(function: &crate::Function) -> FixedBitSet {
    let mut escaping = FixedBitSet::with_capacity(function.registers.len());
    for block in function.blocks.iter() {
        for instruction in &block.instructions {
            match instruction {
                Instruction::Load { .. } | Instruction::Synchronise(_) => {}
                Instruction::Store { value: Operand::Register(register), .. } => escaping.insert(register.index()),
                Instruction::Store { .. } => {}
                _ => instruction.uses(&mut |register| escaping.insert(register.index())),
            }
        }
        if let Some(register) = block.terminator.register() {
            escaping.insert(register.index());
        }
    }
    escaping
}
