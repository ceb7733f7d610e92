//! Structures by value.
//!
//! In: an expression whose value is a structure. Out: the values of its cells of data, one after the other: each is read, passed and
//! written as if its member stood there by itself. A function that returns a structure writes it to where its caller wants it.
//!
//! Synchronisation objects in a structure are not copied: what a copy of one does is not defined.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::home::{Home, Lvalue, part_at};
use super::objects::NewVariable;
use super::owner::Owner;
use super::program::Lowering;
use crate::supported::Reason;
use crate::tree::{Conversion, ExprId, ExprKind, Place as TreePlace, StmtId, StmtKind, TypeId, TypeKind};
use cssame_ir::{Base, Instruction, Operand, Place, RegisterId, ScalarType, Storage, Terminator, VariableId};
use cssame_source::Span;

/// Cells that are copied one by one.
const MOST_COPIED: usize = 4096;

/// A cell of data in an object of a type.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where it lies, from the first cell of the object, and from its first byte.
    pub offset: u32,
    pub byte: u32,
    /// What it holds.
    pub ty: TypeId,
    pub owner: Owner,
    /// What follows the name of the object: `.next`, `[2]`.
    pub path: String,
}

impl Lowering<'_> {
    /// The cells of data in an object of a type, in their order.
    pub fn parts(&self, unit: u32, ty: TypeId, owner: &Owner, place: TreePlace) -> Done<Vec<Part>> {
        if let TypeKind::Record(record) = self.unit(unit).types[self.input.innermost(unit, ty)].kind
            && self.input.records.role(unit, record).is_some()
        {
            return super::ask::refuse(Reason::StructByValue, place);
        }
        let mut parts = Vec::new();
        let whole = Part { offset: 0, byte: 0, ty, owner: owner.clone(), path: String::new() };
        self.add_parts(unit, whole, place, &mut parts)?;
        Ok(parts)
    }

    fn add_parts(&self, unit: u32, of: Part, place: TreePlace, parts: &mut Vec<Part>) -> Done<()> {
        let tree = self.unit(unit);
        match tree.types[of.ty].kind {
            TypeKind::Array { element, .. } => {
                let (cells, bytes) = (self.input.cells(unit, element, place)?, self.input.size(unit, element, place)?);
                for index in 0..self.input.length(unit, of.ty, place)? {
                    let (offset, byte) = (of.offset + index * cells, of.byte + index * bytes);
                    let (owner, path) = (of.owner.clone(), format!("{}[{index}]", of.path));
                    self.add_parts(unit, Part { offset, byte, ty: element, owner, path }, place, parts)?;
                }
                Ok(())
            }
            TypeKind::Record(record) if self.input.records.role(unit, record).is_some() => Ok(()),
            TypeKind::Record(record) if !self.has_members(unit, record) => super::ask::refuse(Reason::Union, place),
            TypeKind::Record(record) => {
                let number = self.input.records.canonical(unit, record);
                for (index, field) in self.input.members(unit, record) {
                    if field.bits.is_some() {
                        return super::ask::refuse(Reason::BitField, place);
                    }
                    let offset = of.offset + self.input.cell_of_field(unit, record, index, place)?;
                    let name = field.name.as_deref().map_or_else(String::new, |name| format!(".{name}"));
                    let (owner, path) = (Owner::Field(number, index as u32), format!("{}{name}", of.path));
                    let byte = of.byte + field.offset as u32;
                    self.add_parts(unit, Part { offset, byte, ty: field.ty, owner, path }, place, parts)?;
                }
                Ok(())
            }
            _ if parts.len() >= MOST_COPIED => super::ask::refuse(Reason::LargeCopy, place),
            _ => {
                if self.input.facts.roles.get(&of.owner).is_none_or(|role| role.leaf().is_none()) {
                    parts.push(of);
                }
                Ok(())
            }
        }
    }

    /// The types of the cells of a parameter, or of one cell.
    pub fn scalars_of(&self, unit: u32, ty: TypeId, place: TreePlace) -> Vec<ScalarType> {
        match self.input.scalar(unit, ty) {
            Some(scalar) => vec![scalar],
            None => {
                let parts = self.parts(unit, ty, &Owner::Text(place.span), place).unwrap_or_default();
                parts.iter().map(|part| self.part_type(unit, part)).collect()
            }
        }
    }

    /// The type of a cell.
    pub fn part_type(&self, unit: u32, part: &Part) -> ScalarType {
        self.scalar_of(unit, part.ty, &part.owner).unwrap_or(ScalarType::Int)
    }

    /// Whether a type is that of a structure with members.
    pub fn is_structure(&self, unit: u32, ty: TypeId) -> bool {
        matches!(self.unit(unit).types[ty].kind, TypeKind::Record(_))
    }
}

impl Builder<'_, '_> {
    /// Whether the value of an expression is a structure.
    pub fn is_aggregate(&self, expr: ExprId) -> bool {
        self.lowering.is_structure(self.key.unit, self.expr(expr).ty)
    }

