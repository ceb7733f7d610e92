//! `cssame FILE`: how a program fails, blocks or runs for ever, before what the text says.

use crate::process::{Answer, Files, call};

/// What is said of the search, and of the text, in the last lines.
fn summary(answer: &Answer) -> Vec<&str> {
    answer.stderr.lines().collect()
}

#[test]
fn the_bad_end_is_on_the_first_line_and_its_steps_follow() {
    let answer = call("samples/bank_transfer_deadlock.csm", &[""; 0]);
    assert_eq!(answer.status, 1, "{answer:?}");
    assert!(answer.stdout.starts_with("error[CS0412]: deadlock: T1, T2, main wait for ever\n"), "{}", answer.stdout);
    let steps = answer.stdout.find("lock b.guard").unwrap();
    let warning = "the text (`cssame check samples/bank_transfer_deadlock.csm` says more):\n  line 18  `a.guard` and `b.guard` may";
    assert!(steps < answer.stdout.find(warning).unwrap(), "the text comes last: {}", answer.stdout);
    let sure = "no other failure, deadlock, race or endless execution: all 23 states seen";
    let said = [sure, "1 warning in the text"];
    assert_eq!(summary(&answer), said);
}

#[test]
fn what_was_searched_is_said_where_nothing_was_found() {
    let files = Files::new();
    let right = files.write("right.csm", "int x;\ncobegin A: x = 1; B: skip; coend\nprint(x);\n");
    let answer = call("", &[&right]);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, ""), "{answer:?}");
    let known = "no failure, deadlock, race or endless execution: all 4 states seen";
    assert_eq!(summary(&answer), [known]);
    // A file without main is not run.
    let library = files.write("library.csm", "class C { int x; public void f() { x = 1; } }\n");
    let answer = call("", &[&library]);
    assert!(answer.stderr.contains("has no main") && !answer.stderr.contains("looked at"), "{answer:?}");
}

/// What the text warns of and all executions refute is counted, and not shown.
#[test]
fn a_warning_that_no_execution_shows_is_left_out() {
    let files = Files::new();
    let right = "atomic int next, serving;\nint x;\nvoid go() { int t = fetch_add(next, 1); while (serving != t) { } x = x + 1; serving = t + 1; }\n\
                 cobegin\nA: go();\nB: go();\ncoend\nassert(x == 2);\n";
    let answer = call("", &[&files.write("right.csm", right)]);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, ""), "{answer:?}");
    assert_eq!(summary(&answer)[1], "nothing in the text, and 1 warning that no execution shows");
    // Where not all are looked at, nothing is decided.
    files.write("cssame.toml", "[bounds]\nmax-states = 3\n");
    let answer = call("", &[&files.path("right.csm")]);
    assert_eq!((answer.status, answer.stdout.contains("CS0401")), (3, true), "{answer:?}");
}

#[test]
fn a_bound_of_the_configuration_leaves_it_undecided() {
    let files = Files::new();
    files.write("cssame.toml", "[bounds]\nmax-states = 3\n");
    let arms: String = (0..3).map(|arm| format!("T{arm}: {{ x = {arm}; lock(l); x = x + 1; unlock(l); }}\n")).collect();
    let path = files.write("p.csm", format!("atomic int x;\nlock l;\ncobegin\n{arms}coend\nassert(x < 9);\n"));
    let answer = call("", &[&path]);
    assert!(
        answer.stderr.contains("not even all executions without a preemption were looked at: 4 states so far"),
        "{answer:?}"
    );
    assert_eq!(answer.status, 3, "{answer:?}");
}
