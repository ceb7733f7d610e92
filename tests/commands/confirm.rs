//! `check --confirm`: which findings are real, which are impossible, and what is left open.

use crate::process::{ends_with, plain, root};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// `check --confirm` of a text, with the status that it must end with.
fn confirm(text: &str, options: &[&str], status: i32) -> Value {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.csm"), text).unwrap();
    let mut command = plain();
    command.current_dir(directory.path()).args(["check", "--confirm", "--format", "json", "p.csm"]).args(options);
    serde_json::from_slice(&ends_with(&mut command, status).stdout).unwrap()
}

/// Code, objects and status of each finding.
fn verdicts(answer: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let words = |of: &Value| {
        let objects: Vec<String> = of["objects"].as_array().unwrap().iter().map(word).collect();
        format!("{} {} {}", word(&of["code"]), objects.join(","), word(&of["status"]))
    };
    answer["confirmed"].as_array().unwrap().iter().map(words).collect()
}

#[test]
fn what_cannot_be_is_no_warning() {
    // Whoever sees the flag comes after the write of the data: no lock, no event, but no race for the data either.
    let answer = confirm(
        "int data; atomic int flag;\ncobegin\nT1: data = 1; flag = 1;\nT2: if (flag == 1) print(data);\ncoend\n",
        &[],
        0,
    );
    assert_eq!(verdicts(&answer), ["CS0401 data impossible"]);
    assert_eq!((&answer["warnings"], &answer["notes"]), (&Value::from(0), &Value::from(1)));
    assert!(answer["confirmed"][0]["proof"].as_str().unwrap().contains("always comes before"), "{answer}");
}

