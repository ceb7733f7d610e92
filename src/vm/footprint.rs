//! The footprint of a step: its dependences, and its possible changes.
//!
//! **Input**: the events of a step, as an observer. **Output**: whether it depends only on its thread and some further parts of
//! the state, and which parts these are.
//!
//! **Soundness and limits**: the named parts are a superset. These steps are reported to depend on the whole state: a step that
//! ends the execution, in which a thread ends that another one has created or woken, that creates an object, or that uses a
//! readers-writer lock.

use super::CodeIndex;
use super::machine::Machine;
use super::observe::{Event, Observer, ThreadName};
use super::outcome::Choice;
use super::pending::Pending;
use super::readiness::Readiness;
use super::standing::Standing;
use super::state::{State, ThreadIndex};
use cssame_ir::sync::ObjectKind;

/// What a step depends on beside its thread.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    thread: ThreadIndex,
    /// Addresses of cells that it depends on, in the order in which they were used.
    cells: Vec<u32>,
    /// Addresses of cells that are written whatever they held.
    written: Vec<u32>,
    /// Whether it depends on what stands neither in cells nor in threads.
    rest: bool,
    /// Other threads that it depends on.
    threads: Vec<ThreadIndex>,
    /// It depends on all threads that stand so, and on which these are.
    groups: Vec<Standing>,
    /// Whether it makes threads.
    makes_threads: bool,
    /// The thread has ended: who waits for it, if anybody.
    end: Option<Option<ThreadIndex>>,
    /// Whether it depends on more.
    is_open: bool,
    /// Whether it has begun with local work that has an effect.
    has_effect: bool,
    /// Instructions that were executed.
    pub instructions: u32,
}

impl Footprint {
    /// A step is done next.
    pub fn begin(&mut self, machine: &Machine, state: &State, choice: Choice) {
        self.thread = choice.thread;
        self.cells.clear();
        self.written.clear();
        self.threads.clear();
        self.groups.clear();
        self.makes_threads = false;
        (self.rest, self.end, self.is_open) = (false, None, false);
        let pending = machine.pending(state, choice.thread);
        self.has_effect = matches!(pending, Some(Pending::Effect { .. } | Pending::Divergence));
    }

    /// The step is over, and has led from a state to another, in which the thread perhaps stands before what it could not do at
    /// once.
    pub fn finish(&mut self, machine: &Machine, before: &State, behind: &State) {
        // Freed cells are cleared without an event, and locks of a thread that has ended change hands.
        self.is_open |= before.blocks != behind.blocks;
        self.is_open |= self.end.is_some()
            && (before.readers.iter().any(|hold| hold.thread == self.thread.0) || machine.has_local_locks(before));
        // In which slots there are threads then depends on both.
        self.is_open |= self.end.is_some() && self.makes_threads;
        self.is_open |= before.exclusive().is_some() || behind.exclusive().is_some();
        // Behind an effect a thread goes on to an operation, and performs it if it can.
        if self.has_effect && self.end.is_none() && !self.is_open {
            match machine.readiness(behind, self.thread) {
                Readiness::Fixed(_) => {}
                Readiness::ByCell(address, _) => self.use_cell(address),
                Readiness::ByEnd(thread) => self.use_thread(thread),
                Readiness::ByGroup(standing) => self.use_group(standing),
                Readiness::ByOthers => self.is_open = true,
            }
        }
        // Locals that are shared stand behind the globals, and where depends on the others that there are.
        self.rest |= self.cells.iter().chain(&self.written).any(|&address| address >= machine.global_cells());
    }

    /// Whether it depends on more than the parts that are named.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether it depends on what stands neither in cells nor in threads.
    #[must_use]
    pub fn depends_on_rest(&self) -> bool {
        self.rest
    }

    /// The addresses of the cells that it depends on.
    #[must_use]
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The addresses of the cells that it writes whatever they held.
    #[must_use]
    pub fn written(&self) -> &[u32] {
        &self.written
    }

    /// The other threads that it depends on, but for those of a group.
    #[must_use]
    pub fn threads(&self) -> &[ThreadIndex] {
        &self.threads
    }

    /// It depends on all threads that stand so, and on which these are. Where it makes threads, on the slots that there are as well.
    #[must_use]
    pub fn groups(&self) -> &[Standing] {
        &self.groups
    }

    /// Whether an event tells of a cell what the step does not depend on.
    #[must_use]
    pub fn is_unread(&self, event: Event) -> bool {
        matches!(event, Event::Write { address, .. } if !self.cells.contains(&address))
    }

    /// Whether its thread has ended; then the thread that waits for that, if there is one. It depends on both, and on whether its
    /// thread holds a lock.
    #[must_use]
    pub fn end(&self) -> Option<Option<ThreadIndex>> {
        self.end
    }

    fn use_cell(&mut self, address: u32) {
        if !self.cells.contains(&address) {
            self.cells.push(address);
        }
    }

    fn use_thread(&mut self, thread: ThreadIndex) {
        if !self.threads.contains(&thread) {
            self.threads.push(thread);
        }
    }

    fn use_group(&mut self, standing: Standing) {
        if !self.groups.contains(&standing) {
            self.groups.push(standing);
        }
    }
}

impl Observer for Footprint {
    const DETAILS: bool = false;

    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        // Of others only those are known that it has woken.
        let wakes = matches!(event, Event::Woken { .. } | Event::Leave { .. });
        self.is_open |= thread.slot != self.thread && !wakes;
        match event {
            // What a second write finds depends on the first one; both are told alike where the cell counts as read.
            Event::Write { address, .. } if self.written.contains(&address) => self.use_cell(address),
            Event::Write { address, .. } => self.written.push(address),
            Event::Read { address, .. }
            | Event::Set { address, .. }
            | Event::Clear { address, .. }
            | Event::Waited { address, .. }
            | Event::Acquire { address, .. }
            | Event::Release { address, .. } => self.use_cell(address),
            Event::Lock { address, by, .. }
            | Event::Unlock { address, by, .. }
            | Event::Nested { address, by, .. }
            | Event::NotTaken { address, by, .. } => {
                self.is_open |= by.is_on(ObjectKind::RwLock);
                self.use_cell(address);
            }
            Event::End { parent } => {
                self.end = Some(parent.map(|parent| parent.slot));
                self.rest = true;
            }
            Event::Arrive { address, .. } => {
                self.use_cell(address);
                self.use_cell(address + 1);
                self.use_group(Standing::AtBarrier(address));
            }
            Event::Notify { condition, .. } => {
                self.use_group(condition.map_or(Standing::Bare, Standing::ForCondition));
            }
            Event::Fork { .. } | Event::Spawn { .. } => {
                self.makes_threads = true;
                self.rest = true;
                self.use_group(Standing::Free);
            }
            Event::JoinThread { child } => self.use_thread(child.slot),
            // These change the thread alone, which stands before them, or waits, or belongs to a group.
            Event::Choose { .. }
            | Event::Print { .. }
            | Event::Verdict { .. }
            | Event::Join
            | Event::Wait { .. }
            | Event::TimedOut { .. }
            | Event::Woken { .. }
            | Event::Leave { .. }
            | Event::AtomicBegin
            | Event::AtomicEnd => {}
            Event::WaitToWrite { .. } | Event::Allocate { .. } | Event::Free { .. } | Event::Failure(_) => {
                self.is_open = true
            }
        }
    }

    fn end_step(&mut self, _: ThreadName, instructions: u32) {
        self.instructions = instructions;
    }
}
