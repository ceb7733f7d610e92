//! The names that a program declares.

use cssame_ir::{FunctionKind, Program};
use std::collections::BTreeSet;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameKind {
    /// A variable or a field.
    Variable,
    /// A function or a method.
    Function,
    /// A class.
    Class,
}

/// The names that a program declares.
pub(super) fn names(program: &Program) -> Vec<(String, NameKind)> {
    let text = |id| program.texts.get(id).to_owned();
    let symbols = program.symbols.iter().map(|of| (text(of.name), NameKind::Variable));
    // Synchronisation objects are no data, so they are no symbols.
    let objects = program.variables.iter().map(|of| (text(of.name), NameKind::Variable));
    let fields = program.classes.iter().flat_map(|of| &of.fields);
    let fields = fields.map(|of| (text(of.name), NameKind::Variable));
    let called = program.functions.iter().filter(|of| of.kind != FunctionKind::Arm);
    let last = |name: String| name.rsplit('.').next().map(str::to_owned).unwrap_or(name);
    let functions = called.map(|of| (last(text(of.name)), NameKind::Function));
    let classes = program.classes.iter().map(|of| (text(of.name), NameKind::Class));
    let is_word = |name: &str| {
        let mut characters = name.chars();
        characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && characters.all(|character| character.is_alphanumeric() || character == '_')
    };
    let all: BTreeSet<(String, NameKind)> = symbols
        .chain(objects)
        .chain(fields)
        .chain(functions)
        .chain(classes)
        .filter(|(name, _)| is_word(name))
        .collect();
    all.into_iter().collect()
}
