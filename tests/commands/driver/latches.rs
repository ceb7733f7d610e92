//! `drive --target aspectj --latches`: the form of the paper shows what `drive` itself refuses.

use super::fixture::root;
use crate::process::{ends_with, plain};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What no execution of figure 7 has.
const IMPOSSIBLE: [&str; 4] = ["--select", "a@25:9=a@15:5", "--select", "b@25:21=b@22:5"];

fn drive(file: &str, out: &Path, more: &[&str]) -> Command {
    let mut command = plain();
    command.current_dir(root()).args(["drive", file, "--out"]).arg(out).args(more);
    command
}

#[test]
fn an_impossible_selection_is_shown_in_the_form_of_the_paper_and_refused_by_drive() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let refused = ends_with(&mut drive("samples/cssame_fig7.csm", &out, &IMPOSSIBLE), 1);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("CS0420") && !out.exists());
    let woven: Vec<&str> = IMPOSSIBLE.into_iter().chain(["--target", "aspectj"]).collect();
    ends_with(&mut drive("samples/cssame_fig7.csm", &out, &woven), 1);
    assert!(!out.exists());
    let more: Vec<&str> = woven.into_iter().chain(["--latches"]).collect();
    ends_with(&mut drive("samples/cssame_fig7.csm", &out, &more), 0);
    let manifest: Value = serde_json::from_str(&fs::read_to_string(out.join("MANIFEST.json")).unwrap()).unwrap();
    assert_eq!((&manifest["target"], &manifest["latches"]), (&Value::from("aspectj"), &Value::from(true)));
    assert_eq!(manifest["tests"].as_array().unwrap().len(), 1);
    let readme = fs::read_to_string(out.join("README.md")).unwrap();
    assert!(readme.contains("It shows what cannot happen") && readme.contains("It blocks where the program does not"));
    if support::tools::class_path().is_some() {
        let more: Vec<&str> = more.into_iter().chain(["--run"]).collect();
        let shown = ends_with(&mut drive("samples/cssame_fig7.csm", &out, &more), 0);
        let text = String::from_utf8_lossy(&shown.stderr).into_owned();
        assert!(text.contains("T2: 1 2") && text.contains("1 tests successful"), "{text}");
    }
    // Another package takes its place, and no file of it is left.
    ends_with(&mut drive("samples/cssame_fig2.csm", &out, &[]), 0);
    assert!(!out.join("run.sh").exists() && !out.join("src/main").exists());
}

#[test]
fn the_answer_says_that_nobody_was_asked() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let more = ["--target", "aspectj", "--latches", "--format", "json"];
    let output = ends_with(&mut drive("samples/cssame_fig7.csm", &out, &more), 0);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(root().join("docs/json.schema.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&answer), "{answer:#}");
    let terms = answer["terms"].as_array().unwrap();
    assert_eq!(terms.len(), 6);
    assert!(terms.iter().all(|term| term["status"] == "not-asked" && term["test"].is_string()));
    // The print reads what the test before it has read.
    assert_eq!(terms[4]["test"], terms[0]["test"]);
}

#[test]
fn a_construct_is_refused_where_it_stands() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let more = ["--target", "aspectj", "--latches"];
    let output = ends_with(&mut drive("samples/barrier_phases.csm", &out, &more), 2);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("CS0911") && text.contains("the array `t`") && text.contains("barrier_phases.csm:"),
        "{text}"
    );
    assert!(!out.exists());
}
