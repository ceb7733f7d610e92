//! The JSON of every command on every sample keeps to its schema, and the schema to its description.

use crate::process::{plain, root, samples};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// States that a search may visit for a sample: enough for most, and the others show what a bound looks like.
const STATES: &str = "20000";

fn schema() -> Value {
    let text = fs::read_to_string(root().join("docs/json.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The part of the schema for the answers of a command.
fn validator(definition: &str) -> Validator {
    let part = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": format!("#/$defs/{definition}"),
        "$defs": schema()["$defs"],
    });
    jsonschema::validator_for(&part).unwrap()
}

/// The answer of a command keeps to its schema.
pub fn assert_answer(command: &str, value: &Value) {
    assert_valid(&validator(command), &[command], value);
}

/// Exit status and answer.
fn answer(arguments: &[&str]) -> (i32, Value) {
    let output = plain().current_dir(root()).args(arguments).args(["--format", "json"]).output().unwrap();
    let value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&output.stdout)));
    (output.status.code().unwrap(), value)
}

fn assert_valid(validator: &Validator, arguments: &[&str], value: &Value) {
    let problems: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(problems.is_empty(), "{arguments:?}:\n{}", problems.join("\n"));
}

/// Asks a command about every sample. What it prints is valid, whatever its status; only a library has nothing to run.
fn assert_all_valid(command: &str, more: &[&str]) {
    let (validator, error) = (validator(command), validator("error"));
    for sample in support::part(samples(), 8) {
        let mut arguments = vec![command, sample.to_str().unwrap()];
        arguments.extend(more);
        let (status, value) = answer(&arguments);
        if status == 2 {
            assert_eq!(value["diagnostics"][0]["code"], "CS0216", "{arguments:?}: {value}");
            assert_valid(&error, &arguments, &value);
        } else {
            assert_valid(&validator, &arguments, &value);
        }
    }
}

#[test]
fn check() {
    assert_all_valid("check", &[]);
}

#[test]
fn hunt() {
    assert_all_valid("hunt", &["--timeout", "5"]);
    let (_, value) = answer(&["hunt", "samples/counter_atomic.csm", "--preemptions", "1"]);
    assert_eq!(value["bounds"]["preemptions"], 1);
}

#[test]
fn check_of_a_library() {
    let arguments = ["check", "samples/classes/bank_account_broken.csm", "samples/classes/vector.csm"];
    let (status, value) = answer(&arguments);
    assert_eq!(status, 1);
    assert_valid(&validator("check"), &arguments, &value);
    assert_eq!(value["closed"][0]["objects"], serde_json::json!(["BankAccount"]));
    assert_eq!(value["closed"][0]["methods"][0], "BankAccount.deposit");
    assert_eq!(value["closed"][1]["file"], "samples/classes/vector.csm");
    // A file with a main is what it is.
    let (_, value) = answer(&["check", "samples/counter_unlocked.csm"]);
    assert_eq!(value.get("closed"), None);
}

#[test]
fn check_confirm() {
    assert_all_valid("check", &["--confirm", "--max-states", STATES]);
}

#[test]
fn ir() {
    for form in ["ast", "cfg", "ssa", "cssame", "source"] {
        assert_all_valid("ir", &["--emit", form]);
    }
}

#[test]
fn pi() {
    assert_all_valid("pi", &[]);
}

#[test]
fn correlate() {
    assert_all_valid("correlate", &["--max-states", STATES]);
}

#[test]
fn run() {
    assert_all_valid("run", &["--seed", "3", "--max-steps", "2000"]);
}

#[test]
fn seeds() {
    let (validator, seeds) = (validator("seeds"), ["--seeds", "3..40", "--max-steps", "2000"]);
    for sample in support::part(samples(), 8) {
        let mut arguments = vec!["run", sample.to_str().unwrap()];
        arguments.extend(seeds);
        let (status, value) = answer(&arguments);
        if status != 2 {
            assert_valid(&validator, &arguments, &value);
        }
    }
}

#[test]
fn diff() {
    let compare = ["diff", "samples/bank_account_broken.csm", "samples/bank_account.csm", "--max-states", STATES];
    let (status, value) = answer(&compare);
    assert_eq!(status, 1);
    assert_valid(&validator("diff"), &compare, &value);
}

