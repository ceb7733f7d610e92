//! The answer of `coverage` against the oracle, key by key, on random programs and on random classes.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::answer::{Compiled, Course, CoverageAnswer, CoverageRequest, RunRequest, coverage, run};
use cssame::budget::Budget;
use cssame::coverage::Kind;
use cssame::coverage::report::{CoverageReport, InstanceReport};
use cssame::form::{definition_name, read_name};
use cssame::model::{Model, Options, Unit};
use cssame::schedule::{Schedule, Scheduler, Step};
use std::collections::{BTreeMap, BTreeSet};
use support::generate;
use support::oracle::{
    Access, Coverage, CoverageOptions, Instance, Replayed, Variables, Wanted, all_instances, among, by_pattern,
    coverage_of_source, library_variables, pairs_by_executions, replay, totals,
};
use support::{first_seed, possible_model, programs};

/// States that the oracle looks at.
const STATES: usize = 6_000;

/// Steps of an execution at most: the programs have no loops without an end.
const STEPS: u64 = 10_000;

/// An instance as the oracle tells it.
fn instance(report: &InstanceReport) -> Instance {
    let step = |step: &cssame::coverage::report::StepReport| Access {
        place: step.access.clone(),
        write: step.kind == "write",
    };
    Instance { pattern: usize::from(report.pattern), steps: report.steps.iter().map(step).collect() }
}

/// An answer: the report, and the instances behind its numbers.
struct Told {
    report: CoverageReport,
    covered: BTreeSet<Instance>,
    excluded: BTreeSet<Instance>,
    feasible: Option<BTreeSet<Instance>>,
}

impl Told {
    fn new(answer: CoverageAnswer, unit: &Unit) -> Told {
        let CoverageAnswer { report, findings, .. } = answer;
        let instance = |one: &cssame::coverage::Instance| {
            let step = |(letter, access): (cssame::coverage::Letter, cssame::coverage::AccessId)| {
                let of = &findings.universe.accesses[access];
                let place = format!("{}@{}", of.name, unit.sources.position(of.span));
                Access { place, write: letter.kind == Kind::Write }
            };
            Instance { pattern: usize::from(one.pattern.get().number), steps: one.steps().map(step).collect() }
        };
        let covered = findings.measured.instances.keys().map(instance).collect();
        let excluded = findings.excluded.keys().map(instance).collect();
        let feasible = findings.feasible.as_ref().map(|all| all.iter().map(instance).collect());
        Told { report, covered, excluded, feasible }
    }
}

/// The instances that are missing, with a reason or without.
fn missing(report: &CoverageReport, excluded: bool) -> BTreeSet<Instance> {
    report.missing.iter().filter(|each| each.reason.is_some() == excluded).map(instance).collect()
}

/// Two values that should be one.
fn same<T: PartialEq + std::fmt::Debug>(key: &str, told: &T, real: &T, differences: &mut Vec<String>) {
    if told != real {
        differences.push(format!("{key}: {told:?} in the answer, {real:?} in the oracle"));
    }
}

/// Two sets of instances of which the first may have nothing that the second has not.
fn within(key: &str, told: &BTreeSet<Instance>, real: &BTreeSet<Instance>, differences: &mut Vec<String>) {
    differences.extend(told.difference(real).take(4).map(|each| format!("{key}: {each}")));
}

/// The variables that count: their places are those of the text.
fn variables(report: &CoverageReport, places: &Variables, differences: &mut Vec<String>) -> Variables {
    let mut counted = Variables::new();
    for variable in &report.variables {
        match places.get(&variable.variable) {
            Some(of) => {
                same(&format!("reads of {}", variable.variable), &variable.reads, &of.reads.len(), differences);
                same(&format!("writes of {}", variable.variable), &variable.writes, &of.writes.len(), differences);
                if of.writes.is_empty() {
                    differences.push(format!("variables: nothing writes {}", variable.variable));
                }
                counted.insert(variable.variable.clone(), of.clone());
            }
            None => differences.push(format!("variables: there is no {}", variable.variable)),
        }
    }
    counted
}

