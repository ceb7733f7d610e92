//! Programs whose branch outcomes, waits and unprotected pairs are known by hand, and programs for which all executions are made
//! one by one.

use super::*;
use cssame_budget::Limits;
use cssame_model::{Model, Options};
use cssame_schedule::Walk;
use cssame_vm::{Cell, Event, Move, Observer, Progress, State, ThreadName};
use std::collections::{BTreeMap, BTreeSet};

mod by_hand;
mod one_by_one;

fn model(text: &str) -> Model {
    Model::from_text("test.csm", text, &Options::default()).expect("it compiles")
}

fn operations(model: &Model) -> Operations {
    Operations::new(model.program(), &model.form().concurrency)
}

fn answer(model: &Model, max_instance: u32, budget: &Budget<'_>) -> ExecutedAnswer {
    let (operations, tables) = (operations(model), Tables::new());
    let request = ExecutedRequest { operations: &operations, tables: &tables, max_instance };
    executed(model.machine(), model.program(), &request, budget)
}

/// What was found, in words.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    outcomes: BTreeSet<String>,
    waits: BTreeSet<String>,
    pairs: BTreeSet<String>,
}

/// Gives names to what was found.
struct Words<'a> {
    model: &'a Model,
    tables: &'a Tables,
}

impl Words<'_> {
    fn place(&self, thread: PathId, at: CodeIndex, instance: u32) -> String {
        let position = self.model.sources().position(self.model.machine().span(at));
        let name = self.model.machine().path_name(self.tables, thread);
        format!("{name}:{}:{}#{instance}", position.line, position.column)
    }

    fn branch(&self, (thread, at, instance, holds): (PathId, CodeIndex, u32, bool)) -> String {
        format!("{} {holds}", self.place(thread, at, instance))
    }

    fn wait(&self, (thread, at, instance, woken): (PathId, CodeIndex, u32, bool)) -> String {
        format!("{} {}", self.place(thread, at, instance), if woken { "woken" } else { "not woken" })
    }

    fn pair(&self, accesses: [Access; 2]) -> String {
        let program = self.model.program();
        let mut words = accesses.map(|access| {
            let position = self.model.sources().position(access.span(program));
            let (name, line, column) = (program.texts.get(access.name(program)), position.line, position.column);
            (line, column, format!("{} {name}@{line}:{column}", access.word()))
        });
        words.sort_unstable();
        format!("{} | {}", words[0].2, words[1].2)
    }

    fn all(&self, answer: &ExecutedAnswer) -> Found {
        let outcomes = answer.outcomes.iter().map(|one| self.branch((one.thread, one.at, one.instance, one.holds)));
        let waits = answer.waits.iter().map(|one| self.wait((one.thread, one.at, one.instance, one.woken)));
        let pairs = answer.pairs.iter().map(|one| self.pair(one.accesses));
        Found { outcomes: outcomes.collect(), waits: waits.collect(), pairs: pairs.collect() }
    }
}

/// All that was found, by a complete search.
fn found(text: &str) -> Found {
    let model = model(text);
    let answer = answer(&model, 8, &Budget::unlimited());
    assert_eq!(answer.bound, None);
    Words { model: &model, tables: &answer.tables }.all(&answer)
}

fn set(lines: &[&str]) -> BTreeSet<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}
