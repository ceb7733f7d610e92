//! The recorded executions of a package, as schedule files next to the tests, and the code that reads them again.
//!
//! **Input**: the tests of a package and their programs. **Output**: for each test a schedule file, and for each program other
//! than the source file its text. In the other direction: from the text of a manifest, the files and their contents
//! ([`Recording`]).
//!
//! **Soundness and limits**: the steps are those of the whole execution that the test follows.

use super::manifest::{SCHEMA, TestEntry};
use super::parts::Module;
use super::test_case::TestCase;
use super::{MANIFEST, Options, Target};
use cssame_schedule::{Schedule, source_hash};
use serde::Deserialize;
use std::path::PathBuf;

/// The directory of recorded executions in a package.
const DIRECTORY: &str = "recorded";

/// The files that packages had before their manifest listed them.
const OLDER: [&str; 4] = ["Cargo.toml", "src/lib.rs", "src/program.rs", "tests/futures.rs"];

/// The files of recorded executions, and the entries of the tests with the paths of these files. `programs` are those that
/// tests run.
pub(super) fn files(
    programs: &[Module<'_>],
    cases: &[TestCase],
    options: &Options,
) -> (Vec<TestEntry>, Vec<(PathBuf, String)>) {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut entries = Vec::new();
    let own: Vec<Program<'_>> = programs.iter().map(|module| Program::new(module, options)).collect();
    for program in own.iter().filter(|program| cases.iter().any(|case| case.module == program.module.name)) {
        files.extend(program.path.as_ref().map(|path| (PathBuf::from(path), program.text.to_owned())));
    }
    for case in cases {
        let mut entry = case.entry();
        entry.schedule = schedule_file(&entry.name);
        if let Some(program) = own.iter().find(|program| case.module == program.module.name) {
            entry.program.clone_from(&program.path);
            let (steps, status) = case.recorded();
            let schedule = Schedule {
                file: program.path.clone().unwrap_or_else(|| options.file.clone()),
                hash: program.hash.clone(),
                status: Some(status.to_owned()),
                ..Schedule::new("", "", steps.to_vec()).recorded_with(&options.inputs, options.semantics)
            };
            files.push((PathBuf::from(&entry.schedule), schedule.to_text()));
        }
        entries.push(entry);
    }
    (entries, files)
}

/// The file of a test's execution, in the package.
pub(super) fn schedule_file(test: &str) -> String {
    format!("{DIRECTORY}/{test}.json")
}

/// A program of a package.
struct Program<'a> {
    module: &'a Module<'a>,
    text: &'a str,
    hash: String,
    /// None for the source file.
    path: Option<String>,
}

impl<'a> Program<'a> {
    fn new(module: &'a Module<'a>, options: &Options) -> Program<'a> {
        let input = &module.input;
        let main = input.program.main.map(|main| input.program.functions[main].span.file);
        let text = main.and_then(|file| input.sources.get(file)).map_or("", |file| file.text());
        let hash = source_hash(text);
        let path = (hash != options.hash).then(|| format!("{DIRECTORY}/{}.csm", module.file_stem()));
        Program { module, text, hash, path }
    }
}

/// What the manifest of a package says of its files and its recorded executions.
#[derive(Clone, Debug, Deserialize)]
pub struct Recording {
    schema: String,
    /// The language of the package.
    #[serde(default)]
    pub target: Target,
    /// The files but for the manifest and the recorded executions, as paths in the package.
    #[serde(default = "older")]
    files: Vec<String>,
    /// The tests.
    pub tests: Vec<RecordedTest>,
}

/// A test of a package, and where its execution is.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedTest {
    /// Its name.
    pub name: String,
    /// The schedule file, as a path in the package; none in packages of older versions.
    #[serde(default)]
    pub schedule: Option<String>,
    /// The program, as a path in the package; none where it is the source file.
    #[serde(default)]
    pub program: Option<String>,
}

fn older() -> Vec<String> {
    OLDER.map(str::to_owned).to_vec()
}

/// What is known of a package whose manifest cannot be read.
impl Default for Recording {
    fn default() -> Recording {
        Recording { schema: SCHEMA.to_owned(), target: Target::default(), files: older(), tests: Vec::new() }
    }
}

impl Recording {
    /// Reads the text of a manifest.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Recording, String> {
        let recording: Recording = serde_json::from_str(text).map_err(|error| format!("it is no manifest: {error}"))?;
        match recording.schema == SCHEMA {
            true => Ok(recording),
            false => Err(format!("it has the format `{}`, this version reads `{SCHEMA}`", recording.schema)),
        }
    }

    /// All files of the package, as paths in it.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let recorded = self.tests.iter().flat_map(|test| test.schedule.iter().chain(&test.program));
        self.files.iter().chain(recorded).map(String::as_str).chain([MANIFEST])
    }
}
