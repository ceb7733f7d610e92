//! What `cssame drive` finds beside terms: failures, deadlocks, outcomes, recorded executions. In the answer, in the tests, and as
//! exit status.

use super::fixture::{fixture_of, has_main, root, sample};
use super::workspace::Workspace;
use crate::process::{Answer, call, plain};
use cssame::budget::Limits;
use cssame::driver::{Contents, Expect};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Drives a file; the answer, the exit status, and the text of its tests.
fn drive(file: &Path, more: &[&str]) -> (Value, i32, String) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut command = plain();
    command.arg("drive").arg(file).args(more).args(["--format", "json", "--out"]).arg(&out);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file:?}: {error}: {output:?}"));
    let tests = fs::read_to_string(out.join("tests/futures.rs")).unwrap();
    (answer, output.status.code().unwrap(), tests)
}

fn drive_text(text: &str, more: &[&str]) -> (Value, i32, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("program.csm");
    fs::write(&file, text).unwrap();
    drive(&file, more)
}

fn file(name: &str) -> PathBuf {
    root().join(format!("samples/{name}.csm"))
}

fn list<'a>(answer: &'a Value, key: &str) -> Vec<&'a Value> {
    answer[key].as_array().unwrap().iter().collect()
}

/// The names of the tests that end in this way.
fn ending<'a>(answer: &'a Value, end: &str) -> Vec<&'a str> {
    let tests = list(answer, "tests").into_iter().filter(|test| test["end"] == end);
    tests.map(|test| test["name"].as_str().unwrap()).collect()
}

/// Who asks for failures gets no tests of terms, and no search for these either.
#[test]
fn failures_alone_have_tests_where_they_are_asked_for() {
    for (file, named) in [(file("bank_transfer_deadlock"), 1), (root().join("benches/real/message_broker_a.csm"), 2)] {
        let (answer, status, _) = drive(&file, &["--failures", "--max-states", "2000"]);
        let deadlocks = list(&answer, "deadlocks");
        assert_eq!((status, deadlocks.len(), list(&answer, "tests").len()), (1, named, named), "{answer}");
        assert!(list(&answer, "terms").is_empty() && deadlocks[0]["test"] == "deadlock_1", "{answer}");
    }
    let (answer, status, tests) = drive_text("int x;\ncobegin\nA: x = 1;\nB: print(x);\ncoend\n", &["--failures"]);
    assert_eq!((status, list(&answer, "tests").len(), tests.contains("#[test]")), (0, 0, false), "{answer}");
    assert_eq!(answer["note"], "no test: no failure and no deadlock was found");
}

const BOTH_SEEN: &str = "int a, b;\ncobegin\n  T1: a = 1;\n  T2: b = 1;\n  T3: assert(a + b != 2);\ncoend\n";

#[test]
fn each_deadlock_has_a_test_and_makes_the_exit_status_1() {
    for name in ["bank_transfer_deadlock", "dining_philosophers", "lost_notify", "lost_notify_cond", "event_cleared"] {
        let (answer, status, _) = drive(&file(name), &[]);
        assert_eq!((status, ending(&answer, "deadlock")), (1, vec!["deadlock_1"]), "{name}");
        assert_eq!(list(&answer, "deadlocks")[0]["test"], "deadlock_1", "{name}");
        assert!(list(&answer, "failures").is_empty(), "{name}");
        assert_eq!(drive(&file(name), &["--expect", "recorded"]).1, 0, "{name}");
    }
}

