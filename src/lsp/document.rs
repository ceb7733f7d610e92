//! A document that is open in the editor.
//!
//! **Input**: the text of a client, and its changes. **Output**: the current text, with the knowledge about it.

use super::analysis::{Analysis, analyse};
use super::explorer::Explored;
use super::names::{NameKind, names};
use super::protocol::{Position, Range, TextDocumentContentChangeEvent, TextEdit, WorkspaceEdit};
use super::text::Encoding;
use super::uri::Uri;
use super::{Environment, analysis::CompiledText};
use cssame_source::{SourceFile, Span};
use std::collections::BTreeMap;

/// A document.
pub(super) struct Document {
    /// How the client calls it.
    pub(super) uri: Uri,
    /// How the tool calls it: its path, if it has one.
    pub(super) name: String,
    /// The version of the client.
    pub(super) version: i32,
    /// What the static passes say of it.
    pub(super) analysis: Analysis,
    /// What executions have shown of this version.
    pub(super) explored: Option<Explored>,
    /// The names that could be completed when it compiled last.
    pub(super) names: Vec<(String, NameKind)>,
}

impl Document {
    /// A document that was opened.
    pub(super) fn new(uri: Uri, version: i32, text: &str, environment: &Environment) -> Document {
        let name = uri.to_file_path().unwrap_or_else(|| uri.as_str().to_owned());
        let analysis = analyse(&name, text, environment);
        let mut document = Document { uri, name, version, analysis, explored: None, names: Vec::new() };
        document.note_names();
        document
    }

    /// Takes another text.
    pub(super) fn set(&mut self, version: i32, text: &str, environment: &Environment) {
        self.version = version;
        self.analysis = analyse(&self.name, text, environment);
        self.explored = None;
        self.note_names();
    }

    fn note_names(&mut self) {
        if let Some(compiled) = &self.analysis.compiled {
            self.names = names(compiled.program());
        }
    }

    /// The text with changes, each of which is made to what the one before has left.
    pub(super) fn changed(&self, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) -> String {
        let mut text = self.text().to_owned();
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::WholeDocument { text: whole } => text = whole,
                TextDocumentContentChangeEvent::Partial { range, text: part } => {
                    let file = SourceFile::new("", &text);
                    let start = encoding.offset(&file, range.start) as usize;
                    let end = encoding.offset(&file, range.end) as usize;
                    text.replace_range(start..end.max(start), &part);
                }
            }
        }
        text
    }

    /// The text.
    pub(super) fn text(&self) -> &str {
        self.analysis.source().text()
    }

    /// The program, if it compiles.
    pub(super) fn compiled(&self) -> Option<&CompiledText> {
        self.analysis.compiled.as_ref()
    }

    /// The byte at a position.
    pub(super) fn offset(&self, encoding: Encoding, position: Position) -> u32 {
        encoding.offset(self.analysis.source(), position)
    }

    /// The range of a place, in its file.
    pub(super) fn range(&self, encoding: Encoding, span: Span) -> Range {
        encoding.range(self.analysis.sources.file(span.file), span)
    }

    /// The document, or the file that it includes, in which a place lies.
    pub(super) fn uri_of(&self, span: Span) -> Uri {
        if self.analysis.is_own(span) {
            return self.uri.clone();
        }
        Uri::of_file(self.analysis.sources.file(span.file).name()).unwrap_or_else(|| self.uri.clone())
    }

    /// Changes of this document.
    pub(super) fn edit(&self, edits: Vec<TextEdit>) -> WorkspaceEdit {
        WorkspaceEdit { changes: BTreeMap::from([(self.uri.clone(), edits)]) }
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, span: Span) -> u32 {
        self.analysis.sources.line(span)
    }
}
