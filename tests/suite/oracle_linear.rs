//! The oracle of generated tests against answers that were found by hand.

use support::generate;
use support::oracle::{Outputs, Test, Verdict, decide, program_of_test};
use support::{first_seed, programs};

fn verdict(text: &str, test: &Test) -> Verdict {
    let found = decide(text, test, None, 100_000).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(found.complete, "{text}");
    found
}

/// Outputs as text: `a: 1, 2; main: 3`.
fn told(outputs: &Outputs) -> String {
    let threads: Vec<String> =
        outputs.iter().map(|(thread, lines)| format!("{thread}: {}", lines.join(", "))).collect();
    threads.join("; ")
}

const COUNTER: &str = "class C {
  private int n;
  public void inc() { n = n + 1; }
  public int get() { return n; }
}";

#[test]
fn the_program_is_the_text_then_the_objects_then_a_main() {
    let test = Test::new("C o; C p", "o.inc()", "o.inc(); o.get()", "p.inc()", "o.get()");
    let expected = format!(
        "{COUNTER}\nC o;\nC p;\nvoid main() {{\n  o.inc();\n  cobegin\n    a: {{\n      o.inc();\n      \
         print(o.get());\n    }}\n    b: {{\n      p.inc();\n    }}\n  coend\n  print(o.get());\n}}\n"
    );
    assert_eq!(program_of_test(COUNTER, &test, false).unwrap(), expected);
    assert!(program_of_test(COUNTER, &Test::new("C o", "", "o.dec()", "o.inc()", ""), false).is_err());
    assert!(program_of_test(COUNTER, &Test::new("C o", "", "q.inc()", "o.inc()", ""), false).is_err());
}

#[test]
fn a_lost_update_is_not_linearizable() {
    let test = Test::new("C o", "o.inc()", "o.inc()", "o.inc()", "o.get()");
    let found = verdict(COUNTER, &test);
    assert_eq!(found.all.finished.iter().map(told).collect::<Vec<_>>(), ["main: 2", "main: 3"]);
    assert_eq!(found.serial.finished.iter().map(told).collect::<Vec<_>>(), ["main: 3"]);
    assert_eq!(found.not_linearizable.iter().map(told).collect::<Vec<_>>(), ["main: 2"]);
    assert!(found.is_violated());
    // Nothing tells without the call behind.
    assert!(!verdict(COUNTER, &Test::new("C o", "", "o.inc()", "o.inc()", "")).is_violated());
    // Two objects do not meet.
    assert!(!verdict(COUNTER, &Test::new("C o; C p", "", "o.inc()", "p.inc()", "o.get(); p.get()")).is_violated());
    let atomic = COUNTER.replace("n = n + 1;", "fetch_add(n, 1);");
    assert!(!verdict(&atomic, &test).is_violated());
    let locked = COUNTER.replace("private int n;", "private int n; lock L;");
    let locked = locked.replace("{ n = n + 1; }", "{ synchronized (L) { n = n + 1; } }");
    assert!(!verdict(&locked, &test).is_violated());
}

#[test]
fn calls_of_one_thread_stay_in_their_order_and_may_be_interleaved_with_those_of_the_other() {
    let found = verdict(COUNTER, &Test::new("C o", "", "o.get(); o.get()", "o.inc()", ""));
    let expected = ["a: 0, 0", "a: 0, 1", "a: 1, 1"];
    assert_eq!(found.all.finished.iter().map(told).collect::<Vec<_>>(), expected);
    assert_eq!(found.serial.finished, found.all.finished);
    // A call that reads twice can see a write between: no serial order has that.
    let twice = "class C { int n; public int sum() { return n * 10 + n; } public void put(int v) { n = v; } }";
    let found = verdict(twice, &Test::new("C o", "", "o.sum()", "o.put(1)", ""));
    assert_eq!(found.not_linearizable.iter().map(told).collect::<Vec<_>>(), ["a: 1"]);
}

