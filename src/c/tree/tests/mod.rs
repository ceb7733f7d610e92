//! Small texts, one for each kind of node, and texts that are none.

mod garbage;
mod headers;
mod initialisers;
mod layouts;
mod nodes;
mod places;

use super::print::print;
use super::{DataModel, MemoryFiles, Options, Reading, Unit, add_bytes, read};
use cssame_source::{FileId, SourceMap};

/// Reads a text as `main.c` beside these files.
fn reading(text: &str, files: &MemoryFiles, options: &Options) -> (SourceMap, FileId, Reading) {
    let mut sources = SourceMap::default();
    let main = add_bytes(&mut sources, "main.c", text.as_bytes());
    let reading = read(&mut sources, main, files, options);
    (sources, main, reading)
}

/// The tree of a text that is C, with its source.
fn unit(text: &str) -> (SourceMap, Unit) {
    let (sources, _, reading) = reading(text, &MemoryFiles::new(), &Options::default());
    let messages: Vec<&str> = reading.diagnostics.iter().map(|one| one.message.as_str()).collect();
    (sources, reading.unit.unwrap_or_else(|| panic!("{messages:?}\n{text}")))
}

/// What a text without includes declares, as text.
fn printed(text: &str) -> String {
    let (_, unit) = unit(text);
    print(&unit, &|_| true)
}

/// The same for 32 bits.
fn printed_32(text: &str) -> String {
    let options = Options { data_model: DataModel::Ilp32, ..Options::default() };
    let (_, _, reading) = reading(text, &MemoryFiles::new(), &options);
    print(&reading.unit.expect("it is C"), &|_| true)
}

/// The lines of the body of `void f(void) { … }` behind these declarations.
fn body(declarations: &str, statements: &str) -> Vec<String> {
    let text = printed(&format!("{declarations}\nvoid f(void) {{ {statements} }}"));
    let lines = text.split("f: void(void)\n").nth(1).unwrap_or_default().lines();
    lines.map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned()).collect()
}

/// Severity, message and the text under the place of each diagnostic.
fn messages(text: &str, files: &MemoryFiles, options: &Options) -> Vec<String> {
    let (sources, _, reading) = reading(text, files, options);
    let shown = reading.diagnostics.iter().map(|one| {
        let place = one.span().map_or("-".to_owned(), |span| {
            format!("{} {} `{}`", sources.file(span.file).name(), sources.position(span), sources.text(span))
        });
        format!("{} {place}: {}", one.code, one.message)
    });
    shown.collect()
}
