//! Small programs, computed by hand.

use super::*;

/// The program of Setiadi, Ohsuga and Maekawa's figure 3.
const FIGURE_3: &str = "int x = -1, y = 0;
cobegin
T1: {
  int n = x + y;
  if (n < 0) { } else { }
  print(y);
}
T2: {
  x = -10;
  y = 2;
  print(x);
}
coend
";

/// That of their figure 13.
const FIGURE_13: &str = "int x = -1, y = 0; lock a;
cobegin
T1: {
  lock(a);
  int n = x + y;
  unlock(a);
  wait();
  if (n < 0) { } else { }
  print(y);
}
T2: {
  lock(a);
  x = -10;
  y = 2;
  unlock(a);
  notifyAll();
  print(x);
}
coend
";

#[test]
fn both_outcomes_and_three_pairs_in_figure_3() {
    let found = found(FIGURE_3);
    assert_eq!(found.outcomes, set(&["T1:5:7#1 true", "T1:5:7#1 false"]));
    let pairs = ["read x@4:11 | write x@9:3", "read y@4:15 | write y@10:3", "read y@6:9 | write y@10:3"];
    assert_eq!(found.pairs, set(&pairs));
    assert!(found.waits.is_empty());
}

#[test]
fn a_wait_of_figure_13_comes_back_or_does_not() {
    let found = found(FIGURE_13);
    // The branch is evaluated only where T1 waits before the notification: then n is -1.
    assert_eq!(found.outcomes, set(&["T1:8:7#1 true"]));
    assert_eq!(found.waits, set(&["T1:7:3#1 woken", "T1:7:3#1 not woken"]));
    assert_eq!(found.pairs, set(&["read y@9:9 | write y@14:3"]));
}

#[test]
fn evaluations_beyond_a_number_count_as_that_one() {
    let text = "bool go = false; int k;\ncobegin\nA: { while (!go) { } k = 1; }\nB: { go = true; }\ncoend\n";
    let model = model(text);
    let answer = answer(&model, 3, &Budget::unlimited());
    assert_eq!((answer.bound, answer.instances_up_to), (None, 3));
    let found = Words { model: &model, tables: &answer.tables }.all(&answer);
    let instances = |outcome: bool| (1..=3).map(move |instance| format!("A:3:13#{instance} {outcome}"));
    assert_eq!(found.outcomes, instances(true).chain(instances(false)).collect());
}

#[test]
fn elements_of_an_array_are_cells_of_their_own() {
    let text = "int a[2];\nparfor (int i = 0; i < 2; i++) {\n  a[i] = 1;\n  if (a[0] == 1) { a[1] = 2; }\n}\n";
    let found = found(text);
    let iterations: BTreeSet<&str> = found.outcomes.iter().map(String::as_str).collect();
    assert!(iterations.contains("parfor@2[1]:4:7#1 false") && !iterations.contains("parfor@2[0]:4:7#1 false"));
    let pairs = ["write a@3:3 | read a@4:7", "write a@3:3 | write a@4:20", "write a@4:20 | write a@4:20"];
    assert_eq!(found.pairs, set(&pairs));
}

#[test]
fn what_a_join_orders_is_no_pair() {
    let text = "int x;\nvoid work() { x = 1; }\nvoid main() {\n  x = 2;\n  thread t = spawn work();\n  thread u = spawn work();
  join(t);\n  x = 3;\n  join(u);\n  x = 4;\n}\n";
    assert_eq!(found(text).pairs, set(&["write x@2:15 | write x@2:15", "write x@2:15 | write x@8:3"]));
}

#[test]
fn who_joins_a_thread_knows_what_that_one_has_joined() {
    let text = "int x; thread first;\nvoid one() { x = 1; }\nvoid two() { join(first); x = 2; }\nvoid main() {
  first = spawn one();\n  thread t = spawn two();\n  join(t);\n  x = 3;\n}\n";
    assert_eq!(found(text).pairs, set(&[]));
}

#[test]
fn atomic_operations_are_no_pair_and_one_that_is_not_atomic_is() {
    let text = "int x; int y; atomic int z;\ncobegin\nA: { fetch_add(x, 1); atomic { y = 1; } z = 1; }
B: { cas(x, 0, 5); y = 2; z = 2; }\nC: { atomic { x = 3; } }\ncoend\n";
    assert_eq!(found(text).pairs, set(&["write y@3:32 | write y@4:20"]));
}

#[test]
fn a_lock_protects_where_both_hold_it() {
    let text = "int x; lock L; lock M;\ncobegin\nA: { lock(L); x = 1; lock(M); x = 2; unlock(M); unlock(L); }
B: { lock(M); x = 3; unlock(M); }\ncoend\n";
    assert_eq!(found(text).pairs, set(&["write x@3:15 | write x@4:15"]));
}

