//! The identity of an execution: the versions that each thread has read and written.
//!
//! **Input**: the events of an execution. **Output**: for each thread a hash of the sequence of its operations; for each cell its
//! version, which is the number of writes to it so far.
//!
//! **Algorithm**: an operation is a place in the text, a cell and a version; a write carries the version that it creates. The
//! values of `choose` are part of the sequence of their thread. A [`Scope`] says which threads may move.
//!
//! **Soundness and limits**: cells and threads have names that do not depend on the order of steps. 128-bit hashes distinguish
//! the threads.

use super::operations::Operations;
use super::scope::{Scope, ScopeState};
use cssame_explore::frame::Chains;
use cssame_explore::frame::Monitor;
use cssame_vm::{Cell, CodeIndex, Event, Move, Observer, State, ThreadName};

/// The operations of all threads so far.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) chains: Chains,
    /// By address: the number of writes.
    versions: Vec<u32>,
}

impl Clone for History {
    fn clone(&self) -> Self {
        let mut copy = History::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.chains.clone_from(&source.chains);
        self.versions.clone_from(&source.versions);
    }
}

impl History {
    fn version(&mut self, address: u32) -> &mut u32 {
        if self.versions.len() <= address as usize {
            self.versions.resize(address as usize + 1, 0);
        }
        &mut self.versions[address as usize]
    }

    fn operation(&mut self, thread: ThreadName, place: u64, cell: Cell, version: u32) {
        let object = cell.object;
        let words = [
            place,
            u64::from(object.variable.0) << 32 | u64::from(object.owner.0),
            u64::from(object.ordinal) << 32 | u64::from(cell.part),
            u64::from(version),
        ];
        self.chains.learn(thread, words);
    }

    fn event(&mut self, operations: &Operations, thread: ThreadName, at: CodeIndex, event: Event) {
        match event {
            Event::Read { read, cell, address, shared: true, .. } if operations.contains(cell) => {
                let version = *self.version(address);
                self.operation(thread, u64::from(read.0) << 1, cell, version);
            }
            Event::Write { definition, cell, address, shared: true, .. } if operations.contains(cell) => {
                let version = self.version(address);
                *version = version.wrapping_add(1);
                let version = *version;
                self.operation(thread, u64::from(definition.0) << 1 | 1, cell, version);
            }
            Event::Choose { value } => self.chains.learn(thread, [u64::from(at.0), value as u64]),
            Event::Verdict { value } => self.chains.learn(thread, [u64::from(at.0), u64::from(value)]),
            Event::Fork { child } | Event::Spawn { child } => self.chains.begin(child.slot),
            Event::End { .. } => self.chains.end(thread.slot),
            Event::Allocate { address, size, .. } => {
                for version in self.versions.iter_mut().skip(address as usize).take(size as usize) {
                    *version = 0;
                }
            }
            _ => {}
        }
    }

    fn encode(&self, words: &mut Vec<u64>) {
        self.chains.encode(words);
        let used = self.versions.iter().rposition(|&version| version > 0).map_or(0, |last| last + 1);
        let pairs = self.versions[..used].chunks(2);
        words.extend(pairs.map(|two| u64::from(two[0]) | two.get(1).map_or(0, |&high| u64::from(high) << 32)));
    }

    fn decode(&mut self, words: &[u64]) {
        let rest = self.chains.decode(words);
        self.versions.clear();
        self.versions.extend(rest.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]));
    }
}

/// What a search through executions has to know of one.
#[derive(Debug)]
pub(super) struct Course<'a> {
    pub(super) operations: &'a Operations,
    pub(super) scope: &'a Scope,
    pub(super) progress: ScopeState,
    /// What its threads have done, where that is to be told apart.
    pub(super) history: Option<History>,
}

impl<'a> Course<'a> {
    /// Before the first step.
    pub(super) fn new(operations: &'a Operations, scope: &'a Scope, history: Option<History>) -> Course<'a> {
        Course { operations, scope, progress: ScopeState::default(), history }
    }
}

impl Clone for Course<'_> {
    fn clone(&self) -> Self {
        Course { history: self.history.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        (self.operations, self.scope, self.progress) = (source.operations, source.scope, source.progress);
        self.history.clone_from(&source.history);
    }
}

impl Observer for Course<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.scope.event(&mut self.progress, event);
        if let Some(history) = &mut self.history {
            history.event(self.operations, thread, at, event);
        }
    }

    fn begin_main(&mut self, main: ThreadName) {
        self.scope.begin(&mut self.progress, main.path);
    }
}

impl Monitor for Course<'_> {
    type Note = ();

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend(self.scope.encode(self.progress));
        if let Some(history) = &self.history {
            history.encode(words);
        }
    }

    fn decode(&mut self, words: &[u64]) {
        let (progress, rest) = self.scope.decode(words);
        self.progress = progress;
        if let Some(history) = &mut self.history {
            history.decode(rest);
        }
    }

    fn restrict(&self, state: &State, moves: &mut Vec<Move>) {
        self.scope.restrict(self.progress, state, moves);
    }
}
