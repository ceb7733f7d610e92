//! Source variables: declared variables, fields of objects, and private locals, in one numbering.
//!
//! **Input**: a program whose functions are distinguished by the bindings of their parameters ([`super::binding`]). **Output**:
//! [`SourceVariables`], which numbers every symbol, every distinguished part of a symbol, and every register
//! ([`SourceVariableId`]). It says which of them have a name and a value, and which several threads may access.
//!
//! A field is a source variable for each declared object (the paper's "unique field identifier and the hash code of its parent
//! object", section 5). An array has one source variable for each element if all its accesses name a known element. The symbol
//! stands for data from outside, and for all objects if one access may refer to several of them. Globals, fields, and locals that
//! an arm of a `cobegin` or `parfor` uses are shared. Whether two threads really access them at the same time is checked only
//! when a pair of methods is judged.
//!
//! **Limits**: one access of unknown object makes all objects one variable; one unknown index makes all elements one variable.

use super::binding::{AccessSite, BoundProgram, Target, is_local};
use cssame_ir::{
    DefinitionKind, FunctionId, FunctionKind, Instruction, LeafId, LeafKind, Program, RegisterId, RegisterType,
    ScalarType, Storage, SymbolId,
};
use cssame_source::Span;
use cssame_source::arena::id;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

id! {
    /// A variable as this analysis tells them apart: a declared variable, a field, or a private local of a function.
    SourceVariableId
}

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceVariableKind {
    /// Memory of that name: a global, a field, an array, a captured local.
    Memory(SymbolId),
    /// A field of that object, or that element of an array.
    Part(Part),
    /// A private scalar.
    Local(FunctionId, RegisterId),
}

/// A part of a declared variable that is told apart from others of its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// The field of the object.
    pub leaf: LeafId,
    /// The element of an array.
    pub element: Option<u32>,
    /// The declared variable or field.
    pub symbol: SymbolId,
}

/// The numbering of all data.
#[derive(Clone, Debug)]
pub struct SourceVariables {
    symbols: usize,
    /// What is told apart, sorted; numbered behind the symbols.
    parts: Vec<Part>,
    /// The accesses to them.
    by_site: FxHashMap<AccessSite, SourceVariableId>,
    /// The function of the text that each function is.
    origin: Vec<FunctionId>,
    /// For each function of the text, the number of its first register; one more at the end.
    first_registers: Vec<u32>,
    /// Named data that hold a value; not thread handles, not objects of synchronisation, not temporaries.
    named: FixedBitSet,
    shared: FixedBitSet,
}

impl SourceVariables {
    /// Numbers the data of a program; `text` is the program as it stands in the text.
    pub(super) fn new(text: &Program, bound: &BoundProgram<'_>) -> SourceVariables {
        let symbols = text.symbols.len();
        let parts = find_parts(text, bound);
        let mut first_registers = vec![(symbols + parts.len()) as u32];
        for function in text.functions.iter() {
            let first = first_registers.last().copied().unwrap_or(0);
            first_registers.push(first + function.registers.len() as u32);
        }
        let count = first_registers.last().copied().unwrap_or(0) as usize;
        let mut data = SourceVariables {
            symbols,
            parts,
            by_site: FxHashMap::default(),
            origin: bound.origin.clone(),
            first_registers,
            named: FixedBitSet::with_capacity(count),
            shared: FixedBitSet::with_capacity(count),
        };
        for (&site, &target) in &bound.targets {
            if let Target::Leaf(leaf, element) = target
                && let Some(variable) = data.of_part(leaf, element)
            {
                data.by_site.insert(site, variable);
            }
        }
        data.find_named(text);
        data.find_shared(text, bound);
        data
    }

    /// The part that a leaf, or an element of it, is told apart as.
    fn of_part(&self, leaf: LeafId, element: Option<u32>) -> Option<SourceVariableId> {
        let find = |element| self.parts.binary_search_by_key(&(leaf, element), |part| (part.leaf, part.element)).ok();
        let index = find(element).or_else(|| find(None))?;
        Some(SourceVariableId::new(self.symbols + index))
    }

    /// The variable of a part of memory.
    #[must_use]
    pub fn of_leaf(&self, program: &Program, leaf: LeafId, element: Option<u32>) -> SourceVariableId {
        self.of_part(leaf, element).unwrap_or_else(|| self.of_symbol(program.leaves[leaf].symbol))
    }

    /// The variable that an instruction accesses, of which the symbol is known.
    pub(super) fn at(&self, site: AccessSite, symbol: SymbolId) -> SourceVariableId {
        self.by_site.get(&site).copied().unwrap_or_else(|| self.of_symbol(symbol))
    }

    /// The variable of a symbol.
    #[must_use]
    pub fn of_symbol(&self, symbol: SymbolId) -> SourceVariableId {
        SourceVariableId::new(symbol.index())
    }

    /// The variable of a register.
    #[must_use]
    pub fn of_register(&self, function: FunctionId, register: RegisterId) -> SourceVariableId {
        let function = self.origin.get(function.index()).copied().unwrap_or(function);
        SourceVariableId(self.first_registers[function.index()] + register.0)
    }

