//! The monitor automaton of a search for a tear: what it has to remember of an execution.
//!
//! **Input**: the events of an execution. **Output**: whether it has torn the two accesses of the `TearPattern`
//! apart, told through `Signals`.
//!
//! **Algorithm**: for each thread within the method the monitor keeps the latest access to each cell of either
//! variable, and what threads within the other method have done to both since then ([`PendingAccess`]).
//!
//! **Soundness and limits**: two executions that reach one state with equal monitors have the same tears before them,
//! so the search may go on with one of them. More than a number of cells in one activation are too many:
//! `Signals::overflow` says so then.

use super::encoding::{Words, encode_list};
use super::pattern::{FIRST, SECOND, SOURCE};
use super::pending::{Access, PendingAccess, enter};
use super::setup::Fixed;
use crate::correlation::AccessKind;
use crate::explore::states::Monitor;
use crate::ir::FunctionId;
use crate::schedule::Nesting;
use crate::vm::{CodeIndex, Event, Observer, ThreadIndex, ThreadName};
use std::sync::Arc;

/// Cells of a thread that are watched at once; an array of more is too much.
const MAX_PENDING: usize = 64;

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ThreadRecord {
    /// Its calls of the method.
    method: Nesting,
    /// Its calls of the other method.
    other: Nesting,
    pending: Vec<PendingAccess>,
    /// What the method has read of the sources last.
    sources: Vec<(u32, i64)>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct TearMonitor {
    fixed: Arc<Fixed>,
    threads: Vec<ThreadRecord>,
    /// Whether it has happened; nothing else matters then.
    pub torn: bool,
}

impl TearMonitor {
    pub(super) fn new(fixed: Arc<Fixed>) -> TearMonitor {
        TearMonitor { fixed, threads: Vec::new(), torn: false }
    }

    fn thread(&mut self, thread: ThreadIndex) -> &mut ThreadRecord {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, ThreadRecord::default());
        }
        &mut self.threads[thread.index()]
    }

    fn access(&mut self, thread: ThreadIndex, access: Access) {
        let fixed = Arc::clone(&self.fixed);
        let interferes = self.thread(thread).other.is_inside();
        for (index, watched) in self.threads.iter_mut().enumerate() {
            if index != thread.index() {
                for touch in &mut watched.pending {
                    touch.foreign(&fixed, access, interferes.then_some(thread.0));
                }
            }
        }
        let watched = &mut self.threads[thread.index()];
        if !watched.method.is_inside() {
            return;
        }
        if watched.pending.iter().any(|touch| touch.is_torn_by(&fixed, access)) {
            fixed.signals.torn.set(true);
            self.torn = true;
            self.threads.clear();
            return;
        }
        watched.own(&fixed, access);
    }

    /// The other method fails: it counts as torn if it has seen one mixed_view that is new and one that is old.
    fn failure(&mut self, thread: ThreadIndex) {
        let fixed = Arc::clone(&self.fixed);
        let is_mixed_view = |touch: &PendingAccess| {
            let partner = fixed.pattern.sides[1 - usize::from(touch.side)].kind;
            let read = AccessKind::Read as u8 + 1;
            let mut between = touch.between.iter();
            partner == AccessKind::Write
                && !fixed.pattern.copied
                && between.any(|one| {
                    one.thread == thread.0 && one.first && one.second.iter().any(|second| second.1 & read != 0)
                })
        };
        let others = self.threads.iter().enumerate().filter(|&(index, _)| index != thread.index());
        if others.flat_map(|(_, watched)| &watched.pending).any(is_mixed_view) {
            fixed.signals.mixed_view.set(true);
        }
    }
}

