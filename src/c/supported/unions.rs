//! Unions whose members have the same cells.
//!
//! In: a union. Out: the member that stands for all, where the scalars of each member lie where its scalars lie, have their
//! sizes, and are as atomic. What is written through one of them can then be read through another one, cell by cell, as the
//! bits that it is. Any other union, or one with bit-fields, would split cells.

use crate::tree::{RecordId, TypeId, TypeKind, Unit};

/// Scalars that are compared.
const MOST: usize = 4096;

/// What a scalar is as far as its bits tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A number, or a pointer, and whether accesses to it are atomic.
    Bits(bool),
    Truth,
    Floating,
    /// A structure that nothing looks into.
    Opaque(RecordId),
}

/// The number of the member that stands for all members of a union.
#[must_use]
pub fn representative(unit: &Unit, union: RecordId) -> Option<u32> {
    let fields = &unit.records[union].fields;
    let mut shapes = Vec::with_capacity(fields.len());
    for field in fields {
        let mut shape = Vec::new();
        if field.bits.is_some() || !scalars(unit, field.ty, field.offset, &mut shape) {
            return None;
        }
        shapes.push(shape);
    }
    let longest = (0..shapes.len()).max_by_key(|&index| (shapes[index].len(), std::cmp::Reverse(index)))?;
    shapes.iter().all(|shape| shapes[longest].starts_with(shape)).then_some(longest as u32)
}

/// Adds the scalars of a type that begins at a byte; whether all are known.
fn scalars(unit: &Unit, ty: TypeId, byte: u64, found: &mut Vec<(u64, u64, Kind)>) -> bool {
    let of = &unit.types[ty];
    let Some(size) = of.size else { return false };
    let kind = match &of.kind {
        TypeKind::Array { element, .. } => {
            let each = unit.types[*element].size.unwrap_or(0);
            let count = size.checked_div(each).unwrap_or(0);
            return count <= MOST as u64 && (0..count).all(|index| scalars(unit, *element, byte + index * each, found));
        }
        TypeKind::Record(record) if unit.records[*record].union => {
            let Some(member) = representative(unit, *record) else { return false };
            return scalars(unit, unit.records[*record].fields[member as usize].ty, byte, found);
        }
        TypeKind::Record(record) if unit.records[*record].tag.as_deref().is_some_and(is_opaque) => {
            Kind::Opaque(*record)
        }
        TypeKind::Record(record) => {
            let fields = &unit.records[*record].fields;
            return fields
                .iter()
                .all(|field| field.bits.is_none() && scalars(unit, field.ty, byte + field.offset, found));
        }
        TypeKind::Bool => Kind::Truth,
        TypeKind::Floating(64) => Kind::Floating,
        TypeKind::Integer(_) | TypeKind::Enumeration(_) | TypeKind::Pointer(_) if size <= 8 => {
            Kind::Bits(of.qualifiers.atomic)
        }
        _ => return false,
    };
    found.push((byte, size, kind));
    found.len() <= MOST
}

/// Whether a tag is that of a synchronisation object.
fn is_opaque(tag: &str) -> bool {
    tag.starts_with("pthread_") || tag.starts_with("_cssame_")
}
