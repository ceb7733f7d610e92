//! Bodies of locks that do not conflict have no order; nor has what semaphores do around them.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others: here a third of that number, for each takes long.

use crate::reads_from::{Compared, Random, counted, machine};
use cssame::budget::Limits;
use cssame::explore::Refusal;
use std::fmt::Write;

/// Threads that access several cells under a lock or two, with semaphores around, seldom without a lock.
fn program(seed: u64) -> String {
    let random = &mut Random(seed);
    let begin = 1 + random.below(2);
    let mut text = format!(
        "int x, y, z; int t[3]; int m; lock L; lock M; sem s = {begin}; sem f = 0; cond c;\n\
         void add(int k) {{ lock(L); t[k] = t[k] + 1; unlock(L); }}\n\
         int get(int k) {{ lock(L); int v = t[k]; unlock(L); return v; }}\n\
         void both(int k) {{ P(s); add(k); V(f); }}\ncobegin\n"
    );
    // Half of them have nothing but one lock.
    let most = if random.below(2) == 0 { [10; 5] } else { [12, 12, 20, 20, 24] };
    let kinds = most.map(|most| random.below(most));
    for thread in 0..2 + random.below(3) {
        let _ = write!(text, "  T{thread}: {{ int a; ");
        for _ in 0..1 + random.below(4) {
            let kind = kinds[random.below(5) as usize];
            statement(random, &mut text, kind);
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x, y, t[0]);\n");
    text
}

fn statement(random: &mut Random, text: &mut String, kind: u64) {
    let cell = |random: &mut Random| ["x", "y", "z", "t[0]", "t[1]", "t[2]", "t[a & 1]"][random.below(7) as usize];
    let (one, other) = (cell(random), cell(random));
    let (value, element) = (random.below(3), random.below(3));
    let _ = match kind {
        0 => write!(text, "lock(L); {one} = {other} + 1; unlock(L); "),
        1 => write!(text, "lock(L); {one} = {value}; unlock(L); "),
        2 => write!(text, "lock(L); a = {one}; unlock(L); "),
        3 | 4 => write!(text, "add({element}); "),
        5 => write!(text, "a = get({element}); "),
        6 => write!(text, "lock(L); if ({one} == {value}) {other} = 1; unlock(L); "),
        7 => write!(text, "lock(L); {one} = a; {other} = {other} + a; unlock(L); "),
        8 => write!(text, "lock(L); a = {one}; {other} = a - 1; unlock(L); "),
        9 => write!(text, "lock(L); for (int k = 0; k < 2; k++) t[k] = t[k] + {value}; unlock(L); "),
        10 => write!(text, "P(s); lock(L); {one} = {other} + 1; unlock(L); V(s); "),
        11 => write!(text, "both({element}); "),
        12 => write!(text, "P(f); a = get({element}); V(s); "),
        13 => write!(text, "P(s); lock(L); {one} = {value}; unlock(L); V(f); "),
        14 => write!(text, "P(f); lock(L); {one} = a; unlock(L); V(s); "),
        15 => write!(text, "P(s); m = m + 1; V(s); "),
        16 => write!(text, "lock(M); m = m + 1; unlock(M); "),
        17 => write!(text, "lock(M); lock(L); {one} = m; unlock(L); unlock(M); "),
        18 => write!(text, "lock(L); lock(M); m = {one}; unlock(M); {other} = {value}; unlock(L); "),
        19 => write!(text, "lock(L); {one} = cas({other}, {value}, 2) ? 1 : 2; unlock(L); "),
        20 => write!(text, "a = m; "),
        21 => write!(text, "a = {one}; "),
        22 => write!(text, "lock(L); while ({one} == 0) wait(c, L); {one}--; unlock(L); "),
        _ => write!(text, "lock(L); {one}++; notifyAll(c); unlock(L); "),
    };
}

/// As many futures, and what they show, as states and the oracle say.
#[test]
fn random_programs_under_a_lock_have_as_many_futures_as_states_and_oracle_say() {
    let (programs, compared) =
        Compared::of_random(program, |refusal| matches!(refusal, Refusal::Orders | Refusal::Endless));
    println!("{compared:?}");
    assert!(compared.programs * 2 > programs, "{compared:?}");
}

/// How many futures there are, and the most executions that are followed.
#[track_caller]
fn assert_few(text: &str, futures: u64, most: u64) {
    let found = counted(&machine(text, &[]), &Limits::default()).unwrap();
    assert_eq!((found.futures, found.bound), (futures, None), "{text}");
    assert!(found.executions <= most, "{} executions: {text}", found.executions);
}

/// A table under one lock: who works on other keys has no order.
#[test]
fn bodies_that_access_other_cells_have_no_order() {
    let table = "int key[4]; lock L;
        void put(int k, int v) { lock(L); key[k] = v; unlock(L); }
        int get(int k) { lock(L); int v = key[k]; unlock(L); return v; }
        cobegin
          A: { put(0, 1); int v = get(1); } B: { put(1, 2); int v = get(2); }
          C: { put(2, 3); int v = get(3); } D: { put(3, 4); int v = get(0); }
        coend";
    assert_few(table, 15, 40);
    let adds = "int key[4]; lock L;
        void add(int k) { lock(L); key[k] = key[k] + 1; unlock(L); }
        cobegin A: { add(0); add(1); add(2); } B: { add(1); add(2); add(3); } C: { add(2); add(3); add(0); } coend";
    assert_few(adds, 31, 100);
    let counters = "int hits, misses; lock L;
        void hit() { lock(L); hits++; unlock(L); }
        void miss() { lock(L); misses++; unlock(L); }
        cobegin A: { hit(); miss(); hit(); } B: { miss(); hit(); miss(); } C: { hit(); hit(); miss(); } coend";
    assert_few(counters, 185, 400);
}
