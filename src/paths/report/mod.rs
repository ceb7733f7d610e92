//! Findings with names, as answers show them.
//!
//! **Input**: [`Findings`] and the session that made them. **Output**: plain data that serialises (docs/json.md).

mod data;
mod drawing;

pub use data::*;

use super::algorithm::{Shown, StoppedBy, TestReason};
use super::analysis::{DecisionKind, DecisionPlace, PlacedOperation, Word};
use super::exact::{Exactness, Missed};
use super::find::{Criterion, Findings, First, Graph, Request};
use super::groups::{Group, GroupKey, GroupState};
use super::interleaving::Obstacle;
use super::races::{Arrays, UnprotectedPair, unprotected_pairs};
use super::run::Session;
use super::trace::Trace;
use cssame_explore::report::{DeadlockReport, FailureReport};
use cssame_ir::flow::loop_tests;
use cssame_ir::{Access, Function};
use cssame_schedule::{ExecutionStatus, Namer, Naming, SharedStep, lock_name};
use cssame_source::Span;
use cssame_vm::{Choice, PathId};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Gives names to findings.
#[must_use]
pub fn report(session: &Session<'_>, request: &Request, findings: &Findings) -> PathsReport {
    let naming = session.model.naming();
    let of = |function: &Function| -> Vec<Span> {
        loop_tests(function).into_iter().map(|block| function.blocks[block].terminator_span).collect()
    };
    let loops = session.model.program().functions.iter().flat_map(of).collect();
    let mut reporter =
        Reporter { session, findings, naming, namer: Namer::new(naming), numbers: BTreeMap::new(), loops };
    reporter.number_groups();
    reporter.report(request)
}

struct Reporter<'a> {
    session: &'a Session<'a>,
    findings: &'a Findings,
    naming: Naming<'a>,
    namer: Namer<'a>,
    /// By group: its number among those of its branch.
    numbers: BTreeMap<usize, u32>,
    /// The tests of loops that are left nowhere else.
    loops: BTreeSet<Span>,
}

/// Where a race is: the two places.
type RaceKey = [Span; 2];

