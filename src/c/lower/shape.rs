//! Shapes: how many cells types have, and where members lie in them.
//!
//! In: types of units. Out: numbers of cells, cells of members, the cell of a byte, and the types of the graph. A scalar is one
//! cell, a synchronisation object as many as its kind has; a union has the cells of the member that stands for all, or one that
//! nothing uses, as what has no size has.

use super::ask::{Done, refuse};
use super::input::Input;
use super::owner::Owner;
use super::roles::Role;
use crate::supported::{Reason, unions};
use crate::tree::{Field, Length, Place, RecordId, TypeId, TypeKind};
use cssame_ir::ScalarType;

/// Cells that an object has at most.
pub const MOST: u32 = 1 << 22;

/// Elements that an array has at most whose length is known at run time only.
pub const MOST_VARIABLE: u32 = 1024;

/// Where a byte of an object lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The cell.
    pub cell: u32,
    /// Within a synchronisation object: its type, and the bytes from its start.
    pub inside: Option<(RecordId, u64)>,
    /// Whether the byte begins no cell that is used: in a union.
    pub hidden: bool,
}

impl Input<'_> {
    /// The number of cells of a type.
    pub fn cells(&self, unit: u32, ty: TypeId, place: Place) -> Done<u32> {
        let tree = self.unit(unit);
        match &tree.types[ty].kind {
            TypeKind::Array { element, .. } => {
                let (count, each) = (self.length(unit, ty, place)?, self.cells(unit, *element, place)?);
                match u64::from(count).checked_mul(u64::from(each)).filter(|&cells| cells <= u64::from(MOST)) {
                    Some(cells) => Ok(cells as u32),
                    None => refuse(Reason::LargeObject, place),
                }
            }
            TypeKind::Record(record) => {
                let count = tree.records[*record].fields.len();
                self.cell_of_field(unit, *record, count, place)
            }
            _ => Ok(1),
        }
    }

    /// The number of bytes of a type.
    pub fn size(&self, unit: u32, ty: TypeId, place: Place) -> Done<u32> {
        let ty = &self.unit(unit).types[ty];
        match (ty.size.map(u32::try_from), &ty.kind) {
            (Some(Ok(size)), _) => Ok(size),
            (Some(Err(_)), _) => refuse(Reason::LargeObject, place),
            (None, TypeKind::Array { length: Length::Unknown, .. }) => Ok(0),
            (None, _) => refuse(Reason::VariableLength, place),
        }
    }

    /// The number of elements of an array.
    pub fn length(&self, unit: u32, array: TypeId, place: Place) -> Done<u32> {
        let tree = self.unit(unit);
        let TypeKind::Array { length, .. } = &tree.types[array].kind else { return Ok(1) };
        let count = match length {
            Length::Fixed(count) => *count,
            Length::Unknown => 0,
            Length::Variable(count) => match tree.integer(*count).map(u64::try_from) {
                Some(Ok(count)) => count,
                _ => return refuse(Reason::VariableLength, place),
            },
        };
        if count > u64::from(MOST) { refuse(Reason::LargeObject, place) } else { Ok(count as u32) }
    }

    /// The number of elements that an array has cells for.
    pub fn capacity(&self, unit: u32, array: TypeId, place: Place) -> Done<u32> {
        let tree = self.unit(unit);
        match tree.types[array].kind {
            TypeKind::Array { length: Length::Variable(count), .. } if tree.integer(count).is_none() => {
                Ok(MOST_VARIABLE)
            }
            _ => self.length(unit, array, place),
        }
    }

    /// The number of cells of an object that is declared with a type: only here may the first length be variable.
    pub fn room(&self, unit: u32, ty: TypeId, place: Place) -> Done<u32> {
        match self.unit(unit).types[ty].kind {
            TypeKind::Array { element, length: Length::Variable(_) } => {
                let each = self.cells(unit, element, place)?;
                let count = self.capacity(unit, ty, place)?;
                match count.checked_mul(each).filter(|&cells| cells <= MOST) {
                    Some(cells) => Ok(cells),
                    None => refuse(Reason::LargeObject, place),
                }
            }
            _ => self.cells(unit, ty, place),
        }
    }

    /// The number of bytes of such an object.
    pub fn bytes_of_room(&self, unit: u32, ty: TypeId, place: Place) -> Done<u32> {
        let tree = self.unit(unit);
        let (before, element, count) = match tree.types[ty].kind {
            TypeKind::Array { element, length: Length::Variable(_) } => (0, element, self.capacity(unit, ty, place)?),
            TypeKind::Record(record) => match (self.flexible(unit, record), tree.records[record].fields.last()) {
                (Some(element), Some(last)) => (last.offset as u32, element, MOST_VARIABLE),
                _ => return self.size(unit, ty, place),
            },
            _ => return self.size(unit, ty, place),
        };
        Ok(self.size(unit, element, place)?.saturating_mul(count).saturating_add(before))
    }

    /// The member of a union that stands for all of them.
    pub fn member_for_all(&self, unit: u32, record: RecordId) -> Option<u32> {
        let tree = self.unit(unit);
        tree.records[record].union.then(|| unions::representative(tree, record)).flatten()
    }

    /// The members of a structure that have cells of their own, with their numbers.
    pub fn members(&self, unit: u32, record: RecordId) -> impl Iterator<Item = (usize, &Field)> {
        let tree = self.unit(unit);
        let union = tree.records[record].union.then(|| self.member_for_all(unit, record));
        let is_one = move |index: usize| union.is_none_or(|member| member == Some(index as u32));
        tree.records[record].fields.iter().enumerate().filter(move |&(index, field)| is_kept(field) && is_one(index))
    }

    /// The type of the cell that a byte of an object begins, and what it is called within the structure that it lies in.
    pub fn type_at(&self, unit: u32, ty: TypeId, byte: u64) -> Option<(TypeId, Owner)> {
        let tree = self.unit(unit);
        let (mut ty, mut byte, mut owner) = (ty, byte, None);
        loop {
            match tree.types[ty].kind {
                TypeKind::Array { element, .. } => {
                    byte = byte.checked_rem(tree.types[element].size?)?;
                    ty = element;
                }
                TypeKind::Record(record) => {
                    let found = self.members(unit, record).filter(|(_, field)| field.offset <= byte).last();
                    let (index, field) = found?;
                    byte -= field.offset;
                    ty = field.ty;
                    owner = Some(Owner::Field(self.records.canonical(unit, record), index as u32));
                }
                _ => return owner.filter(|_| byte == 0).map(|owner| (ty, owner)),
            }
        }
    }

    /// What a structure ends with an array of, of which there are as many as there is memory.
    pub fn flexible(&self, unit: u32, record: RecordId) -> Option<TypeId> {
        let tree = self.unit(unit);
        let record = &tree.records[record];
        match tree.types[record.fields.last().filter(|_| !record.union && record.fields.len() > 1)?.ty].kind {
            TypeKind::Array { element, length: Length::Unknown | Length::Fixed(0) } => Some(element),
            _ => None,
        }
    }

    /// The number of cells of a structure before one of its members; before the end of it for the number of its members.
    pub fn cell_of_field(&self, unit: u32, record: RecordId, index: usize, place: Place) -> Done<u32> {
        let tree = self.unit(unit);
        let fields = &tree.records[record].fields;
        if let Some(role) = self.records.role(unit, record) {
            return Ok(if index < fields.len() { 0 } else { width(role) });
        }
        if tree.records[record].union {
            let behind = match self.member_for_all(unit, record) {
                Some(member) => self.cells(unit, fields[member as usize].ty, place)?,
                None => 1,
            };
            return Ok(if index >= fields.len() { behind } else { 0 });
        }
        let mut cells = 0_u64;
        for field in fields.iter().take(index).filter(|field| is_kept(field)) {
            cells += u64::from(self.cells(unit, field.ty, place)?);
            if cells > u64::from(MOST) {
                return refuse(Reason::LargeObject, place);
            }
        }
        if let Some(element) = self.flexible(unit, record).filter(|_| index >= fields.len()) {
            cells += u64::from(MOST_VARIABLE) * u64::from(self.cells(unit, element, place)?);
        }
        if cells > u64::from(MOST) {
            return refuse(Reason::LargeObject, place);
        }
        Ok(cells as u32)
    }

    /// The cell that a byte of an object of a type lies at.
    pub fn spot(&self, unit: u32, ty: TypeId, byte: u64, place: Place) -> Done<Spot> {
        let tree = self.unit(unit);
        let (mut ty, mut byte, mut cell) = (ty, byte, 0_u32);
        loop {
            match &tree.types[ty].kind {
                TypeKind::Array { element, .. } => {
                    let size = tree.types[*element].size.unwrap_or(0);
                    let index = byte.checked_div(size).unwrap_or(0);
                    let each = self.cells(unit, *element, place)?;
                    cell = cell.saturating_add((index as u32).saturating_mul(each));
                    byte = byte.checked_rem(size).unwrap_or(0);
                    if byte == 0 && index >= u64::from(self.length(unit, ty, place)?) {
                        return Ok(Spot { cell, inside: None, hidden: false });
                    }
                    ty = *element;
                }
                TypeKind::Record(record) => {
                    let fields = &tree.records[*record].fields;
                    if self.records.role(unit, *record).is_some() {
                        return Ok(Spot { cell, inside: Some((*record, byte)), hidden: false });
                    }
                    if tree.records[*record].union {
                        let Some(member) = self.member_for_all(unit, *record) else {
                            return Ok(Spot { cell, inside: None, hidden: true });
                        };
                        ty = fields[member as usize].ty;
                        continue;
                    }
                    if byte >= tree.types[ty].size.unwrap_or(0) && self.flexible(unit, *record).is_none() {
                        let behind = self.cells(unit, ty, place)?;
                        return Ok(Spot { cell: cell + behind, inside: None, hidden: false });
                    }
                    // Of several at one byte, as empty ones have it, the last one holds it.
                    let found =
                        fields.iter().enumerate().rev().find(|(_, field)| is_kept(field) && field.offset <= byte);
                    let Some((index, field)) = found else { return refuse(Reason::MixedSize, place) };
                    cell += self.cell_of_field(unit, *record, index, place)?;
                    byte -= field.offset;
                    ty = field.ty;
                    if field.bits.is_some() {
                        return Ok(Spot { cell, inside: None, hidden: true });
                    }
                }
                _ if byte == 0 => return Ok(Spot { cell, inside: None, hidden: false }),
                _ if Some(byte) == tree.types[ty].size => {
                    return Ok(Spot { cell: cell + 1, inside: None, hidden: false });
                }
                _ => return refuse(Reason::MixedSize, place),
            }
        }
    }

    /// The scalar type of values of a type.
    pub fn scalar(&self, unit: u32, ty: TypeId) -> Option<ScalarType> {
        let tree = self.unit(unit);
        let integer = match tree.types[ty].kind {
            TypeKind::Bool => return Some(ScalarType::Bool),
            TypeKind::Pointer(_) => return Some(ScalarType::Pointer),
            TypeKind::Floating(64) => return Some(ScalarType::Double),
            TypeKind::Integer(integer) => integer,
            TypeKind::Enumeration(enumeration) => tree.enumerations[enumeration].integer,
            _ => return None,
        };
        Some(match (integer.bits, integer.signed) {
            (0..=8, true) => ScalarType::SignedChar,
            (0..=8, false) => ScalarType::UnsignedChar,
            (9..=16, true) => ScalarType::Short,
            (9..=16, false) => ScalarType::UnsignedShort,
            (17..=32, true) => ScalarType::Int,
            (17..=32, false) => ScalarType::UnsignedInt,
            (_, true) => ScalarType::Long,
            (_, false) => ScalarType::UnsignedLong,
        })
    }

    /// What an array holds behind all its dimensions; anything else holds itself.
    pub fn innermost(&self, unit: u32, ty: TypeId) -> TypeId {
        let mut ty = ty;
        while let TypeKind::Array { element, .. } = self.unit(unit).types[ty].kind {
            ty = element;
        }
        ty
    }

    /// The byte of a mutex that says of which kind it is.
    pub fn kind_byte(&self, unit: u32, record: RecordId) -> Option<u64> {
        let tree = self.unit(unit);
        tree.records[record].fields.iter().find_map(|field| {
            if field.name.as_deref() == Some("__kind") {
                return Some(field.offset);
            }
            match tree.types[field.ty].kind {
                TypeKind::Record(inner) => Some(field.offset + self.kind_byte(unit, inner)?),
                _ => None,
            }
        })
    }
}

/// Whether a member has cells: padding has none.
pub fn is_kept(field: &Field) -> bool {
    field.bits.is_none_or(|bits| bits.width > 0 && field.name.is_some())
}

fn width(role: Role) -> u32 {
    role.leaf().map_or(1, cssame_ir::LeafKind::width)
}
