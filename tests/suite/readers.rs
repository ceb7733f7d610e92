//! Threads that influence no other one: random programs that have them, held to all states; and programs of very many,
//! which are decided in states that grow with their number.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::without_outcomes::{compare, decided};
use cssame::answer::{Effort, FuturesRequest, futures};
use cssame::budget::{Bound, Budget, Limits};
use cssame::explore::report::Schedules;
use cssame::explore::{Declined, EndlessRequest, Query, Subject, by_states};
use cssame::model::{Model, Options};
use support::generate::Rng;
use support::{first_seed, possible_model, programs};

fn pick<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
    all[rng.below(all.len())]
}

/// What a thread that influences nobody may do, and now and then something else.
fn reader(rng: &mut Rng) -> String {
    let all = [
        "lock(L); print(x); unlock(L);",
        "lock(M); int r = x; unlock(M); print(r);",
        "lock(L); lock(M); print(y); unlock(M); unlock(L);",
        "lock(L); print(x); unlock(L); lock(L); print(x); unlock(L);",
        "print(10 / x);",
        "lock(L); print(10 / y); unlock(L);",
        "assert(x != 2);",
        "lock(M); if (x > 1) print(y); unlock(M);",
        "atomic { print(x, y); }",
        "print(t[x & 1]);",
        "print(t[y]);",
        "show();",
        "synchronized (L) { if (y == 1) show(); }",
        "print(x, y);",
        "P(q); print(x); V(q);",
        "P(q); lock(L); print(10 / x); unlock(L); V(q);",
        "for (int i = 0; i < 2; i++) print(x);",
        "for (int i = 0; i < 2; i++) { lock(M); print(y); unlock(M); }",
        "for (int i = 0; i < x; i++) assert(y != 1);",
        "int v = x; while (v == 1) v = x; print(y);",
        "while (y == 0) { int u = x; }",
        "lock(L); while (x == 1) { int u = y; } unlock(L);",
        "int v = x; while (v == 2) { } print(y);",
        "while (x < 3) { int u = x; }",
        // These are none.
        "lock(M); lock(L); print(x); unlock(L); unlock(M);",
        "lock(L); z = x; unlock(L);",
        "wait(e); print(x);",
        "unlock(L);",
        "V(q);",
        "if (y > 0) lock(L); print(x);",
        "assume(x != 2); print(x);",
    ];
    // Most are readers.
    let count = if rng.below(5) == 0 { all.len() } else { 24 };
    pick(rng, &all[..count]).to_owned()
}

fn writer(rng: &mut Rng) -> String {
    let all = [
        "lock(L); x = 2; unlock(L);",
        "lock(L); x = 0; x = 2; unlock(L);",
        "lock(M); y = 1; unlock(M);",
        "x = 0;",
        "y = x + 1;",
        "lock(L); y = 2; lock(M); x = 1; unlock(M); unlock(L);",
        "t[1] = y;",
        "set(e);",
        "lock(L); while (y > 1) y = y - 1; unlock(L);",
        "atomic { x = 0; y = 0; }",
        "lock(L); if (y == 0) wait(c, L); x = 2; unlock(L);",
        "lock(L); y = 1; notify(c); unlock(L);",
        "lock(M); lock(L); y = 0; unlock(L); unlock(M);",
        "P(q); x = 2; V(q);",
        "P(q); P(q); V(q); V(q);",
        "P(q); y = 2;",
        "V(q);",
        "lock(L); x = 2;",
        "lock(M); wait(e); y = 2; unlock(M);",
        "assert(x + y < 4);",
        "x = choose(0, 1);",
        "assume(y != 1);",
    ];
    let count = if rng.below(3) == 0 { all.len() } else { 10 };
    (0..1 + rng.below(2)).map(|_| pick(rng, &all[..count])).collect::<Vec<_>>().join(" ")
}

/// One or two writers and two or three readers, in one cobegin or in two, one in the other, or spawned.
fn program(seed: u64) -> String {
    let rng = &mut Rng::new(seed);
    let mut text = "int x = 1; int y; int z; int t[2]; lock L; lock M; event e; cond c; sem q = 2;\n".to_owned();
    text += "void show() { print(x); }\n";
    let readers: Vec<String> = (0..2 + rng.below(2)).map(|_| reader(rng)).collect();
    let writers: Vec<String> = (0..1 + rng.below(2)).map(|_| writer(rng)).collect();
    let arms = |name: &str, all: &[String]| -> String {
        all.iter().enumerate().map(|(at, body)| format!("    {name}{at}: {{ {body} }}\n")).collect()
    };
    let behind = pick(rng, &["", "  print(x);\n", "  print(10 / y);\n", "  lock(L); print(y); unlock(L);\n"]);
    match rng.below(4) {
        0 => {
            let functions = readers.iter().enumerate().map(|(at, body)| format!("void r{at}() {{ {body} }}\n"));
            text += &functions.collect::<String>();
            text += "void main() {\n";
            for at in 0..readers.len() {
                text += &format!("  thread h{at} = spawn r{at}();\n");
            }
            let joins: String = (0..readers.len()).map(|at| format!("  join(h{at});\n")).collect();
            let joins = if rng.below(2) == 0 { joins } else { String::new() };
            text + &format!("  cobegin\n{}  coend\n{joins}{behind}}}\n", arms("W", &writers))
        }
        1 => {
            let inner = format!("    I: {{ cobegin\n{}    coend {behind} }}\n", arms("R", &readers));
            text + &format!("void main() {{\n  cobegin\n{}{inner}  coend\n}}\n", arms("W", &writers))
        }
        _ => {
            let (writers, readers) = (arms("W", &writers), arms("R", &readers));
            text + &format!("void main() {{\n  cobegin\n{writers}{readers}  coend\n{behind}}}\n")
        }
    }
}

