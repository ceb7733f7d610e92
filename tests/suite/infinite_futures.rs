//! Programs that have infinitely many futures, held to searches that count them one by one.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Bound, Budget, Limits};
use cssame::explore::{CountAnswer, EndlessKind, EndlessRequest, Subject, count_by_states, endless};
use cssame::model::Model;
use support::{first_seed, generate, model, possible_model, programs};

fn counted(model: &Model, states: u64) -> CountAnswer {
    Subject::from(model).count(&Budget::from(Limits { max_states: Some(states), ..Limits::default() }))
}

fn number(text: &str) -> Option<u64> {
    let found = counted(&model(text), 100_000);
    assert_eq!(found.bound, None, "{text}");
    (!found.infinite).then_some(found.futures)
}

#[test]
fn who_waits_for_a_cell_reads_as_often_as_it_likes() {
    for text in [
        "int f; cobegin A: f = 1; B: while (f == 0) skip; coend",
        "atomic int held; int x; void add() { while (cas(held, 0, 1) == 0) skip; x++; held = 0; } cobegin A: add(); B: add(); coend",
        "int x; cobegin A: while (choose(0, 1) == 1) skip; B: x = 1; coend",
        "lock L; cobegin A: { while (!trylock(L)) skip; unlock(L); } B: { lock(L); unlock(L); } coend",
        // It fails, or waits for ever, behind a number of rounds that nothing bounds.
        "int f; lock L; cobegin A: f = 1; B: { while (f == 0) skip; lock(L); lock(L); } coend",
        "int f; cobegin A: f = 1; B: { while (f == 0) skip; assert(false); } coend",
        "int f; cobegin A: f = 1; B: { while (f == 0) { cobegin C: print(f); D: skip; coend } } coend",
        "int f; cobegin A: f = 1; B: { int go = 1; while (go == 1) { atomic { if (f == 1) go = 0; } } } coend",
    ] {
        assert_eq!(number(text), None, "{text}");
    }
}

#[test]
fn loops_that_read_nothing_or_never_end_make_no_futures() {
    for (text, futures) in [
        // Nobody but its thread uses the variable.
        ("int x; int y; cobegin A: { int i = 0; while (i < 3) i = i + 1 - x * 0; } B: y = 1; coend", 1),
        // The rounds in which it is not yet so are discarded.
        ("int f; cobegin A: f = 1; B: while (f == 0) assume(false); coend", 1),
        ("lock L; cobegin A: { lock(L); unlock(L); } B: { lock(L); unlock(L); } coend", 1),
        // No execution has an end.
        ("int x; cobegin A: while (x == 0) skip; B: int n = x; coend", 0),
        ("int x; lock L; cobegin A: x = 1; B: x = 2; coend while (true) { lock(L); unlock(L); }", 0),
        (
            "rwlock R; int x; cobegin A: while (true) { rdlock(R); int a = x; unlock(R); }
             W: { wrlock(R); x = 1; unlock(R); } coend",
            0,
        ),
    ] {
        assert_eq!(number(text), Some(futures), "{text}");
    }
}

#[test]
fn random_programs_have_infinitely_many_futures_where_no_search_counts_them() {
    let (mut infinite, mut finite) = (0, 0);
    let (first, programs) = (first_seed(4_000), programs(10));
    for seed in first..first + programs {
        let text = generate::spinning(seed);
        let Some(model) = possible_model(&text) else { continue };
        let found = counted(&model, 3_000);
        let limits = Limits { max_states: Some(3_000), ..Limits::default() };
        let one_by_one = count_by_states(model.machine(), &Budget::from(limits));
        if found.infinite {
            assert_eq!(one_by_one.bound, Some(Bound::States), "seed {seed}:\n{text}");
            infinite += 1;
        } else if one_by_one.bound.is_none() {
            assert_eq!((found.futures, found.bound), (one_by_one.futures, None), "seed {seed}:\n{text}");
            finite += 1;
        } else {
            // They go round without coming to an end any more.
            let answer = endless(model.program(), model.machine(), EndlessRequest::default(), &Budget::unlimited());
            let goes_on = answer.list.iter().any(|one| one.kind == EndlessKind::NoEnd);
            assert!(goes_on, "seed {seed}:\n{text}");
        }
    }
    assert!(
        support::has_new_seed() || infinite * 8 > programs && finite * 8 > programs,
        "{infinite} {finite} of {programs}"
    );
}
