//! The displayed version numbers.
//!
//! **Input**: the SSA forms of all functions. **Output**: a number for each version, so that `a_2` means the same in all of them.
//!
//! **Algorithm**
//! 1. A write of memory has the version of its definition ([`Definition::version`](cssame_ir::Definition)); 0 is the value at entry
//!    and the initial one.
//! 2. Merges (phi functions, and the chi functions of calls and joins) get the next free numbers of their symbol, function by
//!    function and in the order of the blocks.
//! 3. Registers with one name are numbered together: 0 is the value at entry, then the writes in text order, then the phi
//!    functions.
//!
//! **Limits**: merges that no instruction needs, directly or through others, are not shown and have no number.

use super::access::NO_VERSION;
use super::construct::Origin;
use super::effects::Effects;
use super::function::{FunctionSsa, build_function};
use cssame_ir::arena::Arena;
use cssame_ir::{BlockId, FunctionId, Instruction, Program, RegisterType, SymbolId, TextId};
use rustc_hash::FxHashMap;

/// The SSA form of a program.
#[derive(Clone, Debug)]
pub struct ProgramSsa {
    /// The form of each function.
    pub functions: Arena<FunctionId, FunctionSsa>,
    /// The numbers of the versions of each function.
    pub numbers: Arena<FunctionId, Numbers>,
    /// The next free number of each symbol.
    pub next_versions: Arena<SymbolId, u32>,
}

/// The numbers of the versions of a function.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// By [`Ssa::value`](super::Ssa::value); [`NO_VERSION`] for a merge that is not shown.
    numbers: Vec<u32>,
}

impl Numbers {
    /// The number of a version; `None` for a merge that nothing needs, and for no version.
    #[must_use]
    pub fn of(&self, form: &FunctionSsa, variable: u32, version: u32) -> Option<u32> {
        if version == NO_VERSION {
            return None;
        }
        Some(self.numbers[form.ssa.value(variable, version)]).filter(|&number| number != NO_VERSION)
    }
}

/// Builds the SSA form of a program.
#[must_use]
pub fn build_program(program: &Program) -> ProgramSsa {
    let effects = Effects::new(program);
    let mut next_versions = Arena::filled(1, program.symbols.len());
    for definition in program.definitions.iter() {
        let next: &mut u32 = &mut next_versions[definition.symbol];
        *next = (*next).max(definition.version + 1);
    }
    let (mut functions, mut numbers) = (Arena::new(), Arena::new());
    for id in program.functions.ids() {
        let form = build_function(program, &effects, id);
        numbers.push(number(program, &form, &mut next_versions));
        functions.push(form);
    }
    ProgramSsa { functions, numbers, next_versions }
}

fn number(program: &Program, form: &FunctionSsa, next_versions: &mut Arena<SymbolId, u32>) -> Numbers {
    let mut numbering = Numbering {
        program,
        form,
        shown: shown(program, form),
        numbers: vec![NO_VERSION; form.ssa.value_count()],
        ranks: ranks(form),
    };
    for variable in 0..form.variables.len() as u32 {
        numbering.numbers[form.ssa.value(variable, 0)] = 0;
    }
    numbering.memory(next_versions);
    numbering.registers();
    Numbers { numbers: numbering.numbers }
}

/// For each block its place in the text: reverse postorder, then those that the entry does not reach.
fn ranks(form: &FunctionSsa) -> Vec<u32> {
    let reached = form.dominators.reverse_postorder().len() as u32;
    (0..form.graph.node_count() as u32).map(|block| form.dominators.rank(block).unwrap_or(reached + block)).collect()
}

/// For each version whether it is shown: it is no merge, or something needs it.
fn shown(program: &Program, form: &FunctionSsa) -> Vec<bool> {
    let mut shown = vec![false; form.ssa.value_count()];
    let mut work = Vec::new();
    let merging = merging_accesses(program, form);
    let all = form.accesses.all();
    for (index, access) in all.iter().enumerate() {
        if !merging[index] {
            work.extend([(access.variable, form.ssa.used(index)), (access.variable, form.ssa.made(index))]);
        }
    }
    while let Some((variable, version)) = work.pop() {
        if version == NO_VERSION || std::mem::replace(&mut shown[form.ssa.value(variable, version)], true) {
            continue;
        }
        match form.ssa.origin(variable, version) {
            Origin::Entry => {}
            Origin::Access(access) => work.push((variable, form.ssa.used(access as usize))),
            Origin::Phi(phi) => work.extend(form.ssa.arguments(phi as usize).iter().map(|&each| (variable, each))),
        }
    }
    shown
}