    /// A cell of an lvalue.
    fn part_of(&self, lvalue: &Lvalue, part: &Part) -> Lvalue {
        let home = match &lvalue.home {
            Home::Memory(place) => Home::Memory(part_at(place.clone(), part.offset, part.byte)),
            register => register.clone(),
        };
        let scalar = Some(self.lowering.part_type(self.key.unit, part));
        Lvalue { home, scalar, seen_as: None, ty: part.ty, owner: part.owner.clone(), atomic: false, span: lvalue.span }
    }

    fn part_name(&mut self, span: Span, part: &Part) -> cssame_ir::TextId {
        let text = self.lowering.text_at(span);
        let name = format!("{}{}", self.lowering.program.texts.get(text), part.path);
        self.lowering.text(&name)
    }

    /// Reads the cells of an lvalue.
    pub fn load_parts(&mut self, lvalue: &Lvalue, parts: &[Part]) -> Vec<Typed> {
        let load = |part| {
            let one = self.part_of(lvalue, part);
            let ty = self.lowering.part_type(self.key.unit, part);
            let dest = self.temporary(ty, lvalue.span);
            match one.home.clone() {
                Home::Memory(place) => {
                    let read = self.new_read(&one);
                    self.lowering.program.reads[read].name = self.part_name(lvalue.span, part);
                    self.emit(Instruction::Load { dest, place, read }, lvalue.span);
                }
                Home::Register(register) => {
                    let source = Operand::Register(register);
                    self.emit(Instruction::Copy { dest, source }, lvalue.span);
                }
            }
            Typed::register(dest, ty)
        };
        parts.iter().map(load).collect()
    }

    /// Writes the cells of an lvalue.
    pub fn store_parts(&mut self, lvalue: &Lvalue, parts: &[Part], values: &[Typed]) {
        for (part, &value) in parts.iter().zip(values) {
            let one = self.part_of(lvalue, part);
            let ty = self.lowering.part_type(self.key.unit, part);
            let value = self.converted(value, ty, lvalue.span);
            match one.home.clone() {
                Home::Memory(place) => {
                    let definition = self.new_definition(&one);
                    self.lowering.program.definitions[definition].name = self.part_name(lvalue.span, part);
                    self.emit(Instruction::Store { place, value, definition }, lvalue.span);
                }
                Home::Register(dest) => self.emit(Instruction::Copy { dest, source: value }, lvalue.span),
            }
        }
    }

    /// The cells of data of an lvalue.
    pub fn parts_of(&self, lvalue: &Lvalue, place: TreePlace) -> Done<Vec<Part>> {
        if lvalue.atomic {
            return self.refuse(Reason::AtomicStructure, place);
        }
        self.lowering.parts(self.key.unit, lvalue.ty, &lvalue.owner, place)
    }

    /// The cells of data of the value of an expression.
    pub fn parts_of_value(&self, expr: ExprId) -> Done<Vec<Part>> {
        let node = self.expr(expr);
        self.lowering.parts(self.key.unit, node.ty, &Owner::Text(node.place.span), node.place)
    }

    /// `a = b` of structures; the values that `a` then has.
    pub fn assign_aggregate(&mut self, target: ExprId, value: ExprId) -> Done<Vec<Typed>> {
        if self.is_in_other_member(target) {
            return self.refuse(Reason::Union, self.expr(target).place);
        }
        let lvalue = self.lvalue(target)?;
        let parts = self.parts_of(&lvalue, self.expr(target).place)?;
        let values = self.aggregate(value)?;
        self.store_parts(&lvalue, &parts, &values);
        Ok(values)
    }

