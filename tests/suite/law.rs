//! The first law, and exactness: random programs under all schedules against the static form and the explorer.
//!
//! Each program is run through the oracle of `support` (every interleaving, no visited states). Every pair of a read and a
//! writer that it shows must be a term of the read; and `explore` must find just these pairs, outcomes and futures.
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Budget, Limits};
use cssame::diagnostics::Code;
use cssame::explore::{Answer, Query, Subject, futures};
use cssame::form::{Form, definition_name, read_name};
use cssame::ir::Program;
use cssame::model::{self, Model};
use cssame::vm::Semantics;
use std::collections::BTreeSet;
use support::first_seed;
use support::generate::{self, Size};
use support::oracle::{Explored, Options, Visible, explore_source};

/// What one program taught.
#[derive(Default)]
pub(crate) struct Tally {
    pub checked: u64,
    pub incomplete: u64,
    pub refused: u64,
    pub terms: u64,
    pub impossible: u64,
}

pub(crate) fn shared_names(program: &Program, form: &Form) -> BTreeSet<String> {
    let leaves = form.concurrency.sharing.leaves.ones();
    leaves.map(|leaf| program.texts.get(program.leaves[cssame::ir::LeafId::new(leaf)].name).to_owned()).collect()
}

/// Checks one program; `Err` says what is wrong.
pub(crate) fn check(source: &str, tally: &mut Tally) -> Result<(), String> {
    check_with(source, Semantics::default(), tally)
}

/// Checks the executions that one program has with such options; the oracle knows of preferred writers alone.
pub(crate) fn check_with(source: &str, semantics: Semantics, tally: &mut Tally) -> Result<(), String> {
    let of_model = model::Options { semantics, ..model::Options::default() };
    let model = match Model::from_text("law.csm", source, &of_model) {
        Ok(model) => model,
        // The generator chooses in atomic blocks, which the language does not allow.
        Err(problem) if problem.list.iter().all(|each| each.code == Code::BlockingInAtomic) => {
            tally.refused += 1;
            return Ok(());
        }
        Err(problem) => {
            return Err(format!(
                "does not compile:
{problem}"
            ));
        }
    };
    let (sources, program, form) = (model.sources(), model.program(), model.form());
    cssame::ir::verify::verify(program).map_err(|violations| format!("verifier: {violations:?}"))?;
    // Threads of threads interleave much, also where they do little.
    let max_executions = if source.contains("int mid") { 150_000 } else { 20_000 };
    let visible = Visible::Named(shared_names(program, form));
    let prefer_writers = semantics.prefer_writers;
    let options = Options { visible, max_executions, prefer_writers, ..Options::default() };
    let explored = explore_source(source, &options)?;
    if !explored.complete {
        tally.incomplete += 1;
        return Ok(());
    }
    tally.checked += 1;
    let shared: BTreeSet<String> = form.shared_reads().iter().map(|&read| read_name(sources, program, read)).collect();
    let mut terms = BTreeSet::new();
    for read in form.shared_reads() {
        for definition in form.terms(read) {
            terms.insert((read_name(sources, program, read), definition_name(sources, program, definition)));
        }
    }
    for pair in explored.shared_pairs() {
        if !terms.contains(&pair) {
            return Err(format!("{} reads {}, which is no term; terms: {terms:?}", pair.0, pair.1));
        }
    }
    tally.terms += terms.len() as u64;
    tally.impossible += terms.iter().filter(|pair| !explored.pairs.contains(pair)).count() as u64;
    agree(&model, &explored, &shared)
}

/// Whether the law holds of a program of which the oracle sees every execution.
pub fn holds(source: &str) -> Result<(), String> {
    let mut tally = Tally::default();
    check(source, &mut tally)?;
    if tally.checked == 1 { Ok(()) } else { Err("not checked".to_owned()) }
}

