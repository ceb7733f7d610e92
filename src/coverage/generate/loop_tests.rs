//! Tests of the whole loop: every strategy and seed finds bugs of several kinds with small tests, and none in the corrected
//! classes.

use super::testing::unit;
use super::*;
use cssame_budget::Budget;
use cssame_model::{Model, Options};
use cssame_schedule::{Replay, run};

fn generated(class: &str, request: &Request, jobs: usize) -> Generated {
    let unit = unit(class);
    let (universe, methods) = (Universe::of_library(&unit.program), PublicMethods::new(&unit.program));
    let budget = Budget::unlimited().with_jobs(jobs);
    generate(&unit, &Options::default(), (&universe, &methods), request, &budget).unwrap()
}

fn request(seed: u64, strategy: Strategy) -> Request {
    Request { seed, strategy, tests: Some(200), ..Request::default() }
}

/// A test in one line: `o.set(3) | o.severe(1) || o.set(0) | o.get()`.
fn line(test: &TestSource) -> String {
    let [first, second] = &test.suffixes;
    let (prefix, post) = (test.prefix.join(" "), test.post.join(" "));
    format!("{prefix} | {} || {} | {post}", first.join(" "), second.join(" "))
}

/// A class with a bug, and how it is mended: a piece of text for another.
struct Case {
    class: &'static str,
    mended: [&'static str; 2],
    status: &'static str,
    /// Calls of the reported test at most.
    calls: usize,
}

const CASES: &[Case] = &[
    // Log4j: the threshold is tested, and read again.
    Case {
        class: "class Category { private int threshold = 3;
          public bool severe(int p) { if (threshold == 0) return true; return p / threshold > 0; }
          public void set(int value) { threshold = value; } }",
        mended: [
            "if (threshold == 0) return true; return p / threshold > 0;",
            "int t = threshold; if (t == 0) return true; return p / t > 0;",
        ],
        status: "division-by-zero",
        calls: 2,
    },
    // A counter that loses updates.
    Case {
        class: "class Counter { private lock guard; private int n;
          public void add() { n = n + 1; }
          public int get() { synchronized (guard) { return n; } } }",
        mended: ["n = n + 1;", "synchronized (guard) { n = n + 1; }"],
        status: "not-linearizable",
        calls: 3,
    },
    // Two variables that belong together.
    Case {
        class: "class Range { private lock guard; private int low; private int high;
          public void set(int a) { synchronized (guard) { low = a; } synchronized (guard) { high = a; } }
          public int width() { synchronized (guard) { return high - low; } } }",
        mended: ["low = a; } synchronized (guard) { high = a;", "low = a; high = a;"],
        status: "not-linearizable",
        calls: 3,
    },
    // Two locks, taken in the order of the receiver and the argument.
    Case {
        class: "class Account { private lock guard; private int balance;
          public void add(int x) { synchronized (guard) { balance = balance + x; } }
          public void move(Account other) { synchronized (guard) { other.add(1); balance = balance - 1; } } }",
        mended: [
            "synchronized (guard) { other.add(1); balance = balance - 1; }",
            "other.add(1); synchronized (guard) { balance = balance - 1; }",
        ],
        status: "deadlock",
        calls: 2,
    },
    // A notification that may come between the test and the wait.
    Case {
        class: "class Gate { private lock guard; private cond opened; private bool open;
          public void pass() { bool seen; synchronized (guard) { seen = open; }
            if (!seen) { synchronized (guard) { wait(opened, guard); } } }
          public void set() { synchronized (guard) { open = true; notifyAll(opened); } } }",
        mended: [
            "bool seen; synchronized (guard) { seen = open; }
            if (!seen) { synchronized (guard) { wait(opened, guard); } }",
            "synchronized (guard) { while (!open) wait(opened, guard); }",
        ],
        status: "deadlock",
        calls: 2,
    },
];

/// The text and the steps of a failure are those of an execution that fails so, in which threads come between each other.
fn replay(failure: &Failure) {
    let model = Model::from_text("test.csm", &failure.text, &Options::default()).unwrap();
    let mut replay = Replay::new(model.naming(), &failure.schedule);
    let execution = run(model.machine(), &mut replay, 10_000, &mut ());
    assert!(replay.departure().is_none(), "{}", failure.text);
    let status = if failure.status == "not-linearizable" { "ok" } else { failure.status };
    assert_eq!(execution.status.word(), status);
    let printed = failure.results.suffixes.iter().chain([&failure.results.prefix, &failure.results.post]);
    assert_eq!(execution.lines(model.machine()).len(), printed.flatten().flatten().count());
    assert!(failure.switch.is_some_and(|switch| switch < failure.schedule.len()), "{failure:?}");
}

#[test]
fn bugs_are_found_with_every_strategy_and_tests_are_small() {
    for case in CASES {
        for strategy in Strategy::ALL {
            for seed in 0..2 {
                let found = generated(case.class, &request(seed, strategy), 1);
                let counted: Vec<&Failure> = found.counted().collect();
                let name = format!("{} {} {seed}", case.class, strategy.word());
                assert_eq!(counted.len(), 1, "{name}");
                let [failure] = counted[..] else { return };
                assert_eq!(failure.status, case.status, "{name}");
                let calls = failure.test.prefix.len()
                    + failure.test.suffixes.iter().map(Vec::len).sum::<usize>()
                    + failure.test.post.len();
                assert!(calls <= case.calls, "{name}: {}", line(&failure.test));
                assert_eq!(found.stopped_by, StoppedBy::Failure);
                replay(failure);
                assert!(found.first_failure.is_some_and(|first| first.tests == found.tests.made));
            }
        }
    }
}

