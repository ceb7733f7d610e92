//! Packages of tests: how they are made, where they are written, and how their tests are run.
//!
//! In: a directory, and the findings of a search. Out: the files of a package, which replace those of an earlier one.

use super::directory;
use super::load::{self, name_of};
use super::output::Output;
use super::target::TargetName;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_driver::{self as driver, DriveError, Expect, Package, Recording, Target};
use cssame_model as model;
use cssame_schedule::source_hash;
use cssame_source::SourceMap;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::process::Command;

/// How to make a package for a file of that text: its tests pass where the program does not fail.
#[must_use]
pub fn driver_options(
    target: TargetName,
    (file, text): (&Path, &str),
    options: &model::Options,
    max_steps: u64,
) -> driver::Options {
    driver::Options {
        target: target.into(),
        expect: Expect::Program,
        file: name_of(file),
        hash: source_hash(text),
        inputs: options.inputs.clone(),
        semantics: options.semantics,
        max_steps,
        free: false,
    }
}

/// Refuses a directory with something else in it than a package, and what the tools of its target have built.
///
/// # Errors
///
/// CS0910 where there is something else, CS0909 where it cannot be read.
pub fn check_directory(out: &Path, target: Target) -> Result<(), Diagnostics> {
    let older = package_in(out);
    let built = older.as_ref().map_or(target, |older| older.target).built();
    let files = directory::files_in(out, built)?;
    // Without a manifest, files of our names are those that another tool has made.
    let ours: FxHashSet<&Path> = older.iter().flat_map(Recording::files).map(Path::new).collect();
    let Some(other) = files.iter().find(|path| !ours.contains(path.as_path())) else { return Ok(()) };
    let (out, other) = (name_of(out), name_of(other));
    let message = format!("`{out}` holds other files, such as `{other}`, and is left as it is");
    let diagnostic = Diagnostic::general(Code::CannotWrite, Severity::Error, message);
    Err(Diagnostics::general(diagnostic.with_help("name a new or an empty directory")))
}

/// What the manifest says of the package in a directory; none where there is no manifest.
fn package_in(out: &Path) -> Option<Recording> {
    let path = out.join(driver::MANIFEST);
    path.symlink_metadata().ok()?;
    let mut sources = SourceMap::default();
    let file = load::read(&mut sources, &path);
    Some(file.ok().and_then(|file| Recording::parse(sources.file(file).text()).ok()).unwrap_or_default())
}

/// Writes a package in place of what is in the directory, which is looked at once more: a search may have taken long.
/// Gives the names of its files.
///
/// # Errors
///
/// As [`check_directory`], and CS0910 where the directory or a file cannot be written.
pub fn write_package(out: &Path, package: &Package) -> Result<Vec<String>, Diagnostics> {
    let target = package.manifest.target;
    check_directory(out, target)?;
    // What was built for another target is of no use.
    let is_other = package_in(out).is_some_and(|older| older.target != target);
    directory::replace(out, &package.files, if is_other { &[] } else { target.built() })?;
    Ok(package.files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect())
}

/// Runs the tests of a package. All that is built stays in its directory, whatever the environment says, and nothing is
/// fetched.
///
/// # Errors
///
/// A tool that it takes is missing.
pub fn run_tests(target: Target, directory: &Path, output: &mut Output) -> Result<bool, Diagnostics> {
    match target {
        Target::Rust => run_cargo(directory, output),
        Target::Java | Target::AspectJ => run_script(directory, output),
    }
}

fn run_cargo(directory: &Path, output: &mut Output) -> Result<bool, Diagnostics> {
    let result = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["test", "--quiet", "--offline", "--manifest-path"])
        .arg(directory.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(directory.join("target"))
        // The frames of a test that fails are those of the runtime of the package.
        .env("RUST_BACKTRACE", "0")
        .output();
    let result =
        result.map_err(|error| Diagnostics::error(Code::CannotRead, format!("cargo cannot be run: {error}")))?;
    output.summary(&String::from_utf8_lossy(&result.stdout));
    output.summary(&String::from_utf8_lossy(&result.stderr));
    Ok(result.status.success())
}

/// The status of a script that has not found a tool.
const MISSING: i32 = 2;

/// Runs the script of a package. What it says of its tools and tests is told; a tool that is missing is an error.
fn run_script(directory: &Path, output: &mut Output) -> Result<bool, Diagnostics> {
    let result = Command::new("sh").arg(directory.join("run.sh")).output();
    let result = result.map_err(|error| Diagnostics::error(Code::ToolMissing, format!("sh cannot be run: {error}")))?;
    let errors = String::from_utf8_lossy(&result.stderr);
    if result.status.code() == Some(MISSING) {
        let mut lines = errors.lines().map(str::trim);
        let (what, install) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let what = what.trim_start_matches("run.sh: ").trim_end_matches("; on Debian and Ubuntu:");
        let message = format!("the tests cannot be run: {what}");
        let diagnostic = Diagnostic::general(Code::ToolMissing, Severity::Error, message);
        return Err(Diagnostics::general(diagnostic.with_help(format!("on Debian and Ubuntu: {install}"))));
    }
    output.summary(&String::from_utf8_lossy(&result.stdout));
    output.summary(&errors);
    Ok(result.status.success())
}

/// Why there is no package.
#[must_use]
pub fn no_package(error: &DriveError) -> Diagnostics {
    let code = match error {
        DriveError::NoMain => Code::NoMain,
        DriveError::NoEnd { .. } => Code::StepLimit,
        DriveError::TooManyTerms(_) => Code::ExplorationLimit,
        DriveError::Unwritable { .. } => Code::TargetLacks,
        DriveError::OfC => Code::UnreadC,
    };
    let diagnostic = Diagnostic::general(code, Severity::Error, error.to_string());
    Diagnostics::general(match error {
        DriveError::TooManyTerms(_) => diagnostic.with_help("name the terms that matter with `--select READ=DEF`"),
        DriveError::Unwritable { .. } => diagnostic.with_help("`--target rust` writes any program"),
        DriveError::NoMain | DriveError::OfC | DriveError::NoEnd { .. } => diagnostic,
    })
}
