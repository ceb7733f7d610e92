//! The literals of a text, without parsing it.
//!
//! In: the text of a file. Out: its numbers and strings in the form of a program, each once, in their order. Text that is no
//! token is skipped.

use super::lexer::Token;
use logos::Logos;

/// The literals of a text, by type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Literals {
    /// `int` and `long`; negative ones stand without their sign.
    pub integers: Vec<i64>,
    /// `double`.
    pub doubles: Vec<f64>,
    /// Strings with their quotes.
    pub texts: Vec<String>,
}

/// Collects the literals of a text.
#[must_use]
pub fn literals(text: &str) -> Literals {
    let mut found = Literals::default();
    for token in Token::lexer(text).flatten() {
        match token {
            Token::Integer(literal) if literal.value >= 0 && !found.integers.contains(&literal.value) => {
                found.integers.push(literal.value);
            }
            Token::Double(value) if !found.doubles.contains(&value) => found.doubles.push(value),
            Token::Text(text) if !found.texts.iter().any(|known| known == text) => found.texts.push(text.to_owned()),
            _ => {}
        }
        if found.integers.len() + found.doubles.len() + found.texts.len() >= MAX_LITERALS {
            break;
        }
    }
    found
}

/// So many literals are enough for anybody.
const MAX_LITERALS: usize = 64;
