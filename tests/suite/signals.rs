//! Events that nobody clears, and semaphores: only what a thread has waited for comes before it, so few executions are one future.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others: here a third of that number.

use crate::reads_from::{Compared, Random, by_few_states, counted, family, machine};
use cssame::budget::Limits;
use cssame::explore::Refusal;
use std::fmt::Write;

/// Threads that raise and lower semaphores, set events and wait for them, some of them in an array or in a loop, around accesses of
/// memory. In one of eight an event is cleared.
fn program(seed: u64) -> String {
    let random = &mut Random(seed);
    let (begin, others) = (random.below(3), random.below(3));
    let mut text = format!(
        "int x, y; int a[2]; event e, f; event g[2]; sem s = {begin}; sem t = {others}; sem u[2] = 1; lock L;\n\
         void await(int n) {{ for (int k = 0; k < n; k++) P(s); }}\ncobegin\n"
    );
    let clears = random.below(8) == 0;
    let kinds = [random.below(15), random.below(15), random.below(15), random.below(5), 14];
    for thread in 0..2 + random.below(3) {
        let _ = write!(text, "  T{thread}: {{ int v; ");
        for _ in 0..2 + random.below(3) {
            let kind = kinds[random.below(5) as usize];
            let kind = if clears && random.below(8) == 0 { 15 } else { kind };
            statement(random, &mut text, kind);
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x, y, a[0]);\n");
    text
}

fn statement(random: &mut Random, text: &mut String, kind: u64) {
    let (one, other) = (["x", "y", "a[v & 1]"][random.below(3) as usize], ["x", "y"][random.below(2) as usize]);
    let semaphore = ["s", "s", "t", "u[0]", "u[v & 1]"][random.below(5) as usize];
    let event = ["e", "e", "f", "g[1]", "g[v & 1]"][random.below(5) as usize];
    let value = random.below(3);
    let _ = match kind {
        0 => write!(text, "V({semaphore}); "),
        1 => write!(text, "P({semaphore}); "),
        2 => write!(text, "set({event}); "),
        3 => write!(text, "wait({event}); "),
        4 => write!(text, "P({semaphore}); v = {one}; {other} = v + 1; V({semaphore}); "),
        5 => write!(text, "P(s); {one} = {value}; V(t); "),
        6 => write!(text, "P(t); v = {one}; V(s); "),
        7 => write!(text, "await({value}); "),
        8 => write!(text, "if ({one} == {value}) set({event}); else V({semaphore}); "),
        9 => write!(text, "lock(L); {one} = {other}; V({semaphore}); unlock(L); "),
        10 => write!(text, "P({semaphore}); lock(L); {one} = {other} + 1; unlock(L); "),
        11 => write!(text, "set({event}); wait({event}); {one} = {other} + 1; "),
        12 => write!(text, "wait({event}); if ({one} == {value}) P({semaphore}); "),
        13 => write!(text, "v = fetch_add(x, 1); "),
        14 => write!(text, "v = {one}; {other} = v + {value}; "),
        _ => write!(text, "clear({event}); "),
    };
}

/// As many futures, and what they show, as states and the oracle say.
#[test]
fn random_programs_that_signal_have_as_many_futures_as_states_and_oracle_say() {
    let (programs, compared) = Compared::of_random(program, |refusal| matches!(refusal, Refusal::Orders));
    println!("{compared:?}");
    assert!(compared.programs * 2 > programs, "{compared:?}");
}

#[test]
fn families_that_signal_have_one_execution_for_each_future() {
    for (name, n) in [("sem_buffer", 3), ("sem_buffer", 4), ("start_event", 3), ("start_event", 4)] {
        let machine = family(name, n);
        let found = counted(&machine, &Limits::default()).unwrap();
        let futures = by_few_states(&machine, 1_000_000).futures;
        assert_eq!((found.futures, found.executions, found.bound), (futures, futures, None), "{name} {n}");
    }
}

/// How many executions are followed, and how many futures they are.
#[track_caller]
fn assert_counts(text: &str, futures: u64, executions: u64) {
    let found = counted(&machine(text, &[]), &Limits::default()).unwrap();
    assert_eq!((found.futures, found.executions, found.bound), (futures, executions, None), "{text}");
}

/// Those who wait for an event have no order; of those who set it only the first one counts.
#[test]
fn threads_that_wait_for_an_event_have_no_order() {
    let waits = "event e; int a[9]; parfor (int t = 0; t < 9; t++) { if (t == 0) { a[0] = 1; set(e); } else { wait(e); a[t] = a[0]; } }";
    assert_counts(waits, 1, 1);
    let sets = "event e; int a[9]; parfor (int t = 0; t < 5; t++) { if (t == 0) { wait(e); a[8] = a[7]; } else { a[t] = 1; set(e); } }";
    assert_counts(sets, 1, 4);
    let cleared = "event e; int x; cobegin A: set(e); B: { wait(e); x = 1; } C: { clear(e); x = 2; } coend";
    assert!(counted(&machine(cleared, &[]), &Limits::default()).unwrap().executions > 1);
}

/// To raise a semaphore and to lower it has no order beyond what must come first.
#[test]
fn one_thread_that_fills_and_one_that_empties_have_one_execution() {
    let buffer = "int a[3]; sem empty = 3; sem full = 0;\ncobegin\n\
                  A: for (int k = 0; k < 9; k++) { P(empty); a[k % 3] = k; V(full); }\n\
                  B: for (int k = 0; k < 9; k++) { P(full); int v = a[k % 3]; V(empty); }\ncoend";
    assert_counts(buffer, 1, 1);
}
