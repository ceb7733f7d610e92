//! Writes a directory of files so that it is complete or does not exist at all.
//!
//! In: paths and texts. The files are written to a sibling directory, which then takes the place of the directory. So a reader
//! sees the old directory or the new one, for a moment neither, but never a part. An error leaves the old one unchanged.

use super::files::cannot_write;
use cssame_diagnostics::Code;
use cssame_diagnostics::Diagnostics;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The files in a directory and the directories in it, as paths from it, sorted; none if it does not exist. An empty
/// directory counts as a file. What has one of the names `except` at the top is left out.
///
/// # Errors
///
/// CS0909 where a directory cannot be read.
pub fn files_in(directory: &Path, except: &[&str]) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut files = Vec::new();
    // What is no directory is told when it is written.
    if !directory.is_dir() {
        return Ok(files);
    }
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        let path = directory.join(&inner);
        let unreadable = |error: io::Error| {
            Diagnostics::error(Code::CannotRead, format!("`{}` cannot be read: {error}", path.display()))
        };
        let mut empty = true;
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = inner.join(entry.file_name());
            empty = false;
            if except.iter().any(|except| Path::new(except) == name) {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(name);
            } else {
                files.push(name);
            }
        }
        if empty && !inner.as_os_str().is_empty() {
            files.push(inner);
        }
    }
    files.sort();
    Ok(files)
}

/// Makes a directory with just these files, or gives them to one that exists, in place of all that it holds; what has
/// one of the names `kept` at the top stays.
///
/// # Errors
///
/// CS0910 with the message of the operating system. Then nothing has changed.
pub fn replace(directory: &Path, files: &[(PathBuf, String)], kept: &[&str]) -> Result<(), Diagnostics> {
    let missing = missing_above(directory);
    let replaced = replace_through_sibling(directory, files, kept);
    if replaced.is_err() {
        // Those that hold something by now stay; the first error is the one to report.
        missing.iter().for_each(|made| drop(fs::remove_dir(made)));
    }
    replaced.map_err(|error| cannot_write(directory, &error))
}

/// The directories above that do not exist yet, the innermost first.
fn missing_above(directory: &Path) -> Vec<PathBuf> {
    let above = directory.ancestors().skip(1);
    above.take_while(|above| !above.as_os_str().is_empty() && !above.exists()).map(Path::to_path_buf).collect()
}

fn replace_through_sibling(directory: &Path, files: &[(PathBuf, String)], kept: &[&str]) -> io::Result<()> {
    // Behind a link, and for `.`, it is the directory itself that is replaced.
    let directory = match fs::canonicalize(directory) {
        Ok(real) => real,
        Err(_) => std::path::absolute(directory)?,
    };
    if directory.exists() && !directory.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a directory"));
    }
    // One in which we stand has to stay the same one.
    let here = std::env::current_dir().is_ok_and(|here| here.starts_with(&directory));
    let swapped = if here { None } else { Some(swap(&directory, files, kept)) };
    match swapped {
        Some(Err(error)) if !directory.is_dir() => Err(error),
        Some(Ok(())) => Ok(()),
        // A file system may be mounted there, or the directory above may be closed to us.
        Some(Err(_)) | None => exchange(&directory, files, kept),
    }
}

/// Puts a new directory into the place of the old one.
fn swap(directory: &Path, files: &[(PathBuf, String)], kept: &[&str]) -> io::Result<()> {
    if let Some(above) = directory.parent() {
        fs::create_dir_all(above)?;
    }
    let name = directory.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it has no name"))?;
    let sibling = |what| directory.with_file_name(temporary(&name.to_string_lossy(), what));
    let (new, old) = (sibling("new"), sibling("old"));
    let replaced = fill(&new, files).and_then(|()| put_in_place(&new, &old, directory, kept));
    // Where it has taken its place, there is nothing to remove.
    let _ = fs::remove_dir_all(&new);
    replaced
}

/// A name that nobody else uses.
fn temporary(name: &str, what: &str) -> String {
    format!(".{name}.{}.{what}", std::process::id())
}

/// Makes a directory with files.
fn fill(directory: &Path, files: &[(PathBuf, String)]) -> io::Result<()> {
    fs::create_dir(directory)?;
    for (path, text) in files {
        let path = directory.join(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let mut file = File::create(&path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    Ok(())
}

fn put_in_place(new: &Path, old: &Path, directory: &Path, kept: &[&str]) -> io::Result<()> {
    if !directory.exists() {
        return fs::rename(new, directory);
    }
    fs::rename(directory, old)?;
    if let Err(error) = fs::rename(new, directory) {
        fs::rename(old, directory)?;
        return Err(error);
    }
    for name in kept {
        // What is kept is there to save time; it can be made again.
        let _ = fs::rename(old.join(name), directory.join(name));
    }
    let _ = fs::remove_dir_all(old);
    Ok(())
}

/// Puts new entries into a directory in place of the old ones; on an error, all go back.
fn exchange(directory: &Path, files: &[(PathBuf, String)], kept: &[&str]) -> io::Result<()> {
    let names = [temporary("cssame", "new"), temporary("cssame", "old")];
    let (new, old) = (directory.join(&names[0]), directory.join(&names[1]));
    let except: Vec<&str> = kept.iter().copied().chain(names.iter().map(String::as_str)).collect();
    let mut moved = Vec::new();
    let exchanged = fill(&new, files)
        .and_then(|()| fs::create_dir(&old))
        .and_then(|()| move_entries(directory, &old, &except, &mut moved))
        .and_then(|()| move_entries(&new, directory, &[], &mut moved));
    if exchanged.is_err() {
        for (from, to) in moved.iter().rev() {
            let _ = fs::rename(to, from);
        }
        // Only where it is empty: else it holds what could not go back.
        let _ = fs::remove_dir(&old);
    } else {
        let _ = fs::remove_dir_all(&old);
    }
    let _ = fs::remove_dir_all(&new);
    exchanged
}

/// Moves the entries of a directory into another one, and notes each.
fn move_entries(from: &Path, to: &Path, except: &[&str], moved: &mut Vec<(PathBuf, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if except.iter().all(|kept| name != **kept) {
            let (from, to) = (from.join(&name), to.join(&name));
            fs::rename(&from, &to)?;
            moved.push((from, to));
        }
    }
    Ok(())
}