/// The numbers that follow from the variables and the instances alone.
fn numbers(told: &Told, variables: &Variables, differences: &mut Vec<String>) {
    let Told { report, covered, excluded, feasible } = told;
    let (real, all) = (totals(variables), all_instances(variables));
    for variable in report.variables.iter().filter(|variable| variables.contains_key(&variable.variable)) {
        let of = &variables[&variable.variable];
        let is_first = |instance: &&Instance| {
            let step = &instance.steps[0];
            if step.write { of.writes.contains(&step.place) } else { of.reads.contains(&step.place) }
        };
        let count = |of: &BTreeSet<Instance>| of.iter().filter(is_first).count() as u64;
        same(&format!("total from {}", variable.variable), &variable.total, &count(&all), differences);
        same(&format!("covered from {}", variable.variable), &variable.covered, &count(covered), differences);
    }
    let counts = &report.patterns;
    let of = |set: &BTreeSet<Instance>| by_pattern(set).map(Some);
    let numbers = [
        ("total", by_number(report, |counts| Some(counts.total)), Some(counts.all.total), real.map(Some)),
        ("covered", by_number(report, |counts| Some(counts.covered)), Some(counts.all.covered), of(covered)),
        ("infeasible", by_number(report, |counts| counts.infeasible), counts.all.infeasible, of(excluded)),
    ];
    for (key, told, in_all, real) in numbers {
        same(key, &told, &real, differences);
        same(&format!("{key} in all"), &in_all, &real.iter().copied().sum(), differences);
    }
    if let Some(feasible) = feasible {
        same("feasible", &by_number(report, |counts| counts.feasible), &of(feasible), differences);
        same("feasible in all", &counts.all.feasible, &Some(feasible.len() as u64), differences);
        // Each instance is one or the other.
        same("feasible or not", &feasible.union(excluded).cloned().collect(), &all, differences);
        same("feasible and not", &feasible.len(), &(all.len() - excluded.len()), differences);
    }
    // What is listed is what is not covered, as far as it is listed.
    let (open, closed) = (missing(report, false), missing(report, true));
    within("missing for a reason, and not infeasible", &closed, excluded, differences);
    within(
        "missing for no reason, and infeasible",
        &open.intersection(excluded).cloned().collect(),
        &closed,
        differences,
    );
    let listed: BTreeSet<Instance> = open.union(&closed).chain(covered).cloned().collect();
    same("listed", &(listed.len() as u64 + report.missing_omitted), &(all.len() as u64), differences);
    same("listed once", &(covered.len() + report.missing.len()), &listed.len(), differences);
    within("listed, and no instance", &listed, &all, differences);
}

fn by_number(
    report: &CoverageReport,
    count: impl Fn(&cssame::coverage::report::Counts) -> Option<u64>,
) -> [Option<u64>; 17] {
    std::array::from_fn(|pattern| report.patterns.by_pattern.get(&(pattern as u8 + 1)).map_or(Some(0), &count))
}

/// What the answer says of a program otherwise than the oracle.
fn compare(told: &Told, oracle: &Coverage) -> Vec<String> {
    let mut differences = Vec::new();
    let variables = variables(&told.report, &oracle.places, &mut differences);
    for shared in oracle.shared.iter().filter(|name| !variables.contains_key(*name)) {
        differences.push(format!("variables: {shared} is shared, and not in the answer"));
    }
    numbers(told, &variables, &mut differences);
    let real = among(&oracle.feasible, &variables);
    within("covered, and not feasible", &told.covered, &real, &mut differences);
    let excluded: BTreeSet<Instance> = told.excluded.intersection(&real).cloned().collect();
    within("infeasible, and feasible", &excluded, &BTreeSet::new(), &mut differences);
    if let Some(feasible) = &told.feasible {
        within("feasible, and not in the oracle", feasible, &real, &mut differences);
        within("feasible in the oracle", &real, feasible, &mut differences);
    }
    differences
}

fn ask(model: Model, request: &CoverageRequest) -> (Told, Model) {
    let subject = Compiled::Program(Box::new(model));
    let answer = coverage(&subject, &Options::default(), request, &Budget::default());
    let answer = answer.unwrap_or_else(|(_, departure)| panic!("{departure}"));
    let Compiled::Program(model) = subject else { panic!("it has a main") };
    (Told::new(answer, model.unit()), *model)
}

