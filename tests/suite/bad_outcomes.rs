//! Each outcome that failed or blocked is a failure or a deadlock of the answer, whatever bound has cut the search.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Answer, OutcomeStatus, Query, Subject};
use cssame::model::Model;
use support::generate::{self, Size};
use support::{first_seed, possible_model, programs};

/// What an answer does not find although it lists it.
fn missing(answer: &Answer) -> Vec<OutcomeStatus> {
    let is_found = |status: OutcomeStatus| match status {
        OutcomeStatus::Ok => true,
        OutcomeStatus::Failed(kind) => answer.failures.iter().any(|witness| witness.failure.kind == kind),
        OutcomeStatus::Deadlock => !answer.deadlocks.is_empty(),
    };
    answer.outcomes.iter().map(|outcome| outcome.status).filter(|&status| !is_found(status)).collect()
}

fn futures(model: &Model, max_states: u64) -> Answer {
    let limits = Limits { max_states: Some(max_states), ..Limits::default() };
    let subject = Subject { program: model.program(), form: Some(model.form()), machine: model.machine() };
    subject.futures(&Query::default(), &Budget::from(limits))
}

#[test]
fn a_failure_that_executions_have_shown_is_found_behind_a_bound_on_states() {
    let arm = |name: char| format!("{name}: {{ int a; for (int i = 0; i < 4; i++) {{ a = x; x = a + 1; }} }}\n");
    let arms: String = ['A', 'B', 'C'].map(arm).concat();
    for check in ["assert(x != 3);", "x = 1 / (x - 3);"] {
        let model = possible_model(&format!("int x;\ncobegin\n{arms}coend\n{check}\n")).unwrap();
        let answer = futures(&model, 3_000);
        assert!(answer.bound.is_some() && answer.failures.len() == 1, "{check} {:?}", answer.failures);
    }
}

#[test]
fn bad_outcomes_are_findings_under_any_bound() {
    let (first, mut bad) = (first_seed(1), 0);
    for seed in first..first + programs(30) {
        let size = Size::default();
        let texts = [
            generate::program(seed, &size),
            generate::racy(seed, &size),
            generate::locking(seed, &size),
            generate::branching(seed, 3, 3),
        ];
        for text in texts {
            let Some(model) = possible_model(&text) else { continue };
            for max_states in [seed % 7 + 1, 20 + seed % 50, 400] {
                let answer = futures(&model, max_states);
                assert_eq!(missing(&answer), [], "seed {seed}, {max_states} states\n{text}");
                bad += answer.outcomes.iter().filter(|outcome| outcome.status != OutcomeStatus::Ok).count();
            }
        }
    }
    assert!(support::has_new_seed() || bad > 20, "{bad} outcomes that are bad");
}
