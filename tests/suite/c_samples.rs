//! The samples in C: each has a twin in the language of `.csm` files, with the same pi terms, futures, outcomes and races; but for those
//! with what only C has, which end as their text says.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, count, futures};
use cssame::form::{definition_name, read_name};
use cssame::model::{Model, Options};
use std::collections::BTreeMap;
use std::fs;
use support::root;

const TWINS: [&str; 4] = ["bank_transfer_deadlock", "bounded_buffer", "counter_unlocked", "message_passing"];

/// Those with what only C has, a heap or arithmetic that overflows, and how their executions end.
const WITHOUT_TWIN: [(&str, &[&str]); 7] = [
    ("hazard_stack", &[": ok"]),
    ("message_bus", &[": assert", ": ok"]),
    ("queue_lost", &[": assert", ": ok"]),
    ("quota", &[": overflow", "disk: reserved: overflow", "net: reserved: overflow"]),
    ("reference_count", &["5: ok", ": double-free", ": use-after-free"]),
    ("thread_pool", &[": assert", ": ok"]),
    ("treiber_stack", &["3: ok"]),
];

fn sample(file: &str) -> Model {
    let text = fs::read_to_string(root().join("samples").join(file)).unwrap();
    let model = Model::from_text(file, &text, &Options::default());
    let model = model.unwrap_or_else(|problems| panic!("{file}: {problems}"));
    model.in_contexts().unwrap_or(model)
}

/// The name of an access without its place, as the language of `.csm` files writes it.
fn plain(name: &str) -> String {
    name.split('@').next().unwrap_or_default().replace("->", ".")
}

/// What a program is for an engineer: its pi terms by name, the number of its futures, how executions end, and what they print.
fn shape(model: &Model) -> (BTreeMap<Vec<String>, usize>, u64, Vec<String>) {
    let (program, sources) = (model.program(), model.sources());
    let mut terms: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for read in model.form().shared_reads() {
        let mut names: Vec<String> =
            model.form().terms(read).into_iter().map(|one| plain(&definition_name(sources, program, one))).collect();
        names.sort();
        names.insert(0, plain(&read_name(sources, program, read)));
        *terms.entry(names).or_default() += 1;
    }
    let budget = Budget::from(Limits { max_states: Some(1_000_000), ..Limits::default() });
    let answer = futures(model.machine(), &Query::UP_TO_THE_READ, &budget);
    assert!(answer.is_complete());
    let outcome = |of: &cssame::explore::Outcome| {
        let lines: Vec<&str> = of.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output)).collect();
        format!("{}: {}", lines.join(", "), of.status.word())
    };
    let mut outcomes: Vec<String> = answer.outcomes.iter().map(outcome).collect();
    outcomes.sort();
    outcomes.dedup();
    (terms, count(model.machine(), &budget).futures, outcomes)
}

#[test]
fn a_sample_in_c_is_like_its_twin() {
    for name in TWINS {
        let of_c = shape(&sample(&format!("c/{name}.c")));
        assert_eq!(of_c, shape(&sample(&format!("{name}.csm"))), "{name}");
    }
}

#[test]
fn a_sample_with_a_heap_ends_as_it_says() {
    for (name, ends) in WITHOUT_TWIN {
        let (_, _, outcomes) = shape(&sample(&format!("c/{name}.c")));
        assert_eq!(outcomes, ends, "{name}");
    }
}

#[test]
fn each_sample_in_c_is_tested() {
    let mut names: Vec<String> = fs::read_dir(root().join("samples/c"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut tested: Vec<&str> = TWINS.into_iter().chain(WITHOUT_TWIN.map(|of| of.0)).collect();
    tested.sort_unstable();
    assert_eq!(names, tested);
}
