//! What the tests through the library share.

#![allow(
    missing_docs,
    clippy::should_implement_trait,
    clippy::unwrap_used,
    reason = "for tests, which say so by failing"
)]

pub mod c_programs;
pub mod cfg;
pub mod classes;
mod effort;
pub mod generate;
pub mod hostile;
pub mod oracle;
pub mod tools;

pub use effort::{EFFORT, first_seed, has_new_seed, is_long, part, programs, setting, size};

use cssame::answer::{CorrelateRequest, Execute, correlate};
use cssame::budget::{Budget, Limits};
use cssame::correlation::CorrelationReport;
use cssame::model::{Model, Options, Unit};
use cssame::schedule::Step;
use std::fs;
use std::path::{Path, PathBuf};

/// The model of a program that compiles and has a `main`.
pub fn model(text: &str) -> Model {
    model_with(text, &[])
}

/// The same with values of its inputs.
pub fn model_with(text: &str, inputs: &[(&str, &str)]) -> Model {
    let inputs = inputs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let options = Options { inputs, ..Options::default() };
    Model::from_text("test.csm", text, &options).unwrap()
}

/// The model of a random program, unless the front end refuses it: the generator chooses in atomic blocks.
pub fn possible_model(text: &str) -> Option<Model> {
    Model::from_text("test.csm", text, &Options::default()).ok()
}

/// The unit of a program that compiles, with or without a `main`.
pub fn unit(text: &str) -> Unit {
    Unit::from_text("test.csm", text, &[]).unwrap()
}

/// The correlations and pairs of a program, with what executions show of the pairs.
pub fn executed(text: &str) -> CorrelationReport<Vec<Step>> {
    let options = Options::default();
    let request =
        CorrelateRequest { threshold: 0.5, rank: 0.0, sets: false, execute: Execute::Selected, options: &options };
    let limits = Limits { max_states: Some(200_000), ..Limits::default() };
    correlate(unit(text), &request, &Budget::from(limits)).correlation
}

/// The root of the repository.
pub fn root() -> &'static Path {
    // This crate stands two folders below it.
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root of the repository")
}

/// Names and texts of all samples, in order.
pub fn samples() -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(root().join("samples")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "csm"));
    files.sort();
    assert!(files.len() > 40, "{} samples", files.len());
    let named =
        |path: PathBuf| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap());
    files.into_iter().map(named).collect()
}