#[test]
fn futures() {
    assert_all_valid("futures", &["--max-states", STATES]);
}

#[test]
fn races() {
    assert_all_valid("races", &["--trials", "5", "--max-states", STATES]);
    assert_all_valid("races", &["--predict", "dynamic", "--predict-runs", "2", "--trials", "2", "--no-exploration"]);
}

#[test]
fn races_of_other_targets_and_schedulers() {
    let validator = validator("races");
    for more in [
        &["--scheduler", "random,pct,pos,race-directed,reads-from", "--trials", "20"][..],
        &["--scheduler", "random", "--switch-at", "synchronisation", "--trials", "20"],
        &["--target", "deadlocks", "--trials", "5"],
        &["--target", "notifications", "--trials", "5"],
        &["--target", "correlations", "--trials", "5"],
    ] {
        for sample in ["samples/sen_fig1.csm", "samples/bank_transfer_deadlock.csm", "samples/lost_notify_cond.csm"] {
            let arguments = [&["races", sample][..], more].concat();
            assert_valid(&validator, &arguments, &answer(&arguments).1);
        }
    }
}

#[test]
fn paths() {
    assert_all_valid("paths", &["--max-states", "2000", "--max-executions", "50"]);
}

#[test]
fn paths_by_other_criteria() {
    let validator = validator("paths");
    for sample in ["samples/setiadi_fig3.csm", "samples/setiadi_jnetmap.csm", "samples/lost_notify_cond.csm"] {
        for more in [
            &["--criterion", "reachability"][..],
            &["--criterion", "tpair"],
            &["--max-states", "0", "--first", "seed:3"],
            &["--arrays", "whole"],
        ] {
            let arguments = [&["paths", sample][..], more].concat();
            assert_valid(&validator, &arguments, &answer(&arguments).1);
        }
    }
    let arguments = ["paths", "samples/setiadi_fig3.csm", "--explain", "T1:15:9"];
    let (_, value) = answer(&arguments);
    assert!(value["explained"].is_object());
    assert_valid(&validator, &arguments, &value);
}

#[test]
fn paths_compare() {
    let samples = ["samples/setiadi_fig3.csm", "samples/setiadi_jnetmap.csm", "samples/spinlock_cas.csm"];
    let arguments = [&["paths", "--compare", "--max-states", "2000", "--max-executions", "50"][..], &samples].concat();
    let (_, value) = answer(&arguments);
    assert_valid(&validator("comparison"), &arguments, &value);
}

#[test]
fn coverage() {
    assert_all_valid("coverage", &["--runs", "10", "--max-states", STATES]);
    assert_all_valid("coverage", &["--runs", "3", "--max-steps", "200", "--no-exploration"]);
}

#[test]
fn generated_tests() {
    let validator = validator("generated");
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("tests");
    for class in ["map_log4j", "classes/synchronized_map_broken", "classes/vector_broken", "classes/once"] {
        let file = format!("samples/{class}.csm");
        let more = ["--generate", "--keep-going", "--tests", "24", "--out", out.to_str().unwrap()];
        let arguments = [&["coverage", file.as_str()][..], &more].concat();
        assert_valid(&validator, &arguments, &answer(&arguments).1);
    }
}

#[test]
fn drive() {
    let directory = tempfile::tempdir().unwrap();
    // Each package takes the place of the one before.
    let out = directory.path().join("driver");
    assert_all_valid("drive", &["--out", out.to_str().unwrap(), "--max-states", STATES]);
}

#[test]
fn drive_pairs() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("driver");
    assert_all_valid("drive", &["--pairs", "--out", out.to_str().unwrap(), "--max-states", STATES]);
}

#[test]
fn drive_race() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("driver");
    let validator = validator("drive");
    for race in ["z@18:9,z@21:5", "x@14:5,x@24:11"] {
        let arguments =
            ["drive", "samples/sen_fig1.csm", "--race", race, "--max-states", STATES, "--out", out.to_str().unwrap()];
        let (_, value) = answer(&arguments);
        assert!(value["race"].is_object());
        assert_valid(&validator, &arguments, &value);
    }
}

