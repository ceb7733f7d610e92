//! The loop of test generation.
//!
//! **Input**: a file without `main`, and a [`Request`]. **Output**: [`Generated`].
//!
//! **Algorithm** (Wang et al., algorithm 2, corrected).
//!
//! 1. A test is made for the next uncovered instance ([`Targets`]), for a pair of methods, or at random, depending on the
//!    strategy. If no instance is left, tests are made for pairs.
//! 2. The test is executed: directed at the instance, then at other instances that it may cover, then at random. If it is small,
//!    all its executions are examined ([`execute`]).
//! 3. The test is kept if it fails, or if it covers an instance or a pair of methods that no earlier test has covered. A failing
//!    test is minimised, and listed once for each status and place. Results that no order has are listed once for each pair of
//!    methods.
//! 4. This continues until a violation that counts is found, or until the requested number of tests is reached.
//!
//! Tests are made in batches of a fixed size, based on the coverage before the batch, and executed on several cores. Their
//! results are added up in the order of the tests.
//!
//! **Soundness and limits**: if the number of tests ends the loop, the result depends on the seed only, not on the number of
//! cores. Every violation found is real; the absence of violations proves nothing.

use super::directed::Aim;
use super::execute::{Context, Finding, FindingKey, NoRun, TestRun, execute, mix};
use super::found::{
    Failure, FirstFailure, Generated, KeptTest, LoggedExecution, Note, StoppedBy, Strategy, TestCounts,
};
use super::make::{Maker, PairRanks};
use super::minimise::{Minimised, minimise};
use super::program::TestProgram;
use super::request::Request;
use super::targets::Targets;
use super::test::TestCase;
use super::verdict::ViolationKind;
use crate::instance::Instance;
use crate::measure::{Measured, Origin};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_schedule::Random;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Tests of a batch.
const BATCH: usize = 8;

/// Instances that are looked at to find others that a test may cover.
const CANDIDATES: usize = 400;

/// How often a test is drawn anew that was made before.
const REDRAWS: usize = 8;

/// Failures, and notes, that are listed at most.
const MAX_FAILURES: usize = 64;

/// A test to be executed.
#[derive(Debug)]
struct Plan {
    maker: usize,
    test: TestCase,
    target: Option<Instance>,
    aims: Vec<Aim>,
    seed: u64,
}

/// Makes tests.
pub struct Generator<'a> {
    context: Context<'a>,
    request: &'a Request,
    makers: &'a [Maker<'a>],
    budget: &'a Budget<'a>,
    targets: Targets,
    /// By maker.
    ranks: Vec<PairRanks>,
    known: FxHashSet<TestCase>,
    keys: BTreeSet<FindingKey>,
    found: Generated,
}

