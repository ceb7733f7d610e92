//! The worked example of Wang et al. (FACTS C), and small programs whose coverage is known by hand.

use super::method_pairs::asked;
use super::*;
use cssame_ir::Access;
use cssame_model::{Model, Options, Unit};
use cssame_schedule::{Policy, Random, RoundRobin, run};
use std::collections::BTreeSet;

/// The class of fig. 1, with an object and the test of fig. 2.
fn log4j(before: &str, argument: &str) -> String {
    let class = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/map_log4j.csm")).unwrap();
    format!("{class}\nCategory c;\nvoid main() {{ {before} cobegin a: c.severe(1); b: c.set({argument}); coend }}\n")
}

fn model(text: &str) -> Model {
    Model::from_text("test.csm", text, &Options::default()).unwrap()
}

fn universe(model: &Model) -> Universe {
    Universe::of_program(model.program(), &model.form().concurrency.sharing)
}

/// An execution covers these, as `4 aR16 bW21 aR17`.
fn covered(text: &str, policy: &mut impl Policy) -> BTreeSet<String> {
    let model = model(text);
    let universe = universe(&model);
    let binding = Binding::new(&universe, model.program());
    let mut matcher = Matcher::new(model.machine(), &universe, &binding);
    run(model.machine(), policy, 10_000, &mut matcher);
    matcher.covered().map(|instance| words(&model, &universe, instance)).collect()
}

fn words(model: &Model, universe: &Universe, instance: &Instance) -> String {
    let place = |(letter, access): (Letter, AccessId)| {
        let access = &universe.accesses[access];
        let position = model.sources().position(access.span);
        format!(" {}{}{}", letter.role.word(), if letter.kind == Kind::Read { "R" } else { "W" }, position.line)
    };
    let steps: String = instance.steps().map(place).collect();
    format!("{}{steps}", instance.pattern.get().number)
}

fn set(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|&one| one.to_owned()).collect()
}

