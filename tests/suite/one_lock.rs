//! Programs whose bodies of locks can be done one after the other have as many futures with one lock, and with locks for the semaphores
//! that are such.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::reads_from::{by_few_states, by_oracle};
use cssame::budget::{Budget, Limits};
use cssame::explore::{CountAnswer, Subject};
use std::fmt::Write;
use support::generate::Rng;
use support::{first_seed, model, possible_model, programs};

/// Threads that access cells under the locks and semaphores that belong to them, one in the other, seldom in another way.
fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e_37_79));
    let mut text =
        "int x, y, z, w; int t[2]; int own[4]; lock A, B, C; lock K[2]; sem s = 1, u = 2, f = 0; barrier b(2);\n\
                    void add(int k) { lock(K[k]); t[k] = t[k] + 1; unlock(K[k]); }\n\
                    void down(sem k) { P(k); } void up(sem k) { V(k); }\n\
                    int get() { lock(A); int v = x; unlock(A); return v; }\n"
            .to_owned();
    text += "cobegin\n";
    let threads = 2 + rng.below(3);
    let meets = rng.chance(20);
    for thread in 0..threads {
        let _ = write!(text, "  T{thread}: {{ int a; ");
        for _ in 0..1 + rng.below(5 - threads) {
            let statement = statement(&mut rng, thread);
            text += &statement;
        }
        if meets && thread < 2 {
            text += "barrier(b); ";
            let statement = statement(&mut rng, thread);
            text += &statement;
        }
        text += "}\n";
    }
    text += "coend\n";
    text += ["print(x, y, z);", "print(t[0]);", "assert(x != 7);", ""][rng.below(4)];
    text + "\n"
}

/// The begin and the end of a body, and what it protects.
const BODIES: [(&str, &str, &str); 6] = [
    ("lock(A); ", "unlock(A); ", "x"),
    ("lock(B); ", "unlock(B); ", "y"),
    ("lock(C); ", "unlock(C); ", "z"),
    ("P(s); ", "V(s); ", "w"),
    ("lock(K[0]); ", "unlock(K[0]); ", "t[0]"),
    ("lock(K[1]); ", "unlock(K[1]); ", "t[1]"),
];

fn statement(rng: &mut Rng, thread: usize) -> String {
    let (one, other) = (rng.below(6), rng.below(6));
    let (first, second) = (BODIES[one.min(other)], BODIES[one.max(other)]);
    let nests = one != other;
    let (inner, outer) = (work(rng, second.2, first.2), work(rng, first.2, first.2));
    match rng.below(40) {
        0 => format!("add({}); ", rng.below(2)),
        1 => "a = get(); ".to_owned(),
        2 => format!("P(u); {}{inner}{}V(u); ", second.0, second.1),
        3 => format!("for (int i = 0; i < 2; i++) {{ {}{outer}{}}} ", first.0, first.1),
        4 => format!("if (a == 1) {{ {}{outer}{}}} ", first.0, first.1),
        5 => format!("own[{thread}] = own[{thread}] + 1; "),
        6 => "a = x; ".to_owned(),
        7 if nests => format!("{}{outer}{}{}{inner}{}", first.0, second.0, first.1, second.1),
        8 if nests => format!("{}{inner}{}{outer}{}{}", second.0, first.0, first.1, second.1),
        9 => "fetch_add(w, 1); ".to_owned(),
        10 => format!("if (own[{thread}] == 0) {{ {} }} else {{ {}{outer}{} }} ", first.0, first.0, first.1),
        11 => format!("lock(A); if (x == 1) {{ unlock(A); }} else {{ {outer}unlock(A); }} "),
        36 => format!("down(s); {}up(s); ", work(rng, "w", "w")),
        37 => (*rng.pick(&["up(f); ", "down(f); "])).to_owned(),
        12..=20 if nests => format!("{}{outer}{}{inner}{}{}", first.0, second.0, second.1, first.1),
        21..=23 if nests => format!("{}{outer}{}{}{inner}{}", first.0, second.0, first.1, second.1),
        _ => format!("{}{outer}{}", first.0, first.1),
    }
}

/// What a body does with the cell that it protects, and with another one.
fn work(rng: &mut Rng, cell: &str, other: &str) -> String {
    let value = rng.below(3);
    match rng.below(8) {
        0 => format!("{cell} = {value}; "),
        1 => format!("a = {cell}; "),
        2 => format!("if ({cell} == {value}) {cell} = a; "),
        3 => format!("{cell} = {other} + 1; "),
        4 => format!("{cell} = a; print({cell}); "),
        5 => format!("a = {cell}; {cell} = a + 1; a = a - {cell}; "),
        _ => format!("{cell} = {cell} + 1; "),
    }
}

/// How many programs had executions of the changed kind, and as many futures as states and oracle say.
#[derive(Debug, Default)]
struct Tally {
    one_lock: u64,
    locks_for_semaphores: u64,
    /// Those that the oracle has counted as well.
    naive: u64,
    /// Those of which one lock leaves out executions.
    fewer: u64,
}

