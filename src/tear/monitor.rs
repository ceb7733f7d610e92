//! The monitor automaton of a search for a tear: the part of an execution that the search must remember.
//!
//! **Input**: the events of an execution. **Output**: whether it has torn the two accesses of the `TearPattern` apart, reported
//! through `Signals`.
//!
//! **Algorithm**: for each thread within the method, the monitor keeps its latest accesses to each cell of either variable, and
//! the later accesses of the others to both ([`PendingAccess`]). The others are threads within the other method, or all threads
//! except those that the method has forked itself and waits for. If a later access of the method comes after others that come
//! after a kept access, that is a *cycle*. It tears the two accesses as soon as the activation has made both of them (`cycles`).
//! If the activation does not make both, because a value that it read led it along another path, the execution tears them *by
//! half*.
//!
//! **Soundness and limits**: if two executions reach one state with equal monitors, they have the same tears so far, so the
//! search may continue with one of them. The number of cells in one activation is bounded; `Signals::overflow` reports when it is
//! exceeded.

use super::cycles::Cycles;
use super::encoding::{Words, encode_list};
use super::pattern::{FIRST, OWN_FIRST, SECOND, SOURCE};
use super::pending::{Access, By, PendingAccess, enter};
use super::setup::Fixed;
use cssame_correlation::AccessKind;
use cssame_explore::frame::Monitor;
use cssame_ir::FunctionId;
use cssame_schedule::Nesting;
use cssame_vm::{CodeIndex, Event, Observer, ThreadIndex, ThreadName};
use smallvec::SmallVec;
use std::sync::Arc;

/// Accesses of a thread that are watched at once: two for each cell. An array of more is too much.
const MAX_PENDING: usize = 128;

