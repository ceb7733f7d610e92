//! Texts of tests, and verdicts about their executions.

use super::program::TestProgram;
use super::subject::Subject;
use super::test::CallPlace;
use super::testing::{test, unit, violations, violations_of_reference};
use super::verdict::{SerialEnds, Unusable};
use cssame_harness::Methods;
use cssame_model::Options;

const BUFFER: &str = "class Buffer { private lock guard; private int length; private int data[4];
  public void append(Buffer other) {
    synchronized (guard) {
      int n = other.length();
      int k = 0;
      while (k < n) { data[length] = other.at(k); length = length + 1; k = k + 1; }
    }
  }
  public void add(int x) { synchronized (guard) { data[length] = x; length = length + 1; } }
  public void clear() { synchronized (guard) { length = 0; } }
  public int length() { synchronized (guard) { return length; } }
  public int at(int k) { synchronized (guard) { assert(k < length); return data[k]; } } }";

const QUEUE: &str = "class Queue { private lock guard; private cond changed; private int n;
  public void put() { synchronized (guard) { n = n + 1; notify(changed); } }
  public int take() { synchronized (guard) { while (n == 0) wait(changed, guard); n = n - 1; return n; } } }";

/// It looks whether there is something before it begins to wait, without the lock.
const LOSSY_QUEUE: &str = "class Queue { private lock guard; private cond changed; private int n;
  public void put() { synchronized (guard) { n = n + 1; notify(changed); } }
  public int take() { if (n == 0) { synchronized (guard) { wait(changed, guard); } } n = n - 1; return n; } }";

const COUNTER: &str = "class Counter { private int n; public int hidden_n() { return 0; }
  public void add() { n = n + 1; } public int get() { return n; } }
class Sum { private int n; public int hidden_n() { return 0; }
  public void add() { n = n + 2; } public int get() { return n; } }";

const LOG4J: &str = "class Category { private int threshold = 3;
  public bool severe(int priority) { if (threshold == 0) return true; return priority / threshold > 0; }
  public void set(int value) { threshold = value; } }";

#[test]
fn a_test_is_text_behind_the_file() {
    let unit = unit("class o { int p; public int a(o other, int x) { return x; } public void b(bool x) {} }");
    let methods = Methods::new(&unit.sources, unit.file);
    let subjects = Subject::all(&methods);
    let subject = &subjects[0];
    let names: Vec<&str> = subject.objects.iter().map(|object| object.name.as_str()).collect();
    assert_eq!(names, ["o_", "p_"]);
    let test = test(subject, [&["o_.b(true)"], &["o_.a(p_, -1)"], &["o_.b(false)", "o_.a(o_, 2)"], &["o_.a(o_, 1)"]]);
    let source = test.source(subject);
    assert_eq!(source.objects, ["o o_", "o p_"]);
    assert_eq!((source.prefix, source.post), (vec!["o_.b(true)".to_owned()], vec!["o_.a(o_, 1)".to_owned()]));
    assert_eq!(source.suffixes[1], ["o_.b(false)", "o_.a(o_, 2)"]);
    let program = TestProgram::new(subject, &test, None, ("test.csm", &Options::default())).unwrap();
    let text = program.model.unit().text();
    assert!(text.starts_with(unit.text()), "{text}");
    let main = "o o_;\no p_;\n\nvoid main() {\n  o_.b(true);\n  cobegin\n    a:\n      print(o_.a(p_, -1));\n    b:\n      \
                o_.b(false);\n      print(o_.a(o_, 2));\n  coend\n  print(o_.a(o_, 1));\n}\n";
    assert!(text.ends_with(main), "{text}");
    let places: Vec<CallPlace> =
        (1..).take(text.lines().count()).filter_map(|line| program.call_in_line(line)).collect();
    let expected = [
        CallPlace::Prefix(0),
        CallPlace::Suffix(0, 0),
        CallPlace::Suffix(1, 0),
        CallPlace::Suffix(1, 1),
        CallPlace::Post(0),
    ];
    assert_eq!(places, expected);
    assert_eq!(program.call_in_line(1), None);
    assert_eq!(subject.class.as_deref(), Some("o"));
}

