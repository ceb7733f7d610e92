//! The names of the protocol messages that the server knows; each constant has the name of its message.

pub(super) const CODE_ACTION: &str = "textDocument/codeAction";
pub(super) const CODE_LENS: &str = "textDocument/codeLens";
pub(super) const CODE_LENS_REFRESH: &str = "workspace/codeLens/refresh";
pub(super) const COMPLETION: &str = "textDocument/completion";
pub(super) const DEFINITION: &str = "textDocument/definition";
pub(super) const DID_CHANGE: &str = "textDocument/didChange";
pub(super) const DID_CHANGE_WATCHED_FILES: &str = "workspace/didChangeWatchedFiles";
pub(super) const DID_CLOSE: &str = "textDocument/didClose";
pub(super) const DID_OPEN: &str = "textDocument/didOpen";
pub(super) const DOCUMENT_HIGHLIGHT: &str = "textDocument/documentHighlight";
pub(super) const DOCUMENT_SYMBOL: &str = "textDocument/documentSymbol";
pub(super) const FOLDING_RANGE: &str = "textDocument/foldingRange";
pub(super) const FORMATTING: &str = "textDocument/formatting";
pub(super) const HOVER: &str = "textDocument/hover";
pub(super) const INLAY_HINT: &str = "textDocument/inlayHint";
pub(super) const INLAY_HINT_REFRESH: &str = "workspace/inlayHint/refresh";
pub(super) const PREPARE_RENAME: &str = "textDocument/prepareRename";
pub(super) const PUBLISH_DIAGNOSTICS: &str = "textDocument/publishDiagnostics";
pub(super) const REFERENCES: &str = "textDocument/references";
pub(super) const REGISTER_CAPABILITY: &str = "client/registerCapability";
pub(super) const RENAME: &str = "textDocument/rename";
pub(super) const SEMANTIC_TOKENS_FULL: &str = "textDocument/semanticTokens/full";
