//! Names and keywords that are possible at a position.
//!
//! **Limits**: all names of the document are offered at every cursor position. They are the names of the last text that compiled.

use super::document::Document;
use super::names::NameKind;
use super::protocol::{CompletionItem, CompletionItemKind};
use std::collections::BTreeSet;

/// What may be completed in a document.
pub(super) fn completions(document: &Document) -> Vec<CompletionItem> {
    let item = |label: &str, kind| CompletionItem { label: label.to_owned(), kind };
    let names = document.names.iter().map(|(name, kind)| {
        let kind = match kind {
            NameKind::Variable => CompletionItemKind::VARIABLE,
            NameKind::Function => CompletionItemKind::FUNCTION,
            NameKind::Class => CompletionItemKind::CLASS,
        };
        item(name, kind)
    });
    let words: BTreeSet<&str> = cssame_front::csm::words().collect();
    let words = words.into_iter().map(|word| item(word, CompletionItemKind::KEYWORD));
    names.chain(words).collect()
}