/// Holds the explorer to the oracle.
fn agree(model: &Model, explored: &Explored, shared: &BTreeSet<String>) -> Result<(), String> {
    let (sources, program, machine) = (model.sources(), model.program(), model.machine());
    let limits = Limits { max_states: Some(2_000_000), ..Limits::default() };
    let answer = futures(machine, &Query::default(), &Budget::from(limits));
    if !answer.is_complete() {
        return Err("the exploration is not complete".to_owned());
    }
    let pairs: BTreeSet<(String, String)> = answer
        .terms
        .iter()
        .map(|term| (read_name(sources, program, term.read), definition_name(sources, program, term.definition)))
        .filter(|(read, _)| shared.contains(read))
        .collect();
    let expected: BTreeSet<(String, String)> =
        explored.pairs.iter().filter(|(read, _)| shared.contains(read)).cloned().collect();
    if pairs != expected {
        let missing: Vec<_> = expected.difference(&pairs).collect();
        let extra: Vec<_> = pairs.difference(&expected).collect();
        return Err(format!("pairs: missing {missing:?}, extra {extra:?}"));
    }
    let outcomes: BTreeSet<(Vec<(String, Vec<String>)>, String)> = answer
        .outcomes
        .iter()
        .map(|outcome| {
            let output = outcome.outputs.iter().map(|&(path, output)| {
                let lines = answer.tables.lines(output).into_iter().map(str::to_owned).collect();
                (answer.tables.path_name(&program.texts, path), lines)
            });
            (output.collect(), outcome.status.word().to_owned())
        })
        .collect();
    let expected: BTreeSet<(Vec<(String, Vec<String>)>, String)> =
        explored.outcomes.iter().map(|outcome| (outcome.output.clone(), outcome.status.clone())).collect();
    // A thread that prints and then blocks has printed, also where another thread fails meanwhile; the oracle prints what
    // stands before a blocked operation only in a deadlock. So a failure may have more outputs here.
    let failed = |status: &str| status != "ok" && status != "deadlock";
    let missing: Vec<_> = expected.difference(&outcomes).collect();
    let extra: Vec<_> = outcomes.difference(&expected).filter(|(_, status)| !failed(status)).collect();
    let statuses = |set: &BTreeSet<(Vec<(String, Vec<String>)>, String)>| -> BTreeSet<String> {
        set.iter().map(|(_, status)| status.clone()).collect()
    };
    if !missing.is_empty() || !extra.is_empty() || statuses(&outcomes) != statuses(&expected) {
        return Err(format!("outcomes: missing {missing:?}, extra {extra:?}"));
    }
    // Where a failure ends an execution, the oracle does not tell two places of failure apart.
    if explored.outcomes.iter().any(|outcome| outcome.status != "ok" && outcome.status != "deadlock") {
        return Ok(());
    }
    let counted = Subject::from(model).count(&Budget::from(limits));
    if counted.infinite || counted.futures != explored.futures.len() as u64 {
        return Err(format!("{} futures, the oracle has {}", counted.futures, explored.futures.len()));
    }
    // What can happen is the same where executions come first, and they tell how many futures there are.
    let counting = Subject::from(model).futures(&Query { counts: true, ..Query::default() }, &Budget::from(limits));
    let pairs = |answer: &Answer| answer.terms.iter().map(|term| (term.read, term.definition)).collect::<Vec<_>>();
    if pairs(&answer) != pairs(&counting) || answer.outcomes.len() != counting.outcomes.len() {
        return Err("something else can happen where futures are counted".to_owned());
    }
    match counting.futures {
        Some(told) if told != counted.futures => Err(format!("{told} futures are told, there are {}", counted.futures)),
        _ => Ok(()),
    }
}

#[test]
fn no_execution_reads_what_is_no_term() {
    println!("{}", hold(200, 8, Semantics::default(), &|seed| generate::program(seed, &size(seed))));
}

/// The same of programs with re-entrant and readers-writer locks, with tries and with timed waits.
#[test]
fn no_execution_reads_what_is_no_term_under_all_locks() {
    println!("{}", hold(150, 8, Semantics::default(), &|seed| generate::locking(seed, &size(seed))));
}

/// The same where writers are preferred.
#[test]
fn no_execution_reads_what_is_no_term_behind_waiting_writers() {
    let semantics = Semantics { prefer_writers: true, ..Semantics::default() };
    println!("{}", hold(100, 7, semantics, &|seed| generate::locking(seed, &size(seed))));
}

/// The same of programs with arrays of anything.
#[test]
fn no_execution_reads_an_element_that_is_no_term() {
    println!("{}", hold(100, 7, Semantics::default(), &generate::arrays));
}

/// The same of programs with loops that count, or nearly do.
#[test]
fn no_execution_reads_what_is_no_term_in_an_iteration() {
    println!("{}", hold(100, 7, Semantics::default(), &generate::counting));
}

fn size(seed: u64) -> Size {
    match seed % 4 {
        0 => Size { threads: 2, operations: 4, globals: 2, structured: false },
        1 => Size { threads: 3, operations: 3, globals: 2, structured: true },
        2 => Size { threads: 2, operations: 5, globals: 3, structured: true },
        _ => Size { threads: 3, operations: 4, globals: 3, structured: true },
    }
}

/// Holds random programs to the law, so many unless the environment says otherwise; says how many. So many tenths of them
/// must be small enough.
fn hold(programs: u64, tenths: u64, semantics: Semantics, generated: &dyn Fn(u64) -> String) -> String {
    let programs = support::programs(programs);
    let first = first_seed(1);
    let mut tally = Tally::default();
    let mut failures: Vec<(String, String)> = Vec::new();
    for seed in first..first + programs {
        let source = generated(seed);
        if let Err(message) = check_with(&source, semantics, &mut tally)
            && !failures.iter().any(|(known, _)| *known == kind(&message))
        {
            let fails_alike = &mut |candidate: &str| {
                check_with(candidate, semantics, &mut Tally::default())
                    .is_err_and(|other| kind(&other) == kind(&message))
            };
            // A smaller program has other errors.
            let small =
                if message.contains("error[") { source.clone() } else { generate::shrink(&source, fails_alike) };
            let shrunk = check_with(&small, semantics, &mut Tally::default()).err().unwrap_or_default();
            failures.push((kind(&message), format!("seed {seed}: {shrunk}\n{small}")));
        }
    }
    let text: Vec<&str> = failures.iter().map(|(_, text)| text.as_str()).collect();
    assert!(failures.is_empty(), "{}", text.join("\n"));
    let Tally { checked, incomplete, terms, impossible, .. } = tally;
    assert!(
        support::has_new_seed() || checked * 10 >= programs * tenths,
        "most programs are small enough: {checked} of {programs}"
    );
    format!(
        "{checked} programs explored completely, {incomplete} too large; {terms} terms, of which {impossible} never realised"
    )
}

/// What kind of failure a message tells: a shrunk program must fail in the same way.
pub(crate) fn kind(message: &str) -> String {
    if message.contains("no term") {
        return "law".to_owned();
    }
    if let Some(start) = message.find("error[") {
        return message[start..].chars().take(12).collect();
    }
    message.chars().take(8).collect()
}
