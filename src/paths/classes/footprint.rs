//! The resources that a step uses, and the steps that may be exchanged.
//!
//! **Input**: the events of one step. **Output**: its [`Footprint`]: the operations, the other resources that it uses, and
//! whether it ends the execution. For two footprints: whether the steps depend on each other ([`Dependence`]).
//!
//! **Algorithm**: two steps of different threads depend on each other in three cases. They perform operations on one cell, at
//! least one of them a write. One of them changes another resource that both use, as defined by [`schedule::used_by`]. One of
//! them fails, or stops in the middle of an atomic block, since no other thread moves after it.
//!
//! **Soundness and limits**: a footprint belongs to an executed step in the state where it was executed. While only independent
//! steps of other threads are executed, the thread has the same next step with the same footprint.

use super::operations::Operations;
use cssame_schedule as schedule;
use cssame_schedule::{Resource, Use};
use cssame_vm::{Cell, CodeIndex, Event, FailureKind, Observer, ThreadIndex, ThreadName};
use smallvec::SmallVec;

/// Whether, and by what, two steps depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dependence {
    /// They may change places.
    None,
    /// Their order is seen in the versions, or in how the execution ends.
    Visible,
    /// Their order may make no difference that is seen.
    Hidden,
}

/// What a step uses.
#[derive(Clone, Debug)]
pub(super) struct Footprint {
    thread: ThreadIndex,
    /// Cells, and whether they are written.
    operations: SmallVec<[(Cell, bool); 2]>,
    others: SmallVec<[(Resource, Use); 4]>,
    /// How it fails.
    pub(super) fails: Option<(FailureKind, CodeIndex)>,
    /// Whether it stops where no other thread can move.
    pub(super) is_exclusive: bool,
    chooses: bool,
    /// Whether it tries, or comes back from a wait that may time out: its verdict is seen.
    has_verdict: bool,
}

impl Footprint {
    fn add(&mut self, resource: Resource, by: Use) {
        match self.others.iter_mut().find(|(known, _)| *known == resource) {
            Some((_, known)) => *known = by.max(*known),
            None => self.others.push((resource, by)),
        }
    }

    /// Whether it is seen that the step was done.
    pub(super) fn is_seen(&self) -> bool {
        self.chooses || self.has_verdict || !self.operations.is_empty()
    }

    /// Whether the values of its alternatives are seen.
    pub(super) fn is_choice(&self) -> bool {
        self.chooses
    }

    /// Whether it depends on another step that could be done in its place.
    pub(super) fn dependence(&self, other: &Footprint) -> Dependence {
        if self.thread == other.thread {
            return Dependence::Visible;
        }
        if self.fails.is_some() || other.fails.is_some() {
            // Whoever fails first leaves the other step undone, which must be seen.
            let differ = if self.fails.is_some() && other.fails.is_some() {
                self.fails != other.fails
            } else {
                self.fails.is_some() && other.is_seen() || other.fails.is_some() && self.is_seen()
            };
            return if differ { Dependence::Visible } else { Dependence::Hidden };
        }
        let conflicts = |&(cell, writes): &(Cell, bool)| {
            other.operations.iter().any(|&(with, too)| with == cell && (writes || too))
        };
        if self.operations.iter().any(conflicts) {
            return Dependence::Visible;
        }
        let collides = |&(resource, by): &(Resource, Use)| {
            let mut others = other.others.iter();
            others.any(|&(with, of)| with == resource && (by == Use::Exclusive || of == Use::Exclusive))
        };
        let is_hidden = self.is_exclusive || other.is_exclusive || self.others.iter().any(collides);
        if is_hidden { Dependence::Hidden } else { Dependence::None }
    }
}

/// Records the footprint of a step.
pub(super) struct Recorder<'a> {
    operations: &'a Operations,
    pub(super) footprint: Footprint,
}

impl<'a> Recorder<'a> {
    /// Before a step of that thread.
    pub(super) fn new(operations: &'a Operations, thread: ThreadIndex) -> Recorder<'a> {
        let (operations_of_step, others) = Default::default();
        let footprint = Footprint {
            thread,
            operations: operations_of_step,
            others,
            fails: None,
            is_exclusive: false,
            chooses: false,
            has_verdict: false,
        };
        Recorder { operations, footprint }
    }
}

impl Observer for Recorder<'_> {
    fn begin_step(&mut self, thread: ThreadName) {
        self.footprint.add(Resource::Thread(thread.path), Use::Exclusive);
    }

    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        // A step may let other threads go on as well.
        self.footprint.add(Resource::Thread(thread.path), Use::Exclusive);
        match event {
            Event::Read { cell, shared: true, .. } if self.operations.contains(cell) => {
                self.footprint.operations.push((cell, false));
            }
            Event::Write { cell, shared: true, .. } if self.operations.contains(cell) => {
                self.footprint.operations.push((cell, true));
            }
            Event::Choose { .. } => self.footprint.chooses = true,
            Event::Verdict { .. } => self.footprint.has_verdict = true,
            Event::Failure(failure) => self.footprint.fails = Some((failure.kind, failure.at)),
            _ => {
                if let Some((resource, by)) = schedule::used_by(thread.path, event) {
                    self.footprint.add(resource, by);
                }
            }
        }
    }
}
