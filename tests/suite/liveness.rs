//! Executions without end: protocols whose answers are known, and random programs held to the definition.
//!
//! The oracle (`support/oracle/endless.rs`) knows the definition and the graph of its own states, nothing of components.
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others:
//! `CSSAME_LAW_PROGRAMS=25400 cargo test --test suite liveness::`.

use crate::law::shared_names;
use cssame::budget::{Budget, Limits};
use cssame::explore::{Endless, EndlessAnswer, EndlessKind, EndlessRequest, Fairness, endless, returns};
use cssame::model::Model;
use cssame::schedule::walk;
use cssame::vm::{Choice, Tables, ThreadIndex};
use std::collections::BTreeSet;
use support::generate::{self, Size};
use support::oracle::{Endless as Expected, endless_of_source};
use support::{first_seed, model, possible_model, programs};

const STARVATION: EndlessRequest = EndlessRequest { starvation: true, fairness: Fairness::Weak };
const STRONG: EndlessRequest = EndlessRequest { starvation: true, fairness: Fairness::Strong };
const FAIR: EndlessRequest = EndlessRequest { starvation: true, fairness: Fairness::Choices };

fn ask(model: &Model, request: EndlessRequest, states: u64) -> EndlessAnswer {
    let limits = Limits { max_states: Some(states), ..Limits::default() };
    endless(model.program(), model.machine(), request, &Budget::from(limits))
}

fn kinds(answer: &EndlessAnswer) -> BTreeSet<EndlessKind> {
    answer.list.iter().map(|one| one.kind).collect()
}

/// The threads that starve: those that stay at an operation, and those that go round in a loop.
fn starving(model: &Model, answer: &EndlessAnswer) -> [BTreeSet<String>; 2] {
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for one in &answer.list {
        let Some(thread) = one.starving else { continue };
        let mut tables = Tables::new();
        let walk = walk(model.machine(), &mut tables, &one.schedule, &mut ()).unwrap();
        let name = model.machine().path_name(walk.tables(), walk.state().path(thread));
        found[usize::from(one.waits_in.is_some())].insert(name);
    }
    found
}

/// What each lasso must be: it leads back to where it began, leaves out no thread that could move all the time, and a thread
/// that starves at an operation does not move in it.
fn check_lasso(model: &Model, of: &Endless) -> Result<(), String> {
    let machine = model.machine();
    let steps: Vec<Choice> = of.schedule.iter().chain(&of.cycle).copied().collect();
    if !returns(machine, &steps, of.schedule.len()) {
        return Err(format!("does not come back: {of:?}"));
    }
    let mut tables = Tables::new();
    let mut walk = walk(machine, &mut tables, &of.schedule, &mut ()).map_err(|error| error.to_string())?;
    let mut always: BTreeSet<ThreadIndex> = walk.state().threads().collect();
    for &choice in &of.cycle {
        if walk.state().exclusive().is_none() {
            let state = walk.state();
            always
                .retain(|&thread| state.threads().any(|one| one == thread) && machine.alternatives(state, thread) > 0);
        }
        walk.step(choice, &mut ()).map_err(|error| error.to_string())?;
    }
    let moves = |thread: &ThreadIndex| of.cycle.iter().any(|choice| choice.thread == *thread);
    if let Some(left_out) = always.iter().find(|thread| !moves(thread)) {
        return Err(format!("thread {} could move all the time: {of:?}", left_out.0));
    }
    if of.starving.is_some_and(|thread| moves(&thread) != of.waits_in.is_some()) {
        return Err(format!("moves, or does not: {of:?}"));
    }
    Ok(())
}

/// A lasso is strongly fair: who can move somewhere in the cycle moves in it, or is woken.
fn check_strong(model: &Model, of: &Endless) -> Result<(), String> {
    let machine = model.machine();
    let mut tables = Tables::new();
    let mut walk = walk(machine, &mut tables, &of.schedule, &mut ()).map_err(|error| error.to_string())?;
    let mut left_out = BTreeSet::new();
    for &choice in &of.cycle {
        let state = walk.state();
        if state.exclusive().is_none() {
            left_out.extend(state.threads().filter(|&thread| machine.alternatives(state, thread) > 0));
        }
        walk.step(choice, &mut ()).map_err(|error| error.to_string())?;
    }
    of.cycle.iter().for_each(|choice| _ = left_out.remove(&choice.thread));
    if left_out.is_empty() { Ok(()) } else { Err(format!("{left_out:?} could move now and then: {of:?}")) }
}

