//! `cssame paths --emit`: a test for each branch-affect group, built and run.

use super::fixture::root;
use super::workspace::Workspace;
use crate::process::plain;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a package that the command writes, and its answer.
fn emit(file: &Path) -> (Vec<(PathBuf, String)>, Value) {
    emit_with(file, &[])
}

fn emit_with(file: &Path, more: &[&str]) -> (Vec<(PathBuf, String)>, Value) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let output =
        plain().arg("paths").arg(file).args(more).args(["--format", "json", "--emit"]).arg(&out).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let paths = answer["emitted"]["files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap());
    let files = paths.map(|path| (PathBuf::from(path), fs::read_to_string(out.join(path)).unwrap())).collect();
    (files, answer["emitted"].clone())
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let word = |one: &Value| one[key].as_str().map(str::to_owned);
    list.as_array().unwrap().iter().filter_map(word).collect()
}

#[test]
fn each_tested_group_has_a_driver_that_follows_its_order() {
    let mut workspace = Workspace::new("paths");
    let (files, answer) = emit(&root().join("samples/setiadi_commons_pool.csm"));
    assert_eq!(names(&answer["groups"], "test"), ["t2_22_11_1_group_1", "t2_22_11_1_group_2"]);
    workspace.add_files("pool", &files);
    let (files, answer) = emit(&root().join("samples/setiadi_fig13.csm"));
    assert_eq!(names(&answer["tests"], "end"), ["ok", "ok", "ok", "deadlock"], "{answer:#}");
    workspace.add_files("lost", &files);
    let (_, text) = files.iter().find(|(path, _)| path.ends_with("futures.rs")).unwrap();
    assert!(text.contains("/// Group 2 of `T1:20:9#1`, `true` (line 20: `if (n < 0)"), "{text}");
    let (results, text) = workspace.run(&[("CSSAME_DELAYS", "1")]);
    assert_eq!(results.len(), 6, "{text}");
    for (name, passed) in results {
        // The program waits for ever: its test says so by failing.
        assert_eq!(passed, name != "t1_19_5_1_group_2", "{name}: {text}");
    }
}

/// The orders that other tests stand for.
#[test]
fn all_orders_can_have_a_driver() {
    let path = root().join("samples/setiadi_fig3.csm");
    let count = |more: &[&str]| emit_with(&path, more).1["tests"].as_array().unwrap().len();
    assert_eq!((count(&[]), count(&["--all"])), (2, 5));
}

#[test]
fn a_program_without_groups_has_a_package_that_says_so() {
    let (files, answer) = emit(&root().join("samples/counter_locked.csm"));
    assert_eq!((answer["tests"].as_array().unwrap().len(), answer["groups"].as_array().unwrap().len()), (0, 0));
    let (_, manifest) = files.iter().find(|(path, _)| path.ends_with("MANIFEST.json")).unwrap();
    assert!(manifest.contains("no test: no order of other threads can change a branch"), "{manifest}");
}
