//! Reading a source file and compiling it.

use cssame_c::supported::is_cpp;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity, nearest};
use cssame_front as front;
use cssame_model::{Model, Options, Unit};
use cssame_source::{FileId, SourceMap};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// One MiB more than may be read: enough to see that a file is too large, also one without end.
const READ_BYTES: u64 = 257 << 20;

/// The name that stands for standard input.
pub(super) const STANDARD_INPUT: &str = "-";

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
    if let Some(refused) = refused(path) {
        return Err(refused);
    }
    match read_bytes(path) {
        Ok(bytes) => front::add_bytes(sources, &name, &bytes),
        Err(error) => Err(cannot_read(&name, path, &error)),
    }
}

pub(super) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.as_os_str() == STANDARD_INPUT {
        io::stdin().lock().take(READ_BYTES).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(READ_BYTES).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// What is said of a program in C: it would be no program in the language of `.csm` files, whatever its text.
fn refused(path: &Path) -> Option<Diagnostic> {
    let language = match path.extension()?.to_str()? {
        "c" | "i" | "h" => "C",
        _ if is_cpp(path) => "C++",
        _ => return None,
    };
    let name = name_of(path);
    let message = format!("`{name}` is a program in {language}, which no command executes yet");
    let diagnostic = Diagnostic::general(Code::UnreadC, Severity::Error, message);
    Some(match language {
        "C" => diagnostic.with_help(format!(
            "`cssame check --supported {name}` says whether the C front end reads it; to analyse it now, write what matters in the \
             language of `.csm` files: `cssame new` has templates"
        )),
        _ => diagnostic,
    })
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

/// Reads and compiles a program.
///
/// # Errors
///
/// All errors of the file, or the reason why it cannot be read.
pub fn unit(path: &Path, inputs: &[(String, String)]) -> Result<Unit, Diagnostics> {
    let name = name_of(path);
    if let Some(refused) = refused(path) {
        return Err(Diagnostics::general(refused));
    }
    match read_bytes(path) {
        Ok(bytes) => Unit::from_bytes(&name, &bytes, inputs),
        Err(error) => Err(Diagnostics::general(cannot_read(&name, path, &error))),
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