impl Tally {
    fn add(&mut self, seed: u64, text: &str) {
        let Some(model) = possible_model(text) else { return };
        let (subject, budget) = (Subject::from(&model), Budget::from(Limits::default()));
        let (one, other) = (subject.count_with_one_lock(&budget), subject.count_with_locks_for_semaphores(&budget));
        if one.is_none() && other.is_none() {
            return;
        }
        let states = by_few_states(model.machine(), 100_000);
        if states.bound.is_some() {
            return;
        }
        let complete = |found: &CountAnswer| found.bound.is_none();
        let fewer = subject.count_with_fewer_orders(&budget);
        for found in [one, other, fewer].into_iter().flatten().filter(complete) {
            assert_eq!(found.futures, states.futures, "seed {seed}:\n{text}");
        }
        self.one_lock += u64::from(one.is_some());
        self.locks_for_semaphores += u64::from(other.is_some());
        let executions = cssame::explore::count_by_executions(&subject.machine_of_executions(), &budget);
        self.fewer += u64::from(one.zip(executions.ok()).is_some_and(|(one, all)| one.executions < all.executions));
        if let Some(futures) = by_oracle(&model, text, 5_000) {
            self.naive += 1;
            assert_eq!(states.futures, futures, "seed {seed}:\n{text}");
        }
    }
}

#[test]
fn random_programs_have_as_many_futures_with_one_lock() {
    let programs = programs(100);
    let first = first_seed(1);
    let mut tally = Tally::default();
    (first..first + programs).for_each(|seed| tally.add(seed, &program(seed)));
    println!("{tally:?} of {programs}");
    assert!(tally.one_lock * 3 > programs && tally.locks_for_semaphores * 5 > programs, "{tally:?}");
    assert!(tally.fewer * 100 > programs, "{tally:?}");
}

/// How many futures there are, and the most executions that are followed.
#[track_caller]
fn assert_few(text: &str, futures: u64, most: u64) {
    let model = model(text);
    let found = Subject::from(&model).count(&Budget::from(Limits::default()));
    assert_eq!((found.futures, found.bound), (futures, None), "{text}");
    assert!(found.executions <= most, "{} executions: {text}", found.executions);
}

/// Threads that look keys up under one lock, and count hits under another one: most bodies do not conflict.
#[test]
fn a_cache_with_a_lock_for_what_it_counts_has_few_executions() {
    let get = |thread: usize| {
        let key = thread % 3;
        format!(
            "T{thread}: {{ int h = 0; lock(C); if (done[{key}] == 1) {{ h = v[{key}]; }} else {{ v[{key}] = {thread}; \
             done[{key}] = 1; }} unlock(C); lock(S); if (h > 0) {{ hits = hits + 1; }} else {{ misses = misses + 1; }} \
             unlock(S); }}\n"
        )
    };
    let arms: String = (1..=5).map(get).collect();
    let text =
        format!("int v[3]; int hits, misses; int done[3]; lock C, S;\ncobegin\n{arms}coend\nprint(hits, misses);");
    assert_few(&text, 48, 200);
}

/// A waiter who lets all philosophers but one sit down, so that none of them blocks.
#[test]
fn philosophers_with_a_waiter_have_few_executions() {
    let n = 6;
    let eat = |one: usize| {
        let other = (one + 1) % n;
        format!(
            "P{one}: {{ P(w); lock(f[{one}]); lock(f[{other}]); u[{one}] = u[{one}] + 1; u[{other}] = u[{other}] + 1; \
             unlock(f[{other}]); unlock(f[{one}]); V(w); }}\n"
        )
    };
    let arms: String = (0..n).map(eat).collect();
    let text = format!("lock f[{n}]; int u[{n}]; sem w = {};\ncobegin\n{arms}coend\nprint(u[0]);", n - 1);
    assert_few(&text, 62, 100);
}

/// A semaphore that is a lock: bodies that do not conflict have no order.
#[test]
fn semaphores_that_are_locks_count_as_such() {
    let arm = |thread: usize| {
        let (one, other) = if thread.is_multiple_of(2) { ("x", "y") } else { ("y", "x") };
        format!("T{thread}: {{ P(s); {one} = {one} + 1; V(s); P(s); {other} = {other} + 1; V(s); }}\n")
    };
    let arms: String = (0..4).map(arm).collect();
    let text = format!("int x, y; sem s = 1;\ncobegin\n{arms}coend\nprint(x, y);");
    assert_few(&text, 244, 400);
}

/// A function that lowers whichever semaphore it is given is one instruction for a lock and for a signal.
#[test]
fn a_function_of_a_lock_and_of_a_signal_stays_as_it_is() {
    let text = "int x; sem m = 1, e = 0; void down(sem s) { P(s); } void up(sem s) { V(s); }
        cobegin
          A: { down(m); x = x + 1; up(m); up(e); }
          B: { down(m); x = x + 2; up(m); }
          C: { down(e); down(m); x = x + 3; up(m); }
        coend
        print(x);";
    let model = model(text);
    let all = by_few_states(model.machine(), 100_000);
    assert_eq!(all.futures, 3);
    let found = Subject::from(&model).count_with_locks_for_semaphores(&Budget::from(Limits::default()));
    assert!(found.is_none_or(|found| found.futures == all.futures), "{found:?}, by states {all:?}");
}

/// The same of a function that only reads under whichever lock it is given, of which one is tried.
#[test]
fn a_function_that_reads_under_locks_of_two_kinds_stays_as_it_is() {
    let text = "int x; lock L, M; int get(lock l) { lock(l); int v = x; unlock(l); return v; }
        cobegin
          A: { int a = get(L); int b = get(M); }
          B: { lock(L); lock(M); x = x + 1; unlock(M); unlock(L); if (trylock(M)) { unlock(M); } }
        coend";
    let model = model(text);
    let all = by_few_states(model.machine(), 100_000);
    let found = Subject::from(&model).count_with_fewer_orders(&Budget::from(Limits::default()));
    assert!(found.is_none_or(|found| found.futures == all.futures), "{found:?}, by states {all:?}");
}
