//! Explorations that do not ask for outcomes: what they say of terms, failures and deadlocks is what a search through all
//! states says; programs of many readers, of which there are too many outcomes, are decided in few states.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Answer, Query, Subject, by_states};
use cssame::ir::{DefinitionId, ReadId};
use cssame::model::Model;
use cssame::schedule::Walk;
use cssame::vm::{CodeIndex, Event, Observer, Progress, Tables, ThreadName};
use std::collections::BTreeSet;
use support::generate::{self, Size};
use support::{first_seed, possible_model, programs};

type Pairs = BTreeSet<(ReadId, DefinitionId)>;

fn terms(answer: &Answer) -> Pairs {
    answer.terms.iter().map(|term| (term.read, term.definition)).collect()
}

fn failures(answer: &Answer) -> BTreeSet<(CodeIndex, u32)> {
    answer.failures.iter().map(|witness| (witness.failure.at, witness.failure.kind as u32)).collect()
}

fn deadlocks(model: &Model, answer: &Answer) -> BTreeSet<Vec<(String, CodeIndex)>> {
    let name = |path| answer.tables.path_name(&model.program().texts, path);
    let of = |deadlock: &cssame::explore::Deadlock| {
        deadlock.threads.iter().map(|thread| (name(thread.path), thread.at)).collect()
    };
    answer.deadlocks.iter().map(of).collect()
}

#[derive(Default)]
struct Reads(Vec<(ReadId, DefinitionId)>);

impl Observer for Reads {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.0.push((read, definition));
        }
    }
}

/// Whether each schedule shows in the whole program what it is said to show.
fn check_schedules(model: &Model, answer: &Answer) -> Result<(), String> {
    for term in &answer.terms {
        let Some(schedule) = &term.schedule else { continue };
        let (mut tables, mut reads) = (Tables::new(), Reads::default());
        let mut walk = Walk::new(model.machine(), &mut tables, &mut reads);
        walk.follow(schedule, &mut reads).map_err(|impossible| format!("{impossible:?}"))?;
        if !reads.0.contains(&(term.read, term.definition)) {
            return Err(format!("the schedule does not show {:?} = {:?}", term.read, term.definition));
        }
    }
    for failure in &answer.failures {
        let mut tables = Tables::new();
        let mut walk = Walk::new(model.machine(), &mut tables, &mut ());
        let last = walk.follow(&failure.schedule, &mut ()).map_err(|impossible| format!("{impossible:?}"))?;
        if last != Progress::Failed(failure.failure) {
            return Err(format!("the schedule does not show {:?}", failure.failure));
        }
    }
    Ok(())
}

/// Holds an exploration without outcomes to all states; whether that could be done.
fn check(model: &Model) -> Result<bool, String> {
    let limits = Limits { max_states: Some(60_000), ..Limits::default() };
    let all = by_states(model.machine(), &Query::default(), &limits.into());
    let found = Subject::from(model).futures(&Query::WITHOUT_OUTCOMES, &limits.into());
    if !all.is_complete() || !found.is_complete() {
        return Ok(false);
    }
    compare(model, &all, &found).map(|()| true)
}

/// Holds an answer without outcomes to that of all states.
pub fn compare(model: &Model, all: &Answer, found: &Answer) -> Result<(), String> {
    if terms(all) != terms(found) {
        return Err(format!("terms: {:?} but {:?}", terms(all), terms(found)));
    }
    if failures(all) != failures(found) {
        return Err(format!("failures: {:?} but {:?}", failures(all), failures(found)));
    }
    if deadlocks(model, all) != deadlocks(model, found) {
        return Err("deadlocks differ".to_owned());
    }
    if all.undecided != found.undecided || !found.outcomes.is_empty() {
        return Err("undecided terms, or outcomes, that nobody asked for".to_owned());
    }
    check_schedules(model, found)
}

#[test]
fn terms_failures_and_deadlocks_do_not_depend_on_outcomes() {
    let programs = programs(150);
    let first = first_seed(1);
    let mut compared = 0;
    for seed in first..first + programs {
        let size = match seed % 3 {
            0 => Size { threads: 2, operations: 5, globals: 4, structured: false },
            1 => Size { threads: 3, operations: 4, globals: 4, structured: true },
            _ => Size { threads: 6, operations: 2, globals: 3, structured: false },
        };
        let source = generate::program(seed, &size);
        let Some(model) = possible_model(&source) else { continue };
        match check(&model) {
            Ok(is_compared) => compared += u64::from(is_compared),
            Err(message) => panic!("seed {seed}: {message}\n{source}"),
        }
    }
    assert!(support::has_new_seed() || compared * 2 >= programs, "{compared} of {programs}");
}

/// A writer and many readers, of which each does what `body` says.
fn readers(count: usize, globals: &str, writer: &str, body: &str) -> Model {
    let arms: String = (0..count).map(|arm| format!("  R{arm}: {{ {body} }}\n")).collect();
    let text = format!("int x;\n{globals}\nvoid main() {{\n  cobegin\n  W: {{ {writer} }}\n{arms}  coend\n}}\n");
    Model::from_text("readers.csm", &text, &cssame::model::Options::default()).expect("it compiles")
}

/// How many terms can happen, and how many states that took; everything is decided.
pub fn decided(model: &Model) -> (usize, u64, Answer) {
    let limits = Limits { max_states: Some(2_000_000), ..Limits::default() };
    let answer = Subject::from(model).futures(&Query::WITHOUT_OUTCOMES, &Budget::from(limits));
    assert!(answer.is_complete() && answer.undecided.is_empty(), "{:?}", answer.bound);
    (terms(&answer).len(), answer.statistics.states, answer)
}

#[test]
fn many_readers_take_few_states_each() {
    for (body, reads) in [("print(x);", 1), ("print(x, x);", 2), ("int r = x; if (r > 1) print(r); print(x);", 2)] {
        let states = |count| {
            let (found, states, _) = decided(&readers(count, "", "x = 1; x = 2;", body));
            assert_eq!(found, 3 * reads * count, "{body}");
            states
        };
        let (few, many) = (states(10), states(60));
        assert!(many <= 8 * few, "{body}: {few} states of 10 readers, {many} of 60");
    }
}

#[test]
fn equal_iterations_may_print() {
    let text = "int x; void main() { cobegin W: { x = 1; x = 2; } R: parfor (int i = 0; i < 30; i++) print(x); coend }";
    let model = Model::from_text("parfor.csm", text, &cssame::model::Options::default()).expect("it compiles");
    assert_eq!(decided(&model).0, 3);
}