#[test]
fn totals_of_the_class() {
    let model = model(&log4j("", "0"));
    let universe = universe(&model);
    let totals = totals(&universe);
    let by_pattern: Vec<u64> = totals.by_pattern.values().copied().collect();
    assert_eq!(by_pattern, [2, 2, 1, 4, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(totals.all, 16);
    assert_eq!(universe.variables.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["Category.threshold"]);
    assert_eq!(instances(&universe).count(), 16);
}

#[test]
fn a_library_has_the_same_total() {
    let class = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/map_log4j.csm")).unwrap();
    let unit = Unit::from_text("test.csm", &class, &[]).unwrap();
    let universe = Universe::of_library(&unit.program);
    assert_eq!(totals(&universe).all, 16);
    assert_eq!(Access::Read(unit.program.reads.ids().next().unwrap()).name(&unit.program).index(), {
        let first = unit.program.reads.iter().next().unwrap();
        first.name.index()
    });
}

#[test]
fn an_execution_in_turn_covers_three() {
    // main sets the threshold before the fork: that covers nothing.
    let text = log4j("c.set(3);", "0");
    assert_eq!(covered(&text, &mut RoundRobin::new()), set(&["1 aR16 bW21", "2 aW21 bR17", "4 aR16 bW21 aR17"]));
}

#[test]
fn all_executions_cover_five_of_sixteen_or_two() {
    let all =
        |text: &str| -> BTreeSet<String> { (0..50).flat_map(|seed| covered(text, &mut Random::new(seed))).collect() };
    assert_eq!(all(&log4j("c.set(3);", "0")).len(), 5);
    assert_eq!(all(&log4j("", "0")).len(), 2);
}

#[test]
fn words_of_two_variables_are_ordered_pairs() {
    let model = model("int x; int y; cobegin A: { x = 1; y = 1; } B: { x = 2; y = 2; } coend");
    let universe = universe(&model);
    // One variable: 2 writes each: 4 + 8 of patterns 3 and 8, twice; two variables: 16 for each of 9, 10, 11, both ways.
    assert_eq!(totals(&universe).all, 2 * (4 + 8) + 2 * 3 * 16);
    assert_eq!(instances(&universe).count() as u64, totals(&universe).all);
    let distinct: BTreeSet<Instance> = instances(&universe).collect();
    assert_eq!(distinct.len() as u64, totals(&universe).all);
}

#[test]
fn joined_and_forked_accesses_of_main_cover_nothing_but_those_between_do() {
    let text =
        "int x; void f() {\n x = 2; }\n void main() {\n x = 1;\n thread t = spawn f();\n x = 3;\n join(t);\n x = 4; }";
    let all: BTreeSet<String> = (0..50).flat_map(|seed| covered(text, &mut Random::new(seed))).collect();
    assert_eq!(all, set(&["3 aW2 bW6", "3 aW6 bW2"]));
}

fn feasible_words(text: &str) -> BTreeSet<String> {
    let model = model(text);
    let universe = universe(&model);
    let budget = cssame_budget::Budget::unlimited();
    let found = Space::new(&model, &universe, &budget).feasible(instances(&universe), &budget);
    assert_eq!(found.bound, None);
    found.covered.iter().map(|instance| words(&model, &universe, instance)).collect()
}

#[test]
fn feasible_instances_of_the_class() {
    assert_eq!(feasible_words(&log4j("c.set(3);", "0")).len(), 5);
    assert_eq!(feasible_words(&log4j("", "0")), set(&["1 aR16 bW21", "2 aW21 bR16"]));
}

#[test]
fn what_executions_cover_is_feasible_and_all_of_it_is_covered_by_some() {
    let texts = [
        "int x; int y; cobegin A: { x = 1;\n y = 1; } B: { x = 2;\n y = 2; } coend",
        "int x; lock L; cobegin A: { lock(L); x = 1;\n print(x); unlock(L); } B: { lock(L);\n x = 2; unlock(L); } coend",
        "int x; void f() {\n x = 2; }\n void main() {\n x = 1;\n thread t = spawn f();\n x = 3;\n join(t);\n x = 4; }",
        "int x; cobegin A: { x = 1;\n assume(x == 1); } B: {\n x = 2; } coend",
        "int x; int t[2]; cobegin A: { t[0] = 1;\n x = 1; } B: { print(x);\n print(t[1]);\n print(t[0]); } coend",
        "int x; cobegin A: { cobegin\n C: x = 1;\n D: print(x); coend\n x = 3; } B:\n x = 2; coend",
        "int x; event e; cobegin A: { x = 1;\n set(e); } B: { wait(e);\n x = 2; } coend",
        "int x; cobegin A: { if (cas(x, 0, 1)) {\n x = 2; } } B: { x = 5;\n print(x); } coend",
    ];
    for text in texts {
        let all: BTreeSet<String> = (0..400).flat_map(|seed| not_discarded(text, seed)).collect();
        assert_eq!(feasible_words(text), all, "{text}");
    }
}

fn not_discarded(text: &str, seed: u64) -> BTreeSet<String> {
    let model = model(text);
    let end = run(model.machine(), &mut Random::new(seed), 10_000, &mut ()).status;
    if end.word() == "discarded" { BTreeSet::new() } else { covered(text, &mut Random::new(seed)) }
}

/// Lets the first thread go on as long as it can.
struct OneByOne;

impl Policy for OneByOne {
    fn choose(&mut self, _: &cssame_schedule::View<'_>, moves: &[cssame_vm::Move]) -> cssame_schedule::Decision {
        cssame_schedule::Decision::Step(cssame_vm::Choice { thread: moves[0].thread, alternative: 0 })
    }
}

/// The pairs of methods that an execution covers, as `severe set`.
fn overlaps(text: &str, policy: &mut impl Policy) -> BTreeSet<String> {
    let model = model(text);
    let methods = PublicMethods::new(model.program());
    let asked = asked(model.program(), &methods.bind(model.program()));
    let mut overlaps = Overlaps::new(model.machine(), &asked);
    run(model.machine(), policy, 10_000, &mut overlaps);
    let name = |method: MethodId| methods.list[method].name.rsplit('.').next().unwrap_or_default().to_owned();
    overlaps.covered().iter().map(|pair| pair.map(name).join(" ")).collect()
}

#[test]
fn methods_overlap_where_neither_returns_before_the_other_is_called() {
    let class = "class C { int x; int y; lock L;
        public void two() { x = 1; y = 1; }
        public void inner() { helper(); y = 2; }
        public void one() { x = 2; }
        public void whole() { lock(L); x = 4; unlock(L); }
        private void helper() { x = 3; } }
        C c; int p; int q;\n";
    let main =
        |a: &str, b: &str| format!("{class} void main() {{ cobegin A: p = 1; c.{a}(); B: p = 2; c.{b}(); coend }}");
    assert_eq!(overlaps(&main("two", "inner"), &mut RoundRobin::new()), set(&["two inner"]));
    assert_eq!(overlaps(&main("two", "two"), &mut RoundRobin::new()), set(&["two two"]));
    assert_eq!(overlaps(&main("two", "inner"), &mut OneByOne), set(&[]));
    assert_eq!(overlaps(&main("two", "one"), &mut RoundRobin::new()), set(&["two one"]));
    // The second one is blocked at its first lock all the while.
    assert_eq!(overlaps(&main("whole", "whole"), &mut RoundRobin::new()), set(&["whole whole"]));
    assert_eq!(overlaps(&main("whole", "whole"), &mut OneByOne), set(&[]));
}

#[test]
fn pairs_that_no_execution_has_are_known() {
    let class = "class C { int x; lock L;
        public void whole() { lock(L); x = 4; unlock(L); }
        public void one() { x = 2; } }
        C c; event e;\n";
    let pairs = |main: &str| {
        let model = model(&format!("{class} void main() {{ {main} }}"));
        let request =
            Request { seeds: 0..0, schedules: Vec::new(), max_steps: 10_000, explore: Some(100_000), witnesses: false };
        let findings = find(&model, &request, &cssame_budget::Budget::unlimited()).unwrap();
        let (report, _) = report::report(&model, &findings);
        let can = report.method_pairs.pairs.iter().filter(|pair| pair.feasible == Some(true));
        can.map(|pair| pair.methods.join(" ").replace("C.", "")).collect::<BTreeSet<_>>()
    };
    assert_eq!(pairs("cobegin A: c.whole(); B: c.whole(); coend"), set(&["whole whole"]));
    assert_eq!(pairs("cobegin A: c.whole(); c.one(); B: c.one(); coend"), set(&["whole one", "one one"]));
    // `one` is called behind what waits for the end of `whole`.
    assert_eq!(pairs("cobegin A: { c.whole(); set(e); } B: { wait(e); c.one(); } coend"), set(&[]));
    assert_eq!(pairs("c.one(); cobegin A: c.one(); B: assume(false); coend"), set(&[]));
}

