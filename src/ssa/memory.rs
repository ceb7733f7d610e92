//! The memory variables of one function.
//!
//! **Input**: a function. **Output**: for each of its accesses to memory, the variable whose versions SSA construction counts.
//!
//! **Algorithm**
//! 1. A symbol that the function accesses in one way only (one base and offset, without index), or only as parts of globals and of
//!    variables that it allocates itself, is split into [`SsaVariable::Cell`]s: a write replaces the value.
//! 2. All other symbols, such as arrays and objects that several references may point to, are one [`SsaVariable::Symbol`] each: a
//!    write may leave the old value, so it is a weak definition.
//!
//! **Soundness and limits**: the origins of references are unknown: two parameters may always point to the same object.

use cssame_ir::{Base, Function, Instruction, Place, Program, RegisterId, SymbolId, TextId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What versions are counted of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsaVariable {
    /// A register of the function.
    Register(RegisterId),
    /// The memory at a base and an offset, of that symbol: a write replaces its value.
    Cell(SymbolId, Base, u32),
    /// All memory of that symbol: a write may leave the old value.
    Symbol(SymbolId),
}

impl SsaVariable {
    /// The symbol of a memory variable.
    #[must_use]
    pub fn symbol(self) -> Option<SymbolId> {
        match self {
            SsaVariable::Register(_) => None,
            SsaVariable::Cell(symbol, ..) | SsaVariable::Symbol(symbol) => Some(symbol),
        }
    }
}

/// A base and an offset. Globals and registers have different first parts.
type Key = (bool, u32, u32);

fn key(place: &Place) -> Key {
    match place.base {
        Base::Global(variable) => (false, variable.0, place.offset),
        Base::Reference(register) | Base::Pointer(register) => (true, register.0, place.offset),
    }
}

/// How a function reaches a symbol.
#[derive(Default)]
struct Shape {
    keys: FxHashSet<Key>,
    /// Some access has an index, or a base that changes.
    loose: bool,
    /// Some base is a parameter.
    passed: bool,
}

impl Shape {
    fn is_split(&self) -> bool {
        !self.loose && (!self.passed || self.keys.len() == 1)
    }

    /// Whether every access goes through that register.
    fn is_only_at(&self, register: RegisterId) -> bool {
        self.keys.iter().all(|&(reference, base, _)| reference && base == register.0)
    }
}

/// The memory variables of a function; they are numbered behind its registers.
pub(super) struct Memory {
    shapes: FxHashMap<SymbolId, Shape>,
    cells: FxHashMap<(SymbolId, Key), u32>,
    symbols: FxHashMap<SymbolId, u32>,
    /// The cells of each variable that the function allocates, by the register of its address.
    allocated: FxHashMap<RegisterId, Vec<u32>>,
    /// The memory variables with a name each, by number.
    pub variables: Vec<(SsaVariable, TextId)>,
    first: u32,
}

/// The place, symbol and name of the memory that an instruction accesses.
pub(super) fn access<'i>(program: &Program, instruction: &'i Instruction) -> Option<(&'i Place, SymbolId, TextId)> {
    match instruction {
        Instruction::Load { place, read, .. } => {
            let fact = &program.reads[*read];
            Some((place, fact.symbol, fact.name))
        }
        Instruction::Store { place, definition, .. } | Instruction::Atomic { place, definition, .. } => {
            let fact = &program.definitions[*definition];
            Some((place, fact.symbol, fact.name))
        }
        _ => None,
    }
}

impl Memory {
    /// Finds the memory variables, in the order of their first accesses.
    pub fn new(program: &Program, function: &Function) -> Memory {
        let first = function.registers.len() as u32;
        let mut memory = Memory {
            shapes: FxHashMap::default(),
            cells: FxHashMap::default(),
            symbols: FxHashMap::default(),
            allocated: FxHashMap::default(),
            variables: Vec::new(),
            first,
        };
        let origins = origins(function);
        let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
        for (place, symbol, _) in instructions().filter_map(|instruction| access(program, instruction)) {
            let shape = memory.shapes.entry(symbol).or_default();
            shape.keys.insert(key(place));
            shape.loose |= !place.indices.is_empty();
            // What a pointer leads to may be what another one leads to, or a name.
            shape.loose |= matches!(place.base, Base::Pointer(_));
            if let Base::Reference(register) = place.base {
                shape.passed |= origins[register.index()] == Origin::Parameter;
                shape.loose |= origins[register.index()] == Origin::Other;
            }
        }
        for (place, symbol, name) in instructions().filter_map(|instruction| access(program, instruction)) {
            memory.add(place, symbol, name);
        }
        memory
    }

    fn add(&mut self, place: &Place, symbol: SymbolId, name: TextId) {
        let next = self.first + self.variables.len() as u32;
        if !self.shapes[&symbol].is_split() {
            if *self.symbols.entry(symbol).or_insert(next) == next {
                self.variables.push((SsaVariable::Symbol(symbol), name));
            }
            return;
        }
        if *self.cells.entry((symbol, key(place))).or_insert(next) == next {
            self.variables.push((SsaVariable::Cell(symbol, place.base, place.offset), name));
            if let Base::Reference(register) = place.base {
                self.allocated.entry(register).or_default().push(next);
            }
        }
    }

    /// The number of the variable that a place of that symbol belongs to, and whether a write replaces its value.
    pub fn variable(&self, place: &Place, symbol: SymbolId) -> Option<(u32, bool)> {
        let cell = self.cells.get(&(symbol, key(place))).map(|&cell| (cell, true));
        cell.or_else(|| self.symbols.get(&symbol).map(|&variable| (variable, false)))
    }

    /// The cells that begin anew where the register gets the address of a new variable.
    pub fn cells_of(&self, register: RegisterId) -> &[u32] {
        self.allocated.get(&register).map_or(&[], Vec::as_slice)
    }

    /// The variable of a symbol that is not split, and whether all of it begins anew where the register gets the address
    /// of a new variable.
    pub fn whole(&self, symbol: SymbolId, register: RegisterId) -> Option<(u32, bool)> {
        let variable = self.symbols.get(&symbol)?;
        Some((*variable, self.shapes[&symbol].is_only_at(register)))
    }

    /// The memory variables in order, with their numbers and symbols.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, SymbolId)> + '_ {
        (self.first..).zip(self.variables.iter().filter_map(|(variable, _)| variable.symbol()))
    }
}

/// Where a reference comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It is a parameter that is never written.
    Parameter,
    /// It is the address of a variable that this function allocates; nothing else writes it.
    Allocated,
    Other,
}

fn origins(function: &Function) -> Vec<Origin> {
    let mut origins = vec![Origin::Other; function.registers.len()];
    let mut writers = vec![0_u32; function.registers.len()];
    for &parameter in &function.parameters {
        origins[parameter.index()] = Origin::Parameter;
        writers[parameter.index()] += 1;
    }
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        if let Some(dest) = instruction.dest() {
            writers[dest.index()] += 1;
        }
        if let Instruction::Allocate { dest, .. } = instruction {
            origins[dest.index()] = Origin::Allocated;
        }
    }
    for (origin, &count) in origins.iter_mut().zip(&writers) {
        if count != 1 {
            *origin = Origin::Other;
        }
    }
    origins
}
