//! Source variables: declared variables, fields, and private locals, as one range of numbers.
//!
//! **Input**: a program. **Output**: [`SourceVariables`], which numbers every symbol and every register ([`SourceVariableId`]) and
//! says which of them have a name and a value, and which may be accessed by several threads.
//!
//! A field is one source variable, whatever object it belongs to (the paper's "unique field identifier", section 5). Shared are
//! globals, fields, and locals that an arm of a `cobegin` or `parfor` uses; whether two threads really access them at once is
//! asked only where a pair of methods is judged.
//!
//! **Limits**: the objects of one class, and the elements of one array, are not told apart.

use crate::ir::{
    DefinitionKind, FunctionId, FunctionKind, LeafKind, Program, RegisterId, RegisterType, ScalarType, Storage,
    SymbolId,
};
use crate::source::Span;
use crate::source::arena::id;
use fixedbitset::FixedBitSet;

id! {
    /// A variable as this analysis tells them apart: a declared variable, a field, or a private local of a function.
    SourceVariableId
}

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceVariableKind {
    /// Memory of that name: a global, a field, an array, a captured local.
    Memory(SymbolId),
    /// A private scalar.
    Local(FunctionId, RegisterId),
}

/// The numbering of all data.
#[derive(Clone, Debug)]
pub struct SourceVariables {
    symbols: usize,
    /// For each function, the number of its first register; one more at the end.
    first_registers: Vec<u32>,
    /// Named data that hold a value; not thread handles, not objects of synchronisation, not temporaries.
    named: FixedBitSet,
    shared: FixedBitSet,
}

impl SourceVariables {
    /// Numbers the data of a program.
    #[must_use]
    pub fn new(program: &Program) -> SourceVariables {
        let symbols = program.symbols.len();
        let mut first_registers = vec![symbols as u32];
        for function in program.functions.iter() {
            let first = first_registers.last().copied().unwrap_or(0);
            first_registers.push(first + function.registers.len() as u32);
        }
        let count = first_registers.last().copied().unwrap_or(0) as usize;
        let mut data = SourceVariables {
            symbols,
            first_registers,
            named: FixedBitSet::with_capacity(count),
            shared: FixedBitSet::with_capacity(count),
        };
        data.find_named(program);
        data.find_shared(program);
        data
    }

    /// The variable of a symbol.
    #[must_use]
    pub fn of_symbol(&self, symbol: SymbolId) -> SourceVariableId {
        SourceVariableId::new(symbol.index())
    }

    /// The variable of a register.
    #[must_use]
    pub fn of_register(&self, function: FunctionId, register: RegisterId) -> SourceVariableId {
        SourceVariableId(self.first_registers[function.index()] + register.0)
    }

    /// What a variable stands for.
    #[must_use]
    pub fn kind(&self, variable: SourceVariableId) -> SourceVariableKind {
        if variable.index() < self.symbols {
            return SourceVariableKind::Memory(SymbolId(variable.0));
        }
        let function = self.first_registers.partition_point(|&first| first <= variable.0) - 1;
        SourceVariableKind::Local(FunctionId::new(function), RegisterId(variable.0 - self.first_registers[function]))
    }

    /// Whether it has a name and holds a value.
    #[must_use]
    pub fn is_named(&self, variable: SourceVariableId) -> bool {
        self.named.contains(variable.index())
    }

    /// Whether several threads may touch it.
    #[must_use]
    pub fn is_shared(&self, variable: SourceVariableId) -> bool {
        self.shared.contains(variable.index())
    }

    /// Number of all data.
    #[must_use]
    pub fn len(&self) -> usize {
        self.named.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its name in the text.
    #[must_use]
    pub fn name<'p>(&self, program: &'p Program, variable: SourceVariableId) -> &'p str {
        match self.kind(variable) {
            SourceVariableKind::Memory(symbol) => program.texts.get(program.symbols[symbol].name),
            SourceVariableKind::Local(function, register) => {
                program.functions[function].registers[register].name.map_or("", |name| program.texts.get(name))
            }
        }
    }

    /// Where it is declared.
    #[must_use]
    pub fn span(&self, program: &Program, variable: SourceVariableId) -> Span {
        match self.kind(variable) {
            SourceVariableKind::Memory(symbol) => program.symbols[symbol].span,
            SourceVariableKind::Local(function, register) => program.functions[function].registers[register].span,
        }
    }

    fn find_named(&mut self, program: &Program) {
        self.named.insert_range(..self.symbols);
        for leaf in program.leaves.iter() {
            if !matches!(leaf.kind, LeafKind::Data(ty) if ty != ScalarType::Thread) {
                self.named.set(leaf.symbol.index(), false);
            }
        }
        for (id, function) in program.functions.entries() {
            for (register, of) in function.registers.entries() {
                let holds_value = matches!(of.ty, RegisterType::Scalar(ty) if ty != ScalarType::Thread);
                let variable = self.of_register(id, register);
                self.named.set(variable.index(), of.name.is_some() && holds_value);
            }
        }
    }

    fn find_shared(&mut self, program: &Program) {
        // A local in memory is shared where an arm other than its owner names it.
        let mut owner: Vec<Option<FunctionId>> = vec![None; self.symbols];
        for leaf in program.leaves.iter() {
            if let Storage::Local(function) = program.variables[leaf.variable].storage {
                owner[leaf.symbol.index()] = Some(function);
            }
        }
        let captured = |symbol: SymbolId, function: FunctionId| {
            let arm = program.functions[function].kind == FunctionKind::Arm;
            owner[symbol.index()].is_none_or(|owner| arm && owner != function)
        };
        let reads = program.reads.iter().map(|read| (read.symbol, read.function));
        let writes = program.definitions.iter().filter_map(|definition| match definition.kind {
            DefinitionKind::Write(function) => Some((definition.symbol, function)),
            DefinitionKind::Initial(_) => None,
        });
        for (symbol, function) in reads.chain(writes) {
            if self.named.contains(symbol.index()) && captured(symbol, function) {
                self.shared.insert(symbol.index());
            }
        }
    }
}