#[test]
fn selections() {
    let validator = validator("futures");
    for term in ["a@24:11=a@16:5", "a@24:11=a@15:5", "a@24:11#1=a@initial"] {
        let arguments = ["futures", "samples/cssame_fig2.csm", "--select", term];
        let (_, value) = answer(&arguments);
        assert!(value["selection"].is_object());
        assert_valid(&validator, &arguments, &value);
    }
}

#[test]
fn explain() {
    for arguments in [&["explain"][..], &["explain", "CS0401"]] {
        assert_valid(&validator("explain"), arguments, &answer(arguments).1);
    }
}

#[test]
fn errors() {
    let validator = validator("error");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("wrong.csm");
    fs::write(&file, "int x = y;\ncobegin\n").unwrap();
    for file in [file.to_str().unwrap(), "samples/missing.csm"] {
        for arguments in [
            &["ir", file][..],
            &["pi", file],
            &["correlate", file],
            &["run", file],
            &["futures", file],
            &["drive", file, "--out", "never-written"],
            &["paths", file],
            &["coverage", file],
        ] {
            let (status, value) = answer(arguments);
            assert_eq!(status, 2, "{arguments:?}");
            assert_valid(&validator, arguments, &value);
        }
        let (status, value) = answer(&["check", file]);
        assert_eq!(status, 2);
        assert_valid(&self::validator("check"), &["check", file], &value);
    }
}

/// All keys of objects that a schema names.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                found.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| keys(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_is_described() {
    let text = fs::read_to_string(root().join("docs/json.md")).unwrap();
    let mut all = BTreeSet::new();
    keys(&schema(), &mut all);
    let missing: Vec<&String> = all.iter().filter(|key| !text.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/json.md does not describe {missing:?}");
}

#[test]
fn what_is_suppressed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("p.csm");
    let text = "int x; // cssame: allow(CS0401, CS0412)\nlock a; // cssame: alow(CS0401)\ncobegin\n  T1: x = 1;\n  T2: x = 2;\ncoend\n\
                // cssame: allow(CS0410)\nassert(x == 1);\n";
    fs::write(&file, text).unwrap();
    for (command, definition) in [
        ("check", "check"),
        ("run", "run"),
        ("futures", "futures"),
        ("races", "races"),
        ("correlate", "correlate"),
        ("paths", "paths"),
        ("coverage", "coverage"),
    ] {
        let arguments = [command, file.to_str().unwrap(), "--allow", "CS0403,CS0404,CS0405"];
        let (_, value) = answer(&arguments);
        assert_valid(&validator(definition), &arguments, &value);
        let problems = value["suppression_diagnostics"].as_array().cloned().unwrap_or_default();
        assert!(command == "check" || problems.iter().any(|problem| problem["code"] == "CS0914"), "{command}");
        assert!(["run", "correlate"].contains(&command) || value["suppressed"].is_array(), "{command}");
    }
}

/// All values that a schema lists for a key.
fn values(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Array(listed)) = map.get("enum") {
                found.extend(listed.iter().filter_map(|value| value.as_str().map(str::to_owned)));
            }
            map.values().for_each(|value| values(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| values(value, found)),
        _ => {}
    }
}

#[test]
fn every_value_is_named() {
    let text = fs::read_to_string(root().join("docs/json.md")).unwrap();
    let mut all = BTreeSet::new();
    values(&schema(), &mut all);
    assert!(all.contains("max-memory") && all.len() > 60, "{all:?}");
    let is_missing = |value: &&String| !text.contains(&format!("`{value}`")) && !text.contains(&format!("\"{value}\""));
    let missing: Vec<&String> = all.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "docs/json.md does not name {missing:?}");
}

#[test]
fn the_schema_tells_answers_from_nonsense() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    assert!(validator.is_valid(&answer(&["pi", "samples/cssame_fig2.csm"]).1));
    for wrong in [
        json!({}),
        json!({"schema": "cssame/1", "command": "pi", "file": "a.csm"}),
        json!({"schema": "cssame/2", "command": "pi", "file": "a", "pis": [], "single": [], "merged": false}),
        json!({"schema": "cssame/1", "command": "pi", "file": "a", "pis": [{}], "single": [], "merged": false}),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}