/// Compares a program with the oracle; false where it is too large.
fn check(source: &str, expected_states: usize) -> Result<Option<Expected>, String> {
    let Some(model) = possible_model(source) else { return Ok(None) };
    let visible = shared_names(model.program(), model.form());
    let Some(expected) = endless_of_source(source, &visible, expected_states)? else { return Ok(None) };
    let [weak, strong, fair] = [STARVATION, STRONG, FAIR].map(|request| ask(&model, request, 50_000));
    if let Some(bound) = weak.bound.or(strong.bound).or(fair.bound) {
        return Err(format!("stopped by {bound:?}"));
    }
    weak.list.iter().chain(&fair.list).chain(&strong.unfair).try_for_each(|one| check_lasso(&model, one))?;
    strong.list.iter().try_for_each(|one| check_lasso(&model, one).and_then(|()| check_strong(&model, one)))?;
    let both: BTreeSet<EndlessKind> =
        kinds(&strong).into_iter().chain(strong.unfair.iter().map(|one| one.kind)).collect();
    if both != kinds(&weak) {
        return Err(format!("strong and unfair {both:?}"));
    }
    let [stays, _] = starving(&model, &weak);
    let [stays_strongly, _] = starving(&model, &strong);
    let strong = kinds(&strong);
    let [stays_with_fair_choices, _] = starving(&model, &fair);
    let (weak, fair) = (kinds(&weak), kinds(&fair));
    let found = Expected {
        no_end: weak.contains(&EndlessKind::NoEnd),
        livelock: weak.contains(&EndlessKind::Livelock),
        stays,
        no_end_strongly: strong.contains(&EndlessKind::NoEnd),
        livelock_strongly: strong.contains(&EndlessKind::Livelock),
        stays_strongly,
        with_fair_choices: fair.contains(&EndlessKind::NoEnd),
        stays_with_fair_choices,
    };
    if fair.contains(&EndlessKind::Livelock) {
        return Err("a livelock with fair choices".to_owned());
    }
    if found == expected { Ok(Some(expected)) } else { Err(format!("found {found:?}, expected {expected:?}")) }
}

#[test]
fn random_programs_run_for_ever_as_the_definition_says() {
    let first = first_seed(0);
    let (mut checked, mut too_large, mut shown) = (0u64, 0u64, [0u64; 8]);
    for seed in first..first + programs(200) {
        let source = match seed % 8 {
            7 => generate::program(seed, &Size { operations: 3, structured: seed % 16 == 7, ..Size::default() }),
            _ => generate::spinning(seed),
        };
        match check(&source, 400).unwrap_or_else(|problem| panic!("seed {seed}: {problem}\n{source}")) {
            None => too_large += 1,
            Some(found) => {
                checked += 1;
                let facts = [
                    found.no_end,
                    found.livelock,
                    !found.stays.is_empty(),
                    found.no_end_strongly,
                    found.livelock_strongly,
                    !found.stays_strongly.is_empty(),
                    found.with_fair_choices,
                    !found.stays_with_fair_choices.is_empty(),
                ];
                shown.iter_mut().zip(facts).for_each(|(count, fact)| *count += u64::from(fact));
            }
        }
    }
    println!(
        "{checked} programs, {too_large} too large; no end {}, livelock {}, a thread stays {}; strongly fair {}, {}, {}; with fair choices {}, {}",
        shown[0], shown[1], shown[2], shown[3], shown[4], shown[5], shown[6], shown[7]
    );
    assert!(
        support::has_new_seed() || checked > 2 * too_large && shown.iter().all(|&count| count > checked / 200),
        "{checked} {shown:?}"
    );
}

/// What is found in a protocol, with starvation.
fn found(text: &str) -> (BTreeSet<EndlessKind>, [BTreeSet<String>; 2]) {
    let model = model(text);
    let answer = ask(&model, STARVATION, 2_000_000);
    assert_eq!(answer.bound, None);
    answer.list.iter().for_each(|one| check_lasso(&model, one).unwrap());
    (kinds(&answer), starving(&model, &answer))
}

fn nothing() -> (BTreeSet<EndlessKind>, [BTreeSet<String>; 2]) {
    (BTreeSet::new(), [BTreeSet::new(), BTreeSet::new()])
}

fn names(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|&name| name.to_owned()).collect()
}

const BACK_OFF: &str = "bool a, b; cobegin
    T1: a = true; while (b) { a = false; a = true; } a = false;
    T2: b = true; while (a) { b = false; b = true; } b = false;
coend";

/// Dekker's protocol; each thread may insist when it has the turn, or always backs off.
fn dekker(rounds: u32, has_turn: bool) -> String {
    let thread = |own: &str, other: &str, number: u32| {
        let back_off = if has_turn {
            format!("if (turn != {number}) {{ {own} = false; while (turn != {number}) {{ }} {own} = true; }}")
        } else {
            format!("{own} = false; {own} = true;")
        };
        let next = 3 - number;
        format!(
            "T{number}: for (int i = 0; i < {rounds}; i++) {{ {own} = true; while ({other}) {{ {back_off} }}
                inside++; assert(inside == 1); inside--; turn = {next}; {own} = false; }}\n"
        )
    };
    format!("bool a, b; int turn = 1; int inside;\ncobegin\n{}{}coend", thread("a", "b", 1), thread("b", "a", 2))
}