/// The end of a thread, as a key of what is carried: behind all addresses.
fn ended(thread: ThreadName) -> u32 {
    u32::MAX - thread.path.0
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadRecord {
    /// Its calls of the method.
    method: Nesting,
    /// Its calls of the other method.
    other: Nesting,
    pub pending: Vec<PendingAccess>,
    /// What the method has read of the sources last.
    sources: Vec<(u32, i64)>,
    pub cycles: Cycles,
    /// The nearest thread within the method that has forked it, directly or through others, plus 1; 0 if there is none.
    part_of: u16,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct TearMonitor {
    fixed: Arc<Fixed>,
    pub threads: Vec<ThreadRecord>,
    /// Whether it has happened; nothing else matters then.
    pub torn: bool,
    /// Whether it has happened by half.
    pub half: bool,
    /// The access that the last cycle begins with, and who makes it; no part of the state.
    pub begun: Option<(ThreadIndex, PendingAccess)>,
}

impl TearMonitor {
    pub(super) fn new(fixed: Arc<Fixed>) -> TearMonitor {
        TearMonitor { fixed, threads: Vec::new(), torn: false, half: false, begun: None }
    }

    fn thread(&mut self, thread: ThreadIndex) -> &mut ThreadRecord {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, ThreadRecord::default());
        }
        &mut self.threads[thread.index()]
    }

    fn access(&mut self, thread: ThreadIndex, access: Access) {
        let fixed = Arc::clone(&self.fixed);
        let counts = self.counts(thread);
        let named = self.threads[thread.index()].other.is_inside();
        self.for_others(thread, |touch| {
            touch.foreign(&fixed, access, counts.then_some(By { thread: thread.0, named }));
        });
        let watched = &mut self.threads[thread.index()];
        if !watched.method.is_inside() {
            return;
        }
        if watched.pending.iter().any(|touch| touch.is_torn_by(&fixed, access)) {
            return self.tear();
        }
        let begun = watched.cycles.note(&fixed, &watched.pending, access);
        watched.own(&fixed, access);
        let both = watched.cycles.has_both(&fixed, &watched.pending);
        self.half |= watched.cycles.is_any();
        if let Some(touch) = begun {
            self.begun = Some((thread, touch));
        }
        if both {
            self.tear();
        }
    }

    fn tear(&mut self) {
        self.fixed.signals.torn.set(true);
        self.torn = true;
        self.half = false;
        self.threads.clear();
    }

    /// Whether what a thread does now may tear the two apart.
    pub(super) fn counts(&mut self, thread: ThreadIndex) -> bool {
        let one_activation = self.fixed.pattern.other.is_one_activation();
        let watched = self.thread(thread);
        !one_activation || watched.other.is_inside()
    }

    /// All accesses that wait in other threads, but for those of which the thread is a part.
    fn for_others(&mut self, thread: ThreadIndex, change: impl FnMut(&mut PendingAccess)) {
        let mut own: SmallVec<[usize; 4]> = SmallVec::from_slice(&[thread.index()]);
        let mut part_of = self.thread(thread).part_of;
        // Who has forked a thread waits for it, so the way up comes to an end.
        while let Some(index) = usize::from(part_of).checked_sub(1) {
            debug_assert!(!own.contains(&index));
            own.push(index);
            part_of = self.threads.get(index).map_or(0, |above| above.part_of);
        }
        let others = self.threads.iter_mut().enumerate().filter(|(index, _)| !own.contains(index));
        others.flat_map(|(_, watched)| &mut watched.pending).for_each(change);
    }

    /// What others have done is carried from thread to thread, where several of them count as one.
    fn carry(&mut self, thread: ThreadIndex, event: Event) {
        let (cell, kind, changes) = match event {
            Event::Read { address, shared: true, .. } => (address, AccessKind::Read, false),
            Event::Write { address, old, value, shared: true, .. } => (address, AccessKind::Write, old != value),
            Event::Set { address, .. } | Event::Release { address, .. } | Event::Arrive { address, .. } => {
                (address, AccessKind::Write, true)
            }
            Event::Waited { address, .. } | Event::Acquire { address, .. } | Event::Leave { address, .. } => {
                (address, AccessKind::Read, false)
            }
            Event::Woken { by: Some(by) } => return self.hand_over(by.slot, thread),
            Event::JoinThread { child } => (ended(child), AccessKind::Read, false),
            Event::End { parent: Some(parent) } => return self.hand_over(thread, parent.slot),
            _ => return,
        };
        self.for_others(thread, |touch| touch.carry(thread.0, cell, kind, changes));
    }

    fn hand_over(&mut self, from: ThreadIndex, to: ThreadIndex) {
        self.for_others(from, |touch| touch.hand_over(from.0, to.0));
    }

    /// A thread makes another one.
    fn fork(&mut self, thread: ThreadIndex, child: ThreadIndex, joined: bool) {
        if !self.fixed.pattern.other.is_one_activation() {
            self.hand_over(thread, child);
        }
        let parent = self.thread(thread);
        let part_of = if parent.method.is_inside() { thread.0 + 1 } else { parent.part_of };
        // Nobody waits for a thread that is spawned.
        self.thread(child).part_of = if joined { part_of } else { 0 };
    }

    /// A thread ends.
    fn end(&mut self, thread: ThreadName) {
        if !self.fixed.pattern.other.is_one_activation() {
            // Whoever joins it comes after it.
            let (fixed, slot) = (Arc::clone(&self.fixed), thread.slot.0);
            self.for_others(thread.slot, |touch| {
                touch.carry(slot, ended(thread), AccessKind::Write, true);
                touch.close(&fixed, slot);
            });
        }
        *self.thread(thread.slot) = ThreadRecord::default();
    }

    /// The other method fails: it counts as torn if it has seen one mixed_view that is new and one that is old.
    fn failure(&mut self, thread: ThreadIndex) {
        let fixed = Arc::clone(&self.fixed);
        let named = self.thread(thread).other.is_inside();
        let is_mixed_view = |touch: &PendingAccess| {
            let partner = fixed.pattern.sides[1 - usize::from(touch.side)].kind;
            let read = AccessKind::Read as u8 + 1;
            let mut between = touch.between.iter();
            partner == AccessKind::Write
                && touch.is_asked_for(&fixed)
                && fixed.pattern.is_plain()
                && between.any(|one| {
                    let seen = one.second.iter().any(|second| second.0 != touch.cell && second.1 & read != 0);
                    one.thread == thread.0 && one.first && seen && fixed.is_enough(named || one.named)
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
        let plain = fixed.pattern.is_plain();
        if plain && access.kind == AccessKind::Write {
            self.pending.iter_mut().for_each(|touch| touch.overwrite(access.cell));
        }
        for (side, bit) in [(0u8, FIRST), (1, SECOND)] {
            let mut touch = PendingAccess::new(side, access);
            let asked_for = touch.is_asked_for(fixed);
            if access.of & bit == 0 || !plain && !asked_for || fixed.pattern.copied && side == 1 {
                continue;
            }
            if let Some(only) = &fixed.pattern.only {
                if side == 1 || access.of & OWN_FIRST == 0 {
                    continue;
                }
                // What is read anew at the only place stands for what was read there before.
                if only.first.len() == 1 {
                    self.pending.retain(|touch| touch.cell == access.cell);
                }
            }
            if asked_for {
                touch.sources.clone_from(&self.sources);
            }
            self.keep(fixed, touch);
        }
    }

    /// Keeps an access of the method.
    fn keep(&mut self, fixed: &Fixed, touch: PendingAccess) {
        let index = match self.pending.binary_search_by_key(&touch.key(), PendingAccess::key) {
            Ok(index) => index,
            Err(_) if self.pending.len() == MAX_PENDING => return fixed.signals.overflow.set(true),
            Err(index) => return self.pending.insert(index, touch),
        };
        let kept = &mut self.pending[index];
        // Who has seen an earlier write has seen something in between; a read that is done anew at its place counts alone. One that
        // sees the same elsewhere adds nothing.
        if touch.kind == AccessKind::Read {
            if !fixed.pattern.is_plain() || kept.place == touch.place || kept.value != touch.value {
                *kept = touch;
            }
            return;
        }
        let before = std::mem::replace(kept, touch);
        // It has changed the cell, even if it writes the same once more.
        kept.changed |= before.changed;
        kept.apart |= before.apart;
        kept.between = before.between;
        kept.carried = before.carried;
        kept.olds = before.olds;
    }
}

impl Observer for TearMonitor {
    fn event(&mut self, name: ThreadName, _: CodeIndex, event: Event) {
        let thread = name.slot;
        if self.torn {
            return;
        }
        match event {
            Event::Read { read, cell, address, value, .. } => {
                let of = self.fixed.places.bits(self.fixed.places.reads[read.index()], cell);
                if of != 0 {
                    let (row, place) = (self.fixed.rows.row(cell), read.0);
                    let kind = AccessKind::Read;
                    self.access(thread, Access { of, kind, cell: address, place, row, old: value, value });
                }
            }
            Event::Write { definition, cell, address, old, value, .. } => {
                let of = self.fixed.places.bits(self.fixed.places.definitions[definition.index()], cell);
                if of != 0 {
                    let row = self.fixed.rows.row(cell);
                    let kind = AccessKind::Write;
                    self.access(thread, Access { of, kind, cell: address, place: 0, row, old, value });
                }
            }
            Event::Failure(_) if self.counts(thread) => self.failure(thread),
            Event::Wait { .. } => self.for_others(thread, |touch| touch.wait(thread.0)),
            Event::Fork { child } => self.fork(thread, child.slot, true),
            Event::Spawn { child } => self.fork(thread, child.slot, false),
            _ => {}
        }
        if self.torn {
            return;
        }
        if matches!(event, Event::Unlock { .. } | Event::Release { .. } | Event::AtomicEnd) {
            self.thread(thread).pending.iter_mut().for_each(|touch| touch.apart = true);
        }
        if !self.fixed.pattern.other.is_one_activation() {
            self.carry(thread, event);
        }
        if let Event::End { .. } = event {
            self.end(name);
        }
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        let thread = thread.slot;
        if self.torn {
            return;
        }
        let (method, other) = (self.fixed.pattern.method, self.fixed.pattern.other.named());
        let watched = self.thread(thread);
        watched.method.enter(function == method);
        watched.other.enter(Some(function) == other);
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
            watched.cycles = Cycles::default();
        }
        watched.method.leave();
        watched.other.leave();
        if left && self.fixed.pattern.other.is_one_activation() {
            let pending = self.threads.iter_mut().flat_map(|each| &mut each.pending);
            pending.for_each(|touch| touch.close(&self.fixed, thread.0));
        }
    }
}

impl Monitor for TearMonitor {
    type Note = ();

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(u64::from(self.torn) | u64::from(self.half) << 1);
        // A thread that is not there is as one that does nothing.
        let used =
            self.threads.iter().rposition(|thread| *thread != ThreadRecord::default()).map_or(0, |last| last + 1);
        for thread in &self.threads[..used] {
            words.push(u64::from(thread.method.frames()) << 32 | u64::from(thread.other.frames()));
            words.push(u64::from(thread.part_of));
            encode_list(&thread.sources, words, |value| value as u64);
            thread.cycles.encode(words);
            words.push(thread.pending.len() as u64);
            for touch in &thread.pending {
                touch.encode(words);
            }
        }
    }

    fn decode(&mut self, words: &[u64]) {
        let ends = words.first().copied().unwrap_or(0);
        (self.torn, self.half, self.begun) = (ends & 1 != 0, ends & 2 != 0, None);
        self.threads.clear();
        let mut rest = Words(words.get(1..).unwrap_or_default());
        while !rest.0.is_empty() {
            let depths = rest.next();
            let part_of = rest.next() as u16;
            let sources = rest.list(|word| word as i64);
            let cycles = Cycles::decode(&mut rest);
            let count = rest.next();
            let pending = (0..count).map(|_| PendingAccess::decode(&mut rest)).collect();
            let (method, other) = (Nesting::from_frames((depths >> 32) as u32), Nesting::from_frames(depths as u32));
            self.threads.push(ThreadRecord { method, other, pending, sources, cycles, part_of });
        }
    }
}
