//! Algorithm 4: tests for all branch-affect groups.
//!
//! **Input**: a program, a first execution, and a budget. **Output**: [`Explored`]: the tests, the groups, and the
//! branch outcomes, races, failures and deadlocks that the tests have shown.
//!
//! **Algorithm** (section IV.B of the paper; docs/paths.md lists the changes and their reasons).
//!
//! 1. The first execution is the first test. Its trace provides the branches and the groups.
//! 2. End if each row of the branch-condition table was tested (condition 1), or each group was tested (condition 2). Rows are
//!    distinguished by the branches that an operation of another thread affects; the other branches have the same outcome in any
//!    order.
//! 3. Choose the next tests ([`next_tests`]).
//! 4. If the order of a group only exchanges independent steps of a known execution, no test is made ([`super::equivalent`]), nor
//!    if an exact search shows that no execution has it. Otherwise the test follows the order, and its trace adds groups and
//!    branches. If it resulted in another order, the execution that the search has found is the test. If the search could not
//!    decide, the next way is tried.
//! 5. Continue at step 2.
//!
//! **Soundness and limits**: everything that the tests show is real. This module does not decide whether the tests show
//! everything: see [`Exactness`](super::Exactness).

mod choose;

use super::analysis::{Decision, DecisionKind, DecisionPlace, Decisions, PlacedOperation, Placing, decisions};
use super::complete::completed;
use super::equivalent::equivalent;
use super::groups::{Candidate, GroupState, Groups, Seen, group_in_order, requirements};
use super::interleaving::Interleaving;
use super::manners::Manners;
use super::projection::Projection;
use super::run::{Run, Session};
use super::selection::{TableBranch, TableGroup, next_tests};
use super::variant_graph::VariantGraph;
use crate::order::{OrderVerdict, order};
use cssame_budget::{Bound, Budget, Limits, Statistics};
use cssame_schedule::ExecutionStatus;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Actions that are put in order to predict groups, at most: candidates, or variants, times the actions of their traces.
pub const MAX_PREDICTED: usize = 2_000_000;

/// Nodes of the variant graph in which ways to get stuck are looked for, at most.
const STUCK_NODES: usize = 20_000;

/// Ways to get stuck that are tried, at most.
const MAX_STUCK: usize = 50;

/// Executions that are made beside the tests to decide groups, at most.
const MAX_TRIALS: u64 = 2_000;

/// States of one exact search for an order.
const ORDER_STATES: u64 = 50_000;

/// States of all of them, at most: a second or so.
const ALL_ORDER_STATES: u64 = 500_000;

/// Why the algorithm has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// Each row of the branch-condition table was tested.
    Rows,
    /// Each group was tested.
    Groups,
    /// A bound was hit.
    Bound(Bound),
}

/// Why a test was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestReason {
    /// It is the first one.
    First,
    /// For a group, by number.
    Group(usize),
    /// For a node of the variant graph from which no move leads on.
    Stuck,
    /// The paper's method would have ended without it.
    Exploration,
    /// For a class of versions.
    Class,
}

/// A test.
#[derive(Debug)]
pub struct Test {
    /// Its execution, by number.
    pub run: usize,
    /// Why it was made.
    pub reason: TestReason,
}

/// An execution, and what its branches depend on.
pub struct KnownRun {
    /// The execution.
    pub run: Run,
    /// Its branches and waits.
    pub decisions: Vec<Decision>,
}

impl KnownRun {
    /// An evaluation of a branch, or a wait, if the execution has come to it.
    #[must_use]
    pub fn decision(&self, (place, instance): (DecisionPlace, u32)) -> Option<&Decision> {
        self.decisions.iter().find(|one| one.place == place && one.instance == instance)
    }
}

/// A branch or a wait, as the executions have shown it.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// How it came out in tests.
    pub outcomes: BTreeSet<bool>,
    /// The operations that affect it.
    pub operations: BTreeSet<PlacedOperation>,
    /// The earlier instance that has the same operations.
    pub same_as: Option<u32>,
}

/// Everything that was found.
pub struct Explored {
    /// The executions.
    pub runs: Vec<KnownRun>,
    /// The tests among them.
    pub tests: Vec<Test>,
    /// The groups.
    pub groups: Groups,
    /// The branches and waits of the tests, by place and instance.
    pub shown: BTreeMap<(DecisionPlace, u32), Shown>,
    /// The classes of race-equivalent executions among the tests, with the first test of each.
    pub classes: BTreeMap<Manners, usize>,
    /// Why the method has ended; tests of exploration come behind that.
    pub stopped_by: StoppedBy,
}