#[test]
fn a_choice_is_explained_by_any_result_of_a_serial_order() {
    let text = "class C { int n; public int any() { n = choose(0, 1); return n; } }";
    let found = verdict(text, &Test::new("C o", "", "o.any()", "o.any()", ""));
    assert_eq!((found.all.finished.len(), found.is_violated()), (4, false));
    let text = text.replace("int n;", "int n; public void put() { n = 7; }");
    let found = verdict(&text, &Test::new("C o", "", "o.any()", "o.put()", ""));
    assert_eq!(found.not_linearizable.iter().map(told).collect::<Vec<_>>(), ["a: 7"]);
}

#[test]
fn a_failure_of_a_serial_order_is_told_from_a_new_one() {
    let text = "class C { int n; public void put(int v) { n = v; }
  public void check() { if (n != 0) { assert(n != 0); } }
  public void bad() { assert(n == 0); } }";
    let found = verdict(text, &Test::new("C o", "o.put(1)", "o.check()", "o.put(0)", ""));
    assert_eq!(found.new_failures().into_iter().collect::<Vec<_>>(), [("assert", "2:39")]);
    assert!(found.serial.failures.is_empty());
    let found = verdict(text, &Test::new("C o", "", "o.bad()", "o.put(1)", ""));
    assert_eq!((found.all.failures.len(), found.new_failures().len()), (1, 0));
    let (status, thread, at) = found.serial.failures.first().unwrap();
    assert_eq!((status.as_str(), thread.as_str(), at.as_str()), ("assert", "a", "3:23"));
}

/// A place with one item, whose notification can be lost.
const LOSING: &str = "class B {
  private int n;
  public int take() { if (n == 0) wait(); n = n - 1; return n; }
  public void put() { n = n + 1; notify(); }
}";

#[test]
fn a_lost_notification_is_no_serial_order_although_one_hangs() {
    let found = verdict(LOSING, &Test::new("B o", "", "o.take()", "o.put()", ""));
    // take first hangs, and put is not called.
    let pending: Vec<_> = found.serial.stuck.iter().map(|stuck| (stuck.pending.len(), stuck.completed.len())).collect();
    assert_eq!(pending, [(1, 0)]);
    let lost: Vec<_> = found.unexplained.iter().collect();
    assert_eq!(lost.len(), 1);
    assert_eq!(lost[0].pending.iter().next().unwrap(), (&"a".to_owned(), &"3:35".to_owned()));
    assert_eq!(told(&lost[0].completed), "b: #done");
    let monitor = "class B {
  private int n; private lock L; private cond c;
  public int take() { synchronized (L) { while (n == 0) wait(c, L); n = n - 1; return n; } }
  public void put() { synchronized (L) { n = n + 1; notify(c); } }
}";
    let found = verdict(monitor, &Test::new("B o", "", "o.take()", "o.put()", ""));
    assert!(!found.is_violated() && found.all.stuck.is_empty());
    // Two for one item: one of them waits in any order.
    let found = verdict(monitor, &Test::new("B o", "o.put()", "o.take()", "o.take()", ""));
    assert_eq!((found.all.stuck.len(), found.is_violated()), (2, false));
    // Both wait: each would wait alone.
    let found = verdict(monitor, &Test::new("B o", "", "o.take()", "o.take()", ""));
    assert_eq!((found.all.stuck.len(), found.is_violated()), (1, false));
    // One notification for two waiters, `if` for `while`: the second item is left and somebody waits.
    let text = monitor.replace("notify(c);", "if (n == 1) notify(c);");
    let found = verdict(&text, &Test::new("B o", "", "o.take(); o.take()", "o.put(); o.put()", ""));
    assert!(!found.is_violated());
}

