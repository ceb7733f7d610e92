//! The classes of executions that reachability testing tells apart: the ways to count them agree on random programs.
//!
//! The first way runs every interleaving and keeps, in plain, what each thread has done. The others are those of the
//! library: a search through states with hashes, an execution of each order of dependent steps, and a count of these
//! orders that runs none.

use cssame::budget::{Budget, Limits};
use cssame::model::Model;
use cssame::paths::classes::{ClassCount, ClassOptions, Counting, Operations, classes, thread_pairs};
use cssame::schedule::{Walk, walk};
use cssame::vm::{
    Choice, CodeIndex, Event, Machine, Observer, PathId, Progress, State, Tables, ThreadName, ThreadStatus,
};
use std::collections::{BTreeMap, BTreeSet};
use support::generate::{self, Size};
use support::{model, possible_model, programs, root};

/// Interleavings up to which a program is run in all ways.
const INTERLEAVINGS: usize = 3_000;

/// What the threads of an execution have done, in plain.
#[derive(Clone)]
struct Plain<'a> {
    operations: &'a Operations,
    versions: BTreeMap<String, u32>,
    threads: BTreeMap<PathId, Vec<String>>,
}

impl Observer for Plain<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let done = match event {
            Event::Read { read, cell, shared: true, .. } if self.operations.contains(cell) => {
                format!("{read:?} {cell:?} {}", self.versions.get(&format!("{cell:?}")).unwrap_or(&0))
            }
            Event::Write { definition, cell, shared: true, .. } if self.operations.contains(cell) => {
                let version = self.versions.entry(format!("{cell:?}")).or_default();
                *version += 1;
                format!("{definition:?} {cell:?} {version}")
            }
            Event::Choose { value } => format!("{at:?} {value}"),
            _ => return,
        };
        self.threads.entry(thread.path).or_default().push(done);
    }
}

struct Interleavings<'a> {
    machine: &'a Machine,
    classes: BTreeSet<String>,
    left: usize,
}

impl Interleavings<'_> {
    fn follow(&mut self, tables: &mut Tables, state: &State, plain: &Plain<'_>) {
        let mut choices = Vec::new();
        self.machine.enabled(state, &mut choices);
        if choices.is_empty() {
            let stands = |&thread: &_| state.status(thread) != ThreadStatus::Ended;
            let standing: BTreeSet<(PathId, CodeIndex)> =
                state.threads().filter(stands).map(|thread| (state.path(thread), state.position(thread))).collect();
            self.end(plain, &format!("{standing:?}"));
        }
        for choice in choices {
            if self.left == 0 {
                return;
            }
            let (mut state, mut plain) = (state.clone(), plain.clone());
            match self.machine.step(&mut state, tables, choice, &mut plain) {
                Progress::Running => self.follow(tables, &state, &plain),
                Progress::Finished => self.end(&plain, "{}"),
                Progress::Failed(failure) => self.end(&plain, &format!("{:?} {:?}", failure.kind, failure.at)),
                Progress::Discarded => self.left -= 1,
            }
        }
    }

    fn end(&mut self, plain: &Plain<'_>, end: &str) {
        self.left = self.left.saturating_sub(1);
        self.classes.insert(format!("{:?} {end}", plain.threads));
    }
}

/// The number of classes, unless there are too many interleavings.
fn in_plain(machine: &Machine, operations: &Operations) -> Option<usize> {
    let mut all = Interleavings { machine, classes: BTreeSet::new(), left: INTERLEAVINGS };
    let mut tables = Tables::new();
    let mut plain = Plain { operations, versions: BTreeMap::new(), threads: BTreeMap::new() };
    let state = Walk::new(machine, &mut tables, &mut plain).into_state();
    if machine.is_finished(&state) {
        return Some(1);
    }
    all.follow(&mut tables, &state, &plain);
    (all.left > 0).then_some(all.classes.len())
}

fn count(model: &Model, operations: &Operations, max_enumerated: u64) -> ClassCount {
    let budget = Budget::from(Limits { max_states: Some(200_000), ..Limits::default() });
    let max_representatives = if max_enumerated > 0 { 500 } else { 0 };
    let options = ClassOptions { max_enumerated, max_representatives, ..ClassOptions::default() };
    classes(model.machine(), operations, &budget, &options)
}

/// As [`count`], by states alone.
fn count_by_states(model: &Model, operations: &Operations) -> ClassCount {
    let budget = Budget::from(Limits { max_states: Some(100_000), ..Limits::default() });
    let options = ClassOptions { max_enumerated: 100_000, max_counted: 0, max_representatives: 500 };
    classes(model.machine(), operations, &budget, &options)
}

/// Each representative ends as one of its own class.
fn distinct(model: &Model, operations: &Operations, representatives: &[Vec<Choice>]) -> usize {
    let mut tables = Tables::new();
    let plain = representatives.iter().map(|schedule| {
        let mut plain = Plain { operations, versions: BTreeMap::new(), threads: BTreeMap::new() };
        let walk = walk(model.machine(), &mut tables, schedule, &mut plain).unwrap();
        let state = walk.state();
        let end = match walk.progress() {
            Progress::Failed(failure) => format!("{:?} {:?}", failure.kind, failure.at),
            _ => format!(
                "{:?}",
                state.threads().map(|thread| (state.path(thread), state.position(thread))).collect::<Vec<_>>()
            ),
        };
        format!("{:?} {end}", plain.threads)
    });
    plain.collect::<BTreeSet<_>>().len()
}

