//! The results of the static passes for a document.
//!
//! **Input**: the name and the text of a document. **Output**: [`Analysis`]: the findings that are not suppressed, and, if the
//! document compiles, the program with its pi functions.

use super::Environment;
use cssame_answer::{CheckInput, Findings, PiReport, check, judge, pi};
use cssame_diagnostics::{Diagnostic, Diagnostics};
use cssame_ir::{Program, SymbolId};
use cssame_model::Unit;
use cssame_source::{FileId, SourceFile, SourceMap, Span};

/// What is known of a text.
pub(super) struct Analysis {
    /// Holds the file, and those that it includes.
    pub(super) sources: SourceMap,
    /// The file.
    pub(super) file: FileId,
    /// The findings that are shown.
    pub(super) found: Vec<Diagnostic>,
    /// The program, if it compiles.
    pub(super) compiled: Option<CompiledText>,
}

/// A text that compiles.
pub(super) struct CompiledText {
    /// The program.
    pub(super) unit: Unit,
    /// Its pi functions.
    pub(super) pi: PiReport,
}

/// Runs the static passes.
pub(super) fn analyse(name: &str, text: &str, environment: &Environment) -> Analysis {
    let (sources, file) = (environment.read)(name, text);
    let input = CheckInput { sources: sources.clone(), files: vec![(name.to_owned(), Ok(file))] };
    let report = check(input, &[], 1, None);
    let found = shown(&report.findings(), environment);
    let unit = if report.compiles { Unit::from_sources(sources.clone(), file, &[]).ok() } else { None };
    let compiled = unit.map(|unit| CompiledText { pi: pi(&unit), unit });
    Analysis { sources, file, found, compiled }
}

/// The findings that nothing suppresses, with the severities that they have in the end.
pub(super) fn shown(findings: &Findings<'_>, environment: &Environment) -> Vec<Diagnostic> {
    let lints = (environment.lints)(findings);
    let broken: Vec<Diagnostic> = lints.as_ref().err().map(unplaced).unwrap_or_default();
    let judged = judge(findings, &lints.unwrap_or_default());
    let kept = findings.list.iter().zip(&judged.severities);
    let kept = kept.filter_map(|(of, severity)| Some(Diagnostic { severity: (*severity)?, ..of.diagnostic.clone() }));
    let problems = judged.problems.iter().flat_map(|of| of.list.iter().cloned());
    broken.into_iter().chain(kept).chain(problems).collect()
}

/// What is wrong with a configuration is said at the top of the document; its own places lie in another file.
fn unplaced(problems: &Diagnostics) -> Vec<Diagnostic> {
    let whole = |of: &Diagnostic| Diagnostic { primary: None, secondary: Vec::new(), ..of.clone() };
    problems.list.iter().map(whole).collect()
}

impl Analysis {
    /// Whether a place lies in the document, and not in a file that it includes.
    pub(super) fn is_own(&self, span: Span) -> bool {
        span.file == self.file
    }

    /// The text, with its lines.
    pub(super) fn source(&self) -> &SourceFile {
        self.sources.file(self.file)
    }
}

impl CompiledText {
    /// The program.
    pub(super) fn program(&self) -> &Program {
        &self.unit.program
    }

    /// The places that read or write a variable in memory, and where it is declared; each once, by place.
    pub(super) fn places_of(&self, symbol: SymbolId) -> Vec<Span> {
        let program = self.program();
        let reads = program.reads.iter().map(|read| (read.symbol, read.span));
        let writes = program.definitions.iter().map(|write| (write.symbol, write.span));
        let declared = [(symbol, program.symbols[symbol].span)];
        let mut places: Vec<Span> =
            reads.chain(writes).chain(declared).filter(|(of, _)| *of == symbol).map(|(_, span)| span).collect();
        places.sort();
        places.dedup();
        places
    }

    /// The variable that is read, written or declared at an offset.
    pub(super) fn symbol_at(&self, offset: u32) -> Option<SymbolId> {
        let program = self.program();
        let reads = program.reads.iter().map(|read| (read.symbol, read.span));
        let writes = program.definitions.iter().map(|write| (write.symbol, write.span));
        let declared = program.symbols.entries().map(|(id, symbol)| (id, symbol.span));
        reads.chain(writes).chain(declared).find(|(_, span)| self.covers(*span, offset)).map(|(symbol, _)| symbol)
    }

    /// Whether a place lies in the document, and holds an offset.
    pub(super) fn covers(&self, span: Span, offset: u32) -> bool {
        span.file == self.unit.file && covers(span, offset)
    }
}

/// Whether a place holds an offset, or ends there, as the cursor behind a word does.
pub(super) fn covers(span: Span, offset: u32) -> bool {
    span.start < span.end && span.start <= offset && offset <= span.end
}
