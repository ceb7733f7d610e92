//! What the programs about tests of classes share: the classes of `samples/classes`, tests for them, and averages.
//!
//! In: the name of a class, or the text of one, and a request. Out: what test generation finds.

#![allow(dead_code, reason = "each of these programs uses a part of it")]

use cssame::budget::Budget;
use cssame::coverage::generate::{Generated, Request, generate};
use cssame::coverage::{PublicMethods, Universe};
use cssame::model::{Options, Unit};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

/// Seeds of each class and strategy.
pub const SEEDS: u64 = 10;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/classes")
}

/// The names of the classes, in order.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let stem = |path: &Path| Some(path.file_stem()?.to_str()?.strip_suffix("_broken")?.to_owned());
    let mut names: Vec<String> = entries.filter_map(|entry| stem(&entry.path())).collect();
    names.sort();
    names
}

/// The text of a class: `vector`, or `vector_broken`.
pub fn text(stem: &str) -> String {
    let path = folder().join(format!("{stem}.csm"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Tests for the classes of a text; none where it does not compile, or no test can be made.
pub fn tests_for(text: &str, request: &Request) -> Option<Generated> {
    let options = Options::default();
    let unit = Unit::from_text("class.csm", text, &options.inputs).ok()?;
    let (universe, methods) = (Universe::of_library(&unit.program), PublicMethods::new(&unit.program));
    let budget = Budget::unlimited().with_jobs(available_parallelism().map_or(1, |jobs| jobs.get()));
    generate(&unit, &options, (&universe, &methods), request, &budget).ok()
}

/// The value in the middle, or the mean of both in the middle; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        None => 0.0,
        Some(&value) if sorted.len() % 2 == 1 => value,
        Some(&value) => (sorted[middle - 1] + value) / 2.0,
    }
}

/// The arithmetic mean; 0 of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The geometric mean of positive values; 1 of none.
pub fn geometric_mean(values: &[f64]) -> f64 {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).exp()
}
