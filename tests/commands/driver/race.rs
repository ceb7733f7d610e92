//! `cssame drive --race`: the tests of both orders of a race, built and run; races that are none.

use super::fixture::root;
use super::workspace::Workspace;
use crate::process::plain;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a package that the command writes, its answer, and its exit status.
fn drive(file: &Path, race: &str, more: &[&str]) -> (Vec<(PathBuf, String)>, Value, i32) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut command = plain();
    command.arg("drive").arg(file).args(["--race", race, "--format", "json"]).args(more).arg("--out").arg(&out);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file:?}: {error}: {text}"));
    let paths = answer["files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap());
    let files: Vec<_> = paths.map(|path| (PathBuf::from(path), fs::read_to_string(out.join(path)).unwrap())).collect();
    assert_eq!(out.exists(), !files.is_empty(), "{file:?}");
    (files, answer, output.status.code().unwrap())
}

fn drive_text(text: &str, race: &str, more: &[&str]) -> (Vec<(PathBuf, String)>, Value, i32) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("program.csm");
    fs::write(&file, text).unwrap();
    drive(&file, race, more)
}

fn sample(name: &str) -> PathBuf {
    root().join(format!("samples/{name}.csm"))
}

/// The names of the tests, and how each ends.
fn tests(answer: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    answer["tests"].as_array().unwrap().iter().map(|test| (word(&test["name"]), word(&test["end"]))).collect()
}

fn named(tests: &[(&str, &str)]) -> Vec<(String, String)> {
    tests.iter().map(|&(name, end)| (name.to_owned(), end.to_owned())).collect()
}

#[test]
fn both_orders_of_a_race_happen_whatever_the_timing() {
    let mut workspace = Workspace::new("race");
    let (files, answer, status) = drive(&sample("sen_fig1"), "z@18:9,z@21:5", &["--expect", "recorded"]);
    assert_eq!(status, 0);
    assert_eq!(tests(&answer), named(&[("race_z_18_9_before_z_21_5", "ok"), ("race_z_21_5_before_z_18_9", "failure")]));
    let race = &answer["race"];
    assert_eq!((&race["a"], &race["b"], &race["status"]), (&"z@18:9".into(), &"z@21:5".into(), &"real".into()));
    assert_eq!(race["orders"][0]["threads"], Value::from(vec!["T1", "T2"]));
    workspace.add_files("sen_fig1", &files);
    // Two writes and a write after a read: no read can tell the order, and the latches keep it all the same.
    let writes = "int x;\ncobegin\n  A: x = 1;\n  B: x = 2;\ncoend\nprint(x);\n";
    let (files, answer, _) = drive_text(writes, "x@3:6,x@4:6", &["--expect", "recorded"]);
    assert_eq!(tests(&answer), named(&[("race_x_3_6_before_x_4_6", "ok"), ("race_x_4_6_before_x_3_6", "ok")]));
    let outputs: Vec<&Value> = answer["tests"].as_array().unwrap().iter().map(|test| &test["output"][0]).collect();
    assert_eq!(outputs, ["2", "1"]);
    let (_, text) = files.iter().find(|(path, _)| path.ends_with("futures.rs")).unwrap();
    assert!(text.contains("Write(Int(2)), \"x@4:6\", &[2])"), "{text}");
    assert!(text.contains("/// The write of A at `x@3:6` (line 3: `A: x = 1;`) comes before the write of B"), "{text}");
    workspace.add_files("writes", &files);
    for delays in [&[][..], &[("CSSAME_DELAYS", "1")]] {
        let (results, text) = workspace.run(delays);
        assert_eq!(results.len(), 4, "{text}");
        assert!(results.values().all(|&passed| passed), "{text}");
    }
}

#[test]
fn an_order_that_can_fail_is_shown_to_fail() {
    // The assertion holds unless C writes in between.
    let text =
        "int x, y;\ncobegin\n  A: x = 1;\n  B: { int seen = x; if (seen == 1) assert(y == 0); }\n  C: y = 1;\ncoend\n";
    let (_, answer, _) = drive_text(text, "x@3:6,x@4:19", &[]);
    assert_eq!(tests(&answer), named(&[("race_x_3_6_before_x_4_19", "failure"), ("race_x_4_19_before_x_3_6", "ok")]));
}

#[test]
fn of_one_place_orders_are_told_apart_by_threads() {
    let text = "int x;\nvoid bump() {\n  x = x + 1;\n}\nvoid main() {\n  cobegin\n    A: bump();\n    \
                B: bump();\n  coend\n}\n";
    let (_, answer, _) = drive_text(text, "x@3:3,x@3:3", &[]);
    // Two writes of the same value: nobody can tell which one comes first.
    assert_eq!(tests(&answer), named(&[("race_x_3_3_of_a_before_x_3_3_of_b", "ok")]), "{answer:#}");
    let text = "int x;\nvoid put(int v) {\n  x = v;\n}\nvoid main() {\n  cobegin\n    A: put(1);\n    \
                B: put(2);\n  coend\n}\n";
    let (_, answer, _) = drive_text(text, "x@3:3,x@3:3", &[]);
    let both = [("race_x_3_3_of_a_before_x_3_3_of_b", "ok"), ("race_x_3_3_of_b_before_x_3_3_of_a", "ok")];
    assert_eq!(tests(&answer), named(&both), "{answer:#}");
}

#[test]
fn an_order_that_an_assumption_discards_has_no_test() {
    let text = "int x;\ncobegin\n  A: x = 1;\n  B: { int seen = x; assume(seen == 0); }\ncoend\n";
    let (_, answer, status) = drive_text(text, "x@3:6,x@4:19", &[]);
    assert_eq!((status, tests(&answer)), (0, named(&[("race_x_4_19_before_x_3_6", "ok")])), "{answer:#}");
    assert_eq!(answer["race"]["orders"][0]["reason"], "an assumption discards every execution of this order");
    // B has to wait for C, which goes in turn too late.
    let text =
        "int x, y;\ncobegin\n  A: x = 1;\n  B: { int seen = x; assume(y == 1); }\n  C: { skip; y = 1; }\ncoend\n";
    let (_, answer, status) = drive_text(text, "x@3:6,x@4:19", &[]);
    assert_eq!((status, tests(&answer).len()), (0, 2), "{answer:#}");
}

#[test]
fn what_is_no_race_has_no_package() {
    let (files, answer, status) = drive(&sample("sen_fig1"), "x@14:5,x@24:11", &[]);
    assert_eq!((files.len(), status, &answer["complete"]), (0, 1, &Value::Bool(true)));
    assert_eq!(answer["race"]["status"], "impossible");
    assert!(answer["race"]["proof"].as_str().unwrap().contains("always comes before"), "{answer:#}");
    // All the threads can do is not known after some states.
    let text = "int x, y;\ncobegin\n  A: { for (int i = 0; i < 100; i++) y = i; if (y == -1) x = 1; }\n  \
                B: { for (int i = 0; i < 100; i++) y = i; x = 2; }\ncoend\n";
    let (files, answer, status) = drive_text(text, "x@3:58,x@4:45", &["--max-states", "10"]);
    assert_eq!((files.len(), status, &answer["complete"]), (0, 3, &Value::Bool(false)), "{answer:#}");
    assert_eq!(answer["race"]["status"], "unconfirmed");
}
