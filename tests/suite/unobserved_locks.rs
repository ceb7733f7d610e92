//! Locks whose order nobody can see, held to all states of the whole program: random programs, and philosophers.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::reductions::{Tally, check_order, philosophers, report};
use cssame::budget::{Budget, Limits};
use cssame::explore::{CountAnswer, Query, Subject, count_by_states};
use cssame::model::Model;
use cssame::vm::{Machine, Options};
use std::fmt::Write;
use support::generate::Rng;
use support::{first_seed, model, possible_model, programs};

/// A program whose threads take locks, often for what they do not share; some of them in ways that others can see.
fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e_37_79));
    let mut text =
        "int own[4]; int a0, a1, a2; int x, y; lock L, M, N; lock f[3]; event v; cond c; sem s = 1, r = 1, w = 2;\n"
            .to_owned();
    text +=
        "void add(int me, lock one, lock other) { lock(one); lock(other); own[me]++; unlock(other); unlock(one); }\n";
    text += "void main() {\ncobegin\n";
    let threads = 2 + rng.below(2);
    for thread in 0..threads {
        let _ = write!(text, "  T{thread}: {{ ");
        for _ in 0..1 + rng.below(3) {
            let _ = match rng.below(9) {
                0..=2 => write!(text, "{} ", body(&mut rng, thread, 0)),
                3 => write!(text, "add({thread}, {}, {}); ", lock(&mut rng), lock(&mut rng)),
                4 => write!(text, "for (int i = 0; i < 2; i++) {{ {} }} ", body(&mut rng, thread, 0)),
                5 => write!(text, "if (x == 0) {{ {} }} ", body(&mut rng, thread, 0)),
                _ => write!(text, "{} ", outside(&mut rng)),
            };
        }
        text += "}\n";
    }
    text += "coend\n";
    text += ["print(a0);", "print(own[1]);", "print(x);", ""][rng.below(4)];
    text + "\n}\n"
}

fn lock(rng: &mut Rng) -> &'static str {
    rng.pick::<&str>(&["L", "L", "M", "N", "f[0]", "f[1]"])
}

/// What takes a lock or a semaphore, and what gives it back.
fn pair(rng: &mut Rng) -> (String, String) {
    if rng.chance(30) {
        let semaphore = rng.pick::<&str>(&["r", "w", "w"]);
        return (format!("P({semaphore}); "), format!("V({semaphore}); "));
    }
    let lock = lock(rng);
    (format!("lock({lock}); "), format!("unlock({lock}); "))
}

/// The body of a lock or a semaphore, with others in it.
fn body(rng: &mut Rng, thread: usize, depth: u32) -> String {
    let (mut text, gives_back) = pair(rng);
    for _ in 0..rng.below(3) {
        text += &match rng.below(if depth < 2 { 14 } else { 10 }) {
            0..=2 => format!("a{thread}++; "),
            3 | 4 => format!("own[{thread}] = own[{thread}] + 1; "),
            5 => format!("if (a{thread} == 1) a{thread} = 2; "),
            6 => (*rng.pick(&["int t = y; ", "int t = y; ", "x = 2; ", "y = a0; ", "a0 = cas(x, 0, 1); ", "y = x; "]))
                .to_owned(),
            7 if rng.chance(30) => inside(rng),
            7..=9 => format!("a{thread} = own[{thread}]; "),
            _ => body(rng, thread, depth + 1),
        };
    }
    // Some forget to give it back, or give back another one.
    if !rng.chance(4) {
        text += &if rng.chance(3) { pair(rng).1 } else { gives_back };
    }
    format!("{{ {text}}}")
}

/// What others may see, or wait for, or what may fail.
fn inside(rng: &mut Rng) -> String {
    let all = [
        "x = x + 1; ",
        "print(x); ",
        "assert(x < 2); ",
        "wait(v); ",
        "set(v); ",
        "P(s); ",
        "V(s); ",
        "own[x + 2] = 1; ",
        "a0 = 3; ",
        "notifyAll(c); ",
        "wait(c, L); ",
        "while (x == 0) { x = 1; } ",
        "int k = choose(0, 1); ",
        "own[2] = 10 / (x - 1); ",
    ];
    (*rng.pick(&all)).to_owned()
}

fn outside(rng: &mut Rng) -> String {
    let all = ["x = x + 1;", "y = x;", "print(x);", "set(v);", "wait(v);", "if (y == 1) { x = 2; }", "assert(x != 3);"];
    (*rng.pick(&all)).to_owned()
}

fn counted(model: &Model, limits: &Limits) -> CountAnswer {
    Subject::from(model).count(&Budget::from(*limits))
}

