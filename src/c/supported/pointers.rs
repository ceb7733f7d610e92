//! Pointers as they are written.

use crate::tree::{Conversion, ExprId, ExprKind, TypeId, TypeKind, Unit};

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
