//! Executions without end, through every command that meets them: what is shown, written and replayed, and exit statuses.

use crate::process::{Answer, Files, call};
use serde_json::Value;

/// Two threads that may back off for ever.
const POLITE: &str = "bool a, b;
cobegin
  T1: a = true; while (b) { a = false; a = true; } a = false;
  T2: b = true; while (a) { b = false; b = true; } b = false;
coend
";

/// The same with a turn.
const IN_TURN: &str = "bool a, b;
int turn;
cobegin
  T1: a = true; turn = 2; while (b && turn == 2) { } a = false;
  T2: b = true; turn = 1; while (a && turn == 1) { } b = false;
coend
";

/// T1 waits for what T2 does only where it comes first; T3 waits for ever at an event meanwhile.
const NO_END: &str = "bool go, late;
event never;
cobegin
  T1: late = true; while (!go) { }
  T2: if (!late) go = true;
  T3: if (late) wait(never);
coend
";

/// Threads that serve for ever, with a lock that nobody hands on.
const SERVERS: &str = "int x;
lock L;
cobegin
  A: while (true) { lock(L); x = 1; unlock(L); }
  B: while (true) { lock(L); x = 2; unlock(L); }
coend
";

/// A waits under a lock for what B does under it: B gets the lock at last.
const POLLING: &str = "int x;
lock L;
cobegin
  A: { int seen = 0; while (seen == 0) { lock(L); seen = x; unlock(L); } }
  B: { lock(L); x = 1; unlock(L); }
coend
";

/// Infinitely many states, and no thread that ever ends.
const GROWING: &str = "int a; cobegin A: while (true) a++; B: while (true) a += 2; coend";

fn futures(text: &str, options: &str) -> Answer {
    let files = Files::new();
    call(&format!("futures {options}"), &[&files.write("program.csm", text)])
}