#[test]
fn random_programs_have_the_same_answers_without_their_order() {
    let programs = programs(75);
    let first = first_seed(1);
    let (mut tally, mut unobserved, mut fewer) = (Tally::default(), 0, 0);
    for seed in first..first + programs {
        let text = program(seed);
        report(&text, seed, &mut tally, check_order);
        let Some(model) = possible_model(&text) else { continue };
        unobserved += u64::from(!Subject::from(&model).commuting().unwrap().locks.is_empty());
        let limits = Limits { max_states: Some(50_000), ..Limits::default() };
        let Some(found) = Subject::from(&model).count_with_fewer_orders(&Budget::from(limits)) else { continue };
        let one_by_one = count_by_states(model.machine(), &Budget::from(limits));
        if found.bound.is_none() && one_by_one.bound.is_none() {
            assert!(!found.infinite, "seed {seed}:\n{text}");
            assert_eq!(found.futures, one_by_one.futures, "seed {seed}:\n{text}");
            fewer += 1;
        }
    }
    println!(
        "{} programs reduced, {} of them to fewer states; {unobserved} have unobserved locks, {fewer} were counted by executions",
        tally.reduced, tally.saved
    );
    assert!(
        support::has_new_seed() || unobserved * 4 > programs && fewer * 5 > programs,
        "{unobserved} and {fewer} of {programs}"
    );
}

#[test]
fn philosophers_have_one_future_whatever_their_number() {
    for n in [3, 8, 60] {
        let text = philosophers(n, &format!("f0, f{}", n - 1));
        let model = model(&text);
        let found = counted(&model, &Limits::default());
        assert_eq!((found.futures, found.executions, found.bound), (1, 1, None), "{n}");
        let answer = Subject::from(&model).futures(&Query::default(), &Budget::unlimited());
        assert!(answer.is_complete() && answer.deadlocks.is_empty(), "{n}");
        assert!(answer.statistics.states < 30_000, "{n}: {} states", answer.statistics.states);
    }
    // In a circle they may block each other.
    let model = model(&philosophers(4, "f3, f0"));
    assert!(Subject::from(&model).commuting().unwrap().locks.is_empty());
    assert_eq!(counted(&model, &Limits::default()).futures, 2);
}

#[test]
fn nobody_sees_who_comes_first_through_a_semaphore_that_bounds_how_many_work() {
    let arms: String = (0..60).map(|me| format!("T{me}: work({me});\n")).collect();
    for threads in [format!("cobegin {arms} coend"), "parfor (int i = 0; i < 12; i++) work(i);".to_owned()] {
        let text = format!(
            "sem s = 2; int t[60]; void work(int me) {{ P(s); t[me] = t[me] + 1; V(s); }}
             void main() {{ {threads} print(t[1]); }}"
        );
        let found = counted(&model(&text), &Limits::default());
        assert_eq!((found.futures, found.executions, found.bound), (1, 1, None), "{threads}");
    }
}

/// Programs with one semaphore, and whether its order can be seen.
#[test]
fn who_raises_a_semaphore_without_having_lowered_it_makes_it_observed() {
    for (units, body, is_unobserved) in [
        (1, "P(s); a = a + 1; V(s);", true),
        (2, "P(s); a = a + 1; V(s);", true),
        (2, "P(s); if (a == 0) { a = 2; } V(s);", true),
        (3, "P(s); lock(L); a = a + 1; unlock(L); V(s);", true),
        // Nobody gets through, at first.
        (0, "P(s); a = a + 1; V(s);", false),
        (2, "V(s); P(s);", false),
        (2, "P(s); a = a + 1;", false),
        (2, "P(s); P(s); V(s); V(s);", false),
        (2, "P(s); int t = x; V(s);", false),
        (2, "P(s); a = a + 1; V(s); V(s);", false),
        (2, "if (a == 0) { P(s); } V(s);", false),
        (1, "P(s); wait(v); V(s);", false),
    ] {
        let text = format!(
            "int a, x; sem s = {units}; event v; lock L;
             void main() {{ cobegin A: {{ {body} }} B: {{ P(s); V(s); set(v); x = 2; }} coend print(a); }}"
        );
        let model = model(&text);
        let locks = Subject::from(&model).commuting().unwrap().locks;
        // Four operations are on `s`; those on `L` are no more than two.
        assert_eq!(locks.len() >= 4, is_unobserved, "{units}, {body}: {locks:?}");
        let limits = Limits::default();
        let one_by_one = count_by_states(model.machine(), &Budget::from(limits));
        assert_eq!(counted(&model, &limits).futures, one_by_one.futures, "{units}, {body}");
    }
}

/// Programs with one lock, and whether its order can be seen.
#[test]
fn what_others_can_see_of_a_body_makes_its_lock_observed() {
    for (body, is_unobserved) in [
        ("a = a + 1;", true),
        ("int t = c; a = t;", true),
        ("if (a == 0) { a = 1; } else { a = 2; }", true),
        ("int t = x;", false),
        ("x = 1;", false),
        ("print(a);", false),
        ("assert(a == 0);", false),
        ("a = 1 / a;", false),
        ("while (a == 0) { a = a + 0; }", false),
        ("for (int i = 0; i < 2; i++) { a = a + 1; }", false),
        ("wait(v);", false),
        ("set(v);", false),
        ("int t = choose(0, 1);", false),
        ("own[a] = 1;", false),
        ("own[1] = 1;", true),
        ("unlock(L); lock(L);", true),
        ("lock(M); unlock(M);", true),
        ("lock(M); x = 1; unlock(M);", false),
        ("cobegin P: skip; Q: skip; coend", false),
    ] {
        let text = format!(
            "int a, x, c = 3; int own[2]; event v; lock L, M;
             void main() {{ cobegin A: {{ lock(L); {body} unlock(L); }} B: {{ lock(L); unlock(L); set(v); x = 2; }} coend print(a); }}"
        );
        let model = model(&text);
        let locks = Subject::from(&model).commuting().unwrap().locks;
        // Four operations are on `L`.
        assert_eq!(locks.len() >= 4, is_unobserved, "{body}: {locks:?}");
    }
}

