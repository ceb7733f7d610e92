//! The JSON of a command is the value that one call of the library returns, behind the three keys of all answers.

use crate::process::{call, root};
use cssame::answer::{self, CheckInput, CorrelateRequest, Course, Effort, Emit, Execute, FuturesRequest, RunRequest};
use cssame::budget::{Budget, Limits};
use cssame::explore::EndlessRequest;
use cssame::explore::report::Schedules;
use cssame::model::{Model, Options, Unit};
use cssame::schedule::Scheduler;
use serde::Serialize;
use serde_json::Value;
use std::fs;

/// What is compared: a program that fails, one that blocks, one with endangered pairs, and a library.
const SAMPLES: [&str; 4] = ["bank_account_broken", "bank_transfer_deadlock", "order_pool_broken", "map_log4j"];

/// The states that commands visit where nobody says how many.
const STATES: u64 = 20_000_000;

struct Sample {
    path: String,
    text: String,
}

fn samples() -> impl Iterator<Item = Sample> {
    SAMPLES.iter().map(|name| {
        let path = format!("samples/{name}.csm");
        let text = fs::read_to_string(root().join(&path)).unwrap();
        Sample { path, text }
    })
}

impl Sample {
    fn unit(&self) -> Unit {
        Unit::from_text(&self.path, &self.text, &[]).unwrap()
    }

    /// None for a library.
    fn model(&self) -> Option<Model> {
        Model::from_text(&self.path, &self.text, &Options::default()).ok()
    }

    /// Compares the answer of the command to the value of the library.
    fn assert_answer(&self, command: &[&str], value: &impl Serialize) {
        let mut answer = call(&command.join(" "), &[&self.path, "--format", "json"]).json();
        let keys = answer.as_object_mut().unwrap();
        assert_eq!(keys.remove("schema"), Some("cssame/1".into()));
        assert_eq!(keys.remove("command"), Some(command[0].into()));
        assert_eq!(keys.remove("file"), Some(self.path.clone().into()));
        // Through text, as the command does it: numbers are told apart by their form.
        let value: Value = serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap();
        assert_eq!(answer, value, "{command:?} {}", self.path);
    }
}

fn budget() -> Budget<'static> {
    Budget::from(Limits { max_states: Some(STATES), ..Limits::default() })
}

#[test]
fn check_is_a_value_of_the_library() {
    for sample in samples() {
        let mut input = CheckInput::default();
        let file = input.sources.add(&sample.path, &sample.text);
        input.files.push((sample.path.clone(), Ok(file)));
        sample.assert_answer(&["check"], &answer::check(input, &[], 1, None));
    }
}

#[test]
fn forms_are_values_of_the_library() {
    for sample in samples() {
        sample.assert_answer(&["ir", "--emit", "ssa"], &answer::ir(sample.unit(), Emit::Ssa).unwrap());
        if let Ok(unit) = sample.unit().with_main() {
            sample.assert_answer(&["pi"], &answer::pi(&unit));
        }
    }
}

#[test]
fn executions_are_values_of_the_library() {
    for (sample, model) in samples().filter_map(|sample| sample.model().map(|model| (sample, model))) {
        let request =
            RunRequest { course: Course::Seeded { scheduler: Scheduler::Random, seed: 7 }, max_steps: 1_000_000 };
        sample.assert_answer(&["run", "--seed", "7"], &answer::run(&model, &request));
    }
}

#[test]
fn futures_are_a_value_of_the_library() {
    for (sample, model) in samples().filter_map(|sample| sample.model().map(|model| (sample, model))) {
        let model = model.in_contexts().unwrap_or(model);
        let request = FuturesRequest {
            selections: &[],
            count: Effort::Always,
            outcomes: Effort::Always,
            schedules: Schedules::All,
            endless: EndlessRequest::default(),
        };
        sample.assert_answer(&["futures", "--count"], &answer::futures(&model, &request, &budget()));
    }
}

#[test]
fn correlations_are_a_value_of_the_library() {
    for sample in samples() {
        let options = Options::default();
        let request =
            CorrelateRequest { threshold: 0.5, rank: 0.0, sets: false, execute: Execute::Selected, options: &options };
        sample.assert_answer(&["correlate"], &answer::correlate(sample.unit(), &request, &budget()));
    }
}
