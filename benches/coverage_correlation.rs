//! Whether executions that cover more find more bugs: the table of docs/coverage.md.
//!
//! In: the correct classes of `samples/classes`. From each, mutants are made, with one `synchronized (…)` taken out of
//! the text in each; executions of generated tests, as many by each strategy, show bugs of the mutants. A bug is a mutant, a
//! status and the places of a violation that counts; results that no order has are one bug of the mutant. Places are the same
//! in all mutants of a class, and accesses too.
//!
//! Out: a table in Markdown with Kendall's tau-b, over 200 random subsets of the executions of a class, between what a subset
//! covers and how many bugs it shows: for memory-access patterns, for pairs of methods, and for the number of executions,
//! which both grow with. The sizes of the subsets grow from 1 to all by equal differences, or by equal factors, or are all
//! the same. Below that the means over the classes, and tau-b over the subsets of all classes, as proportions of what all
//! executions of the class cover and show. It measures no time: the table is the same on every machine. Run with
//! `cargo bench --bench coverage_correlation`.

mod classes;

use classes::{mean, names, tests_for, text};
use cssame::coverage::generate::{Request, Strategy};
use cssame::schedule::Random;
use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;

/// Tests for each mutant by each strategy.
const TESTS: u64 = 24;

/// Subsets of the executions of a class.
const SUBSETS: usize = 200;

/// Executions of each subset, where all have one size.
const SIZE: usize = 20;

/// What tau-b is computed of: patterns, pairs, executions.
const MEASURES: usize = 3;

/// How the sizes of subsets are chosen.
type Sizes = fn(number: usize, all: usize) -> usize;

const SIZES: [Sizes; 3] = [even, growing, same];

/// Tau-b of patterns, pairs and executions, for each choice of sizes.
type Taus = [[Option<f64>; MEASURES]; SIZES.len()];

/// For each subset the proportions of patterns, pairs and executions, and last of bugs.
type Points = Vec<[f64; MEASURES + 1]>;

/// What an execution covers and shows, or many together: numbers of instances, of pairs, and of bugs.
#[derive(Clone, Default)]
struct Shown {
    instances: FixedBitSet,
    pairs: FixedBitSet,
    bugs: FixedBitSet,
    executions: usize,
}

fn main() {
    let mut lines = vec![
        "| class | mutants | executions | instances | pairs | bugs | equal differences | equal factors | one size |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    let mut pooled: [Points; SIZES.len()] = Default::default();
    let mut taus: Vec<Taus> = Vec::new();
    for name in names() {
        let (mutants, executions) = executions(&text(&name));
        let all = Shown::of(executions.iter());
        let mut random = Random::new(0);
        let points: [Points; SIZES.len()] = SIZES.map(|size| {
            let sizes = (0..SUBSETS).map(|number| size(number, executions.len()));
            sizes.map(|size| all.proportions(&subset(&executions, size, &mut random))).collect()
        });
        let row = points.each_ref().map(taus_of);
        let [instances, pairs, count, bugs] = all.counts();
        let counts = [mutants, count, instances, pairs, bugs];
        lines.push(line(&name, &counts.map(|count| count.to_string()), &row));
        taus.push(row);
        pooled.iter_mut().zip(points).for_each(|(to, points)| to.extend(points));
    }
    let mean_of = |sizes: usize, measure: usize| {
        let known: Vec<f64> = taus.iter().filter_map(|row| row[sizes][measure]).collect();
        (!known.is_empty()).then(|| mean(&known))
    };
    let means = [0, 1, 2].map(|sizes| [0, 1, 2].map(|measure| mean_of(sizes, measure)));
    let none: [String; 5] = Default::default();
    lines.push(line("mean", &none, &means));
    lines.push(line("all classes together", &none, &pooled.each_ref().map(taus_of)));
    #[allow(clippy::print_stdout, reason = "the table is what it is for")]
    {
        println!("{}", lines.join("\n"));
    }
}

fn line(name: &str, counts: &[String; 5], taus: &Taus) -> String {
    let tau = |tau: Option<f64>| tau.map_or_else(|| "-".to_owned(), |tau| format!("{tau:.2}"));
    let cells = taus.map(|of_sizes| of_sizes.map(tau).join(" / "));
    format!("| {name} | {} | {} |", counts.join(" | "), cells.join(" | "))
}

/// From 1 to all, by equal differences.
fn even(number: usize, all: usize) -> usize {
    (all * (number + 1) / SUBSETS).max(1).min(all)
}

/// From 1 to all, by equal factors.
fn growing(number: usize, all: usize) -> usize {
    ((all.max(1) as f64).powf(number as f64 / (SUBSETS - 1) as f64).round() as usize).min(all)
}

fn same(_: usize, all: usize) -> usize {
    SIZE.min(all)
}

/// The texts with one `synchronized (…)` less each; places stay what they are.
fn mutants(text: &str) -> Vec<String> {
    let is_code = |at: usize| !text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at].contains("//");
    let starts = text.match_indices("synchronized (").map(|(at, _)| at).filter(|&at| is_code(at));
    let without = |at: usize| {
        let length = text[at..].find(')')? + 1;
        Some([&text[..at], &" ".repeat(length), &text[at + length..]].concat())
    };
    starts.filter_map(without).collect()
}

