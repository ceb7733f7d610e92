//! From text to the tree, by the front end of `rucc`.
//!
//! In: a file of a source map, the files that it may include, options. Out: a [`Reading`].
//!
//! 1. `run`: preprocessor, parser and semantic analysis, on a thread with a stack for deep trees. `nesting` measures before the
//!    parser runs how deep trees can be, and refuses what would not fit.
//! 2. Between preprocessor and parser, `tokens` gives every token a range of its own, so that each node knows the tokens that
//!    it begins and ends with, and by them where it is spelled and where a macro is used.
//! 3. `copy` takes over types, expressions, statements and declarations, each arena from beginning to end: nothing recurses.
//! 4. `report` does the same with diagnostics.

mod copy;
mod nesting;
mod report;
mod run;
mod sources;
mod tokens;

use super::files::Files;
use super::options::Options;
use super::presumed::LineMarks;
use super::unit::Unit;
use cssame_diagnostics::{Code, Diagnostic, Severity, has_errors, sort};
use cssame_source::{FileId, SourceMap};

/// What [`read`] returns.
#[derive(Debug)]
pub struct Reading {
    /// The tree; `None` where a diagnostic is an error.
    pub unit: Option<Unit>,
    /// Sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// The user's files that were read: the main one first, then those that it includes, each once.
    pub files: Vec<FileId>,
    /// The headers that were not found, as they are named.
    pub missing: Vec<String>,
    /// What line markers say.
    pub lines: LineMarks,
}

/// Bytes of the stack of a reading; the system gives what is used of it.
const STACK: usize = 256 << 20;

/// Adds a file of C to a source map. A byte that is not UTF-8, as old comments have it, becomes `?`; offsets stay those of the
/// file, but for a byte-order mark in front.
pub fn add_bytes(sources: &mut SourceMap, name: &str, bytes: &[u8]) -> FileId {
    sources.add(name, &sources::text_of(bytes))
}

/// Adds the bytes of a file that is linked with another one.
pub fn add_bytes_beside(sources: &mut SourceMap, name: &str, bytes: &[u8]) -> FileId {
    sources.add_beside(name, &sources::text_of(bytes))
}

/// Reads a translation unit. Included files are added to the source map.
pub fn read(sources: &mut SourceMap, main: FileId, files: &dyn Files, options: &Options) -> Reading {
    let mut reading = Reading {
        unit: None,
        diagnostics: Vec::new(),
        files: vec![main],
        missing: Vec::new(),
        lines: LineMarks::default(),
    };
    let on_stack = std::thread::scope(|scope| {
        let reading = &mut reading;
        let work = || run::run(sources, main, files, options, reading);
        let thread = std::thread::Builder::new().name("C front end".to_owned()).stack_size(STACK);
        thread.spawn_scoped(scope, work).map(std::thread::ScopedJoinHandle::join)
    });
    let problem = match on_stack {
        Ok(Ok(())) => None,
        Ok(Err(_)) => Some("the C front end failed"),
        Err(_) => Some("no thread could be started for the C front end"),
    };
    if let Some(problem) = problem {
        let message = format!("{problem} on `{}`", sources.file(main).name());
        reading.unit = None;
        reading.diagnostics.push(Diagnostic::general(Code::Internal, Severity::Error, message));
    }
    sort(&mut reading.diagnostics);
    if has_errors(&reading.diagnostics) {
        reading.unit = None;
    }
    reading
}
