//! Diagnostics together with the text to which they refer: the reason why a library call has no answer.

use super::json::{DiagnosticData, diagnostic_data};
use super::{Code, Diagnostic, Severity, terminal};
use cssame_source::SourceMap;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::fmt;

/// Diagnostics that say why there is no answer. They serialise to an object with the one key `diagnostics`, and are shown
/// as on a terminal without colour.
#[derive(Clone)]
pub struct Diagnostics {
    /// The files that the diagnostics point into.
    pub sources: SourceMap,
    /// At least one, sorted.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Diagnostics that point into files.
    #[must_use]
    pub fn new(sources: SourceMap, list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { sources, list }
    }

    /// One diagnostic without a place.
    #[must_use]
    pub fn general(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics { sources: SourceMap::default(), list: vec![diagnostic] }
    }

    /// An error without a place that one sentence explains.
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostics {
        Diagnostics::general(Diagnostic::general(code, Severity::Error, message))
    }
}

impl Serialize for Diagnostics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data: Vec<DiagnosticData> = self.list.iter().map(|each| diagnostic_data(&self.sources, each)).collect();
        let mut object = serializer.serialize_struct("Diagnostics", 1)?;
        object.serialize_field("diagnostics", &data)?;
        object.end()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&terminal::render_all(&self.sources, &self.list, terminal::Screen::default()))
    }
}

/// As on a terminal: what `expect` shows of it has to be read by people.
impl fmt::Debug for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\n{self}")
    }
}

impl std::error::Error for Diagnostics {}
