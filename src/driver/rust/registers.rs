//! The representation of the registers of a function in Rust: their names, and the text that reads and defines them.
//!
//! A register that is only used in one group of blocks is a `let` there, with a new version for each definition; the
//! others are variables of the function.

use super::names::identifier;
use super::value::rust_type;
use crate::Input;
use crate::names::{FunctionNames, Names};
use cssame_ir::{BlockId, Function, FunctionId, Operand, RegisterId, RegisterType};
use rustc_hash::FxHashMap;

/// What memory is in the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// Nothing: values go from writes to reads through latches, and references are left out.
    Latches,
    /// Real memory; references are variables.
    Real,
}

/// How a register appears in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Variable {
    /// A `let` at each definition; the current name.
    Let(String),
    /// A variable of the function.
    Mutable(String),
    /// Nothing: a reference, or never used.
    Nothing,
}

/// The registers of a function that is being written.
pub(super) struct Registers<'a> {
    input: &'a Input<'a>,
    function: &'a Function,
    variables: Vec<Variable>,
    names: Names<'a>,
    pub(super) memory: Memory,
}

impl<'a> Registers<'a> {
    /// Chooses how the registers appear, where `groups` are the blocks that stand together.
    pub(super) fn new(
        input: &'a Input<'a>,
        functions: &'a FunctionNames,
        id: FunctionId,
        groups: &[Vec<BlockId>],
        memory: Memory,
    ) -> Registers<'a> {
        let function = &input.program.functions[id];
        let names = Names::below(identifier, &functions.all);
        let mut registers = Registers { input, function, variables: Vec::new(), names, memory };
        registers.variables = registers.choose(groups);
        registers
    }

    /// A `let` where all mentions are in one group and the first one is a definition.
    fn choose(&mut self, groups: &[Vec<BlockId>]) -> Vec<Variable> {
        let mut homes: FxHashMap<RegisterId, Option<usize>> = FxHashMap::default();
        let parameters = &self.function.parameters;
        homes.extend(parameters.iter().map(|&parameter| (parameter, None)));
        for (number, group) in groups.iter().enumerate() {
            let mut mention = |register: RegisterId, defines: bool| {
                let home = homes.entry(register).or_insert(defines.then_some(number));
                if *home != Some(number) {
                    *home = None;
                }
            };
            for &block in group {
                let block = &self.function.blocks[block];
                for instruction in &block.instructions {
                    instruction.uses(&mut |register| mention(register, false));
                    instruction.dest().into_iter().for_each(|register| mention(register, true));
                }
                block.terminator.register().into_iter().for_each(|register| mention(register, false));
            }
        }
        let registers = self.function.registers.entries();
        let choose = |(id, register): (RegisterId, &cssame_ir::Register)| match (register.ty, homes.get(&id)) {
            (RegisterType::Reference, _) if self.memory == Memory::Latches => Variable::Nothing,
            (_, None) => Variable::Nothing,
            (_, Some(Some(_))) => Variable::Let(String::new()),
            (_, Some(None)) => Variable::Mutable(String::new()),
        };
        let mut variables: Vec<Variable> = registers.map(choose).collect();
        for (index, variable) in variables.iter_mut().enumerate() {
            if let Variable::Mutable(name) = variable {
                *name = self.fresh_name(RegisterId::new(index), None);
            }
        }
        variables
    }

    /// A new name for a register; `hint` is for one that has none in the text.
    fn fresh_name(&mut self, register: RegisterId, hint: Option<&str>) -> String {
        let wanted = match (self.function.registers[register].name, hint) {
            (Some(name), _) => self.input.program.texts.get(name).to_owned(),
            (None, Some(hint)) => hint.to_owned(),
            (None, None) => format!("v{}", register.0),
        };
        self.names.fresh(&wanted)
    }

    /// Text for the definition of a register, up to and with the `=`.
    pub(super) fn define(&mut self, register: RegisterId, hint: Option<&str>) -> String {
        let Some(ty) = self.type_of(register) else { return String::new() };
        match &self.variables[register.index()] {
            Variable::Nothing => String::new(),
            Variable::Mutable(name) => format!("{name} = "),
            Variable::Let(_) => {
                let name = self.fresh_name(register, hint);
                let text = format!("let {name}: {ty} = ");
                self.variables[register.index()] = Variable::Let(name);
                text
            }
        }
    }

    /// The Rust type of a register; a reference has one where memory is real.
    pub(super) fn type_of(&self, register: RegisterId) -> Option<&'static str> {
        match self.function.registers[register].ty {
            RegisterType::Scalar(ty) => Some(rust_type(ty)),
            RegisterType::Reference => (self.memory == Memory::Real).then_some("Place"),
        }
    }

    /// The current name of a register.
    pub(super) fn name(&self, register: RegisterId) -> &str {
        match &self.variables[register.index()] {
            Variable::Let(name) | Variable::Mutable(name) => name,
            Variable::Nothing => "()",
        }
    }

    /// The name of a register that is a variable of the function.
    pub(super) fn mutable_name(&self, register: RegisterId) -> Option<&str> {
        match &self.variables[register.index()] {
            Variable::Mutable(name) => Some(name),
            Variable::Let(_) | Variable::Nothing => None,
        }
    }

    /// `let x: i32 = value;`; `hint` is for a register that has no name in the text.
    pub(super) fn assign(&mut self, dest: Option<RegisterId>, hint: Option<&str>, value: &str) -> String {
        // A conversion that changes nothing, of a variable to itself.
        if dest.and_then(|dest| self.mutable_name(dest)) == Some(value) {
            return String::new();
        }
        let head = dest.map_or_else(String::new, |dest| self.define(dest, hint));
        format!("{head}{value};")
    }

    /// An operand where Rust finds the type of a literal by itself.
    pub(super) fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Register(register) => self.name(*register).to_owned(),
            Operand::Constant(value) => super::value::literal(&self.input.program.texts, *value),
        }
    }

    /// An operand that a method is called on.
    pub(super) fn receiver(&self, operand: &Operand) -> String {
        match operand {
            Operand::Register(register) => self.name(*register).to_owned(),
            Operand::Constant(value) => super::value::receiver(&self.input.program.texts, *value),
        }
    }
}
