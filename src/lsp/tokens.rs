//! Semantic tokens: the kind of each name, for editors that colour by it.
//!
//! **Limits**: the grammar of the editor colours words, numbers and comments. Shared variables are only known for programs that
//! compile.

use super::document::Document;
use super::protocol::SemanticTokens;
use super::rename::names_of;
use super::text::Encoding;
use cssame_form::ReadReport;
use cssame_source::Span;
use cssame_source::names::{Name, NameKind};
use std::collections::BTreeSet;

/// The kinds of tokens.
pub(super) const KINDS: [&str; 8] =
    ["class", "enum", "variable", "parameter", "property", "function", "method", "label"];

/// What else is said of a token. `shared`: some other thread may write what is read; `synchronization`: a lock and the like.
pub(super) const MODIFIERS: [&str; 4] = ["declaration", "readonly", "shared", "synchronization"];

/// The names of a document.
pub(super) fn tokens(document: &Document, encoding: Encoding) -> SemanticTokens {
    let shared = shared(document);
    let (_, found) = names_of(document.text());
    let (mut line, mut character) = (0, 0);
    let mut data = Vec::with_capacity(5 * found.names.len());
    for name in found.names {
        let range = document.range(encoding, name.span);
        let delta_line = range.start.line - line;
        let delta_start = if delta_line == 0 { range.start.character - character } else { range.start.character };
        (line, character) = (range.start.line, range.start.character);
        let length = range.end.character - range.start.character;
        let modifiers = modifiers(&name, shared.contains(&name.declared));
        data.extend([delta_line, delta_start, length, place(&KINDS, kind(name.kind)), modifiers]);
    }
    SemanticTokens { data }
}

fn kind(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Class => "class",
        NameKind::Enum => "enum",
        NameKind::Constant | NameKind::Variable | NameKind::Object => "variable",
        NameKind::Parameter => "parameter",
        NameKind::Field => "property",
        NameKind::Function => "function",
        NameKind::Method => "method",
        NameKind::Thread => "label",
    }
}

fn modifiers(name: &Name, is_shared: bool) -> u32 {
    let all = [
        (name.span == name.declared, "declaration"),
        (name.kind == NameKind::Constant, "readonly"),
        (is_shared, "shared"),
        (name.kind == NameKind::Object, "synchronization"),
    ];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| 1 << place(&MODIFIERS, word)).sum()
}

fn place(words: &[&str], word: &str) -> u32 {
    words.iter().position(|one| *one == word).unwrap_or_default() as u32
}

/// Declarations of variables and fields of which some read may see a write of another thread.
fn shared(document: &Document) -> BTreeSet<Span> {
    let Some(compiled) = document.compiled() else { return BTreeSet::new() };
    let program = compiled.program();
    let reads = compiled.pi.pis.iter().chain(&compiled.pi.single);
    let is_shared = |read: &&ReadReport| read.terms.iter().any(|term| !term.is_initial && term.thread != read.thread);
    let seen: BTreeSet<Span> = reads.filter(is_shared).map(|read| read.span).collect();
    let symbols = program.reads.iter().filter(|read| seen.contains(&read.span)).map(|read| read.symbol);
    symbols.map(|symbol| program.symbols[symbol].span).collect()
}
