//! Branch-affect groups: the orders of the operations that affect a branch.
//!
//! **Input**: executions, one after the other. **Output**: [`Groups`]: for each branch and each wait, the orders that an
//! execution has had, and the orders that executions may still have, each with ways to try them.
//!
//! **Algorithm** (Algorithm 3 of the paper, "complete and cut" of docs/paths.md). At each branch, an execution belongs to the
//! group of the order in which it has executed the operations that affect the branch. The trace, reduced to these operations,
//! determines the other orders ([`orders`]). Two traces with the same reduction have the same orders, so the search runs once for
//! both.
//!
//! **Soundness and limits**: an order is a guess until an execution has had it: values may forbid it, or lead to operations that
//! are not in the trace. Branches without an affecting operation of another thread have no groups.

use super::analysis::{Decision, DecisionKind, DecisionPlace, PlacedOperation, Placing};
use super::guided::Requirement;
use super::ids::{ActionId, EvaluationId};
use super::interleaving::{Interleaving, MAX_THREADS, Step};
use super::orders::{Goal, orders};
use super::projection::Projection;
use super::trace::{ActionKind, Trace};
use super::use_define::Point;
use cssame_vm::PathId;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// Ways to try an order that are kept.
const MAX_CANDIDATES: usize = 2;

/// Ways that are tried for an order that others have not led to, at most.
const MAX_RETRIED: usize = 8;

/// What an operation of a group takes in an answer, where it and its thread are texts, and what a step of a schedule takes there.
const OPERATION_BYTES: usize = 160;
const STEP_BYTES: usize = 16;

/// A way to try an order.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The execution whose trace it comes from.
    pub run: usize,
    /// The decision in that execution.
    pub decision: usize,
    /// The actions in their order.
    pub required: Vec<Requirement>,
    /// The operations of the decision that come before it, in their order.
    pub members: Vec<ActionId>,
}

/// What is known of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// No execution has had it yet.
    Open,
    /// An execution has had it.
    Seen,
    /// No execution has it.
    Infeasible,
    /// The execution that was found for it belongs to another group: it has done other operations beside.
    Elsewhere,
    /// A bound was hit before it was decided.
    Undecided,
}

impl GroupState {
    /// Whether the group is one, so far as is known.
    #[must_use]
    pub fn is_listed(self) -> bool {
        matches!(self, GroupState::Open | GroupState::Seen | GroupState::Undecided)
    }

    /// Whether it is known if an execution has it.
    #[must_use]
    pub fn is_decided(self) -> bool {
        matches!(self, GroupState::Seen | GroupState::Infeasible)
    }
}

/// A group.
#[derive(Clone, Debug)]
pub struct Group {
    /// The instance of the branch or wait where it was found first.
    pub instance: u32,
    /// How that came out in an execution of the group.
    pub outcome: Option<bool>,
    /// What is known.
    pub state: GroupState,
    /// The first execution that has had it.
    pub seen_by: Option<usize>,
    /// The first test among them.
    pub tested_by: Option<usize>,
    /// Ways to try it.
    pub candidates: Vec<Candidate>,
}

/// A branch or a wait, and an order.
pub type GroupKey = (DecisionPlace, Vec<PlacedOperation>);

/// What a trace is left with, told apart.
type Signature = (DecisionPlace, Vec<(PathId, Vec<Vec<Part>>)>);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Operation(PlacedOperation),
    Other(ActionKind),
}

/// All groups.
#[derive(Default)]
pub struct Groups {
    /// The groups, in the order in which they were found; also those of branches that nothing affects, which count for
    /// nothing: in another execution something may.
    pub list: IndexMap<GroupKey, Group, FxBuildHasher>,
    /// The branches and waits that an operation of another thread affects in some execution.
    pub affected: FxHashSet<DecisionPlace>,
    /// The same by evaluation.
    pub affected_instances: FxHashSet<(DecisionPlace, u32)>,
    known: FxHashSet<Signature>,
    /// Whether orders were left out because there were too many.
    pub cut: bool,
    /// Memory that groups and their candidates take, in an answer as well.
    pub bytes: usize,
}

/// An execution as groups see it.
pub struct Seen<'a> {
    /// Its number.
    pub run: usize,
    /// Whether it is a test.
    pub test: Option<usize>,
    /// Its trace.
    pub trace: &'a Trace,
    /// Its decisions.
    pub decisions: &'a [Decision],
}

impl Groups {
    /// Adds the groups that an execution belongs to, and those that its trace says there are, as long as there is room.
    pub fn add(&mut self, placing: Placing<'_>, spurious: bool, seen: &Seen<'_>, has_room: impl Fn(&Groups) -> bool) {
        for decision in seen.decisions {
            if decision.affected {
                self.affected.insert(decision.place);
                self.affected_instances.insert((decision.place, decision.instance));
            }
            if decision.same_as.is_none() {
                self.note(decision, seen);
            }
        }
        for (index, decision) in seen.decisions.iter().enumerate() {
            if decision.affected && decision.same_as.is_none() {
                self.guess(placing, spurious, seen, (index, decision), &has_room);
            }
        }
    }

