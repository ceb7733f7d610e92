//! Writes files so that none is ever half-written.

use cssame_diagnostics::Code;
use cssame_diagnostics::Diagnostics;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file: under another name first, so that a reader sees the old content or the new, never a part.
///
/// # Errors
///
/// CS0910 with the message of the operating system.
pub fn write(path: &Path, text: &str) -> Result<(), Diagnostics> {
    write_through_sibling(path, text, None).map_err(|error| cannot_write(path, &error))
}

/// Writes a file that exists anew, as [`write()`] does. It keeps its permissions, and a link still leads to it.
///
/// # Errors
///
/// CS0910 with the message of the operating system; also where the file is not to be written.
pub fn rewrite(path: &Path, text: &str) -> Result<(), Diagnostics> {
    let rewrite = || {
        let target = fs::canonicalize(path)?;
        let permissions = fs::metadata(&target)?.permissions();
        if permissions.readonly() {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        write_through_sibling(&target, text, Some(permissions))
    };
    rewrite().map_err(|error| cannot_write(path, &error))
}

/// Makes a directory, and those that it lies in.
///
/// # Errors
///
/// CS0910 with the message of the operating system.
pub fn create_directory(path: &Path) -> Result<(), Diagnostics> {
    fs::create_dir_all(path).map_err(|error| cannot_write(path, &error))
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Diagnostics {
    Diagnostics::error(Code::CannotWrite, format!("`{}` cannot be written: {error}", path.display()))
}

fn write_through_sibling(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    // A device or a pipe cannot be replaced, only written.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return File::options().write(true).open(path)?.write_all(text.as_bytes());
    }
    let sibling = sibling_of(path)?;
    let written = File::create(&sibling)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| permissions.map_or(Ok(()), |permissions| fs::set_permissions(&sibling, permissions)))
        .and_then(|()| fs::rename(&sibling, path));
    if written.is_err() {
        // It may not exist at all; the first error is the one to report.
        let _ = fs::remove_file(&sibling);
    }
    written
}

fn sibling_of(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
    Ok(path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id())))
}
