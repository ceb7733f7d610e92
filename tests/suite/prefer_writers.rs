//! Preferred writers: what the option adds to the executions of a program, and what it never adds.
//!
//! Without a try, an execution with the option is one without, or ends in a deadlock: a thread that waits to write only
//! keeps others out. And each execution without the option is one with it, in which writers come late. Random programs in
//! which threads contend for one lock are held to both, and to the oracle. `CSSAME_LAW_PROGRAMS` and
//! `CSSAME_LAW_SEED` run more programs, or others.

use crate::law::{Tally, check_with};
use crate::paths::differences_of;
use crate::without_outcomes::compare;
use cssame::budget::{Budget, Limits};
use cssame::explore::report::{DeadlockReport, wait_cycle};
use cssame::explore::{Answer, Declined, Query, Subject, WaitsFor, by_states, futures};
use cssame::model::{Model, Options};
use cssame::schedule::{Schedule, trace};
use cssame::vm::{Choice, Machine, Semantics, State, Tables, ThreadStatus};
use std::collections::BTreeSet;
use support::generate::{self, Rng, Size};
use support::{first_seed, programs};

const PREFERRED: Semantics = Semantics { spurious_wakeups: false, prefer_writers: true };

fn model(text: &str, semantics: Semantics) -> Model {
    Model::from_text("writers.csm", text, &Options { semantics, ..Options::default() }).unwrap()
}

/// `line, line: status` of all executions.
fn outcomes(text: &str, semantics: Semantics) -> BTreeSet<String> {
    let model = model(text, semantics);
    let answer = futures(model.machine(), &Query::default(), &Budget::default());
    assert!(answer.is_complete(), "{text}");
    outcomes_of(&answer)
}

fn outcomes_of(answer: &Answer) -> BTreeSet<String> {
    let outcomes = answer.outcomes.iter().map(|outcome| {
        let lines = outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output));
        format!("{}: {}", lines.collect::<Vec<&str>>().join(", "), outcome.status.word())
    });
    outcomes.collect()
}

fn shows(text: &str, without: &[&str], with: &[&str]) {
    let found = |semantics| outcomes(text, semantics).into_iter().collect::<Vec<String>>();
    assert_eq!(found(Semantics::default()), without, "{text}");
    assert_eq!(found(PREFERRED), with, "{text}");
}

#[test]
fn a_nested_read_behind_a_waiting_writer_is_a_deadlock() {
    let text = "int x; rwlock R; cobegin T1: rdlock(R); rdlock(R); print(x); unlock(R); unlock(R); \
                T2: wrlock(R); x = 1; unlock(R); coend";
    shows(text, &["0: ok", "1: ok"], &["0: ok", "1: ok", ": deadlock"]);
    let model = model(text, PREFERRED);
    let answer = futures(model.machine(), &Query::default(), &Budget::default());
    let [deadlock] = answer.deadlocks.as_slice() else { panic!("{:?}", answer.deadlocks) };
    let waits: Vec<bool> =
        deadlock.threads.iter().map(|one| matches!(one.waits_for, WaitsFor::Writers { .. })).collect();
    assert_eq!(waits, [false, true, false]);
    let report = DeadlockReport::of(&model.naming(), &deadlock.schedule);
    let told: Vec<String> = report.threads.iter().map(|one| format!("{} {}", one.thread, one.waits())).collect();
    let expected = [
        "main waits for the end of T1, T2",
        "T1 waits for the lock `R`, which T2 waits to write",
        "T2 waits for the lock `R`, which T1 reads",
    ];
    assert_eq!(told, expected);
    assert_eq!(wait_cycle(&report.threads), ["T1", "T2"]);
}

