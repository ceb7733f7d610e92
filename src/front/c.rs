//! Programs in C: from a file, those that it includes, and settings, to the parallel flow graph.
//!
//! **Input**: a file in C; what it includes stands in the same source map ([`add_includes`]). The settings of a C compiler, and what
//! the text leaves open, come as inputs whose names begin with `-`: so all that knows inputs (schedules, tests, `serve`) knows them,
//! too. **Output**: the program, or why there is none.
//!
//! The crate `cssame_c` does the work: `tree` reads, `lower` makes the graph, or names what is not read.

use super::{Compiled, Language};
use cssame_c::compile_commands::{CompileCommands, database_file};
use cssame_c::library;
use cssame_c::lower::{Lowered, Settings, lower};
use cssame_c::tree::{Files, KnownFiles, Options, Unit, add_bytes_beside, read};
use cssame_diagnostics as diagnostics;
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_ir::Program;
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
        // `-DN=` defines nothing, and `-DN` defines 1: without a value, the sign stays with the name.
        let parts = whole.split_once('=').filter(|(_, value)| !value.is_empty());
        let (name, value) = parts.unwrap_or((&whole, ""));
        settings.push((name.to_owned(), value.to_owned()));
    }
    parsed(&settings).map(|_| settings)
}

/// Before the directory of a compilation database.
const DATABASE: &str = "-p";

/// What the inputs say of a program in C.
struct Parsed {
    /// Of a compiler, for each file.
    arguments: Vec<String>,
    settings: Settings,
    /// The names of the other files that are linked.
    linked: Vec<String>,
    /// The file that says how each file is compiled.
    database: Option<String>,
}

/// How a program is read and lowered.
fn parsed(inputs: &[(String, String)]) -> Result<Parsed, String> {
    let (mut settings, mut linked, mut database) = (Settings::default(), Vec::new(), None);
    let mut arguments = Vec::new();
    for (name, value) in inputs.iter().filter(|(name, _)| is_setting(name)) {
        match name.as_str() {
            "--main-waits" => settings.main_waits = true,
            "--nondet" => settings.nondet = Some(range(value)?),
            DATABASE => database = Some(database_file(value)),
            _ if name.starts_with(LINKED) => linked.push(name[LINKED.len()..].to_owned()),
            _ if value.is_empty() => arguments.push(name.clone()),
            _ => arguments.push(format!("{name}={value}")),
        }
    }
    Options::parse(&arguments)?;
    Ok(Parsed { arguments, settings, linked, database })
}

impl Parsed {
    /// The compilation database, from its text.
    fn commands(&self, text: impl FnOnce(&str) -> Option<String>) -> Result<Option<CompileCommands>, String> {
        let Some(name) = &self.database else { return Ok(None) };
        let text = text(name).ok_or_else(|| format!("`{name}` cannot be read"))?;
        CompileCommands::parse(&text).map(Some).map_err(|problem| format!("`{name}` is {problem}"))
    }

    /// How a file is read: what the command line says comes behind what the database says.
    fn options(&self, commands: Option<&CompileCommands>, file: &str) -> Result<Options, String> {
        let mut arguments = commands.map_or(Ok(Vec::new()), |commands| commands.arguments(file))?;
        arguments.extend(self.arguments.iter().cloned());
        Options::parse(&arguments)
    }
}

/// How each file of a tree is read, where it stands alone.
///
/// # Errors
///
/// What is wrong with the settings, as a sentence.
pub fn options_of(
    inputs: &[(String, String)],
    files: &dyn Files,
) -> Result<impl Fn(&str) -> Result<Options, String> + Sync + use<>, String> {
    let parsed = parsed(inputs)?;
    if let Some(linked) = parsed.linked.first() {
        return Err(format!("`{linked}` is not an option for C: write the files to look at before `--`"));
    }
    let commands = parsed.commands(|name| text(files, name))?;
    Ok(move |file: &str| parsed.options(commands.as_ref(), file))
}

