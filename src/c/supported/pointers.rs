//! Pointers that become pointers to another type: whether what lies there has the same cells.

use super::reason::Reason;
use crate::tree::{Conversion, ExprId, ExprKind, TypeId, TypeKind, UnaryOperator, Unit};

/// What stands in the way where a pointer of one type becomes one of another type.
pub fn conversion(unit: &Unit, from: TypeId, to: TypeId) -> Option<Reason> {
    let (from, to) = (unit.pointee(from)?, unit.pointee(to)?);
    let is_function = |ty: TypeId| matches!(unit.types[ty].kind, TypeKind::Function(_));
    if is_function(from) || is_function(to) {
        // A function that is stored is a reason of its own.
        return None;
    }
    let is_apart = !same_cells(unit, from, to) && !same_cells(unit, to, from);
    (is_apart || counts_other_bytes(unit, from, to)).then_some(Reason::MixedSize)
}

/// Whether a pointer to something that is more than one byte becomes one that counts bytes: what it is moved by would be cells.
fn counts_other_bytes(unit: &Unit, from: TypeId, to: TypeId) -> bool {
    let mut inside = from;
    while let TypeKind::Array { element, .. } = unit.types[inside].kind {
        inside = element;
    }
    is_character(unit, to) && matches!(unit.types[inside].kind, TypeKind::Record(_))
}

fn is_character(unit: &Unit, ty: TypeId) -> bool {
    matches!(unit.types[ty].kind, TypeKind::Integer(integer) if integer.character)
}

/// Whether an expression makes a pointer to `void` one that counts bytes: what lies there may have larger cells.
pub fn counts_unknown_bytes(unit: &Unit, pointer: ExprId) -> bool {
    let (ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand }) =
        unit.expressions[pointer].kind
    else {
        return false;
    };
    let pointee = |expr: ExprId| unit.pointee(unit.expressions[expr].ty);
    let is_void = pointee(operand).is_some_and(|ty| matches!(unit.types[ty].kind, TypeKind::Void));
    let asks = matches!(unit.expressions[without_conversions(unit, operand)].kind, ExprKind::Call { .. });
    is_void && !asks && pointee(pointer).is_some_and(|ty| is_character(unit, ty))
}

/// Whether an object of the one type begins with the cells of the other.
fn same_cells(unit: &Unit, outer: TypeId, inner: TypeId) -> bool {
    let mut outer = outer;
    // A record begins with its first member, an array with its first element.
    for _ in 0..64 {
        if same_type(unit, outer, inner) {
            return true;
        }
        outer = match &unit.types[outer].kind {
            TypeKind::Array { element, .. } => *element,
            TypeKind::Record(record) => match unit.records[*record].fields.first() {
                Some(field) if field.bits.is_none() => field.ty,
                _ => return false,
            },
            _ => return false,
        };
    }
    false
}

fn same_type(unit: &Unit, one: TypeId, other: TypeId) -> bool {
    let (one, other) = (&unit.types[one], &unit.types[other]);
    match (&one.kind, &other.kind) {
        (TypeKind::Void, _) | (_, TypeKind::Void) => true,
        (TypeKind::Record(one), TypeKind::Record(other)) => {
            one == other || !unit.records[*one].complete || !unit.records[*other].complete
        }
        (TypeKind::Pointer(_), TypeKind::Pointer(_)) => true,
        (TypeKind::Floating(one), TypeKind::Floating(other)) => one == other,
        (
            TypeKind::Integer(_) | TypeKind::Enumeration(_) | TypeKind::Bool,
            TypeKind::Integer(_) | TypeKind::Enumeration(_) | TypeKind::Bool,
        ) => one.size == other.size,
        _ => false,
    }
}

/// The pointer to a member behind `(T *)((char *)p - bytes)`, which stands for the structure around the member, and the bytes, where
/// they are a constant.
pub fn container_of(unit: &Unit, operand: ExprId) -> Option<(ExprId, Option<u64>)> {
    let ExprKind::Binary { operator: crate::tree::BinaryOperator::Subtract, left, right } =
        unit.expressions[without_conversions(unit, operand)].kind
    else {
        return None;
    };
    let target = unit.pointee(unit.expressions[left].ty)?;
    let counts_bytes = match unit.types[target].kind {
        TypeKind::Integer(integer) => integer.character,
        TypeKind::Void => true,
        _ => false,
    };
    counts_bytes.then(|| (without_conversions(unit, left), bytes(unit, right)))
}

/// A constant number of bytes; also one that is written as `(size_t)&((T *)0)->member`.
fn bytes(unit: &Unit, expr: ExprId) -> Option<u64> {
    if let Some(constant) = unit.integer(expr) {
        return u64::try_from(constant).ok();
    }
    let mut at = expr;
    while let ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } = unit.expressions[at].kind {
        at = operand;
    }
    let ExprKind::Unary { operator: UnaryOperator::AddressOf, operand } = unit.expressions[at].kind else {
        return None;
    };
    let (mut at, mut bytes) = (operand, 0);
    loop {
        match unit.expressions[at].kind {
            ExprKind::Member { base, field } => {
                let TypeKind::Record(record) = unit.type_of(base).kind else { return None };
                bytes += unit.records[record].fields.get(field as usize)?.offset;
                at = base;
            }
            ExprKind::Unary { operator: UnaryOperator::Dereference, operand } if is_null(unit, operand) => {
                return Some(bytes);
            }
            _ => return None,
        }
    }
}

/// Whether a type is that of what a function such as `pthread_mutex_init` prepares.
pub fn is_initialised_by_call(unit: &Unit, ty: TypeId) -> bool {
    let TypeKind::Record(record) = unit.types[ty].kind else { return false };
    unit.declarations.iter().any(|decl| {
        let name = decl.name.as_deref().unwrap_or_default();
        let is_one = matches!(name, "pthread_mutex_init" | "pthread_cond_init" | "pthread_rwlock_init");
        let first = unit.function_type(decl.ty).filter(|_| is_one).and_then(|function| function.parameters.first());
        let target = first.and_then(|&first| unit.pointee(first)).map(|target| &unit.types[target].kind);
        matches!(target, Some(TypeKind::Record(prepared)) if *prepared == record)
    })
}

/// Whether a pointer is null as it is written.
pub fn is_null(unit: &Unit, pointer: ExprId) -> bool {
    let mut at = without_conversions(unit, pointer);
    while let ExprKind::Convert { conversion: Conversion::NullPointer, operand } | ExprKind::Cast(operand) =
        unit.expressions[at].kind
    {
        at = without_conversions(unit, operand);
    }
    unit.integer(at) == Some(0)
}

/// What a pointer was before it was cast.
pub fn without_conversions(unit: &Unit, expr: ExprId) -> ExprId {
    let mut at = expr;
    loop {
        at = match unit.expressions[at].kind {
            ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand } => operand,
            _ => return at,
        };
    }
}
