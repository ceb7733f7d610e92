//! How a command ends: its exit status, or the diagnostics that say why it has no result.

use crate::diagnostics::{Code, Diagnostic, Severity};
use crate::source::SourceMap;

/// The exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 0: nothing was found.
    Clean,
    /// 1: there are findings.
    Findings,
    /// 2: bad usage, or a program that does not compile.
    Invalid,
    /// 3: a bound was hit before the question was decided, and nothing was found so far.
    Undecided,
}

impl Status {
    /// The number that the operating system gets.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Status::Clean => 0,
            Status::Findings => 1,
            Status::Invalid => 2,
            Status::Undecided => 3,
        }
    }

    /// The status of a search: findings weigh more than a bound that was hit.
    #[must_use]
    pub fn of_search(found: bool, complete: bool) -> Status {
        match (found, complete) {
            (true, _) => Status::Findings,
            (false, true) => Status::Clean,
            (false, false) => Status::Undecided,
        }
    }
}

/// Why a command has no result; the exit status is then 2.
#[derive(Debug)]
pub struct Failure {
    /// The files that the diagnostics point into.
    pub sources: SourceMap,
    /// At least one, sorted.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// A failure that points into files.
    #[must_use]
    pub fn new(sources: SourceMap, diagnostics: Vec<Diagnostic>) -> Failure {
        Failure { sources, diagnostics }
    }

    /// A failure that one diagnostic without a place explains.
    #[must_use]
    pub fn general(diagnostic: Diagnostic) -> Failure {
        Failure { sources: SourceMap::default(), diagnostics: vec![diagnostic] }
    }

    /// A failure that one sentence explains.
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>) -> Failure {
        Failure::general(Diagnostic::general(code, Severity::Error, message))
    }
}