impl ThreadRecord {
    /// An access of the method itself: it may be the touch of a side, or read a source anew.
    fn own(&mut self, fixed: &Fixed, access: Access) {
        if access.of & SOURCE != 0 && access.kind == AccessKind::Read {
            for touch in &mut self.pending {
                let before = touch.sources.iter().find(|source| source.0 == access.cell);
                touch.seen |=
                    touch.written.contains(&access.cell) && before.is_some_and(|source| source.1 != access.value);
            }
            enter(&mut self.sources, access.cell, access.value, true);
        }
        for (side, bit) in [(0u8, FIRST), (1, SECOND)] {
            let is_touch = access.of & bit != 0 && fixed.pattern.sides[usize::from(side)].kind == access.kind;
            if !is_touch || fixed.pattern.copied && side == 1 {
                continue;
            }
            let touch = PendingAccess {
                side,
                cell: access.cell,
                value: access.value,
                changed: access.kind == AccessKind::Write && access.old != access.value,
                now: access.value,
                sources: self.sources.clone(),
                ..PendingAccess::default()
            };
            match self.pending.binary_search_by_key(&(side, access.cell), |touch| (touch.side, touch.cell)) {
                Ok(index) => {
                    let before = std::mem::replace(&mut self.pending[index], touch);
                    // Who has seen an earlier write has seen a mixed_view; a read that is done anew counts alone.
                    if access.kind == AccessKind::Write {
                        self.pending[index].between = before.between;
                        self.pending[index].olds = before.olds;
                    }
                }
                Err(_) if self.pending.len() == MAX_PENDING => fixed.signals.overflow.set(true),
                Err(index) => self.pending.insert(index, touch),
            }
        }
    }
}

impl Observer for TearMonitor {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let thread = thread.slot;
        if self.torn {
            return;
        }
        match event {
            Event::Read { read, cell, address, value, .. } => {
                let of = self.fixed.places.bits(self.fixed.places.reads[read.index()], cell);
                if of != 0 {
                    self.access(thread, Access { of, kind: AccessKind::Read, cell: address, old: value, value });
                }
            }
            Event::Write { definition, cell, address, old, value, .. } => {
                let of = self.fixed.places.bits(self.fixed.places.definitions[definition.index()], cell);
                if of != 0 {
                    self.access(thread, Access { of, kind: AccessKind::Write, cell: address, old, value });
                }
            }
            Event::Failure(_) if self.thread(thread).other.is_inside() => self.failure(thread),
            Event::End { .. } => *self.thread(thread) = ThreadRecord::default(),
            _ => {}
        }
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        let thread = thread.slot;
        if self.torn {
            return;
        }
        let (method, other) = (self.fixed.pattern.method, self.fixed.pattern.other);
        let watched = self.thread(thread);
        watched.method.enter(function == method);
        watched.other.enter(function == other);
    }

    fn leave(&mut self, thread: ThreadName) {
        let thread = thread.slot;
        if self.torn {
            return;
        }
        let watched = self.thread(thread);
        let left = watched.other.is_outermost();
        if watched.method.is_outermost() {
            watched.pending.clear();
            watched.sources.clear();
        }
        watched.method.leave();
        watched.other.leave();
        if left {
            let pending = self.threads.iter_mut().flat_map(|each| &mut each.pending);
            pending.for_each(|touch| touch.close(&self.fixed, thread.0));
        }
    }
}

impl Monitor for TearMonitor {
    type Note = ();

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(u64::from(self.torn));
        // A thread that is not there is as one that does nothing.
        let used =
            self.threads.iter().rposition(|thread| *thread != ThreadRecord::default()).map_or(0, |last| last + 1);
        for thread in &self.threads[..used] {
            words.push(u64::from(thread.method.frames()) << 32 | u64::from(thread.other.frames()));
            encode_list(&thread.sources, words, |value| value as u64);
            words.push(thread.pending.len() as u64);
            for touch in &thread.pending {
                touch.encode(words);
            }
        }
    }

    fn decode(&mut self, words: &[u64]) {
        self.torn = words.first() == Some(&1);
        self.threads.clear();
        let mut rest = Words(words.get(1..).unwrap_or_default());
        while !rest.0.is_empty() {
            let depths = rest.next();
            let sources = rest.list(|word| word as i64);
            let count = rest.next();
            let pending = (0..count).map(|_| PendingAccess::decode(&mut rest)).collect();
            let (method, other) = (Nesting::from_frames((depths >> 32) as u32), Nesting::from_frames(depths as u32));
            self.threads.push(ThreadRecord { method, other, pending, sources });
        }
    }
}
