//! Replaces the names of enums by `int`.
//!
//! **Input**: the syntax tree of a file. **Output**: the same tree with `int` in place of enum names, in all types of methods and
//! fields.

use cssame_front::csm::syntax::ast::{Function, Item, MemberKind, Program, StmtKind, TypeKind};
use std::collections::BTreeSet;

/// The enumerators of the largest enum: its values without others given are 0, 1, and so on.
pub(super) fn most_enumerators(program: &Program) -> usize {
    let of_item = |item: &Item| match item {
        Item::Enum(of) => of.enumerators.len(),
        Item::Class(class) => {
            let members = class.members.iter().filter_map(|member| match &member.kind {
                MemberKind::Enum(of) => Some(of.enumerators.len()),
                _ => None,
            });
            members.max().unwrap_or(0)
        }
        _ => 0,
    };
    program.items.iter().map(of_item).max().unwrap_or(0)
}

/// Writes `int` for the names of enums: all that looks at types in the tree then knows what values they have.
pub(super) fn resolve_enums(program: &mut Program) {
    let of_item = |item: &Item| match item {
        Item::Enum(of) => of.name.iter().map(|name| name.name.clone()).collect(),
        Item::Class(class) => {
            let members = class.members.iter().filter_map(|member| match &member.kind {
                MemberKind::Enum(of) => of.name.as_ref().map(|name| name.name.clone()),
                _ => None,
            });
            members.collect()
        }
        _ => Vec::new(),
    };
    let enums: BTreeSet<String> = program.items.iter().flat_map(of_item).collect();
    let resolve = |kind: &mut TypeKind| {
        if matches!(kind, TypeKind::Class(name) if enums.contains(name)) {
            *kind = TypeKind::Int;
        }
    };
    let of_function = |function: &mut Function| {
        resolve(&mut function.result.kind);
        function.parameters.iter_mut().for_each(|parameter| resolve(&mut parameter.ty.kind));
    };
    for item in &mut program.items {
        match item {
            Item::Function(function) => of_function(function),
            Item::Class(class) => {
                for member in &mut class.members {
                    match &mut member.kind {
                        MemberKind::Method(function) | MemberKind::Constructor(function) => of_function(function),
                        MemberKind::Field(declaration) => resolve(&mut declaration.ty.kind),
                        MemberKind::Enum(_) | MemberKind::Error(_) => {}
                    }
                }
            }
            Item::Statement(statement) => {
                if let StmtKind::Declare(declaration) = &mut statement.kind {
                    resolve(&mut declaration.ty.kind);
                }
            }
            Item::Extern(external) => {
                resolve(&mut external.result.kind);
                external.parameters.iter_mut().for_each(|parameter| resolve(&mut parameter.ty.kind));
            }
            Item::Input(_) | Item::Enum(_) | Item::Error(_) => {}
        }
    }
}
