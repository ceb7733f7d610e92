//! Steps 1 and 3 of [`restored`](super): an execution is done again with its locks.
//!
//! **Input**: the steps of an execution without the locks, and where threads stop. **Output**: the execution of the whole machine, and
//! what each thread has taken in it.
//!
//! **Algorithm**: steps are matched by what they do, for they are not cut alike: local work with effects is one step with the visible
//! operation behind it, if that can be done, so a print is one step with the lock behind it, and two prints that a body lies between are
//! one step without the body. What a body does is counted, and left out when its turn comes.

use super::stops::{Acquisition, Stop};
use crate::question::history::History;
use crate::reads_from::Refusal;
use cssame_ir::sync::{Kind, ObjectKind};
use cssame_schedule::Walk;
use cssame_vm::{
    Choice, CodeIndex, Event, Machine, Observer, PathId, Pending, Progress, State, Tables, ThreadIndex, ThreadName,
    ThreadStatus,
};
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

/// A step without the locks. It has one alternative: nothing is chosen, and nobody is notified.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub thread: PathId,
    /// Whether it begins with local work that has effects, one or more.
    pub has_effect: bool,
    /// Whether it does a visible operation: behind an effect, only if that is possible.
    pub is_visible: bool,
}

/// Whether an event is that of a visible operation.
pub(super) fn is_visible(event: &Event) -> bool {
    match event {
        Event::Read { shared, .. } | Event::Write { shared, .. } => *shared,
        Event::Choose { .. } | Event::Fork { .. } | Event::Spawn { .. } | Event::Join | Event::JoinThread { .. } => {
            true
        }
        event => event.synchronisation().is_some(),
    }
}

/// Where an execution has come to.
pub(super) struct Ended {
    pub state: State,
    pub progress: Progress,
    pub choices: Vec<Choice>,
    pub history: History,
    /// By thread, what it has taken.
    pub acquisitions: Vec<Vec<Acquisition>>,
}

/// A thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    slot: Option<ThreadIndex>,
    acquisitions: Vec<Acquisition>,
    /// Visible operations that were done before their turn.
    ahead: u32,
    /// Whether it goes no further: it has come to its stop, or cannot do what it did.
    is_left_out: bool,
    stop: Option<Stop>,
}

/// What steps tell.
struct Watch<'r> {
    operations: &'r FixedBitSet,
    history: History,
    /// The unobserved lock that the step takes or gives back.
    operated: Option<(Kind, u32)>,
    /// Whether the step does another visible operation.
    is_visible: bool,
    /// The threads that were made.
    made: Vec<ThreadName>,
    /// By thread: how many locks it holds whose order can be seen.
    holds: Vec<u32>,
}

impl Observer for Watch<'_> {
    const DETAILS: bool = false;

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.history.event(thread, at, event);
        let path = thread.path.0 as usize;
        if self.operations.contains(at.index()) {
            let address = match event {
                Event::Lock { address, .. }
                | Event::Unlock { address, .. }
                | Event::Acquire { address, .. }
                | Event::Release { address, .. } => Some(address),
                _ => None,
            };
            self.operated = self.operated.or(event.synchronisation().map(|(kind, _)| kind).zip(address));
            return;
        }
        self.is_visible |= is_visible(&event);
        match event {
            Event::Fork { child } | Event::Spawn { child } => self.made.push(child),
            Event::Lock { .. } => {
                self.holds.resize(self.holds.len().max(path + 1), 0);
                self.holds[path] += 1;
            }
            Event::Unlock { .. } => {
                if let Some(holds) = self.holds.get_mut(path) {
                    *holds = holds.saturating_sub(1);
                }
            }
            _ => {}
        }
    }
}

/// An execution that is done again.
pub(super) struct Run<'r> {
    walk: Walk<'r>,
    operations: &'r FixedBitSet,
    watch: Watch<'r>,
    threads: Vec<Thread>,
    choices: Vec<Choice>,
    /// Whether threads stop, so that not all can be done.
    has_stops: bool,
}