#[test]
fn each_failure_has_a_test_and_makes_the_exit_status_1() {
    let (answer, status, _) = drive(&file("unlock_not_held"), &[]);
    assert_eq!((status, ending(&answer, "failure")), (1, vec!["unlock_not_held_at_15_5"]));
    // No term alone makes the assertion fail.
    let (answer, status, tests) = drive_text(BOTH_SEEN, &[]);
    assert_eq!((status, ending(&answer, "failure")), (1, vec!["assert_at_5_7"]));
    assert!(tests.contains("/// T3 fails at 5:7: assertion failed.\n"), "{tests}");
    assert_eq!(list(&answer, "failures")[0]["at"], "5:7");
    // What the test of a term shows gets no second one.
    let (answer, status, _) = drive(&file("cssame_fig5"), &[]);
    assert_eq!((status, ending(&answer, "failure")), (1, vec!["n_25_23_from_n_15_5"]));
    assert_eq!(list(&answer, "failures")[0]["test"], "n_25_23_from_n_15_5");
    // A setter that two threads call: one of the two calls makes the division fail.
    let setter =
        "int n = 1;\nvoid put(int v) { n = v; }\ncobegin\n  T1: put(3);\n  T2: put(0);\n  T3: print(21 / n);\ncoend\n";
    let (answer, status, _) = drive_text(setter, &[]);
    assert_eq!((status, list(&answer, "tests").len()), (1, 3));
    assert_eq!(ending(&answer, "failure"), ["n_6_18_from_t2_n_2_19"]);
    assert_eq!(list(&answer, "terms")[1]["def_context"], "T1:n@2:19");
    // Two assertions, one in each arm; either may fail, each for a reason of its own.
    let two = "int x;\ncobegin\n  A: { x = 1; assert(x == 1); }\n  B: { x = 2; assert(x == 2); }\ncoend\n";
    let (answer, status, _) = drive_text(two, &[]);
    assert_eq!((status, list(&answer, "failures").len()), (1, 2));
}

#[test]
fn terms_alone_have_tests_where_that_is_wanted() {
    let (answer, status, _) = drive_text(BOTH_SEEN, &["--terms-only"]);
    assert_eq!((status, list(&answer, "tests").len(), ending(&answer, "failure").len()), (0, 4, 0));
    assert_eq!(answer.get("failures"), None);
    assert_eq!(answer.get("outcomes"), None);
}

#[test]
fn programs_without_pi_functions_get_a_test_of_their_outcome() {
    let (answer, status, tests) = drive_text("int x = 1;\nprint(x);\n", &[]);
    let all = list(&answer, "tests");
    assert_eq!((status, all.len()), (0, 1));
    assert_eq!((&all[0]["name"], &all[0]["output"][0]), (&"outcome".into(), &"1".into()));
    assert!(
        tests.contains("/// Each read of the program can read from one definition only. Here main prints 1.\n"),
        "{tests}"
    );
    // Locks alone: an execution that ends well, and the deadlock.
    let locks = "lock a, b;\ncobegin\n  A: { lock(a); lock(b); unlock(b); unlock(a); }\n  \
                 B: { lock(b); lock(a); unlock(a); unlock(b); }\ncoend\n";
    let (answer, status, _) = drive_text(locks, &[]);
    assert_eq!((status, ending(&answer, "deadlock"), ending(&answer, "ok")), (1, vec!["deadlock_1"], vec!["outcome"]));
    // There is no execution that ends well.
    let (answer, status, _) = drive_text("lock a;\nlock(a);\nlock(a);\n", &[]);
    assert_eq!((status, ending(&answer, "deadlock"), ending(&answer, "ok").len()), (1, vec!["deadlock_1"], 0));
}

#[test]
fn each_outcome_has_a_test_where_that_is_wanted() {
    let (answer, status, _) = drive(&file("cssame_fig6"), &["--outcomes"]);
    let outcomes = list(&answer, "outcomes");
    assert_eq!((status, outcomes.len()), (0, 5));
    assert!(outcomes.iter().all(|outcome| outcome["test"].is_string()));
    let printed: Vec<&Value> = outcomes.iter().map(|outcome| &outcome["by_thread"][0]["output"][0]).collect();
    assert_eq!(printed, ["0", "1", "2", "3", "4"]);
    assert_eq!(outcomes[4]["test"], "outcome_5");
    let choice = "int n = choose(1, 3);\nprint(n);\n";
    let (answer, _, _) = drive_text(choice, &["--outcomes"]);
    assert_eq!((list(&answer, "outcomes").len(), list(&answer, "tests").len()), (3, 3));
    assert_eq!(list(&drive_text(choice, &[]).0, "tests").len(), 1);
}

