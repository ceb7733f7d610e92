//! Programs whose races are known by hand.

use super::*;
use cssame_model::{Model, Options};

/// The races of a program as text: the places, who fails when first, whether outcomes differ.
fn found(text: &str) -> Vec<String> {
    let model = Model::from_text("test.csm", text, &Options::default()).expect("it compiles");
    let program = model.program();
    let answer = races(model.machine(), program, &[], &Budget::unlimited());
    assert!(answer.is_complete());
    let place = |access: Access| {
        let position = model.sources().position(access.span(program));
        format!("{} {}@{}", access.word(), program.texts.get(access.name(program)), position.line)
    };
    let describe = |race: &Race| {
        let fails: Vec<String> =
            (0..2).filter(|&side| race.failing[side].is_some()).map(|side| place(race.accesses[side])).collect();
        let differ = if race.outcomes_differ == Some(true) { "differ" } else { "same" };
        format!("{} ‖ {}: fails {fails:?} {differ}", place(race.accesses[0]), place(race.accesses[1]))
    };
    answer.races.iter().map(describe).collect()
}

#[test]
fn the_order_of_one_race_decides_and_of_the_other_does_not() {
    let text = "int x; int y;\ncobegin\nA: { x = 1;\n y = 2; }\nB: { print(x);\n y = 2; }\ncoend\n";
    assert_eq!(found(text), ["read x@5 ‖ write x@3: fails [] differ", "write y@6 ‖ write y@4: fails [] same"]);
}

#[test]
fn a_failure_follows_where_the_write_goes_first() {
    let text = "int x;\ncobegin\nA: x = 1;\nB: assert(x == 0);\ncoend\n";
    assert_eq!(found(text), ["read x@4 ‖ write x@3: fails [\"write x@3\"] differ"]);
}

#[test]
fn what_a_lock_or_an_order_keeps_apart_does_not_race() {
    assert!(
        found("int x; lock L;\ncobegin\nA: { lock(L); x = 1; unlock(L); }\nB: { lock(L); x = 2; unlock(L); }\ncoend\n")
            .is_empty()
    );
    assert!(found("int x; event e;\ncobegin\nA: { x = 1; set(e); }\nB: { wait(e); print(x); }\ncoend\n").is_empty());
    assert!(found("int x;\ncobegin\nA: fetch_add(x, 1);\nB: atomic { x = x + 1; }\ncoend\n").is_empty());
}

#[test]
fn a_block_that_is_atomic_races_with_what_is_not() {
    let text = "int x;\ncobegin\nA: atomic { x = 1; }\nB: x = 2;\ncoend\n";
    let model = Model::from_text("test.csm", text, &Options::default()).expect("it compiles");
    let answer = races(model.machine(), model.program(), &[], &Budget::unlimited());
    assert!(answer.races.len() == 1 && answer.races[0].mixed);
}

#[test]
fn an_execution_that_is_discarded_shows_nothing() {
    assert!(found("int x;\ncobegin\nA: { x = 1; }\nB: { print(x); }\ncoend\nassume(false);\n").is_empty());
    // The order in which the read comes first is discarded; the race is real all the same.
    let text = "int x;\ncobegin\nA: x = 1;\nB: { int v = x; assume(v == 1); print(v); }\ncoend\n";
    assert_eq!(found(text), ["read x@4 ‖ write x@3: fails [] same"]);
}

#[test]
fn an_execution_without_end_is_an_outcome() {
    let text = "int x;\ncobegin\nA: x = 1;\nB: { if (x == 0) { while (true) { x = 1; } } }\ncoend\n";
    assert_eq!(found(text)[0], "read x@4 ‖ write x@3: fails [] differ");
}

#[test]
fn the_order_of_a_pair_that_does_not_race_is_told() {
    let text = "int x; int flag;\ncobegin\nA: { x = 1; flag = 1; }\nB: if (flag == 1) { print(x); }\ncoend\n";
    let model = Model::from_text("test.csm", text, &Options::default()).expect("it compiles");
    let program = model.program();
    let of_x = |access: &Access| program.texts.get(access.name(program)) == "x" && !access.is_initial(program);
    let reads = program.reads.entries().map(|(read, _)| Access::Read(read)).find(|one| of_x(one)).expect("a read");
    let writes = program.definitions.entries().map(|(definition, _)| Access::Write(definition));
    let write = writes.into_iter().find(|one| of_x(one)).expect("a write");
    let answer = races(model.machine(), program, &[[reads, write]], &Budget::unlimited());
    assert_eq!(answer.ordered, [AlwaysBefore { first: write, second: reads }]);
}

#[test]
fn nothing_is_said_of_outcomes_where_the_search_is_cut() {
    let text = "int x;\ncobegin\nA: for (int i = 0; i < 50; i++) { x = i; }\nB: for (int i = 0; i < 50; i++) { print(x); }\ncoend\n";
    let model = Model::from_text("test.csm", text, &Options::default()).expect("it compiles");
    let budget = Budget::from(cssame_budget::Limits { max_states: Some(500), ..cssame_budget::Limits::default() });
    let answer = races(model.machine(), model.program(), &[], &budget);
    // The races are real all the same.
    assert!(answer.bound.is_some() && !answer.races.is_empty());
    assert!(answer.races.iter().all(|race| race.outcomes_differ.is_none()));
}
