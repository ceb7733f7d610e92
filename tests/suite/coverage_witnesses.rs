//! The executions that `coverage` finds for what is missing: done again, each covers what it is for.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::answer::{Compiled, CoverageAnswer, CoverageRequest, coverage};
use cssame::budget::Budget;
use cssame::coverage::Instance;
use cssame::model::{Model, Options};
use cssame::schedule::Schedule;
use std::collections::BTreeSet;
use support::generate;
use support::{first_seed, possible_model, programs};

fn ask(model: Model, request: &CoverageRequest) -> (CoverageAnswer, Model) {
    let subject = Compiled::Program(Box::new(model));
    let answer = coverage(&subject, &Options::default(), request, &Budget::default());
    let answer = answer.unwrap_or_else(|(_, departure)| panic!("{departure}"));
    let Compiled::Program(model) = subject else { panic!("it has a main") };
    (answer, *model)
}

/// What of the missing instances has no execution that covers it, and how many have one; nothing where a bound was hit.
fn check(source: &str, seed: u64) -> Option<(Vec<String>, usize)> {
    let request = CoverageRequest { runs: 1, seed, witnesses: true, ..CoverageRequest::default() };
    let (answer, mut model) = ask(possible_model(source)?, &request);
    let findings = &answer.findings;
    let mut missing: BTreeSet<Instance> = findings.feasible.clone()?;
    missing.retain(|instance| !findings.measured.instances.contains_key(instance));
    let (mut wrong, count) = (Vec::new(), missing.len());
    for (index, witness) in findings.witnesses.iter().enumerate() {
        let text = model.schedule(model.naming().steps(&witness.steps), "instance").to_text();
        let schedules = vec![Schedule::parse(&text).unwrap()];
        let replay = CoverageRequest { runs: 0, schedules, explore: None, ..CoverageRequest::default() };
        let (again, same_model) = ask(model, &replay);
        model = same_model;
        let covered = again.findings.measured.instances;
        if again.findings.measured.executions != 1 || witness.instances.is_empty() {
            wrong.push(format!("execution {index} does not count, or is for nothing"));
        }
        for instance in &witness.instances {
            if !covered.contains_key(instance) || !missing.remove(instance) {
                wrong.push(format!("execution {index} does not cover {instance:?}, or it was not missing"));
            }
        }
    }
    wrong.extend(missing.iter().map(|instance| format!("no execution is for {instance:?}")));
    let told = answer.report.missing.iter().filter(|one| one.reason.is_none());
    if told.clone().any(|one| one.witness.is_none_or(|number| number > findings.witnesses.len())) {
        wrong.push("one that can happen is listed without an execution".to_owned());
    }
    Some((wrong, count))
}

#[test]
fn what_is_missing_and_can_happen_has_an_execution_that_covers_it() {
    let programs = programs(10);
    let first = first_seed(1);
    let (mut wrong, mut counts) = (Vec::new(), [0, 0]);
    let random = (first..first + programs).map(|seed| (generate::accessing(seed), seed));
    let samples = ["coverage_log4j", "bank_account_broken", "bank_transfer_deadlock", "counter_unlocked"];
    let sample = |name: &str| std::fs::read_to_string(support::root().join(format!("samples/{name}.csm"))).unwrap();
    for (source, seed) in samples.map(|name| (sample(name), 0)).into_iter().chain(random) {
        let Some((differences, count)) = check(&source, seed) else { continue };
        counts = [counts[0] + 1, counts[1] + count];
        if !differences.is_empty() && wrong.len() < 4 {
            wrong.push(format!("{seed}: {differences:#?}\n{source}"));
        }
    }
    println!("programs, missing instances that can happen: {counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(support::has_new_seed() || counts[1] > 4 * counts[0], "{counts:?}");
}

#[test]
fn an_execution_that_fails_or_would_be_discarded_covers_what_comes_before() {
    // The second read fails, and is an access of instances all the same.
    let failing = "int x = 1; cobegin A: { int a = x; assert(x == a); } B: x = 2; coend";
    // B has to write behind both reads, or between them and before the assumption is looked at.
    let assuming =
        "int x; int y; cobegin A: { int a = x; y = 1; int b = x; assume(a == b); } B: { x = 2; y = 3; } coend";
    for source in [failing, assuming] {
        let (differences, count) = (0..4)
            .filter_map(|seed| check(source, seed))
            .fold((Vec::new(), 0), |all, one| ([all.0, one.0].concat(), all.1 + one.1));
        assert_eq!((differences, count > 0), (Vec::<String>::new(), true), "{source}");
    }
}