#[test]
fn a_try_to_read_fails_behind_a_waiting_writer() {
    let text = "rwlock R; cobegin T1: rdlock(R); print(tryrdlock(R)); unlock(R); T2: wrlock(R); unlock(R); coend";
    // Where the try has succeeded, one hold is left, and a writer that comes then waits for ever.
    shows(text, &["true: deadlock", "true: ok"], &["false: ok", "true: deadlock", "true: ok"]);
    // A try to write is not kept out by writers that wait, but by the reader that they wait for.
    let text = "rwlock R; rdlock(R); cobegin T1: print(trywrlock(R)); T2: wrlock(R); coend";
    shows(text, &["false: deadlock"], &["false: deadlock"]);
}

#[test]
fn whoever_holds_the_lock_waits_for_itself() {
    for text in
        ["rwlock R; rdlock(R); wrlock(R);", "rwlock R; wrlock(R); wrlock(R);", "rwlock R; wrlock(R); rdlock(R);"]
    {
        shows(text, &[": deadlock"], &[": deadlock"]);
    }
}

#[test]
fn waiting_writers_are_not_ordered() {
    let write = |value: u32| format!("wrlock(R); x = {value}; unlock(R);");
    let reader = "rdlock(R); unlock(R);";
    let text = format!("int x; rwlock R; cobegin T1: {} T2: {} T3: {reader} coend print(x);", write(1), write(2));
    shows(&text, &["1: ok", "2: ok"], &["1: ok", "2: ok"]);
}

#[test]
fn a_program_without_such_locks_is_the_same() {
    for text in [
        "int x; lock L; cobegin T1: lock(L); x = 1; unlock(L); T2: if (trylock(L)) { print(x); unlock(L); } coend",
        "int x; lock L; cond c; cobegin T1: lock(L); wait(c, L); unlock(L); T2: x = 1; notify(c); coend",
    ] {
        assert_eq!(outcomes(text, Semantics::default()), outcomes(text, PREFERRED));
    }
}

/// Every state that can be reached, once.
fn each_state(machine: &Machine, visit: &mut dyn FnMut(&State, &[Choice])) {
    let mut tables = Tables::new();
    let mut open = vec![machine.initial(&mut tables)];
    let mut known = BTreeSet::from([machine.fingerprint(&open[0])]);
    while let Some(state) = open.pop() {
        let mut enabled = Vec::new();
        machine.enabled(&state, &mut enabled);
        visit(&state, &enabled);
        for choice in enabled {
            let mut next = state.clone();
            machine.step(&mut next, &mut tables, choice, &mut ());
            if known.insert(machine.fingerprint(&next)) {
                open.push(next);
            }
        }
    }
}

/// Two readers that come in turn: while a writer waits, all that they can do is to give the lock back.
#[test]
fn readers_that_take_turns_do_not_starve_a_writer_that_waits() {
    let reader = "rdlock(R); unlock(R); rdlock(R); unlock(R);";
    let text = format!("rwlock R; cobegin T1: {reader} T2: {reader} T3: wrlock(R); unlock(R); coend");
    let model = model(&text, PREFERRED);
    let naming = model.naming();
    let mut waiting = 0;
    each_state(model.machine(), &mut |state, enabled| {
        let mut threads = state.threads();
        let Some(writer) = threads.find(|&thread| state.status(thread) == ThreadStatus::WaitingToWrite) else { return };
        waiting += 1;
        assert!(!enabled.is_empty(), "the readers go on");
        for choice in enabled.iter().filter(|choice| choice.thread != writer) {
            assert_eq!(naming.operation(state, &Tables::new(), choice.thread), "unlock R");
        }
    });
    assert!(waiting > 0);
}