/// Bodies with one access that others conflict with are counted without their lock; with two of them it is seen.
#[test]
fn a_body_with_one_access_that_others_see_needs_no_lock_to_be_counted() {
    for (body, other, executions) in [
        ("x = 1;", "x = 2;", Some(2)),
        ("int t = x; a = t;", "x = 2;", Some(2)),
        ("if (a == 0) { x = 1; } else { x = 3; }", "x = 2;", Some(2)),
        ("lock(M); x = 1; unlock(M);", "int t = x;", Some(2)),
        ("a = fetch_add(x, 1);", "a2 = fetch_add(x, 2);", Some(2)),
        ("x = 1; unlock(L); lock(L); x = 3;", "x = 2;", Some(2)),
        ("x = x + 1;", "x = 2;", None),
        ("x = x + 1;", "int t = x;", Some(2)),
        ("x = 1; y = 1;", "x = 2; y = 2;", None),
        ("x = 1; x = 3;", "x = 2;", None),
        ("if (a == 0) { x = 1; } y = 1;", "y = 2; int t = x;", None),
    ] {
        let text = format!(
            "int a, a2, x, y; lock L, M;
             void main() {{ cobegin A: {{ lock(L); {body} unlock(L); }} B: {{ lock(L); {other} unlock(L); }} coend print(x); }}"
        );
        let model = model(&text);
        let found = Subject::from(&model).count_with_fewer_orders(&Budget::unlimited());
        assert_eq!(found.as_ref().map(|found| found.executions), executions, "{body}");
        let one_by_one = count_by_states(model.machine(), &Budget::unlimited());
        assert_eq!(counted(&model, &Limits::default()).futures, one_by_one.futures, "{body}");
    }
}

/// Ten threads that write one cell each in a body of one lock.
#[test]
fn writers_under_a_lock_are_one_execution_for_each_that_is_last() {
    let text =
        "int x; lock L; void main() { parfor (int t = 0; t < 10; t++) { lock(L); x = t; unlock(L); } print(x); }";
    let found = counted(&model(text), &Limits::default());
    assert_eq!((found.futures, found.executions, found.bound), (10, 10, None));
}

/// Who gives back the outer lock first lets others come, but not by the inner one.
#[test]
fn a_lock_that_is_taken_before_another_one_is_given_back_is_needed_to_count() {
    let text = "int x, w; lock A, B; cobegin
          T1: { lock(A); int a = x; x = a + 1; lock(B); a = w; unlock(B); unlock(A); }
          T2: { lock(A); x = x + 1; lock(B); unlock(A); w = 2; unlock(B); }
        coend";
    let model = model(text);
    let found = Subject::from(&model).count_with_fewer_orders(&Budget::unlimited());
    assert!(found.is_none_or(|found| found.futures == 2), "{found:?}");
    assert_eq!(count_by_states(model.machine(), &Budget::unlimited()).futures, 2);
}

/// A loop that takes a lock and does nothing else has steps; without the lock it has none, and computes too long.
#[test]
fn a_loop_that_only_takes_locks_goes_on_as_long_as_it_likes() {
    for (text, futures) in [
        ("int x; lock L; void main() { cobegin A: x = 1; B: x = 2; coend while (true) { lock(L); unlock(L); } }", 0),
        ("int x; lock L; void main() { while (true) { lock(L); unlock(L); } cobegin A: x = 1; B: x = 2; coend }", 0),
        (
            "int x; lock L, M; void main() {
               cobegin A: x = 1; B: { lock(M); x = 2; unlock(M); } coend
               if (x == 1) { while (true) { lock(L); lock(M); unlock(M); unlock(L); } }
             }",
            1,
        ),
        (
            "int x; lock L; void main() {
               for (int i = 0; i < 100; i++) { lock(L); unlock(L); }
               cobegin A: x = 1; B: print(x); coend
             }",
            2,
        ),
    ] {
        let model = model(text);
        let options = Options { local_instructions: 200, ..*model.machine().options() };
        let machine = Machine::with_options(model.program(), model.machine().visibility(), options);
        let subject = Subject { machine: &machine, ..Subject::from(&model) };
        assert!(subject.count_with_fewer_orders(&Budget::unlimited()).is_none(), "{text}");
        let found = subject.count(&Budget::unlimited());
        assert_eq!((found.futures, found.infinite, found.bound), (futures, false, None), "{text}");
        assert_eq!(count_by_states(&machine, &Budget::unlimited()).futures, futures, "{text}");
    }
}
