//! `cssame ci`: a tree of programs, one answer.

use crate::process::{Answer, Files, finish, program, root};
use serde_json::Value;
use std::fs;

const CLEAN: &str =
    "int x;\nlock L;\ncobegin\n  T1: { lock(L); x = 1; unlock(L); }\n  T2: { lock(L); x = 2; unlock(L); }\ncoend\n";
const DEADLOCK: &str = "lock a, b;\ncobegin\n  T1: { lock(a); lock(b); unlock(b); unlock(a); }\n  T2: { lock(b); lock(a); unlock(a); unlock(b); }\ncoend\n";
const FAILS: &str = "int x;\ncobegin\n  T1: x = 1;\n  T2: x = 2;\ncoend\nassert(x == 1);\n";

fn tree() -> Files {
    let files = Files::new();
    for directory in ["old", "some", "some/deep"] {
        fs::create_dir(files.path(directory)).unwrap();
    }
    files.write("clean.csm", CLEAN);
    files.write("some/deadlock.csm", DEADLOCK);
    files.write("some/deep/fails.csm", FAILS);
    files.write("old/broken.csm", "int = 1;\n");
    files.write("notes.txt", "no program");
    files
}

fn ci(files: &Files, line: &str) -> Answer {
    finish(program().current_dir(files.0.path()).arg("ci").args(line.split_whitespace()))
}

/// What each command says of each file.
fn verdicts(value: &Value) -> Vec<(String, Vec<(String, bool, u64)>)> {
    let command = |of: &Value| {
        (
            of["command"].as_str().unwrap().to_owned(),
            of["complete"].as_bool().unwrap(),
            of["findings"].as_u64().unwrap(),
        )
    };
    let file = |of: &Value| {
        let name = of["file"].as_str().unwrap().replace('\\', "/");
        (name, of["commands"].as_array().unwrap().iter().map(command).collect())
    };
    value["files"].as_array().unwrap().iter().map(file).collect()
}

fn names(value: &Value) -> Vec<String> {
    verdicts(value).into_iter().map(|(name, _)| name).collect()
}

/// Terms are decided reader by reader, but there are too many states to look for executions without end.
#[test]
fn a_search_for_executions_without_end_that_was_cut_is_told() {
    let files = Files::new();
    let readers: String = (0..16).map(|of| format!("  R{of}: {{ int v = x; while (v == 0) v = x; }}\n")).collect();
    files.write("spin.csm", format!("atomic int x;\ncobegin\n{readers}  W: x = 1;\ncoend\n"));
    let answer = ci(&files, "--command futures --format json");
    assert_eq!(answer.status, 3, "{}{}", answer.stdout, answer.stderr);
    let found = verdicts(&answer.json());
    assert_eq!(found[0].1.last(), Some(&("futures".to_owned(), false, 0)), "{found:?}");
}

#[test]
fn each_command_is_asked_of_each_file() {
    let files = tree();
    let answer = ci(&files, "--format json --exclude old");
    let found = verdicts(&answer.json());
    let of = |command: &str, count| (command.to_owned(), true, count);
    let expected = [
        ("clean.csm", vec![of("check", 0), of("races", 0), of("futures", 0)]),
        ("some/deadlock.csm", vec![of("check", 1), of("races", 1), of("futures", 0)]),
        ("some/deep/fails.csm", vec![of("check", 1), of("races", 1), of("futures", 0)]),
    ];
    assert_eq!(found, expected.map(|(name, commands)| (name.to_owned(), commands)));
    assert_eq!(answer.status, 1);
    // The failure is found by `futures` where `races` is not asked.
    let found = verdicts(&ci(&files, "--format json --exclude old --command check --command futures").json());
    assert_eq!(found[2].1, [of("check", 1), of("futures", 1)]);
}

