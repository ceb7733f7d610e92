//! Types of the graph.
//!
//! In: a type of a unit and the owner of what has it. Out: the type as the graph has it, with structures as classes.

use super::ask::Done;
use super::owner::Owner;
use super::program::Lowering;
use super::roles::Role;
use super::shape::MOST_VARIABLE;
use crate::tree::{Place, RecordId, TypeId, TypeKind};
use cssame_ir::{ArrayType, Class, Field, LeafKind, ScalarType, Type};

impl Lowering<'_> {
    /// The type of the graph of something that has this type and this owner.
    pub fn ir_type(&mut self, unit: u32, ty: TypeId, owner: &Owner, place: Place) -> Done<Type> {
        match self.unit(unit).types[ty].kind {
            TypeKind::Array { element, .. } => {
                let length = Some(self.input.capacity(unit, ty, place)?);
                let element = self.ir_type(unit, element, owner, place)?;
                Ok(Type::Array(self.array_of(element, length)))
            }
            TypeKind::Record(record) if self.has_members(unit, record) => self.class(unit, record, place),
            _ => Ok(Type::Single(self.leaf_kind(unit, ty, owner))),
        }
    }

    fn array_of(&mut self, element: Type, length: Option<u32>) -> cssame_ir::ArrayId {
        let known = self.arrays.iter().find(|(known, of, _)| (*known, *of) == (element, length));
        if let Some(&(_, _, array)) = known {
            return array;
        }
        let array = self.program.arrays.push(ArrayType { element, length });
        self.arrays.push((element, length, array));
        array
    }

    /// Whether a structure is more than one thing that nothing looks into.
    pub fn has_members(&self, unit: u32, record: RecordId) -> bool {
        self.input.records.role(unit, record).is_none()
            && (!self.unit(unit).records[record].union || self.input.member_for_all(unit, record).is_some())
    }

    fn class(&mut self, unit: u32, record: RecordId, place: Place) -> Done<Type> {
        let number = self.input.records.canonical(unit, record);
        if let Some(&class) = self.classes.get(&number) {
            return Ok(Type::Class(class));
        }
        let declared = &self.unit(unit).records[record];
        let mut fields = Vec::new();
        let flexible = self.input.flexible(unit, record);
        for (index, field) in self.input.members(unit, record) {
            let owner = Owner::Field(number, index as u32);
            let ty = match flexible.filter(|_| index + 1 == declared.fields.len()) {
                Some(element) => {
                    let element = self.ir_type(unit, element, &owner, place)?;
                    Type::Array(self.array_of(element, Some(MOST_VARIABLE)))
                }
                None => self.ir_type(unit, field.ty, &owner, place)?,
            };
            let name = self.text(field.name.as_deref().unwrap_or("_"));
            let offset = self.input.cell_of_field(unit, record, index, place)?;
            fields.push(Field { name, span: place.span, ty, offset });
        }
        let name = self.text(declared.tag.as_deref().unwrap_or("struct"));
        let class = self.program.classes.push(Class { name, span: place.span, fields });
        self.classes.insert(number, class);
        Ok(Type::Class(class))
    }

    /// The kind of the leaf of something that is no array and has no members.
    pub fn leaf_kind(&self, unit: u32, ty: TypeId, owner: &Owner) -> LeafKind {
        let of_record = self.record_of(unit, ty).map(|record| self.input.records.role(unit, record));
        let role = match of_record {
            Some(role) => role,
            None => self.input.facts.roles.get(owner).copied(),
        };
        match role {
            Some(Role::Handle) if of_record.is_none() => LeafKind::Data(ScalarType::Thread),
            Some(Role::Lock) if self.reentrant.contains(owner) => LeafKind::ReentrantLock,
            Some(role) => role.leaf().unwrap_or(LeafKind::Data(ScalarType::Int)),
            None => LeafKind::Data(self.input.scalar(unit, ty).unwrap_or(ScalarType::Int)),
        }
    }

    /// The type of what a cell holds for its owner: handles are handles.
    pub fn scalar_of(&self, unit: u32, ty: TypeId, owner: &Owner) -> Option<ScalarType> {
        let plain = self.input.scalar(unit, ty)?;
        match self.input.facts.roles.get(owner) {
            Some(Role::Handle) => Some(ScalarType::Thread),
            _ => Some(plain),
        }
    }
}
