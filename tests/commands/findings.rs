//! What people read of deadlocks, of bounds that were hit, and of selections: the text, and the JSON beside it.

use crate::process::{Files, call, plain};
use serde_json::Value;
use std::fs;

/// What `futures` says of a program: text (with the warnings behind it), and JSON.
fn futures(program: &str, options: &[&str]) -> (String, Value) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.csm"), program).unwrap();
    let ask = |more: &[&str]| {
        let mut command = plain();
        command.current_dir(directory.path()).args(["futures", "p.csm"]).args(options).args(more).output().unwrap()
    };
    let text = ask(&[]);
    let json = ask(&["--format", "json"]);
    let text = String::from_utf8(text.stdout).unwrap() + &String::from_utf8(text.stderr).unwrap();
    assert!(text.lines().filter(|line| !line.starts_with("re")).all(|line| line.chars().count() <= 80), "{text}");
    (text, serde_json::from_slice(&json.stdout).unwrap())
}

/// One line, without what folds it.
fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_says(text: &str, sentences: &[&str]) {
    let all = unfolded(text);
    for sentence in sentences {
        assert!(all.contains(sentence), "{sentence:?} is missing:\n{text}");
    }
}

#[test]
fn a_deadlock_shows_the_cycle_of_threads_that_wait() {
    let (text, json) = futures(
        "lock A, B, C;\ncobegin\n X: { lock(A); lock(B); unlock(B); unlock(A); }\n Y: { lock(B); lock(C); unlock(C); unlock(B); }\n \
         Z: { lock(C); lock(A); unlock(A); unlock(C); }\ncoend\n",
        &[],
    );
    let cycle = "cycle: X waits for `B`, held by Y since 4:7; Y waits for `C`, held by Z since 5:7; Z waits for `A`, \
                 held by X since 3:7";
    assert_says(&text, &["deadlock: X, Y, Z, main wait for ever", cycle]);
    assert_eq!(json["deadlocks"][0]["cycle"], serde_json::json!(["X", "Y", "Z"]));
}

#[test]
fn a_thread_that_waits_for_itself_is_a_cycle() {
    let (text, json) = futures("lock L;\nlock(L);\nlock(L);\n", &[]);
    assert_says(&text, &["cycle: main waits for `L`, held by main since 2:1"]);
    assert_eq!(json["deadlocks"][0]["cycle"], serde_json::json!(["main"]));
}

