//! The operations on which the branches and waits of an execution depend, and the order in which they happened.
//!
//! **Input**: a trace. **Output**: [`Decision`]s: each evaluation of a branch and each wait, with its outcome, the operations
//! that affect it, and the order of these.
//!
//! **Algorithm**: [`related`] finds the operations. The *order* of a decision is the order of its operations in the trace, up to
//! the last one of its own thread, identified by place: two executions with the same order are in the same branch-affect group
//! (docs/paths.md). Evaluations of one branch by one thread with the same operations by place are equivalent: only the first one
//! counts.
//!
//! **Soundness and limits**: at most [`MAX_INSTANCES`] evaluations of one branch in one thread are distinguished; further ones
//! count as the last of them.

use super::ids::ActionId;
use super::trace::{Action, ActionKind, Trace};
use super::use_define::{Point, Related, Writes, related};
use cssame_ir::{Program, TextId};
use cssame_source::Span;
use cssame_vm::{CodeIndex, Machine, PathId};
use rustc_hash::FxHashMap;

/// Evaluations of one branch by one thread that are looked at.
pub const MAX_INSTANCES: u32 = 64;

/// Use-defines of all branches of one execution together, beyond which no more branches are looked at.
pub const MAX_USES: usize = 5_000_000;

/// Rounds of an endless loop that are told apart.
pub const ROUNDS: u32 = 2;

/// What a member of an order does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Waits for a notification.
    Wait,
    /// Notifies.
    Notify,
}

/// An operation by its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlacedOperation {
    /// Who.
    pub thread: PathId,
    /// What.
    pub word: Word,
    /// Where.
    pub span: Span,
    /// Of what, as it is written there; a wait and a notification have none.
    pub name: Option<TextId>,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecisionKind {
    /// Which way a branch goes.
    Branch,
    /// Whether a wait is woken.
    Wait,
}

/// A branch, or a wait, of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecisionPlace {
    /// Which of both.
    pub kind: DecisionKind,
    /// Who.
    pub thread: PathId,
    /// Where: the condition, or the wait.
    pub span: Span,
}

/// An evaluation of a branch, or a wait.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Where.
    pub place: DecisionPlace,
    /// How often the thread has been there, this time included.
    pub instance: u32,
    /// Whether the condition holds, as it is written; whether the wait was woken.
    pub outcome: bool,
    /// Its index among the evaluations, or the waits, of the trace.
    pub index: usize,
    /// What affects it.
    pub related: Related,
    /// The same by place, sorted, each once.
    pub operations: Vec<PlacedOperation>,
    /// Their order in the trace, up to the last one of its own thread.
    pub order: Vec<PlacedOperation>,
    /// Whether an operation of another thread can change it.
    pub affected: bool,
    /// The earlier instance with the same operations by place, if there is one.
    pub same_as: Option<u32>,
}

/// Places of actions.
#[derive(Clone, Copy)]
pub struct Placing<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its machine.
    pub machine: &'a Machine,
}

impl Placing<'_> {
    /// An action by its place.
    #[must_use]
    pub fn of(self, action: &Action) -> PlacedOperation {
        let (word, span, name) = match (action.kind, action.kind.access()) {
            (_, Some(access)) => {
                let word = if access.is_write() { Word::Write } else { Word::Read };
                (word, access.span(self.program), Some(access.name(self.program)))
            }
            (ActionKind::Notify { .. }, None) => (Word::Notify, self.machine.span(action.at), None),
            _ => (Word::Wait, self.machine.span(action.at), None),
        };
        PlacedOperation { thread: action.thread, word, span, name }
    }

    /// A branch of a thread.
    #[must_use]
    pub fn branch(self, thread: PathId, at: CodeIndex) -> DecisionPlace {
        DecisionPlace { kind: DecisionKind::Branch, thread, span: self.machine.span(at) }
    }

    /// A wait of a thread.
    #[must_use]
    pub fn wait(self, thread: PathId, at: CodeIndex) -> DecisionPlace {
        DecisionPlace { kind: DecisionKind::Wait, thread, span: self.machine.span(at) }
    }

    /// Whether the condition of a branch holds as it is written, where what the branch tests does, or does not.
    #[must_use]
    pub fn outcome(self, at: CodeIndex, holds: bool) -> bool {
        let origin = self.machine.origin(at);
        holds != self.program.functions[origin.function].blocks[origin.block].negated
    }

    /// The order of some actions, up to the last one of a thread; all of them where it has none.
    #[must_use]
    pub fn cut_order(self, trace: &Trace, members: &[ActionId], thread: PathId) -> Vec<PlacedOperation> {
        let own = members.iter().rposition(|&id| trace.actions[id].thread == thread);
        let end = own.map_or(members.len(), |last| last + 1);
        members[..end].iter().map(|&id| self.of(&trace.actions[id])).collect()
    }
}

