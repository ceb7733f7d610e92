//! Functions of the standard library that are written in C themselves.
//!
//! In: the units of a program. Out: whether they use such a function that none of them defines; the text of a unit that
//! defines them all. It is linked as any other unit: what it does with memory is found and shown as if it stood in the
//! program. Its definitions are weak, so that one of the program takes their place. It does not see a name that
//! only the preprocessor puts together (`str##len`).

use crate::tree::{Definition, ExprKind, Linkage, Unit};
use rustc_hash::FxHashSet;

/// The name of the file.
pub const NAME: &str = "cssame/string.c";

/// Its text.
pub const TEXT: &str = include_str!("string.c");

/// The functions that it defines.
const DEFINED: &str = "strlen strnlen strcmp strncmp strcpy stpcpy strncpy strcat strncat strchr strrchr strstr \
    strdup strndup memcmp bcmp isdigit islower isupper isalpha isalnum isspace isprint isxdigit isblank iscntrl isgraph \
    ispunct tolower toupper strtol atol atoll atoi strerror";

/// Whether a function is defined there.
#[must_use]
pub fn defines(name: &str) -> bool {
    DEFINED.split_ascii_whitespace().any(|known| known == name)
}

/// Whether a text names such a function: one that is no header of ours.
#[must_use]
pub fn is_named_in(text: &str) -> bool {
    let is_header = || crate::headers::names().any(|name| crate::headers::text(name) == Some(text));
    DEFINED.split_ascii_whitespace().any(|name| text.contains(name)) && !is_header()
}

/// Whether some unit calls a function that is defined there and in none of them.
#[must_use]
pub fn is_used<'u>(units: impl IntoIterator<Item = &'u Unit> + Clone) -> bool {
    let declared = units.clone().into_iter().flat_map(|unit| unit.declarations.iter());
    let defined = declared.filter(|decl| decl.definition == Definition::Defined && decl.linkage == Linkage::External);
    let defined: FxHashSet<&str> = defined.filter_map(|decl| decl.name.as_deref()).collect();
    units.into_iter().any(|unit| {
        unit.expressions.iter().any(|expr| {
            let ExprKind::Name(decl) = expr.kind else { return false };
            let name = unit.declarations[decl].name.as_deref().unwrap_or_default();
            unit.declarations[decl].body.is_none() && defines(name) && !defined.contains(name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{DEFINED, TEXT};

    #[test]
    fn the_list_is_that_of_the_text() {
        let mut defined: Vec<&str> = Vec::new();
        for line in TEXT.lines().filter(|line| line.starts_with("WEAK ")) {
            let head = line.split('(').next().unwrap_or_default();
            defined.push(head.rsplit([' ', '*']).next().unwrap_or_default());
        }
        assert_eq!(defined, DEFINED.split_ascii_whitespace().collect::<Vec<_>>());
    }
}
