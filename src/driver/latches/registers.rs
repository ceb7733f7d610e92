//! The versions of locals and temporaries of a function.
//!
//! **Input**: the SSA form of a function. **Output**: [`Registers`]: the Java form of each version of a register, and the phi
//! functions.
//!
//! **Algorithm**
//! 1. A register that a phi function merges has a field for each version, since the aspect cannot see locals: a phi function
//!    returns the last value that its thread has assigned.
//! 2. Any other register has a local for each version. A local that several blocks use is declared at the beginning of its
//!    method.
//! 3. The value of a temporary with a single use in its own block is written at that use, and so is the version that a read
//!    returns: both never change.

use super::expression::Expression;
use super::versions::{Field, Versions};
use crate::Input;
use crate::java::text::{default_value, identifier, type_name};
use crate::names::Names;
use cssame_ir::{BlockId, Function, FunctionId, Operand, RegisterId, RegisterType, ScalarType};
use cssame_ssa::{AccessKind, FunctionSsa, NO_VERSION, Numbers, ProgramSsa};
use rustc_hash::{FxHashMap, FxHashSet};

/// A phi function.
#[derive(Clone, Debug)]
pub(super) struct Phi {
    /// The name of its method.
    pub(super) method: String,
    /// The version that it makes.
    pub(super) field: String,
    pub(super) ty: ScalarType,
    /// Its variable, as [`Field::of`].
    pub(super) of: String,
    /// Versions: fields.
    pub(super) arguments: Vec<String>,
}

/// Where the versions of a register are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// In fields.
    Fields,
    /// In locals that are declared at the beginning of the method.
    Method,
    /// In locals of one block.
    Block,
}

/// The registers of a function.
pub(super) struct Registers<'a> {
    input: &'a Input<'a>,
    pub(super) id: FunctionId,
    function: &'a Function,
    form: &'a FunctionSsa,
    numbers: &'a Numbers,
    homes: Vec<Home>,
    /// By register: whether it is a temporary that is written and used once.
    once: Vec<bool>,
    /// By register and version.
    texts: FxHashMap<(u32, u32), Expression>,
    names: Names<'a>,
    /// By block.
    pub(super) phis: FxHashMap<BlockId, Vec<Phi>>,
    /// Its versions that are fields.
    pub(super) fields: Vec<Field>,
    /// Declarations at the beginning of the method.
    pub(super) first: Vec<String>,
    /// The scalar parameters: types and names.
    pub(super) parameters: Vec<(ScalarType, String)>,
}

