//! The inputs that a text declares.
//!
//! **Input**: a text. **Output**: its inputs, as written. A text with errors has the inputs that can be parsed.

use crate::csm::hir;
use crate::csm::syntax::ast::{Item, TypeKind};
use crate::csm::syntax::parse;
use cssame_source::SourceMap;

/// The value of an input of which nothing is to be known.
pub const UNKNOWN_INPUT: &str = hir::UNKNOWN;

/// An `input` of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredInput {
    /// Its name.
    pub name: String,
    /// Its value where the command line gives none, as written.
    pub value: String,
    /// Whether `any` means something: it is a bool, or its declaration has a range.
    pub can_be_any: bool,
}

/// The inputs of a text, in its order.
#[must_use]
pub fn declared_inputs(text: &str) -> Vec<DeclaredInput> {
    let mut sources = SourceMap::default();
    let file = sources.add("", text);
    let parsed = parse(&sources, file);
    let inputs = parsed.program.items.iter().filter_map(|item| {
        let Item::Input(input) = item else { return None };
        Some(DeclaredInput {
            name: input.name.name.clone(),
            value: sources.text(input.value.span).to_owned(),
            can_be_any: input.range.is_some() || input.ty.kind == TypeKind::Bool,
        })
    });
    inputs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_as_written() {
        let found = declared_inputs("input int n = 3 in 0..8; input bool fast = false; int x; input long k = n * 2;");
        let written: Vec<_> =
            found.iter().map(|input| (input.name.as_str(), input.value.as_str(), input.can_be_any)).collect();
        assert_eq!(written, [("n", "3", true), ("fast", "false", true), ("k", "n * 2", false)]);
    }
}