/// The branch-condition table: the rows that tests have had.
#[derive(Default)]
struct Rows {
    /// The branches that rows are made of.
    columns: Vec<(DecisionPlace, u32)>,
    /// The rows of the first tests.
    tested: FxHashSet<Vec<bool>>,
    /// How many tests these are.
    tests: usize,
}

/// Memory of an execution and its decisions.
fn bytes_of(run: &Run, decisions: &[Decision]) -> usize {
    let decision = |of: &Decision| {
        size_of::<Decision>()
            + size_of_val(&of.related.members[..])
            + size_of_val(&of.related.use_defines[..])
            + size_of_val(&of.operations[..])
            + size_of_val(&of.order[..])
    };
    run.trace.bytes() + decisions.iter().map(decision).sum::<usize>()
}

/// The bound that is hit where the method has taken so much memory. Exploration comes behind it, and has the other half.
fn bound_of(budget: &Budget<'_>, bytes: usize) -> Option<Bound> {
    budget.exceeds_memory(2 * bytes as u64).then_some(Bound::Memory).or_else(|| budget.check())
}

/// The method, at work.
pub struct Method<'s, 'm> {
    /// The program.
    pub session: &'s mut Session<'m>,
    /// What was found so far.
    pub found: Explored,
    /// The candidates that were followed, with their groups.
    made: FxHashSet<(usize, usize)>,
    /// Whether some execution has the order of a group, for those that were asked.
    verdicts: FxHashMap<usize, OrderVerdict>,
    /// The branch-condition table.
    rows: Rows,
    /// States that exact searches for orders have visited.
    searched: u64,
    /// Tests at most.
    max_tests: u64,
    /// What all of it may cost.
    budget: Budget<'m>,
    /// Memory that the executions take.
    bytes: usize,
}

impl<'s, 'm> Method<'s, 'm> {
    /// Begins with a first execution.
    #[must_use]
    pub fn new(session: &'s mut Session<'m>, first: Run, max_tests: u64, budget: Budget<'m>) -> Method<'s, 'm> {
        let found = Explored {
            runs: Vec::new(),
            tests: Vec::new(),
            groups: Groups::default(),
            shown: BTreeMap::new(),
            classes: BTreeMap::new(),
            stopped_by: StoppedBy::Groups,
        };
        let (made, verdicts, rows) = (FxHashSet::default(), FxHashMap::default(), Rows::default());
        let mut method = Method { session, found, made, verdicts, rows, searched: 0, max_tests, budget, bytes: 0 };
        method.add(first, Some(TestReason::First));
        method
    }