#[test]
fn a_recorded_schedule_gets_a_test() {
    let directory = tempfile::tempdir().unwrap();
    let found = directory.path().join("found");
    call("futures samples/bank_transfer_deadlock.csm --record-dir", &[&found]);
    let recorded = found.join("deadlock-1.json");
    let schedule = ["--schedule", recorded.to_str().unwrap()];
    let (answer, status, _) = drive(&file("bank_transfer_deadlock"), &schedule);
    assert_eq!((status, ending(&answer, "deadlock")), (1, vec!["schedule_deadlock_1"]));
    assert_eq!(list(&answer, "deadlocks")[0]["cycle"], Value::from(vec!["T1", "T2"]));
    let out = directory.path().join("out");
    let Answer { status, stderr, .. } =
        call("drive samples/cssame_fig2.csm", &[Path::new("--schedule"), &recorded, Path::new("--out"), &out]);
    assert!(status == 2 && stderr.contains("CS0907") && !out.exists(), "{status}: {stderr}");
    // A schedule that stops before the end: the threads go on in turn. Its inputs are those of the record.
    let text = "input int n = 1;\nint x;\ncobegin\n  A: x = n;\n  B: x = 7;\ncoend\nprint(x);\n";
    let program = directory.path().join("program.csm");
    fs::write(&program, text).unwrap();
    let record = directory.path().join("first.json");
    let run = call("run --input n=5 --seed 1 --record", &[&record, &program]);
    assert_eq!(run.status, 0, "{run:?}");
    let mut schedule: Value = serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
    schedule["steps"].as_array_mut().unwrap().truncate(1);
    fs::write(&record, schedule.to_string()).unwrap();
    let (answer, status, _) = drive(&program, &["--schedule", record.to_str().unwrap()]);
    assert_eq!((status, ending(&answer, "ok")), (0, vec!["schedule_first"]), "{answer}");
}

#[test]
fn the_tests_of_failures_and_deadlocks_fail_and_pass_where_they_are_expected() {
    let mut workspace = Workspace::new("found");
    let mut expected = Workspace::new("found_expected");
    for name in ["bank_transfer_deadlock", "unlock_not_held"] {
        let package = |expect| sample(name, expect).drive_with(&Limits::default(), Contents::Failures, false);
        workspace.add(name, &package(Expect::Program));
        expected.add(name, &package(Expect::Recorded));
    }
    let package = |expect| {
        fixture_of("both_seen.csm", BOTH_SEEN, expect).drive_with(&Limits::default(), Contents::Outcomes, true)
    };
    workspace.add("both_seen", &package(Expect::Program));
    expected.add("both_seen", &package(Expect::Recorded));
    let (results, text) = workspace.run(&[]);
    let failing = ["deadlock_1", "unlock_not_held_at_15_5", "assert_at_5_7"];
    for (name, passed) in &results {
        assert_eq!(*passed, !failing.contains(&name.as_str()), "{name}: {text}");
    }
    assert!(failing.iter().all(|name| results.contains_key(*name)), "{text}");
    let waits = "T1 at lock to@18:3 waits for the lock `b.guard`, which T2 holds since 17:3\n";
    assert!(text.contains(waits) && text.contains("assertion failed at line 5"), "{text}");
    let (results, text) = expected.run(&[("CSSAME_DELAYS", "1")]);
    assert!(results.len() > 3 && results.values().all(|passed| *passed), "{text}");
}

#[test]
fn the_summary_says_how_tests_end() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let answer = call("drive samples/bank_transfer_deadlock.csm --out", &[&out]);
    assert!(answer.stderr.contains(": 12 end well, 1 ends in a deadlock\n"), "{answer:?}");
    assert!(answer.stdout.contains("deadlock  deadlock_1\n  main at 33:3 waits for the end of T1, T2\n"), "{answer:?}");
    assert!(answer.text().lines().all(|line| line.chars().count() <= 80 || line.contains("Cargo.toml")), "{answer:?}");
}

/// No test of a correct sample fails: the exit status is that of `futures`.
#[test]
fn the_exit_status_is_that_of_futures() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["bank_account", "bounded_buffer", "peterson", "peterson_broken", "cache_stale", "sen_fig2"] {
        assert!(has_main(name));
        let out = directory.path().join(name);
        let futures = call("futures", &[&file(name)]).status;
        let driven = call("drive", &[file(name).as_path(), Path::new("--out"), &out]).status;
        assert_eq!(driven, futures, "{name}");
    }
}