/// Gives numbers to what is met.
struct Numbers<T>(BTreeMap<T, usize>);

impl<T: Ord> Numbers<T> {
    fn set(&mut self, of: impl Iterator<Item = T>) -> FixedBitSet {
        let mut set = FixedBitSet::new();
        for one in of {
            let next = self.0.len();
            set.grow_and_insert(*self.0.entry(one).or_insert(next));
        }
        set
    }
}

/// The number of mutants of a class, and the executions of all of them.
fn executions(text: &str) -> (usize, Vec<Shown>) {
    let mutants = mutants(text);
    let (mut instances, mut pairs, mut bugs) =
        (Numbers(BTreeMap::new()), Numbers(BTreeMap::new()), Numbers(BTreeMap::new()));
    let mut executions = Vec::new();
    for (mutant, text) in mutants.iter().enumerate() {
        for strategy in Strategy::ALL {
            let asked = Request { strategy, tests: Some(TESTS), explore: None, ..Request::default() };
            let request = Request { keep_going: true, log: true, ..asked };
            let log = tests_for(text, &request).map_or_else(Vec::new, |generated| generated.log);
            executions.extend(log.into_iter().map(|one| Shown {
                instances: instances.set(one.instances.into_iter()),
                pairs: pairs.set(one.pairs.into_iter()),
                bugs: bugs.set(one.violation.filter(|one| !one.sequential).map(|one| (mutant, one)).into_iter()),
                executions: 1,
            }));
        }
    }
    (mutants.len(), executions)
}

/// Some of the executions, each subset of that size with the same probability.
fn subset(executions: &[Shown], size: usize, random: &mut Random) -> Shown {
    let mut order: Vec<usize> = (0..executions.len()).collect();
    for place in 0..size {
        let other = place + random.below((order.len() - place) as u32) as usize;
        order.swap(place, other);
    }
    Shown::of(order[..size].iter().map(|&number| &executions[number]))
}

impl Shown {
    fn of<'a>(executions: impl Iterator<Item = &'a Shown>) -> Shown {
        let mut all = Shown::default();
        for one in executions {
            all.instances.union_with(&one.instances);
            all.pairs.union_with(&one.pairs);
            all.bugs.union_with(&one.bugs);
            all.executions += one.executions;
        }
        all
    }

    fn counts(&self) -> [usize; MEASURES + 1] {
        let count = |set: &FixedBitSet| set.count_ones(..);
        [count(&self.instances), count(&self.pairs), self.executions, count(&self.bugs)]
    }

    /// What part of all a subset has.
    fn proportions(&self, subset: &Shown) -> [f64; MEASURES + 1] {
        let (all, some) = (self.counts(), subset.counts());
        std::array::from_fn(|place| some[place] as f64 / all[place].max(1) as f64)
    }
}

fn taus_of(points: &Points) -> [Option<f64>; MEASURES] {
    [tau(points, 0), tau(points, 1), tau(points, 2)]
}

/// Tau-b between a measure and the bugs; none where one of them is always the same.
fn tau(points: &Points, measure: usize) -> Option<f64> {
    let column = |place: usize| -> Vec<f64> { points.iter().map(|point| point[place]).collect() };
    let (covered, bugs) = (column(measure), column(MEASURES));
    let varies = |values: &[f64]| values.iter().any(|&value| value != values[0]);
    if !varies(&covered) || !varies(&bugs) {
        return None;
    }
    kendalls::tau_b_with_comparator(&covered, &bugs, f64::total_cmp).ok().map(|(tau, _)| tau)
}
