//! Names and words that may stand at a position.
//!
//! **Limits**: all names of the document are offered wherever the cursor stands; those of the last text that compiled.

use super::document::Document;
use super::names::NameKind;
use gen_lsp_types::{CompletionItem, CompletionItemKind};
use std::collections::BTreeSet;

/// What may be completed in a document.
pub(super) fn completions(document: &Document) -> Vec<CompletionItem> {
    let item =
        |label: &str, kind| CompletionItem { label: label.to_owned(), kind: Some(kind), ..CompletionItem::default() };
    let names = document.names.iter().map(|(name, kind)| {
        let kind = match kind {
            NameKind::Variable => CompletionItemKind::Variable,
            NameKind::Function => CompletionItemKind::Function,
            NameKind::Class => CompletionItemKind::Class,
        };
        item(name, kind)
    });
    let words: BTreeSet<&str> = cssame_front::csm::words().collect();
    let words = words.into_iter().map(|word| item(word, CompletionItemKind::Keyword));
    names.chain(words).collect()
}
