//! Tests on small programs whose executions without end are known.

use super::{EndlessAnswer, EndlessKind, EndlessRequest, Fairness, cycle_in, endless, may_run_for_ever, returns};
use EndlessKind::{Livelock, NoEnd, Starvation};
use cssame_budget::{Bound, Budget, Limits};
use cssame_model::{Model, Options};
use cssame_schedule::{Random, run};
use cssame_vm::Semantics;

fn model(text: &str) -> Model {
    Model::from_text("test.csm", text, &Options::default()).expect("it compiles")
}

fn ask(model: &Model, request: EndlessRequest) -> EndlessAnswer {
    let answer = endless(model.program(), model.machine(), request, &Budget::unlimited());
    assert_eq!(answer.bound, None);
    for one in &answer.list {
        let steps: Vec<_> = one.schedule.iter().chain(&one.cycle).copied().collect();
        assert!(returns(model.machine(), &steps, one.schedule.len()), "{one:?}");
    }
    answer
}

fn kinds(text: &str) -> Vec<EndlessKind> {
    ask(&model(text), EndlessRequest::default()).list.iter().map(|one| one.kind).collect()
}

/// Who starves, by slot, and whether in a loop.
fn starving(text: &str, fairness: Fairness) -> Vec<(u16, bool)> {
    let answer = ask(&model(text), EndlessRequest { starvation: true, fairness });
    let starving = answer.list.iter().filter(|one| one.kind == Starvation);
    starving.filter_map(|one| Some((one.starving?.0, one.waits_in.is_some()))).collect()
}

const POLITE: &str = "bool a, b; cobegin
    T1: { a = true; while (b) { a = false; a = true; } a = false; }
    T2: { b = true; while (a) { b = false; b = true; } b = false; }
coend";

#[test]
fn threads_that_back_off_for_ever_are_a_livelock() {
    assert_eq!(kinds(POLITE), [Livelock]);
    let answer = ask(&model(POLITE), EndlessRequest { fairness: Fairness::Choices, ..EndlessRequest::default() });
    assert_eq!(answer.list, []);
}

#[test]
fn waiting_for_what_comes_is_none() {
    assert_eq!(kinds("bool go; cobegin T1: while (!go) { } T2: go = true; coend"), []);
    assert_eq!(kinds("int x; cobegin T1: while (x < 3) { } T2: { x = 1; x = 2; x = 3; } coend"), []);
}

#[test]
fn waiting_for_what_does_not_come_has_no_end() {
    let text = "bool go; cobegin T1: while (!go) { } T2: { if (go) go = true; } coend";
    let answer = ask(&model(text), EndlessRequest::default());
    assert_eq!(answer.list.len(), 1);
    assert_eq!((answer.list[0].kind, answer.list[0].no_end_after), (NoEnd, Some(0)));
    let text = "bool go; int x; cobegin T1: { x = 1; while (!go) { } } T2: { if (x == 0) go = true; } coend";
    let answer = ask(&model(text), EndlessRequest::default());
    assert_eq!(answer.list.iter().map(|one| one.kind).collect::<Vec<_>>(), [NoEnd]);
    assert!(answer.list[0].no_end_after.is_some_and(|after| after > 0));
}

#[test]
fn a_thread_that_could_move_for_ever_moves() {
    // The loop of T1 is endless, but T2 sets x at last.
    assert_eq!(kinds("bool x; cobegin T1: while (!x) { } T2: { x = false; x = true; } coend"), []);
    // Between two rounds the lock is free, and yet never for T2.
    let text =
        "bool x; lock L; cobegin T1: while (!x) { lock(L); unlock(L); } T2: { lock(L); x = true; unlock(L); } coend";
    let weak = EndlessRequest { fairness: Fairness::Weak, ..EndlessRequest::default() };
    assert_eq!(ask(&model(text), weak).list.iter().map(|one| one.kind).collect::<Vec<_>>(), [Livelock]);
    let strong = ask(&model(text), EndlessRequest::default());
    assert_eq!((strong.list, strong.unfair.iter().map(|one| one.kind).collect::<Vec<_>>()), (vec![], vec![Livelock]));
    // T1 waits for x, and keeps T2 from setting it.
    assert_eq!(starving(text, Fairness::Weak), [(1, true), (2, false)]);
    assert_eq!(starving(text, Fairness::Strong), []);
    assert_eq!(starving(text, Fairness::Choices), []);
}

