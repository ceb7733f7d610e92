//! A source file that compiles: its text and its parallel flow graph.

use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_front::c::add_library;
use cssame_front::{Compiled, Language, add_bytes, compile};
use cssame_ir::Program;
use cssame_source::{FileId, SourceFile, SourceMap};

/// A source file that compiles, with or without a `main`.
#[derive(Debug)]
pub struct Unit {
    /// Holds the file, and those that it includes.
    pub sources: SourceMap,
    /// The file.
    pub file: FileId,
    /// The program.
    pub program: Program,
}

impl Unit {
    /// Compiles a text. `inputs` are the values of `input` constants, by name.
    ///
    /// # Errors
    ///
    /// All errors of the text.
    pub fn from_text(name: &str, text: &str, inputs: &[(String, String)]) -> Result<Unit, Diagnostics> {
        let mut sources = SourceMap::default();
        let file = sources.add(name, text);
        Unit::from_sources(sources, file, inputs)
    }

    /// As [`Unit::from_text`], from the bytes of a file.
    ///
    /// # Errors
    ///
    /// The bytes are no text or too many, or the text has errors.
    pub fn from_bytes(name: &str, bytes: &[u8], inputs: &[(String, String)]) -> Result<Unit, Diagnostics> {
        let mut sources = SourceMap::default();
        match add_bytes(&mut sources, name, bytes) {
            Ok(file) => Unit::from_sources(sources, file, inputs),
            Err(diagnostic) => Err(Diagnostics::new(sources, vec![diagnostic])),
        }
    }

    /// The same for a file that was read before; what it includes stands beside it.
    ///
    /// # Errors
    ///
    /// All errors of the file.
    pub fn from_sources(
        mut sources: SourceMap,
        file: FileId,
        inputs: &[(String, String)],
    ) -> Result<Unit, Diagnostics> {
        if Language::of(&sources, file) == Language::C {
            add_library(&mut sources, file, inputs);
        }
        let Compiled { program, diagnostics } = compile(&sources, file, inputs);
        match program {
            Some(program) => Ok(Unit { sources, file, program }),
            None => Err(Diagnostics::new(sources, diagnostics)),
        }
    }

    /// The same, if it has a `main`.
    ///
    /// # Errors
    ///
    /// It has none.
    pub fn with_main(self) -> Result<Unit, NoMain> {
        if self.program.main.is_some() { Ok(self) } else { Err(NoMain(self)) }
    }

    /// The name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        self.source().name()
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        self.source().text()
    }

    fn source(&self) -> &SourceFile {
        self.sources.file(self.file)
    }
}

/// A program without `main`, where one is needed.
#[derive(Debug)]
pub struct NoMain(pub Unit);

impl From<NoMain> for Diagnostics {
    fn from(NoMain(unit): NoMain) -> Diagnostics {
        let message = format!("`{}` has no main to run", unit.name());
        let mut diagnostic = Diagnostic::general(Code::NoMain, Severity::Error, message)
            .with_help("add a function `main`, or statements at top level");
        if !unit.program.classes.is_empty() {
            let help = "these commands accept a file of classes: `cssame correlate FILE`, `cssame races FILE`, \
                        `cssame coverage FILE` and `cssame drive FILE --pairs --out DIR`";
            diagnostic = diagnostic.with_help(help);
        }
        Diagnostics::new(unit.sources, vec![diagnostic])
    }
}
