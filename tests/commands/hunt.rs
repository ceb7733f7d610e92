//! `cssame hunt`: what is found first, and what is sure when time is up.

use crate::process::{Files, call};
use serde_json::Value;
use std::collections::BTreeSet;

/// Three threads that count; to lose an update takes a preemption.
const COUNTS: &str = "\
input int rounds = 1;
atomic int x;
void count() { for (int i = 0; i < rounds; i++) { int a = x; x = a + 1; } }
cobegin
A: count();
B: count();
C: count();
coend
assert(x > 1);
";

#[test]
fn few_preemptions_come_first() {
    let files = Files::new();
    let path = files.write("counts.csm", COUNTS);
    let none = call("hunt --preemptions 0", &[&path]);
    assert_eq!(none.status, 0, "{none:?}");
    assert!(
        none.stdout.starts_with("no failure, deadlock or race\nin any execution without a preemption: "),
        "{none:?}"
    );
    let all = call("hunt", &[&path]);
    assert_eq!(all.status, 1, "{all:?}");
    assert!(all.stdout.starts_with("error[CS0410]"), "{all:?}");
    assert_eq!(all.stdout.matches("(interrupted)").count(), 1, "{all:?}");
    let last = all.stdout.lines().last().unwrap();
    assert!(last.starts_with("no other failure, deadlock, race or endless execution: all "), "{last}");
}

#[test]
fn a_bound_says_up_to_how_many_preemptions_all_is_known() {
    let files = Files::new();
    let path = files.write("counts.csm", COUNTS.replace("x > 1", "x > 0"));
    let answer = call("hunt --input rounds=4 --max-states 400 --format json", &[&path]);
    assert_eq!(answer.status, 3, "{answer:?}");
    let value = answer.json();
    assert_eq!((&value["complete"], &value["bound"]), (&false.into(), &"max-states".into()));
    let sure = value["bounds"]["preemptions"].as_u64().unwrap();
    let asked = call(&format!("hunt --input rounds=4 --preemptions {sure} --format json"), &[&path]);
    assert_eq!((asked.status, asked.json()["bounds"]["preemptions"].as_u64()), (0, Some(sure)), "{asked:?}");
}

#[test]
fn values_grow_up_to_the_first_that_fails() {
    let files = Files::new();
    let path = files.write("counts.csm", COUNTS.replace("x > 1", "x > rounds - 2"));
    let answer = call("hunt --grow rounds=1..4", &[&path]);
    assert_eq!(answer.status, 1, "{answer:?}");
    let rows: Vec<&str> = answer.stdout.lines().filter(|line| line.starts_with("  rounds=")).collect();
    let is_clean = |row: &&&str| row.contains("nothing goes wrong");
    assert_eq!((rows.len(), rows.iter().filter(is_clean).count()), (4, 3), "{answer:?}");
    assert!(rows[3].contains("something goes wrong"), "{answer:?}");
    let usage = call("hunt --grow rounds=4..1", &[&path]);
    assert!(usage.status == 2 && usage.stderr.contains("write it as NAME=A..B"), "{usage:?}");
}

/// Schedules that are written lead to what was found.
#[test]
fn recorded_findings_replay() {
    let files = Files::new();
    let path = files.write("counts.csm", COUNTS);
    let answer = call("hunt --record-dir", &[&files.path("found"), &path]);
    assert_eq!(answer.status, 1, "{answer:?}");
    let replayed = call("run --schedule", &[&files.path("found/failure-1.json"), &path]);
    assert!(replayed.status == 1 && replayed.stdout.contains("CS0410"), "{replayed:?}");
}

/// Code and line of the failures, deadlocks and races of a command that visits few states.
fn bad(command: &str, file: &str) -> BTreeSet<(String, i64)> {
    let answer = call(&format!("{command} --max-states 2000 --format sarif {file}"), &[""; 0]);
    assert_eq!(answer.status, 1, "{command} {file}: {answer:?}");
    let log = answer.json();
    let of = |one: &Value| {
        // A race is harmful, or not.
        let code = one["ruleId"].as_str().unwrap().replace("CS0404", "CS0403");
        (code, one["locations"][0]["physicalLocation"]["region"]["startLine"].as_i64().unwrap())
    };
    log["runs"][0]["results"].as_array().unwrap().iter().map(of).collect()
}

/// Other searches that a bound cuts tell what few preemptions show.
#[test]
fn whoever_is_cut_tells_what_is_found_in_the_order_of_preemptions() {
    for name in ["message_broker_a", "thread_pool_a"] {
        let file = format!("benches/real/{name}.csm");
        let hunted = bad("hunt", &file);
        let ends: BTreeSet<_> = hunted.iter().filter(|(code, _)| code != "CS0403").cloned().collect();
        assert!(!ends.is_empty(), "{name}");
        // In `ci` a race may be what the text says of the variable.
        for (command, wanted) in [("futures", &ends), ("check --confirm", &ends), ("races", &hunted), ("ci", &ends)] {
            let found = bad(command, &file);
            assert!(found.is_superset(wanted), "{command} {name}: {found:?} without some of {wanted:?}");
        }
    }
}