#[test]
fn a_deadlock_says_what_was_never_done() {
    let (text, json) = futures(
        "event e, f; cond c; lock L; sem s = 0; barrier b(3);\ncobegin\n A: { set(f); clear(f); wait(f); }\n B: wait(e);\n \
         C: { lock(L); wait(c, L); unlock(L); }\n D: P(s);\n E: barrier(b);\ncoend\n",
        &[],
    );
    assert_says(
        &text,
        &[
            "A waits for the event `f`, cleared at 3:15 by A",
            "B waits for the event `e`, never set",
            "C waits to be notified of `c`, never done",
            "D waits for the semaphore `s`, never raised",
            "E waits at the barrier `b`: 1 of 3 have arrived",
        ],
    );
    assert!(!text.contains("cycle:"), "{text}");
    let columns = text.lines().find(|line| line.starts_with("line  ")).unwrap();
    assert_eq!(columns.split_whitespace().collect::<Vec<_>>(), ["line", "main", "A", "B", "C", "D", "E"]);
    let threads = json["deadlocks"][0]["threads"].as_array().unwrap();
    let of = |name: &str| threads.iter().find(|thread| thread["thread"] == name).unwrap();
    assert_eq!((&of("A")["signalled_at"], &of("A")["cleared_at"]), (&"3:7".into(), &"3:15".into()));
    assert_eq!((&of("B")["signalled_at"], &of("B")["cleared_at"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_deadlock_says_who_took_what_a_thread_waits_for() {
    let (text, json) = futures(
        "lock L; cond c; int n; sem s = 0;\ncobegin\nH: { lock(L); if (n == 0)\n wait(c, L); unlock(L); }\nQ: { lock(L); while (n == 0)\n \
         wait(c, L); n--; unlock(L); }\nM: { lock(L); n++;\n notify(c); unlock(L);\n V(s); }\nT: P(s);\nW: P(s);\ncoend\n",
        &["--all"],
    );
    assert_says(
        &text,
        &[
            "Q waits to be notified of `c`, last done at 8:2, which woke H",
            "H waits to be notified of `c`, last done at 8:2, before it waited",
            "W waits for the semaphore `s`, last raised at 9:2, taken by T",
        ],
    );
    let threads = json["deadlocks"].as_array().unwrap().iter().flat_map(|one| one["threads"].as_array().unwrap());
    let of = |name: &'static str| threads.clone().filter(move |thread| thread["thread"] == name);
    assert!(of("Q").any(|one| one["taken_by"] == serde_json::json!(["H"])));
    assert!(of("H").any(|one| one["too_early"] == true));
    assert!(of("W").any(|one| one["taken_by"] == serde_json::json!(["T"])));
}

#[test]
fn a_deadlock_says_who_passed_by_what_a_thread_waits_for() {
    let (text, json) = futures(
        "lock L; cond c; int w; bool o;\ncobegin\nW: { lock(L); while (!o) { w++;\n wait(c, L); } unlock(L); }\n\
         K: { lock(L); int n = w; unlock(L);\n if (n > 0) {\n lock(L); o = true; notify(c);\n unlock(L); } }\ncoend\n",
        &[],
    );
    assert_says(&text, &["W waits to be notified of `c`, never done; K passed by 7:21 at 6:6"]);
    let threads = json["deadlocks"][0]["threads"].as_array().unwrap();
    let passed = &threads.iter().find(|thread| thread["thread"] == "W").unwrap()["passed"];
    assert_eq!(*passed, serde_json::json!([{ "thread": "K", "at": "6:6", "operation": "7:21" }]));
}

#[test]
fn values_of_an_enum_are_shown_by_name() {
    let (text, json) = futures(
        "enum State { IDLE, BUSY = 4, DONE };\n\
         class Job { State state; public State get() { return state; }\n public void set(State to) { state = to; } }\n\
         Job job; atomic State phase;\ncobegin\nT1: { job.set(BUSY); cas(phase, IDLE, BUSY); }\n\
         T2: { State seen = job.get(); swap(phase, DONE);\n assert(seen == IDLE || phase == BUSY); }\ncoend\n",
        &[],
    );
    assert_says(&text, &["seen is BUSY, phase is DONE", "write job.state = BUSY", "swap phase IDLE→DONE"]);
    assert_eq!(json["failures"][0]["facts"], serde_json::json!(["seen is BUSY", "phase is DONE"]));
}

/// A search that a bound has cut is followed by one that counts preemptions.
#[test]
fn a_bound_says_what_few_preemptions_can_do() {
    let path = support::root().join("benches/real/thread_pool.csm");
    let program = std::fs::read_to_string(path).unwrap();
    let (text, json) = futures(&program, &["--max-states", "2000"]);
    assert_eq!(json["unfinished"]["preemptions"], 0);
    assert_says(&text, &["no other failure or deadlock in any execution without a preemption"]);
    let (text, _) = futures(&program, &["--max-states", "10000"]);
    assert_says(&text, &["no other failure or deadlock in any execution with at most 3 preemptions"]);
}

/// A loop whose counter grows, in a thread that another one may or may not stop.
#[test]
fn a_bound_names_the_loop_that_still_ran() {
    let program = "int x, done;\ncobegin\n A:\n  while (done == 0) {\n   x = x + 1;\n  }\n B: done = 1;\ncoend\n";
    let (text, json) = futures(program, &["--max-steps", "60"]);
    assert_says(
        &text,
        &[
            "the search was stopped by `--max-steps`",
            "no other failure or deadlock in the first 60 steps of any execution",
            "still running then: A in the loop at line 4",
        ],
    );
    assert_eq!(
        json["unfinished"],
        serde_json::json!({"steps": 60, "preemptions": null, "running": [{"thread": "A", "kind": "loop", "line": 4}]})
    );
    let (text, _) = futures(program, &["--max-states", "500"]);
    assert_says(&text, &["the search was stopped by `--max-states`", "still running then: A in the loop at line 4"]);
}

#[test]
fn a_bound_names_a_loop_around_a_call_and_a_recursion() {
    let program = "int x;\nvoid step() { x = x + 1; }\nvoid down(int n) {\n x = n;\n down(n + 1);\n}\nvoid main() {\n cobegin\n  \
                   A: while (true) step();\n  B: down(0);\n coend\n}\n";
    let (text, json) = futures(program, &["--max-steps", "80"]);
    assert_says(&text, &["still running then: A in the loop at line 9, B in the recursion at line 3"]);
    assert_eq!(json["unfinished"]["running"][1], serde_json::json!({"thread": "B", "kind": "recursion", "line": 3}));
}

#[test]
fn what_a_bound_proves_is_true() {
    // The assertion fails after 2 steps of each round: a bound below says that nothing fails up to there.
    let program = "int x;\ncobegin\n A: while (true) { x = x + 1; assert(x != 9); }\n B: x = 0;\ncoend\n";
    let (_, whole) = futures(program, &["--max-steps", "200"]);
    let first = whole["failures"][0]["schedule"].as_array().unwrap().len();
    let (_, below) = futures(program, &["--max-steps", &(first - 1).to_string()]);
    assert_eq!(below["failures"].as_array().map(Vec::len), Some(0));
    assert_eq!(below["unfinished"]["steps"], first - 1);
    let (_, at) = futures(program, &["--max-steps", &first.to_string()]);
    assert_eq!(at["failures"].as_array().map(Vec::len), Some(1));
}

/// Only the past of the selected read is shown, not that of the end.
#[test]
fn a_selection_shows_the_past_of_its_reads() {
    let (text, _) = futures(
        "int x, y, z;\ncobegin\n A: { x = 1; y = 2; }\n B: { print(x); z = 3; }\n C: z = 4;\ncoend\nprint(y, z);\n",
        &["--select", "x@4:13=x@3:7"],
    );
    let shown = text.split_once("this execution has it\n\n").unwrap().1;
    let expected = "line  main                    A                       B\n   2  fork A, B\n   \
                    3                          write x = 1\n   4                                                  read x = 1\n";
    assert!(shown.starts_with(expected), "{shown}");
}

/// A write that nobody reads: the inputs and the steps that lead to it.
#[test]
fn a_write_can_be_selected() {
    let program = "input int n = 0;\nint x, y;\ncobegin\n A: { x = 1; if (n == 7) x = 2; y = 9; }\n B: { if (x == 2) y = 1; else y = 3; if (x > 2) y = 4; }\n\
                   coend\n";
    let (text, json) = futures(program, &["--input", "n=0..8", "--select", "y@5:19"]);
    let shown = text.split_once("this execution has it\n\n").unwrap().1;
    assert!(shown.contains("write y = 1") && shown.contains("n = 7") && !shown.contains("y = 3"), "{shown}");
    let selected = &json["selection"]["selected"][0];
    assert_eq!(
        (&selected["read"], &selected["def"], &selected["satisfied"]),
        (&Value::Null, &"y@5:19".into(), &true.into())
    );
    assert_eq!(json["selection"]["consistent"], true);
    let (text, json) = futures(program, &["--input", "n=0..8", "--select", "y@5:49"]);
    assert_says(&text, &["no execution comes to the write y@5:49"]);
    assert_eq!(json["selection"]["consistent"], false);
    // Together with a term, and twice in one thread.
    let (_, json) = futures(program, &["--input", "n=0..8", "--select", "y@5:19", "--select", "x@5:11=x@4:7"]);
    assert_eq!(json["selection"]["consistent"], false);
    let (_, json) =
        futures("int x; cobegin A: for (int i = 0; i < 2; i++) x = i; B: x = 5; coend", &["--select", "x@1:47#2"]);
    assert_eq!(json["selection"]["consistent"], true);
    let (_, json) =
        futures("int x; cobegin A: for (int i = 0; i < 2; i++) x = i; B: x = 5; coend", &["--select", "x@1:57#2"]);
    assert_eq!(json["selection"]["consistent"], false);
}

/// Replays a schedule of a program, changed as `change` says; gives the status and all that is said.
fn replay(program: &str, replayed: &str, more: &[&str], change: impl Fn(&mut Value)) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("p.csm"), program).unwrap();
    let run = |more: &[&str]| {
        let mut command = plain();
        command.current_dir(directory.path()).args(["run", "p.csm"]).args(more).output().unwrap()
    };
    run(&["--seed", "7", "--record", "r.json"]);
    let mut schedule: Value = serde_json::from_str(&fs::read_to_string(path("r.json")).unwrap()).unwrap();
    change(&mut schedule);
    fs::write(path("r.json"), schedule.to_string()).unwrap();
    fs::write(path("p.csm"), replayed).unwrap();
    let output = run(&[&["--schedule", "r.json"], more].concat());
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code(), unfolded(&text))
}

const CHOICE: &str = "int x;\ncobegin\n A: x = choose(1, 3);\n B: x = 4;\ncoend\nprint(x);\n";

#[test]
fn a_replay_is_strict() {
    let same = replay(CHOICE, CHOICE, &[], |_| {});
    assert_eq!(same.0, Some(0), "{}", same.1);
    let again = |schedule: &mut Value| {
        let steps = schedule["steps"].as_array_mut().unwrap();
        let last = steps.last().unwrap().clone();
        steps.push(last);
    };
    for more in [&[][..], &["--then", "random:3"]] {
        let (status, text) = replay(CHOICE, CHOICE, more, again);
        assert!(status == Some(2) && text.contains("the execution is over"), "{text}");
    }
    let silent = |schedule: &mut Value| {
        for step in schedule["steps"].as_array_mut().unwrap() {
            step.as_object_mut().unwrap().remove("alternative");
        }
    };
    let (status, text) = replay(CHOICE, CHOICE, &[], silent);
    assert!(status == Some(2) && text.contains("it does not say which of 3 alternatives"), "{text}");
    let needless = |schedule: &mut Value| {
        let steps = schedule["steps"].as_array_mut().unwrap();
        steps.iter_mut().filter(|step| step["op"] == "write x").for_each(|step| step["alternative"] = 0.into());
    };
    let (status, text) = replay(CHOICE, CHOICE, &[], needless);
    assert!(status == Some(2) && text.contains("there is no choice"), "{text}");
    let (status, text) =
        replay(CHOICE, CHOICE, &[], |schedule| schedule["options"] = serde_json::json!({"fast": "true"}));
    assert!(status == Some(2) && text.contains("the option `fast`"), "{text}");
}

#[test]
fn a_replay_says_where_the_end_is_another() {
    let failing = "int x;\ncobegin\n A: x = 1;\n B: x = 1;\ncoend\nassert(x == 2);\n";
    let mended = failing.replace("x == 2", "x == 1");
    let (status, text) = replay(failing, &mended, &[], |_| {});
    assert!(
        status == Some(0) && text.contains("it was recorded with the end `assert`, and now ends with `ok`"),
        "{text}"
    );
    // A failure that comes earlier is a step of its own, which the schedule does not have.
    let late =
        "int x;\ncobegin\n A: x = 1;\n B: x = 1;\ncoend\nassert(x == 1);\ncobegin\n C: x = 2;\n D: x = 3;\ncoend\n";
    let (status, text) = replay(late, &late.replace("x == 1", "x == 5"), &[], |_| {});
    assert!(status == Some(2) && text.contains("that thread stands at 6:1: assert"), "{text}");
}

#[test]
fn a_replay_of_a_changed_text_fits_or_says_how_to_carry_it_over() {
    let (status, text) = replay(CHOICE, &format!("// More.\n\n{CHOICE}"), &[], |_| {});
    assert!(status == Some(0) && text.contains("but the schedule still fits"), "{text}");
    let (status, text) = replay(CHOICE, &CHOICE.replace("x = 4;", "{ x = 5; x = 4; }"), &[], |_| {});
    let help = "cssame diff --schedule r.json --record NEW.json OLD.csm p.csm";
    assert!(status == Some(2) && text.contains(help), "{text}");
}

/// Behind the end of a schedule the seed alone decides.
#[test]
fn a_replay_goes_on_at_random_by_its_seed() {
    let cut = |schedule: &mut Value| schedule["steps"].as_array_mut().unwrap().truncate(2);
    let outputs: Vec<(Option<i32>, String)> =
        (0..20).map(|seed| replay(CHOICE, CHOICE, &["--then", &format!("random:{seed}")], cut)).collect();
    assert!(outputs.iter().all(|(status, _)| *status == Some(0)));
    assert_eq!(outputs[4], replay(CHOICE, CHOICE, &["--then", "random:4"], cut));
    let printed: std::collections::BTreeSet<&str> =
        outputs.iter().map(|(_, text)| text.split_once("main: ").unwrap().1.split(' ').next().unwrap()).collect();
    assert!(printed.len() > 1, "{printed:?}");
}

/// Where values decide, the answer says what the read sees instead.
#[test]
fn a_selection_that_values_forbid_says_what_is_read() {
    let program = "int a, b;\ncobegin\n T1: { a = 1; b = 1; }\n T2: { int z = a; if (z == 1) b = 2; }\ncoend\nprint(b);\n\
                   if (b == 7) print(a);\n";
    let (text, json) = futures(program, &["--select", "a@7:19=a@3:8"]);
    assert_says(
        &text,
        &["no cycle of orders: values, branches or other synchronisation forbid it", "no execution reads a@7:19"],
    );
    assert_eq!(json["selection"]["reason"]["cycle"], serde_json::json!([]));
    let program = "int a, c;\ncobegin\n A: { c = 1; if (c == 2) a = 1; }\n B: a = 2;\ncoend\nprint(a);\n";
    let (text, _) = futures(program, &["--select", "a@6:7=a@3:26"]);
    assert_says(&text, &["a@6:7 reads only from a@4:5"]);
}

/// Four threads call two functions: in a program of two writers and readers, and in one where a reader has its own write.
fn setters(last: &str) -> String {
    format!(
        "int n;\nvoid put(int v) {{ n = v; }}\nvoid show() {{ print(n); }}\ncobegin\n T1: put(3);\n T2: put(0);\n \
         T3: show();\n T4: show();\n{last}coend\n"
    )
}

#[test]
fn contexts_with_the_same_terms_are_shown_as_one() {
    let (text, json) = futures(&setters(""), &[]);
    let rows = "\nterms\n  n@3:21  print(n);\n    n@initial  int n;  feasible  after 2 steps\n    T1:n@2:19  n = v;  feasible  \
                after 3 steps\n    T2:n@2:19  n = v;  feasible  after 3 steps\n";
    assert!(text.contains(rows), "{text}");
    assert_says(&text, &["9 futures, 3 terms: 3 feasible"]);
    // For programs, each context has an entry.
    assert_eq!(json["terms"].as_array().map(Vec::len), Some(6));
    assert_eq!(json["merged"], false);
    let (text, _) = futures(&setters(" T5: { n = 5; show(); }\n"), &[]);
    assert_says(
        &text,
        &[
            "T3:n@3:21, T4:n@3:21 print(n); n@initial int n; feasible",
            "T5:n@3:21 print(n); T1:n@2:19 n = v; feasible",
            "7 terms",
        ],
    );
}

#[test]
fn contexts_with_other_terms_stay_apart() {
    // C waits for A, and does not see the initial value.
    let (text, _) = futures(
        "int n; event e;\nvoid show() { if (n == 1) skip; }\ncobegin\n A: { n = 1; set(e); }\n B: show();\n \
         C: { wait(e); show(); }\ncoend\n",
        &["--all"],
    );
    assert_says(
        &text,
        &[
            "n@initial int n; feasible after 2 steps n@4:7 n = 1; feasible",
            "C:n@2:19 if (n == 1) skip; n@4:7 n = 1; feasible",
        ],
    );
    assert!(!text.contains("B:n@2:19, C:n@2:19"), "{text}");
}

#[test]
fn merged_contexts_are_said() {
    let call = |depth: usize| format!("void f{depth}() {{ f{}(); f{}(); f{0}(); }}\n", depth + 1, depth + 1);
    let calls: String = (0..10).map(call).collect();
    let program = format!("int n;\n{calls}void f10() {{ n = n + 1; }}\ncobegin\n A: f0();\n B: f0();\ncoend\n");
    let (text, json) = futures(&program, &["--max-states", "10"]);
    assert_eq!(json["merged"], true);
    assert_says(&text, &["calling contexts were merged (see `cssame explain CS0908`)"]);
}

#[test]
fn deadlocks_that_differ_in_the_names_of_threads_are_shown_once() {
    let program = "lock a, b;\nvoid f() { lock(a); lock(b); unlock(b); unlock(a); }\n\
                   void g() { lock(b); lock(a); unlock(a); unlock(b); }\n\
                   cobegin\n T1: f();\n T2: f();\n T3: g();\n T4: g();\ncoend\n";
    let count = |options: &[&str]| {
        let (text, json) = futures(program, options);
        (text.matches("error[CS0412]").count(), json["deadlocks"].as_array().unwrap().len(), text)
    };
    let (shown, all, text) = count(&[]);
    // All four threads wait, or one of either kind has ended, or one of each.
    assert_eq!((shown, all), (4, 16), "{text}");
    assert_says(&text, &["3 further deadlocks at the same places, of other threads: T", "cycle: T"]);
    assert_eq!(count(&["--all"]).0, 16);
    // Two threads that wait at other places are not the same.
    let (text, json) =
        futures("lock a;\nlock(a);\ncobegin\n T1: lock(a);\n T2: if (choose(0, 1) == 0) lock(a);\ncoend\n", &[]);
    assert_eq!(text.matches("error[CS0412]").count(), json["deadlocks"].as_array().unwrap().len(), "{text}");
}

const LOST: &str = "int x;\ncobegin\n A: x += 1;\n B: x += 1;\ncoend\nprint(x);\n";

#[test]
fn an_outcome_can_be_shown_by_its_number_or_by_what_it_prints() {
    let (table, _) = futures(LOST, &[]);
    assert_says(&table, &["# end output 1 ok main: 1 2 ok main: 2", "terms x@3:5 x += 1; x@initial int x; feasible"]);
    for asked in ["1", "#1", "main: 1"] {
        let (text, json) = futures(LOST, &["--show", asked]);
        assert_says(&text, &["outcome 1: ok main: 1", "print 1", "schedules/outcome-1.json"]);
        assert!(!text.contains("outcome 2:"), "{text}");
        assert_eq!(json["outcomes"].as_array().map(Vec::len), Some(2));
    }
    assert_says(&futures(LOST, &["--show", "ok"]).0, &["outcome 1: ok", "outcome 2: ok"]);
    assert_says(&futures(LOST, &["--show", "3"]).0, &["no outcome is `3`"]);
    let (cut, _) = futures(LOST, &["--show", "3", "--max-steps", "2"]);
    assert_says(&cut, &["no outcome is `3` so far: not all executions were looked at"]);
}

#[test]
fn the_schedule_of_each_outcome_is_recorded_and_does_it_again() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.csm"), LOST).unwrap();
    let call = |arguments: &[&str]| plain().current_dir(directory.path()).args(arguments).output().unwrap();
    assert!(call(&["futures", "p.csm", "--record-dir", "found"]).status.success());
    for number in ["1", "2"] {
        let file = format!("found/outcome-{number}.json");
        let replay = call(&["run", "p.csm", "--schedule", &file, "--format", "json"]);
        let replay: Value = serde_json::from_slice(&replay.stdout).unwrap();
        assert_eq!(replay["output"], serde_json::json!([number]));
    }
}

