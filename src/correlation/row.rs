//! Rows: determines which accesses to elements have the same index.
//!
//! **Input**: a program whose functions are distinguished by the bindings of their parameters. **Output**: [`Rows`]: for each
//! access, the values of its indices ([`Row`]); for each call, the values of the arguments that flow into an index; for two rows,
//! whether they are the same, or certainly different.
//!
//! **Algorithm**
//! 1. For each function, find the registers from which an index, or the reference to an element, is computed, and convert them to
//!    SSA form.
//! 2. Number the values ([`super::value`]). A named local has the value that reaches the access. So `key[i]` and `value[i]` lie
//!    in one row if `i` is not written in between, and in no common row otherwise.
//! 3. Each read from memory has a value of its own, unless nobody writes the variable.
//!
//! **Soundness and limits**: two accesses of one row refer to elements of equal index, if the values are not recomputed between
//! them ([`Rows::is_made_anew`]). An index that is not followed has no row.

use super::binding::{AccessSite, BoundProgram, Target};
use super::row_values::{Indices, Numbering, index_registers_of};
use super::value::{Value, ValueId, Values};
use cssame_ir::{
    BlockId, DefinitionKind, Function, FunctionId, Instruction, LeafKind, Operand, Program, RegisterId, RegisterType,
    Storage, SymbolId,
};
use cssame_source::arena::id;
use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

id! {
    /// The values of the indices of an access, outermost first.
    RowId
}

/// The indices of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Row {
    pub id: RowId,
    pub object: RowObject,
}

/// What the indices of an access begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum RowObject {
    /// At the variable: these are all the arrays that the element lies in.
    Variable,
    /// At the object that the function gets as its argument of that number, which may be an element itself.
    Parameter(u32),
    /// At another object.
    Unknown,
}

/// The indices of all accesses.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) values: Values,
    rows: IndexSet<SmallVec<[ValueId; 2]>, FxBuildHasher>,
    sites: FxHashMap<AccessSite, Row>,
    arguments: FxHashMap<AccessSite, Vec<Argument>>,
}

/// What a call passes, as far as rows depend on it.
#[derive(Clone, Debug)]
enum Argument {
    Value(Option<ValueId>),
    Reference(Option<Indices>),
}

impl Rows {
    /// Finds the rows of all accesses.
    pub fn new(bound: &BoundProgram<'_>) -> Rows {
        let mut rows = Rows::default();
        let program = &*bound.program;
        if bound.index_parameters.is_empty() {
            return rows;
        }
        let fixed = fixed_symbols(program);
        for id in program.functions.ids() {
            rows.function(bound, &fixed, id);
        }
        rows
    }

