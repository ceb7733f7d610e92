//! The reads of an execution so far.
//!
//! **Input**: the events of its steps. **Output**: for each thread, a hash of its reads, choices and results of tries and waits;
//! for each cell, the write instance that it holds.

use crate::question::chains::Chains;
use crate::states::Monitor;
use cssame_vm::{CodeIndex, Event, Observer, ThreadName};

/// A write instance: a thread, and the ordinal of the write among its writes from 1; all 0 for an initial value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Instance {
    path: u32,
    ordinal: u32,
}

/// What an execution has read so far.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) chains: Chains,
    cells: Vec<Instance>,
}

impl Clone for History {
    fn clone(&self) -> Self {
        let mut copy = History::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.chains.clone_from(&source.chains);
        self.cells.clone_from(&source.cells);
    }
}

impl History {
    fn cell(&mut self, address: u32) -> &mut Instance {
        if self.cells.len() <= address as usize {
            self.cells.resize(address as usize + 1, Instance::default());
        }
        &mut self.cells[address as usize]
    }
}

impl Observer for History {
    const DETAILS: bool = false;

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        match event {
            Event::Read { read, address, shared: true, .. } => {
                let Instance { path, ordinal } = *self.cell(address);
                // Not the address: which one a local gets depends on the order of steps. Which cell it is follows from what
                // its thread, and those that made it, have read and chosen before.
                self.chains.learn(thread, [u64::from(read.0), u64::from(path) << 32 | u64::from(ordinal)]);
            }
            Event::Write { address, shared: true, .. } => {
                *self.cell(address) = Instance { path: thread.path.0, ordinal: self.chains.count(thread) };
            }
            Event::Choose { value } => self.chains.learn(thread, [u64::from(at.0) | 1 << 63, value as u64]),
            Event::Verdict { value } => self.chains.learn(thread, [u64::from(at.0) | 1 << 63, u64::from(value)]),
            Event::Fork { child } | Event::Spawn { child } => self.chains.begin(child.slot),
            Event::End { .. } => self.chains.end(thread.slot),
            Event::Allocate { address, size, .. } => {
                for cell in address..address + size {
                    *self.cell(cell) = Instance::default();
                }
            }
            _ => {}
        }
    }
}

impl Monitor for History {
    type Note = ();

    fn encode(&self, words: &mut Vec<u64>) {
        self.chains.encode(words);
        words.extend(self.cells.iter().map(|cell| u64::from(cell.path) << 32 | u64::from(cell.ordinal)));
    }

    fn decode(&mut self, words: &[u64]) {
        let cells = self.chains.decode(words);
        self.cells.clear();
        let instance = |word: &u64| Instance { path: (word >> 32) as u32, ordinal: *word as u32 };
        self.cells.extend(cells.iter().map(instance));
    }
}