#[test]
fn the_line_that_records_keeps_the_bounds() {
    let bounds = ["--max-states", "5000", "--timeout", "20.5", "--max-steps", "70", "--max-executions", "90"];
    let (text, _) = futures("lock L;\nlock(L);\nlock(L);\n", &bounds);
    let line = "record: cssame futures p.csm --max-steps 70 --max-states 5000 --max-executions 90 --timeout 20.5 \
                --record-dir schedules";
    assert_says(&text, &[line]);
}

#[test]
fn a_schedule_of_another_file_says_which() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in [("p.csm", LOST), ("q.csm", CHOICE)] {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let call = |arguments: &[&str]| plain().current_dir(directory.path()).args(arguments).output().unwrap();
    assert!(call(&["run", "p.csm", "--record", "p.json"]).status.success());
    let other = call(&["run", "q.csm", "--schedule", "p.json"]);
    assert_eq!(other.status.code(), Some(2));
    let text = String::from_utf8(other.stderr).unwrap();
    assert_says(&text, &["the schedule was recorded from `p.csm`, this is `q.csm`"]);
}

#[test]
fn a_count_that_was_stopped_says_how_many_there_are_at_least() {
    let add = "x = x + 1; x = x + 1; x = x + 1; x = x + 1;";
    let program = format!("int x;\ncobegin\n  A: {{ {add} }}\n  B: {{ {add} }}\ncoend\n");
    let (text, json) = futures(&program, &["--count", "--max-executions", "100"]);
    let said = "terms, outcomes, failures and deadlocks are all decided = note: the futures were not all counted: there are \
                at least 100";
    assert_says(&text, &[said]);
    assert!(json["futures"].is_null() && json["futures_at_least"] == 100, "{json:#}");
    assert!(json["decided"] == true && json["complete"] == false, "{json:#}");
    let (_, json) = futures(&program, &["--count"]);
    assert!(json["futures"].as_u64() > Some(100) && json["futures_at_least"].is_null(), "{json:#}");
}

#[test]
fn a_bound_on_executions_ends_the_search() {
    // Neither states nor executions come to their end soon.
    let files = Files::new();
    let program = files.write(
        "many.csm",
        "int x; int y; lock L;
parfor (int i = 0; i < 5; i++) { for (int k = 0; k < 6; k++) { x = x + 1; lock(L); y = y + x; unlock(L); } }
print(x + y);
",
    );
    for most in [1, 10] {
        let answer = call("futures --format json --max-executions", &[most.to_string().as_ref(), program.as_os_str()]);
        let json: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!((answer.status, &json["bound"]), (3, &"max-executions".into()), "{answer:?}");
        assert!(json["executions"].as_u64().unwrap() <= most, "{json:#}");
    }
}
