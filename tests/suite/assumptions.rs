//! Assumptions about what others write: executions that are discarded show no future.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others: here a third of that number, for each takes long.

use crate::reads_from::{Compared, Random};
use cssame::explore::Refusal;
use std::fmt::Write;

/// Threads that read, write and assume; some of them take a lock as well.
fn program(seed: u64) -> String {
    let random = &mut Random(seed);
    let mut text = String::from(
        "int x, y, z; int t[2]; lock L;\n\
         void await(int k, int v) { int b = t[k]; assume(b == v); }\n\
         int ticket() { return fetch_add(x, 1); }\ncobegin\n",
    );
    // Most of them have no lock.
    let most = if random.below(8) == 0 { 26 } else { 24 };
    let kinds: [u64; 5] = std::array::from_fn(|_| random.below(most));
    for thread in 0..2 + random.below(3) {
        let _ = write!(text, "  T{thread}: {{ int a; ");
        for _ in 0..1 + random.below(4) {
            let kind = if random.below(4) == 0 { random.below(3) } else { kinds[random.below(5) as usize] };
            statement(random, &mut text, kind);
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x, y, t[0]);\n");
    text
}

fn statement(random: &mut Random, text: &mut String, kind: u64) {
    let cell = |random: &mut Random| ["x", "y", "z", "t[0]", "t[1]", "t[a & 1]"][random.below(6) as usize];
    let (one, other) = (cell(random), cell(random));
    let (value, element) = (random.below(3), random.below(2));
    let _ = match kind {
        0 => write!(text, "{one} = {value}; "),
        1 => write!(text, "{one} = {other} + 1; "),
        2 => write!(text, "a = {one}; "),
        3 | 4 => write!(text, "assume({one} == {value}); "),
        5 => write!(text, "assume({one} != {value}); "),
        6 => write!(text, "assume({one} == {other}); "),
        7 => write!(text, "a = {one}; assume(a == {value} || {other} == 1); "),
        8 => write!(text, "a = {one}; {other} = a; assume(a == {value}); "),
        9 => write!(text, "assume(cas({one}, {value}, 2)); "),
        10 => write!(text, "assume(cas({one}, 0, 1)); {other} = {other} + 1; {one} = 0; "),
        11 => write!(text, "a = fetch_add({one}, 1); assume({other} == a); "),
        12 => write!(text, "a = ticket(); assume(y == a); {one} = {one} + 1; y = a + 1; "),
        13 => write!(text, "await({element}, {value}); "),
        14 => write!(text, "a = choose(0, 2); assume({one} == a); "),
        15 => write!(text, "a = choose(0, 2); assume(a != {value}); {one} = a; "),
        16 => write!(text, "if ({one} == {value}) assume({other} == 1); "),
        17 => write!(text, "for (int k = 0; k < 2; k++) assume(t[k] == {value}); "),
        18 => write!(text, "atomic {{ assume({one} == {value}); {other} = 1; }} "),
        19 => write!(text, "assume({one} > 0 && {other} > 0); "),
        20 => write!(text, "a = fetch_add({one}, {value}); assume(a == 0); "),
        21 => write!(text, "a = {one}; print(a); assume(a == {value}); "),
        22 => write!(text, "a = {one}; assert(a < 3); assume(a != {value}); "),
        23 => write!(text, "assume({one} == {value}); assume({other} == {value}); {one} = 2; "),
        24 => write!(text, "lock(L); assume({one} == {value}); {other} = {other} + 1; unlock(L); "),
        _ => write!(text, "lock(L); {one} = {value}; unlock(L); "),
    };
}

/// As many futures, and what they show, as states and the oracle say.
#[test]
fn random_programs_that_assume_have_as_many_futures_as_states_and_oracle_say() {
    let (programs, compared) = Compared::of_random(program, |refusal| {
        matches!(refusal, Refusal::Orders | Refusal::Endless | Refusal::Failure | Refusal::Synchronisation)
    });
    println!("{compared:?}");
    assert!(support::has_new_seed() || compared.programs * 2 > programs, "{compared:?}");
}
