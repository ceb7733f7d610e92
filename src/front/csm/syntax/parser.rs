//! Parses source text to a syntax tree.
//!
//! In: a file of a [`SourceMap`]. Out: its [`Program`] and the diagnostics. Algorithm: an LR(1) parser, which `lalrpop` generates
//! from `grammar/cssame.lalrpop`, reads [`TokenStream`]. After an error it continues with the next statement, member or item, so
//! that one run shows all errors of a file. A program with an error still contains everything that could be parsed. Names are not
//! resolved here.

use super::ast::Program;
use super::builder::Builder;
use super::grammar::ProgramParser;
use super::problem::Problems;
use super::report;
use super::tokens::TokenStream;
use crate::Language;
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::{FileId, SourceMap, Span};

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree, with error nodes where something could not be parsed.
    pub program: Program,
    /// In the order of their places; empty for a program without syntax errors.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a file of `sources`.
#[must_use]
pub fn parse(sources: &SourceMap, file: FileId) -> Parsed {
    let source = sources.file(file);
    if Language::of(sources, file) == Language::C {
        // Nothing of it is of this language: no declarations, no names, no methods.
        return Parsed { program: Program::default(), diagnostics: Vec::new() };
    }
    let problems = Problems::default();
    let mut builder = Builder::new(file, &problems);
    let mut tokens = TokenStream::new(source.text(), &problems);
    let program = match ProgramParser::new().parse(&mut builder, &mut tokens) {
        Ok(program) => program,
        Err(error) => {
            builder.unexpected(error);
            Program::default()
        }
    };
    let mut diagnostics = report::diagnostics(source, file, problems);
    if program.items.is_empty() && diagnostics.is_empty() {
        let span = Span::new(file, 0, 0);
        diagnostics.push(
            Diagnostic::error(Code::EmptyProgram, span, "the file holds no program", "no declaration and no statement")
                .with_help("write at least one declaration or statement"),
        );
    }
    Parsed { program, diagnostics }
}
