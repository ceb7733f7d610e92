//! Locks that threads take in circles, and whose order nobody can see but by a deadlock: executions without them, into which they are put
//! back, are held to all states of the whole program.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::reductions::{Tally, check_without_locks, philosophers, report};
use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, Subject};
use std::fmt::Write;
use support::generate::Rng;
use support::{first_seed, model, programs};

/// A program whose threads take locks in each other's, for what they do not share, and share something besides.
fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e_37_79));
    let mut text = "int own[4]; int x, y; lock L, M, N, O; lock f[3]; event v; sem s = 1, e; rwlock R;\n".to_owned();
    text +=
        "void add(int me, lock one, lock other) { lock(one); lock(other); own[me]++; unlock(other); unlock(one); }\n";
    text += "void main() {\n";
    if rng.chance(15) {
        text += "thread t = spawn add(3, M, L);\n";
    }
    text += "cobegin\n";
    let threads = 2 + rng.below(2);
    for thread in 0..threads {
        let _ = write!(text, "  T{thread}: {{ ");
        for _ in 0..1 + rng.below(3) {
            let _ = match rng.below(12) {
                0..=4 => write!(text, "{} ", body(&mut rng, thread, 0)),
                5 => write!(text, "add({thread}, {}, {}); ", lock(&mut rng), lock(&mut rng)),
                6 => write!(text, "for (int i = 0; i < 2; i++) {{ {} }} ", body(&mut rng, thread, 0)),
                7 => write!(text, "if (x == 0) {{ {} }} ", body(&mut rng, thread, 0)),
                8 => write!(text, "cobegin P: {} Q: {} coend ", body(&mut rng, thread, 1), body(&mut rng, 3, 1)),
                _ => write!(text, "{} ", outside(&mut rng, thread)),
            };
        }
        text += "}\n";
    }
    text += "coend\n";
    text += ["print(own[1]);", "print(x);", "assert(x != 2);", ""][rng.below(4)];
    text + "\n}\n"
}

fn lock(rng: &mut Rng) -> &'static str {
    rng.pick::<&str>(&["L", "L", "M", "M", "N", "f[0]", "f[1]"])
}

/// The bodies of locks, one in the other; some give them back in another order, or take one more behind that.
fn body(rng: &mut Rng, thread: usize, depth: u32) -> String {
    let (one, other) = (lock(rng), lock(rng));
    let work = match rng.below(if depth == 0 { 5 } else { 3 }) {
        0 => format!("own[{thread}]++; "),
        1 => format!("if (own[{thread}] == 1) own[{thread}] = 3; "),
        2 => String::new(),
        _ => body(rng, thread, depth + 1),
    };
    match rng.below(20) {
        0 => format!("lock({one}); lock({other}); unlock({one}); {work}unlock({other}); "),
        1 => format!("lock({one}); lock({other}); unlock({other}); {work}unlock({one}); "),
        2 => format!("P(s); {work}V(s); "),
        3 => format!("lock(O); x = x + 1; {work}unlock(O); "),
        4 => format!("rdlock(R); {work}int t = y; unlock(R); "),
        5..=8 => format!("lock({one}); {work}unlock({one}); "),
        _ => format!("lock({one}); lock({other}); {work}unlock({other}); unlock({one}); "),
    }
}

/// What others may see, or wait for, or what may fail.
fn outside(rng: &mut Rng, thread: usize) -> String {
    let all = [
        "x = x + 1;",
        "y = x;",
        "print(x);",
        "set(v);",
        "wait(v);",
        "if (y == 1) { x = 2; }",
        "x = own[THREAD];",
        "lock(O); y = y + 1; unlock(O);",
        "wrlock(R); y = 2; unlock(R);",
        "V(e);",
        "P(e);",
        "fetch_add(x, 1);",
        "if (trylock(O)) { x = 3; unlock(O); }",
    ];
    rng.pick::<&str>(&all).replace("THREAD", &thread.to_string())
}

#[test]
fn random_programs_have_the_same_answers_when_their_locks_are_put_back() {
    let programs = programs(300);
    let first = first_seed(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        report(&program(seed), seed, &mut tally, check_without_locks);
    }
    println!("{} of {programs} programs without locks, {} with deadlocks", tally.restored, tally.deadlocks);
    assert!(tally.restored * 3 > programs && tally.deadlocks * 10 > programs, "{} of {programs}", tally.restored);
}

#[test]
fn philosophers_who_may_block_each_other_have_two_futures_and_two_executions() {
    for n in [3, 8, 40] {
        let model = model(&philosophers(n, &format!("f{}, f0", n - 1)));
        let subject = Subject::from(&model);
        let found = subject.count(&Budget::from(Limits::default()));
        assert_eq!((found.futures, found.bound), (2, None), "{n}");
        assert!(n < 8 || found.executions == 2, "{n}: {} executions", found.executions);
        let answer = subject.futures_without_locks(&Query::default(), &Budget::unlimited()).unwrap().unwrap();
        assert!(answer.is_complete() && answer.deadlocks.len() == 1, "{n}");
        assert_eq!(answer.deadlocks[0].threads.len(), n + 1, "{n}");
    }
}