/// Holds a program to all states: asked by whichever way, and by asking readers apart. Whether it could be compared,
/// and apart.
fn check(source: &str) -> Result<(bool, bool), String> {
    let Some(plain) = possible_model(source) else { return Ok((false, false)) };
    let copies = plain.in_contexts();
    let model = copies.as_ref().unwrap_or(&plain);
    let limits = Limits { max_states: Some(100_000), ..Limits::default() };
    let all = by_states(model.machine(), &Query::default(), &limits.into());
    if !all.is_complete() {
        return Ok((false, false));
    }
    let subject = Subject::from(model);
    let query = Query::WITHOUT_OUTCOMES;
    let found = subject.futures(&query, &limits.into());
    if !found.is_complete() {
        return Ok((false, false));
    }
    compare(model, &all, &found).map_err(|message| format!("any way: {message}"))?;
    match subject.futures_by_readers(&query, &limits.into()) {
        Ok(apart) => compare(model, &all, &apart).map(|()| (true, true)).map_err(|message| format!("apart: {message}")),
        Err(Declined::Whole | Declined::Disagreement | Declined::Endless) => Ok((true, false)),
        Err(declined) => Err(format!("apart: {declined:?}")),
    }
}

#[test]
fn what_readers_are_asked_apart_is_what_all_states_say() {
    let (first, programs) = (first_seed(1), programs(30));
    let (mut compared, mut apart) = (0, 0);
    for seed in first..first + programs {
        let source = program(seed);
        let (is_compared, is_apart) =
            check(&source).unwrap_or_else(|message| panic!("seed {seed}: {message}\n{source}"));
        compared += u64::from(is_compared);
        apart += u64::from(is_apart);
    }
    println!("{compared} of {programs} programs compared, {apart} with readers asked apart");
    assert!(
        support::has_new_seed() || compared * 10 >= programs * 9 && apart * 2 >= programs,
        "{compared} {apart} of {programs}"
    );
}

/// Threads that write, and many that read.
fn many(count: usize, globals: &str, writers: &str, reader: &str, behind: &str) -> Model {
    let arms: String = (0..count).map(|arm| format!("  R{arm}: {{ {reader} }}\n")).collect();
    let text = format!("int x = 1;\n{globals}\nvoid main() {{\n  cobegin\n{writers}\n{arms}  coend\n{behind}\n}}\n");
    Model::from_text("readers.csm", &text, &Options::default()).expect("it compiles")
}

fn request(outcomes: Effort) -> FuturesRequest<'static> {
    FuturesRequest {
        selections: &[],
        count: Effort::IfCheap,
        outcomes,
        schedules: Schedules::OfFindings,
        endless: EndlessRequest::default(),
    }
}

const LOCKED: &str = "  W1: { lock(L); x = 2; unlock(L); } W2: { lock(L); x = 3; x = 4; unlock(L); }";

#[test]
fn readers_under_a_lock_take_few_states_each() {
    let states = |count| {
        let (found, states, answer) =
            decided(&many(count, "lock L;", LOCKED, "lock(L); print(x); unlock(L);", "print(x);"));
        assert_eq!(found, 3 * count + 2);
        assert!(answer.failures.is_empty() && answer.deadlocks.is_empty());
        states
    };
    let (few, many, most) = (states(10), states(30), states(100));
    assert!(many <= 3 * few && most <= 10 * few, "{few}, {many}, {most} states of 10, 30, 100 readers");
}

#[test]
fn readers_that_may_fail_take_few_states_each() {
    for (reader, writers) in
        [("print(10 / x);", "W1: { x = 2; } W2: { x = 0; }"), ("assert(x != 0);", "W: { x = 2; x = 0; }")]
    {
        let states = |count| {
            let (found, states, answer) = decided(&many(count, "", writers, reader, "print(x);"));
            assert_eq!(answer.failures.len(), count);
            assert!(found >= 3 * count, "{found}");
            states
        };
        let (few, many, most) = (states(10), states(30), states(100));
        assert!(many <= 3 * few && most <= 10 * few, "{few}, {many}, {most} states of 10, 30, 100 readers");
    }
}