#[test]
fn a_race_is_shown_by_the_command_that_is_named() {
    let text = "int x;\ncobegin\nT1: x = 1;\nT2: x++;\ncoend\n";
    let answer = confirm(text, &[], 1);
    assert_eq!(verdicts(&answer), ["CS0401 x real"]);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.csm"), text).unwrap();
    let ask = |arguments: &[&str]| {
        let output = plain().current_dir(directory.path()).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = ask(&["check", "--confirm", "p.csm"]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let again = shown.split_once("again: cssame ").unwrap().1.split_once(" =").unwrap().0;
    let races: Vec<&str> = again.split(' ').chain(["--no-exploration", "--format", "json"]).collect();
    let replayed: Value = serde_json::from_str(&ask(&races)).unwrap();
    assert_eq!(replayed["potential"][0]["status"], "real", "{again}");
    assert_eq!(replayed["potential"][0]["hits"], 1, "{again}");
}

#[test]
fn cycles_of_locks_are_held_to_deadlocks() {
    let program = |gate: &str| {
        format!(
            "lock A, B; event e;\ncobegin\nT1: lock(A); lock(B); unlock(B); unlock(A); set(e);\n\
             T2: {gate} lock(B); lock(A); unlock(A); unlock(B);\ncoend\n"
        )
    };
    assert_eq!(verdicts(&confirm(&program("skip;"), &[], 1)), ["CS0402 A,B real"]);
    // A flag orders them, which the text does not tell.
    let flag = "atomic int f;\nlock A, B;\ncobegin\nT1: lock(A); lock(B); unlock(B); unlock(A); f = 1;\n\
                T2: if (f == 1) { lock(B); lock(A); unlock(A); unlock(B); }\ncoend\n";
    assert_eq!(verdicts(&confirm(flag, &[], 0)), ["CS0402 A,B impossible"]);
}

/// Code, severity and line of each diagnostic.
fn diagnostics(answer: &Value) -> Vec<String> {
    let of = |one: &Value| {
        format!("{} {} {}", one["code"].as_str().unwrap(), one["severity"].as_str().unwrap(), one["line"])
    };
    answer["diagnostics"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn failures_and_deadlocks_that_are_met_are_told() {
    // The race is none, as the flag orders the two; what the reader asserts does not hold, and who waits for the event waits for ever.
    let text = "int data; atomic int flag; event never;\ncobegin\nT1: data = 1; flag = 1;\n\
                T2: if (flag == 1) {\n  assert(data == 2);\n  data = 3;\n}\nT3: if (flag == 1)\n  wait(never);\ncoend\n";
    let answer = confirm(text, &[], 1);
    assert_eq!(verdicts(&answer), ["CS0401 data impossible"]);
    // A proof that is part of another one is not said twice.
    assert_eq!(answer["confirmed"][0]["proof"].as_str().unwrap().matches("never about to make both").count(), 1);
    let found = diagnostics(&answer);
    for expected in ["CS0401 note 3", "CS0410 error 5", "CS0412 error 10"] {
        assert!(found.iter().any(|one| one == expected), "{expected} of {found:?}");
    }
    // A deadlock that a cycle of locks tells is told once.
    let cycle = "lock A, B;\ncobegin\nT1: { lock(A); lock(B); unlock(B); unlock(A); }\n\
                 T2: { lock(B); lock(A); unlock(A); unlock(B); }\ncoend\n";
    assert_eq!(diagnostics(&confirm(cycle, &[], 1)), ["CS0402 warning 3"]);
    // Its codes are findings as all others are.
    assert_eq!(diagnostics(&confirm(text, &["--allow", "CS0410,CS0412,CS0304"], 0)), ["CS0401 note 3"]);
}

#[test]
fn a_program_of_which_the_text_tells_nothing_is_executed() {
    let lost = "atomic int x;\ncobegin\n  A: x = x + 1;\n  B: x = x + 1;\ncoend\nassert(x == 2);\n";
    let answer = confirm(lost, &[], 1);
    // Beside the notes on both updates.
    assert_eq!(diagnostics(&answer).len(), 3, "{answer}");
    assert_eq!((&answer["diagnostics"][2]["code"], &answer["all_executions"]), (&"CS0410".into(), &true.into()));
    // One waiter is woken, and there are two.
    let asleep = "bool go;\nlock l;\ncond c;\ncobegin\n  A: { lock(l); while (!go) wait(c, l); unlock(l); }\n  \
                  B: { lock(l); while (!go) wait(c, l); unlock(l); }\n  C: { lock(l); go = true; notify(c); unlock(l); }\n\
                  coend\n";
    let answer = confirm(asleep, &[], 1);
    assert_eq!((&answer["diagnostics"][0]["code"], &answer["all_executions"]), (&"CS0412".into(), &true.into()));
    // A bound is not all.
    let answer = confirm(lost, &["--max-states", "2"], 1);
    assert_eq!(answer.get("all_executions"), None);
}

#[test]
fn locks_of_a_cycle_may_be_elements_of_arrays() {
    for (declared, [one, other], take, give) in [
        ("lock s[2];", ["s[0]", "s[1]"], "lock", "unlock"),
        ("lock s[2], m;", ["m", "s[0]"], "lock", "unlock"),
        ("class Account { lock l; } Account a[2];", ["a[0].l", "a[1].l"], "lock", "unlock"),
        ("rwlock s[2];", ["s[0]", "s[1]"], "wrlock", "unlock"),
    ] {
        let arm = |first: &str, second: &str| {
            format!("{take}({first}); {take}({second}); {give}({second}); {give}({first});")
        };
        let (a, b) = (arm(one, other), arm(other, one));
        let text = format!("{declared}\ncobegin\nA: {a}\nB: {b}\ncoend\n");
        let mut names = [one, other];
        names.sort_unstable();
        let found = verdicts(&confirm(&text, &[], 1));
        assert_eq!(found.len(), 1, "{text}");
        let words: Vec<&str> = found[0].split(' ').collect();
        let mut objects: Vec<&str> = words[1].split(',').collect();
        objects.sort_unstable();
        assert_eq!((words[0], objects.as_slice(), words[2]), ("CS0402", &names[..], "real"), "{text}");
    }
}

#[test]
fn what_bounds_cut_off_is_open() {
    let text = "int x; atomic int f;\ncobegin\nT1: for (int i = 0; i < 9; i++) f++; x = 1; f = 100;\n\
                T2: if (f == 100) x = 2;\ncoend\n";
    assert_eq!(verdicts(&confirm(text, &["--max-states", "3"], 1)), ["CS0401 x open"]);
    assert_eq!(verdicts(&confirm(text, &["--max-memory", "1K"], 1)), ["CS0401 x open"]);
    assert_eq!(verdicts(&confirm(text, &[], 0)), ["CS0401 x impossible"]);
}

#[test]
fn several_files_keep_their_findings() {
    let files = ["samples/peterson.csm", "samples/bank_transfer.csm", "samples/counter_unlocked.csm"];
    let answer = |jobs: &str| {
        let mut command = plain();
        command.current_dir(root()).args(["check", "--confirm", "--format", "json", "--jobs", jobs]).args(files);
        ends_with(&mut command, 1).stdout
    };
    let one = answer("1");
    assert_eq!(one, answer("4"));
    let answer: Value = serde_json::from_slice(&one).unwrap();
    for of in answer["confirmed"].as_array().unwrap() {
        let diagnostic = &answer["diagnostics"][of["diagnostic"].as_u64().unwrap() as usize];
        assert_eq!(diagnostic["code"], of["code"]);
        assert_eq!(diagnostic["severity"] == "note", of["status"] == "impossible");
        let name = format!("`{}`", of["objects"][0].as_str().unwrap());
        assert!(diagnostic["message"].as_str().unwrap().contains(&name), "{diagnostic}");
    }
}

#[test]
fn bounds_need_confirm() {
    for (option, value) in [("--timeout", "3"), ("--max-memory", "1G")] {
        let mut command: Command = plain();
        command.current_dir(root()).args(["check", option, value, "samples/peterson.csm"]);
        ends_with(&mut command, 2);
    }
}

/// Two regions of a lock in `put`, and what `both` does between them.
fn torn(wait: &str) -> String {
    format!(
        "int a; int b; int turn; lock L; cond c;
         void put(int v) {{ lock(L); a = v; unlock(L); lock(L); b = v; turn = 1; notify(c); unlock(L); }}
         void both() {{ lock(L); {wait} print(a + b); unlock(L); }}
         void main() {{ cobegin A: put(1); B: both(); coend }}"
    )
}

#[test]
fn what_no_execution_tears_apart_is_no_warning() {
    let waits = torn("while (turn == 0) { wait(c, L); }");
    let answer = confirm(&waits, &[], 0);
    assert_eq!(verdicts(&answer), ["CS0501 a,b impossible"]);
    assert_eq!((&answer["warnings"], &answer["notes"]), (&Value::from(0), &Value::from(1)));
    // With too few states, nobody knows.
    let answer = confirm(&waits, &["--max-states", "3"], 1);
    assert_eq!(verdicts(&answer), ["CS0501 a,b open"]);
}

#[test]
fn what_an_execution_tears_apart_is_real() {
    let answer = confirm(&torn(""), &[], 1);
    assert_eq!(verdicts(&answer), ["CS0501 a,b real"]);
    assert_eq!(answer["confirmed"][0]["harmful"], false);
    let answer = confirm(&torn("assert(a == b);"), &[], 1);
    assert_eq!(verdicts(&answer), ["CS0501 a,b real"]);
    assert_eq!(answer["confirmed"][0]["harmful"], true);
}
