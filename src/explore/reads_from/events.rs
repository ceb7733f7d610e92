//! What one step of the machine has done, as far as futures are concerned.
//!
//! **Input**: the events of a step. **Output**: the access, the choice or the threads that it makes, or why the program
//! is refused.

use super::Refusal;
use crate::ir::{DefinitionId, ReadId};
use crate::vm::{Cell, CodeIndex, Event, Observer, PathId, ThreadIndex, ThreadName, Work};
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
}

impl<const NAMES: bool> Observer for StepEvents<NAMES> {
    const DETAILS: bool = NAMES;

    fn end_step(&mut self, thread: ThreadName, instructions: u32) {
        self.executed.end_step(thread, instructions);
    }

    fn event(&mut self, _: ThreadName, at: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.note_pair(read, definition);
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
            Event::Failure(_) => self.refusal = Some(Refusal::Failure),
            Event::AtomicBegin | Event::AtomicEnd | Event::Woken { .. } => {
                self.refusal = Some(Refusal::Synchronisation);
            }
            _ if event.synchronisation().is_some() => self.refusal = Some(Refusal::Synchronisation),
            _ => {}
        }
    }
}