impl Reporter<'_> {
    fn report(&mut self, request: &Request) -> PathsReport {
        let explored = &self.findings.explored;
        let groups = self.groups(DecisionKind::Branch, GroupState::is_listed);
        let wait_groups = self.groups(DecisionKind::Wait, GroupState::is_listed);
        let mut infeasible_groups = self.groups(DecisionKind::Branch, |state| state == GroupState::Infeasible);
        infeasible_groups.extend(self.groups(DecisionKind::Wait, |state| state == GroupState::Infeasible));
        let counted = self.findings.counted.as_ref();
        let test_cases = match counted {
            None => Some(groups.len() as u64),
            Some(counted) => counted.classes.map(|classes| u64::try_from(classes).unwrap_or(u64::MAX)),
        };
        let program = self.session.model.program();
        let names = |leaves: &[cssame_ir::LeafId]| -> Vec<String> {
            leaves.iter().map(|&leaf| program.texts.get(program.leaves[leaf].name).to_owned()).collect()
        };
        let (failures, deadlocks) = (self.failures(), self.deadlocks());
        PathsReport {
            complete: self.is_complete(),
            bound: self.bound(),
            criterion: request.criterion.word(),
            first_run: self.first_run(),
            test_cases,
            executions: explored.tests.len() as u64,
            attempts: self.findings.attempts as u64,
            shared: names(self.session.operations.shared()),
            read_shared: names(self.session.operations.read_shared()),
            branches: self.branches(),
            groups: if request.criterion == Criterion::RaceEquivalent { groups } else { Vec::new() },
            wait_groups: if request.criterion == Criterion::RaceEquivalent { wait_groups } else { Vec::new() },
            infeasible_groups,
            races: self.races(request),
            failures,
            deadlocks,
            tests: self.tests(),
            race_equivalent: EquivalenceReport {
                classes: explored.classes.len(),
                tests: explored.classes.values().map(|&test| test + 1).collect::<BTreeSet<_>>().into_iter().collect(),
            },
            graph: self.findings.graph.as_ref().map(|graph| self.graph(graph, request.draws)),
            stopped_by: match explored.stopped_by {
                StoppedBy::Rows => "rows",
                StoppedBy::Groups => "groups",
                StoppedBy::Bound(_) => "bound",
            },
            exact: self.findings.exactness.as_ref().map(|exactness| self.exact(exactness)),
            counted: counted
                .map(|counted| CountedReport { infinite: counted.infinite, upper_bound: counted.upper_bound }),
        }
    }

    fn is_complete(&self) -> bool {
        let explored = &self.findings.explored;
        match &self.findings.counted {
            Some(counted) => counted.classes.is_some() && !counted.upper_bound,
            None => {
                !matches!(explored.stopped_by, StoppedBy::Bound(_))
                    && !explored.groups.cut
                    && explored.groups.list.values().all(|group| group.state.is_decided())
                    && self.findings.exactness.as_ref().is_some_and(|exactness| exactness.complete)
            }
        }
    }

    fn bound(&self) -> Option<&'static str> {
        let method = match self.findings.explored.stopped_by {
            StoppedBy::Bound(bound) => Some(bound),
            StoppedBy::Rows | StoppedBy::Groups => None,
        };
        let exact = self.findings.exactness.as_ref().and_then(|exactness| exactness.bound);
        let counted = self.findings.counted.as_ref().and_then(|counted| counted.bound);
        let bound = method.or(counted).or(exact).map(cssame_budget::Bound::name);
        let groups = &self.findings.explored.groups;
        let undecided = || {
            let is_undecided = |group: &Group| !group.state.is_decided();
            groups.list.values().any(is_undecided).then_some("undecided-groups")
        };
        bound.or_else(|| groups.cut.then_some("max-orders")).or_else(undecided)
    }

    fn thread(&self, path: PathId) -> String {
        self.session.model.machine().path_name(&self.session.tables, path)
    }

    fn position(&self, span: Span) -> String {
        self.session.model.sources().place(span)
    }

    /// `T1:2:9#1`
    fn instance(&self, place: DecisionPlace, instance: u32) -> String {
        format!("{}:{}#{instance}", self.thread(place.thread), self.position(place.span))
    }

    /// `write x@10:3`
    fn operation(&self, operation: &PlacedOperation) -> String {
        let word = match operation.word {
            Word::Read => "read",
            Word::Write => "write",
            Word::Wait => "wait",
            Word::Notify => "notify",
        };
        let name = operation.name.map_or("", |name| self.session.model.program().texts.get(name));
        let space = if name.is_empty() { "" } else { " " };
        format!("{word}{space}{name}@{}", self.position(operation.span))
    }

    fn place(&self, access: Access) -> String {
        let program = self.session.model.program();
        format!("{}@{}", program.texts.get(access.name(program)), self.position(access.span(program)))
    }

    fn trace(&self, test: usize) -> &Trace {
        let explored = &self.findings.explored;
        &explored.runs[explored.tests[test].run].run.trace
    }

    fn steps(&mut self, steps: &[Choice]) -> Vec<SharedStep> {
        self.namer.steps(steps)
    }

    fn first_run(&mut self) -> FirstRunReport {
        let trace = &self.findings.explored.runs[0].run.trace;
        let (kind, seed) = match &self.findings.first {
            First::InTurn => ("in-turn", None),
            First::Seed(seed) => ("seed", Some(*seed)),
            First::Steps(_) => ("schedule", None),
        };
        FirstRunReport {
            kind,
            seed,
            replaced: self.findings.first_replaced,
            status: status(trace),
            schedule: self.namer.steps(&trace.steps),
        }
    }

    /// Places in the order of threads and of the text.
    fn compare(&self, a: DecisionPlace, b: DecisionPlace) -> Ordering {
        let threads = self.session.tables.compare_paths(a.thread, b.thread);
        threads.then(a.span.cmp(&b.span)).then(a.kind.cmp(&b.kind))
    }

    fn branches(&self) -> Vec<BranchReport> {
        let shown = self.findings.explored.shown.iter();
        let mut branches: Vec<(&(DecisionPlace, u32), &Shown)> =
            shown.filter(|((place, _), _)| place.kind == DecisionKind::Branch).collect();
        branches.sort_by(|(a, _), (b, _)| self.compare(a.0, b.0).then(a.1.cmp(&b.1)));
        let impossible = self.findings.exactness.as_ref().map_or(&[][..], |exactness| &exactness.impossible);
        let affected = &self.findings.explored.groups.affected_instances;
        let branch = |&(&(place, instance), shown): &(&(DecisionPlace, u32), &Shown)| BranchReport {
            branch: self.instance(place, instance),
            outcomes: [true, false].into_iter().filter(|one| shown.outcomes.contains(one)).map(truth).collect(),
            impossible: [true, false]
                .into_iter()
                .filter(|&one| impossible.contains(&(place, instance, one)))
                .map(truth)
                .collect(),
            affected: affected.contains(&(place, instance)),
            operations: shown
                .operations
                .iter()
                .map(|operation| self.operation(operation))
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            same_as: shown.same_as.map(|earlier| self.instance(place, earlier)),
            span: place.span,
        };
        branches.iter().map(branch).collect()
    }

    /// Numbers the groups of each evaluation of a branch.
    fn number_groups(&mut self) {
        let mut next: BTreeMap<(DecisionPlace, u32), u32> = BTreeMap::new();
        for (index, ((place, _), group)) in self.findings.explored.groups.list.iter().enumerate() {
            let counts = self.findings.explored.groups.affected.contains(place);
            if counts && group.state != GroupState::Elsewhere {
                let number = next.entry((*place, group.instance)).or_default();
                *number += 1;
                self.numbers.insert(index, *number);
            }
        }
    }

    fn groups(&mut self, kind: DecisionKind, wanted: impl Fn(GroupState) -> bool) -> Vec<GroupReport> {
        let list = &self.findings.explored.groups.list;
        let mut groups: Vec<(usize, &GroupKey, &Group)> =
            list.iter().enumerate().map(|(index, (key, group))| (index, key, group)).collect();
        let affected = &self.findings.explored.groups.affected;
        groups.retain(|(_, (place, _), group)| place.kind == kind && affected.contains(place) && wanted(group.state));
        groups.sort_by(|a, b| self.compare(a.1.0, b.1.0).then(a.2.instance.cmp(&b.2.instance)).then(a.0.cmp(&b.0)));
        groups.into_iter().map(|(index, key, group)| self.group(index, key, group)).collect()
    }

    fn group(&mut self, index: usize, (place, order): &GroupKey, group: &Group) -> GroupReport {
        let run = group.tested_by.map(|test| self.findings.explored.tests[test].run).or(group.seen_by);
        let iterations = run.and_then(|run| self.iterations(run, *place, group.instance));
        let steps = run.map(|run| self.findings.explored.runs[run].run.trace.steps.clone());
        let outcome = |holds: bool| match (place.kind, holds) {
            (DecisionKind::Branch, holds) => truth(holds),
            (DecisionKind::Wait, true) => "woken",
            (DecisionKind::Wait, false) => "not woken",
        };
        let variants = self.findings.graph.as_ref().and_then(|graph| graph.groups.get(index));
        GroupReport {
            branch: self.instance(*place, group.instance),
            group: self.numbers.get(&index).copied().unwrap_or_default(),
            order: order.iter().map(|operation| self.operation(operation)).collect(),
            threads: order.iter().map(|operation| self.thread(operation.thread)).collect(),
            outcome: group.outcome.map(outcome),
            iterations,
            feasible: match group.state {
                GroupState::Seen => Some(true),
                GroupState::Infeasible => Some(false),
                GroupState::Open | GroupState::Elsewhere | GroupState::Undecided => None,
            },
            tested_by: group.tested_by.map(|test| test + 1),
            schedule: steps.as_ref().map(|steps| self.steps(steps)),
            variants: variants.into_iter().flatten().map(|variant| format!("V{}", variant + 1)).collect(),
            span: place.span,
            steps,
        }
    }

    /// The iterations of a loop that an evaluation of its test belongs to: the evaluations around it that hold.
    fn iterations(&self, run: usize, place: DecisionPlace, instance: u32) -> Option<u32> {
        if place.kind != DecisionKind::Branch || !self.loops.contains(&place.span) {
            return None;
        }
        let decisions = self.findings.explored.runs[run].decisions.iter().filter(|one| one.place == place);
        let holds: BTreeMap<u32, bool> = decisions.map(|one| (one.instance, one.outcome)).collect();
        let counted = |one: &u32| holds.get(one) == Some(&true);
        let before = (1..instance).rev().take_while(counted).count();
        let rest = (instance..).take_while(counted).count();
        Some((before + rest) as u32)
    }

    fn races(&self, request: &Request) -> Vec<RaceReport> {
        let program = self.session.model.program();
        let mut found: BTreeMap<RaceKey, (usize, UnprotectedPair)> = BTreeMap::new();
        for test in 0..self.findings.explored.tests.len() {
            for pair in unprotected_pairs(program, self.trace(test), request.arrays) {
                let mut key = pair.accesses.map(|access| access.span(program));
                key.sort_unstable();
                match found.get(&key) {
                    Some((_, known)) if !known.ordered || pair.ordered => {}
                    _ => {
                        found.insert(key, (test, pair));
                    }
                }
            }
        }
        // The elements of an array that counts as one need not be the same.
        let exactness = self.findings.exactness.as_ref().filter(|_| request.arrays == Arrays::Elements);
        let races = found.into_iter().map(|(spans, (test, pair))| {
            let impossible = exactness.is_some_and(|exactness| exactness.keeps_apart(&spans));
            RaceReport { impossible, ..self.race(spans, test, &pair) }
        });
        races.collect()
    }

    fn race(&self, spans: RaceKey, test: usize, pair: &UnprotectedPair) -> RaceReport {
        let (program, trace) = (self.session.model.program(), self.trace(test));
        let mut sides = [0, 1];
        if pair.accesses[0].span(program) > pair.accesses[1].span(program) {
            sides = [1, 0];
        }
        let locks = |side: usize| -> Vec<String> {
            trace.locksets[pair.locks[side].index()]
                .iter()
                .map(|&(lock, mode)| lock_name(program, lock, mode))
                .collect()
        };
        let cell = trace.actions[pair.actions[0]].kind.operand();
        let leaf = cell.and_then(|cell| cell.leaf(program)).map(|leaf| program.leaves[leaf].name);
        RaceReport {
            variable: leaf.map(|name| program.texts.get(name).to_owned()).unwrap_or_default(),
            a: self.place(pair.accesses[sides[0]]),
            b: self.place(pair.accesses[sides[1]]),
            kinds: sides.map(|side| pair.accesses[side].word()).join("/"),
            threads: sides.map(|side| self.thread(trace.actions[pair.actions[side]].thread)),
            locks_a: locks(sides[0]),
            locks_b: locks(sides[1]),
            ordered: pair.ordered,
            impossible: false,
            test: test + 1,
            spans,
        }
    }

    /// The failures of the tests, each kind, message and place once.
    fn failures(&self) -> Vec<TestFailure> {
        let mut known = BTreeSet::new();
        let mut found = Vec::new();
        for test in 0..self.findings.explored.tests.len() {
            let trace = self.trace(test);
            let ExecutionStatus::Failed(data) = trace.status else { continue };
            if !known.insert((self.session.model.machine().span(data.at), data.kind, data.message)) {
                continue;
            }
            let thread = trace.failing.map_or_else(String::new, |path| self.thread(path));
            let failure = FailureReport::of(&self.naming, &data, thread, &trace.steps);
            let steps = trace.steps.clone();
            found.push(TestFailure { failure, test: test + 1, data, steps });
        }
        found
    }

    /// The deadlocks of the tests, each once.
    fn deadlocks(&self) -> Vec<TestDeadlock> {
        let mut known = BTreeSet::new();
        let mut found = Vec::new();
        for test in 0..self.findings.explored.tests.len() {
            let trace = self.trace(test);
            if trace.status != ExecutionStatus::Deadlock {
                continue;
            }
            let machine = self.session.model.machine();
            let mut key: Vec<(PathId, Span)> =
                trace.blocked.iter().map(|&(path, at)| (path, machine.span(at))).collect();
            key.sort_unstable();
            if known.insert(key) {
                let deadlock = DeadlockReport::of(&self.naming, &trace.steps);
                found.push(TestDeadlock { deadlock, test: test + 1, steps: trace.steps.clone() });
            }
        }
        found
    }

    fn tests(&mut self) -> Vec<TestReport> {
        let explored = &self.findings.explored;
        let placing =
            super::analysis::Placing { program: self.session.model.program(), machine: self.session.model.machine() };
        let order: Vec<usize> = explored.classes.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let mut reports = Vec::with_capacity(explored.tests.len());
        for (number, test) in explored.tests.iter().enumerate() {
            let trace = &explored.runs[test.run].run.trace;
            let first = explored.classes.get(&super::manners::Manners::new(placing, trace));
            let class = first.and_then(|first| order.iter().position(|one| one == first)).unwrap_or_default();
            let (reason, group) = match test.reason {
                TestReason::First => ("first", None),
                TestReason::Group(group) => ("group", Some(group)),
                TestReason::Stuck => ("stuck", None),
                TestReason::Exploration => ("exploration", None),
                TestReason::Class => ("class", None),
            };
            let group = group.and_then(|index| {
                let ((place, _), of) = explored.groups.list.get_index(index)?;
                Some((self.instance(*place, of.instance), self.numbers.get(&index).copied().unwrap_or_default()))
            });
            reports.push(TestReport {
                test: number + 1,
                reason,
                group,
                status: status(trace),
                class: class + 1,
                schedule: self.namer.steps(&trace.steps),
                steps: trace.steps.clone(),
            });
        }
        reports
    }

    fn graph(&self, graph: &Graph, draws: bool) -> GraphReport {
        let of = &graph.graph;
        GraphReport {
            nodes: of.nodes.len(),
            variants: of.variants.len(),
            infeasible: InfeasibleReport {
                lock: of.infeasible_by(Obstacle::Lock),
                wait: of.infeasible_by(Obstacle::Wait),
                other: of.infeasible_by(Obstacle::Other),
            },
            stuck: of.stuck(),
            cut: of.cut,
            drawing: draws.then(|| drawing::draw(self.session, self.findings, graph)),
        }
    }

    fn exact(&self, exactness: &Exactness) -> ExactReport {
        let missed = |one: &Missed| match *one {
            Missed::Outcome { place, instance, outcome, test } => {
                let outcome = match place.kind {
                    DecisionKind::Branch => truth(outcome),
                    DecisionKind::Wait if outcome => "woken",
                    DecisionKind::Wait => "not woken",
                };
                let what = format!("{} {outcome}", self.instance(place, instance));
                MissedReport { kind: "outcome", what, test: test + 1 }
            }
            Missed::Race { places, test } => {
                let what = places.map(|span| self.position(span)).join(" ");
                MissedReport { kind: "race", what, test: test + 1 }
            }
            Missed::End { test } => {
                let trace = self.trace(test);
                let what = match trace.status {
                    ExecutionStatus::Failed(failure) => {
                        let at = self.position(self.session.model.machine().span(failure.at));
                        format!("{} at {at}", failure.kind.status())
                    }
                    ref other => other.word().to_owned(),
                };
                MissedReport { kind: "end", what, test: test + 1 }
            }
        };
        ExactReport {
            complete: exactness.complete,
            instances: exactness.instances,
            missed: exactness.missed.iter().map(missed).collect(),
        }
    }
}

fn truth(holds: bool) -> &'static str {
    if holds { "true" } else { "false" }
}

/// How an execution ended.
fn status(trace: &Trace) -> &'static str {
    match trace.status {
        ExecutionStatus::Stopped => ExecutionStatus::ENDLESS,
        ref status => status.word(),
    }
}
