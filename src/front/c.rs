//! Programs in C: from a file, those that it includes, and settings, to the parallel flow graph.
//!
//! **Input**: a file in C; what it includes stands in the same source map ([`add_includes`]). The settings of a C compiler, and what
//! the text leaves open, come as inputs whose names begin with `-`: so all that knows inputs (schedules, tests, `serve`) knows them,
//! too. **Output**: the program, or why there is none.
//!
//! The crate `cssame_c` does the work: `tree` reads, `lower` makes the graph, or names what is not read.

use super::{Compiled, Language};
use cssame_c::lower::{Lowered, Settings, lower};
use cssame_c::tree::{Files, KnownFiles, Options, Unit, add_bytes, read};
use cssame_diagnostics as diagnostics;
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_ir::points_to::join_symbols;
use cssame_source::{FileId, SourceMap};
use std::path::Path;

/// Inputs that say how a program in C is read; those of the language of `.csm` files have names.
fn is_setting(name: &str) -> bool {
    name.starts_with('-')
}

/// Before the name of another file of the program, which is linked.
const LINKED: &str = "-- ";

/// The arguments of a C compiler as inputs: `-DN=3` is the input `-DN` with the value `3`. Further files are linked.
///
/// # Errors
///
/// What is wrong with them, as a sentence.
pub fn settings(arguments: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if Language::of_name(argument) == Language::C && !argument.starts_with('-') {
            settings.push((format!("{LINKED}{argument}"), String::new()));
            continue;
        }
        // What the parser has let pass in two words is one here.
        let whole = match argument.as_str() {
            "-I" | "-D" | "-U" | "-include" => format!("{argument}{}", rest.next().map_or("", String::as_str)),
            _ => argument.clone(),
        };
        let (name, value) = whole.split_once('=').map_or((whole.as_str(), ""), |(name, value)| (name, value));
        settings.push((name.to_owned(), value.to_owned()));
    }
    parsed(&settings).map(|_| settings)
}

/// What the inputs say of a program in C.
struct Parsed {
    options: Options,
    settings: Settings,
    /// The names of the other files that are linked.
    linked: Vec<String>,
}

/// How a program is read and lowered.
fn parsed(inputs: &[(String, String)]) -> Result<Parsed, String> {
    let (mut settings, mut linked) = (Settings::default(), Vec::new());
    let mut arguments = Vec::new();
    for (name, value) in inputs.iter().filter(|(name, _)| is_setting(name)) {
        match name.as_str() {
            "--main-waits" => settings.main_waits = true,
            "--nondet" => settings.nondet = Some(range(value)?),
            _ if name.starts_with(LINKED) => linked.push(name[LINKED.len()..].to_owned()),
            _ if value.is_empty() => arguments.push(name.clone()),
            _ => arguments.push(format!("{name}={value}")),
        }
    }
    Ok(Parsed { options: Options::parse(&arguments)?, settings, linked })
}

/// A range of values: `0..3`, both ends included.
///
/// # Errors
///
/// What is wrong with it, as a sentence.
pub fn range(text: &str) -> Result<(i32, i32), String> {
    let wrong = || format!("`{text}` is no range of integers, such as `0..3`");
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let parse = |end: &str| end.trim().parse::<i32>().map_err(|_| wrong());
    let (low, high) = (parse(low)?, parse(high)?);
    if low <= high { Ok((low, high)) } else { Err(format!("`{text}` is a range without values")) }
}

/// Adds the files that a file in C includes, and those that are linked with it, to the source map, so that it can be compiled from
/// there.
pub fn add_includes(sources: &mut SourceMap, file: FileId, files: &dyn Files, inputs: &[(String, String)]) {
    let Ok(Parsed { options, linked, .. }) = parsed(inputs) else { return };
    read(sources, file, files, &options);
    for name in linked {
        if let Some(bytes) = files.read(Path::new(&name)) {
            let other = add_bytes(sources, &name, &bytes);
            read(sources, other, files, &options);
        }
    }
}

/// Compiles a program in C.
pub fn compile(sources: &SourceMap, file: FileId, inputs: &[(String, String)]) -> Compiled {
    let Parsed { options, settings, linked } = match parsed(inputs) {
        Ok(parsed) => parsed,
        Err(problem) => {
            let problem = Diagnostic::general(Code::NotC, Severity::Error, problem);
            return Compiled { program: None, diagnostics: vec![problem] };
        }
    };
    let (mut own, mut found, mut program) = (sources.clone(), Vec::new(), None);
    found.extend(inputs.iter().filter(|(name, _)| !is_setting(name)).map(no_input));
    let mut units: Vec<Unit> = Vec::new();
    let mut files = vec![file];
    for name in &linked {
        match sources.files().find(|(_, other)| other.name() == name) {
            Some((other, _)) => files.push(other),
            None => {
                let message = format!("`{name}`, which is to be linked, cannot be read");
                found.push(Diagnostic::general(Code::CannotRead, Severity::Error, message));
            }
        }
    }
    for &file in &files {
        let reading = read(&mut own, file, &KnownFiles::new(sources), &options);
        found.extend(reading.diagnostics);
        units.extend(reading.unit);
    }
    if units.len() == linked.len() + 1 && !diagnostics::has_errors(&found) {
        match lower(&own, &units.iter().collect::<Vec<_>>(), &settings) {
            Ok(Lowered { program: mut lowered, notes }) => {
                join_symbols(&mut lowered);
                found.extend(notes);
                program = Some(lowered);
            }
            Err(problems) => found.extend(problems.diagnostics()),
        }
    }
    diagnostics::sort(&mut found);
    Compiled { program, diagnostics: found }
}

fn no_input((name, value): &(String, String)) -> Diagnostic {
    let message = format!("a program in C has no inputs, so none that is called `{name}`");
    let help = format!("behind `--`, a macro gets a value as a compiler takes it: `-- -D{name}={value}`");
    Diagnostic::general(Code::UnknownInput, Severity::Error, message).with_help(help)
}
