//! Bodies of locks that only look, and threads that are woken in another order: neither makes executions, where no read tells.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others: here a third of that number, for each takes long.

use crate::reads_from::{Compared, Random, counted, family, machine};
use cssame::budget::Limits;
use cssame::explore::{CountAnswer, Refusal};
use std::fmt::Write;
use support::{first_seed, possible_model, programs};

/// Threads that look, wait, write and notify under one lock, seldom under another one, or without.
fn program(seed: u64) -> String {
    let random = &mut Random(seed);
    let mut text = "int x, y, z; int t[2]; lock L; lock M; cond c; cond d; sem s = 0;\n\
                    int get() { lock(L); int v = x; unlock(L); return v; }\n\
                    void await(int n) { lock(L); while (x < n) wait(c, L); unlock(L); }\ncobegin\n"
        .to_owned();
    let kinds = [random.below(16), random.below(16), random.below(16), 1, 3];
    for thread in 0..2 + random.below(3) {
        let _ = write!(text, "  T{thread}: {{ int a; ");
        for _ in 0..1 + random.below(3) {
            let kind = kinds[random.below(5) as usize];
            statement(random, &mut text, kind);
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x, y);\n");
    text
}

fn statement(random: &mut Random, text: &mut String, kind: u64) {
    let (one, other) = (["x", "y"][random.below(2) as usize], ["x", "y"][random.below(2) as usize]);
    let (condition, value) = (["c", "d"][usize::from(random.below(4) == 0)], random.below(3));
    let notify = ["", "notify(c); ", "notifyAll(c); ", "notify(d); "][random.below(4) as usize];
    let _ = match kind {
        0 => write!(text, "lock(L); a = {one} + {other}; unlock(L); "),
        1 => write!(text, "lock(L); if ({one} == {value}) wait({condition}, L); unlock(L); "),
        2 => write!(text, "lock(L); while ({one} == 0) wait({condition}, L); {one}--; {notify}unlock(L); "),
        3 | 4 => write!(text, "lock(L); {one} = {other} + 1; {notify}unlock(L); "),
        5 => write!(text, "lock(L); y = {value}; {notify}unlock(L); "),
        6 => write!(text, "lock(L); if ({one} == {value}) {{ {other} = 2; {notify}}} unlock(L); "),
        7 => write!(text, "a = get(); await(a - {value}); "),
        8 => write!(text, "await({value}); "),
        9 => write!(text, "lock(M); a = t[a & 1]; unlock(M); "),
        10 => write!(text, "lock(M); t[a & 1] = {value}; lock(L); a = {one}; unlock(L); unlock(M); "),
        11 => write!(text, "lock(L); lock(M); a = t[0]; unlock(M); unlock(L); "),
        12 => write!(text, "z = z + 1; if (z == 1) {one} = 2; "),
        13 => write!(text, "lock(L); wait({condition}, L); print({one}); unlock(L); "),
        14 => write!(text, "{}", ["V(s); ", "P(s); ", "if (z == 0) V(s); ", "notify(c); "][random.below(4) as usize]),
        _ => write!(text, "lock(L); a = cas({one}, 0, 1) ? 1 : z; unlock(L); "),
    };
}

/// As many futures, and what they show, as states and the oracle say; often by fewer executions.
#[test]
fn random_programs_that_look_and_wait_have_as_many_futures_as_states_and_oracle_say() {
    let programs = programs(50) / 3;
    let first = first_seed(1);
    let (mut compared, mut fewer) = (Compared::default(), 0);
    for seed in first..first + programs {
        let text = program(seed);
        compared.add(seed, &text, |refusal| matches!(refusal, Refusal::Orders | Refusal::Endless));
        let Some(model) = possible_model(&text) else { continue };
        let few = Limits { max_executions: Some(2_000), ..Limits::default() };
        let executions = |found: Result<CountAnswer, Refusal>| found.map_or(u64::MAX, |found| found.executions);
        fewer +=
            u64::from(executions(counted(&machine(&text, &[]), &few)) < executions(counted(model.machine(), &few)));
    }
    println!("{compared:?}, {fewer} with fewer executions");
    assert!(
        support::has_new_seed() || compared.programs * 2 > programs && fewer * 4 > programs,
        "{compared:?}, {fewer} with fewer executions"
    );
}

fn assert_one_for_each(text: &str, futures: u64) {
    let found = counted(&machine(text, &[]), &Limits::default()).unwrap();
    assert_eq!((found.futures, found.executions, found.bound), (futures, futures, None), "{text}");
}

/// Threads that find a gate shut wait, in no order; who comes later goes through.
#[test]
fn threads_before_a_gate_have_no_order() {
    for threads in 1..=6 {
        let arms: String = (0..threads).map(|thread| format!("T{thread}: pass();\n")).collect();
        let text = format!(
            "int open; lock L; cond c;
            void pass() {{ lock(L); while (open == 0) wait(c, L); unlock(L); }}
            cobegin {arms} G: {{ lock(L); open = 1; notifyAll(c); unlock(L); }} coend"
        );
        assert_one_for_each(&text, 1 << threads);
    }
}

/// What a thread does under a lock to what it has for itself is no matter of others.
#[test]
fn bodies_on_data_of_their_threads_have_no_order() {
    let work = |of: &str| format!("for (int k = 0; k < 8; k++) {{ lock(L); {of}++; unlock(L); }}");
    assert_one_for_each(&format!("int a, b; lock L; cobegin A: {} B: {} coend", work("a"), work("b")), 1);
}

/// One execution for each future of monitors, or hardly more.
#[test]
fn monitors_have_one_execution_for_each_future() {
    let readers_writers = counted(&family("readers_writers", 1), &Limits::default()).unwrap();
    assert_eq!((readers_writers.futures, readers_writers.executions), (56, 56));
    let buffer = counted(&family("bounded_buffer", 1), &Limits::default()).unwrap();
    assert_eq!((buffer.futures, buffer.executions), (44, 48));
}