#[test]
fn results_belong_to_their_calls() {
    let unit = unit(QUEUE);
    let methods = Methods::new(&unit.sources, unit.file);
    let subjects = Subject::all(&methods);
    let test = test(&subjects[0], [&["o.put()"], &["o.take()", "o.take()"], &["o.put()"], &["o.take()"]]);
    let program = TestProgram::new(&subjects[0], &test, None, ("test.csm", &Options::default())).unwrap();
    let machine = program.model.machine();
    let execution = cssame_schedule::run(machine, &mut cssame_schedule::RoundRobin::new(), 1_000, &mut ());
    let results = program.results(&execution.steps);
    let text = |value: &str| Some(value.to_owned());
    assert_eq!(results.prefix, [None]);
    assert_eq!(results.suffixes[0].len(), 2);
    assert!(results.suffixes[0].iter().all(Option::is_some));
    assert_eq!(results.suffixes[1], [None]);
    assert_eq!((results.post, results.suffixes[0][1].clone()), (vec![None], text("0")));
}

#[test]
fn a_check_that_is_torn_from_its_use_is_a_failure() {
    let parts: [&[&str]; 4] = [&[], &["o.severe(1)"], &["o.set(0)"], &[]];
    assert_eq!(violations(LOG4J, parts), ["division-by-zero"]);
    let atomic = LOG4J.replace(
        "if (threshold == 0) return true; return priority / threshold > 0;",
        "int t = threshold; if (t == 0) return true; return priority / t > 0;",
    );
    assert_eq!(violations(&atomic, parts), [""; 0]);
}

#[test]
fn a_failure_that_a_serial_order_has_too_is_sequential() {
    let class = LOG4J.replace("if (threshold == 0) return true; ", "");
    assert_eq!(violations(&class, [&[], &["o.severe(1)"], &["o.set(0)"], &[]]), ["sequential division-by-zero"]);
}

#[test]
fn two_buffers_deadlock_and_one_waits_for_itself() {
    let both: [&[&str]; 4] = [&[], &["o.append(p)"], &["p.append(o)"], &[]];
    assert_eq!(violations(BUFFER, both), ["deadlock"]);
    assert_eq!(violations(BUFFER, [&[], &["o.append(o)"], &["p.add(1)"], &[]]), ["sequential deadlock"]);
    // The other buffer is not locked between its length and its elements.
    assert_eq!(violations(BUFFER, [&["p.add(1)"], &["o.append(p)"], &["p.clear()"], &[]]), ["assert"]);
}

#[test]
fn a_lost_notification_is_a_deadlock_but_an_empty_queue_is_not() {
    let both: [&[&str]; 4] = [&[], &["o.take()"], &["o.put()"], &[]];
    assert_eq!(violations(QUEUE, both), [""; 0]);
    assert_eq!(violations(LOSSY_QUEUE, both), ["deadlock"]);
    assert_eq!(violations(QUEUE, [&[], &["o.take()"], &["o.take()"], &[]]), [""; 0]);
    assert_eq!(violations(QUEUE, [&[], &["o.take()", "o.put()"], &["o.take()"], &[]]), [""; 0]);
    assert_eq!(violations(QUEUE, [&["o.put()"], &["o.take()", "o.take()"], &["o.take()"], &[]]), [""; 0]);
}

#[test]
fn calls_that_nobody_notices_do_not_hide_that_both_threads_may_wait() {
    let class = QUEUE.replace("public void put()", "public bool nothing() { return false; } public void put()");
    let waiting: [&[&str]; 4] = [&[], &["o.take()"], &["o.nothing()", "o.nothing()", "o.take()"], &[]];
    assert_eq!(violations(&class, waiting), [""; 0]);
    let lossy = LOSSY_QUEUE.replace("public void put()", "public bool nothing() { return false; } public void put()");
    let lost: [&[&str]; 4] = [&[], &["o.take()"], &["o.nothing()", "o.nothing()", "o.put()"], &[]];
    assert_eq!(violations(&lossy, lost), ["deadlock"]);
}

