//! Names of elements, as in the text: `key[i]`, `t[i].val`.
//!
//! **Input**: a variable, and a place that writes it, or writes another variable with the same indices. **Output**: its name with
//! the indices of that place; nothing if the place shows no indices, or not as many as the variable has.

use super::source_variable::{SourceVariableId, SourceVariableKind, SourceVariables};
use cssame_ir::{Leaf, Program};
use cssame_source::{SourceMap, Span};

/// An index that is longer than that is not shown.
const MAX_LENGTH: usize = 32;

/// The name of an element of a variable. `own` is where it is written, `other` where another variable with the same indices is.
pub(super) fn element_name(
    sources: &SourceMap,
    program: &Program,
    data: &SourceVariables,
    variable: SourceVariableId,
    (own, other): (Option<Span>, Option<Span>),
) -> Option<String> {
    let place = as_written(sources, own.or(other)?);
    let indices = brackets(place);
    let is_shown =
        !indices.is_empty() && indices.iter().all(|index| index.len() <= MAX_LENGTH && !index.contains('\n'));
    if !is_shown {
        return None;
    }
    match data.kind(variable) {
        SourceVariableKind::Memory(_) if own.is_some() => Some(place.to_owned()),
        SourceVariableKind::Memory(symbol) => {
            let leaf = program.leaves.iter().find(|leaf| leaf.symbol == symbol)?;
            with_indices(program, leaf, &indices)
        }
        SourceVariableKind::Part(part) if part.element.is_none() => {
            with_indices(program, &program.leaves[part.leaf], &indices)
        }
        SourceVariableKind::Part(_) | SourceVariableKind::Local(..) => None,
    }
}

/// The name of a leaf with indices in their places.
fn with_indices(program: &Program, leaf: &Leaf, indices: &[&str]) -> Option<String> {
    let texts = indices.iter().map(|index| index.get(1..index.len() - 1).unwrap_or_default().to_owned());
    (leaf.dimensions.len() == indices.len()).then(|| leaf.name_with(&program.texts, texts))
}

/// The text of a place, with the indices behind its name.
fn as_written(sources: &SourceMap, span: Span) -> &str {
    let Some(file) = sources.get(span.file) else { return "" };
    let text = file.text().get(span.start as usize..).unwrap_or_default();
    let mut end = (span.end - span.start) as usize;
    while let Some(length) = text.get(end..).and_then(bracket) {
        end += length;
    }
    text.get(..end).unwrap_or_default()
}

/// The length of the index that a text begins with.
fn bracket(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (place, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (character == ']').then_some(place + 1);
        }
    }
    None
}

/// The outermost indices of a place, with their brackets.
fn brackets(place: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = place;
    while let Some(index) = rest.find('[').map(|start| &rest[start..]) {
        let Some(length) = bracket(index) else { break };
        found.push(&index[..length]);
        rest = &index[length..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::brackets;

    #[test]
    fn indices_are_found_with_those_within() {
        assert_eq!(brackets("t[i].key"), ["[i]"]);
        assert_eq!(brackets("m[a[0]][j + 1]"), ["[a[0]]", "[j + 1]"]);
        assert!(brackets("n").is_empty() && brackets("t[").is_empty());
    }
}