impl<'r> Run<'r> {
    pub fn new(machine: &'r Machine, operations: &'r FixedBitSet, tables: &'r mut Tables) -> Run<'r> {
        let mut watch = Watch {
            operations,
            history: History::default(),
            operated: None,
            is_visible: false,
            made: Vec::new(),
            holds: Vec::new(),
        };
        let walk = Walk::new(machine, tables, &mut watch);
        Run { walk, operations, watch, threads: Vec::new(), choices: Vec::new(), has_stops: false }
    }

    /// Does the steps, with all bodies as soon as may be; threads with a stop go no further, and come to it at last.
    ///
    /// # Errors
    ///
    /// Not all of it can be done, or a lock is taken while one is held whose order can be seen.
    pub fn follow(mut self, steps: &[Step], stops: &[(PathId, Stop)]) -> Result<Ended, Refusal> {
        self.has_stops = !stops.is_empty();
        for &(path, stop) in stops {
            self.thread(path).stop = Some(stop);
        }
        self.watch.made.push(ThreadName { path: PathId(0), slot: ThreadIndex(0) });
        self.do_bodies_of_new_threads()?;
        for &step in steps {
            self.do_step(step)?;
        }
        // Who stops before an effect and holds nothing could have its lock, if that was not held yet.
        let (holding, others): (Vec<_>, Vec<_>) = stops.iter().partition(|(_, stop)| stop.inner > 0);
        for (path, stop) in holding.into_iter().chain(others) {
            self.come_to(path, stop)?;
        }
        let progress = self.walk.progress();
        Ok(Ended {
            progress,
            state: self.walk.into_state(),
            choices: self.choices,
            history: self.watch.history,
            acquisitions: self.threads.into_iter().map(|thread| thread.acquisitions).collect(),
        })
    }

    fn thread(&mut self, path: PathId) -> &mut Thread {
        let index = path.0 as usize;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Thread::default());
        }
        &mut self.threads[index]
    }

    /// A step of the program without the locks.
    fn do_step(&mut self, Step { thread: path, has_effect, is_visible }: Step) -> Result<(), Refusal> {
        let mut is_open = is_visible;
        let ahead = self.thread(path).ahead;
        let mut has_effect = has_effect && !self.thread(path).is_left_out;
        // One after the other, with all bodies between them, up to the next visible operation.
        while has_effect {
            let Some(slot) = self.slot_to_move(path)? else { return Ok(()) };
            if self.stops_behind_effect(path, slot) {
                self.thread(path).is_left_out = true;
                return Ok(());
            }
            self.step(slot)?;
            let was_visible = self.watch.is_visible;
            if let Some(first) = self.watch.operated {
                self.do_body(path, slot, Some(first), None)?;
            }
            match (was_visible, is_visible) {
                (true, true) => is_open = false,
                // What it waits for was done in a body, before its turn.
                (true, false) => self.thread(path).ahead += 1,
                (false, _) => {}
            }
            self.do_bodies(path)?;
            self.do_bodies_of_new_threads()?;
            has_effect = !was_visible && self.thread(path).ahead == ahead && self.has_effect(path);
        }
        if !is_open || self.thread(path).is_left_out {
            return Ok(());
        }
        if self.thread(path).ahead > 0 {
            self.thread(path).ahead -= 1;
            return Ok(());
        }
        let Some(slot) = self.slot_to_move(path)? else { return Ok(()) };
        self.step(slot)?;
        self.do_bodies(path)?;
        self.do_bodies_of_new_threads()
    }

    /// The slot of a thread that can move; one that cannot is left out from then on.
    fn slot_to_move(&mut self, path: PathId) -> Result<Option<ThreadIndex>, Refusal> {
        let slot = self.thread(path).slot;
        let can = |&slot: &ThreadIndex| self.is_there(path, slot) && self.walk.alternatives(slot) > 0;
        let found = slot.filter(can);
        if found.is_none() {
            self.thread(path).is_left_out = true;
            if !self.has_stops {
                return Err(Refusal::Synchronisation);
            }
        }
        Ok(found)
    }

    /// Whether a thread stands before an effect.
    fn has_effect(&mut self, path: PathId) -> bool {
        let thread = self.thread(path);
        let slot = thread.slot.filter(|_| !thread.is_left_out).filter(|&slot| self.is_there(path, slot));
        slot.is_some_and(|slot| {
            matches!(self.walk.machine().pending(self.walk.state(), slot), Some(Pending::Effect { .. }))
        })
    }

    /// Whether a thread that stands before an effect begins the body of its stop behind it.
    fn stops_behind_effect(&mut self, path: PathId, slot: ThreadIndex) -> bool {
        let thread = self.thread(path);
        if thread.stop.is_none_or(|stop| stop.begin != thread.acquisitions.len()) {
            return false;
        }
        let mut seen = Effect { operations: self.operations, takes: false };
        let mut branch = self.walk.branch();
        branch.step(Choice { thread: slot, alternative: 0 }, &mut seen).is_ok() && seen.takes
    }

    fn step(&mut self, slot: ThreadIndex) -> Result<(), Refusal> {
        let choice = Choice { thread: slot, alternative: 0 };
        (self.watch.operated, self.watch.is_visible) = (None, false);
        self.walk.step(choice, &mut self.watch).map_err(|_| Refusal::Synchronisation)?;
        self.choices.push(choice);
        Ok(())
    }

    fn do_bodies_of_new_threads(&mut self) -> Result<(), Refusal> {
        while let Some(ThreadName { path, slot }) = self.watch.made.pop() {
            self.thread(path).slot = Some(slot);
            self.do_bodies(path)?;
        }
        Ok(())
    }

    /// Whether a thread has its slot still: behind its end, that may be gone, or another one's.
    fn is_there(&self, path: PathId, slot: ThreadIndex) -> bool {
        let state = self.walk.state();
        slot.index() < state.thread_count() && state.path(slot) == path && state.status(slot) != ThreadStatus::Free
    }

    /// The operation on an unobserved lock that a thread stands at, if it does, and the lock.
    fn operation(&self, slot: ThreadIndex) -> Option<(Kind, u32)> {
        if self.walk.is_over() || !self.operations.contains(self.walk.state().position(slot).index()) {
            return None;
        }
        match self.walk.machine().pending(self.walk.state(), slot)? {
            Pending::Synchronise { kind, address: Some(address) } => Some((kind, address)),
            _ => None,
        }
    }

    /// Does the bodies that a thread stands at, one after the other.
    fn do_bodies(&mut self, path: PathId) -> Result<(), Refusal> {
        loop {
            let thread = self.thread(path);
            let (begin, stop) = (thread.acquisitions.len(), thread.stop);
            let Some(slot) = thread.slot.filter(|&slot| self.is_there(path, slot)) else { return Ok(()) };
            if self.operation(slot).is_none() {
                return Ok(());
            }
            if stop.is_some_and(|stop| stop.begin == begin) {
                self.thread(path).is_left_out = true;
                return Ok(());
            }
            self.do_body(path, slot, None, None)?;
        }
    }

    /// Does a body, of which one lock may be taken already, up to its end or to where the thread takes that many locks in all.
    fn do_body(
        &mut self,
        path: PathId,
        slot: ThreadIndex,
        first: Option<(Kind, u32)>,
        end: Option<usize>,
    ) -> Result<(), Refusal> {
        let begin = self.thread(path).acquisitions.len();
        let mut body = Body { begin, depth: 0, held: SmallVec::new(), freed: SmallVec::new() };
        if let Some((kind, lock)) = first {
            self.take(path, &mut body, kind, lock)?;
        }
        loop {
            match self.operation(slot) {
                Some((kind, lock)) if matches!(kind, Kind::Lock | Kind::Acquire) => {
                    if end == Some(self.thread(path).acquisitions.len()) {
                        return Ok(());
                    }
                    self.take(path, &mut body, kind, lock)?;
                    self.step(slot)?;
                }
                Some((_, lock)) => {
                    body.held.retain(|held| *held != lock);
                    body.freed.push(lock);
                    body.depth = body.depth.checked_sub(1).ok_or(Refusal::Synchronisation)?;
                    self.step(slot)?;
                    if body.depth == 0 {
                        return Ok(());
                    }
                }
                None => {
                    self.step(slot)?;
                    self.thread(path).ahead += 1;
                }
            }
        }
    }

    /// Notes that a thread takes a lock in a body.
    fn take(&mut self, path: PathId, body: &mut Body, kind: Kind, lock: u32) -> Result<(), Refusal> {
        if self.watch.holds.get(path.0 as usize).is_some_and(|&holds| holds > 0) {
            return Err(Refusal::Synchronisation);
        }
        // A semaphore is never kept in a deadlock.
        let wanted = kind.is_on(ObjectKind::Lock).then_some(lock);
        let (held, freed) = (body.held.clone(), body.freed.clone());
        self.thread(path).acquisitions.push(Acquisition { begin: body.begin, wanted, held, freed });
        body.depth += 1;
        body.held.extend(wanted);
        Ok(())
    }

    /// Brings a thread to its stop, at last.
    fn come_to(&mut self, path: PathId, stop: Stop) -> Result<(), Refusal> {
        let thread = self.thread(path);
        let has_come = thread.is_left_out && thread.acquisitions.len() == stop.begin;
        let slot = thread.slot.filter(|_| has_come).ok_or(Refusal::Synchronisation)?;
        let mut first = None;
        if self.operation(slot).is_none() {
            self.step(slot)?;
            first = self.watch.operated;
        }
        // Who takes a lock that it is to wait for has come too far.
        if first.is_some() && stop.inner == 0 {
            return Err(Refusal::Synchronisation);
        }
        self.do_body(path, slot, first, Some(stop.begin + stop.inner))
    }
}

/// The body that a thread does.
struct Body {
    /// What the thread has taken before.
    begin: usize,
    /// How many locks, and units of semaphores, it holds.
    depth: u32,
    held: SmallVec<[u32; 4]>,
    freed: SmallVec<[u32; 4]>,
}

/// Whether a step that begins with an effect takes an unobserved lock.
struct Effect<'r> {
    operations: &'r FixedBitSet,
    takes: bool,
}

impl Observer for Effect<'_> {
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, at: CodeIndex, _: Event) {
        self.takes |= self.operations.contains(at.index());
    }
}