#[test]
fn results_that_no_order_has_are_not_linearizable() {
    let update: [&[&str]; 4] = [&[], &["o.add()"], &["o.add()"], &["o.get()"]];
    assert_eq!(violations(COUNTER, update), ["not-linearizable"]);
    // The result of 1 is that of a serial order; that the last value is 1 as well nobody is told.
    assert_eq!(violations(COUNTER, [&[], &["o.add()", "o.get()"], &["o.add()"], &[]]), ["note"]);
    // Without a call that tells, the lost update is a note.
    assert_eq!(violations(COUNTER, [&[], &["o.add()"], &["o.add()"], &["o.hidden_n()"]]), ["note"]);
}

#[test]
fn a_choice_in_a_method_has_the_results_of_all_its_values() {
    let class = "class Dice { private lock guard; private int n;
      public int roll() { synchronized (guard) { n = choose(1, 3); return n; } }
      public int get() { synchronized (guard) { return n; } }
      public int twice() { synchronized (guard) { n = choose(1, 3); } return n + n; } }";
    assert_eq!(violations(class, [&[], &["o.roll()"], &["o.roll()"], &["o.get()"]]), [""; 0]);
    assert_eq!(violations(class, [&[], &["o.twice()"], &["o.roll()"], &[]]), ["not-linearizable"]);
}

#[test]
fn a_reference_class_takes_the_place_of_the_class() {
    let apart: [&[&str]; 4] = [&[], &["o.add()"], &["o.get()"], &[]];
    assert_eq!(violations(COUNTER, apart), [""; 0]);
    assert_eq!(violations_of_reference(COUNTER, apart, "Sum"), ["not-linearizable"]);
    assert_eq!(violations_of_reference(COUNTER, apart, "Counter"), [""; 0]);
}

#[test]
fn a_lock_that_nobody_gives_back_is_sequential() {
    let class = "class Leaky { private lock guard; private int n;
      public bool add(int x) { lock(guard); if (x < 0) return false; n = n + x; unlock(guard); return true; } }";
    assert_eq!(violations(class, [&[], &["o.add(-1)"], &["o.add(1)"], &[]]), ["sequential deadlock"]);
}

#[test]
fn a_prefix_that_fails_or_waits_makes_a_test_useless() {
    for (class, prefix) in [(LOG4J, ["o.set(0)", "o.severe(1)"]), (QUEUE, ["o.put()", "o.take()"])] {
        let unit = unit(&class.replace("if (threshold == 0) return true; ", ""));
        let methods = Methods::new(&unit.sources, unit.file);
        let subjects = Subject::all(&methods);
        let last = prefix[1];
        let test = test(&subjects[0], [&[prefix[0], last, last], &[prefix[0]], &[prefix[0]], &[]]);
        let program = TestProgram::new(&subjects[0], &test, None, ("test.csm", &Options::default())).unwrap();
        let ends = SerialEnds::new(&program, &test, 1_000, &cssame_budget::Budget::unlimited());
        assert_eq!(ends.err(), Some(Unusable::Prefix));
    }
}

#[test]
fn threads_that_meet_have_no_serial_order() {
    let class = "class Meeting { barrier both(2); private int n;
      public int arrive() { n = n + 1; barrier(both); return n; } public int get() { return n; } }";
    assert_eq!(violations(class, [&[], &["o.arrive()"], &["o.arrive()"], &["o.get()"]]), [""; 0]);
    // What the waiting call has done is seen by another one: no serial order has that.
    assert_eq!(violations(class, [&[], &["o.arrive()"], &["o.get()"], &[]]), ["deadlock"]);
}
