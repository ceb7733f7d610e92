//! Names in generated Rust, and text in its comments.
//!
//! In: names of the program. Out: identifiers that Rust accepts.

use crate::names;

/// Words that are no identifiers in Rust, and names that the generated code needs itself.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "block", "body", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "format", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct",
    "super", "t", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "vec", "virtual", "where",
    "while", "yield",
];

/// An identifier in the style of Rust's variables and functions.
pub(super) fn identifier(text: &str) -> String {
    let mut name = names::identifier(text);
    if RESERVED.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// Text of the program or a name of a file in a comment: Rust takes no control characters there, nor such as change the
/// direction of text.
pub(super) fn comment(text: &str) -> String {
    let plain = |each: char| matches!(each, '"' | '\'' | '\\' | '\t');
    let mut shown = String::with_capacity(text.len());
    for each in text.chars() {
        if plain(each) {
            shown.push(each);
        } else {
            shown.extend(each.escape_debug());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_none_of_the_words_of_rust() {
        assert_eq!(identifier("match"), "match_");
        assert_eq!(identifier("t"), "t_");
        assert_eq!(identifier("_"), "_v");
    }

    #[test]
    fn comments_are_one_line_that_reads_from_left_to_right() {
        assert_eq!(comment("a\r\n\u{202e}b \"ü\"\t\\"), "a\\r\\n\\u{202e}b \"ü\"\t\\");
    }
}
