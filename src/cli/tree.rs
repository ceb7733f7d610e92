//! The programs of a tree of directories.
//!
//! In: directories and files, and exclusion patterns. Out: the `.csm` files in them, or those in C, sorted, each once. Files in
//! `.gitignore` and `.ignore` are left out, and so are hidden files. A file that is named explicitly is included whatever its
//! name.

use super::load::name_of;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The programs below these paths.
///
/// # Errors
///
/// A path that cannot be read, a pattern that is none, or no program at all.
pub fn programs(paths: &[PathBuf], exclude: &[String]) -> Result<Vec<PathBuf>, Diagnostics> {
    with_endings(paths, exclude, &["csm"])
}

/// The files in C below these paths, and those in C++.
///
/// # Errors
///
/// As [`programs`].
pub fn c_programs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Diagnostics> {
    with_endings(paths, &[], &["c", "i", "C", "cc", "cpp", "cxx", "c++"])
}

fn with_endings(paths: &[PathBuf], exclude: &[String], endings: &[&str]) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut found = BTreeSet::new();
    for path in paths {
        if !path.is_dir() {
            found.insert(path.clone());
            continue;
        }
        let mut walk = WalkBuilder::new(path);
        walk.require_git(false).overrides(overrides(path, exclude)?);
        for entry in walk.build() {
            let entry = entry.map_err(|error| problem(Code::CannotRead, error.to_string()))?;
            let is_program = entry.path().extension().is_some_and(|ending| endings.iter().any(|one| ending == *one));
            if is_program && entry.file_type().is_some_and(|kind| !kind.is_dir()) {
                let file = entry.into_path();
                found.insert(file.strip_prefix(".").map(Path::to_path_buf).unwrap_or(file));
            }
        }
    }
    if found.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| format!("`{}`", name_of(path))).collect();
        return Err(problem(Code::CannotRead, format!("there is no `.{}` file in {}", endings[0], names.join(", "))));
    }
    Ok(found.into_iter().collect())
}

fn overrides(root: &Path, exclude: &[String]) -> Result<Override, Diagnostics> {
    let mut builder = OverrideBuilder::new(root);
    for pattern in exclude {
        // In overrides, what begins with `!` is left out.
        let added = builder.add(&format!("!{pattern}"));
        added.map_err(|error| problem(Code::BadConfiguration, format!("`{pattern}` is no pattern: {error}")))?;
    }
    builder.build().map_err(|error| problem(Code::BadConfiguration, error.to_string()))
}

fn problem(code: Code, message: String) -> Diagnostics {
    Diagnostics::general(Diagnostic::general(code, Severity::Error, message))
}