fn wanted(step: &Step) -> Wanted {
    let alternative = step.alternative.map(|alternative| alternative as usize);
    Wanted { thread: step.thread.clone(), op: Some(step.op.clone()), alternative }
}

/// What the answer says of one execution otherwise than the oracle.
fn compare_one(told: &Told, real: &Replayed, places: &Variables) -> Vec<String> {
    let (mut differences, report) = (Vec::new(), &told.report);
    let variables = variables(report, places, &mut differences);
    let is_discarded = real.status == "discarded";
    same("discarded", &report.discarded, &u64::from(is_discarded), &mut differences);
    same("executions", &report.executions, &u64::from(!is_discarded), &mut differences);
    let nothing = Replayed { all_pairs: real.all_pairs.clone(), ..Replayed::default() };
    let real = if is_discarded { &nothing } else { real };
    let expected = among(&real.covered, &variables);
    within("covered, and not in the oracle", &told.covered, &expected, &mut differences);
    within("covered in the oracle", &expected, &told.covered, &mut differences);
    let ordered =
        |pair: &(String, String)| if pair.0 < pair.1 { pair.clone() } else { (pair.1.clone(), pair.0.clone()) };
    let pairs = |is_covered: bool| -> BTreeSet<(String, String)> {
        let pairs = report.method_pairs.pairs.iter().filter(|pair| pair.covered || !is_covered);
        pairs.map(|pair| ordered(&(pair.methods[0].clone(), pair.methods[1].clone()))).collect()
    };
    same("method pairs", &pairs(true), &real.pairs.iter().map(ordered).collect(), &mut differences);
    same("all method pairs", &pairs(false), &real.all_pairs.iter().map(ordered).collect(), &mut differences);
    same("total of method pairs", &report.method_pairs.total, &(real.all_pairs.len() as u64), &mut differences);
    let line = |place: &str| place.rsplit_once('@')?.1.split_once(':')?.0.parse::<u32>().ok();
    // A line is hit where memory is accessed that threads share.
    let lines: BTreeSet<u32> = real.visible.iter().filter_map(|place| line(place)).collect();
    let told: BTreeSet<u32> = report.lines.lines.iter().filter(|line| line.1.hits > 0).map(|line| *line.0).collect();
    same("lines", &told, &lines, &mut differences);
    differences
}

/// The reads and writes that are steps in the tool.
fn visible(model: &Model) -> BTreeSet<Access> {
    let (sources, program, sharing) = (model.sources(), model.program(), &model.form().concurrency.sharing);
    let reads = program.reads.entries().filter(|(read, _)| sharing.read(*read));
    let reads = reads.map(|(read, _)| (read_name(sources, program, read), false));
    let writes = program.definitions.entries().filter(|(definition, _)| sharing.definition(*definition));
    let writes = writes.map(|(definition, _)| (definition_name(sources, program, definition), true));
    reads.chain(writes).map(|(place, write)| Access { place, write }).collect()
}

/// What the answer says of the pairs of methods that can be covered, otherwise than the executions of the oracle; whether there
/// were few enough to tell.
fn compare_pairs(told: &Told, source: &str, model: &Model) -> (Vec<String>, bool) {
    let real = pairs_by_executions(source, &visible(model), 4_000).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let (Some(real), Some(count)) = (real, told.report.method_pairs.feasible) else { return (Vec::new(), false) };
    let can = told.report.method_pairs.pairs.iter().filter(|pair| pair.feasible == Some(true));
    let can: BTreeSet<(String, String)> = can
        .map(|pair| {
            let [a, b] = pair.methods.clone();
            if a < b { (a, b) } else { (b, a) }
        })
        .collect();
    let mut differences = Vec::new();
    same("feasible method pairs", &can, &real, &mut differences);
    same("their number", &count, &(real.len() as u64), &mut differences);
    (differences, true)
}