    /// What a variable stands for.
    #[must_use]
    pub fn kind(&self, variable: SourceVariableId) -> SourceVariableKind {
        if variable.index() < self.symbols {
            return SourceVariableKind::Memory(SymbolId(variable.0));
        }
        if let Some(&part) = self.parts.get(variable.index() - self.symbols) {
            return SourceVariableKind::Part(part);
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

    /// Its name in the text: `n`, `a.bal`, `t[2]`.
    #[must_use]
    pub fn name(&self, program: &Program, variable: SourceVariableId) -> String {
        match self.kind(variable) {
            SourceVariableKind::Memory(symbol) => program.texts.get(program.symbols[symbol].name).to_owned(),
            SourceVariableKind::Part(Part { leaf, element, .. }) => {
                let name = program.texts.get(program.leaves[leaf].name);
                element.map_or_else(|| name.to_owned(), |element| format!("{name}[{element}]"))
            }
            SourceVariableKind::Local(function, register) => {
                let name = program.functions[function].registers[register].name;
                name.map_or_else(String::new, |name| program.texts.get(name).to_owned())
            }
        }
    }

    /// Where it is declared.
    #[must_use]
    pub fn span(&self, program: &Program, variable: SourceVariableId) -> Span {
        match self.kind(variable) {
            SourceVariableKind::Memory(symbol) => program.symbols[symbol].span,
            SourceVariableKind::Part(part) => program.variables[program.leaves[part.leaf].variable].span,
            SourceVariableKind::Local(function, register) => program.functions[function].registers[register].span,
        }
    }

    fn find_named(&mut self, program: &Program) {
        self.named.insert_range(..self.symbols + self.parts.len());
        for leaf in program.leaves.iter() {
            if !matches!(leaf.kind, LeafKind::Data(ty) if ty != ScalarType::Thread) {
                self.named.set(leaf.symbol.index(), false);
            }
        }
        for index in self.symbols..self.symbols + self.parts.len() {
            let named = self.named.contains(self.parts[index - self.symbols].symbol.index());
            self.named.set(index, named);
        }
        for (id, function) in program.functions.entries() {
            for (register, of) in function.registers.entries() {
                let holds_value = matches!(of.ty, RegisterType::Scalar(ty) if ty != ScalarType::Thread);
                let variable = self.of_register(id, register);
                self.named.set(variable.index(), of.name.is_some() && holds_value);
            }
        }
    }

    fn find_shared(&mut self, program: &Program, bound: &BoundProgram<'_>) {
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
            DefinitionKind::Initial(_) | DefinitionKind::Free(_) => None,
        });
        for (symbol, function) in reads.chain(writes) {
            if self.named.contains(symbol.index()) && captured(symbol, function) {
                self.shared.insert(symbol.index());
            }
        }
        for target in bound.targets.values() {
            let Target::Leaf(leaf, element) = *target else { continue };
            let variable = self.of_leaf(program, leaf, element);
            let own = is_local(program, leaf) && !bound.captured.contains(&program.leaves[leaf].variable);
            if self.named.contains(variable.index()) && !own {
                self.shared.insert(variable.index());
            }
        }
    }
}

/// What is told apart of the symbols, sorted.
fn find_parts(program: &Program, bound: &BoundProgram<'_>) -> Vec<Part> {
    let mut one_of_several: BTreeSet<SymbolId> = BTreeSet::new();
    // The elements of a leaf that are named; nothing where one is not known.
    let mut elements: BTreeMap<LeafId, Option<BTreeSet<u32>>> = BTreeMap::new();
    for (&(function, block, position), &target) in &bound.targets {
        match target {
            Target::Leaf(leaf, element) => {
                let known = elements.entry(leaf).or_insert_with(|| Some(BTreeSet::new()));
                match (element, known.as_mut()) {
                    (Some(element), Some(known)) => {
                        known.insert(element);
                    }
                    (None, _) => *known = None,
                    (Some(_), None) => {}
                }
            }
            Target::Formal(_) => {}
            Target::Unknown => {
                let instruction = &bound.program.functions[function].blocks[block].instructions[position as usize];
                one_of_several.extend(accessed_symbol(program, instruction));
            }
        }
    }
    let mut declared: BTreeMap<SymbolId, usize> = BTreeMap::new();
    program.leaves.iter().for_each(|leaf| *declared.entry(leaf.symbol).or_default() += 1);
    let mut parts = Vec::new();
    for (leaf, elements) in elements {
        let symbol = program.leaves[leaf].symbol;
        if one_of_several.contains(&symbol) {
            continue;
        }
        match elements.filter(|elements| elements.len() > 1) {
            Some(elements) => {
                parts.extend(elements.into_iter().map(|element| Part { leaf, element: Some(element), symbol }));
            }
            None if declared.get(&symbol).is_some_and(|&count| count > 1) => {
                parts.push(Part { leaf, element: None, symbol })
            }
            None => {}
        }
    }
    parts.sort_unstable();
    parts
}

/// The declared variable or field that an instruction accesses.
fn accessed_symbol(program: &Program, instruction: &Instruction) -> Option<SymbolId> {
    match instruction {
        Instruction::Load { read, .. } | Instruction::Atomic { read, .. } => Some(program.reads[*read].symbol),
        Instruction::Store { definition, .. } => Some(program.definitions[*definition].symbol),
        _ => None,
    }
}
