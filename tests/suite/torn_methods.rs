//! Methods that free their lock: what no serial order shows is not refuted, and what is confirmed is that.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more pairs, or others.

use cssame::answer::{CorrelateAnswer, CorrelateRequest, Execute, correlate};
use cssame::budget::Budget;
use cssame::correlation::Status;
use cssame::correlation::report::AccessData;
use cssame::explore::{Outcome, Query, futures};
use cssame::model::{Options, Unit};
use std::collections::BTreeSet;
use support::generate::Rng;
use support::oracle::{Torn, tears_of_source};
use support::{first_seed, model, programs};

/// The method `m` with its regions, each under the lock, or all of them under one; and `n` likewise. What main does first ties `x` and
/// `y`, and changes nothing.
fn program(m: &[String], n: &[String], split: bool) -> String {
    let gap = if split { " unlock(L); lock(L); " } else { " " };
    format!(
        "int x; int y; lock L;
         void m() {{ lock(L); {} unlock(L); }}
         void n() {{ lock(L); {} unlock(L); }}
         void main() {{ y = x; cobegin A: m(); B: n(); coend print(x, y); }}",
        m.join(gap),
        n.join(" unlock(L); lock(L); ")
    )
}

/// What a program prints, in all its executions.
fn outcomes(text: &str) -> BTreeSet<Vec<String>> {
    let model = model(text);
    let answer = futures(model.machine(), &Query::default(), &Budget::unlimited());
    assert!(answer.is_complete(), "{text}");
    let lines = |outcome: &Outcome| {
        let thread = |&(path, output)| {
            let lines = answer.tables.lines(output);
            format!("{}: {}", model.machine().path_name(&answer.tables, path), lines.join(","))
        };
        outcome.outputs.iter().map(thread).collect()
    };
    answer.outcomes.iter().map(lines).collect()
}

fn correlated(text: &str) -> CorrelateAnswer {
    let options = Options::default();
    let request =
        CorrelateRequest { threshold: 0.0, rank: 0.0, sets: false, execute: Execute::Selected, options: &options };
    correlate(Unit::from_text("test.csm", text, &[]).unwrap(), &request, &Budget::unlimited())
}

/// What is said of each endangered access of `m` to `x` and `y`, in the pair of `m` and `n`.
fn judged(text: &str) -> Vec<(Torn, Status)> {
    let answer = correlated(text);
    let pairs = answer.correlation.pairs.iter().filter(|pair| pair.selected && pair.methods == ["m", "n"]);
    let accesses = pairs.flat_map(|pair| &pair.endangered_accesses).filter(|access| access.method == "m");
    let judged = |access: &AccessData<_>| {
        let side = |at: usize| (access.variables[at].clone(), access.accesses[at] == "write");
        ((access.method.clone(), [side(0), side(1)]), access.decision.status)
    };
    accesses.map(judged).collect()
}

fn verdicts(text: &str) -> Vec<Status> {
    judged(text).into_iter().map(|one| one.1).collect()
}

/// Whether the method has an outcome that it has not where it keeps its lock.
fn loses(m: &[String], n: &[String]) -> bool {
    !outcomes(&program(m, n, true)).is_subset(&outcomes(&program(m, n, false)))
}

