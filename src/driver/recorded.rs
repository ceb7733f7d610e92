//! The recorded executions of a package, as schedule files beside the tests, and how they are read again.
//!
//! **Input**: the tests of a package and their programs. **Output**: for each test a schedule file, and for each program that
//! is not the source file itself its text; and back: from the text of a manifest which files hold what ([`Recording`]).
//!
//! **Soundness and limits**: the steps are those of the whole execution that the test follows.

use super::manifest::{SCHEMA, TestEntry};
use super::tests_file::TestCase;
use super::{Input, Options};
use crate::schedule::{Schedule, source_hash};
use serde::Deserialize;
use std::path::PathBuf;

/// The directory of recorded executions in a package.
const DIRECTORY: &str = "recorded";

/// The files of recorded executions, and the entries of the tests with the paths of these files. `programs` are those that
/// tests run, each with the name of its module.
pub(super) fn files(
    programs: &[(String, &Input<'_>)],
    cases: &[TestCase],
    options: &Options,
) -> (Vec<TestEntry>, Vec<(PathBuf, String)>) {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut entries = Vec::new();
    let own: Vec<Program<'_>> = programs.iter().map(|(module, input)| Program::new(module, input, options)).collect();
    for program in own.iter().filter(|program| cases.iter().any(|case| case.module() == program.module)) {
        files.extend(program.path.as_ref().map(|path| (PathBuf::from(path), program.text.to_owned())));
    }
    for case in cases {
        let mut entry = case.entry();
        entry.schedule = format!("{DIRECTORY}/{}.json", entry.name);
        if let Some(program) = own.iter().find(|program| program.module == case.module()) {
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

/// A program of a package.
struct Program<'a> {
    module: &'a str,
    text: &'a str,
    hash: String,
    /// None for the source file.
    path: Option<String>,
}

impl<'a> Program<'a> {
    fn new(module: &'a str, input: &Input<'a>, options: &Options) -> Program<'a> {
        let main = input.program.main.map(|main| input.program.functions[main].span.file);
        let text = main.and_then(|file| input.sources.get(file)).map_or("", |file| file.text());
        let hash = source_hash(text);
        let name = module.rsplit("::").next().unwrap_or(module);
        let path = (hash != options.hash).then(|| format!("{DIRECTORY}/{name}.csm"));
        Program { module, text, hash, path }
    }
}

/// What the manifest of a package says of its recorded executions.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Recording {
    schema: String,
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

    /// The files of recorded executions, as paths in the package.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().flat_map(|test| test.schedule.iter().chain(&test.program)).map(String::as_str)
    }
}