/// One random execution, by its seed and by its schedule.
fn one_execution(source: &str, model: Model, seed: u64, places: &Variables) -> (Vec<String>, Model) {
    let ran =
        run(&model, &RunRequest { course: Course::Seeded { scheduler: Scheduler::Random, seed }, max_steps: STEPS });
    let schedule: Schedule = ran.schedule(&model);
    let steps: Vec<Wanted> = schedule.steps.iter().map(wanted).collect();
    let real = match replay(source, Some(&visible(&model)), &steps) {
        Ok(real) => real,
        Err(problem) => return (vec![format!("the oracle cannot follow the schedule: {problem}")], model),
    };
    let none = CoverageRequest { runs: 0, explore: None, max_steps: STEPS, ..CoverageRequest::default() };
    let (by_seed, model) = ask(model, &CoverageRequest { runs: 1, seed, ..none.clone() });
    let (by_schedule, model) = ask(model, &CoverageRequest { schedules: vec![schedule], ..none });
    let mut differences = compare_one(&by_seed, &real, places);
    differences.extend(compare_one(&by_schedule, &real, places).into_iter().map(|each| format!("by schedule: {each}")));
    (differences, model)
}

/// What the answers were like.
#[derive(Debug, Default)]
struct Answers {
    compared: u64,
    exact: u64,
    instances: u64,
    feasible: u64,
    excluded: BTreeMap<&'static str, u64>,
    executions: u64,
    /// Pairs of methods that can be covered, where the oracle has looked at all executions.
    pairs: u64,
}

#[test]
fn answers_agree_with_the_oracle() {
    let programs = programs(10);
    let first = first_seed(1);
    let (mut answers, mut wrong) = (Answers::default(), Vec::new());
    for seed in first..first + programs {
        let source = generate::accessing(seed);
        let Some(model) = possible_model(&source) else { continue };
        let options = CoverageOptions { max_states: STATES, ..CoverageOptions::default() };
        let oracle = coverage_of_source(&source, &options).unwrap_or_else(|error| panic!("{seed}: {error}\n{source}"));
        if !oracle.complete {
            continue;
        }
        answers.compared += 1;
        let request = CoverageRequest { runs: 3, seed, max_steps: STEPS, ..CoverageRequest::default() };
        let (told, mut model) = ask(model, &request);
        let (mut differences, report) = (compare(&told, &oracle), &told.report);
        let (of_pairs, is_compared) = compare_pairs(&told, &source, &model);
        differences.extend(of_pairs);
        answers.pairs += if is_compared { report.method_pairs.feasible.unwrap_or(0) } else { 0 };
        answers.exact += u64::from(report.patterns.all.feasible.is_some());
        answers.instances += report.patterns.all.total;
        answers.feasible += report.patterns.all.feasible.unwrap_or(0);
        for reason in report.missing.iter().filter_map(|each| each.reason) {
            *answers.excluded.entry(reason).or_default() += 1;
        }
        for run in 0..3 {
            let (found, same_model) = one_execution(&source, model, 7 * seed + run, &oracle.places);
            (model, answers.executions) = (same_model, answers.executions + 1);
            differences.extend(found);
        }
        if !differences.is_empty() && wrong.len() < 8 {
            wrong.push(format!("{seed}: {differences:#?}\n{source}"));
        }
    }
    println!("{answers:?}");
    assert!(wrong.is_empty(), "{answers:?}\n{}", wrong.join("\n"));
    assert!(
        support::has_new_seed() || answers.compared * 10 >= programs * 9 && answers.exact * 10 >= answers.compared * 9,
        "{answers:?}"
    );
}