fn regions(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// `u` alone tears the method: another one writes between its write and its read.
#[test]
fn who_reads_what_another_one_has_put_over_its_write_is_torn() {
    let m = regions(&["x = 5;", "y = x * 107;"]);
    let n = regions(&["x = 7;"]);
    assert!(loses(&m, &n));
    let text = program(&m, &n, true);
    let answer = correlated(&text);
    let access = answer.correlation.pairs.iter().flat_map(|pair| &pair.endangered_accesses).next().unwrap();
    assert_eq!((access.decision.status, access.by.as_slice()), (Status::Confirmed, ["n".to_owned()].as_slice()));
}

/// That it overwrites what another one has put over its own write is as if that one had come before.
#[test]
fn who_overwrites_once_more_is_not_torn() {
    let m = regions(&["x = 5;", "x = 6;", "y = 1;"]);
    let n = regions(&["x = 7;"]);
    assert!(!loses(&m, &n));
    let verdicts = verdicts(&program(&m, &n, true));
    assert!(!verdicts.is_empty() && verdicts.iter().all(|&status| status == Status::Refuted), "{verdicts:?}");
}

/// What it reads in between leads it another way than to the second write.
#[test]
fn who_is_led_another_way_is_torn() {
    let m = regions(&["x = 1;", "if (x == 1) y = 5;"]);
    let n = regions(&["x = 2;"]);
    assert!(loses(&m, &n));
    assert!(verdicts(&program(&m, &n, true)).contains(&Status::Confirmed));
}

/// A method that waits for a value has not used those before.
#[test]
fn who_waits_for_a_value_is_not_torn() {
    let text = "int x; int y; lock L;
         void m() { lock(L); while (x == 0) { unlock(L); lock(L); } unlock(L); lock(L); print(y); unlock(L); }
         void n() { lock(L); x = 1; unlock(L); }
         void main() { y = x; cobegin A: m(); B: n(); coend print(x, y); }";
    let verdicts = verdicts(text);
    assert!(!verdicts.is_empty() && verdicts.iter().all(|&status| status == Status::Refuted), "{verdicts:?}");
}

/// Others see a flag that a method sets and takes back, and wait: they look again.
#[test]
fn a_flag_that_others_wait_for_tears_nothing() {
    let text = "int x; bool busy; lock L; cond free;
         void m() { lock(L); while (busy) wait(free, L); busy = true; unlock(L); x = 1;
           lock(L); busy = false; notifyAll(free); unlock(L); }
         void n() { lock(L); while (busy) wait(free, L); OTHER unlock(L); }
         void main() { if (x > 0) busy = x > 1; cobegin A: m(); B: n(); coend print(x, busy); }";
    let verdicts = verdicts(&text.replace("OTHER", "print(x);"));
    assert!(!verdicts.is_empty() && verdicts.iter().all(|&status| status == Status::Refuted), "{verdicts:?}");
    let cache = std::fs::read_to_string(support::root().join("samples/classes/read_write_cache.csm")).unwrap();
    let answer = correlated(&cache);
    let accesses: Vec<_> = answer.correlation.pairs.iter().flat_map(|pair| &pair.endangered_accesses).collect();
    let confirmed: Vec<_> = accesses.iter().filter(|one| one.decision.status == Status::Confirmed).collect();
    assert!(!accesses.is_empty() && confirmed.is_empty(), "{confirmed:#?}");
}

/// The methods with two regions, of the kinds of accesses that a method makes to two variables, against all others of one region:
/// what has an outcome that it loses with its lock is confirmed, and nothing else.
#[test]
fn small_methods_are_torn_where_they_have_an_outcome_of_their_own() {
    let first = ["x = 5;", "print(x);", "print(x); x = 5;"];
    let second = ["y = 3;", "print(y);", "y = x * 107;", "print(x); print(y);", "print(y); y = 4;"];
    let others = [
        "x = 7;",
        "y = 8;",
        "print(x);",
        "print(y);",
        "x = 7; y = 8;",
        "x = 7; print(y);",
        "print(x); y = 8;",
        "print(x); print(y);",
    ];
    let (mut torn, mut whole) = (0, 0);
    for (first, second) in first.iter().flat_map(|first| second.map(|second| (first, second))) {
        for other in others {
            let (m, n) = (regions(&[first, second]), regions(&[other]));
            let verdicts = verdicts(&program(&m, &n, true));
            if verdicts.is_empty() {
                continue;
            }
            let confirmed = verdicts.contains(&Status::Confirmed);
            assert_eq!(confirmed, loses(&m, &n), "{m:?} {n:?} {verdicts:?}");
            (torn, whole) = (torn + usize::from(confirmed), whole + usize::from(!confirmed));
        }
    }
    assert!(torn > 20 && whole > 20, "{torn} {whole}");
}

fn statement(rng: &mut Rng) -> String {
    let [one, two] = if rng.below(2) == 0 { ["x", "y"] } else { ["y", "x"] };
    let value = 1 + rng.below(4);
    match rng.below(8) {
        0 | 1 => format!("{one} = {value};"),
        2 | 3 => format!("print({one});"),
        4 => format!("{two} = {one} + {value};"),
        5 => format!("{one} = {one} + {value};"),
        6 => format!("if ({one} > 1) {two} = {value};"),
        _ => format!("if ({one} > 1) print({two});"),
    }
}

fn random_regions(rng: &mut Rng, count: usize) -> Vec<String> {
    let mut region = || (0..1 + rng.below(3)).map(|_| statement(rng)).collect::<Vec<_>>().join(" ");
    (0..count).map(|_| region()).collect()
}

/// The law: where keeping the lock takes an outcome from the pair, its tear is not refuted; but for accesses that no execution makes.
#[test]
fn no_outcome_that_no_serial_order_has_is_refuted() {
    let (seed, programs) = (first_seed(0), programs(30));
    let (mut torn, mut whole, mut without, mut never) = (0, 0, 0, 0);
    for seed in seed..seed + programs {
        let mut rng = Rng::new(seed);
        let (regions, others) = (2 + rng.below(2), 1 + rng.below(2));
        let (m, n) = (random_regions(&mut rng, regions), random_regions(&mut rng, others));
        let text = program(&m, &n, true);
        let judged = judged(&text);
        if judged.is_empty() {
            continue;
        }
        let refuted = judged.iter().all(|one| one.1 == Status::Refuted);
        match (loses(&m, &n), refuted) {
            (true, true) => {
                let Some(tears) = tears_of_source(&text, 1_000_000).unwrap() else { continue };
                let made = judged.iter().filter(|one| tears.made.contains(&one.0)).collect::<Vec<_>>();
                assert!(made.is_empty(), "{seed}: {made:?}\n{text}");
                never += 1;
            }
            (true, false) => torn += 1,
            (false, true) => whole += 1,
            // Values that nobody prints, or that are equal by chance.
            (false, false) => without += 1,
        }
    }
    println!(
        "torn {torn}, whole {whole}, confirmed without an outcome {without}, of accesses that are never made {never}"
    );
    assert!(support::has_new_seed() || torn > programs / 10 && whole > programs / 20, "{torn} {whole} {without}");
}