fn kinds(value: &Value) -> Vec<String> {
    let list = value["endless"].as_array().unwrap();
    list.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

fn statuses(value: &Value) -> Vec<String> {
    let list = value["outcomes"].as_array().unwrap();
    list.iter().map(|one| one["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn exit_statuses_tell_of_executions_without_end() {
    for (text, options, status) in [
        (POLITE, "", 1),
        (POLITE, "--assume-fair", 0),
        (POLITE, "--allow CS0417", 0),
        (IN_TURN, "--starvation", 0),
        (NO_END, "", 1),
        (NO_END, "--assume-fair", 1),
        (SERVERS, "--allow CS0416", 0),
        (SERVERS, "--allow CS0416 --starvation", 0),
        (SERVERS, "--allow CS0416 --starvation --fairness weak", 1),
        (SERVERS, "--allow CS0416 --starvation --assume-fair", 0),
        (POLLING, "", 0),
        (POLLING, "--fairness weak", 1),
        (POLLING, "--fairness strong --starvation", 0),
        (POLLING, "--fairness choices", 0),
        (IN_TURN, "--fairness none", 1),
        (GROWING, "--max-states 5000", 3),
    ] {
        let answer = futures(text, options);
        assert_eq!(answer.status, status, "`{options}` of\n{text}\n{}", answer.text());
    }
}

#[test]
fn a_livelock_is_shown_by_the_way_into_a_cycle_and_the_cycle() {
    let text = futures(POLITE, "").text();
    let parts =
        ["warning[CS0417]: livelock: T1, T2", "write b = true\nthe cycle:\n", "endless  (nothing printed), and may"];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    let value = futures(POLITE, "--format json").json();
    assert_eq!((kinds(&value), statuses(&value)), (vec!["livelock".to_owned()], vec!["ok".into(), "endless".into()]));
    let one = &value["endless"][0];
    assert_eq!((&one["starving"], &one["no_end_after"]), (&Value::Null, &Value::Null));
    let moving: Vec<&str> = one["threads"].as_array().unwrap().iter().filter_map(|of| of["thread"].as_str()).collect();
    assert_eq!(moving, ["T1", "T2"]);
    assert_eq!(value["endless_complete"], true);
}

#[test]
fn what_only_an_unfair_lock_makes_is_a_note() {
    let answer = futures(POLLING, "");
    let said = answer.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("note: A may run for ever if a lock, a permit or a notification passes over"), "{said}");
    let value = futures(POLLING, "--format json").json();
    assert_eq!((kinds(&value), &value["endless_complete"]), (vec![], &Value::Bool(true)));
    assert_eq!(value["endless_unfair"][0]["kind"], "livelock");
    assert_eq!(kinds(&futures(POLLING, "--fairness weak --format json").json()), ["livelock"]);
    let sarif = futures(POLLING, "--format sarif").json();
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
    // Waiting in a loop for what comes is no execution without end, unless nobody need be let on.
    assert_eq!(kinds(&futures(IN_TURN, "--fairness none --format json").json()), ["livelock"; 2]);
}

#[test]
fn a_state_without_an_end_names_the_step_and_who_waits() {
    let value = futures(NO_END, "--format json").json();
    assert_eq!(kinds(&value)[0], "no-end");
    let waits = |one: &Value| {
        let waiting = one["waiting"].as_array().unwrap().iter();
        waiting.filter(|of| of["waits_for"] == "event").filter_map(|of| of["thread"].as_str()).collect::<Vec<_>>()
            == ["T3"]
    };
    let endless = value["endless"].as_array().unwrap();
    assert!(endless.iter().any(waits), "{endless:?}");
    let text = futures(NO_END, "").text();
    assert!(text.contains("error[CS0416]: no end can be reached any more: T1 runs for ever"), "{text}");
    assert!(text.contains("steps no end can be reached"), "{text}");
}

#[test]
fn nothing_is_said_where_the_search_was_stopped() {
    let value = futures(GROWING, "--max-states 5000 --format json").json();
    assert_eq!((kinds(&value), &value["endless_complete"]), (vec![], &Value::Bool(false)));
    let text = futures(GROWING, "--max-states 5000").text();
    assert!(text.contains("the search for executions without end was not finished: stopped by max-states"), "{text}");
}

#[test]
fn a_recorded_cycle_is_replayed_and_tested() {
    let files = Files::new();
    let program = files.write("polite.csm", POLITE);
    let answer = call("futures --record-dir", &[&files.path("found"), &program]);
    assert_eq!(answer.status, 1, "{}", answer.text());
    let path = files.path("found/endless-1.json");
    let recorded = std::fs::read_to_string(&path).unwrap();
    assert!(recorded.contains("\"status\": \"endless\"") && recorded.contains("\"cycle\": 3"), "{recorded}");
    let answer = call("run --schedule", &[&path, &program]);
    assert_eq!(answer.status, 1, "{}", answer.text());
    assert!(answer.text().contains("this execution may continue like this for ever"), "{}", answer.text());
    // One step less, and it is not where it was.
    let shorter = recorded.replace("\"cycle\": 3", "\"cycle\": 4");
    let answer = call("run --schedule", &[&files.write("shorter.json", &shorter), &program]);
    assert_eq!(answer.status, 3, "{}", answer.text());
    assert!(
        answer.text().contains("recorded with the end `endless`, and now ends with `stopped`"),
        "{}",
        answer.text()
    );
}

#[test]
fn an_execution_that_is_not_over_shows_its_cycle() {
    let files = Files::new();
    let program = files.write("servers.csm", SERVERS);
    let answer = call("run --max-steps 500 --record", &[&files.path("cycle.json"), &program]);
    assert_eq!(answer.status, 1, "{}", answer.text());
    assert!(answer.text().contains("the cycle:\n") && answer.text().contains("endless: after"), "{}", answer.text());
    let answer = call("run --format json --schedule", &[&files.path("cycle.json"), &program]);
    let value = answer.json();
    assert_eq!((answer.status, &value["status"]), (1, &Value::from("endless")));
    assert!(value["cycle"]["start"].as_u64().is_some_and(|start| start < 20), "{}", value["cycle"]);
    // Its states are all different.
    let growing = files.write("growing.csm", "int a; cobegin A: while (true) a++; B: while (true) a += 2; coend");
    let answer = call("run --max-steps 500", &[&growing]);
    assert_eq!(answer.status, 3, "{}", answer.text());
}

#[test]
fn a_package_has_no_test_of_what_does_not_end_and_says_so() {
    let files = Files::new();
    let answer = call("drive --out", &[&files.path("out"), &files.write("polite.csm", POLITE)]);
    assert_eq!(answer.status, 1, "{}", answer.text());
    assert!(answer.text().contains("endless  T1, T2 may run for ever (livelock): no test"), "{}", answer.text());
}

/// Who asks something else and explores all executions is told as well.
#[test]
fn commands_that_explore_executions_tell_those_without_end() {
    let files = Files::new();
    let path = files.write("polite.csm", POLITE);
    for command in ["races --trials 3 --max-steps 2000", "coverage --runs 3"] {
        let answer = call(command, &[&path]);
        let said = "endless  T1, T2 may run for ever (livelock): `cssame futures` shows it\n";
        assert!(answer.status == 1 && answer.stdout.contains(said), "{command}: {}", answer.text());
        let value = call(&format!("{command} --format json"), &[&path]).json();
        assert_eq!((kinds(&value), &value["endless_complete"]), (vec!["livelock".to_owned()], &Value::Bool(true)));
        // What is suppressed is not told.
        let answer = call(&format!("{command} --allow CS0417"), &[&path]);
        assert!(!answer.stdout.contains("endless  "), "{command}: {}", answer.text());
        // Nor is what was not looked for.
        let value = call(&format!("{command} --no-exploration --format json"), &[&path]).json();
        assert_eq!((kinds(&value), &value["endless_complete"]), (vec![], &Value::Bool(false)));
    }
    let racy = files
        .write("racy.csm", "bool stop; int x; cobegin A: while (!stop) { x = 1; } B: while (!stop) { x = 2; } coend");
    let answer = call("check --confirm", &[&racy]);
    assert_eq!(answer.status, 1, "{}", answer.text());
    assert!(answer.text().contains("error[CS0416]: no end can be reached any more: A, B"), "{}", answer.text());
}

/// Where a bound had cut the search, an execution with iterations that are alike went round for ever on its way to an end.
#[test]
fn executions_of_a_search_that_was_cut_are_completed_or_left_as_they_are() {
    let text = "int x, y;
bool a, b;
lock L;
event e;
sem s = 1;
cond c;
cobegin
T1: { while (true) { while (!trylock(L)) { P(s); while (!trylock(L)) { a = !a; } unlock(L); } unlock(L); }
  cobegin A: V(s); while (true) { for (int i = 0; i < 3; i++) { x = 0; lock(L); while (!a) wait(c, L); unlock(L); } x = 1 - x; }
  B: P(s); coend }
T2: { x++; while (choose(0, 1) == 0) { parfor (int i = 0; i < 2; i++) { } } assert(a || b); }
T3: { y = x; while (true) { lock(L); while (a && b) wait(c, L); unlock(L);
  cobegin A: skip; B: lock(L); while (x == y) wait(c, L); unlock(L); coend } }
coend
";
    let answer = futures(text, "--max-states 20000");
    assert_eq!(answer.status, 1, "{}", answer.text());
}

#[test]
fn a_change_that_makes_a_livelock_is_told() {
    let files = Files::new();
    let (old, new) = (files.write("old.csm", IN_TURN), files.write("new.csm", POLITE));
    let value = call("diff --format json", &[&old, &new]).json();
    let outcomes = value["outcomes"].as_array().unwrap();
    assert!(outcomes.iter().any(|of| of["status"] == "endless" && of["change"] == "new"), "{outcomes:?}");
}
