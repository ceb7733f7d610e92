//! Executions that try to satisfy an abstract schedule.
//!
//! **Input**: an [`AbstractSchedule`], a [`Policy`], a bound. **Output**: a policy.
//!
//! **Algorithm**. A thread is held back, so that the inner policy does not see it, while it stands before
//!
//! - a read with unsatisfied wanted constraints, if the last write of the cell is none of their definitions;
//! - a read that would now see an unwanted definition;
//! - a write to a cell whose last write is wanted by a read that has not seen it yet, unless the write is the same definition.
//!
//! If all threads that can move are held back, the inner policy chooses among all. A thread that was held back for as many steps
//! of others as the bound allows is released until it moves.
//!
//! **Soundness and limits**. An abstract schedule without constraints changes no execution. Constraints are preferences: an
//! execution that cannot satisfy them does something else. Accesses inside atomic blocks, and accesses that follow a `print`
//! without another operation in between, are not visible before they are executed. They are not held back, and do not satisfy a
//! constraint. The elements of an array share one definition: a write to one of them may be held back because of another.

use super::abstract_schedule::{AbstractSchedule, Constraint};
use crate::per_thread::PerThread;
use crate::policy::{Decision, Policy, View};
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{CodeIndex, Event, Move, Pending, ThreadIndex, ThreadName};

/// Holds threads back so that reads see what they are to see.
#[derive(Clone, Debug)]
pub struct Steered<P> {
    inner: P,
    /// Those that are not satisfied.
    constraints: Vec<Constraint>,
    bound: u32,
    /// For how many steps of others.
    held: PerThread<u32>,
    offered: Vec<Move>,
}

impl Steered<()> {
    /// Steps of others for which a thread is held back at most, unless told otherwise.
    pub const BOUND: u32 = 1_000;
}

impl<P> Steered<P> {
    /// Lets a policy choose among the threads that an abstract schedule does not hold back.
    pub fn new(inner: P, schedule: &AbstractSchedule, bound: u32) -> Steered<P> {
        let constraints = schedule.constraints().to_vec();
        Steered { inner, constraints, bound, held: PerThread::new(), offered: Vec::new() }
    }

    /// The policy that chooses among those that are not held back.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    fn holds(&self, view: &View<'_>, thread: ThreadIndex) -> bool {
        match view.machine.pending(view.state, thread) {
            Some(Pending::Read { read, address: Some(address) }) => self.holds_read(read, view.state.writer(address)),
            Some(Pending::Write { definition, address: Some(address) }) => {
                self.holds_write(definition, view.state.writer(address))
            }
            Some(Pending::Atomic { read, definition, address: Some(address), writes, .. }) => {
                let last = view.state.writer(address);
                // What it reads itself it does not destroy.
                self.holds_read(read, last) || writes && !self.wants(read, last) && self.holds_write(definition, last)
            }
            _ => false,
        }
    }

    fn wants(&self, read: ReadId, last: Option<DefinitionId>) -> bool {
        self.constraints.iter().any(|known| known.wanted && known.read == read && Some(known.definition) == last)
    }

    fn holds_read(&self, read: ReadId, last: Option<DefinitionId>) -> bool {
        let (mut waits, mut sees) = (false, false);
        for known in self.constraints.iter().filter(|known| known.read == read) {
            let is_last = Some(known.definition) == last;
            if is_last && !known.wanted {
                return true;
            }
            waits |= known.wanted;
            sees |= is_last;
        }
        waits && !sees
    }

    fn holds_write(&self, definition: DefinitionId, last: Option<DefinitionId>) -> bool {
        let is_wanted = |known: &Constraint| known.wanted && Some(known.definition) == last;
        Some(definition) != last && self.constraints.iter().any(is_wanted)
    }

    /// A thread does its next step: what it reads is satisfied.
    fn satisfy(&mut self, view: &View<'_>, thread: ThreadIndex) {
        let (read, address) = match view.machine.pending(view.state, thread) {
            Some(Pending::Read { read, address: Some(address) }) => (read, address),
            Some(Pending::Atomic { read, address: Some(address), .. }) => (read, address),
            _ => return,
        };
        let last = view.state.writer(address);
        self.constraints.retain(|known| !(known.wanted && known.read == read && Some(known.definition) == last));
    }
}

impl<P: Policy> Policy for Steered<P> {
    const OBSERVES: bool = P::OBSERVES;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        if self.constraints.is_empty() {
            return self.inner.choose(view, moves);
        }
        let mut offered = std::mem::take(&mut self.offered);
        offered.clear();
        for one in moves {
            let is_held = self.holds(view, one.thread);
            let steps = self.held.get_or_insert_with(view.state, one.thread, || 0);
            if is_held && *steps < self.bound {
                *steps += 1;
            } else {
                offered.push(*one);
            }
        }
        let decision = self.inner.choose(view, if offered.is_empty() { moves } else { &offered });
        self.offered = offered;
        if let Decision::Step(choice) = decision {
            self.held.remove(choice.thread);
            self.satisfy(view, choice.thread);
        }
        decision
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.inner.event(thread, at, event);
    }
}