#[test]
fn a_call_within_a_method_is_a_call_too() {
    let text = "class C { int x; int y;
        public void outer() { inner(); y = 1; }
        public void inner() { x = 1; x = 2; } }
        C c; void main() { cobegin A: c.outer(); B: c.outer(); coend }";
    assert_eq!(overlaps(text, &mut RoundRobin::new()), set(&["outer inner", "outer outer", "inner inner"]));
}

#[test]
fn runs_of_a_program_are_added_up_and_decided() {
    let model = model(&log4j("c.set(3);", "0"));
    let request =
        Request { seeds: 0..100, schedules: Vec::new(), max_steps: 10_000, explore: Some(100_000), witnesses: false };
    let findings = find(&model, &request, &cssame_budget::Budget::unlimited()).unwrap();
    let (report, _) = report::report(&model, &findings);
    assert!(report.complete && report.bound.is_none());
    let counts = report.patterns.all;
    assert_eq!((counts.total, counts.feasible, counts.infeasible, counts.covered), (16, Some(5), Some(11), 5));
    assert_eq!(report.executions, 100);
    assert_eq!(report.missing.len(), 11);
    // Each method is called once, so what has two calls of one of them, or writes of both threads, is ordered.
    assert!(report.missing.iter().all(|one| one.reason == Some("ordered")));
    let [severe, set] = ["Category.severe", "Category.set"].map(|name| vec![name.to_owned()]);
    let fourth = report.missing.iter().find(|one| one.pattern == 4).unwrap();
    assert_eq!(fourth.methods, [severe, set]);
    assert_eq!(report.variables[0].variable, "Category.threshold");
    assert_eq!((report.variables[0].reads, report.variables[0].writes, report.variables[0].total), (2, 1, 16));
    assert_eq!(report.method_pairs.total, 3);
    let terms = report.pi_terms.unwrap();
    assert_eq!(Some(terms.covered), terms.feasible);
}