#[test]
fn discarded_executions_do_not_count() {
    assert_eq!(kinds("bool x; cobegin T1: while (true) { x = !x; } T2: assume(false); coend"), []);
    assert_eq!(
        kinds("int x; cobegin T1: while (true) { x = choose(0, 1); assume(x == 0); } T2: x = 0; coend"),
        [NoEnd]
    );
    let text = "int x; cobegin T1: while (true) { x = choose(0, 1); assume(x == 0); } T2: x = 0; coend";
    let answer = ask(&model(text), EndlessRequest { fairness: Fairness::Choices, ..EndlessRequest::default() });
    assert_eq!(answer.list, []);
}

#[test]
fn what_is_printed_makes_no_new_states() {
    assert_eq!(
        kinds("int x; lock L; cobegin T1: while (true) { lock(L); print(1); unlock(L); } T2: x = 1; coend"),
        [NoEnd]
    );
}

#[test]
fn a_part_of_the_threads_in_a_deadlock_is_seen_beside_the_others() {
    let text = "bool b; event e; cobegin T1: while (true) { b = !b; } T2: { if (b) wait(e); } coend";
    let answer = ask(&model(text), EndlessRequest { starvation: true, fairness: Fairness::Weak });
    let kinds: Vec<EndlessKind> = answer.list.iter().map(|one| one.kind).collect();
    assert!(kinds.contains(&NoEnd) && kinds.contains(&Starvation), "{kinds:?}");
}

#[test]
fn a_thread_that_never_moves_may_starve() {
    assert_eq!(
        starving(
            "bool b; event e; cobegin T1: while (true) b = !b; T2: { wait(e); b = true; } coend",
            Fairness::Choices
        ),
        [(2, false)]
    );
}

#[test]
fn a_loop_that_tests_a_lock_may_wait_for_ever() {
    let text = "int l; bool done; cobegin
        T1: for (int i = 0; i < 1; i = 0) { while (!cas(l, 0, 1)) { } l = 0; }
        T2: { while (!cas(l, 0, 1)) { } l = 0; done = true; }
        T3: { if (done) done = false; }
    coend";
    assert_eq!(starving(text, Fairness::Weak), [(2, true)]);
}

#[test]
fn a_wake_up_for_no_reason_need_not_come() {
    let options =
        Options { semantics: Semantics { spurious_wakeups: true, ..Semantics::default() }, ..Options::default() };
    let text = "bool go; lock L; cond c; cobegin T1: { lock(L); while (!go) wait(c, L); unlock(L); } T2: { if (go) go = true; } coend";
    let model = Model::from_text("test.csm", text, &options).expect("it compiles");
    let kinds: Vec<EndlessKind> = ask(&model, EndlessRequest::default()).list.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [NoEnd]);
}

#[test]
fn a_bound_means_no_claim() {
    let limits = Limits { max_states: Some(3), ..Limits::default() };
    let model = model(POLITE);
    let answer = endless(model.program(), model.machine(), EndlessRequest::default(), &Budget::from(limits));
    assert_eq!((answer.bound, answer.list.len()), (Some(Bound::States), 0));
}

#[test]
fn loops_that_count_are_finite() {
    for text in [
        "int x; cobegin T1: for (int i = 0; i < 30; i++) x = i; T2: { int k = 9; while (k > 0) { x = k; k -= 2; } } coend",
        "int x; cobegin T1: for (int i = 0; i <= 30; i++) for (int j = i; j < 9; j++) x = i; T2: x = 1; coend",
    ] {
        assert!(!may_run_for_ever(model(text).program()), "{text}");
    }
    for text in [
        "int x; cobegin T1: for (int i = 0; i < 30; i++) { x = i; if (x > 3) i--; } T2: x = 2; coend",
        "int x; cobegin T1: { int n = x; for (int i = 0; i <= n; i++) x = i; } T2: x = 2; coend",
        "int x; cobegin T1: for (int i = 0; i < 3; i++) while (x > 2) { } T2: x = 1; coend",
        "int x; cobegin T1: for (int i = 0; i < 3;) { if (x > 2) i++; } T2: x = 1; coend",
    ] {
        assert!(may_run_for_ever(model(text).program()), "{text}");
    }
}

#[test]
fn a_random_execution_that_is_not_over_shows_its_cycle() {
    let model = model("bool x; cobegin T1: while (true) { x = !x; } T2: while (true) { x = true; } coend");
    let execution = run(model.machine(), &mut Random::new(1), 200, &mut ());
    let found = cycle_in(model.machine(), &execution.steps, Fairness::Strong).expect("a cycle");
    let steps: Vec<_> = execution.steps[..found.start].iter().chain(&found.cycle).copied().collect();
    assert!(returns(model.machine(), &steps, found.start));
    assert!(found.cycle.len() >= 2 && found.cycle.len() < 20, "{found:?}");
}