/// A step that leads back to its state makes nothing possible that was not before.
#[test]
fn who_waits_in_a_loop_covers_what_the_oracle_says() {
    for source in [
        "int f; int x; cobegin A: { x = 1; f = 1; } B: { while (f == 0) skip; x = 2; } coend",
        "atomic int held; int x; void add() { while (!cas(held, 0, 1)) skip; x++; held = 0; }
         void main() { cobegin A: add(); B: add(); coend }",
        "atomic int next, serving; int x;
         void add() { int me = fetch_add(next, 1); while (serving != me) skip; x = x + 1; serving = me + 1; }
         void main() { cobegin A: add(); B: add(); coend print(x); }",
        "lock L; int x; void add() { while (!trylock(L)) skip; x++; unlock(L); }
         void main() { cobegin A: add(); B: add(); coend }",
    ] {
        let options = CoverageOptions { max_states: 4 * STATES, ..CoverageOptions::default() };
        let oracle = coverage_of_source(source, &options).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let model = possible_model(source).unwrap_or_else(|| panic!("{source}"));
        let (told, _) = ask(model, &CoverageRequest { runs: 3, max_steps: STEPS, ..CoverageRequest::default() });
        assert!(oracle.complete && told.feasible.is_some(), "{source}");
        assert_eq!(compare(&told, &oracle), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn pairs_of_methods_are_those_of_the_oracle() {
    let programs = programs(10);
    let first = first_seed(1);
    let (mut wrong, mut counts) = (Vec::new(), [0, 0, 0]);
    for seed in first..first + programs {
        let source = generate::library(seed).client(seed);
        let Some(model) = possible_model(&source) else { continue };
        let request = CoverageRequest { runs: 1, seed, max_steps: STEPS, ..CoverageRequest::default() };
        let (told, mut model) = ask(model, &request);
        let (mut differences, is_compared) = compare_pairs(&told, &source, &model);
        counts[0] += u64::from(is_compared);
        counts[1] += if is_compared { told.report.method_pairs.feasible.unwrap_or(0) } else { 0 };
        let places = coverage_of_source(&source, &CoverageOptions { max_states: 1, ..CoverageOptions::default() });
        let places = places.unwrap_or_else(|error| panic!("{seed}: {error}\n{source}")).places;
        for run in 0..2 {
            let (found, same_model) = one_execution(&source, model, 5 * seed + run, &places);
            (model, counts[2]) = (same_model, counts[2] + 1);
            differences.extend(found);
        }
        if !differences.is_empty() && wrong.len() < 4 {
            wrong.push(format!("{seed}: {differences:#?}\n{source}"));
        }
    }
    println!("programs, pairs that are feasible in them, executions: {counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(support::has_new_seed() || counts[1] > programs, "{counts:?}");
}

#[test]
fn what_is_infeasible_for_a_library_is_covered_by_no_client() {
    let programs = programs(8);
    let first = first_seed(1);
    let (mut wrong, mut counts) = (Vec::new(), [0, 0, 0, 0]);
    for seed in first..first + programs {
        let library = generate::library(seed);
        let text = &library.text;
        let unit = match Unit::from_text("library.csm", text, &[]) {
            Ok(unit) => unit,
            Err(problems) => panic!("{seed}: {problems}\n{text}"),
        };
        let subject = Compiled::new(unit, Options::default());
        assert!(matches!(subject, Compiled::Library(_)));
        let request = CoverageRequest { runs: 20, seed, max_steps: STEPS, ..CoverageRequest::default() };
        let report = coverage(&subject, &Options::default(), &request, &Budget::default()).unwrap();
        let (told, mut differences) = (Told::new(report, subject.unit()), Vec::new());
        let places = library_variables(text).unwrap();
        let counted = variables(&told.report, &places, &mut differences);
        same("variables", &counted, &places, &mut differences);
        numbers(&told, &counted, &mut differences);
        same("feasible", &told.report.patterns.all.feasible, &None, &mut differences);
        let (infeasible, mut seen) = (told.excluded, told.covered);
        counts[0] += 1;
        counts[1] += infeasible.len();
        for client in 0..2 {
            let source = library.client(2 * seed + client);
            let options = CoverageOptions { max_states: STATES, ..CoverageOptions::default() };
            let real =
                coverage_of_source(&source, &options).unwrap_or_else(|error| panic!("{seed}: {error}\n{source}"));
            if !real.complete {
                continue;
            }
            counts[2] += 1;
            let both: BTreeSet<Instance> = infeasible.intersection(&real.feasible).cloned().collect();
            if !both.is_empty() {
                within("infeasible, and covered by a client", &both, &BTreeSet::new(), &mut differences);
                differences.push(source);
            }
            seen.extend(among(&real.feasible, &counted));
        }
        counts[3] += seen.len();
        if !differences.is_empty() && wrong.len() < 6 {
            wrong.push(format!("{seed}: {}\n{text}", differences.join("\n")));
        }
    }
    println!("libraries, infeasible instances, clients, covered instances: {counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(support::has_new_seed() || counts[2] > 0 && (counts[1] > 0 || counts[0] < 60));
}