    /// The values of the cells of a structure.
    pub fn aggregate(&mut self, expr: ExprId) -> Done<Vec<Typed>> {
        let node = self.expr(expr);
        match &node.kind {
            ExprKind::Assign { operator: None, target, value, .. } => self.assign_aggregate(*target, *value),
            ExprKind::Comma { first, second } => {
                self.effect(*first)?;
                self.aggregate(*second)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.either_aggregate(*condition, *then, *otherwise, expr)
            }
            ExprKind::StatementExpression(body) => self.last_aggregate(*body),
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } if self.is_aggregate(*operand) => {
                let is_read = matches!(node.kind, ExprKind::Convert { conversion: Conversion::Read, .. });
                if is_read { self.read_aggregate(*operand) } else { self.aggregate(*operand) }
            }
            _ => self.read_aggregate(expr),
        }
    }

    /// Whether a place lies in a member of a union that does not stand for all: its cells may have other types.
    pub fn is_in_other_member(&self, place: ExprId) -> bool {
        let mut at = place;
        loop {
            at = match self.expr(at).kind {
                ExprKind::Member { base, field } => {
                    let TypeKind::Record(record) = self.unit.types[self.expr(base).ty].kind else { return false };
                    let member = self.input().member_for_all(self.key.unit, record);
                    if member.is_some_and(|member| member != field) {
                        return true;
                    }
                    base
                }
                ExprKind::Subscript { base: operand, .. }
                | ExprKind::Convert { conversion: Conversion::ArrayToPointer, operand } => operand,
                _ => return false,
            };
        }
    }

    fn read_aggregate(&mut self, place: ExprId) -> Done<Vec<Typed>> {
        if self.is_in_other_member(place) {
            return self.refuse(Reason::Union, self.expr(place).place);
        }
        let lvalue = self.lvalue(place)?;
        let parts = self.parts_of(&lvalue, self.expr(place).place)?;
        Ok(self.load_parts(&lvalue, &parts))
    }

    fn either_aggregate(
        &mut self,
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
        expr: ExprId,
    ) -> Done<Vec<Typed>> {
        let place = self.expr(expr).place;
        let types = self.lowering.scalars_of(self.key.unit, self.expr(expr).ty, place);
        let result: Vec<RegisterId> = types.iter().map(|&ty| self.temporary(ty, place.span)).collect();
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.branch(condition, then_block, else_block)?;
        for (block, value) in [(then_block, then), (else_block, otherwise)] {
            self.current = block;
            let values = self.aggregate(value)?;
            for ((&dest, &ty), value) in result.iter().zip(&types).zip(values) {
                let source = self.converted(value, ty, place.span);
                self.emit(Instruction::Copy { dest, source }, place.span);
            }
            self.terminate(Terminator::Jump(join), place.span);
        }
        self.current = join;
        Ok(result.iter().zip(&types).map(|(&register, &ty)| Typed::register(register, ty)).collect())
    }

    /// The value of `({ … })`, whose last statement is an expression.
    fn last_aggregate(&mut self, body: StmtId) -> Done<Vec<Typed>> {
        let place = self.unit.statements[body].place;
        let StmtKind::Block(list) = &self.unit.statements[body].kind else {
            return self.refuse(Reason::StructByValue, place);
        };
        let Some((&last, before)) = list.split_last() else { return self.refuse(Reason::StructByValue, place) };
        let StmtKind::Expression(value) = self.unit.statements[last].kind else {
            return self.refuse(Reason::StructByValue, place);
        };
        let open = self.cleanups.len();
        self.choices_of(list);
        for &stmt in before {
            self.statement(stmt)?;
        }
        let values = self.aggregate(value)?;
        self.clean_down_to(open, place.span)?;
        self.cleanups.truncate(open);
        Ok(values)
    }

    /// Where the value of an expression that is no place can be looked into: `f().x`.
    pub fn held_aggregate(&mut self, expr: ExprId) -> Done<Lvalue> {
        if let ExprKind::Call { callee, arguments } = &self.expr(expr).kind {
            self.call(*callee, arguments, expr, true)?;
            return self.temporary_structure(expr);
        }
        let values = self.aggregate(expr)?;
        let lvalue = self.temporary_structure(expr)?;
        let parts = self.parts_of(&lvalue, self.expr(expr).place)?;
        self.store_parts(&lvalue, &parts, &values);
        Ok(lvalue)
    }

    /// An object without a name that holds the value of an expression.
    pub fn temporary_structure(&mut self, expr: ExprId) -> Done<Lvalue> {
        let node = self.expr(expr);
        let (place, owner) = (node.place, Owner::Text(node.place.span));
        let home = match self.temporaries.get(&expr) {
            Some(home) => home.clone(),
            None => {
                let name = self.lowering.text_at(place.span);
                let storage = if self.is_main() { Storage::Global } else { Storage::Local(self.id) };
                let (unit, ty) = (self.key.unit, node.ty);
                let new =
                    NewVariable { name, place, storage, unit, ty, owner: owner.clone(), heap: false, length: None };
                let variable = self.lowering.variable(&new)?;
                let home = Home::Memory(self.place_of(variable, storage, place.span));
                self.temporaries.insert(expr, home.clone());
                home
            }
        };
        Ok(Lvalue::whole(home, node.ty, owner, place.span))
    }

    fn place_of(&mut self, variable: VariableId, storage: Storage, span: Span) -> Place {
        if storage == Storage::Global {
            return Place::global(variable);
        }
        let register = self.temporary(ScalarType::Pointer, span);
        self.function.registers[register].pointee = Some(self.lowering.program.variables[variable].ty);
        self.allocated.push((register, variable, span));
        Place::at(Base::Pointer(register), 0)
    }

    /// The address of where a function is to put the structure that it returns.
    pub fn result_address(&mut self, call: ExprId) -> Done<Operand> {
        let lvalue = self.temporary_structure(call)?;
        Ok(self.address(&lvalue, call)?.operand)
    }

    /// Puts the structure that the function returns where its caller wants it.
    pub fn return_aggregate(&mut self, value: ExprId, to: RegisterId) -> Done<()> {
        let values = self.aggregate(value)?;
        let node = self.expr(value);
        let place = Place::at(Base::Pointer(to), 0);
        let (home, owner) = (Home::Memory(place), Owner::Text(node.place.span));
        let lvalue = Lvalue::whole(home, node.ty, owner, node.place.span);
        let parts = self.parts_of(&lvalue, node.place)?;
        self.store_parts(&lvalue, &parts, &values);
        Ok(())
    }
}
