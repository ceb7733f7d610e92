//! Converts source text to a syntax tree, and back.
//!
//! In: the text of a file. Out: [`parse`] returns an [`ast::Program`] and all syntax errors; [`print()`] returns the text of a
//! program. The parts in the order of their work: `lexer` makes tokens, `tokens` balances brackets, the generated `grammar`
//! parses, `builder` builds the tree and checks its height, `report` formulates the errors.

pub mod ast;

mod advice;
mod builder;
mod expected;
pub(crate) mod lexer;
mod limits;
mod literals;
mod parser;
mod printer;
mod problem;
mod report;
mod tokens;
mod words;

lalrpop_util::lalrpop_mod!(
    #[allow(
        clippy::all,
        clippy::pedantic,
        clippy::unwrap_used,
        unused,
        missing_docs,
        rust_2018_idioms,
        reason = "generated code"
    )]
    grammar,
    "/cssame.rs"
);

pub(crate) use advice::{of_word, type_meant};
pub(crate) use limits::MAX_PROBLEMS;
pub use literals::{Literals, literals};
pub use parser::{Parsed, parse};
pub use printer::{print, print_expression, print_statement, print_with_lone_heads};
pub use words::words;
