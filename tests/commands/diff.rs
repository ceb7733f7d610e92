//! `diff`: what a change has changed, what becomes of a recorded execution, and where two executions part.

use crate::process::{Files, call, plain};
use serde_json::Value;

const OLD: &str = "int x = 1;
lock L;
cobegin
  T1: x = 0;
  T2: print(10 / x);
  T3: { lock(L); x = 5; unlock(L); }
coend
";

const NEW: &str = "// mended
int x = 1;
lock L;
cobegin
  T1: { lock(L); x = 0; x = 1; unlock(L); }
  T2: { lock(L); print(10 / x); unlock(L); }
  T3: { lock(L); x = 5; unlock(L); }
coend
";

fn answer(files: &Files, line: &str) -> (i32, Value) {
    let arguments = line.split(' ').chain(["--format", "json"]);
    let output = plain().current_dir(files.path("")).args(arguments).output().expect("it runs");
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error}"));
    (output.status.code().expect("a status"), value)
}

fn files(programs: &[(&str, &str)]) -> Files {
    let files = Files::new();
    for (name, text) in programs {
        std::fs::write(files.path(name), text).expect("a file");
    }
    files
}

/// The changes of a list that are not `same`, with the parts that these keys name.
fn changes(value: &Value, list: &str, keys: &[&str]) -> Vec<String> {
    let all = value[list].as_array().expect("a list").iter().filter(|of| of["change"] != "same");
    let shown = |of: &Value| keys.iter().map(|key| of[key].to_string().replace('"', "")).collect::<Vec<_>>().join(" ");
    all.map(|of| format!("{} {}", of["change"].as_str().unwrap_or_default(), shown(of))).collect()
}

#[test]
fn what_a_lock_has_changed() {
    let files = files(&[("old.csm", OLD), ("new.csm", NEW)]);
    let (status, value) = answer(&files, "diff old.csm new.csm");
    assert_eq!(status, 1);
    let terms = changes(&value, "terms", &["old", "new"]);
    assert_eq!(terms, ["gone [x@5:18,x@4:7] null", "new null [x@6:29,x@5:25]"]);
    assert_eq!(changes(&value, "failures", &["status", "at", "thread"]), ["gone division-by-zero 5:13 T2"]);
    assert_eq!(changes(&value, "outcomes", &["status"]), ["gone division-by-zero"]);
    let (status, back) = answer(&files, "diff new.csm old.csm");
    assert_eq!(status, 1);
    assert_eq!(changes(&back, "failures", &["at"]), ["new 5:13"]);
}

#[test]
fn terms_are_told_by_their_contexts() {
    let old = "int n;\nvoid put(int v) { n = v; }\ncobegin\n  T1: put(3);\n  T2: print(n);\ncoend\n";
    let new = old.replace("  T2: print", "  T3: put(4);\n  T2: print");
    let files = files(&[("old.csm", old), ("new.csm", &new)]);
    let (status, value) = answer(&files, "diff old.csm new.csm");
    let found = changes(&value, "terms", &["new"]);
    assert_eq!(status, 1);
    assert_eq!(found, ["new [n@6:13,T3:n@2:19]"]);
}

#[test]
fn what_is_moved_or_laid_out_anew_is_the_same() {
    let one = "int x;\nvoid put() {\n  x = 1;\n}\nvoid show() {\n  print(x);\n}\nvoid main() { cobegin A: put(); B: show(); coend }\n";
    let other = "// a comment\nint x;\nvoid show()\n{ print(x); }\nvoid put() { x = 1; }\n\nvoid main() { cobegin A: put();\n B: show(); coend }\n";
    let files = files(&[("one.csm", one), ("other.csm", other)]);
    let (status, value) = answer(&files, "diff one.csm one.csm");
    assert_eq!((status, changes(&value, "terms", &["old"])), (0, Vec::new()));
    let moved = "int x;\nvoid show() {\n  print(x);\n}\nvoid put() {\n  x = 1;\n}\nvoid main() { cobegin A: put(); B: show(); coend }\n";
    std::fs::write(files.path("moved.csm"), moved).expect("a file");
    let (status, value) = answer(&files, "diff one.csm moved.csm");
    assert_eq!(status, 0, "{value}");
    let spread = one.replace("{\n  print", "\n\n{ print").replace("int x;", "int x; // the cell");
    std::fs::write(files.path("spread.csm"), spread).expect("a file");
    assert_eq!(answer(&files, "diff one.csm spread.csm").0, 0);
}