impl<'a> Registers<'a> {
    /// The fields of the locals that phi functions merge get their names; [`Registers::name_locals`] names the others.
    pub(super) fn new(
        input: &'a Input<'a>,
        id: FunctionId,
        ssa: &'a ProgramSsa,
        versions: &mut Versions<'a>,
    ) -> Registers<'a> {
        let (form, function) = (&ssa.functions[id], &input.program.functions[id]);
        let (homes, once) = homes(function, form);
        let mut registers = Registers {
            input,
            id,
            function,
            form,
            numbers: &ssa.numbers[id],
            homes,
            once,
            texts: FxHashMap::default(),
            names: Names::new(identifier),
            phis: FxHashMap::default(),
            fields: Vec::new(),
            first: Vec::new(),
            parameters: Vec::new(),
        };
        registers.add_fields(versions);
        registers
    }

    fn add_fields(&mut self, versions: &mut Versions<'a>) {
        let places = self.places();
        let mut bases: FxHashMap<u32, String> = FxHashMap::default();
        for (register, ty) in self.scalars().filter(|(register, _)| self.homes[register.index()] == Home::Fields) {
            let of = versions.fresh(&self.shown(register));
            for version in 0..self.form.ssa.version_count(register.0) {
                if version == 0 && !self.function.parameters.contains(&register) {
                    continue;
                }
                let name = versions.fresh(&format!("{of}_{}", self.number(register, version)));
                let at = places.get(&(register.0, version)).cloned().unwrap_or_else(|| "phi".to_owned());
                self.texts.insert((register.0, version), Expression::name(name.clone()));
                self.fields.push(Field { name, ty, of: of.clone(), at });
            }
            bases.insert(register.0, of);
        }
        for (number, phi) in self.form.ssa.phis().iter().enumerate() {
            let Some(of) = bases.get(&phi.variable) else { continue };
            let Some(field) = self.texts.get(&(phi.variable, phi.version)).map(|of| of.text.clone()) else { continue };
            let RegisterType::Scalar(ty) = self.function.registers[RegisterId(phi.variable)].ty else { continue };
            let given = self.form.ssa.arguments(number).iter().filter(|&&version| version != NO_VERSION);
            let given = given.filter_map(|&version| self.texts.get(&(phi.variable, version)));
            let mut arguments: Vec<String> = Vec::new();
            for argument in given {
                // On a way on which it stays as it is, it merges itself.
                if argument.text != field && !arguments.contains(&argument.text) {
                    arguments.push(argument.text.clone());
                }
            }
            let method = versions.fresh(&format!("phi_{field}"));
            let phi_function = Phi { method, field, ty, of: of.clone(), arguments };
            self.phis.entry(BlockId(phi.block)).or_default().push(phi_function);
        }
    }

    /// By register and version: where it is defined.
    fn places(&self) -> FxHashMap<(u32, u32), String> {
        let mut places = FxHashMap::default();
        for (block, content) in self.function.blocks.entries() {
            for (position, &span) in content.spans.iter().enumerate() {
                let Some(access) = self.form.register_write(block, position) else { continue };
                let register = RegisterId(self.form.accesses.all()[access].variable);
                let place = format!("{}@{}", self.shown(register), self.input.sources.position(span));
                places.insert((register.0, self.form.ssa.made(access)), place);
            }
        }
        for &parameter in &self.function.parameters {
            let span = self.function.registers[parameter].span;
            let place = format!("{}@{}", self.shown(parameter), self.input.sources.position(span));
            places.insert((parameter.0, 0), place);
        }
        places
    }

    /// Names the locals; no name is one of `outer`.
    pub(super) fn name_locals(&mut self, outer: &'a FxHashSet<String>) {
        self.names = Names::below(identifier, outer);
        for &parameter in &self.function.parameters {
            let RegisterType::Scalar(ty) = self.function.registers[parameter].ty else { continue };
            let name = self.names.fresh(&format!("{}_0", self.shown(parameter)));
            if self.homes[parameter.index()] != Home::Fields {
                self.texts.insert((parameter.0, 0), Expression::name(name.clone()));
            }
            self.parameters.push((ty, name));
        }
        let of_method: Vec<(RegisterId, ScalarType)> =
            self.scalars().filter(|(register, _)| self.homes[register.index()] == Home::Method).collect();
        for (register, ty) in of_method {
            for version in 1..self.form.ssa.version_count(register.0) {
                let name = self.names.fresh(&format!("{}_{}", self.shown(register), self.number(register, version)));
                self.first.push(format!("{} {name} = {};", type_name(ty), default_value(ty)));
                self.texts.insert((register.0, version), Expression::name(name));
            }
        }
    }

    /// The assignments of parameters that phi functions merge with other versions.
    pub(super) fn parameter_fields(&self) -> Vec<String> {
        let scalar = |register: &&RegisterId| matches!(self.function.registers[**register].ty, RegisterType::Scalar(_));
        let given = self.function.parameters.iter().filter(scalar).zip(&self.parameters);
        let fields = given.filter(|(register, _)| self.homes[register.index()] == Home::Fields);
        fields
            .filter_map(|(register, (_, name))| Some(format!("{} = {name};", self.texts.get(&(register.0, 0))?.text)))
            .collect()
    }

    /// The line that gives a value to the register that an instruction writes; none where the value stands where it is used.
    pub(super) fn define(
        &mut self,
        (block, position): (BlockId, usize),
        value: Expression,
        may_move: bool,
    ) -> Option<String> {
        let Some(access) = self.form.register_write(block, position) else { return Some(format!("{};", value.text)) };
        let register = RegisterId(self.form.accesses.all()[access].variable);
        let version = self.form.ssa.made(access);
        let RegisterType::Scalar(ty) = self.function.registers[register].ty else { return None };
        if may_move && self.once[register.index()] {
            self.texts.insert((register.0, version), value);
            return None;
        }
        if self.homes[register.index()] != Home::Block {
            let name = self.texts.get(&(register.0, version)).map_or("", |of| of.text.as_str());
            return Some(format!("{name} = {};", value.text));
        }
        let name = self.names.fresh(&format!("{}_{}", self.shown(register), self.number(register, version)));
        self.texts.insert((register.0, version), Expression::name(name.clone()));
        Some(format!("{} {name} = {};", type_name(ty), value.text))
    }

    /// Lets a version, which never changes, stand for the register that a read writes; says whether that will do.
    pub(super) fn stand_for(&mut self, (block, position): (BlockId, usize), field: &str) -> bool {
        let Some(access) = self.form.register_write(block, position) else { return false };
        let register = self.form.accesses.all()[access].variable;
        let is_merged = self.homes[register as usize] == Home::Fields;
        if !is_merged {
            self.texts.insert((register, self.form.ssa.made(access)), Expression::name(field.to_owned()));
        }
        !is_merged
    }

    /// An operand of an instruction; the terminator counts as the one behind the last.
    pub(super) fn operand(&self, (block, position): (BlockId, usize), operand: &Operand) -> Expression {
        match operand {
            Operand::Constant(value) => Expression::constant(&self.input.program.texts, *value),
            Operand::Register(register) => {
                let access = self.form.register_read(block, position, *register);
                let version = access.map_or(NO_VERSION, |access| self.form.ssa.used(access));
                let text = self.texts.get(&(register.0, version)).cloned();
                // The entry reaches each block that is written, and the front end defines what it uses.
                text.unwrap_or_else(|| Expression::name(self.shown(*register)))
            }
        }
    }

    fn scalars(&self) -> impl Iterator<Item = (RegisterId, ScalarType)> + use<'a> {
        let registers = self.function.registers.entries();
        registers.filter_map(|(id, register)| match register.ty {
            RegisterType::Scalar(ty) => Some((id, ty)),
            RegisterType::Reference => None,
        })
    }

    /// Its name in the text, or one for a temporary.
    fn shown(&self, register: RegisterId) -> String {
        let name = self.function.registers[register].name;
        name.map_or_else(|| format!("t{}", register.0), |name| self.input.program.texts.get(name).to_owned())
    }

    fn number(&self, register: RegisterId, version: u32) -> u32 {
        self.numbers.of(self.form, register.0, version).unwrap_or(version)
    }
}

