//! The reserved words, and the words that begin a declaration of a synchronisation object.
//!
//! **Output**: the words, for editors that complete them.

/// The words.
const WORDS: [&str; 44] = [
    "atomic",
    "barrier",
    "bool",
    "break",
    "case",
    "class",
    "cobegin",
    "coend",
    "cond",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "event",
    "extern",
    "fallthrough",
    "false",
    "for",
    "if",
    "in",
    "input",
    "int",
    "lock",
    "long",
    "parfor",
    "private",
    "public",
    "reentrant",
    "return",
    "rwlock",
    "sem",
    "skip",
    "spawn",
    "string",
    "switch",
    "synchronized",
    "this",
    "thread",
    "true",
    "void",
    "while",
];

/// The reserved words of the language, and those that begin a declaration of a synchronisation object.
pub fn words() -> impl Iterator<Item = &'static str> {
    WORDS.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_is_missing() {
        let lexer = include_str!("lexer.rs");
        let tokens = lexer.split("#[token(\"").skip(1).filter_map(|rest| rest.split('"').next());
        let words: Vec<&str> = tokens.filter(|token| token.chars().all(|one| one.is_ascii_lowercase())).collect();
        assert!(words.len() > 30, "{words:?}");
        let missing: Vec<&&str> = words.iter().filter(|word| !WORDS.contains(word)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
