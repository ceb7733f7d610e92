//! Switches between threads at few places only.
//!
//! **Input**: a [`Policy`], accesses at which it may choose in addition to synchronisation, a bound. **Output**: a policy.
//!
//! **Algorithm**. The thread of the last step continues, unless it cannot, has ended, or stands before an operation at which
//! threads may be switched: an operation on a synchronisation object, an atomic expression or block, creating or joining threads,
//! or one of the given accesses. There the inner policy chooses among all threads. If the thread continues, the inner policy is
//! asked as well, but sees only that thread: it draws the alternatives, and knows all steps.
//!
//! A thread may wait in a loop if it has continued for as many steps as the bound allows while others could move. The inner
//! policy then chooses among those others that have not reached the bound, or among all others if all have.
//!
//! **Soundness and limits**. This is the granularity of Sen's tool: it switches at synchronisation and at its target pair of
//! accesses. For a program without data races, nothing is missed: its executions can be reordered so that threads are switched
//! only before synchronisation. For other programs, executions are missed in which a thread is interrupted between two accesses
//! without synchronisation, such as a lost update by `x += 1`, unless the accesses are given. Reads and writes in a loop that
//! waits for a plain variable are followed up to the bound, which hides the possible actions of others during that time. An inner
//! policy cannot hold back the thread that continues.

use super::per_thread::PerThread;
use super::policy::{Decision, Policy, View};
use cssame_vm::{Choice, CodeIndex, Event, Move, PathId, Pending, ThreadIndex, ThreadName, Visibility};
use std::slice;

/// Lets a policy choose at synchronisation, and at given accesses.
#[derive(Clone, Debug)]
pub struct SwitchAt<'a, P> {
    inner: P,
    accesses: &'a Visibility,
    bound: u32,
    /// Who did the last step.
    last: Option<(ThreadIndex, PathId)>,
    /// How many it has done since the inner policy chose it, without those in which no other thread could move.
    in_a_row: u32,
    /// Those that have gone on for too long since the inner policy chose them among all.
    yielded: PerThread<()>,
    offered: Vec<Move>,
}

impl SwitchAt<'_, ()> {
    /// Steps for which a thread goes on at most, unless told otherwise.
    pub const BOUND: u32 = 1_000;
}

impl<'a, P> SwitchAt<'a, P> {
    /// Lets a policy choose at synchronisation and at these accesses, or where a thread has gone on for so many steps.
    pub fn new(inner: P, accesses: &'a Visibility, bound: u32) -> SwitchAt<'a, P> {
        SwitchAt { inner, accesses, bound, last: None, in_a_row: 0, yielded: PerThread::new(), offered: Vec::new() }
    }

    /// The policy that chooses there.
    #[must_use]
    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// Offers the inner policy all that have not yielded, or, if they all have, all but the last one that has.
    fn offer(&mut self, view: &View<'_>, moves: &[Move], last: ThreadIndex) {
        let SwitchAt { yielded, offered, .. } = self;
        offered.clear();
        offered.extend(moves.iter().filter(|one| !yielded.has(view.state, one.thread)));
        if offered.is_empty() {
            yielded.retain(|thread| thread == last);
            offered.extend(moves.iter().filter(|one| one.thread != last));
        }
    }

    /// Whether threads may be switched where this one stands.
    fn may_switch(&self, view: &View<'_>, thread: ThreadIndex) -> bool {
        match view.machine.pending(view.state, thread) {
            Some(Pending::Read { read, .. }) => self.accesses.read(read),
            Some(Pending::Write { definition, .. } | Pending::Free { definition, .. }) => {
                self.accesses.definition(definition)
            }
            // The step of a print also does the operation behind it, which may be one of those below.
            Some(Pending::Effect { name }) => name == "print",
            Some(Pending::Choose | Pending::Divergence) => false,
            Some(
                Pending::Atomic { .. }
                | Pending::Synchronise { .. }
                | Pending::Relock { .. }
                | Pending::WaitToWrite { .. }
                | Pending::TimeOut { .. }
                | Pending::SpuriousWakeup { .. }
                | Pending::Fork
                | Pending::Join
                | Pending::Spawn
                | Pending::JoinThread { .. }
                | Pending::AtomicBlock,
            )
            | None => true,
        }
    }
}

impl<P: Policy> Policy for SwitchAt<'_, P> {
    const OBSERVES: bool = P::OBSERVES;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let is_last = |one: &&Move| self.last == Some((one.thread, view.state.path(one.thread)));
        let last = moves.iter().find(is_last).filter(|one| !self.may_switch(view, one.thread));
        let (decision, in_a_row) = match last {
            Some(one) if moves.len() == 1 => (self.inner.choose(view, slice::from_ref(one)), self.in_a_row),
            Some(one) if self.in_a_row < self.bound => {
                (self.inner.choose(view, slice::from_ref(one)), self.in_a_row + 1)
            }
            Some(looping) => {
                self.yielded.get_or_insert_with(view.state, looping.thread, || ());
                self.offer(view, moves, looping.thread);
                (self.inner.choose(view, &self.offered), 0)
            }
            None => (self.inner.choose(view, moves), 0),
        };
        if let Decision::Step(Choice { thread, .. }) = decision {
            if last.is_none() {
                self.yielded.remove(thread);
            }
            self.in_a_row = in_a_row;
            self.last = Some((thread, view.state.path(thread)));
        }
        decision
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.inner.event(thread, at, event);
    }
}

#[cfg(test)]
mod tests;
