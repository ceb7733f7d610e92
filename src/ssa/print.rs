//! The SSA form as text, as Graphviz graph and as data.
//!
//! **Input**: a program and its SSA form. **Output**: the output of the PFG printers, with versions after the names, phi
//! functions at the heads of blocks, and chi functions (`a_5 = chi(a_1)`) after calls and joins that may write.
//!
//! A temporary or a reference that is written once keeps its name without version. Names in blocks that the entry does not
//! reach have no version.

use super::access::AccessKind;
use super::function::FunctionSsa;
use super::numbers::{ProgramSsa, has_effect};
use cssame_ir::dot::dot_program;
use cssame_ir::json::{ProgramData, program_data};
use cssame_ir::print::{Annotations, Argument, Mention, Merge, Site, Version, print_program};
use cssame_ir::{BlockId, FunctionId, Program, RegisterId, RegisterType};
use cssame_source::SourceMap;

/// What SSA adds to the PFG; other forms may ask it and add to that.
#[derive(Clone, Copy, Debug)]
pub struct SsaAnnotations<'a> {
    program: &'a Program,
    forms: &'a ProgramSsa,
}

impl<'a> SsaAnnotations<'a> {
    /// The annotations of a program.
    #[must_use]
    pub fn new(program: &'a Program, forms: &'a ProgramSsa) -> SsaAnnotations<'a> {
        SsaAnnotations { program, forms }
    }

    /// The number of a version.
    #[must_use]
    pub fn number(&self, form: &FunctionSsa, variable: u32, version: u32) -> Option<u32> {
        self.forms.numbers[form.id].of(form, variable, version)
    }

    /// The name of a variable of a function without version.
    #[must_use]
    pub fn name(&self, form: &FunctionSsa, variable: u32) -> String {
        if let Some(name) = form.memory_name(variable) {
            return self.program.texts.get(name).to_owned();
        }
        let register = &self.program.functions[form.id].registers[RegisterId(variable)];
        let sign = if register.ty == RegisterType::Reference { "&" } else { "" };
        match register.name {
            Some(name) => format!("{sign}{}", self.program.texts.get(name)),
            None => format!("{sign}%{variable}"),
        }
    }

    /// Whether the versions of a register are shown: not those of a temporary or a reference that is written once.
    fn has_versions(&self, form: &FunctionSsa, register: RegisterId) -> bool {
        let declared = &self.program.functions[form.id].registers[register];
        let plain = declared.name.is_none() || declared.ty == RegisterType::Reference;
        let made = form.ssa.version_count(register.0) - 1;
        let parameter = self.program.functions[form.id].parameters.contains(&register);
        !plain || made + u32::from(parameter) > 1
    }

    fn register_version(&self, form: &FunctionSsa, register: RegisterId, version: u32) -> Option<Version> {
        let number = self.number(form, register.0, version).filter(|_| self.has_versions(form, register))?;
        Some(Version { number, from: None })
    }

    /// The accesses to memory of an instruction that are its own: its read, and its write.
    fn memory(&self, form: &FunctionSsa, site: Site) -> (Option<usize>, Option<usize>) {
        let own = |access: &usize, use_only: bool| (form.accesses.all()[*access].kind == AccessKind::Use) == use_only;
        let read = form.memory_accesses(site.block, site.position).find(|access| own(access, true));
        let write = form.memory_accesses(site.block, site.position).find(|access| own(access, false));
        (read, write)
    }

    fn argument(&self, form: &FunctionSsa, variable: u32, version: u32, block: Option<u32>) -> Option<Argument> {
        let number = self.number(form, variable, version)?;
        Some(Argument { name: self.name(form, variable), version: number, block: block.map(BlockId), definition: None })
    }
}

impl Annotations for SsaAnnotations<'_> {
    fn version(&self, site: Site, mention: Mention) -> Option<Version> {
        let form = &self.forms.functions[site.function];
        let variable = |access: usize| form.accesses.all()[access].variable;
        match mention {
            Mention::RegisterRead(register) => {
                let access = form.register_read(site.block, site.position, register)?;
                self.register_version(form, register, form.ssa.used(access))
            }
            Mention::RegisterWrite(register) => {
                let access = form.register_write(site.block, site.position)?;
                self.register_version(form, register, form.ssa.made(access))
            }
            Mention::Read(_) => {
                let (read, _) = self.memory(form, site);
                let number = self.number(form, variable(read?), form.ssa.used(read?))?;
                Some(Version { number, from: None })
            }
            Mention::Definition(_) => {
                let (read, write) = self.memory(form, site);
                let number = self.number(form, variable(write?), form.ssa.made(write?))?;
                let old = match read {
                    Some(read) => form.ssa.used(read),
                    None => form.ssa.used(write?),
                };
                Some(Version { number, from: self.number(form, variable(write?), old) })
            }
        }
    }

    fn at_head(&self, function: FunctionId, block: BlockId) -> Vec<Merge> {
        let form = &self.forms.functions[function];
        let phis = form.ssa.phis_of_block(block.0).filter_map(|index| {
            let phi = form.ssa.phis()[index];
            let version = self.number(form, phi.variable, phi.version)?;
            // The entry has one more argument, which comes from outside.
            let from = form.graph.predecessors(block.0).iter().copied().map(Some).chain([None]);
            let arguments = form.ssa.arguments(index).iter().zip(from);
            Some(Merge {
                function: "phi",
                name: self.name(form, phi.variable),
                symbol: form.variables[phi.variable as usize].symbol(),
                version,
                arguments: arguments
                    .filter_map(|(&each, from)| self.argument(form, phi.variable, each, from))
                    .collect(),
            })
        });
        phis.collect()
    }

    fn after(&self, site: Site) -> Vec<Merge> {
        let form = &self.forms.functions[site.function];
        let block = &self.program.functions[site.function].blocks[site.block];
        if !block.instructions.get(site.position).is_some_and(has_effect) {
            return Vec::new();
        }
        let merges = form.memory_accesses(site.block, site.position).filter_map(|access| {
            let variable = form.accesses.all()[access].variable;
            let version = self.number(form, variable, form.ssa.made(access))?;
            let arguments = self.argument(form, variable, form.ssa.used(access), None).into_iter().collect();
            let (name, symbol) = (self.name(form, variable), form.variables[variable as usize].symbol());
            Some(Merge { function: "chi", name, symbol, version, arguments })
        });
        merges.collect()
    }
}

/// The text of the SSA form.
#[must_use]
pub fn print_ssa(program: &Program, sources: &SourceMap, forms: &ProgramSsa) -> String {
    print_program(program, sources, &SsaAnnotations::new(program, forms))
}

/// The SSA form as a Graphviz graph.
#[must_use]
pub fn dot_ssa(program: &Program, sources: &SourceMap, forms: &ProgramSsa) -> String {
    dot_program(program, sources, &SsaAnnotations::new(program, forms))
}

/// The SSA form as data.
#[must_use]
pub fn ssa_data(program: &Program, sources: &SourceMap, forms: &ProgramSsa) -> ProgramData {
    program_data(program, sources, &SsaAnnotations::new(program, forms))
}