/// For each access whether it is the effect of a call or a join.
fn merging_accesses(program: &Program, form: &FunctionSsa) -> Vec<bool> {
    let mut merging = vec![false; form.accesses.all().len()];
    for (block, content) in program.functions[form.id].blocks.entries() {
        for (position, instruction) in content.instructions.iter().enumerate() {
            if has_effect(instruction) {
                form.memory_accesses(block, position).for_each(|access| merging[access] = true);
            }
        }
    }
    merging
}

/// Whether the accesses to memory of an instruction are those of other functions.
pub(super) fn has_effect(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Call { .. } | Instruction::Join | Instruction::JoinThread { .. })
}

struct Numbering<'a> {
    program: &'a Program,
    form: &'a FunctionSsa,
    shown: Vec<bool>,
    numbers: Vec<u32>,
    ranks: Vec<u32>,
}

impl Numbering<'_> {
    /// The blocks in the order of the text.
    fn blocks(&self) -> Vec<BlockId> {
        let mut blocks: Vec<BlockId> = self.program.functions[self.form.id].blocks.ids().collect();
        blocks.sort_unstable_by_key(|block| self.ranks[block.index()]);
        blocks
    }

    fn memory(&mut self, next_versions: &mut Arena<SymbolId, u32>) {
        let form = self.form;
        for block in self.blocks() {
            for phi in form.ssa.phis_of_block(block.0) {
                let phi = form.ssa.phis()[phi];
                self.merge(phi.variable, phi.version, next_versions);
            }
            for (position, instruction) in self.program.functions[form.id].blocks[block].instructions.iter().enumerate()
            {
                let written = match instruction {
                    Instruction::Store { definition, .. } | Instruction::Atomic { definition, .. } => {
                        self.program.definitions[*definition].version
                    }
                    _ => 0,
                };
                for access in form.memory_accesses(block, position) {
                    let (variable, version) = (form.accesses.all()[access].variable, form.ssa.made(access));
                    if has_effect(instruction) {
                        self.merge(variable, version, next_versions);
                    } else if version != NO_VERSION {
                        self.numbers[form.ssa.value(variable, version)] = written;
                    }
                }
            }
        }
    }

    fn merge(&mut self, variable: u32, version: u32, next_versions: &mut Arena<SymbolId, u32>) {
        let value = self.form.ssa.value(variable, version);
        if let Some(symbol) = self.form.variables[variable as usize].symbol()
            && self.shown[value]
        {
            self.numbers[value] = next_versions[symbol];
            next_versions[symbol] += 1;
        }
    }

    fn registers(&mut self) {
        let form = self.form;
        let function = &self.program.functions[form.id];
        // Place in the text, place in the graph, variable, version.
        let mut writes = Vec::new();
        for (block, content) in function.blocks.entries() {
            for (position, span) in content.spans.iter().enumerate() {
                if let Some(access) = form.register_write(block, position) {
                    let place = (span.start, self.ranks[block.index()], position);
                    writes.push((place, form.accesses.all()[access].variable, form.ssa.made(access)));
                }
            }
        }
        writes.sort_unstable();
        let mut phis = Vec::new();
        for (phi, &fact) in form.ssa.phis().iter().enumerate() {
            if form.is_register(fact.variable) && self.shown[form.ssa.value(fact.variable, fact.version)] {
                phis.push(((self.ranks[fact.block as usize], phi), fact.variable, fact.version));
            }
        }
        phis.sort_unstable();
        let later = phis.into_iter().map(|(_, variable, version)| (variable, version));
        let mut next: FxHashMap<(Option<TextId>, bool, u32), u32> = FxHashMap::default();
        for (variable, version) in writes.into_iter().map(|(_, variable, version)| (variable, version)).chain(later) {
            let register = &function.registers[cssame_ir::RegisterId(variable)];
            let own = if register.name.is_some() { 0 } else { variable };
            let count = next.entry((register.name, register.ty == RegisterType::Reference, own)).or_insert(1);
            self.numbers[form.ssa.value(variable, version)] = *count;
            *count += 1;
        }
    }
}
