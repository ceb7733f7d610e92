//! Bodies of locks that only read: they have no order, so executions are those that reads tell apart.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others: here a third of that number, for each takes long.

use crate::reads_from::{Compared, Random, by_few_states, by_oracle, counted, fail_at_last, machine};
use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, Refusal, Subject};
use cssame::model::{Model, Options};
use cssame::vm::Semantics;
use std::fmt::Write;
use support::{first_seed, model, possible_model, programs};

/// Threads that read and write two variables under two locks, or without, and wait for each other by semaphores, by an event, and
/// by a flag, also for ever, and while they write.
fn program(seed: u64) -> String {
    let random = &mut Random(seed);
    let mut text = "int x, y, f; int t[2]; rwlock R; rwlock S; lock L; sem e = 0; event v;\n\
                    int both() { rdlock(R); int s = x; s = s + y; unlock(R); return s; }\n\
                    int one() { return x; }\ncobegin\n"
        .to_owned();
    let waits = random.below(3);
    for thread in 0..2 + random.below(3) {
        let _ = write!(text, "  T{thread}: {{ int a; ");
        for _ in 0..1 + random.below(3) {
            match random.below(8) {
                0..=2 => reader(random, &mut text),
                3 | 4 => writer(random, &mut text, waits),
                5 if waits > 0 => waiting(random, &mut text),
                6 if waits > 1 => {
                    text.push_str("lock(L); ");
                    reader(random, &mut text);
                    text.push_str("unlock(L); ");
                }
                _ => access(random, &mut text),
            }
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x, y);\n");
    fail_at_last(random, &mut text);
    text
}

fn access(random: &mut Random, text: &mut String) {
    let (one, other) = (["x", "y"][random.below(2) as usize], ["x", "y"][random.below(2) as usize]);
    let _ = match random.below(6) {
        0 => write!(text, "a = {one}; "),
        1 => write!(text, "{one} = {}; ", 1 + random.below(3)),
        2 => write!(text, "{one} = {other} + 1; "),
        3 => write!(text, "a = fetch_add({one}, 1); "),
        4 => write!(text, "if ({one} == 1) {other} = 2; "),
        _ => write!(text, "t[a % 2] = {one}; "),
    };
}

fn reader(random: &mut Random, text: &mut String) {
    let lock = ["R", "R", "S"][random.below(3) as usize];
    if random.below(6) == 0 {
        text.push_str("a = both(); print(a); ");
        return;
    }
    let _ = write!(text, "rdlock({lock}); ");
    for _ in 0..random.below(4) {
        text.push_str(match random.below(7) {
            0 | 1 => "a = x; ",
            2 => "a = a + y; ",
            3 => "if (x == 1) a = y; ",
            4 => "print(x); ",
            5 => "a = one(); ",
            _ => "for (int i = 0; i < 2; i++) a = a + t[i]; ",
        });
    }
    let _ = write!(text, "unlock({lock}); ");
}

fn writer(random: &mut Random, text: &mut String, waits: u64) {
    let lock = ["R", "R", "S"][random.below(3) as usize];
    let _ = write!(text, "wrlock({lock}); ");
    for _ in 0..1 + random.below(2) {
        match random.below(8) {
            0 if waits > 0 => waiting(random, text),
            1 if waits > 1 => reader(random, text),
            _ => access(random, text),
        }
    }
    let _ = write!(text, "unlock({lock}); ");
}

fn waiting(random: &mut Random, text: &mut String) {
    text.push_str(
        ["P(e); ", "V(e); ", "wait(v); ", "set(v); ", "f = 1; ", "if (f == 0) P(e); "][random.below(6) as usize],
    );
}

/// As many futures, and what they show, as states and the oracle say.
#[test]
fn random_programs_with_readers_have_as_many_futures_as_states_and_oracle_say() {
    let (programs, compared) = Compared::of_random(program, |refusal| refusal == Refusal::Orders);
    println!("{compared:?}");
    assert!(support::has_new_seed() || compared.programs * 4 > programs * 3, "{compared:?}");
}

/// Bodies of mutual exclusion that only read what is written in such bodies alone, mostly: as many futures as states and the oracle say.
#[test]
fn bodies_that_only_read_have_no_order() {
    let programs = programs(37) / 3;
    let first = first_seed(1);
    let (mut compared, mut naive, mut fewer, mut deadlocks) = (0, 0, 0, 0);
    for seed in first..first + programs {
        let text = exclusive(seed);
        let Some(model) = possible_model(&text) else { continue };
        let limits = Limits { max_executions: Some(20_000), max_states: Some(100_000), ..Limits::default() };
        let subject = Subject::from(&model);
        let found = subject.count_with_fewer_orders(&Budget::from(limits));
        let found = found.unwrap_or_else(|| subject.count(&Budget::from(limits)));
        let states = by_few_states(model.machine(), 100_000);
        if found.bound.is_some() || states.bound.is_some() {
            continue;
        }
        compared += 1;
        assert_eq!(found.futures, states.futures, "seed {seed}:\n{text}");
        let ordered = counted(model.machine(), &limits);
        fewer += u64::from(ordered.is_ok_and(|ordered| ordered.executions > found.executions));
        deadlocks +=
            u64::from(!Subject::from(&model).futures(&Query::default(), &Budget::from(limits)).deadlocks.is_empty());
        if let Some(futures) = by_oracle(&model, &text, 5_000) {
            naive += 1;
            assert_eq!(found.futures, futures, "seed {seed}:\n{text}");
        }
    }
    println!(
        "{compared} programs compared, {naive} with the oracle; {fewer} have fewer executions, {deadlocks} deadlocks"
    );
    assert!(
        support::has_new_seed() || compared * 4 > programs * 3 && fewer * 10 > programs,
        "{compared} compared, {fewer} with fewer executions"
    );
}

/// The same kind of programs with locks instead of readers-writer locks. In most of them, what is accessed outside of the bodies is
/// something else.
fn exclusive(seed: u64) -> String {
    let mut random = Random(seed);
    let is_guarded = random.below(4) > 0;
    let mut text = "int x, y, f; int t[2]; lock R; lock S; lock L; sem e = 0; event v;\n\
                    int both() { lock(R); int s = x; s = s + y; unlock(R); return s; }\n\
                    int one() { return x; }\n\
                    void add(int n, lock M) { lock(M); if (n > 0) x = x + n; unlock(M); }\ncobegin\n"
        .to_owned();
    let waits = random.below(3);
    for thread in 0..2 + random.below(3) {
        let _ = write!(text, "  T{thread}: {{ int a; ");
        for _ in 0..1 + random.below(3) {
            let mut part = String::new();
            match random.below(8) {
                0..=2 => reader(&mut random, &mut part),
                3 | 4 => writer(&mut random, &mut part, waits),
                5 if waits > 0 => waiting(&mut random, &mut part),
                6 => part = format!("add({}, {}); ", random.below(2), if random.below(3) > 0 { "R" } else { "S" }),
                _ if is_guarded => part.push_str("f = f + 1; "),
                _ => access(&mut random, &mut part),
            }
            // Mostly one lock for all.
            let part = part.replace("rdlock", "lock").replace("wrlock", "lock");
            text.push_str(&if is_guarded && waits < 2 { part.replace("(S)", "(R)") } else { part });
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x, y);\n");
    fail_at_last(&mut random, &mut text);
    text
}

/// Readers do not multiply executions: `r` of them and `w` writers.
#[test]
fn readers_have_no_order() {
    for (readers, writers, futures) in [(3, 1, 8), (8, 1, 256), (4, 2, 162), (3, 3, 384)] {
        let mut text = "rwlock R; int x, y;\ncobegin\n".to_owned();
        for reader in 0..readers {
            let _ = writeln!(text, "R{reader}: {{ int a; rdlock(R); a = x; a = a + y; unlock(R); print(a); }}");
        }
        for writer in 0..writers {
            let _ = writeln!(text, "W{writer}: {{ wrlock(R); x = x + 1; y = y + 1; unlock(R); }}");
        }
        let found = counted(&machine(&(text + "coend\n"), &[]), &Limits::default()).unwrap();
        assert_eq!((found.futures, found.executions, found.bound), (futures, futures, None), "{readers}, {writers}");
    }
}

/// Who does more than to read has an order: the program is followed as before.
#[test]
fn readers_that_do_more_are_ordered() {
    let bodies = [
        "t[0] = x; ",
        "rdlock(R); print(x); unlock(R); ",
        "lock(L); print(x); unlock(L); ",
        "a = fetch_add(x, 1); ",
        "store(); ",
        "if (tryrdlock(R)) unlock(R); ",
        "set(v); ",
    ];
    for body in bodies {
        let text = format!(
            "rwlock R; lock L; event v; int x; int t[2]; void store() {{ t[1] = x; }}
             cobegin
               A: {{ int a; rdlock(R); {body}unlock(R); }}
               B: {{ int a; rdlock(R); a = x; unlock(R); print(a + t[0] + t[1]); }}
               W: {{ wrlock(R); x = x + 1; unlock(R); wait(v); }}
             coend"
        );
        let machine = machine(&text, &[]);
        let found = counted(&machine, &Limits::default()).unwrap();
        assert_eq!(found.futures, by_few_states(&machine, 1_000_000).futures, "{text}");
        assert!(!machine.readers_only_read(), "{text}");
    }
}

/// Where it is not certain that readers only read, locks stay as they are: made readers-writer locks, they would have more orders.
#[test]
fn locks_are_changed_only_where_readers_have_no_order() {
    let called = "int x; lock L; void release() { unlock(L); }
        cobegin A: { int a; lock(L); a = x; release(); print(a); } B: { lock(L); x = 1; x = 2; release(); } coend";
    let tried = "int x; lock L; rwlock R;
        cobegin A: { int a; lock(L); a = x; unlock(L); if (tryrdlock(R)) unlock(R); } B: { lock(L); x = 1; x = 2; unlock(L); } coend";
    for text in [called, tried] {
        assert!(Subject::from(&model(text)).count_with_fewer_orders(&Budget::unlimited()).is_none(), "{text}");
    }
    let handed_over = "int x; rwlock R; rwlock S;
        cobegin A: { int a; wrlock(S); rdlock(R); unlock(S); a = x; unlock(R); } B: { wrlock(R); x = 1; unlock(R); } coend";
    assert!(!machine(handed_over, &[]).readers_only_read());
    let getter =
        "int x; lock L; cobegin A: { int a; lock(L); a = x; unlock(L); } B: { lock(L); x = 1; unlock(L); } coend";
    let semantics = Semantics { prefer_writers: true, ..Semantics::default() };
    let options = Options { semantics, ..Options::default() };
    let preferred = Model::from_text("getter.csm", getter, &options).unwrap();
    assert_eq!(Subject::from(&preferred).count_with_fewer_orders(&Budget::unlimited()).unwrap().executions, 2);
}

/// A function that only reads under whichever lock it is given, of which one is tried.
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