    /// Places of what its executions have done.
    #[must_use]
    pub fn placing(&self) -> Placing<'m> {
        Placing { program: self.session.model.program(), machine: self.session.model.machine() }
    }

    /// Adds an execution, as a test if there is a reason for one. One that an assumption discards shows nothing.
    pub fn add(&mut self, run: Run, reason: Option<TestReason>) {
        let placing = self.placing();
        let number = self.found.runs.len();
        let is_discarded = run.trace.status == ExecutionStatus::Discarded;
        let Decisions { list, cut } = if is_discarded { Decisions::default() } else { decisions(placing, &run.trace) };
        let test = reason.filter(|_| !is_discarded).map(|reason| {
            self.found.tests.push(Test { run: number, reason });
            self.found.tests.len() - 1
        });
        let spurious = self.session.model.options().semantics.spurious_wakeups;
        self.found.groups.cut |= cut;
        self.bytes += bytes_of(&run, &list);
        let (budget, bytes) = (self.budget, self.bytes);
        let seen = Seen { run: number, test, trace: &run.trace, decisions: &list };
        let has_room = |groups: &Groups| bound_of(&budget, bytes + groups.bytes).is_none();
        self.found.groups.add(placing, spurious, &seen, has_room);
        if let Some(test) = test {
            self.found.classes.entry(Manners::new(placing, &run.trace)).or_insert(test);
            for decision in &list {
                let shown = self.found.shown.entry((decision.place, decision.instance)).or_default();
                shown.outcomes.insert(decision.outcome);
                shown.operations.extend(&decision.operations);
                shown.same_as = decision.same_as;
            }
        }
        self.found.runs.push(KnownRun { run, decisions: list });
    }

    /// Makes tests until one of the conditions holds.
    pub fn run(&mut self) {
        loop {
            if let ControlFlow::Break(reason) = self.round() {
                self.found.stopped_by = reason;
                return;
            }
        }
    }

    /// Makes the tests that are chosen next, until one of the conditions holds.
    fn round(&mut self) -> ControlFlow<StoppedBy> {
        self.may_go_on()?;
        let tests = self.select();
        // Where nothing is left to try for the open groups, ask whether their orders exist.
        let open: Vec<usize> = if tests.is_empty() { self.found.groups.open().collect() } else { Vec::new() };
        for group in open {
            if self.is_open(group) {
                self.decide(group, Some(TestReason::Group(group)));
                self.may_go_on()?;
            }
        }
        for (group, candidate) in tests {
            // A test before may have had its order.
            if self.is_open(group) {
                self.follow(group, candidate, Some(TestReason::Group(group)));
                self.may_go_on()?;
            }
        }
        ControlFlow::Continue(())
    }

    fn is_open(&self, group: usize) -> bool {
        self.found.groups.list[group].state == GroupState::Open
    }

    /// Breaks where one of the conditions holds, or a bound was hit.
    fn may_go_on(&mut self) -> ControlFlow<StoppedBy> {
        if let Some(bound) = self.bound() {
            return ControlFlow::Break(StoppedBy::Bound(bound));
        }
        if self.all_rows_tested() {
            return ControlFlow::Break(StoppedBy::Rows);
        }
        match self.found.groups.open().next() {
            Some(_) => ControlFlow::Continue(()),
            None => ControlFlow::Break(StoppedBy::Groups),
        }
    }

    /// Makes a test for each way in which the first execution could have got stuck, as its variant graph says, unless a
    /// test has ended so.
    pub fn test_stuck_nodes(&mut self) {
        let (program, spurious) = (self.placing().program, self.session.model.options().semantics.spurious_wakeups);
        let trace = &self.found.runs[0].run.trace;
        let whole = Projection::whole(program, trace);
        let interleaving = Interleaving::new(program, trace, &whole, spurious);
        let graph = VariantGraph::new(trace, &interleaving, STUCK_NODES);
        let mut ways = Vec::new();
        let mut seen = FxHashSet::default();
        for (node, of) in graph.nodes.iter().enumerate().filter(|(_, node)| node.stuck) {
            if ways.len() < MAX_STUCK && seen.insert(of.words[..2 * whole.threads.len()].to_vec()) {
                ways.push(requirements(trace, &interleaving, &graph.path(node as u32)));
            }
        }
        let mut known: FxHashSet<Vec<_>> = FxHashSet::default();
        known.extend(self.found.tests.iter().map(|test| self.found.runs[test.run].run.trace.blocked.clone()));
        for required in ways {
            let script = self.found.runs[0].run.script.clone();
            let run = self.session.follow_strictly(&script, &required);
            if run.trace.status == ExecutionStatus::Deadlock && known.insert(run.trace.blocked.clone()) {
                self.add(run, Some(TestReason::Stuck));
            }
        }
    }

    fn bound(&self) -> Option<Bound> {
        let tests = self.found.tests.len() as u64;
        let statistics = Statistics { executions: self.found.runs.len() as u64, ..Statistics::default() };
        self.budget
            .report(&statistics)
            .err()
            .or_else(|| bound_of(&self.budget, self.bytes + self.found.groups.bytes))
            .or_else(|| (tests >= self.max_tests).then_some(Bound::Executions))
    }

    /// Whether a candidate of a group is a known execution but for steps that do not depend on each other: then nobody needs to make
    /// it.
    fn follows_from_known(&mut self, group: usize, candidate: usize) -> bool {
        let placing = self.placing();
        let Some((key, of)) = self.found.groups.list.get_index(group) else { return false };
        let Candidate { run, decision, required, .. } = &of.candidates[candidate];
        let known = &self.found.runs[*run];
        let (trace, decision) = (&known.run.trace, &known.decisions[*decision]);
        let order = equivalent(self.session.model, trace, required);
        if order.is_none_or(|order| group_in_order(placing, trace, decision, &order) != *key) {
            return false;
        }
        let outcome = decision.outcome;
        let of = &mut self.found.groups.list[group];
        (of.state, of.outcome) = (GroupState::Seen, of.outcome.or(Some(outcome)));
        true
    }

    /// Follows a candidate of a group.
    fn follow(&mut self, group: usize, candidate: usize, reason: Option<TestReason>) {
        self.made.insert((group, candidate));
        if self.follows_from_known(group, candidate) {
            return;
        }
        if *self.verdict(group) == OrderVerdict::Impossible {
            self.found.groups.list[group].state = GroupState::Infeasible;
            return;
        }
        let Candidate { run, required, .. } = self.found.groups.list[group].candidates[candidate].clone();
        let script = std::mem::take(&mut self.found.runs[run].run.script);
        let made = self.session.follow(&script, &required);
        self.found.runs[run].run.script = script;
        self.add(made, reason);
    }

    /// Finds out whether a group has an execution that the first way has not led to. Where the search cannot tell, the other ways
    /// are tried, one at a time.
    fn decide(&mut self, group: usize, reason: Option<TestReason>) {
        let verdict = self.verdict(group).clone();
        if let OrderVerdict::Undecided(_) = verdict
            && let Some(candidate) = self.other_candidate(group)
        {
            return self.follow(group, candidate, reason);
        }
        // Of a wait, the accesses alone are asked for: the execution need not be one of the group.
        let is_wait = self.found.groups.list.get_index(group).is_some_and(|(key, _)| key.0.kind == DecisionKind::Wait);
        if let OrderVerdict::Possible(steps) = &verdict
            && !is_wait
        {
            let run = self.session.repeat(steps);
            self.add(run, reason);
        }
        let group = &mut self.found.groups.list[group];
        if group.state == GroupState::Open {
            group.state = match verdict {
                OrderVerdict::Impossible => GroupState::Infeasible,
                OrderVerdict::Possible(_) if is_wait => GroupState::Undecided,
                OrderVerdict::Possible(_) => GroupState::Elsewhere,
                OrderVerdict::Undecided(_) => GroupState::Undecided,
            };
        }
    }

    /// Whether some execution has the order of a group; it is searched for once.
    fn verdict(&mut self, group: usize) -> &OrderVerdict {
        if !self.verdicts.contains_key(&group) {
            let verdict = self.search(group);
            self.verdicts.insert(group, verdict);
        }
        &self.verdicts[&group]
    }

    fn search(&mut self, group: usize) -> OrderVerdict {
        let Some(candidate) = self.found.groups.list[group].candidates.first() else {
            return OrderVerdict::Undecided(Bound::States);
        };
        if self.searched >= ALL_ORDER_STATES {
            return OrderVerdict::Undecided(Bound::States);
        }
        let known = &self.found.runs[candidate.run];
        let decision = &known.decisions[candidate.decision];
        let request = super::feasible::order_request(&known.run.trace, decision, &candidate.members);
        let limits = Limits { max_states: Some(ORDER_STATES), ..Limits::default() };
        let model = self.session.model;
        let share = self.budget.share(limits);
        let answer = order(model.machine(), model.program(), &request, &self.session.tables, &share);
        self.searched += answer.statistics.states;
        answer.verdict
    }

    /// Decides the groups that no test was made for, by executions that are no tests.
    pub fn decide_open(&mut self) {
        let mut trials = 0;
        loop {
            let open = self.found.groups.open().next();
            let Some(group) = open else { return };
            trials += 1;
            if trials > MAX_TRIALS || bound_of(&self.budget, self.bytes + self.found.groups.bytes).is_some() {
                return;
            }
            match self.next_candidate(group) {
                Some(candidate) => self.follow(group, candidate, None),
                None => self.decide(group, None),
            }
        }
    }

    /// The first candidate of a group, if none was followed.
    fn next_candidate(&self, group: usize) -> Option<usize> {
        self.other_candidate(group).filter(|&one| one == 0)
    }

    /// The first candidate of a group that was not followed.
    fn other_candidate(&self, group: usize) -> Option<usize> {
        let count = self.found.groups.list[group].candidates.len();
        (0..count).find(|&one| !self.made.contains(&(group, one)))
    }
}