#[test]
fn one_status_for_all_files() {
    let files = tree();
    assert_eq!(ci(&files, "").status, 2);
    assert_eq!(ci(&files, "some").status, 1);
    assert_eq!(ci(&files, "clean.csm").status, 0);
    assert_eq!(ci(&files, "clean.csm --max-states 2").status, 3);
    assert_eq!(ci(&files, "some --max-states 2").status, 1);
    assert_eq!(ci(&files, "nowhere").status, 2);
    assert_eq!(ci(&files, "clean.csm some --allow all").status, 0);
    fs::create_dir(files.path("empty")).unwrap();
    let none = ci(&files, "empty");
    assert_eq!((none.status, none.stderr.as_str()), (2, "error[CS0909]: there is no `.csm` file in `empty`\n"));
}

#[test]
fn what_git_and_the_configuration_leave_out() {
    let files = tree();
    files.write(".gitignore", "deep/\n");
    files.write("cssame.toml", "[ci]\nexclude = [\"old/\"]\ncommands = [\"check\"]\n[bounds]\nmax-states = 2\n");
    let value = ci(&files, "--format json").json();
    assert_eq!(names(&value), ["clean.csm", "some/deadlock.csm"]);
    assert_eq!(value["files"][0]["commands"].as_array().unwrap().len(), 1);
    // The bounds of a file are those of its own configuration.
    files.write("some/cssame.toml", "[bounds]\nmax-states = 100000\n");
    let value = ci(&files, "--format json --command futures").json();
    let open: Vec<bool> = verdicts(&value).iter().map(|(_, commands)| commands.iter().all(|of| of.1)).collect();
    assert_eq!(open, [false, true]);
    let named = ci(&files, "--format json old/broken.csm notes.txt").json();
    assert_eq!(names(&named), ["notes.txt", "old/broken.csm"]);
}

#[test]
fn a_bad_table_is_an_error() {
    let files = tree();
    files.write("cssame.toml", "[ci]\ncommands = [\"chek\"]\nexclude = 3\nspeed = 1\n");
    let answer = ci(&files, "some");
    assert_eq!(answer.status, 2);
    for part in ["did you mean `check`?", "`exclude` is a list of texts", "`[ci]` has no key `speed`"] {
        assert!(answer.stderr.contains(part), "{part}: {}", answer.stderr);
    }
    assert_eq!(ci(&files, "--no-config --exclude [ some").status, 2);
}

#[test]
fn the_findings_are_written_as_files_too() {
    let files = tree();
    let answer =
        ci(&files, "some --write sarif=a.sarif --write junit=b.xml --write markdown=c.md --write github=d.txt");
    assert_eq!(answer.status, 1);
    let log: Value = serde_json::from_str(&fs::read_to_string(files.path("a.sarif")).unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap().len();
    assert_eq!(results, 4);
    let report = fs::read_to_string(files.path("b.xml")).unwrap();
    assert!(roxmltree::Document::parse(&report).unwrap().root_element().attribute("failures") == Some("4"), "{report}");
    assert!(fs::read_to_string(files.path("c.md")).unwrap().contains(" in 2 files\n"));
    assert_eq!(fs::read_to_string(files.path("d.txt")).unwrap().lines().count(), 4);
    assert_eq!(ci(&files, "some --write pdf=x").status, 2);
}

#[test]
fn the_answer_does_not_depend_on_the_cores() {
    let files = tree();
    for format in ["json", "sarif", "markdown"] {
        let answers = ["1", "2"].map(|jobs| ci(&files, &format!("--exclude old --format {format} -j {jobs}")));
        assert_eq!(answers[0], answers[1]);
    }
}

#[test]
fn the_json_keeps_to_its_schema() {
    let files = tree();
    files.write("allowed.csm", DEADLOCK.replace("lock a, b;", "lock a, b; // cssame: allow(CS0402)"));
    let value = ci(&files, "--format json").json();
    crate::json_schema::assert_answer("ci", &value);
    assert!(value["suppressed"].is_array() && value["diagnostics"].as_array().unwrap().len() > 4, "{value}");
}

/// Of a composite action nothing is checked before it runs.
#[test]
fn the_action_calls_what_there_is() {
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    let help = finish(program().args(["ci", "--help"])).stdout;
    for option in ["--format", "--write"] {
        assert!(action.contains(option) && help.contains(option), "{option}");
    }
}