#[test]
fn reasons_of_what_cannot_be_covered() {
    let reasons = |text: &str| -> BTreeSet<String> {
        let model = model(text);
        let request = Request {
            seeds: 0..20,
            schedules: Vec::new(),
            max_steps: 10_000,
            explore: Some(100_000),
            witnesses: false,
        };
        let findings = find(&model, &request, &cssame_budget::Budget::unlimited()).unwrap();
        let universe = &findings.universe;
        let excluded = findings.excluded.iter();
        excluded.map(|(instance, reason)| format!("{} {}", reason.word(), words(&model, universe, instance))).collect()
    };
    let locked =
        "int x; lock L; cobegin A: { lock(L); x = 1;\n x = 2; unlock(L); } B: { lock(L);\n x = 3; unlock(L); } coend";
    assert!(reasons(locked).contains("mutex 8 aW1 bW3 aW2"));
    let forked = "int x;\n void main() { x = 1;\n cobegin A: x = 2;\n B: x = 3; coend\n x = 4; }";
    assert!(reasons(forked).contains("ordered 3 aW2 bW3"));
    assert!(reasons(forked).contains("ordered 3 aW4 bW5"));
    let waits = "int x; event e; cobegin A: { x = 1;\n set(e); } B: { wait(e);\n x = 2; } coend";
    assert!(reasons(waits).contains("exact 3 aW3 bW1"));
    let dead = "int x; void never() {\n x = 9; }\n void main() { cobegin A: x = 1;\n B: x = 2; coend }";
    assert!(reasons(dead).contains("unreachable 3 aW2 bW3"));
}

#[test]
fn of_a_library_only_what_no_client_can_do_is_excluded() {
    let class = "class C { int x;
        public void set() { x = 1; }
        public void both() { cobegin\n A: x = 2;\n B: { x = 3;\n x = 4; } coend }
        private void never() {\n x = 5; } }";
    let unit = Unit::from_text("test.csm", class, &[]).unwrap();
    let request = Request { seeds: 0..40, schedules: Vec::new(), max_steps: 10_000, explore: None, witnesses: false };
    let findings = find_in_drivers(&unit, &Options::default(), &request, &cssame_budget::Budget::unlimited());
    assert_eq!(findings.totals.all, 25 + 125);
    // All with the write of `never`; and those in which one thread has to make writes of two kinds of threads: of the
    // first three writes, those of the arms A and B, and B may make two of its own.
    let with_never = 150 - (16 + 64);
    let pairs_of_one_thread = 16 - (1 + 1 + 4);
    assert_eq!(findings.excluded.len() as u64, with_never + pairs_of_one_thread * 4);
    let report = report::library_report(&unit, &findings);
    assert_eq!((report.patterns.all.feasible, report.pi_terms.is_none()), (None, true));
    assert!(!report.drivers.is_empty() && report.patterns.all.covered > 0);
}