fn text(files: &dyn Files, name: &str) -> Option<String> {
    files.read(Path::new(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// A range of values: `0..3`, both ends included.
///
/// # Errors
///
/// What is wrong with it, as a sentence.
pub fn range(text: &str) -> Result<(i32, i32), String> {
    let wrong = || format!("`{text}` is not a range of integers, such as `0..3`");
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let parse = |end: &str| end.trim().parse::<i32>().map_err(|_| wrong());
    let (low, high) = (parse(low)?, parse(high)?);
    if low <= high { Ok((low, high)) } else { Err(format!("`{text}` is a range without values")) }
}

/// Adds the files that a file in C includes, those that are linked with it, and the compilation database, to the source map, so
/// that it can be compiled from there.
pub fn add_includes(sources: &mut SourceMap, file: FileId, files: &dyn Files, inputs: &[(String, String)]) {
    let Ok(parsed) = parsed(inputs) else { return };
    let read_text = |name: &str| {
        let text = text(files, name)?;
        sources.add_beside(name, &text);
        Some(text)
    };
    let Ok(commands) = parsed.commands(read_text) else { return };
    let add = |sources: &mut SourceMap, file: FileId| {
        let name = sources.file(file).name().to_owned();
        // What is wrong is said when it is compiled.
        if let Ok(options) = parsed.options(commands.as_ref(), &name) {
            read(sources, file, files, &options);
        }
    };
    add(sources, file);
    for name in &parsed.linked {
        if let Some(bytes) = files.read(Path::new(name)) {
            let other = add_bytes_beside(sources, name, &bytes);
            add(sources, other);
        }
    }
    add_library(sources, file, inputs);
}

/// Adds what of the library is written in C to the source map, where the program uses it: it is linked then.
pub fn add_library(sources: &mut SourceMap, file: FileId, inputs: &[(String, String)]) {
    let is_there = sources.files().any(|(_, other)| other.name() == library::NAME);
    // Most programs name no such function, and need not be read twice.
    let is_named = sources.files().any(|(_, other)| library::is_named_in(other.text()));
    let units = parsed(inputs).ok().filter(|_| is_named && !is_there);
    let units = units.and_then(|parsed| read_units(&mut sources.clone(), file, &parsed, &mut Vec::new()).ok());
    if units.flatten().is_some_and(|units| library::is_used(&units)) {
        sources.add_beside(library::NAME, library::TEXT);
    }
}

/// Compiles a program in C.
pub fn compile(sources: &SourceMap, file: FileId, inputs: &[(String, String)]) -> Compiled {
    let mut found: Vec<Diagnostic> = inputs.iter().filter(|(name, _)| !is_setting(name)).map(no_input).collect();
    let program = parsed(inputs).and_then(|parsed| linked_program(sources, file, &parsed, &mut found));
    let program = program.unwrap_or_else(|problem| {
        found.push(Diagnostic::general(Code::NotC, Severity::Error, problem));
        None
    });
    diagnostics::sort(&mut found);
    Compiled { program, diagnostics: found }
}

/// Reads the file and those that are linked with it, and lowers them. Diagnostics are added to `found`; what is wrong with the
/// settings is the error.
fn linked_program(
    sources: &SourceMap,
    file: FileId,
    parsed: &Parsed,
    found: &mut Vec<Diagnostic>,
) -> Result<Option<Program>, String> {
    let mut own = sources.clone();
    let units = read_units(&mut own, file, parsed, found)?;
    let Some(units) = units.filter(|_| !diagnostics::has_errors(found)) else { return Ok(None) };
    match lower(&own, &units.iter().collect::<Vec<_>>(), &parsed.settings) {
        Ok(Lowered { mut program, notes }) => {
            join_symbols(&mut program);
            found.extend(notes);
            Ok(Some(program))
        }
        Err(problems) => {
            found.extend(problems.diagnostics());
            Ok(None)
        }
    }
}

/// Reads the file, those that are linked with it, and the library where it is there. None where one cannot be read.
fn read_units(
    own: &mut SourceMap,
    file: FileId,
    parsed: &Parsed,
    found: &mut Vec<Diagnostic>,
) -> Result<Option<Vec<Unit>>, String> {
    let sources = own.clone();
    let named = |name: &str| sources.files().find(|(_, other)| other.name() == name);
    let commands = parsed.commands(|name| named(name).map(|(_, file)| file.text().to_owned()))?;
    let mut files = vec![file];
    for name in &parsed.linked {
        match named(name) {
            Some((other, _)) => files.push(other),
            None => {
                let message = format!("`{name}`, which is to be linked, cannot be read");
                found.push(Diagnostic::general(Code::CannotRead, Severity::Error, message));
            }
        }
    }
    let mut options = Vec::with_capacity(files.len());
    for &file in &files {
        options.push((file, parsed.options(commands.as_ref(), sources.file(file).name())?));
    }
    options.extend(named(library::NAME).map(|(file, _)| (file, Options::default())));
    let mut units: Vec<Unit> = Vec::new();
    for (file, options) in &options {
        let reading = read(own, *file, &KnownFiles::new(&sources), options);
        found.extend(reading.diagnostics);
        units.extend(reading.unit);
    }
    let is_whole = units.len() == options.len() && files.len() == parsed.linked.len() + 1;
    Ok(is_whole.then_some(units))
}

fn no_input((name, value): &(String, String)) -> Diagnostic {
    let message = format!("a program in C has no inputs, and so no input `{name}`");
    let help = format!("to define a macro, write `-- -D{name}={value}`");
    Diagnostic::general(Code::UnknownInput, Severity::Error, message).with_help(help)
}