/// By register: where its versions are, and whether it is a temporary that is written once, and used once in the same block.
fn homes(function: &Function, form: &FunctionSsa) -> (Vec<Home>, Vec<bool>) {
    let count = function.registers.len();
    let (mut homes, mut only_block) = (vec![Home::Block; count], vec![None; count]);
    let (mut uses, mut definitions) = (vec![0_u32; count], vec![0_u32; count]);
    for parameter in &function.parameters {
        definitions[parameter.index()] += 1;
    }
    for block in function.blocks.ids() {
        for index in form.accesses.of_block(block.0) {
            let access = form.accesses.all()[index];
            let register = access.variable as usize;
            if register >= count {
                continue;
            }
            if *only_block[register].get_or_insert(block) != block {
                homes[register] = Home::Method;
            }
            let counter = if access.kind == AccessKind::Use { &mut uses } else { &mut definitions };
            counter[register] += 1;
        }
    }
    let once = (0..count).map(|register| {
        let is_temporary = function.registers[RegisterId::new(register)].name.is_none();
        let alone = (uses[register], definitions[register]) == (1, 1);
        is_temporary && alone && homes[register] == Home::Block
    });
    let once = once.collect();
    for phi in form.ssa.phis() {
        if (phi.variable as usize) < count {
            homes[phi.variable as usize] = Home::Fields;
        }
    }
    (homes, once)
}
