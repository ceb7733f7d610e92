//! What one step of the machine has done, as far as futures are concerned.
//!
//! **Input**: the events of a step. **Output**: the access, the choice or the threads that it makes, or why the program
//! is refused.

use super::Refusal;
use crate::ir::{DefinitionId, ReadId};
use crate::vm::{CodeIndex, Event, Observer, PathId, ThreadIndex, ThreadName, Work};
use smallvec::SmallVec;

/// Pairs below which it is not looked for those that are there twice.
const MIN_ROOM: usize = 1 << 12;

/// Collects the events of one step.
#[derive(Debug, Default)]
pub(super) struct StepEvents {
    /// The cell that it reads, and the instruction.
    pub read: Option<(u32, CodeIndex)>,
    /// The cell that it writes.
    pub write: Option<u32>,
    pub chosen: bool,
    pub forks: SmallVec<[PathId; 4]>,
    /// The instruction that forks.
    pub fork_at: u32,
    pub spawned: bool,
    pub joined: bool,
    pub joined_thread: Option<ThreadIndex>,
    /// Cells that were made anew: the first one, and how many.
    pub allocated: SmallVec<[(u32, u32); 2]>,
    /// What was read, by this and by earlier steps: places and definitions, private ones too.
    pub pairs: Vec<(ReadId, DefinitionId)>,
    /// How many pairs there may be before those that are there twice are dropped.
    room: usize,
    /// Instructions that steps have executed since the clock was looked at.
    pub executed: Work,
    /// What it has done that cannot be explored in this way.
    pub refusal: Option<Refusal>,
}

impl StepEvents {
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

    /// The cell that it has accessed; the first cell, which nothing uses, if none.
    pub fn cell(&self) -> u32 {
        self.read.map(|(cell, _)| cell).or(self.write).unwrap_or(0)
    }
}

impl Observer for StepEvents {
    const DETAILS: bool = false;

    fn end_step(&mut self, thread: ThreadName, instructions: u32) {
        self.executed.end_step(thread, instructions);
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let thread = thread.slot;
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.note_pair(read, definition);
        }
        match event {
            Event::Read { address, shared: true, .. } => self.read = Some((address, at)),
            Event::Write { address, shared: true, .. } => self.write = Some(address),
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
            // Main has the first slot, and keeps it.
            Event::Allocate { address, size, .. } if thread.0 == 0 => self.allocated.push((address, size)),
            Event::Allocate { .. } => self.refusal = Some(Refusal::Locals),
            Event::Failure(_) => self.refusal = Some(Refusal::Failure),
            Event::AtomicBegin | Event::AtomicEnd | Event::Woken { .. } => {
                self.refusal = Some(Refusal::Synchronisation);
            }
            _ if event.synchronisation().is_some() => self.refusal = Some(Refusal::Synchronisation),
            _ => {}
        }
    }
}