#[test]
fn a_wait_for_a_condition_gives_the_lock_back() {
    let text = "int x; int y; lock L; cond c; bool ready = false;\ncobegin
A: { lock(L); while (!ready) { wait(c, L); } x = 1; unlock(L); }
B: { lock(L); ready = true; notify(c); x = 2; unlock(L); y = 1; }\nC: { y = 2; }\ncoend\n";
    let found = found(text);
    assert_eq!(found.pairs, set(&["write y@4:58 | write y@5:6"]));
    assert_eq!(found.waits, set(&["A:3:32#1 woken"]));
    // The machine branches on `ready` itself.
    let outcomes = ["A:3:22#1 true", "A:3:22#1 false", "A:3:22#2 true"];
    assert_eq!(found.outcomes, set(&outcomes));
}

#[test]
fn a_notification_may_be_lost() {
    let text = "lock L; cond c; int x;\ncobegin\nA: { lock(L); wait(c, L); x = 1; unlock(L); }
B: { lock(L); notify(c); x = 2; unlock(L); }\ncoend\n";
    assert_eq!(found(text).waits, set(&["A:3:15#1 woken", "A:3:15#1 not woken"]));
}

#[test]
fn semaphores_events_and_barriers_are_waits() {
    let text = "sem s = 0; event e; barrier b(2); int x;\ncobegin\nA: { P(s); wait(e); barrier(b); x = 1; }
B: { if (x == 0) { V(s); } set(e); barrier(b); }\nC: { x = 1; }\ncoend\n";
    let found = found(text);
    let waits = [
        "A:3:6#1 woken",
        "A:3:6#1 not woken",
        "A:3:12#1 woken",
        "A:3:21#1 woken",
        "B:4:36#1 woken",
        "B:4:36#1 not woken",
    ];
    assert_eq!(found.waits, set(&waits));
    assert_eq!(found.outcomes, set(&["B:4:10#1 true", "B:4:10#1 false"]));
}

#[test]
fn what_is_discarded_does_not_count() {
    let text =
        "int x;\ncobegin\nA: { int v = x; if (v == 0) { print(0); } assume(v == 1); print(v); }\nB: x = 1;\ncoend\n";
    let found = found(text);
    assert_eq!(found.outcomes, set(&["A:3:21#1 false"]));
    assert_eq!(found.pairs, set(&["read x@3:14 | write x@4:4"]));
    let text = "int x;\ncobegin\nA: { x = 1; }\nB: { if (x == 0) { x = 2; } }\ncoend\nassume(false);\n";
    assert_eq!(super::found(text), Found::default());
}

#[test]
fn what_fails_or_never_ends_counts() {
    let text = "int x;\ncobegin\nA: { x = 1; }\nB: { if (x == 0) { while (true) { x = 2; } } assert(false); }\ncoend\n";
    let found = found(text);
    assert!(found.outcomes.contains("B:4:10#1 true") && found.outcomes.contains("B:4:10#1 false"));
    assert_eq!(found.pairs, set(&["write x@3:6 | read x@4:10", "write x@3:6 | write x@4:35"]));
}

#[test]
fn each_schedule_shows_what_it_stands_for() {
    for text in [FIGURE_3, FIGURE_13] {
        let model = model(text);
        let answer = answer(&model, 8, &Budget::unlimited());
        let words = Words { model: &model, tables: &answer.tables };
        let shows = |schedule: &[Choice], line: String, of: fn(&Found) -> &BTreeSet<String>| {
            let found = one_by_one::of_schedule(&model, &answer.tables, schedule);
            assert!(of(&found).contains(&line), "{line}: {schedule:?}");
        };
        for one in &answer.outcomes {
            shows(&one.schedule, words.branch((one.thread, one.at, one.instance, one.holds)), |found| &found.outcomes);
        }
        for one in &answer.waits {
            shows(&one.schedule, words.wait((one.thread, one.at, one.instance, one.woken)), |found| &found.waits);
        }
        for one in &answer.pairs {
            shows(&one.schedule, words.pair(one.accesses), |found| &found.pairs);
        }
    }
}

#[test]
fn names_that_are_known_before_keep_their_ids() {
    let model = model(FIGURE_3);
    let first = answer(&model, 8, &Budget::unlimited());
    let operations = operations(&model);
    let request = ExecutedRequest { operations: &operations, tables: &first.tables, max_instance: 8 };
    let second = executed(model.machine(), model.program(), &request, &Budget::unlimited());
    assert_eq!(first.outcomes, second.outcomes);
    assert_eq!(first.tables.marks(), second.tables.marks());
}

#[test]
fn a_bound_is_told_and_what_was_found_stands() {
    let model = model(FIGURE_3);
    let budget = Budget::from(Limits { max_states: Some(12), ..Limits::default() });
    let part = answer(&model, 8, &budget);
    assert!(part.bound.is_some());
    let all = answer(&model, 8, &Budget::unlimited());
    let words = |answer: &ExecutedAnswer| Words { model: &model, tables: &answer.tables }.all(answer);
    assert!(words(&part).pairs.is_subset(&words(&all).pairs));
}