    fn entry(&mut self, place: DecisionPlace, order: Vec<PlacedOperation>, instance: u32) -> &mut Group {
        let bytes = &mut self.bytes;
        self.list.entry((place, order)).or_insert_with_key(|(_, order)| {
            *bytes += size_of::<(GroupKey, Group)>() + size_of_val(&order[..]) + order.len() * OPERATION_BYTES;
            Group {
                instance,
                outcome: None,
                state: GroupState::Open,
                seen_by: None,
                tested_by: None,
                candidates: Vec::new(),
            }
        })
    }

    /// The group that an execution belongs to.
    fn note(&mut self, decision: &Decision, seen: &Seen<'_>) {
        let group = self.entry(decision.place, decision.order.clone(), decision.instance);
        group.state = GroupState::Seen;
        if group.outcome.is_none() {
            group.outcome = Some(decision.outcome);
        }
        let is_first = group.seen_by.is_none();
        group.seen_by = group.seen_by.or(Some(seen.run));
        group.tested_by = group.tested_by.or(seen.test);
        if is_first {
            self.bytes += seen.trace.steps.len() * STEP_BYTES;
        }
    }

    /// The groups that other orders of the same operations would belong to.
    fn guess(
        &mut self,
        placing: Placing<'_>,
        spurious: bool,
        seen: &Seen<'_>,
        (index, decision): (usize, &Decision),
        has_room: &impl Fn(&Groups) -> bool,
    ) {
        if !has_room(self) {
            self.cut = true;
            return;
        }
        let point = point_of(seen.trace, decision);
        let projection = Projection::of(placing.program, seen.trace, &decision.related.members, point);
        if projection.threads.len() > MAX_THREADS {
            self.cut = true;
            return;
        }
        if !self.known.insert(signature(placing, seen.trace, decision, &projection)) {
            return;
        }
        let interleaving = Interleaving::new(placing.program, seen.trace, &projection, spurious);
        let goal =
            Goal { thread: projection.thread(decision.place.thread), waits: decision.place.kind == DecisionKind::Wait };
        let orders = orders(&interleaving, goal);
        self.cut |= orders.cut;
        for order in &orders.list {
            if !has_room(self) {
                self.cut = true;
                return;
            }
            let by_place = placing.cut_order(seen.trace, &order.members, decision.place.thread);
            let group = self.entry(decision.place, by_place, decision.instance);
            // Another trace may know a way where those of the traces before have led elsewhere.
            let is_retried = matches!(group.state, GroupState::Elsewhere | GroupState::Undecided);
            if is_retried && group.candidates.len() < MAX_RETRIED {
                group.state = GroupState::Open;
            }
            let most = if is_retried { MAX_RETRIED } else { MAX_CANDIDATES };
            if group.state == GroupState::Open && group.candidates.len() < most {
                let required = requirements(seen.trace, &interleaving, &orders.way(order));
                let (run, decision, members) = (seen.run, index, order.members.clone());
                let lists = size_of_val(&required[..]) + size_of_val(&members[..]);
                group.candidates.push(Candidate { run, decision, required, members });
                self.bytes += size_of::<Candidate>() + lists;
            }
        }
    }

    /// The groups that are open.
    pub fn open(&self) -> impl Iterator<Item = usize> + '_ {
        let open = |group: &Group| group.state == GroupState::Open;
        self.list.values().enumerate().filter(move |(_, group)| open(group)).map(|(index, _)| index)
    }
}

/// The group that a decision would belong to if the actions of its trace were done in another order.
#[must_use]
pub fn group_in_order(placing: Placing<'_>, trace: &Trace, decision: &Decision, order: &[ActionId]) -> GroupKey {
    let members: FxHashSet<ActionId> = decision.related.members.iter().copied().collect();
    let in_order: Vec<ActionId> = order.iter().copied().filter(|id| members.contains(id)).collect();
    (decision.place, placing.cut_order(trace, &in_order, decision.place.thread))
}

/// What a decision of a trace is about.
fn point_of<'t>(trace: &'t Trace, decision: &Decision) -> Point<'t> {
    match decision.place.kind {
        DecisionKind::Branch => Point::Branch(&trace.evaluations[EvaluationId::new(decision.index)]),
        DecisionKind::Wait => Point::Wait(&trace.waits[decision.index]),
    }
}

/// The actions of a way that have their place in it.
#[must_use]
pub fn requirements(trace: &Trace, interleaving: &Interleaving<'_>, way: &[Step]) -> Vec<Requirement> {
    let mut words = interleaving.initial();
    let mut required = Vec::with_capacity(way.len());
    for &step in way {
        if let Some(&first) = interleaving.next(&words, step.thread).and_then(<[_]>::first) {
            let action = &trace.actions[first];
            let wakes = step.wakes.map(|thread| interleaving.projection.threads[thread].path);
            required.push(Requirement { thread: action.thread, step: action.step, wakes });
        }
        words = interleaving.apply(&words, step);
    }
    required
}

fn signature(placing: Placing<'_>, trace: &Trace, decision: &Decision, projection: &Projection) -> Signature {
    let part = |&id: &ActionId| {
        let action = &trace.actions[id];
        let is_member = projection.members.contains(id.index());
        if is_member { Part::Operation(placing.of(action)) } else { Part::Other(action.kind) }
    };
    let threads = projection.threads.iter();
    let moves = |thread: &super::projection::ProjectedThread| {
        let parts = thread.moves.iter().map(|actions| actions.iter().map(part).collect());
        (thread.path, parts.collect())
    };
    (decision.place, threads.map(moves).collect())
}