impl<'a> Generator<'a> {
    /// Before the first test.
    #[must_use]
    pub fn new(
        context: Context<'a>,
        request: &'a Request,
        makers: &'a [Maker<'a>],
        budget: &'a Budget<'a>,
    ) -> Generator<'a> {
        let mut random = Random::new(mix(request.seed, u64::MAX));
        let wanted = |instance: &Instance| makers.iter().any(|maker| maker.can_perform(instance));
        let targets = Targets::new(context.universe, wanted, &mut random);
        let found = Generated {
            seed: request.seed,
            strategy: request.strategy,
            tests: TestCounts::default(),
            failures: Vec::new(),
            notes: Vec::new(),
            kept: Vec::new(),
            measured: Measured::default(),
            stopped_by: StoppedBy::Tests,
            first_failure: None,
            log: Vec::new(),
        };
        let (known, keys) = (FxHashSet::default(), BTreeSet::new());
        let ranks = vec![PairRanks::default(); makers.len()];
        Generator { context, request, makers, budget, targets, ranks, known, keys, found }
    }

    /// Makes tests until there are enough.
    #[must_use]
    pub fn run(mut self) -> Generated {
        self.found.stopped_by = self.batches();
        self.found.failures.sort_by_key(|failure| failure.sequential);
        let kept = self.found.kept.iter().map(|test| test.number);
        let failed = self.found.failures.iter().map(|failure| failure.found_by_test);
        self.found.tests.kept = kept.chain(failed).collect::<BTreeSet<u64>>().len() as u64;
        self.found
    }

    fn batches(&mut self) -> StoppedBy {
        loop {
            let left = self.request.tests.map_or(BATCH as u64, |tests| tests - self.found.tests.made);
            if left == 0 || self.makers.is_empty() {
                return StoppedBy::Tests;
            }
            let done = Statistics {
                executions: self.found.tests.executions,
                steps: self.found.tests.steps,
                ..Statistics::default()
            };
            if let Err(bound) = self.budget.report(&done) {
                return StoppedBy::Bound(bound);
            }
            if self.budget.limits().max_executions.is_some_and(|limit| done.executions >= limit) {
                return StoppedBy::Bound(Bound::Executions);
            }
            let plans = self.plans(left.min(BATCH as u64) as usize);
            let runs = self.execute(&plans);
            for (plan, run) in plans.into_iter().zip(runs) {
                if let Some(stopped) = self.take(plan, run) {
                    return stopped;
                }
            }
        }
    }

    /// The tests of a batch.
    fn plans(&mut self, count: usize) -> Vec<Plan> {
        let targets = self.targets.first(count);
        (0..count).map(|place| self.plan(place, targets.get(place).copied())).collect()
    }

    fn plan(&mut self, place: usize, target: Option<Instance>) -> Plan {
        let seed = mix(self.request.seed, self.found.tests.made + place as u64);
        let mut random = Random::new(seed);
        let is_directed = matches!(self.request.strategy, Strategy::Patterns | Strategy::Both);
        let target = target.filter(|_| is_directed);
        let mut plan = self.draw(target, &mut random);
        for _ in 0..REDRAWS {
            if !self.known.contains(&plan.1) {
                break;
            }
            plan = self.draw(target, &mut random);
        }
        let (maker, test) = plan;
        self.known.insert(test.clone());
        let aims = if is_directed { self.aims(maker, &test, target) } else { Vec::new() };
        Plan { maker, test, target, aims, seed }
    }

    /// A test, and the number of the maker that has made it.
    fn draw(&self, target: Option<Instance>, random: &mut Random) -> (usize, TestCase) {
        if let Some(instance) = target {
            let able: Vec<usize> =
                (0..self.makers.len()).filter(|&maker| self.makers[maker].can_perform(&instance)).collect();
            if !able.is_empty() {
                let maker = able[random.below(able.len() as u32) as usize];
                let ranks = (self.request.strategy == Strategy::Both).then(|| &self.ranks[maker]);
                if let Some(test) = self.makers[maker].for_instance(&instance, ranks, random) {
                    return (maker, test);
                }
            }
        }
        let maker = random.below(self.makers.len() as u32) as usize;
        let by_pairs = matches!(self.request.strategy, Strategy::Pairs | Strategy::Both);
        let of = &self.makers[maker];
        let test = if by_pairs { of.for_pair(&self.ranks[maker], random) } else { of.at_random(random) };
        (maker, test.unwrap_or_default())
    }

    /// What the executions of a test are directed at: its target, with both threads first, then others that it may cover.
    fn aims(&self, maker: usize, test: &TestCase, target: Option<Instance>) -> Vec<Aim> {
        let of = &self.makers[maker];
        let of_target = target.map_or_else(Vec::new, |instance| of.aims_of(test, &instance));
        let mut aims: Vec<Aim> = [of_target.clone(), of_target].concat();
        // The last executions are at random.
        let count = (self.request.executions as usize).saturating_sub(2);
        for instance in self.targets.first(CANDIDATES) {
            if aims.len() >= count {
                break;
            }
            if Some(instance) != target {
                aims.extend(of.aims_of(test, &instance));
            }
        }
        aims.truncate(count);
        aims
    }

    /// Executes the tests of a batch.
    fn execute(&self, plans: &[Plan]) -> Vec<Result<TestRun, NoRun>> {
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let budget = self.budget.quiet().with_jobs(1);
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(plan) = plans.get(place) else { return };
                let subject = self.makers[plan.maker].subject;
                let run = execute(&self.context, (subject, &plan.test), &plan.aims, plan.seed, &budget);
                if let Ok(mut results) = results.lock() {
                    results.push((place, run));
                }
            }
        };
        let jobs = self.budget.jobs().min(plans.len());
        if jobs <= 1 {
            work();
        } else {
            thread::scope(|scope| (0..jobs).for_each(|_| _ = scope.spawn(work)));
        }
        let mut results = results.into_inner().unwrap_or_default();
        results.sort_by_key(|(place, _)| *place);
        results.into_iter().map(|(_, run)| run).collect()
    }

    /// Adds what a test has shown; whether that was enough.
    fn take(&mut self, plan: Plan, run: Result<TestRun, NoRun>) -> Option<StoppedBy> {
        if let Err(NoRun::Stopped(bound)) = run {
            return Some(StoppedBy::Bound(bound));
        }
        self.found.tests.made += 1;
        if let Some(target) = &plan.target {
            self.targets.tried(target);
        }
        let Ok(run) = run else {
            self.found.tests.discarded += 1;
            return None;
        };
        let (executions, steps) = (self.found.tests.executions, self.found.tests.steps);
        self.found.tests.explored += u64::from(run.exact);
        self.add_executions(&plan, &run);
        for finding in run.findings {
            let is_counted = finding.key.kind.is_some() && !finding.key.sequential;
            let first = FirstFailure {
                tests: self.found.tests.made,
                executions: finding.found_by.map_or(self.found.tests.executions, |(number, _)| executions + number + 1),
                steps: finding.found_by.map_or(self.found.tests.steps, |(_, of_test)| steps + of_test),
                by_search: finding.found_by.is_none(),
            };
            let is_new = self.add_finding(&plan, finding);
            if is_new && is_counted {
                self.found.first_failure.get_or_insert(first);
                if !self.request.keep_going {
                    return Some(StoppedBy::Failure);
                }
            }
        }
        None
    }

    /// Adds what the executions of a test cover, and keeps the test if that is new.
    fn add_executions(&mut self, plan: &Plan, run: &TestRun) {
        let number = self.found.tests.made;
        let mut fresh: FxHashSet<Instance> = FxHashSet::default();
        let pairs_before = self.found.measured.pairs.len();
        // The execution that shows most that is new.
        let mut best: Option<(usize, usize)> = None;
        for (place, execution) in run.executions.iter().enumerate() {
            self.found.tests.executions += 1;
            self.found.tests.steps += execution.steps.len() as u64;
            if self.request.log {
                self.found.log.push(LoggedExecution::new(number, execution));
            }
            let (instances, pairs) = (self.found.measured.instances.len(), self.found.measured.pairs.len());
            let known = &self.found.measured.instances;
            fresh.extend(execution.measured.covered().iter().filter(|instance| !known.contains_key(instance)));
            self.found.measured.add(number as usize - 1, Origin::Recorded, execution.measured.clone());
            let added = self.found.measured.instances.len() - instances + self.found.measured.pairs.len() - pairs;
            if added > 0 && best.is_none_or(|(_, most)| added > most) {
                best = Some((place, added));
            }
        }
        self.targets.covered(&fresh);
        let maker = &self.makers[plan.maker];
        self.ranks[plan.maker].add(&plan.test, |pair| {
            let numbers = maker.numbers_of(pair);
            numbers.is_some_and(|pair| run.executions.iter().any(|one| one.measured.pairs().contains(&pair)))
        });
        let Some((place, _)) = best else { return };
        let subject = self.makers[plan.maker].subject;
        let names = (self.context.name, self.context.options);
        let Ok(program) = TestProgram::new(subject, &plan.test, None, names) else { return };
        let execution = &run.executions[place];
        self.found.kept.push(KeptTest {
            number,
            class: subject.name().to_owned(),
            test: plan.test.source(subject),
            text: program.model.unit().text().to_owned(),
            status: execution.status,
            schedule: program.model.naming().steps(&execution.steps),
            instances: fresh.len(),
            pairs: self.found.measured.pairs.len() - pairs_before,
        });
    }

    /// Adds a violation or a note; whether it is new.
    fn add_finding(&mut self, plan: &Plan, finding: Finding) -> bool {
        let Finding { key, end, .. } = finding;
        let maker = &self.makers[plan.maker];
        let number = self.found.tests.made;
        let raw = self.key_of(&key, plan.maker, &plan.test);
        let is_full = self.found.failures.len() >= MAX_FAILURES || self.found.notes.len() >= MAX_FAILURES;
        if is_full || !self.keys.insert(raw.clone()) {
            return false;
        }
        let found = Minimised { test: plan.test.clone(), key: key.clone(), end };
        let budget = self.budget.quiet();
        let small = minimise(&self.context, maker.subject, found, &budget);
        if key.kind.is_none() {
            let test = small.test.source(maker.subject);
            self.found.notes.push(Note { variables: key.places, found_by_test: number, test });
            return true;
        }
        let own = self.key_of(&key, plan.maker, &small.test);
        if own != raw && !self.keys.insert(own) {
            return false;
        }
        let failure = Failure::new(&self.context, maker.subject, &small, number, &budget);
        let is_new = failure.is_ok();
        self.found.failures.extend(failure);
        is_new
    }

    /// What tells a finding from others; of results that no order has, the methods of the two threads belong to it.
    fn key_of(&self, key: &FindingKey, maker: usize, test: &TestCase) -> FindingKey {
        let mut key = key.clone();
        if key.kind == Some(ViolationKind::NotLinearizable) {
            let subject = self.makers[maker].subject;
            let methods = |thread: usize| {
                let names = test.suffixes[thread].iter().map(|call| subject.methods[call.method].full_name());
                names.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>().join(" ")
            };
            key.places = vec![methods(0), methods(1)];
            key.places.sort();
        }
        key
    }
}