/// The decisions of a trace.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// Branches, then waits, each in the order of the trace.
    pub list: Vec<Decision>,
    /// Whether some were left out because there are too many use-defines.
    pub cut: bool,
}

/// All decisions of a trace.
#[must_use]
pub fn decisions(placing: Placing<'_>, trace: &Trace) -> Decisions {
    let writes = Writes::new(trace);
    let instances = if trace.endless { ROUNDS } else { MAX_INSTANCES };
    let branches = trace.evaluations.entries().map(|(id, evaluation)| {
        let place = placing.branch(evaluation.thread, evaluation.at);
        let outcome = placing.outcome(evaluation.at, evaluation.holds);
        (Point::Branch(evaluation), Moment { place, instance: evaluation.instance, outcome, index: id.index() })
    });
    let waits = trace.waits.iter().enumerate().map(|(index, waiting)| {
        let action = &trace.actions[waiting.action];
        let place = placing.wait(action.thread, action.at);
        (Point::Wait(waiting), Moment { place, instance: action.instance, outcome: waiting.woken, index })
    });
    let (mut found, mut uses) = (Decisions::default(), 0);
    for (point, moment) in branches.chain(waits).filter(|(_, moment)| moment.instance <= instances) {
        if uses > MAX_USES {
            found.cut = true;
            break;
        }
        let decision = decision(placing, trace, &writes, point, moment);
        uses += decision.related.members.len() + decision.related.use_defines.len();
        found.list.push(decision);
    }
    find_repetitions(&mut found.list);
    found
}

/// When something is decided, and how.
struct Moment {
    place: DecisionPlace,
    instance: u32,
    outcome: bool,
    index: usize,
}

fn decision(
    placing: Placing<'_>,
    trace: &Trace,
    writes: &Writes,
    point: Point<'_>,
    Moment { place, instance, outcome, index }: Moment,
) -> Decision {
    let mut related = related(trace, writes, point);
    if trace.endless {
        related.members.retain(|&id| {
            let action = &trace.actions[id];
            action.thread == place.thread || action.instance <= ROUNDS
        });
    }
    let mut before_it = related.members.clone();
    if place.kind == DecisionKind::Branch && !before_it.iter().any(|&id| trace.actions[id].thread == place.thread) {
        before_it.retain(|id| id.index() < point.before());
    }
    let order = placing.cut_order(trace, &before_it, place.thread);
    let mut operations: Vec<PlacedOperation> =
        related.in_use_defines(trace).map(|id| placing.of(&trace.actions[id])).collect();
    operations.sort_unstable();
    operations.dedup();
    let affected = is_affected(trace, &related.members, place.thread);
    Decision { place, instance, outcome, index, related, operations, order, affected, same_as: None }
}

/// Whether another thread writes what a decision depends on, or notifies a wait.
fn is_affected(trace: &Trace, members: &[ActionId], thread: PathId) -> bool {
    members.iter().any(|&id| {
        let action = &trace.actions[id];
        action.thread != thread && (action.kind.is_write() || matches!(action.kind, ActionKind::Notify { .. }))
    })
}

/// Notes which decisions of one place have the operations of an earlier one.
fn find_repetitions(decisions: &mut [Decision]) {
    let mut first: FxHashMap<(DecisionPlace, Vec<PlacedOperation>), u32> = FxHashMap::default();
    for decision in decisions {
        let key = (decision.place, decision.operations.clone());
        match first.get(&key) {
            Some(&earlier) => decision.same_as = Some(earlier),
            None => {
                first.insert(key, decision.instance);
            }
        }
    }
}