    fn function(&mut self, bound: &BoundProgram<'_>, fixed: &FixedBitSet, id: FunctionId) {
        let function = &bound.program.functions[id];
        let parameters = |callee: FunctionId| bound.index_parameters.get(bound.origin(callee).index());
        let needed = index_registers_of(function, parameters);
        let mut numbering = Numbering::new((&bound.program, id), needed, fixed, &bound.constants, &mut self.values);
        for (block, content) in function.blocks.entries() {
            for (position, instruction) in content.instructions.iter().enumerate() {
                let at = (block, position as u32);
                let site = (id, block, position as u32);
                match instruction {
                    Instruction::Load { place, .. }
                    | Instruction::Store { place, .. }
                    | Instruction::Atomic { place, .. } => {
                        let Some((values, parameter)) = numbering.indices(place, at) else { continue };
                        let object = match parameter {
                            _ if is_whole(bound, site, instruction, values.len()) => RowObject::Variable,
                            Some(position) => RowObject::Parameter(position),
                            None => RowObject::Unknown,
                        };
                        let (index, _) = self.rows.insert_full(values);
                        self.sites.insert(site, Row { id: RowId::new(index), object });
                    }
                    Instruction::Call { function: callee, arguments, .. } => {
                        let Some(wanted) = parameters(*callee) else { continue };
                        let argument = |(position, &argument)| match argument {
                            Operand::Register(register) if is_reference(function, register) => {
                                Argument::Reference(numbering.pointee(register, at))
                            }
                            _ if wanted.contains(position) => Argument::Value(numbering.operand(argument, at)),
                            _ => Argument::Value(None),
                        };
                        let passed = arguments.iter().enumerate().map(argument).collect();
                        self.arguments.insert(site, passed);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The indices of an access; nothing where one is not followed.
    pub fn at(&self, site: AccessSite) -> Option<Row> {
        self.sites.get(&site).copied()
    }

    /// Number of indices.
    pub fn len(&self, row: RowId) -> usize {
        self.indices(row).len()
    }

    fn indices(&self, row: RowId) -> &[ValueId] {
        self.rows.get_index(row.index()).map_or(&[], SmallVec::as_slice)
    }

    /// Whether two accesses of one function are to parts of one row: of two arrays with equal indices, or of one object.
    pub fn is_same(&self, a: Row, b: Row) -> bool {
        let has_index = self.len(a.id).min(self.len(b.id)) > 0;
        let one_object = match (a.object, b.object) {
            (RowObject::Variable, RowObject::Variable) => has_index,
            (RowObject::Parameter(one), RowObject::Parameter(other)) => one == other,
            _ => false,
        };
        one_object && self.agree(a.id, b.id)
    }

    /// Whether the indices that both have are equal.
    pub fn agree(&self, a: RowId, b: RowId) -> bool {
        self.indices(a).iter().zip(self.indices(b)).all(|(one, other)| one == other)
    }

    /// Whether two accesses of one function are certainly to parts of different rows.
    pub fn differ(&self, a: Row, b: Row) -> bool {
        let one_object = a.object == b.object && a.object != RowObject::Unknown;
        let mut indices = self.indices(a.id).iter().zip(self.indices(b.id));
        one_object && indices.any(|(&one, &other)| self.values.differ(one, other))
    }

    /// The row of a callee as the function has it that calls it there.
    pub fn in_caller(&mut self, row: Row, callee: FunctionId, call: AccessSite) -> Option<Row> {
        let arguments = self.arguments.get(&call).map_or(&[][..], Vec::as_slice);
        let (mut values, object) = match row.object {
            RowObject::Parameter(position) => match arguments.get(position as usize) {
                Some(Argument::Reference(Some((values, parameter)))) => {
                    (values.clone(), parameter.map_or(RowObject::Variable, RowObject::Parameter))
                }
                _ => (SmallVec::new(), RowObject::Unknown),
            },
            object => (SmallVec::new(), object),
        };
        let value = |argument: &Argument| match argument {
            Argument::Value(value) => *value,
            Argument::Reference(_) => None,
        };
        let arguments: SmallVec<[Option<ValueId>; 4]> = arguments.iter().map(value).collect();
        let of_callee = self.rows.get_index(row.id.index())?;
        for &index in of_callee {
            values.push(self.values.substitute(index, callee, &arguments)?);
        }
        Some(Row { id: RowId::new(self.rows.insert_full(values).0), object })
    }

    /// Whether an instruction, or without a position the entry of a block, gives a value anew that the row is made of.
    pub fn is_made_anew(&self, row: RowId, function: FunctionId, block: BlockId, position: Option<u32>) -> bool {
        self.roots(row).any(|root| match (self.values.get(root), position) {
            (Some(Value::Made(of, at, place)), Some(position)) => (of, at, place) == (function, block, position),
            (Some(Value::Merged(of, at, _)), None) => (of, at) == (function, block),
            _ => false,
        })
    }

    /// Where the values that the row is made of are given anew: by instructions, or without a position at the entry of a block.
    pub fn makers(&self, row: RowId) -> Vec<(BlockId, Option<u32>)> {
        let mut found: Vec<(BlockId, Option<u32>)> = self
            .roots(row)
            .filter_map(|root| match self.values.get(root)? {
                Value::Made(_, block, position) => Some((block, Some(position))),
                Value::Merged(_, block, _) => Some((block, None)),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn roots(&self, row: RowId) -> impl Iterator<Item = ValueId> + '_ {
        self.indices(row).iter().flat_map(|&value| self.values.roots(value)).copied()
    }
}

fn is_reference(function: &Function, register: RegisterId) -> bool {
    function.registers[register].ty == RegisterType::Reference
}

/// Whether an access names as many indices as its element lies in arrays.
fn is_whole(bound: &BoundProgram<'_>, site: AccessSite, instruction: &Instruction, count: usize) -> bool {
    let program = &*bound.program;
    match bound.targets.get(&site) {
        Some(&Target::Leaf(leaf, _)) => program.leaves[leaf].dimensions.len() == count,
        // An array that comes from outside is taken for one that lies in no other.
        Some(Target::Formal(_)) => accessed(program, instruction).is_some_and(|of| program.symbols[of].class.is_none()),
        Some(Target::Unknown) => false,
        None => count == 0,
    }
}

fn accessed(program: &Program, instruction: &Instruction) -> Option<SymbolId> {
    match instruction {
        Instruction::Load { read, .. } | Instruction::Atomic { read, .. } => Some(program.reads[*read].symbol),
        Instruction::Store { definition, .. } => Some(program.definitions[*definition].symbol),
        _ => None,
    }
}

/// Global variables of one cell that nobody writes.
fn fixed_symbols(program: &Program) -> FixedBitSet {
    let mut fixed = FixedBitSet::with_capacity(program.symbols.len());
    for leaf in program.leaves.iter() {
        let global = matches!(program.variables[leaf.variable].storage, Storage::Global);
        let is_scalar = !leaf.is_array() && matches!(leaf.kind, LeafKind::Data(_));
        let is_own = program.symbols[leaf.symbol].class.is_none();
        if global && is_scalar && is_own {
            fixed.insert(leaf.symbol.index());
        }
    }
    for definition in program.definitions.iter() {
        if matches!(definition.kind, DefinitionKind::Write(_)) {
            fixed.set(definition.symbol.index(), false);
            fixed.set(program.symbols[definition.symbol].cells_of.index(), false);
        }
    }
    fixed
}
