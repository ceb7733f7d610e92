//! Reading a source file and compiling it.

pub(super) use super::bytes::STANDARD_INPUT;
use super::bytes::read_bytes;
use super::c_files::Disk;
use cssame_c::supported::is_cpp;
use cssame_c::tree::add_bytes;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity, nearest};
use cssame_driver::Target;
use cssame_front as front;
use cssame_front::Language;
use cssame_front::c::add_includes;
use cssame_model::{Model, Options, Unit};
use cssame_source::{FileId, SourceMap};
use std::fs;
use std::io;
use std::path::Path;

/// The name of a file as it stands in the output: as the user gave it.
#[must_use]
pub fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Reads a file into `sources`.
///
/// # Errors
///
/// A diagnostic for a file that cannot be read, is too large, or is no text.
pub fn read(sources: &mut SourceMap, path: &Path) -> Result<FileId, Diagnostic> {
    let name = name_of(path);
    match read_bytes(path) {
        Ok(bytes) => front::add_bytes(sources, &name, &bytes),
        Err(error) => Err(cannot_read(&name, path, &error)),
    }
}

/// Reads a program into `sources`, and what it includes.
///
/// # Errors
///
/// As [`read`], and for a program in a language that is not read.
pub fn program(sources: &mut SourceMap, path: &Path, inputs: &[(String, String)]) -> Result<FileId, Diagnostic> {
    let name = name_of(path);
    if let Some(refused) = refused(path) {
        return Err(refused);
    }
    if Language::of_name(&name) == Language::Csm {
        return read(sources, path);
    }
    let bytes = read_bytes(path).map_err(|error| cannot_read(&name, path, &error))?;
    let file = add_bytes(sources, &name, &bytes);
    add_includes(sources, file, &Disk, inputs);
    Ok(file)
}

/// What is said of a file in a language that is not read.
fn refused(path: &Path) -> Option<Diagnostic> {
    let name = name_of(path);
    let (message, help) = if path.extension()?.to_str()? == "h" {
        (format!("`{name}` is a header of C, not a program"), "name the file that includes it")
    } else if is_cpp(path) {
        (format!("`{name}` is a program in C++, which is not read"), "pass a program in C, or a `.csm` file")
    } else {
        return None;
    };
    Some(Diagnostic::general(Code::UnreadC, Severity::Error, message).with_help(help))
}

/// Refuses a program in C where something is asked that is made of programs in the language of `.csm` files alone; `help` says what
/// can be asked instead.
///
/// # Errors
///
/// It is one in C.
pub fn not_of_c(path: &Path, (what, help): (&str, &str)) -> Result<(), Diagnostics> {
    let name = name_of(path);
    if Language::of_name(&name) == Language::Csm {
        return Ok(());
    }
    let message = format!("`{name}` is a program in C, for which {what} are not written yet");
    Err(Diagnostics::general(Diagnostic::general(Code::UnreadC, Severity::Error, message).with_help(help)))
}

/// Refuses a program in C where its tests are to be in another language than Rust.
///
/// # Errors
///
/// It is one in C, and the target is another one.
pub fn can_be_written(path: &Path, target: Target) -> Result<(), Diagnostics> {
    match target {
        Target::Rust => Ok(()),
        Target::Java | Target::AspectJ => not_of_c(path, ("tests in Java", "`--target rust` writes tests of it")),
    }
}

/// A file beside one that does not exist, by a name that is nearly the same.
fn meant(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let entries = fs::read_dir(directory.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    // The ending is easily forgotten.
    let with_ending = format!("{name}.csm");
    let near = near.or_else(|| names.iter().find(|other| **other == with_ending).map(String::as_str))?;
    Some(name_of(&directory.map_or_else(|| Path::new(near).to_path_buf(), |directory| directory.join(near))))
}

fn cannot_read(name: &str, path: &Path, error: &io::Error) -> Diagnostic {
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        let message = format!("`{name}` cannot be read: it is a directory");
        return Diagnostic::general(Code::CannotRead, Severity::Error, message).with_help("name the files in it");
    }
    let diagnostic =
        Diagnostic::general(Code::CannotRead, Severity::Error, format!("`{name}` cannot be read: {error}"));
    match meant(path).filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(other) => diagnostic.with_help(format!("there is `{other}`")),
        None => diagnostic,
    }
}

/// The source map of a text that an editor has open: with the files on disk that it includes, as its name says which they are.
#[must_use]
pub fn document(name: &str, text: &str) -> (SourceMap, FileId) {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    if Language::of_name(name) == Language::C {
        add_includes(&mut sources, file, &Disk, &[]);
    }
    (sources, file)
}

/// Reads and compiles a program.
///
/// # Errors
///
/// All errors of the file, or the reason why it cannot be read.
pub fn unit(path: &Path, inputs: &[(String, String)]) -> Result<Unit, Diagnostics> {
    let mut sources = SourceMap::default();
    match program(&mut sources, path, inputs) {
        Ok(file) => Unit::from_sources(sources, file, inputs),
        Err(problem) => Err(Diagnostics::new(sources, vec![problem])),
    }
}

/// Reads a program and makes it ready to be asked.
///
/// # Errors
///
/// As [`unit()`], and for a program without main.
pub fn model(path: &Path, options: Options) -> Result<Model, Diagnostics> {
    Ok(Model::new(unit(path, &options.inputs)?, options)?)
}
