//! Conditions and their locks: those that no thread waits with together have orders of their own.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others: here a third of that number, for each takes long.

use crate::reads_from::{Compared, Random, counted, machine};
use cssame::budget::Limits;
use cssame::explore::Refusal;
use std::fmt::Write;

/// Threads that put and take under several monitors: in arrays, of classes, or apart. Some of them mix locks and conditions.
fn program(seed: u64) -> String {
    let random = &mut Random(seed);
    let form = random.below(3);
    let mixes = random.below(4) == 0;
    let mut text =
        ["lock L[3]; cond c[3]; int x[3];\n", "class M { public lock l; public cond c; public int x; } M m[3];\n", {
            "lock L0, L1, L2; cond c2; int x0, x1; cond c0, c1; int x2;\n"
        }][form as usize]
            .to_owned();
    text.push_str("cobegin\n");
    for thread in 0..2 + random.below(3) {
        let _ = write!(text, "  T{thread}: {{ ");
        for _ in 0..1 + random.below(2) {
            let monitor = random.below(3) as usize;
            let other = if mixes { random.below(3) as usize } else { monitor };
            statement(random, &mut text, form, (monitor, other));
        }
        text.push_str("}\n");
    }
    text.push_str("coend\n");
    text
}

fn statement(random: &mut Random, text: &mut String, form: u64, (monitor, other): (usize, usize)) {
    let lock = |of: usize| [format!("L[{of}]"), format!("m[{of}].l"), format!("L{of}")][form as usize].clone();
    let condition = |of: usize| [format!("c[{of}]"), format!("m[{of}].c"), format!("c{of}")][form as usize].clone();
    let data = |of: usize| [format!("x[{of}]"), format!("m[{of}].x"), format!("x{of}")][form as usize].clone();
    let (l, c, x) = (lock(monitor), condition(other), data(monitor));
    let notify = ["", "notify", "notifyAll"][random.below(3) as usize];
    let notify = if notify.is_empty() { String::new() } else { format!("{notify}({c}); ") };
    let value = random.below(2);
    let _ = match random.below(7) {
        0 | 1 => write!(text, "lock({l}); while ({x} == 0) wait({c}, {l}); {x}--; {notify}unlock({l}); "),
        2 | 3 => write!(text, "lock({l}); {x}++; {notify}unlock({l}); "),
        4 => write!(text, "lock({l}); if ({x} == {value}) wait({c}, {l}); {x} = {x} + 2; unlock({l}); "),
        5 => write!(text, "notify({c}); "),
        _ => write!(text, "lock({l}); int v{} = {x}; unlock({l}); ", text.len()),
    };
}

#[test]
fn random_programs_of_several_monitors_have_as_many_futures_as_states_and_oracle_say() {
    let (programs, compared) =
        Compared::of_random(program, |refusal| matches!(refusal, Refusal::Orders | Refusal::Endless));
    println!("{compared:?}");
    assert!(compared.programs * 2 > programs && compared.deadlocks * 4 > programs, "{compared:?}");
}

/// Pairs of threads, each with a monitor, or a class of it, of their own.
fn pairs(count: usize, declared: &str, names: impl Fn(usize) -> [String; 3]) -> String {
    let pair = |number: usize| {
        let [lock, condition, data] = names(number);
        format!(
            "P{number}: {{ lock({lock}); {data} = 1; notify({condition}); unlock({lock}); }}
             C{number}: {{ lock({lock}); while ({data} == 0) wait({condition}, {lock}); unlock({lock}); }}\n"
        )
    };
    format!("{declared}\ncobegin {} coend", (0..count).map(pair).collect::<String>())
}

#[test]
fn monitors_of_different_threads_have_orders_of_their_own() {
    let apart = |count: usize| {
        let declared: String = (0..count).map(|n| format!("lock L{n}; int x{n}; cond c{n}; ")).collect();
        pairs(count, &declared, |n| [format!("L{n}"), format!("c{n}"), format!("x{n}")])
    };
    let arrays = |count: usize| {
        let declared = format!("lock L[{count}]; cond c[{count}]; int x[{count}];");
        pairs(count, &declared, |n| [format!("L[{n}]"), format!("c[{n}]"), format!("x[{n}]")])
    };
    let objects = |count: usize| {
        let declared = format!("class M {{ public lock l; public cond c; public int x; }} M m[{count}];");
        pairs(count, &declared, |n| [format!("m[{n}].l"), format!("m[{n}].c"), format!("m[{n}].x")])
    };
    for count in 1..=6 {
        for text in [apart(count), arrays(count), objects(count)] {
            let found = counted(&machine(&text, &[]), &Limits::default()).unwrap();
            assert_eq!((found.futures, found.bound), (1 << count, None), "{text}");
            // A few more where the search has begun again.
            assert!(found.executions <= (1 << count) + 2, "{found:?}\n{text}");
        }
    }
}
