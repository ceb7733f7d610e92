//! Tests of the possible ends of calls, serial and interleaved.

use super::*;
use cssame_model::{Model, Options};

const QUEUE: &str = "class Q { lock L; cond c; int n;
  void put() { synchronized (L) { n = n + 1; notify(c); } }
  int take() { synchronized (L) { while (n == 0) wait(c, L); n = n - 1; return n; } } }";

fn ends(class: &str, arms: [&str; 2], orders: CallOrders) -> Vec<CallEnd> {
    let text = format!("{class}\nvoid main() {{\n cobegin\n a:\n {}\n b:\n {}\n coend\n }}", arms[0], arms[1]);
    let model = Model::from_text("test.csm", &text, &Options::default()).unwrap();
    let answer = calls(model.machine(), orders, &[], &Budget::unlimited());
    assert_eq!(answer.bound, None);
    answer.ends
}

fn words(ends: &[CallEnd]) -> Vec<String> {
    let mut all: Vec<String> = ends
        .iter()
        .map(|end| {
            let lines: Vec<String> =
                end.outputs.iter().map(|(thread, lines)| format!("{thread}:{}", lines.join(","))).collect();
            format!("{} {}", end.status.word(), lines.join(" "))
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn calls_that_are_not_interleaved_lose_no_update() {
    let class = "class C { int n; int next() { int m = n; n = m + 1; return m; } } C o;";
    let arms = ["print(o.next()); print(o.next());", "print(o.next());"];
    let serial = ends(class, arms, CallOrders::Serial([2, 1]));
    assert_eq!(words(&serial), ["ok a:0,1 b:2", "ok a:0,2 b:1", "ok a:1,2 b:0"]);
    assert!(serial.iter().all(|end| end.done == [2, 1] && end.is_joined() && end.forked));
    let all = words(&ends(class, arms, CallOrders::All));
    assert!(all.len() > 3 && all.contains(&"ok a:0,1 b:0".to_owned()), "{all:?}");
}

#[test]
fn all_values_of_a_choice_are_serial() {
    let class = "class C { int n; int draw() { n = choose(0, 2); return n; } } C o;";
    let serial = words(&ends(class, ["print(o.draw());", "o.draw();"], CallOrders::Serial([1, 1])));
    assert_eq!(serial, ["ok a:0", "ok a:1", "ok a:2"]);
}

#[test]
fn a_call_that_waits_ends_a_serial_order() {
    let class = format!("{QUEUE}\nQ o;");
    let serial = ends(&class, ["print(o.take());", "o.put();"], CallOrders::Serial([1, 1]));
    assert_eq!(words(&serial), ["deadlock ", "ok a:0"]);
    let waiting = serial.iter().find(|end| end.status == OutcomeStatus::Deadlock).unwrap();
    assert_eq!((waiting.done, waiting.stuck, waiting.ended), ([0, 0], [true, false], [false, false]));
    // Interleaved, each of them ends: the queue loses no notification.
    assert_eq!(words(&ends(&class, ["print(o.take());", "o.put();"], CallOrders::All)), ["ok a:0"]);
}

#[test]
fn threads_that_cannot_begin_a_call_are_stuck_at_the_same_state() {
    let class = "class C { sem s; lock L; void down() { P(s); } void inner() { synchronized (L) { P(s); } } } C o;";
    let serial = ends(class, ["o.down();", "o.inner();"], CallOrders::Serial([1, 1]));
    assert_eq!(serial.len(), 1, "{serial:?}");
    assert_eq!(serial[0].stuck, [true, true]);
    let twice = ends(class, ["o.inner();", "o.inner();"], CallOrders::Serial([1, 1]));
    assert_eq!(twice.len(), 2, "{twice:?}");
    assert_eq!(twice[0].base, twice[1].base);
    assert_eq!([twice[0].stuck, twice[1].stuck], [[true, false], [false, true]]);
}

#[test]
fn results_are_printed_before_others_go_on_where_a_thread_has_no_more_calls() {
    let class = "class C { sem s; int n; int set() { n = 1; return 7; } void down() { P(s); } } C o;";
    let serial = ends(class, ["print(o.set());", "o.down();"], CallOrders::Serial([1, 1]));
    // `down` waits first or last.
    let mut found: Vec<_> = serial.iter().map(|end| (end.done, end.ended, end.output_of("a").to_vec())).collect();
    found.sort();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0], ([1, 0], [true, false], vec!["7".to_owned()]));
}

#[test]
fn calls_without_a_step_and_calls_in_calls_are_counted_once() {
    let class = "class C { int n; int five() { return 5; } int twice() { return one() + one(); }
      int one() { n = n + 1; return n; } } C o;";
    let arms = ["print(o.five()); print(o.twice());", "print(o.five()); print(o.twice());"];
    let serial = ends(class, arms, CallOrders::Serial([2, 2]));
    assert_eq!(words(&serial), ["ok a:5,3 b:5,7", "ok a:5,7 b:5,3"]);
    assert!(serial.iter().all(|end| end.done == [2, 2]));
}

#[test]
fn threads_of_a_call_belong_to_it() {
    let class = "class C { int n; int both() { cobegin x: n = n + 1; y: n = n + 10; coend return n; } } C o;";
    let serial = words(&ends(class, ["print(o.both());", "print(o.both());"], CallOrders::Serial([1, 1])));
    assert!(serial.contains(&"ok a:11 b:22".to_owned()) && serial.contains(&"ok a:1 b:2".to_owned()));
    assert!(serial.iter().all(|end| end != "ok a:11 b:11"), "{serial:?}");
}

#[test]
fn failures_before_the_fork_are_told_apart() {
    let text = "class C { int n; void m(int k) { n = 1 / k; } } C o;
      void main() { o.m(0); cobegin a: o.m(1); b: o.m(1); coend }";
    let model = Model::from_text("test.csm", text, &Options::default()).unwrap();
    let answer = calls(model.machine(), CallOrders::Serial([1, 1]), &[], &Budget::unlimited());
    assert_eq!(answer.ends.len(), 1);
    assert!(!answer.ends[0].forked && answer.ends[0].failure.is_some());
}

#[test]
fn local_work_ahead_does_not_begin_a_call() {
    // Nobody else uses `mine`, so `first` begins with local work, which is done together with the fork.
    let class = "class C { int mine; int n; int first() { mine = mine + 1; n = n + 1; return n; }
      int second() { return n; } } C o;";
    let serial = ends(class, ["o.first(); print(o.first());", "print(o.second());"], CallOrders::Serial([2, 1]));
    assert_eq!(words(&serial), ["ok a:2 b:0", "ok a:2 b:1", "ok a:2 b:2"]);
}