/// How many programs were compared: in plain, by executions, and by orders alone, of which some are exact.
#[derive(Debug, Default)]
struct Compared {
    plain: u32,
    executions: u32,
    orders: u32,
    exact: u32,
    synchronised: u32,
}

fn compare(seed: u64, text: &str, compared: &mut Compared) {
    let Some(model) = possible_model(text) else { return };
    let operations = Operations::new(model.program(), &model.form().concurrency);
    let enumerated = count_by_states(&model, &operations);
    if enumerated.bound.is_some() || enumerated.counting != Counting::Enumerated {
        return;
    }
    let by_executions = count(&model, &operations, 100_000);
    if by_executions.counting == Counting::Enumerated {
        assert_eq!(by_executions.classes, enumerated.classes, "seed {seed}\n{text}");
        let found = distinct(&model, &operations, &by_executions.representatives);
        assert_eq!(found as u128, enumerated.classes.min(500), "seed {seed}\n{text}");
        compared.executions += 1;
    }
    assert!(!enumerated.infinite, "seed {seed}\n{text}");
    if let Some(plain) = in_plain(model.machine(), &operations) {
        assert_eq!(enumerated.classes, plain as u128, "seed {seed}\n{text}");
        compared.plain += 1;
    }
    if enumerated.classes < 500 {
        let found = distinct(&model, &operations, &enumerated.representatives);
        assert_eq!(found as u128, enumerated.classes, "seed {seed}\n{text}");
    }
    let counted = count(&model, &operations, 0);
    let Counting::Orders { exact } = counted.counting else {
        // A cycle without an operation; or an assumption discards all executions.
        assert!(counted.bound.is_some() || enumerated.classes == 0, "seed {seed}\n{text}");
        return;
    };
    assert_eq!(counted.bound, None);
    compared.orders += 1;
    if exact {
        assert_eq!(counted.classes, enumerated.classes, "seed {seed}\n{text}");
        compared.exact += 1;
    } else {
        assert!(counted.classes >= enumerated.classes, "seed {seed}\n{text}");
        compared.synchronised += 1;
    }
}

#[test]
fn all_ways_to_count_classes_agree() {
    let count = programs(60);
    let mut compared = Compared::default();
    let small = Size { operations: 3, ..Size::default() };
    for seed in 0..count {
        compare(seed, &generate::program(seed, &small), &mut compared);
        compare(seed, &generate::racy(seed, &small), &mut compared);
    }
    assert!(
        count < 400 && compared.plain > 0
            || compared.plain > 300 && compared.executions > 300 && compared.exact > 100 && compared.synchronised > 20,
        "{compared:?}"
    );
}

#[test]
fn pairs_are_counted_alike_in_two_ways() {
    let budget = Budget::from(Limits { max_states: Some(200_000), ..Limits::default() });
    let mut compared = 0;
    for seed in 0..programs(60) {
        let Some(model) = possible_model(&generate::program(seed, &Size::default())) else { continue };
        let operations = Operations::new(model.program(), &model.form().concurrency);
        let of = |max_enumerated| {
            let options = ClassOptions { max_enumerated, max_representatives: 0, ..ClassOptions::default() };
            thread_pairs(model.machine(), &operations, &budget, &options)
        };
        for (one, other) in of(100_000).pairs.iter().zip(&of(0).pairs) {
            if one.count.bound.is_some() || one.count.counting != Counting::Enumerated {
                continue;
            }
            assert_eq!(one.threads, other.threads);
            match other.count.counting {
                Counting::Orders { exact: true } => assert_eq!(one.count.classes, other.count.classes, "seed {seed}"),
                Counting::Orders { exact: false } => assert!(one.count.classes <= other.count.classes, "seed {seed}"),
                Counting::Enumerated => assert!(other.count.bound.is_some() || one.count.classes == 0, "seed {seed}"),
            }
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

/// The numbers of the first and the fifth pair are those of an enumeration, which takes ten million states.
#[test]
fn classes_of_the_pairs_of_a_connection_pool_are_millions() {
    let text = std::fs::read_to_string(root().join("benches/paths/connection_pool.csm")).unwrap();
    let model = model(&text);
    let operations = Operations::new(model.program(), &model.form().concurrency);
    assert_eq!(model.form().concurrency.sharing.leaves.count_ones(..), 30);
    assert!(operations.read_shared().is_empty() && text.matches("if (").count() >= 30);
    let options = ClassOptions { max_enumerated: 1_000, max_representatives: 10, ..ClassOptions::default() };
    let found = thread_pairs(model.machine(), &operations, &Budget::unlimited(), &options);
    assert!(!found.are_cut && found.pairs.iter().all(|pair| pair.count.bound.is_none()));
    let classes: Vec<u128> = found.pairs.iter().map(|pair| pair.count.classes).collect();
    assert_eq!(classes, [669_361, 167_816, 464_178, 1_477_388, 144_319, 305_677, 701_580, 180_903, 404_768, 1_222_192]);
    assert_eq!(found.total(), 5_738_182);
    assert!(found.pairs.iter().all(|pair| pair.count.representatives.len() == 10));
}
