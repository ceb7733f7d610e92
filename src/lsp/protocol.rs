//! The part of the Language Server Protocol 3.17 that the server uses, in the form of its JSON.
//!
//! **Input**: parameters of a client. **Output**: parameters and results of the server.
//!
//! Types and fields have the names of the protocol; its fields are in camel case. Only fields that the server reads or writes are
//! present: other fields of a client are ignored, and empty fields are not written.
//!
//! **Limits**: the capabilities of a client are kept unparsed, so that an error in an unused part does no harm.

use super::uri::Uri;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A place between two characters; both are counted from 0, characters in units of the encoding ([`super::text`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) character: u32,
}

/// From a position up to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

/// A range of a document.
#[derive(Serialize)]
pub(super) struct Location {
    pub(super) uri: Uri,
    pub(super) range: Range,
}

/// Another text for a range.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextEdit {
    pub(super) range: Range,
    pub(super) new_text: String,
}

/// Changes of documents.
#[derive(Serialize)]
pub(super) struct WorkspaceEdit {
    pub(super) changes: BTreeMap<Uri, Vec<TextEdit>>,
}

// What a client sends.

/// The parameters of `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    /// A `ClientCapabilities`.
    pub(super) capabilities: Value,
    /// docs/lsp.md has the keys.
    pub(super) initialization_options: Option<Value>,
}

/// A document that is opened.
#[derive(Deserialize)]
pub(super) struct TextDocumentItem {
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) text: String,
}

/// A document that is open.
#[derive(Deserialize)]
pub(super) struct TextDocumentIdentifier {
    pub(super) uri: Uri,
}

/// A document that is open, and the version that a change leads to.
#[derive(Deserialize)]
pub(super) struct VersionedTextDocumentIdentifier {
    pub(super) uri: Uri,
    pub(super) version: i32,
}

/// The parameters of `textDocument/didOpen`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidOpenTextDocumentParams {
    pub(super) text_document: TextDocumentItem,
}

/// The parameters of `textDocument/didChange`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidChangeTextDocumentParams {
    pub(super) text_document: VersionedTextDocumentIdentifier,
    pub(super) content_changes: Vec<TextDocumentContentChangeEvent>,
}

/// A change of a text.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum TextDocumentContentChangeEvent {
    /// Another text for a range.
    Partial { range: Range, text: String },
    /// Another text for all of the document.
    WholeDocument { text: String },
}

/// The parameters of `textDocument/didClose`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidCloseTextDocumentParams {
    pub(super) text_document: TextDocumentIdentifier,
}

/// What the parameters of all requests about a position have.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextDocumentPositionParams {
    pub(super) text_document: TextDocumentIdentifier,
    pub(super) position: Position,
}

/// What the parameters of `textDocument/references` have besides the position.
#[derive(Deserialize)]
pub(super) struct ReferenceParams {
    pub(super) context: ReferenceContext,
}

/// Which references are meant.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceContext {
    pub(super) include_declaration: bool,
}

/// What the parameters of `textDocument/rename` have besides the position.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RenameParams {
    pub(super) new_name: String,
}

// What the server sends.

/// The parameters of `textDocument/publishDiagnostics`.
#[derive(Serialize)]
pub(super) struct PublishDiagnosticsParams {
    pub(super) uri: Uri,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// What is said of a range.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnostic {
    pub(super) range: Range,
    pub(super) severity: DiagnosticSeverity,
    pub(super) code: &'static str,
    pub(super) source: &'static str,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_information: Vec<DiagnosticRelatedInformation>,
}

/// How bad it is.
#[derive(Serialize)]
pub(super) struct DiagnosticSeverity(u32);

impl DiagnosticSeverity {
    pub(super) const ERROR: Self = Self(1);
    pub(super) const WARNING: Self = Self(2);
    pub(super) const INFORMATION: Self = Self(3);
}

/// Another place that a diagnostic is about.
#[derive(Serialize)]
pub(super) struct DiagnosticRelatedInformation {
    pub(super) location: Location,
    pub(super) message: String,
}

/// The result of `textDocument/hover`.
#[derive(Serialize)]
pub(super) struct Hover {
    pub(super) contents: MarkupContent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) range: Option<Range>,
}

/// A text, and how it is written.
#[derive(Serialize)]
pub(super) struct MarkupContent {
    pub(super) kind: MarkupKind,
    pub(super) value: String,
}

/// How a text is written.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MarkupKind {
    Markdown,
}

/// A place of the name under the cursor.
#[derive(Serialize)]
pub(super) struct DocumentHighlight {
    pub(super) range: Range,
}

/// A word that may be written.
#[derive(Serialize)]
pub(super) struct CompletionItem {
    pub(super) label: String,
    pub(super) kind: CompletionItemKind,
}

/// What the word stands for.
#[derive(Serialize)]
pub(super) struct CompletionItemKind(u32);

impl CompletionItemKind {
    pub(super) const FUNCTION: Self = Self(3);
    pub(super) const VARIABLE: Self = Self(6);
    pub(super) const CLASS: Self = Self(7);
    pub(super) const KEYWORD: Self = Self(14);
}

/// A text that an editor shows in a line of the document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlayHint {
    pub(super) position: Position,
    pub(super) label: String,
    pub(super) tooltip: &'static str,
    pub(super) padding_left: bool,
    pub(super) padding_right: bool,
}

/// A command that an editor offers at a range.
#[derive(Serialize)]
pub(super) struct CodeLens {
    pub(super) range: Range,
    pub(super) command: Command,
}

/// A command of the client.
#[derive(Serialize)]
pub(super) struct Command {
    pub(super) title: String,
    pub(super) tooltip: String,
    pub(super) command: String,
    pub(super) arguments: Vec<Value>,
}

/// A change that an editor offers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeAction {
    pub(super) title: String,
    pub(super) kind: CodeActionKind,
    pub(super) diagnostics: Vec<Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_preferred: Option<bool>,
    pub(super) edit: WorkspaceEdit,
}

/// What a change is for.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CodeActionKind {
    QuickFix,
}

/// An entry of the outline.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentSymbol {
    pub(super) name: String,
    pub(super) kind: SymbolKind,
    pub(super) range: Range,
    pub(super) selection_range: Range,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<DocumentSymbol>,
}

/// What an entry stands for.
#[derive(Serialize)]
pub(super) struct SymbolKind(u32);

impl SymbolKind {
    pub(super) const CLASS: Self = Self(5);
    pub(super) const METHOD: Self = Self(6);
    pub(super) const FUNCTION: Self = Self(12);
    pub(super) const VARIABLE: Self = Self(13);
    pub(super) const ARRAY: Self = Self(18);
    pub(super) const OBJECT: Self = Self(19);
    pub(super) const STRUCT: Self = Self(23);
    pub(super) const EVENT: Self = Self(24);
}

/// Lines that can be folded.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FoldingRange {
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) kind: FoldingRangeKind,
}

/// What the lines hold.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FoldingRangeKind {
    Comment,
    Region,
}

/// The result of `textDocument/semanticTokens/full`.
#[derive(Serialize)]
pub(super) struct SemanticTokens {
    /// Five numbers of each token: lines and characters from the one before, length, type, modifiers.
    pub(super) data: Vec<u32>,
}