#[test]
fn polite_threads_and_dekker_without_a_turn_are_livelocks() {
    assert_eq!(found(BACK_OFF).0, BTreeSet::from([EndlessKind::Livelock]));
    assert_eq!(found(&dekker(1, false)).0, BTreeSet::from([EndlessKind::Livelock]));
    assert_eq!(found(&dekker(2, false)).0, BTreeSet::from([EndlessKind::Livelock]));
}

#[test]
fn dekker_has_none() {
    assert_eq!(found(&dekker(1, true)), nothing());
    assert_eq!(found(&dekker(2, true)), nothing());
}

#[test]
fn peterson_has_none() {
    let thread = |own: &str, other: &str, number: u32| {
        format!(
            "T{number}: for (int i = 0; i < 2; i++) {{ {own} = true; turn = {number}; while ({other} && turn == {number}) {{ }}
                inside++; assert(inside == 1); inside--; {own} = false; }}\n"
        )
    };
    let text = format!("bool a, b; int turn, inside;\ncobegin\n{}{}coend", thread("a", "b", 1), thread("b", "a", 2));
    assert_eq!(found(&text), nothing());
}

#[test]
fn the_bakery_has_none() {
    let thread = |own: u32, other: u32| {
        format!(
            "T{own}: for (int i = 0; i < 2; i++) {{ choosing[{own}] = true; number[{own}] = number[{other}] + 1; choosing[{own}] = false;
                while (choosing[{other}]) {{ }}
                while (number[{other}] != 0 && (number[{other}] < number[{own}] || number[{other}] == number[{own}] && {other} < {own})) {{ }}
                inside++; assert(inside == 1); inside--; number[{own}] = 0; }}\n"
        )
    };
    let text = format!("bool choosing[2]; int number[2]; int inside;\ncobegin\n{}{}coend", thread(0, 1), thread(1, 0));
    assert_eq!(found(&text), nothing());
}

#[test]
fn the_filter_has_none() {
    let thread = |own: usize| {
        let others: Vec<String> =
            (0..3).filter(|&other| other != own).map(|other| format!("level[{other}] >= l")).collect();
        format!(
            "T{own}: for (int l = 1; l < 3; l++) {{ level[{own}] = l; last[l] = {own};
                while (last[l] == {own} && ({})) {{ }} }}
                inside++; assert(inside == 1); inside--; level[{own}] = 0;\n",
            others.join(" || ")
        )
    };
    let text = format!("int level[3]; int last[3]; int inside;\ncobegin\n{}{}{}coend", thread(0), thread(1), thread(2));
    assert_eq!(found(&text), nothing());
}

#[test]
fn who_serves_for_ever_has_no_end_and_starves_nobody_with_tickets() {
    let ticket = "int next, serving; bool x; cobegin
        A: while (true) { int t = fetch_add(next, 1) % 2; while (serving != t) { } x = !x; serving = 1 - serving; if (next > 1) next = next - 2; }
        B: x = true;
    coend";
    let (kinds, _) = found(ticket);
    assert_eq!(kinds, BTreeSet::from([EndlessKind::NoEnd]));
    let in_turn = "int turn, x; cobegin
        A: while (true) { while (turn != 0) { } x = 1; turn = 1; }
        B: while (true) { while (turn != 1) { } x = 2; turn = 0; }
    coend";
    assert_eq!(found(in_turn), (BTreeSet::from([EndlessKind::NoEnd]), nothing().1));
    let test_and_set = "int taken, x; cobegin
        A: while (true) { while (!cas(taken, 0, 1)) { } x = 1; taken = 0; }
        B: while (true) { while (!cas(taken, 0, 1)) { } x = 2; taken = 0; }
    coend";
    let expected = BTreeSet::from([EndlessKind::NoEnd, EndlessKind::Starvation]);
    assert_eq!(found(test_and_set), (expected, [BTreeSet::new(), names(&["A", "B"])]));
}

#[test]
fn with_fair_choices_a_lock_that_is_free_again_and_again_is_taken() {
    let locks = "int x; lock L; cobegin
        A: while (true) { lock(L); x = 1; unlock(L); }
        B: while (true) { lock(L); x = 2; unlock(L); }
    coend";
    assert_eq!(found(locks).1, [names(&["A", "B"]), BTreeSet::new()]);
    let model = model(locks);
    let answer = ask(&model, FAIR, 100_000);
    assert_eq!((kinds(&answer), starving(&model, &answer)), (BTreeSet::from([EndlessKind::NoEnd]), nothing().1));
}
