//! The outline of a document, and its runnable parts: symbols and code lenses.

use super::document::Document;
use super::protocol::{CodeLens, Command, DocumentSymbol, SymbolKind};
use super::text::Encoding;
use cssame_front::{Scope, scopes};
use cssame_ir::{FunctionKind, LeafKind, Storage, Type};
use cssame_source::Span;
use serde_json::json;

/// Classes, functions, threads and variables, those within another one below it.
pub(super) fn symbols(document: &Document, encoding: Encoding) -> Vec<DocumentSymbol> {
    let analysis = &document.analysis;
    let mut all: Vec<(Span, DocumentSymbol)> = Vec::new();
    let mut add = |name: &str, kind, around: Span, name_span: Span| {
        let last = name.rsplit('.').next().unwrap_or(name).to_owned();
        all.push((around, symbol(document, encoding, last, kind, (around, name_span))));
    };
    for Scope { name, name_span, span } in scopes(&analysis.sources, analysis.file) {
        add(&name, if name.contains('.') { SymbolKind::METHOD } else { SymbolKind::FUNCTION }, span, name_span);
    }
    if let Some(compiled) = document.compiled() {
        let program = compiled.program();
        for function in program.functions.iter().filter(|of| of.kind == FunctionKind::Arm) {
            add(program.texts.get(function.name), SymbolKind::EVENT, function.span, function.span);
        }
        let globals = program.variables.iter().filter(|of| of.storage == Storage::Global && analysis.is_own(of.span));
        for variable in globals {
            let kind = match variable.ty {
                Type::Single(LeafKind::Data(_)) => SymbolKind::VARIABLE,
                Type::Single(_) => SymbolKind::OBJECT,
                Type::Array(_) => SymbolKind::ARRAY,
                Type::Class(_) => SymbolKind::STRUCT,
            };
            add(program.texts.get(variable.name), kind, variable.span, variable.span);
        }
        for class in program.classes.iter() {
            for one in all.iter_mut().filter(|(_, one)| one.selection_range == document.range(encoding, class.span)) {
                one.1.kind = SymbolKind::CLASS;
            }
        }
    }
    nested(all)
}

fn symbol(
    document: &Document,
    encoding: Encoding,
    name: String,
    kind: SymbolKind,
    (around, name_span): (Span, Span),
) -> DocumentSymbol {
    DocumentSymbol {
        // The protocol allows no empty name; a function with top-level statements has none in the text.
        name: if name.is_empty() { "main".to_owned() } else { name },
        kind,
        range: document.range(encoding, around),
        selection_range: document.range(encoding, name_span),
        children: Vec::new(),
    }
}

/// Those within another one below it.
fn nested(mut all: Vec<(Span, DocumentSymbol)>) -> Vec<DocumentSymbol> {
    all.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let mut open: Vec<(Span, DocumentSymbol)> = Vec::new();
    let mut top = Vec::new();
    let mut close = |open: &mut Vec<(Span, DocumentSymbol)>| {
        if let Some((_, done)) = open.pop() {
            match open.last_mut() {
                Some((_, parent)) => parent.children.push(done),
                None => top.push(done),
            }
        }
    };
    for (span, symbol) in all {
        while open.last().is_some_and(|(around, _)| around.end < span.end || around.start == around.end) {
            close(&mut open);
        }
        open.push((span, symbol));
    }
    while !open.is_empty() {
        close(&mut open);
    }
    top
}

/// What can be run of a program, at its `main`; and at each finding of executions, one that shows it.
pub(super) fn lenses(document: &Document, encoding: Encoding) -> Vec<CodeLens> {
    let Some(compiled) = document.compiled() else { return Vec::new() };
    let program = compiled.program();
    let file = &document.name;
    let (span, commands): (Span, &[&str]) = match program.main {
        Some(main) if document.analysis.is_own(program.functions[main].span) => {
            (program.functions[main].span, &["run", "futures", "races", "paths", "coverage"])
        }
        Some(_) | None => (Span::new(document.analysis.file, 0, 0), &["races", "correlate", "coverage"]),
    };
    let lens = |span, title: String, command: &str, argument| {
        let command = Command {
            tooltip: format!("cssame {title} {file}"),
            title,
            command: command.to_owned(),
            arguments: vec![argument],
        };
        CodeLens { range: document.range(encoding, span), command }
    };
    let runs = commands.iter().map(|word| lens(span, (*word).to_owned(), "cssame.run", json!([word, file])));
    let executions = document.explored.iter().flat_map(|explored| &explored.executions);
    let executions = executions.filter(|of| document.analysis.is_own(of.span));
    let shows = executions.map(|of| {
        let argument = json!({ "file": file, "text": of.schedule });
        lens(of.span, format!("show an execution of {}", of.code.number()), "cssame.trace", argument)
    });
    runs.chain(shows).collect()
}
