//! Locals: registers and memory variables, what they begin with, and what is done where their block is left.
//!
//! In: declarations in blocks. Out: a register for a scalar whose address nothing keeps, else a memory variable: a global one in
//! `main`, which runs once, else one that the entry of the function makes.

use super::ask::Done;
use super::builder::{Builder, Slot, Typed};
use super::datum::zero;
use super::home::cell_at;
use super::link::DeclKey;
use super::owner::Owner;
use super::roles::Role;
use crate::supported::Reason;
use crate::tree::{Decl, DeclId, DeclKind, ExprKind, Storage};
use cssame_ir::{Base, Instruction, LeafKind, Operand, Storage as IrStorage, Value, VariableId};
use cssame_source::Span;

/// Cells that a declaration sets to zero one by one.
const MOST_ZEROS: u32 = 4096;

impl<'a> Builder<'_, 'a> {
    fn local_key(&self, decl: DeclId) -> DeclKey {
        DeclKey { unit: self.key.unit, decl }
    }

    /// What stands for a local.
    pub fn slot(&mut self, decl: DeclId) -> Done<Slot> {
        if let Some(&slot) = self.slots.get(&decl) {
            return Ok(slot);
        }
        let declared = &self.unit.declarations[decl];
        let key = self.local_key(decl);
        let slot = if self.is_register(decl, declared) {
            let owner = Owner::Object(key);
            let Some(ty) = self.lowering.scalar_of(key.unit, declared.ty, &owner) else {
                return self.refuse(Reason::Form("local of this type"), declared.place);
            };
            let name = self.lowering.declared_name(key.unit, decl);
            self.lowering.name_values(key);
            Slot::Register(self.new_register(Some(name), declared.place.span, ty), ty)
        } else if self.is_main() && self.length_register(declared.ty).is_none() {
            let variable = self.lowering.object(key, IrStorage::Global)?;
            Slot::Global(variable)
        } else {
            let variable = self.lowering.object(key, IrStorage::Local(self.id))?;
            // Its name leads to its address here, which is no constant.
            self.lowering.variables.remove(&key);
            let name = self.lowering.declared_name(key.unit, decl);
            let register = self.new_register(Some(name), declared.place.span, cssame_ir::ScalarType::Pointer);
            self.function.registers[register].pointee = Some(self.lowering.program.variables[variable].ty);
            match self.length_of(decl) {
                None => self.allocated.push((register, variable, declared.place.span)),
                elements => {
                    self.emit(Instruction::Allocate { dest: register, variable, elements }, declared.place.span);
                }
            }
            Slot::Memory(register, variable)
        };
        self.slots.insert(decl, slot);
        Ok(slot)
    }

    fn is_register(&self, decl: DeclId, declared: &Decl) -> bool {
        let key = self.local_key(decl);
        let role = self.input().facts.roles.get(&Owner::Object(key));
        self.unit.types[declared.ty].is_scalar()
            && !self.input().facts.taken.contains(&key)
            && declared.cleanup.is_none()
            && role.is_none_or(|role| *role == Role::Handle)
    }

    /// A declaration in a block, where it is reached.
    pub fn declare(&mut self, decl: DeclId) -> Done<()> {
        let declared = &self.unit.declarations[decl];
        if declared.kind == DeclKind::Type {
            return self.evaluate_lengths(decl);
        }
        if declared.kind != DeclKind::Object || declared.storage != Storage::Automatic {
            return Ok(());
        }
        self.evaluate_lengths(decl)?;
        self.test_length(decl)?;
        let attributes = self.lowering.record_of(self.key.unit, declared.ty);
        if attributes.is_some_and(|record| self.input().records.role(self.key.unit, record) == Some(Role::Attribute)) {
            return Ok(());
        }
        let slot = self.slot(decl)?;
        if declared.initial.is_some() {
            self.initialise(decl, slot)?;
        }
        if declared.cleanup.is_some() {
            self.cleanups.push(decl);
        }
        Ok(())
    }

    /// An object without a name, made where it is evaluated.
    pub fn compound_literal(&mut self, decl: DeclId) -> Done<()> {
        let declared = &self.unit.declarations[decl];
        if declared.storage != Storage::Automatic {
            return Ok(());
        }
        let slot = self.slot(decl)?;
        self.initialise(decl, slot)
    }

    /// Stores what a local begins with.
    fn initialise(&mut self, decl: DeclId, slot: Slot) -> Done<()> {
        let declared = &self.unit.declarations[decl];
        let values = declared.initial.as_deref().unwrap_or_default();
        if let Slot::Register(dest, ty) = slot {
            let source = match values {
                [only, ..] => {
                    let value = self.value(only.value)?;
                    self.converted(value, ty, self.span(only.value))
                }
                [] => Operand::Constant(zero(ty)),
            };
            self.emit(Instruction::Copy { dest, source }, declared.place.span);
            return Ok(());
        }
        let (base, variable) = match slot {
            Slot::Memory(register, variable) => (Base::Pointer(register), variable),
            Slot::Global(variable) => (Base::Global(variable), variable),
            Slot::Register(..) => return Ok(()),
        };
        self.zeros(decl, base, variable)?;
        for value in values {
            let place = self.expr(value.value).place;
            let spot = self.input().spot(self.key.unit, declared.ty, value.offset, place)?;
            if self.is_aggregate(value.value) {
                let parts = self.parts_of_value(value.value)?;
                let cells = self.aggregate(value.value)?;
                for (part, one) in parts.iter().zip(cells) {
                    self.set_cell(decl, base, variable, spot.cell + part.offset, one)?;
                }
            } else if let ExprKind::String(string) = self.expr(value.value).kind {
                let bytes = &self.unit.strings[string].bytes;
                for (index, &byte) in bytes.iter().enumerate() {
                    let value = Typed::int(i32::from(byte as i8));
                    self.set_cell(decl, base, variable, spot.cell + index as u32, value)?;
                }
            } else if let Some(inside) = spot.inside {
                let datum = self.lowering.datum(self.key.unit, value.value)?;
                let datum = datum.unwrap_or(super::datum::Datum::Integer(0));
                self.lowering.kind_of_mutex(variable, (self.key.unit, spot.cell, inside), datum, place)?;
            } else if !spot.hidden {
                let value = self.value(value.value)?;
                self.set_cell(decl, base, variable, spot.cell, value)?;
            }
        }
        Ok(())
    }

    /// The cells that an initialiser leaves out are zero. They are so from the start, where the declaration runs once.
    fn zeros(&mut self, decl: DeclId, base: Base, variable: VariableId) -> Done<()> {
        let declared = &self.unit.declarations[decl];
        if (self.loops == 0 && self.labels.is_empty()) || self.unit.types[declared.ty].is_scalar() {
            return Ok(());
        }
        let size = self.lowering.program.variables[variable].size;
        if size > MOST_ZEROS {
            return self.refuse(Reason::LargeObject, declared.place);
        }
        let mut given = vec![false; size as usize];
        for value in declared.initial.iter().flatten() {
            let place = self.expr(value.value).place;
            let cell = self.input().spot(self.key.unit, declared.ty, value.offset, place)?.cell as usize;
            let is_text = matches!(self.expr(value.value).kind, ExprKind::String(_));
            if self.is_aggregate(value.value) {
                for part in self.parts_of_value(value.value)? {
                    given[cell + part.offset as usize] = true;
                }
                continue;
            }
            if let (false, Some(given)) = (is_text, given.get_mut(cell)) {
                *given = true;
            }
        }
        for cell in (0..size).filter(|&cell| !given[cell as usize]) {
            self.set_cell(decl, base, variable, cell, Typed::int(0))?;
        }
        Ok(())
    }

    fn set_cell(&mut self, decl: DeclId, base: Base, variable: VariableId, cell: u32, value: Typed) -> Done<()> {
        let Some((leaf, _)) = self.lowering.program.leaf_at(variable, cell) else { return Ok(()) };
        let leaf = &self.lowering.program.leaves[leaf];
        let LeafKind::Data(ty) = leaf.kind else { return Ok(()) };
        let symbol = leaf.symbol;
        let declared = &self.unit.declarations[decl];
        let span = declared.place.span;
        let value = self.converted(value, ty, span);
        let name = self.lowering.program.leaf_at(variable, cell).map(|(leaf, element)| {
            let leaf = &self.lowering.program.leaves[leaf];
            leaf.element_name(&self.lowering.program.texts, element)
        });
        let name = self.lowering.text(&name.unwrap_or_default());
        let kind = cssame_ir::DefinitionKind::Write(self.id);
        let made = cssame_ir::Definition { name, symbol, span, kind, version: 0 };
        let definition = self.lowering.program.definitions.push(made);
        let place = cell_at(&self.lowering.program, base, variable, cell);
        self.emit(Instruction::Store { place, value, definition }, span);
        Ok(())
    }

    /// A parameter: a register, and a memory variable behind it where its address is taken.
    pub fn parameter(&mut self, decl: DeclId) -> Done<()> {
        let declared = &self.unit.declarations[decl];
        let (span, key) = (declared.place.span, self.local_key(decl));
        let Some(plain) = self.input().scalar(key.unit, declared.ty) else {
            return self.structure_parameter(decl);
        };
        let name = self.lowering.declared_name(key.unit, decl);
        let register = self.new_register(Some(name), span, plain);
        self.function.registers[register].pointee = self.pointee_type(declared)?;
        self.function.parameters.push(register);
        if self.is_register(decl, declared) {
            self.lowering.name_values(key);
            // A handle is passed as a number.
            self.slots.insert(decl, Slot::Register(register, plain));
            return Ok(());
        }
        let slot = self.slot(decl)?;
        let (base, variable) = match slot {
            Slot::Memory(register, variable) => (Base::Pointer(register), variable),
            Slot::Global(variable) => (Base::Global(variable), variable),
            Slot::Register(..) => return Ok(()),
        };
        self.set_cell(decl, base, variable, 0, Typed::register(register, plain))
    }

    /// A parameter that is a structure: a register for each of its cells, and the object that they make up.
    fn structure_parameter(&mut self, decl: DeclId) -> Done<()> {
        let declared = &self.unit.declarations[decl];
        let (span, key) = (declared.place.span, self.local_key(decl));
        let parts = self.lowering.parts(key.unit, declared.ty, &Owner::Object(key), declared.place)?;
        let name = self.lowering.declared_name(key.unit, decl);
        let name = self.lowering.program.texts.get(name).to_owned();
        let mut values = Vec::with_capacity(parts.len());
        for part in &parts {
            let (ty, name) = (self.lowering.part_type(key.unit, part), format!("{name}{}", part.path));
            let name = self.lowering.text(&name);
            let register = self.new_register(Some(name), span, ty);
            self.function.parameters.push(register);
            values.push(Typed::register(register, ty));
        }
        let (base, variable) = match self.slot(decl)? {
            Slot::Memory(register, variable) => (Base::Pointer(register), variable),
            Slot::Global(variable) => (Base::Global(variable), variable),
            Slot::Register(..) => return Ok(()),
        };
        for (part, value) in parts.iter().zip(values) {
            self.set_cell(decl, base, variable, part.offset, value)?;
        }
        Ok(())
    }

    /// The type of what a parameter points at.
    fn pointee_type(&mut self, declared: &'a Decl) -> Done<Option<cssame_ir::Type>> {
        let Some(target) = self.unit.pointee(declared.ty) else { return Ok(None) };
        if self.unit.types[target].size.is_none() {
            return Ok(None);
        }
        let owner = Owner::Text(declared.place.span);
        self.lowering.ir_type(self.key.unit, target, &owner, declared.place).map(Some)
    }

    /// Calls what variables are cleaned up with, the last one first, down to so many that stay open.
    pub fn clean_down_to(&mut self, open: usize, span: Span) -> Done<()> {
        for position in (open..self.cleanups.len()).rev() {
            let decl = self.cleanups[position];
            let declared = &self.unit.declarations[decl];
            let Some(cleanup) = declared.cleanup else { continue };
            let address = match self.slot(decl)? {
                Slot::Memory(register, _) => Typed::register(register, cssame_ir::ScalarType::Pointer),
                Slot::Global(variable) => {
                    let object = cssame_ir::Object::Global(variable);
                    Typed::constant(Value::Pointer(cssame_ir::Pointer::to(object, 0)))
                }
                Slot::Register(..) => return self.refuse(Reason::Form("address of a register"), declared.place),
            };
            let key = self.input().links.resolve(self.unit, self.key.unit, cleanup);
            self.call_function(key, &[address], false, span, declared.place)?;
        }
        Ok(())
    }
}
