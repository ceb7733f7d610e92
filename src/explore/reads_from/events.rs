//! The effects of one step of the machine that matter for futures.
//!
//! **Input**: the events of a step. **Output**: the access, the choice or the created threads of the step, or the reason why the
//! program is refused.

use super::Refusal;
use cssame_ir::sync::{self, Mode};
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{Cell, CodeIndex, Event, Observer, PathId, ThreadIndex, ThreadName, Work};
use smallvec::SmallVec;

/// Pairs below which it is not looked for those that are there twice.
const MIN_ROOM: usize = 1 << 12;

/// Collects the events of one step. With `NAMES` it knows which local a cell belongs to, which takes time.
#[derive(Debug, Default)]
pub(super) struct StepEvents<const NAMES: bool> {
    /// The cell that it reads with its address, and the instruction.
    pub read: Option<(Cell, u32, CodeIndex)>,
    /// The cell that it writes, with its address.
    pub write: Option<(Cell, u32)>,
    pub chosen: bool,
    pub forks: SmallVec<[PathId; 4]>,
    /// The instruction that forks.
    pub fork_at: u32,
    pub spawned: bool,
    pub joined: bool,
    pub joined_thread: Option<ThreadIndex>,
    /// The operation on a synchronisation object, and the object: the lock, of a wait for a condition. To take that again counts as
    /// to take it.
    pub synchronised: Option<(sync::Kind, Option<(Cell, u32)>)>,
    /// The condition that it begins to wait for.
    pub condition: Option<(Cell, u32)>,
    /// The instruction by which it takes a lock that others cannot have meanwhile.
    pub takes_lock: Option<CodeIndex>,
    /// Whether it begins or ends to read under a readers-writer lock.
    pub shares: bool,
    /// The verdict of that.
    pub verdict: Option<bool>,
    /// The threads that it has woken.
    pub woken: SmallVec<[PathId; 4]>,
    /// What was read, by this and by earlier steps: places and definitions, private ones too.
    pub pairs: Vec<(ReadId, DefinitionId)>,
    /// How many pairs there may be before those that are there twice are dropped.
    room: usize,
    /// Instructions that steps have executed since the clock was looked at.
    pub executed: Work,
    /// What it has done that cannot be explored in this way.
    pub refusal: Option<Refusal>,
}

impl<const NAMES: bool> StepEvents<NAMES> {
    /// A step begins.
    pub fn clear(&mut self) {
        let pairs = std::mem::take(&mut self.pairs);
        *self = StepEvents { pairs, room: self.room, executed: self.executed, ..StepEvents::default() };
    }

    /// A loop may show the same pairs a million times.
    fn note_pair(&mut self, read: ReadId, definition: DefinitionId) {
        if self.pairs.len() >= self.room {
            self.pairs.sort_unstable();
            self.pairs.dedup();
            self.room = (2 * self.pairs.len()).max(MIN_ROOM);
        }
        self.pairs.push((read, definition));
    }

    /// The cell that it has accessed, and its address.
    pub fn cell(&self) -> Option<(Cell, u32)> {
        self.read.map(|(cell, address, _)| (cell, address)).or(self.write)
    }

    /// Notes an operation on an object, or a part of one.
    fn note_synchronisation(&mut self, event: Event) {
        let Some((by, condition)) = event.synchronisation() else { return };
        let object = match event {
            Event::Lock { cell, address, .. }
            | Event::Unlock { cell, address, .. }
            | Event::Nested { cell, address, .. }
            | Event::NotTaken { cell, address, .. }
            | Event::Set { cell, address }
            | Event::Clear { cell, address }
            | Event::Waited { cell, address }
            | Event::Arrive { cell, address }
            | Event::Acquire { cell, address }
            | Event::Release { cell, address } => Some((cell, address)),
            Event::Wait { cell, .. } => {
                self.condition = cell.zip(condition);
                self.condition
            }
            Event::Notify { cell, .. } => cell.zip(condition),
            // Steps that a thread does instead of others, for no reason that its past shows.
            Event::TimedOut { .. } | Event::WaitToWrite { .. } => {
                self.refusal = Some(Refusal::Synchronisation);
                None
            }
            _ => None,
        };
        if by == sync::Kind::TimedWait {
            self.refusal = Some(Refusal::Synchronisation);
        }
        self.shares |= match event {
            Event::Lock { by, .. } => by == sync::Kind::ReadLock,
            Event::Unlock { mode, .. } => mode == Mode::Shared,
            _ => false,
        };
        let takes_again = by == sync::Kind::WaitCondition && matches!(event, Event::Lock { .. });
        let by = if takes_again { sync::Kind::Lock } else { by };
        // A wait for a condition gives its lock back first; those who leave a barrier do so behind the last arrival.
        self.synchronised.get_or_insert((by, object));
    }
}

impl<const NAMES: bool> Observer for StepEvents<NAMES> {
    const DETAILS: bool = NAMES;

    fn end_step(&mut self, thread: ThreadName, instructions: u32) {
        self.executed.end_step(thread, instructions);
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.note_pair(read, definition);
        }
        if let Event::Lock { by: sync::Kind::Lock | sync::Kind::WaitCondition, .. } = event {
            self.takes_lock = Some(at);
        }
        match event {
            Event::Read { cell, address, shared: true, .. } => self.read = Some((cell, address, at)),
            Event::Write { cell, address, shared: true, .. } => self.write = Some((cell, address)),
            Event::Read { .. } | Event::Write { .. } => {}
            Event::Choose { .. } => self.chosen = true,
            Event::Fork { child: ThreadName { path, .. } } => {
                self.forks.push(path);
                self.fork_at = at.0;
            }
            Event::Spawn { child: ThreadName { path, .. } } => {
                self.forks.push(path);
                self.spawned = true;
            }
            Event::Join => self.joined = true,
            Event::JoinThread { child: ThreadName { slot: child, .. } } => self.joined_thread = Some(child),
            Event::Woken { by: Some(_) } => self.woken.push(thread.path),
            Event::Verdict { value } => self.verdict = Some(value),
            Event::AtomicBegin | Event::AtomicEnd | Event::Woken { by: None } => {
                self.refusal = Some(Refusal::Synchronisation);
            }
            _ => self.note_synchronisation(event),
        }
    }
}