#[test]
fn a_deadlock_that_is_mended_is_gone() {
    let text = |first: &str, second: &str| {
        format!(
            "lock A, B;\ncobegin\n  T1: {{ lock(A); lock(B); unlock(B); unlock(A); }}\n  T2: {{ lock({first}); lock({second}); unlock({second}); unlock({first}); }}\ncoend\n"
        )
    };
    let files = files(&[("old.csm", &text("B", "A")), ("new.csm", &text("A", "B"))]);
    let (status, value) = answer(&files, "diff old.csm new.csm");
    assert_eq!((status, changes(&value, "deadlocks", &[])), (1, vec!["gone ".to_owned()]));
    assert_eq!(changes(&value, "outcomes", &["status"]), ["gone deadlock"]);
}

#[test]
fn a_recorded_execution_is_carried_over() {
    let files = files(&[("old.csm", OLD), ("new.csm", NEW)]);
    answer(&files, "futures old.csm --record-dir found");
    let (_, value) = answer(&files, "diff old.csm new.csm --schedule found/failure-1.json --record carried.json");
    let carried = &value["carried"];
    assert_eq!((&carried["recorded"], &carried["kept"]), (&4.into(), &2.into()), "{carried}");
    assert_eq!(carried["added"][0]["op"], "lock L");
    assert!(carried["stopped"].as_str().is_some_and(|why| why.contains("T2 is blocked before lock L")), "{carried}");
    assert_eq!((&carried["before"], &carried["after"]), (&"division-by-zero".into(), &"ok".into()));
    assert_eq!(answer(&files, "run new.csm --schedule carried.json").0, 0);
    // What is added elsewhere does not matter, and what is gone is dropped.
    let longer = OLD.replace("T3: {", "T3: { x = 7;").replace("int x", "int y;\nint x");
    std::fs::write(files.path("longer.csm"), &longer).expect("a file");
    let (_, value) = answer(&files, "diff old.csm longer.csm --schedule found/failure-1.json");
    let carried = &value["carried"];
    assert_eq!(
        (&carried["kept"], &carried["stopped"], &carried["after"]),
        (&4.into(), &Value::Null, &"division-by-zero".into())
    );
    let shorter = OLD.replace("  T1: x = 0;\n", "  T1: ;\n");
    std::fs::write(files.path("shorter.csm"), shorter).expect("a file");
    let (_, value) = answer(&files, "diff old.csm shorter.csm --schedule found/failure-1.json");
    assert_eq!(value["carried"]["dropped"].as_array().map(Vec::len), Some(1), "{}", value["carried"]);
    assert_eq!(value["carried"]["after"], "ok");
}

#[test]
fn two_executions_part() {
    let text = "int x;\ncobegin\n  T1: x = x + 1;\n  T2: x = x + 1;\ncoend\nprint(x);\n";
    let files = files(&[("counter.csm", text)]);
    for seed in 0..8 {
        answer(&files, &format!("run counter.csm --seed {seed} --record {seed}.json"));
    }
    let output = |seed| answer(&files, &format!("run counter.csm --seed {seed}")).1["output"][0].to_string();
    let lost = (0..8).find(|&seed| output(seed).contains('1')).expect("an update that is lost");
    let kept = (0..8).find(|&seed| output(seed).contains('2')).expect("one that is not");
    let (status, value) = answer(&files, &format!("diff {lost}.json {kept}.json"));
    assert_eq!(status, 1);
    assert!(value["parting"].is_array() && !value["reads"].as_array().expect("reads").is_empty(), "{value}");
    assert_eq!(value["ends"][0]["by_thread"][0]["output"][0], "1");
    assert_eq!(value["ends"][1]["by_thread"][0]["output"][0], "2");
    let (status, value) = answer(&files, &format!("diff {lost}.json {lost}.json"));
    assert_eq!((status, &value["parting"]), (0, &Value::Null));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let files = files(&[("old.csm", OLD), ("new.csm", NEW)]);
    answer(&files, "futures old.csm --record-dir found");
    let status =
        |line: &str| plain().current_dir(files.path("")).args(line.split(' ')).output().expect("it runs").status.code();
    assert_eq!(status("diff old.csm found/failure-1.json"), Some(2));
    assert_eq!(status("diff new.csm old.csm --schedule found/failure-1.json"), Some(2));
    assert_eq!(status("diff old.csm"), Some(2));
    assert_eq!(status("diff old.csm new.csm --max-steps 2"), Some(3));
}

#[test]
fn a_bound_is_said_as_by_other_commands() {
    let answer = call("diff --max-states 10 samples/bank_transfer.csm samples/bank_transfer_deadlock.csm", &[""; 0]);
    assert_eq!(answer.stderr.matches("the search was stopped by `--max-states`").count(), 1, "{}", answer.stderr);
    assert!(answer.stderr.contains("warning[CS0904]"), "{}", answer.stderr);
}