#[test]
fn a_call_behind_the_join_may_wait_too() {
    let text = LOSING.replace("if (n == 0) wait();", "while (n <= 0) wait();");
    let found = verdict(&text, &Test::new("B o", "o.put()", "o.take()", "o.put()", "o.take(); o.take()"));
    let pending: Vec<Vec<&String>> = found.all.stuck.iter().map(|stuck| stuck.pending.keys().collect()).collect();
    assert!(pending.iter().any(|threads| threads[..] == ["main"]), "{pending:?}");
    // Where an item is lost, one call fewer comes through than in any serial order.
    assert!(found.is_violated());
    let found = verdict(&text, &Test::new("B o", "", "o.put()", "o.put()", "o.take(); o.take(); o.take()"));
    let unexplained: Vec<String> = found.unexplained.iter().map(|stuck| told(&stuck.completed)).collect();
    assert_eq!(unexplained, ["a: #done; b: #done; main: 0, #done"]);
}

#[test]
fn a_deadlock_of_two_calls_is_none_of_a_serial_order_and_one_with_itself_is() {
    let text = "class D {
  private lock L, M; private int n;
  public void f() { synchronized (L) { synchronized (M) { n = 1; } } }
  public void g() { synchronized (M) { synchronized (L) { n = 2; } } }
  public void h() { synchronized (L) { synchronized (L) { n = 3; } } }
}";
    let found = verdict(text, &Test::new("D o", "", "o.f()", "o.g()", ""));
    assert_eq!((found.unexplained.len(), found.serial.stuck.len()), (1, 0));
    assert_eq!(found.unexplained.first().unwrap().pending.len(), 2);
    let found = verdict(text, &Test::new("D o", "", "o.f()", "o.h()", ""));
    let alone: Vec<bool> = found.all.stuck.iter().map(|stuck| stuck.own_lock).collect();
    assert_eq!(alone, [true, true]);
    // Where f comes too late it would not wait alone; but it is h that is to blame.
    let late: Vec<_> = found.unexplained.iter().map(|stuck| (stuck.pending.len(), stuck.own_lock)).collect();
    assert_eq!(late, [(2, true)]);
    assert!(!verdict(text, &Test::new("D o; D p", "", "o.f()", "p.g()", "")).is_violated());
}

#[test]
fn another_class_may_say_what_is_right() {
    let text =
        format!("{COUNTER}\nclass S {{ int n; public void inc() {{ n = n + 2; }} public int get() {{ return n; }} }}");
    let test = Test::new("C o", "", "o.inc()", "o.inc()", "o.get()");
    let found = decide(&text, &test, Some(&test.with_class("C", "S")), 10_000).unwrap();
    assert_eq!(found.serial.finished.iter().map(told).collect::<Vec<_>>(), ["main: 4"]);
    assert_eq!(found.not_linearizable.len(), 2);
}

#[test]
fn random_classes_have_executions_of_all_kinds() {
    let programs = programs(300);
    let first = first_seed(1);
    let mut kinds = [0; 6];
    for seed in first..first + programs {
        let library = generate::library(seed);
        let parts = library.test(seed);
        let test = Test { objects: parts.objects, prefix: parts.prefix, suffixes: parts.suffixes, post: parts.post };
        let found = decide(&library.text, &test, None, 20_000);
        let found = found.unwrap_or_else(|error| panic!("{seed}: {error}\n{}\n{test:?}", library.text));
        if !found.complete {
            continue;
        }
        // Every serial execution is one of all.
        assert!(found.serial.finished.is_subset(&found.all.finished), "{seed}");
        assert!(found.serial.failures.is_subset(&found.all.failures), "{seed}");
        let serial_alone = found.all.stuck.iter().all(|stuck| found.unexplained.contains(stuck));
        let tells = [
            true,
            found.not_linearizable.is_empty(),
            !found.not_linearizable.is_empty(),
            !found.unexplained.is_empty(),
            !found.all.stuck.is_empty() && !serial_alone,
            !found.new_failures().is_empty(),
        ];
        kinds.iter_mut().zip(tells).for_each(|(count, holds)| *count += u64::from(holds));
    }
    println!("explored, linearizable, not, stuck without and with an order, new failures: {kinds:?}");
    assert!(
        support::has_new_seed() || kinds[0] * 20 >= programs * 19 && kinds.iter().all(|&count| count > 0),
        "{kinds:?}"
    );
}
