//! Races of random programs: what the library says against the oracle, which looks at all states.
//!
//! Half of the programs are those of the other laws; in the threads of the other half there is more to fight for.
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::support::generate::{self, Size};
use crate::support::oracle::{RaceOptions, Races, races_of_source};
use crate::support::setting;
use cssame::diagnostics::Code;
use cssame::form::races::potential_races;
use cssame::form::{definition_name, read_name};
use cssame::ir::Access;
use cssame::model::{self, Model};
use std::collections::BTreeSet;

/// What the programs were like.
#[derive(Debug, Default)]
struct Tally {
    checked: u64,
    incomplete: u64,
    refused: u64,
    /// Programs with a real race, with a deadlock, with a failure.
    racy: u64,
    deadlocking: u64,
    failing: u64,
    /// Races.
    real: u64,
    harmful: u64,
    /// Those that do harm in one order alone.
    decided_by_order: u64,
    benign: u64,
    mixed: u64,
    write_write: u64,
    at_one_place: u64,
    /// Pairs that the static analysis lists, by kind too.
    predicted: u64,
}

impl Tally {
    fn count(&mut self, races: &Races) {
        self.checked += 1;
        self.racy += u64::from(!races.races.is_empty());
        self.deadlocking += u64::from(!races.deadlocks.is_empty());
        self.failing += u64::from(!races.failures.is_empty());
        for ((a, b), race) in &races.races {
            self.real += 1;
            self.harmful += u64::from(race.harmful());
            self.decided_by_order += u64::from(a != b && race.fails_when_first.len() == 1);
            self.benign += u64::from(race.benign());
            self.mixed += u64::from(race.mixed);
            self.write_write += u64::from(race.kinds.contains("write/write"));
            self.at_one_place += u64::from(a == b);
        }
    }
}

/// The program of a seed.
fn program(seed: u64) -> String {
    let size = match seed % 4 {
        0 => Size { threads: 2, operations: 4, globals: 2, structured: false },
        1 => Size { threads: 3, operations: 3, globals: 2, structured: true },
        2 => Size { threads: 2, operations: 5, globals: 3, structured: true },
        _ => Size { threads: 3, operations: 4, globals: 3, structured: true },
    };
    if seed / 4 % 2 == 0 { generate::racy(seed, &size) } else { generate::program(seed, &size) }
}

/// Checks one program; `Err` says what is wrong.
fn check(source: &str, tally: &mut Tally) -> Result<(), String> {
    let model = match Model::from_text("races.csm", source, &model::Options::default()) {
        Ok(model) => model,
        // The generator chooses in atomic blocks, which the language does not allow.
        Err(problem) if problem.list.iter().all(|each| each.code == Code::BlockingInAtomic) => {
            tally.refused += 1;
            return Ok(());
        }
        Err(problem) => return Err(format!("does not compile: {problem}")),
    };
    let options = RaceOptions { max_states: 30_000, ..RaceOptions::default() };
    let races = races_of_source(source, &options)?;
    if !races.complete {
        tally.incomplete += 1;
        return Ok(());
    }
    tally.count(&races);
    predicted(&model, &races, tally)
}

/// Every real race is one of the pairs that the static analysis finds.
fn predicted(model: &Model, races: &Races, tally: &mut Tally) -> Result<(), String> {
    let (sources, program) = (model.sources(), model.program());
    let name = |access: Access| match access {
        Access::Read(read) => read_name(sources, program, read),
        Access::Write(definition) => definition_name(sources, program, definition),
    };
    let potential = potential_races(program, model.form());
    let mut known = BTreeSet::new();
    for [a, b] in potential.pairs() {
        tally.predicted += 1;
        known.insert((name(a), a.word(), name(b), b.word()));
        known.insert((name(b), b.word(), name(a), a.word()));
    }
    for ((a, b), race) in &races.races {
        for kinds in &race.kinds {
            let (first, second) = kinds.split_once('/').unwrap_or_default();
            if !known.contains(&(a.2.clone(), first, b.2.clone(), second)) {
                return Err(format!("prediction: {} {} {kinds} is real", a.2, b.2));
            }
        }
    }
    Ok(())
}

/// What kind of failure a message tells: a shrunk program must fail in the same way.
fn kind(message: &str) -> &str {
    message.split(':').next().unwrap_or_default()
}

#[test]
fn races_are_those_of_all_states() {
    let programs = setting("CSSAME_LAW_PROGRAMS", 800);
    let first = setting("CSSAME_LAW_SEED", 1);
    let mut tally = Tally::default();
    let mut failures: Vec<(String, String)> = Vec::new();
    for seed in first..first + programs {
        let source = program(seed);
        if let Err(message) = check(&source, &mut tally)
            && !failures.iter().any(|(known, _)| *known == kind(&message))
        {
            let small = generate::shrink(&source, &mut |candidate| {
                check(candidate, &mut Tally::default()).is_err_and(|other| kind(&other) == kind(&message))
            });
            let shrunk = check(&small, &mut Tally::default()).err().unwrap_or_default();
            failures.push((kind(&message).to_owned(), format!("seed {seed}: {shrunk}\n{small}")));
        }
    }
    println!("{tally:?}");
    let text: Vec<&str> = failures.iter().map(|(_, text)| text.as_str()).collect();
    assert!(failures.is_empty(), "{}", text.join("\n"));
    assert!(tally.checked * 10 >= programs * 9, "most programs are small enough: {} of {programs}", tally.checked);
}