#[test]
fn schedules_and_traces_tell_that_a_thread_waits() {
    let text = "int x; rwlock R; cobegin T1: rdlock(R); print(x); unlock(R); T2: wrlock(R); x = 1; unlock(R); coend";
    let model = model(text, PREFERRED);
    let (mut tables, machine, naming) = (Tables::new(), model.machine(), model.naming());
    let mut state = machine.initial(&mut tables);
    let mut steps = Vec::new();
    // main forks, T1 reads, T2 begins to wait, T1 is through, T2 writes.
    for thread in [0, 1, 2, 1, 1, 2, 2, 2, 0] {
        let mut enabled = Vec::new();
        machine.enabled(&state, &mut enabled);
        let choice = *enabled.iter().find(|choice| choice.thread.index() == thread).unwrap();
        machine.step(&mut state, &mut tables, choice, &mut ());
        steps.push(choice);
    }
    assert!(machine.is_finished(&state));
    let names = naming.steps(&steps);
    let of_writer = names.iter().filter(|step| step.thread == "T2").map(|step| step.op.as_str());
    assert_eq!(of_writer.collect::<Vec<_>>(), ["await R", "wrlock R", "write x", "unlock R"]);
    let rows: Vec<String> = trace(naming, &steps).rows.iter().map(cssame::schedule::Row::text).collect();
    assert!(rows.contains(&"waits for R to write".to_owned()), "{rows:?}");
    let schedule = model.schedule(names, "ok");
    assert_eq!(schedule.semantics(), Ok(PREFERRED));
    assert_eq!(Schedule::parse(&schedule.to_text()).unwrap(), schedule);
}

/// A few threads that contend for one lock.
fn contention(seed: u64, tries: bool) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "int x; rwlock R;\ncobegin\n".to_owned();
    let threads = rng.range(2, 3);
    for thread in 0..threads {
        text += &format!("T{thread}:\n");
        for _ in 0..if threads == 2 { 2 } else { 1 } {
            text += &body(&mut rng, tries);
        }
    }
    text + "coend\nprint(x);\n"
}

fn body(rng: &mut Rng, tries: bool) -> String {
    let value = rng.range(1, 3);
    match rng.below(if tries { 6 } else { 4 }) {
        0 => format!("wrlock(R); x = {value}; unlock(R);\n"),
        1 => "rdlock(R); print(x); unlock(R);\n".to_owned(),
        2 => "rdlock(R); rdlock(R); unlock(R); unlock(R);\n".to_owned(),
        3 => format!("wrlock(R); x += {value}; unlock(R);\n"),
        4 => "if (tryrdlock(R)) { print(x); unlock(R); } else { print(-1); }\n".to_owned(),
        _ => format!("if (trywrlock(R)) {{ x = {value}; unlock(R); }} else {{ print(-2); }}\n"),
    }
}

#[test]
fn what_the_option_adds_is_deadlocks() {
    let first = first_seed(1);
    let (mut tally, mut more) = (Tally::default(), 0);
    let programs = programs(100);
    for seed in first..first + programs {
        let tries = seed % 3 == 0;
        let text = contention(seed, tries);
        check_with(&text, PREFERRED, &mut tally).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{text}"));
        let (without, with) = (outcomes(&text, Semantics::default()), outcomes(&text, PREFERRED));
        assert!(without.is_subset(&with), "seed {seed}: {without:?} {with:?}\n{text}");
        let mut added = with.difference(&without);
        assert!(tries || added.all(|one| one.ends_with("deadlock")), "seed {seed}: {without:?} {with:?}\n{text}");
        more += u32::from(with != without);
        let model = model(&text, PREFERRED);
        let states = by_states(model.machine(), &Query::default(), &Budget::default());
        let ends: BTreeSet<&str> = states.outcomes.iter().map(|outcome| outcome.status.word()).collect();
        assert_eq!(ends, with.iter().filter_map(|one| one.rsplit(": ").next()).collect(), "seed {seed}\n{text}");
    }
    assert!(
        support::has_new_seed() || tally.checked * 10 >= programs * 8 && more > 20,
        "{} checked, {more} with more",
        tally.checked
    );
}

