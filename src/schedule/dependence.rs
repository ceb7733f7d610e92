//! Dependence of steps: decides which steps of an execution may be exchanged.
//!
//! **Input**: the events of an execution, step by step.
//!
//! **Output**: the [`Footprint`] of each step: the resources that the step uses and changes. From footprints: whether two steps
//! are dependent, and for each step of an execution the steps that must stay before it.
//!
//! **Algorithm**.
//!
//! 1. Each event uses or changes a resource: a shared cell, a synchronisation object, the next action of a thread, the threads
//!    that a thread has forked. Every step changes the next action of its own thread.
//! 2. Two steps are dependent if one of them changes a resource that the other uses or changes (Mazurkiewicz 1977, Godefroid
//!    1996). Independent steps can be exchanged: the state after both is the same, and neither disables the other.
//! 3. A step must stay after the last step that has changed a resource that it uses, and after all steps that have since used a
//!    resource that it changes. All other dependences follow by transitivity.
//!
//! **Soundness and limits**. Dependence depends on the state in general. Here two steps count as dependent if they are so in some
//! state, so operations on one semaphore or one event are always dependent. Numbers of thread slots and addresses of locals are
//! ignored: in another order they may differ, although nothing else does. If an `assume` or the program fails, the execution ends
//! for all threads; no footprint shows this.

use cssame_ir::sync::{Kind, Mode};
use cssame_vm::{CodeIndex, Event, Observer, PathId, ThreadName};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Something that steps of several threads may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A cell, or a synchronisation object by its first cell.
    Cell(u32),
    /// The bare notifications.
    Bare,
    /// What a thread does next.
    Thread(PathId),
    /// The threads that a thread has forked.
    Children(PathId),
}

/// What a step does with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// It depends on the resource, or changes it in a way that several steps may do in any order.
    Shared,
    /// It changes the resource.
    Exclusive,
}

/// What a step uses; each resource once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint(SmallVec<[(Resource, Use); 4]>);

impl Footprint {
    pub(super) fn add(&mut self, resource: Resource, by: Use) {
        match self.0.iter_mut().find(|(known, _)| *known == resource) {
            Some((_, known)) => *known = by.max(*known),
            None => self.0.push((resource, by)),
        }
    }

    /// What it uses, each resource once.
    pub fn uses(&self) -> impl Iterator<Item = (Resource, Use)> + '_ {
        self.0.iter().copied()
    }

    /// Whether two steps must keep their order.
    #[must_use]
    pub fn depends_on(&self, other: &Footprint) -> bool {
        self.uses().any(|(resource, by)| {
            other.uses().any(|(known, of)| known == resource && (by == Use::Exclusive || of == Use::Exclusive))
        })
    }
}

/// Collects the footprints of all steps of an execution.
#[derive(Clone, Debug, Default)]
pub struct Footprints {
    steps: Vec<Footprint>,
    threads: Vec<PathId>,
}

impl Footprints {
    /// By step: its footprint.
    #[must_use]
    pub fn steps(&self) -> &[Footprint] {
        &self.steps
    }

    /// By step: its thread.
    #[must_use]
    pub fn threads(&self) -> &[PathId] {
        &self.threads
    }
}

impl Observer for Footprints {
    fn begin_step(&mut self, thread: ThreadName) {
        let mut footprint = Footprint::default();
        footprint.add(Resource::Thread(thread.path), Use::Exclusive);
        self.steps.push(footprint);
        self.threads.push(thread.path);
    }

    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        // What main does before its first step comes before everything.
        let Some(now) = self.steps.last_mut() else { return };
        // A step may let other threads go on as well.
        now.add(Resource::Thread(thread.path), Use::Exclusive);
        if let Some((resource, by)) = used_by(thread.path, event) {
            now.add(resource, by);
        }
    }
}

/// What an event of a thread uses, beside the thread itself.
#[must_use]
pub fn used_by(thread: PathId, event: Event) -> Option<(Resource, Use)> {
    Some(match event {
        Event::Read { address, shared: true, .. } | Event::Waited { address, .. } => {
            (Resource::Cell(address), Use::Shared)
        }
        // Readers come and go in any order. A try that fails sees a holder, and changes nothing; but a try to write fails
        // because of readers, which count as users among themselves.
        Event::Lock { address, by, .. } if by.mode() == Mode::Shared => (Resource::Cell(address), Use::Shared),
        Event::Unlock { address, mode: Mode::Shared, .. } | Event::Nested { address, mode: Mode::Shared, .. } => {
            (Resource::Cell(address), Use::Shared)
        }
        Event::NotTaken { address, by, .. } if by != Kind::TryWriteLock => (Resource::Cell(address), Use::Shared),
        Event::Write { address, shared: true, .. }
        | Event::Lock { address, .. }
        | Event::Unlock { address, .. }
        | Event::Nested { address, .. }
        | Event::NotTaken { address, .. }
        | Event::WaitToWrite { address, .. }
        | Event::TimedOut { address, .. }
        | Event::Set { address, .. }
        | Event::Clear { address, .. }
        | Event::Arrive { address, .. }
        | Event::Leave { address, .. }
        | Event::Acquire { address, .. }
        | Event::Release { address, .. }
        // Of the cells the writes tell, but there may be none.
        | Event::Free { address, .. } => (Resource::Cell(address), Use::Exclusive),
        Event::Wait { condition, .. } | Event::Notify { condition, .. } => {
            (condition.map_or(Resource::Bare, Resource::Cell), Use::Exclusive)
        }
        Event::Fork { child } | Event::Spawn { child } | Event::JoinThread { child } => {
            (Resource::Thread(child.path), Use::Exclusive)
        }
        Event::Join => (Resource::Children(thread), Use::Exclusive),
        // Ends of children come in any order.
        Event::End { parent: Some(parent) } => (Resource::Children(parent.path), Use::Shared),
        Event::Read { .. }
        | Event::Write { .. }
        | Event::Woken { .. }
        | Event::End { .. }
        | Event::Choose { .. }
        | Event::Verdict { .. }
        | Event::Print { .. }
        | Event::Allocate { .. }
        | Event::AtomicBegin
        | Event::AtomicEnd
        | Event::Failure(_) => return None,
    })
}

/// By step: earlier steps that must stay before it. Each other step that must do so comes before one of these.
#[must_use]
pub fn predecessors(footprints: &[Footprint]) -> Vec<Vec<usize>> {
    let mut changed: FxHashMap<Resource, usize> = FxHashMap::default();
    let mut used: FxHashMap<Resource, Vec<usize>> = FxHashMap::default();
    let mut before: Vec<Vec<usize>> = Vec::with_capacity(footprints.len());
    for (step, footprint) in footprints.iter().enumerate() {
        let mut earlier: Vec<usize> = Vec::new();
        for (resource, by) in footprint.uses() {
            earlier.extend(changed.get(&resource));
            let users = used.entry(resource).or_default();
            if by == Use::Exclusive {
                earlier.append(users);
                changed.insert(resource, step);
            } else {
                users.push(step);
            }
        }
        earlier.sort_unstable();
        earlier.dedup();
        before.push(earlier);
    }
    before
}

#[cfg(test)]
mod tests;