/// In a loop that a counter bounds, or until they see a value.
#[test]
fn readers_that_go_round_take_few_states_each() {
    for (reader, terms) in [
        ("for (int k = 0; k < 3; k++) print(x);", 2),
        ("for (int k = 0; k < 3; k++) { lock(L); print(x); unlock(L); }", 2),
        ("int v = x; while (v == 1) v = x;", 4),
        ("while (x != 2) skip; print(x);", 3),
    ] {
        let states = |count| {
            let (found, states, answer) = decided(&many(count, "lock L;", "  W: { x = 2; }", reader, "print(x);"));
            assert!(
                found >= terms * count && answer.failures.is_empty() && answer.deadlocks.is_empty(),
                "{reader}: {found}"
            );
            states
        };
        let (few, many) = (states(10), states(30));
        assert!(many <= 4 * few, "{few}, {many} states of 10, 30 readers: {reader}");
    }
}

/// Twelve threads of one function are too many to look for all their outcomes, unasked.
#[test]
fn outcomes_of_many_equal_threads_leave_the_rest_decided() {
    let text = "int x; cobegin A: x = 1; B: x = 2; C: parfor (int t = 0; t < 14; t++) for (int k = 0; k < 3; k++) print(x); coend";
    let model = Model::from_text("readers.csm", text, &Options::default()).expect("it compiles");
    let request = request(Effort::IfCheap);
    let limits = Limits { max_states: Some(20_000), ..Limits::default() };
    let answer = futures(&model, &request, &limits.into());
    assert!(answer.is_decided() && !answer.futures.complete, "{:?}", answer.bound);
}

#[test]
fn a_deadlock_of_others_is_found_beside_many_readers() {
    let writers = "  W1: { lock(A); lock(B); unlock(B); unlock(A); } W2: { lock(B); lock(A); unlock(A); unlock(B); }
                   W3: { lock(L); x = 2; unlock(L); }";
    for count in [30, 100] {
        let model = many(count, "lock A; lock B; lock L;", writers, "lock(L); print(x); unlock(L);", "");
        let (found, _, answer) = decided(&model);
        assert_eq!((found, answer.deadlocks.len()), (2 * count, 1));
    }
}

/// A lock that a thread keeps for ever is not short: who waits for it is in the deadlock.
#[test]
fn a_lock_that_is_kept_blocks_readers() {
    let model = many(2, "lock L;", "  W: { lock(L); x = 2; }", "lock(L); print(x); unlock(L);", "");
    let (query, subject) = (Query::WITHOUT_OUTCOMES, Subject::from(&model));
    assert_eq!(subject.futures_by_readers(&query, &Limits::default().into()).err(), Some(Declined::Whole));
    assert_eq!(subject.futures(&query, &Limits::default().into()).deadlocks.len(), 3);
}

/// What comes behind the join depends on a reader that always fails.
#[test]
fn behind_a_reader_that_always_fails_nothing_is_read() {
    let model = many(2, "", "  W: { x = 2; }", "print(1 / (x - x));", "print(x);");
    let answer = Subject::from(&model).futures(&Query::WITHOUT_OUTCOMES, &Limits::default().into());
    let last = model.form().shared_reads().into_iter().max().expect("the read of main");
    assert!(
        answer.is_complete()
            && answer
                .terms
                .iter()
                .all(|term| term.read < last
                    || model.program().reads[term.read].function != model.program().main.unwrap())
    );
}

/// Without being asked, `futures` looks for outcomes only as far as that is cheap; with few of them it finds all.
#[test]
fn too_many_outcomes_are_found_on_request() {
    let answer = |readers: usize, outcomes: Effort| {
        let model = many(readers, "", "  W1: { x = 2; } W2: { x = 3; }", "print(x);", "");
        futures(&model, &request(outcomes), &Budget::unlimited())
    };
    let cheap = answer(30, Effort::IfCheap);
    assert_eq!((cheap.bound, cheap.futures.bound), (Some(Bound::Outcomes), Some("outcomes")));
    assert!(cheap.is_decided() && !cheap.futures.complete && !cheap.futures.outcomes.is_empty());
    assert!(cheap.answer.statistics.states < 100_000, "{}", cheap.answer.statistics.states);
    for effort in [Effort::IfCheap, Effort::Always] {
        let few = answer(6, effort);
        assert!(few.futures.complete && few.bound.is_none(), "{:?}", few.bound);
        assert_eq!(few.futures.outcomes.len(), 3usize.pow(6));
    }
}

/// `futures` decides all but the outcomes, of which there are too many.
#[test]
fn too_many_outcomes_leave_the_rest_decided() {
    let model = many(30, "lock L;", LOCKED, "lock(L); print(x); unlock(L);", "");
    let request = request(Effort::Always);
    let limits = Limits { max_states: Some(20_000), ..Limits::default() };
    let answer = futures(&model, &request, &limits.into());
    assert!(answer.is_decided() && !answer.has_findings() && !answer.futures.complete && answer.futures.decided);
    assert_eq!(
        (answer.bound, answer.outcomes_bound, answer.futures.bound),
        (Some(Bound::States), Some(Bound::States), Some("max-states"))
    );
    assert!(answer.unfinished.is_none());
}