#[test]
fn nothing_is_found_in_corrected_classes() {
    for case in CASES {
        let class = case.class.replace(case.mended[0], case.mended[1]);
        assert_ne!(class, case.class);
        for strategy in [Strategy::Random, Strategy::Both] {
            let request = Request { tests: Some(60), ..request(1, strategy) };
            let found = generated(&class, &request, 1);
            let counted: Vec<String> =
                found.counted().map(|failure| format!("{} {}", failure.status, line(&failure.test))).collect();
            assert!(counted.is_empty(), "{class}: {counted:?}");
            assert_eq!((found.tests.made, found.stopped_by), (60, StoppedBy::Tests));
        }
    }
}

#[test]
fn tests_do_not_depend_on_the_number_of_cores() {
    for strategy in [Strategy::Pairs, Strategy::Both] {
        let request = Request { keep_going: true, tests: Some(50), ..request(7, strategy) };
        let [one, two] = [1, 3].map(|jobs| generated(CASES[0].class, &request, jobs));
        assert_eq!(format!("{one:?}"), format!("{two:?}"));
    }
}

const SET: &str = "class Set { private lock guard; private bool has; private int n;
    public bool add() { synchronized (guard) { if (has) return false; has = true; } n = n + 1; return true; }
    public bool remove() { synchronized (guard) { if (!has) return false; has = false; } n = n - 1; return true; }
    public bool isValid() { return n == 0 || n == 1; } }
  class Model { private bool has; private int n;
    public bool add() { if (has) return false; has = true; return true; }
    public bool remove() { has = false; return true; }
    public bool isValid() { return true; } }";

#[test]
fn a_reference_says_what_is_right() {
    let spec = Request { reference: Some("Model".to_owned()), ..request(1, Strategy::Both) };
    let found = generated(SET, &spec, 1);
    let counted: Vec<&Failure> = found.counted().collect();
    assert_eq!(counted.len(), 1);
    // The reference removes what is not there, which needs one call.
    assert_eq!(counted[0].status, "not-linearizable");
    assert!(counted[0].message.contains("without any interleaving"), "{}", counted[0].message);
    assert_eq!(line(&counted[0].test).matches("()").count(), 1, "{}", line(&counted[0].test));
    assert_eq!(counted[0].class, "Set");
}

#[test]
fn an_invariant_has_to_hold_behind_the_threads() {
    // `n` may be 2 for a while, and -1 at the end of no execution: the updates are lost the other way round.
    let spec = Request { invariant: Some("Set.isValid".to_owned()), ..request(1, Strategy::Both) };
    let found = generated(SET, &spec, 1);
    let counted: Vec<&Failure> = found.counted().collect();
    assert_eq!(counted.len(), 1);
    let invariants: Vec<&Failure> = counted.into_iter().filter(|failure| failure.status == "assert").collect();
    assert!(invariants.iter().all(|failure| failure.test.post.contains(&"assert(o.isValid())".to_owned())));
    let keep = Request { keep_going: true, ..spec };
    let found = generated(SET, &keep, 2);
    let invariants: Vec<&Failure> = found.counted().filter(|failure| failure.status == "assert").collect();
    assert_eq!(invariants.len(), 1, "one place");
    assert_eq!(invariants[0].test.post, ["assert(o.isValid())"]);
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let refused = |class: &str, request: &Request| {
        let unit = unit(class);
        let (universe, methods) = (Universe::of_library(&unit.program), PublicMethods::new(&unit.program));
        let budget = Budget::unlimited();
        generate(&unit, &Options::default(), (&universe, &methods), request, &budget).unwrap_err()
    };
    let with = |reference: Option<&str>, invariant: Option<&str>| Request {
        reference: reference.map(str::to_owned),
        invariant: invariant.map(str::to_owned),
        ..Request::default()
    };
    assert_eq!(refused("int x; x = 1;", &with(None, None)), Refused::HasMain);
    assert_eq!(refused("class A { private int f() { return 1; } }", &with(None, None)), Refused::NoMethods);
    assert_eq!(refused(SET, &with(Some("Other"), None)), Refused::NoClass("Other".to_owned()));
    assert_eq!(refused(SET, &with(None, Some("size"))), Refused::NoInvariant("size".to_owned()));
    let lacks = "class A { public int f(int x) { return x; } } class B { public int f() { return 1; } }";
    let expected = Refused::NoSuchMethod { class: "B".to_owned(), method: "f".to_owned() };
    assert_eq!(refused(lacks, &with(Some("B"), None)), expected);
}

#[test]
fn names_of_the_file_stay_its_own() {
    let class = "int o; class a { private int b;
      public int both() { cobegin a: b = b + 1; b: b = b + 2; coend return b; } }";
    let found = generated(class, &request(1, Strategy::Both), 1);
    let failure = found.counted().next().unwrap();
    assert_eq!(failure.status, "not-linearizable");
    assert_eq!(failure.test.objects, ["a o_"]);
    replay(failure);
    assert!(failure.schedule.iter().any(|step| step.thread == "a_/a"), "{}", failure.text);
}

#[test]
fn functions_are_tested_where_they_touch_variables_of_the_file() {
    let functions = "int total; int add(int x) { int t = total; total = t + x; return t; }";
    let found = generated(functions, &request(1, Strategy::Both), 1);
    assert_eq!(found.counted().next().unwrap().class, "functions");
    let helper = "int twice(int x) { return 2 * x; }
      class C { private int n; public void add(int x) { n = n + twice(x); } public int get() { return n; } }";
    let found = generated(helper, &Request { keep_going: true, ..request(1, Strategy::Random) }, 1);
    assert!(found.counted().all(|failure| failure.class == "C"));
    assert!(found.kept.iter().all(|test| test.class == "C"));
}