#[test]
fn slices_say_what_all_states_say() {
    let (mut compared, limits) = (0, Limits { max_states: Some(60_000), ..Limits::default() });
    for seed in 1..=programs(100) {
        let text = match seed % 2 {
            // Something that can be left out.
            0 => {
                contention(seed, true).replace("int x;", "int x, y;").replace("unlock(R);", "unlock(R); y = x; y = 1;")
            }
            _ => generate::locking(seed, &Size { threads: 3, operations: 4, globals: 3, structured: true }),
        };
        let options = Options { semantics: PREFERRED, ..Options::default() };
        let Ok(model) = Model::from_text("writers.csm", &text, &options) else { continue };
        let all = by_states(model.machine(), &Query::default(), &limits.into());
        if !text.contains("rwlock") || !all.is_complete() {
            continue;
        }
        match Subject::from(&model).futures_by_slices(&Query::WITHOUT_OUTCOMES, &limits.into()) {
            Ok(found) => {
                compared += 1;
                compare(&model, &all, &found).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{text}"));
            }
            Err(declined) => assert_ne!(declined, Declined::Disagreement, "seed {seed}\n{text}"),
        }
        match Subject::from(&model).futures_by_slices(&Query::default(), &limits.into()) {
            Ok(found) => assert_eq!(outcomes_of(&found), outcomes_of(&all), "seed {seed}\n{text}"),
            Err(declined) => assert_ne!(declined, Declined::Disagreement, "seed {seed}\n{text}"),
        }
    }
    assert!(support::has_new_seed() || compared > 50, "{compared}");
}

#[test]
fn equal_rounds_of_a_parfor_may_wait_to_write() {
    let text = "int x; rwlock R; parfor (int i = 0; i < 4; i++) { rdlock(R); if (x > 2) rdlock(R); unlock(R); \
                wrlock(R); x++; unlock(R); } print(x);";
    let model = model(text, PREFERRED);
    let states = by_states(model.machine(), &Query::default(), &Budget::default());
    let ends =
        |answer: &Answer| -> BTreeSet<&str> { answer.outcomes.iter().map(|outcome| outcome.status.word()).collect() };
    let folded = model.machine().up_to_symmetry().unwrap();
    let found = by_states(&folded, &Query::default(), &Budget::default());
    assert!(found.statistics.states * 4 < states.statistics.states, "{}", found.statistics.states);
    assert_eq!(ends(&found), ends(&states));
    assert_eq!(ends(&found), BTreeSet::from(["deadlock", "ok"]));
}

/// A few threads whose branches depend on each other under one lock.
fn branching(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let arm = |rng: &mut Rng| {
        let value = rng.range(1, 2);
        match rng.below(5) {
            0 | 1 => format!("wrlock(R); x = {value}; unlock(R);\n"),
            2 => format!("rdlock(R); if (x == {value}) y = 1; unlock(R);\n"),
            3 => format!("rdlock(R); if (x < {value}) {{ rdlock(R); y = x; unlock(R); }} unlock(R);\n"),
            _ => "if (tryrdlock(R)) { if (y == 1) skip; unlock(R); }\n".to_owned(),
        }
    };
    let arms: String = (0..3).map(|thread| format!("T{thread}:\n{}", arm(&mut rng))).collect();
    format!("int x, y; rwlock R;\ncobegin\n{arms}coend\n")
}

#[test]
fn paths_say_what_the_oracle_says() {
    let (mut compared, mut blocked) = (0, 0);
    for seed in 1..=programs(100) / 3 {
        let text = branching(seed);
        let Some(mut differences) = differences_of(&text, &model(&text, PREFERRED)) else { continue };
        // Which holds of such a lock keep accesses apart, the oracle of races does not know.
        differences.retain(|one| !["variables", "races", "ordered"].iter().any(|of| one.starts_with(of)));
        assert!(differences.is_empty(), "seed {seed}: {differences:#?}\n{text}");
        compared += 1;
        blocked += u32::from(outcomes(&text, PREFERRED).contains(": deadlock"));
    }
    assert!(support::has_new_seed() || compared > 20 && blocked > 3, "{compared} {blocked}");
}
